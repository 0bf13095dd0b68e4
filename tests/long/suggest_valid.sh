#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# suggest_valid.sh PROGRAM SOURCE_DIR [PLATFORM…]: what suggest prints, validate accepts: one published model of every
# family, in every format, on every platform, at 256 GPUs and at the fewest that suffice. Where the models are not at
# hand: skipped. Answers that no plan fits are counted, not failures.
set -u
program=$1
models=$2/../shared/corpus/hf
shift 2
[ -d "$models" ] || { echo "no model collection beside the source folder"; exit 77; }
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
[ $# -gt 0 ] || set -- $("$program" platforms | awk '/TF/ { next } NF == 0 { exit } { print $1 }')

# The first configuration of every model_type.
families() {
    for config in "$models"/*/config.json; do
        type=$(sed -n 's/.*"model_type": *"\([^"]*\)".*/\1/p' "$config" | head -n 1)
        printf '%s\t%s\n' "$type" "$config"
    done | sort -u -k 1,1 | cut -f 2
}

plans=0 none=0 unread=0 failed=0
for config in $(families); do
    model=$(dirname "$config")
    for platform; do
        for format in flags bridge yaml plan; do
            for gpus in min 256; do
                asked="$(basename "$model") --gpus $gpus --platform $platform --format $format"
                "$program" suggest "$model" --gpus $gpus --platform "$platform" --format $format \
                    >"$folder/plan" 2>"$folder/err"
                case $? in
                0) ;;
                1) none=$((none + 1)); continue ;;
                2) unread=$((unread + 1)); echo "unread: $asked: $(head -n 1 "$folder/err")"; break 3 ;;
                *) failed=$((failed + 1)); echo "crashed: $asked"; continue ;;
                esac
                plans=$((plans + 1))
                # the head of what is printed names the GPUs
                found=$(sed -n '1,3s/^# moeplan.*, \([0-9]*\) x .*/\1/p' "$folder/plan")
                "$program" validate "$folder/plan" --gpus "$found" --platform "$platform" >"$folder/findings" 2>&1 && continue
                failed=$((failed + 1))
                echo "refused: $asked: $(grep -m 1 ' error\[' "$folder/findings")"
            done
        done
    done
done
echo "$plans plans accepted or refused, $none answers without a plan, $unread models not read, $failed failures"
[ $failed -eq 0 ] && [ $plans -gt 0 ]
