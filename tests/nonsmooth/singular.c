/* SPDX-License-Identifier: MIT */
#include "nonsmooth/cases.h"
void nonsmooth_singular(nonsmooth_table *to) { (void)to; }
