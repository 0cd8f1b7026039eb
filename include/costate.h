/* SPDX-License-Identifier: MIT
 *
 * Costate: multibody dynamics with exact gradients.
 *
 *     M q'' + phi_q^T lambda = Q(q, q', z, t),   phi(q, t) = 0,   psi = w(end) + integral g dt,   dpsi/dp
 *
 * The library never prints, exits or keeps globals. Functions return a status and append messages to a cst_diag that
 * the caller owns. A model is immutable and may be shared by threads; a run belongs to one thread. */
#ifndef COSTATE_H
#define COSTATE_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define CST_API __attribute__((visibility("default")))

/* ---- status and messages ---- */

#define CST_STATUS_LIST(X)                                                                                     \
    X(CST_OK, "done")                                                                                          \
    X(CST_NUMERIC, "the computation failed")                                                                   \
    X(CST_MODEL, "the model is wrong")                                                                         \
    X(CST_USAGE, "the request is wrong")                                                                       \
    X(CST_MEMORY, "out of memory")                                                                             \
    X(CST_IO, "a file could not be read or written")                                                           \
    X(CST_STOPPED, "stopped on request")

typedef enum cst_status {
#define X(name, text) name,
    CST_STATUS_LIST(X)
#undef X
} cst_status;

CST_API const char *cst_status_text(cst_status s);
CST_API const char *cst_version(void);

typedef struct cst_diag { /* {0} is empty */
    int errors, warnings;
    int left_out; /* messages that did not fit */
    size_t used;
    char text[32768]; /* lines "file:line:col: error: ..." */
} cst_diag;

#ifdef __cplusplus
}
#endif
#endif
