// SPDX-License-Identifier: MIT
// Draws docs/report.png: the page of the buggy's gradient, in Chromium.
//     node docs/report.mjs [PROGRAM]
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { Browser } from "../tests/report/browser.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url))), out = mkdtempSync(join(tmpdir(), "costate-"));
execFileSync(process.argv[2] || join(root, "build/costate"), ["gradient", join(root, "examples/buggy/model.yaml"), "--quiet", "--report", "--out", out]);
const b = await Browser.open();
await b.go(join(out, "report.html"), 1400, 860);
await b.value("costate.clock.play(false), costate.clock.seek(2.16)"); // the front wheels have just met the step
await b.value("(s => (s.camera.position.sub(s.controls.target).multiplyScalar(0.82).add(s.controls.target), s.controls.update(), 1))(costate.stage)");
await b.wait(1500);
await b.picture(join(root, "docs/report.png"));
await b.close();
rmSync(out, { recursive: true });
