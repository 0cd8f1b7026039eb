/* SPDX-License-Identifier: MIT
 *
 * costate COMMAND [OPERANDS] [OPTIONS] */
#define _POSIX_C_SOURCE 200809L /* dup2, fdopen */
#include "cli/command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "costate.h"

#define CST_COMMAND(name) extern const cst_command cst_command_##name;
#include "cli/commands.def"
#undef CST_COMMAND

const cst_command *cst_command_at(int index)
{
    static const cst_command *const table[] = {
#define CST_COMMAND(name) &cst_command_##name,
#include "cli/commands.def"
#undef CST_COMMAND
    };
    return index < (int)(sizeof table / sizeof *table) ? table[index] : NULL;
}

static int unknown_command(const char *name)
{
    const cst_command *c;
    cst_nearest near = cst_nearest_begin(name);
    for (int i = 0; (c = cst_command_at(i)); i++) cst_nearest_try(&near, c->name);
    const char *best = cst_nearest_best(&near);
    fprintf(stderr,
            best ? "costate: unknown command '%s', did you mean '%s'?\n"
                 : "costate: unknown command '%s'\n",
            name, best);
    fprintf(stderr, "Try: costate help\n");
    return CST_EXIT_WRONG;
}

/* With --json one object is printed and nothing else. Libraries print too: what they send to the
 * standard output goes to standard error, and the object alone to where the output really leads. */
static FILE *output_of(const cst_args *args)
{
    const int prints = args->command->groups & CST_OPTIONS_PRINT;
    if (!prints || !cst_args_flag(args, "json")) return stdout;
    const int real = dup(STDOUT_FILENO);
    FILE *out = real < 0 ? NULL : fdopen(real, "w");
    return out && dup2(STDERR_FILENO, STDOUT_FILENO) >= 0 ? out : stdout;
}

/* The status, unless what was printed has not arrived. */
static int printed(FILE *out, int status)
{
    if (fflush(out) == 0 && !ferror(out)) return status;
    perror("costate: standard output");
    return status ? status : CST_EXIT_FAILED;
}

static int run_command(cst_arena *arena, const cst_command *c, int argc, char **argv)
{
    cst_args args = {.arena = arena, .command = c};
    int status = CST_EXIT_DONE;
    if (!cst_args_parse(&args, argc, argv, &status)) return printed(stdout, status);
    args.out = output_of(&args);
    status = c->run(&args);
    return printed(args.out, status);
}

static const cst_command *find_command(const char *name)
{
    const cst_command *c;
    for (int i = 0; (c = cst_command_at(i)); i++)
        if (strcmp(c->name, name) == 0) break;
    return c;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "--version") == 0) {
        cst_print_version();
        return printed(stdout, CST_EXIT_DONE);
    }
    if (argc < 2) {
        fprintf(stderr, "usage: costate COMMAND ...\nTry: costate help\n");
        return CST_EXIT_WRONG;
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) name = "help";
    const cst_command *c = find_command(name);
    if (!c) return unknown_command(name);
    cst_arena arena = {0};
    if (CST_ARENA_GUARD(&arena)) {
        fprintf(stderr, "costate: out of memory\n");
        cst_arena_free(&arena);
        return CST_EXIT_FAILED;
    }
    int status = run_command(&arena, c, argc - 2, argv + 2);
    cst_arena_free(&arena);
    return status;
}
