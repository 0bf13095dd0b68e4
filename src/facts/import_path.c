/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/import_path.h"

#include "base/edit.h"

/* What configurations name of packages other than AutoModel, and what stands near to it there:
   another one with a letter wrong cannot be imported. */
#define NAME(text)                                                                                 \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
static const struct str names[] = {
    NAME("megatron.bridge.training.comm_overlap.CommOverlapConfig"),
    NAME("megatron.bridge.training.config.CheckpointConfig"),
    NAME("megatron.bridge.training.config.ConfigContainer"),
    NAME("megatron.bridge.training.config.DistributedDataParallelConfig"),
    NAME("megatron.bridge.training.config.DistributedInitConfig"),
    NAME("megatron.bridge.training.config.FinetuningDatasetConfig"),
    NAME("megatron.bridge.training.config.GPTDatasetConfig"),
    NAME("megatron.bridge.training.config.InProcessRestartConfig"),
    NAME("megatron.bridge.training.config.LoggerConfig"),
    NAME("megatron.bridge.training.config.MockGPTDatasetConfig"),
    NAME("megatron.bridge.training.config.NVRxStragglerDetectionConfig"),
    NAME("megatron.bridge.training.config.OptimizerConfig"),
    NAME("megatron.bridge.training.config.ProfilingConfig"),
    NAME("megatron.bridge.training.config.RerunStateMachineConfig"),
    NAME("megatron.bridge.training.config.RNGConfig"),
    NAME("megatron.bridge.training.config.SchedulerConfig"),
    NAME("megatron.bridge.training.config.StragglerDetectionConfig"),
    NAME("megatron.bridge.training.config.TokenizerConfig"),
    NAME("megatron.bridge.training.config.TrainingConfig"),
    NAME("megatron.bridge.training.config.ValidationConfig"),
    NAME("megatron.bridge.training.mixed_precision.MixedPrecisionConfig"),
    NAME("megatron.bridge.training.tokenizers.config.TokenizerConfig"),
    NAME(
        "megatron.core.distributed.distributed_data_parallel_config.DistributedDataParallelConfig"),
    NAME("megatron.core.optimizer.optimizer_config.OptimizerConfig"),
    NAME("megatron.core.transformer.enums.AttnBackend"),
    NAME("megatron.core.transformer.transformer_config.TransformerConfig"),
    NAME("torch.bfloat16"),
    NAME("torch.device"),
    NAME("torch.distributed.fsdp.CPUOffloadPolicy"),
    NAME("torch.distributed.fsdp.MixedPrecisionPolicy"),
    NAME("torch.float16"),
    NAME("torch.float32"),
    NAME("torch.float64"),
    NAME("torch.float8_e4m3fn"),
    NAME("torch.nn.CrossEntropyLoss"),
    NAME("torch.nn.functional.celu"),
    NAME("torch.nn.functional.celu_"),
    NAME("torch.nn.functional.cross_entropy"),
    NAME("torch.nn.functional.elu"),
    NAME("torch.nn.functional.elu_"),
    NAME("torch.nn.functional.gelu"),
    NAME("torch.nn.functional.glu"),
    NAME("torch.nn.functional.mish"),
    NAME("torch.nn.functional.prelu"),
    NAME("torch.nn.functional.relu"),
    NAME("torch.nn.functional.relu6"),
    NAME("torch.nn.functional.relu_"),
    NAME("torch.nn.functional.rrelu"),
    NAME("torch.nn.functional.rrelu_"),
    NAME("torch.nn.functional.selu"),
    NAME("torch.nn.functional.selu_"),
    NAME("torch.nn.functional.silu"),
    NAME("torch.nn.functional.softmax"),
    NAME("torch.nn.init.constant"),
    NAME("torch.nn.init.constant_"),
    NAME("torch.nn.init.kaiming_normal"),
    NAME("torch.nn.init.kaiming_normal_"),
    NAME("torch.nn.init.kaiming_uniform"),
    NAME("torch.nn.init.kaiming_uniform_"),
    NAME("torch.nn.init.normal"),
    NAME("torch.nn.init.normal_"),
    NAME("torch.nn.init.ones_"),
    NAME("torch.nn.init.trunc_normal_"),
    NAME("torch.nn.init.uniform"),
    NAME("torch.nn.init.uniform_"),
    NAME("torch.nn.init.xavier_normal"),
    NAME("torch.nn.init.xavier_normal_"),
    NAME("torch.nn.init.xavier_uniform"),
    NAME("torch.nn.init.xavier_uniform_"),
    NAME("torch.nn.init.zeros_"),
    NAME("torch.optim.Adadelta"),
    NAME("torch.optim.Adafactor"),
    NAME("torch.optim.Adagrad"),
    NAME("torch.optim.Adam"),
    NAME("torch.optim.Adamax"),
    NAME("torch.optim.AdamW"),
    NAME("torch.optim.ASGD"),
    NAME("torch.optim.LBFGS"),
    NAME("torch.optim.Muon"),
    NAME("torch.optim.NAdam"),
    NAME("torch.optim.RAdam"),
    NAME("torch.optim.RMSprop"),
    NAME("torch.optim.Rprop"),
    NAME("torch.optim.SGD"),
    NAME("torch.optim.SparseAdam"),
    NAME("torch.utils.data.DataLoader"),
    NAME("torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader"),
    NAME("torchdata.stateful_dataloader.StatefulDataLoader"),
    NAME("transformer_engine.pytorch.optimizers.FusedAdam"),
    NAME("transformers.AutoConfig.from_pretrained"),
    NAME("transformers.AutoModel.from_pretrained"),
    NAME("transformers.AutoModelForCausalLM.from_pretrained"),
    NAME("transformers.AutoModelForImageTextToText.from_pretrained"),
    NAME("transformers.AutoModelForSequenceClassification.from_pretrained"),
    NAME("transformers.AutoProcessor.from_pretrained"),
    NAME("transformers.AutoTokenizer.from_pretrained"),
    NAME("transformers.generation.configuration_utils.GenerationConfig.from_dict"),
    NAME("transformers.GenerationConfig.from_dict"),
};
#undef NAME

static struct str nearest(struct str path)
{
    struct edit_nearest near = {.word = path};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str name = names[i];
        if (str_eq(name, path)) return (struct str){"", 0};
        if (edit_is_slip(path, name, 1)) edit_offer(&near, name);
    }
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
