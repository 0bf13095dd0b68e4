# SPDX-License-Identifier: Apache-2.0
"""What is read of a file that `moeplan suggest` printed: which format it has, what its head says, and its words."""
import dataclasses
import os
import re
import shlex
import subprocess

import yaml

PLATFORMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "rules", "platforms")
FRAMEWORKS = {"script": "megatron", "flags": "megatron", "overrides": "bridge", "yaml": "automodel"}


class Unable(Exception):
    """What keeps the judge from judging: nothing of the framework's."""


@dataclasses.dataclass
class Emitted:
    """One file. `head` has the `key=value` of its `# moeplan:` lines; `gpus` is 0 where nothing says how many."""

    path: str
    text: str
    format: str
    head: dict
    gpus: int
    platform: str

    @property
    def framework(self):
        return FRAMEWORKS[self.format]

    def words(self):
        """The file as a shell's words, without comments."""
        lines = [line for line in self.text.splitlines() if not line.startswith("#")]
        return shlex.split("\n".join(lines))

    def environment(self):
        """The variables that the head of flags says."""
        said = re.search(r"^# environment: (.*)$", self.text, re.M)
        return dict(word.split("=", 1) for word in said[1].split()) if said else {}

    def stands_on_model(self):
        """What the head says the model is made by: the Hugging Face name, or a plain provider's class."""
        said = re.search(r'^# stands on \w+\(\) with the model (?:AutoBridge\.from_hf_pretrained\("(.*)"\)|(\w+)\(\))',
                         self.text, re.M)
        return said.groups() if said else (None, None)


def format_of(text):
    """By what the first line that is no comment looks like."""
    if text.startswith("#!"):
        return "script"
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    if first.startswith("--"):
        return "flags"
    return "overrides" if re.match(r"'?[+~]*[\w.]+=", first) else "yaml"


def read(path, gpus=0, platform=""):
    """The file at `path`; `gpus` and `platform` go before what its head says."""
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    said = re.search(r"^# moeplan \S+: .*, (\d+) x (\S+), seq", text, re.M)
    return Emitted(path, text, format_of(text), dict(re.findall(r"^# moeplan: (\w+)=(.+)$", text, re.M)),
                   gpus or (int(said[1]) if said else 0), platform or (said[2] if said else "h100"))


def platform(name):
    """A platform of rules/platforms: its own keys over those of the one that it stands on."""
    path = os.path.join(PLATFORMS, name + ".yaml")
    if not os.path.exists(path):
        raise Unable(f"no platform {name} in rules/platforms: name one with --platform")
    with open(path, encoding="utf-8") as f:
        keys = yaml.safe_load(f)
    return (platform(keys["base"]) if "base" in keys else {}) | keys


def chip(name):
    """A platform as (compute capability, GPUs per node, GiB)."""
    p = platform(name)
    major, _, minor = str(p["compute_capability"]).partition(".")
    return (int(major), int(minor or 0)), int(p["gpus_per_node"]), float(p["gpu_memory_gib"])


# srun and torchrun say what they got instead of starting it; scontrol knows one node.
SAY = """say() { printf '%s\\0' "$@"; printf '\\0'; env -0; }
srun() { say "$@"; }
torchrun() { say torchrun "$@"; }
scontrol() { echo localhost; }
. "$0"
"""


def started(path):
    """What a launch script starts: its words and its environment. bash runs it."""
    environment = {"PATH": os.environ["PATH"], "SLURM_JOB_NODELIST": "localhost"}
    ran = subprocess.run(["bash", "-c", SAY, path], capture_output=True, text=True, timeout=20, env=environment)
    if "\0\0" not in ran.stdout:
        raise Unable(f"the script starts nothing: {ran.stderr.strip()[-200:]}")
    words, env = ran.stdout.split("\0\0", 1)
    pairs = (line.split("=", 1) for line in env.split("\0") if "=" in line)
    return words.split("\0"), {k: v for k, v in pairs if not k.startswith("BASH_FUNC") and k not in environment}
