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


def declared(rule):
    """The version in a rule's `frameworks: {megatron: ">=0.17", …}`; "" where it has none."""
    found = re.search(rf'{FRAMEWORK}: ">=([\d.]+)"', rule.frameworks)
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
        if since is not None and since != declared(rule):
            found.append((rule, since))
    return found


def spelled(rule, since):
    """The rule's `frameworks`, with another range."""
    others = [name for name in ("bridge", "automodel") if name in rule.frameworks]
    if not since:
        return "[" + ", ".join([FRAMEWORK, *others]) + "]"
    return "{" + ", ".join([f'{FRAMEWORK}: ">={since}"', *(f'{name}: "*"' for name in others)]) + "}"


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
        print(f"{rule.path}:{rule.line} {rule.id}: its check is there since {since or 'the oldest'}, not {declared(rule) or 'ever'}")
        if "--write" in sys.argv:
            write(rule, since)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
