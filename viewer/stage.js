// SPDX-License-Identifier: MIT
// The 3-D view: light, ground, camera, and what stands in it.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { bounds, Motion } from "./motion.js";

const vec = x => new THREE.Vector3(x[0], x[1], x[2]);

// What the camera must know before anything is drawn: size, up, plane of the motion, way of the heaviest body
export function survey(run) {
    const motion = new Motion(run.scene, run.poses), n = motion.frames;
    const some = [...new Set(Array.from({ length: Math.min(n, 60) }, (_, i) => Math.round(i * (n - 1) / Math.max(1, Math.min(n, 60) - 1))))];
    const first = bounds(motion, [0]), all = bounds(motion, some);
    const size = Math.max(1e-6, Math.hypot(...first.hi.map((h, i) => h - first.lo[i])));
    const reach = all.hi.map((h, i) => h - all.lo[i]), most = Math.max(...reach);
    const flat = reach.findIndex(r => r < 0.02 * most);
    const gravity = vec(run.scene.gravity), up = gravity.length() > 0 ? gravity.negate().normalize() : new THREE.Vector3(0, 0, 1);
    const heavy = run.scene.bodies.reduce((best, b, i) => (b.mass || 0) > (best < 0 ? 0 : run.scene.bodies[best].mass) ? i : best, -1);
    let way = 0;
    if (heavy >= 0) {
        const c = run.scene.bodies[heavy].column, at = i => Array.from(motion.still(i).slice(c, c + 3)), from = at(0);
        for (const i of some) way = Math.max(way, Math.hypot(...at(i).map((x, k) => x - from[k])));
    }
    return { first, all, size, reach: Math.hypot(...reach), flat: flat >= 0 && Math.abs(up.getComponent(flat)) < 0.5 ? flat : -1, up, heavy, travels: way > 1.5 * size };
}

export class Stage {
    constructor(holder, about) {
        this.holder = holder;
        this.about = about;
        this.world = new THREE.Scene();
        this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
        this.renderer.setPixelRatio(Math.min(2, window.devicePixelRatio));
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFSoftShadowMap;
        holder.append(this.renderer.domElement);
        this.camera = new THREE.PerspectiveCamera(30, 1, 0.01 * about.size, 400 * Math.max(about.size, about.reach));
        this.camera.up.copy(about.up);
        this.controls = new OrbitControls(this.camera, this.renderer.domElement);
        this.controls.enableDamping = true;
        this.controls.dampingFactor = 0.15;
        this.lights();
        this.ground = new THREE.Group();
        this.world.add(this.ground);
        this.follow = about.travels ? about.heavy : -1;
        this.dirty = true;
        this.controls.addEventListener("change", () => { this.dirty = true; });
        new ResizeObserver(() => this.resize()).observe(holder);
        this.resize();
        this.view(about.flat >= 0 ? "xyz"[about.flat] : "iso");
    }

    lights() {
        const { up, size } = this.about;
        const side = this.across(up), sky = new THREE.HemisphereLight("#ffffff", "#9aa0aa", 1.9);
        sky.position.copy(up);
        this.sun = new THREE.DirectionalLight("#ffffff", 2.2);
        const front = this.about.flat >= 0 ? new THREE.Vector3().setComponent(this.about.flat, 1) : side.clone().cross(up);
        this.sunFrom = up.clone().multiplyScalar(this.about.flat >= 0 ? 1.1 : 3).addScaledVector(side, -0.7).addScaledVector(front, 1.7).normalize().multiplyScalar(4 * size);
        const lamp = new THREE.DirectionalLight("#ffffff", 0.9); // from the camera
        lamp.position.set(0, 0, 1);
        lamp.target.position.set(0, 0, 0);
        this.camera.add(lamp, lamp.target);
        this.world.add(this.camera);
        this.sun.castShadow = true;
        this.sun.shadow.mapSize.set(2048, 2048);
        const c = this.sun.shadow.camera, half = 1.6 * size;
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

    // ---- ground: roads, else a grid: below, or behind a plane mechanism ----

    makeGround(colors) {
        this.ground.clear();
        const { about } = this, { lo, hi } = about.all;
        if (about.roads.length) for (const road of about.roads) this.ground.add(this.road(road, colors));
        const normal = about.flat >= 0 ? new THREE.Vector3().setComponent(about.flat, 1) : about.up.clone();
        const span = 2 ** Math.ceil(Math.log2(Math.max(about.reach, about.size) * 1.6)), cells = 16;
        const grid = new THREE.GridHelper(span, cells, colors.grid, colors.grid);
        grid.material.transparent = true;
        grid.material.opacity = 0.6;
        grid.material.depthWrite = false;
        grid.quaternion.setFromUnitVectors(new THREE.Vector3(0, 1, 0), normal);
        const cell = span / cells, middle = vec(lo).add(vec(hi)).multiplyScalar(0.5);
        const low = Math.min(...[0, 1, 2].map(i => normal.getComponent(i) > 0.5 ? lo[i] : normal.getComponent(i) < -0.5 ? -hi[i] : Infinity));
        const level = about.flat >= 0 ? lo[about.flat] - 0.12 * about.size
            : about.roads.length ? low - 0.02 * about.size : low - 0.04 * about.size;
        grid.position.set(...[0, 1, 2].map(i => Math.round(middle.getComponent(i) / cell) * cell));
        grid.position.addScaledVector(normal, level - grid.position.dot(normal));
        this.ground.add(grid);
        const floor = new THREE.Mesh(new THREE.PlaneGeometry(3 * span, 3 * span), new THREE.ShadowMaterial({ opacity: colors.dark ? 0.4 : 0.16 }));
        floor.quaternion.setFromUnitVectors(new THREE.Vector3(0, 0, 1), normal);
        floor.position.copy(grid.position).addScaledVector(normal, -0.002 * about.size);
        floor.receiveShadow = true;
        this.ground.add(floor);
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

    resize() {
        const w = this.holder.clientWidth, h = this.holder.clientHeight;
        if (!w || !h) return;
        this.renderer.setSize(w, h, false);
        this.camera.aspect = w / h;
        this.camera.updateProjectionMatrix();
        this.dirty = true;
    }

    // along x, y or z, or from a corner; everything in the picture
    view(name) {
        const { up, about } = { up: this.about.up, about: this.about }, from = new THREE.Vector3();
        const side = this.across(up), front = side.clone().cross(up);
        if (name === "iso") from.addScaledVector(side, 0.62).addScaledVector(front, 0.95).addScaledVector(up, 0.5);
        else from.setComponent("xyz".indexOf(name), name === "y" && Math.abs(up.z) > 0.5 ? -1 : 1);
        if (Math.abs(from.clone().normalize().dot(up)) > 0.99) from.addScaledVector(front, 0.01);
        else if (name !== "iso") from.addScaledVector(up, 0.1).addScaledVector(up.clone().cross(from), 0.12);
        from.normalize();
        const box = about.travels ? about.first : about.all;
        const center = vec(box.lo).add(vec(box.hi)).multiplyScalar(0.5), right = from.clone().cross(up).normalize().negate(), top = right.clone().cross(from).negate();
        let w = 0, h = 0, near = 0;
        for (let k = 0; k < 8; k++) {
            const p = vec([k & 1 ? box.hi[0] : box.lo[0], k & 2 ? box.hi[1] : box.lo[1], k & 4 ? box.hi[2] : box.lo[2]]).sub(center);
            w = Math.max(w, Math.abs(p.dot(right))), h = Math.max(h, Math.abs(p.dot(top))), near = Math.max(near, p.dot(from));
        }
        const tan = Math.tan(this.camera.fov * Math.PI / 360);
        const far = near + 1.1 * Math.max(h / tan, w / (tan * this.camera.aspect), 0.2 * about.size);
        if (this.target && this.follow >= 0) center.copy(this.target);
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
        const middle = this.about.first;
        let at = vec(middle.lo).add(vec(middle.hi)).multiplyScalar(0.5);
        if (this.follow >= 0) {
            const c = motion.scene.bodies[this.follow].column, p = motion.q;
            if (!this.anchor || this.anchored !== this.follow) {
                const q0 = motion.poses, now = new THREE.Vector3(q0[c], q0[c + 1], q0[c + 2]);
                this.anchor = at.clone().sub(now);
                this.anchored = this.follow;
            }
            at = new THREE.Vector3(p[c], p[c + 1], p[c + 2]).add(this.anchor);
            const step = at.clone().sub(this.target || at);
            this.controls.target.add(step);
            this.camera.position.add(step);
            this.target = at;
        }
        this.sun.target.position.copy(at);
        this.sun.position.copy(at).add(this.sunFrom);
        this.dirty = true;
    }

    render() {
        this.controls.update();
        if (!this.dirty) return false;
        this.dirty = false;
        this.renderer.render(this.world, this.camera);
        return true;
    }

    // a point of the scene in pixels of the holder; null: behind the camera
    project(p) {
        const v = p.clone().project(this.camera);
        if (v.z > 1) return null;
        return [(v.x + 1) / 2 * this.holder.clientWidth, (1 - v.y) / 2 * this.holder.clientHeight];
    }

    // what is below the pointer
    pick(event, objects) {
        const box = this.holder.getBoundingClientRect(), ray = new THREE.Raycaster();
        ray.setFromCamera(new THREE.Vector2(2 * (event.clientX - box.left) / box.width - 1, 1 - 2 * (event.clientY - box.top) / box.height), this.camera);
        const hit = ray.intersectObjects(objects, true).find(h => h.object.visible && h.object.userData.about);
        return hit ? hit.object.userData.about : null;
    }
}
