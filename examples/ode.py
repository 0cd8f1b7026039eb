# SPDX-License-Identifier: MIT
"""Integration of y' = f(t, y) to rounding, for the references of the examples.

Gragg's smoothed midpoint rule with 2, 4, .., 64 parts, extrapolated in h^2 (Bulirsch and Stoer): error O(H^13).
It shares nothing with Costate: other coordinates, other equations, another rule, another language."""


def midpoint(f, t, y, H, n):
    h = H / n
    z0, z1 = y, [a + h * b for a, b in zip(y, f(t, y))]
    for i in range(1, n):
        k = f(t + i * h, z1)
        z0, z1 = z1, [a + 2 * h * b for a, b in zip(z0, k)]
    return [(a + b + h * c) / 2 for a, b, c in zip(z0, z1, f(t + H, z1))]


def step(f, t, y, H, columns=6):
    rows = []
    for j in range(columns):
        row = [midpoint(f, t, y, H, 2 << j)]
        for k in range(j):
            row.append([a + (a - b) / (4 ** (k + 1) - 1) for a, b in zip(row[k], rows[j - 1][k])])
        rows.append(row)
    return rows[-1][-1]


def integrate(f, y, end, H, start=0.0):
    """States at start, start + H, .., end; (end - start)/H is a whole number."""
    out = [list(y)]
    for i in range(round((end - start) / H)):
        out.append(step(f, start + i * H, out[-1], H))
    return out
