# SPDX-License-Identifier: Apache-2.0
"""What Python source says, worked out without running it: the functions of a tree at a revision are walked as `ast`, with values
where the source decides them and UNKNOWN where it does not (the machine, the environment, files, other packages).

Both ways of a condition that is UNKNOWN are walked, and what they leave different is UNKNOWN afterwards. Nothing of the
source is imported or executed; only builtins and methods of plain values (text, numbers, lists, dicts) are called.
"""
import ast
import builtins
import math
import operator


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


class _Return(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


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
    if UNKNOWN in (type(a), type(b)) or isinstance(a, (Object, Function, Class)) or isinstance(b, (Object, Function, Class)):
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


PLAIN = (str, int, float, bool, type(None), list, tuple, dict, set, frozenset, bytes, range)
BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
          ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitOr: operator.or_,
          ast.BitAnd: operator.and_, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitXor: operator.xor}
COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
HOST = {n: getattr(builtins, n) for n in (
    "len range enumerate zip dict list set tuple str int float bool min max sum any all sorted reversed abs round frozenset "
    "repr divmod map filter iter next").split()}
OF_OBJECT = ("__init__", "__post_init__", "__setattr__", "__getattribute__", "__init_subclass__")
TYPES = {n: getattr(builtins, n) for n in "str int float bool list tuple dict set frozenset bytes".split()}
MOST_STEPS = 3_000_000


class Evaluator:
    """`tree(path)` gives a file's text or None; `roots` the package prefixes that are walked with the folder of each:
    {"megatron.bridge": (tree, "src/megatron/bridge")}. `intrinsic(evaluator, function, args, kwargs)` may answer a call in the
    source's place, or return NotImplemented; `values` are what External names are known to be."""

    def __init__(self, roots, intrinsic=None, values=None):
        self.roots, self.intrinsic, self.values = roots, intrinsic, values or {}
        self.modules, self.files, self.maybe, self.depth, self.steps = {}, {}, 0, 0, 0

    # ---- modules ----

    def file_of(self, name):
        """The text of a module's file and whether it is a package's; None where it is outside."""
        if name not in self.files:
            self.files[name] = self.found(name)
        return self.files[name]

    def found(self, name):
        for prefix, (tree, folder) in self.roots.items():
            if name == prefix or name.startswith(prefix + "."):
                base = folder + name[len(prefix):].replace(".", "/")
                for path, package in ((base + "/__init__.py", True), (base + ".py", False)):
                    text = tree(path)
                    if text is not None:
                        return text, package
        return None, False

    def module(self, name):
        """The module, walked; None when it is outside."""
        if name in self.modules:
            return self.modules[name]
        text, package = self.file_of(name)
        if text is None:
            self.modules[name] = None
            return None
        module = self.modules[name] = Module(name, package)
        module.names["__name__"] = name
        depth, maybe = self.depth, self.maybe
        self.depth, self.maybe = 0, 0
        frame = Frame(self, module, module.names, None)
        for statement in ast.parse(text).body:
            try:
                frame.execute(statement)
            except (Unsupported, Undecided, Raised, RecursionError):
                frame.forget(statement)
        self.depth, self.maybe = depth, maybe
        return module

    def name_in(self, module_name, name):
        """What `from module_name import name` means."""
        module = self.module(module_name)
        if module is None:
            return self.external(f"{module_name}.{name}")
        if name in module.names:
            return module.names[name]
        inner = self.module(f"{module_name}.{name}")
        if inner is not None:
            return inner
        lazy = module.names.get("__getattr__")
        return self.call(lazy, [name], {}) if isinstance(lazy, Function) else UNKNOWN

    def external(self, path):
        return self.values.get(path, External(path))

    # ---- attributes ----

    def attribute(self, value, name):
        if value is UNKNOWN:
            return UNKNOWN
        if isinstance(value, External):
            return self.external(f"{value.path}.{name}")
        if isinstance(value, Module):
            return self.name_in(value.name, name)
        if isinstance(value, Object):
            return self.attribute_of_object(value, name)
        if isinstance(value, Class):
            return self.attribute_of_class(value, name)
        if isinstance(value, Member):
            return {"name": value.name, "value": value.value}.get(name, UNKNOWN)
        if isinstance(value, Function):
            return value.attributes.get(name, UNKNOWN)
        if isinstance(value, PLAIN):
            if not hasattr(value, name):
                raise Raised("AttributeError")
            return Bound(getattr(type(value), name), value)
        return UNKNOWN

    def attribute_of_object(self, value, name):
        if name == "__class__":
            return value.cls
        if name == "__dict__":
            return UNKNOWN if value.open else value.fields
        if name in value.fields:
            return value.fields[name]
        found, owner = value.cls.find(name)
        if owner is None:
            lazy, at = value.cls.find("__getattr__")
            if at and name[:2] != "__":
                return self.call(lazy, [value, name], {})
            if value.open or value.cls.outside:
                return UNKNOWN
            if name in OF_OBJECT:
                return External("object.method")
            raise Raised("AttributeError")
        return self.bind(found, value, value.cls)

    def attribute_of_class(self, cls, name):
        if name == "__name__":
            return cls.name
        if name in ("__dataclass_fields__", "__annotations__"):
            return dict.fromkeys(cls.all_fields(), UNKNOWN)
        found, owner = cls.find(name)
        made = next((c for c in cls.line if c.dataclass), None)
        if name == "__init__" and made and (owner is None or cls.line.index(made) < cls.line.index(owner)):
            return Bound(Fill, None)
        if owner is None:
            if cls.outside:
                return UNKNOWN
            if name in OF_OBJECT:
                return External("object.method")
            raise Raised("AttributeError")
        if isinstance(found, Field):
            return UNKNOWN
        return self.bind(found, None, cls)

    def bind(self, found, receiver, cls):
        if isinstance(found, Function):
            if found.kind == "property" and receiver is not None:
                return self.call(found, [receiver], {})
            if found.kind == "class":
                return Bound(found, cls)
            if found.kind != "static" and receiver is not None:
                return Bound(found, receiver)
        return found

    def set_attribute(self, value, name, new, plain=False):
        if isinstance(value, Object):
            own, owner = value.cls.find("__setattr__")
            if owner and not plain:
                self.call(own, [value, name, new], {})
                return
            old = value.fields.get(name, value.cls.find(name)[0] if value.cls.find(name)[1] else new)
            value.fields[name] = self.joined(old, new, value.born)
        elif isinstance(value, (Function, Class)):
            (value.attributes if isinstance(value, Function) else value.own)[name] = new

    def joined(self, old, new, since=0):
        """What a name has after an assignment that may not have happened: under more conditions than its owner was made."""
        return new if self.maybe <= since or same(old, new) else UNKNOWN

    def has_attribute(self, value, name):
        if value is UNKNOWN or isinstance(value, External):
            return UNKNOWN
        try:
            found = self.attribute(value, name)
        except Raised:
            return False
        lost = found is UNKNOWN and isinstance(value, Object) and name not in value.fields
        return UNKNOWN if lost and value.cls.find(name)[1] is None else True

    # ---- calls ----

    def call(self, function, args, kwargs):
        if self.intrinsic:
            answer = self.intrinsic(self, function, args, kwargs)
            if answer is not NotImplemented:
                return answer
        if isinstance(function, Partial):
            return self.call(function.function, [*function.args, *args], {**function.kwargs, **kwargs})
        if isinstance(function, Bound):
            if isinstance(function.function, Function):
                return self.call(function.function, [function.receiver, *args], kwargs)
            return self.call_method(function, args, kwargs)
        if isinstance(function, Class):
            return self.construct(function, args, kwargs)
        if isinstance(function, Function):
            return self.call_function(function, args, kwargs)
        if isinstance(function, External):
            return self.call_external(function, args, kwargs)
        if isinstance(function, Object):
            inner, owner = function.cls.find("__call__")
            if owner:
                return self.call(inner, [function, *args], kwargs)
        self.open_all([*args, *kwargs.values()])
        return UNKNOWN

    def call_method(self, bound, args, kwargs):
        """A method of a plain value. What changes the value in a branch that may not be taken leaves it open."""
        name = bound.function.__name__
        if holds_unknown([*args, *kwargs.values()]) and name not in (
                "append", "extend", "insert", "update", "setdefault", "get", "pop", "add", "items", "keys", "values"):
            return UNKNOWN
        if isinstance(bound.receiver, dict) and self.maybe and self.perhaps_in(bound.receiver, name, args, kwargs):
            return UNKNOWN
        if self.maybe and name in ("append", "extend", "insert", "update", "pop", "setdefault", "add", "remove", "clear"):
            self.blur(bound.receiver)
            return UNKNOWN
        if args and args[0] is UNKNOWN and name in ("get", "pop", "setdefault", "extend", "update", "add"):
            if name != "get":
                self.blur(bound.receiver)
            return UNKNOWN
        try:
            if any(callable(a) or isinstance(a, Function) for a in [*args, *kwargs.values()]):
                return UNKNOWN
            result = bound.function(bound.receiver, *args, **kwargs)
        except Undecided:
            return UNKNOWN
        except Exception as error:
            raise Raised(type(error).__name__) from error
        return list(result) if isinstance(result, (type({}.items()), type({}.keys()), type({}.values()))) else result

    def perhaps_in(self, found, name, args, kwargs):
        """A change of a dict that may not happen, where its keys are known; false for any other."""
        if name == "update" and all(isinstance(a, dict) and UNKNOWN not in a for a in args):
            for new in [*args, kwargs]:
                found.update((k, self.joined(found.get(k), v)) for k, v in new.items())
            return True
        if name in ("pop", "setdefault") and isinstance(args[0], str):
            found[args[0]] = UNKNOWN
            return True
        return False

    @staticmethod
    def blur(value):
        """A list or dict of which it is not known what is in it: it holds UNKNOWN."""
        if isinstance(value, list):
            value.append(UNKNOWN)
        elif isinstance(value, dict):
            value[UNKNOWN] = UNKNOWN

    def open_all(self, values, depth=0):
        """Something that is not walked has had these: their fields may be anything now."""
        for value in values:
            if isinstance(value, Object) and not value.open:
                value.open = True
                self.open_all(value.fields.values())
                value.fields = dict.fromkeys(value.fields, UNKNOWN)
            elif isinstance(value, (list, tuple, dict)) and depth < 5:
                self.open_all(value.values() if isinstance(value, dict) else value, depth + 1)

    HARMLESS = ("logging.", "warnings.", "os.", "math.", "object.", "re.", "typing.", "pathlib.", "dataclasses.", "functools.", "inspect.",
                "transformers.", "torch.", "time.", "json.")

    def call_external(self, function, args, kwargs):
        path = function.path
        if path in ("builtins.object.__setattr__", "object.method.__setattr__") and len(args) == 3:
            return self.set_attribute(*args, plain=True)
        if path == "builtins.object.__getattribute__" and isinstance(args[0], Object):
            if args[1] not in args[0].fields and not args[0].open and not args[0].cls.find(args[1])[1]:
                raise Raised("AttributeError")
            return args[0].fields.get(args[1], UNKNOWN)
        if path in ("dataclasses.field", "field"):
            return Field(kwargs.get("default", Field), kwargs.get("default_factory"), kwargs.get("init", True))
        if path == "functools.partial" and args:
            return Partial(args[0], args[1:], kwargs)
        if path in ("copy.deepcopy", "copy.copy"):
            return self.copied(args[0], path == "copy.deepcopy", {})
        if path == "dataclasses.replace" and isinstance(args[0], Object):
            new = self.copied(args[0], False, {})
            for name, value in kwargs.items():
                self.set_attribute(new, name, value)
            return new
        if path in ("dataclasses.fields",) and isinstance(args[0], (Object, Class)):
            cls = args[0].cls if isinstance(args[0], Object) else args[0]
            return [self.named(name) for name in cls.all_fields()]
        if path == "dataclasses.is_dataclass":
            cls = args[0].cls if isinstance(args[0], Object) else args[0]
            return any(c.dataclass for c in cls.line) if isinstance(cls, Class) else UNKNOWN if cls is UNKNOWN else False
        if path.startswith("math.") and hasattr(math, path[5:]):
            return UNKNOWN if holds_unknown(args) else getattr(math, path[5:])(*args)
        if path in ("typing.cast", "cast"):
            return args[1]
        if path.startswith("builtins."):
            return self.call_builtin(path[9:], args, kwargs)
        if not path.startswith(self.HARMLESS) and ".logger." not in path:
            self.open_all([*args, *kwargs.values()])
        return UNKNOWN

    def named(self, name):
        thing = Object(Class("Field", Module("dataclasses", False), [External("x")]))
        thing.fields["name"] = name
        return thing

    def copied(self, value, deep, done):
        if id(value) in done:
            return done[id(value)]
        if isinstance(value, Object):
            new = done[id(value)] = Object(value.cls, self.maybe)
            new.open = value.open
            new.fields = {k: self.copied(v, True, done) if deep else v for k, v in value.fields.items()}
            return new
        if isinstance(value, dict):
            return {k: self.copied(v, True, done) if deep else v for k, v in value.items()}
        if isinstance(value, (list, tuple, set)):
            return type(value)(self.copied(v, True, done) if deep else v for v in value)
        return value

    def call_builtin(self, name, args, kwargs):
        special = getattr(self, f"builtin_{name}", None)
        if special:
            return special(*args, **kwargs)
        if name not in HOST:
            return Object(Class(name, Module("builtins", False), [External("x")])) if name.endswith("Error") else UNKNOWN
        inner = [a for a in args if isinstance(a, (list, tuple, dict, set))]
        if any(a is UNKNOWN for a in args) or (name in ("any", "all", "min", "max", "sum", "sorted") and holds_unknown(inner)):
            return self.some(name, args)
        if any(isinstance(a, (Function, Bound, Partial)) for a in [*args, *kwargs.values()]):
            return self.host_with_function(name, args, kwargs)
        try:
            if name in ("str", "repr") and args and not isinstance(args[0], PLAIN):
                return UNKNOWN
            result = HOST[name](*args, **kwargs)
            return result if isinstance(result, PLAIN) else list(result)
        except Undecided:
            return UNKNOWN
        except Exception as error:
            raise Raised(type(error).__name__) from error

    @staticmethod
    def some(name, args):
        """any() and all() where one of the values decides."""
        if name in ("any", "all") and isinstance(args[0], (list, tuple)):
            if any(v is not UNKNOWN and isinstance(v, PLAIN) and bool(v) == (name == "any") for v in args[0]):
                return name == "any"
        return UNKNOWN

    def host_with_function(self, name, args, kwargs):
        if name == "map":
            return [self.call(args[0], list(items), {}) for items in zip(*args[1:])]
        if name in ("sorted", "min", "max") and "key" in kwargs:
            keyed = [(self.call(kwargs["key"], [v], {}), v) for v in args[0]]
            if holds_unknown([k for k, _ in keyed]):
                return UNKNOWN
            ordered = HOST[name](keyed, key=lambda pair: pair[0])
            return [v for _, v in ordered] if name == "sorted" else ordered[1]
        return UNKNOWN

    def builtin_isinstance(self, value, kinds):
        if value is UNKNOWN or kinds is UNKNOWN:
            return UNKNOWN
        answers = [self.is_a(value, kind) for kind in (kinds if isinstance(kinds, tuple) else (kinds,))]
        return True if True in answers else UNKNOWN if UNKNOWN in answers else False

    def is_a(self, value, kind):
        if isinstance(kind, External):
            plain = TYPES.get(kind.path.removeprefix("builtins."))
            if plain:
                return isinstance(value, plain)
            known = isinstance(value, PLAIN) or (isinstance(value, Object) and not value.cls.outside)
            return False if known and not kind.path.startswith(("typing.", "collections.")) else UNKNOWN
        cls = value.cls if isinstance(value, (Object, Member)) else None
        if isinstance(kind, Class):
            return cls is not None and kind in cls.line
        return UNKNOWN

    def builtin_issubclass(self, cls, kinds):
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        if not isinstance(cls, Class) or not all(isinstance(k, Class) for k in kinds):
            return UNKNOWN
        return any(k in cls.line for k in kinds)

    def builtin_hasattr(self, value, name):
        return self.has_attribute(value, name)

    def builtin_getattr(self, value, name, *default):
        if name is UNKNOWN:
            return UNKNOWN
        there = self.has_attribute(value, name)
        if there is UNKNOWN:
            return UNKNOWN
        if there:
            return self.attribute(value, name)
        if default:
            return default[0]
        raise Raised("AttributeError")

    def builtin_setattr(self, value, name, new):
        if name is UNKNOWN:
            self.open_all([value])
        else:
            self.set_attribute(value, name, new)

    def builtin_type(self, value, *rest):
        return value.cls if isinstance(value, (Object, Member)) else UNKNOWN

    def builtin_callable(self, value):
        return UNKNOWN if value is UNKNOWN else isinstance(value, (Function, Bound, Partial, Class))

    def builtin_print(self, *args, **kwargs):
        return None

    def builtin_vars(self, value):
        return value.fields if isinstance(value, Object) and not value.open else UNKNOWN

    def construct(self, cls, args, kwargs):
        if cls.is_enum():
            members = [v for c in cls.line for v in c.own.values() if isinstance(v, Member)]
            return next((m for m in members if same(m.value, args[0]) or m is args[0]), UNKNOWN) if args else UNKNOWN
        new = Object(cls, self.maybe)
        own, owner = cls.find("__init__")
        made = [c for c in cls.line if c.dataclass]
        if owner and (not made or cls.line.index(owner) <= cls.line.index(made[0])) and isinstance(own, Function):
            self.call(own, [new, *args], kwargs)
        elif made:
            self.fill(new, args, kwargs)
        elif cls.outside:
            new.open = True
            self.open_all([*args, *kwargs.values()])
            new.fields.update(kwargs)
        return new

    def fill(self, new, args, kwargs):
        """What the constructor of a dataclass does."""
        fields, given = new.cls.all_fields(), dict(kwargs)
        given.update(zip(fields, args))
        new.open = UNKNOWN in given
        given = {k: v for k, v in given.items() if k in fields or v is not UNKNOWN}  # such a key may not be there
        if any(name not in fields for name in given) and not new.cls.outside:
            raise Raised("TypeError")
        for name in fields:
            default = new.cls.find(name)[0]
            if name in given:
                new.fields[name] = given[name]
            elif isinstance(default, Field):
                new.fields[name] = (self.call(default.factory, [], {}) if default.factory is not None
                                    else UNKNOWN if default.default is Field else default.default)
            else:
                new.fields[name] = default if new.cls.find(name)[1] else UNKNOWN
        after, owner = new.cls.find("__post_init__")
        if owner:
            self.call(after, [new], {})

    def call_function(self, function, args, kwargs):
        if self.depth > 60:
            raise Unsupported("too deep")
        scope = {}
        frame = Frame(self, function.module, scope, function)
        self.depth += 1
        maybe = self.maybe
        try:
            frame.take_arguments(args, kwargs)
            if isinstance(function.node, ast.Lambda):
                return frame.value(function.node.body)
            return frame.run()
        except (Unsupported, Undecided, RecursionError):
            self.open_all([*args, *kwargs.values()])
            return UNKNOWN
        finally:
            self.depth -= 1
            self.maybe = maybe


class Frame:
    """A function, class or module while its statements are walked."""

    def __init__(self, evaluator, module, names, function):
        self.e, self.module, self.names, self.function = evaluator, module, names, function
        self.returns, self.since = [], evaluator.maybe

    # ---- functions ----

    def take_arguments(self, args, kwargs):
        spec, kwargs, args = self.function.node.args, dict(kwargs), list(args)
        outer = Frame(self.e, self.module, self.function.scope, None)
        plain = [*spec.posonlyargs, *spec.args]
        defaults = dict(zip([a.arg for a in plain[len(plain) - len(spec.defaults):]], spec.defaults))
        defaults.update((a.arg, d) for a, d in zip(spec.kwonlyargs, spec.kw_defaults) if d is not None)
        for a in plain:
            if args:
                self.names[a.arg] = args.pop(0)
        if spec.vararg:
            self.names[spec.vararg.arg] = tuple(args)
        elif args:
            raise Raised("TypeError")
        lost = kwargs.pop(UNKNOWN, None) is not None
        for a in [*plain, *spec.kwonlyargs]:
            if a.arg in kwargs:
                self.names[a.arg] = kwargs.pop(a.arg)
            elif a.arg not in self.names:
                if a.arg not in defaults and not lost:
                    raise Raised("TypeError")
                self.names[a.arg] = UNKNOWN if lost else outer.value(defaults[a.arg])
        if spec.kwarg:
            self.names[spec.kwarg.arg] = kwargs
        elif kwargs:
            raise Raised("TypeError")

    def run(self):
        node = self.function.node
        if any(isinstance(n, (ast.Yield, ast.YieldFrom, ast.Await)) for n in ast.walk(node)):
            raise Unsupported("generator")
        try:
            self.execute_all(node.body)
            result = None
        except _Return as done:
            result = done.value
        for other in self.returns:
            result = result if same(result, other) else UNKNOWN
        return result

    # ---- statements ----

    def execute_all(self, body):
        for statement in body:
            self.execute(statement)

    def execute(self, node):
        self.e.steps += 1
        if self.e.steps > MOST_STEPS:
            raise Unsupported("too long")
        method = getattr(self, f"do_{type(node).__name__}", None)
        if not method:
            raise Unsupported(type(node).__name__)
        method(node)

    def forget(self, statement):
        """What a statement that cannot be walked would have named is UNKNOWN."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                self.names[node.id] = UNKNOWN
            elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                self.names.setdefault(node.name, UNKNOWN)

    def do_Pass(self, node):
        pass

    do_Global = do_Nonlocal = do_Pass

    def do_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Assign(self, node):
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node):
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def do_AugAssign(self, node):
        old = self.value(ast.copy_location(self.loaded(node.target), node))
        self.assign(node.target, self.binary(type(node.op), old, self.value(node.value)))

    @staticmethod
    def loaded(target):
        fields = {f: getattr(target, f) for f in target._fields}
        return type(target)(**{**fields, "ctx": ast.Load()})

    def assign(self, target, value):
        if isinstance(target, ast.Name):
            self.names[target.id] = self.e.joined(self.names.get(target.id, value), value, self.since)
        elif isinstance(target, ast.Attribute):
            self.e.set_attribute(self.value(target.value), target.attr, value)
        elif isinstance(target, ast.Subscript):
            self.assign_item(self.value(target.value), self.value(target.slice), value)
        elif isinstance(target, (ast.Tuple, ast.List)):
            items = value if isinstance(value, (list, tuple)) and len(value) == len(target.elts) else None
            for i, inner in enumerate(target.elts):
                self.assign(inner, UNKNOWN if items is None else items[i])
        else:
            raise Unsupported("target")

    def assign_item(self, container, key, value):
        if isinstance(container, dict) and key is not UNKNOWN:
            container[key] = self.e.joined(container.get(key), value)
        elif isinstance(container, list) and isinstance(key, int) and -len(container) <= key < len(container):
            container[key] = self.e.joined(container[key], value)
        else:
            self.e.blur(container)

    def do_Delete(self, node):
        for target in node.targets:
            if isinstance(target, ast.Attribute):
                thing = self.value(target.value)
                if isinstance(thing, Object):
                    thing.fields[target.attr] = UNKNOWN if self.e.maybe else thing.fields.pop(target.attr, UNKNOWN)
                    if not self.e.maybe:
                        thing.fields.pop(target.attr)
            elif isinstance(target, ast.Subscript):
                container, key = self.value(target.value), self.value(target.slice)
                if isinstance(container, dict) and not self.e.maybe and key in container:
                    del container[key]
                else:
                    self.e.blur(container)
            elif isinstance(target, ast.Name):
                self.names.pop(target.id, None)

    def truth(self, value):
        """True, False or UNKNOWN."""
        if value is UNKNOWN or isinstance(value, External):
            return UNKNOWN
        if isinstance(value, PLAIN):
            return UNKNOWN if isinstance(value, (list, dict, set)) and value and holds_unknown(value) else bool(value)
        return True

    def do_If(self, node):
        answer = self.truth(self.value(node.test))
        if answer is UNKNOWN:
            self.perhaps(node.body)
            self.perhaps(node.orelse)
        else:
            self.execute_all(node.body if answer else node.orelse)

    def perhaps(self, body):
        """Statements that may not run. What leaves the function there leaves the rest uncertain; what raises is no run at all."""
        self.e.maybe += 1
        keep = False
        try:
            self.execute_all(body)
        except _Return as done:
            self.returns.append(done.value)
            keep = True
        except (_Break, _Continue):
            keep = True
        except Raised:
            pass
        finally:
            if not keep:  # else until the function ends: call_function puts it back
                self.e.maybe -= 1

    def do_For(self, node):
        items = self.value(node.iter)
        if isinstance(items, dict):
            items = list(items)
        if not isinstance(items, (list, tuple, range, set, frozenset, str)):
            self.assign(node.target, UNKNOWN)
            self.perhaps(node.body)
            return
        for item in list(items):
            self.assign(node.target, item)
            if not self.turn(node.body):
                return
        self.execute_all(node.orelse)

    def turn(self, body):
        """One turn of a loop; False: it ends the loop."""
        try:
            self.execute_all(body)
        except _Continue:
            pass
        except _Break:
            return False
        return True

    def do_While(self, node):
        for _ in range(10000):
            answer = self.truth(self.value(node.test))
            if answer is UNKNOWN:
                self.perhaps(node.body)
                return
            if not answer or not self.turn(node.body):
                return
        raise Unsupported("endless")

    def do_Break(self, node):
        raise _Break()

    def do_Continue(self, node):
        raise _Continue()

    def do_Return(self, node):
        raise _Return(self.value(node.value) if node.value else None)

    def do_Raise(self, node):
        name = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
        raise Raised(getattr(name, "id", getattr(name, "attr", "")) if name is not None else "")

    def do_Assert(self, node):
        if self.truth(self.value(node.test)) is False:
            raise Raised("AssertionError")

    def do_With(self, node):
        for item in node.items:
            self.value(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, UNKNOWN)
        self.execute_all(node.body)

    def do_Try(self, node):
        imports = any(isinstance(n, (ast.Import, ast.ImportFrom)) and self.is_outside(n) for n in node.body)
        try:
            self.execute_all(node.body)
            if imports:  # whether the package is there is not for us to say
                for handler in node.handlers:
                    self.perhaps(handler.body)
            else:
                self.execute_all(node.orelse)
        except Raised as error:
            self.handle(node, str(error))
        self.execute_all(node.finalbody)

    def handle(self, node, name):
        for handler in node.handlers:
            kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            names = [getattr(k, "id", getattr(k, "attr", "")) for k in kinds if k is not None]
            if not names or name in names or "Exception" in names or "BaseException" in names:
                if handler.name:
                    self.names[handler.name] = UNKNOWN
                self.execute_all(handler.body)
                return
        raise Raised(name)

    def is_outside(self, node):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        return any(self.e.file_of(n)[0] is None for n in names)

    def do_Import(self, node):
        for a in node.names:
            name = a.name if a.asname else a.name.split(".")[0]
            self.names[a.asname or name] = self.package(name)

    def package(self, name):
        inside = self.e.module(name) if self.e.file_of(name)[0] is not None else None
        return inside or External(name)

    def do_ImportFrom(self, node):
        base = node.module or ""
        if node.level:
            parts = self.module.name.split(".")
            parts = parts[:len(parts) - node.level + (1 if self.module.package else 0)]
            base = ".".join([*parts, *([node.module] if node.module else [])])
        for a in node.names:
            if a.name == "*":
                module = self.e.module(base)
                if module:
                    self.names.update((k, v) for k, v in module.names.items() if k[0] != "_")
            else:
                self.names[a.asname or a.name] = self.e.name_in(base, a.name)

    def do_FunctionDef(self, node):
        scope = self.names if self.function is None else {**self.function.scope, **self.names}
        function = Function(node, self.module, scope)
        self.names[node.name] = self.decorated(node, function)

    def decorated(self, node, value):
        for d in reversed(node.decorator_list):
            name = ast.unparse(d.func if isinstance(d, ast.Call) else d)
            short = name.rsplit(".", 1)[-1]
            if short in ("staticmethod", "classmethod", "property", "cached_property"):
                value.kind = {"staticmethod": "static", "classmethod": "class"}.get(short, "property")
            elif short == "dataclass" and isinstance(value, Class):
                value.dataclass = True
            elif short in ("setter", "wraps", "lru_cache", "cache", "abstractmethod", "overload", "experimental_fn",
                           "deprecated", "experimental_cls", "override"):
                continue
            else:
                decorator = self.value(d)
                if isinstance(decorator, (Function, Bound)):
                    new = self.e.call(decorator, [value], {})
                    value = new if isinstance(new, (Function, Class)) else value
        return value

    def do_ClassDef(self, node):
        bases = [self.value(b.value if isinstance(b, ast.Subscript) else b) for b in node.bases]
        bases = [External("unknown") if b is UNKNOWN else b for b in bases]
        bases = [b for b in bases if not (isinstance(b, External) and b.path in ("typing.Generic", "abc.ABC", "typing.Protocol"))]
        cls = Class(node.name, self.module, bases)
        body = Frame(self.e, self.module, cls.own, None)
        body.outer = self
        for statement in node.body:
            try:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    kind = ast.unparse(statement.annotation)
                    if not kind.startswith(("ClassVar", "typing.ClassVar")):
                        cls.fields[statement.target.id] = kind
                body.execute(statement)
            except (Unsupported, Undecided, Raised):
                body.forget(statement)
        for value in cls.own.values():
            if isinstance(value, Function) and value.owner is None:
                value.owner, value.scope = cls, self.names if self.function is None else {**self.function.scope, **self.names}
        if cls.is_enum():
            self.make_members(cls)
        self.names[node.name] = self.decorated(node, cls)

    def make_members(self, cls):
        for i, (name, value) in enumerate(list(cls.own.items())):
            if not isinstance(value, Function) and name[0] != "_":
                auto = value is UNKNOWN
                cls.own[name] = Member(cls, name, i + 1 if auto else value)

    # ---- expressions ----

    def value(self, node):
        self.e.steps += 1
        method = getattr(self, f"of_{type(node).__name__}", None)
        if not method:
            raise Unsupported(type(node).__name__)
        return method(node)

    def of_Constant(self, node):
        return node.value

    def of_Name(self, node):
        frame = self
        while frame is not None:
            if node.id in frame.names:
                return frame.names[node.id]
            frame = getattr(frame, "outer", None)
        if self.function is not None and node.id in self.function.scope:
            return self.function.scope[node.id]
        if node.id in self.module.names:
            return self.module.names[node.id]
        if hasattr(builtins, node.id):
            return External(f"builtins.{node.id}")
        if self.e.maybe or self.returns:
            return UNKNOWN
        raise Raised("NameError")

    def of_Attribute(self, node):
        if isinstance(node.value, ast.Call) and isinstance(node.value.func, ast.Name) and node.value.func.id == "super":
            return self.above(node.attr)
        return self.e.attribute(self.value(node.value), node.attr)

    def above(self, name):
        """super().name"""
        owner = self.function.owner if self.function else None
        first = next(iter(self.names.values()), None)
        if owner is None or not isinstance(first, (Object, Class)):
            return UNKNOWN
        line = (first.cls if isinstance(first, Object) else first).line
        for cls in line[line.index(owner) + 1:] if owner in line else []:
            if name in cls.own:
                receiver = first if isinstance(first, Object) else None
                return self.e.bind(cls.own[name], receiver, first if receiver is None else first.cls)
            if cls.dataclass and name == "__init__":
                return Bound(Fill, first)
        return External("object.method") if name in OF_OBJECT else UNKNOWN

    def of_Subscript(self, node):
        container, key = self.value(node.value), self.value(node.slice)
        if isinstance(container, (External, Class)):
            return container if not isinstance(container, Class) or not container.is_enum() else container.own.get(key, UNKNOWN)
        if container is UNKNOWN or key is UNKNOWN or not isinstance(container, PLAIN):
            return UNKNOWN
        if isinstance(container, dict) and key not in container and UNKNOWN in container:
            return UNKNOWN
        try:
            return container[key]
        except Exception as error:
            raise Raised(type(error).__name__) from error

    def of_Slice(self, node):
        parts = [None if p is None else self.value(p) for p in (node.lower, node.upper, node.step)]
        return UNKNOWN if UNKNOWN in parts else slice(*parts)

    def of_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return UNKNOWN
        function = self.value(node.func)
        args, kwargs = [], {}
        for a in node.args:
            if isinstance(a, ast.Starred):
                items = self.value(a.value)
                if not isinstance(items, (list, tuple)):
                    raise Undecided()
                args.extend(items)
            else:
                args.append(self.value(a))
        for k in node.keywords:
            value = self.value(k.value)
            if k.arg:
                kwargs[k.arg] = value
            elif isinstance(value, dict):
                kwargs.update(value)
            else:
                kwargs[UNKNOWN] = UNKNOWN
        if function == External("builtins.hasattr") and isinstance(node.func, ast.Name) and len(args) == 2 and args[1] is UNKNOWN:
            return UNKNOWN
        if isinstance(function, Bound) and function.function is Fill:
            receiver = function.receiver or (args.pop(0) if args else UNKNOWN)
            if isinstance(receiver, Object):
                self.e.fill(receiver, args, kwargs)
            return None
        return self.e.call(function, args, kwargs)

    def of_BinOp(self, node):
        return self.binary(type(node.op), self.value(node.left), self.value(node.right))

    @staticmethod
    def binary(op, a, b):
        if op is ast.BitOr and (isinstance(a, (Class, External, tuple)) or isinstance(b, (Class, External))):
            return (*a, b) if isinstance(a, tuple) else (a, b)  # a union of types
        if a is UNKNOWN or b is UNKNOWN or not isinstance(a, PLAIN) or not isinstance(b, PLAIN):
            return UNKNOWN
        try:
            return BINARY[op](a, b)
        except Undecided:
            return UNKNOWN
        except Exception as error:
            raise Raised(type(error).__name__) from error

    def of_UnaryOp(self, node):
        value = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            answer = self.truth(value)
            return UNKNOWN if answer is UNKNOWN else not answer
        return UNKNOWN if not isinstance(value, (int, float)) else UNARY[type(node.op)](value)

    def of_BoolOp(self, node):
        ends = isinstance(node.op, ast.Or)
        lost = False
        for part in node.values:
            value = self.value(part)
            answer = self.truth(value)
            if answer is UNKNOWN:
                lost = True
            elif answer == ends:
                return value if not lost else (True if ends and isinstance(value, bool) else
                                               False if not ends and isinstance(value, bool) else UNKNOWN)
        return UNKNOWN if lost else value

    def of_Compare(self, node):
        left, result = self.value(node.left), True
        for op, right in zip(node.ops, node.comparators):
            right = self.value(right)
            answer = self.compared(type(op), left, right)
            if answer is False:
                return False
            if answer is UNKNOWN:
                result = UNKNOWN
            left = right
        return result

    def compared(self, op, a, b):
        if op in (ast.Is, ast.IsNot, ast.Eq, ast.NotEq):
            answer = self.equal(a, b)
            return answer if answer is UNKNOWN or op in (ast.Is, ast.Eq) else not answer
        if op in (ast.In, ast.NotIn):
            answer = self.within(a, b)
            return answer if answer is UNKNOWN or op is ast.In else not answer
        if isinstance(a, PLAIN) and isinstance(b, PLAIN) and not holds_unknown([a, b]):
            try:
                return COMPARE[op](a, b)
            except Exception as error:
                raise Raised("TypeError") from error
        return UNKNOWN

    @staticmethod
    def equal(a, b):
        if a is UNKNOWN or b is UNKNOWN:
            return UNKNOWN
        if a is None or b is None:
            return a is b
        if isinstance(a, Member) and isinstance(b, (str, int)):
            return UNKNOWN if any(isinstance(x, External) for x in a.cls.bases) and a.value == b else a.value == b and UNKNOWN
        if isinstance(a, PLAIN) and isinstance(b, PLAIN):
            return UNKNOWN if holds_unknown([a, b]) else a == b
        if isinstance(a, Object) and isinstance(b, Object) and a is not b:
            return UNKNOWN
        return a is b or (isinstance(a, External) and a == b)

    def within(self, a, b):
        if a is UNKNOWN or b is UNKNOWN or not isinstance(b, (list, tuple, set, dict, str, range, frozenset)):
            return UNKNOWN
        if isinstance(b, str) or isinstance(b, range):
            return a in b if isinstance(a, (str, int)) else UNKNOWN
        answers = [self.equal(a, item) for item in b]
        return True if True in answers else UNKNOWN if UNKNOWN in answers else False

    def of_IfExp(self, node):
        answer = self.truth(self.value(node.test))
        if answer is UNKNOWN:
            self.e.maybe += 1
            try:
                a, b = self.value(node.body), self.value(node.orelse)
            finally:
                self.e.maybe -= 1
            return a if same(a, b) else UNKNOWN
        return self.value(node.body if answer else node.orelse)

    def of_List(self, node):
        return list(self.items(node.elts))

    def of_Tuple(self, node):
        return tuple(self.items(node.elts))

    def of_Set(self, node):
        items = list(self.items(node.elts))
        return UNKNOWN if holds_unknown(items) else set(items)

    def items(self, nodes):
        for n in nodes:
            if isinstance(n, ast.Starred):
                inner = self.value(n.value)
                if isinstance(inner, (list, tuple, set, range)):
                    yield from inner
                else:
                    yield UNKNOWN
            else:
                yield self.value(n)

    def of_Dict(self, node):
        out = {}
        for k, v in zip(node.keys, node.values):
            value = self.value(v)
            if k is not None:
                out[self.value(k)] = value
            elif isinstance(value, dict):
                out.update(value)
            else:
                out[UNKNOWN] = UNKNOWN
        return out

    def of_JoinedStr(self, node):
        out = ""
        for part in node.values:
            if isinstance(part, ast.Constant):
                out += str(part.value)
                continue
            value = self.value(part.value)
            if not isinstance(value, (str, int, float, bool, type(None))) or part.format_spec:
                return UNKNOWN
            out += str(value) if part.conversion != 114 else repr(value)
        return out

    def of_Lambda(self, node):
        scope = self.names if self.function is None else {**self.function.scope, **self.names}
        return Function(node, self.module, scope)

    def of_NamedExpr(self, node):
        value = self.value(node.value)
        self.assign(node.target, value)
        return value

    def of_ListComp(self, node):
        return self.comprehended(node.generators, lambda f: f.value(node.elt))

    of_GeneratorExp = of_ListComp

    def of_SetComp(self, node):
        items = self.of_ListComp(node)
        return items if items is UNKNOWN or holds_unknown(items) else set(items)

    def of_DictComp(self, node):
        pairs = self.comprehended(node.generators, lambda f: (f.value(node.key), f.value(node.value)))
        return pairs if pairs is UNKNOWN else dict(pairs)

    def comprehended(self, generators, make):
        frame = Frame(self.e, self.module, {}, self.function)
        frame.outer = self
        out = []
        return out if frame.loop(generators, make, out) else UNKNOWN

    def loop(self, generators, make, out):
        if not generators:
            out.append(make(self))
            return True
        first, rest = generators[0], generators[1:]
        items = self.value(first.iter)
        items = list(items) if isinstance(items, dict) else items
        if not isinstance(items, (list, tuple, range, set, frozenset, str)):
            return False
        for item in items:
            self.assign(first.target, item)
            answers = [self.truth(self.value(test)) for test in first.ifs]
            if UNKNOWN in answers and False not in answers:
                return False
            if False not in answers and not self.loop(rest, make, out):
                return False
        return True


class Fill:
    """Stands for the constructor that a dataclass gets."""
