# SPDX-License-Identifier: Apache-2.0
"""Validates the configurations that Megatron-LM's own CI runs at a release, with that release's profile:
an error in one of them is a rule that is wrong, or a configuration that the CI does not run.

    ci.py MOEPLAN CHECKOUT REVISION VERSION

prints a line for each error, then how many files have one; the exit status is 1 where any has."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

import checkout

FOLDER = "tests/functional_tests/test_cases/"
RECIPES = "tests/test_utils/recipes/"


def run_cases(tree):
    """The names of the cases that some recipe runs; a broken one is not run."""
    names = set()
    for path in tree.files(RECIPES, suffix=".yaml"):
        cases = re.split(r"^\s*- test_case:", tree.text(path), flags=re.M)[1:]
        for case in cases:
            if re.search(r"^\s+scope: (?!\[?[\w-]*broken)", case, re.M):
                names.update(re.findall(r"[\w.-]+", case.split("\n", 1)[0]))
    return names


def copy(tree, folder):
    """Writes the configurations that run, by their own paths; gives those paths."""
    names = run_cases(tree)
    paths = tree.files(FOLDER, suffix="model_config.yaml")
    paths = [path for path in paths if os.path.basename(os.path.dirname(path)) in names]
    for path in paths:
        os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as out:
            out.write(tree.text(path))
    return paths


def validate(moeplan, version, folder, paths):
    """The reports of the files, as `validate --format json` gives them."""
    words = [moeplan, "validate", "--format", "json", "--framework-version", version, *paths]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["files"]


def main():
    moeplan, folder, revision, version = sys.argv[1:]
    tree = checkout.Checkout(folder, revision)
    with tempfile.TemporaryDirectory() as place:
        paths = copy(tree, place)
        tree.close()
        reports = validate(os.path.abspath(moeplan), version, place, paths)
    wrong, rules = set(), collections.Counter()
    for report in reports:
        for found in report["diagnostics"]:
            if found["severity"] == "error":
                wrong.add(report["path"])
                rules[found["rule"]] += 1
                print(f"{report['path'][len(FOLDER):]}:{found['line']}: {found['rule']}: {found['message']}")
    counts = ", ".join(f"{rule} {n}" for rule, n in rules.most_common())
    print(f"{version}: {len(wrong)} of {len(paths)} files with an error{': ' if counts else ''}{counts}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
