# SPDX-License-Identifier: Apache-2.0
"""Megatron-LM: flags or a launch script through its parser, its validation and its configuration classes, in the order
of its entry point. No layer is built."""
import argparse
import os
import sys
import types

import standins
from emitted import Unable, started

NEEDS = {"MOEPLAN_MEGATRON_LM": "megatron/training/arguments.py"}


def load(paths, hf):
    sys.path.insert(0, paths["MOEPLAN_MEGATRON_LM"])
    standins.install(without=("modelopt",))
    import megatron.training.argument_utils  # noqa: F401
    import megatron.training.arguments  # noqa: F401
    import megatron.training.models.gpt  # noqa: F401
    import megatron.training.training  # noqa: F401


def option(words, name, otherwise):
    for spelling in (f"--{name}", "--" + name.replace("-", "_")):
        if spelling in words:
            return int(words[words.index(spelling) + 1])
    return otherwise


def command(file):
    """(entry point, arguments, GPUs). Flags get the environment that their head says, and the connections that Megatron
    asks for by its own message where it says none."""
    if file.format == "flags":
        words = file.words()
        many = {"--overlap-moe-expert-parallel-comm", "--use-megatron-fsdp", "--use-torch-fsdp2"} & set(words)
        os.environ["CUDA_DEVICE_MAX_CONNECTIONS"] = "32" if many else "1"
        os.environ.update(file.environment())
        return "pretrain_gpt.py", words, file.gpus
    words, environment = started(file.path)
    os.environ.update(environment)
    entry = next((i for i, word in enumerate(words) if word.endswith(".py")), None)
    if entry is None:
        raise Unable("the script starts no Python file")
    launcher = words[:entry]
    gpus = option(launcher, "nnodes", 1) * option(launcher, "nproc-per-node", 1)
    if file.gpus and gpus != file.gpus:
        raise ValueError(f"the script starts {gpus} processes, its head says {file.gpus} GPUs")
    return words[entry], words[entry + 1:], gpus


def written(arguments, words):
    """The names that arguments have inside Megatron, of those that the file writes."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    arguments.add_megatron_arguments(parser)
    flags = {flag: action.dest for action in parser._actions for flag in action.option_strings}
    return [flags[word] for word in words if word in flags]


def check_moe_layer(args, config):
    """What the layer's first training step checks before it computes: its own code, called on a namespace."""
    from megatron.core.transformer.moe.moe_layer import MoELayer
    layer = types.SimpleNamespace(training=True, config=config, attn_tp_group=types.SimpleNamespace(
        size=lambda: args.tensor_model_parallel_size))
    try:
        MoELayer.forward(layer, None)
    except AttributeError:  # past the checks: the namespace is no layer
        pass


def check_ranks(args):
    from einops import rearrange
    from megatron.core import parallel_state
    if args.num_distributed_optimizer_instances > 1 and getattr(rearrange, "stands_in", False):
        raise Unable("groups of optimizer instances are worked out with einops, which is not installed")
    standins.process_group(args.world_size)
    parallel_state.initialize_model_parallel(
        args.tensor_model_parallel_size, args.pipeline_model_parallel_size, args.virtual_pipeline_model_parallel_size,
        context_parallel_size=args.context_parallel_size,
        hierarchical_context_parallel_sizes=args.hierarchical_context_parallel_sizes,
        expert_model_parallel_size=args.expert_model_parallel_size,
        num_distributed_optimizer_instances=args.num_distributed_optimizer_instances,
        expert_tensor_parallel_size=args.expert_tensor_parallel_size, create_gloo_process_groups=False,
        order="tp-cp-ep-pp-dp" if args.use_tp_pp_dp_mapping else "tp-cp-ep-dp-pp")


def check_model(args, config):
    """Model and training configuration, and the layer specification of every virtual stage."""
    from megatron.training import argument_utils
    from megatron.training.models import gpt
    args.padded_vocab_size = args.padded_vocab_size or args.vocab_size
    model = argument_utils.gpt_config_from_args(args, config=config)
    argument_utils.pretrain_cfg_container_from_args(args, model)
    for stage in range(args.virtual_pipeline_model_parallel_size or 1):
        gpt.mtp_block_spec(model, gpt.default_layer_spec(model, stage), vp_stage=stage)


def judge(file, chip, step):
    """Yields (key, written value, value afterwards) of every flag."""
    step("the launch")
    entry, words, gpus = command(file)
    if not os.path.exists(os.path.join(os.environ["MOEPLAN_MEGATRON_LM"], entry)):
        raise ValueError(f"{entry}: the checkout has no such entry point")
    standins.ranks(gpus, chip[1])
    sys.argv = [entry, *words]
    from megatron.core.num_microbatches_calculator import init_num_microbatches_calculator
    from megatron.training import argument_utils, arguments
    step("parse_args")
    args = arguments.parse_args()
    before = {name: getattr(args, name) for name in written(arguments, words)}
    step("validate_args")
    arguments.validate_args(args, {"tokenizer_type": "GPT2BPETokenizer"})
    step("the transformer's configuration")
    config = argument_utils.core_transformer_config_from_args(args)
    if args.num_experts:
        step("the MoE layer")
        check_moe_layer(args, config)
    step("microbatches")
    init_num_microbatches_calculator(0, args.rampup_batch_size, args.global_batch_size, args.micro_batch_size,
                                     args.data_parallel_size, args.decrease_batch_size_if_needed)
    step("the ranks")
    check_ranks(args)
    if "gpt" in entry:
        step("the model's configuration")
        check_model(args, config)
    for name, value in before.items():
        yield name, value, getattr(args, name)
        if name.startswith(("moe_", "recompute_", "cuda_graph")) and hasattr(config, name):
            yield f"config.{name}", value, getattr(config, name)
