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
