// SPDX-License-Identifier: MIT
// The gradient as bars in the order of influence.
import { el, short } from "./data.js";

const FEW = 12;

export class Gradient {
    // onshow(objective, slopes by name), onpoint(name or null)
    constructor(holder, table, onshow, onpoint) {
        Object.assign(this, { holder, table, onshow, onpoint, few: true, by: "relative", text: "" });
        this.objectives = [...new Set(table.map(r => r.objective))];
        this.body = el("div");
        const tabs = el("div.tabs", this.objectives.map(o => el("button", { type: "button", "data-objective": o, onclick: () => this.show(o) }, o)));
        const by = el("select", { title: "what the bars show", onchange: e => { this.by = e.target.value; this.draw(); } },
            el("option", { value: "relative" }, "p · dψ/dp"), el("option", { value: "slope" }, "dψ/dp"));
        const filter = el("input", { type: "search", placeholder: "filter names", oninput: e => { this.text = e.target.value.toLowerCase(); this.draw(); } });
        this.tabs = tabs;
        holder.append(el("div.tools", tabs, el("span.grow"), filter, by), this.body);
        this.show(this.objectives[0]);
    }

    show(objective) {
        this.objective = objective;
        for (const b of this.tabs.children) b.classList.toggle("on", b.dataset.objective === objective);
        this.rows = this.table.filter(r => r.objective === objective);
        const slope = new Map(this.rows.filter(r => r.slope !== "").map(r => [r.number, +r.slope]));
        this.draw();
        this.onshow(objective, slope);
    }

    // slope times size: p dpsi/dp, and of a number that is 0 the influence of what is usual for its unit, as on the terminal
    influence(r) { return this.by === "slope" ? +r.slope : +r.value !== 0 ? +r.relative : +r.slope * r.size; }

    order(a, b) {
        return Math.abs(this.influence(b)) - Math.abs(this.influence(a)) || Math.abs(b.slope) - Math.abs(a.slope);
    }

    draw() {
        const live = this.rows.filter(r => r.slope !== "" && +r.slope !== 0 && r.number.toLowerCase().includes(this.text));
        live.sort((a, b) => this.order(a, b));
        const most = live.length && Math.abs(this.influence(live[0])) || 1, cut = this.few ? live.slice(0, FEW) : live;
        const rows = cut.map(r => this.row(r, most));
        const none = this.rows.filter(r => r.slope !== "" && +r.slope === 0), refused = this.rows.filter(r => r.slope === "");
        this.body.replaceChildren(
            el("table.bars", el("thead", el("tr", el("th", "number p"), el("th.num", "value"), el("th.num", "dψ/dp"),
                el("th.influence", this.by === "slope" ? "dψ/dp" : "influence p · dψ/dp"))), el("tbody", rows)),
            el("div.more", live.length > FEW && el("button", { type: "button", onclick: () => { this.few = !this.few; this.draw(); } },
                this.few ? `all ${live.length}` : "fewer"),
                none.length > 0 && el("span", { title: none.map(r => r.number).join(", ") }, `${none.length} without effect`),
                refused.length > 0 && el("span", { title: refused.map(r => `${r.number}: ${r.effect}`).join("\n") }, `${refused.length} refused`)),
            refused.length > 0 && this.reasons(refused) || "");
    }

    row(r, most) {
        const x = this.influence(r), share = Math.abs(x) / most;
        const bar = el("i", { class: x < 0 ? "down" : "up", style: `width:${(50 * share).toFixed(2)}%` });
        const how = +r.value !== 0 ? `p dψ/dp = ${short(r.relative, 6)}` : r.size !== "" ? `it is 0: the bar is a change by ${short(r.size, 3)}, the median of its unit` : "it is 0: no bar, ordered by slope";
        return el("tr", { title: `${r.place}\n${how}`, onmouseenter: () => this.onpoint(r.number), onmouseleave: () => this.onpoint(null) },
            el("td.name", r.number), el("td.num", short(r.value), el("small", r.unit && r.unit !== "1" ? " " + r.unit : "")),
            el("td.num", short(r.slope)), el("td.influence", el("div", bar)));
    }

    reasons(refused) {
        const why = new Map();
        for (const r of refused) why.set(r.effect, (why.get(r.effect) || []).concat(r.number));
        return el("details", el("summary", "Refused: what has no gradient, and why"), el("ul",
            [...why].map(([effect, names]) => el("li", `${effect}: `, el("span.names-list", names.join(", "))))));
    }
}
