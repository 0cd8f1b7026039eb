/* SPDX-License-Identifier: MIT
 *
 * Joint coordinates. A spanning tree leads from the ground over joints to all bodies; joints
 * outside of it are cut. The angle and the travel of a joint of the tree become scalars s of their
 * own, without inertia, bound by one row each:
 *
 *     u_B.(cos s v_A - sin s u_A) = 0,  u x v = n across the axis, drawn alike on both bodies
 * through all turns s - (b - a).n_A = 0
 *
 * so that they are coordinates like any others, with rates, derivatives and a place in charts
 * (integrator/chart.h); their rows carry no force. Where a joint leaves more than an angle and a
 * travel (ball joints, cardans, planes), or no joint holds the body, the motion is described by the
 * vectors of the body instead. */
#include "model/loader.h"

/* Number of rows of a joint that the tree can follow; 0: it cannot. Rods and guides leave too much
 * freedom, and drivers prescribe motion. */
static int branch_rows(const cst_model *m, const cst_joint *j)
{
    int rows = 0;
    if (j->drives || j->body[0] == j->body[1]) return 0;
    for (int i = j->first; i < j->first + j->n; i++) rows += m->constraint.at[i].cls->nphi;
    return j->freedom || rows >= 3 ? rows : 0;
}

static int owner_of(const cst_model *m, int body)
{
    return body == CST_GROUND ? CST_GROUND : m->body.at[body].owner;
}

/* Adds the joints that lead from `parent` to bodies not reached yet; of several joints to the same
 * body, the one with the most rows */
static void reach(cst_loader *L, int parent, unsigned char *reached, int *queue, int *n)
{
    cst_model *m = L->m;
    int first = m->tree.n;
    for (int i = 0; i < m->joint.n; i++) {
        const cst_joint *j = &m->joint.at[i];
        int a = owner_of(m, j->body[0]), b = owner_of(m, j->body[1]), child = a == parent ? b : a,
            at = first;
        int rows = branch_rows(m, j);
        if (!rows || a == b || (a != parent && b != parent) || child == CST_GROUND ||
            reached[child] == 1)
            continue;
        while (at < m->tree.n && m->tree.at[at].child != child) at++;
        if (at == m->tree.n) {
            *cst_push(L->arena, &m->tree) =
                (cst_branch){.joint = i, .parent = parent, .child = child, .coordinate = {-1, -1}};
            reached[child] = 2, queue[(*n)++] = child;
        } else if (rows > branch_rows(m, &m->joint.at[m->tree.at[at].joint])) {
            m->tree.at[at].joint = i;
        }
    }
    for (int i = first; i < m->tree.n; i++) reached[m->tree.at[i].child] = 1;
}

static void span(cst_loader *L)
{
    cst_model *m = L->m;
    int nbody = m->body.n, n = 0;
    unsigned char *reached = cst_new(L->scratch, unsigned char, nbody + 1);
    int *queue = cst_new(L->scratch, int, nbody + 1);
    reach(L, CST_GROUND, reached, queue, &n);
    for (int next = 0, free_body = 0;;) {
        for (; next < n; next++) reach(L, queue[next], reached, queue, &n);
        while (free_body < nbody &&
               (reached[free_body] || m->body.at[free_body].owner != free_body))
            free_body++;
        if (free_body == nbody) return;
        *cst_push(L->arena, &m->tree) = (cst_branch){.joint = -1,
                                                     .parent = CST_GROUND,
                                                     .child = free_body,
                                                     .coordinate = {-1, -1}};
        reached[free_body] = 1, queue[n++] = free_body;
    }
}

static cst_id bound_angle(cst_loader *L, const cst_joint *j, cst_id s)
{
    cst_graph *g = L->g;
    cst_id u[3], v[3], uA[3], vA[3], uB[3];
    cst_perpendicular(L, j->turn, u, v);
    cst_x(L, cst_slot_direction(L, j->body[0], u), 0, uA);
    cst_x(L, cst_slot_direction(L, j->body[0], v), 0, vA);
    cst_x(L, cst_slot_direction(L, j->body[1], u), 0, uB);
    cst_id cosine = cst_num_call(g, "cos", s, CST_NONE, CST_NONE),
           sine = cst_num_call(g, "sin", s, CST_NONE, CST_NONE);
    return cst_num_sub(g, cst_num_mul(g, cst_num_dot3(g, uB, vA), cosine),
                       cst_num_mul(g, cst_num_dot3(g, uB, uA), sine));
}

static cst_id bound_travel(cst_loader *L, const cst_joint *j, cst_id s)
{
    cst_graph *g = L->g;
    cst_id a[3], b[3], n[3], d[3];
    cst_x(L, j->at[0], 0, a), cst_x(L, j->at[1], 0, b), cst_x(L, j->axis, 0, n);
    for (int i = 0; i < 3; i++) d[i] = cst_num_sub(g, b[i], a[i]);
    return cst_num_sub(g, s, cst_num_dot3(g, d, n));
}

/* The scalar of one freedom of joint i, and the row that binds it */
static int coordinate(cst_loader *L, int i, int kind)
{
    const cst_joint j = L->m->joint.at[i];
    const char *name =
        cst_arena_printf(L->arena, "%s.%s", j.name, kind == CST_TURNS ? "angle" : "travel");
    cst_id zero = cst_num_const(L->g, 0);
    int body = cst_add_scalar(L, name, j.where, zero, zero, zero, 0);
    L->m->body.at[body].bound = kind, L->m->body.at[body].type = "coordinate";
    cst_id s = cst_x1(L, cst_slot_scalar(L, body), 0, 0);
    int row = cst_joint_begin(L, name, "coordinate", j.where, body, body);
    cst_add_coordinate(L, row, kind == CST_TURNS ? "angle" : "travel",
                       kind == CST_TURNS ? bound_angle(L, &j, s) : bound_travel(L, &j, s),
                       CST_ROW_MOTION);
    cst_joint_place(L, row, -1, -1, -1);
    cst_joint_end(L, row);
    return body;
}

void cst_tree_build(cst_loader *L)
{
    cst_model *m = L->m;
    span(L);
    for (int i = 0; i < m->tree.n; i++) {
        int joint = m->tree.at[i].joint, child = m->tree.at[i].child;
        int freedom = joint >= 0 ? m->joint.at[joint].freedom : 0,
            rows = joint >= 0 ? branch_rows(m, &m->joint.at[joint]) : 0;
        if (freedom & CST_TURNS) m->tree.at[i].coordinate[0] = coordinate(L, joint, CST_TURNS);
        if (freedom & CST_SLIDES) m->tree.at[i].coordinate[1] = coordinate(L, joint, CST_SLIDES);
        if (freedom || rows == 6) continue;
        for (int b = child; b < m->body.n && m->body.at[b].owner == child; b++)
            m->body.at[b].loose = 1;
    }
    m->has_joint_coordinates = 1;
}
