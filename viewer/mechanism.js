// SPDX-License-Identifier: MIT
// The mechanism of one run: an object of the scene that update(t) moves.
import * as THREE from "three";
import * as S from "./shapes.js";
import { Motion } from "./motion.js";

const vec = x => new THREE.Vector3(x[0], x[1], x[2]);

// Hermite's cubic in element e of a beam at s elements from its beginning: place and unit tangent
function curve(q, column, e, s, length, r, t) {
    const x = s - e, c = column + 6 * e;
    const w = [1 - 3 * x * x + 2 * x ** 3, length * (x - 2 * x * x + x ** 3), 3 * x * x - 2 * x ** 3, length * (x ** 3 - x * x)];
    const d = [6 * (x * x - x), length * (1 - 4 * x + 3 * x * x), 6 * (x - x * x), length * (3 * x * x - 2 * x)];
    r.set(0, 0, 0), t.set(0, 0, 0);
    for (let k = 0; k < 4; k++) {
        const b = c + 3 * k;
        r.x += w[k] * q[b], r.y += w[k] * q[b + 1], r.z += w[k] * q[b + 2];
        t.x += d[k] * q[b], t.y += d[k] * q[b + 1], t.z += d[k] * q[b + 2];
    }
    t.normalize();
}

export class Mechanism {
    // size: of the mechanism, for everything that has none of its own; pale: another design, in the background
    constructor(run, size, pale) {
        this.run = run;
        this.scene = run.scene;
        this.motion = new Motion(run.scene, run.poses);
        this.size = size;
        this.pale = pale;
        this.group = new THREE.Group();
        this.moving = []; // functions of the current coordinates
        this.parts = { bodies: new THREE.Group(), joints: new THREE.Group(), forces: new THREE.Group(), axes: new THREE.Group() };
        for (const part of Object.values(this.parts)) this.group.add(part);
        this.scene.bodies.forEach((b, i) => this.body(b, i));
        this.scene.joints.forEach((j, i) => this.joint(j, this.motion.hinges[i]));
        this.scene.forces.forEach(f => this.force(f));
        for (const b of this.scene.beams || []) this.beam(b);
        this.parts.axes.visible = false;
        this.update(this.motion.start);
    }

    material(color, more = {}) {
        return new THREE.MeshStandardMaterial({
            color: this.pale ? "#8f7fd6" : color, roughness: 0.55, metalness: 0.1, transparent: this.pale,
            opacity: this.pale ? 0.42 : 1, depthWrite: !this.pale, ...more,
        });
    }

    add(part, object, about) {
        object.traverse(o => {
            if (!o.isMesh) return;
            o.castShadow = !this.pale && !o.userData.skin;
            o.receiveShadow = !this.pale;
            o.userData.about = about;
        });
        this.parts[part].add(object);
        return object;
    }

    // points of a body in its axes: those of its markers, and the ends of its hinges
    points(index) {
        const of = this.scene.markers.filter(m => m && m.body === index && m.point && m.weights.length === 4).map(m => m.weights.slice(1));
        this.scene.joints.forEach((j, i) => {
            if (j.bodies.includes(index)) of.push(...this.motion.hinges[i].map(p => this.motion.drawn(index, p)));
        });
        return of;
    }

    // ---- bodies ----

    body(b, index) {
        if (b.vectors === 0 || (b.class !== "rigid" && b.class !== "point")) return;
        const color = S.palette[index % S.palette.length], material = this.material(color), group = new THREE.Group();
        const shapes = this.scene.shapes.filter(s => s.body === index);
        for (const s of shapes) group.add(this.shape(s, material));
        if (shapes.length === 1 && shapes[0].kind === "line") this.stays(group, shapes[0], index, material);
        if (!shapes.length) group.add(this.unshaped(b, index, material));
        group.matrixAutoUpdate = false;
        this.add("bodies", group, { kind: b.type, name: b.name, body: index, detail: b.mass !== undefined ? `mass ${+b.mass.toPrecision(6)} kg` : "" });
        const c = b.column, rigid = b.class === "rigid", axes = rigid && !this.pale ? this.triad(group) : null;
        if (axes) this.parts.axes.add(axes);
        this.moving.push(q => {
            if (rigid)
                group.matrix.set(q[c + 3], q[c + 6], q[c + 9], q[c], q[c + 4], q[c + 7], q[c + 10], q[c + 1],
                    q[c + 5], q[c + 8], q[c + 11], q[c + 2], 0, 0, 0, 1);
            else group.matrix.makeTranslation(q[c], q[c + 1], q[c + 2]);
            group.matrixWorldNeedsUpdate = true;
        });
    }

    // body axes: x red, y green, z blue
    triad(group) {
        const axes = new THREE.AxesHelper(0.09 * this.size);
        axes.material.depthTest = false;
        axes.renderOrder = 4;
        axes.matrixAutoUpdate = false;
        axes.matrix = group.matrix;
        return axes;
    }

    shape(s, material) {
        const thin = 0.011 * this.size;
        let mesh;
        if (s.kind === "line") {
            const radius = s.size[1] > 0 ? s.size[1] : thin;
            mesh = new THREE.Mesh(s.size[2] > 0 ? S.tube(s.size[2] / radius) : S.cylinder(), material);
            mesh.scale.set(s.size[0], radius, radius);
        } else if (s.kind === "box") {
            mesh = new THREE.Mesh(S.cube(), material);
            mesh.scale.set(...s.size.map(a => Math.max(a, 1e-6)));
        } else if (s.kind === "sphere") {
            mesh = new THREE.Mesh(S.ball(), material);
            mesh.scale.setScalar(Math.max(s.size[0], thin));
        } else {
            mesh = this.wheel(s);
        }
        return mesh;
    }

    // points of a bar beside its line, as a coupler's: joined to both ends
    stays(group, s, index, material) {
        const half = s.size[0] / 2, radius = s.size[1] > 0 ? s.size[1] : 0.011 * this.size, found = [];
        for (const p of this.points(index))
            if (Math.hypot(p[1], p[2]) > 1.2 * radius && found.length < 6 && found.every(x => Math.hypot(x[0] - p[0], x[1] - p[1], x[2] - p[2]) > radius)) found.push(p);
        for (const p of found) for (const x of [-half, half]) group.add(S.between([p, [x, 0, 0]], 0.6 * radius, material));
    }

    wheel(s) {
        const { rubber, rim } = S.tire(), wheel = new THREE.Group(), radius = s.size[0], m = this.scene.markers;
        wheel.add(new THREE.Mesh(rubber, this.material("#3a3e45", { roughness: 0.9 })));
        wheel.add(new THREE.Mesh(rim, this.material("#b9bec6", { metalness: 0.4 })));
        wheel.scale.set(0.55 * radius, radius, radius);
        wheel.position.copy(vec(m[s.centre].weights.slice(1)));
        S.orient(wheel, vec(m[s.axis].weights.slice(-3)));
        return wheel;
    }

    // a body without a shape of its own: what joins its points
    unshaped(b, index, material) {
        const points = [], near = 1e-4 * this.size;
        const add = p => points.every(x => Math.hypot(x[0] - p[0], x[1] - p[1], x[2] - p[2]) > near) && points.push(p);
        this.points(index).forEach(add);
        if (b.class === "point") return this.lump([0, 0, 0], b, material);
        if (points.length < 2 && b.com) add(b.com);
        if (points.length < 2) return this.lump(points[0] || [0, 0, 0], b, material);
        return S.between(points, 0.009 * this.size, material);
    }

    lump(at, b, material) {
        const mesh = new THREE.Mesh(S.ball(), material);
        mesh.position.copy(vec(at));
        mesh.scale.setScalar(0.022 * this.size);
        return mesh;
    }

    // a round bar along the cubic between its nodes (r, dr/dx), as in the equations
    beam(b) {
        const PER = 8, SIDES = 12, rings = PER * b.elements + 1, radius = Math.max(1.8 * b.gyration, 0.004 * this.size);
        const geometry = new THREE.BufferGeometry(), index = [];
        for (let i = 0; i + 1 < rings; i++)
            for (let k = 0; k < SIDES; k++) {
                const p = i * SIDES + k, q = i * SIDES + (k + 1) % SIDES;
                index.push(p, q, p + SIDES, q, q + SIDES, p + SIDES);
            }
        geometry.setIndex(index);
        for (const name of ["position", "normal"]) geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(3 * rings * SIDES), 3));
        const body = this.scene.bodies[b.body], mesh = new THREE.Mesh(geometry, this.material(S.palette[b.body % S.palette.length]));
        mesh.frustumCulled = false;
        this.add("bodies", mesh, { kind: "beam", name: body.name, body: b.body, detail: `${b.elements} elements` });
        const r = new THREE.Vector3(), t = new THREE.Vector3(), u = new THREE.Vector3(0, 0, 1), v = new THREE.Vector3(), n = new THREE.Vector3();
        this.moving.push(q => {
            u.set(0, 0, 1);
            for (let i = 0; i < rings; i++) {
                curve(q, body.column, Math.min(b.elements - 1, Math.floor(i / PER)), i / PER, b.length, r, t);
                u.addScaledVector(t, -u.dot(t)); // carried along without twist
                if (u.lengthSq() < 1e-12) u.set(t.y, -t.x, 0);
                u.normalize();
                v.crossVectors(t, u);
                for (let k = 0; k < SIDES; k++) {
                    const a = 2 * Math.PI * k / SIDES;
                    n.copy(u).multiplyScalar(Math.cos(a)).addScaledVector(v, Math.sin(a));
                    geometry.attributes.normal.setXYZ(i * SIDES + k, n.x, n.y, n.z);
                    geometry.attributes.position.setXYZ(i * SIDES + k, r.x + radius * n.x, r.y + radius * n.y, r.z + radius * n.z);
                }
            }
            geometry.attributes.position.needsUpdate = geometry.attributes.normal.needsUpdate = true;
        });
    }

    // ---- joints ----

    joint(j, ends) {
        const plane = /plan/.test(j.type), [first, second] = plane && j.bodies[0] < 0 ? [j.at[1], j.at[0]] : j.at; // a plane of the ground goes with what moves in it
        const at = first >= 0 ? first : second >= 0 ? second : j.type === "coincident" ? j.points[0] : -1;
        if (at === undefined || at < 0) return;
        const about = { kind: j.type, name: j.name, marker: at, detail: j.drives ? "driven" : "" };
        const a = 0.016 * this.size, pin = this.material(j.drives ? "#d64f4f" : "#5d6672", { metalness: 0.35, roughness: 0.4 });
        if (j.type.includes("distance")) return this.rod(j.at[0] >= 0 ? j.at : j.points, pin, about, 0.4 * a);
        const places = ends.length ? ends.map(p => this.motion.carried(j, p)) : [() => this.motion.marker(at)];
        for (const place of places) this.pin(j, place, pin, about, a);
        const ground = j.at.find(m => m >= 0 && this.scene.markers[m].body < 0);
        if (ground === undefined || this.pale || plane || j.type.startsWith("drive")) return;
        for (const place of ends.length ? places : [() => this.motion.marker(ground)]) this.support(place, about);
    }

    pin(j, place, pin, about, a) {
        const group = new THREE.Group(), part = (g, x, y, z) => {
            const mesh = new THREE.Mesh(g, pin);
            mesh.scale.set(x, y, z);
            group.add(mesh);
        };
        if (/revolute|drive-angle|rotation/.test(j.type)) part(S.cylinder(), 3.6 * a, a, a);
        else if (/prismatic|cylindrical|line/.test(j.type)) part(S.tube(0.6), 5 * a, 1.6 * a, 1.6 * a);
        else if (/plan/.test(j.type)) part(S.cube(), 0.15 * a, 4 * a, 4 * a);
        else if (j.type === "fixed") part(S.cube(), 2 * a, 2 * a, 2 * a);
        else if (j.type === "universal") part(S.cylinder(), 4 * a, 0.5 * a, 0.5 * a), part(S.ball(), a, a, a);
        else part(S.ball(), 1.15 * a, 1.15 * a, 1.15 * a);
        this.add("joints", group, about);
        const n = [0, 0, 0], axis = new THREE.Vector3();
        this.moving.push(() => {
            group.position.copy(vec(place()));
            if (j.axis >= 0) S.orient(group, axis.set(...this.motion.marker(j.axis, n)));
        });
    }

    // where a joint stands on the ground
    support(place, about) {
        const up = vec(this.scene.gravity).negate(), a = 0.05 * this.size, stone = this.material("#9aa1ab", { roughness: 0.9 });
        if (up.length() === 0) up.set(0, 0, 1);
        up.normalize();
        const group = new THREE.Group(), foot = new THREE.Mesh(S.cone(), stone), plate = new THREE.Mesh(S.cube(), stone);
        foot.scale.set(a, 0.55 * a, 0.55 * a);
        foot.position.set(-a, 0, 0);
        plate.scale.set(0.16 * a, 1.7 * a, 1.7 * a);
        plate.position.set(-1.08 * a, 0, 0);
        group.add(foot, plate);
        S.orient(group, up);
        this.add("joints", group, about);
        this.moving.push(() => group.position.copy(vec(place())));
    }

    rod(ends, material, about, radius) {
        if (ends.length < 2 || ends[1] < 0) return;
        const mesh = this.add("joints", new THREE.Mesh(S.cylinder(), material), about);
        this.moving.push(() => S.span(mesh, vec(this.motion.marker(ends[0])), vec(this.motion.marker(ends[1])), radius));
    }

    // ---- forces ----

    force(f) {
        const about = { kind: f.type, name: f.name, detail: "" }, [a, b] = f.points;
        if (b === undefined || f.type === "tire") return this.bush(f, about);
        if (!/spring|damper|stop|actuator|line/.test(f.type)) return this.bush(f, about);
        const group = new THREE.Group(), update = [];
        const r = 0.02 * this.size;
        if (/spring/.test(f.type)) {
            const radius = /damper/.test(f.type) ? 1.35 * r : r, length = vec(this.motion.marker(a)).distanceTo(vec(this.motion.marker(b)));
            const coil = new THREE.Mesh(S.coil(Math.max(length / radius, 2)), this.material("#54b868", { metalness: 0.2, roughness: 0.4 }));
            group.add(coil);
            update.push((p, q) => S.span(coil, p, q, radius, false));
        }
        if (!/^spring$/.test(f.type)) {
            const pot = new THREE.Mesh(S.cylinder(), this.material("#6b7482", { metalness: 0.4 }));
            const stem = new THREE.Mesh(S.cylinder(), this.material("#b4bac4", { metalness: 0.6, roughness: 0.3 }));
            const m = new THREE.Vector3();
            group.add(pot, stem);
            update.push((p, q) => {
                m.lerpVectors(p, q, 0.55);
                S.span(pot, p, m, 0.62 * r);
                S.span(stem, m, q, 0.28 * r);
            });
        }
        this.add("forces", group, about);
        this.moving.push(() => {
            const p = vec(this.motion.marker(a)), q = vec(this.motion.marker(b));
            for (const u of update) u(p, q);
        });
    }

    bush(f, about) {
        if (f.type !== "bushing" || !f.points.length) return;
        const r = 0.02 * this.size, mesh = new THREE.Mesh(new THREE.TorusGeometry(r, 0.45 * r, 12, 28), this.material("#4a4f57", { roughness: 0.95 }));
        this.add("forces", mesh, about);
        this.moving.push(() => mesh.position.copy(vec(this.motion.marker(f.points[0]))));
    }

    // ---- motion ----

    update(t) {
        const q = this.motion.at(t);
        for (const move of this.moving) move(q);
        for (const a of this.parts.axes.children) a.matrixWorldNeedsUpdate = true;
    }
}
