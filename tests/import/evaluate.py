# SPDX-License-Identifier: Apache-2.0
"""evaluate.py FOLDER_OF_TOOLS: what the importer makes of Python source that it walks, on small sources whose meaning is plain."""
import sys
import unittest

sys.path.insert(0, sys.argv.pop(1))
from evaluate import Evaluator  # noqa: E402
from values import UNKNOWN, Raised  # noqa: E402

FILES = {
    "src/lib/__init__.py": "",
    "src/lib/base.py": """
from dataclasses import dataclass, field
import enum

class Mode(enum.Enum):
    FAST = "fast"

@dataclass
class Config:
    size: int = 8
    names: list = field(default_factory=list)
    mode: Mode = Mode.FAST

    def __post_init__(self):
        self.double = self.size * 2

class Wide(Config):
    size: int = 16
""",
    "src/lib/recipes.py": """
import os
from lib.base import Config, Mode
from elsewhere import Thing

def plain(size=4, *, more=None):
    c = Config(size=size)
    c.names.append("a")
    return c

def open_choice():
    c = Config()
    if os.environ.get("FAST"):
        c.size = 1
    else:
        c.size = 2
    c.names = ["kept"]
    return c

def same_either_way():
    return "x" if Thing.flag else "x"

def loops():
    total = 0
    for i in range(10):
        if i == 7:
            break
        if i % 2:
            continue
        total += i
    return [total, {k: v for k, v in zip("ab", (1, 2))}, f"{total} in all"]

def checks(n):
    if n % 2:
        raise ValueError("odd")
    assert n < 100, "large"
    return n // 2

def handled():
    try:
        checks(3)
    except ValueError:
        return "caught"

def waits():
    yield 1
""",
}


class Walked(unittest.TestCase):
    def setUp(self):
        self.e = Evaluator({"lib": (FILES.get, "src/lib")})
        self.names = self.e.module("lib.recipes").names

    def call(self, name, *args, **kwargs):
        return self.e.call(self.names[name], list(args), kwargs)

    def test_a_dataclass_has_its_defaults_and_what_is_set(self):
        c = self.call("plain", 6)
        self.assertEqual((c.fields["size"], c.fields["double"], c.fields["names"]), (6, 12, ["a"]))
        self.assertEqual(self.call("plain").fields["names"], ["a"])  # a list of its own each

    def test_what_the_environment_decides_is_unknown_and_the_rest_is_not(self):
        c = self.call("open_choice")
        self.assertIs(c.fields["size"], UNKNOWN)
        self.assertEqual(c.fields["names"], ["kept"])

    def test_what_both_ways_leave_is_known(self):
        self.assertEqual(self.call("same_either_way"), "x")

    def test_statements_are_python_s(self):
        self.assertEqual(self.call("loops"), [12, {"a": 1, "b": 2}, "12 in all"])

    def test_what_the_source_raises_is_raised_and_caught(self):
        self.assertEqual(self.call("checks", 8), 4)
        for n in (3, 200):
            with self.assertRaises(Raised):
                self.call("checks", n)
        self.assertEqual(self.call("handled"), "caught")

    def test_what_is_not_walked_says_so(self):
        self.assertIs(self.call("waits"), UNKNOWN)

    def test_a_module_outside_is_none(self):
        self.assertIsNone(self.e.module("elsewhere"))


unittest.main(verbosity=0)
