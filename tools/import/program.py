# SPDX-License-Identifier: Apache-2.0
"""The flags that a program built on Megatron-LM has beside Megatron-LM's own, written into its file of rules/programs:

    python3 tools/import/program.py rules/programs/slime.yaml ~/slime HEAD [--fields slime/arguments] [--also ~/core HEAD]

Flags are the literals of every add_argument, with what they take: "int", "double list", "bool", "one of a b", "switch"; those of
Megatron-LM's own too that the program defines anew or changes, unless its file says `checks: megatron`. With --within only the flags
below some folders; with --fields also the fields of the dataclasses below a folder, for programs whose parser is made of these; and
with --tags those of Megatron-LM's own parser at every tag that matches, so that flags of its former releases are known. With --keys,
for programs whose settings stand in YAML files, the keys of the files below a folder and the fields are `keys`, beside the flags or
(--no-flags) alone. With --keep the names stay that the file has already, those of former releases, and what stands above `commit` in
the file stays in any case. Which are Megatron-LM's is read from rules/parameters.
"""
import argparse
import ast
import pathlib
import re

from checkout import Checkout

OURS = re.compile(r"(?<![\w-])(--[A-Za-z][\w-]*)")
ASIDE = re.compile(r"(^|/)(tests?|third_party|docs?|benchmarks?)/")
KEY = re.compile(r"^[ \t-]*([A-Za-z_]\w*):(?:[ \t]+([^#\n]*?))?[ \t]*(?:#.*)?$", re.M)
NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
SILENT = re.compile(r"|null|~|\$\{.*|[|>&*].*|\?\?\?")  # a mapping, nothing, or what stands elsewhere
TYPES = {"int": "int", "float": "double", "str": "string", "bool": "bool"}
WORD = re.compile(r"[\w.+-]+")
FLAG = re.compile(r"--[A-Za-z][\w-]*")
AROUND = re.compile(r"Optional|NotRequired|Required|Annotated|None|[\[\]|, ]")


def words_of(node, constants):
    """The words of a list of choices, or of one that the module names; None where it is something else."""
    if isinstance(node, ast.Call) and not node.args and getattr(node.func, "attr", "") == "keys":
        node = node.func.value
    if isinstance(node, ast.Name):
        node = constants.get(node.id)
    items = {ast.Dict: "keys", ast.List: "elts", ast.Tuple: "elts", ast.Set: "elts"}.get(type(node))
    words = [getattr(item, "value", None) for item in getattr(node, items)] if items else []
    return words if words and all(isinstance(w, str) and WORD.fullmatch(w) for w in words) else None


def checked_words(tree, constants):
    """{function: words} of functions that take a word among those of a list: `if arg in VALID: return arg`."""
    found = {}
    for node in tree.body:
        first = node.body[0] if isinstance(node, ast.FunctionDef) and node.body else None
        first = node.body[1] if isinstance(first, ast.Expr) and len(node.body) > 1 else first
        test = first.test if isinstance(first, ast.If) else None
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In) and isinstance(test.left, ast.Name):
            found[node.name] = words_of(test.comparators[0], constants)
    return {name: words for name, words in found.items() if words}


def kind_of(words, constants, checked):
    """What an option takes, by the keywords of add_argument; None where that is not sure."""
    action = getattr(words.get("action"), "value", None)
    if action in ("store_true", "store_false", "store_const"):
        return "switch"
    one = not {"nargs", "action"} & words.keys()
    if one and "choices" in words:
        known = words_of(words["choices"], constants)
        return "one of " + " ".join(known) if known else None
    reader = getattr(words.get("type"), "id", "")
    if one and reader in checked:
        return "one of " + " ".join(checked[reader])
    kind = TYPES.get(reader) if reader != "bool" else None  # any text is true to argparse
    several = getattr(words.get("nargs"), "value", None) in ("+", "*")
    listed = kind + " list" if several and kind in ("int", "double") else None
    return kind if one else listed


def calls_with_flags(tree):
    """(call, flag) for the names that start with dashes among the arguments of calls."""
    for node in ast.walk(tree):
        for word in node.args if isinstance(node, ast.Call) else []:
            if isinstance(word, ast.Constant) and FLAG.fullmatch(str(word.value)):
                yield node, word.value


def is_definition(call):
    return getattr(call.func, "attr", "") == "add_argument"


def literal_flags(tree):
    """The flags that are defined, with what they take."""
    constants = {node.targets[0].id: node.value for node in tree.body
                 if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)}
    checked = checked_words(tree, constants)
    for call, flag in calls_with_flags(tree):
        if is_definition(call):
            yield flag, kind_of({k.arg: k.value for k in call.keywords}, constants, checked)


def changed_flags(tree):
    """Flags that are handed to somebody else, who may take more for them."""
    return {flag for call, flag in calls_with_flags(tree) if not is_definition(call)}


def annotated(node):
    """What a field takes, by its annotation."""
    text = AROUND.sub("", ast.unparse(node))
    literals = [n.slice for n in ast.walk(node) if isinstance(n, ast.Subscript) and ast.unparse(n.value) == "Literal"]
    listed = re.fullmatch(r"(?:List|list)(int|float)", text)
    if literals:
        items = literals[0].elts if isinstance(literals[0], ast.Tuple) else literals
        words = [str(getattr(item, "value", "")) for item in items]
        if all(word.isdigit() for word in words):
            return "int"
        alone = len(literals) == 1 and text.startswith("Literal") and all(WORD.fullmatch(w) for w in words)
        return "one of " + " ".join(words) if alone else None
    return TYPES[listed.group(1)] + " list" if listed else TYPES.get(text)


def settings_of_classes(tree):
    """The annotated fields of all classes, with their types."""
    for node in ast.walk(tree):
        for item in node.body if isinstance(node, ast.ClassDef) else []:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                if not item.target.id.startswith("_"):
                    yield item.target.id, annotated(item.annotation)


def add(found, flags):
    """Takes more flags with their types: None where places differ or do not say."""
    for flag, kind in flags:
        found[flag] = kind if found.get(flag, kind) == kind else None


def flags_of(checkout, ours, folders=()):
    """The flags of all parsers of a checkout, those of Megatron-LM's too that it has a word on: name to type."""
    found, changed = {}, set()
    for path in checkout.files(*folders):
        if not ASIDE.search(path):
            add(found, literal_flags(checkout.tree(path)))
            changed |= changed_flags(checkout.tree(path))
    found.update((flag, None) for flag in changed if flag in found or flag in ours)
    return found


def kind_of_text(text):
    """What a key of a configuration file takes, by one value: a number, which may be whole by chance, or a truth."""
    if NUMBER.fullmatch(text):
        return "double"
    return "bool" if text.lower() in ("true", "false") else None


def settings_of(checkout, fields, keys):
    """The fields of dataclasses and the keys of YAML files: name to type. What no class has takes what all files write."""
    found, written, names = {}, {}, set()
    for path in checkout.files(*fields) if fields else []:
        add(found, settings_of_classes(checkout.tree(path)))
    for path in checkout.files(*keys, suffix=".yaml") if keys else []:
        for key, text in KEY.findall(checkout.text(path)):
            names.add(key)
            if not SILENT.fullmatch(text):
                add(written, [(key, kind_of_text(text))])
    return {**{key: written.get(key) for key in names}, **found}


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


def kept(text, member):
    """What a file lists already: name to type."""
    lines = re.search(rf"^{member}:\n((?:  - .*\n)*)", text, re.M)
    rows = [line[4:].split(" ", 1) for line in lines.group(1).splitlines()] if lines else []
    return {row[0]: row[1] if len(row) > 1 else None for row in rows}


def own_keys(settings, ours):
    """The keys that are no destination of Megatron-LM's, and those that are but take words of the program's own."""
    flag = "--{}".format
    own = re.compile("string|one of")
    return {k: t for k, t in settings.items() if own.match(t or "") or flag(k.replace("_", "-")) not in ours}


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
    parser.add_argument("--keep", action="store_true", help="what the file has of former releases stays")
    parser.add_argument("--within", nargs="+", default=[], metavar="FOLDER")
    args = parser.parse_args()
    checkout = Checkout(args.checkout, args.revision)
    ours = megatrons(args.file.resolve().parent.parent)
    flags = tagged_flags(checkout, args.tags) if args.tags else flags_of(checkout, ours, tuple(args.within))
    if args.also:
        add(flags, flags_of(Checkout(*args.also), ours).items())
    settings = settings_of(checkout, tuple(args.fields), tuple(args.keys))
    if not args.keys:
        add(flags, [("--" + name, kind) for name, kind in settings.items()])
    text = args.file.read_text()
    if args.tags or "\nchecks: megatron" in text:  # what Megatron-LM refuses is refused there
        flags = {flag: kind for flag, kind in flags.items() if flag not in ours}
    keys = own_keys(settings, ours)
    if args.keep:
        add(flags, kept(text, "flags").items())
        add(keys, kept(text, "keys").items())
    lines = [text.split("\ncommit:")[0].rstrip(), f'commit: "{checkout.commit[:8]}"', f'date: "{checkout.date}"']
    if not args.no_flags:
        lines += listed("flags", flags)
    if args.keys:
        lines += listed("keys", keys)
    args.file.write_text("\n".join(lines) + "\n")
    print(f"{args.file}: {len(flags)} flags, {len(settings)} settings")


if __name__ == "__main__":
    main()
