# SPDX-License-Identifier: Apache-2.0
"""What Python source says, worked out without running it: the functions of a tree at a revision are walked as `ast`, with values
where the source decides them and UNKNOWN where it does not (the machine, the environment, files, other packages).

Both ways of a condition that is UNKNOWN are walked, and what they leave different is UNKNOWN afterwards. Nothing of the
source is imported or executed; only builtins and methods of plain values (text, numbers, lists, dicts) are called.
"""
import ast
import builtins
import math

from frame import Frame
from values import (OF_OBJECT, PLAIN, UNKNOWN, Bound, Class, External, Field, Fill, Function, Member, Module, Object, Partial,
                    Raised, Undecided, Unsupported, holds_unknown, same)

HOST = {n: getattr(builtins, n) for n in (
    "len range enumerate zip dict list set tuple str int float bool min max sum any all sorted reversed abs round frozenset "
    "repr divmod map filter iter next").split()}
TYPES = {n: getattr(builtins, n) for n in "str int float bool list tuple dict set frozenset bytes".split()}


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
