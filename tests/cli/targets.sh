#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# targets.sh MOEPLAN: names in import paths of AutoModel's recipes, words that nothing checks, and keys of classes that are named.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# recipe LINE...: a recipe with these lines, validated
recipe() {
    {
        echo "recipe: TrainFinetuneRecipeForNextTokenPrediction"
        echo "step_scheduler: {global_batch_size: 8, local_batch_size: 1}"
        printf '%s\n' "$@"
        grep -q distributed: <<END || echo "distributed: {}"
$*
END
    } >recipe.yaml
    "$moeplan" validate recipe.yaml --gpus 8 ${options-} >out 2>&1 || true
}
nothing() {
    ! grep -qE 'error\[|warning\[' out || fail "$(cat recipe.yaml)"
}
backend=nemo_automodel.components.models.common.BackendConfig

recipe "loss_fn: {_target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropyLoss}"
has "did you mean MaskedCrossEntropy?"
recipe "loss_fn: {_target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy}"
nothing
recipe "model: {_target_: nemo_automodel.NemoAutoModelForCausalLM.from_pretrained, pretrained_model_name_or_path: x}"
has "did you mean NeMoAutoModelForCausalLM?"

recipe "distributed: {strategy: fsdp2, mp_policy: {_target_: torch.distributed.fsdp.MixedPrecisionPolicy, foo_dtype: float32}}"
has "distributed.mp_policy does not know the key foo_dtype"
recipe "distributed: {strategy: fsdp2, mp_policy: {_target_: torch.distributed.fsdp.MixedPrecisionPolicy, output_dtype: bfloat16}}"
nothing
recipe "optimizer: {_target_: torch.optim.AdamW, lr: 0.1, beta: [0.9, 0.95]}"
has "did you mean betas?"

recipe "model: {backend: {_target_: $backend, dispatcher: deep_ep, experts: grouped_gemm, attn: flash}}"
has "warning[backend-dispatcher-word]"
has "warning[backend-experts-word]"
has "warning[backend-attn-word]"

# an older release has other names
options="--framework-version 0.3" recipe "loss_fn: {_target_: nemo_automodel.components.loss.mtp.MTPLoss}"
has "import-path"

# sections that take any key: a slip of one that AutoModel reads there
recipe "flow_matching: {sigmma_min: 0.0}"
has "did you mean sigma_min?"
recipe "packed_sequence: {packed_sequnce_size: 0}"
has "did you mean packed_sequence_size?"
recipe "ci: {recipe_owenr: hop}"
has "did you mean recipe_owner?"
recipe "tokenizer:" "  pretrained_model_name_or_path hop"
has "recipe.yaml:4:3: warning[section-not-a-mapping]: tokenizer is a mapping"
recipe "optim: {learrning_rate: 1e-5, optimizer: {weigh_decay: 0.1}}"
has "did you mean learning_rate?"
has "did you mean weight_decay?"
recipe "ci: {hop_skip: 1}" "flow_matching: {hop: 1}" "packed_sequence: {packed_sequence_size: 0}"
nothing

# the only key of a section without its colon
recipe "loss_fn:" "  _target_ nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy"
has "warning[section-not-a-mapping]: loss_fn is a mapping"
recipe "packed_sequence:" "  packed_sequence_size 1024"
has "recipe.yaml:4:3: warning[section-not-a-mapping]: packed_sequence is a mapping"

# what a dump of Bridge's configuration names of other packages
dump() {
    printf '_target_: megatron.bridge.training.config.%s\nmodel:\n  tensor_model_parallel_size: 1\n  params_dtype: {_target_: torch.%s}\ntrain: {global_batch_size: 8, micro_batch_size: 1}\n' "$@" >dump.yaml
    "$moeplan" validate dump.yaml >out 2>&1 || true
}
dump ConfigContainer bfoat16
has "did you mean torch.bfloat16?"
dump ConfigContianer bfloat16
has "did you mean megatron.bridge.training.config.ConfigContainer?"
dump ConfigContainer bfloat16
lacks "import-path"
