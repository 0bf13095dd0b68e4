# SPDX-License-Identifier: Apache-2.0
"""suggest.py MOEPLAN RULES: what `suggest --framework-version` prints for every release of Megatron-LM has
only flags and choices of that release, by its own file in RULES/releases, and validates clean there."""
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


def faults(moeplan, release, question, folder):
    model, gpus, platform = question
    version = release.head["version"].split("@")[0]
    about = ("--platform", platform, "--framework", "megatron", "--framework-version", version)
    answer = run(moeplan, "suggest", model, "--gpus", gpus, *about, "--format", "flags")
    if answer.returncode:
        return [f"no answer: {answer.stderr.strip()}"]
    found = []
    for flag, value in options(answer.stdout):
        setting = release.settings.get(flag)
        choices = (setting or {}).get("choices")
        if setting is None:
            found.append(f"{flag} is not in the release")
        elif isinstance(choices, list) and value not in map(str, choices):
            found.append(f"{flag} does not take {value} in the release")
    path = os.path.join(folder, "plan.args")
    with open(path, "w", encoding="utf-8") as out:
        out.write(answer.stdout)
    checked = run(moeplan, "validate", path, "--as", "megatron", "--gpus", gpus, *about)
    return found + [line for line in checked.stdout.split("\n") if " error[" in line]


def main():
    moeplan, rules = sys.argv[1:]
    sys.path.insert(0, os.path.join(rules, "..", "tools", "import"))
    import release

    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for known in release.read_all(rules, "megatron"):
            for question in QUESTIONS:
                for fault in faults(moeplan, known, question, folder):
                    print(f"{known.head['version']} {' '.join(question)}: {fault}")
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
