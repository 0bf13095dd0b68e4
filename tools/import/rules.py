# SPDX-License-Identifier: Apache-2.0
"""The rules folder, as far as the importers need it: which check of which file a rule cites. Rule files
are regular enough to be read line by line: `- id:`, `source:`."""
import json
import os
import re
from collections import namedtuple

# file and text: of the check that the rule cites; text ends with … where it is only the beginning
Rule = namedtuple("Rule", "id path line file text frameworks")

CITE = re.compile(r"([\w./-]+\.py): (.+)")


def scalar(text):
    """A YAML scalar on one line."""
    text = text.strip()
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    return json.loads(text) if text.startswith('"') else text


def read_file(path):
    """The rules of a file."""
    found, anchors, current = [], {}, {}
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            start = re.match(r"\s+- id: (\S+)", line)
            if start:
                current = {"id": start.group(1), "frameworks": ""}
            setting = re.match(r"\s+(source|frameworks): (.+)", line)
            if not setting or not current:
                continue
            if setting.group(1) == "frameworks":
                current["frameworks"] = setting.group(2)
            else:
                text = resolve(setting.group(2), anchors)
                cite = CITE.fullmatch(text)
                file, words = cite.groups() if cite else (text, "")
                found.append(
                    Rule(current["id"], path, number, file, words, current["frameworks"])
                )
    return found


def resolve(text, anchors):
    """The text of a scalar that may have an anchor, or be an alias."""
    anchor = re.match(r"&(\w+) (.+)", text)
    if anchor:
        anchors[anchor.group(1)] = scalar(anchor.group(2))
        return anchors[anchor.group(1)]
    if text.startswith("*"):
        return anchors.get(text[1:].strip(), "")
    return scalar(text)


def read_all(folder):
    """The rules of all files below a folder that have a source."""
    found = []
    for root, _, names in sorted(os.walk(folder)):
        if os.path.basename(root) in ("releases", "parameters", "models", "platforms"):
            continue
        for name in sorted(names):
            if name.endswith(".yaml"):
                found += read_file(os.path.join(root, name))
    return found


def cites(rule, check):
    """Whether a rule's text is a check's (an item of a release's section), wherever it has moved to."""
    if rule.text.endswith("…"):
        return check[2].startswith(rule.text[:-1].rstrip())
    return bool(rule.text) and check[2] == rule.text
