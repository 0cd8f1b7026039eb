#!/bin/sh
# SPDX-License-Identifier: MIT
# Fifty kills; tests/run_optimize.sh has a few.
exec "$2/tests/kill_optimize.sh" "$1" "$2" 50
