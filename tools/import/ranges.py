# SPDX-License-Identifier: Apache-2.0
"""Since which release a rule holds: the first whose source has the check that the rule cites.

    ranges.py RULES [--write]

prints the rules whose `frameworks` say otherwise; with --write it corrects them. The exit status is 1
where there are any. A text that was only reworded counts as the same check."""
import difflib
import re
import sys

import release
import report
import rules

FRAMEWORK = "megatron"
FILES = ("megatron/core/", "megatron/training/")
REWORDED = 0.85  # of the two texts' letters are the same
# Megatron-LM's release that each of Bridge's stands on, the oldest first (3rdparty/Megatron-LM at its tag)
CORES = (("0.4", "0.17"), ("0.5", "0.18"), ("0.6", "0.19"), ("0.7", "0.20"))


def reworded(text, other):
    if abs(len(text) - len(other)) > 0.3 * len(text):
        return False
    return difflib.SequenceMatcher(None, text, other).ratio() >= REWORDED


def same_check(texts, checks):
    """Whether a release has a check of one of these texts, or nearly of the first."""
    return any(check[2] in texts for check in checks) or any(
        reworded(texts[0], check[2]) for check in checks
    )


def first_release(rule, releases, older_texts):
    """The version that a rule's check came with; "" for the oldest; None where no check is cited."""
    found = [check[2] for check in releases[-1].checks if rules.cites(rule, check)]
    if not found:
        return None
    first = ""
    texts = [found[0], *older_texts.get(found[0], [])]
    for older in reversed(releases[:-1]):
        if not same_check(texts, older.checks):
            return first or next_of(releases[-2].head["version"])
        first = older.head["version"]
    return ""


def next_of(version):
    """The release after one: what the newest commit will be."""
    major, minor = version.split(".")[:2]
    return f"{major}.{int(minor) + 1}"


def number(version):
    return [int(part) for part in version.split(".")]


def on_core(since):
    """Since which release Bridge stands on one of Megatron-LM, as a range."""
    bridge = [b for b, core in CORES if number(core) >= number(since)]
    return "*" if bridge[0] == CORES[0][0] else f">={bridge[0]}"


def declared(rule, framework=FRAMEWORK):
    """The version in a rule's `frameworks: {megatron: ">=0.17", …}`; "" where it has none."""
    found = re.search(rf'{framework}: ">=([\d.]+)"', rule.frameworks)
    return found.group(1) if found else ""


def wrong(folder):
    """[(rule, the version it should have)] of the rules whose range is another one."""
    releases = release.read_all(folder, FRAMEWORK)
    known = report.told(folder, FRAMEWORK, "reworded")
    found = []
    for rule in rules.read_all(folder):
        if not rule.text or not rule.file.startswith(FILES) or FRAMEWORK not in rule.frameworks:
            continue
        since = first_release(rule, releases, known)
        if since is None:
            continue
        other_core = since and "bridge" in rule.frameworks and on_core(since) != range_of(rule)
        if since != declared(rule) or other_core:
            found.append((rule, since))
    return found


def range_of(rule):
    """Bridge's range in a rule's `frameworks`."""
    return f">={declared(rule, 'bridge')}" if declared(rule, "bridge") else "*"


def spelled(rule, since):
    """The rule's `frameworks`, with another range."""
    others = [name for name in ("bridge", "automodel") if name in rule.frameworks]
    if not since:
        return "[" + ", ".join([FRAMEWORK, *others]) + "]"
    ranges = {"bridge": on_core(since), "automodel": "*"}
    return "{" + ", ".join([f'{FRAMEWORK}: ">={since}"', *(f'{name}: "{ranges[name]}"' for name in others)]) + "}"


def write(rule, since):
    """Corrects the record in its file."""
    with open(rule.path, encoding="utf-8") as text:
        before, head, body = text.read().partition(f"- id: {rule.id}\n")
    record, rest = re.match(r"(.*?)(\n  - id: .*|\Z)", body, re.S).groups()
    line = f"    frameworks: {spelled(rule, since)}\n"
    if re.search(r"^    frameworks: ", record, re.M):
        record = re.sub(r"^    frameworks: .*\n", line, record, count=1, flags=re.M)
    elif record.startswith("    severity"):
        record = re.sub(r"\n", "\n" + line, record, count=1)
    else:
        record = line + record
    with open(rule.path, "w", encoding="utf-8") as out:
        out.write(before + head + record + rest)


def main():
    found = wrong(sys.argv[1])
    for rule, since in found:
        print(f"{rule.path}:{rule.line} {rule.id}: frameworks: {spelled(rule, since)}, by where its check is")
        if "--write" in sys.argv:
            write(rule, since)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
