#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""B0 of the N-four-bar from its one degree of freedom: python3 reference.py N END INTERVAL

    a: angle of the cranks from upright, B0 = (sin a, cos a)
    T = 1/2 ((N + 1)/3 + N) a'^2,  V = ((N + 1)/2 + N) g cos a
    a'' = 3 (3 N + 1)/(2 (4 N + 1)) g sin a
"""
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from ode import integrate

N = int(sys.argv[1]) if len(sys.argv) > 1 else 2
end = float(sys.argv[2]) if len(sys.argv) > 2 else 10.0
H = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
c = 3 * (3 * N + 1) / (2 * (4 * N + 1)) * 9.81
part = math.ceil(H / 0.1 - 1e-9)
s = integrate(lambda t, y: [y[1], c * math.sin(y[0])], [0.0, 1.0], end, H / part)
print("t,x,y,vx,vy")
for i, (a, w) in enumerate(s):
    if i % part == 0:
        print("%.10g,%.17g,%.17g,%.17g,%.17g" % (i // part * H, math.sin(a), math.cos(a), w * math.cos(a), -w * math.sin(a)))
