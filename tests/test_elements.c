/* SPDX-License-Identifier: MIT
 *
 * Laws of force and constraint classes, for every class of the tables. */
#include "element_sample.h"

enum { NOUT = NX + NZ + NW + 2 };

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void cross_add(const double *a, const double *b, double *c)
{
    for (int i = 0; i < 3; i++)
        c[i] += a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3];
}

static void fill_nan(int n, double *y)
{
    for (int i = 0; i < n; i++) y[i] = NAN;
}

static void expect_finite(int n, const double *y)
{
    for (int i = 0; i < n; i++) expect_true(isfinite(y[i]));
}

/* ---- forces: partials ---- */

static void map_force(void *ctx, const oracle_complex *v, oracle_complex *out) /* f, z' */
{
    sample *s = ctx;
    oracle_complex mem[NMEM];
    cst_local_oracle e = local_o(s, v, mem);
    s->force_o->force(&e, out, out + s->nx);
}

static void force(sample *s, const double *v, double *out)
{
    cst_local e = local(s, v);
    s->force->force(&e, out, out + s->nx);
}

static void map_force_double(void *ctx, const oracle_complex *v, oracle_complex *out)
{
    sample *s = ctx;
    double u[NV], y[NOUT];
    for (int i = 0; i < s->nv; i++) u[i] = creal(v[i]);
    force(s, u, y);
    for (int i = 0; i < s->nx + s->nz; i++) out[i] = y[i];
}

typedef struct partials {
    double x[NOUT * NX], xd[NOUT * NX], z[NOUT * NZ], p[NOUT * NP];
} partials;

static void law_force_partials(sample *s, expect_random *rng)
{
    (void)rng;
    static double J[NOUT * NV];
    static partials f, g;
    int n = s->nx + s->nz;
    cst_local e = local(s, s->v);
    oracle_jacobian(map_force, s, s->nv, s->v, n, J);
    fill_nan(sizeof f / sizeof(double), &f.x[0]); /* all of it must be written */
    s->force->partials(&e, f.x, f.xd, f.z, f.p);
    expect_block(n, s->nx, f.x, s->nx, J + s->x, s->nv, 1e-12, "f_x");
    expect_block(n, s->nx, f.xd, s->nx, J + s->xd, s->nv, 1e-12, "f_xd");
    expect_block(n, s->nz, f.z, s->nz, J + s->z, s->nv, 1e-12, "f_z");
    expect_block(n, s->np, f.p, s->np, J + s->p, s->nv, 1e-12, "f_p");
    double f_t[NOUT] = {0};
    if (s->force->partial_t == NULL || !s->force->partial_t(&e, f_t)) memset(f_t, 0, sizeof f_t);
    expect_block(n, 1, f_t, 1, J, s->nv, 1e-12, "f_t");

    s->force->partials(&e, g.x, NULL, NULL, NULL);
    s->force->partials(&e, NULL, g.xd, NULL, NULL);
    s->force->partials(&e, NULL, NULL, g.z, NULL);
    s->force->partials(&e, NULL, NULL, NULL, g.p);
    expect_vector(n * s->nx, g.x, f.x, 0, "f_x alone");
    expect_vector(n * s->nx, g.xd, f.xd, 0, "f_xd alone");
    expect_vector(n * s->nz, g.z, f.z, 0, "f_z alone");
    expect_vector(n * s->np, g.p, f.p, 0, "f_p alone");
}

/* w.(f, z'), where a class has products of its own */
static void law_force_transposed(sample *s, expect_random *rng)
{
    static double J[NOUT * NV], sum[NV], y[NV];
    int n = s->nx + s->nz;
    double w[NOUT];
    cst_local e = local(s, s->v);
    if (!s->force->transposed) return;
    for (int i = 0; i < n; i++) w[i] = expect_uniform(rng, -1, 1);
    oracle_jacobian(map_force, s, s->nv, s->v, n, J);
    memset(sum, 0, sizeof sum), fill_nan(NV, y);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < s->nv; j++) sum[j] += w[i] * J[i * s->nv + j];
    memset(y + s->p, 0, sizeof *y * (size_t)s->np); /* numbers are added to */
    s->force->transposed(&e, w, y + s->x, y + s->xd, y + s->z, y + s->p);
    expect_vector(s->nv - 1, y + 1, sum + 1, 1e-12, "transposed");
}

/* the kernels on double and the oracle are the same functions; the oracle agrees with differences
 */
static void law_force_oracle(sample *s, expect_random *rng)
{
    (void)rng;
    static double J[NOUT * NV], D[NOUT * NV];
    int n = s->nx + s->nz;
    double y[NOUT], value[NOUT], d[NOUT], zero[NV] = {0};
    force(s, s->v, y);
    oracle_direction(map_force, s, s->nv, s->v, zero, n, value, d);
    expect_vector(n, y, value, 1e-14, "force");
    oracle_jacobian(map_force, s, s->nv, s->v, n, J);
    oracle_differences(map_force_double, s, s->nv, s->v, n, 1e-6, D);
    expect_block(n, s->nv, D, s->nv, J, s->nv, 1e-7, "central difference");
}

/* ---- forces: mechanics ---- */

static void map_energy(void *ctx, const oracle_complex *v, oracle_complex *V)
{
    sample *s = ctx;
    oracle_complex mem[NMEM];
    cst_local_oracle e = local_o(s, v, mem);
    s->force_o->energy(&e, V);
}

/* at rest f = -V_x; in motion f.x' = -V' - D with D >= 0 for positive numbers */
static void law_energy(sample *s, expect_random *rng)
{
    (void)rng;
    double V, V_o, Vd, f[NOUT], V_v[NV], along[NV] = {0};
    cst_local e = local(s, s->v);
    if (!s->force->energy(&e, &V)) {
        expect_true(V == 0);
        return;
    }
    memcpy(along + s->x, s->v + s->xd, sizeof(double) * s->nx);
    oracle_direction(map_energy, s, s->nv, s->v, along, 1, &V_o, &Vd);
    expect_near(V, V_o, 1e-14);
    force(s, s->v, f);
    expect_true(-dot(s->nx, f, s->v + s->xd) - Vd >= -1e-13 * (1 + fabs(Vd)));

    for (int i = 0; i < s->nx; i++) s->v[s->xd + i] = 0;
    oracle_jacobian(map_energy, s, s->nv, s->v, 1, V_v);
    force(s, s->v, f);
    for (int i = 0; i < s->nx; i++) f[i] = -f[i];
    expect_vector(s->nx, f, V_v + s->x, 1e-13, "-f at rest");
    double V_p[NP];
    s->force->energy_p(&e, V_p);
    expect_vector(s->np, V_p, V_v + s->p, 1e-13, "dV/dp");
}

/* sum f over points and sum x cross f over points and directions: what a rigid motion of all slots
 * feels */
static void resultant(const sample *s, const double *f, double sum[3], double moment[3])
{
    for (int j = 0; j < 3; j++) sum[j] = moment[j] = 0;
    for (int k = 0, i = 0; s->slots[k] != '\0'; i += s->slots[k++] == 's' ? 1 : 3) {
        if (s->slots[k] == 's') continue;
        for (int j = 0; s->slots[k] == 'p' && j < 3; j++) sum[j] += f[i + j];
        cross_add(s->v + s->x + i, f + i, moment);
    }
}

static void law_force_resultant(sample *s, expect_random *rng)
{
    (void)rng;
    if (s->slots == NULL || s->force->external) return;
    double f[NOUT], sum[3], moment[3], size = 1;
    force(s, s->v, f);
    resultant(s, f, sum, moment);
    for (int i = 0; i < s->nx; i++)
        size = fmax(size, fabs(f[i])); /* rounding is relative to the forces that cancel */
    for (int j = 0; j < 3; j++)
        expect_near(sum[j] / size, 0, 1e-13), expect_near(moment[j] / size, 0, 1e-13);
}

typedef struct scene {
    double R[9], shift[3], spin[3], speed[3];
} scene; /* R: columns one after the other */

static void scene_random(expect_random *rng, scene *c)
{
    const double q[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    double xi[6], q1[12];
    random_vector(rng, 6, -2, 2, xi);
    cst_body_rigid.move(q, xi, q1);
    memcpy(c->R, q1 + 3, sizeof c->R);
    random_vector(rng, 3, -1, 1, c->shift);
    random_vector(rng, 3, -1, 1, c->spin);
    random_vector(rng, 3, -1, 1, c->speed);
}

static void turn(const scene *c, const double *a, double *b)
{
    for (int j = 0; j < 3; j++) b[j] = c->R[j] * a[0] + c->R[3 + j] * a[1] + c->R[6 + j] * a[2];
}

/* all slots turned, shifted, and carried along by a rigid motion of the whole scene */
static void scene_move(const scene *c, const sample *s, double *v)
{
    memcpy(v, s->v, sizeof s->v);
    for (int k = 0, i = 0; s->slots[k] != '\0'; i += s->slots[k++] == 's' ? 1 : 3) {
        if (s->slots[k] == 's') continue;
        double *x = v + s->x + i, *xd = v + s->xd + i;
        turn(c, s->v + s->x + i, x);
        turn(c, s->v + s->xd + i, xd);
        for (int j = 0; s->slots[k] == 'p' && j < 3; j++) x[j] += c->shift[j], xd[j] += c->speed[j];
        cross_add(c->spin, x, xd);
    }
}

static void law_force_scene(sample *s, expect_random *rng)
{
    if (s->slots == NULL || s->force->external) return;
    double v[NV], f[NOUT], g[NOUT];
    scene c;
    scene_random(rng, &c);
    scene_move(&c, s, v);
    force(s, v, g);
    force(s, s->v, f);
    for (int k = 0, i = 0; s->slots[k] != '\0'; i += s->slots[k++] == 's' ? 1 : 3) {
        double expected[3];
        if (s->slots[k] == 's') continue;
        turn(&c, f + i, expected);
        expect_vector(3, g + i, expected, 2e-13, "force in the moved scene");
    }
    expect_vector(s->nz, g + s->nx, f + s->nx, 1e-13, "z' in the moved scene");
}

/* points on a grid of 2^-20, shifted by whole numbers near 2^20: all differences are exact, and so
 * must be the result */
static void far_away(const sample *s, double *near, double *far)
{
    memcpy(near, s->v, sizeof s->v);
    for (int i = 0; i < s->nx; i++) near[s->x + i] = round(near[s->x + i] * 0x1p20) * 0x1p-20;
    memcpy(far, near, sizeof s->v);
    for (int k = 0, i = 0; s->slots[k] != '\0'; i += s->slots[k++] == 's' ? 1 : 3)
        for (int j = 0; s->slots[k] == 'p' && j < 3; j++) far[s->x + i + j] += 0x1p20 * (1 - 2 * j);
}

static void law_force_far(sample *s, expect_random *rng)
{
    (void)rng;
    if (s->slots == NULL || s->force->external) return;
    double near[NV], far[NV], f[NOUT], g[NOUT];
    far_away(s, near, far);
    force(s, near, f);
    force(s, far, g);
    expect_vector(s->nx + s->nz, g, f, 1e-15, "force far from the origin");
}

/* coincident points and vanishing directions: no NaN */
static void law_force_degenerate(sample *s, expect_random *rng)
{
    (void)rng;
    if (s->slots == NULL) return;
    static partials f;
    double y[NOUT];
    for (int i = 0; i < s->nx; i++) s->v[s->x + i] = 0;
    cst_local e = local(s, s->v);
    int n = s->nx + s->nz;
    s->force->force(&e, y, y + s->nx);
    s->force->partials(&e, f.x, f.xd, f.z, f.p);
    expect_finite(n, y);
    expect_finite(n * s->nx, f.x), expect_finite(n * s->nx, f.xd), expect_finite(n * s->np, f.p);
}

/* ---- constraints ---- */

static void map_constraint(void *ctx, const oracle_complex *v,
                           oracle_complex *out) /* phi, phi_x^T w, w.phi_t, w.gamma */
{
    sample *s = ctx;
    oracle_complex mem[NMEM], J[NW * NX], r[NW], g[NW], *f = out + s->nphi;
    cst_local_oracle e = local_o(s, v, mem);
    s->con_o->phi(&e, out);
    s->con_o->phi_x(&e, J);
    s->con_o->phi_t(&e, r);
    s->con_o->gamma(&e, g);
    for (int i = 0; i < s->nx + 2; i++) f[i] = 0;
    for (int k = 0; k < s->nphi; k++) {
        for (int i = 0; i < s->nx; i++) f[i] += s->w[k] * J[k * s->nx + i];
        f[s->nx] += s->w[k] * r[k];
        f[s->nx + 1] += s->w[k] * g[k];
    }
}

static void map_rate(void *ctx, const oracle_complex *v, oracle_complex *out) /* phi_x x' + phi_t */
{
    sample *s = ctx;
    oracle_complex mem[NMEM], J[NW * NX];
    cst_local_oracle e = local_o(s, v, mem);
    s->con_o->phi_x(&e, J);
    s->con_o->phi_t(&e, out);
    for (int k = 0; k < s->nphi; k++)
        for (int i = 0; i < s->nx; i++) out[k] += J[k * s->nx + i] * v[s->xd + i];
}

static void law_constraint_partials(sample *s, expect_random *rng)
{
    (void)rng;
    static double D[NOUT * NV], zero[NOUT * NX], J[NW * NX], P[NW * NP], H[NX * NX], F[NX * NP];
    double r_x[NX], r_p[NP], g_x[NX], g_xd[NX], g_p[NP];
    int nphi = s->nphi, nx = s->nx, np = s->np, nv = s->nv;
    cst_local e = local(s, s->v);
    oracle_jacobian(map_constraint, s, nv, s->v, nphi + nx + 2, D);
    const double *D_f = D + nphi * nv, *D_r = D_f + nx * nv, *D_g = D_r + nv;
    fill_nan(NW * NX, J), fill_nan(NX * NX, H), fill_nan(NW * NP, P), fill_nan(NX * NP, F);
    s->con->phi_x(&e, J);
    s->con->phi_p(&e, P);
    s->con->hess(&e, s->w, H);
    s->con->force_p(&e, s->w, F);
    s->con->phi_t_lin(&e, s->w, r_x, r_p);
    s->con->gamma_lin(&e, s->w, g_x, g_xd, g_p);
    expect_block(nphi, nx, J, nx, D + s->x, nv, 1e-12, "phi_x");
    expect_block(nphi, np, P, np, D + s->p, nv, 1e-12, "phi_p");
    expect_block(nx, nx, H, nx, D_f + s->x, nv, 1e-12, "hess");
    for (int i = 0; s->con->scalar && i < nx; i++)
        for (int j = 0; j < nx; j++)
            expect_true(H[i * nx + j] == (i % 3 == j % 3 ? H[(i - i % 3) * nx + j - j % 3] : 0));
    expect_block(nx, np, F, np, D_f + s->p, nv, 1e-12, "force_p");
    expect_block(1, nx, r_x, nx, D_r + s->x, nv, 1e-12, "phi_t by x");
    expect_block(1, np, r_p, np, D_r + s->p, nv, 1e-12, "phi_t by p");
    expect_block(1, nx, g_x, nx, D_g + s->x, nv, 1e-12, "gamma by x");
    expect_block(1, nx, g_xd, nx, D_g + s->xd, nv, 1e-12, "gamma by x'");
    expect_block(1, np, g_p, np, D_g + s->p, nv, 1e-12, "gamma by p");
    expect_block(nphi + nx + 1, nx, D + s->xd, nv, zero, nx, 0, "phi, phi_x, phi_t by x'");
    for (int i = 0; i < nx; i++)
        for (int j = 0; j < i; j++) expect_near(H[i * nx + j], H[j * nx + i], 1e-14);

    double alone[NP], phi[2][NW], f[2][NX] = {0};
    for (int k = 0; k < nphi; k++)
        for (int i = 0; i < nx; i++) f[0][i] += s->w[k] * J[k * nx + i];
    s->con->phi(&e, phi[0]);
    if (s->con->react) s->con->react(&e, s->w, phi[1], f[1]);
    if (s->con->react)
        expect_vector(nphi, phi[1], phi[0], 0, "phi beside phi_x^T w"),
            expect_vector(nx, f[1], f[0], 1e-15, "phi_x^T w");
    s->con->phi_t_lin(&e, s->w, alone, NULL), expect_vector(nx, alone, r_x, 0, "phi_t by x alone");
    s->con->phi_t_lin(&e, s->w, NULL, alone), expect_vector(np, alone, r_p, 0, "phi_t by p alone");
    s->con->gamma_lin(&e, s->w, alone, NULL, NULL),
        expect_vector(nx, alone, g_x, 0, "gamma by x alone");
    s->con->gamma_lin(&e, s->w, NULL, alone, NULL),
        expect_vector(nx, alone, g_xd, 0, "gamma by x' alone");
    s->con->gamma_lin(&e, s->w, NULL, NULL, alone),
        expect_vector(np, alone, g_p, 0, "gamma by p alone");
}

typedef struct weighted {
    sample *s;
    double k[3], d[NX], xa[NX];
} weighted;

/* d.phi_x + k0 phi + k1 (phi_x.x' + phi_t) + k2 (phi_x.xa + gamma) */
static void map_weighted(void *ctx, const oracle_complex *v, oracle_complex *out)
{
    weighted *w = ctx;
    sample *s = w->s;
    oracle_complex mem[NMEM], J[NX], phi, phi_t, gamma;
    cst_local_oracle e = local_o(s, v, mem);
    s->con_o->phi(&e, &phi), s->con_o->phi_x(&e, J), s->con_o->phi_t(&e, &phi_t),
        s->con_o->gamma(&e, &gamma);
    out[0] = w->k[0] * phi + w->k[1] * phi_t + w->k[2] * gamma;
    for (int i = 0; i < s->nx; i++)
        out[0] += J[i] * (w->d[i] + w->k[1] * v[s->xd + i] + w->k[2] * w->xa[i]);
}

/* Classes that know all bars at once, with every set of weights that are zero */
static void law_constraint_bars(sample *s, expect_random *rng)
{
    if (!s->con->bars) return;
    weighted w = {.s = s};
    cst_local e = local(s, s->v);
    for (int i = 0; i < s->nx; i++)
        w.d[i] = expect_uniform(rng, -1, 1), w.xa[i] = expect_uniform(rng, -1, 1);
    for (int set = 0; set < 8; set++) {
        double D[NV], J[NX], phi_x[NX], x[NX], xd[NX] = {0}, p[NP], before[NP];
        for (int i = 0; i < 3; i++) w.k[i] = set >> i & 1 ? expect_uniform(rng, -1, 1) : 0;
        for (int i = 0; i < s->np; i++) p[i] = before[i] = expect_uniform(rng, -1, 1);
        oracle_jacobian(map_weighted, &w, s->nv, s->v, 1, D);
        s->con->bars(&e, w.k, w.d, w.xa, J, x, xd, p);
        s->con->phi_x(&e, phi_x);
        for (int i = 0; i < s->np; i++) p[i] -= before[i];
        expect_vector(s->nx, J, phi_x, 0, "phi_x beside the bars");
        expect_block(1, s->nx, x, s->nx, D + s->x, s->nv, 1e-12, "bar of x");
        expect_block(1, s->nx, xd, s->nx, D + s->xd, s->nv, 1e-12, "bar of x'");
        expect_block(1, s->np, p, s->np, D + s->p, s->nv, 1e-12, "bar of p");
    }
}

static void evaluate(sample *s, const double *v, double *phi, double *J, double *rate,
                     double *gamma)
{
    cst_local e = local(s, v);
    s->con->phi(&e, phi);
    s->con->phi_x(&e, J);
    s->con->phi_t(&e, rate);
    s->con->gamma(&e, gamma);
    for (int k = 0; k < s->nphi; k++) rate[k] += dot(s->nx, J + k * s->nx, v + s->xd);
}

/* along a path x(t), s(t): phi' = phi_x x' + phi_t,  phi'' = phi_x x'' + gamma */
static void law_constraint_path(sample *s, expect_random *rng)
{
    (void)rng;
    double path[NV] = {0}, phi[NW], J[NW * NX], rate[NW], gamma[NW], value[NOUT], d[NOUT];
    path[0] = 1;
    for (int i = 0; i < s->nx; i++) path[s->x + i] = s->v[s->xd + i], path[s->xd + i] = s->a[i];
    for (int i = 0; i < s->own; i += 3) /* s, s', s'' */
        path[s->p + i] = s->v[s->p + i + 1], path[s->p + i + 1] = s->v[s->p + i + 2];
    evaluate(s, s->v, phi, J, rate, gamma);
    oracle_direction(map_constraint, s, s->nv, s->v, path, s->nphi, value, d);
    expect_vector(s->nphi, phi, value, 1e-14, "phi");
    expect_vector(s->nphi, rate, d, 1e-13, "phi'");
    oracle_direction(map_rate, s, s->nv, s->v, path, s->nphi, value, d);
    for (int k = 0; k < s->nphi; k++) gamma[k] += dot(s->nx, J + k * s->nx, s->a);
    expect_vector(s->nphi, gamma, d, 1e-13, "phi''");
}

/* what calls itself linear has nothing but phi and a constant phi_x */
static void law_constraint_linear(sample *s, expect_random *rng)
{
    if (!s->con->linear) return;
    static double D[NOUT * NV], zero[NOUT * NV];
    double v[NV], phi[NW], J[2][NW * NX], rate[NW], gamma[NW];
    oracle_jacobian(map_constraint, s, s->nv, s->v, s->nphi + s->nx + 2, D);
    expect_vector((s->nx + 2) * s->nv, D + s->nphi * s->nv, zero, 0, "phi_x, phi_t, gamma");
    expect_block(s->nphi, s->np, D + s->p, s->nv, zero, s->nv, 0, "phi by p");
    random_vector(rng, s->nv, -1, 1, v);
    evaluate(s, s->v, phi, J[0], rate, gamma);
    evaluate(s, v, phi, J[1], rate, gamma);
    expect_vector(s->nphi * s->nx, J[1], J[0], 0, "phi_x");
    expect_vector(s->nphi, gamma, zero, 0, "gamma");
    for (int k = 0; k < s->nphi; k++)
        expect_near(rate[k], dot(s->nx, J[1] + k * s->nx, v + s->xd), 0);
}

/* one row is invariant in a moved scene, three rows turn with it; then the forces phi_x^T w have no
 * resultant, but for the moment phi x w while the three rows are not yet satisfied */
static void law_constraint_scene(sample *s, expect_random *rng)
{
    if (s->slots == NULL) return;
    expect_true(s->nphi == 1 || s->nphi == 3);
    double v[NV], phi[3], J[3 * NX], rate[3], gamma[3], phi2[3], J2[3 * NX], rate2[3], turned[3],
        rate_turned[3];
    scene c;
    scene_random(rng, &c);
    scene_move(&c, s, v);
    evaluate(s, s->v, phi, J, rate, gamma);
    evaluate(s, v, phi2, J2, rate2, gamma);
    double f[NX], sum[3], moment[3], expected[3] = {0};
    for (int i = 0; i < s->nx; i++) {
        f[i] = 0;
        for (int k = 0; k < s->nphi; k++) f[i] += J[k * s->nx + i] * s->w[k];
    }
    resultant(s, f, sum, moment);
    memcpy(turned, phi, sizeof phi), memcpy(rate_turned, rate, sizeof rate);
    if (s->nphi == 3) {
        turn(&c, phi, turned), turn(&c, rate, rate_turned);
        cross_add(c.spin, turned, rate_turned);
        cross_add(phi, s->w, expected);
    }
    expect_vector(s->nphi, phi2, turned, 1e-13, "phi in the moved scene");
    expect_vector(s->nphi, rate2, rate_turned, 1e-13, "phi' in the moved scene");
    for (int j = 0; j < 3; j++)
        expect_near(sum[j], 0, 1e-14), expect_near(moment[j], expected[j], 1e-14);
}

static void law_constraint_far(sample *s, expect_random *rng)
{
    (void)rng;
    if (s->slots == NULL) return;
    double near[NV], far[NV], phi[2][NW], J[2][NW * NX], rate[2][NW], gamma[2][NW];
    far_away(s, near, far);
    evaluate(s, near, phi[0], J[0], rate[0], gamma[0]);
    evaluate(s, far, phi[1], J[1], rate[1], gamma[1]);
    expect_vector(s->nphi, phi[1], phi[0], 1e-15, "phi far from the origin");
    expect_vector(s->nphi * s->nx, J[1], J[0], 1e-15, "phi_x far from the origin");
    expect_vector(s->nphi, gamma[1], gamma[0], 1e-15, "gamma far from the origin");
}

#define TEST(name, each, law)                                                                      \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        each(law);                                                                                 \
    }
TEST(force_partials, for_each_force, law_force_partials)
TEST(force_transposed, for_each_force, law_force_transposed)
TEST(force_oracle, for_each_force, law_force_oracle)
TEST(force_energy, for_each_force, law_energy)
TEST(force_resultant, for_each_force, law_force_resultant)
TEST(force_scene, for_each_force, law_force_scene)
TEST(force_far, for_each_force, law_force_far)
TEST(force_degenerate, for_each_force, law_force_degenerate)
TEST(constraint_partials, for_each_constraint, law_constraint_partials)
TEST(constraint_bars, for_each_constraint, law_constraint_bars)
TEST(constraint_path, for_each_constraint, law_constraint_path)
TEST(constraint_linear, for_each_constraint, law_constraint_linear)
TEST(constraint_scene, for_each_constraint, law_constraint_scene)
TEST(constraint_far, for_each_constraint, law_constraint_far)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_partials),      cmocka_unit_test(force_transposed),
        cmocka_unit_test(force_oracle),        cmocka_unit_test(force_energy),
        cmocka_unit_test(force_resultant),     cmocka_unit_test(force_scene),
        cmocka_unit_test(force_far),           cmocka_unit_test(force_degenerate),
        cmocka_unit_test(constraint_partials), cmocka_unit_test(constraint_bars),
        cmocka_unit_test(constraint_path),     cmocka_unit_test(constraint_linear),
        cmocka_unit_test(constraint_scene),    cmocka_unit_test(constraint_far),
    };
    return cmocka_run_group_tests_name("elements", tests, NULL, NULL);
}
