#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The rules as a user meets them: the list, pages, error texts, and the test of a rule file one has written.
. "$(dirname "$0")/../helpers.sh"

expect 0 "memory-exceeds-gpu" "$moeplan" rules
expect 0 '"id":"memory-tight","kind":"native"' "$moeplan" rules --format json
expect 0 '{"guides":[' "$moeplan" rules --guides --format json
expect 0 "failures: 0" "$moeplan" rules test "$source/rules/bridge"

expect 0 "## Wrong" "$moeplan" explain bridge-expert-grid-divides --format markdown
lacks_marks() { ! grep -q '^#\|`' "$dir/out" || fail "raw Markdown"; }
expect 0 "Wrong" "$moeplan" explain bridge-expert-grid-divides
lacks_marks
expect 0 "6 % (1 * 4 * 1) = 2" "$moeplan" explain bridge-expert-grid-divides
expect 2 "did you mean memory-tight?" "$moeplan" explain memory-tigt
expect 2 "give the name of a rule" "$moeplan" explain
expect 0 "bridge-expert-grid-divides" "$moeplan" explain --error \
    "RuntimeError: decoder world_size (6) is not divisible by
expert_tensor_model_pipeline_parallel size (4)"
expect 1 "no rule knows this error" "$moeplan" explain --error "Segmentation fault"

cat >"$dir/mine.yaml" <<'EOF'
moeplan: 1
kind: Rules
rules:
  - id: my-tp-limit
    severity: warning
    rule: plan.tp <= 4
    message: our nodes have four GPUs
    examples:
      good: [{tp: 4}]
      bad: [{tp: 4}]
EOF
expect 1 "bad example {\"tp\":4}: does not fire the rule" "$moeplan" rules test "$dir/mine.yaml"
expect 1 "mine.yaml:10:13" "$moeplan" rules test "$dir/mine.yaml"
sed 's/bad: .*/bad: [{tp: 8}]/' "$dir/mine.yaml" >"$dir/good.yaml"
expect 0 "records: 1, examples run: 2, failures: 0" "$moeplan" rules test "$dir/good.yaml"
sed 's/plan.tp/plan.tq/' "$dir/mine.yaml" >"$dir/typo.yaml"
expect 2 "typo.yaml:6:11" "$moeplan" rules test "$dir/typo.yaml"
expect 2 "there are no rules" "$moeplan" rules test "$source/rules/models"

# A folder of rules is added to the built-in ones; a bad one stops the command.
mkdir "$dir/rules"
cp "$dir/good.yaml" "$dir/rules"
expect 0 "my-tp-limit" "$moeplan" rules --rules "$dir/rules"
expect 0 "my-tp-limit" "$moeplan" explain my-tp-limit --rules "$dir/rules"
printf 'tp: 8\n' >"$dir/plan.yaml"
expect 1 "my-tp-limit" "$moeplan" validate --as plan --fail-on warning --rules "$dir/rules" "$dir/plan.yaml"
cp "$dir/typo.yaml" "$dir/rules"
expect 2 "typo.yaml:6:11" "$moeplan" rules --rules "$dir/rules"

# whatever a screen says can be explained: parameters in any spelling, words, and the nearest of what is none
for name in tp tensor_model_parallel_size --tensor-model-parallel-size model.tensor_model_parallel_size distributed.tp_size; do
    expect 0 "GPUs that share each dense weight matrix" "$moeplan" explain "$name"
done
expect 0 "the peak's interval lies below" "$moeplan" explain tight
expect 0 "max_memory_allocated" "$moeplan" explain memory
expect 0 "a pipeline stage waits" "$moeplan" explain Bubble
for word in hybridep ZeRO-1 FSDP2 "a tie" slower "CUDA graphs" "expert overlap" remainders MTP moe_act "nearest public recipe"; do
    expect 0 "${word#a }" "$moeplan" explain "$word"
done
expect 1 "this is no word of a screen" "$moeplan" explain "the cat sat"
expect 2 "did you mean bubble?" "$moeplan" explain bubbl
expect 0 "recomputation" "$moeplan" explain S1.3
