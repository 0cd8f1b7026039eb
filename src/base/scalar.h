/* SPDX-License-Identifier: MIT
 *
 * `real`: the scalar that kernels are written on. Kernel files are compiled twice: `real` is double
 * in the library and double complex in the oracle of the tests, where a complex step differentiates
 * what was written to the last bit. Externals of a kernel file are named CST_K(name) so that both
 * can be linked. Compare through sc_val(); use sc_abs, sc_max, sc_atan2, ... instead of fabs, fmax,
 * atan2. */
#ifndef CST_BASE_SCALAR_H
#define CST_BASE_SCALAR_H

#include <math.h>

#ifdef CST_ORACLE
#include <complex.h>
#undef I /* the name belongs to inertias */
typedef double complex real;
#define CST_K(name) name##_oracle
#define sc_val(x) creal(x)
#define sc_sqrt(x) csqrt(x)
#define sc_sin(x) csin(x)
#define sc_cos(x) ccos(x)
#define sc_tan(x) ctan(x)
#define sc_exp(x) cexp(x)
#define sc_log(x) clog(x)
#define sc_asin(x) casin(x)
#define sc_acos(x) cacos(x)
#define sc_atan(x) catan(x)
#define sc_sinh(x) csinh(x)
#define sc_cosh(x) ccosh(x)
#define sc_tanh(x) ctanh(x)
#define sc_pow(x, y) cpow(x, y)
/* analytic continuation of atan2 away from the branch cut; exact for a complex step */
static inline real sc_atan2(real y, real x)
{
    double yr = creal(y), xr = creal(x), yi = cimag(y), xi = cimag(x);
    double r2 = xr * xr + yr * yr;
    return atan2(yr, xr) + _Complex_I * ((xr * yi - yr * xi) / r2);
}
#else
typedef double real;
#define CST_K(name) name
#define sc_val(x) (x)
#define sc_sqrt(x) sqrt(x)
#define sc_sin(x) sin(x)
#define sc_cos(x) cos(x)
#define sc_tan(x) tan(x)
#define sc_exp(x) exp(x)
#define sc_log(x) log(x)
#define sc_asin(x) asin(x)
#define sc_acos(x) acos(x)
#define sc_atan(x) atan(x)
#define sc_sinh(x) sinh(x)
#define sc_cosh(x) cosh(x)
#define sc_tanh(x) tanh(x)
#define sc_pow(x, y) pow(x, y)
static inline real sc_atan2(real y, real x) { return atan2(y, x); }
#endif

static inline real sc_abs(real x) { return sc_val(x) < 0 ? -x : x; }
static inline real sc_max(real a, real b) { return sc_val(a) >= sc_val(b) ? a : b; }
static inline real sc_min(real a, real b) { return sc_val(a) <= sc_val(b) ? a : b; }

#define CST_PI 3.14159265358979323846

#endif
