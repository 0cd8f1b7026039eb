/* SPDX-License-Identifier: MIT
 *
 * Independent jobs shared out to threads. */
#ifndef CST_BASE_CREW_H
#define CST_BASE_CREW_H

/* run(ctx, k) for k = 0 .. jobs-1, at most `threads` at a time, the caller's among them: whoever is free takes the next. Where
 * no thread can be started the others do its jobs. */
void cst_crew_run(int jobs, int threads, void (*run)(void *ctx, int k), void *ctx);

#endif
