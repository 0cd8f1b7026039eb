#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Draws docs/five-bar.svg from the numbers that the program computes.
#     docs/five-bar.py [PROGRAM]
import csv, json, math, os, subprocess, sys, tempfile

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
program = sys.argv[1] if len(sys.argv) > 1 else os.path.join(root, "build/costate")
model = os.path.join(root, "examples/five-bar/model.yaml")
point = {"A": (0, 0), "P1": (-1, -1), "P2": (0.5, -2), "P3": (2, -1), "B": (1, 0)}  # of the model

with tempfile.TemporaryDirectory() as out:
    run = lambda *a: subprocess.run([program, *a, "--out", out, "--json"], check=True, capture_output=True).stdout
    result = json.loads(run("gradient", model))
    run("simulate", model, "--output", "0.02")
    path = [(float(r["r2.x"]), float(r["r2.y"])) for r in csv.DictReader(open(out + "/measures.csv"))]
    table = {r["number"]: r for r in csv.DictReader(open(out + "/gradient.csv"))}
psi, slope = result["objectives"]["psi"], result["gradient"]["psi"]

SCALE, X0, Y0, PER = 98, 248, 76, 0.23  # px per m, origin, m of arrow per unit of slope
px = lambda p: (X0 + SCALE * p[0], Y0 - SCALE * p[1])
out = []
put = lambda text: out.append("  " + text)
line = lambda a, b, cls: put(f'<line class="{cls}" x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"/>')


def spring(a, b):
    (x0, y0), (x1, y1) = px(a), px(b)
    length = math.hypot(x1 - x0, y1 - y0)
    c, s = (x1 - x0) / length, (y1 - y0) / length
    n, lead, w = 14, 0.2 * length, 6
    xy = [(0, 0), (lead, 0)]
    xy += [(lead + (length - 2 * lead) * (k + 0.5) / n, w if k % 2 else -w) for k in range(n)]
    xy += [(length - lead, 0), (length, 0)]
    put('<polyline class="spring" points="' + " ".join(f"{x0 + c*u - s*v:.1f},{y0 + s*u + c*v:.1f}" for u, v in xy) + '"/>')


def ground(p):
    x, y = px(p)
    put(f'<path class="ground" d="M{x-13:.1f},{y-17:.1f} h26 M{x:.1f},{y:.1f} l-9,-17 h18 z"/>')
    for k in range(4): put(f'<path class="ground" d="M{x-9+7*k:.1f},{y-17:.1f} l5,-6"/>')


def arrow(name):
    g = (-slope[name + ".x"], -slope[name + ".y"])
    a, size = px(point[name]), math.hypot(*g)
    b = px((point[name][0] + PER * g[0], point[name][1] + PER * g[1]))
    c, s = g[0] / size, -g[1] / size
    neck = (b[0] - 9 * c, b[1] - 9 * s)
    line(a, neck, "arrow")
    put(f'<polygon class="head" points="{b[0]:.1f},{b[1]:.1f} {neck[0]-4.5*s:.1f},{neck[1]+4.5*c:.1f} '
        f'{neck[0]+4.5*s:.1f},{neck[1]-4.5*c:.1f}"/>')


put('<path class="path" d="M' + " L".join(f"{x:.1f},{y:.1f}" for x, y in map(px, path)) + '"/>')
spring(point["P1"], point["B"])
spring(point["P2"], point["B"])
for a, b in (("A", "P1"), ("P1", "P2"), ("P2", "P3"), ("P3", "B")): line(px(point[a]), px(point[b]), "bar")
ground(point["A"])
ground(point["B"])
for name in point: arrow(name)
for name in point: put('<circle class="joint" cx="%.1f" cy="%.1f" r="5"/>' % px(point[name]))
place = {"A": (-24, 5), "P1": (-30, -9), "P2": (-42, 12), "P3": (13, 6), "B": (12, -4)}
for name, (dx, dy) in place.items():
    x, y = px(point[name])
    put(f'<text class="name" x="{x+dx:.1f}" y="{y+dy:.1f}">{name}</text>')

put('<text class="head2" x="36" y="378">Moving a hardpoint along its arrow reduces psi; the length is the slope.</text>')
put(f'<text class="title" x="530" y="42">psi = &#8747; |P2 &#8722; P2 drawn|&#178; dt = {psi:.4f} m&#178;s</text>')
put('<text class="head2" x="530" y="64">the ten largest influences: slope times size of the number</text>')
rank = sorted((r for r in table.values() if r["effect"] == "exact"), key=lambda r: -abs(float(r["influence"])))[:10]
unit = 190 / abs(float(rank[0]["influence"]))
for k, r in enumerate(rank):
    y, v = 88 + 28 * k, float(r["influence"])
    put(f'<text class="row" x="600" y="{y+13}" text-anchor="end">{r["number"]}</text>')
    put(f'<rect class="{"up" if v > 0 else "down"}" x="612" y="{y}" width="{max(2, unit*abs(v)):.1f}" height="17" rx="2"/>')
    put(f'<text class="row" x="{620 + unit*abs(v):.1f}" y="{y+13}">{"+" if v > 0 else "&#8722;"}{abs(v):.2f}</text>')
put('<text class="head2" x="530" y="378">one simulation, one backward sweep, ' + str(len(table)) + ' numbers</text>')

style = """
    .card{fill:#fff;stroke:#d0d7de} .title{fill:#1f2328;font-weight:600;font-size:14px} .head2{fill:#59636e;font-size:12.5px}
    .name{fill:#1f2328;font-weight:600;font-size:14px} .row{fill:#1f2328;font-size:13px} .bar{stroke:#57606a;stroke-width:7;stroke-linecap:round}
    .joint{fill:#fff;stroke:#1f2328;stroke-width:2} .spring{fill:none;stroke:#8c959f;stroke-width:1.6;stroke-linejoin:round}
    .ground{fill:none;stroke:#8c959f;stroke-width:1.6} .path{fill:none;stroke:#bf8700;stroke-width:1;opacity:.55}
    .arrow{stroke:#cf222e;stroke-width:3;stroke-linecap:round} .head{fill:#cf222e} .up{fill:#cf222e} .down{fill:#0969da}
    text{font-family:-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
    @media (prefers-color-scheme: dark){
    .card{fill:#0d1117;stroke:#30363d} .title,.name,.row{fill:#e6edf3} .head2{fill:#9198a1} .bar{stroke:#9198a1}
    .joint{fill:#0d1117;stroke:#e6edf3} .spring,.ground{stroke:#6e7681} .path{stroke:#d29922}
    .arrow{stroke:#ff7b72} .head,.up{fill:#ff7b72} .down{fill:#58a6ff} }
"""
with open(os.path.join(root, "docs/five-bar.svg"), "w") as f:
    f.write('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 400" role="img" aria-labelledby="t">\n'
            '  <title id="t">The five-bar mechanism: how each hardpoint and number changes the objective</title>\n'
            f"  <style>{style}  </style>\n"
            '  <rect class="card" x="0.5" y="0.5" width="879" height="399" rx="8"/>\n' + "\n".join(out) + "\n</svg>\n")
