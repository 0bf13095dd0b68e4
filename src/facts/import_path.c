/* SPDX-License-Identifier: Apache-2.0 */
#include "facts/import_path.h"

#include "base/edit.h"

/* What configurations name of packages other than AutoModel, and what stands near to it there:
   another one with a letter wrong cannot be imported. */
static const char *const names[] = {
    "megatron.bridge.training.comm_overlap.CommOverlapConfig",
    "megatron.bridge.training.config.CheckpointConfig",
    "megatron.bridge.training.config.ConfigContainer",
    "megatron.bridge.training.config.DistributedDataParallelConfig",
    "megatron.bridge.training.config.DistributedInitConfig",
    "megatron.bridge.training.config.FinetuningDatasetConfig",
    "megatron.bridge.training.config.GPTDatasetConfig",
    "megatron.bridge.training.config.InProcessRestartConfig",
    "megatron.bridge.training.config.LoggerConfig",
    "megatron.bridge.training.config.MockGPTDatasetConfig",
    "megatron.bridge.training.config.NVRxStragglerDetectionConfig",
    "megatron.bridge.training.config.OptimizerConfig",
    "megatron.bridge.training.config.ProfilingConfig",
    "megatron.bridge.training.config.RerunStateMachineConfig",
    "megatron.bridge.training.config.RNGConfig",
    "megatron.bridge.training.config.SchedulerConfig",
    "megatron.bridge.training.config.StragglerDetectionConfig",
    "megatron.bridge.training.config.TokenizerConfig",
    "megatron.bridge.training.config.TrainingConfig",
    "megatron.bridge.training.config.ValidationConfig",
    "megatron.bridge.training.mixed_precision.MixedPrecisionConfig",
    "megatron.bridge.training.tokenizers.config.TokenizerConfig",
    "megatron.core.distributed.distributed_data_parallel_config.DistributedDataParallelConfig",
    "megatron.core.optimizer.optimizer_config.OptimizerConfig",
    "megatron.core.transformer.enums.AttnBackend",
    "megatron.core.transformer.transformer_config.TransformerConfig",
    "torch.bfloat16",
    "torch.device",
    "torch.distributed.fsdp.CPUOffloadPolicy",
    "torch.distributed.fsdp.MixedPrecisionPolicy",
    "torch.float16",
    "torch.float32",
    "torch.float64",
    "torch.float8_e4m3fn",
    "torch.nn.CrossEntropyLoss",
    "torch.nn.functional.celu",
    "torch.nn.functional.celu_",
    "torch.nn.functional.cross_entropy",
    "torch.nn.functional.elu",
    "torch.nn.functional.elu_",
    "torch.nn.functional.gelu",
    "torch.nn.functional.glu",
    "torch.nn.functional.mish",
    "torch.nn.functional.prelu",
    "torch.nn.functional.relu",
    "torch.nn.functional.relu6",
    "torch.nn.functional.relu_",
    "torch.nn.functional.rrelu",
    "torch.nn.functional.rrelu_",
    "torch.nn.functional.selu",
    "torch.nn.functional.selu_",
    "torch.nn.functional.silu",
    "torch.nn.functional.softmax",
    "torch.nn.init.constant",
    "torch.nn.init.constant_",
    "torch.nn.init.kaiming_normal",
    "torch.nn.init.kaiming_normal_",
    "torch.nn.init.kaiming_uniform",
    "torch.nn.init.kaiming_uniform_",
    "torch.nn.init.normal",
    "torch.nn.init.normal_",
    "torch.nn.init.ones_",
    "torch.nn.init.trunc_normal_",
    "torch.nn.init.uniform",
    "torch.nn.init.uniform_",
    "torch.nn.init.xavier_normal",
    "torch.nn.init.xavier_normal_",
    "torch.nn.init.xavier_uniform",
    "torch.nn.init.xavier_uniform_",
    "torch.nn.init.zeros_",
    "torch.optim.Adadelta",
    "torch.optim.Adafactor",
    "torch.optim.Adagrad",
    "torch.optim.Adam",
    "torch.optim.Adamax",
    "torch.optim.AdamW",
    "torch.optim.ASGD",
    "torch.optim.LBFGS",
    "torch.optim.Muon",
    "torch.optim.NAdam",
    "torch.optim.RAdam",
    "torch.optim.RMSprop",
    "torch.optim.Rprop",
    "torch.optim.SGD",
    "torch.optim.SparseAdam",
    "torch.utils.data.DataLoader",
    "torchdata.stateful_dataloader.stateful_dataloader.StatefulDataLoader",
    "torchdata.stateful_dataloader.StatefulDataLoader",
    "transformer_engine.pytorch.optimizers.FusedAdam",
    "transformers.AutoConfig.from_pretrained",
    "transformers.AutoModel.from_pretrained",
    "transformers.AutoModelForCausalLM.from_pretrained",
    "transformers.AutoModelForImageTextToText.from_pretrained",
    "transformers.AutoModelForSequenceClassification.from_pretrained",
    "transformers.AutoProcessor.from_pretrained",
    "transformers.AutoTokenizer.from_pretrained",
    "transformers.generation.configuration_utils.GenerationConfig.from_dict",
    "transformers.GenerationConfig.from_dict",
};

static struct str nearest(struct str path)
{
    struct edit_nearest near = {.word = path};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct str name = str_of(names[i]);
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
