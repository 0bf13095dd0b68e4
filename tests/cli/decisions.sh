#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Days, money, sizes, machines, documents, rollouts, recipes and what-if: the questions as users put them.
. "$(dirname "$0")/../helpers.sh"

ask() { # STATUS TEXT ARGUMENTS…
    want=$1 text=$2
    shift 2
    expect "$want" "$text" "$moeplan" suggest "$@"
}
small="qwen3-30b-a3b --platform h100 --framework automodel"

# the bill: 1,024 sequences of 4,096 tokens a step, 238,419 of them; the same days, hours and money from the step time by hand
run 0 "$moeplan" suggest $small --gpus 8 --tokens 1T --price 2/h --goodput 0.9 --deadline 100d --format json
cp "$dir/out" "$dir/bill"
value() { grep -o "\"decision\":{[^}]*}" "$dir/bill" | head -1 | number "$1"; }
awk -v step="$(number step_s <"$dir/bill")" -v days="$(value days)" -v hours="$(value gpu_hours)" -v cost="$(value cost)" \
    -v kwh="$(value energy_kwh)" -v steps="$(value steps)" 'BEGIN {
        by_hand = steps * step / 0.9 / 86400
        exit !(steps == 238419 && days / by_hand > 0.9999 && days / by_hand < 1.0001 && hours / (days * 192) > 0.9999 &&
               hours / (days * 192) < 1.0001 && cost / (2 * hours) > 0.9999 && cost / (2 * hours) < 1.0001 &&
               kwh / (0.7 * hours) > 0.9999 && kwh / (0.7 * hours) < 1.0001)
    }' || fail "the bill is not what the step time makes it: $(grep -o '"decision":{[^}]*}' "$dir/bill" | head -1)"
grep -q '"deadline":"missed"' "$dir/bill" || fail "150 days are more than 100"
ask 0 "deadline    4000 days: met" $small --gpus 8 --tokens 1T --deadline 4000d
ask 0 "goodput     0.90, as stated" $small --gpus 8 --steps 20K --goodput 90%
ask 0 "to train 2.00 B tokens" $small --gpus 8 --epochs 2 --dataset-tokens 1B
ask 2 "give one of them" $small --gpus 8 --tokens 1T --steps 5
ask 2 "--price must be the price of a GPU hour" $small --gpus 8 --tokens 1T --price much
ask 2 "price, goodput and deadline need tokens" $small --gpus 8 --price 2/h

# the fewest GPUs by a deadline; no --gpus is needed then
ask 0 "GPUs are the fewest that are done in 30 days" $small --tokens 300B --deadline 30d
ask 1 "no number of GPUs up to 16384 is done in 1 days" glm-5 --platform h100 --framework automodel --tokens 9000T --deadline 1d --gbs 64 --seq 4096
ask 2 "--gpus N|min|A..B, --platform P are missing" qwen3-30b-a3b --framework automodel

# several sizes and platforms: a table, CSV, JSON; each row as if asked alone
ask 0 "knee on h100" $small --gpus 8..32 --gbs 256 --tokens 1T
ask 0 "weak" $small --gpus 8..32 --gbs-range 128..512
run 0 "$moeplan" suggest $small --gpus 8,16 --gbs 512 --format csv
cp "$dir/out" "$dir/table"
[ "$(wc -l <"$dir/table")" = 3 ] || fail "three lines of CSV"
awk -F, 'NF != 28 { exit 1 }' "$dir/table" || fail "28 fields"
"$moeplan" suggest qwen3-235b-a22b --gpus 1,8 --platform h100 --framework automodel --gbs 64 --format csv >"$dir/none" && fail "nothing fits"
awk -F, 'NF != 28 || (NR > 1 && $21 != "no") { exit 1 }' "$dir/none" || fail "28 fields where nothing fits"
for gpus in 8 16; do
    run 0 "$moeplan" suggest $small --gpus $gpus --gbs 512 --format json
    alone=$(number step_s <"$dir/out")
    table=$(awk -F, -v gpus=$gpus '$3 == gpus { print $14 }' "$dir/table")
    awk -v a="$alone" -v b="$table" 'BEGIN { exit !(a / b > 0.99999 && a / b < 1.00001) }' || fail "$gpus GPUs: $alone, $table"
done
ask 0 "sft   h100         8 " $small --gpus 8 --task sft,peft --tokens 1B --price 2 --budget 10
has "peft  h100         8 "
has "over budget"
sed -n 's/^sft .*) *\([0-9.]*\)  *\([0-9.]*\) .*/\1 \2/p' "$dir/out" |
    awk '{ good = $2 > 1.98 * $1 && $2 < 2.02 * $1 } END { exit !good }' || fail "the cost is two for each GPU hour"
ask 0 "budget      1.00 k: met" $small --gpus 8 --task peft --tokens 1B --price 2 --budget 1K
ask 2 "budget needs a price" $small --gpus 8 --tokens 1B --budget 1K
ask 2 "--rollout goes with one size" $small --gpus 8,16 --rollout tp=8
ask 2 "several sizes, platforms or tasks are a table" $small --gpus 8..32 --format plan
ask 2 "up to 64 numbers" $small --gpus 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1
ask 2 "gbs and gbs-range exclude each other" $small --gpus 8..32 --gbs 64 --gbs-range 64..128

# requests say the same in the same words
cat >"$dir/requests" <<'EOF'
{"id":1,"model":"qwen3-30b-a3b","gpus":[8,16],"platform":"h100,h200","options":{"framework":"automodel","tokens":"1T","price":2.5}}
{"id":2,"model":"qwen3-30b-a3b","gpus":8,"platform":"h100","options":{"framework":"automodel","tokens":1e12,"documents":"mean=2000","reserve_memory":5}}
{"id":3,"model":"qwen3-30b-a3b","gpus":8,"platform":"h100","options":{"tokens":"much"}}
{"id":5,"model":"qwen3-30b-a3b","gpus":16,"platform":"h100","options":{"framework":"automodel","rollout":"tp=8,sequences=64"}}
{"id":6,"model":"qwen3-30b-a3b","gpus":8,"platform":"h100","options":{"like":"qwen3_moe_30b_te_deepep"}}
{"id":7,"model":"qwen3-30b-a3b","gpus":[8,16],"platform":"h100","options":{"like":"qwen3_moe_30b_te_deepep"}}
{"id":4,"model":"qwen3-30b-a3b","gpus":"8..x","platform":"h100"}
EOF
"$moeplan" suggest --batch <"$dir/requests" >"$dir/out"
[ "$(head -1 "$dir/out" | grep -o '"decision"' | wc -l)" = 4 ] || fail "four sizes"
sed -n 2p "$dir/out" | grep -q '"document_tokens":.*"reserve_memory_gib":5' || fail "a plan without its documents"
sed -n 3p "$dir/out" | grep -q '"error":"tokens must be' || fail "much is no number"
sed -n 4p "$dir/out" | grep -q '"share":{"capacity_gib":77.1' || fail "no share"
sed -n 5p "$dir/out" | grep -q '"like":{"recipe":"qwen3_moe_30b_te_deepep ' || fail "no recipe"
sed -n 6p "$dir/out" | grep -q '"error":"options.like and options.rollout go with one size' || fail "one size"
sed -n 7p "$dir/out" | grep -q '"error":"gpus must be' || fail "x is no number"

# a plan file keeps what the question said, and is estimated as it was suggested
run 0 "$moeplan" suggest $small --gpus 8 --reserve-memory 10 --documents p50=500,p90=2000 --format plan -o "$dir/plan.yaml"
grep -q "reserve_memory_gib: 10" "$dir/plan.yaml" && grep -q "document_tokens: " "$dir/plan.yaml" || fail "the plan forgets"
expect 0 "GiB of 67.1" "$moeplan" estimate "$dir/plan.yaml" --tokens 1T --price 2
has "to train 1.00 T tokens"
has "attention over"
printf 'length,count\n1000,3\n3000,1\n' >"$dir/lengths"
expect 0 "of 1500 tokens on average, attention over 2000 of 4096" "$moeplan" estimate "$dir/plan.yaml" --documents "$dir/lengths"
expect 0 "63.4 % of the tokens are padding" "$moeplan" estimate "$dir/plan.yaml" --documents "$dir/lengths,unpacked"
has "attention over 4096 of 4096 tokens"
has "; packed, a sequence holds 3 of them"
# lengths of 1,000 and 9,000 alike: of the 10,000 tokens 4,904 are beyond a sequence of 4,096
printf '1000 1\n9000 1\n' >"$dir/long"
expect 0 "49.0 % of the tokens are cut, beyond the sequence" "$moeplan" estimate "$dir/plan.yaml" --documents "$dir/long"
has "; one document a sequence: "
has "  waiting     "
"$moeplan" estimate "$dir/plan.yaml" --documents "$dir/long" --format json >"$dir/out"
has '"cut":0.4904'
expect 2 "--documents: " "$moeplan" estimate "$dir/plan.yaml" --documents "$dir/nothing"

# what if
cat >"$dir/plan.yaml" <<'EOF'
moeplan: 1
framework: megatron
model: qwen3-30b-a3b
platform: h200
gpus: 16
seq: 4096
mbs: 1
gbs: 256
ep: 8
use_distributed_optimizer: true
recompute_granularity: full
recompute_method: uniform
recompute_num_layers: 1
EOF
run 0 "$moeplan" estimate "$dir/plan.yaml" --sweep mbs=1,2 --sweep seq=2048..4096 --tokens 1T --price 2
[ "$(grep -c '^[* ] *[12]  *[24]' "$dir/out")" = 4 ] || fail "four combinations"
has "the fastest by useful tokens"
run 0 "$moeplan" estimate "$dir/plan.yaml" --sweep mbs=1,3 --format csv
grep -q '^3,.*batch-divides-into-microbatches' "$dir/out" || fail "three do not divide"
expect 0 '"best":true' "$moeplan" estimate "$dir/plan.yaml" --sweep mbs=1,2 --format json
expect 2 "did you mean mbs" "$moeplan" estimate "$dir/plan.yaml" --sweep mbss=1
expect 2 "--sweep wants NAME=VALUES" "$moeplan" estimate "$dir/plan.yaml" --sweep mbs

# more than two, and a baseline
sed 's/^gbs: .*/gbs: 512/' "$dir/plan.yaml" >"$dir/b.yaml"
expect 1 "(changes convergence)" "$moeplan" compare "$dir/plan.yaml" "$dir/b.yaml" "$dir/plan.yaml" --tokens 1T
has "the same configuration"
expect 0 "the same configuration" "$moeplan" compare "$dir/plan.yaml" --baseline "$dir/plan.yaml"
expect 0 '"over_baseline":1' "$moeplan" compare "$dir/plan.yaml" "$dir/plan.yaml" "$dir/plan.yaml" --format json
expect 2 "missing argument" "$moeplan" compare "$dir/plan.yaml"

# near a recipe; the nearest public one is named in every answer
ask 0 "expert_model_parallel_size           8 -> 4; 8 does not divide 4 GPUs" qwen3-30b-a3b --gpus 4 --platform h200 --like "$source/examples/recipes/automodel/qwen3_30b_a3b_sft.yaml"
ask 0 '"like":{"recipe":"qwen3_moe_30b_te_deepep ' qwen3-30b-a3b --gpus 8 --platform h100 --like qwen3_moe_30b_te_deepep --format json
ask 2 "did you mean qwen3_moe_30b_te_deepep?" qwen3-30b-a3b --gpus 8 --platform h100 --like qwen3_moe_30b_te_deepp
ask 0 "is the nearest: qwen3-30b-a3b on 8 h100" $small --gpus 24 --why
ask 0 "nearest public recipe: qwen3_moe_30b_quack_deepep" $small --gpus 24
ask 0 "NeMo AutoModel" llama-3.1-8b --gpus 8 --platform h100 --framework automodel
lacks "public recipe"  # a dense model has no neighbour with experts

# trainer and inference engine
ask 0 "binds       the trainer" $small --gpus 16 --rollout tp=8,sequences=64,context=8192
ask 0 '"binds":"both"' $small --gpus 16 --reserve-memory 30 --rollout tp=4,sequences=999,context=16384 --format json
ask 0 "of 64 train 40, make rollouts 24 (3 engines)" $small --gpus 64 --rollout tp=8,ratio=0.6
ask 2 "--rollout: rollout must be such as" $small --gpus 16 --rollout tp=x

# what suggest writes recomputes nothing where it says so: four times the micro-batch does not fit, and is not "tight"
"$moeplan" suggest qwen3-30b-a3b --gpus 16 --platform h100 --framework megatron --format plan -o "$dir/stated.yaml"
run 0 "$moeplan" estimate "$dir/stated.yaml" --sweep mbs=1,4 --format csv
grep -q "^4,.*,no,$" "$dir/out" || fail "what is not recomputed may be"

# DeepSeek V4's sequences are divided over GPUs by its own kernels alone, which the plan takes
ask 0 "attn: tilelang" deepseek-v4-flash --gpus 2048 --platform h200 --framework automodel --seq 65536 --format yaml
grep -Eq "cp_size: ([2-9]|1[0-9])" "$dir/out" || fail "sequences are not divided"
