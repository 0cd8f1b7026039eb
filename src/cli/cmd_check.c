/* SPDX-License-Identifier: MIT
 *
 * costate check: what the program has read from a model, and what it finds remarkable about it. */
#include "cli/check_notes.h"

#include <math.h>
#include <string.h>

static const char *body_name(const cst_model *m, int body)
{
    return body == CST_GROUND ? "ground" : m->body.at[body].name;
}

/* Unknowns of a body of the file; 0 for the further nodes of a beam, which are listed with the
 * first. */
static int unknowns_of(const cst_model *m, int i)
{
    const cst_body *b = &m->body.at[i];
    return b->owner != i ? 0 : (b->beam ? b->beam->n + 1 : 1) * b->cls->nu;
}

static int own_force(const cst_force *f) /* elastic forces belong to their beams */
{
    return f->cls == &cst_force_beam || f->cls == &cst_force_beam_green;
}

static double mass_of(const cst_session *s, const cst_body *b)
{
    return b->m == CST_NONE ? NAN : s->run->s->val[b->m];
}

/* Rows of a joint that take part in the motion; *redundant: those that follow from others. */
static int rows_of(const cst_session *s, const cst_joint *j, int *redundant)
{
    int rows = 0;
    *redundant = 0;
    for (int i = j->first; i < j->first + j->n; i++) {
        const cst_constraint *c = &s->model->constraint.at[i];
        for (int k = 0; (c->phases & CST_ROW_MOTION) && k < c->cls->nphi; k++)
            rows++, *redundant += !s->run->st->keep[c->row0 + k];
    }
    return rows;
}

/* The constraint of a row among all rows: the last one that does not begin behind it. */
static const cst_constraint *constraint_of(const cst_model *m, int row)
{
    int lo = 0, hi = m->constraint.n;
    while (hi - lo > 1) {
        int mid = lo + (hi - lo) / 2;
        if (m->constraint.at[mid].row0 <= row)
            lo = mid;
        else
            hi = mid;
    }
    return &m->constraint.at[lo];
}

/* The row's number within its joint, from 0. */
static int row_in_joint(const cst_model *m, const cst_constraint *c, int row)
{
    while (c > m->constraint.at && strcmp(c[-1].name, c->name) == 0) c--;
    return row - c->row0;
}

/* How far the assembly has moved a body from where it is drawn: the largest of its vectors' changes
 */
static double moved_by(const cst_session *s, const cst_body *b, int direction)
{
    const double *drawn = s->run->s->P + b->drawn, *q = s->run->st->q + b->q0;
    double most = 0;
    for (int k = 0; k < b->cls->nvec; k++) {
        double d = hypot(hypot(q[3 * k] - drawn[3 * k], q[3 * k + 1] - drawn[3 * k + 1]),
                         q[3 * k + 2] - drawn[3 * k + 2]);
        if ((b->cls->translation[k] == 0) == direction && d > most) most = d;
    }
    return most;
}

typedef struct facts {
    int rows;     /* of the motion */
    double mass;  /* of all bodies */
    int farthest; /* body that the assembly has moved most, -1: none */
    double moved, turned;
    const cst_lu_info *lu;
} facts;

static facts collect(const cst_session *s)
{
    facts f = {.farthest = -1, .lu = cst_lu_get(s->run->st->motion_lu)};
    for (int i = 0, r; i < s->model->joint.n; i++) f.rows += rows_of(s, &s->model->joint.at[i], &r);
    for (int i = 0; i < s->model->body.n; i++) {
        const cst_body *b = &s->model->body.at[i];
        double d = moved_by(s, b, 0), turn = moved_by(s, b, 1), mass = mass_of(s, b);
        if (mass > 0) f.mass += mass;
        if (fmax(d, turn) > fmax(fmax(f.moved, f.turned), 1e-9))
            f.moved = d, f.turned = turn, f.farthest = i;
    }
    return f;
}

/* The joints that dependent row k follows from, each once, in their order; their number. */
static int sources_of(const cst_session *s, int k, const char **name)
{
    const cst_structure *st = s->run->st;
    int n = 0;
    for (int i = st->dep.term_ptr[k]; i < st->dep.term_ptr[k + 1]; i++) {
        const cst_constraint *c = constraint_of(s->model, st->dep_all[st->dep.term_row[i]]);
        int known = 0;
        for (int j = 0; j < n; j++) known |= strcmp(name[j], c->name) == 0;
        if (!known) name[n++] = c->name;
    }
    return n;
}

/* ---- for people ---- */

static void print_bodies(const cst_session *s, const cst_page *p, const facts *f)
{
    static const char *const head[] = {"body", "type", "mass, kg", "unknowns"};
    cst_grid g = cst_grid_new(s->arena, "ll.r", head);
    for (int i = 0; i < s->model->body.n; i++) {
        const cst_body *b = &s->model->body.at[i];
        if (!unknowns_of(s->model, i)) continue;
        cst_grid_add(&g, "%s", b->name);
        cst_grid_add(&g, "%s", b->type);
        cst_grid_number(&g, mass_of(s, b));
        cst_grid_add(&g, "%d", unknowns_of(s->model, i));
    }
    cst_grid_add(&g, "total");
    cst_grid_add(&g, "%s", "");
    cst_grid_number(&g, f->mass);
    cst_grid_add(&g, "%d", s->model->nu);
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

static void print_joints(const cst_session *s, const cst_page *p, const facts *f)
{
    static const char *const head[] = {"joint", "type", "between", "rows", "redundant"};
    cst_grid g = cst_grid_new(s->arena, "lllrr", head);
    for (int i = 0, r; i < s->model->joint.n; i++) {
        const cst_joint *j = &s->model->joint.at[i];
        int rows = rows_of(s, j, &r);
        cst_grid_add(&g, "%s", j->name);
        cst_grid_add(&g, "%s", j->type);
        if (j->body[0] == j->body[1])
            cst_grid_add(&g, "%s", "");
        else
            cst_grid_add(&g, "%s, %s", body_name(s->model, j->body[0]),
                         body_name(s->model, j->body[1]));
        cst_grid_count(&g, rows);
        cst_grid_count(&g, r);
    }
    cst_grid_add(&g, "total");
    for (int i = 0; i < 2; i++) cst_grid_add(&g, "%s", "");
    cst_grid_add(&g, "%d", f->rows);
    cst_grid_add(&g, "%d", f->rows - s->run->st->rank);
    if (s->model->joint.n == 0) return;
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

static void print_forces(const cst_session *s, const cst_page *p)
{
    static const char *const head[] = {"force", "type"};
    cst_grid g = cst_grid_new(s->arena, "ll", head);
    int shown = 0;
    for (int i = 0; i < s->model->force.n; i++) {
        if (own_force(&s->model->force.at[i])) continue;
        shown++;
        cst_grid_add(&g, "%s", s->model->force.at[i].name);
        cst_grid_add(&g, "%s", s->model->force.at[i].type);
    }
    if (shown == 0) return;
    cst_grid_print(&g, p);
    cst_page_gap(p);
}

static void print_redundant(const cst_session *s, const cst_page *p)
{
    enum { SHOWN = 8 };
    const cst_structure *st = s->run->st;
    if (st->dep.ndep == 0) return;
    cst_page_heading(p, 2, "Redundant rows");
    cst_page_text(p,
                  "They follow from other rows, so they leave the equations and are only watched. "
                  "How the joints of such a loop share its reactions is not determined.");
    const char **name = cst_new(s->arena, const char *, s->model->constraint.n + 1);
    for (int k = 0; k < st->dep.ndep; k++) {
        int row = st->dep_all[st->dep.dep[k]];
        const cst_constraint *c = constraint_of(s->model, row);
        char line[2048];
        int used = snprintf(line, sizeof line, "%.200s, row %d (%.100s)", c->name,
                            row_in_joint(s->model, c, row) + 1, c->row_name);
        int n = sources_of(s, k, name);
        for (int i = 0; i < n && i < SHOWN; i++)
            used += snprintf(line + used, sizeof line - (size_t)used, "%s%.100s",
                             i ? ", " : ": follows from ", name[i]);
        if (n > SHOWN)
            used += snprintf(line + used, sizeof line - (size_t)used, " and %d more", n - SHOWN);
        if (n == 0) snprintf(line + used, sizeof line - (size_t)used, ": constrains nothing");
        cst_page_item(p, line);
    }
    cst_page_gap(p);
}

/* ---- joint coordinates ---- */

/* How many joints that are no drivers lie outside of the tree; which. */
static int cut_joints(const cst_session *s, const char **name)
{
    const cst_model *m = s->model;
    int n = 0;
    for (int i = 0; i < m->joint.n; i++) {
        const cst_joint *j = &m->joint.at[i];
        int in = j->drives || strcmp(j->type, "coordinate") == 0;
        for (int k = 0; k < m->tree.n; k++) in |= m->tree.at[k].joint == i;
        if (!in) name[n++] = j->name;
    }
    return n;
}

static void print_tree(const cst_session *s, const cst_page *p)
{
    static const char *const head[] = {"from", "over", "to", "coordinates"};
    const cst_model *m = s->model;
    if (!m->has_joint_coordinates) return;
    cst_page_heading(p, 2, "Spanning tree");
    cst_grid g = cst_grid_new(s->arena, "llll", head);
    for (int i = 0; i < m->tree.n; i++) {
        const cst_branch *b = &m->tree.at[i];
        const cst_body *child = &m->body.at[b->child];
        cst_grid_add(&g, "%s", body_name(m, b->parent));
        cst_grid_add(&g, "%s", b->joint < 0 ? "(free)" : m->joint.at[b->joint].name);
        cst_grid_add(&g, "%s", child->name);
        cst_grid_add(&g, "%s%s%s",
                     child->loose            ? "vectors of the body"
                     : b->coordinate[0] >= 0 ? "angle"
                                             : "",
                     b->coordinate[0] >= 0 && b->coordinate[1] >= 0 ? ", " : "",
                     b->coordinate[1] >= 0 ? "travel" : "");
    }
    cst_grid_print(&g, p);
    const char **name = cst_new(s->arena, const char *, m->joint.n + 1);
    int n = cut_joints(s, name);
    printf("cut joints:");
    for (int i = 0; i < n; i++) printf("%s %s", i ? "," : "", name[i]);
    printf("%s\n", n ? "" : " none");
    cst_page_gap(p);
}

static void print_freedom(const cst_session *s, const cst_page *p, const facts *f)
{
    const cst_structure *st = s->run->st;
    printf("%s%d degree%s of freedom%s: %d unknowns - %d independent rows", p->style.bold, st->dof,
           st->dof == 1 ? "" : "s", p->style.off, s->model->nu, st->rank);
    if (st->nhold) printf(" - %d held spin%s", st->nhold, st->nhold == 1 ? "" : "s");
    printf("\n");
    for (int i = 0; i < st->nhold; i++) {
        const cst_hold *h = &st->hold[i];
        printf("  held: the spin of %s about its own axis [%.4g, %.4g, %.4g], which has neither "
               "inertia nor stiffness\n",
               s->model->body.at[h->body].name, h->axis[0], h->axis[1], h->axis[2]);
    }
    if (st->drawn_rank < st->rank)
        printf("%ssingular position:%s as drawn only %d of %d independent rows act: the mechanism "
               "may branch there\n",
               p->style.yellow, p->style.off, st->drawn_rank, st->rank);
    if (f->farthest >= 0)
        printf("assembly moves the drawing: %s most, by %.3g m and %.3g rad\n",
               s->model->body.at[f->farthest].name, f->moved, f->turned);
    else
        printf("the drawing closes all loops\n");
}

static void print_equations(const cst_session *s, const facts *f)
{
    const cst_kkt *k = s->run->st->motion;
    printf("equations: %d unknowns, %d entries; order '%s', %.3g operations, rcond %.2g\n", k->n,
           k->pattern->nnz, f->lu->order, f->lu->flops, f->lu->rcond);
    printf("numbers of the file: %d; measure components: %d; objectives: %d\n", s->model->leaf.n,
           s->model->component.n, s->model->objective.n);
    if (s->diag.warnings) printf("warnings: %d (above)\n", s->diag.warnings);
}

static void print_notes(const cst_page *p, const cst_diag *notes)
{
    if (!*notes->text) return;
    cst_page_gap(p);
    cst_page_heading(p, 2, "Notes");
    printf("%s", notes->text);
}

static void print(const cst_session *s, const facts *f, const cst_diag *notes)
{
    cst_page p = cst_page_of(stdout, 0);
    cst_page_heading(&p, 1, s->model->name && *s->model->name ? s->model->name : s->model->file);
    cst_page_gap(&p);
    print_bodies(s, &p, f);
    print_joints(s, &p, f);
    print_forces(s, &p);
    print_redundant(s, &p);
    print_tree(s, &p);
    print_freedom(s, &p, f);
    print_equations(s, f);
    print_notes(&p, notes);
}

/* ---- for programs ---- */

static void json_elements(cst_json *j, const cst_session *s)
{
    const cst_model *m = s->model;
    cst_json_array(j, "bodies");
    for (int i = 0; i < m->body.n; i++) {
        if (!unknowns_of(m, i)) continue;
        cst_json_object(j, NULL);
        cst_json_text(j, "name", m->body.at[i].name);
        cst_json_text(j, "type", m->body.at[i].type);
        cst_json_number(j, "mass", mass_of(s, &m->body.at[i]));
        cst_json_integer(j, "unknowns", unknowns_of(m, i));
        cst_json_close(j);
    }
    cst_json_close(j);
    cst_json_array(j, "joints");
    for (int i = 0, redundant; i < m->joint.n; i++) {
        cst_json_object(j, NULL);
        cst_json_text(j, "name", m->joint.at[i].name);
        cst_json_text(j, "type", m->joint.at[i].type);
        cst_json_array(j, "between");
        for (int k = 0; k < 2; k++) cst_json_text(j, NULL, body_name(m, m->joint.at[i].body[k]));
        cst_json_close(j);
        cst_json_integer(j, "rows", rows_of(s, &m->joint.at[i], &redundant));
        cst_json_integer(j, "redundant", redundant);
        cst_json_close(j);
    }
    cst_json_close(j);
    cst_json_array(j, "forces");
    for (int i = 0; i < m->force.n; i++) {
        if (own_force(&m->force.at[i])) continue;
        cst_json_object(j, NULL);
        cst_json_text(j, "name", m->force.at[i].name);
        cst_json_text(j, "type", m->force.at[i].type);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void json_tree(cst_json *j, const cst_session *s)
{
    const cst_model *m = s->model;
    if (!m->has_joint_coordinates) return;
    cst_json_array(j, "tree");
    for (int i = 0; i < m->tree.n; i++) {
        const cst_branch *b = &m->tree.at[i];
        cst_json_object(j, NULL);
        cst_json_text(j, "from", body_name(m, b->parent));
        cst_json_text(j, "over", b->joint < 0 ? "" : m->joint.at[b->joint].name);
        cst_json_text(j, "to", m->body.at[b->child].name);
        cst_json_array(j, "coordinates");
        for (int k = 0; k < 2; k++)
            if (b->coordinate[k] >= 0) cst_json_text(j, NULL, m->body.at[b->coordinate[k]].name);
        cst_json_close(j);
        cst_json_close(j);
    }
    cst_json_close(j);
    const char **name = cst_new(s->arena, const char *, m->joint.n + 1);
    int n = cut_joints(s, name);
    cst_json_array(j, "cut_joints");
    for (int i = 0; i < n; i++) cst_json_text(j, NULL, name[i]);
    cst_json_close(j);
}

static void json_redundant(cst_json *j, const cst_session *s)
{
    const cst_structure *st = s->run->st;
    const char **name = cst_new(s->arena, const char *, s->model->constraint.n + 1);
    cst_json_array(j, "redundant");
    for (int k = 0; k < st->dep.ndep; k++) {
        int row = st->dep_all[st->dep.dep[k]], n = sources_of(s, k, name);
        const cst_constraint *c = constraint_of(s->model, row);
        cst_json_object(j, NULL);
        cst_json_text(j, "joint", c->name);
        cst_json_integer(j, "row", row_in_joint(s->model, c, row) + 1);
        cst_json_text(j, "of", c->row_name);
        cst_json_array(j, "follows_from");
        for (int i = 0; i < n; i++) cst_json_text(j, NULL, name[i]);
        cst_json_close(j);
        cst_json_close(j);
    }
    cst_json_close(j);
    cst_json_array(j, "held_spins");
    for (int i = 0; i < st->nhold; i++) {
        cst_json_object(j, NULL);
        cst_json_text(j, "body", s->model->body.at[st->hold[i].body].name);
        cst_json_numbers(j, "axis", 3, st->hold[i].axis);
        cst_json_close(j);
    }
    cst_json_close(j);
}

static void print_json(const cst_session *s, FILE *to, const facts *f, const cst_diag *notes,
                       int with_run)
{
    const cst_structure *st = s->run->st;
    cst_json j = cst_json_begin(to, 1);
    cst_json_object(&j, NULL);
    if (with_run) cst_json_run(&j, s);
    cst_json_text(&j, "name", s->model->name);
    cst_json_text(&j, "file", s->model->file);
    json_elements(&j, s);
    cst_json_integer(&j, "dof", st->dof);
    cst_json_integer(&j, "unknowns", s->model->nu);
    cst_json_integer(&j, "rows", f->rows);
    cst_json_integer(&j, "rank", st->rank);
    cst_json_integer(&j, "drawn_rank", st->drawn_rank);
    cst_json_bool(&j, "singular_as_drawn", st->drawn_rank < st->rank);
    json_redundant(&j, s);
    json_tree(&j, s);
    cst_json_number(&j, "mass", f->mass);
    cst_json_number(&j, "assembly_moves", f->moved);
    cst_json_number(&j, "assembly_turns", f->turned);
    cst_json_object(&j, "equations");
    cst_json_integer(&j, "size", st->motion->n);
    cst_json_integer(&j, "entries", st->motion->pattern->nnz);
    cst_json_text(&j, "order", f->lu->order);
    cst_json_number(&j, "flops", f->lu->flops);
    cst_json_number(&j, "rcond", f->lu->rcond);
    cst_json_close(&j);
    cst_json_integer(&j, "numbers", s->model->leaf.n);
    cst_json_integer(&j, "measures", s->model->component.n);
    cst_json_integer(&j, "objectives", s->model->objective.n);
    cst_json_integer(&j, "warnings", s->diag.warnings);
    cst_json_messages(&j, &s->diag);
    cst_json_lines(&j, "notes", notes);
    cst_json_close(&j);
    cst_json_end(&j);
}

/* The mechanism as it is drawn, and what was found: check.json, scene.json, report.html */
static int report(cst_session *s, const facts *f, const cst_diag *notes)
{
    if (!cst_args_flag(s->args, "report")) return CST_EXIT_DONE;
    int leave = cst_session_directory(s);
    if (leave) return leave;
    const char *path = cst_session_path(s, "check.json");
    cst_writer *to = cst_writer_open(s->arena, path, &s->diag);
    if (to) print_json(s, to->f, f, notes, 1);
    int written = to && cst_writer_close(to, &s->diag) && cst_session_scene(s, s->run);
    cst_status ok = written ? cst_session_report(s, 0) : CST_OUTPUT;
    cst_session_messages(s);
    return cst_exit_status(ok);
}

/* The sections that other commands read. 0: they are in order, or there are none */
static int check_sections(cst_session *s)
{
    const char *path = s->args->operand.at[0];
    cst_diag *said =
        cst_new(s->arena, cst_diag, 2); /* warnings have been shown when the session was opened */
    cst_options o = cst_options_default();
    o.below = s->below;
    if (s->model->design) cst_problem_free(cst_problem_load(path, s->nset, s->set, &o, &said[0]));
    if (s->model->identify) cst_fit_free(cst_fit_new(path, s->nset, s->set, &o, &said[1]));
    for (int i = 0; i < 2; i++) cst_diag_append_errors(&s->diag, &said[i]);
    return said[0].errors || said[1].errors ? cst_session_fail(s, CST_MODEL) : 0;
}

static int run(const cst_args *args)
{
    cst_session *s = cst_new(args->arena, cst_session, 1);
    int status = cst_session_open(s, args);
    if (!status) status = check_sections(s);
    if (!status) status = cst_session_run(s);
    if (!status) {
        facts f = collect(s);
        cst_diag *notes = cst_new(args->arena, cst_diag, 1);
        cst_check_notes(s, f.lu->rcond, notes);
        cst_session_messages(s);
        if (s->json)
            print_json(s, args->out, &f, notes, 0);
        else if (!s->quiet)
            print(s, &f, notes);
        status = report(s, &f, notes);
    }
    cst_session_close(s);
    return status;
}

const cst_command cst_command_check = {
    .name = "check",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Reads a model, assembles it and reports what it contains.",
    .notes = "Bodies and masses, joints and their rows, degrees of freedom by rank, redundant rows "
             "and what they follow from, spins that are held, singular positions, the conditioning "
             "of the equations; with joint coordinates the spanning tree and the cut joints. The "
             "sections design and identify are read too, with their files. Warnings (a body "
             "without mass, bad conditioning, an unused parameter) go to standard error; notes "
             "(unused points and measures, bodies that nothing touches) come last. With --report "
             "DIR/check.json, DIR/scene.json and a page that shows the mechanism as it is drawn.",
    .groups = CST_OPTIONS_MODEL | CST_OPTIONS_FORMULATION | CST_OPTIONS_OUT | CST_OPTIONS_REPORT |
              CST_OPTIONS_PRINT,
    .run = run,
};
