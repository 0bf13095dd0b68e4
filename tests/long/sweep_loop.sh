#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A hundred questions on clusters that are other than estimated: nine in ten end within 1 % of the best.
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
exec python3 "$2/tests/fake_cluster.py" "$1" 100 1
