#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The symmetric top by its axis n and angular momentum L about the pivot: python3 reference.py prints t = 1 s.

    n' = L x n / I1,  L' = -m g l n x z         L.n, L.z and |L|^2/(2 I1) + (L.n)^2 (1/I3 - 1/I1)/2 + m g l n.z constant
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ode import integrate

m, g, l, It, I3 = 15.0, 9.81, 1.0, 0.234375, 0.46875
I1 = It + m * l * l
spin, w = 150.0, -4.61538


def rates(t, y):
    nx, ny, nz, Lx, Ly, Lz = y
    return [
        (Ly * nz - Lz * ny) / I1, (Lz * nx - Lx * nz) / I1, (Lx * ny - Ly * nx) / I1,
        -m * g * l * ny, m * g * l * nx, 0.0,
    ]


def energy(y):
    L2, Ln = sum(a * a for a in y[3:]), sum(a * b for a, b in zip(y, y[3:]))
    return (L2 - Ln * Ln) / (2 * I1) + Ln * Ln / (2 * I3) + m * g * l * y[2]


s = integrate(rates, [0.0, 1.0, 0.0, 0.0, I3 * spin, I1 * w], 1.0, 0.01)
n, v = s[-1][:3], rates(1.0, s[-1])[:3]
for name, value in zip(("c.x", "c.y", "c.z", "vel.x", "vel.y", "vel.z"), n + v):
    print("%s,%.15g" % (name, value * l))
Ln = sum(a * b for a, b in zip(s[-1], s[-1][3:]))
print("W.y,%.15g" % (Ln / I3))
print("Lz,%.15g" % s[-1][5])
print("E.total,%.15g" % energy(s[-1]))
