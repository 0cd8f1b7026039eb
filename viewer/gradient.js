// SPDX-License-Identifier: MIT
// The gradient as bars in the order of influence.
import { definition, el, filtered, named, short } from "./data.js";

const FEW = 12;
const SIZES = "Influence: the slope times the size of the number, to first order the effect of a change by 100 %; coordinates of points by the extent of the drawing, directions by 1 rad, zeros by what is usual for their unit.";

export class Gradient {
    // result: gradient.json; onshow(objective, slopes by name), onpoint(name or null)
    constructor(holder, table, result, onshow, onpoint) {
        Object.assign(this, { holder, table, result, onshow, onpoint, few: true, by: "influence", text: "" });
        this.objectives = [...new Set(table.map(r => r.objective))];
        this.body = el("div");
        const tabs = el("div.tabs", this.objectives.map(o => el("button", { type: "button", "data-objective": o, onclick: () => this.show(o) }, o)));
        const by = el("select", { title: "what the bars show", onchange: e => { this.by = e.target.value; this.draw(); } },
            el("option", { value: "influence" }, "influence"), el("option", { value: "slope" }, "dψ/dp"));
        const filter = el("input", { type: "search", placeholder: "filter: A.*, mass", oninput: e => { this.text = e.target.value; this.draw(); } });
        this.tabs = tabs;
        holder.append(el("div.tools", tabs, el("span.grow"), filter, by), this.body);
        this.show(this.objectives[0]);
    }

    show(objective) {
        this.objective = objective;
        this.of = definition(this.result, objective);
        for (const b of this.tabs.children) b.classList.toggle("on", b.dataset.objective === objective);
        this.rows = this.table.filter(r => r.objective === objective);
        const slope = new Map(this.rows.filter(r => r.slope !== "").map(r => [r.number, +r.slope]));
        this.draw();
        this.onshow(objective, slope);
    }

    influence(r) { return (this.by === "slope" ? +r.slope_per : +r.influence) / this.of.factor; }

    order(a, b) {
        return Math.abs(this.influence(b)) - Math.abs(this.influence(a)); // equal ones in the order of the file, as on the terminal
    }

    draw() {
        const without = r => r.effect === "has no effect on the objective";
        const live = this.rows.filter(r => r.slope !== "" && !without(r) && filtered(this.text, r.number));
        live.sort((a, b) => this.order(a, b));
        const most = live.length && Math.abs(this.influence(live[0])) || 1, cut = this.few ? live.slice(0, FEW) : live;
        const rows = cut.map(r => this.row(r, most));
        const none = this.rows.filter(without), refused = this.rows.filter(r => r.slope === "");
        this.body.replaceChildren(
            el("div.scroll", el("table.bars", el("thead", el("tr", el("th", "number p"), el("th.num", "value"), el("th.num", "dψ/dp"),
                el("th.influence", this.by === "slope" ? "dψ/dp" : "influence: slope · size"))), el("tbody", rows))),
            el("div.more", live.length > FEW && el("button", { type: "button", onclick: () => { this.few = !this.few; this.draw(); } },
                this.few ? `all ${live.length}` : "fewer"),
                none.length > 0 && el("span", { title: none.map(r => r.number).join(", ") }, `${none.length} without effect`),
                refused.length > 0 && el("span", { title: refused.map(r => `${r.number}: ${r.effect}`).join("\n") }, `${refused.length} refused`)),
            this.by === "influence" ? el("p.soft.sizes", SIZES) : "", refused.length > 0 && this.reasons(refused) || "");
    }

    row(r, most) {
        const x = this.influence(r), share = Math.abs(x) / most;
        const bar = el("i", { class: x < 0 ? "down" : "up", style: `width:${(50 * share).toFixed(2)}%` });
        const how = `a change by ${short(r.size, 3)} ${r.unit === "1" ? "" : r.unit} changes ψ by ${short(r.slope * r.size / this.of.factor, 6)} ${this.of.unit} to first order`;
        const doc = this.result.numbers && this.result.numbers[r.number] && this.result.numbers[r.number].doc;
        const sided = r.effect === "the slope is that of the side that the run has taken"; // "!", as on the terminal
        return el("tr", { "data-number": r.number, title: `${r.place}\n${how}`, onmouseenter: () => this.onpoint(r.number), onmouseleave: () => this.onpoint(null) },
            el("td.name", named(r.number), doc ? el("div.doc", doc) : ""), el("td.num", short(r.value), el("small", r.unit && r.unit !== "1" ? " " + r.unit : "")),
            el("td.num", short(r.slope_per / this.of.factor), sided ? el("b", { title: r.effect }, "!") : "", el("small", r.per ? " /" + r.per : "")), el("td.influence", el("div", bar)));
    }

    reasons(refused) {
        const why = new Map();
        for (const r of refused) why.set(r.effect, (why.get(r.effect) || []).concat(r.number));
        return el("details", el("summary", "Refused: what has no gradient, and why"), el("ul",
            [...why].map(([effect, names]) => el("li", `${effect}: `, el("span.names-list", names.join(", "))))));
    }
}
