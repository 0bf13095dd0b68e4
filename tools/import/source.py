# SPDX-License-Identifier: Apache-2.0
"""What Python source says, read from its syntax tree: literals, dataclass fields, types, checks."""
import ast
import hashlib
import operator
import re

ARITHMETIC = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


class Computed(Exception):
    """The value of an expression follows only from running it."""


def literal(node):
    """The value of an expression of literals and arithmetic. Raises Computed for any other."""
    try:
        return plain(ast.literal_eval(node))
    except (ValueError, TypeError, MemoryError, RecursionError):
        pass
    if isinstance(node, ast.BinOp):
        left, right = literal(node.left), literal(node.right)
        if isinstance(node.op, ast.Pow) and max(abs(left), abs(right)) <= 64:
            return left**right
        if type(node.op) in ARITHMETIC:
            return ARITHMETIC[type(node.op)](left, right)
    if isinstance(node, ast.Call) and name_of(node.func) in ("float", "list", "dict", "tuple"):
        return empty_call(node)
    raise Computed(ast.unparse(node))


def empty_call(node):
    """list() and its like, and float("inf")."""
    made = {"list": [], "tuple": [], "dict": {}}
    if not node.args and not node.keywords and node.func.id in made:
        return made[node.func.id]
    if node.func.id == "float" and len(node.args) == 1:
        return repr(float(literal(node.args[0])))
    raise Computed(ast.unparse(node))


def plain(value):
    """A literal in JSON's types: tuples and sets are lists."""
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if value is Ellipsis or isinstance(value, (bytes, complex)):
        raise ValueError(value)
    return value


def value_of(node):
    """A literal, or {"code": text} for what only running can tell."""
    try:
        return literal(node)
    except Computed as code:
        return {"code": str(code)}


def name_of(node):
    """The last part of a dotted name; empty for anything else."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


# ---- classes ----


def classes(checkout, paths):
    """{name: (path, ClassDef)} of all classes in some files; the first of a name stands."""
    found = {}
    for path in paths:
        for node in ast.walk(checkout.tree(path)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, (path, node))
    return found


class Field:
    """A field of a dataclass: name, annotation (a node), default (a node or None) and metadata."""

    def __init__(self, node, path):
        self.name, self.annotation, self.path = node.target.id, node.annotation, path
        self.default, self.factory, self.metadata, self.init = node.value, None, None, True
        if isinstance(node.value, ast.Call) and name_of(node.value.func) == "field":
            words = {word.arg: word.value for word in node.value.keywords}
            self.default = words.get("default")
            self.factory = words.get("default_factory")
            self.metadata = words.get("metadata")
            self.init = "init" not in words or value_of(words["init"]) is not False

    def value(self):
        """The default in JSON's types; None where there is none, {"code": …} where it is computed."""
        if self.default is not None:
            return value_of(self.default)
        if self.factory is None:
            return None
        if isinstance(self.factory, ast.Lambda):
            return value_of(self.factory.body)
        return {"list": [], "dict": {}}.get(name_of(self.factory), {"code": ast.unparse(self.factory)})


def fields(name, known, seen=()):
    """{name: Field} of a dataclass, those it inherits first, as dataclasses order them."""
    if name not in known or name in seen:
        return {}
    path, node = known[name]
    found = {}
    for base in reversed(node.bases):
        found.update(fields(name_of(base), known, (*seen, name)))
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            if "ClassVar" not in ast.unparse(item.annotation):
                found[item.target.id] = Field(item, path)
    return found


def arguments(name, known):
    """[Field] of what the constructor of a plain class takes."""
    path, node = known.get(name, ("", ast.Module([], [])))
    made = [item for item in node.body if isinstance(item, ast.FunctionDef) and item.name == "__init__"]
    found = []
    for taken in (item.args for item in made):
        words = taken.args[1:]
        defaults = [None] * (len(words) - len(taken.defaults)) + taken.defaults
        for word, default in zip(words, defaults):
            if word.annotation is not None:
                target = ast.Name(word.arg)
                found.append(Field(ast.AnnAssign(target, word.annotation, default, 1), path))
    return found


# ---- types ----


def type_of(annotation, known):
    """{"type", "choices", "nargs"} of an annotation: int, float, str, bool, an enumeration (by its
    members' names), Literal, a list (nargs "+"), and any of them or None. "any": everything else."""
    text = ast.unparse(annotation).strip("'\"")
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return {"type": "any"}
    options = without_none(node)
    if len(options) != 1:
        return {"type": "any"}
    return type_of_one(options[0], known)


def without_none(node):
    """The alternatives of a union, None left out."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return without_none(node.left) + without_none(node.right)
    if isinstance(node, ast.Subscript) and name_of(node.value) in ("Optional", "Union"):
        inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        return [option for item in inside for option in without_none(item)]
    return [] if isinstance(node, ast.Constant) and node.value is None else [node]


def type_of_one(node, known):
    if isinstance(node, ast.Subscript):
        word = name_of(node.value)
        if word == "Literal":
            items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            choices = [value_of(item) for item in items]
            return {"type": type(choices[0]).__name__, "choices": choices}
        if word in ("list", "List"):
            return dict(type_of(node.slice, known), nargs="+")
        return {"type": "any"}
    name = name_of(node)
    if name in ("int", "float", "str", "bool"):
        return {"type": name}
    if name in known and any("Enum" in name_of(base) for base in known[name][1].bases):
        return {"type": "str", "choices": list(enum_members(known[name][1]))}
    return {"type": "any"}


def enum_members(node):
    """{name: value} of an enumeration, in its order."""
    return {
        item.targets[0].id: value_of(item.value)
        for item in node.body
        if isinstance(item, ast.Assign) and isinstance(item.targets[0], ast.Name)
    }


# ---- checks ----


def message_of(node):
    """The text that an expression makes, with {} for what is put into it; empty where it is none."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            part.value if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Mod)):
        right = message_of(node.right) if isinstance(node.op, ast.Add) else ""
        return message_of(node.left) + right
    if isinstance(node, ast.Call) and name_of(node.func) in ("format", "join"):
        return message_of(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    return ""


def one_line(text):
    return re.sub(r"\s+", " ", text).strip()


class Checks(ast.NodeVisitor):
    """Collects the assertions and raises of a file: {"file", "function", "text", "mark"} each. The
    text is its message, or its condition where it has none; the mark changes when what is asked
    does, whatever the message."""

    def __init__(self, path):
        self.path, self.found = path, []
        self.functions, self.conditions = [], []

    def visit_FunctionDef(self, node):
        conditions, self.conditions = self.conditions, []
        self.functions.append(node.name)
        self.generic_visit(node)
        self.functions.pop()
        self.conditions = conditions

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_If(self, node):
        condition = ast.unparse(node.test)
        self._under(condition, node.body)
        self._under(f"not ({condition})", node.orelse)

    def _under(self, condition, body):
        self.conditions.append(condition)
        for item in body:
            self.visit(item)
        self.conditions.pop()

    def visit_Assert(self, node):
        condition = ast.unparse(node.test)
        self._add(message_of(node.msg) if node.msg else "", condition)

    def visit_Raise(self, node):
        arguments = node.exc.args if isinstance(node.exc, ast.Call) else []
        message = message_of(arguments[0]) if arguments else ""
        if node.exc is not None:
            self._add(message, self.conditions[-1] if self.conditions else ast.unparse(node.exc))

    def _add(self, message, condition):
        if not self.functions:
            return
        asked = "\n".join([*self.conditions, condition])
        self.found.append(
            {
                "file": self.path,
                "function": self.functions[-1],
                "text": one_line(message) or one_line(condition),
                "mark": hashlib.sha256(asked.encode()).hexdigest()[:6],
            }
        )


def checks(checkout, paths, functions=None):
    """The checks of some files, in the order of the source; `functions` (a pattern that a
    function's whole name matches) leaves out the others."""
    found = []
    for path in paths:
        reader = Checks(path)
        reader.visit(checkout.tree(path))
        found += [c for c in reader.found if not functions or re.fullmatch(functions, c["function"])]
    return found


# ---- environment ----


def pinned(checkout, package, lock="uv.lock"):
    """The version of a package in the lock file, without its local part; None where it has none."""
    text = checkout.text(lock) or ""
    for block in text.split("[[package]]")[1:]:
        if re.search(rf'^name = "{re.escape(package)}"$', block, re.M):
            version = re.search(r'^version = "([^"+]*)', block, re.M)
            return version.group(1) if version else None
    return None


def environment(checkout):
    """The versions of Transformer Engine and PyTorch that the checkout's own lock file pins."""
    names = {"transformer_engine_version": "transformer-engine", "torch_version": "torch"}
    pins = {name: pinned(checkout, package) for name, package in names.items()}
    return {name: pin for name, pin in pins.items() if pin}
