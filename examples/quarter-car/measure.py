#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Makes measurements of the quarter car without Costate: the planar mechanism in the coordinates chassis height and three
# angles, closed by one loop, integrated by Runge-Kutta with 0.25 ms, and seeded noise.
#     measure.py [DIRECTORY [SEED [COUNT]]]    a negative seed: no noise; COUNT > 1: directories DIRECTORY/SEED, ...
import math
import os
import random
import sys

TRUTH = {"m1": 200.0, "m3": 5.0, "K": 40e3, "D": 10e3, "Cz": 150e3}
M2, M4, M5, I4, G, L0, D0 = 6.0, 40.0, 4.0, 0.6, 9.81, 0.485145293579, 0.016677
A, B, C, E, W, T = (0.30, 0.25), (0.40, 0.50), (0.70, 0.20), (0.65, 0.48), (0.75, 0.30), (0.46, 0.60)  # (y, z)
NOISE = {"z_mm": 0.2, "acc": 0.1, "hop_mm": 0.2, "load": 20.0}
STEP, EVERY = 2.5e-4, 20  # a row each 5 ms


def polar(p, q):
    return math.hypot(q[0] - p[0], q[1] - p[1]), math.atan2(q[1] - p[1], q[0] - p[0])


(L2, T2), (L3, T3), (L5, T5), (LW, TW) = polar(A, C), polar(C, E), polar(B, E), polar(C, W)


def point(base, links, q, v):
    """A point base + z + sum l e(angle): place, Jacobian by (z, a2, a3, a5), velocity, and what q'' = 0 leaves of a."""
    x, J, bias = [base[0], base[1] + q[0]], [[0.0] * 4, [1.0, 0.0, 0.0, 0.0]], [0.0, 0.0]
    for k, length, shift in links:
        c, s = length * math.cos(q[k] + shift), length * math.sin(q[k] + shift)
        x[0] += c
        x[1] += s
        J[0][k] -= s
        J[1][k] += c
        bias[0] -= c * v[k] ** 2
        bias[1] -= s * v[k] ** 2
    return x, J, [sum(J[i][k] * v[k] for k in range(4)) for i in range(2)], bias


def solve(M, b):
    n = len(b)
    for i in range(n):
        p = max(range(i, n), key=lambda r: abs(M[r][i]))
        M[i], M[p], b[i], b[p] = M[p], M[i], b[p], b[i]
        for r in range(i + 1, n):
            f = M[r][i] / M[i][i]
            for c in range(i, n):
                M[r][c] -= f * M[i][c]
            b[r] -= f * b[i]
    for i in reversed(range(n)):
        b[i] = (b[i] - sum(M[i][c] * b[c] for c in range(i + 1, n))) / M[i][i]
    return b


def acceleration(t, q, v, p):
    arm, knuckle, upper = (1, L2, 0.0), (2, L3, 0.0), (3, L5, 0.0)
    masses = [(p["m1"], (A, [])), (M2, (A, [(1, L2 / 2, 0.0)])), (p["m3"], (A, [arm, (2, L3 / 2, 0.0)])),
              (M4, (A, [arm, (2, LW, TW - T3)])), (M5, (B, [(3, L5 / 2, 0.0)]))]
    M = [[0.0] * 6 for _ in range(6)]
    b = [0.0] * 6
    for m, (base, links) in masses:
        _, J, _, bias = point(base, links, q, v)
        for i in range(4):
            b[i] -= m * (J[0][i] * bias[0] + J[1][i] * (bias[1] + G))
            for k in range(4):
                M[i][k] += m * (J[0][i] * J[0][k] + J[1][i] * J[1][k])
    M[1][1] += M2 * L2**2 / 12
    M[2][2] += p["m3"] * L3**2 / 12 + I4
    M[3][3] += M5 * L5**2 / 12
    S, JS, vS, _ = point(A, [(1, 0.46 * L2, 0.0)], q, v)  # spring and damper
    Tx, JT, vT, _ = point(T, [], q, v)
    d = [Tx[0] - S[0], Tx[1] - S[1]]
    length = math.hypot(*d)
    rate = sum(d[i] * (vT[i] - vS[i]) for i in range(2)) / length
    F = p["K"] * (length - L0) + p["D"] * rate
    hub, JW, _, _ = point(A, [arm, (2, LW, TW - T3)], q, v)  # tire
    tire = p["Cz"] * (D0 - (hub[1] - W[1]) + 0.02 * math.sin(6 * math.pi * t))
    _, JE, _, bE = point(A, [arm, knuckle], q, v)  # the loop
    _, JU, _, bU = point(B, [upper], q, v)
    for k in range(4):
        b[k] += tire * JW[1][k] - F * sum(d[i] * (JT[i][k] - JS[i][k]) for i in range(2)) / length
        for i in range(2):
            M[4 + i][k] = M[k][4 + i] = JE[i][k] - JU[i][k]
    for i in range(2):
        b[4 + i] = bU[i] - bE[i]
    return solve(M, b)[:4], (hub[1] - W[1], tire)


def motion(p):
    q, v, rows = [0.0, T2, T3, T5], [0.02 * 6 * math.pi, 0.0, 0.0, 0.0], []
    add = lambda x, h, y: [a + h * b for a, b in zip(x, y)]
    for n in range(round(1 / STEP) + 1):
        t = n * STEP
        a1, wheel = acceleration(t, q, v, p)
        if n % EVERY == 0:
            rows.append((t, q[0], a1[0], *wheel))
        v2 = add(v, STEP / 2, a1)
        a2, _ = acceleration(t + STEP / 2, add(q, STEP / 2, v), v2, p)
        v3 = add(v, STEP / 2, a2)
        a3, _ = acceleration(t + STEP / 2, add(q, STEP / 2, v2), v3, p)
        v4 = add(v, STEP, a3)
        a4, _ = acceleration(t + STEP, add(q, STEP, v3), v4, p)
        for i in range(4):
            q[i] += STEP / 6 * (v[i] + 2 * v2[i] + 2 * v3[i] + v4[i])
            v[i] += STEP / 6 * (a1[i] + 2 * a2[i] + 2 * a3[i] + a4[i])
    return rows


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    seed, count = int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    exact = motion(TRUTH)
    for n in range(seed, seed + count):
        random.seed(n)
        place = directory if count == 1 else os.path.join(directory, str(n))
        os.makedirs(place, exist_ok=True)
        with open(os.path.join(place, "measured.csv"), "w") as f:
            f.write("t," + ",".join(NOISE) + "\n")
            for t, z, acc, hop, load in exact:
                row = [x + (random.gauss(0, s) if n >= 0 else 0) for x, s in zip((z * 1e3, acc, hop * 1e3, load), NOISE.values())]
                f.write(f"{t:.4f}," + ",".join(f"{x:.4f}" if n >= 0 else f"{x:.12g}" for x in row) + "\n")


if __name__ == "__main__":
    main()
