#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py BUILD [NUMBER…]: plants the faults of faults.txt, one at a time, and says which the quick tests find.
run.py --check: plants none, and says which places are no longer in their file exactly once.

BUILD is a folder for a copy of the sources and its build; it is kept, so that a second run builds little. Pages
(label `pages`) do not count: tools/bless.sh rewrites them. The unit tests of the fault's own folder run first, then all
unit tests, the others only where those find nothing. Tests that fail without any fault are left out and named."""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
COPIED = ["CMakeLists.txt", "cmake", "docs", "examples", "include", "rules", "src", "tests", "tools", "README.md",
          "CONTRIBUTING.md", "LICENSE", ".clang-format", ".ci"]
NOT_COUNTED = "long|pages|faults"


class Fault:
    """FILE: WHAT, then lines of `- text to find`, then lines of `+ text in its place`."""

    def __init__(self, block):
        head, *lines = block
        self.file, self.what = head.split(": ", 1)
        self.find = " ".join(line[2:].strip() for line in lines if line.startswith("-"))
        self.put = " ".join(line[2:].strip() for line in lines if line.startswith("+"))

    def plant(self, text):
        """The text with the fault; None where the place is not there exactly once. Blanks match any blanks."""
        pattern = r"\s+".join(re.escape(word) for word in self.find.split())
        if len(re.findall(pattern, text)) != 1:
            return None
        return re.sub(pattern, lambda _: self.put, text)


def read_faults():
    blocks, block = [], []
    with open(os.path.join(HERE, "faults.txt"), encoding="utf-8") as file:
        for line in [*file, "\n"]:
            line = line.rstrip("\n")
            if line.startswith("#"):
                continue
            if line:
                block.append(line)
            elif block:
                blocks.append(Fault(block))
                block = []
    return blocks


def copy_sources(to):
    """Only what changed is written, so that a later run builds only that."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "--", *COPIED], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    names = [name for name in names if os.path.isfile(os.path.join(ROOT, name))]
    for folder, _, files in os.walk(to):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.relpath(path, to) not in names:
                os.remove(path)
    for name in names:
        source, target = os.path.join(ROOT, name), os.path.join(to, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(source, "rb") as file:
            text = file.read()
        if not os.path.exists(target) or open(target, "rb").read() != text:
            shutil.copy(source, target)


def does_not_apply(fault, root):
    """Why a fault cannot be planted; None where it can."""
    path = os.path.join(root, fault.file)
    if not os.path.exists(path):
        return "no such file"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    changed = fault.plant(text)
    if changed is None:
        return "its place is not there exactly once"
    return "it changes nothing" if changed == text else None


def check_all():
    """The places alone, in the sources as they are: a test, so that the list goes with the code."""
    faults, lost = read_faults(), 0
    for number, fault in enumerate(faults, 1):
        why = does_not_apply(fault, ROOT)
        lost += why is not None
        if why:
            print(f"{number:3} {fault.file}: {fault.what}: does not apply: {why}")
    print(f"{len(faults) - lost} of {len(faults)} apply")
    sys.exit(lost > 0)


class Bench:
    def __init__(self, folder):
        self.source, self.build = os.path.join(folder, "source"), os.path.join(folder, "build")
        self.broken = []
        copy_sources(self.source)
        ccache = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
        ninja = ["-GNinja"] if shutil.which("ninja") else []
        self.run("cmake", "-B", self.build, "-S", self.source, "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1",
                 "-DMOEPLAN_TESTS=ON", *ninja, *ccache)
        good, said = self.make()
        if not good:
            sys.exit("the sources do not build without a fault:\n" + said)
        self.broken = self.failing("-LE", NOT_COUNTED)

    @staticmethod
    def run(*command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        return done.returncode == 0, done.stdout.decode("utf-8", "replace")

    def make(self, targets=()):
        wanted = ["--target", *targets] if targets else []
        return self.run("cmake", "--build", self.build, "-j2", *wanted)

    def failing(self, *selection):
        """Names of the tests that fail, up to the first one once there is a fault."""
        left_out = ["-E", "^(" + "|".join(re.escape(name) for name in self.broken) + ")$"] if self.broken else []
        stop = ["--stop-on-failure"] if self.planted else []
        _, said = self.run("ctest", "--test-dir", self.build, "-j2", "--timeout", "300", *selection, *left_out, *stop)
        return re.findall(r"^\s*\d+ - (\S+) \((?!Skipped|Not Run)", said, re.MULTILINE)

    planted = False

    def own_tests(self, layer):
        """The unit test programs of one folder."""
        folder = os.path.join(self.source, "tests", "unit", layer)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        return [f"{layer}_{name[:-2]}" for name in names if name.startswith("test_") and name.endswith(".c")]

    def find(self, fault):
        """Who finds a planted fault: a test, `build` for a rule's example that fails there; None: nobody."""
        layer = fault.file.split("/")[1]
        layers = os.listdir(os.path.join(self.source, "tests", "unit"))
        units = [name for one in sorted(layers) for name in self.own_tests(one)]
        stages = [(self.own_tests(layer), ["-R", rf"^unit\.{layer}_"]), (units, ["-R", r"^unit\."]),
                  ((), ["-LE", NOT_COUNTED])]
        for targets, selection in stages:
            good, said = self.make(targets)
            if not good and re.search(r"^[^\n]*: error: ", said, re.MULTILINE):
                return "does not compile"
            if not good:
                return "the build"
            found = self.failing(*selection)
            if found:
                return found[0]
        return None

    def judge(self, fault):
        path = os.path.join(self.source, fault.file)
        why = does_not_apply(fault, self.source)
        if why:
            return f"does not apply: {why}"
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            self.planted = True
            with open(path, "w", encoding="utf-8") as file:
                file.write(fault.plant(text))
            by = self.find(fault)
        finally:
            self.planted = False
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        if by is None:
            return "SURVIVED"
        return by if by.startswith("does not") else f"found by {by}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--check":
        check_all()
    faults = list(enumerate(read_faults(), 1))
    wanted = {int(word) for word in sys.argv[2:]}
    bench = Bench(os.path.abspath(sys.argv[1]))
    if bench.broken:
        print("fail without a fault, left out:", ", ".join(bench.broken), flush=True)
    found = applied = 0
    for number, fault in faults:
        if wanted and number not in wanted:
            continue
        verdict = bench.judge(fault)
        applied += not verdict.startswith("does not")
        found += verdict.startswith("found")
        print(f"{number:3} {fault.file}: {fault.what}: {verdict}", flush=True)
    print(f"{found} of {applied} found without the pages ({100 * found / max(applied, 1):.0f} %)")
    sys.exit(found < applied)


if __name__ == "__main__":
    main()
