/* SPDX-License-Identifier: MIT
 *
 * fronts_numeric.c for processors with vectors of four doubles. */
#define CST_FRONT_KERNEL cst_front_kernel_wide
#include "linalg/fronts_numeric.c"
