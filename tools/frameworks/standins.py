# SPDX-License-Identifier: Apache-2.0
"""What frameworks look for and this machine lacks: GPU libraries, a device, a process group, files of the Hugging Face hub.

Nothing of a stand-in is ever run. It agrees to whatever it is asked, and has a version. A library that is installed is
used as it is.
"""
import abc
import argparse
import importlib.abc
import importlib.machinery
import importlib.metadata
import importlib.util
import json
import os
import sys
import time
import types

from emitted import Unable

# By the name that is imported. The versions are those of the containers that the judged releases are published for.
VERSIONS = {
    "transformer_engine": "2.17.0", "transformer_engine_torch": "2.17.0", "apex": "0.1", "triton": "3.6.0",
    "flash_attn": "2.8.3", "flash_mla": "1.0.0", "deep_ep": "1.2.1", "grouped_gemm": "1.1.4",
    "mamba_ssm": "2.3.0", "causal_conv1d": "1.6.0",
    "fla": "0.4.1", "einops": "0.8.1", "megatron_fsdp": "0.5.0", "nvidia_resiliency_ext": "0.6.0", "nvtx": "0.2",
    "torchao": "0.15.0", "bitsandbytes": "0.48.0", "cut_cross_entropy": "25.0", "liger_kernel": "0.6.0",
    "flashinfer": "0.6.4", "cudnn": "1.18.0", "modelopt": "0.40.0", "nvdlfw_inspect": "0.2.0", "uccl": "0.1.0",
    "hydra": "1.3.2", "torchdata": "0.11.0", "datasets": "4.0.0", "tiktoken": "0.12.0", "peft": "0.18.0",
    "accelerate": "1.10.0", "wandb": "0.25.0", "mlflow": "3.0.0", "comet_ml": "3.0.0", "tensorboard": "2.20.0",
    "tensorstore": "0.1.80", "zarr": "2.18.0", "nemo_run": "0.7.0", "megatron.energon": "7.0.0", "webdataset": "1.0.0",
    "qwen_vl_utils": "0.0.14", "mistral_common": "1.9.0", "diffusers": "0.36.0", "timm": "1.0.0", "open_clip": "3.0.0",
    "decord": "0.6.0", "av": "15.0.0", "cv2": "4.12.0", "imageio": "2.37.0", "librosa": "0.11.0", "soxr": "1.0.0", "soundfile": "0.13.0",
    "ftfy": "6.3.0", "nltk": "3.9.0", "sacrebleu": "2.5.0", "rouge_score": "0.1.2", "pyarrow": "22.0.0", "absl": "2.3.0",
    "opt_einsum": "3.4.0", "pybind11": "3.0.0", "fastapi": "0.120.0", "aiohttp": "3.13.0", "blobfile": "3.1.0",
    "multistorageclient": "0.33.0", "nvidia": "1.0", "google": "1.0",
}
TORCH, CUDA = "2.10.0", "13.0"
DISTRIBUTIONS = {"nvidia_modelopt": "modelopt", "transformer_engine_cu12": "transformer_engine",
                 "transformer_engine_cu13": "transformer_engine"}
roots = set()  # of those, what is not installed


class Agreeing(abc.ABCMeta):
    """The class of all stand-ins, which are classes, so that frameworks can derive from them."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(cls, name, stand_in(name, cls.__module__))
        return cls.__dict__[name]

    def __call__(cls, *args, **kwargs):
        if not cls.__dict__.get("stands_in"):  # a framework's class that derives from one
            return super().__call__(*args, **kwargs)
        if len(args) == 1 and not kwargs and callable(args[0]):  # used as a decorator
            return args[0]
        return cls

    def __iter__(cls):
        return iter(())

    def __getitem__(cls, key):
        return cls

    def __lt__(cls, other):
        return False

    __gt__ = __lt__

    def __le__(cls, other):
        return True

    __ge__ = __le__


class Anything(metaclass=Agreeing):
    def __init__(self, *args, **kwargs):
        pass

    def __class_getitem__(cls, key):
        return cls


def stand_in(name, module):
    return Agreeing(name, (Anything,), {"__module__": module, "stands_in": True})


class Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        setattr(self, name, stand_in(name, self.__name__))
        return self.__dict__[name]


class Adam:
    """Transformer Engine's optimizer, whose parameters Megatron looks at before it passes them."""

    def __init__(self, params=None, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0, *, adam_w_mode=True,
                 use_decoupled_grad=False, store_param_remainders=False, master_weights=False, exp_avg_dtype=None,
                 exp_avg_sq_dtype=None, master_weight_dtype=None, capturable=False):
        pass


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        stands = any(name == root or name.startswith(root + ".") for root in roots)
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if stands else None

    def create_module(self, spec):
        module = Module(spec.name)
        module.__path__ = []
        module.__version__ = VERSIONS.get(spec.name.split(".")[0], "1.0")
        return module

    def exec_module(self, module):
        if module.__name__ == "transformer_engine.pytorch.optimizers":
            module.FusedAdam = Adam


def is_installed(name):
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def answer_versions():
    """Of stand-ins as listed, of torch what the releases ask for."""
    real = importlib.metadata.version

    def version(name):
        plain = name.replace("-", "_")
        root = DISTRIBUTIONS.get(plain, plain)
        if root in roots:
            return VERSIONS[root]
        return TORCH if name == "torch" else real(name)

    importlib.metadata.version = version


def keep_old_argparse():
    """Python 3.14 took from BooleanOptionalAction what frameworks still pass."""
    real = argparse.BooleanOptionalAction.__init__

    def init(self, *args, type=None, choices=None, metavar=None, **kwargs):
        real(self, *args, **kwargs)

    if sys.version_info >= (3, 14):
        argparse.BooleanOptionalAction.__init__ = init


def install(without=()):
    """Puts stand-ins where libraries are missing; `without`: those that the framework had better do without."""
    roots.update(r for r in VERSIONS if r not in without and not is_installed(r))
    sys.meta_path.append(Finder())
    answer_versions()
    keep_old_argparse()
    import torch
    torch.__version__ = type(torch.__version__)(TORCH)


def device(name, capability, node, gib):
    """torch.cuda answers as on a node with `node` such GPUs."""
    import torch
    properties = types.SimpleNamespace(
        major=capability[0], minor=capability[1], total_memory=int(gib * 2**30), multi_processor_count=132,
        name=name, gcnArchName="", uuid="0", warp_size=32)
    answers = dict(is_available=True, device_count=node, current_device=0, get_device_capability=capability,
                   get_device_properties=properties, get_device_name=name, is_bf16_supported=True, set_device=None)
    for name, answer in answers.items():
        setattr(torch.cuda, name, lambda *args, answer=answer, **kwargs: answer)
    torch.version.cuda = CUDA


def ranks(gpus, node):
    """The environment of rank 0."""
    os.environ.update(WORLD_SIZE=str(gpus), RANK="0", LOCAL_RANK="0", LOCAL_WORLD_SIZE=str(min(node, gpus)),
                      SLURM_NTASKS=str(gpus), MASTER_ADDR="localhost", MASTER_PORT="29500")


def process_group(gpus):
    """A process group of that size which sends nothing."""
    import torch
    from torch.testing._internal.distributed.fake_pg import FakeStore
    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=gpus)


# ---- Hugging Face ----

def config_path(folder, name):
    """FOLDER/ORG__NAME/config.json; else of the variant of that name that is there."""
    plain = str(name).replace("/", "__")
    there = sorted(os.listdir(folder)) if folder and os.path.isdir(folder) else []
    stems = [plain] + [plain.removesuffix(s) for s in ("-it", "-BF16", "-FP8", "-Instruct", "-Base") if plain.endswith(s)]
    for stem in stems:
        for found in [d for d in there if d == stem] or [d for d in there if d.startswith(stem)]:
            if os.path.exists(os.path.join(folder, found, "config.json")):
                return os.path.join(folder, found, "config.json")
    raise Unable(f"no config.json of {name} below MOEPLAN_HF ({folder or 'not set'})")


def config_of(fields):
    """The configuration class that transformers has for it; a plain one where it has none."""
    import transformers
    alias = {"kimi_k2": "deepseek_v3"}  # the same class under the name of its release
    kind = alias.get(fields.get("model_type"), fields.get("model_type"))
    rest = {k: v for k, v in fields.items() if k not in ("model_type", "auto_map", "quantization_config")}
    try:
        return transformers.AutoConfig.for_model(kind, **rest)
    except Exception:  # whatever transformers has against it
        return transformers.PretrainedConfig.from_dict(rest | {"model_type": kind})


def hub(folder):
    """Configurations of the hub come from a folder, for which nobody has to wait."""
    import transformers
    time.sleep = lambda seconds: None

    def from_pretrained(name, *args, **kwargs):
        with open(config_path(folder, name), encoding="utf-8") as f:
            fields = json.load(f)
        config = config_of(fields)
        config.name_or_path = config._name_or_path = str(name)
        if not hasattr(config, "torch_dtype"):  # its name before transformers 5
            config.torch_dtype = fields.get("dtype", fields.get("torch_dtype"))
        config.architectures = config.architectures or fields.get("architectures")
        return (config, {}) if kwargs.get("return_unused_kwargs") else config

    transformers.AutoConfig.from_pretrained = staticmethod(from_pretrained)
