# SPDX-License-Identifier: Apache-2.0
"""Statements and expressions of Python source, walked one by one (evaluate.py)."""
import ast
import builtins
import operator

from values import (OF_OBJECT, PLAIN, UNKNOWN, Bound, Class, External, Fill, Function, Member, Object, Raised, Undecided,
                    Unsupported, holds_unknown, same)

BINARY = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
          ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.BitOr: operator.or_,
          ast.BitAnd: operator.and_, ast.LShift: operator.lshift, ast.RShift: operator.rshift, ast.BitXor: operator.xor}
COMPARE = {ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge}
UNARY = {ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert}
MOST_STEPS = 3_000_000


class _Return(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


class _Break(Exception):
    pass


class _Continue(Exception):
    pass


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
