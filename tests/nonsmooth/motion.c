/* SPDX-License-Identifier: MIT */
#include "nonsmooth/cases.h"
void nonsmooth_motion(nonsmooth_table *to) { (void)to; }
