#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# script.sh PROGRAM SOURCE_DIR: the launch scripts of all models of the catalogue.
exec sh "$2/tests/cli/script.sh" "$1" "$2" all
