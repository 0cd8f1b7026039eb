#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The double pendulum in its two angles a, b from +x: python3 reference.py prints state, reaction and pull at t = 2 s.

    A a'' + C cos(a - b) b'' = -C sin(a - b) b'^2 - g (m1/2 + m2) l1 cos a        A = (m1/3 + m2) l1^2
    C cos(a - b) a'' + B b'' =  C sin(a - b) a'^2 - g m2/2 l2 cos b               B = m2/3 l2^2,  C = m2 l1 l2/2
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ode import integrate

g, m1, m2, l1, l2 = 9.81, 1.0, 2.0, 1.0, 0.5
A, B, C = (m1 / 3 + m2) * l1**2, m2 / 3 * l2**2, m2 * l1 * l2 / 2


def accelerations(a, b, u, v):
    c, s = math.cos(a - b), math.sin(a - b)
    f = -C * s * v * v - g * (m1 / 2 + m2) * l1 * math.cos(a)
    h = C * s * u * u - g * m2 / 2 * l2 * math.cos(b)
    D = A * B - (C * c) ** 2
    return (B * f - C * c * h) / D, (A * h - C * c * f) / D


def reaction(a, b, u, v):
    """On the upper bar at the pivot: sum of m (acceleration - gravity)."""
    ua, va = accelerations(a, b, u, v)
    x1, y1 = -math.sin(a) * ua - math.cos(a) * u * u, math.cos(a) * ua - math.sin(a) * u * u
    x2, y2 = -math.sin(b) * va - math.cos(b) * v * v, math.cos(b) * va - math.sin(b) * v * v
    x = m1 * l1 / 2 * x1 + m2 * (l1 * x1 + l2 / 2 * x2)
    y = m1 * l1 / 2 * y1 + m2 * (l1 * y1 + l2 / 2 * y2) + (m1 + m2) * g
    return x, y


def rates(t, y):
    a, b, u, v, _ = y
    ua, va = accelerations(a, b, u, v)
    x, z = reaction(a, b, u, v)
    return [u, v, ua, va, x * x + z * z]


a, b, u, v, pull = integrate(rates, [0.0, 0.0, 0.0, 0.0, 0.0], 2.0, 0.02)[-1]
x, y = reaction(a, b, u, v)
for name, value in (
    ("p1.x", l1 * math.cos(a)), ("p1.y", l1 * math.sin(a)),
    ("p2.x", l1 * math.cos(a) + l2 * math.cos(b)), ("p2.y", l1 * math.sin(a) + l2 * math.sin(b)),
    ("w1.z", u), ("w2.z", v), ("R.force.x", x), ("R.force.y", y), ("pull", pull),
):
    print("%s,%.15g" % (name, value))
