# SPDX-License-Identifier: Apache-2.0
"""NeMo AutoModel: the keys of its typed sections, the names that its modules hold, its recipe classes, and its checks. Sections
beside settings and checks:

  names    {module: "Name Other …"}: what `_target_` and keys ending in _fn can name there; "*" where it cannot be told
  recipes  {class: module}: classes of recipes
  classes  {model class: {field: value}}: what model classes say of themselves: supports_*, _pp_plan and their like
"""
import ast
import re

import source

PACKAGE = "nemo_automodel/"
SEARCHED = (PACKAGE,)
CHECKED = re.compile(r".*(config|capabilities|utils|_dist_utils|_typed_config|mesh\w*|parallelizer|autopipeline|loader|"
                     r"step_scheduler|train_\w+|finetune)\.py (\w*valid\w*|__post_init__|\w*check\w*|from_\w+|parse\w*|_?build\w*)$")
# The classes that read each section; those of one section are alternatives.
TYPED = {
    "distributed": ("FSDP2Config", "MegatronFSDPConfig", "DDPConfig", "ParallelismSizes", "DistributedSetup"),
    "distributed.pipeline": ("PipelineConfig",),
    "distributed.moe": ("MoEParallelizerConfig",),
    "step_scheduler": ("StepSchedulerConfig", "StepScheduler"),
    "checkpoint": ("CheckpointingConfig",),
    "model.backend": ("BackendConfig",),
    "peft": ("PeftConfig",),
    "lr_scheduler": ("LRSchedulerConfig", "OptimizerParamScheduler"),
    "fp8": ("FP8Config",),
    "compile": ("CompileConfig",),
}
# Releases before 0.5 take a section's keys by the arguments of a plain class and, of the mesh, by a table.
SIZES = (PACKAGE + "recipes/_dist_setup.py", "_PARALLELISM_DEFAULTS")
GIVEN = ("optimizer", "dataloader", "dp_size", "local_batch_size")  # such arguments, which the recipe hands over itself
SAYS = re.compile(r"(supports?_\w+|_tp_plan|_pp_plan|_no_split_modules|_keep_in_fp32\w*)$")


def version(checkout):
    """The release that a revision is on the way to or is: "0.5"."""
    text = checkout.text(PACKAGE + "package_info.py") or ""
    numbers = [re.search(rf"^{word} = (\d+)", text, re.M) for word in ("MAJOR", "MINOR")]
    return ".".join(found.group(1) for found in numbers if found)


def needs_rule(check):
    """Whether a check (an item of the section) is one of the configuration."""
    return CHECKED.match(f"{check[0]} {check[1]}") is not None


def read(checkout):
    """The sections of a release, and what could not be resolved."""
    paths = checkout.files(PACKAGE)
    known = source.classes(checkout, paths)
    names = {module_of(path): " ".join(names_of(checkout.tree(path))) for path in paths}
    found = source.checks(checkout, paths)
    missing = [f"class {name}" for listed in TYPED.values() for name in listed[:1] if name not in known]
    return {"settings": sizes(checkout) | settings(known), "names": names, "recipes": recipes(known), "classes": classes(known),
            "checks": [[c["file"], c["function"], c["text"], c["mark"]] for c in found]}, missing


def module_of(path):
    return path[:-3].replace("/", ".").removesuffix(".__init__")


# ---- names ----

def names_of(tree):
    """The public names at the top of a module: defined there, assigned, or imported, sorted."""
    found = set()
    for node in outside_functions(tree.body):
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
            found.update(n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    if "__getattr__" in found:  # names that are looked up when they are asked for
        found.update(n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)
                     and n.value.isidentifier())
    return sorted(name for name in found if name[0] != "_" or name == "*")


def outside_functions(body):
    """The statements of a module, those below if, try and with too."""
    for node in body:
        yield node
        if not isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            for part in ("body", "orelse", "finalbody"):
                yield from outside_functions(getattr(node, part, []))
            for handler in getattr(node, "handlers", []):
                yield from outside_functions(handler.body)


# ---- keys ----

def sizes(checkout):
    """The sizes of the mesh, where a table has them."""
    path, name = SIZES
    tree = checkout.tree(path) if checkout.text(path) else ast.Module([], [])
    tables = [n.value for n in tree.body if isinstance(n, ast.AnnAssign) and source.name_of(n.target) == name]
    return {f"distributed.{key}": {"type": "int"} | ({} if value is None else {"default": value})
            for table in tables for key, value in ast.literal_eval(table).items()}


def settings(known):
    """{dotted key: {type, default, choices}} of the typed sections."""
    found = {}
    for section, readers in TYPED.items():
        typed = [field for reader in readers for field in source.fields(reader, known).values()]
        plain = [field for field in source.arguments(readers[-1], known) if field.name not in GIVEN]
        for field in typed or plain:
            if field.init and field.name[0] != "_":
                told = source.type_of(field.annotation, known)
                default = field.value()
                told.update({"default": default} if default is not None else {})
                found.setdefault(f"{section}.{field.name}", {k: v for k, v in told.items() if (k, v) not in NOT_SAID})
    return found


NOT_SAID = (("type", "any"), ("type", "str"))


# ---- recipes and models ----

def recipes(known):
    """Classes of the recipes' folder whose names say that they are recipes."""
    return {name: module_of(path) for name, (path, _) in sorted(known.items())
            if path.startswith(PACKAGE + "recipes/") and "Recipe" in name and name[0] != "_"}


def classes(known):
    """What model classes and the classes inside them say of themselves as constants."""
    found = {}
    for name, (path, node) in sorted(known.items()):
        if not path.startswith(PACKAGE + "components/models/") or not re.search(r"For[A-Z]\w+$", name):
            continue
        said = {}
        for item in ast.walk(node):
            if isinstance(item, (ast.Assign, ast.AnnAssign)) and item.value is not None:
                target = item.targets[0] if isinstance(item, ast.Assign) else item.target
                if SAYS.match(source.name_of(target)) and isinstance(item.value, ast.Constant):
                    said[source.name_of(target)] = item.value.value
        found[name] = said
    return found
