#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Files that are named: a plan, a model or a request reaches no further than its repository and shows nothing of what it
# names; what the user names is free; an emitted plan finds its platform again.
. "$(dirname "$0")/../helpers.sh"
moeplan=$(realpath "$moeplan")
cd "$dir"
mkdir -p repo/plans repo/plats repo/hf away

plan() { # MODEL PLATFORM
    printf 'moeplan: 1\nframework: megatron\nmodel: %s\nplatform: %s\n' "$1" "$2"
    printf 'gpus: 64\nseq: 4096\ntp: 1\npp: 1\nep: 8\netp: 1\nmbs: 1\ngbs: 512\nuse_distributed_optimizer: true\n'
}
secrets() { lacks hunter; lacks password; lacks SECRET; }
export SECRET_TOKEN=hunter1

# ---- what a plan may name ----

printf 'base: h100\nname: Mine\n' >repo/plats/mine.yaml
cp repo/plats/mine.yaml away/mine.yaml
judge() { # STATUS TEXT MODEL PLATFORM: of a plan in the repository
    plan "$3" "$4" >repo/plans/plan.yaml
    expect "$1" "$2" timeout 20 "$moeplan" estimate repo/plans/plan.yaml
    secrets
    run "$([ "$1" = 0 ] && echo 0 || echo 1)" timeout 20 "$moeplan" validate repo/plans/plan.yaml
    secrets
}
model() { judge "$1" "$2" "$3" h100; }
platform() { judge "$1" "$2" qwen3-30b-a3b "$3"; }

platform 2 "lies outside of" ../plats/mine.yaml # no repository: the plan's own folder is all
mkdir repo/.git
platform 0 "mine.yaml  64 GPUs" ../plats/mine.yaml
platform 0 "mine.yaml  64 GPUs" plats/mine.yaml
platform 2 "lies outside of" ../../away/mine.yaml
platform 2 "lies outside of" "$dir/away/mine.yaml"
platform 0 "mine.yaml  64 GPUs" "$dir/repo/plats/mine.yaml"
for name in /proc/self/environ /dev/stdin /dev/null /proc/kmsg /etc/passwd /etc/no-such-file ../../away; do
    platform 2 "lies outside of" $name
    model 2 "lies outside of" $name
done
platform 2 "no platform and no file called" '"-"'
model 2 "no model and no file called" '"-"'
model 2 "no model and no file called" '""'

# pipes, links, folders
mkfifo repo/plans/pipe repo/hf/config.json
ln -s ../../away/mine.yaml repo/plans/link.yaml
ln -s ../plats/mine.yaml repo/plans/good.yaml
platform 2 "pipe cannot be read: is no regular file" pipe
model 2 "pipe cannot be read: is no regular file" pipe
model 2 "cannot be read: is no regular file" ../hf
platform 2 "lies outside of" link.yaml
platform 0 "good.yaml  64 GPUs" good.yaml
platform 2 "is a directory" ../plats
model 2 "is a folder without a config.json" ../plats
rm repo/hf/config.json

# nothing of what stands there is shown, whatever is wrong with it
printf 'password: hunter2\nhunter3\n' >repo/secret.txt
printf 'password: hunter2\n' >repo/secret.yaml
printf '{"password": "hunter2",}' >repo/secret.json
printf 'hunter2' >repo/word
printf 'num_layers: hunter2\npassword: {hunter3: 1}\n' >repo/model.yaml
printf -- '---\npassword: hunter2\n---\nhunter3: 1\n' >repo/two.yaml
printf '\0hunter2' >repo/binary
for name in secret.txt secret.yaml secret.json word two.yaml binary; do
    platform 2 "named here, is no platform file" $name
    model 2 "named here, is no model file" $name
done
model 2 "named here, is no model file: line" model.yaml
for format in json jsonl github; do
    run 1 "$moeplan" validate repo/plans/plan.yaml --format $format
    secrets
done

# models that build on one another, and plans that are taken for models
printf 'base: qwen3-30b-a3b\nnum_layers: 47\n' >repo/short.yaml
printf 'name: Shorter\nbase: short.yaml\nnum_layers: 46\n' >repo/shorter.yaml
model 0 "46 layers" ../shorter.yaml
plan shorter.yaml h100 | sed 's/^pp: 1/pp: 4/' >repo/plans/plan.yaml
run 1 "$moeplan" validate repo/plans/plan.yaml
has "num_layers = 46: written at line 3" # where the model is named
lacks "num_layers: 46"
printf 'base: secret.txt\n' >repo/short.yaml
model 2 "line 2 is not as it should be" shorter.yaml
secrets
printf 'base: ../away/mine.yaml\n' >repo/short.yaml
model 2 "line 2 is not as it should be" shorter.yaml
printf 'base: shorter.yaml\n' >repo/short.yaml
model 2 "is no model file" shorter.yaml
printf 'base: secret.txt\n' >repo/given.yaml
expect 2 "given.yaml:1:7: error[model-config]: repo/secret.txt, named here, is no model file" \
    "$moeplan" models repo/given.yaml
secrets

# ---- what the user names ----

plan ../../away/model.yaml ../../away/mine.yaml >repo/plans/plan.yaml
echo 'base: qwen3-30b-a3b' >away/model.yaml
expect 2 "lies outside of" "$moeplan" estimate repo/plans/plan.yaml
expect 1 "lies outside of" "$moeplan" validate repo/plans/plan.yaml --platform h100 --model qwen3-30b-a3b
expect 0 "mine.yaml  64 GPUs" "$moeplan" estimate repo/plans/plan.yaml --platform away/mine.yaml --model away/model.yaml
expect 2 "1 | password: hunter2" "$moeplan" models repo/secret.yaml
mkfifo pipe
cat away/mine.yaml >pipe &
expect 0 "Mine" timeout 20 "$moeplan" platforms pipe
wait
expect 0 "Qwen3-30B-A3B" sh -c '"$0" models - <away/model.yaml' "$moeplan"

expect 2 "./away is a folder without a config.json" "$moeplan" models ./away
expect 2 "there is no model and no file called ./nothing" "$moeplan" models ./nothing
expect 2 "did you mean qwen3-30b-a3b" "$moeplan" models qwen3-30b-a3
expect 2 "away cannot be read: is a directory" "$moeplan" platforms away
if [ "$(id -u)" != 0 ]; then
    echo 'base: h100' >locked.yaml
    chmod 0 locked.yaml
    expect 2 "locked.yaml cannot be read: Permission denied" "$moeplan" models locked.yaml
    expect 2 "locked.yaml cannot be read: Permission denied" "$moeplan" platforms locked.yaml
fi

# a recipe where a model is wanted, and a model where a recipe is
ask() { expect 2 "$1" "$moeplan" suggest "$2" --gpus 8 --platform h100; }
cat >recipe.yaml <<'YAML'
recipe: TrainFinetuneRecipeForNextTokenPrediction
model:
  _target_: nemo_automodel.NeMoAutoModelForCausalLM.from_pretrained
  pretrained_model_name_or_path: Qwen/Qwen3-30B-A3B
distributed:
  strategy: fsdp2
YAML
ask "this is an AutoModel recipe, no model" recipe.yaml
has "moeplan estimate"
lacks "no field of a model"
printf 'torchrun pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-experts 8 --bf16\n' >run.sh
ask "this is a Megatron-LM launch or its arguments, no model" run.sh
printf 'model.tensor_model_parallel_size=2\ntrain.train_iters=3\nmodel.pipeline_model_parallel_size=2\n' >run.args
ask "Megatron-Bridge overrides, no model" run.args
printf 'moeplan: 1\nframework: megatron\ntp: 2\n' >bare.yaml
ask "a plan that names no model, no model" bare.yaml
printf 'num_layers: 4\nhiden_size: 64\nnum_attention_heads: 8\nvocab_size: 100\nseq_length: 4\n' >typo.yaml
ask "did you mean hidden_size?" typo.yaml
expect 2 "deepseek-v3 is a model, no recipe: moeplan suggest deepseek-v3" "$moeplan" estimate deepseek-v3
expect 2 "deepseek-v3 is a model, no recipe: moeplan suggest deepseek-v3" "$moeplan" convert deepseek-v3 --to plan

# ---- requests ----

request() { # ID PATH PLATFORM: validate a plan that names the platform
    text=$(plan qwen3-30b-a3b "$3" | awk '{ printf "%s\\n", $0 }')
    printf '%s\n' "{\"id\":\"$1\",\"path\":\"$2\",\"as\":\"plan\",\"text\":\"$text\"}"
}
plan qwen3-30b-a3b h100 >repo/plans/plan.yaml
{
    request found repo/plans/plan.yaml plats/mine.yaml
    request label no/such/file.yaml repo/plats/mine.yaml
    request stdin x /dev/stdin
    request pipe x repo/plans/pipe
    request out repo/plans/plan.yaml ../../away/mine.yaml
    request secret x repo/secret.yaml
    request given x h100 | sed 's|}$|,"platform":"away/mine.yaml"}|'
    request given-pipe x h100 | sed 's|}$|,"platform":"repo/plans/pipe"}|'
    request given-stdin x h100 | sed 's|}$|,"platform":"/dev/stdin"}|'
    request given-system x h100 | sed 's|}$|,"platform":"/proc/self/environ"}|'
    request last x h100
} >requests
timeout 60 "$moeplan" validate --batch <requests >out || fail "the batch ends with $?"
[ "$(wc -l <out)" = 11 ] || fail "not eleven answers"
secrets
answer() { # ID TEXT
    grep "^{\"id\":\"$1\"" out | grep -qF -- "$2" || fail "$1: no \"$2\""
}
answer found '"status":"ok"'
answer label '"status":"ok"'
answer stdin 'lies outside of'
answer pipe 'is no regular file'
answer out 'lies outside of'
answer secret 'is no platform file'
answer given '"status":"ok"'
answer given-pipe 'is no regular file'
answer given-stdin 'is no ordinary file'
answer given-system 'is no ordinary file'
answer last '"status":"ok"'

for model in '"repo/plans/pipe"' '"/dev/stdin"' '"-"' '"/proc/self/environ"' '{"base":"/etc/passwd"}' '{"base":"repo/secret.yaml"}' '"away/model.yaml"'; do
    echo "{\"id\":1,\"model\":$model,\"gpus\":8,\"platform\":\"h100\"}"
done | timeout 60 "$moeplan" suggest --batch >out || fail "the batch ends with $?"
[ "$(grep -c '"error"' out)" = 6 ] || fail "not six errors"
[ "$(grep -c '"plans"' out)" = 1 ] || fail "not one plan"
secrets

# ---- an emitted plan finds its platform ----

again() { # PLAN
    expect 0 "mine.yaml  64 GPUs" "$moeplan" estimate "$1"
}
suggest() { run 0 "$moeplan" suggest qwen3-30b-a3b --gpus 64 --framework megatron --format plan "$@"; }
cd repo
suggest --platform plats/mine.yaml -o one.yaml
again one.yaml
lacks note:
suggest --platform plats/mine.yaml -o plans/two.yaml
grep -q '^platform: "*../plats/mine.yaml' plans/two.yaml || fail "the platform is not named from the plan's folder"
again plans/two.yaml
(cd plans && again two.yaml)
run 0 "$moeplan" convert plans/two.yaml --to plan -o hf/three.yaml
lacks refuses
again hf/three.yaml
(cd hf && run 0 "$moeplan" convert ../plans/two.yaml --to plan -o four.yaml && again four.yaml)
"$moeplan" convert plans/two.yaml --to plan >five.yaml
again five.yaml
"$moeplan" sweep plans/two.yaml --format plan --top 1 -o hf/six.yaml
again hf/six.yaml
suggest --platform ../away/mine.yaml -o seven.yaml
has "note: the plan names ../away/mine.yaml, which lies outside of"
expect 2 "lies outside of" "$moeplan" estimate seven.yaml
expect 0 "mine.yaml  64 GPUs" "$moeplan" estimate seven.yaml --platform ../away/mine.yaml

# a recipe's schedule file: a relative name is looked for below the recipe's root only; none is ever read
mkdir -p sched/.git
printf 'recipe: FinetuneRecipeForVLM\ndistributed: {strategy: fsdp2, pp_size: 2, pipeline: {pp_schedule_csv: SCHED}}\n' >sched/model
for name in ../absent.csv ../../absent.csv; do
    sed "s|SCHED|$name|" sched/model >sched/r.yaml
    status=0
    timeout 20 "$moeplan" validate sched/r.yaml </dev/null >"$dir/out" 2>&1 || status=$?
    [ "$status" -le 1 ] || fail "exit $status"
    lacks "schedule-file-missing"
done
sed "s|SCHED|absent.csv|" sched/model >sched/r.yaml
expect 1 "error[schedule-file-missing]: there is no file absent.csv" "$moeplan" validate sched/r.yaml
mkfifo sched/absent.csv
expect 1 "schedule-file-missing" timeout 20 "$moeplan" validate sched/r.yaml
rm sched/absent.csv
echo x >sched/absent.csv
"$moeplan" validate sched/r.yaml >"$dir/out" 2>&1 || true
lacks "schedule-file-missing"

# a file of another kind is named with the command that takes it
cd "$dir"
printf 'moeplan: 1\nkind: Platform\nid: x\nname: X\nbase: h100\n' >a-platform.yaml
printf 'mfu: 0.2\nstep_s: 12\n' >some-metrics.yaml
expect 2 "a-platform.yaml is a platform: moeplan platforms a-platform.yaml" "$moeplan" estimate a-platform.yaml
expect 2 "some-metrics.yaml is a file of metrics: moeplan diagnose some-metrics.yaml" "$moeplan" validate some-metrics.yaml
for kind in Capabilities Evidence Release; do
    printf 'moeplan: 1\nkind: %s\n' $kind >built-in.yaml
    expect 2 "built-in.yaml is data that is built into moeplan (kind: $kind)" "$moeplan" rules test built-in.yaml
    has "--rules takes Rules and Parameters"
    lacks "is a plan"
done
cp "$source/examples/qwen3-235b-256-h800/plan.yaml" a-plan.yaml
expect 2 "a-plan.yaml is a plan: moeplan estimate a-plan.yaml" "$moeplan" diagnose a-plan.yaml
run 0 "$moeplan" estimate a-plan.yaml
lacks "is a plan"
