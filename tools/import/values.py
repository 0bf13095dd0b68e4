# SPDX-License-Identifier: Apache-2.0
"""What names of walked Python source (evaluate.py) stand for: plain values of Python, and these."""
PLAIN = (str, int, float, bool, type(None), list, tuple, dict, set, frozenset, bytes, range)
OF_OBJECT = ("__init__", "__post_init__", "__setattr__", "__getattribute__", "__init_subclass__")


class _Unknown:
    """A value that the source does not decide."""

    def __repr__(self):
        return "UNKNOWN"

    def __bool__(self):
        raise Undecided()

    def __deepcopy__(self, memo):
        return self


UNKNOWN = _Unknown()


class Undecided(Exception):
    """UNKNOWN where a decision is needed."""


class Raised(Exception):
    """The source raises: with the name of the exception's class."""


class Unsupported(Exception):
    """Source that this evaluator does not walk."""


class External:
    """A name of a package that is not walked: equal to itself only."""

    def __init__(self, path):
        self.path = path

    def __eq__(self, other):
        return isinstance(other, External) and other.path == self.path

    def __hash__(self):
        return hash(self.path)

    def __repr__(self):
        return self.path


class Module:
    def __init__(self, name, package):
        self.name, self.package, self.names = name, package, {}


class Function:
    def __init__(self, node, module, scope, owner=None):
        self.node, self.module, self.scope, self.owner = node, module, scope, owner
        self.kind, self.attributes = "", {"__name__": getattr(node, "name", "<lambda>"), "__module__": module.name}


class Bound:
    def __init__(self, function, receiver):
        self.function, self.receiver = function, receiver


class Partial:
    def __init__(self, function, args, kwargs):
        self.function, self.args, self.kwargs = function, args, kwargs


class Field:
    """dataclasses.field()."""

    def __init__(self, default, factory, init):
        self.default, self.factory, self.init = default, factory, init


class Class:
    def __init__(self, name, module, bases):
        self.name, self.module, self.bases = name, module, bases
        self.own, self.fields, self.dataclass = {}, {}, False  # fields: name -> annotation's source
        self.line = [self] + merged([b.line for b in bases if isinstance(b, Class)])
        self.outside = any(not isinstance(b, Class) and b != External("object") for b in bases) or any(
            c.outside for c in self.line[1:])

    def find(self, name):
        for c in self.line:
            if name in c.own:
                return c.own[name], c
        return None, None

    def is_enum(self):
        return any(isinstance(b, External) and b.path.startswith("enum.") for c in self.line for b in c.bases)

    def all_fields(self):
        """Of a dataclass: name -> class that has it, in the order of the constructor."""
        found = {}
        for c in reversed(self.line):
            if c.dataclass:
                found.update((name, c) for name in c.fields)
        return found

    def __repr__(self):
        return f"{self.module.name}.{self.name}"


class Object:
    def __init__(self, cls, born=0):
        self.cls, self.fields, self.born = cls, {}, born  # born: under how many conditions
        self.open = False  # something unknown has had it

    def __repr__(self):
        return f"<{self.cls.name}>"


class Member:
    """Of an enumeration."""

    def __init__(self, cls, name, value):
        self.cls, self.name, self.value = cls, name, value

    def __repr__(self):
        return f"{self.cls.name}.{self.name}"


def merged(lines):
    """The bases' own lines of classes as one, each before what it stands on."""
    out, lines = [], [list(line) for line in lines if line]
    while lines:
        head = next((line[0] for line in lines if not any(line[0] in other[1:] for other in lines)), lines[0][0])
        out.append(head)
        lines = [[c for c in line if c is not head] for line in lines]
        lines = [line for line in lines if line]
    return out


def same(a, b):
    """Whether two values are known to be one."""
    if a is b:
        return True
    if isinstance(a, (Object, Function, Class)) or isinstance(b, (Object, Function, Class)):
        return False
    try:
        return type(a) is type(b) and not holds_unknown(a) and bool(a == b)
    except Undecided:
        return False


def holds_unknown(value, depth=0):
    if value is UNKNOWN or depth > 20:
        return True
    if isinstance(value, dict):
        return any(holds_unknown(v, depth + 1) for pair in value.items() for v in pair)
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(holds_unknown(v, depth + 1) for v in value)
    return False


class Fill:
    """Stands for the constructor that a dataclass gets."""
