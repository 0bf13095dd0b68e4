#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# hardened.sh PROGRAM DEFENCE…: the program that was built has the defences of cmake/harden.cmake that its compiler offers,
# and still checks what it assumes.
set -u
program=$1
shift
command -v readelf >/dev/null || exit 77
readelf -h "$program" >/dev/null 2>&1 || exit 77 # no ELF here
failed=0

has() { # DEFENCE
    case $1 in
    pie) readelf -hW "$program" | grep -q 'Type: *DYN' ;;
    relro) readelf -lW "$program" | grep -q GNU_RELRO ;;
    now) readelf -dW "$program" | grep -q 'BIND_NOW\|FLAGS_1.*NOW' ;;
    noexecstack) readelf -lW "$program" | grep GNU_STACK | grep -q 'RW ' ;;
    stack) readelf -sW "$program" | grep -q __stack_chk_fail ;;
    fortify) readelf -sW "$program" | grep -q '__[a-z]*printf_chk' ;;
    # The program has no symbol for main; the C runtime alone has a dozen of these.
    branches) [ "$(objdump -d -j .text "$program" | grep -c endbr)" -gt 100 ] ;;
    assertions) readelf -sW "$program" | grep -q '__assert' ;;
    *) return 1 ;;
    esac
}

for defence; do
    has "$defence" && continue
    echo "$program: no $defence"
    failed=1
done
[ $# -ge 1 ] && [ $failed = 0 ]
