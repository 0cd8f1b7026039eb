#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The driven spatial slider-crank in closed form: python3 reference.py [T] prints the state at t = T (default 1 s).

    C = (r cos wt, 0, h - r sin wt),  S = (0, s, 0),  s = sqrt(l^2 - |C|^2)
    torque w = d/dt (T + V),  T = m_r/6 (vC.vC + vC.vS + vS.vS) + m_s/2 s'^2 (+ the crank's, constant)
"""
import math
import sys

g, r, h, w = 9.81, 0.2, 0.1, 10.0
mc, mr, ms = 0.5, 0.8, 2.0
l2 = r * r + 0.6**2 + h * h


def state(t):
    c, sn = math.cos(w * t), math.sin(w * t)
    C = (r * c, 0.0, h - r * sn)
    v = (-r * w * sn, 0.0, -r * w * c)
    a = (-r * w * w * c, 0.0, r * w * w * sn)
    j = (r * w**3 * sn, 0.0, r * w**3 * c)
    dot = lambda x, y: sum(p * q for p, q in zip(x, y))
    # s^2 = l^2 - C.C and its derivatives
    s = math.sqrt(l2 - dot(C, C))
    s1 = -dot(C, v) / s
    s2 = -(dot(v, v) + dot(C, a) + s1 * s1) / s
    s3 = -(3 * dot(v, a) + dot(C, j) + 3 * s1 * s2) / s
    return C, v, a, s, s1, s2, s3


def torque(t):
    C, v, a, s, s1, s2, s3 = state(t)
    # vC has no part along y, so vC.vS = 0; vC.vC is constant
    power = (mr / 3 + ms) * s1 * s2
    power += g * (mc / 2 + mr / 2) * v[2]
    return power / w


def simpson(f, end, n):
    return sum((1 if i in (0, n) else 2 + 2 * (i % 2)) * f(end * i / n) for i in range(n + 1)) * end / (3 * n)


T = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
C, v, a, s, s1, s2, s3 = state(T)
for name, value in (("pos.y", s), ("vel.y", s1), ("acc.y", s2), ("M.drive", torque(T)),
                    ("work2", simpson(lambda t: torque(t) ** 2, T, 20000))):
    print("%s,%.15g" % (name, value))
