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

# many requests, done by several workers: every answer, in order; and the same into a file
i=0
while [ $i -lt 600 ]; do
    echo "{\"id\":$i,\"gpus\":$((i % 9 + 1)),\"text\":\"{moeplan: 1, framework: bridge, tp: $((i % 5 + 1))}\"}"
    i=$((i + 1))
done >many.jsonl
"$program" validate --batch <many.jsonl >many.out
cut -d, -f1 many.jsonl >wanted.txt
cut -d, -f1 many.out | cmp -s - wanted.txt
expect "ids of many answers" 0 $?
expect "5 GPUs, tp 5" 1 "$(grep -c '"id":4,.*"status":"ok"' many.out)"
expect "2 GPUs, tp 3" 1 "$(grep -c '"id":307,.*"status":"invalid"' many.out)"
"$program" validate --batch -o many.file <many.jsonl
cmp -s many.out many.file
expect "the same answers in a file" 0 $?
"$program" validate --batch <many.jsonl | cmp -s - many.out
expect "the same answers again" 0 $?

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
