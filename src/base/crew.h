/* SPDX-License-Identifier: MIT
 *
 * Independent jobs shared out to threads. */
#ifndef CST_BASE_CREW_H
#define CST_BASE_CREW_H

/* Calls run(ctx, k) for k = 0 .. jobs-1 on at most `threads` threads, including the caller's; each
 * takes the next job when it is free. If a thread cannot be started, the others do its jobs. */
void cst_crew_run(int jobs, int threads, void (*run)(void *ctx, int k), void *ctx);

#endif
