/* SPDX-License-Identifier: MIT
 *
 * Frames of the animation. */
#include "report/scene.h"

#include <math.h>

#include "report/encode.h"

enum {
    PER_SECOND = 60,      /* frames per second of simulated time */
    LEAST = 600,          /* minimum for a short run, which will be watched in slow motion */
    MOST_FLOATS = 1200000 /* of a run: 6.4 MB in a page */
};

int cst_film_open(cst_film *film, cst_arena *a, const cst_model *m, const char *path, double start,
                  double end, double step, cst_diag *d)
{
    double row = m->nq + 1, frames = fmax(LEAST, PER_SECOND * (end - start));
    frames = fmax(2, fmin(frames, floor(MOST_FLOATS / row)));
    *film = (cst_film){.m = m,
                       .start = start,
                       .end = end,
                       .interval = fmax(step, (end - start) / (frames - 1))};
    film->row = cst_new(a, float, m->nq + 1);
    film->range = cst_new(a, double, 2 * m->road.n + 1);
    int nreg = 0;
    for (int i = 0; i < m->road.n; i++) {
        film->range[2 * i] = INFINITY, film->range[2 * i + 1] = -INFINITY;
        if (m->road.at[i].height->nreg > nreg) nreg = m->road.at[i].height->nreg;
    }
    film->reg = cst_new(a, double, nreg + 1);
    film->out = cst_writer_grow(a, path, d);
    return film->out != NULL;
}

/* s of each road: x of the wheel's centre */
static void stretch(cst_film *film, const cst_system *s, const double *q)
{
    const cst_model *m = film->m;
    for (int i = 0; i < m->road.n; i++) {
        const cst_slot *c = &m->slot.at[m->shape.at[m->road.at[i].wheel].centre];
        const double *b = q + m->body.at[c->body].q0 + 3 * c->vec;
        double x = 0, *range = film->range + 2 * i;
        for (int k = 0; k < c->n; k++) x += s->P[c->w + k] * b[3 * k];
        range[0] = fmin(range[0], x);
        range[1] = fmax(range[1], x);
    }
}

void cst_film_frame(cst_film *film, const cst_system *s, double t, const double *q)
{
    if (!film->out) return;
    double due = film->start + (double)film->wanted * film->interval;
    if (t < due - 1e-9 * film->interval && t < film->end) return;
    film->wanted = (long)floor((t - film->start) / film->interval + 1e-6) + 1;
    stretch(film, s, q);
    size_t n = (size_t)film->m->nq + 1;
    for (size_t i = 0; i < n; i++)
        cst_float_put((unsigned char *)(film->row + i), (float)(i ? q[i - 1] : t));
    cst_writer_write(film->out, film->row, n * sizeof *film->row);
    film->frames++;
}

int cst_film_close(cst_film *film, cst_diag *d)
{
    return film->out && cst_writer_close(film->out, d);
}
