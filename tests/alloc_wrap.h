/* SPDX-License-Identifier: MIT
 *
 * Allocation failures for tests. Programs named tests/test_alloc*.c are linked with
 * --wrap=aligned_alloc: all memory of the library comes from there (base/arena.c; tests/run_tree.sh
 * sees to it), and nothing else calls it. */
#ifndef CST_TESTS_ALLOC_WRAP_H
#define CST_TESTS_ALLOC_WRAP_H

void alloc_fail_at(
    long k); /* the k-th allocation from now on (from 1) fails, later ones do not; 0: none does */
long alloc_count(void); /* allocations since the last alloc_fail_at */

#endif
