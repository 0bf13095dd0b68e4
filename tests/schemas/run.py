# SPDX-License-Identifier: Apache-2.0
"""run.py PROGRAM SOURCE [CORPUS]: the schemas against the files they are of: what moeplan takes they take, and what is misspelt they
refuse. Without a corpus, three kinds and every tenth rule file stand for all. ajv judges where node finds it, else Python's
jsonschema; without PyYAML or both there is nothing to ask with."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

program, source = sys.argv[1], pathlib.Path(sys.argv[2])
corpus = pathlib.Path(sys.argv[3]) if len(sys.argv) > 3 else None
AJV = pathlib.Path(__file__).with_name("ajv.cjs")
try:
    import yaml
except ImportError:
    print("skipped: no PyYAML")
    sys.exit(77)


class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """YAML 1.2's idea of plain words: 1e-6 is a number, a date and yes are none of what they look like."""


PLAIN = {"tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:bool", "tag:yaml.org,2002:float"}
Loader.yaml_implicit_resolvers = {c: [r for r in rs if r[0] not in PLAIN] for c, rs in Loader.yaml_implicit_resolvers.items()}
Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(?:true|false)$"), list("tf"))
Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$"), list("-+.0123456789"))


def load(path):
    documents = list(yaml.load_all(path.read_text(), Loader))
    return documents[0] if len(documents) == 1 and isinstance(documents[0], dict) else None


def judge(schema, files):
    """What is wrong with each of the instances, by name; nothing where all is well."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as asked:
        json.dump({"schema": schema, "instances": files}, asked, default=str)
        asked.flush()
        answer = subprocess.run(["node", AJV, asked.name], capture_output=True, text=True, check=False)
    if answer.returncode == 0:
        return json.loads(answer.stdout)
    if answer.returncode != 77:
        sys.exit(answer.stderr)
    try:
        import jsonschema
    except ImportError:
        print("skipped: neither ajv nor jsonschema")
        sys.exit(77)
    validator = jsonschema.Draft202012Validator(schema)
    validator.check_schema(schema)
    return {name: [e.message for e in validator.iter_errors(file)] for name, file in files.items()
            if not validator.is_valid(file)}


def data(pattern):
    return sorted((source / "rules").glob(pattern))[:: 1 if corpus else 10]


def rule_files():
    for path in data("**/*.yaml"):
        document = load(path)
        if document and document.get("kind") == "Rules":
            yield path


def recipes(folder):
    for path in sorted(folder.rglob("*.yaml")):
        try:
            document = load(path)
        except (yaml.YAMLError, UnicodeDecodeError):
            continue
        if document:
            yield path


GOOD = {
    "plan": [source / "examples/qwen3-235b-256-h800/plan.yaml", source / "examples/qwen3-235b-256-h800/ep32.yaml"],
    "model": data("models/*.yaml") + [source / "examples/deepseek-v3-256-gb200/model.yaml"],
    "platform": data("platforms/*.yaml"),
    "rules": list(rule_files()),
    "automodel": list(recipes(source / "examples/recipes/automodel")) + (list(recipes(corpus / "automodel")) if corpus and corpus.is_dir() else []),
}
BAD = {
    "plan": [{"moeplan": 1, "tensor_parallel": 2}, {"moeplan": 1, "ep": "eight"}, {"moeplan": 1, "pp": 0}, {"tp": 2}],
    "model": [{"num_layers": "many"}, {"hidden_size": 0}],
    "platform": [{"moeplan": 1, "kind": "Platform", "gpu_memory_gb": 3}, {"moeplan": 1, "kind": "Model"},
                 {"moeplan": 1, "kind": "Platform", "coefficients": {"gemm_bf16": {"low": 1}}}],
    "rules": [{"moeplan": 1, "kind": "Rules", "rules": [{"severity": "error"}]}, {"moeplan": 1, "kind": "Rules", "rules": [{"id": "x", "mesage": "y"}]},
              {"moeplan": 1, "kind": "Rules", "rules": [{"id": "x", "severity": "bad"}]}],
    "automodel": [{"distributed": {"tp_size": [1]}}, {"step_scheduler": {"global_batch_size": {}}}],
}
failed = False
for kind, paths in GOOD.items():
    if not corpus and kind in ("model", "platform"):
        continue
    schema = json.loads(subprocess.run([program, "schema", kind], check=True, capture_output=True).stdout)
    bad = {json.dumps(instance): instance for instance in BAD[kind]}
    refused = judge(schema, {**bad, **{str(path): load(path) for path in paths}})
    wrong = {name: errors for name, errors in refused.items() if name not in bad}
    found = len(refused) - len(wrong)
    print(f"{kind}: {len(paths)} files, {len(wrong)} refused; {found} of {len(bad)} bad ones refused")
    for name, errors in list(wrong.items())[:9]:
        print(f"  {name}: {errors[:3]}")
    failed = failed or wrong or found < len(bad) or not paths
sys.exit(bool(failed))
