# SPDX-License-Identifier: MIT
"""Energy of the pendulum over 1000 s with three rules: python3 docs/energy.py BUILD/costate > docs/energy.svg"""
import csv
import math
import subprocess
import sys
import tempfile

RULES = [("variational", "default", "variational, midpoint", "#1b6ca8"),
         ("index3", "default", "index3, newmark", "#c1440e"),
         ("index1", "rk4", "index1, rk4", "#3a7d44")]
W, H, LEFT, TOP, BOTTOM = 720, 320, 70, 16, 46
LOW, HIGH = -8, 0  # decades of |E - E0|, J


def energies(costate, formulation, integrator):
    with tempfile.TemporaryDirectory() as out:
        subprocess.run([costate, "simulate", "examples/pendulum/model.yaml", "--formulation", formulation, "--integrator", integrator,
                        "--end", "1000", "--step", "0.01", "--output", "0.5", "--quiet", "--out", out], check=True)
        with open(out + "/measures.csv") as f:
            rows = list(csv.DictReader(f))
    t = next(iter(rows[0]))
    return [(float(r[t]), float(r["E.total"])) for r in rows]


def x(t):
    return LEFT + (W - LEFT - 150) * t / 1000


def y(decade):
    return TOP + (H - TOP - BOTTOM) * (HIGH - decade) / (HIGH - LOW)


print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {W} {H}" font-family="sans-serif" font-size="12">')
print(f'<rect width="{W}" height="{H}" fill="white"/>')
for decade in range(LOW, HIGH + 1, 2):
    print(f'<path d="M{x(0)} {y(decade):.1f}H{x(1000)}" stroke="#ddd"/>'
          f'<text x="{LEFT - 8}" y="{y(decade) + 4:.1f}" text-anchor="end">1e{decade}</text>')
for t in range(0, 1001, 200):
    print(f'<text x="{x(t):.1f}" y="{H - 26}" text-anchor="middle">{t}</text>')
print(f'<text x="{x(500)}" y="{H - 8}" text-anchor="middle">t, s</text>'
      f'<text transform="translate(14 {H / 2}) rotate(-90)" text-anchor="middle">|E - E(0)|, J</text>')
for i, (formulation, integrator, name, color) in enumerate(RULES):
    series = energies(sys.argv[1], formulation, integrator)
    start = series[0][1]
    worst = [(series[k][0], max(abs(e - start) for _, e in series[k:k + 8])) for k in range(1, len(series) - 8, 8)]
    path = "L".join(f"{x(t):.1f} {y(min(HIGH, max(LOW, math.log10(e + 1e-300)))):.1f}" for t, e in worst)
    print(f'<path d="M{path}" fill="none" stroke="{color}" stroke-width="1.5"/>'
          f'<text x="{x(1000) + 8}" y="{y(math.log10(worst[-1][1])) + 4 + (10 if i == 2 else 0):.1f}" fill="{color}">{name}</text>')
print("</svg>")
