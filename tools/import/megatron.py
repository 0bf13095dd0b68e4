# SPDX-License-Identifier: Apache-2.0
"""Megatron-LM: the flags of its parser and the checks of its configuration, of any release from 0.14 on
and of its forks. The parser is followed from `add_megatron_arguments` through the functions that it
hands the parser to; `ArgumentGroupFactory(Class)` adds the fields of a dataclass."""
import ast
import re

import source

ARGUMENTS = "megatron/training/arguments.py"
ROOTS = ("add_megatron_arguments", "parse_args")
# Where every check is one of the configuration: it needs a rule, or a reason for none.
CONFIGURED = re.compile(
    r"megatron/(training/arguments.py (?!parse_args)"
    r"|training/argument_utils.py core_transformer_config_from_args"
    r"|training/config/\w+.py __post_init__"
    r"|core/(\w+/)*\w*config.py (__post_init__|validate)"
    r"|core/(num_microbatches_calculator|transformer/pipeline_parallel_layer_layout).py "
    r"|core/models/hybrid/hybrid_layer_allocation.py _?(validate|parse)"
    r"|core/distributed/fsdp/mcore_fsdp_adapter.py _validate)"
)
RUNTIME = re.compile(r"megatron/core/(inference|distributed/fsdp/src|process_groups)")
# Everywhere else it is one that a rule may cite: of the training program and what it starts.
SEARCHED = ("megatron/training/", "megatron/core/")


def read(checkout):
    """The sections of a Release, and what could not be resolved, as texts."""
    parser = Parser(checkout)
    for name in ROOTS:
        parser.follow(ARGUMENTS, name)
    return {"settings": parser.flags, "checks": checks(checkout)}, parser.unresolved


def checks(checkout):
    found = source.checks(checkout, checkout.files(*SEARCHED))
    return [[c["file"], c["function"], c["text"], c["mark"]] for c in found]


def needs_rule(check):
    """Whether a check (an item of the section) is one of the configuration."""
    where = f"{check[0]} {check[1]}"
    return CONFIGURED.match(where) is not None and not RUNTIME.match(where)


def version(checkout):
    """The release that a revision is on the way to or is: "0.19"."""
    text = checkout.text("megatron/core/package_info.py") or ""
    numbers = [re.search(rf"^{word} = (\d+)", text, re.M) for word in ("MAJOR", "MINOR")]
    return ".".join(found.group(1) for found in numbers if found)


class Parser:
    """The flags that a launch parser gets."""

    def __init__(self, checkout):
        self.checkout, self.flags, self.unresolved = checkout, {}, []
        self.known = source.classes(checkout, checkout.files("megatron/"))
        self.seen = set()

    def follow(self, path, name):
        """Reads a function of a file, and those that it hands its parser to."""
        if (path, name) in self.seen:
            return
        self.seen.add((path, name))
        for node in ast.walk(self.checkout.tree(path)):
            if isinstance(node, ast.FunctionDef) and node.name == name:
                self._read(path, node)

    def _read(self, path, function):
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda node: (node.lineno, node.col_offset)):
            called = source.name_of(call.func)
            if called == "add_argument":
                self._argument(call)
            elif called.endswith("GroupFactory") and call.args:
                self._group(call, function)
            elif isinstance(call.func, ast.Name) and any(
                source.name_of(word) in ("parser", "group") for word in call.args
            ):
                self.follow(*self._where(path, called))

    def _where(self, path, name):
        """The file and the name that a called function is defined under."""
        for node in ast.walk(self.checkout.tree(path)):
            if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return node.module.replace(".", "/") + ".py", alias.name
        return path, name

    def _argument(self, call):
        names = [word.value for word in call.args if isinstance(word, ast.Constant)]
        words = {word.arg: word.value for word in call.keywords if word.arg}
        self._add(names, self._keywords(words), [])

    def _keywords(self, words):
        """What add_argument is told, in JSON's types."""
        told = {}
        for key in ("type", "action"):
            if key in words:
                told[key] = source.name_of(words[key]) or source.value_of(words[key])
        for key in ("dest", "nargs", "const", "default", "choices"):
            if key in words:
                told[key] = self._value(words[key])
        text = source.message_of(words["help"]) if "help" in words else ""
        return dict(told, help=text) if text else told

    def _value(self, node):
        """A value that may be an enumeration's member, or the list of an enumeration."""
        if isinstance(node, ast.Attribute) and self._members(node.value):
            return node.attr
        if isinstance(node, ast.Call) and source.name_of(node.func) == "list" and node.args:
            return self._members(node.args[0]) or source.value_of(node)
        if isinstance(node, ast.ListComp) and isinstance(node.elt, ast.Attribute):
            return self._members(node.generators[0].iter) or source.value_of(node)
        return source.value_of(node)

    def _members(self, node):
        """The names in an enumeration; none where it is no class that is known."""
        found = self.known.get(source.name_of(node))
        return source.enum_names(found[1]) if found else []

    def _add(self, names, told, more_names):
        text = told.pop("help", "")
        if re.search(r"deprecat|no longer", text, re.I):
            told["deprecated"] = source.one_line(text)[:160]
        action = told.get("action")
        if isinstance(action, str) and action.startswith("store_") and action != "store_const":
            told.setdefault("default", action == "store_false")
        if action == "BooleanOptionalAction":
            more_names = ["--no-" + name[2:] for name in names if name.startswith("--")]
        flags = [name for name in [*names, *more_names] if name.startswith("--")]
        for name in flags:
            usual = flags[0][2:].replace("-", "_")
            entry = {key: value for key, value in told.items() if value is not None}
            entry.setdefault("dest", usual)
            if entry["dest"] == name[2:].replace("-", "_"):
                del entry["dest"]
            if entry.get("type") == "str":
                del entry["type"]
            self.flags[name] = dict(entry, **self._negation(name, action))

    @staticmethod
    def _negation(name, action):
        """BooleanOptionalAction makes two switches of one."""
        if action != "BooleanOptionalAction":
            return {}
        return {"action": "store_false" if name.startswith("--no-") else "store_true"}

    # ---- groups of a dataclass ----

    def _group(self, call, function):
        name = source.name_of(call.args[0])
        if name not in self.known:
            self.unresolved.append(f"class {name}")
            return
        excluded = self._excluded(call, function)
        for field in source.fields(name, self.known).values():
            if field.init and field.name not in excluded:
                self._field(field)

    def _excluded(self, call, function):
        words = {word.arg: word.value for word in call.keywords}
        node = words.get("exclude", ast.List([]))
        for item in ast.walk(function):
            if isinstance(item, ast.Assign) and isinstance(node, ast.Name):
                if source.name_of(item.targets[0]) == node.id:
                    node = item.value
        excluded = source.value_of(node)
        if isinstance(excluded, list):
            return excluded
        self.unresolved.append(f"exclude={excluded}")
        return []

    def _field(self, field):
        """As ArgumentGroupFactory._build_argparse_kwargs_from_field does."""
        told = source.type_of(field.annotation, self.known)
        told["default"] = self._value(field.default) if field.default is not None else field.value()
        told["dest"], names = field.name, ["--" + field.name.replace("_", "-")]
        if told["type"] == "bool" and "nargs" not in told:
            del told["type"]
            on = told["default"] is not False
            told["action"] = "store_false" if on else "store_true"
            if on:
                names = ["--no-" + names[0][2:], "--disable-" + names[0][2:]]
        meta = self._metadata(field)
        if "arg_names" in meta:
            names = meta.pop("arg_names")
        self._add(names, {**told, **meta}, [])

    def _metadata(self, field):
        """The keywords under "argparse_meta" in a field's metadata."""
        for node in ast.walk(field.metadata) if field.metadata is not None else ():
            for key, value in zip(getattr(node, "keys", []), getattr(node, "values", [])):
                if isinstance(key, ast.Constant) and key.value == "argparse_meta":
                    words = {k.value: v for k, v in zip(value.keys, value.values)}
                    told = self._keywords(words)
                    if "arg_names" in words:
                        told["arg_names"] = source.value_of(words["arg_names"])
                    return told
        return {}
