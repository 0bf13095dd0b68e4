# SPDX-License-Identifier: Apache-2.0
"""What a release changes against the one before, and what the rules do not say about it, as text."""
import json
import os
from collections import Counter

import release
import rules
import source


def heading(out, text, items):
    if items:
        out.write(f"\n## {text} ({len(items)})\n")
        for item in items:
            out.write(f"- {item}\n")


def differences(old, new):
    """"default 1 -> 2, choices …" of a setting; empty where nothing differs."""
    keys = [key for key in sorted({*old, *new}) if key not in ("deprecated", "dest")]
    pairs = [(key, old.get(key), new.get(key)) for key in keys]
    return ", ".join(
        f"{key} {release.compact(a)} -> {release.compact(b)}" for key, a, b in pairs if a != b
    )


def compare(out, old, new):
    """Sections of two releases: what is new, gone and changed."""
    out.write(f"\n# {old.head['version']} -> {new.head['version']}\n")
    for key in sorted({*old.head["environment"], *new.head["environment"]}):
        was, now = old.head["environment"].get(key), new.head["environment"].get(key)
        if was != now:
            out.write(f"- {key} {was} -> {now}\n")
    for name in sorted({*old.sections, *new.sections} - {"checks"}):
        compare_section(out, name, old.sections.get(name, {}), new.sections.get(name, {}))
    compare_checks(out, old.checks, new.checks)


def compare_section(out, name, old, new):
    if not isinstance(old, dict) or not isinstance(new, dict):
        a, b = ({json.dumps(item) for item in section} for section in (old, new))
        heading(out, f"{name}: new", sorted(b - a))
        heading(out, f"{name}: gone", sorted(a - b))
        return
    heading(out, f"{name}: new", [f"{key} {release.compact(new[key])}" for key in sorted(new.keys() - old.keys())])
    heading(out, f"{name}: gone", sorted(old.keys() - new.keys()))
    changed = []
    for key in sorted(old.keys() & new.keys()):
        both = isinstance(old[key], dict) and isinstance(new[key], dict)
        what = differences(old[key], new[key]) if both else differences({"": old[key]}, {"": new[key]})
        if what:
            changed.append(f"{key}: {what}")
    heading(out, f"{name}: changed", changed)


def compare_checks(out, old, new):
    a, b = Counter(check[2] for check in old), Counter(check[2] for check in new)
    where = {check[2]: f"{check[0]} {check[1]}: {check[2]}" for check in [*old, *new]}
    heading(out, "checks: new", [where[text] for text in b if text not in a])
    heading(out, "checks: gone", [where[text] for text in a if text not in b])
    marks = [{text: sorted(c[3] for c in section if c[2] == text) for text in {*a, *b}} for section in (old, new)]
    same = [text for text in b if text in a and marks[0][text] != marks[1][text]]
    heading(out, "checks: the same text under another condition", [where[text] for text in same])


def told(folder, framework, section):
    """A section of rules/releases/FRAMEWORK.reasons.yaml, what people know and the source does not say:
    reasons: {why no rule covers them: [beginnings of checks' texts]}
    reworded: {a check's text: [what it was before]}"""
    path = os.path.join(folder, "releases", framework + ".reasons.yaml")
    return release.read(path).sections.get(section, {}) if os.path.exists(path) else {}


def uncovered(checks, cited, why):
    """The checks that no rule cites and that no reason is given for."""
    texts = [rule for rule in cited if rule.text]
    return [
        check
        for check in checks
        if not any(rules.cites(rule, check) for rule in texts)
        and not any(check[2].startswith(text) for texts in why.values() for text in texts)
    ]


def gone(checkout, checks, cited, files):
    """The rules that cite a text of some files that is in no check and nowhere in their file any more; those of
    former releases alone are not meant."""
    lost = [
        rule
        for rule in cited
        if rule.text and rule.file.startswith(files) and "<" not in rule.frameworks
        and not any(rules.cites(rule, c) for c in checks)
    ]
    whole = {path: source.one_line(checkout.text(path) or "") for path in {r.file for r in lost}}
    return [rule for rule in lost if rule.text.rstrip(" …") not in whole[rule.file]]


def coverage(out, framework, checkout, new, every, folder):
    """Writes which checks no rule covers and which rules' checks are gone; how many there are."""
    cited, why = rules.read_all(folder), told(folder, new.head["framework"], "reasons")
    needed = [check for check in new.checks if framework.needs_rule(check)]
    without = uncovered(needed, cited, why)
    lost = gone(checkout, every, cited, framework.SEARCHED)
    out.write(f"\n# rules\n- {len(needed)} checks of the configuration, {len(without)} without a rule or a reason\n")
    heading(out, "checks without a rule or a reason", [f"{c[0]} {c[1]}: {c[2]}" for c in without])
    heading(out, "rules whose check is gone", [f"{r.path}:{r.line} {r.id}: {r.text}" for r in lost])
    return len(without) + len(lost)
