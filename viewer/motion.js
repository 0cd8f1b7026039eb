// SPDX-License-Identifier: MIT
// Coordinates of a run at any time, and markers m = o + sum_k w_k b_k from them.

export class Motion {
    constructor(scene, poses) {
        this.scene = scene;
        this.row = scene.row;
        if (poses) {
            this.poses = poses;
        } else { // as drawn
            this.poses = new Float32Array(scene.row);
            for (const b of scene.bodies) this.poses.set(b.drawn, b.column);
        }
        this.frames = Math.floor(this.poses.length / this.row);
        this.q = new Float64Array(this.row);
        for (const b of scene.bodies) this.q.set(b.drawn, b.column);
        this.hinges = scene.joints.map(j => this.hinge(j));
        this.rigid = scene.bodies.filter(b => b.class === "rigid").map(b => b.column);
        this.at(this.start);
    }
    time(i) { return this.poses[i * this.row]; }
    get start() { return this.time(0); }
    get end() { return this.time(this.frames - 1); }

    // the last frame at or before t
    frame(t) {
        let lo = 0, hi = this.frames - 1;
        while (lo < hi) {
            const mid = (lo + hi + 1) >> 1;
            if (this.time(mid) <= t) lo = mid;
            else hi = mid - 1;
        }
        return lo;
    }

    // linear between frames; triads are made orthonormal again
    at(t) {
        const i = this.frame(t), j = Math.min(i + 1, this.frames - 1), q = this.q, p = this.poses, n = this.row;
        const t0 = this.time(i), t1 = this.time(j), share = t1 > t0 ? Math.min(1, Math.max(0, (t - t0) / (t1 - t0))) : 0;
        for (let k = 0; k < n; k++) q[k] = p[i * n + k] + share * (p[j * n + k] - p[i * n + k]);
        if (share > 0) for (const c of this.rigid) orthonormal(q, c + 3);
        return q;
    }
    still(i) { // frame i itself
        this.q.set(this.poses.subarray(i * this.row, (i + 1) * this.row));
        return this.q;
    }

    marker(index, out = [0, 0, 0]) {
        const m = this.scene.markers[index];
        if (m.body < 0) {
            out[0] = m.at[0], out[1] = m.at[1], out[2] = m.at[2];
            return out;
        }
        const base = this.scene.bodies[m.body].column + 3 * m.first;
        out[0] = out[1] = out[2] = 0;
        for (let k = 0; k < m.weights.length; k++)
            for (let c = 0; c < 3; c++) out[c] += m.weights[k] * this.q[base + 3 * k + c];
        return out;
    }
    // Ends of a hinge as drawn: the two points that give its axis, where its own point is between or beside them on their line; else none
    hinge(j) {
        if (j.type !== "revolute" || !j.ends || j.ends.length < 2 || j.at[0] < 0) return [];
        const [p, q] = j.ends, at = this.marker(j.at[0]), d = q.map((x, i) => x - p[i]), r = at.map((x, i) => x - p[i]), length = Math.hypot(...d);
        const off = Math.hypot(d[1] * r[2] - d[2] * r[1], d[2] * r[0] - d[0] * r[2], d[0] * r[1] - d[1] * r[0]);
        const places = this.scene.markers.map((m, i) => m && m.point ? this.marker(i) : at), near = Math.max(...places.map(x => Math.hypot(...x.map((y, i) => y - at[i]))));
        return off < 1e-3 * length * length && j.ends.every(e => Math.hypot(...e.map((y, i) => y - at[i])) <= 2 * near) ? j.ends : [];
    }
    // where a point of a joint is that is given as drawn: it moves with one of its bodies
    carried(j, p) {
        const body = j.bodies.find(b => b >= 0 && this.scene.bodies[b].class === "rigid");
        if (body === undefined) return () => p;
        const x = this.drawn(body, p);
        return () => this.local(body, x);
    }
    // coordinates in the axes of a body of a point given as drawn
    drawn(body, p) {
        const q = this.scene.bodies[body].drawn, d = p.map((x, i) => x - q[i]);
        return [3, 6, 9].map(k => d[0] * q[k] + d[1] * q[k + 1] + d[2] * q[k + 2]);
    }
    // where a point given in the axes of a body is, or a direction (w = 0)
    local(body, x, w = 1, out = [0, 0, 0]) {
        const b = this.scene.bodies[body], q = this.q, c = b.column;
        for (let i = 0; i < 3; i++)
            out[i] = w * q[c + i] + (b.vectors > 3 ? x[0] * q[c + 3 + i] + x[1] * q[c + 6 + i] + x[2] * q[c + 9 + i] : 0);
        return out;
    }
}

function orthonormal(q, c) {
    const unit = k => {
        const s = 1 / Math.hypot(q[k], q[k + 1], q[k + 2]);
        q[k] *= s, q[k + 1] *= s, q[k + 2] *= s;
    };
    unit(c);
    const d = q[c] * q[c + 3] + q[c + 1] * q[c + 4] + q[c + 2] * q[c + 5];
    for (let i = 0; i < 3; i++) q[c + 3 + i] -= d * q[c + i];
    unit(c + 3);
    q[c + 6] = q[c + 1] * q[c + 5] - q[c + 2] * q[c + 4];
    q[c + 7] = q[c + 2] * q[c + 3] - q[c] * q[c + 5];
    q[c + 8] = q[c] * q[c + 4] - q[c + 1] * q[c + 3];
}

// Smallest box of all markers, and of the bodies' origins, in the given frames; around: as seen from this body, placed where it
// starts, with the points of the ground or without
export function bounds(motion, frames, around = -1, ground = true) {
    const lo = [Infinity, Infinity, Infinity], hi = [-Infinity, -Infinity, -Infinity], x = [0, 0, 0];
    const moved = [0, 0, 0], column = around >= 0 ? motion.scene.bodies[around].column : 0;
    const add = p => {
        for (let c = 0; c < 3; c++) lo[c] = Math.min(lo[c], p[c] - moved[c]), hi[c] = Math.max(hi[c], p[c] - moved[c]);
    };
    const { scene } = motion;
    for (const i of frames) {
        motion.still(i);
        if (around >= 0) for (let c = 0; c < 3; c++) moved[c] = motion.q[column + c] - motion.poses[column + c];
        scene.markers.forEach((m, k) => m && m.point && (ground || m.body >= 0) && add(motion.marker(k, x)));
        scene.joints.forEach((j, k) => { for (const p of motion.hinges[k]) add(motion.carried(j, p)()); });
        for (const b of scene.bodies)
            if (b.vectors > 0) add(motion.q.slice(b.column, b.column + 3));
        for (const s of scene.shapes) { // ends of what is large by itself
            const half = s.kind === "line" ? [s.size[0] / 2, 0, 0] : s.kind === "box" ? s.size.map(a => a / 2)
                : [s.size[0], s.size[0], s.size[0]];
            if (s.kind === "line") {
                add(motion.local(s.body, half, 1, x));
                add(motion.local(s.body, half.map(a => -a), 1, x));
            } else {
                const c = s.centre >= 0 ? motion.marker(s.centre, x).slice() : motion.local(s.body, [0, 0, 0], 1, x).slice();
                add(c.map((a, k) => a + half[k])), add(c.map((a, k) => a - half[k]));
            }
        }
    }
    if (lo[0] > hi[0]) return { lo: [-1, -1, -1], hi: [1, 1, 1] };
    return { lo, hi };
}
