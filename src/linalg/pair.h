/* SPDX-License-Identifier: MIT
 *
 * Two adjacent doubles in one operation, which every current processor has. Sums are taken in the
 * same order as in scalar code. */
#ifndef CST_LINALG_PAIR_H
#define CST_LINALG_PAIR_H

typedef double cst_pair __attribute__((vector_size(16), aligned(8), may_alias));

#define CST_PAIR(p) (*(cst_pair *)(p))
#define CST_READ_PAIR(p) (*(const cst_pair *)(p))
#define CST_BOTH(x) ((cst_pair){x, x})

#define CST_INLINE                                                                                 \
    static inline __attribute__((always_inline)) /* loops whose lengths are constants at the call  \
                                                  */

/* y[0..2] are 0 or -0: by their bits, in one branch */
typedef unsigned long long cst_bits __attribute__((may_alias));
static inline int cst_three_zeros(const double *y)
{
    const cst_bits *b = (const cst_bits *)y;
    return (b[0] | b[1] | b[2]) << 1 == 0;
}

#endif
