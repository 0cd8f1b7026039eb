// SPDX-License-Identifier: MIT
// The time that animation and plots share.

export class Clock {
    constructor(start, end) {
        this.start = start;
        this.end = end > start ? end : start;
        this.t = start;
        this.playing = false;
        this.speed = 1;
        this.listeners = [];
        const length = this.end - this.start;
        if (length > 0 && length < 3) this.speed = Clock.speeds.find(s => length / s <= 5); // a short run is shown slowly
    }
    on(listener) { this.listeners.push(listener); }
    changed(what) { for (const listener of this.listeners) listener(this, what); }
    seek(t) {
        this.t = Math.min(this.end, Math.max(this.start, t));
        this.changed("time");
    }
    play(on) {
        if (on && this.t >= this.end) this.t = this.start;
        this.playing = on && this.end > this.start;
        this.last = performance.now();
        this.changed("state");
    }
    tick(now) {
        if (!this.playing) return;
        const passed = Math.min(0.25, (now - this.last) / 1000);
        this.last = now;
        let t = this.t + passed * this.speed;
        if (t > this.end) t = this.loop ? this.start : this.end;
        this.seek(t);
        if (t >= this.end && !this.loop) this.play(false);
    }
}
Clock.speeds = [0.001, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8];
