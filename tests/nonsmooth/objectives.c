/* SPDX-License-Identifier: MIT */
#include "nonsmooth/cases.h"
void nonsmooth_objectives(nonsmooth_table *to) { (void)to; }
