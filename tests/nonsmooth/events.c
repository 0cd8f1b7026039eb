/* SPDX-License-Identifier: MIT */
#include "nonsmooth/cases.h"
void nonsmooth_events(nonsmooth_table *to) { (void)to; }
