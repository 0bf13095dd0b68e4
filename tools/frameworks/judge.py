#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""judge.py FILE...: would the framework start with what moeplan printed?

Runs the framework's own configuration code on each file, without a GPU, without weights: Megatron-LM on flags and launch
scripts, NeMo AutoModel on recipes, Megatron-Bridge on overrides. Says for each file: accepted; refused, with the framework's
message, file and line; or unable, where something is missing here. An accepted file may have values that the framework
changes silently: each is said.

Exit status: 0 all accepted and nothing changed, 1 one refused or changed, 77 one could not be judged and none is wrong.
"""
import argparse
import enum
import io
import json
import os
import sys
import traceback
import types

import emitted
import standins
from emitted import Unable

HERE = os.path.dirname(os.path.abspath(__file__))
OPTIONS = {"MOEPLAN_MEGATRON_LM": "a checkout of Megatron-LM", "MOEPLAN_MEGATRON_BRIDGE": "a checkout of Megatron-Bridge",
           "MOEPLAN_BRIDGE_MEGATRON_LM": "the Megatron-LM that it pins", "MOEPLAN_AUTOMODEL": "a checkout of NeMo AutoModel",
           "MOEPLAN_HF": "a folder of ORG__NAME/config.json", "MOEPLAN_HYDRA": "a checkout of Hydra 1.3 with its grammar "
           "generated, where Hydra is not installed"}
ACCEPTED, REFUSED, UNABLE = 0, 1, 77


def framework_module(name):
    if name == "megatron":
        import megatron_lm as module
    elif name == "bridge":
        import megatron_bridge as module
    else:
        import automodel as module
    return module


# ---- values ----

def plain(value):
    """A value as it is written: types and functions by their name, enumerations by their value."""
    if isinstance(value, enum.Enum):
        value = value.value
    if isinstance(value, types.FunctionType):
        return value.__name__
    if isinstance(value, (list, tuple, set)):
        return [plain(v) for v in value]
    if isinstance(value, (bool, int, float)) or value is None:
        return value
    text = str(value).removeprefix("torch.").lower()
    return {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16", "none": None, "null": None}.get(text, text)


def names_of(value):
    """What an enumeration can be called."""
    return {plain(value), plain(value.name)} if isinstance(value, enum.Enum) else set()


def is_same(written, now):
    """Whether a written value is what an object now holds; one value is the same as a list of it, a section as what its
    keys became."""
    if isinstance(written, dict):
        return all(is_same(v, now.get(k) if isinstance(now, dict) else getattr(now, k, None)) for k, v in written.items())
    if isinstance(written, (list, tuple)):
        items = now if isinstance(now, (list, tuple)) else [now]
        return len(written) == len(items) and all(is_same(a, b) for a, b in zip(written, items))
    return plain(written) == plain(now) or plain(written) in names_of(now)


# ---- one file ----

def place(error, roots):
    """The innermost line of a checkout that an exception passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        for root in roots:
            if frame.filename.startswith(root + os.sep):
                return f"{os.path.relpath(frame.filename, root)}:{frame.lineno}"
    return ""


def is_ours(error):
    """Whether the judge failed, not the framework: a module that is missing, or an error of these files other than those
    that they raise in the framework's place."""
    last = traceback.extract_tb(error.__traceback__)[-1].filename
    if isinstance(error, (ModuleNotFoundError, MemoryError)):
        return True
    return os.path.dirname(os.path.abspath(last)) == HERE and not isinstance(error, (ValueError, AssertionError))


def message_of(error, said):
    """argparse exits: what it said is in its output."""
    if isinstance(error, SystemExit):
        errors = [line.split("error:", 1)[1].strip() for line in said.splitlines() if "error:" in line]
        return errors[-1] if errors else f"exit {error}"
    return " ".join(str(error).split()) or traceback.extract_tb(error.__traceback__)[-1].line or type(error).__name__


def verdict(module, args, path, roots):
    """A dictionary: verdict, and with it message, at and step, or the values that are others afterwards."""
    steps, said = ["the file"], io.StringIO()
    stdout, stderr = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = said
    try:
        file = emitted.read(path, args.gpus, args.platform)
        chip = emitted.chip(file.platform)
        if not file.gpus and file.format != "script":
            raise Unable("the head does not say how many GPUs: say it with --gpus")
        standins.device(f"NVIDIA {file.platform.upper()}", *chip)
        recipe = {"recipe": args.recipe} if module.__name__ == "megatron_bridge" else {}
        found = list(module.judge(file, chip, steps.append, **recipe))
        changed = {key: f"{plain(a)} is {plain(b)}" for key, a, b in found if not is_same(a, b)}
        return {"verdict": "accepted", "changed": changed}
    except Unable as error:
        return {"verdict": "unable", "message": str(error), "step": steps[-1]}
    except (Exception, SystemExit) as error:
        return {"verdict": "unable" if is_ours(error) else "refused", "message": message_of(error, said.getvalue()),
                "at": place(error, roots), "step": steps[-1]}
    finally:
        sys.stdout, sys.stderr = stdout, stderr


def quiet():
    """What frameworks print is not the judge's output."""
    with open(os.devnull, "w") as null:
        os.dup2(null.fileno(), 1)
        os.dup2(null.fileno(), 2)


def in_child(work):
    """What `work` returns, made in a process of its own, as frameworks are never the same after use."""
    r, w = os.pipe()
    child = os.fork()
    if not child:
        quiet()
        with os.fdopen(w, "w") as out:
            json.dump(work(), out)
        os._exit(0)
    os.close(w)
    with os.fdopen(r) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return json.loads(text) if text else {"verdict": "unable", "message": "the process died", "step": "the framework"}


# ---- the command ----

def checkouts(module, args):
    """The folders that a framework needs, by variable."""
    paths = {}
    for variable, file in module.NEEDS.items():
        folder = os.path.abspath(getattr(args, variable) or "")
        if not getattr(args, variable) or not os.path.exists(os.path.join(folder, file)):
            raise Unable(f"{variable} is no checkout: {getattr(args, variable) or 'not set'}")
        paths[variable] = os.environ[variable] = folder
    return paths


def judge_all(framework, paths, args):
    """The verdicts on files of one framework, which is loaded once."""
    module = framework_module(framework)
    roots = []
    try:
        folders = checkouts(module, args)
        roots = list(folders.values())
        module.load(folders, args.MOEPLAN_HF)
    except (Unable, ImportError) as error:
        return [{"verdict": "unable", "message": str(error), "at": place(error, roots), "step": "loading"} for _ in paths]
    return [in_child(lambda: verdict(module, args, path, roots)) for path in paths]


def show(path, v, as_json):
    if as_json:
        print(json.dumps({"file": path} | v))
        return
    line = f"{path}: {v['verdict']}"
    if v.get("message"):
        line += f" at {v['step']}: {v['message']}" + (f" ({v['at']})" if v.get("at") else "")
    print(line)
    for key, what in v.get("changed", {}).items():
        print(f"  changed silently: {key}, written {what}")


def status(verdicts):
    if any(v["verdict"] == "refused" or v.get("changed") for v in verdicts):
        return REFUSED
    return UNABLE if any(v["verdict"] == "unable" for v in verdicts) else ACCEPTED


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--gpus", type=int, default=0, help="how many GPUs, where the file's head does not say")
    parser.add_argument("--platform", default="", help="one of rules/platforms; else as the head says, else h100")
    parser.add_argument("--recipe", help="Megatron-Bridge: the recipe, where the head does not say")
    parser.add_argument("--json", action="store_true", help="one object a line")
    for variable, what in OPTIONS.items():
        option = "--" + variable.removeprefix("MOEPLAN_").lower().replace("_", "-")
        parser.add_argument(option, dest=variable, metavar="DIR", default=os.environ.get(variable),
                            help=f"{what}; else ${variable}")
    return parser.parse_args()


def main():
    args = arguments()
    if not standins.is_installed("torch") or not standins.is_installed("transformers"):
        print("unable: this Python has no PyTorch or no transformers", file=sys.stderr)
        return UNABLE
    if args.MOEPLAN_HYDRA:
        os.environ["MOEPLAN_HYDRA"] = os.path.abspath(args.MOEPLAN_HYDRA)
    by_framework, verdicts = {}, []
    for path in args.files:
        by_framework.setdefault(emitted.read(path).framework, []).append(path)
    for framework, paths in by_framework.items():  # a process for each, as their modules' names collide
        found = in_child(lambda: judge_all(framework, paths, args))
        found = found if isinstance(found, list) else [found for _ in paths]
        for path, v in zip(paths, found):
            show(path, v, args.json)
        verdicts += found
    return status(verdicts)


if __name__ == "__main__":
    sys.exit(main())
