/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/import_path.h"

#include "base/edit.h"

/* What configurations name of packages other than AutoModel, and what stands near to it there:
   another one with a letter wrong cannot be imported. */
static const struct str names[] = {
    STR_ENTRY("megatron.bridge.training.comm_overlap.CommOverlapConfig"),
    STR_ENTRY("megatron.bridge.training.config.CheckpointConfig"),
    STR_ENTRY("megatron.bridge.training.config.ConfigContainer"),
    STR_ENTRY("megatron.bridge.training.config.DistributedDataParallelConfig"),
    STR_ENTRY("megatron.bridge.training.config.DistributedInitConfig"),
    STR_ENTRY("megatron.bridge.training.config.FinetuningDatasetConfig"),
    STR_ENTRY("megatron.bridge.training.config.GPTDatasetConfig"),
    STR_ENTRY("megatron.bridge.training.config.InProcessRestartConfig"),
    STR_ENTRY("megatron.bridge.training.config.LoggerConfig"),
    STR_ENTRY("megatron.bridge.training.config.MockGPTDatasetConfig"),
    STR_ENTRY("megatron.bridge.training.config.NVRxStragglerDetectionConfig"),
    STR_ENTRY("megatron.bridge.training.config.OptimizerConfig"),
    STR_ENTRY("megatron.bridge.training.config.ProfilingConfig"),
    STR_ENTRY("megatron.bridge.training.config.RerunStateMachineConfig"),
    STR_ENTRY("megatron.bridge.training.config.RNGConfig"),
    STR_ENTRY("megatron.bridge.training.config.SchedulerConfig"),
    STR_ENTRY("megatron.bridge.training.config.StragglerDetectionConfig"),
    STR_ENTRY("megatron.bridge.training.config.TokenizerConfig"),
    STR_ENTRY("megatron.bridge.training.config.TrainingConfig"),
    STR_ENTRY("megatron.bridge.training.config.ValidationConfig"),
    STR_ENTRY("megatron.bridge.training.mixed_precision.MixedPrecisionConfig"),
    STR_ENTRY("megatron.bridge.training.tokenizers.config.TokenizerConfig"),
    STR_ENTRY(
        "megatron.core.distributed.distributed_data_parallel_config.DistributedDataParallelConfig"),
    STR_ENTRY("megatron.core.optimizer.optimizer_config.OptimizerConfig"),
    STR_ENTRY("megatron.core.transformer.enums.AttnBackend"),
    STR_ENTRY("megatron.core.transformer.transformer_config.TransformerConfig"),
    STR_ENTRY("torch.bfloat16"),
    STR_ENTRY("torch.device"),
    STR_ENTRY("torch.distributed.fsdp.CPUOffloadPolicy"),
    STR_ENTRY("torch.distributed.fsdp.MixedPrecisionPolicy"),
    STR_ENTRY("torch.float16"),
    STR_ENTRY("torch.float32"),
    STR_ENTRY("torch.float64"),
    STR_ENTRY("torch.float8_e4m3fn"),
    STR_ENTRY("torch.nn.CrossEntropyLoss"),
    STR_ENTRY("torch.nn.functional.celu"),
    STR_ENTRY("torch.nn.functional.celu_"),
    STR_ENTRY("torch.nn.functional.cross_entropy"),
    STR_ENTRY("torch.nn.functional.elu"),
    STR_ENTRY("torch.nn.functional.elu_"),
    STR_ENTRY("torch.nn.functional.gelu"),
    STR_ENTRY("torch.nn.functional.glu"),
    STR_ENTRY("torch.nn.functional.mish"),
    STR_ENTRY("torch.nn.functional.prelu"),
    STR_ENTRY("torch.nn.functional.relu"),
    STR_ENTRY("torch.nn.functional.relu6"),
    STR_ENTRY("torch.nn.functional.relu_"),
    STR_ENTRY("torch.nn.functional.rrelu"),
    STR_ENTRY("torch.nn.functional.rrelu_"),
    STR_ENTRY("torch.nn.functional.selu"),
    STR_ENTRY("torch.nn.functional.selu_"),
    STR_ENTRY("torch.nn.functional.silu"),
    STR_ENTRY("torch.nn.functional.softmax"),
    STR_ENTRY("torch.nn.init.constant"),
    STR_ENTRY("torch.nn.init.constant_"),
    STR_ENTRY("torch.nn.init.kaiming_normal"),
    STR_ENTRY("torch.nn.init.kaiming_normal_"),
    STR_ENTRY("torch.nn.init.kaiming_uniform"),
    STR_ENTRY("torch.nn.init.kaiming_uniform_"),
    STR_ENTRY("torch.nn.init.normal"),
    STR_ENTRY("torch.nn.init.normal_"),
    STR_ENTRY("torch.nn.init.ones_"),
    STR_ENTRY("torch.nn.init.trunc_normal_"),
    STR_ENTRY("torch.nn.init.uniform"),
    STR_ENTRY("torch.nn.init.uniform_"),
    STR_ENTRY("torch.nn.init.xavier_normal"),
    STR_ENTRY("torch.nn.init.xavier_normal_"),
    STR_ENTRY("torch.nn.init.xavier_uniform"),
    STR_ENTRY("torch.nn.init.xavier_uniform_"),
    STR_ENTRY("torch.nn.init.zeros_"),
    STR_ENTRY("torch.optim.Adadelta"),
    STR_ENTRY("torch.optim.Adafactor"),
    STR_ENTRY("torch.optim.Adagrad"),
    STR_ENTRY("torch.optim.Adam"),
    STR_ENTRY("torch.optim.Adamax"),
    STR_ENTRY("torch.optim.AdamW"),
    STR_ENTRY("torch.optim.ASGD"),
    STR_ENTRY("torch.optim.LBFGS"),
    STR_ENTRY("torch.optim.Muon"),
    STR_ENTRY("torch.optim.NAdam"),
    STR_ENTRY("torch.optim.RAdam"),
    STR_ENTRY("torch.optim.RMSprop"),
    STR_ENTRY("torch.optim.Rprop"),
    STR_ENTRY("torch.optim.SGD"),
    STR_ENTRY("torch.optim.SparseAdam"),
    STR_ENTRY("torch.utils.data.DataLoader"),
    STR_ENTRY("torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader"),
    STR_ENTRY("torchdata.stateful_dataloader.StatefulDataLoader"),
    STR_ENTRY("transformer_engine.pytorch.optimizers.FusedAdam"),
    STR_ENTRY("transformers.AutoConfig.from_pretrained"),
    STR_ENTRY("transformers.AutoModel.from_pretrained"),
    STR_ENTRY("transformers.AutoModelForCausalLM.from_pretrained"),
    STR_ENTRY("transformers.AutoModelForImageTextToText.from_pretrained"),
    STR_ENTRY("transformers.AutoModelForSequenceClassification.from_pretrained"),
    STR_ENTRY("transformers.AutoProcessor.from_pretrained"),
    STR_ENTRY("transformers.AutoTokenizer.from_pretrained"),
    STR_ENTRY("transformers.generation.configuration_utils.GenerationConfig.from_dict"),
    STR_ENTRY("transformers.GenerationConfig.from_dict"),
};

static struct str nearest(struct str path)
{
    struct edit_nearest near = {.word = path};
    bool known = str_among(path, names, sizeof names / sizeof *names);
    for (size_t i = 0; i < sizeof names / sizeof *names && !known; i++)
        if (edit_is_slip(path, names[i], 1)) edit_offer(&near, names[i]);
    return near.best;
}

struct diag *import_path_check(struct facts *f, const struct node *value)
{
    struct str meant = nearest(value->text);
    if (!meant.n) return NULL;
    struct diag *d =
        diag_add(f->diags, SEVERITY_WARNING, "import-path", node_span(f->diags, value),
                 "%.*s cannot be imported: its package has no such name", STR_ARG(value->text));
    diag_suggest(f->diags, d, meant);
    return d;
}
