# SPDX-License-Identifier: Apache-2.0
"""suggest.py MOEPLAN RULES: what `suggest --framework-version` prints for every release of Megatron-LM and of
Megatron-Bridge has only flags, keys and choices of that release, by its own file in RULES/releases, and validates
clean there. With an overlap of expert communication, no MTP layers are said only as the release takes it."""
import os
import subprocess
import sys
import tempfile

QUESTIONS = (
    ("qwen3-30b-a3b", "16", "h100"),
    ("deepseek-v3", "512", "gb200"),
    ("mixtral-8x7b", "64", "h100"),
)


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def options(text):
    """[(flag, its first value)] of printed flags."""
    words = " ".join(line for line in text.split("\n") if not line.startswith("#")).split()
    pairs = zip(words, [*words[1:], ""])
    return [(word, value) for word, value in pairs if word.startswith("--")]


def overrides(text):
    """[(key, its value)] of printed overrides."""
    lines = (line.strip("'").lstrip("+") for line in text.split("\n") if line and not line.startswith("#"))
    pairs = (line.partition("=") for line in lines)
    return [(key, value) for key, _, value in pairs]


def written(framework, text):
    return options(text) if framework == "megatron" else overrides(text)


def mtp_faults(framework, release, pairs):
    """What releases before Megatron-LM 0.19, and Bridge's on those, refuse: an overlap with 0 MTP layers."""
    since = {"megatron": [0, 19], "bridge": [0, 6]}[framework]
    version = release.head["version"]
    old = not version.startswith("main") and [int(part) for part in version.split(".")] < since
    overlaps = {("--overlap-moe-expert-parallel-comm", ""), ("model.overlap_moe_expert_parallel_comm", "true")}
    zero = {("--mtp-num-layers", "0"), ("model.mtp_num_layers", "0")}
    overlap = any(pair in overlaps or (pair[0], "") in overlaps for pair in pairs)
    return ["an overlap of expert communication with 0 MTP layers"] if old and overlap and zero & set(pairs) else []


def faults(moeplan, release, framework, question, folder):
    model, gpus, platform = question
    version = release.head["version"].split("@")[0]
    about = ("--platform", platform, "--framework", framework, "--framework-version", version)
    form = "flags" if framework == "megatron" else "bridge"
    answer = run(moeplan, "suggest", model, "--gpus", gpus, *about, "--format", form)
    if answer.returncode:
        return [f"no answer: {answer.stderr.strip()}"]
    found = mtp_faults(framework, release, written(framework, answer.stdout))
    for flag, value in written(framework, answer.stdout):
        setting = release.settings.get("env_vars" if flag.startswith("env_vars.") else flag)
        choices = (setting or {}).get("choices")
        if setting is None:
            found.append(f"{flag} is not in the release")
        elif isinstance(choices, list) and value not in ["null", *map(str, choices)]:
            found.append(f"{flag} does not take {value} in the release")
    path = os.path.join(folder, "plan." + form)
    with open(path, "w", encoding="utf-8") as out:
        out.write(answer.stdout)
    checked = run(moeplan, "validate", path, "--as", framework, "--gpus", gpus, *about)
    return found + [line for line in checked.stdout.split("\n") if " error[" in line]


def later_key_faults(moeplan, folder):
    """A key of a later release is named by validate, and not where the release has it."""
    path = os.path.join(folder, "later.bridge")
    with open(path, "w", encoding="utf-8") as out:
        out.write("model.gdp_num_householder=3\nmodel.num_layers=8\n")
    found = []
    for version, named in (("0.6", True), ("main", False)):
        said = run(moeplan, "validate", path, "--as", "bridge", "--framework-version", version).stdout
        if ("[unknown-key]" in said) != named:
            found.append(f"bridge {version}: a later key is {'not ' * named}named")
    return found


def main():
    moeplan, rules = sys.argv[1:]
    sys.path.insert(0, os.path.join(rules, "..", "tools", "import"))
    import release

    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        asked = [(f, known, q) for f in ("megatron", "bridge") for known in release.read_all(rules, f) for q in QUESTIONS]
        for fault in later_key_faults(moeplan, folder):
            print(fault)
            bad += 1
        for framework, known, question in asked:
            for fault in faults(moeplan, known, framework, question, folder):
                print(f"{framework} {known.head['version']} {' '.join(question)}: {fault}")
                bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
