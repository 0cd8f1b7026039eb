/* SPDX-License-Identifier: MIT
 *
 * What is only drawn: shapes of bodies, wheels with their roads, named points. Nothing here enters
 * the equations. */
#include "model/loader.h"

static cst_shape *shape_new(cst_loader *L, cst_shape_kind kind, int body, const cst_id size[3])
{
    cst_shape *s = cst_push(L->arena, &L->m->shape);
    *s = (cst_shape){.kind = kind, .body = body, .centre = -1, .axis = -1};
    for (int i = 0; i < 3; i++) s->size[i] = size[i];
    return s;
}

void cst_add_shape(cst_loader *L, cst_shape_kind kind, int body, const cst_id size[3])
{
    if (body >= 0) shape_new(L, kind, body, size);
}

/* A road that reads more than s and t (a plane that is banked) is not drawn. */
static int drawable(const cst_tape *t)
{
    for (int i = 0; i < t->nchannel; i++) {
        const cst_channel *c = &t->channel[i];
        if (c->kind != CST_CH_TIME && (c->kind != CST_CH_ARG || c->index != 0)) return 0;
    }
    return 1;
}

void cst_add_wheel(cst_loader *L, int body, int centre, int axis, cst_id radius, cst_id road)
{
    const cst_id size[3] = {radius, CST_NONE, CST_NONE};
    cst_shape *s = shape_new(L, CST_SHAPE_WHEEL, body, size);
    s->centre = centre;
    s->axis = axis;
    const cst_tape *height = NULL;
    for (int i = 0; i < L->m->road.n && !height; i++)
        if (L->m->road.at[i].law == road) height = L->m->road.at[i].height;
    if (!height) height = cst_tape_new(L->arena, L->g, 1, &road);
    if (drawable(height))
        *cst_push(L->arena, &L->m->road) = (cst_road){road, height, L->m->shape.n - 1};
}

void cst_hardpoint_add(cst_loader *L, const cst_part *part, const char *name, int body,
                       const cst_id at[3])
{
    cst_hardpoint *h = cst_push(L->arena, &L->m->hardpoint);
    *h = (cst_hardpoint){.name = cst_arena_strdup(L->arena, name), .body = body};
    for (int i = 0; i < 3; i++) h->at[i] = at[i], h->sign[i] = part->sign[i];
}
