#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bridge_recipes.py FILE: writes the commons and the recipes of rules/recipes/bridge.yaml anew, from Megatron-Bridge itself.

Calls the functions of Megatron-Bridge's recipes, reads the configurations that they make, and keeps those of
mixture-of-experts models: of the parameters in the file's `about`, what each sets over the common one of its task, over the
defaults, as they are once sections of their own (comm_overlap, mixed_precision) have overwritten the model's fields. Its other
parts (about, providers, plain) are left as they are. Prints to stdout; recipes that cannot be made here go to stderr. Environment and needs are those of judge.py.
"""
import collections
import dataclasses
import enum
import glob
import importlib
import os
import pkgutil
import re
import sys
import textwrap

import megatron_bridge
import standins
import yaml
from judge import plain

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
COMMONS = ("_pretrain_common", "_sft_common", "_peft_common")
# Recipes that spell their model out, or ask the hub for another one's tokenizer: whose they are, by their names' beginning.
OWN_MODEL = {"olmoe_7b": "olmoe-1b-7b", "nemotron_3_nano": "nemotron-3-nano-30b-a3b", "nemotron_3_5_lightning": None}
STANDARD = r"_(\d+)gpu_h100_bf16(_mock)?_config$"
MISSING = object()
Recipe = collections.namedtuple("Recipe", "name hub_name config")


class Layout(str):
    """Written in quotes."""


yaml.SafeDumper.add_representer(Layout, lambda dumper, text: dumper.represent_scalar("tag:yaml.org,2002:str", text,
                                                                                     style='"'))


# ---- what is asked ----

def parameters():
    """Every parameter's name with its spelling in Bridge."""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "rules", "parameters", "*.yaml"))):
        with open(path, encoding="utf-8") as f:
            listed = yaml.safe_load(f)["parameters"]
        found.update((p["name"], p["bridge"]) for p in listed if "key" in p.get("bridge", {}))
    return found


def catalogue():
    """The catalogue's models, by their name on Hugging Face."""
    found = {}
    for path in glob.glob(os.path.join(ROOT, "rules", "models", "*.yaml")):
        with open(path, encoding="utf-8") as f:
            model = yaml.safe_load(f)
        if model.get("hf_id"):
            found[stem(model["hf_id"])] = model["id"]
    return found


def stem(name):
    """A name on Hugging Face without what its variants differ in."""
    return re.sub(r"(-(it|BF16|FP8|NVFP4|Base|Instruct))+$", "", name)


# ---- the recipes ----

def watch_hub():
    """A list to which each name is added that a recipe asks the hub for."""
    from megatron.bridge import AutoBridge
    asked, real = [], AutoBridge.from_hf_pretrained.__func__

    def from_hf_pretrained(cls, name, *args, **kwargs):
        asked.append(str(name))
        return real(cls, name, *args, **kwargs)

    AutoBridge.from_hf_pretrained = classmethod(from_hf_pretrained)
    return asked


def functions():
    """The recipes' functions by name, each where it is defined."""
    import megatron.bridge.recipes as recipes
    found = {}
    for module in pkgutil.walk_packages(recipes.__path__, recipes.__name__ + ".", onerror=lambda name: None):
        try:
            members = vars(importlib.import_module(module.name))
        except Exception as error:
            print(f"{module.name}: {error}", file=sys.stderr)
            continue
        for name, f in members.items():
            if name.endswith("_config") and name[0] != "_" and getattr(f, "__module__", "") == module.name:
                found[name] = f
    return found


def made(name, function, asked):
    """The recipe, or None where it makes no configuration of a mixture of experts."""
    asked.clear()
    try:
        config = function()
    except BaseException as error:
        print(f"{name}: {type(error).__name__}: {' '.join(str(error).split())[:200]}", file=sys.stderr)
        return None
    if not getattr(getattr(config, "model", None), "num_moe_experts", None):
        return None
    return Recipe(name, asked[-1] if asked else "", config)


def task_of(name):
    return next((task for task in ("peft", "sft") if f"_{task}_" in name), "pretrain")


# ---- what one sets ----

def value_at(config, path):
    for name in path.split("."):
        config = config.get(name, MISSING) if isinstance(config, dict) else getattr(config, name, MISSING)
        if config is None or config is MISSING:
            return config if name == path.rpartition(".")[2] else MISSING
    return config


def written(value, spelling):
    """A value in our own notation: a section by that word, a layout as its text, a type by its short name."""
    if dataclasses.is_dataclass(value):
        return "section"
    if spelling["key"] == "model.pipeline_model_parallel_layout" and value:
        return Layout(value) if isinstance(value, str) else layout_text(value)
    if isinstance(value, (list, tuple)):
        return [written(v, spelling) for v in value]
    if isinstance(value, enum.Enum):
        return value.value if isinstance(value.value, str) else value.name
    if spelling.get("dtype"):
        return {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(plain(value), plain(value))
    return value


def layout_text(stages):
    """E, t, m, L a layer, | between stages."""
    letters = {"embedding": "E", "decoder": "t", "mtp": "m", "loss": "L"}
    return Layout("|".join("".join(letters[str(layer)] for layer in stage) for stage in stages))


def named_precision(config):
    """The name of the settings that a recipe writes out; what it has where no name means the same."""
    from megatron.bridge.training import mixed_precision
    for name, made_by in mixed_precision.MIXED_PRECISION_RECIPES.items():
        if "-" not in name and made_by() == config.mixed_precision:
            return name
    return config.mixed_precision


def keys_of(spelling):
    """In the order in which they win: what sections of their own say overwrites the model's fields; deprecated ones are out."""
    keys = [spelling["key"], *spelling.get("more_keys", [])]
    keys = [key for key in keys if key not in spelling.get("unset", [])]
    return sorted(keys, key=lambda key: not key.startswith(("comm_overlap.", "mixed_precision.")))


def is_decided(config, spelling):
    """Whether a named precision says it: only what is written out has settings of its own. Layers are counted only where
    the first and last ones are kept in bfloat16."""
    precision = config.mixed_precision
    if spelling.get("under") != "mixed_precision" or not dataclasses.is_dataclass(precision):
        return spelling.get("under") == "mixed_precision"
    return spelling["key"].startswith("model.num_layers_at_") and not precision.first_last_layers_bf16


def value_of(config, spelling):
    """What a configuration has for a parameter; MISSING where no key of it leads anywhere, or another parameter says it."""
    without_model = config.model is None and spelling["key"].startswith("model.")
    if without_model or is_decided(config, spelling):
        return MISSING
    values = [value_at(config, key) for key in keys_of(spelling)]
    there = [v for v in values if v is not MISSING]
    value = next((v for v in there if v is not None), None if there else MISSING)
    default = spelling.get("default")
    if isinstance(default, list) and ((value is None and default) or value == "full"):  # as Megatron reads them
        return default
    return value if value is MISSING else written(value, spelling)


def settings(config, about, spellings, over):
    """Of `about` what is other than `over` says, or than the default."""
    found = {}
    config.mixed_precision = named_precision(config)
    for name in about:
        value = value_of(config, spellings[name])
        before = over.get(name, spellings[name].get("default"))
        if value not in (MISSING, before) and (name, value) != ("mixed_precision", "section"):
            found[name] = value
    return found


def absent(config, spellings):
    """Keys of data that no override can name: its class has no such field."""
    return [name for name, s in spellings.items()
            if s["key"].startswith("dataset.") and value_at(config, s["key"]) is MISSING]


# ---- the file ----

def folded(key, text):
    return textwrap.fill(f"    {key}: {text}", 118, subsequent_indent="      ", break_long_words=False,
                         break_on_hyphens=False)


def flow(value):
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=1 << 20).strip()
    return text.removesuffix("...").strip()


def lines_of(record):
    first = True
    for key, value in record.items():
        line = folded(key, flow(value)) if isinstance(value, (dict, list)) else f"    {key}: {flow(value)}"
        yield line.replace("    ", "  - ", 1) if first else line
        first = False


def model_of(recipe, models):
    """The catalogue's model; None: it is in no catalogue."""
    for name, model in OWN_MODEL.items():
        if recipe.name.startswith(name):
            return model
    return models.get(stem(recipe.hub_name))


def record_of(recipe, about, spellings, common, models):
    """A recipe's entry; what it leaves as the common one has it is not said."""
    gpus = re.search(r"_(\d+)gpu_", recipe.name)
    lacks = absent(recipe.config, spellings)
    record = {"name": recipe.name, "model": model_of(recipe, models), "task": task_of(recipe.name),
              "gpus": int(gpus[1]) if gpus else None, "standard": None,
              "absent": lacks if lacks != common["absent"] else None,
              "sets": settings(recipe.config, about, spellings, common["sets"])}
    return {k: v for k, v in record.items() if v is not None}


def mark_standard(records):
    """Of each model and task what runs on the fewest H100s in bfloat16."""
    best = {}
    for record in records:
        if record.get("model") and re.search(STANDARD, record["name"]):
            key = (record["model"], record["task"])
            if key not in best or record["gpus"] < best[key]["gpus"]:
                best[key] = record
    for record in best.values():
        record["standard"] = True


def ordered(record):
    order = ("name", "model", "task", "gpus", "standard", "absent", "sets")
    return {k: record[k] for k in order if k in record}


def commons(about, spellings):
    from megatron.bridge.recipes import common
    found = []
    for name in COMMONS:
        config = getattr(common, name)()
        found.append({"name": name, "task": name.split("_")[1], "absent": absent(config, spellings),
                      "sets": settings(config, about, spellings, {})})
    return found


def all_records(about, spellings):
    """The entries of commons and of recipes."""
    asked, models = watch_hub(), catalogue()
    base = commons(about, spellings)
    of_task = {c["task"]: c for c in base}
    recipes = [made(name, f, asked) for name, f in sorted(functions().items())]
    records = [record_of(r, about, spellings, of_task[task_of(r.name)], models) for r in recipes if r]
    mark_standard(records)
    return base, [ordered(r) for r in records]


def replaced(text, section, records):
    """The file's text with the entries below a section's line exchanged."""
    body = "\n".join(line for record in records for line in lines_of(record))
    return re.sub(rf"(^{section}:[^\n]*\n)(?:[ \n][^\n]*\n)*", lambda m: m[1] + body + "\n", text, flags=re.M)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    out = os.fdopen(os.dup(1), "w")  # what Bridge prints goes to stderr
    os.dup2(2, 1)
    megatron_bridge.load({k: os.path.abspath(os.environ[k]) for k in megatron_bridge.NEEDS}, os.environ.get("MOEPLAN_HF"))
    standins.device("NVIDIA H100", (9, 0), 8, 80)
    base, recipes = all_records(yaml.safe_load(text)["about"], parameters())
    for section, records in (("commons", base), ("recipes", recipes)):
        text = replaced(text, section, records)
    out.write(text)
    out.close()


if __name__ == "__main__":
    main()
