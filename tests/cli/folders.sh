#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# validate of folders, patterns and repeated names: what could not be looked into is named, in every format, and the status
# is 2; what is named twice is checked once.
. "$(dirname "$0")/../helpers.sh"
moeplan=$(realpath "$moeplan")
cd "$dir"
mkdir -p far r/sub
plan() { printf 'moeplan: 1\nframework: megatron\ntp: 2\n'; }
plan >r/ok.yaml
plan >r/sub/ok.yaml
plan >far/away.yaml
check() { run "$1" timeout 20 "$moeplan" validate "$2" --gpus 8; }

check 0 r
ln -s ok.yaml r/link.yaml
ln -s nowhere r/data
ln -s ../far r/folder
check 0 r
has "3 files:"

# what a cluster is given has its own endings
mkdir jobs
for end in sh bash sbatch slurm job sub pbs lsf qsub; do printf '#!/bin/bash\ntorchrun pretrain_gpt.py --bf16 --swiglu --num-layers 4\n' >jobs/r.$end; done
check 1 jobs
has "9 files:"
rm -r jobs

# a link to nothing, one that leads out, a pipe: each alone makes the status 2 and is named
ln -s nowhere r/dangling.yaml
check 2 r
has "r/dangling.yaml: error[unreadable-file]"
has "4 files: 1 error"
check 2 .
has "r/dangling.yaml: error"
lacks "./r"
rm r/dangling.yaml
ln -s ../far/away.yaml r/away.yaml
check 2 r
has "r/away.yaml: error[unreadable-file]: cannot be read: the link leads out of"
check 0 .
check 0 r/away.yaml
touch .moeplan.yaml
check 0 r
rm .moeplan.yaml r/away.yaml
mkfifo r/pipe.sh
check 2 r
has "r/pipe.sh: error[unreadable-file]: cannot be read: is no regular file"
check 2 'r/*.sh'
check 0 'r/*.yaml'
"$moeplan" validate r --gpus 8 --format json >json 2>/dev/null || :
grep -q '"path":"r/pipe.sh",.*"status":"unreadable"' json || fail "the JSON does not say it"
"$moeplan" validate r --gpus 8 --format github >annotations 2>/dev/null || :
grep -q '^::error file=r/pipe.sh,' annotations || fail "the annotations do not say it"
rm r/pipe.sh

# folders that cannot be read, where a pattern may match below them, and folders that lie too deep
if [ "$(id -u)" != 0 ]; then
    mkdir r/locked
    plan >r/locked/plan.yaml
    plan >r/locked.yaml
    chmod 0 r/locked r/locked.yaml
    check 2 r
    has "r/locked: error[unreadable-file]: cannot be read: Permission denied"
    has "r/locked.yaml: error[unreadable-file]: cannot be read: Permission denied"
    rm -f r/locked.yaml
    check 2 'r/**/*.yaml'
    check 2 'r/*/ok.yaml'
    check 0 'r/*.yaml'
    check 0 'r/sub/*.yaml'
    chmod 700 r/locked
    rm -r r/locked
fi
deep=r/deep
for i in 1 2 3 4 5 6 7; do deep=$deep/a/b/c/d/e/f/g/h/i/j; done
mkdir -p $deep
check 2 r
has "lies more than 64 folders deep"
rm -r r/deep

# one file under many names
expect 0 "3 files:" "$moeplan" validate r r/ok.yaml ./r/ok.yaml "$dir/r/ok.yaml" r/sub/../ok.yaml 'r/*.yaml' ./r --gpus 8
expect 0 "1 file:" "$moeplan" validate r/ok.yaml r/ok.yaml --gpus 8
expect 2 "1 file:" "$moeplan" validate r/missing.yaml ./r/missing.yaml
expect 2 "1 file:" sh -c 'echo "a: [" | "$0" validate - -' "$moeplan"
echo "foo: 1" >none.yaml
expect 2 "1 file:" "$moeplan" validate 'n*.yaml' none.yaml

# a pipe that the user names is read, as cat does
mkfifo pipe
plan >pipe &
expect 0 "1 file:" timeout 20 "$moeplan" validate pipe --gpus 8
wait

# rules: a file, and a folder of which one file is no file
mkdir rules
cat >rules/own.yaml <<'YAML'
moeplan: 1
kind: Rules
frameworks: [megatron]
rules:
  - id: my-tp-limit
    severity: error
    rule: plan.tp <= 1
    message: '"tp is " + string(plan.tp)'
    why: ours
    source: us
    examples: {good: [{tp: 1}], bad: [{tp: 2}]}
YAML
expect 1 "my-tp-limit" "$moeplan" validate r/ok.yaml --gpus 8 --rules rules/own.yaml
expect 1 "my-tp-limit" "$moeplan" validate r/ok.yaml --gpus 8 --rules rules
expect 2 "rules/none.yaml: error[rule-file]: cannot be read" "$moeplan" validate r/ok.yaml --rules rules/none.yaml
ln -s nowhere rules/dangling.yaml
expect 2 "rules/dangling.yaml: error[rule-file]: cannot be read: the link leads nowhere" "$moeplan" validate r/ok.yaml --rules rules
expect 2 "rules/dangling.yaml cannot be read: the link leads nowhere" "$moeplan" rules test rules
expect 0 "records: 1" "$moeplan" rules test rules/own.yaml

# data with a value a line is no document that is broken; one that is broken says so
mkdir data
plan >data/ok.yaml
printf '{"a": 1}\n\n{"b": [2]}\n' >data/lines.json
expect 0 "2 files: 0 errors" "$moeplan" validate data --gpus 8
printf '{"a": 1\n' >data/broken.json
expect 2 "data/broken.json:2:1: error[json-syntax]" "$moeplan" validate data --gpus 8
rm -r data

# as many threads as there are processors: what is said is the same for one
mkdir many
for i in $(seq 20); do
    cp "$source/examples/recipes/automodel/qwen3_30b_a3b_broken.yaml" "many/$i.yaml"
    cp "$source/examples/broken-recipe/launch.sh" "many/$i.sh"
    sed "s/^gbs: .*/gbs: $i/" r/ok.yaml >"many/$i.plan.yaml"
done
printf 'paths: [{match: "1*", facts: {gpus: 64}}]\nseverity: {unknown-key: warning}\nignore: [duplicate-key]\n' >many/.moeplan.yaml
echo '[1, 2' >many/11.yaml
one=$(taskset -cp $$ 2>/dev/null | sed 's/.*: //; s/[^0-9].*//') || one=
for format in text json sarif github; do
    [ -n "$one" ] || break
    status=0
    "$moeplan" validate many --set TP=2 --format "$format" >"$dir/all" 2>&1 || status=$?
    run "$status" taskset -c "$one" "$moeplan" validate many --set TP=2 --format "$format"
    cmp "$dir/all" "$dir/out" || fail "--format $format differs between threads"
done
cp -R many fixed
cp -R many fixed-by-one
run 2 "$moeplan" validate fixed --fix --write-baseline known
[ -z "$one" ] || run 2 taskset -c "$one" "$moeplan" validate fixed-by-one --fix --write-baseline known-by-one
[ -z "$one" ] || diff -r fixed fixed-by-one >"$dir/out" || fail "what is fixed differs between threads"

# a setting that is a variable of one of the files is still no value of another's parameter, whichever file comes first
plan >a.yaml
printf '%s\n' 'torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --hidden-size 64 --lr-decay-style $tp' >b.sh
for order in 'a.yaml b.sh' 'b.sh a.yaml'; do
    # shellcheck disable=SC2086 # words
    expect 2 "tp takes an integer" "$moeplan" validate $order --set tp=cosine
done

# a template of Helm is no broken recipe, and one broken file keeps no baseline from being written
mkdir -p "$dir/mixed"
printf '{{ $nodes := div .Values.gpus 8 }}\n{{- $root := . -}}\napiVersion: v1\n' >"$dir/mixed/job.yaml"
plan64 "ep: 48" >"$dir/mixed/plan.yaml"
expect 1 "1 no recipe" "$moeplan" validate "$dir/mixed"
lacks "yaml-syntax"
printf 'moeplan: 1\nep: [1\n' >"$dir/mixed/broken.yaml"
expect 2 "what cannot be read is not in it" "$moeplan" validate "$dir/mixed" --write-baseline "$dir/known.json"
expect 2 "known finding" "$moeplan" validate "$dir/mixed" --baseline "$dir/known.json"
has "yaml-syntax"
rm "$dir/mixed/broken.yaml"
run 0 "$moeplan" validate "$dir/mixed" --baseline "$dir/known.json"

# nor is one whose values are places to be filled in
mkdir -p "$dir/chart"
plan64 >"$dir/chart/plan.yaml"
printf 'apiVersion: v1\nmetadata:\n  name: {{ .Release.Name }}-hop\n' >"$dir/chart/hop.yaml"
expect 0 "1 no recipe" "$moeplan" validate "$dir/chart"
lacks "yaml-syntax"
