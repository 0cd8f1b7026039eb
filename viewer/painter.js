// SPDX-License-Identifier: MIT
// Draws the scene without WebGL: triangles with a depth buffer, on a 2-D canvas. Light is as in the 3-D view, without shadows.
import * as THREE from "three";

const FINE = 2; // pixels of the buffer per pixel of the picture, each way: smooth edges
const LEVELS = 256; // of brightness
const MOST = 1.6; // brightness of the highest level

// What is drawn of an object: meshes that are not mere shadows, thin lines, wide lines
const isFace = o => o.isMesh && !o.isLineSegments2 && !o.material.isShadowMaterial;

export class Painter {
    constructor() {
        this.domElement = document.createElement("canvas");
        this.paper = document.createElement("canvas"); // FINE times as large
        this.shades = new Map(); // colour -> packed sRGB by level
        this.point = new Float64Array(0);
    }

    setSize(width, height) {
        this.domElement.width = width, this.domElement.height = height;
        this.width = this.paper.width = FINE * width, this.height = this.paper.height = FINE * height;
        this.image = this.paper.getContext("2d").createImageData(this.width, this.height);
        this.color = new Uint32Array(this.image.data.buffer);
        this.depth = new Float32Array(this.width * this.height);
    }

    render(world, camera) {
        world.updateMatrixWorld();
        camera.updateMatrixWorld();
        this.view = camera.matrixWorldInverse;
        this.near = camera.near;
        const p = camera.projectionMatrix.elements;
        this.zoomX = 0.5 * p[0] * this.width, this.zoomY = 0.5 * p[5] * this.height;
        this.color.fill(pack(world.background.getHex()));
        this.depth.fill(0); // 1/distance: 0 is far away
        this.lights(world, camera);
        const list = [];
        const collect = o => {
            if (!o.visible) return;
            if (isFace(o) || o.isLineSegments || o.isLineSegments2) list.push(o);
            o.children.forEach(collect);
        };
        collect(world);
        const late = o => o.material.transparent ? 1 : 0;
        list.sort((a, b) => late(a) - late(b) || a.renderOrder - b.renderOrder);
        for (const o of list) this.begin(o.material), isFace(o) ? this.faces(o) : o.isLineSegments2 ? this.wide(o) : this.thin(o);
        this.paper.getContext("2d").putImageData(this.image, 0, 0);
        const to = this.domElement.getContext("2d");
        to.imageSmoothingQuality = "high";
        to.drawImage(this.paper, 0, 0, this.domElement.width, this.domElement.height);
    }

    // directions of the lights in the camera's axes; a face with the unit normal n has the brightness (sum of intensity n.l) / pi
    lights(world, camera) {
        this.lamps = [];
        this.sky = null;
        const at = new THREE.Vector3(), to = new THREE.Vector3();
        const add = o => {
            if (o.isHemisphereLight) {
                const d = o.position.clone().transformDirection(this.view), g = o.groundColor.g;
                this.sky = [d.x, d.y, d.z, o.intensity * (1 + g) / 2 / Math.PI, o.intensity * (1 - g) / 2 / Math.PI];
            } else if (o.isDirectionalLight) {
                const d = at.setFromMatrixPosition(o.matrixWorld).sub(to.setFromMatrixPosition(o.target.matrixWorld)).transformDirection(this.view);
                this.lamps.push([d.x, d.y, d.z, o.intensity / Math.PI]);
            }
        };
        world.traverse(add);
    }
    brightness(x, y, z) {
        const s = this.sky;
        let sum = s[3] + s[4] * (x * s[0] + y * s[1] + z * s[2]);
        for (const l of this.lamps) sum += l[3] * Math.max(0, x * l[0] + y * l[1] + z * l[2]);
        return Math.min(LEVELS - 1, sum * (LEVELS - 1) / MOST);
    }

    begin(material) {
        this.alpha = material.transparent ? material.opacity : 1;
        this.test = material.depthTest;
        this.keep = material.depthWrite && material.depthTest;
        this.shade = this.ramp(material.color);
    }
    ramp(color) { // linear light to sRGB
        const key = color.getHex();
        if (!this.shades.has(key)) {
            const c = new THREE.Color(), ramp = new Uint32Array(LEVELS);
            for (let i = 0; i < LEVELS; i++) {
                const b = i * MOST / (LEVELS - 1);
                c.setRGB(Math.min(1, color.r * b), Math.min(1, color.g * b), Math.min(1, color.b * b));
                ramp[i] = pack(c.getHex());
            }
            this.shades.set(key, ramp);
        }
        return this.shades.get(key);
    }

    // points and normals of a geometry in the camera's axes: x, y, z, brightness
    transform(o) {
        const position = o.geometry.attributes.position, normal = o.geometry.attributes.normal, n = position.count;
        const m = new THREE.Matrix4().multiplyMatrices(this.view, o.matrixWorld).elements, r = new THREE.Matrix3().getNormalMatrix(new THREE.Matrix4().fromArray(m)).elements;
        if (this.point.length < 4 * n) this.point = new Float64Array(4 * n);
        const out = this.point, p = position.array, d = normal ? normal.array : null;
        for (let i = 0, k = 0; k < 3 * n; i += 4, k += 3) {
            const x = p[k], y = p[k + 1], z = p[k + 2];
            out[i] = m[0] * x + m[4] * y + m[8] * z + m[12];
            out[i + 1] = m[1] * x + m[5] * y + m[9] * z + m[13];
            out[i + 2] = m[2] * x + m[6] * y + m[10] * z + m[14];
            if (!d) continue;
            let u = r[0] * d[k] + r[3] * d[k + 1] + r[6] * d[k + 2], v = r[1] * d[k] + r[4] * d[k + 1] + r[7] * d[k + 2], w = r[2] * d[k] + r[5] * d[k + 1] + r[8] * d[k + 2];
            const s = 1 / (Math.hypot(u, v, w) || 1), facing = this.both && u * out[i] + v * out[i + 1] + w * out[i + 2] > 0 ? -s : s;
            out[i + 3] = this.brightness(u * facing, v * facing, w * facing);
        }
        return out;
    }

    faces(o) {
        this.both = o.material.side === THREE.DoubleSide;
        const p = this.transform(o), index = o.geometry.index ? o.geometry.index.array : null, n = index ? index.length : o.geometry.attributes.position.count;
        const corner = k => {
            const i = 4 * (index ? index[k] : k);
            return [p[i], p[i + 1], p[i + 2], p[i + 3]];
        };
        for (let k = 0; k + 2 < n; k += 3) this.clipped(corner(k), corner(k + 1), corner(k + 2));
    }

    // what of a triangle is in front of the camera
    clipped(a, b, c) {
        const near = -this.near, polygon = [a, b, c];
        if (a[2] <= near && b[2] <= near && c[2] <= near) return this.triangle(this.project(a), this.project(b), this.project(c));
        const out = [];
        for (let i = 0; i < 3; i++) {
            const p = polygon[i], q = polygon[(i + 1) % 3];
            if (p[2] <= near) out.push(p);
            if ((p[2] <= near) !== (q[2] <= near)) out.push(mix(p, q, (near - p[2]) / (q[2] - p[2])));
        }
        for (let i = 1; i + 1 < out.length; i++) this.triangle(this.project(out[0]), this.project(out[i]), this.project(out[i + 1]));
    }
    project(p) {
        const w = -1 / p[2];
        return [0.5 * this.width + this.zoomX * p[0] * w, 0.5 * this.height - this.zoomY * p[1] * w, w, p[3]];
    }

    // corners: x and y in pixels, 1/distance, level; counterclockwise is the front
    triangle(a, b, c) {
        const { width, height } = this, area = (b[0] - a[0]) * (c[1] - a[1]) - (c[0] - a[0]) * (b[1] - a[1]);
        if (area === 0 || (area > 0 && !this.both)) return;
        const top = Math.max(0, Math.ceil(Math.min(a[1], b[1], c[1]) - 0.5)), bottom = Math.min(height - 1, Math.floor(Math.max(a[1], b[1], c[1]) - 0.5));
        const slope = k => [((b[k] - a[k]) * (c[1] - a[1]) - (c[k] - a[k]) * (b[1] - a[1])) / area, ((c[k] - a[k]) * (b[0] - a[0]) - (b[k] - a[k]) * (c[0] - a[0])) / area];
        const [wx, wy] = slope(2), [lx, ly] = slope(3), { color, depth, shade, alpha, test, keep } = this;
        for (let y = top; y <= bottom; y++) {
            const v = y + 0.5;
            let left = Infinity, right = -Infinity;
            for (const [p, q] of [[a, b], [b, c], [c, a]]) {
                if ((p[1] <= v) === (q[1] <= v)) continue;
                const x = p[0] + (q[0] - p[0]) * (v - p[1]) / (q[1] - p[1]);
                if (x < left) left = x;
                if (x > right) right = x;
            }
            const from = Math.max(0, Math.ceil(left - 0.5)), to = Math.min(width - 1, Math.ceil(right - 0.5) - 1);
            let w = a[2] + wx * (from + 0.5 - a[0]) + wy * (v - a[1]), l = a[3] + lx * (from + 0.5 - a[0]) + ly * (v - a[1]);
            for (let k = y * width + from; k <= y * width + to; k++, w += wx, l += lx) {
                if (test && w < depth[k]) continue;
                if (keep) depth[k] = w;
                const paint = shade[l < 0 ? 0 : l > LEVELS - 1 ? LEVELS - 1 : l | 0];
                color[k] = alpha === 1 ? paint : blend(color[k], paint, alpha);
            }
        }
    }

    // ---- lines: strips that face the camera ----

    thin(o) {
        const p = this.transform(o), own = o.geometry.attributes.color, color = new THREE.Color();
        for (let i = 0; i + 1 < o.geometry.attributes.position.count; i += 2) {
            if (own) color.fromArray(own.array, 3 * i);
            this.strip(p.slice(4 * i, 4 * i + 3), p.slice(4 * i + 4, 4 * i + 7), 1, own ? color : o.material.color);
        }
    }
    wide(o) {
        const g = o.geometry, from = g.attributes.instanceStart, to = g.attributes.instanceEnd, n = Math.min(g.instanceCount, from.count);
        const m = new THREE.Matrix4().multiplyMatrices(this.view, o.matrixWorld), a = new THREE.Vector3(), b = new THREE.Vector3();
        for (let i = 0; i < n; i++) {
            a.fromBufferAttribute(from, i).applyMatrix4(m), b.fromBufferAttribute(to, i).applyMatrix4(m);
            this.strip([a.x, a.y, a.z], [b.x, b.y, b.z], o.material.linewidth, o.material.color);
        }
    }
    strip(p, q, width, color) {
        const near = -this.near;
        if (p[2] > near && q[2] > near) return;
        if (p[2] > near) p = mix(p, q, (near - p[2]) / (q[2] - p[2]));
        else if (q[2] > near) q = mix(q, p, (near - q[2]) / (p[2] - q[2]));
        const a = this.project(p), b = this.project(q), length = Math.hypot(b[0] - a[0], b[1] - a[1]);
        if (length === 0) return;
        const u = 0.5 * FINE * width * (a[1] - b[1]) / length, v = 0.5 * FINE * width * (b[0] - a[0]) / length;
        const side = (c, s) => [c[0] + s * u, c[1] + s * v, c[2], 0];
        this.shade = [pack(color.getHex())];
        this.both = true;
        this.triangle(side(a, 1), side(a, -1), side(b, 1));
        this.triangle(side(b, 1), side(a, -1), side(b, -1));
    }
}

const mix = (p, q, s) => p.map((x, i) => x + s * (q[i] - x));

// 0xRRGGBB as the four bytes of a pixel, which is little endian in memory
const pack = hex => (0xff000000 | (hex & 0xff) << 16 | (hex & 0xff00) | hex >> 16) >>> 0;

function blend(under, over, alpha) {
    const part = shift => {
        const u = under >> shift & 0xff, o = over >> shift & 0xff;
        return Math.round(u + alpha * (o - u)) << shift;
    };
    return (0xff000000 | part(16) | part(8) | part(0)) >>> 0;
}
