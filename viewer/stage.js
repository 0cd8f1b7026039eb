// SPDX-License-Identifier: MIT
// The 3-D view: light, ground, camera, and what stands in it.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { el } from "./data.js";
import { bounds, Motion } from "./motion.js";
import { Painter } from "./painter.js";

const vec = x => new THREE.Vector3(x[0], x[1], x[2]);

// Bodies that joints tie to a point of the ground: they stay within reach of it.
function tied(scene) {
    const found = new Set([-1]), ties = scene.joints.filter(j => !j.drives && /revolute|spherical|universal|fixed|coincident|distance/.test(j.type));
    for (let before = 0; before !== found.size;) {
        before = found.size;
        for (const { bodies: [a, b] } of ties)
            if (found.has(a) !== found.has(b)) found.add(a), found.add(b);
    }
    return found;
}

const diagonal = box => Math.hypot(...box.hi.map((h, i) => h - box.lo[i]));

// The axis across a plane motion: nothing moves along it, and nothing is thick in it; -1: none
function planeOf(motion, some, first, all) {
    const { markers } = motion.scene, moving = markers.map((m, k) => m && m.point && m.body >= 0 ? k : -1).filter(k => k >= 0);
    const boxes = new Map(), way = [0, 0, 0], x = [0, 0, 0];
    for (const i of some) {
        motion.still(i);
        for (const k of moving) {
            motion.marker(k, x);
            if (!boxes.has(k)) boxes.set(k, { lo: x.slice(), hi: x.slice() });
            const box = boxes.get(k);
            for (let c = 0; c < 3; c++) box.lo[c] = Math.min(box.lo[c], x[c]), box.hi[c] = Math.max(box.hi[c], x[c]), way[c] = Math.max(way[c], box.hi[c] - box.lo[c]);
        }
    }
    const reach = all.hi.map((h, c) => h - all.lo[c]), most = Math.max(...way), size = diagonal(first);
    return reach.findIndex((r, c) => r < 0.02 * Math.max(...reach) || (most > 0 && way[c] < 1e-3 * most && first.hi[c] - first.lo[c] < 0.2 * size));
}

// What the camera must know before anything is drawn: size, up, plane of the motion, way of the heaviest body
export function survey(run) {
    const { scene } = run, motion = new Motion(scene, run.poses), n = motion.frames, count = Math.min(n, 60);
    const some = [...new Set(Array.from({ length: count }, (_, i) => Math.round(i * (n - 1) / Math.max(1, count - 1))))];
    const first = bounds(motion, [0]), all = bounds(motion, some), size = Math.max(1e-6, diagonal(first));
    const flat = planeOf(motion, some, first, all), gravity = vec(scene.gravity), up = gravity.length() > 0 ? gravity.negate().normalize() : new THREE.Vector3(0, 0, 1);
    const heavy = scene.bodies.reduce((best, b, i) => (b.mass || 0) > (best < 0 ? 0 : scene.bodies[best].mass) ? i : best, -1);
    const about = { first, all, size, reach: diagonal(all), up, heavy, flat: flat >= 0 && Math.abs(up.getComponent(flat)) < 0.5 ? flat : -1 };
    if (heavy < 0) return { ...about, own: all, travels: false };
    const held = tied(scene), own = bounds(motion, some, heavy, held.has(heavy)), moving = scene.bodies.filter(b => b.vectors > 0);
    const way = moving.map(b => {
        const at = i => Array.from(motion.still(i).slice(b.column, b.column + 3)), from = at(0);
        return Math.max(...some.map(i => Math.hypot(...at(i).map((x, k) => x - from[k]))));
    });
    return { ...about, own, travels: !held.has(heavy) && Math.min(...way) > 1.5 * Math.max(size, diagonal(own)) };
}

// WebGL may be off, or lost while the page is open
function webgl() {
    if (!document.createElement("canvas").getContext("webgl2")) return null;
    const renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
    renderer.shadowMap.enabled = true;
    renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    return renderer;
}

export class Stage {
    constructor(holder, about) {
        this.holder = holder;
        this.about = about;
        this.world = new THREE.Scene();
        this.remark = el("div.remark", { hidden: true }, "This browser has no WebGL: the view is drawn without shadows.");
        holder.append(this.remark);
        this.draw(webgl() || new Painter());
        this.camera = new THREE.PerspectiveCamera(30, 1, 0.01 * about.size, 400 * Math.max(about.size, about.reach));
        this.camera.up.copy(about.up);
        this.controls = new OrbitControls(this.camera, holder);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.15;
        this.lights();
        this.ground = new THREE.Group();
        this.world.add(this.ground);
        this.follow = about.travels ? about.heavy : -1;
        this.moved = new THREE.Vector3(); // the way of the body that is followed
        this.dirty = true;
        this.controls.addEventListener("change", () => { this.dirty = true; });
        new ResizeObserver(() => this.resize()).observe(holder);
        this.resize();
        this.view(about.flat >= 0 ? "xyz"[about.flat] : "iso");
    }

    draw(renderer) {
        if (this.renderer) this.renderer.domElement.remove();
        this.renderer = renderer;
        this.remark.hidden = !(renderer instanceof Painter);
        this.holder.prepend(renderer.domElement);
        renderer.domElement.addEventListener("webglcontextlost", () => {
            this.draw(new Painter());
            this.resize();
        });
    }

    // where one looks at a plane mechanism from; y has the viewer on its negative side, so that x points to the right
    front(axis) { return new THREE.Vector3().setComponent(axis, axis === 1 && Math.abs(this.about.up.z) > 0.5 ? -1 : 1); }

    // what the camera shows: around the body that it follows, or the way of everything
    get box() { return this.follow >= 0 ? this.about.own : this.about.all; }

    lights() {
        const { up } = this.about, size = diagonal(this.about.travels ? this.about.own : this.about.all);
        const side = this.across(up), sky = new THREE.HemisphereLight("#ffffff", "#9aa0aa", 1.9);
        sky.position.copy(up);
        this.sun = new THREE.DirectionalLight("#ffffff", 2.2);
        const front = this.about.flat >= 0 ? this.front(this.about.flat) : side.clone().cross(up);
        this.sunFrom = up.clone().multiplyScalar(this.about.flat >= 0 ? 1.1 : 3).addScaledVector(side, -0.7).addScaledVector(front, 1.7).normalize().multiplyScalar(4 * size);
        const lamp = new THREE.DirectionalLight("#ffffff", 0.9); // from the camera
        lamp.position.set(0, 0, 1);
        lamp.target.position.set(0, 0, 0);
        this.camera.add(lamp, lamp.target);
        this.world.add(this.camera);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        const c = this.sun.shadow.camera, half = 0.8 * size + 0.8 * this.about.size;
        c.left = c.bottom = -half, c.right = c.top = half, c.near = 0.1 * size, c.far = 9 * size;
        this.sun.shadow.normalBias = 0.004 * size;
        this.world.add(sky, this.sun, this.sun.target);
    }

    across(up) { // the ground axis that is most across
        const axes = [new THREE.Vector3(1, 0, 0), new THREE.Vector3(0, 1, 0), new THREE.Vector3(0, 0, 1)];
        return axes.find(a => Math.abs(a.dot(up)) < 0.5);
    }

    theme(colors) {
        this.world.background = new THREE.Color(colors.stage);
        this.makeGround(colors);
        this.dirty = true;
    }

    // ---- ground: roads and a grid below, or a grid behind a plane mechanism ----

    makeGround(colors) {
        this.ground.clear();
        const { about } = this, { lo, hi } = about.all, plane = about.flat >= 0;
        for (const road of about.roads) this.ground.add(this.road(road, colors));
        const normal = plane ? this.front(about.flat) : about.up.clone();
        const span = 2 ** Math.ceil(Math.log2(Math.max(about.reach, about.size) * 1.6)), cells = 16;
        const grid = this.grid = new THREE.GridHelper(span, cells, colors.grid, colors.grid);
        grid.material.transparent = true;
        grid.material.opacity = 0.6;
        grid.material.depthWrite = false;
        grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
        const cell = span / cells, middle = vec(lo).add(vec(hi)).multiplyScalar(0.5), half = vec(hi).sub(vec(lo)).multiplyScalar(0.5);
        const below = half.dot(new THREE.Vector3(...normal.toArray().map(Math.abs))) + (plane ? 0.12 : about.roads.length ? 0.02 : 0.04) * about.size;
        grid.position.set(...[0, 1, 2].map(i => Math.round(middle.getComponent(i) / cell) * cell));
        grid.position.addScaledVector(normal, normal.dot(middle) - below - grid.position.dot(normal));
        grid.userData = { normal, middle, below };
        this.ground.add(grid);
        if (about.roads.length && !plane) return; // shadows fall on the roads
        const floor = new THREE.Mesh(new THREE.PlaneGeometry(3 * span, 3 * span), new THREE.ShadowMaterial({ opacity: colors.dark ? 0.4 : 0.16 }));
        floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
        floor.position.copy(grid.position).addScaledVector(normal, -0.002 * about.size);
        floor.receiveShadow = true;
        this.ground.add(floor);
    }

    // The grid of a plane mechanism stands behind it, wherever the camera is.
    placeGrid() {
        if (!this.grid || this.about.flat < 0) return;
        const { normal, middle, below } = this.grid.userData, level = normal.dot(middle);
        const side = this.camera.position.dot(normal) < level ? -1 : 1;
        this.grid.position.addScaledVector(normal, level - side * below - this.grid.position.dot(normal));
    }

    road(road, colors) {
        const { height, range, y } = road, n = height.length, position = [], index = [];
        for (let i = 0; i < n; i++) {
            const x = range[0] + (range[1] - range[0]) * i / (n - 1);
            position.push(x, y[0], height[i], x, y[1], height[i]);
            if (i) index.push(2 * i - 2, 2 * i, 2 * i - 1, 2 * i - 1, 2 * i, 2 * i + 1);
        }
        const g = new THREE.BufferGeometry();
        g.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
        g.setIndex(index);
        g.computeVertexNormals();
        const mesh = new THREE.Mesh(g, new THREE.MeshStandardMaterial({ color: colors.road, roughness: 1, side: THREE.DoubleSide }));
        mesh.receiveShadow = true;
        return mesh;
    }

    // ---- camera ----

    // to the size of the holder, or to another one (printing)
    resize(w = this.holder.clientWidth, h = this.holder.clientHeight) {
        if (!w || !h) return;
        this.renderer.setSize(w, h, false);
        this.camera.aspect = w / h;
        this.camera.updateProjectionMatrix();
        this.dirty = true;
    }

    // along x, y or z, or from a corner; everything in the picture
    view(name) {
        const { up } = this.about, side = this.across(up), front = side.clone().cross(up);
        const from = name === "iso" ? new THREE.Vector3().addScaledVector(side, 0.62).addScaledVector(front, 0.95).addScaledVector(up, 0.5) : this.front("xyz".indexOf(name));
        if (Math.abs(from.clone().normalize().dot(up)) > 0.99) from.addScaledVector(front, 0.01);
        else if (name !== "iso") from.addScaledVector(up, 0.1).addScaledVector(up.clone().cross(from), 0.12);
        this.frame(from.normalize());
    }

    // the box that matters, seen from a direction
    frame(from) {
        const { about, box } = this, { up } = about;
        const center = vec(box.lo).add(vec(box.hi)).multiplyScalar(0.5), right = from.clone().cross(up).normalize().negate(), top = right.clone().cross(from).negate();
        const tan = Math.tan(this.camera.fov * Math.PI / 360), margin = 1.12;
        let far = 0.2 * about.size;
        for (let k = 0; k < 8; k++) { // each corner within the four planes of the picture
            const p = vec([k & 1 ? box.hi[0] : box.lo[0], k & 2 ? box.hi[1] : box.lo[1], k & 4 ? box.hi[2] : box.lo[2]]).sub(center);
            far = Math.max(far, p.dot(from) + margin * Math.max(Math.abs(p.dot(top)), Math.abs(p.dot(right)) / this.camera.aspect) / tan);
        }
        if (this.follow >= 0) center.add(this.moved);
        this.controls.target.copy(center);
        this.camera.position.copy(center).addScaledVector(from, far);
        this.camera.near = far / 200;
        this.camera.far = far * 60 + 20 * about.reach;
        this.camera.updateProjectionMatrix();
        this.controls.update();
        this.dirty = true;
    }

    // keeps the body that is followed where it is in the picture
    track(motion) {
        const at = new THREE.Vector3();
        if (this.follow >= 0) {
            const c = motion.scene.bodies[this.follow].column, step = k => motion.q[c + k] - motion.poses[c + k];
            at.set(step(0), step(1), step(2));
            const more = at.clone().sub(this.moved);
            this.controls.target.add(more);
            this.camera.position.add(more);
        }
        this.moved.copy(at);
        this.sun.target.position.copy(vec(this.box.lo).add(vec(this.box.hi)).multiplyScalar(0.5)).add(at);
        this.sun.position.copy(this.sun.target.position).add(this.sunFrom);
        this.dirty = true;
    }

    // follows a body, or none (-1); seen from where one looks now
    pursue(body, motion) {
        this.follow = body;
        this.moved.set(0, 0, 0);
        const from = this.camera.position.clone().sub(this.controls.target).normalize();
        if (body >= 0) this.track(motion);
        this.frame(from);
    }

    render() {
        this.controls.update();
        if (!this.dirty) return false;
        this.dirty = false;
        this.placeGrid();
        this.renderer.render(this.world, this.camera);
        return true;
    }

    // a point of the scene in parts of the picture, from its upper left corner; null: behind the camera
    project(p) {
        const v = p.clone().project(this.camera);
        if (v.z > 1) return null;
        return [(v.x + 1) / 2, (1 - v.y) / 2];
    }

    // what is below the pointer
    pick(event, objects) {
        const box = this.holder.getBoundingClientRect(), ray = new THREE.Raycaster();
        ray.setFromCamera(new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height), this.camera);
        const hit = ray.intersectObjects(objects, true).find(h => h.object.visible && h.object.userData.about);
        return hit ? hit.object.userData.about : null;
    }
}
