// SPDX-License-Identifier: MIT
// Plots of all measures. One card per measure and unit; zoom and playhead are common to all.
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { definitionLines, el, filtered, short } from "./data.js";

export const colors = ["#4a7fd6", "#e0723c", "#2f9e77", "#b9609f", "#b8901c", "#3f9cc0"];

// the largest index with t[i] <= x
function index(t, x) {
    let lo = 0, hi = t.length - 1;
    while (lo < hi) {
        const mid = (lo + hi + 1) >> 1;
        if (t[mid] <= x) lo = mid;
        else hi = mid - 1;
    }
    return lo;
}

export function valueAt(t, y, x) {
    const i = index(t, x), j = Math.min(i + 1, t.length - 1);
    return t[j] > t[i] ? y[i] + (y[j] - y[i]) * Math.min(1, Math.max(0, (x - t[i]) / (t[j] - t[i]))) : y[i];
}

// {title, type, unit, components, factors, lines} from the scene's list of measures, or by the names of the columns
export function cards(run) {
    const list = [];
    const add = (title, type, unit, component, factor = 1, lines = []) => {
        let card = list.find(c => c.title === title && c.unit === unit);
        if (!card) list.push(card = { title, type, unit, components: [], factors: [], lines });
        card.components.push(component);
        card.factors.push(factor);
    };
    const known = new Set();
    for (const m of run.scene ? run.scene.measures : [])
        m.components.forEach((name, i) => {
            if (!run.measures.names.includes(name)) return;
            known.add(name);
            add(m.name, m.type, m.units[i] && m.units[i] !== "1" ? m.units[i] : "", name, m.factors ? m.factors[i] : 1, definitionLines(m.definition, m.doc));
        });
    for (const name of run.measures.names)
        if (name !== "t" && !known.has(name)) add(name.replace(/\.[^.]*$/, ""), "", "", name);
    for (const c of list) { // RA [N] and RA [N*m] become RA.force and RA.torque
        const stems = new Set(c.components.map(n => n.replace(/\.[xyz]$/, "")));
        if (stems.size === 1 && c.components.length > 1) c.title = [...stems][0];
        else if (c.components.length === 1) c.title = c.components[0];
    }
    return list;
}

const NOTHING = 1e-18; // rounding of zero, whatever the unit

function extent(lo, hi) {
    if (lo === null || Math.max(Math.abs(lo), Math.abs(hi)) < NOTHING) return [-1, 1];
    const pad = Math.max(0.06 * (hi - lo), 1e-6 * Math.max(Math.abs(lo), Math.abs(hi)));
    return [lo - pad, hi + pad];
}

export class Plots {
    constructor(holder, run, ghost, clock) {
        Object.assign(this, { holder, run, ghost, clock, plots: [], range: null });
        this.t = run.measures.column("t");
        this.cards = cards(run).map(card => this.card(card));
        this.watcher = new IntersectionObserver(entries => {
            for (const e of entries) {
                const card = this.cards.find(c => c.node === e.target);
                card.seen = e.isIntersecting;
                if (card.seen && !card.plot) this.draw(card);
                if (card.seen) this.playhead(card);
            }
        }, { rootMargin: "300px" });
        for (const c of this.cards) holder.append(c.node), this.watcher.observe(c.node);
        clock.on(() => this.update());
    }

    card(card) {
        const live = card.components.map((name, i) => {
            const value = el("b", "");
            const stem = name.startsWith(card.title + ".") ? name.slice(card.title.length + 1) : card.components.length > 1 ? name.replace(/^[^.]*\./, "") : "";
            const chip = el("button.chip", { type: "button", title: `${name}: show or hide`, onclick: () => this.hide(card, i) },
                el("i", { style: `background:${colors[i % colors.length]}` }), stem ? stem + " " : "", value);
            return { chip, value };
        });
        const node = el("section.plot", { "data-name": card.title },
            el("header", el("h3", card.title, card.unit ? el("small", ` ${card.unit}`) : ""), el("span.kind", card.type),
                el("div.chips", live.map(l => l.chip))), card.lines);
        const area = el("div.area");
        node.append(area);
        return { ...card, node, area, live, hidden: new Set(), plot: null, seen: false };
    }

    data(card) {
        const inUnit = (y, i) => y && card.factors[i] !== 1 ? y.map(v => v / card.factors[i]) : y;
        const series = card.components.map((name, i) => inUnit(this.run.measures.column(name), i));
        const old = [];
        if (this.ghost && this.ghost.measures) {
            const t = this.ghost.measures.column("t");
            card.components.forEach((name, i) => {
                const y = inUnit(this.ghost.measures.column(name), i);
                if (y) old.push(Float32Array.from(this.t, x => valueAt(t, y, x)));
            });
        }
        return { series, old };
    }

    draw(card) {
        const style = getComputedStyle(document.documentElement), text = style.getPropertyValue("--soft").trim(), line = style.getPropertyValue("--line").trim();
        const { series, old } = this.data(card), font = "11px system-ui, sans-serif";
        const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { show: false } };
        const options = {
            width: Math.max(200, card.area.clientWidth), height: 150, pxAlign: 0, legend: { show: false }, padding: [8, 8, 0, 0],
            cursor: { sync: { key: "costate" }, drag: { x: true, y: false, setScale: true }, points: { size: 6 } },
            scales: { x: { time: false }, y: { range: (u, lo, hi) => extent(lo, hi) } },
            axes: [{ ...axis, size: 24, values: (u, v) => v.map(x => short(x)) },
                { ...axis, size: 58, values: (u, v) => v.map(x => short(x)) }],
            series: [{ label: "t" }].concat(
                old.map((_, i) => ({ stroke: colors[i % colors.length] + "88", width: 1, dash: [5, 4], points: { show: false } })),
                series.map((_, i) => ({ stroke: colors[i % colors.length], width: 1.6, points: { show: false } }))),
            hooks: {
                setScale: [(u, key) => key === "x" && this.zoomed(card)],
                setCursor: [u => this.values(card, u.cursor.idx)],
                ready: [u => this.interact(card, u)],
            },
        };
        card.first = 1 + old.length;
        card.plot = new uPlot(options, [this.t, ...old, ...series], card.area);
        card.series = series;
        card.large = Math.max(...series.map(y => y.reduce((m, v) => Math.max(m, Math.abs(v)), 0)));
        for (const i of card.hidden) card.plot.setSeries(card.first + i, { show: false });
        if (this.range) card.plot.setScale("x", this.range);
        card.head = el("div.playhead");
        card.plot.over.append(card.head);
        if (!card.sized) card.sized = new ResizeObserver(() => {
            const w = card.area.clientWidth;
            if (card.plot && w > 0 && Math.abs(w - card.plot.width) > 1) card.plot.setSize({ width: w, height: 150 }), this.playhead(card);
        });
        card.sized.observe(card.area);
    }

    // a click moves the time, a drag zooms
    interact(card, u) {
        let down = 0;
        u.over.addEventListener("mousedown", e => { down = e.clientX; });
        u.over.addEventListener("click", e => {
            if (Math.abs(e.clientX - down) < 4) this.clock.seek(u.posToVal(e.clientX - u.over.getBoundingClientRect().left, "x"));
        });
        u.over.addEventListener("dblclick", () => this.zoom(null));
        u.over.addEventListener("mouseenter", () => { this.hovering = true; });
        u.over.addEventListener("mouseleave", () => { this.hovering = false; this.update(); });
    }

    hide(card, i) {
        const on = card.hidden.has(i);
        if (on) card.hidden.delete(i);
        else card.hidden.add(i);
        card.live[i].chip.classList.toggle("off", !on);
        if (card.plot) card.plot.setSeries(card.first + i, { show: on });
    }

    zoomed(card) {
        if (!card.plot || !card.head) return;
        this.playhead(card);
        if (this.busy) return;
        const { min, max } = card.plot.scales.x, whole = min <= this.t[0] && max >= this.t[this.t.length - 1];
        this.zoom(whole ? null : { min, max }, card);
    }
    zoom(range, from) {
        this.busy = true;
        this.range = range;
        const to = range || { min: this.t[0], max: this.t[this.t.length - 1] };
        for (const c of this.cards) if (c.plot && c !== from) c.plot.setScale("x", to);
        this.busy = false;
        if (this.onzoom) this.onzoom(range);
        this.update();
    }

    values(card, i) {
        if (!card.series) return;
        card.live.forEach((l, k) => {
            const y = i === null || i === undefined || !this.hovering ? valueAt(this.t, card.series[k], this.clock.t) : card.series[k][i];
            l.value.textContent = short(Math.abs(y) < Math.max(NOTHING, 1e-9 * card.large) ? 0 : y); // rounding beside its siblings
        });
    }
    playhead(card) {
        if (!card.plot) return;
        const { min, max } = card.plot.scales.x, x = card.plot.valToPos(this.clock.t, "x"), inside = this.clock.t >= min && this.clock.t <= max;
        card.head.style.visibility = inside ? "" : "hidden";
        card.head.style.transform = `translateX(${x.toFixed(1)}px)`;
        if (!this.hovering) this.values(card, null);
    }
    update() {
        for (const c of this.cards) if (c.seen) this.playhead(c);
    }
    // the colours of the axes have changed, or everything is wanted at once (printing)
    redraw(all) {
        for (const c of this.cards) {
            if (c.plot) c.plot.destroy(), c.plot = c.head = null;
            if (c.seen || all) this.draw(c), this.playhead(c);
        }
    }
    filter(text) {
        for (const c of this.cards) c.node.hidden = !filtered(text, c.title, c.type, c.unit, ...c.components);
    }
}
