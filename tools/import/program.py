# SPDX-License-Identifier: Apache-2.0
"""The flags that a program built on Megatron-LM has beside Megatron-LM's own, written into its file of rules/programs:

    python3 tools/import/program.py rules/programs/slime.yaml ~/slime HEAD [--fields slime/arguments] [--also ~/core HEAD]

Flags are the literals of every add_argument; with --fields also the fields of the dataclasses below a folder, for programs whose
parser is made of these, and with --tags those of Megatron-LM's own parser at every tag that matches, so that flags of its former
releases are known. Which are Megatron-LM's is read from rules/parameters.
"""
import argparse
import ast
import pathlib
import re

from checkout import Checkout

OURS = re.compile(r"(?<![\w-])(--[A-Za-z][\w-]*)")
ASIDE = re.compile(r"(^|/)(tests?|third_party|docs?|benchmarks?)/")


def literal_flags(tree):
    """The names that start with dashes in calls of add_argument."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument":
            for word in node.args:
                if isinstance(word, ast.Constant) and str(word.value).startswith("--"):
                    yield word.value


def field_flags(tree):
    """The annotated fields of all classes, as flags."""
    for node in ast.walk(tree):
        for item in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                if not item.target.id.startswith("_"):
                    yield "--" + item.target.id


def flags_of(checkout, folders):
    """All flags of a checkout."""
    found = set()
    for path in checkout.files():
        if not ASIDE.search(path):
            found.update(literal_flags(checkout.tree(path)))
    for path in checkout.files(*folders) if folders else []:
        found.update(field_flags(checkout.tree(path)))
    return found


PARSERS = ("megatron/arguments.py", "megatron/training/arguments.py")


def tagged_flags(checkout, pattern):
    """The flags of Megatron-LM's parser at all tags that match."""
    found = set()
    for tag in checkout.tags(pattern):
        at = Checkout(checkout.folder, tag)
        for path in set(PARSERS) & set(at.files()):
            found.update(literal_flags(at.tree(path)))
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("checkout")
    parser.add_argument("revision")
    parser.add_argument("--fields", nargs="+", default=[])
    parser.add_argument("--also", nargs=2, metavar=("CHECKOUT", "REVISION"))
    parser.add_argument("--tags", metavar="PATTERN")
    args = parser.parse_args()
    checkout = Checkout(args.checkout, args.revision)
    flags = tagged_flags(checkout, args.tags) if args.tags else flags_of(checkout, tuple(args.fields))
    if args.also:
        flags |= flags_of(Checkout(*args.also), ())
    flags -= megatrons(args.file.resolve().parent.parent)
    text = args.file.read_text().split("commit:")[0].rstrip()
    lines = [text, f'commit: "{checkout.commit[:8]}"', f'date: "{checkout.date}"', "flags:"]
    args.file.write_text("\n".join(lines + [f"  - {flag}" for flag in sorted(flags)]) + "\n")
    print(f"{args.file}: {len(flags)} flags")


if __name__ == "__main__":
    main()
