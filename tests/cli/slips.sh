#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Slips of people in real files: each is told at its line, with what was meant.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# variables that libraries read, in the ways in which files set them
cat >e.sh <<EOF
#!/bin/bash
export NCCL_DEBG=INFO TP=1
# export NCCL_SOCKET_IFNAM=eth0
RUNTIME='{"env_vars": {"NCCL_NLVS_ENABLE": "0"}}'
NCCL_IB_HC=mlx5 NCCL_ALG=Ring; echo \$NCCL_IB_HC \${NCCL_ALG} \${CUDA_DEVICE_MAX_CONNECTION:-1}
export NVTE_CK_USES_FWD_V3=1 HCCL_DEBUG=1 MY_NCCL_ALGOS=1
PYTORCH_CUDA_ALOC_CONF=x torchrun --nproc-per-node 8 --nnode 1 --node_rnak 0 pretrain_gpt.py $sizes $data --rollout-rank 0
EOF
concise e.sh
found 2 environment-misspelt NCCL_DEBG
found 4 environment-misspelt NCCL_NLVS_ENABLE
found 7 environment-misspelt PYTORCH_CUDA_ALOC_CONF
test "$(grep -c environment-misspelt out)" = 3 || fail "other names are findings"
found 7 launcher-option node_rnak
test "$(grep -c launcher-option out)" = 1 || fail "a beginning of an option is refused"
expect 0 "did you mean --node_rank?" "$moeplan" validate e.sh
printf 'export TORCH_XCCL_BLOCKING_WAIT=1 WANDB__SERVICE_WAIT=300 NCCL_ALOG=Ring\n%s' "$(cat e.sh)" >other.sh
concise other.sh
found 1 environment-misspelt NCCL_ALOG
none "XCCL\|WANDB" # another maker's library; two underscores are two
printf 'ENV_VARS:\n  CUDA_DEVICE_MAX_CONECTIONS: 1\nMODEL_ARGS:\n  --num-layers: 4\n  --bf16: true\n' >ci.yaml
concise ci.yaml
found 2 environment-misspelt CUDA_DEVICE_MAX_CONECTIONS

# sizes below zero; -1 may be anybody's word
script pretrain_gpt.py "$data --ffn-hidden-size -256"
concise r.sh
found 3 size-below-zero "no size is below zero"
script serve.py "$data --hop --ffn-hidden-size -1"
concise r.sh
none size-below-zero

# groups of queries, in a program of one's own too
script serve.py "$data --hop 1 --hip 2 --hup 3 --group-query-attention --num-query-groups 3"
concise r.sh
found 3 query-groups-divide-heads "8 attention heads are not a multiple of 3"

# what a fork leaves open does not hide what is written
fork="$data --hop 1 --hip 2 --hup 3"
script train_hops.py "$fork --tensor-model-parallel-size 1 --pipeline-model-parallel-size 3"
concise r.sh
found 3 world-holds-what-is-written "8 GPUs are not a multiple of tp 1 x pp 3"
found 3 layers-left-over "4 layers"
script train_hops.py "$fork --num-layers 126 --pipeline-model-parallel-size 8"
concise r.sh
none layers-left-over # 126 and the embedding and the loss
script train_hops.py "$fork --num-layers 9 --pipeline-model-parallel-size 4"
concise r.sh
found 3 layers-left-over "9 layers"

# a slip among a fork's own flags has its own line
printf '#!/bin/bash\ntorchrun train_hops.py %s --hop 1 --hip 2 --hup 3 \\\n --num-expert 8 \\\n --patch-size 3\n' "$sizes $data" >f.sh
concise f.sh
found 3 unknown-key "no flag --num-expert"
found 2 unknown-key "nor 3 others"

# and among its keys: the first letters are the same
printf '%s: 4\n' num_layers hidden_size num_attention_heads seq_length max_position_embeddings mirco_batch_size hop hip hup >k.yaml
concise --framework megatron k.yaml
found 6 unknown-key "no argument mirco_batch_size"
found 7 unknown-key "nor 2 others"

# Megatron-DeepSpeed has Megatron-LM's parser
printf '#!/bin/bash\ndeepspeed pretrain_gpt.py %s --deepspeed --deepspeed-activation-checkpointing --zero-stage 1 \\\n --swiglu true\n' "$sizes $data" >d.sh
concise d.sh
found 3 value-for-switch "takes no value"

# shells: a flag is never a command, an array does not run into the next, the line where a quote opens
cat >h.sh <<EOF
cat >w.sh <<-END
python pretrain_gpt.py $sizes $data
END
torchrun --nnodes=\$N
--nproc-per-node=\$P \\
--no-python bash w.sh
EOF
concise h.sh
found 5 lost-backslash "takes --nproc-per-node for"
printf '#!/bin/bash\nA=(\n --num-layers 4\n --swiglu\nB=(\n --bf16\n)\npython pretrain_gpt.py ${A[@]} ${B[@]} --lr 1\n' >a.sh
concise a.sh
found 2 shell-syntax "bracket is not closed"
printf '#!/bin/bash\nNAME="x\nif true; then echo "a b" c; fi\nLR="1" LOG=$X"y"\npython pretrain_gpt.py --bf16 --swiglu --lr "$LR" --num-layers 4\n' >q.sh
concise q.sh
found 2 shell-syntax "quote is not closed"

# verl
cp "$source/tests/planted/programs/verl.sh" v.sh
verl() { sed "$1" v.sh >w.sh && concise w.sh; }
verl 's/nnodes=2/nnodes=two/'
found 11 value-type nnodes
verl 's/nnodes=2/nnodes=/'
found 11 value-missing nnodes
verl 's/train_batch_size=512/train_batch_size=[8]/'
found 4 value-type train_batch_size
verl 's/nnodes=2/nnodes=2 trainer.nnodes=4/'
found 11 flag-repeated "4 wins over 2"
verl 's/nnodes=2/nnodes=2 trainer.nnodes=2/'
none flag-repeated
verl 's/--config-name/--config-nmae/'
found 3 unknown-key "Hydra has no option --config-nmae"
verl 's/nnodes=2/nnodes=2 algorithm.adv_estimator=gpro/'
found 11 value-choice adv_estimator
verl 's/nnodes=2/nnodes=2 algorithm.adv_estimator=mine/'
none value-choice
verl 's/nnodes=2/nnodes=2 actor_rollout_ref.ref.megatron.tensor_model_parallel_size=8x/'
found 11 value-type tensor_model_parallel_size

# NeMo-RL
cp "$source/tests/planted/programs/nemo_rl.yaml" n.yaml
nemo() { sed "$1" n.yaml >m.yaml && concise m.yaml; }
nemo 's/gpus_per_node: 8/gpus_per_node: eight/'
found 18 value-type gpus_per_node
nemo 's/gpus_per_node: 8/gpus_per_node: [8]/'
found 18 value-type "not a list"
nemo 's/gpus_per_node: 8/gpus_per_node:/'
found 18 value-missing gpus_per_node
nemo 's/gpus_per_node: 8/gpus_per_node: null/'
none value-missing
nemo 's/expert_model_parallel_size: 8/expert_model_parallel_size:/'
found 15 value-missing expert_model_parallel_size
nemo 's/    enabled: true/    enabled: flase/'
found 9 value-type flase

# slime, ms-swift
sed 's/--lr 1e-6/--lr 1e-6 --rollout-batch-size 64/' "$source/tests/planted/programs/slime.sh" >s.sh
concise s.sh
found 11 flag-repeated "64 wins over 32"
sed 's/--lora_rank 16/--lora_rank 16 --lora_rank 8 --tuner_type lroa/' "$source/tests/planted/programs/swift.sh" >s.sh
concise s.sh
found 7 flag-repeated "8 wins over 16"
found 7 value-choice tuner_type
sed 's/--lora_rank 16/-lora_rank 16 -lr 1e-4 -h/' "$source/tests/planted/programs/swift.sh" >s.sh
concise s.sh
found 7 unknown-key "ms-swift has no option -lora_rank"
found 7 unknown-key "ms-swift has no option -lr"
none "option -h"
sed 's/--lora_rank 16/--lora_rank/' "$source/tests/planted/programs/swift.sh" >s.sh
concise s.sh
found 7 value-missing lora_rank

# the flags of a program that its commands start are not those of another script
u='--micro_batch_size 4 --global_batch_size 8 --train_iters 9 --lr_decay_iters 9 --lr_decay_style linear --min_lr 0'
printf '#!/bin/bash\npython pretrain_bert.py %s --num_layers 4 --hidden_size 64 --save x --split 9,1 --lr 1e-4 --data_impl mmap\n' "$u" >u.sh
concise u.sh
none ms-swift

# a list as one word, in the text of another shell
printf '#!/bin/bash\nA=(--wandb-project "$1" --hidden-dropout)\nsrun bash -c "torchrun pretrain_gpt.py %s ${A[*]} 0.1"\n' "$data" >b.sh
concise b.sh
none value-missing

# a platform's WORLD_SIZE may count machines: what is taken without it is no number of GPUs
printf '#!/bin/bash\nWORLD_SIZE=${WORLD_SIZE:-1}\nN=$(nvidia-smi -L | wc -l)\ntorchrun --nproc_per_node $N --nnodes $WORLD_SIZE train_hops.py %s --tensor-model-parallel-size 2 --pipeline-model-parallel-size 1\n' "$fork" >w.sh
concise w.sh
none "GPUs are not"

# of variables that give a flag other values a launch that cannot be followed may take either
printf '#!/bin/bash\nA=(%s)\nT=(--profile-step-end 4)\nH=(--profile-step-end 5 --split 9,1 --split 8,2)\nrun "$1" "$@"\n' "$sizes $data" >v.sh
concise v.sh
none profile-step-end
found 4 flag-repeated "split is given twice"

# flags in parts of a script that are not followed: a branch, the second launch; the script's own options are its own
cat >u.sh <<EOF
#!/bin/bash
case \$1 in --micro-batch-sizes ) M=\$2 ;; esac
if [ "\$2" = big ]; then MORE="--num-layers 8 --expert-model-paralel-size 2"; else MORE="--num-layers 4"; fi
torchrun pretrain_gpt.py $sizes $data \$MORE
# python pretrain_gpt.py --global-batch-sise 8
torchrun pretrain_gpt.py --bf16 \\
  -micro-batch-size 4 --tokenizer_type x --rollout-batch-size 4 \\
  --hop-skip-jump 3
EOF
concise u.sh
found 3 unknown-key expert-model-paralel-size
found 7 unknown-key "no flag -micro-batch-size"
none micro-batch-sizes
none global-batch-sise
none rollout
none hop

# Bridge's sizes are counted as Megatron-LM's are
printf 'model.num_layers=-4\nmodel.ffn_hidden_size=-1\nmodel.seq_length=4096\nmodel.num_attention_heads=33\nmodel.num_query_groups=8\n' >b.ov
concise --as bridge b.ov
found 1 size-below-zero "model.num_layers is -4: no size is below zero"
found 5 query-groups-divide-heads "33 attention heads"
none ffn_hidden_size
printf 'model: {num_layers: 4, tensor_model_parallel_size: 2}\ntrain: {train_iters: 4, micro_batch_size: 1}\nseq_length: 4096\nseed: 1\nhop: 3\nglobal_batch_size: 8\noptimizer: {lr: "${seed}"}\n' >b.yaml
concise --as bridge b.yaml
found 3 unknown-key "reads no seq_length here"
found 6 unknown-key "reads no global_batch_size here"
none "seed\|hop"
echo 'mine: {hop: 1}' >>b.yaml
concise --as bridge b.yaml
none "seq_length here"

# a here-document joins lines at their backslashes, and a comment in it takes the rest; an option of a launcher's twice
cat >here.sh <<'EOF'
#!/bin/bash
run=$(cat <<- EOM
  python scripts/performance/setup_experiment.py \
    --model_family_name qwen \
    # tuned by hand \
    --model_recipe_name qwen3_30b_a3b \
    --num_gpus 8 --gpu h100
EOM
)
bash -c "$run"
EOF
concise here.sh
found 5 comment-in-continuation "part of this comment"
sed -i '/tuned by hand/d; s/--num_gpus 8/--micro_batch_size 1 --micro_batch_size 2 &/' here.sh
concise here.sh
found 6 flag-repeated "2 wins over 1"

# a quote in a variable's other value; a script whose interpreter is on the line before; no iteration at all
printf '#!/bin/bash\nLR=${LR:-"0.01}\nMIN=${MIN:-"0.0"}\n%s\n' "$(sed 1d e.sh)" >quote.sh
concise quote.sh
found 2 shell-syntax "this quote is not closed"
printf "#!/bin/bash\nX=\${X//'\"'/}\n%s\n" "$(sed 1d e.sh)" >quote.sh
concise quote.sh
none shell-syntax
printf '#!/bin/bash\nuv run coverage run -a --source=$R/nemo_rl\n    $R/examples/run_sft.py --config sft.yaml policy.megatron_cfg.tensor_model_parallel_size=2 cluster.gpus_per_node=2\n' >cov.sh
concise cov.sh
found 3 lost-backslash run_sft.py
script pretrain_gpt.py "$data --train-iters 0"
concise r.sh
found 3 training-length-required "no iteration"

# the recipe that a document calls; a size at the root of a file that has its settings in sections
printf 'recipe:\n  _target_: megatron.bridge.recipes.qwen.qwen3.qwen3_8b_pretrian_config\ntrain: {train_iters: 10, global_batch_size: 32}\n' >target.yaml
concise target.yaml
found 2 bridge-recipe-unknown qwen3_8b_pretrian_config
printf 'system:\n  tensor_model_parallel_size: 1\nmodel:\n  num_layers: 8\nhidden_size: 64\n' >fs.yaml
concise fs.yaml
found 5 unknown-key "FlagScale reads no hidden_size here"
