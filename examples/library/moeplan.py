# SPDX-License-Identifier: Apache-2.0
"""moeplan in Python: this file beside your own, and libmoeplan.so where the loader finds it (or its path in MOEPLAN_LIBRARY).

    import moeplan
    answer = moeplan.estimate(text=open("plan.yaml").read(), gpus=256, platform="h100")

Requests and answers are those of `moeplan ... --batch`, as dicts. Threads have an answer each.
"""
import ctypes
import json
import os
import threading


class Error(Exception):
    """What the library says instead of an answer."""


def _load():
    library = ctypes.CDLL(os.environ.get("MOEPLAN_LIBRARY", "libmoeplan.so.0"))
    library.moeplan_new.restype = ctypes.c_void_p
    library.moeplan_free.argtypes = [ctypes.c_void_p]
    library.moeplan_version.restype = ctypes.c_char_p
    for verb in ("validate", "estimate", "suggest", "eval"):
        function = getattr(library, f"moeplan_{verb}")
        function.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
        function.restype = ctypes.c_char_p
    return library


class _Handle:
    """The room for one answer, given back with its thread."""

    def __init__(self):
        self.pointer = _library.moeplan_new()
        if not self.pointer:
            raise MemoryError

    def __del__(self):
        _library.moeplan_free(self.pointer)


_library = _load()
_threads = threading.local()


def _ask(verb, request):
    if not hasattr(_threads, "handle"):
        _threads.handle = _Handle()
    text = json.dumps(request).encode()
    answer = json.loads(getattr(_library, f"moeplan_{verb}")(_threads.handle.pointer, text))
    if "error" in answer:
        raise Error(answer["error"])
    return answer


def validate(text, **request):
    """Findings of a recipe: path, as (the format; `as` is a word of Python: **{"as": ...}), gpus, platform, framework, set, env."""
    return _ask("validate", {"text": text, **request})


def estimate(**request):
    """Memory and time: plan (a dict), or text, as, gpus, platform."""
    return _ask("estimate", request)


def suggest(model, gpus, platform, **options):
    """The best plans."""
    return _ask("suggest", {"model": model, "gpus": gpus, "platform": platform, "options": options})


def evaluate(expr, **bindings):
    """The value of an expression of the rules' language."""
    return _ask("eval", {"expr": expr, "bindings": bindings})["value"]


def version():
    return _library.moeplan_version().decode()
