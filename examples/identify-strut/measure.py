#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Makes the measurements of this example without Costate: the equation of motion of the one degree of freedom, integrated by
# Runge-Kutta with 0.1 ms, and seeded noise.
#     measure.py [DIRECTORY [SEED [COUNT]]]    COUNT > 1: directories DIRECTORY/SEED, DIRECTORY/SEED+1, ...
import math
import os
import random
import sys

M, L0, C, E, G = 80.0, 0.5, 1.3, 0.2, 9.81
TRUTH = {"k": 20e3, "c_1": 1200.0, "c_2": 500.0, "a": 120.0, "b": 60.0}
NOISE_Z, NOISE_ACC = 0.3e-3, 0.1
EXPERIMENTS = {"slow": (40e-3, 1.0, 0.0), "fast": (20e-3, 2.5, 0.0), "tiny": (4e-3, 4.0, 0.1)}  # amp, freq, recorder ahead by
END, STEP, EVERY = 2.0, 1e-4, 50  # a row each 5 ms


def strut(s, v, p):
    friction = p["a"] * math.sin(C * math.atan(p["b"] * (1 - E) * v + E * math.atan(p["b"] * v)))
    return p["k"] * (s - L0) + p["c_1"] * max(v, 0) + p["c_2"] * min(v, 0) + friction


def shaker(t, amp, freq):
    w = 2 * math.pi * freq
    x = min(max(t / 0.2, 0), 1)
    f, df = x**3 * (10 - 15 * x + 6 * x * x), 30 * x * x * (1 - x) ** 2 / 0.2
    return amp * math.sin(w * t) * f, amp * (w * math.cos(w * t) * f + math.sin(w * t) * df)


def motion(amp, freq, p):
    """Rows (t, displacement, acceleration) from rest."""
    rest = L0 - G * M / p["k"]

    def rate(t, z, u):
        y, v = shaker(t, amp, freq)
        return u, -strut(rest + z - y, u - v, p) / M - G

    t, z, u, rows = 0.0, 0.0, 0.0, []
    for n in range(round(END / STEP) + 1):
        t = n * STEP
        a1 = rate(t, z, u)
        if n % EVERY == 0:
            rows.append((t, z, a1[1]))
        a2 = rate(t + STEP / 2, z + STEP / 2 * a1[0], u + STEP / 2 * a1[1])
        a3 = rate(t + STEP / 2, z + STEP / 2 * a2[0], u + STEP / 2 * a2[1])
        a4 = rate(t + STEP, z + STEP * a3[0], u + STEP * a3[1])
        z += STEP / 6 * (a1[0] + 2 * a2[0] + 2 * a3[0] + a4[0])
        u += STEP / 6 * (a1[1] + 2 * a2[1] + 2 * a3[1] + a4[1])
    return rows


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    seed, count = int(sys.argv[2]) if len(sys.argv) > 2 else 1, int(sys.argv[3]) if len(sys.argv) > 3 else 1
    noise = 0 if seed < 0 else 1  # a negative seed: none
    exact = {name: motion(amp, freq, TRUTH) for name, (amp, freq, _) in EXPERIMENTS.items()}
    for n in range(seed, seed + count):
        random.seed(n)
        place = directory if count == 1 else os.path.join(directory, str(n))
        os.makedirs(place, exist_ok=True)
        for name, rows in exact.items():
            with open(os.path.join(place, name + ".csv"), "w") as f:
                f.write("time,z_mm,acc\n")
                for t, z, acc in rows:
                    z += noise * random.gauss(0, NOISE_Z)
                    acc += noise * random.gauss(0, NOISE_ACC)
                    digits = ".4f" if noise else ".17g"
                    f.write(f"{t + EXPERIMENTS[name][2]:.4f},{z * 1e3:{digits}},{acc:{digits}}\n")


main()
