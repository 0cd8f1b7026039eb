// SPDX-License-Identifier: MIT
// Draws docs/report.png, the page of the buggy's gradient, and docs/tutorial.png, that of the tutorial's optimum, in Chromium.
//     node docs/report.mjs [PROGRAM]
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "../tests/report/browser.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url))), out = mkdtempSync(join(tmpdir(), "costate-"));
const costate = (...words) => execFileSync(process.argv[2] || join(root, "build/costate"), words);
costate("gradient", join(root, "examples/buggy/model.yaml"), "--quiet", "--report", "--out", out);
const b = await Browser.open();
await b.go(join(out, "report.html"), 1400, 860);
await b.value("costate.clock.play(false), costate.clock.seek(2.16)"); // the front wheels have just met the step
await b.value("(s => (s.camera.position.sub(s.controls.target).multiplyScalar(0.82).add(s.controls.target), s.controls.update(), 1))(costate.stage)");
await b.wait(1500);
await b.picture(join(root, "docs/report.png"));

for (const [, text] of readFileSync(join(root, "docs/tutorial.md"), "utf8").matchAll(/```yaml\n([^]*?)```/g)) writeFileSync(join(out, text.match(/^# (\S+)/)[1]), text);
costate("optimize", join(out, "better.yaml"), "--quiet", "--report", "--out", join(out, "best"));
await b.go(join(out, "best/report.html"), 1200, 720);
await b.value("costate.clock.play(false), costate.clock.seek(0.36)");
await b.wait(1500);
await b.picture(join(root, "docs/tutorial.png"));
await b.close();
rmSync(out, { recursive: true });
