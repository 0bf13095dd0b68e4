#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# script.sh PROGRAM SOURCE_DIR [all]: the launch script is clean shell for every eighth (all: every) model and task, says in one line what its user
# left out, finds its rendezvous under Slurm, and reads back as the plan it is.
. "$2/tests/helpers.sh"
command -v bash >/dev/null || { echo "no bash"; exit 77; }

written=0
step=8 least=10
[ "${3:-}" != all ] || step=1 least=100
for model in $("$moeplan" models | awk -v step=$step 'NR > 1 && NF > 3 && (NR % step == 0 || $1 == "qwen3-30b-a3b") { print $1 }'); do
    for task in pretrain sft; do
        "$moeplan" suggest "$model" --gpus 256 --platform h100 --task $task --framework megatron --format script \
            >"$dir/out" 2>/dev/null || continue # no plan fits
        mv "$dir/out" "$dir/$model-$task.sh"
        written=$((written + 1))
    done
done
[ $written -gt $least ] || fail "only $written scripts"
if command -v shellcheck >/dev/null; then (cd "$dir" && shellcheck ./*.sh >out) || fail "shellcheck finds faults"; fi

# What srun is given, and MASTER_ADDR, as `launch NAME=VALUE...` sets the environment.
cat >"$dir/srun" <<'STUB'
#!/bin/sh
echo "master ${MASTER_ADDR:-none}"
printf '<%s>\n' "$@"
STUB
printf '#!/bin/sh\n[ "$1 $2 $3" = "show hostnames n[1-2]" ] && printf "n1\\nn2\\n"\n' >"$dir/scontrol"
chmod +x "$dir/srun" "$dir/scontrol"
ln -s srun "$dir/torchrun" # which starts a single node
bash=$(command -v bash) path=$PATH
launch() { env -i PATH="$dir:$path" "$@" "$bash" "$script" >"$dir/out" 2>"$dir/err"; }
one_line() { [ "$(wc -l <"$dir/err")" = 1 ] && grep -qF -- "$1" "$dir/err" || fail "said: $(cat "$dir/err")"; }
has_flag() { tr '\n' ' ' <"$dir/out" | grep -qF -- "$1" || fail "no $1"; }

script=$dir/qwen3-30b-a3b-pretrain.sh
launch || fail "a first run: exit $?"
one_line "unset: DATA_PATH TOKENIZER_MODEL SAVE LOAD: a first run on mock data"
has "master none"
has_flag "<--mock-data> <--tokenizer-type> <NullTokenizer>"
launch SLURM_JOB_NODELIST='n[1-2]' && has "master n1"
launch SLURM_JOB_NODELIST='n[1-2]' MASTER_ADDR=mine && has "master mine"

! launch DATA_PATH=d SAVE=s || fail "half filled in, and it runs"
one_line "unset: TOKENIZER_MODEL: set it"
lacks "<torchrun>"
full="DATA_PATH=1 a 2 b"
launch "$full" TOKENIZER_MODEL=t SAVE='s x' && [ ! -s "$dir/err" ] || fail "filled in: $(cat "$dir/err")"
has_flag "<--data-path> <1> <a> <2> <b> <--tokenizer-type> <HuggingFaceTokenizer> <--tokenizer-model> <t>"
has_flag "<--save> <s x> <--save-interval> <500> <--load> <s x>"
lacks "<--mock-data>"

script=$dir/qwen3-30b-a3b-sft.sh
! launch "$full" TOKENIZER_MODEL=t SAVE=s || fail "fine-tuning from no weights"
one_line "unset: LOAD: set it"
launch "$full" TOKENIZER_MODEL=t SAVE=s LOAD=w || fail "fine-tuning: exit $?"
has_flag "<--load> <s> <--pretrained-checkpoint> <w>"

# Both the first run and the filled-in one pass validate, and the flags say the same environment.
for more in "" "--env DATA_PATH=d --env TOKENIZER_MODEL=t --env SAVE=s --env LOAD=l"; do
    # shellcheck disable=SC2086
    expect 0 "0 errors, 0 warnings" "$moeplan" validate "$script" --platform h100 $more
done
question="qwen3-30b-a3b --gpus 16 --platform h100 --framework megatron --pin tp=2 --pin use_megatron_fsdp=false,overlap_moe_expert_parallel_comm=false"
for format in flags script; do
    # shellcheck disable=SC2086
    expect 0 "CUDA_DEVICE_MAX_CONNECTIONS=1" "$moeplan" suggest $question --format $format
done

# a graph of the whole iteration comes with all that it needs
graphs() { # TEXT ARGUMENTS...: in what is printed, which validate accepts
    text=$1
    shift
    expect 0 "$text" "$moeplan" suggest "$@" --pin cuda_graph_impl=full_iteration
    cp "$dir/out" "$dir/printed"
    expect 0 "0 errors, 0 warnings" "$moeplan" validate "$dir/printed" --gpus 64 --platform gb200 --model "$1"
    cp "$dir/printed" "$dir/out"
}
for format in flags script plan; do
    graphs full_iteration qwen3-30b-a3b --gpus 64 --platform gb200 --framework megatron --format $format
done
graphs "export PYTORCH_CUDA_ALLOC_CONF=" llama-3-70b --gpus 64 --platform gb200 --framework megatron --format script
has "--no-check-for-nan-in-loss-and-grad"
lacks "--moe-paged-stash"
graphs "model.moe_paged_stash=true" qwen3-30b-a3b --gpus 64 --platform gb200 --framework bridge --format bridge
has "model.moe_expert_rank_capacity_factor=1.5"
has "rerun_state_machine.check_for_nan_in_loss=false"
has "rng.te_rng_tracker=true"

# a model's file has any name: it starts nothing either
newline='a
: > MARK
#'
for name in "\$(: > MARK)" '`: > MARK`' "';: > MARK;'" "$newline"; do
    mkdir "$dir/$name"
    printf '{"num_layers": 4, "hidden_size": 1024, "num_attention_heads": 16, "ffn_hidden_size": 4096, "vocab_size": 32000}' \
        >"$dir/$name/model.json"
    (cd "$dir" && "$moeplan" suggest "$name/model.json" --gpus 8 --platform h100 --framework megatron --format script \
        -o hostile.sh) >"$dir/out" 2>&1 || fail "no plan for $name"
    script=$dir/hostile.sh
    (cd "$dir" && launch) || fail "$name: exit $?"
    [ ! -e "$dir/MARK" ] || fail "$name ran a command"
    has_flag "<--num-layers> <4>"
done
