# SPDX-License-Identifier: Apache-2.0
"""fixes.py MOEPLAN SOURCE: plants a fixable mistake in each of 100 files and more, in four formats, and has them fixed.

Every file is then the one that it was planted in, byte for byte; where the fix adds what was taken away, it has the same
words, and every other line is as it was. A second --fix changes nothing."""
import itertools
import pathlib
import subprocess
import sys
import tempfile

MOEPLAN, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])

FLAGS = """# a model of two layers
--num-layers 2 --hidden-size 64 --num-attention-heads 8 --disable-bias-linear
--seq-length 128 --max-position-embeddings 128   # short
--micro-batch-size 1 --global-batch-size 8 --train-iters 10
--tensor-model-parallel-size 2 --sequence-parallel
--num-experts 8 --moe-router-topk 2 --expert-model-parallel-size 2
--moe-token-dispatcher-type alltoall
--use-distributed-optimizer --bf16 --lr 1e-4
"""

SCRIPT = """#!/bin/bash
# launches the run
TP=2
MODEL_ARGS=(
  --num-layers 2   # two
  --hidden-size 64 --disable-bias-linear
  --num-attention-heads 8
  --num-experts 8 --moe-router-topk 2
)
OPT="--lr 1e-4 --use-distributed-optimizer"
torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py \\
  --tensor-model-parallel-size $TP --sequence-parallel \\
  --seq-length 128 --max-position-embeddings 128 \\
  --micro-batch-size 1 --global-batch-size 8 \\
  --moe-token-dispatcher-type alltoall \\
  --train-iters 10 --mock-data --tokenizer-type NullTokenizer --vocab-size 128 \\
  ${MODEL_ARGS[@]} $OPT \\
  --bf16
echo done
"""

OVERRIDES = """# moeplan: recipe=qwen3_30b_a3b_pretrain_config
model.tensor_model_parallel_size=2
model.expert_model_parallel_size=8   # all
train.global_batch_size=64 train.micro_batch_size=1
'model.sequence_parallel=true'
"""

BRIDGE = """# moeplan: format=bridge
model:
  num_layers: 2  # two
  tensor_model_parallel_size: 2
  pipeline_model_parallel_size: 1
train:
  global_batch_size: 64
  micro_batch_size: 1
"""


def recipe():
    return (SOURCE / "examples/recipes/automodel/qwen3_30b_a3b_sft.yaml").read_text()


def slips(word):
    """Slips behind the first letters: one letter less, two swapped, one twice."""
    at = len(word) // 2
    while word[at] in "-_." or word[at + 1] in "-_." or word[at] == word[at + 1]:
        at += 1
    yield word[:at] + word[at + 1 :]
    yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    yield word[: at + 1] + word[at:]


def planted():
    """(name, text as it should be, text with the mistake)"""
    texts = [("args", FLAGS), ("sh", SCRIPT)]
    words = ["--num-attention-heads", "--hidden-size", "--max-position-embeddings", "--global-batch-size",
             "--micro-batch-size", "--use-distributed-optimizer", "--moe-router-topk", "--train-iters",
             "--tensor-model-parallel-size"]
    for (kind, text), word in itertools.product(texts, words):
        for slip in slips(word):
            yield kind, text, text.replace(word, slip, 1)
    for kind, text in texts:
        yield kind, text, text.replace("--bf16", "--bf16 true")
        yield kind, text, text.replace("--hidden-size 64", "--hidden_size 64")
        yield kind, text, text.replace("--lr 1e-4", "--lr 2e-4 --lr 1e-4")
        yield kind, text, text.replace("--seq-length 128", "--seq-length 256 --seq-length 128")
    lines = SCRIPT.split("\n")
    first = next(i for i, line in enumerate(lines) if line.endswith("\\"))
    for i in range(first + 1, first + 6):
        lost = lines[:]
        lost[i] = lost[i][:-2]
        yield "sh", SCRIPT, "\n".join(lost)
        blank = lines[:]
        blank[i] += "  "
        yield "sh", SCRIPT, "\n".join(blank)
    selective = SCRIPT.replace("--bf16", "--bf16 --recompute-granularity selective")
    yield "sh", selective, selective.replace("selective\n", "selective \\\n  --recompute-method uniform\n")
    keys = ["model.tensor_model_parallel_size", "model.expert_model_parallel_size", "train.global_batch_size",
            "train.micro_batch_size", "model.sequence_parallel"]
    for key in keys:
        for slip in itertools.islice(slips(key), 3):
            yield "txt", OVERRIDES, OVERRIDES.replace(key, slip, 1)
    for key in ["tensor_model_parallel_size", "pipeline_model_parallel_size", "global_batch_size", "micro_batch_size"]:
        for slip in slips(key):
            yield "yaml", BRIDGE, BRIDGE.replace(key, slip)
    text = recipe()
    for key in ["strategy", "global_batch_size", "local_batch_size", "step_scheduler"]:
        if text.count(key + ":") != 1:
            continue
        for slip in slips(key):
            yield "yaml", text, text.replace(key + ":", slip + ":")
    for line in text.splitlines(keepends=True):
        key, _, value = line.partition(":")
        if line.startswith("  ") and value.strip() and not line.lstrip().startswith(("#", "-")) and "_target_" not in key:
            yield "yaml", text, text.replace(line, f"{key}: 77  # forgotten\n" + line, 1)


def lacking():
    """Texts that lack what their rules ask for, and the words that are to come back."""
    for text, kind in ((FLAGS, "args"), (SCRIPT, "sh")):
        yield kind, text.replace(" --sequence-parallel", ""), "--sequence-parallel"
        yield kind, text.replace("--use-distributed-optimizer", "--overlap-param-gather --overlap-grad-reduce"), "--use-distributed-optimizer"
        yield kind, text.replace("--bf16", "--bf16 --recompute-granularity selective --recompute-method uniform"), None
    yield "txt", OVERRIDES.replace("'model.sequence_parallel=true'", "model.sequence_parallel=false"), "true"


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    cases = {}
    for i, (kind, good, bad) in enumerate(planted()):
        assert good != bad, (kind, i)
        path = folder / f"{i:03}.{kind}"
        path.write_text(bad)
        cases[path] = good
    more = {}
    for i, (kind, text, word) in enumerate(lacking()):
        more[folder / f"more{i}.{kind}"] = (text, word)
        (folder / f"more{i}.{kind}").write_text(text)
    clean = folder / "clean"
    clean.mkdir()
    for i, good in enumerate({good: None for good in cases.values()}):
        (clean / f"{i}{next(p for p, g in cases.items() if g == good).suffix}").write_text(good)
    before = subprocess.run([MOEPLAN, "validate", "--fail-on", "warning", str(clean)], capture_output=True, text=True)
    assert before.returncode == 0, "the files are not clean before: " + before.stdout
    assert len(cases) >= 100, len(cases)
    subprocess.run([MOEPLAN, "validate", "--isolated", "--fix", str(folder)], capture_output=True, check=False)
    wrong = [path for path, good in cases.items() if path.read_text() != good]
    for path in wrong:
        diff = subprocess.run(["diff", "-", path], input=cases[path], capture_output=True, text=True).stdout
        said = subprocess.run([MOEPLAN, "validate", str(path)], capture_output=True, text=True).stdout
        print(path.name, "is not as it was:", diff, said)
    after = {path: path.read_bytes() for path in cases}
    for path, (text, word) in more.items():
        lines, kept = path.read_text().splitlines(), text.splitlines()
        still = subprocess.run([MOEPLAN, "validate", "--isolated", str(path)], capture_output=True, text=True)
        words = path.read_text().split()
        gone = sum(line not in lines for line in kept)
        if still.returncode or gone > 1 or (word and not any(word in w for w in words)) or (not word and "--recompute-method" in words):
            print(path.name, "is not mended:", path.read_text(), still.stdout)
            wrong.append(path)
        after[path] = path.read_bytes()
    subprocess.run([MOEPLAN, "validate", "--isolated", "--fix", str(folder)], capture_output=True, check=False)
    changed = [path.name for path, text in after.items() if path.read_bytes() != text]
    print(f"{len(after)} files, {len(wrong)} not as they were, {len(changed)} changed again")
    sys.exit(1 if wrong or changed else 0)


if __name__ == "__main__":
    main()
