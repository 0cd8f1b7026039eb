/* SPDX-License-Identifier: MIT
 *
 * Costate in a program of one's own: the free lengths of two springs are chosen so that the
 * five-bar stays where it was drawn. psi and its gradient come from the library, one simulation and
 * one adjoint sweep for each trial; the minimisation is a plain BFGS iteration.
 *
 *     embed MODEL */
#include <costate.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2 };

typedef struct problem {
    cst_run *run;
    int number[N];  /* which numbers of the model are free */
    double *values; /* of all numbers */
    cst_diag diag;
    int calls;
} problem;

/* psi(x) and g = dpsi/dx; infinite where the simulation fails, so that a line search steps back */
static double evaluate(problem *p, const double x[N], double g[N])
{
    for (int i = 0; i < N; i++) p->values[p->number[i]] = x[i];
    p->diag = (cst_diag){0};
    p->calls++;
    const cst_gradient *r;
    r = cst_run_gradient(p->run, p->values, CST_ADJOINT, N, p->number, &p->diag);
    for (int i = 0; r && i < N; i++) {
        g[i] = r->slope[i];                                /* row 0: the first objective */
        if (r->effect[i] > CST_NO_EFFECT) return INFINITY; /* cst_effect_text says why */
    }
    return r ? r->value[0] : INFINITY;
}

static double dot(const double a[N], const double b[N]) { return a[0] * b[0] + a[1] * b[1]; }

/* The inverse Hessian learns from one step: H += (1 + y.Hy/s.y) ss^T/s.y - (Hy s^T + s (Hy)^T)/s.y
 */
static void update(double H[N][N], const double s[N], const double y[N])
{
    double sy = dot(s, y), Hy[N] = {dot(H[0], y), dot(H[1], y)};
    if (sy <= 0) return; /* not convex between the two points */
    double c = (1 + dot(y, Hy) / sy) / sy;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) H[i][j] += c * s[i] * s[j] - (Hy[i] * s[j] + s[i] * Hy[j]) / sy;
}

static double minimise(problem *p, double x[N], double enough)
{
    double g[N], H[N][N] = {{0.01, 0}, {0, 0.01}}, psi = evaluate(p, x, g);
    if (isinf(psi)) fputs(p->diag.text, stderr);
    for (int k = 0; k < 100 && psi > enough && !isinf(psi); k++) {
        double d[N] = {-dot(H[0], g), -dot(H[1], g)}, s[N], y[N], xn[N], gn[N], trial = INFINITY;
        /* until psi falls by a part of what the slope promises */
        for (double length = 1; length > 1e-10; length /= 2) {
            for (int i = 0; i < N; i++) xn[i] = x[i] + (s[i] = length * d[i]);
            trial = evaluate(p, xn, gn);
            if (trial <= psi + 1e-4 * length * dot(g, d)) break;
        }
        if (!(trial < psi)) break;
        for (int i = 0; i < N; i++) y[i] = gn[i] - g[i];
        update(H, s, y);
        memcpy(x, xn, sizeof xn);
        memcpy(g, gn, sizeof gn);
        psi = trial;
        printf("%3d  psi = %-12.4g L01 = %.9f  L02 = %.9f\n", k + 1, psi, x[0], x[1]);
    }
    return psi;
}

int main(int argc, char **argv)
{
    static problem p;
    cst_options options = cst_options_default();
    cst_model *m = cst_model_load(argc > 1 ? argv[1] : "../five-bar/model.yaml", 0, NULL, &p.diag);
    if (m) p.run = cst_run_new(m, &options, &p.diag);
    if (!p.run) return fputs(p.diag.text, stderr), 1;
    static const char *const name[N] = {"L01", "L02"};
    double x[N];
    p.values = malloc(sizeof *p.values * (size_t)cst_model_number_count(m));
    if (!p.values || cst_model_objective_count(m) < 1) return 1;
    for (int i = 0; i < cst_model_number_count(m); i++) p.values[i] = cst_model_number_value(m, i);
    for (int i = 0; i < N; i++) {
        p.number[i] = cst_model_number_find(m, name[i]);
        if (p.number[i] < 0) return fprintf(stderr, "the model has no number %s\n", name[i]), 1;
        x[i] = p.values[p.number[i]];
    }
    double psi = minimise(&p, x, 1e-16);
    printf("psi = %.3g after %d gradients\nL01 = %.12f m\nL02 = %.12f m\n", psi, p.calls, x[0],
           x[1]);
    free(p.values);
    cst_run_free(p.run);
    cst_model_free(m);
    return psi < 1e-10 ? 0 : 1;
}
