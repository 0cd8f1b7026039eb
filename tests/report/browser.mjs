// SPDX-License-Identifier: MIT
// Chromium without a window, driven through its debugging pipe: no packages are needed.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

export class Browser {
    // webgl: by software; without it, as on many remote desktops
    static async open(webgl = true, program = process.env.CHROMIUM || "chromium") {
        const b = new Browser();
        b.profile = mkdtempSync(join(tmpdir(), "costate-browser-"));
        const args = ["--headless=new", "--no-sandbox", "--disable-gpu-sandbox",
            ...(webgl ? ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"] : ["--disable-gpu", "--disable-software-rasterizer", "--disable-3d-apis"]),
            "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions", "--disable-background-networking", "--force-device-scale-factor=1",
            "--hide-scrollbars", "--remote-debugging-pipe", `--user-data-dir=${b.profile}`, "about:blank"];
        b.child = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
        b.child.on("exit", () => { for (const w of b.waiting.values()) w.reject(new Error("the browser has ended")); });
        b.next = 1;
        b.waiting = new Map();
        b.log = []; // errors and warnings of the page
        let text = "";
        b.child.stdio[4].on("data", part => {
            text += part;
            for (let end; (end = text.indexOf("\0")) >= 0; text = text.slice(end + 1)) b.message(JSON.parse(text.slice(0, end)));
        });
        const { targetInfos } = await b.send("Target.getTargets");
        const { sessionId } = await b.send("Target.attachToTarget", { targetId: targetInfos.find(t => t.type === "page").targetId, flatten: true });
        b.session = sessionId;
        for (const domain of ["Page", "Runtime", "Log", "Network"]) await b.send(`${domain}.enable`);
        return b;
    }

    message(m) {
        const w = this.waiting.get(m.id);
        if (w) {
            this.waiting.delete(m.id);
            if (m.error) w.reject(new Error(`${w.method}: ${m.error.message}`));
            else w.resolve(m.result);
        } else if (m.method === "Runtime.exceptionThrown") {
            this.log.push(m.params.exceptionDetails.exception?.description || m.params.exceptionDetails.text);
        } else if (m.method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(m.params.type)) {
            this.log.push(m.params.args.map(a => a.value ?? a.description).join(" "));
        } else if (m.method === "Log.entryAdded" && m.params.entry.level === "error") {
            this.log.push(m.params.entry.text);
        } else if (m.method === "Network.requestWillBeSent" && !/^(file|data|blob|about):/.test(m.params.request.url)) {
            this.log.push(`request: ${m.params.request.url}`);
        } else if (m.method === "Page.loadEventFired") {
            this.loaded = true;
        }
    }

    send(method, params = {}) {
        const id = this.next++;
        const message = { id, method, params };
        if (this.session && !method.startsWith("Target.") && !method.startsWith("Browser.")) message.sessionId = this.session;
        this.child.stdio[3].write(JSON.stringify(message) + "\0");
        return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
    }

    // mobile: a telephone, which shows a page that is too wide smaller
    async go(file, width = 1440, height = 900, mobile = false) {
        this.loaded = false;
        await this.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile });
        await this.send("Page.navigate", { url: pathToFileURL(file).href });
        for (let i = 0; !this.loaded && i < 600; i++) await this.wait(50);
        await this.wait(300);
    }

    wait(ms) { return new Promise(resolve => setTimeout(resolve, ms)); }

    // the value of an expression in the page
    async value(expression) {
        const { result, exceptionDetails } = await this.send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
        if (exceptionDetails) throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
        return result.value;
    }

    mouse(type, x, y, more = {}) { return this.send("Input.dispatchMouseEvent", { type, x, y, button: "none", ...more }); }
    async click(x, y) {
        await this.mouse("mouseMoved", x, y);
        await this.mouse("mousePressed", x, y, { button: "left", clickCount: 1, buttons: 1 });
        await this.mouse("mouseReleased", x, y, { button: "left", clickCount: 1 });
    }

    async picture(file, clip) {
        const { data } = await this.send("Page.captureScreenshot", { format: "png", ...(clip ? { clip: { ...clip, scale: 1 } } : {}) });
        writeFileSync(file, Buffer.from(data, "base64"));
    }

    async close() {
        const gone = new Promise(resolve => this.child.on("exit", resolve));
        this.send("Browser.close").catch(() => {});
        await Promise.race([gone, this.wait(5000)]);
        this.child.kill("SIGKILL");
        rmSync(this.profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
}
