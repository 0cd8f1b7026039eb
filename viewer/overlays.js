// SPDX-License-Identifier: MIT
// Paths of points, arrows of the gradient at the hardpoints, names.
import * as THREE from "three";
import { Line2 } from "three/addons/lines/Line2.js";
import { LineGeometry } from "three/addons/lines/LineGeometry.js";
import { LineMaterial } from "three/addons/lines/LineMaterial.js";
import * as S from "./shapes.js";
import { el } from "./data.js";

const vec = x => new THREE.Vector3(x[0], x[1], x[2]);

// ---- paths ----

export class Traces {
    constructor(mechanism, stage) {
        this.mechanism = mechanism;
        this.group = new THREE.Group();
        this.lines = new Map(); // marker -> {whole, done}
        stage.world.add(this.group);
    }
    toggle(marker) {
        if (this.lines.has(marker)) {
            const { whole, done } = this.lines.get(marker);
            this.group.remove(whole, done);
            this.lines.delete(marker);
            return;
        }
        const { motion } = this.mechanism, points = new Float32Array(3 * motion.frames), x = [0, 0, 0];
        for (let i = 0; i < motion.frames; i++) {
            motion.still(i);
            points.set(motion.marker(marker, x), 3 * i);
        }
        const color = this.mechanism.pale ? "#8f7fd6" : S.palette[(this.lines.size * 3 + 6) % S.palette.length];
        const make = (opacity, linewidth) => {
            const g = new LineGeometry();
            g.setPositions(points);
            const line = new Line2(g, new LineMaterial({ color, linewidth, transparent: true, opacity, depthWrite: false }));
            line.frustumCulled = false;
            this.group.add(line);
            return line;
        };
        this.lines.set(marker, { whole: make(this.mechanism.pale ? 0.4 : 0.35, 1.2), done: make(this.mechanism.pale ? 0.4 : 0.95, 2.4) });
    }
    update(t) {
        const n = this.mechanism.motion.frame(t);
        for (const { done } of this.lines.values()) done.geometry.instanceCount = n, done.visible = n > 0;
    }
}

// ---- hardpoints ----

// Where each hardpoint is carried: a body whose marker is there when drawn, else the ground. at: in its axes.
export function hardpoints(mechanism) {
    const { scene, motion } = mechanism, near = 1e-7 * mechanism.size, out = [];
    const drawn = { scene, q: new Float64Array(scene.row), marker: motion.marker, local: motion.local };
    for (const b of scene.bodies) drawn.q.set(b.drawn, b.column);
    for (const h of scene.hardpoints) {
        if (h.at.some(x => x === null)) continue;
        const point = { ...h, marker: -1 };
        const place = h.body >= 0 ? drawn.local(h.body, h.at) : h.at;
        scene.markers.forEach((m, i) => {
            if (!m || !m.point || (h.body >= 0 && m.body !== h.body)) return;
            const p = drawn.marker(i);
            if (Math.hypot(p[0] - place[0], p[1] - place[1], p[2] - place[2]) > near) return;
            if (point.marker < 0 || (scene.markers[point.marker].body < 0 && m.body >= 0)) point.marker = i;
        });
        const hinge = point.marker < 0 && h.body < 0 && scene.joints.find((j, i) => motion.hinges[i].some(p => Math.hypot(p[0] - h.at[0], p[1] - h.at[1], p[2] - h.at[2]) <= near));
        point.used = point.marker >= 0 || h.body >= 0 || !!hinge;
        point.carrier = point.marker >= 0 ? scene.markers[point.marker].body : hinge ? Math.max(...hinge.bodies) : h.body;
        const end = hinge && motion.carried(hinge, h.at);
        // directions of the number: the body's axes, or the drawing's seen from the carrier
        point.turn = d => {
            if (h.body >= 0) return motion.local(h.body, d, 0);
            if (point.carrier < 0 || scene.bodies[point.carrier].class !== "rigid") return d;
            const q = drawn.q, c = scene.bodies[point.carrier].column;
            const l = [3, 6, 9].map(k => d[0] * q[c + k] + d[1] * q[c + k + 1] + d[2] * q[c + k + 2]);
            return motion.local(point.carrier, l, 0);
        };
        point.now = () => point.marker >= 0 ? motion.marker(point.marker) : end ? end() : h.body >= 0 ? motion.local(h.body, h.at) : h.at;
        out.push(point);
    }
    return out;
}

const MOST = 24; // more would hide the mechanism

// Arrows: the direction in which moving the point lowers the objective, as long as the slope is large
export class Arrows {
    constructor(mechanism, stage, points) {
        Object.assign(this, { mechanism, stage, points });
        this.group = new THREE.Group();
        this.list = [];
        stage.world.add(this.group);
    }
    // slope: name of a number -> d psi/dp
    show(slope) {
        this.group.clear();
        this.list = [];
        const found = this.points.filter(p => p.used).map(p => ({
            p, d: ["x", "y", "z"].map((c, i) => -p.sign[i] * (slope.get(`${p.name}.${c}`) || 0)),
        })).map(a => ({ ...a, size: Math.hypot(...a.d) })).filter(a => a.size > 0).sort((a, b) => b.size - a.size).slice(0, MOST);
        const most = Math.max(...found.map(a => a.size)), length = 0.22 * this.mechanism.size;
        for (const a of found) {
            const material = new THREE.MeshStandardMaterial({ color: "#e8447a", roughness: 0.5, depthTest: false, transparent: true });
            const shaft = new THREE.Mesh(S.cylinder(), material), head = new THREE.Mesh(S.cone(), material);
            shaft.renderOrder = head.renderOrder = 5;
            const about = { kind: "hardpoint", name: a.p.name, detail: `|dψ/dP| = ${a.size.toPrecision(4)}; ψ falls along the arrow`, marker: a.p.marker };
            shaft.userData.about = head.userData.about = about;
            this.group.add(shaft, head);
            this.list.push({ ...a, shaft, head, length: length * Math.max(0.14, a.size / most) });
        }
        this.update();
    }
    highlight(name) {
        for (const a of this.list) a.shaft.material.color.set(name && name.replace(/\.[xyz]$/, "") === a.p.name ? "#f59f00" : "#e8447a");
        this.stage.dirty = true;
    }
    update() {
        if (!this.group.visible) return;
        const r = 0.006 * this.mechanism.size;
        for (const a of this.list) {
            const from = vec(a.p.now()), d = vec(a.p.turn(a.d)).normalize();
            const neck = from.clone().addScaledVector(d, a.length - 5 * r), tip = from.clone().addScaledVector(d, a.length);
            S.span(a.shaft, from, neck, r);
            S.span(a.head, neck, tip, 2.4 * r, false);
        }
    }
}

// ---- names ----

export class Names {
    constructor(stage, items) { // {name, now()}
        this.stage = stage;
        this.layer = el("div.names");
        stage.holder.append(this.layer);
        this.items = items.slice(0, 150).map(item => ({ ...item, node: el("span", item.name) }));
        this.layer.append(...this.items.map(item => item.node));
        this.visible(false);
    }
    visible(on) {
        this.on = on;
        this.layer.hidden = !on;
        this.update();
    }
    update() {
        if (!this.on) return;
        for (const { node, now } of this.items) {
            const at = this.stage.project(vec(now()));
            node.style.display = at ? "" : "none";
            if (at) node.style.left = `${(100 * at[0]).toFixed(2)}%`, node.style.top = `${(100 * at[1]).toFixed(2)}%`;
        }
    }
}
