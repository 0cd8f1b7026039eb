/* SPDX-License-Identifier: MIT
 *
 * costate report: one page about a run. */
#include "cli/session.h"

#include <stdio.h>
#include <string.h>

#include "report/report.h"

static int run(const cst_args *args)
{
    cst_session s = {.args = args, .arena = args->arena, .json = cst_args_flag(args, "json")};
    const int ndir = args->operand.n;
    const char **dir = cst_new(args->arena, const char *, ndir);
    for (int i = 0; i < ndir; i++) {
        size_t n = strlen(args->operand.at[i]);
        while (n > 1 && args->operand.at[i][n - 1] == '/') n--;
        dir[i] = cst_arena_strndup(args->arena, args->operand.at[i], n);
    }
    const char *path = cst_args_text(args, "file");
    if (!path) path = cst_arena_printf(args->arena, "%s/report.html", dir[0]);
    cst_status ok = cst_report_write(ndir, dir, path, &s.diag);
    if (ok != CST_OK) return cst_session_fail(&s, ok);
    if (s.json) {
        cst_json j = cst_json_begin(args->out, 1);
        cst_json_object(&j, NULL);
        cst_json_text(&j, "file", path);
        cst_json_close(&j);
        cst_json_end(&j);
    } else if (!cst_args_flag(args, "quiet")) {
        printf("%s: open it in a browser\n", path);
    }
    return CST_EXIT_DONE;
}

static const cst_option options[] = {
    {"file", CST_OPTION_TEXT, "FILE", 0, 0, "the page; default: report.html in the first DIR"},
    {NULL, CST_OPTION_FLAG, NULL, 0, 0, NULL},
};

const cst_command cst_command_report = {
    .name = "report",
    .operands = "DIR...",
    .least = 1,
    .most = 16,
    .summary = "Writes one HTML page about runs: animation, plots, gradient, history.",
    .notes = "DIR is the directory of results of any other command. The page needs no other file "
             "and no network: the mechanism moving in 3-D, plots of all measures with a cursor "
             "shared with the animation, the ranked gradient and its arrows at the hardpoints, the "
             "history of an optimisation, the facts of the run. Results that the directory does "
             "not have are left out. For several directories the page has a menu.\n"
             "The option --report of the other commands writes the page at their end.",
    .groups = CST_OPTIONS_PRINT,
    .option = options,
    .run = run,
};
