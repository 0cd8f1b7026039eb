/* SPDX-License-Identifier: MIT
 *
 * costate help: commands, topics, and each type of the model file. */
#include "cli/command.h"
#include "cli/help.h"

#include <string.h>

#include "base/text.h"
#include "costate.h"

static void write_bodies(const cst_page *p, cst_arena *a) { cst_help_section(p, a, "bodies"); }
static void write_joints(const cst_page *p, cst_arena *a) { cst_help_section(p, a, "joints"); }
static void write_forces(const cst_page *p, cst_arena *a) { cst_help_section(p, a, "forces"); }
static void write_blocks(const cst_page *p, cst_arena *a) { cst_help_section(p, a, "blocks"); }
static void write_roads(const cst_page *p, cst_arena *a) { cst_help_section(p, a, "roads"); }
static void write_measures(const cst_page *p, cst_arena *a) { cst_help_section(p, a, "measures"); }

static const cst_topic topics[] = {
    {"model", "The model file", "an example, and the contents of each section", cst_help_model},
    {"values", "Kinds of values", "what may be written for a point, an axis, a law, ...",
     cst_help_values},
    {"bodies", "Bodies", "all types of bodies", write_bodies},
    {"joints", "Joints", "all types of joints and drives", write_joints},
    {"forces", "Forces", "all types of forces", write_forces},
    {"blocks", "Blocks", "filters and controllers", write_blocks},
    {"roads", "Roads", "surfaces for tires", write_roads},
    {"measures", "Measures", "everything that can be measured", write_measures},
    {"functions", "Functions", "operators and functions of expressions", cst_help_functions},
    {"units", "Units", "units that may be written behind numbers", cst_help_units},
};
enum { NTOPIC = sizeof topics / sizeof *topics };

static void write_overview(const cst_page *p, cst_arena *a)
{
    const cst_command *c;
    printf("%sCostate %s%s: multibody dynamics with exact gradients\n\n", p->style.bold,
           cst_version(), p->style.off);
    printf("usage: costate COMMAND ... [OPTIONS]\n\n");
    cst_page_heading(p, 2, "commands");
    cst_grid g = cst_grid_new(a, "llw", NULL);
    for (int i = 0; (c = cst_command_at(i)); i++) {
        cst_grid_add(&g, "%s", c->name);
        cst_grid_add(&g, "%s", c->operands);
        cst_grid_add(&g, "%s", c->summary);
    }
    cst_grid_print(&g, p);
    cst_page_gap(p);
    cst_page_heading(p, 2, "topics");
    cst_grid t = cst_grid_new(a, "lw", NULL);
    for (int i = 0; i < NTOPIC; i++) {
        cst_grid_add(&t, "%s", topics[i].name);
        cst_grid_add(&t, "%s", topics[i].summary);
    }
    cst_grid_print(&t, p);
    cst_page_gap(p);
    cst_page_text(p, "costate help NAME describes a command, a topic, a type of the model file or "
                     "a function: costate help simulate, costate help revolute.");
}

static void write_reference(cst_arena *a)
{
    cst_page p = cst_page_of(stdout, 1);
    const cst_type *t;
    cst_page_heading(&p, 1, "Reference of the model file");
    cst_page_text(&p, "Written by `costate help --markdown` from the tables that the program reads "
                      "models with; `scripts/reference` renews it.");
    for (int i = 0; i < NTOPIC; i++) {
        cst_page_heading(&p, 2, topics[i].title);
        topics[i].write(&p, a);
        for (int k = 0; (t = cst_type_at(k)); k++)
            if (strcmp(t->section, topics[i].name) == 0) cst_help_type(&p, a, t);
    }
}

static void offer(void *to, const char *name) { cst_nearest_try(to, name); }

static int unknown_topic(const char *name)
{
    cst_nearest near = cst_nearest_begin(name);
    const cst_command *c;
    const cst_type *t;
    for (int i = 0; (c = cst_command_at(i)); i++) offer(&near, c->name);
    for (int i = 0; i < NTOPIC; i++) offer(&near, topics[i].name);
    for (int i = 0; (t = cst_type_at(i)); i++) offer(&near, t->keyword);
    cst_help_function_names(offer, &near);
    const char *best = cst_nearest_best(&near);
    fprintf(stderr,
            best ? "costate help: unknown topic '%s', did you mean '%s'?\n"
                 : "costate help: unknown topic '%s'\n",
            name, best);
    fprintf(stderr, "Try: costate help\n");
    return CST_EXIT_WRONG;
}

static int write_topic(const cst_page *p, cst_arena *a, const char *name)
{
    const cst_command *c;
    const cst_type *t;
    int found = 0;
    for (int i = 0; (c = cst_command_at(i)); i++)
        if (strcmp(c->name, name) == 0) cst_usage_print(c), found++;
    for (int i = 0; i < NTOPIC; i++)
        if (strcmp(topics[i].name, name) == 0) {
            cst_page_heading(p, 2, topics[i].title);
            topics[i].write(p, a);
            found++;
        }
    for (int i = 0; (t = cst_type_at(i)); i++)
        if (strcmp(t->keyword, name) == 0) {
            if (found++) cst_page_gap(p);
            cst_help_type(p, a, t);
        }
    if (!found) found = cst_help_function(p, a, name);
    return found ? CST_EXIT_DONE : unknown_topic(name);
}

static int run(const cst_args *args)
{
    cst_page p = cst_page_of(stdout, 0);
    if (cst_args_flag(args, "markdown")) {
        write_reference(args->arena);
        return CST_EXIT_DONE;
    }
    if (args->operand.n) return write_topic(&p, args->arena, args->operand.at[0]);
    write_overview(&p, args->arena);
    return CST_EXIT_DONE;
}

static const cst_option options[] = {
    {"markdown", CST_OPTION_FLAG, NULL, 0, 0, "the whole reference of the model file as Markdown"},
    {0},
};

const cst_command cst_command_help = {
    .name = "help",
    .operands = "[TOPIC]",
    .most = 1,
    .summary = "Describes commands, types of the model file, measures, functions and units.",
    .option = options,
    .run = run,
};
