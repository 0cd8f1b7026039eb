/* SPDX-License-Identifier: MIT
 *
 * costate gradient: what each number of the file does to each objective. */
#include "cli/gradient.h"
#include "sensitivity/asked.h"

#include <math.h>

static cst_status compute(cst_gradient_job *job)
{
    cst_session *s = job->s;
    cst_status ok = cst_slopes_get(job, &job->g);
    job->stats = cst_run_stats(s->run);
    job->scale = cst_new(s->arena, double, s->model->objective.n + 1);
    for (int o = 0; ok == CST_OK && o < s->model->objective.n; o++)
        job->scale[o] = cst_objective_scale(s->run, o);
    if (ok == CST_OK) cst_gradient_round(job);
    job->kinks = cst_kinks_text(s->arena, s->run);
    if (ok == CST_OK && cst_args_flag(s->args, "check")) ok = cst_gradient_check(job);
    if (ok == CST_OK && job->side) ok = cst_gradient_sides(job);
    return ok;
}

/* --wrt, and --sides, which stands for both */
static int select_numbers(cst_gradient_job *job)
{
    const char *wrt = cst_args_text(job->s->args, "wrt"),
               *sides = cst_args_text(job->s->args, "sides");
    if (sides) job->side = cst_gradient_select(job, "--sides", sides, &job->nside);
    if (sides && !job->side) return 0;
    if (sides && !wrt)
        job->which = job->side, job->n = job->nside;
    else
        job->which = cst_gradient_select(job, "--wrt", wrt ? wrt : "all", &job->n);
    return job->which != NULL;
}

static int gradient(cst_gradient_job *job)
{
    cst_session *s = job->s;
    if (s->model->objective.n == 0) {
        cst_error(&s->diag, CST_MODEL, cst_session_where(s),
                  "the model has no objectives: there is nothing to differentiate");
        return cst_session_fail(s, CST_MODEL);
    }
    if (!select_numbers(job)) return cst_session_fail(s, CST_USAGE);
    int leave = cst_session_run(s);
    if (!leave) leave = cst_session_directory(s);
    if (leave) return leave;
    if (job->method == CST_DIFFERENCE && !cst_args_flag(s->args, "check")) {
        static const char *const word[] = {"extrapolated", "central", "forward"};
        int kind = cst_args_choice(s->args, "difference");
        double width = cst_args_number(s->args, "width");
        s->run->options.difference = kind < 0 ? NULL : word[kind],
        s->run->options.width = isnan(width) ? 0 : width;
    }
    job->dims = *s->model->dimensions;
    job->kind = cst_new(s->arena, cst_vector_kind, s->model->leaf.n + 1);
    job->size = cst_dimensions_sizes(&job->dims, s->arena, s->model, job->kind);
    cst_status ok = compute(job);
    if (ok != CST_OK) return cst_session_fail(s, ok);
    cst_session_messages(s);
    if (!cst_gradient_write(job) || !cst_gradient_hdf5(job))
        return cst_session_fail(s, s->diag.status);
    if (s->json) {
        cst_gradient_json(job, s->args->out, 0);
    } else if (!s->quiet) {
        cst_gradient_print(job);
        cst_sides_print(job);
        cst_checked_print(job);
    }
    cst_status page = cst_session_report(s, 1);
    cst_session_messages(s);
    if (page != CST_OK) return cst_exit_status(page);
    const int doubt = job->check && job->check->verdict_of_all != CST_CHECK_CONFIRMED;
    return doubt ? CST_EXIT_FAILED : CST_EXIT_DONE;
}

static int run(const cst_args *args)
{
    cst_session *s = cst_new(args->arena, cst_session, 1);
    double top = cst_args_number(args, "top");
    int method = cst_args_choice(args, "method");
    cst_gradient_job job = {
        .s = s,
        .method = method < 0 ? CST_ADJOINT
                             : (cst_method)method, /* the words are those of CST_METHOD_LIST */
        .top = isnan(top) ? 20 : (int)top};
    int status = cst_session_open(s, args);
    if (!status) status = gradient(&job);
    cst_session_close(s);
    return status;
}

static const cst_option options[] = {
    {"wrt", CST_OPTION_TEXT, "all|design|NAME,...", 0, 0,
     "numbers to differentiate by; names may have * and ?; design: the model's design variables, "
     "else its parameters"},
    {"method", CST_OPTION_CHOICE,
     "adjoint|direct|difference|continuous-direct|continuous-adjoint|mixed", 0, 0,
     "adjoint: one sweep for all numbers; direct: one for each; difference: for checking"},
    {"difference", CST_OPTION_CHOICE, "extrapolated|central|forward", 0, 0,
     "method difference: extrapolated from three central differences, or a single central or "
     "forward one"},
    {"width", CST_OPTION_NUMBER, "X", 1e-15, 1,
     "of central and forward differences, relative to the number; default: chosen for each number"},
    {"top", CST_OPTION_WHOLE, "N", 0, 1e9,
     "rows per table on the terminal, default 20; the files have all rows"},
    {"check", CST_OPTION_FLAG, NULL, 0, 0,
     "compare adjoint, direct and differences number by number, and verify the identities of mass "
     "and length"},
    {"sides", CST_OPTION_TEXT, "NAME,...", 0, 0,
     "the slopes below and above these numbers, one at a time; names as for --wrt"},
    {NULL, CST_OPTION_FLAG, NULL, 0, 0, NULL},
};

const cst_command cst_command_gradient = {
    .name = "gradient",
    .operands = "MODEL",
    .least = 1,
    .most = 1,
    .summary = "Differentiates every objective by the numbers of the model file.",
    .notes =
        "Prints the numbers in the order of their influence, slope times size, with their places "
        "in the file, the numbers without effect, and those that have no gradient, with the "
        "reason. Writes DIR/gradient.csv and DIR/gradient.json; with --check also DIR/check.csv; "
        "with --hdf5 also DIR/results.h5, which has the histories of the measures too.\n"
        "--check: adjoint and direct must agree to 1e-9 of the largest influence of all numbers of "
        "the model, or to ten times what a change of all last digits makes of them. Then central "
        "differences of up to four widths, from 1e-3 of the number on, must agree with the slope "
        "to 1e-6 of itself, or to ten times their own error; three widths that agree with each "
        "other refute it. Where they see a kink, or the gradient says that it is one-sided or not "
        "differentiable, the slopes to both sides follow (--sides). A number takes at most 24 "
        "simulations, most take 4; then it is not settled. Where a tolerance chooses the steps, "
        "differences that choose them anew must agree too. With more than 120 numbers differences "
        "are made for 120 of them: the 60 most influential and 60 spread over the others. What is "
        "said of a number does not depend on the others. For mass and for length the sum of a p "
        "dpsi/dp over all numbers must be a times psi, where a is the exponent of kg or m in the "
        "unit. (Not for time: step and end would have to scale too.) The exit status is 1 after a "
        "disagreement or a kink, if nothing could be compared, and if the gradient is known to "
        "leave something out: instants that are not located, or the other of two slopes where it "
        "is "
        "not marked as that of one side.\n"
        "--sides: the adjoint at p - e and p + e, for narrower and narrower e inside the range of "
        "the number, until two widths with the same steps and events agree. One slope, two slopes, "
        "a jump of the value, one side only, or not settled; also in DIR/sides.csv. Without --wrt "
        "the gradient is by these numbers.",
    .groups = CST_OPTIONS_MODEL | CST_OPTIONS_RUN | CST_OPTIONS_OUT | CST_OPTIONS_HDF5 |
              CST_OPTIONS_REPORT | CST_OPTIONS_PRINT,
    .option = options,
    .run = run,
};
