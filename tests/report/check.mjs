// SPDX-License-Identifier: MIT
// The pages in a real browser: node check.mjs DIRECTORY, where run_report.sh has put
//     gradient/   the five-bar mechanism: gradient --report
//     optimum/    the same: optimize
//     identify/   the strut: identify --report
//     compare/    the five-bar mechanism: compare --report
//     check/      the same: check --report
//     both.html   optimum/ and gradient/ in one page
//     nothing/    scene without motion: gradient without --report
// What is drawn and shown is compared with the files of the runs, which this script reads itself.
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";

const dir = process.argv[2], out = [];
let failed = 0;
const check = (ok, what) => {
    if (!ok) failed++, out.push(`failed: ${what}`);
};
const near = (a, b, tol, what) => check(Math.abs(a - b) <= tol, `${what}: ${a}, not ${b}`);
const csv = file => {
    const [head, ...lines] = readFileSync(file, "utf8").trim().split("\n").map(l => l.split(","));
    return lines.map(l => Object.fromEntries(head.map((h, i) => [h, l[i]])));
};
// linear between the rows
const at = (rows, name, t) => {
    const i = Math.max(0, rows.findIndex(r => +r.t > t) - 1), a = rows[i], b = rows[i + 1];
    return +a[name] + (+b[name] - +a[name]) * (t - +a.t) / (+b.t - +a.t);
};
const said = (b, what) => {
    check(b.log.length === 0, `${what}: the page says: ${b.log.join("; ").slice(0, 500)}`);
    b.log.length = 0;
};

const b = await Browser.open();
const still = on => b.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-reduced-motion", value: on ? "reduce" : "" }] });
try {
    await fiveBar();
    await optimum();
    await identification();
    await comparison();
    await several();
    await nothing();
} catch (e) {
    check(false, e.stack);
}
await b.close();
console.log(out.join("\n") || "the pages are right");
process.exit(failed ? 1 : 0);

async function fiveBar() {
    await b.go(`${dir}/gradient/report.html`, 1100, 700);
    said(b, "loading");
    for (const panel of ["gradient", "measures", "facts"]) check(await b.value(`!!document.querySelector("#${panel}")`), `panel ${panel}`);
    await playing();
    const rows = csv(`${dir}/gradient/measures.csv`);
    await scrubbing(rows);
    await plotting();
    await ranking();
    await dark();
    await printing();
    said(b, "using it");
}

async function playing() {
    check(await b.value("costate.clock.playing"), "it plays from the beginning");
    const t0 = await b.value("costate.clock.t");
    let t = t0;
    for (let i = 0; i < 100 && t === t0; i++) await b.wait(100), t = await b.value("costate.clock.t");
    check(t !== t0, "time passes");
    await b.value(`document.querySelector(".play").click()`);
    const t1 = await b.value("costate.clock.t");
    await b.wait(200);
    check(await b.value("costate.clock.t") === t1, "the button pauses");
    const picture = t => b.value(`(costate.clock.seek(${t}), costate.stage.render(), costate.stage.renderer.domElement.toDataURL())`);
    const a = await picture(0.1), c = await picture(0.9), again = await picture(0.1);
    check(a !== c, "the picture moves");
    check(a === again, "the picture depends on the time alone");
    check(a.length > 20000, "there is something in the picture");
}

// Markers of the scene are where the measures say, and the readings of the plots follow the slider.
async function scrubbing(rows) {
    for (const t of [0, 0.777, 2.5, 4.9]) {
        await b.value(`{ const s = document.querySelector(".time"); s.value = ${t}; s.dispatchEvent(new Event("input")); }`);
        near(await b.value("costate.clock.t"), t, 1e-9, "slider");
        const drawn = await b.value(`costate.mechanism.scene.measures.filter(m => m.type === "position").map(m => [m.name, costate.mechanism.motion.marker(m.marker)])`);
        check(drawn.length === 3, "three points have paths");
        for (const [name, p] of drawn)
            // 32-bit floats, and chords of 1/120 s between frames
            ["x", "y", "z"].forEach((c, i) => near(p[i], at(rows, `${name}.${c}`, t), 2e-3, `${name}.${c} at ${t}`));
        const head = await b.value(`costate.plots.cards.filter(c => c.plot && c.seen).map(c => [new DOMMatrix(getComputedStyle(c.head).transform).m41, c.plot.valToPos(costate.clock.t, "x")])`);
        check(head.length > 0, "plots are drawn");
        for (const [x, want] of head) near(x, want, 0.1, "playhead");
        const shown = await b.value(`(c => [c.components[0], c.live[0].value.textContent])(costate.plots.cards[0])`);
        const want = at(rows, shown[0], t);
        near(+shown[1].replace("−", "-"), want, 6e-4 * Math.max(1e-3, Math.abs(want)), `reading of ${shown[0]} at ${t}`);
    }
}

async function plotting() {
    await b.value(`document.querySelector("#measures .plot").scrollIntoView()`);
    await b.wait(700);
    const box = await b.value(`(r => [r.left, r.top, r.width, r.height])(costate.plots.cards[0].plot.over.getBoundingClientRect())`);
    const y = box[1] + box[3] / 2;
    await b.click(box[0] + 0.25 * box[2], y);
    near(await b.value("costate.clock.t"), 1.25, 0.02, "a click in a plot sets the time");
    await b.mouse("mousePressed", box[0] + 0.4 * box[2], y, { button: "left", clickCount: 1, buttons: 1 });
    for (const s of [0.45, 0.5, 0.6]) await b.mouse("mouseMoved", box[0] + s * box[2], y, { button: "left", buttons: 1 });
    await b.mouse("mouseReleased", box[0] + 0.6 * box[2], y, { button: "left", clickCount: 1 });
    await b.wait(200);
    const ranges = await b.value(`costate.plots.cards.filter(c => c.plot).map(c => [c.plot.scales.x.min, c.plot.scales.x.max])`);
    check(ranges.length > 1, "several plots are drawn");
    for (const [lo, hi] of ranges) near(lo, 2, 0.03, "zoom, left"), near(hi, 3, 0.03, "zoom, right");
    await b.value(`[...document.querySelectorAll("#measures .tools button")].find(x => !x.hidden).click()`);
    near(await b.value("costate.plots.cards[0].plot.scales.x.max"), 5, 1e-6, "the whole run again");
    check(await b.value("costate.clock.t") > 1.2, "a zoom leaves the time alone");
}

async function ranking() {
    const rows = csv(`${dir}/gradient/gradient.csv`).filter(r => r.slope !== "" && +r.slope !== 0);
    const influence = r => +r.value === 0 ? +r.slope * r.size : +r.relative, size = r => Math.abs(influence(r));
    rows.sort((x, y) => size(y) - size(x) || Math.abs(y.slope) - Math.abs(x.slope));
    await b.value(`(x => x && x.click())(document.querySelector("#gradient .more button"))`);
    const names = await b.value(`[...document.querySelectorAll("#gradient tbody tr .name")].map(x => x.textContent)`);
    check(names.join() === rows.map(r => r.number).join(), `order of the numbers: ${names.join()}`);
    const bars = await b.value(`[...document.querySelectorAll("#gradient tbody i")].map(x => [x.className, parseFloat(x.style.width)])`);
    bars.forEach(([side, width], i) => {
        check(side === (influence(rows[i]) < 0 ? "down" : "up"), `side of ${rows[i].number}`);
        near(width, 50 * size(rows[i]) / size(rows[0]), 0.01, `length of ${rows[i].number}`);
    });
    // arrows as drawn: against the slope, no longer than the largest
    const slope = new Map(rows.map(r => [r.number, +r.slope]));
    await b.value("costate.clock.seek(0)");
    const arrows = await b.value(`costate.arrows.list.map(a => [a.p.name, a.p.turn(a.d), a.p.now(), a.p.at])`);
    check(["A", "B", "P1", "P2", "P3"].every(p => arrows.some(a => a[0] === p)), `arrows: ${arrows.map(a => a[0])}`);
    for (const [name, d, now, drawn] of arrows)
        ["x", "y", "z"].forEach((c, i) => {
            near(d[i], -(slope.get(`${name}.${c}`) || 0), 1e-5, `arrow ${name}.${c}`);
            near(now[i], drawn[i], 1e-6, `arrow ${name} starts at its point`);
        });
}

async function dark() {
    const paper = () => b.value(`getComputedStyle(document.body).backgroundColor + costate.stage.world.background.getHexString()`);
    const before = await paper();
    await b.value(`document.querySelector(".top button").click()`);
    const after = await paper();
    check(before !== after, "light and dark differ");
    await b.value(`document.querySelector(".top button").click()`);
    check(before === await paper(), "and back");
}

async function printing() {
    const { data } = await b.send("Page.printToPDF", { printBackground: true });
    check(Buffer.from(data, "base64").subarray(0, 4).toString() === "%PDF" && data.length > 50000, "it can be printed");
}

async function optimum() {
    await still(true);
    await b.go(`${dir}/optimum/report.html`, 1100, 700);
    check(!await b.value("costate.clock.playing"), "who asks for less motion gets a page at rest");
    said(b, "loading an optimisation");
    for (const panel of ["history", "measures", "facts"]) check(await b.value(`!!document.querySelector("#${panel}")`), `panel ${panel}`);
    check(await b.value(`document.querySelectorAll("#history .u-wrap").length`) === 3, "curves of objective, L01, L02");
    check(await b.value(`document.querySelectorAll("#history tbody tr").length`) === 2, "two variables");
    check(await b.value("!!costate.pale && costate.pale.run.label === 'initial' && costate.mechanism.run.label === 'best'"), "two designs are drawn");
    await b.value("costate.clock.play(false), costate.clock.seek(2)");
    const apart = await b.value(`(m => { const x = costate.mechanism.motion.marker(m), y = costate.pale.motion.marker(m); return Math.hypot(x[0] - y[0], x[1] - y[1]); })(costate.mechanism.scene.measures[1].marker)`);
    const best = csv(`${dir}/optimum/best.csv`), initial = csv(`${dir}/optimum/initial.csv`);
    near(apart, Math.hypot(at(best, "r2.x", 2) - at(initial, "r2.x", 2), at(best, "r2.y", 2) - at(initial, "r2.y", 2)), 2e-3, "distance between the designs");
    check(apart > 0.01, "the designs differ");
    said(b, "an optimisation");
}

async function text(selector) {
    return b.value(`[...document.querySelectorAll(${JSON.stringify(selector)})].map(x => x.textContent)`);
}
function read(s) {
    return +s.replace(/\u2212/g, "-");
}

async function identification() {
    await b.go(`${dir}/identify/report.html`, 1100, 700);
    said(b, "loading an identification");
    for (const panel of ["estimates", "fit", "history", "correlation", "measures", "facts"]) check(await b.value(`!!document.querySelector("#${panel}")`), `panel ${panel}`);
    const rows = csv(`${dir}/identify/estimates.csv`), shown = await text("#estimates tbody td:nth-child(2)");
    check(shown.length === rows.length, "one row per number");
    rows.forEach((r, i) => near(read(shown[i].split(" ")[0]), +r.value, 1e-5 * Math.abs(r.value), `estimate of ${r.number}`));
    // two experiments with two channels, each with its residuals; then their distribution
    check(await b.value(`document.querySelectorAll("#fit .u-wrap").length`) === 9, "curves of fit and residuals");
    const all = csv(`${dir}/identify/fit.csv`).map(r => +r.normalised), beyond = 100 * all.filter(x => Math.abs(x) > 1.96).length / all.length;
    const kind = (await text("#fit .kind")).pop().match(/^(\d+) values, (\S+) %/);
    check(+kind[1] === all.length, "all values are in the distribution");
    near(+kind[2], beyond, 0.01, "share beyond 1.96");
    check((await text("#correlation tbody td")).filter(x => x === "1.00").length === rows.length, "a number is correlated with itself");
    check(await b.value("costate.mechanism.run.label") === "best-fast" && await b.value("costate.pale.run.label") === "initial-fast", "first and estimated numbers are drawn");
    check((await text(".viewbar select option")).join() === "fast,slow", "a menu of the experiments");
    said(b, "an identification");
}

async function comparison() {
    await b.go(`${dir}/compare/report.html`, 1100, 700);
    const rows = csv(`${dir}/compare/compare.csv`).filter(r => r.value !== ""), shown = await text("#compare tbody td:nth-child(3)");
    check(rows.length > 10 && shown.length === rows.length, "one row per formulation and method");
    rows.forEach((r, i) => near(read(shown[i]), +r.distance, 0.06 * r.distance, `distance of ${r.formulation}, ${r.method}`));
    check(await b.value(`!!document.querySelector("#measures") && !!costate.mechanism`), "the run is there too");
    said(b, "a comparison");
    await b.go(`${dir}/check/report.html`, 1100, 700);
    check((await text("#check dd"))[0] === "2", "degrees of freedom");
    check((await text("#check details li")).length > 0, "redundant rows");
    said(b, "a check");
}

async function several() {
    await b.go(`${dir}/both.html`, 1100, 700);
    check((await text("select.runs option")).length === 2, "a menu of the runs");
    check(await b.value(`!!document.querySelector("#history") && !document.querySelector("#gradient")`), "the first run comes first");
    await b.value(`(s => (s.value = 1, s.dispatchEvent(new Event("change")), 1))(document.querySelector("select.runs"))`);
    let there = false;
    for (let i = 0; i < 100 && !there; i++) await b.wait(100), there = await b.value(`!!document.querySelector("#gradient") && !!window.costate`);
    check(there && !await b.value(`!!document.querySelector("#history")`), "the menu shows the second run");
    said(b, "two runs");
}

async function nothing() {
    await b.go(`${dir}/nothing/report.html`, 800, 600);
    said(b, "a page without a run");
    check(await b.value(`!!document.querySelector("#gradient") && !document.querySelector("#measures")`), "panels without data are left out");
}
