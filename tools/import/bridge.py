# SPDX-License-Identifier: Apache-2.0
"""Megatron-Bridge: the keys that overrides can name, its recipes with what they set, and its checks.

A recipe is a function; what it sets is worked out from its source (`evaluate.py`), with the classes of the Megatron-LM that Bridge
pins as a submodule (MOEPLAN_MEGATRON_LM, a clone that has that commit) and with the models' config.json (MOEPLAN_HF, a folder of
ORG__NAME/config.json). What then is not certain is listed as unknown. Sections beside settings and checks:

  models   {name on Hugging Face: {parameter: value}}: what the model is made of
  commons  {name: …}: recipes that the recipes of a task begin with
  aliases  {name: recipe}: other names that recipes are imported under
  recipes  {name: {model, task, gpus, chip, rebuilds, lacks, sets, unknown}}: rebuilds: run_recipe.py makes a layout of its own
           where the pipeline's sizes are overridden; sets and unknown are parameters (rules/parameters) that are
           other than in the common one of the task, or by default, or than the model, or not certain; lacks are those of its data
           that no override can name

Of the parameters, those are read that rules/recipes/bridge.yaml is about, and a model's.
"""
import ast
import glob
import json
import os
import re

import checkout as checkouts
import evaluate
import source
from frame import Frame
from values import UNKNOWN, Bound, Class, External, Function, Member, Module, Object, Raised, holds_unknown

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules")
SEARCHED = ("src/megatron/bridge/",)
CHECKED = re.compile(r".*(training/(config|comm_overlap|mixed_precision|utils/\w+)|models/[\w/]*_provider|transformer_config)\.py "
                     r"(\w*valid\w*|finalize|__post_init__|\w*config\w*)$")
# what torch.cuda.get_device_properties says on the machine that a recipe is named after
DEVICES = {"h100": ("NVIDIA H100", 9), "b200": ("NVIDIA B200", 10), "b300": ("NVIDIA B300", 10), "gb200": ("NVIDIA GB200", 10),
           "gb300": ("NVIDIA GB300", 10)}
CHIP = re.compile(r"(?:^|[._])(h100|b200|b300|gb200|gb300|vr200|r100)(?=[._]|$)")
# what every configuration of transformers has, written or not; what else config.json does not say, the model's class has not
OF_EVERY_CONFIG = ("tie_word_embeddings use_cache pad_token_id bos_token_id eos_token_id return_dict output_attentions "
                   "output_hidden_states is_encoder_decoder chunk_size_feed_forward architectures name_or_path _name_or_path "
                   "model_type get_text_config to_dict").split()
LAYOUT_BUILDER = "_pipeline_model_parallel_layout_builder"
LAYERS = {"embedding": "E", "decoder": "t", "mtp": "m", "loss": "L"}
SIZES = ("model.num_layers", "model.hidden_size", "model.num_attention_heads")
MISSING = object()


def version(checkout):
    """The release that a revision is on the way to or is: "0.6"."""
    text = checkout.text("src/megatron/bridge/package_info.py") or ""
    numbers = [re.search(rf"^{word} = (\d+)", text, re.M) for word in ("MAJOR", "MINOR")]
    return ".".join(found.group(1) for found in numbers if found)


def needs_rule(check):
    """Whether a check (an item of the section) is one of the configuration."""
    return CHECKED.match(f"{check[0]} {check[1]}") is not None


def read(checkout):
    """The sections of a release, and what could not be resolved."""
    recipes = Recipes(checkout, pinned_megatron(checkout), os.environ.get("MOEPLAN_HF"))
    made, failed = recipe_sections(recipes)
    found = source.checks(checkout, checkout.files(*SEARCHED))
    checks = [[c["file"], c["function"], c["text"], c["mark"]] for c in found]
    return {"settings": settings(recipes), **made, "checks": checks}, failed


def pinned_megatron(checkout):
    """The Megatron-LM of the submodule; None where no clone has it."""
    folder = os.environ.get("MOEPLAN_MEGATRON_LM")
    return checkouts.Checkout(folder, checkout.submodule("3rdparty/Megatron-LM")) if folder else None


# ---- the models' configurations ----

CONFIG_CLASS = Class("PretrainedConfig", Module("transformers", False), [])


def stem(name):
    """A name on Hugging Face without what its variants differ in."""
    return re.sub(r"(-(it|BF16|FP8|NVFP4|Base|Instruct))+$", "", name)


def config_of(folder, name):
    """The config.json of a model or of a variant of it; None where the folder has none."""
    if not folder or not isinstance(name, str):
        return None
    wanted = name.replace("/", "__")
    for entry in [wanted, *(e for e in sorted(os.listdir(folder)) if stem(e) == stem(wanted))]:
        path = os.path.join(folder, entry, "config.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                return json.load(f)
    return None


def thing(kind, **fields):
    """An object of a class outside."""
    made = Object(Class(kind, Module("outside", False), [External("outside")]))
    made.fields.update(fields)
    return made


def config_object(values):
    """A config.json as transformers has it: parts are configurations themselves, the type is torch's."""
    made = Object(CONFIG_CLASS)
    made.fields = dict.fromkeys(OF_EVERY_CONFIG, UNKNOWN)
    for key, value in values.items():
        part = isinstance(value, dict) and key.endswith("_config") and key != "quantization_config"
        made.fields[key] = config_object(value) if part else value
    dtype = values.get("torch_dtype", values.get("dtype", UNKNOWN))
    made.fields["torch_dtype"] = External(f"torch.{dtype}") if isinstance(dtype, str) else dtype
    return made


# ---- evaluating ----

class Recipes:
    """A revision whose recipes can be made."""

    def __init__(self, checkout, megatron, hub):
        roots = {"megatron.bridge": (checkout.text, "src/megatron/bridge")}
        if megatron:
            roots.update({f"megatron.{p}": (megatron.text, f"megatron/{p}") for p in ("core", "training")})
        self.checkout, self.hub, self.chip, self.asked, self.rebuilds = checkout, hub, None, [], False
        self.evaluator = evaluate.Evaluator(roots, self.answer, {"typing.TYPE_CHECKING": False})
        self.bridges = self.registered()

    def answer(self, evaluator, function, args, kwargs):
        """What the evaluator is told instead of walking: the machine, and the hub."""
        if isinstance(function, External):
            return self.answer_outside(function.path, args)
        inner = function.function if isinstance(function, Bound) else function
        if not isinstance(inner, Function) or inner.owner is None:
            return NotImplemented
        name = inner.node.name
        if name == "dtype_from_hf":
            return evaluator.attribute(args[-1] if args else kwargs.get("config"), "torch_dtype")
        if inner.owner.name != "AutoBridge":
            return NotImplemented
        if name in ("from_hf_pretrained", "from_hf_config", "from_auto_config"):
            return self.asked_for(inner.owner, args[0] if args else UNKNOWN)
        if name in ("to_megatron_provider", "get_model_config"):
            return self.provider(function.receiver.fields["hf"], name)
        return NotImplemented

    def answer_outside(self, path, args):
        if path == "torch.cuda.is_available":
            return True
        if path == "torch.cuda.get_device_properties":
            name, major = DEVICES.get(self.chip, (UNKNOWN, UNKNOWN))
            return thing("Device", name=name, major=major)
        if path == "os.path.join" and all(isinstance(a, str) for a in args):
            return "/".join(args)
        return "." if path == "os.getcwd" else NotImplemented

    def asked_for(self, cls, name):
        self.asked.append(name if isinstance(name, str) else "")
        made = Object(cls, self.evaluator.maybe)
        made.fields["hf"] = name
        return made

    def registered(self):
        """Bridges by the architecture that they are of: (module, class, node of its provider)."""
        found = {}
        for path in self.checkout.files("src/megatron/bridge/"):
            if "register_bridge(" not in (self.checkout.text(path) or "") or path.endswith(("model_bridge.py", "auto_bridge.py")):
                continue
            body = self.checkout.tree(path).body
            constants = {a.targets[0].id: a.value.value for a in body if isinstance(a, ast.Assign)
                         and isinstance(a.targets[0], ast.Name) and isinstance(a.value, ast.Constant)}
            for node, call in decorated(body, "register_bridge"):
                words = {k.arg: k.value for k in call.keywords}
                of = words.get("source") or call.args[0]
                name = of.value if isinstance(of, ast.Constant) else constants.get(source.name_of(of), source.name_of(of))
                found[name] = (module_of(path), node.name, words.get("provider"))
        return found

    def provider(self, name, way):
        """What a model of the hub becomes; of one that is not known, something of which nothing is."""
        config = config_of(self.hub, name) or {}
        found = self.bridges.get(next(iter(config.get("architectures") or [None])))
        unknown = thing("Provider")
        unknown.open = True
        if not found:
            return unknown
        module = self.evaluator.module(found[0])
        bridge, hf = Object(module.names[found[1]], self.evaluator.maybe), config_object(config)
        bridge.fields["hf_config"] = hf
        if found[2] is not None:
            bridge.fields["PROVIDER_CLASS"] = Frame(self.evaluator, module, module.names, None).value(found[2])
        legacy = way == "to_megatron_provider"
        method = bridge.cls.find("provider_bridge" if legacy else "hf_config_to_model_config")[0]
        try:
            return self.evaluator.call(method, [bridge, thing("Pretrained", config=hf) if legacy else hf], {})
        except Raised:  # its config.json is not all that the model says of itself
            return unknown

    def functions(self):
        """{name: (module, function)} of the recipes. A name that both packages have is the library's, but where the runner
        takes the benchmark's: there the library's goes by its other names."""
        found, benchmarks = {}, {}
        for path in self.checkout.files("src/megatron/bridge/perf_recipes/"):
            benchmarks.update((name, (module_of(path), name)) for name in self.names_in(path))
        for path in self.checkout.files("src/megatron/bridge/recipes/"):
            found.update((name, (module_of(path), name)) for name in self.names_in(path))
        hidden = {name: found[name] for name in self.of_benchmarks() if name in found and name in benchmarks}
        renamed = {alias: hidden[name] for alias, name in self.aliases(hidden).items()}
        return {**benchmarks, **found, **{name: benchmarks[name] for name in hidden}, **renamed}

    def of_benchmarks(self):
        """The names of both packages that the runner looks for among the benchmarks."""
        said = r"^BENCHMARK_RECIPE_PRECEDENCE_COLLISIONS\b[^{]*\{([^}]*)\}"
        for path in self.checkout.files("scripts/training/recipe_metadata.py"):
            named = re.search(said, self.checkout.text(path), re.M)
            return re.findall(r'"(\w+)"', named[1]) if named else []
        return []

    def names_in(self, path):
        body = self.checkout.tree(path).body
        for node in body:
            plain = isinstance(node, ast.FunctionDef) and not any(
                a.arg not in ("self",) for a in node.args.args[:len(node.args.args) - len(node.args.defaults)])
            if plain and node.name.endswith("_config") and node.name[0] != "_" and returns_container(node):
                yield node.name
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.Name):
                if node.targets[0].id.endswith("_config") and node.targets[0].id[0] != "_":
                    yield node.targets[0].id

    def make(self, module, name):
        """The configuration that a recipe's function makes. Raises Raised where it raises itself."""
        chips = CHIP.findall(f"{module}.{name}")
        self.chip, self.rebuilds = chips[-1] if chips else None, False
        self.asked.clear()
        e = self.evaluator
        e.steps = e.maybe = e.depth = 0
        made = e.call(e.module(module).names[name], [], {})
        model = made.fields.get("model") if isinstance(made, Object) else None
        self.rebuilds = isinstance(model, Object) and LAYOUT_BUILDER in model.fields
        return made

    def aliases(self, functions):
        """Other names of recipes: {name: recipe}."""
        found = {}
        for path in self.checkout.files("src/megatron/bridge/recipes/"):
            for node in self.checkout.tree(path).body:
                for a in node.names if isinstance(node, ast.ImportFrom) else ():
                    if a.asname and a.asname != a.name and a.name in functions and a.asname not in functions:
                        found[a.asname] = a.name
        return found


def returns_container(node):
    return node.returns is None or "ConfigContainer" in ast.unparse(node.returns)


def module_of(path):
    return path[len("src/"):-3].replace("/", ".").removesuffix(".__init__")


def decorated(body, name):
    """The classes of a module with a decorator of that name, and its call."""
    for node in body:
        for d in node.decorator_list if isinstance(node, ast.ClassDef) else ():
            if isinstance(d, ast.Call) and source.name_of(d.func) == name:
                yield node, d


# ---- what a configuration has ----

def parameters():
    """{name: its spelling in Bridge} of the parameters that are read: key, more_keys, unset, also, default, list (it is one),
    decided (by a named precision), model (of its scope), about (read at all: of other data it is only asked whether it is there)."""
    with open(os.path.join(RULES, "recipes", "bridge.yaml"), encoding="utf-8") as f:
        about = re.findall(r"\w+", re.search(r"^about:.*\n((?: .*\n)+)", f.read(), re.M)[1])
    found = {}
    for path in sorted(glob.glob(os.path.join(RULES, "parameters", "*.yaml"))):
        with open(path, encoding="utf-8") as f:
            entries = re.split(r"^  - name: ", f.read(), flags=re.M)[1:]
        for entry in entries:
            name = entry.split("\n", 1)[0].strip()
            of_model = "\n    scope: model\n" in entry and name not in about
            said = re.search(r"^    bridge:(.*(?:\n      .*)*)", entry, re.M)
            key = said and re.search(r"\bkey: ([\w.]+)", said[1])
            of_model = of_model and key and key[1].startswith("model.")
            if key and (of_model or name in about or key[1].startswith("dataset.")):
                found[name] = dict(spelling(key[1], said[1]), model=bool(of_model), about=of_model or name in about)
    return found


def spelling(key, text):
    default = re.search(r"\bdefault: (\[.*?\]|[^,}\n]+)", text, re.S)
    words = {"key": key, "default": plain(default[1].strip()) if default else None}
    words["list"] = isinstance(words["default"], list)
    for name in ("more_keys", "unset", "also"):
        listed = re.search(rf"\b{name}: \[(.*?)\]", text, re.S)
        words[name] = re.findall(r"[\w.]+", listed[1]) if listed else []
    words["decided"] = "under: mixed_precision" in text
    return words


def plain(text):
    """A YAML scalar, or a list of scalars on a line."""
    if text.startswith("["):
        return [plain(item.strip()) for item in text[1:-1].split(",") if item.strip()]
    try:
        return json.loads(text)
    except ValueError:
        return None if text == "~" else text.strip("'")


NOTHING_SAID = (MISSING, None, [], "full")  # of the parts that CUDA graphs hold, and of whatever else has an older spelling


class Values:
    """The values of a configuration by parameter."""

    def __init__(self, recipes, config):
        self.e, self.config = recipes.evaluator, config
        self.name_precision()

    def name_precision(self):
        """The name of the settings that a recipe writes out; what it has where no name means the same."""
        found = self.config.fields.get("mixed_precision")
        if not isinstance(found, Object):
            return
        known = self.e.module("megatron.bridge.training.mixed_precision").names["MIXED_PRECISION_RECIPES"]
        for name, made_by in known.items():
            if "-" not in name and self.e.call(made_by, [], {}).fields == found.fields:
                self.config.fields["mixed_precision"] = name
                return

    def at(self, path):
        """The value of a dotted key; MISSING where it leads nowhere."""
        value = self.config
        names = path.split(".")
        for i, name in enumerate(names):
            value = self.step(value, name)
            if value is UNKNOWN:
                return UNKNOWN
            if value is None or value is MISSING:
                return value if i + 1 == len(names) else MISSING
        return value

    def step(self, value, name):
        if isinstance(value, dict):
            return value.get(name, MISSING)
        try:
            return self.e.attribute(value, name) if isinstance(value, Object) else MISSING
        except Raised:
            return MISSING

    def is_decided(self, words):
        """Whether a named precision says it: only what is written out has settings of its own."""
        precision = self.config.fields.get("mixed_precision")
        if not words["decided"] or not isinstance(precision, Object):
            return words["decided"]
        return words["key"].startswith("model.num_layers_at_") and not precision.fields.get("first_last_layers_bf16")

    def of(self, words):
        """A parameter's value; MISSING where no key of it leads anywhere, or another parameter says it. Sections of their own
        come first: they overwrite the model's fields when the run begins."""
        no_model = self.config.fields.get("model") is None and words["key"].startswith("model.")
        if no_model or self.is_decided(words):
            return MISSING
        keys = [k for k in [words["key"], *words["more_keys"]] if k not in words["unset"]]
        keys.sort(key=lambda k: not k.startswith(("comm_overlap.", "mixed_precision.")))
        there = [v for v in map(self.at, keys) if v is not MISSING]
        value = next((v for v in there if v is not None), None if there else MISSING)
        if value in NOTHING_SAID:  # then the older spelling counts
            value = next((v for v in map(self.at, words["unset"]) if v is not MISSING and v is not None), value)
        if value is False and words["default"] is False:  # of two switches that Bridge makes one, either turns it on
            value = any(self.at(k) is True for k in words["also"])
        if value == 0 and words["key"] in SIZES:  # not said yet where it is looked for
            return UNKNOWN
        if words["list"] and (value == "full" or (value is None and words["default"])):  # as Megatron reads them
            return words["default"]
        return value if value is MISSING else self.written(value, words)

    def written(self, value, words):
        """In our own notation: a section by that word, a layout as its text, a type by its short name."""
        if value is UNKNOWN or holds_unknown(value):
            return UNKNOWN
        if isinstance(value, Object):
            return "section"
        if words["key"] == "model.pipeline_model_parallel_layout" and isinstance(value, (list, tuple)):
            return "|".join("".join(LAYERS.get(layer, "?") for layer in stage) for stage in value)
        if isinstance(value, (list, tuple)):
            return [self.written(v, words) for v in value]
        if isinstance(value, Member):
            return value.value if isinstance(value.value, str) else value.name
        if isinstance(value, External):
            short = value.path.rsplit(".", 1)[-1]
            return {"float32": "fp32", "bfloat16": "bf16", "float16": "fp16"}.get(short, short)
        return value if isinstance(value, (str, int, float, bool, type(None))) else UNKNOWN


def task_of(name):
    return next((task for task in ("peft", "sft") if f"_{task}_" in name), "pretrain")


def recipe_sections(recipes):
    """models, commons and recipes; and which of them cannot be made, and why."""
    spellings, failed = parameters(), []
    common = {name: values_of(recipes, ("megatron.bridge.recipes.common", name), spellings, failed) for name in COMMONS}
    functions = recipes.functions()
    rows = {name: values_of(recipes, function, spellings, failed) for name, function in sorted(functions.items())}
    defaults = {p: words["default"] for p, words in spellings.items()}
    models = model_values(rows, spellings, defaults)
    commons = {name: entry(head, row, defaults, spellings) for name, (head, row) in common.items() if row}
    of_task = {c["task"]: c["sets"] for c in commons.values()}
    entries = {name: entry(head, row, {**defaults, **of_task.get(head["task"], {}), **models.get(head.get("model"), {})}, spellings)
               for name, (head, row) in rows.items()}
    return {"models": models, "commons": commons, "aliases": recipes.aliases(functions), "recipes": entries}, failed


COMMONS = ("_pretrain_common", "_sft_common", "_peft_common")


def values_of(recipes, function, spellings, failed):
    """The head of a recipe (module, function) and its values by parameter; None for the values of one that cannot be made."""
    module, name = function
    try:
        config = recipes.make(module, name)
    except (Raised, KeyError, AttributeError) as error:
        failed.append(f"{name}: {type(error).__name__} {error}")
        config = None
    if not isinstance(config, Object):
        return head_of(recipes, name), None
    values = Values(recipes, config)
    return head_of(recipes, name), {p: values.of(words) for p, words in spellings.items()}


def head_of(recipes, name):
    gpus = re.search(r"_(\d+)gpu_", name)
    head = {"model": recipes.asked[-1] if recipes.asked else "", "task": task_of(name),
            "gpus": int(gpus[1]) if gpus else None, "chip": recipes.chip, "rebuilds": recipes.rebuilds}
    return {k: v for k, v in head.items() if v}


def is_value(value):
    return value is not MISSING and value is not UNKNOWN


def model_values(rows, spellings, defaults):
    """What the first recipe of each model makes of it."""
    models = {}
    for head, row in rows.values():
        if row and head.get("model"):
            shape = {p: v for p, v in row.items() if spellings[p]["model"] and is_value(v) and v != defaults[p]}
            models.setdefault(head["model"], shape)
    return models


def entry(head, row, over, spellings):
    """A recipe as it is written; of one that cannot be made nothing but its head."""
    if row is None:
        return dict(head, unknown="all")
    sets = {p: v for p, v in row.items() if spellings[p]["about"] and is_value(v) and v != over.get(p)}
    if sets.get("mixed_precision") == "section":  # the named settings with a change, which no name says
        del sets["mixed_precision"]
    lacks = [p for p, v in row.items() if v is MISSING and spellings[p]["key"].startswith("dataset.")]
    unknown = [p for p, v in row.items() if v is UNKNOWN and spellings[p]["about"] and not spellings[p]["model"]]
    lists = {"lacks": lacks, "unknown": unknown}
    return {**head, "sets": sets, **{k: v for k, v in lists.items() if v}}


# ---- the keys ----

def settings(recipes):
    """{dotted key: {type, default, choices}} of the sections of a configuration; of the model and the data every class's."""
    e, found = recipes.evaluator, {}
    known = source.classes(recipes.checkout, recipes.checkout.files("src/megatron/bridge/"))
    container = e.module("megatron.bridge.training.config").names["ConfigContainer"]
    for section, owner in container.all_fields().items():
        for cls in section_classes(e, recipes, section, owner.fields[section], owner.module):
            for name, at in cls.all_fields().items():
                if name[0] != "_":
                    annotation = ast.parse(at.fields[name], mode="eval").body
                    told = source.type_of(annotation, known)
                    found.setdefault(f"{section}.{name}", {k: v for k, v in told.items() if (k, v) not in NOT_SAID})
        found.setdefault(section, {})
    return found


NOT_SAID = (("type", "any"), ("type", "str"))


def section_classes(e, recipes, section, annotation, module):
    """The dataclasses that a section may be."""
    folders = {"model": "src/megatron/bridge/models/", "dataset": "src/megatron/bridge/data/", "peft": "src/megatron/bridge/peft/"}
    named = [e.name_in(module.name, n) for n in re.findall(r"[A-Za-z_]\w*", annotation) if n in module.names]
    if section in folders:
        for path in recipes.checkout.files(folders[section]):
            inner = e.module(module_of(path))
            named += [c for c in inner.names.values() if isinstance(c, Class)] if inner else []
    return [c for c in named if isinstance(c, Class) and any(b.dataclass for b in c.line)]
