/* SPDX-License-Identifier: MIT
 *
 * scene.json: indices count bodies, markers (the model's slots) and columns of poses.f32, whose
 * first one is the time. */
#include "report/scene.h"

#include <math.h>

#include "base/json.h"

static void values(cst_json *j, const char *key, const cst_system *s, int n, const cst_id *id)
{
    double x[12];
    for (int i = 0; i < n; i++) x[i] = id[i] == CST_NONE ? NAN : s->val[id[i]];
    cst_json_numbers(j, key, n, x);
}

static void integers(cst_json *j, const char *key, int n, const int *x)
{
    cst_json_array(j, key);
    for (int i = 0; i < n; i++) cst_json_integer(j, NULL, x[i]);
    cst_json_close(j);
}

static void bodies(cst_json *j, const cst_system *s)
{
    cst_json_array(j, "bodies");
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_body *b = &s->m->body.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "name", b->name);
        cst_json_text(j, "type", b->type);
        cst_json_text(j, "class", b->cls->name);
        cst_json_integer(j, "column", b->q0 + 1);
        cst_json_integer(j, "vectors", b->cls->nvec);
        cst_json_numbers(j, "drawn", 3 * b->cls->nvec + b->cls->nscalar, s->P + b->drawn);
        if (b->m != CST_NONE) cst_json_number(j, "mass", s->val[b->m]);
        if (b->com[0] != CST_NONE) values(j, "com", s, 3, b->com);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void shapes(cst_json *j, const cst_system *s)
{
    static const char *const kind[] = {"line", "box", "sphere", "wheel"};
    cst_json_array(j, "shapes");
    for (int i = 0; i < s->m->shape.n; i++) {
        const cst_shape *x = &s->m->shape.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "kind", kind[x->kind]);
        cst_json_integer(j, "body", x->body);
        values(j, "size", s, 3, x->size);
        if (x->kind == CST_SHAPE_WHEEL) {
            cst_json_integer(j, "centre", x->centre);
            cst_json_integer(j, "axis", x->axis);
        }
        cst_json_close(j);
    }
    cst_json_close(j);
}

/* gyration = sqrt(I/A), across the axis */
static void beams(cst_json *j, const cst_system *s)
{
    cst_json_array(j, "beams");
    for (int i = 0; i < s->m->body.n; i++) {
        const cst_beam *b = s->m->body.at[i].beam;
        if (!b || b->first != i) continue;
        cst_json_object(j, NULL);
        cst_json_integer(j, "body", i);
        cst_json_integer(j, "elements", b->n);
        cst_json_number(j, "length", s->val[b->length]);
        cst_json_number(j, "gyration", s->val[b->EA] > 0 ? sqrt(s->val[b->EI] / s->val[b->EA]) : 0);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void markers(cst_json *j, const cst_system *s)
{
    cst_json_array(j, "markers");
    for (int i = 0; i < s->m->slot.n; i++) {
        const cst_slot *x = &s->m->slot.at[i];
        if (x->dim != 3) {
            cst_json_null(j, NULL);
            continue;
        }
        cst_json_object(j, NULL);
        cst_json_integer(j, "body", x->body);
        cst_json_integer(j, "point", x->point);
        if (x->body == CST_GROUND) {
            cst_json_numbers(j, "at", 3, s->P + x->o);
        } else {
            cst_json_integer(j, "first", x->vec);
            cst_json_numbers(j, "weights", x->n, s->P + x->w);
        }
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void points_of(cst_json *j, const cst_model *m, int n, const int *slot)
{
    for (int k = 0; k < n; k++)
        if (m->slot.at[slot[k]].dim == 3 && m->slot.at[slot[k]].point)
            cst_json_integer(j, NULL, slot[k]);
}

/* Rows that belong to the start only (prescribed positions and rates) do not constrain the motion.
 */
static int holds(const cst_model *m, const cst_joint *x)
{
    for (int k = x->first; k < x->first + x->n; k++)
        if (m->constraint.at[k].phases & CST_ROW_MOTION) return 1;
    return 0;
}

static void joints(cst_json *j, const cst_system *s)
{
    const cst_model *m = s->m;
    cst_json_array(j, "joints");
    for (int i = 0; i < m->joint.n; i++) {
        const cst_joint *x = &m->joint.at[i];
        if (!holds(m, x)) continue;
        cst_json_object(j, NULL);
        cst_json_text(j, "name", x->name);
        cst_json_text(j, "type", x->type);
        integers(j, "bodies", 2, x->body);
        integers(j, "at", 2, x->at);
        cst_json_integer(j, "axis", x->axis);
        cst_json_array(j, "ends"); /* of its axis, when drawn */
        for (int k = 0; k < 2 && x->between; k++) values(j, NULL, s, 3, x->end[k]);
        cst_json_close(j);
        cst_json_bool(j, "drives", x->drives);
        cst_json_array(j, "points"); /* of its constraints, where it has no place of its own */
        for (int k = x->first; k < x->first + x->n; k++)
            points_of(j, m, m->constraint.at[k].nslot, m->constraint.at[k].slot);
        cst_json_close(j);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void forces(cst_json *j, const cst_model *m)
{
    cst_json_array(j, "forces");
    for (int i = 0; i < m->force.n; i++) {
        const cst_force *x = &m->force.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "name", x->name);
        cst_json_text(j, "type", x->type);
        cst_json_array(j, "points");
        points_of(j, m, x->nslot, x->slot);
        cst_json_close(j);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void hardpoints(cst_json *j, const cst_system *s)
{
    cst_json_array(j, "hardpoints");
    for (int i = 0; i < s->m->hardpoint.n; i++) {
        const cst_hardpoint *h = &s->m->hardpoint.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "name", h->name);
        cst_json_integer(j, "body", h->body);
        values(j, "at", s, 3, h->at);
        cst_json_numbers(j, "sign", 3, h->sign);
        cst_json_close(j);
    }
    cst_json_close(j);
}

/* A measure whose components are the coordinates of one marker, or their rates: its path can be
 * drawn. */
static int marker_of(const cst_model *m, const cst_measure *x)
{
    if (x->n != 3) return -1;
    int slot = -1;
    for (int c = 0; c < 3; c++) {
        const cst_channel *ch = cst_num_channel_of(m->graph, m->component.at[x->first + c].value);
        if (!ch || ch->kind != CST_CH_X) return -1;
        for (int i = 0; i < m->slot.n && c == 0; i++)
            if (m->slot.at[i].dim == 3 && m->slot.at[i].x0 == ch->index) slot = i;
        if (slot < 0 || m->slot.at[slot].x0 + c != ch->index) return -1;
    }
    return m->slot.at[slot].point ? slot : -1;
}

static void measures(cst_json *j, const cst_model *m)
{
    cst_json_array(j, "measures");
    for (int i = 0; i < m->measure.n; i++) {
        const cst_measure *x = &m->measure.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "name", x->name);
        cst_json_text(j, "type", x->type);
        cst_json_array(j, "components");
        for (int k = x->first; k < x->first + x->n; k++)
            cst_json_text(j, NULL, m->component.at[k].name);
        cst_json_close(j);
        cst_json_array(j, "units");
        for (int k = x->first; k < x->first + x->n; k++)
            cst_json_text(j, NULL, m->component.at[k].shown.unit);
        cst_json_close(j);
        cst_json_array(j, "factors"); /* a value in SI over its factor is in its unit */
        for (int k = x->first; k < x->first + x->n; k++)
            cst_json_number(j, NULL, m->component.at[k].shown.factor);
        cst_json_close(j);
        if (x->label.text) cst_json_text(j, "definition", x->label.text);
        if (x->label.doc) cst_json_text(j, "doc", x->label.doc);
        cst_json_integer(j, "marker", marker_of(m, x));
        cst_json_close(j);
    }
    cst_json_close(j);
}

/* Heights at the time t between s0 and s1. */
static void profile(cst_json *j, const cst_system *s, const cst_tape *tape, double *reg, double t,
                    double s0, double s1)
{
    enum { N = 1200 };
    double z[N + 1];
    for (int i = 0; i < tape->nnumber; i++) reg[tape->nchannel + i] = s->val[tape->number[i]];
    for (int k = 0; k <= N; k++) {
        for (int i = 0; i < tape->nchannel; i++)
            reg[i] = tape->channel[i].kind == CST_CH_TIME ? t : s0 + (s1 - s0) * k / N;
        cst_tape_eval(tape, reg);
        z[k] = reg[tape->out[0]];
    }
    cst_json_numbers(j, "height", N + 1, z);
}

static int first_of_law(const cst_model *m, int road)
{
    for (int i = 0; i < road; i++)
        if (m->road.at[i].law == m->road.at[road].law) return 0;
    return 1;
}

/* One profile per law, from a few radii behind the way of its wheels to a few radii in front of it.
 */
static void road(cst_json *j, const cst_system *s, const cst_film *film, const cst_road *first)
{
    const cst_model *m = s->m;
    double s0 = INFINITY, s1 = -INFINITY;
    cst_json_object(j, NULL);
    cst_json_array(j, "wheels");
    for (int i = 0; i < m->road.n; i++) {
        if (m->road.at[i].law != first->law) continue;
        double more = 4 * s->val[m->shape.at[m->road.at[i].wheel].size[0]];
        s0 = fmin(s0, film->range[2 * i] - more);
        s1 = fmax(s1, film->range[2 * i + 1] + more);
        cst_json_integer(j, NULL, m->road.at[i].wheel);
    }
    cst_json_close(j);
    cst_json_numbers(j, "range", 2, (double[]){s0, s1});
    profile(j, s, first->height, film->reg, film->start, s0, s1);
    cst_json_close(j);
}

static void roads(cst_json *j, const cst_system *s, const cst_film *film)
{
    cst_json_array(j, "roads");
    for (int i = 0; film && film->frames && i < s->m->road.n; i++)
        if (first_of_law(s->m, i)) road(j, s, film, &s->m->road.at[i]);
    cst_json_close(j);
}

int cst_scene_write(FILE *f, const cst_system *s, const cst_film *film)
{
    const cst_model *m = s->m;
    cst_json j = cst_json_begin(f, 1);
    cst_json_object(&j, NULL);
    cst_json_integer(&j, "scene", 1);
    cst_json_text(&j, "name", m->name);
    cst_json_integer(&j, "row", m->nq + 1);
    cst_json_integer(&j, "frames", film ? film->frames : 0);
    cst_json_numbers(&j, "gravity", 3, s->P + m->gravity);
    bodies(&j, s);
    shapes(&j, s);
    beams(&j, s);
    markers(&j, s);
    joints(&j, s);
    forces(&j, m);
    hardpoints(&j, s);
    measures(&j, m);
    roads(&j, s, film);
    cst_json_close(&j);
    return cst_json_end(&j);
}
