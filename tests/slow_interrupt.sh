#!/bin/sh
# SPDX-License-Identifier: MIT
# Five hundred interrupts; tests/run_optimize.sh has a few.
exec "$2/tests/interrupt_optimize.sh" "$1" "$2" "${3:-500}"
