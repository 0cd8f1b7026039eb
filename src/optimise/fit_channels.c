/* SPDX-License-Identifier: MIT
 *
 * A sensor with the wrong sign, gain or zero cannot be explained by numbers of the model: the
 * search drives them to their bounds. The straight line measured = gain model + zero through all
 * values of a channel tells such a channel from a model that is wrong: |correlation| is near 1.
 * After a search that has bent the model to the signal it need not be; then the start decides. */
#include "optimise/fit_channels.h"

#include <math.h>

#define AWAY 5     /* times its noise: a channel that does not fit; */
#define APART 0.3  /* times the spread of the signal, where no noise is given */
#define ALIKE 0.9  /* correlation of signals that differ by a straight line */
#define HALVES 0.5 /* rms of what the line leaves, over that before: it explains the misfit */

typedef struct line {
    int n;
    double rms, largest, spread; /* of model - measured; of measured */
    double correlation, gain, zero;
    double left; /* rms of measured - gain model - zero */
} line;

static line regress(const cst_experiment *e, int k, const double *r)
{
    line l = {0};
    const double sigma = e->channel[k].sigma;
    double x0 = 0, y0 = 0, xx = 0, xy = 0, yy = 0;
    for (int i = 0; i < e->n; i++) {
        if (e->of[i] != k) continue;
        double off = sigma * r[e->first + i];
        l.n++, l.rms += off * off, l.largest = fmax(l.largest, fabs(off));
        x0 += e->measured[i] + off, y0 += e->measured[i];
    }
    l.rms = sqrt(l.rms / l.n), x0 /= l.n, y0 /= l.n;
    for (int i = 0; i < e->n; i++) {
        if (e->of[i] != k) continue;
        double x = e->measured[i] + sigma * r[e->first + i] - x0, y = e->measured[i] - y0;
        xx += x * x, xy += x * y, yy += y * y;
    }
    int constant = xx <= 1e-24 * l.n * x0 * x0 || yy <= 1e-24 * l.n * y0 * y0;
    l.correlation = constant ? NAN : xy / sqrt(xx * yy), l.gain = constant ? NAN : xy / xx;
    l.zero = y0 - l.gain * x0, l.spread = sqrt(yy / l.n);
    l.left = constant ? l.rms : sqrt(fmax(yy - xy * xy / xx, 0) / l.n);
    return l;
}

/* A factor between units that are often confused */
static int is_unit(double gain)
{
    static const double factor[] = {1e3, 1e6, 180 / 3.14159265358979, 9.81, 3.6, 10, 100};
    int yes = 0;
    for (unsigned i = 0; i < sizeof factor / sizeof *factor; i++)
        yes |= fabs(gain / factor[i] - 1) < 0.05 || fabs(gain * factor[i] - 1) < 0.05;
    return yes;
}

static const char *advise(cst_arena *a, const cst_signal *c, const line *first, const line *last)
{
    double away = last->rms / (c->noise_known ? c->sigma : last->spread);
    if (!(away > (c->noise_known ? AWAY : APART))) return NULL;
    const char *unit = c->noise_known ? "times its noise" : "times the spread of its signal", *what;
    /* a search that has nothing to do with the sensor moves the gain, but hardly by 5, nor its sign
     */
    int early = first->correlation < -ALIKE ||
                (fabs(first->correlation) > 0.98 && (first->gain > 5 || first->gain < 0.2));
    int late = fabs(last->correlation) > ALIKE && last->left < HALVES * last->rms;
    if (!early && !late) return NULL;
    const line *l = late && !(first->correlation < -ALIKE) ? last : first;
    double tilt = fabs(l->gain - 1) * l->spread, level = fabs(l->zero);
    if (l->correlation < 0)
        what = "sign?";
    else if (is_unit(l->gain))
        what = cst_arena_printf(a, "unit? (the signal is %.3g times the model)", l->gain);
    else if (tilt < 0.1 * level)
        what = cst_arena_printf(a, "offset? (the signal is the model %+.3g)", l->zero);
    else
        what = cst_arena_printf(a, "scale? (the signal is %.3g times the model %+.3g)", l->gain,
                                l->zero);
    return cst_arena_printf(a, "%s is %.3g %s away and correlates with the model%s at %.3g: %s",
                            c->name, away, unit, l == first ? " of the start" : "", l->correlation,
                            what);
}

cst_fit_channel *cst_fit_channels(cst_arena *a, const cst_fit *f, const double *first,
                                  const double *last, int *n)
{
    int most = 0;
    for (int k = 0; k < f->nexperiment; k++) most += f->experiment[k].nchannel;
    cst_fit_channel *to = cst_new(a, cst_fit_channel, most + 1);
    *n = 0;
    for (int k = 0; k < f->nexperiment; k++)
        for (int i = 0; i < f->experiment[k].nchannel; i++) {
            const cst_experiment *e = &f->experiment[k];
            const cst_signal *c = &e->channel[i];
            line before = regress(e, i, first), after = regress(e, i, last);
            to[(*n)++] =
                (cst_fit_channel){e->name,       c->name,           c->n,
                                  c->missing,    c->sigma,          after.rms,
                                  after.largest, after.correlation, advise(a, c, &before, &after)};
        }
    return to;
}
