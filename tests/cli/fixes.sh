#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# validate --fix on files with planted mistakes, and what --diff and --unsafe-fixes say.
. "$(dirname "$0")/../helpers.sh"
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
moeplan=$(realpath "$moeplan")
python3 "$source/tests/cli/fixes.py" "$moeplan" "$source" >"$dir/out" || fail "not all are fixed"
has " 0 not as they were, 0 changed again"

# a difference that git applies, and that leaves the file alone until then
cp "$source/examples/recipes/automodel/qwen3_30b_a3b_broken.yaml" "$dir/a.yaml"
cd "$dir"
run 1 "$moeplan" validate --diff a.yaml
has "-  activation_checkpoint: true"
has "+  activation_checkpointing: true"
if command -v git >/dev/null; then
    "$moeplan" validate --diff a.yaml >a.diff 2>/dev/null || true
    git apply a.diff || fail "git does not take the difference"
    run 0 "$moeplan" validate --diff a.yaml
fi

# what changes the run is only told of
printf '%s\n' '--num-layers 2 --hidden-size 64 --num-attention-heads 8 --seq-length 128 --max-position-embeddings 128' \
    '--micro-batch-size 1 --global-batch-size 8 --train-iters 10 --bf16 --fp16 --lr 1e-4' >b.args
run 1 "$moeplan" validate --fix b.args
has "0 findings in 0 files fixed; --unsafe-fixes mends 1 more"
run 0 "$moeplan" validate --fix --unsafe-fixes b.args
grep -q -- '--bf16 --lr' b.args || fail "fp16 is still there"

# standard input has no place to write to
expect 2 "--fix cannot write to standard input" "$moeplan" validate --fix -
expect 2 "--unsafe-fixes goes with" "$moeplan" validate --unsafe-fixes a.yaml

# a fix that mends nothing is no fix: the examples of its rule say so
cat >r.yaml <<'EOF'
moeplan: 1
kind: Rules
rules:
  - id: house-rule
    severity: error
    rule: plan.ep < 4
    message: too many
    fix: {set: {ep: "8"}}
    examples: {good: [{ep: 1}], bad: [{ep: 8}]}
EOF
expect 1 "is not mended by the rule's fix" "$moeplan" rules test r.yaml
sed -i 's/ep: "8"/ep: "2"/' r.yaml
run 0 "$moeplan" rules test r.yaml

# a flag as a key cannot bring a value, what is said already needs no second word, another number in a name is no slip
printf 'ENV_VARS: {A: 1}\nMODEL_ARGS:\n  --num-layers: 2\n  --enable-cuda-graph: true\n' >model_config.yaml
printf '%s\n' '--num-layers 2 --position-embedding-type rope --use-rotary-position-embeddings --bf16' >c.args
printf 'moeplan: 1\ntokenizer_type: Llama3Tokenizer\n' >d.yaml
cp model_config.yaml kept; cp d.yaml d.kept
"$moeplan" validate --fix model_config.yaml c.args d.yaml >out 2>&1 || true
cmp model_config.yaml kept || fail "a key became two words"
cmp d.yaml d.kept || fail "what was written became something else"
[ "$(cat c.args)" = '--num-layers 2 --position-embedding-type rope --bf16' ] || fail "said twice: $(cat c.args)"

# what a fix breaks beside another finding it may do alone: two flags of one parameter, and words that name a line below
cat >e.sh <<'EOF'
GPT_ARGS="
    --use-mcore-models \
    --use-rotary-position-embeddings \
    --no-position-embedding \
    --eval-iters 0 \
    --num-layers 2 \
    --bf16
"
OUTPUT_ARGS="
    --eval-iters 10
"
torchrun pretrain_gpt.py $GPT_ARGS $OUTPUT_ARGS
EOF
run 1 "$moeplan" validate --fix e.sh
has "3 findings in 1 file fixed"
! grep -q mcore e.sh || fail "left for a second run: $(cat e.sh)"
# a value from a variable: the variable's text where nothing else uses it, else its use
launch='torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 2 --num-experts 8 --expert-model-parallel-size'
printf '#!/bin/bash\nEP=8\n%s $EP\n' "$launch" >once.sh
run 1 "$moeplan" validate --diff --unsafe-fixes --rules r.yaml --select house-rule once.sh
has "+EP=2"
printf '#!/bin/bash\nEP=8\necho "$EP"\n%s "${EP}"\n' "$launch" >twice.sh
run 1 "$moeplan" validate --diff --unsafe-fixes --rules r.yaml --select house-rule twice.sh
has "+$launch 2"
