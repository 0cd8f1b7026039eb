/* SPDX-License-Identifier: MIT */
#include "report/encode.h"

#include <string.h>

void cst_base64_write(FILE *f, const unsigned char *byte, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned have = n - i < 3 ? (unsigned)(n - i) : 3, bits = (unsigned)byte[i] << 16;
        if (have > 1) bits |= (unsigned)byte[i + 1] << 8;
        if (have > 2) bits |= byte[i + 2];
        char four[4] = {digit[bits >> 18], digit[bits >> 12 & 63],
                        have > 1 ? digit[bits >> 6 & 63] : '=', have > 2 ? digit[bits & 63] : '='};
        fwrite(four, 1, 4, f);
    }
}

void cst_float_put(unsigned char to[4], float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    for (int k = 0; k < 4; k++) to[k] = (unsigned char)(bits >> (8 * k));
}

/* rows/2 groups of equal length, the last one shorter */
static size_t group_size(size_t n, size_t rows) { return (n + rows / 2 - 1) / (rows / 2); }

size_t cst_thin(size_t n, size_t rows, const double *x, double *out)
{
    if (n <= rows || rows < 2) {
        memcpy(out, x, n * sizeof *x);
        return n;
    }
    size_t size = group_size(n, rows), k = 0;
    for (size_t i = 0; i < n; i += size) {
        size_t end = i + size < n ? i + size : n, least = i, most = i;
        for (size_t j = i; j < end; j++) {
            if (x[j] < x[least]) least = j;
            if (x[j] > x[most]) most = j;
        }
        out[k++] = x[least < most ? least : most];
        out[k++] = x[least < most ? most : least];
    }
    return k;
}

size_t cst_thin_time(size_t n, size_t rows, const double *t, double *out)
{
    if (n <= rows || rows < 2) {
        memcpy(out, t, n * sizeof *t);
        return n;
    }
    size_t size = group_size(n, rows), k = 0;
    for (size_t i = 0; i < n; i += size) {
        size_t end = i + size < n ? i + size : n;
        double span = t[end - 1] - t[i];
        out[k++] = t[i] + span / 4;
        out[k++] = t[i] + 3 * span / 4;
    }
    return k;
}
