#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# keys.sh GENERATOR SOURCE_DIR: a spelling that names a field that no release's class has fails the build.
set -u
generator=$1 rules=$2/rules
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r "$rules/parameters" "$work/parameters"

generate() { "$generator" "$work/table.c" "$work/ids.h" "$work"/parameters/*.yaml "$rules"/releases/*/*.yaml 2>&1; }
# Spoils one spelling: what is replaced, by what; then what the generator says of it.
expect() {
    cp "$rules"/parameters/*.yaml "$work/parameters"
    sed -i "s/$1/$2/" "$work"/parameters/*.yaml
    said=$(generate) && echo "taken: $2" && failed=1
    case $said in *"no release has $3"*) ;; *) echo "$2: said: $said" && failed=1 ;; esac
}

failed=0
said=$(generate) || { echo "the parameter files as they are: $said" && failed=1; }
expect "key: checkpoint.load_optim," "key: checkpoint.no_load_optim," checkpoint.no_load_optim
expect "also: \[optimizer.use_distributed_optimizer\]" "also: [optimizer.distributes]" optimizer.distributes
expect "unset: \[train.train_iters\]" "unset: [train.iterations]" train.iterations
exit $failed
