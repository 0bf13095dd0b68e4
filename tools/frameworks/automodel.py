# SPDX-License-Identifier: Apache-2.0
"""NeMo AutoModel: a recipe through its loader, its typed sections, its mesh and its models' capabilities, in the order of
its recipes' setup. No weights are read, no layer is built."""
import inspect
import sys
import types

import standins
from emitted import Unable

NEEDS = {"MOEPLAN_AUTOMODEL": "nemo_automodel/recipes/_typed_config.py"}
EXPERTS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")


def load(paths, hf):
    sys.path.insert(0, paths["MOEPLAN_AUTOMODEL"])
    standins.install(without=("modelopt",))
    standins.hub(hf)
    import nemo_automodel._transformers.auto_model  # noqa: F401
    import nemo_automodel.recipes.llm.train_ft  # noqa: F401
    import nemo_automodel.recipes.vlm.finetune  # noqa: F401


def recipe_class(raw):
    """The class that the file names: AutoModel's own look-up, then Python's."""
    import importlib

    from nemo_automodel.cli.utils import resolve_recipe_name
    module, _, name = resolve_recipe_name(raw.get("recipe")).rpartition(".")
    found = getattr(importlib.import_module(module), name, None)
    if found is None:
        raise ValueError(f"{module} has no recipe {name}")
    return found


def check_pipeline(cfg, setup):
    """The arithmetic of train_ft.py's setup, which is no function of its own; the schedule by torch's look-up."""
    from torch.distributed.pipelining.schedules import get_schedule_class
    batch = cfg.get("step_scheduler.local_batch_size", 1)
    micro = cfg.get("distributed.pipeline.pp_microbatch_size", 1)
    stages = setup.mesh_context.pp_size
    if batch // micro < stages:
        raise AssertionError(f"pp_batch_size {batch} // pp_microbatch_size {micro} must be >= pp_size {stages}")
    if batch % micro:
        raise ValueError(f"a local batch of {batch} is not a multiple of pp_microbatch_size {micro}")
    get_schedule_class(setup.pipeline_config.pp_schedule)


def check_sections(cfg, raw, step):
    """The sections that setup reads, each by its own code."""
    vision = "vlm" in recipe_class(raw).__module__
    for name in ("loss_fn", "checkpoint", "optimizer", "vlm_dataloader" if vision else "dataloader", "lr_scheduler"):
        step(f"the section {name}")
        section = getattr(cfg, name)
        if name == "loss_fn" and section is not None:
            section.build()
    if cfg.get("peft", None) is not None:
        step("the section peft")
        cfg.peft.instantiate()
    if cfg.get("fp8", None) is not None:
        step("the section fp8")
        from nemo_automodel.components.quantization.fp8 import build_fp8_config
        build_fp8_config(cfg.fp8)


class Loader:
    """As long as any that the step scheduler asks."""

    dataset = range(1 << 20)

    def __init__(self, batch):
        self.batch_size = batch

    def __len__(self):
        return 1 << 14


def built_scheduler(cfg, mesh):
    batch = cfg.get("step_scheduler.local_batch_size", 1)
    return cfg.step_scheduler.build(Loader(batch), mesh.dp_size or 1, batch)


def section_dict(node):
    return node.to_dict() if hasattr(node, "to_dict") else dict(node or {})


def backend_of(model):
    """The model's backend as its class reads it, which AutoModel calls as here; None where the recipe has none."""
    from nemo_automodel.components.models.common.utils import BackendConfig
    keys = {k: v for k, v in (model.get("backend") or {}).items() if k != "_target_"}
    try:
        return BackendConfig(**keys) if keys else None
    except TypeError as error:
        raise ValueError(str(error)) from error


def hub_config(model):
    import transformers
    name = model.get("pretrained_model_name_or_path") or (model.get("config") or {}).get("pretrained_model_name_or_path")
    return transformers.AutoConfig.from_pretrained(name)


def default_backend():
    from nemo_automodel.components.models.common.utils import BackendConfig
    return BackendConfig()


def unbuilt(hf, backend):
    """The model that its configuration names, without its layers, and whether AutoModel has a class of its own for it."""
    import torch
    import transformers
    from nemo_automodel._transformers.registry import ModelRegistry
    name = (hf.architectures or ["?"])[0]
    own = name in ModelRegistry.model_arch_name_to_cls
    cls = ModelRegistry.model_arch_name_to_cls[name] if own else getattr(transformers, name, None)
    if cls is None:
        raise Unable(f"the transformers that is installed has no {name}")
    model = cls.__new__(cls)
    torch.nn.Module.__init__(model)
    object.__setattr__(model, "config", hf)
    if issubclass(cls, transformers.PreTrainedModel) and getattr(cls, "_pp_plan", None) is None:
        object.__setattr__(model, "_pp_plan", {})  # what post_init leaves where no part of the model has one
    if own and (backend or "backend" in inspect.signature(cls.__init__).parameters):
        object.__setattr__(model, "backend", backend or default_backend())  # its constructor's own, where none is written
    return model, own


class Passed(Exception):
    """The check was passed: what comes after it is not run."""


def check_experts(hf, mesh):
    """The check of the parallelizer before it shards experts, by its own code."""
    from nemo_automodel.components.moe import parallelizer
    text = getattr(hf, "text_config", hf)
    experts = next((getattr(text, k) for k in EXPERTS if isinstance(getattr(text, k, None), int)), None)
    if not experts or mesh.ep_size <= 1:
        return

    def stop(*args, **kwargs):
        raise Passed

    parallelizer._get_model_moe_config = lambda model: types.SimpleNamespace(n_routed_experts=experts)
    parallelizer.apply_ep = stop
    try:
        parallelizer.parallelize_model(None, world_mesh=None, moe_mesh=mesh.moe_mesh, dp_axis_names=(),
                                       ep_axis_name="ep")
    except Passed:
        pass


def compared(cfg, mesh, scheduler, backend):
    """(key, written, afterwards) of what other objects now hold."""
    for name in ("tp_size", "pp_size", "cp_size", "ep_size", "dp_size", "dp_replicate_size"):
        written = cfg.get(f"distributed.{name}", None)
        if isinstance(written, int):
            yield f"distributed.{name}", written, getattr(mesh, name, written)
    for name, value in section_dict(cfg.get("model.backend", None)).items():
        if hasattr(backend, name):
            yield f"model.backend.{name}", value, getattr(backend, name)
    local, world = cfg.get("step_scheduler.local_batch_size", None), cfg.get("step_scheduler.global_batch_size", None)
    if local and world:
        yield "step_scheduler.global_batch_size", world, scheduler.grad_acc_steps * local * (mesh.dp_size or 1)


def judge(file, chip, step):
    """Yields (key, written value, value afterwards) of meshes, backends and batches."""
    from nemo_automodel.components.config.loader import load_yaml_config
    from nemo_automodel.recipes._dist_utils import create_distributed_setup_from_config
    from nemo_automodel.recipes._typed_config import RecipeConfig
    from nemo_automodel._transformers.capabilities import validate_for_mesh
    standins.ranks(file.gpus, chip[1])
    step("the loader")
    raw = load_yaml_config(file.path)
    step("the recipe's class")
    recipe_class(raw)
    cfg = RecipeConfig(raw)
    step("the mesh")
    standins.process_group(file.gpus)
    setup = create_distributed_setup_from_config(cfg, world_size=file.gpus)
    mesh = setup.mesh_context
    if mesh.pp_size > 1:
        step("the pipeline")
        check_pipeline(cfg, setup)
    check_sections(cfg, raw, step)
    step("the step scheduler")
    scheduler = built_scheduler(cfg, mesh)
    step("the model's backend")
    section = section_dict(cfg.get("model", None))
    backend = backend_of(section)
    step("the model against the mesh")
    hf = hub_config(section)
    model, own = unbuilt(hf, backend)
    validate_for_mesh(model, mesh)
    if own:
        check_experts(hf, mesh)
    yield from compared(cfg, mesh, scheduler, backend)
