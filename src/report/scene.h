/* SPDX-License-Identifier: MIT
 *
 * What a report draws of a run, in two files of its directory:
 *
 *     scene.json   bodies, shapes, markers, joints, forces, hardpoints, measures, roads
 *     poses.f32    frames: time and all coordinates q, as 32-bit floats, little endian, `row` of
 * them per frame
 *
 * A marker is m = o + sum_k w_k b_k, as in the equations, so that whoever draws needs nothing else
 * than the vectors b_k of a frame. Frames are taken at equal intervals, fine enough for a smooth
 * motion and few enough for a page of a few megabytes. */
#ifndef CST_REPORT_SCENE_H
#define CST_REPORT_SCENE_H

#include <stdio.h>

#include "base/writer.h"
#include "system/system.h"

typedef struct cst_film { /* frames of one run while it runs */
    const cst_model *m;
    cst_writer *out; /* NULL: could not be opened */
    float *row;
    double start, end, interval;
    long frames, wanted; /* written; the next one is due at start + wanted interval */
    double *reg;         /* registers for the longest of the roads' tapes */
    double *range;       /* (2 nroad) least and largest s below each wheel */
} cst_film;

/* 0: reported. Frames of a run from start to end with this step. */
int cst_film_open(cst_film *film, cst_arena *a, const cst_model *m, const char *path, double start,
                  double end, double step, cst_diag *d);
void cst_film_frame(cst_film *film, const cst_system *s, double t, const double *q);
int cst_film_close(cst_film *film, cst_diag *d); /* 0: something is missing, reported */

/* The scene; film: its frames, NULL while there are none. 0: everything was written. */
int cst_scene_write(FILE *f, const cst_system *s, const cst_film *film);

#endif
