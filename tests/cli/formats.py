# SPDX-License-Identifier: Apache-2.0
"""formats.py FOLDER: out.sarif and its like there are what their readers take.

SARIF is held to the constraints of its schema (2.1.0) on what is written here; where the module jsonschema is installed and
MOEPLAN_SARIF_SCHEMA names the published file, to all of it."""
import json
import os
import pathlib
import re
import sys
import xml.etree.ElementTree

folder = pathlib.Path(sys.argv[1])
sarif, gitlab, report = (json.loads((folder / f"out.{name}").read_text()) for name in ("sarif", "gitlab", "json"))

# member: (type, required); of sarif-schema-2.1.0.json
SHAPES = {
    "log": {"version": (str, True), "$schema": (str, False), "runs": (["run"], True)},
    "run": {"columnKind": (str, False), "results": (["result"], False), "tool": ("tool", True)},
    "tool": {"driver": ("component", True)},
    "component": {"name": (str, True), "version": (str, False), "informationUri": (str, False), "rules": (["rule"], False)},
    "rule": {"id": (str, True), "shortDescription": ("text", False), "fullDescription": ("text", False), "help": ("text", False),
             "helpUri": (str, False), "defaultConfiguration": ("configuration", False)},
    "configuration": {"level": (str, False)},
    "text": {"text": (str, True)},
    "result": {"ruleId": (str, False), "ruleIndex": (int, False), "level": (str, False), "message": ("text", True),
               "locations": (["location"], False), "partialFingerprints": (dict, False), "baselineState": (str, False),
               "suppressions": (["suppression"], False), "fixes": (["fix"], False)},
    "location": {"physicalLocation": ("place", False)},
    "place": {"artifactLocation": ("artifact", True), "region": ("region", False)},
    "artifact": {"uri": (str, False)},
    "region": {name: (int, True) for name in ("startLine", "startColumn", "endLine", "endColumn")},
    "suppression": {"kind": (str, True), "justification": (str, False)},
    "fix": {"description": ("text", False), "artifactChanges": (["change"], True)},
    "change": {"artifactLocation": ("artifact", True), "replacements": (["replacement"], True)},
    "replacement": {"deletedRegion": ("region", True), "insertedContent": ("text", False)},
}
WORDS = {"level": {"none", "note", "warning", "error"}, "kind": {"inSource", "external"},
         "baselineState": {"new", "unchanged", "updated", "absent"}, "columnKind": {"utf16CodeUnits", "unicodeCodePoints"}}


def check(value, shape, path):
    if isinstance(shape, list):
        assert isinstance(value, list), path
        for i, item in enumerate(value):
            check(item, shape[0], f"{path}[{i}]")
    elif isinstance(shape, str):
        members = SHAPES[shape]
        assert isinstance(value, dict) and not value.keys() - members.keys(), (path, value)
        for name, (kind, required) in members.items():
            assert name in value or not required, (path, name)
            if name in value:
                check(value[name], kind, f"{path}.{name}")
    else:
        assert isinstance(value, shape), (path, value)
        name = path.rsplit(".", 1)[-1]
        assert name not in WORDS or value in WORDS[name], (path, value)
        assert shape is not int or value >= (0 if name == "ruleIndex" else 1), (path, value)
        assert not name.lower().endswith("uri") or re.fullmatch(r"[!-~]+", value), (path, value)


check(sarif, "log", "log")
run = sarif["runs"][0]
driver = run["tool"]["driver"]
rules = [rule["id"] for rule in driver["rules"]]
links = [rule["helpUri"] for rule in driver["rules"] if "helpUri" in rule]
assert bool(links) == ("informationUri" in driver), "only a build that knows where the pages are has links"
assert all(link.startswith(driver["informationUri"]) for link in links), links
assert all(rules[r["ruleIndex"]] == r["ruleId"] for r in run["results"])
assert any(r["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b/%C3%BC.yaml" for r in run["results"])
states = [r["baselineState"] for r in run["results"]]
assert "new" in states and "unchanged" in states, states
assert any(s["kind"] == "inSource" and s["justification"] == "known" for r in run["results"] for s in r.get("suppressions", []))
assert any(r["ruleId"] == "unknown-key" and r["fixes"] for r in run["results"])
same = {(r["partialFingerprints"]["moeplan/v1"]) for r in run["results"] if r["ruleId"] == "unknown-key"}
assert len(same) == 1, "the same finding in two files has two fingerprints"
schema = os.environ.get("MOEPLAN_SARIF_SCHEMA")
try:
    import jsonschema
except ImportError:
    jsonschema = None
if jsonschema and schema:
    jsonschema.validate(sarif, json.loads(pathlib.Path(schema).read_text()))
if jsonschema:
    jsonschema.validate(report, json.loads((folder / "report.schema").read_text()))
assert report["schema"] == 1
assert any(d["fix"] and d["fix"]["edits"] for f in report["files"] for d in f["diagnostics"])

root = xml.etree.ElementTree.parse(folder / "out.checkstyle").getroot()
assert root.tag == "checkstyle" and {f.get("name") for f in root} == {"a b/ü.yaml", "torn.yaml"}, [f.get("name") for f in root]
assert all(e.get("severity") in ("error", "warning", "info") and int(e.get("line")) > 0 for f in root for e in f)

assert all(i["severity"] in ("info", "minor", "major", "critical", "blocker") and i["location"]["lines"]["begin"] > 0
           and i["location"]["path"] and i["description"] and i["check_name"] for i in gitlab)
prints = [i["fingerprint"] for i in gitlab]
assert len(prints) == len(set(prints)) > 0
print("good")
