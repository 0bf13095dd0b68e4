#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# targets.sh MOEPLAN: names in import paths of AutoModel's recipes, words that nothing checks, and keys of classes that are named.
set -eu
moeplan=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
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
expect() {
    grep -qF "$1" out || { echo "missing: $1"; cat recipe.yaml out; exit 1; }
}
nothing() {
    ! grep -qE 'error\[|warning\[' out || { cat recipe.yaml out; exit 1; }
}
backend=nemo_automodel.components.models.common.BackendConfig

recipe "loss_fn: {_target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropyLoss}"
expect "did you mean MaskedCrossEntropy?"
recipe "loss_fn: {_target_: nemo_automodel.components.loss.masked_ce.MaskedCrossEntropy}"
nothing
recipe "model: {_target_: nemo_automodel.NemoAutoModelForCausalLM.from_pretrained, pretrained_model_name_or_path: x}"
expect "did you mean NeMoAutoModelForCausalLM?"

recipe "distributed: {strategy: fsdp2, mp_policy: {_target_: torch.distributed.fsdp.MixedPrecisionPolicy, foo_dtype: float32}}"
expect "distributed.mp_policy does not know the key foo_dtype"
recipe "distributed: {strategy: fsdp2, mp_policy: {_target_: torch.distributed.fsdp.MixedPrecisionPolicy, output_dtype: bfloat16}}"
nothing
recipe "optimizer: {_target_: torch.optim.AdamW, lr: 0.1, beta: [0.9, 0.95]}"
expect "did you mean betas?"

recipe "model: {backend: {_target_: $backend, dispatcher: deep_ep, experts: grouped_gemm, attn: flash}}"
expect "warning[backend-dispatcher-word]"
expect "warning[backend-experts-word]"
expect "warning[backend-attn-word]"

# an older release has other names
options="--framework-version 0.3" recipe "loss_fn: {_target_: nemo_automodel.components.loss.mtp.MTPLoss}"
expect "import-path"
