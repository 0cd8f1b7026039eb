// SPDX-License-Identifier: MIT
// units.mjs DIR: the page shows objectives and measures in the units that the file chooses, with what it says about them.
import { readFileSync } from "node:fs";
import { Browser } from "./browser.mjs";

const dir = process.argv[2], browser = await Browser.open();
let failed = 0;
const check = (ok, what) => { if (!ok) console.log(`failed: ${what}`), failed = 1; };
await browser.go(`${dir}/gradient/report.html`, 1100, 700);
const json = JSON.parse(readFileSync(`${dir}/gradient/gradient.json`)), text = await browser.value(`document.body.textContent`);
const shown = json.objectives.tilt * 180 / Math.PI;
check(["deg", "peak(turn)", "how far it turns"].every(x => text.includes(x)), "unit, definition and text of the objective");
check(new RegExp(`tilt = ${shown.toPrecision(6).slice(0, 6)}`).test(text), `the value in degrees: ${shown}, not ${text.slice(0, 80)}`);
const csv = readFileSync(`${dir}/gradient/gradient.csv`, "utf8").trim().split("\n").map(x => x.split(","));
const at = name => csv[0].indexOf(name), row = csv.find(r => r[at("number")] === "L"), slope = row[at("slope_per")] * 180 / Math.PI;
const cell = await browser.value(`[...document.querySelectorAll("#gradient tbody tr")].find(r => r.querySelector(".name").textContent === "Llength of the rod").textContent`);
check(cell.includes(Math.abs(slope).toPrecision(3).slice(0, 4)), `the slope in degrees: ${slope}, not ${cell}`);
check(text.includes("length of the rod"), "text of a number");
const plot = await browser.value(`document.querySelector('.plot[data-name="turn"]').textContent`);
check(plot.includes("deg"), `unit of the plot: ${plot}`);
check(plot.includes("angle of the rod"), "text of a measure");
check(!browser.log.length, browser.log.join("\n"));
await browser.close();
process.exit(failed);
