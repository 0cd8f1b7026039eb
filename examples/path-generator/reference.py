#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Independent values for the path generator: closed-form four-bar kinematics (second derivatives by jets), inverse dynamics
# of the links, p-norms; and at the optimum, given as arguments A.x B.x B.y B0.x P.x P.y, the optimality conditions with
# gradients by differences.
import sys

import numpy as np

W, RHO, G, A_E, B_E, TILT = 2*np.pi, 2.0, 9.81, 0.55, 0.25, np.radians(20)
STEPS = 200

class Jet:  # value, first and second time derivative
    def __init__(s, v, d=0.0, e=0.0): s.v, s.d, s.e = v, d, e
    def __add__(s, o): o = J(o); return Jet(s.v+o.v, s.d+o.d, s.e+o.e)
    __radd__ = __add__
    def __neg__(s): return Jet(-s.v, -s.d, -s.e)
    def __sub__(s, o): return s+(-J(o))
    def __rsub__(s, o): return J(o)-s
    def __mul__(s, o): o = J(o); return Jet(s.v*o.v, s.d*o.v+s.v*o.d, s.e*o.v+2*s.d*o.d+s.v*o.e)
    __rmul__ = __mul__
    def f(s, f0, f1, f2): return Jet(f0, f1*s.d, f2*s.d**2+f1*s.e)
    def sqrt(s): r = np.sqrt(s.v); return s.f(r, 0.5/r, -0.25/r**3)
    def inv(s): return s.f(1/s.v, -1/s.v**2, 2/s.v**3)
def J(x): return x if isinstance(x, Jet) else Jet(x)

def evaluate(x):
    ax, bx, by, b0x, px, py = x
    A0, A, B, B0, P = (np.array(p, float) for p in ([0, 0], [ax, 0], [bx, by], [b0x, 0], [px, py]))
    r, l, s = np.linalg.norm(A-A0), np.linalg.norm(B-A), np.linalg.norm(B0-B)
    t = np.linspace(0, 1, STEPS+1)
    th = W*t
    Ax, Ay = Jet(r*np.cos(th), -r*W*np.sin(th), -r*W*W*np.cos(th)), Jet(r*np.sin(th), r*W*np.cos(th), -r*W*W*np.sin(th))
    # B: intersection of two circles, on the side where it is drawn
    dx, dy = B0[0]-Ax, B0[1]-Ay
    d2 = dx*dx+dy*dy
    k = 0.5*(1+(l*l-s*s)*d2.inv())
    h = (l*l*d2.inv()-k*k).sqrt()
    u = B-A
    side = np.sign((B0-A)[0]*u[1]-(B0-A)[1]*u[0])
    Bx, By = Ax+k*dx-side*h*dy, Ay+k*dy+side*h*dx
    # unit vector along the coupler, tracer
    ex, ey = (Bx-Ax)*(1/l), (By-Ay)*(1/l)
    c, n = np.dot(P-A, u)/l, (u[0]*(P-A)[1]-u[1]*(P-A)[0])/l
    Px, Py = Ax+c*ex-n*ey, Ay+c*ey+n*ex
    wx = 0.8+A_E*np.cos(th)*np.cos(TILT)-B_E*np.sin(th)*np.sin(TILT)
    wy = 1.2+A_E*np.cos(th)*np.sin(TILT)+B_E*np.sin(th)*np.cos(TILT)
    trap = lambda g: (g[:-1]+g[1:]).sum()/(2*STEPS)
    error = trap((Px.v-wx)**2+(Py.v-wy)**2)
    cmu = ((Ax.v-Bx.v)*(B0[0]-Bx.v)+(Ay.v-By.v)*(B0[1]-By.v))/(l*s)
    # inverse dynamics: forces in B and B0 from moments of coupler about A and of rocker about B0
    mc, mr = RHO*l, RHO*s
    cross = lambda a, b: a[0]*b[1]-a[1]*b[0]
    acc = lambda X, Y: np.array([X.e, Y.e])
    pos = lambda X, Y: np.array([X.v, Y.v])
    pA, pB, p0 = pos(Ax, Ay), pos(Bx, By), B0[:, None]+np.zeros((2, STEPS+1))
    aA, aB = acc(Ax, Ay), acc(Bx, By)
    g = np.array([[0], [-G]])+np.zeros_like(pA)
    def alpha(p, q, ap, aq): d = q-p; return cross(d, aq-ap)/(d*d).sum(0)
    gc, ac, wc = (pA+pB)/2, (aA+aB)/2, alpha(pA, pB, aA, aB)
    gr, ar, wr = (pB+p0)/2, aB/2, alpha(p0, pB, 0*aB, aB)
    # F: force of rocker on coupler at B.  (B-A) x F = I alpha + m (gc-A) x (ac-g);  rocker: (B-B0) x (-F) = ...
    rc = mc*l*l/12*wc+mc*cross(gc-pA, ac-g)
    rr = mr*s*s/12*wr+mr*cross(gr-p0, ar-g)
    a, b = pB-pA, pB-p0
    det = a[0]*(-b[1])-(-a[1])*b[0]
    # a0 Fy - a1 Fx = rc ; -(b0 Fy - b1 Fx) = rr
    Fx = (-b[0]*rc-a[0]*rr)/(-a[1]*-b[0]-a[0]*b[1])
    Fy = (rc+a[1]*Fx)/np.where(np.abs(a[0]) > 1e-12, a[0], 1)
    F = np.array([Fx, Fy])
    R0 = mr*(ar-g)+F  # ground on rocker: m a = R0 - F + m g
    load = np.hypot(*R0)
    norm = lambda z: (trap(np.abs(z/np.abs(z).max())**30))**(1/30)*np.abs(z).max()
    return error, norm(cmu), norm(load), np.abs(cmu).max(), load.max()

start = [0.4, 1.5, 1.4, 1.9, 0.6, 1.5]
def grad(i):
    def df(x):
        out = np.zeros(6)
        for k in range(6):  # central differences, extrapolated once
            def d(h): e = np.zeros(6); e[k] = h; return (evaluate(x+e)[i]-evaluate(x-e)[i])/(2*h)
            out[k] = (4*d(5e-5)-d(1e-4))/3
        return out
    return df

if __name__ == "__main__":
    print("start", *("%.10g" % v for v in evaluate(np.array(start))))
    x = np.array([float(v) for v in sys.argv[1:7]] or [0.1941165, 1.7423364, 0.5, 1.7057445, 0.9611324, 1.2053042])
    print("best ", *("%.10g" % v for v in evaluate(x)))
    # free variables: all but B.y, which is at its lower bound; active: bend and force
    free = [0, 1, 3, 4, 5]
    df, dc = grad(0)(x), np.array([grad(1)(x), grad(2)(x)]).T
    mu, *_ = np.linalg.lstsq(dc[free], df[free], rcond=None)
    r = df-dc @ mu
    print("multipliers", *mu, " gradient of the Lagrangian", *("%.2e" % v for v in r))
