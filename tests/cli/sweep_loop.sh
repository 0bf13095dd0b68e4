#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sweep's loop: jobs in three forms under one contract, logs that come back, what lost, failed or is of another plan, the state, the
# end; and the scripts on a cluster that is other than estimated (tests/fake_cluster.py; a hundred questions in tests/long).
. "$(dirname "$0")/../helpers.sh"

plan64 "etp: 1" "moe_token_dispatcher_type: alltoall" >"$dir/plan.yaml"
plan=$dir/plan.yaml results=$dir/results
mkdir "$results"
ask() { "$moeplan" sweep "$plan" --results "$results" "$@" >"$dir/out" 2>"$dir/err" || { cat "$dir/err"; fail "sweep fails"; }; }
next() { sed -n '/^next/,$p' "$dir/out" | sed -n 's/^  \([0-9a-f]\{8\}\) .*/\1/p'; }
"$moeplan" sweep "$plan" --results "$results" --format json | sed 's/{"id":/\n&/g' >"$dir/all"
estimated() { grep "^{\"id\":\"$1\"" "$dir/all" | number estimated_s; } # ID: seconds
log() { # ID SECONDS: a log of twelve steps
    mkdir -p "$results/$1"
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        awk "BEGIN { printf \" iteration %8d/      50 | elapsed time per iteration (ms): %.1f |\n\", $i, 1000 * ($i == 1 ? 60 : $2) }"
    done >"$results/$1/log.txt"
}

# the jobs: the plan itself first, every one with the same steps; they are shell scripts and YAML
for format in shell slurm; do
    "$moeplan" sweep "$plan" --format $format >"$dir/job.sh" || fail "no $format"
    bash -n "$dir/job.sh" || fail "$format is no script"
    grep -q "^trials=(baseline [0-9a-f]\{8\} [0-9a-f]\{8\} [0-9a-f]\{8\})" "$dir/job.sh" || fail "$format: not four trials"
    [ "$(grep -c '^--train-iters 50' "$dir/job.sh")" = 4 ] || fail "$format: not one contract"
    [ "$(grep -c '^--log-interval 1' "$dir/job.sh")" = 4 ] || fail "$format: not one contract"
done
grep -q "^#SBATCH --array=0-3%1" "$dir/job.sh" || fail "no array"
grep -q "^#SBATCH --nodes=8" "$dir/job.sh" || fail "no nodes"
"$moeplan" sweep "$plan" --format kubernetes >"$dir/job.yaml" || fail "no jobs"
[ "$(grep -c '^kind: Job' "$dir/job.yaml")" = 4 ] || fail "not four jobs"
grep -q "completions: 8" "$dir/job.yaml" || fail "no pod a node"
sed 's/^framework: .*/framework: bridge/' "$plan" >"$dir/bridge.yaml"
"$moeplan" sweep "$dir/bridge.yaml" --format shell | grep -q "scripts/training/run_recipe.py --recipe" || fail "no job for Bridge"
printf 'moeplan: 1\nframework: automodel\nmodel: qwen3-30b-a3b\nplatform: h100\ngpus: 64\nmbs: 1\ngbs: 512\nseq: 4096\nep: 8\n' >"$dir/am.yaml"
"$moeplan" sweep "$dir/am.yaml" --format shell | grep -q "max_steps: 50" || fail "no job for AutoModel"

# a script that is run again does not repeat what has a log, and a trial that fails leaves the others theirs
mkdir "$dir/bin"
printf '#!/bin/sh\necho run >>"%s/count"\necho "iteration 1/ 50"\n[ "$(wc -l <"%s/count")" != 2 ]\n' "$dir" "$dir" >"$dir/bin/torchrun"
chmod +x "$dir/bin/torchrun"
"$moeplan" sweep "$plan" --format shell >"$dir/job.sh"
for again in 1 2; do PATH=$dir/bin:$PATH RESULTS=$dir/ran bash "$dir/job.sh" || fail "the script fails"; done
[ "$(wc -l <"$dir/count")" = 4 ] || fail "$(wc -l <"$dir/count") runs of four trials"
[ "$(cat "$dir"/ran/*/log.txt | grep -c "the trial ended with exit code 1")" = 1 ] || fail "a failure is not told"
"$moeplan" validate "$dir/ran/baseline/plan.yaml" >"$dir/out" 2>&1 || fail "the plan of a trial is not valid"

# nothing came back: the plan itself and the three worth most
ask
has "0 measured, 0 failed"
[ "$(next | wc -l)" = 3 ] || fail "not three next"
first=$(next | sed -n 1p) second=$(next | sed -n 2p) third=$(next | sed -n 3p)
# the runs are a tenth slower than estimated, one loses, one runs out of memory
base=$(estimated baseline)
log baseline "$(awk "BEGIN { print 1.1 * $base }")"
log "$first" "$(awk "BEGIN { print 1.1 * $(estimated "$first") }")"
log "$second" "$(awk "BEGIN { print 2 * $base }")"
mkdir -p "$results/$third" "$results/00000000"
echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB." >"$results/$third/log.txt"
cp "$results/baseline/log.txt" "$results/00000000/log.txt"
ask
has "3 measured, 1 failed"
has "the runs take 1.10 times the estimates"
grep -q "^  $first .*<- best" "$dir/out" || fail "the fastest is not the best"
grep -q "^  $second .*lost" "$dir/out" || fail "what lost is not told"
grep -q "^  $third .*failed" "$dir/out" || fail "what failed is not told"
grep -q "00000000 is a trial of another plan" "$dir/err" || fail "another plan's trial is not told"
for id in $first $second $third; do ! next | grep -q "$id" || fail "$id is asked for again"; done
# a log of fewer steps than count is still under way; the state remembers what was measured
sed -i 4q "$results/$first/log.txt"
ask
has "3 measured, 1 failed"
ask --format shell
! grep -q "    baseline)" "$dir/out" || fail "the plan is asked for again"
# two pods' logs are one
head -6 "$results/baseline/log.txt" >"$results/baseline/log0.txt"
tail -6 "$results/baseline/log.txt" >"$results/baseline/log1.txt"
rm "$results/baseline/log.txt"
ask
has "3 measured, 1 failed"

# asked for again and again it comes to an end
rounds=0
while [ $rounds -lt 10 ]; do
    ask --top 16
    ! grep -q "^finished: " "$dir/out" || break
    for id in $(next); do log "$id" "$(awk "BEGIN { print 1.1 * $(estimated "$id") }")"; done
    rounds=$((rounds + 1))
done
has "finished: what is left is expected to gain less than runs scatter (2 %)"
ask --format shell
[ ! -s "$dir/out" ] || fail "jobs after the end"

expect 2 "cannot be read" "$moeplan" sweep "$plan" --results "$dir/absent"
expect 2 "--results answers as" "$moeplan" sweep "$plan" --results "$results" --format plan
expect 2 "at most 16" "$moeplan" sweep "$plan" --results "$results" --top 17

command -v python3 >/dev/null || exit 0
python3 "$source/tests/fake_cluster.py" "$moeplan" 1 7 --scripts --trials=1 --least=0 >"$dir/out" 2>&1 || fail "the fake cluster"
has "1 within 1 % after"
