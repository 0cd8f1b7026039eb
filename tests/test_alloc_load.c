/* SPDX-License-Identifier: MIT
 *
 * Memory running out while a model is loaded: no model, one message, nothing leaks. */
#include "alloc_wrap.h"
#include "costate.h"
#include "expect.h"

static const char text[] =
    "costate: 1\nparameters: {k: 3, c: 2*k + 1}\npoints: {A: [0, 0, 0], B: [c, 0, 0]}\n"
    "bodies: {r: {type: bar, from: A, to: B, mass: k}}\n"
    "joints: {h: {type: revolute, between: [ground, r], at: A, axis: z}}\n"
    "forces: {s: {type: spring, from: ground.A, to: r.B, force: k*(s - 1) + c*v}}\n"
    "measures: {p: {type: position, of: r.B}, R: {type: reaction, of: h}, q: p.x + 1}\n"
    "objectives: {psi: integral(q^2) + peak(norm(R.force))}\n"
    "parts: {x: {model: {points: {C: [k, 1, 2]}}, mirror: y, shift: [0, c, 0]}}\n";

static void every_block_may_fail(void **state)
{
    (void)state;
    static cst_diag diag;
    long k = 0;
    for (int done = 0; !done; k++) {
        diag = (cst_diag){0};
        alloc_fail_at(k + 1);
        cst_model *m = cst_model_parse("m.yaml", text, sizeof text - 1, 0, NULL, &diag);
        done = alloc_count() <= k;
        expect_true((m != NULL) == done);
        if (!done) expect_text(diag.text, "m.yaml: error: out of memory\n");
        cst_model_free(m);
    }
    alloc_fail_at(0);
    expect_true(k > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_block_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
