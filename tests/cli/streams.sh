#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# streams.sh PROGRAM SOURCE_DIR: what goes where, and nothing half done.
set -u
program=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failed=0
expect() { # NAME WANTED ACTUAL
    if [ "$2" != "$3" ]; then
        echo "$1: wanted '$2', got '$3'"
        failed=1
    fi
}

# -o writes the whole output, and nothing else appears on stdout
expect "stdout with -o" "" "$("$program" version -o out.txt)"
expect "the file" "$("$program" version)" "$(cat out.txt)"

# a file that cannot be written leaves nothing behind
"$program" version -o missing/out.txt 2>err.txt
expect "exit of an unwritable file" 2 $?
expect "files left behind" "err.txt out.txt" "$(echo *)"

# a usage error does not touch the file
echo before >out.txt
"$program" validate --nope -o out.txt 2>/dev/null
expect "file after a usage error" before "$(cat out.txt)"

# results on stdout, words about them on stderr
printf 'a: [\n' >broken.yaml
"$program" validate broken.yaml >out.txt 2>err.txt
expect "exit of broken YAML" 2 $?
expect "finding on stdout" 1 "$(grep -c 'error\[yaml-syntax\]' out.txt)"
expect "summary on stderr" 1 "$(grep -c '1 file: 1 error' err.txt)"

# a reader that goes away is no error
"$program" help | true
expect "closed pipe" 0 $?

# answers come in order, one a line, also for lines that are no requests
printf '{"id":1,"text":"a: 1"}\nnonsense\n\n[]\n{"id":"x"}' | "$program" validate --batch >out.txt
expect "exit of a batch" 0 $?
expect "answers" 4 "$(wc -l <out.txt)"
expect "ids" '{"id":1 {"id":null {"id":null {"id":"x"' "$(cut -d, -f1 out.txt | tr '\n' ' ' | sed 's/ $//')"

# an answer is there before the next request is sent
mkfifo requests answers
"$program" validate --batch <requests >answers &
pid=$!
exec 3>requests 4<answers
echo '{"id":7,"text":"a: 1"}' >&3
read -r answer <&4
expect "prompt answer" '{"id":7' "${answer%%,*}"
exec 3>&-
wait $pid
expect "exit after the input ends" 0 $?
exit $failed
