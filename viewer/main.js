// SPDX-License-Identifier: MIT
// The page: view on the left, panels on the right.
import "./style.css";
import { Clock } from "./clock.js";
import { chosen as directory, definition, directories, el, explained, ghost, go, main, page, scenario, scenarios, short, shown } from "./data.js";
import { Gradient } from "./gradient.js";
import { Mechanism } from "./mechanism.js";
import { Arrows, hardpoints, Names, Traces } from "./overlays.js";
import * as panel from "./panels.js";
import { Plots } from "./plots.js";
import { Stage, survey } from "./stage.js";

const about = main.json("result.json") || main.json("identify.json") || main.json("run.json") || main.json("gradient.json") || main.json("compare.json") || main.json("check.json") || {};
const title = (about.model && about.model.name) || (shown && shown.scene.name) || page.directory;
document.title = `${title} – Costate`;

// ---- theme ----

const root = document.documentElement, prefers = matchMedia("(prefers-color-scheme: dark)");
let chosen = null; // "light", "dark"; null: as the system
const dark = () => (chosen || (prefers.matches ? "dark" : "light")) === "dark";
const themed = []; // functions that redraw with the new colours
function theme() {
    root.dataset.theme = dark() ? "dark" : "light";
    for (const f of themed) f();
}
prefers.addEventListener("change", theme);
root.dataset.theme = dark() ? "dark" : "light";

// ---- time ----

const motionEnd = shown && shown.poses ? shown.poses[shown.poses.length - shown.scene.row] : 0;
const motionStart = shown && shown.poses ? shown.poses[0] : 0;
const measures = shown && shown.measures;
const times = measures && measures.column("t");
const clock = new Clock(shown && shown.poses ? motionStart : times ? times[0] : 0, shown && shown.poses ? motionEnd : times ? times[times.length - 1] : 0);
clock.loop = true;

// ---- the view ----

let stage = null, mechanism = null, pale = null, traces = null, paleTraces = null, arrows = null, names = null, points = [];
const note = el("div.note"), holder = el("div.stage", note), tip = el("div.tip", { hidden: true });

// Laws that are written several times may be the same road: join those that agree where both are known.
function sameRoads(roads) {
    const height = (r, x) => r.height[Math.min(r.height.length - 1, Math.max(0, Math.round((x - r.range[0]) / (r.range[1] - r.range[0]) * (r.height.length - 1))))];
    const out = [];
    for (const r of roads) {
        const same = out.find(o => {
            const lo = Math.max(o.range[0], r.range[0]), hi = Math.min(o.range[1], r.range[1]);
            let agree = 0;
            for (let k = 0; k < 100; k++) agree += Math.abs(height(o, lo + (hi - lo) * k / 99) - height(r, lo + (hi - lo) * k / 99)) < 1e-9;
            return hi > lo && agree >= 95;
        });
        if (!same) {
            out.push({ ...r });
            continue;
        }
        const range = [Math.min(same.range[0], r.range[0]), Math.max(same.range[1], r.range[1])], n = 1600;
        same.height = Array.from({ length: n + 1 }, (_, k) => {
            const x = range[0] + (range[1] - range[0]) * k / n;
            return height(x >= same.range[0] && x <= same.range[1] ? same : r, x);
        });
        same.range = range;
        same.wheels = same.wheels.concat(r.wheels);
    }
    return out;
}

function surveyed() {
    const s = survey(shown), scene = shown.scene;
    s.roads = sameRoads(scene.roads || []).map(r => { // as wide as its wheels need
        const y = r.wheels.map(w => {
            const shape = scene.shapes[w], m = scene.markers[shape.centre], b = scene.bodies[m.body];
            return m.weights[0] * b.drawn[1] + m.weights[1] * b.drawn[4] + m.weights[2] * b.drawn[7] + m.weights[3] * b.drawn[10];
        });
        const half = 2.2 * scene.shapes[r.wheels[0]].size[0];
        return { ...r, y: [Math.min(...y) - half, Math.max(...y) + half] };
    });
    return s;
}

function buildStage() {
    const s = surveyed();
    stage = new Stage(holder, s);
    mechanism = new Mechanism(shown, s.size, false);
    stage.world.add(mechanism.group);
    if (ghost) pale = new Mechanism(ghost, s.size, true), stage.world.add(pale.group);
    traces = new Traces(mechanism, stage);
    if (pale) paleTraces = new Traces(pale, stage);
    for (const m of shown.scene.measures)
        if (m.marker >= 0 && m.type === "position" && traces.lines.size < 8 && !traces.lines.has(m.marker)) traces.toggle(m.marker), paleTraces && paleTraces.toggle(m.marker);
    points = hardpoints(mechanism);
    arrows = new Arrows(mechanism, stage, points);
    note.hidden = !(arrows.group.visible = !ghost); // the slopes are those of the first design
    const labels = points.filter(p => p.used).map(p => ({ name: p.name, now: p.now }));
    names = new Names(stage, labels.length ? labels : shown.scene.bodies.map((b, i) => ({ name: b.name, now: () => mechanism.motion.local(i, b.com || [0, 0, 0]) })));
    const colors = () => {
        const css = getComputedStyle(root), get = n => css.getPropertyValue(n).trim();
        stage.theme({ stage: get("--stage"), grid: get("--grid"), road: get("--road"), dark: dark() });
    };
    colors();
    themed.push(colors);
    move();
    clock.on(move);
    holder.append(tip);
    hover();
}

function move() {
    mechanism.update(clock.t);
    if (pale) pale.update(clock.t);
    traces.update(clock.t);
    if (paleTraces) paleTraces.update(clock.t);
    arrows.update();
    stage.track(mechanism.motion);
}

// names below the pointer; a click draws or removes the path of a joint's or hardpoint's point
function hover() {
    const targets = () => [mechanism.group, arrows.group];
    let down = [0, 0];
    holder.addEventListener("pointermove", e => {
        if (e.target !== stage.renderer.domElement || e.buttons) return;
        const hit = stage.pick(e, targets());
        tip.hidden = !hit;
        if (!hit) return;
        const box = holder.getBoundingClientRect();
        tip.replaceChildren(el("b", hit.name), ` ${hit.kind}`, hit.detail ? el("div", hit.detail) : "");
        tip.style.transform = `translate(${e.clientX - box.left + 14}px, ${e.clientY - box.top + 14}px)`;
    });
    holder.addEventListener("pointerdown", e => { down = [e.clientX, e.clientY]; });
    holder.addEventListener("click", e => {
        if (e.target !== stage.renderer.domElement || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 4) return;
        const hit = stage.pick(e, targets());
        if (!hit || hit.marker === undefined || hit.marker < 0) return;
        traces.toggle(hit.marker);
        if (paleTraces) paleTraces.toggle(hit.marker);
        move();
    });
}

// ---- controls ----

function transport() {
    const play = el("button.play", { type: "button", title: "play or pause (space)", "aria-label": "play or pause", onclick: () => clock.play(!clock.playing) }, "▶");
    const slider = el("input.time", { type: "range", min: clock.start, max: clock.end, step: "any", value: clock.t, "aria-label": "time", oninput: e => { const t = +e.target.value; clock.play(false); clock.seek(t); } });
    const now = el("output.now");
    const speed = el("select", { title: "speed", onchange: e => { clock.speed = +e.target.value; } },
        Clock.speeds.map(s => el("option", { value: s, selected: s === clock.speed }, `${s}×`)));
    const show = () => {
        play.textContent = clock.playing ? "❚❚" : "▶";
        slider.value = clock.t;
        now.textContent = `${clock.t.toFixed(clock.end - clock.start < 1 ? 4 : 3)} s`;
    };
    clock.on(show);
    show();
    return el("div.transport", play, slider, now, speed);
}

function toggle(text, on, change, hint) {
    const b = el("button.toggle", { type: "button", title: hint, "aria-pressed": String(on), onclick: () => {
        on = !on;
        b.setAttribute("aria-pressed", String(on));
        change(on);
        stage.dirty = true;
    } }, text);
    return b;
}

function tools() {
    const s = stage.about, bar = el("div.viewbar");
    const view = (name, text, hint) => el("button", { type: "button", title: hint, onclick: () => stage.view(name) }, text);
    if (scenarios.length > 1)
        bar.append(el("select", { title: about.command === "identify" ? "experiment" : "scenario", onchange: e => go(directory, e.target.value) },
            scenarios.map(s => el("option", { value: s, selected: s === scenario }, s))));
    bar.append(el("span.group", view("iso", "3-D", "from a corner"), view("x", "x", "along x"), view("y", "y", "along y"), view("z", "z", "along z")),
        el("span.group",
            toggle("names", false, on => names.visible(on), "names of the hardpoints"),
            toggle("paths", true, on => { traces.group.visible = on; if (paleTraces) paleTraces.group.visible = on; }, "paths of measured points; click a joint for its path"),
            toggle("axes", false, on => { mechanism.parts.axes.visible = on; }, "axes of the bodies: x red, y green, z blue"),
            toggle("joints", true, on => { mechanism.parts.joints.visible = on; }, "joints"),
            main.files["gradient.csv"] && points.length ? toggle("gradient", arrows.group.visible, on => { arrows.group.visible = on; note.hidden = !on; move(); }, "arrows: moving a hardpoint along its arrow reduces the objective; the longer, the steeper") : null,
            pale ? toggle("initial", true, on => { pale.group.visible = on; }, "the initial design, pale") : null,
            s.heavy >= 0 ? toggle("follow", stage.follow >= 0, on => stage.pursue(on ? s.heavy : -1, mechanism.motion), `the camera moves with ${shown.scene.bodies[s.heavy].name}`) : null));
    return bar;
}

// ---- panels ----

function section(id, heading, ...children) {
    return el("section.panel", { id }, el("h2", heading), ...children);
}

let plots = null;
function plotPanel() {
    const box = el("div.plots"), reset = el("button", { type: "button", hidden: true, onclick: () => plots.zoom(null) }, "whole run");
    const filter = el("input", { type: "search", placeholder: "filter measures", oninput: e => plots.filter(e.target.value) });
    const node = section("measures", "Measures", el("div.tools", el("span.soft", "click: go to that time · drag: zoom · double click: whole run"), el("span.grow"), reset, filter), box);
    return [node, () => {
        plots = new Plots(box, shown, ghost, clock);
        plots.onzoom = range => { reset.hidden = !range; };
        themed.push(() => plots.redraw());
        if (plots.cards.length < 4) filter.hidden = true;
    }];
}

function gradientPanel() {
    const table = main.rows("gradient.csv"), box = el("div"), value = el("div.about");
    const result = main.json("gradient.json") || about;
    const node = section("gradient", "Gradient", value, box);
    return [node, () => new Gradient(box, table, result, (objective, slope) => {
        value.replaceChildren(...explained(result, objective, 10));
        if (!arrows) return;
        arrows.show(slope);
        note.replaceChildren(arrows.list.length ? el("span", el("i", "➜"), ` moving a hardpoint along its arrow reduces ${objective}`) : "");
        stage.dirty = true;
    }, name => arrows && arrows.highlight(name))];
}

function objectivesPanel() {
    const values = about.objectives || {}, before = about.objectives_start;
    if (!Object.keys(values).length) return null;
    return section("objectives", "Objectives", el("div.tiles", Object.entries(values).map(([name, x]) => tile(name, x, before))));
}

function tile(name, x, before) {
    const of = definition(about, name);
    return el("div.tile", el("span", name), el("b", short(x / of.factor, 6), of.unit ? el("small", ` ${of.unit}`) : ""),
        before && before[name] !== undefined ? el("small", `initial ${short(before[name] / of.factor, 6)}`) : "", of.lines);
}

function panels() {
    const list = [], ready = [];
    const add = item => {
        if (!item) return;
        const [node, then] = Array.isArray(item) ? item : [item];
        list.push(node);
        if (then) ready.push(then);
    };
    const drawn = (id, heading, draw, ...more) => { // charts need their width
        const box = el("div.plots");
        return [section(id, heading, ...more, box), () => {
            const again = draw(box);
            if (again) themed.push(again);
        }];
    };
    const estimates = panel.estimates(main);
    if (!main.files["gradient.csv"] && !estimates) add(objectivesPanel());
    const course = () => add(drawn("history", main.files["fit.csv"] ? "Convergence" : "Optimisation", box => panel.history(main, box), panel.design(main) || ""));
    if (main.files["history.csv"] && !estimates) course();
    if (main.files["gradient.csv"]) add(gradientPanel());
    if (estimates) add(section("estimates", "Identification", estimates));
    if (main.files["fit.csv"]) add(drawn("fit", "Fit", box => panel.fit(main, box)));
    if (main.files["history.csv"] && estimates) course();
    const heat = panel.correlation(main);
    if (heat) add(section("correlation", "Correlation", heat));
    const compared = panel.comparison(main);
    if (compared) add(section("compare", "Comparison", compared));
    const checked = panel.check(main);
    if (checked) add(section("check", "Check", checked));
    if (measures) add(plotPanel());
    add(section("facts", "Run", panel.facts(page, main, shown)));
    return [list, ready];
}

// ---- the page ----

const [list, ready] = panels();
const mode = el("button", { type: "button", title: "light or dark", "aria-label": "light or dark", onclick: () => { chosen = dark() ? "light" : "dark"; theme(); } }, "◐");
const left = el("div.left", holder), right = el("main.right", list);
document.body.append(el("header.top",
    directories.length > 1 ? el("select.runs", { title: "run", onchange: e => go(e.target.value) }, directories.map((d, i) => el("option", { value: i, selected: i === directory }, d))) : "",
    el("h1", title), el("span.soft", about.command ? `costate ${about.command}` : ""), el("span.grow"),
    el("nav", list.map(s => el("a", { href: `#${s.id}` }, s.querySelector("h2").textContent))), mode), el("div.columns", shown ? left : "", right));
if (!shown) document.body.classList.add("flat");
if (shown) {
    buildStage();
    left.append(tools());
    if (clock.end > clock.start) left.append(transport());
}
for (const then of ready) then();

function loop(now) {
    clock.tick(now);
    if (stage && stage.render() && names) names.update();
    requestAnimationFrame(loop);
}
requestAnimationFrame(loop);

addEventListener("keydown", e => {
    if (/input|select|textarea/i.test(e.target.tagName) && e.target.type !== "range") return;
    if (e.key === " " && e.target.closest("button, a, summary")) return; // it presses what has the focus
    const step = (clock.end - clock.start) / 200;
    if (e.key === " ") e.preventDefault(), clock.play(!clock.playing);
    else if (e.key === "ArrowRight" || e.key === "ArrowLeft") e.preventDefault(), clock.play(false), clock.seek(clock.t + (e.key === "ArrowRight" ? step : -step));
    else if (e.key === "Home") clock.seek(clock.start);
    else if (e.key === "End") clock.seek(clock.end);
});
const PAPER = [1116, 570]; // pixels of the view: 186 mm by 95 mm, as in style.css
addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    root.classList.add("paper"); // charts get the width of the paper
    for (const f of themed) f();
    if (plots) plots.redraw(true);
    if (stage) stage.resize(...PAPER), stage.render(), names.update();
});
addEventListener("afterprint", () => {
    root.classList.remove("paper");
    theme();
    if (stage) stage.resize();
});
if (!matchMedia("(prefers-reduced-motion: reduce)").matches) clock.play(true);
window.costate = { clock, page, stage, plots, mechanism, pale, arrows, traces }; // for scripts and tests
