/* SPDX-License-Identifier: MIT
 *
 * Two neighbouring doubles in one operation, which every processor of today has. Sums keep the order they have one by one. */
#ifndef CST_LINALG_PAIR_H
#define CST_LINALG_PAIR_H

typedef double cst_pair __attribute__((vector_size(16), aligned(8), may_alias));

#define CST_PAIR(p) (*(cst_pair *)(p))
#define CST_READ_PAIR(p) (*(const cst_pair *)(p))
#define CST_BOTH(x) ((cst_pair){x, x})

#define CST_INLINE static inline __attribute__((always_inline)) /* loops whose lengths are constants at the call */

#endif
