# SPDX-License-Identifier: Apache-2.0
"""The flags that a program built on Megatron-LM has beside Megatron-LM's own, written into its file of rules/programs:

    python3 tools/import/program.py rules/programs/slime.yaml ~/slime HEAD [--fields slime/arguments] [--also ~/core HEAD]

Flags are the literals of every add_argument, with the type of those that take one number; with --fields also the fields of the
dataclasses below a folder, for programs whose parser is made of these; and with --tags those of Megatron-LM's own parser at every
tag that matches, so that flags of its former releases are known. With --keys, for programs whose settings stand in YAML files, the
keys of the files below a folder and the fields are `keys`, beside the flags or (--no-flags) alone. Which are Megatron-LM's is read
from rules/parameters.
"""
import argparse
import ast
import pathlib
import re

from checkout import Checkout

OURS = re.compile(r"(?<![\w-])(--[A-Za-z][\w-]*)")
ASIDE = re.compile(r"(^|/)(tests?|third_party|docs?|benchmarks?)/")
KEY = re.compile(r"^[ \t-]*([A-Za-z_]\w*):(?:\s|$)", re.M)
TYPES = {"int": "int", "float": "double", "str": "string"}
AROUND = re.compile(r"Optional|NotRequired|Required|Annotated|None|[\[\]|, ]")


def literal_flags(tree):
    """The names that start with dashes in calls of add_argument, with their types."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            words = {k.arg: k.value for k in node.keywords}
            one = not {"nargs", "action", "choices"} & words.keys()
            kind = TYPES.get(getattr(words.get("type"), "id", "")) if one else None
            for word in node.args:
                if isinstance(word, ast.Constant) and str(word.value).startswith("--"):
                    yield word.value, kind


def settings_of_classes(tree):
    """The annotated fields of all classes, with their types."""
    for node in ast.walk(tree):
        for item in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                if not item.target.id.startswith("_"):
                    kind = AROUND.sub("", ast.unparse(item.annotation))
                    yield item.target.id, TYPES.get(kind)


def add(found, flags):
    """Takes more flags with their types: None where places differ or do not say."""
    for flag, kind in flags:
        found[flag] = kind if found.get(flag, kind) == kind else None


def flags_of(checkout):
    """The flags of all parsers of a checkout: name to type."""
    found = {}
    for path in checkout.files():
        if not ASIDE.search(path):
            add(found, literal_flags(checkout.tree(path)))
    return found


def settings_of(checkout, fields, keys):
    """The fields of dataclasses and the keys of YAML files: name to type."""
    found = {}
    for path in checkout.files(*fields) if fields else []:
        add(found, settings_of_classes(checkout.tree(path)))
    for path in checkout.files(*keys, suffix=".yaml") if keys else []:
        add(found, [(key, found.get(key)) for key in KEY.findall(checkout.text(path))])
    return found


PARSERS = ("megatron/arguments.py", "megatron/training/arguments.py")


def tagged_flags(checkout, pattern):
    """The flags of Megatron-LM's parser at all tags that match."""
    found = {}
    for tag in checkout.tags(pattern):
        at = Checkout(checkout.folder, tag)
        for path in set(PARSERS) & set(at.files()):
            found.update((flag, None) for flag, _ in literal_flags(at.tree(path)))
        at.close()
    return found


def megatrons(rules):
    """The flags that rules/parameters give Megatron-LM."""
    found = set()
    for path in sorted((rules / "parameters").glob("*.yaml")):
        found.update(OURS.findall(path.read_text()))
        for flag in re.findall(r"\bflag: ([a-z][\w-]*)", path.read_text()):
            found.add("--" + flag)
    return found


def listed(member, names):
    """The lines of a list of names with their types."""
    return [f"{member}:"] + [f"  - {name} {kind}" if kind else f"  - {name}" for name, kind in sorted(names.items())]


def own_keys(settings, ours):
    """The keys that are no destination of Megatron-LM's, and those that are but take words of the program's own."""
    flag = "--{}".format
    return {k: t for k, t in settings.items() if t == "string" or flag(k.replace("_", "-")) not in ours}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("checkout")
    parser.add_argument("revision")
    parser.add_argument("--fields", nargs="+", default=[])
    parser.add_argument("--keys", nargs="+", default=[])
    parser.add_argument("--no-flags", action="store_true")
    parser.add_argument("--also", nargs=2, metavar=("CHECKOUT", "REVISION"))
    parser.add_argument("--tags", metavar="PATTERN")
    args = parser.parse_args()
    checkout = Checkout(args.checkout, args.revision)
    ours = megatrons(args.file.resolve().parent.parent)
    flags = tagged_flags(checkout, args.tags) if args.tags else flags_of(checkout)
    if args.also:
        flags = {**flags_of(Checkout(*args.also)), **flags}
    settings = settings_of(checkout, tuple(args.fields), tuple(args.keys))
    if not args.keys:
        add(flags, [("--" + name, kind) for name, kind in settings.items()])
    flags = {flag: kind for flag, kind in flags.items() if flag not in ours}
    text = args.file.read_text()
    lines = [text.split("commit:")[0].rstrip(), f'commit: "{checkout.commit[:8]}"', f'date: "{checkout.date}"']
    if not args.no_flags:
        lines += listed("flags", flags)
    if args.keys:
        lines += listed("keys", own_keys(settings, ours))
    args.file.write_text("\n".join(lines) + "\n")
    print(f"{args.file}: {len(flags)} flags, {len(settings)} settings")


if __name__ == "__main__":
    main()
