# SPDX-License-Identifier: Apache-2.0
"""Release files: rules/releases/FRAMEWORK/VERSION.yaml. One entry a line, the value as JSON: YAML reads
them, and the standard library is enough to do so. The oldest release is whole, every other one
what it changes against its `base`: entries that are new or other; `null` for a setting that is gone,
and lists of what is gone from a list, NAME_gone."""
import json
import os

HEAD = ("framework", "version", "base", "commit", "date", "environment")


class Release:
    """What a framework's source says at one revision. `sections` are mappings or lists by name:
      settings: {flag or dotted key: {type, default, choices, nargs, action, const, dest, deprecated}},
                what is as usual left out (type str, no default, one value)
      checks:   [[file, function, text, mark]]
    and what else a framework's importer finds (recipes, names, …), as JSON. No value is null."""

    def __init__(self, head, sections):
        self.head, self.sections = head, sections

    @property
    def settings(self):
        return self.sections.get("settings", {})

    @property
    def checks(self):
        return self.sections.get("checks", [])


def compact(value):
    return json.dumps(value, ensure_ascii=False)


def write(release, out):
    out.write("# SPDX-License-Identifier: Apache-2.0\n")
    out.write("# Written by tools/import/import.py; do not edit.\nmoeplan: 1\nkind: Release\n")
    for key in HEAD:
        if release.head.get(key) is not None:
            out.write(f"{key}: {compact(release.head[key])}\n")
    for name, section in release.sections.items():
        write_section(out, name, section)


def write_section(out, name, section):
    if not section:
        return
    out.write(f"{name}:\n")
    if isinstance(section, dict):
        for key in sorted(section):
            out.write(f"  {compact(key)}: {compact(section[key])}\n")
    else:
        for item in section:
            out.write(f"  - {compact(item)}\n")


def difference(base, new):
    """The sections that make `new` of `base`."""
    made = {}
    for name in sorted({*base, *new}):
        a, b = base.get(name), new.get(name)
        if isinstance(a if b is None else b, dict):
            a, b = a or {}, b or {}
            made[name] = {key: b.get(key) for key in {*a, *b} if a.get(key) != b.get(key)}
        else:
            a, b = a or [], b or []
            made[name] = [item for item in b if item not in a]
            made[name + "_gone"] = [item for item in a if item not in b]
    return made


def applied(base, change):
    """The inverse of `difference`."""
    made = dict(base)
    for name, section in change.items():
        if isinstance(section, dict):
            whole = {**made.get(name, {}), **section}
            made[name] = {key: value for key, value in whole.items() if value is not None}
        elif name.endswith("_gone"):
            made[name[:-5]] = [item for item in made.get(name[:-5], []) if item not in section]
    for name, section in change.items():
        if isinstance(section, list) and not name.endswith("_gone"):
            made[name] = made.get(name, []) + section
    return made


def read(path):
    """The release in a file that `write` wrote."""
    head, sections, section = {}, {}, None
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if line.startswith("#") or not line:
                continue
            if line.startswith("  - "):
                sections.setdefault(section, []).append(json.loads(line[4:]))
            elif line.startswith("  "):
                key, end = json.JSONDecoder().raw_decode(line[2:])
                sections.setdefault(section, {})[key] = json.loads(line[2 + end + 1 :])
            else:
                name, value = line.split(":", 1)
                if not value:
                    section = name
                elif name in HEAD:
                    head[name] = json.loads(value)
                elif name not in ("moeplan", "kind"):
                    sections[name] = json.loads(value)
    return Release(head, sections)


def order(version):
    """Sorts release numbers; main, the newest, comes last."""
    numbers = version.split("@")[0].split(".")
    return [int(n) if n.isdigit() else 1 << 30 for n in numbers]


def read_all(rules, framework):
    """The releases of a framework in the rules folder, whole, oldest first."""
    folder = os.path.join(rules, "releases", framework)
    names = os.listdir(folder) if os.path.isdir(folder) else []
    found = [read(os.path.join(folder, name)) for name in names if name.endswith(".yaml")]
    found.sort(key=lambda release: order(release.head["version"]))
    for i, release in enumerate(found):
        if release.head.get("base"):
            older = [r for r in found[:i] if r.head["version"] == release.head["base"]]
            release.sections = applied(older[0].sections, release.sections)
    return found
