// SPDX-License-Identifier: MIT
// The pages in a real browser: node check.mjs DIRECTORY, where run_report.sh has put
//     gradient/   the five-bar mechanism: gradient --report
//     optimum/    the same: optimize
//     identify/   the strut: identify --report
//     compare/    the five-bar mechanism: compare --report
//     check/      the same: check --report
//     both.html   optimum/ and gradient/ in one page
//     nothing/    scene without motion: gradient without --report; objectives, measures and numbers with definitions and doc texts
//     scenes/NAME/ mechanisms to look at: pendulum, plane (x-z), road, wishbone
//     gradient.txt what the terminal said of gradient/; five-bar.svg: the first picture
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

let b = await Browser.open();
const still = on => b.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-reduced-motion", value: on ? "reduce" : "" }] });
try {
    await fiveBar();
    await b.close();
    b = await Browser.open(false);
    await still(true);
    await withoutWebgl();
    await optimum();
    await identification();
    await comparison();
    await several();
    await nothing();
    await scenes();
    await telephone();
} catch (e) {
    check(false, e.stack);
}
await b.close();
console.log(out.join("\n") || "the pages are right");
process.exit(failed ? 1 : 0);

async function fiveBar() {
    await b.go(`${dir}/gradient/report.html`, 920, 560); // small: drawn in software
    said(b, "loading");
    for (const panel of ["gradient", "measures", "facts"]) check(await b.value(`!!document.querySelector("#${panel}")`), `panel ${panel}`);
    await playing();
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
    await b.value(`document.querySelector("#measures").scrollIntoView()`);
    await b.wait(300);
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
    const all = csv(`${dir}/gradient/gradient.csv`).filter(r => r.slope !== ""), rows = all.filter(r => r.effect === "exact");
    const influence = r => +r.influence, size = r => Math.abs(r.slope * r.size);
    const without = await b.value(`document.querySelector("#gradient .more span")?.textContent`);
    check(all.length === rows.length ? !without : without === `${all.length - rows.length} without effect`, `without effect: ${without}`);
    rows.sort((x, y) => size(y) - size(x));
    const said = readFileSync(`${dir}/gradient.txt`, "utf8"), count = words => +(said.match(new RegExp(`(\\d+) numbers? ha\\w+ ${words}`)) || [0, 0])[1];
    check(count("no effect") === all.length - rows.length, `the terminal counts ${count("no effect")} without effect`);
    check((await text("#gradient .more span")).includes(`${count("no gradient")} refused`), `the terminal counts ${count("no gradient")} refused`);
    await b.value(`(x => x && x.click())(document.querySelector("#gradient .more button"))`);
    const names = await b.value(`[...document.querySelectorAll("#gradient tbody tr")].map(x => x.dataset.number)`);
    const slopes = await text("#gradient tbody td:nth-child(3)"), units = await text("#gradient tbody td:nth-child(3) small");
    rows.forEach((r, i) => near(read(slopes[i].split(" ")[0]), +r.slope_per, 6e-4 * Math.abs(r.slope_per), `slope of ${r.number}`));
    check(units.join() === rows.map(r => r.per ? ` /${r.per}` : "").join() && units.includes(" /mm"), `slopes per ${units.join()}`);
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
    check((await text(".note"))[0] === "➜ moving a hardpoint along its arrow reduces psi", "what the arrows mean");
    const svg = readFileSync(`${dir}/five-bar.svg`, "utf8"), picture = [...svg.matchAll(/class="arrow" x1="(.*?)" y1="(.*?)" x2="(.*?)" y2="(.*?)"/g)].map(m => [m[3] - m[1], m[2] - m[4]]);
    check(/hardpoint along its arrow reduces psi/.test(svg) && picture.length === 5, "the first picture says so too");
    ["A", "P1", "P2", "P3", "B"].forEach((p, i) => {
        const d = arrows.find(a => a[0] === p)[1];
        check(picture[i][0] * d[0] + picture[i][1] * d[1] > 0.99 * Math.hypot(...picture[i]) * Math.hypot(d[0], d[1]), `arrow of ${p} in the first picture`);
    });
    for (const [name, d, now, drawn] of arrows)
        ["x", "y", "z"].forEach((c, i) => {
            near(d[i], -(slope.get(`${name}.${c}`) || 0), 1e-5, `arrow ${name}.${c}`);
            near(now[i], drawn[i], 1e-6, `arrow ${name} starts at its point`);
        });
}

async function type(selector, words) {
    await b.value(`{ const i = document.querySelector(${JSON.stringify(selector)}); i.value = ${JSON.stringify(words)}; i.dispatchEvent(new Event("input")); }`);
}
async function filters() {
    const all = csv(`${dir}/gradient/gradient.csv`).filter(r => r.effect === "exact").map(r => r.number);
    for (const [words, of] of [["P1.*", /^P1\./], ["*.x", /\.x$/], ["L0?", /^L0.$/], ["p2 y", /^P2\.y$/], ["p1", /P1/]]) {
        await type("#gradient input", words);
        const found = await b.value(`[...document.querySelectorAll("#gradient tbody tr")].map(x => x.dataset.number)`), want = all.filter(n => of.test(n));
        check(want.length > 0 && found.slice().sort().join() === want.sort().join(), `filter ${words}: ${found}`);
    }
    await type("#gradient input", "");
    await type("#measures input", "r?.x");
    const cards = await b.value(`costate.plots.cards.filter(c => !c.node.hidden).map(c => c.title).join()`);
    check(cards === "r1,r2,r3", `filter of measures: ${cards}`);
    await type("#measures input", "");
}

// Space presses the button that has the focus; elsewhere it plays.
async function keys() {
    const space = async () => {
        for (const type of ["keyDown", "keyUp"]) await b.send("Input.dispatchKeyEvent", { type, key: " ", code: "Space", text: " ", windowsVirtualKeyCode: 32 });
    };
    const state = () => b.value(`[document.querySelector(".toggle").getAttribute("aria-pressed"), costate.clock.playing].join()`);
    await b.value(`document.querySelector(".toggle").focus()`);
    const before = await state();
    await space();
    check(before === "false,false" && await state() === "true,false", `space on a button: ${await state()}`);
    await space();
    await b.value(`document.activeElement.blur()`);
    await space();
    check(await state() === "false,true", `space elsewhere: ${await state()}`);
    await space();
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
    const [view, plot, paper] = await b.value(`(() => {
        dispatchEvent(new Event("beforeprint"));
        const found = [costate.stage.camera.aspect, costate.plots.cards[0].plot.width, 186 * 96 / 25.4];
        dispatchEvent(new Event("afterprint"));
        return found;
    })()`);
    near(view, 186 / 95, 0.01, "the printed view has the aspect of its place");
    check(plot > 0.9 * paper && plot < paper, `plots are as wide as the paper: ${plot} of ${paper}`);
    const { data } = await b.send("Page.printToPDF", { printBackground: true });
    const pdf = Buffer.from(data, "base64");
    check(pdf.subarray(0, 4).toString() === "%PDF" && pdf.length > 50000 && pdf.includes("/Subtype /Image"), "it can be printed, with the picture");
    await b.wait(100);
    check(await b.value("Math.abs(costate.stage.camera.aspect * costate.stage.holder.clientHeight / costate.stage.holder.clientWidth - 1) < 1e-3"), "the view has its size again");
}

async function optimum() {
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
    await b.go(`${dir}/identify/report.html`, 1366, 768);
    check(await b.value(`(t => t.scrollWidth <= t.parentNode.clientWidth && t.querySelectorAll("th").length === 6)(document.querySelector("#estimates table"))`), "the table of estimates fits");
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
    const about = await text("#gradient .about > *");
    check(/^psi = 72\.68\d* cm\^2\*s$/.test(about[0]) && about.slice(1).join() === "the path,how far P2 is from its place", `objective: ${about}`);
    check((await text("#gradient td .doc")).includes("where the first spring ends"), "doc text of a number");
    const cut = await b.value(`[...document.querySelectorAll("td.name")].filter(x => x.scrollWidth > x.clientWidth).map(x => x.textContent)`);
    const long = (await text("#gradient td.name")).filter(n => n.startsWith("left_front"));
    check(long.length === 2 && !cut.length, `long names: ${cut}`);
    check(await b.value(`!!document.querySelector("#gradient") && !document.querySelector("#measures")`), "panels without data are left out");
}

// On a canvas: the same scene, with a sentence.
async function withoutWebgl() {
    await b.go(`${dir}/gradient/report.html`, 1100, 700);
    check((await text(".remark:not([hidden])"))[0] === "This browser has no WebGL: the view is drawn without shadows.", "the page says that there is no WebGL");
    const seen = await b.value(`[0.1, 0.9, 0.1].map(t => (costate.clock.seek(t), costate.stage.render(), costate.stage.renderer.domElement.toDataURL()))`);
    check(seen[0] !== seen[1] && seen[0] === seen[2] && seen[0].length > 20000, "the picture moves without WebGL");
    const paint = await b.value(`(() => {
        const c = costate.stage.renderer.domElement, pixel = (x, y) => [...c.getContext("2d").getImageData(Math.round(x * c.width), Math.round(y * c.height), 1, 1).data].slice(0, 3).join();
        return [pixel(0.98, 0.3), ...costate.mechanism.scene.measures.filter(m => m.type === "position").map(m => {
            const p = costate.stage.camera.position.clone().fromArray(costate.mechanism.motion.marker(m.marker)), at = costate.stage.project(p);
            return pixel(at[0], at[1]);
        })];
    })()`);
    check(paint.length === 4 && paint.slice(1).every(p => p !== paint[0]), `joints are in the picture: ${paint.join(" ")}`);
    await scrubbing(csv(`${dir}/gradient/measures.csv`));
    await plotting();
    await ranking();
    await filters();
    await keys();
    await printing();
    said(b, "without WebGL");
}

async function scenes() {
    const scene = name => b.go(`${dir}/scenes/${name}/report.html`, 1100, 700);
    const outside = () => b.value(`(() => {
        const { stage, clock, mechanism } = costate, out = [], v = stage.camera.position.clone();
        for (let k = 0; k <= 20; k++) {
            clock.seek(clock.start + (clock.end - clock.start) * k / 20);
            stage.camera.updateMatrixWorld();
            mechanism.scene.markers.forEach((m, i) => {
                if (!m || !m.point || m.body < 0) return;
                const at = stage.project(v.fromArray(mechanism.motion.marker(i)));
                if (!at || at.some(x => x < 0 || x > 1)) out.push(k);
            });
        }
        return out.length;
    })()`);
    await scene("pendulum");
    check(await b.value("costate.stage.follow") === -1, "a pendulum is not followed");
    check(await outside() === 0, "a pendulum stays in the picture");
    await scene("plane");
    check(await b.value("costate.stage.about.flat") === 1 && await outside() === 0, "a mechanism in the x-z plane is seen along y");
    for (const side of [1, -1]) // seen from either side, the grid is behind
        check(await b.value(`(s => {
            s.camera.position.y = s.controls.target.y + ${side} * Math.abs(s.camera.position.y - s.controls.target.y);
            s.dirty = true, s.render();
            return (s.camera.position.y - s.grid.position.y) * ${side} > Math.abs(s.camera.position.y) + 0.02;
        })(costate.stage)`), `the grid is behind the mechanism, seen from ${side} y`);
    await scene("road");
    check(await b.value("costate.stage.follow") >= 0 && await outside() === 0, "what travels is followed");
    check(await b.value(`(g => g.filter(o => o.receiveShadow).length + " " + g.filter(o => o.material.type === "ShadowMaterial").length)(costate.stage.ground.children)`) === "1 0", "one surface gets shadows: the road");
    await scene("wishbone");
    const pins = await b.value(`costate.mechanism.parts.joints.children.filter(o => o.children[0] && o.children[0].userData.about.name === "lower_pivot").map(o => o.position.toArray())`);
    const near_ = (p, q) => Math.hypot(...p.map((x, i) => x - q[i])) < 1e-6;
    for (const end of [[0.15, 0.35, 0.2], [-0.15, 0.35, 0.2]]) check(pins.filter(p => near_(p, end)).length === 2, `a pin and its support at ${end}`);
    const bars = await b.value(`(out => (costate.mechanism.parts.bodies.children[0].traverse(o => o.isMesh && o.scale.x !== o.scale.y && out.push([-0.5, 0.5].map(x => o.localToWorld(o.position.clone().set(x, 0, 0)).toArray()))), out))([])`);
    const joined = (p, q) => bars.some(([x, y]) => (near_(x, p) && near_(y, q)) || (near_(x, q) && near_(y, p)));
    check(bars.length === 3 && joined([0.15, 0.35, 0.2], [-0.15, 0.35, 0.2]), `a wishbone is a triangle: ${JSON.stringify(bars)}`);
    said(b, "scenes");
}

async function telephone() {
    for (const page of ["identify", "optimum", "nothing"]) {
        await b.go(`${dir}/${page}/report.html`, 390, 844, true);
        const [seen, wide] = await b.value("[innerWidth, document.documentElement.scrollWidth]");
        check(seen === 390 && wide === 390, `${page} on a telephone is ${wide} of ${seen} wide`);
    }
    said(b, "a telephone");
}
