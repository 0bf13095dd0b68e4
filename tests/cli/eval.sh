#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Expressions as a rule author meets them: alone, on the facts of a recipe, and in batches.
. "$(dirname "$0")/../helpers.sh"

cat >"$dir/flags.txt" <<'FLAGS'
--num-layers 48 --hidden-size 2048 --num-attention-heads 32 --num-experts 128
--moe-router-topk 8 --expert-model-parallel-size 48 --tensor-model-parallel-size 2
FLAGS

expect 0 "[1, 2, 3, 4, 6, 12]" "$moeplan" eval 'divisors(12)'
expect 2 "divide by zero" "$moeplan" eval '1 / 0'
expect 2 "write ==" "$moeplan" eval '1 = 1'
expect 2 "an expression is needed" "$moeplan" eval
expect 0 "ceilDiv(int, int)" "$moeplan" eval --functions

expect 0 "128 % 48 = 32" "$moeplan" eval 'plan.num_moe_experts % plan.ep == 0' --in "$dir/flags.txt"
expect 0 "true" "$moeplan" eval 'has(plan.tp) && raw["--num-experts"] == 128' --in "$dir/flags.txt"
expect 0 "unknown" "$moeplan" eval 'env.SOME_VARIABLE == "1"' --in "$dir/flags.txt"
expect 0 "true" "$moeplan" eval 'env.SOME_VARIABLE == "1"' --in "$dir/flags.txt" --env SOME_VARIABLE=1
expect 2 "write double(plan.ep)" "$moeplan" eval 'plan.ep / 2.0' --in "$dir/flags.txt"
expect 2 "unknown name plan.expert_model_parallel_sise" \
    "$moeplan" eval 'plan.expert_model_parallel_sise' --in "$dir/flags.txt"
expect 2 "cannot be read" "$moeplan" eval 1 --in "$dir/absent"

printf '%s\n' '{"id":1,"expr":"ep * 2","bindings":{"ep":{"int":"8"}}}' 'no request' \
    '{"id":"b","expr":"{1: [0.5, null]}"}' '{"id":null,"expr":"x"}' >"$dir/requests"
"$moeplan" eval --batch <"$dir/requests" >"$dir/answers" || fail "the batch failed"
cat >"$dir/expected" <<'ANSWERS'
{"id":1,"value":{"int":"16"}}
{"id":null,"error":"not valid JSON: a value is expected"}
{"id":"b","value":{"map":[[{"int":"1"},{"list":[{"double":"0.5"},{"null":null}]}]]}}
{"id":null,"error":"no such variable: x"}
ANSWERS
diff "$dir/expected" "$dir/answers" || fail "the answers differ"

# a launch without a model of its own takes the switches of the one that is given; one with sizes of its own keeps what it says
echo '--expert-model-parallel-size 8' >"$dir/layout.txt"
for condition in 'plan.group_query_attention' 'plan.position_embedding_type == "rope"'; do
    expect 0 "true" "$moeplan" eval "$condition" --in "$dir/layout.txt" --model qwen3-235b-a22b
    expect 0 "false" "$moeplan" eval "$condition" --in "$dir/flags.txt" --model qwen3-235b-a22b
done

# what a text writes of its model is what the framework gets, and a launch with its own sizes has no part that it leaves out
echo 'model.num_layers=12' >"$dir/over.bridge"
expect 0 "true" "$moeplan" eval 'plan.num_layers == 48 && plan.moe_router_topk == 8 && plan.vocab_size > 0' --in "$dir/flags.txt" --model deepseek-v3
expect 0 "true" "$moeplan" eval 'plan.mtp_num_layers == null' --in "$dir/flags.txt" --model deepseek-v3
expect 0 "true" "$moeplan" eval 'plan.mtp_num_layers == 1' --in "$dir/layout.txt" --model deepseek-v3
expect 0 "true" "$moeplan" eval 'plan.num_layers == 12 && plan.mtp_num_layers == 1' --in "$dir/over.bridge" --model deepseek-v3
