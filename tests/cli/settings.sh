#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# .moeplan.yaml: mistakes in it, what holds for which file, ignores and their days, the pin of the rules.
. "$(dirname "$0")/../helpers.sh"
moeplan=$(realpath "$moeplan")
cd "$dir"
mkdir -p .git a/b
recipe="$source/examples/recipes/automodel/qwen3_30b_a3b_broken.yaml"
cp "$recipe" a/x.yaml
cp "$recipe" a/b/y.yaml
settings() { cat >.moeplan.yaml; }
said() { expect "$1" "$2" "$moeplan" validate a; }

# mistakes: unknown keys and words, with what was meant; nothing is answered then
settings <<'EOF'
exlude: [x]
EOF
said 2 "did you mean exclude?"
settings <<'EOF'
defaults: {sequenc: 4096}
EOF
said 2 "did you mean sequence?"
settings <<'EOF'
severity: {experts-divides-by-ep: info}
EOF
said 2 "did you mean experts-divide-by-ep?"
settings <<'EOF'
paths: [{match: a, ignore: [{rule: unknown-key, until: 2026-13-40}]}]
EOF
said 2 "until is a day"
settings <<'EOF'
defaults: {platform: h1000}
EOF
said 2 "there is no platform called h1000"
settings <<'EOF'
rules: "99"
EOF
said 2 "it has no rules of version 99"
settings <<'EOF'
a: [
EOF
said 2 "yaml-syntax"

# the nearest file upward holds, up to the repository; an empty one says nothing
: >.moeplan.yaml
run 1 "$moeplan" validate a
settings <<'EOF'
severity: {"experts-*": "off", unknown-key: warning}
EOF
run 0 "$moeplan" validate a
has "warning[unknown-key]"
lacks "experts-divide-by-ep"
run 1 "$moeplan" validate --isolated a
printf 'fail_on: warning\n' >a/b/.moeplan.yaml
run 0 "$moeplan" validate a/x.yaml
run 1 "$moeplan" validate a/b/y.yaml
rm a/b/.moeplan.yaml

# facts by path, from the path, and the command line over both; what the file says itself stays
settings <<'EOF'
defaults: {gpus: 6}
paths:
  - {match: b, facts: {gpus: 12}}
EOF
run 1 "$moeplan" validate --format jsonl a
has '"path":"a/b/y.yaml","format":"automodel","framework":"automodel","framework_version":"main@2026-08-22","model":"Qwen3-30B-A3B","gpus":12'
has '"gpus":6,'
run 1 "$moeplan" validate --format jsonl --gpus 16 a/b
has '"gpus":16,'
run 0 "$moeplan" validate --show-config --gpus 16 a/b/y.yaml
has "the command line"

# a launch script beside the recipe says the size
mkdir launch
printf '#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gpus-per-node=8\nsrun python train.py\n' >launch/x.sbatch
settings <<'EOF'
paths:
  - {match: a, launcher: "launch/{name}.sbatch"}
EOF
run 0 "$moeplan" validate --show-config a/x.yaml
has "gpus                 32                   .moeplan.yaml:2, from launch/x.sbatch"

# ignores: of a parameter, with a last day; those that do nothing are told when all files were looked at
settings <<'EOF'
ignore:
  - {rule: "*", parameter: activation_checkpoint, until: 2026-12-31, reason: soon}
  - {rule: experts-divide-by-ep, parameter: ep}
  - duplicate-key
EOF
export SOURCE_DATE_EPOCH=1790000000 # in September 2026
run 0 "$moeplan" validate .
has "unused-suppression"
has "no finding of rule duplicate-key is ignored here"
run 0 "$moeplan" validate a/x.yaml
lacks "unused-suppression"
SOURCE_DATE_EPOCH=1800000000 # in January 2027
run 1 "$moeplan" validate .
has "expired-suppression"
has "error[unknown-key]"
unset SOURCE_DATE_EPOCH

expect 0 "the day until which" "$moeplan" explain expired-suppression

# a rule that nobody has leaves everything out, or nothing: no answer
: | settings
for option in --select --ignore; do
    run 2 "$moeplan" validate a $option 'unknown-*,unknown-kye'
    has "there is no rule unknown-kye; did you mean unknown-key?"
    lacks "error["
done
printf 'select: [unknown-key, unknown-kye]\n' | settings
run 2 "$moeplan" validate a
has ".moeplan.yaml:1:9: error[settings]: there is no rule unknown-kye"

# a rule that came after the pin breaks nothing
mkdir own
cat >own/r.yaml <<'EOF'
moeplan: 1
kind: Rules
rules:
  - id: house-rule
    severity: error
    since: "0.0.2"
    rule: plan.ep < 4
    message: too many
    help: write less
    examples: {good: [{ep: 1}], bad: [{ep: 8}]}
EOF
printf 'rules: ["0.1", own]\nexclude: [own]\n' | settings
run 1 "$moeplan" validate a
has "error[house-rule]"
run 1 "$moeplan" validate a --select 'house-*'
printf 'rules: ["0.0.1", own]\nexclude: [own]\n' | settings
run 1 "$moeplan" validate a
has "info[house-rule]"

# the schema knows every key that is read
"$moeplan" schema settings >schema.json
for key in defaults paths exclude gitignore select ignore severity fail_on baseline rules parameters price goodput; do
    grep -q "\"$key\":" schema.json || fail "the schema lacks $key"
done
