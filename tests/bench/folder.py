#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""folder.py MOEPLAN EXAMPLES [--most N]: what a recipe costs in `validate` of a folder whose settings go by path, where its files
are the recipes of EXAMPLES many times: instructions a recipe, counted by valgrind, and seconds for ten thousand, the least of three
runs. With --most only the instructions are counted, and the exit status is 1 where a recipe takes more than N of them (77: there is
no valgrind)."""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time

from growth import COUNTER, counted

COUNTED, TIMED, ROUNDS = 30, 10_000, 3
SETTINGS = """rules: "0.1"
defaults: {sequence: 4096}
paths:
  - match: "{platform}-{gpus}gpu"
  - match: [part1, "part2/*"]
    facts: {gpus: 128}
  - match: "*.sh"
    facts: {model: qwen3-30b-a3b}
    severity: {"moe-*": info}
exclude: [old, "*.draft.yaml"]
"""
FOLDERS = [f"{platform}-{gpus}gpu/part{part}" for platform in ("h100", "gb200") for gpus in (64, 256) for part in range(4)]


def recipes(examples):
    """The files below a folder that are recipes, in order."""
    found = (os.path.join(folder, name) for folder, _, names in os.walk(examples) for name in names)
    return sorted(path for path in found if path.endswith((".yaml", ".sh", ".args", ".txt")))


def plant(folder, files, number):
    """A repository of that many recipes."""
    os.makedirs(os.path.join(folder, ".git"))
    with open(os.path.join(folder, ".moeplan.yaml"), "w", encoding="utf-8") as out:
        out.write(SETTINGS)
    for name in FOLDERS:
        os.makedirs(os.path.join(folder, name))
    for i in range(number):
        source = files[i % len(files)]
        shutil.copyfile(source, os.path.join(folder, FOLDERS[i // len(files) % len(FOLDERS)], f"{i}_{os.path.basename(source)}"))


def validate(moeplan, folder, before=()):
    """What a run says on stderr; the findings are nobody's."""
    words = [*before, moeplan, "validate", "--format", "concise", folder]
    done = subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr)
    return done.stderr


def instructions(moeplan, files, number):
    """Of a run over so many recipes."""
    with tempfile.TemporaryDirectory() as folder:
        plant(folder, files, number)
        return counted(validate(moeplan, folder, COUNTER))


def seconds(moeplan, files, number):
    """The wall clock's and the CPU's, the least of some runs."""
    with tempfile.TemporaryDirectory() as folder:
        plant(folder, files, number)
        wall, cpu = [], []
        for _ in range(ROUNDS):
            before, used = time.monotonic(), sum(os.times()[2:4])
            validate(moeplan, folder)
            wall.append(time.monotonic() - before)
            cpu.append(sum(os.times()[2:4]) - used)
        return min(wall), min(cpu)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("moeplan")
    parser.add_argument("examples")
    parser.add_argument("--most", type=int)
    given = parser.parse_args()
    files = recipes(given.examples)
    if shutil.which("valgrind"):
        # what the program takes to start is in both
        each = (instructions(given.moeplan, files, 2 * COUNTED) - instructions(given.moeplan, files, COUNTED)) // COUNTED
        print(f"{each:,} instructions a recipe")
        if given.most and each > given.most:
            sys.exit(f"more than {given.most:,}")
    elif given.most:
        sys.exit(77)
    if not given.most:
        wall, cpu = seconds(given.moeplan, files, TIMED)
        print(f"{TIMED:,} recipes: {wall:.2f} s, {cpu:.2f} s of CPU")


if __name__ == "__main__":
    main()
