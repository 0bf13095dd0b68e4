# SPDX-License-Identifier: Apache-2.0
"""Reads what a framework, or a fork of it, knows at a revision: flags or keys with their types, defaults
and choices, the checks of its configuration, the versions that its lock file pins. Nothing of it is
imported or run.

    import.py FRAMEWORK CHECKOUT [REVISION] --against rules/ [--version 0.19] [--out FILE]

writes rules/releases/FRAMEWORK/VERSION.yaml, what differs from the release before it there (with
--out a file of its own with everything, such as a fork's), and reports what is new, gone or
changed, the checks that no rule covers and the rules whose check is gone. The exit status is 1
where there are such checks or rules.
"""
import argparse
import importlib
import io
import os
import sys

import checkout
import release
import report
import rules
import source

FRAMEWORKS = ("megatron", "bridge", "automodel")


def options():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("checkout", help="a clone, or a bare repository")
    parser.add_argument("revision", nargs="?", default="HEAD", help="a tag, branch or commit")
    parser.add_argument("--against", metavar="RULES", help="the rules folder")
    parser.add_argument("--version", help="what the release is called; default: what the source says")
    parser.add_argument("--main", action="store_true", help="it is the newest commit, no release: main@DATE")
    parser.add_argument("--out", help="the file to write; - is the standard output")
    return parser.parse_args()


def imported(framework, tree, version):
    """The Release of a revision, with all its checks, and what could not be resolved."""
    sections, unresolved = framework.read(tree)
    head = {
        "framework": framework.__name__,
        "version": version,
        "commit": tree.commit[:8],
        "date": tree.date,
        "environment": source.environment(tree),
    }
    return release.Release(head, sections), unresolved


def trimmed(framework, found, folder):
    """The checks that a release's file keeps: of the configuration, and those that a rule cites."""
    cited = [rule for rule in rules.read_all(folder) if rule.text] if folder else []
    return [
        check
        for check in found.checks
        if framework.needs_rule(check) or any(rules.cites(rule, check) for rule in cited)
    ]


def before(folder, found):
    """The newest release in the rules that is older than this one; None where there is none."""
    older = None
    for other in release.read_all(folder, found.head["framework"]):
        if release.order(other.head["version"]) < release.order(found.head["version"]):
            older = other
    return older


def write_file(found, older, path):
    text = io.StringIO()
    if older:
        head = {**found.head, "base": older.head["version"]}
        found = release.Release(head, release.difference(older.sections, found.sections))
    release.write(found, text)
    if path == "-":
        sys.stdout.write(text.getvalue())
        return
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        out.write(text.getvalue())


def name_of(version):
    """A file's name: main@2026-08-22 is main."""
    return version.split("@")[0] + ".yaml"


def main():
    told = options()
    framework = importlib.import_module(told.framework)
    tree = checkout.Checkout(told.checkout, told.revision)
    version = told.version or (f"main@{tree.date}" if told.main else framework.version(tree))
    found, unresolved = imported(framework, tree, version)
    every, found.sections["checks"] = found.checks, trimmed(framework, found, told.against)
    older = before(told.against, found) if told.against else None
    if told.out:
        write_file(found, None, told.out)
    elif told.against:
        folder = os.path.join(told.against, "releases", told.framework)
        write_file(found, older, os.path.join(folder, name_of(version)))
    out, missing = sys.stderr if told.out == "-" else sys.stdout, 0
    out.write(f"{told.framework} {version} {tree.commit[:8]}, {tree.date}: {len(found.settings)} settings, ")
    out.write(f"{len(found.checks)} checks, environment {release.compact(found.head['environment'])}\n")
    report.heading(out, "not resolved", unresolved)
    if older:
        report.compare(out, older, found)
    if told.against:
        missing = report.coverage(out, framework, tree, found, every, told.against)
    tree.close()
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
