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
    char *dir = cst_arena_strdup(args->arena, args->operand.at[0]);
    for (size_t n = strlen(dir); n > 1 && dir[n - 1] == '/'; n--) dir[n - 1] = 0;
    const char *path = cst_args_text(args, "file");
    if (!path) path = cst_arena_printf(args->arena, "%s/report.html", dir);
    cst_status ok = cst_report_write(dir, path, &s.diag);
    if (ok != CST_OK) return cst_session_fail(&s, ok);
    if (s.json) {
        cst_json j = cst_json_begin(stdout, 1);
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
    {"file", CST_OPTION_TEXT, "FILE", 0, 0, "the page; default: DIR/report.html"},
    {NULL, CST_OPTION_FLAG, NULL, 0, 0, NULL},
};

const cst_command cst_command_report = {
    .name = "report",
    .operands = "DIR",
    .least = 1,
    .most = 1,
    .summary = "Writes one HTML page about a run: animation, plots, gradient, history.",
    .notes =
        "DIR is the directory of results of any other command. The page needs no other file and no network: "
        "the mechanism moving in 3-D, plots of all measures with a cursor shared with the animation, the "
        "ranked gradient and its arrows at the hardpoints, the history of an optimisation, the facts of the "
        "run. What the directory does not have is left out.\n"
        "The option --report of the other commands writes the page at their end.",
    .groups = CST_OPTIONS_PRINT,
    .option = options,
    .run = run,
};
