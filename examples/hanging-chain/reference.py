#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The hanging chain: python3 reference.py prints sag, pull and their derivatives.

All joints carry the same horizontal force H, and the vertical force changes by m g from joint to joint. Moments about the
middle of bar i = 0 .. n-1 give its slope:

    tan a_i = (2 i - n + 1) t,   t = m g/(2 H),     sum l cos a_i = S     for t
"""
import math

n, S, l, m, g = 6, 4.0, 1.0, 2.0, 9.81
k = [2 * i - n + 1 for i in range(n)]


def span(t):
    return sum(l / math.hypot(1, c * t) for c in k)


low, high = 0.0, 1e3
for _ in range(200):
    t = (low + high) / 2
    low, high = (t, high) if span(t) > S else (low, t)

sag = -sum(l * c * t / math.hypot(1, c * t) for c in k[: n // 2])
S_t = -sum(l * c * c * t / math.hypot(1, c * t) ** 3 for c in k)
sag_t = -sum(l * c / math.hypot(1, c * t) ** 3 for c in k[: n // 2])
H = m * g / (2 * t)
t_S, t_l = 1 / S_t, -(S / l) / S_t
print("first.x", l / math.hypot(1, k[0] * t))
print("sag", sag, " d/dS", sag_t * t_S, " d/dl", sag / l + sag_t * t_l, " d/dm", 0)
print("pull", H, " d/dS", -H / t * t_S, " d/dl", -H / t * t_l, " d/dm", H / m)
