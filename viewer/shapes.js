// SPDX-License-Identifier: MIT
// Geometries of length 1 along x, shared and scaled; materials that follow the theme.
import * as THREE from "three";
import { ConvexGeometry } from "three/addons/geometries/ConvexGeometry.js";

export const palette = ["#4a7fd6", "#e08a3c", "#3fa787", "#b9609f", "#c7a22c", "#57a8c8", "#d3625f", "#7d72c6", "#86a344", "#a87c5d"];

const shared = {};
const once = (name, make) => shared[name] ?? (shared[name] = make());
const alongX = g => g.rotateZ(-Math.PI / 2);

export const cylinder = () => once("cylinder", () => alongX(new THREE.CylinderGeometry(1, 1, 1, 28, 1)));
export const ball = () => once("ball", () => new THREE.SphereGeometry(1, 28, 20));
export const cube = () => once("cube", () => new THREE.BoxGeometry(1, 1, 1));
export const cone = () => once("cone", () => alongX(new THREE.ConeGeometry(1, 1, 28)).translate(0.5, 0, 0)); // tip at x = 1
// a coil of radius 1 that is `length` radii long where its wire is round; scaled to length 1
export function coil(length) {
    const turns = Math.round(Math.min(16, Math.max(5, length / 2.2))), end = 0.07;
    class Helix extends THREE.Curve {
        getPoint(s, out = new THREE.Vector3()) {
            const u = Math.min(1, Math.max(0, (s - end) / (1 - 2 * end)));
            const grow = Math.min(1, Math.min(s, 1 - s) / end), a = 2 * Math.PI * turns * u;
            return out.set(s * length, grow * Math.cos(a), grow * Math.sin(a));
        }
    }
    return new THREE.TubeGeometry(new Helix(), 28 * turns, 0.15, 8).scale(1 / length, 1, 1);
}

export function tube(inner) { // ratio of the radii
    const outline = [[inner, -0.5], [1, -0.5], [1, 0.5], [inner, 0.5], [inner, -0.5]].map(p => new THREE.Vector2(...p));
    return alongX(new THREE.LatheGeometry(outline, 40)).toNonIndexed();
}

export function tire() { // radius 1, axis x, width from -0.5 to 0.5
    const r = 0.16, outline = [];
    for (const [x, y] of [[0.62, -0.42], [0.86, -0.5], [0.955, -0.47], [1, -0.32], [1, 0.32], [0.955, 0.47], [0.86, 0.5], [0.62, 0.42], [0.62, -0.42]])
        outline.push(new THREE.Vector2(x, y));
    return { rubber: alongX(new THREE.LatheGeometry(outline, 48)), rim: rim(r) };
}

function rim() { // disc with holes, so that rolling can be seen
    const disc = new THREE.Shape();
    disc.absarc(0, 0, 0.63, 0, 2 * Math.PI);
    for (let k = 0; k < 5; k++) {
        const a = 2 * Math.PI * k / 5, hole = new THREE.Path();
        hole.absarc(0.4 * Math.cos(a), 0.4 * Math.sin(a), 0.13, 0, 2 * Math.PI);
        disc.holes.push(hole);
    }
    return new THREE.ExtrudeGeometry(disc, { depth: 0.3, bevelEnabled: false, curveSegments: 24 }).translate(0, 0, -0.15)
        .rotateY(Math.PI / 2);
}

// points: local; a bar between two, a frame of bars for few, a hull for many
export function between(points, radius, material) {
    const group = new THREE.Group(), p = points.map(x => new THREE.Vector3(...x));
    const bar = (a, b) => {
        const mesh = new THREE.Mesh(cylinder(), material);
        span(mesh, a, b, radius);
        group.add(mesh);
    };
    for (const x of p) {
        const knot = new THREE.Mesh(ball(), material);
        knot.position.copy(x);
        knot.scale.setScalar(1.25 * radius);
        group.add(knot);
    }
    if (p.length === 2) bar(p[0], p[1]);
    else if (p.length === 3) bar(p[0], p[1]), bar(p[1], p[2]), bar(p[2], p[0]);
    else if (p.length > 3 && flat(p)) for (let i = 1; i < p.length; i++) bar(p[0], p[i]);
    else if (p.length > 3) hull(group, p, radius, material, bar);
    return group;
}

function flat(p) {
    const a = p[1].clone().sub(p[0]);
    let normal = null, size = a.length();
    for (const x of p) {
        const b = x.clone().sub(p[0]), n = a.clone().cross(b);
        size = Math.max(size, b.length());
        if (n.length() > 1e-3 * size * size && !normal) normal = n.normalize();
    }
    return !normal || p.every(x => Math.abs(x.clone().sub(p[0]).dot(normal)) < 1e-2 * size);
}

function hull(group, p, radius, material, bar) {
    const g = new ConvexGeometry(p), skin = material.clone();
    skin.transparent = true;
    skin.opacity = 0.28;
    skin.side = THREE.DoubleSide;
    skin.depthWrite = false;
    const mesh = new THREE.Mesh(g, skin);
    mesh.userData.skin = true;
    group.add(mesh);
    const edge = new THREE.EdgesGeometry(g, 8).attributes.position;
    for (let i = 0; i + 1 < edge.count && edge.count < 400; i += 2)
        bar(new THREE.Vector3().fromBufferAttribute(edge, i), new THREE.Vector3().fromBufferAttribute(edge, i + 1));
}

const x0 = new THREE.Vector3(1, 0, 0), d = new THREE.Vector3();

// puts a geometry of length 1 (centred: from -1/2) between two points
export function span(object, a, b, radius, centred = true) {
    d.subVectors(b, a);
    const length = d.length();
    object.position.copy(a);
    if (centred) object.position.addScaledVector(d, 0.5);
    object.scale.set(Math.max(length, 1e-9), radius, radius);
    if (length > 0) object.quaternion.setFromUnitVectors(x0, d.multiplyScalar(1 / length));
}

export function orient(object, direction) {
    d.copy(direction).normalize();
    object.quaternion.setFromUnitVectors(x0, d);
}
