// SPDX-License-Identifier: MIT
// The data of the page: JSON, columns of 32-bit floats in base64, small tables as CSV texts.

const all = JSON.parse(document.getElementById("costate-data").textContent);

// The address says which directory and which scenario: #run=1&scenario=NAME
const asked = new URLSearchParams(location.hash.slice(1));
export const chosen = Math.min(all.directories.length - 1, Math.max(0, Math.floor(+asked.get("run")) || 0));
export const page = { costate: all.costate, ...all.directories[chosen] };
export const directories = all.directories.map(d => {
    const file = d.runs[0].files, about = file["result.json"] || file["identify.json"] || file["run.json"] || file["gradient.json"] || file["compare.json"] || file["check.json"] || {};
    return `${about.model && about.model.name || d.directory}${about.command ? `: ${about.command}` : ""}`;
});
export function go(run, scenario) {
    location.hash = `run=${run}${scenario ? `&scenario=${encodeURIComponent(scenario)}` : ""}`;
    location.reload();
}

// Of an objective: lines with its expression and with what the file says about it; a value over factor is in unit
export function definition(about, name) {
    const of = about.definitions && about.definitions[name] || {};
    return { lines: definitionLines(of.text, of.doc), unit: of.shown_unit || about.units && about.units[name] || "", factor: of.shown_factor || 1 };
}
export const definitionLines = (text, doc) => [text ? el("div.definition", text) : "", doc ? el("div.doc", doc) : ""];

function floats(base64) {
    const text = atob(base64), byte = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++) byte[i] = text.charCodeAt(i);
    const view = new DataView(byte.buffer), out = new Float32Array(byte.length >> 2);
    for (let i = 0; i < out.length; i++) out[i] = view.getFloat32(4 * i, true);
    return out;
}

// {names, rows, of, column(name)} of a history, or null
function history(table) {
    if (!table || table.error || !table.rows) return null;
    const decoded = new Map();
    return {
        names: table.names, rows: table.rows, of: table.of,
        column(name) {
            const k = table.names.indexOf(name);
            if (k < 0) return null;
            if (!decoded.has(k)) decoded.set(k, floats(table.columns[k]));
            return decoded.get(k);
        },
    };
}

// Rows of a CSV text as objects; quoted fields may contain commas and quotes.
export function rows(text) {
    if (!text) return [];
    const table = text.trimEnd().split(/\r?\n/).filter(line => line && line[0] !== "#").map(line => {
        const cell = [];
        for (let i = 0; i <= line.length;) {
            if (line[i] === '"') {
                let s = "";
                for (i++; i < line.length && (line[i] !== '"' || line[i + 1] === '"'); i++) {
                    if (line[i] === '"') i++;
                    s += line[i];
                }
                cell.push(s);
                i += 2;
            } else {
                let end = line.indexOf(",", i);
                if (end < 0) end = line.length;
                cell.push(line.slice(i, end));
                i = end + 1;
            }
        }
        return cell;
    });
    const names = table.shift() || [];
    const out = table.map(cell => Object.fromEntries(names.map((name, i) => [name, cell[i] ?? ""])));
    out.names = names;
    return out;
}

class Run {
    constructor(data) {
        this.label = data.label;
        this.files = data.files;
        this.scene = data.files["scene.json"] || null;
        this.measures = history(data.tables["measures.csv"]);
        this.poses = this.scene && data.poses ? floats(data.poses) : null;
        if (this.poses && this.poses.length < this.scene.row) this.poses = null;
    }
    json(name) { return this.files[name] || null; }
    rows(name) { return rows(this.files[name]); }
}

export const runs = page.runs.map(data => new Run(data));
const labelled = label => runs.find(run => run.label === label && run.scene);
export const main = runs[0]; // the directory itself

// An optimisation has runs initial and best, or one pair initial-NAME and best-NAME per scenario; the address says which.
export const scenarios = runs.filter(run => run.label.startsWith("best-") && run.scene).map(run => run.label.slice(5));
export const scenario = scenarios.includes(asked.get("scenario")) ? asked.get("scenario") : scenarios[0] ?? "";
const tail = scenario ? `-${scenario}` : "";
export const shown = labelled(`best${tail}`) || labelled(`initial${tail}`) || (main.scene ? main : null); // what is animated
export const ghost = shown && shown.label.startsWith("best") ? labelled(`initial${tail}`) || null : null;

// 4 significant digits for people; x must be finite
export function short(x, digits = 4) {
    if (x === null || x === undefined || !Number.isFinite(+x)) return "–";
    x = +x;
    if (x === 0) return "0";
    const size = Math.abs(x);
    let s = size >= 1e5 || size < 1e-3 ? x.toExponential(digits - 1) : x.toPrecision(digits);
    if (s.includes(".")) s = s.replace(/\.?0+(e|$)/, "$1");
    return s.replace("e+", "e").replace("-", "−").replace("e-", "e−");
}

// Does a filter find a text? All its words must be in the text; a word with * or ? is a pattern of the whole name, as in --wrt.
export function filtered(text, ...names) {
    return text.toLowerCase().split(/\s+/).filter(Boolean).every(word => {
        if (!/[*?]/.test(word)) return names.some(name => name.toLowerCase().includes(word));
        const pattern = new RegExp(`^${word.replace(/[^*?\w]/g, "\\$&").replace(/\*/g, ".*").replace(/\?/g, ".")}$`);
        return names.some(name => pattern.test(name.toLowerCase()));
    });
}

// A name, which is shown whole: a long one may be broken after its dots, on a narrow screen a short one too
export function named(name) {
    const parts = name.split(/(?<=[.\]])(?!\[)/).flatMap(part => [part, document.createElement("wbr")]);
    return el(name.length <= 20 ? "span.short" : "span", parts);
}

// The value of an objective in its unit, then its definition and what the file says about it
export function explained(about, name, digits) {
    const of = definition(about, name), value = (about.objectives || {})[name];
    return [el("p.value", el("b", name), ` = ${short(value / of.factor, digits)}`, of.unit ? el("small", ` ${of.unit}`) : ""), ...of.lines];
}

// An element: tag.class, attributes or listeners, children
export function el(spec, ...children) {
    const [tag, ...classes] = spec.split(".");
    const node = document.createElement(tag || "div");
    if (classes.length) node.className = classes.join(" ");
    for (const child of children.flat()) {
        if (child === null || child === undefined || child === false) continue;
        if (child instanceof Node) node.append(child);
        else if (typeof child === "object")
            for (const [key, value] of Object.entries(child))
                if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
                else if (value !== false && value !== null && value !== undefined)
                    node.setAttribute(key, value === true ? "" : value);
                else;
        else node.append(String(child));
    }
    return node;
}
