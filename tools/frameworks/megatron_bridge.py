# SPDX-License-Identifier: Apache-2.0
"""Megatron-Bridge: overrides applied to the recipe that the file's head names, then the updates and checks that run before
training starts, in the order of its scripts/training/run_recipe.py."""
import dataclasses
import os
import sys
import tempfile

import standins
from emitted import Unable

NEEDS = {"MOEPLAN_MEGATRON_BRIDGE": "src/megatron/bridge/training/config.py",
         "MOEPLAN_BRIDGE_MEGATRON_LM": "megatron/core/transformer/transformer_config.py"}


def load(paths, hf):
    bridge = paths["MOEPLAN_MEGATRON_BRIDGE"]
    sys.path[:0] = [os.path.join(bridge, "src"), os.path.join(bridge, "scripts", "training"),
                    paths["MOEPLAN_BRIDGE_MEGATRON_LM"], *filter(None, [os.environ.get("MOEPLAN_HYDRA")])]
    standins.install()
    standins.hub(hf)
    from hydra.core.override_parser.overrides_parser import OverridesParser
    if getattr(OverridesParser, "stands_in", False):
        raise Unable("Hydra is not installed: name a checkout with MOEPLAN_HYDRA")
    import megatron.bridge.recipes.common  # noqa: F401
    import recipe_runner  # noqa: F401


def model_of(file):
    """What the head says that the model is made by."""
    hub_name, plain = file.stands_on_model()
    if hub_name:
        from megatron.bridge import AutoBridge
        return AutoBridge.from_hf_pretrained(hub_name).to_megatron_provider(load_weights=False)
    from megatron.bridge.models.gpt_provider import GPTModelProvider
    from megatron.bridge.models.hybrid.hybrid_provider import HybridModelProvider
    from megatron.bridge.models.mla_provider import MLAModelProvider
    classes = {c.__name__: c for c in (GPTModelProvider, MLAModelProvider, HybridModelProvider)}
    if plain not in classes:
        raise Unable("the head does not say what the model is made by")
    return classes[plain]()


def on_common(name, file):
    """One of the recipes of a task, with the model that the head says."""
    from megatron.bridge.recipes import common
    config = getattr(common, name)()
    config.model = model_of(file)
    config.tokenizer.tokenizer_model = file.stands_on_model()[0] or "none"
    return config


def recipe_of(file, name):
    """The configuration that the overrides stand on, and whether it tunes. What a recipe's own code fails at, as it asks
    the hub for more than configurations, is nothing of the file's."""
    import recipe_runner
    from megatron.bridge.recipes import common
    name = name or file.head.get("recipe")
    if not name:
        raise Unable("the head names no recipe: name one with --recipe")
    is_common = name.startswith("_") and hasattr(common, name)
    if not is_common and recipe_runner.find_library_recipe(name) is None:
        raise ValueError(f"Megatron-Bridge has no recipe {name}")
    try:
        config = on_common(name, file) if is_common else recipe_runner.load_recipe(name)
    except Exception as error:
        raise Unable(f"{name} cannot be made here: {' '.join(str(error).split())}") from error
    tunes = "_pretrain_" not in name
    if tunes and config.checkpoint.pretrained_checkpoint is None:  # the user's own, which must exist
        config.checkpoint.pretrained_checkpoint = tempfile.gettempdir()
    return config, tunes


def update(config, overrides, tunes):
    """What run_recipe.py does to a recipe between its overrides and training."""
    import recipe_runner
    from megatron.bridge.training.config import runtime_config_update
    config = recipe_runner.sync_model_pipeline_layout(config, cli_overrides=overrides)
    config = recipe_runner.sync_finetuning_cp_invariants(config, mode="finetune" if tunes else "pretrain")
    config = recipe_runner.sync_offline_packing_alignment(config)
    config = recipe_runner.sync_model_dataset_sequence_length(config)
    runtime_config_update(config)
    return config


def check_ranks(config, gpus):
    from megatron.core import parallel_state
    standins.process_group(gpus)
    m = config.model
    parallel_state.initialize_model_parallel(
        m.tensor_model_parallel_size, m.pipeline_model_parallel_size, m.virtual_pipeline_model_parallel_size,
        context_parallel_size=m.context_parallel_size, expert_model_parallel_size=m.expert_model_parallel_size,
        expert_tensor_parallel_size=m.expert_tensor_parallel_size, create_gloo_process_groups=False)


def value_at(config, path):
    """Raises AttributeError where the path leads nowhere any more."""
    for name in path.split("."):
        config = config[name] if isinstance(config, dict) else getattr(config, name)
    return config


def layout_like(text, layout):
    """A layout as the framework reads it, so that two spellings of one are the same."""
    from megatron.core.transformer.pipeline_parallel_layer_layout import PipelineParallelLayerLayout
    return PipelineParallelLayerLayout.from_str(text, layout.pipeline_model_parallel_size).layout


# A buffer, no precision: Megatron-FSDP has none such.
BUFFERS = ("reuse_grad_buf_for_mxfp8_param_ag",)


def precision_settings(name, config):
    """mixed_precision names settings, or makes an object of them: what they are, here and where they take effect."""
    from megatron.bridge.training.mixed_precision import get_mixed_precision_config
    from megatron.bridge.utils.instantiate_utils import instantiate
    wanted = instantiate(name) if isinstance(name, dict) else get_mixed_precision_config(name)
    wanted.finalize()
    for field in dataclasses.fields(wanted):
        value = getattr(wanted, field.name)
        for section in ("mixed_precision", "model", "optimizer", "ddp"):
            holder = getattr(config, section)
            if value is not None and field.name not in BUFFERS and hasattr(holder, field.name):
                yield f"{section}.{field.name}", value, getattr(holder, field.name)


def compared(override, config):
    """(key, written, afterwards) of one override; several for what names settings."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    parsed = OverridesParser.create().parse_override(override)
    key, value = parsed.key_or_group, parsed.value()
    if parsed.is_delete():
        return
    if key == "mixed_precision":
        if value is not None:  # nothing makes room for the object that follows
            yield from precision_settings(value, config)
        return
    got = value_at(config, key)
    if key.endswith("pipeline_model_parallel_layout") and value and hasattr(got, "layout"):
        value, got = layout_like(value, got), got.layout
    yield key, value, got


def judge(file, chip, step, recipe=None):
    """Yields (key, written value, value afterwards) of every override."""
    from megatron.bridge.training.utils.omegaconf_utils import process_config_with_overrides
    from megatron.core.num_microbatches_calculator import init_num_microbatches_calculator
    step("the recipe")
    standins.ranks(file.gpus, chip[1])
    config, tunes = recipe_of(file, recipe)
    overrides = file.words()
    step("the overrides")
    config = process_config_with_overrides(config, cli_overrides=overrides)
    step("the update before training")
    config = update(config, overrides, tunes)
    step("microbatches")
    train = config.train
    init_num_microbatches_calculator(0, train.rampup_batch_size, train.global_batch_size, train.micro_batch_size,
                                     config.data_parallel_size, train.decrease_batch_size_if_needed)
    step("the ranks")
    check_ranks(config, file.gpus)
    for override in overrides:
        yield from compared(override, config)
