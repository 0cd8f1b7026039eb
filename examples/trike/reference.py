#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The trike in nine speeds: python3 reference.py prints t = 3 s, and slopes by central differences (a minute).

    eta = (v of the chassis' centre, omega of the chassis, spins of the front, left and right wheel)

Each body moves with  v_b = v + omega x rho_b,  omega_b = omega + (steering) + (spin);  d'Alembert's principle in these
speeds is a 9 x 9 system at each instant, without multipliers. The tires are those of the model: upright wheels in a rigid
frame, so the road's normal is across their axes up to the lean of the chassis. Shares nothing with Costate."""
import math

PARAMETERS = dict(L=1.2, track=0.9, R=0.25, sink=0.008, v0=3.0, v1=5.0, ratio=6.0, steer=0.15, kp=0.8, ki=0.5)
G, K, C, KAPPA, ALPHA = 9.81, 60e3, 600.0, 0.1, 0.1
WHEEL = (4.0, 0.07, 0.12)  # mass, moments across and about the axis
FORK = (3.0, 0.15, 0.05)
CHASSIS = (115.0, (8.0, 14.0, 12.0))
ROTOR = 0.01
ZERO = (0.0, 0.0, 0.0)
UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def add(a, b, s=1.0):
    return (a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2])


def scale(s, a):
    return (s * a[0], s * a[1], s * a[2])


def step5(t, lo, hi):
    """value and two derivatives"""
    u, w = (t - lo) / (hi - lo), hi - lo
    if u <= 0:
        return 0.0, 0.0, 0.0
    if u >= 1:
        return 1.0, 0.0, 0.0
    return (u**3 * (10 - 15 * u + 6 * u * u), 30 * u * u * (1 - u) ** 2 / w, 60 * u * (1 - u) * (1 - 2 * u) / w**2)


def solve(A, b):
    n = len(b)
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(A[i][k]))
        A[k], A[p], b[k], b[p] = A[p], A[k], b[p], b[k]
        for i in range(k + 1, n):
            f = A[i][k] / A[k][k]
            if f:
                for j in range(k, n):
                    A[i][j] -= f * A[k][j]
                b[i] -= f * b[k]
    for k in reversed(range(n)):
        b[k] = (b[k] - sum(A[k][j] * b[j] for j in range(k + 1, n))) / A[k][k]
    return b


def tire(c, v, u, w, R):
    """Force at the wheel centre and moment about it; c, v, u, w: centre, its velocity, axis, angular velocity"""
    n = UNIT[2]
    sigma = math.sqrt(1 - u[2] ** 2)
    delta = R * sigma - c[2]
    if delta <= 0:
        return ZERO, ZERO
    N = K * delta - C * v[2]
    b = scale(1 / sigma, cross(u, n))
    side = cross(n, b)
    slip = add(v, cross(w, n), -c[2])
    X = -dot(b, slip) / abs(dot(b, v)) / KAPPA
    Y = -math.atan(dot(side, slip) / abs(dot(b, v))) / ALPHA
    assert X * X + Y * Y < 1 and abs(dot(b, v)) > 0.01  # never saturated, never slow in this manoeuvre
    F = add(add(scale(N, n), b, N * X), side, N * Y)
    arm = add(scale(R / sigma, add(scale(u[2], u), n, -1.0)), n, delta)
    return F, cross(arm, F)


def throttle(p, t, y, speed):
    wanted = p["v0"] + (p["v1"] - p["v0"]) * step5(t, 0.0, 2.0)[0]
    e = wanted - speed
    return p["kp"] * e + y[21], e


def rates(p):
    centre, low = (0.45, 0.0, 0.5), p["R"] - p["sink"]
    hubs = [add(x, centre, -1.0) for x in
            ((p["L"], 0.0, low), (0.0, p["track"] / 2, low), (0.0, -p["track"] / 2, low))]

    def f(t, y):
        r, E, v, w, s = tuple(y[0:3]), (tuple(y[3:6]), tuple(y[6:9]), tuple(y[9:12])), tuple(y[12:15]), tuple(y[15:18]), y[18:21]
        d = [p["steer"] * x for x in step5(t, 1.0, 1.6)]
        turn = lambda l: add(add(scale(l[0], E[0]), E[1], l[1]), E[2], l[2])
        A, b = [[0.0] * 9 for _ in range(9)], [0.0] * 9

        def body(m, rho, axis, moments, W, W_eta, bias, force, moment):
            """moments: about `axis` and across it, or three along E; W_eta: spin index and axis, or None"""
            if axis is None:
                inertia = lambda q: tuple(sum(moments[k] * dot(E[k], q) * E[k][i] for k in range(3)) for i in range(3))
            else:
                inertia = lambda q: add(scale(moments[0], q), axis, (moments[1] - moments[0]) * dot(axis, q))
            V = [(UNIT[i], ZERO) for i in range(3)] + [(cross(UNIT[i], rho), UNIT[i]) for i in range(3)]
            index = list(range(6))
            if W_eta:
                V.append((ZERO, W_eta[1]))
                index.append(W_eta[0])
            a = cross(w, cross(w, rho))
            rest_f = add(force, a, -m)
            rest_m = add(add(moment, inertia(bias), -1.0), cross(W, inertia(W)), -1.0)
            for i, (vi, wi) in zip(index, V):
                b[i] += dot(vi, rest_f) + dot(wi, rest_m)
                Iw = inertia(wi)
                for j, (vj, wj) in zip(index, V):
                    A[i][j] += m * dot(vi, vj) + dot(Iw, wj)

        body(CHASSIS[0], ZERO, None, CHASSIS[1], w, None, ZERO, (0.0, 0.0, -G * CHASSIS[0]), ZERO)
        wf = add(w, E[2], d[1])
        alpha = add(scale(d[2], E[2]), cross(w, E[2]), d[1])
        body(FORK[0], turn(hubs[0]), E[2], FORK[1:], wf, None, alpha, (0.0, 0.0, -G * FORK[0]), ZERO)
        for k in range(3):
            rho = turn(hubs[k])
            carrier, alpha_k = (wf, alpha) if k == 0 else (w, ZERO)
            u = add(scale(math.cos(d[0]), E[1]), E[0], -math.sin(d[0])) if k == 0 else E[1]
            W = add(carrier, u, s[k])
            F, M = tire(add(r, rho), add(v, cross(w, rho)), u, W, p["R"])
            body(WHEEL[0], rho, u, WHEEL[1:], W, (6 + k, u), add(alpha_k, cross(carrier, u), s[k]),
                 add(F, UNIT[2], -G * WHEEL[0]), M)
        h, command = p["ratio"] / 2, throttle(p, t, y, dot(v, E[0]))
        T = command[0] * (12 - 3 * h * (s[1] + s[2]) / 200)
        for i in (7, 8):
            b[i] += h * T
            for j in (7, 8):
                A[i][j] += ROTOR * h * h
        return list(v) + [x for e in E for x in cross(w, e)] + solve(A, b) + [p["ki"] * command[1], command[1] ** 2]

    return f


def run(**changes):
    p = dict(PARAMETERS, **changes)
    spin = p["v0"] / (p["R"] - p["sink"])
    y = [0.45, 0.0, 0.5] + [x for e in UNIT for x in e] + [p["v0"], 0.0, 0.0] + [0.0] * 3 + [spin] * 3 + [0.0, 0.0]
    f, h = rates(p), 1e-3
    for i in range(3000):  # Runge-Kutta; half the step changes 1e-9
        move = lambda c, k: [a + c * b for a, b in zip(y, k)]
        k1 = f(i * h, y)
        k2 = f((i + 0.5) * h, move(h / 2, k1))
        k3 = f((i + 0.5) * h, move(h / 2, k2))
        k4 = f((i + 1) * h, move(h, k3))
        y = [a + h / 6 * (b + 2 * c + 2 * d + e) for a, b, c, d, e in zip(y, k1, k2, k3, k4)]
    return p, y


def objectives(**changes):
    y = run(**changes)[1]
    return {"miss": y[22], "aside": y[1]}


if __name__ == "__main__":
    p, y = run()
    E = y[3:6], y[6:9], y[9:12]
    print("end:place.x,%.12g\nend:place.y,%.12g\nend:place.z,%.12g" % tuple(y[:3]))
    for i in range(3):
        print("end:speed.%s,%.12g" % ("xyz"[i], dot(y[12:15], E[i])))
    print("end:att.yaw,%.12g\nend:att.roll,%.12g" % (math.atan2(E[0][1], E[0][0]), math.atan2(E[1][2], E[2][2])))
    print("end:wf.spin,%.12g\nend:wl.spin,%.12g\nend:wr.spin,%.12g" % tuple(y[18:21]))
    print("end:throttle,%.12g" % throttle(p, 3.0, y, dot(y[12:15], E[0]))[0])
    print("objective:miss,%.12g\nobjective:aside,%.12g" % (y[22], y[1]))
    for name in ("steer", "ratio", "track", "ki", "L"):
        d = 1e-4 * PARAMETERS[name]
        q = [objectives(**{name: PARAMETERS[name] + k * d}) for k in (-1, 1)]
        for o in ("miss", "aside"):
            print("gradient:%s:%s,%.9g" % (o, name, (q[1][o] - q[0][o]) / (2 * d)))
