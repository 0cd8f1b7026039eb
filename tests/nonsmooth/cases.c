/* SPDX-License-Identifier: MIT
 *
 * The table, made of its groups */
#include "nonsmooth/cases.h"

#include "expect.h"

void nonsmooth_add(nonsmooth_table *to, nonsmooth_case row)
{
    if (to->n == NONSMOOTH_MOST) fail_msg("more than %d rows", NONSMOOTH_MOST);
    for (int i = 0; i < to->n; i++)
        if (!strcmp(to->row[i].name, row.name)) fail_msg("two rows are called '%s'", row.name);
    if (row.plain) row.below = row.above;
    if (row.end == 0) row.end = 0.4;
    if (row.step == 0) row.step = 0.01;
    if (row.apart == 0) row.apart = row.left;
    if (row.width == 0) row.width = 1e-5;
    to->row[to->n++] = row;
}

void nonsmooth_all(nonsmooth_table *to)
{
    nonsmooth_numbers(to);
    nonsmooth_start(to);
    nonsmooth_rest(to);
    nonsmooth_objectives(to);
    nonsmooth_motion(to);
    nonsmooth_events(to);
    nonsmooth_singular(to);
}
