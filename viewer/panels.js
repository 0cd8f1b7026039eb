// SPDX-License-Identifier: MIT
// Optimisation, identification, comparison, facts: panels that are there when their data is.
import uPlot from "uplot";
import { el, named, short } from "./data.js";
import { colors } from "./plots.js";

const number = x => x !== "" && Number.isFinite(+x) ? +x : null;

// Curves over x; drawn when the holder is in the page
function chart(holder, x, series, more = {}) {
    const style = getComputedStyle(document.documentElement), text = style.getPropertyValue("--soft").trim(), line = style.getPropertyValue("--line").trim();
    const axis = { stroke: text, font: "11px system-ui, sans-serif", grid: { stroke: line, width: 1 }, ticks: { show: false }, values: (u, v) => v.map(a => short(a)) };
    const log = more.log && series.every(s => s.y.every(v => v === null || v > 0));
    const plot = new uPlot({
        width: Math.max(220, holder.clientWidth || 500), height: more.height || 160, padding: [8, 8, 0, 0], pxAlign: 0, legend: { show: false },
        cursor: { drag: { x: true, y: false } }, scales: { x: { time: false }, y: more.from === undefined ? {} : { range: (u, lo, hi) => [more.from, 1.06 * hi] } },
        axes: [{ ...axis, size: more.xlabel ? 38 : 24, label: more.xlabel, labelSize: 14, labelFont: "11px system-ui" }, { ...axis, size: 62, values: (u, v) => v.map(a => log ? short(10 ** a, 2) : short(a)) }],
        series: [{}].concat(series.map((s, i) => ({ label: s.name, stroke: s.color || colors[i % colors.length], width: s.width || 1.6,
            dash: s.dash, fill: s.fill, points: { show: s.points ?? false, size: 4, fill: s.color || colors[i % colors.length] }, paths: s.paths }))),
    }, [x, ...series.map(s => log ? s.y.map(v => v === null ? null : Math.log10(v)) : s.y)], holder);
    new ResizeObserver(() => holder.clientWidth > 0 && Math.abs(holder.clientWidth - plot.width) > 1 && plot.setSize({ width: holder.clientWidth, height: plot.height })).observe(holder);
    return plot;
}

const key = series => el("div.chips.key", series.map((s, i) => el("span.chip", el("i", { style: `background:${s.color || colors[i % colors.length]}` }), s.name)));

function card(title, detail, ...children) {
    return el("section.plot", el("header", el("h3", title), el("span.kind", detail || "")), ...children);
}

// ---- optimisation ----

// objective and constraints with their limits, then variables
export function history(run, holder) {
    const table = run.rows("history.csv");
    if (!table.length) return null;
    const result = run.json("result.json") || {}, x = table.map((r, i) => number(r.iteration) ?? i);
    const variables = result.variables || [], constraints = result.constraints || [];
    const limits = new Map(constraints.map(c => [c.name, c])), skip = new Set(["iteration", "evaluations", "failures", "violation", "step", "damping", "seconds"]);
    const names = table.names.filter(n => !skip.has(n) && table.some(r => number(r[n]) !== null));
    const draw = () => {
        holder.replaceChildren();
        const grid = el("div.few");
        holder.append(grid);
        for (const n of names) {
            const y = table.map(r => number(r[n])), area = el("div.area"), known = y.filter(v => v !== null), first = known[0], last = known[known.length - 1];
            const series = [{ name: n, y, points: x.length < 60, color: n === "objective" || n === "sum_of_squares" ? colors[0] : variables.some(v => v.name === n) ? colors[2] : colors[1] }];
            for (const side of ["lower", "upper"]) {
                const limit = limits.get(n) && limits.get(n)[side];
                if (Number.isFinite(limit)) series.push({ name: side, y: x.map(() => limit), color: "#8a919c", dash: [4, 4], width: 1 });
            }
            grid.append(card(n, `${short(first)} → ${short(last)}`, area));
            chart(area, x, series, { height: 110, log: (n === "objective" || n === "sum_of_squares") && first > 20 * last });
        }
    };
    draw();
    return draw;
}

export function design(run) {
    const result = run.json("result.json");
    if (!result || !result.variables) return null;
    const place = v => Number.isFinite(v.lower) && Number.isFinite(v.upper) && v.upper > v.lower ? [v.start, v.value].map(x => 100 * Math.min(1, Math.max(0, (x - v.lower) / (v.upper - v.lower)))) : null;
    const slide = v => {
        const at = place(v);
        return at ? el("div.slide", { title: `between ${short(v.lower)} and ${short(v.upper)}` }, el("i.from", { style: `left:${at[0]}%` }), el("i.to", { style: `left:${at[1]}%` })) : "";
    };
    const table = el("div.scroll", el("table.grid", el("thead", el("tr", el("th", "variable"), el("th.num", "initial"), el("th.num", "best"), el("th.num", "change"), el("th", "within its bounds"))),
        el("tbody", result.variables.map(v => {
            const change = v.start ? 100 * (v.value / v.start - 1) : null;
            return el("tr", el("td.name", named(v.name)), el("td.num", short(v.start, 6)), el("td.num", short(v.value, 6), el("small", v.unit && v.unit !== "1" ? ` ${v.unit}` : "")),
                el("td.num", change === null ? "" : `${change > 0 ? "+" : ""}${short(change, 3)} %`), el("td.within", slide(v)));
        }))));
    const limit = c => Number.isFinite(c.lower) && c.lower === c.upper ? `= ${short(c.lower)}` : [Number.isFinite(c.lower) ? `≥ ${short(c.lower)}` : "", Number.isFinite(c.upper) ? `≤ ${short(c.upper)}` : ""].filter(Boolean).join(", ");
    const held = result.constraints && result.constraints.length ? el("div.scroll", el("table.grid", el("thead", el("tr", el("th", "constraint"), el("th.num", "value"), el("th", "limit"), el("th", ""), el("th.num", "multiplier"))),
        el("tbody", result.constraints.map(c => el("tr", el("td.name", named(c.name)), el("td.num", short(c.value, 6)), el("td", limit(c)), el("td", c.active ? "active" : ""), el("td.num", short(c.multiplier))))))) : "";
    return el("div.tables", el("p.soft", [result.status, result.reason, result.method && `${result.method}: ${result.iterations} iterations, ${result.evaluations} evaluations`].filter(Boolean).join(" · ")), table, held);
}

// ---- identification ----

// How residuals over their noise are distributed, beside the normal distribution that they should have
function spread(all, holder) {
    if (all.length < 30) return;
    const most = Math.max(4, Math.min(8, all.reduce((m, v) => Math.max(m, Math.abs(v)), 0))), bins = all.length < 300 ? 21 : 41, width = 2 * most / bins;
    const x = Array.from({ length: bins }, (_, k) => -most + (k + 0.5) * width), count = x.map(() => 0), outside = all.filter(v => Math.abs(v) > 1.96).length;
    for (const v of all) count[Math.min(bins - 1, Math.max(0, Math.floor((v + most) / width)))]++;
    const series = [{ name: "residuals over noise", y: count, color: colors[1], paths: uPlot.paths.bars({ size: [0.9] }), fill: colors[1] + "66" },
        { name: "expected: normal distribution", y: x.map(v => all.length * width * Math.exp(-v * v / 2) / Math.sqrt(2 * Math.PI)), color: colors[0] }];
    const area = el("div.area");
    holder.append(card("distribution", `${all.length} values, ${short(100 * outside / all.length, 3)} % beyond ±1.96 (5 % expected)`, key(series), area));
    chart(area, x, series, { height: 130, from: 0 });
}

// fit.csv: experiment, channel, t, measured, model, residual, normalised
export function fit(run, holder) {
    const groups = new Map();
    for (const r of run.rows("fit.csv")) {
        const name = r.experiment ? `${r.experiment}: ${r.channel}` : r.channel;
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(r);
    }
    if (!groups.size) return null;
    const draw = () => {
        holder.replaceChildren();
        for (const [name, list] of groups) {
            list.sort((r, s) => r.t - s.t);
            const t = list.map(r => +r.t), of = column => list.map(r => number(r[column])), rms = column => {
                const known = of(column).filter(v => v !== null);
                return Math.sqrt(known.reduce((s, v) => s + v * v, 0) / Math.max(1, known.length));
            };
            const a = el("div.area"), b = el("div.area"), limit = x => ({ name: "", y: t.map(() => x), color: "#8a919c", dash: [4, 4], width: 1 });
            const both = [{ name: "measured", y: of("measured"), color: "#8a919c", points: true, paths: () => null }, { name: "model", y: of("model"), color: colors[0] }];
            holder.append(card(name, `residual rms ${short(rms("residual"))}, over its noise ${short(rms("normalised"), 3)}`,
                key(both.concat({ name: "below: residual over noise, and ±1.96", color: colors[1] })), a, b));
            chart(a, t, both, { height: 150 });
            chart(b, t, [{ name: "normalised", y: of("normalised"), color: colors[1], width: 1 }, limit(1.96), limit(-1.96)], { height: 96 });
        }
        spread([...groups.values()].flat().map(r => number(r.normalised)).filter(v => v !== null), holder);
    };
    draw();
    return draw;
}

// estimates.csv: value and confidence interval beside what the file said
export function estimates(run) {
    const table = run.rows("estimates.csv");
    if (!table.length) return null;
    const result = run.json("identify.json") || {};
    return el("div.tables", el("p.soft", [result.status, result.why, result.iterations !== undefined && `${result.iterations} iterations, ${result.evaluations} evaluations`].filter(Boolean).join(" · ")),
        el("div.scroll", el("table.grid", el("thead", el("tr", ["number", "estimate", "± standard error", "interval", "start", ""].map((h, i) => el(i > 0 && i < 5 ? "th.num" : "th", h)))),
            el("tbody", table.map(r => el("tr", el("td.name", named(r.number)), el("td.num", short(r.value, 6), el("small", r.unit && r.unit !== "1" ? ` ${r.unit}` : "")),
                el("td.num", number(r.standard_error) === null ? "" : short(r.standard_error, 3)),
                el("td.num", number(r.low) === null || r.low === "" ? "" : `${short(r.low, 5)} … ${short(r.high, 5)}`), el("td.num", short(r.start, 5)), el("td", r.known)))))));
}

// A square table of numbers between -1 and 1 as colours
export function correlation(run) {
    const table = run.rows("correlation.csv");
    if (!table.length) return null;
    const names = table.names.slice(1);
    const paint = r => r === null ? "" : `background:color-mix(in srgb, ${r < 0 ? "var(--down)" : "var(--up)"} ${Math.round(85 * Math.abs(r))}%, transparent)`;
    return el("div.scroll", el("table.heat", el("thead", el("tr", el("th", ""), names.map(n => el("th", el("span", n))))),
        el("tbody", table.map(r => el("tr", el("th", r[table.names[0]]), names.map(n => {
            const x = number(r[n]);
            return el("td", { style: paint(x), title: `${r[table.names[0]]}, ${n}: ${short(x)}` }, x === null ? "" : x.toFixed(2));
        }))))));
}

// ---- comparison of methods ----

// compare.csv: one table per objective; bars of the distance from the best gradient (in decades) and of the time
export function comparison(run) {
    const table = run.rows("compare.csv");
    if (!table.length) return null;
    const slopes = table.names.filter(n => n.startsWith("d/d(")).slice(0, 3), objectives = [...new Set(table.map(r => r.objective))], done = table.filter(r => number(r.value) !== null);
    const longest = Math.max(...done.map(r => number(r.time_ratio) ?? 0)), decades = r => number(r.distance) > 0 ? Math.max(0, 16 + Math.log10(r.distance)) / 16 : 0;
    const bar = (share, color, text) => el("td.num.part", el("i", { style: `width:${(100 * share).toFixed(1)}%;background:${color}` }), el("span", text));
    const one = objective => el("div.scroll", el("table.grid", el("thead", el("tr", el("th", "formulation"), el("th", "method"), el("th.num", { title: "largest difference from the best gradient that is known, relative" }, "distance"),
        el("th.num", { title: "simulation and gradient, in simulations" }, "time"), el("th.num", objective), slopes.map(s => el("th.num", s)))),
        el("tbody", done.filter(r => r.objective === objective).map(r => el("tr", el("td.name", r.formulation, el("small", ` ${r.integrator}`)), el("td", r.method),
            bar(decades(r), colors[1], short(r.distance, 2)), bar((number(r.time_ratio) ?? 0) / longest, colors[0], short(r.time_ratio, 3)), el("td.num", short(r.value, 6)), slopes.map(s => el("td.num", short(r[s], 6))))))));
    const not = table.filter(r => number(r.value) === null && r.objective === objectives[0]);
    return el("div.tables", objectives.map(one), el("p.soft", "distance: largest relative difference from the gradient of index3 extrapolated to step 0, bars in decades. time: simulation and gradient, in simulations."),
        not.length > 0 && el("details", el("summary", `${not.length} combinations do not apply`), el("ul", not.map(r => el("li", `${r.formulation}, ${r.method}: ${r.note}`)))));
}

// ---- check ----

const pairs = list => el("dl.facts", list.flatMap(([a, b]) => [el("dt", a), el("dd", b)]));

export function check(run) {
    const c = run.json("check.json");
    if (!c) return null;
    const rows = c.redundant || [];
    return el("div.tables", pairs([["degrees of freedom", c.dof], ["unknowns", c.unknowns], ["rows", `${c.rows}, ${c.rank} of them independent`], ["mass", `${short(c.mass, 6)} kg`],
        ["assembly moves points by", `${short(c.assembly_moves)} m`], ["numbers", c.numbers], ["measures", c.measures], ["objectives", c.objectives]]),
    rows.length > 0 && el("details", el("summary", `${rows.length} redundant rows`), el("ul", rows.map(r => el("li", `${r.joint}, row ${r.row} (${r.of}): follows from ${r.follows_from.join(", ")}`)))),
    c.notes && c.notes.length > 0 && el("pre.messages", c.notes.join("\n")));
}

// ---- facts ----

export function facts(page, main, shown) {
    const run = main.json("run.json") || (shown && shown.json("run.json")), grad = main.json("gradient.json"), result = main.json("result.json") || main.json("identify.json");
    const about = run || grad || result || main.json("compare.json") || main.json("check.json") || {}, o = about.options || {}, n = (run || {}).stats || (grad || {}).stats || {}, scene = shown && shown.scene;
    const list = [];
    const add = (name, value) => value !== undefined && value !== null && value !== "" && value !== false && list.push([name, value]);
    add("model", about.model && (about.model.path || about.model.file));
    add("command", about.command && `costate ${about.command}`);
    add("status", result && result.status || (run || {}).status);
    for (const s of about.set || []) add("set", s);
    add("simulated", o.end !== undefined && `${short(o.start)} to ${short(o.end)} s, step ${short(o.step)} s`);
    add("formulation", o.formulation && `${o.formulation}, integrator ${o.integrator}, Newton ${o.newton}, events ${o.events}`);
    add("steps", n.steps !== undefined && `${n.steps}; ${n.iterations} Newton iterations, ${n.factorizations} factorisations${n.shortened_steps ? `, ${n.shortened_steps} shortened` : ""}`);
    add("simulation took", n.forward_s !== undefined && `${short(n.forward_s, 3)} s`);
    const gs = ((grad || {}).stats || {}).gradient_s;
    add("gradient took", gs !== undefined && `${short(gs, 3)} s (${grad.method})`);
    if (result) add("optimiser", result.method), add("iterations", result.iterations), add("evaluations", result.evaluations), add("took", result.stats && `${short(result.stats.wall_s ?? result.stats.seconds, 3)} s`);
    add("mechanism", scene && `${scene.bodies.length} bodies, ${scene.joints.length} joints, ${scene.forces.length} forces, ${scene.measures.length} measures`);
    add("redundant rows stayed closed to", n.drift > 0 && short(n.drift, 2));
    const m = shown && shown.measures;
    add("rows", m && (m.rows < m.of ? `${m.of}; the page keeps least and largest values of groups, ${m.rows} rows` : m.of));
    add("frames", shown && shown.poses && Math.floor(shown.poses.length / shown.scene.row));
    add("costate", page.costate);
    const said = (about.messages || []).filter(Boolean);
    return el("div", pairs(list),
        said.length > 0 && el("pre.messages", said.join("\n")));
}
