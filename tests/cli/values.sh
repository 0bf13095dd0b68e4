#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a user writes in files, options and requests: typed, ranged, located, and never ignored in silence.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# PLACE TEXT: the last command says both, and no number that is none
says() {
    has "$1"
    has "$2"
    ! grep -qiE '(^|[^a-z."-])-?(nan|inf)([^a-z"-]|$)' out || fail "a number that is none"
}

# ---- platform files ----

platform() { printf 'moeplan: 1\nkind: Platform\nid: mine\nname: Mine\nbase: a100\n%s\n' "$1" >p.yaml; }
bad_platform() { # LINE PLACE TEXT: refused by suggest and by validate alike
    platform "$1"
    run 2 "$moeplan" suggest qwen3-30b-a3b --gpus 64 --platform p.yaml
    says "$2" "$3"
    run 1 "$moeplan" validate p.yaml
    says "$2" "$3"
}
bad_platform 'nic_gb_per_s: abc' p.yaml:6:15 'nic_gb_per_s takes a number in GB/s, not abc'
bad_platform 'bf16_tflops: 0' p.yaml:6:14 'bf16_tflops is 0; it must be at least 0.01 TFLOP/s'
bad_platform 'gpu_capacity_gib: -80' p.yaml:6:19 'gpu_capacity_gib is -80; it must be at least 0.1 GiB'
bad_platform 'gpu_capacity_gib: 80GB' p.yaml:6:19 'write the number without a unit'
bad_platform 'gpus_per_node: 0' p.yaml:6:16 'gpus_per_node is 0; it must be at least 1'
bad_platform 'hbm_tb_per_s: .inf' p.yaml:6:15 'hbm_tb_per_s is no finite number'
bad_platform 'nvlink_gb_per_s: 0' p.yaml:6:18 'nvlink_gb_per_s is 0'
bad_platform 'gpu_memory: 40' p.yaml:6:1 'did you mean gpu_memory_gib?'
bad_platform 'coefficients: {nic: 75%}' p.yaml:6:21 'nic takes a number'
bad_platform 'coefficients: {nicc: 0.7}' p.yaml:6:16 'did you mean nic?'
bad_platform 'gpu_capacity_gib: 79.5' p.yaml:6:19 'gpu_capacity_gib 79.5 contradicts gpu_memory_gib 79.1 of a100'

platform 'gpu_memory_gib: 39.4'
expect 0 "note: gpu_capacity_gib 37.4 follows from gpu_memory_gib, less the 2 GiB that a100 keeps for itself" \
    "$moeplan" suggest qwen3-30b-a3b --gpus 64 --platform p.yaml --framework megatron
has "GiB of 37.4"
expect 0 '"derived":{"gpu_capacity_gib":"gpu_memory_gib, less' "$moeplan" platforms p.yaml --format json
expect 0 "gpu_capacity_gib         37.4         Memory the allocator of one GPU can use. From gpu_memory_gib" "$moeplan" platforms p.yaml

# ---- model files ----

model() { printf '%s\nhidden_size: 1024\nnum_attention_heads: 8\nvocab_size: 1000\nffn_hidden_size: 4096\n' "$1" >m.yaml; }
model "$(printf 'moeplan: 1\nkind: Model\nname: x\nnum_layers: abc')"
run 2 "$moeplan" models m.yaml
says m.yaml:4:13 'num_layers takes an integer, not abc'
lacks 'is not given'
model 'num_layers: -3'
run 2 "$moeplan" models m.yaml
says m.yaml:1:13 'num_layers is -3; it must be at least 1'
model 'num_layers: 4'
sed -i /vocab_size/d m.yaml
run 2 "$moeplan" models m.yaml
says m.yaml:1:1 "the model's vocab_size is not given"
model 'kind: Platform'
expect 2 "kind takes Model, not Platform" "$moeplan" models m.yaml
echo '{"model_type": "mixtral", "hidden_size": 999999999, "num_attention_heads": 8, "num_hidden_layers": 2, "vocab_size": 1000, "intermediate_size": 256}' >config.json
run 2 "$moeplan" models config.json
says config.json:1:42 'hidden_size is 999999999; it must be at most 262,144'

# ---- plan files ----

plan='moeplan: 1
framework: megatron
model: qwen3-30b-a3b
platform: h100
gpus: 64
tp: 1
pp: 1
ep: 8
mbs: 1
gbs: 512
seq: 4096'
bad_plan() { # LINE PLACE TEXT
    printf '%s\n%s\n' "$plan" "$1" >plan.yaml
    run 1 "$moeplan" validate plan.yaml
    says "$2" "$3"
}
bad_plan 'etp: 0' plan.yaml:12:6 'etp is 0; it must be at least 1'
bad_plan 'gpus_per_node: -8' plan.yaml:12:16 'gpus_per_node is -8; it must be at least 1'
bad_plan 'optimizer_offload_fraction: 1.5' plan.yaml:12:29 'it must be at most 1'
bad_plan 'vpp: two' plan.yaml:12:6 'vpp takes an integer, not two'
echo "$plan" >plan.yaml

# ---- metrics ----

bad_metric() { # LINE TEXT
    echo "$1" >metrics.yaml
    run 2 "$moeplan" diagnose metrics.yaml
    says "metrics.yaml:1" "$2"
}
bad_metric 'exposed_all_to_all_percent: 141' 'exposed_all_to_all_percent is 141; it must be at most 100 %'
bad_metric 'launch_gap_percent: -5' 'launch_gap_percent is -5; it must be at least 0 %'
bad_metric 'launch_gap_percent: 5 %' 'write the number without a unit, between 0 and 100'
bad_metric 'step_time_s: 0' 'it must be above 0 s'

# ---- --set and --env ----

echo 'step_time_s: 3' >metrics.yaml
for command in validate estimate sweep "compare plan.yaml" "convert --to plan" "diagnose metrics.yaml --plan" "eval plan.tp --in"; do
    expect 2 "--set: tp takes an integer, not banana" "$moeplan" $command plan.yaml --set tp=banana
    expect 2 "--set: nothing is called tpp; did you mean tp?" "$moeplan" $command plan.yaml --set tpp=3
    [ "$(wc -l <out)" = 1 ] || fail "something is found before the usage error"
done
expect 2 "seq is 0; it must be at least 1" "$moeplan" validate plan.yaml --set seq=0
expect 2 "precision does not take 'fp8'" "$moeplan" estimate plan.yaml --set precision=fp8
expect 2 "did you mean tensor_model_parallel_size?; tp takes an integer" \
    "$moeplan" validate plan.yaml --set tensor_model_paralel_size=2 --set tp=x
# a word that looks like a number, a framework's own key and word, a variable of a script that is called like a parameter
run 0 "$moeplan" validate plan.yaml --set transformer_engine_version=2.8
printf 'recipe: TrainFinetuneRecipeForNextTokenPrediction\nmodel:\n  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained\n  pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B\ndistributed:\n  strategy: fsdp2\n' >recipe.yaml
expect 2 "distributed.tp_size takes an integer, not x" "$moeplan" validate recipe.yaml --set distributed.tp_size=x
run 0 "$moeplan" validate recipe.yaml --set distributed.dp_replicate_size=none
printf 'precision=${precision:-bf16}\npython pretrain_gpt.py --num-layers 2 --hidden-size 64 --num-attention-heads 8 --seq-length 128 --max-position-embeddings 128 --micro-batch-size 1 --train-iters 10 --lr 1e-4 --$precision\n' >run.sh
run 0 "$moeplan" validate run.sh --gpus 1 --set precision=fp16
expect 2 "--env wants NAME=VALUE" "$moeplan" validate plan.yaml --env "A B=1"
expect 2 "--env wants NAME=VALUE" "$moeplan" validate plan.yaml --env NOTHING

# ---- what suggest is asked ----

ask="$moeplan suggest qwen3-30b-a3b --gpus 64 --platform h100 --framework megatron"
expect 2 "--pin: tensor_model_parallel_size takes an integer, not x" $ask --pin tp=x
expect 2 "--pin: global_batch_size is -4; it must be at least 1" $ask --pin gbs=-4
expect 2 "--pin: there is no parameter tpp; did you mean tp?" $ask --pin tpp=2
expect 2 "did you mean plan.cp?" $ask --forbid 'cp > 1'
has "--forbid:1:1"
expect 2 "did you mean plan.tp?" $ask --forbid 'plan.tpp > 1'
expect 2 "neither true nor false" $ask --forbid 'plan.tp + 1'
expect 2 "cannot be decided of any plan: divide by zero" $ask --forbid '1 / (plan.tp - plan.tp) > 0'
expect 2 "cannot be decided of any plan" $ask --forbid 'plan.tp > 1' --forbid 'int("x") > 1'
expect 0 "plans, which are not left out: no such overload: null > int" $ask --forbid 'plan.vpp > 2' --format json
expect 2 "--seq must be at most 268,435,456" $ask --seq 999999999
expect 2 '--gbs must be an integer of at least 1, not "0"' $ask --gbs 0
for size in abc 0 1e3 min,8 64..; do
    expect 2 "--gpus must be a number from 1 on, min, or up to 64 numbers as 64,96 or 64..4096, not \"$size\"" $ask --gpus $size
done
plan64 >plan64.yaml
for command in validate estimate; do
    expect 2 "there is no model and no file called nowhere" "$moeplan" $command plan64.yaml --model nowhere
    lacks "tokens/s"
done
expect 2 "--color must be" $ask --color sometimes
[ "$(grep -c "must be" "$dir/out")" = 1 ] || fail "said twice"
expect 2 "did you mean fp8_delayed, fp8_tensorwise or fp8_blockwise?" $ask --precision fp8
expect 2 "did you mean memory?" $ask --goal memmory
expect 2 "did you mean pretrain?" $ask --task pretain
expect 2 'not "jsn"; did you mean json?' $ask --format jsn
mkdir empty
(cd empty && expect 2 "MODEL, --gpus N|min|A..B, --platform P are missing" "$moeplan" suggest)
expect 2 "--gpus N|min|A..B, --platform P are missing" "$moeplan" suggest qwen3-30b-a3b
has "platform name (moeplan platforms) or a platform file"
expect 2 "--platform P is missing" "$moeplan" suggest qwen3-30b-a3b --gpus 8
expect 2 "--to megatron|bridge|automodel|plan is missing" "$moeplan" convert plan.yaml
expect 2 "did you mean suggest?" "$moeplan" help sugest
expect 2 "did you mean megatron?" "$moeplan" validate plan.yaml --as megtron
expect 0 "bf16 (default), fp16, fp8_delayed" "$moeplan" suggest --help
# the help of what prints a file is a screen all the same
expect 0 "
options
  --to megatron" "$moeplan" convert --help
expect 0 "
options
  --gpus" "$moeplan" suggest --format json --help

# ---- batch requests: one that is not understood is an error of its own ----

answer() { # COMMAND REQUEST TEXT
    printf '%s\n' "$2" | "$moeplan" "$1" --batch >out
    has '"error":'
    has "$3"
}
option() { answer suggest '{"id":"a","model":"qwen3-30b-a3b","gpus":8,"platform":"h100","options":{'"$1"'}}' "$2"; }
option '"forbidd":["plan.tp > 1"]' "there is no member options.forbidd; did you mean forbid?"
option '"top":"x"' 'options.top must be an integer of at least 1, not \"x\"'
option '"top":-1' "options.top must be an integer of at least 1, not -1"
option '"gbs":1e18' "options.gbs must be an integer, not 1e+18"
option '"seq":-1' "options.seq is -1; it must be at least 1"
option '"mbs":"1"' 'options.mbs must be an integer, not \"1\"'
option '"goal":5' "options.goal must be a string, not 5"
option '"numerics":"loose"' "the numerics must be one of tuned|strict, not loose"
option '"goal":"fast"' "the goal must be one of throughput|bringup|memory, not fast"
option '"framework":"megatrn"' "did you mean megatron?"
option '"pin":5' "options.pin must be a string"
option '"pin":{"tp":"x"}' "tensor_model_parallel_size takes an integer, not x"
option '"forbid":7' "options.forbid must be a string or a list of strings, not 7"
option '"forbid":["cp > 1"]' "did you mean plan.cp?"
option '"forbid":"1/0 > 1"' "cannot be decided of any plan"
answer suggest '{"id":"a","model":"qwen3-30b-a3b","gpu":8,"platform":"h100"}' "there is no member gpu; did you mean gpus?"
answer suggest '{"id":"a","model":"qwen3-30b-a3b","gpus":8,"platform":"h100","options":[]}' "options must be an object, not []"
platform 'bf16_tflops: 0'
answer suggest '{"id":"a","model":"qwen3-30b-a3b","gpus":8,"platform":"p.yaml"}' "p.yaml:6:14: bf16_tflops is 0"
answer validate '{"id":"a","txt":"x"}' "there is no member txt; did you mean text?"
answer validate '{"id":"a","text":"moeplan: 1\ntp: 2","set":{"tp":"banana"}}' "tp takes an integer, not banana"
answer validate '{"id":"a","text":"moeplan: 1\ntp: 2","set":{"tpp":2}}' "nothing is called tpp; did you mean tp?"
answer validate '{"id":"a","text":"moeplan: 1\ntp: 2","env":{"A":null}}' "env.A must be a string, not null"
answer validate '{"id":"a","text":"moeplan: 1\ntp: 2","gpus":0}' "gpus is 0; it must be at least 1"
answer estimate '{"id":"a","plan":3}' "plan must be an object, not 3"
answer estimate '{"id":"a","plan":{"tp":1},"seq":4096}' "there is no member seq"
answer eval '{"id":"a","expr":"1","binding":{}}' "there is no member binding; did you mean bindings?"
forbid='{"id":"a","model":"qwen3-30b-a3b","gpus":64,"platform":"h100","options":{"framework":"megatron","forbid":["plan.ep != 4"]}}'
echo "$forbid" | "$moeplan" suggest --batch >out
has '"ep":4'
undecided='{"id":"a","model":"qwen3-30b-a3b","gpus":64,"platform":"h100","options":{"framework":"megatron","forbid":"plan.vpp > 2"}}'
echo "$undecided" | "$moeplan" suggest --batch >out
has '"notes":["--forbid '
has '"plans":[{"rank":1'

# ---- moeplan's own files are checked too ----

model "$(printf 'moeplan: 1\nkind: Model\nname: x\nnum_layers: 4')"
run 0 "$moeplan" validate m.yaml
expect 0 '"format":"model","framework":null,"framework_version":null,"model":"x"' "$moeplan" validate m.yaml --format json
model 'num_layers: 4'
expect 0 '"format":"model"' "$moeplan" validate m.yaml --format json # by its keys, when it is named
sed -i 's/vocab_size/vocab_sise/' m.yaml
expect 1 "did you mean vocab_size?" "$moeplan" validate m.yaml
mkdir folder
cp m.yaml folder
printf 'moeplan: 1\nkind: Platfrm\n' >folder/p.yaml
expect 1 "there is no kind Platfrm" "$moeplan" validate folder
has "2 files: 1 error, 0 warnings, 0 infos; 1 no recipe"
platform 'nic_gb_per_s: 100'
run 0 "$moeplan" validate p.yaml
printf -- '---\na: 1\n' >>p.yaml
expect 1 "p.yaml:8:1: error[no-recipe]: such a file holds one mapping" "$moeplan" validate p.yaml
rule='moeplan: 1
kind: Rules
rules:
  - id: tp-is-small
    severity: error
    rule: plan.tp <= 8
    message: tp is large
    examples:
      good: [{tp: 8}]
      bad: [{tp: 16}]'
echo "$rule" >rules.yaml
run 0 "$moeplan" validate rules.yaml
echo "$rule" | sed 's/plan.tp/plan.tpp/' >rules.yaml
expect 1 "did you mean plan.tp?" "$moeplan" validate rules.yaml
echo "$rule" | sed 's/tp: 16/tp: 4/' >rules.yaml
expect 1 "does not fire the rule" "$moeplan" validate rules.yaml
printf 'moeplan: 1\nkind: Parameters\nparameters:\n  - {name: x, type: integer, doc: X.}\n' >x.yaml
expect 1 "x.yaml:4:21: error[parameter-file]: unknown word" "$moeplan" validate x.yaml
run 0 "$moeplan" validate "$source/rules" "$source/examples/deepseek-v3-256-gb200" "$source/examples/qwen3-vl-30b-32-gpus"
expect 0 "the number is out of the range of its parameter" "$moeplan" explain value-range
mkdir own
printf 'moeplan: 1\nkind: Bogus\n' >own/x.yaml
expect 2 "unknown kind Bogus" "$moeplan" validate plan.yaml --rules own
has "own/x.yaml:2:7: error"
has "one of Rules, Parameters, Model, Platform"
printf 'moeplan: 1\nkind: Rulse\nrules: []\n' >own/x.yaml
expect 2 "did you mean Rules? one of Rules, Parameters, Model, Platform" "$moeplan" validate plan.yaml --rules own/x.yaml

# AutoModel would put the environment in place of a $NAME: such a value is not written, and that is said
printf 'moeplan: 1\nframework: automodel\nmodel: qwen3-30b-a3b\nplatform: h100\ngpus: 8\nep: 8\nmbs: 1\ngbs: 64\nseq: 4096\ncheckpoint_dir: %s\n' 'SECRET' >plan.yaml
run 0 "$moeplan" convert plan.yaml --to automodel
has "checkpoint_dir: SECRET"
for text in '$HOME/x' 'a${oc.env:HOME}'; do
    sed "s|SECRET|\"$text\"|" plan.yaml >env.yaml
    run 0 "$moeplan" convert env.yaml --to automodel
    has "# not written: checkpoint.checkpoint_dir = $text"
    lacks "  checkpoint_dir:"
done

# a value that begins with a dash is no flag of its own
sed 's/automodel/megatron/; s/^checkpoint_dir: .*/tokenizer_model: --load/; s/^framework.*/&\ndata_path: [a, --save]/' plan.yaml >dash.yaml
"$moeplan" convert dash.yaml --to megatron >flags 2>out || true
grep -qx -- '--tokenizer-model=--load' flags || fail "the value is a flag"
! grep -q -- '^--data-path\|^--save' flags || fail "an item of a list is a flag"
expect 0 'tokenizer_model: "--load"' "$moeplan" convert flags --to plan

# what is no command is said, whatever it looks like
for word in report --nope ''; do
    expect 2 "there is no command" "$moeplan" "$word"
done
