#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# limits.sh PROGRAM SOURCE_DIR: what takes too much ends in its file or its request; all others are answered.
. "$(dirname "$0")/../helpers.sh"
moeplan=$(realpath "$moeplan")
cd "$dir"

repeat() { # TIMES TEXT
    awk -v n="$1" -v text="$2" 'BEGIN { while (n-- > 0) print text }'
}
answers() { # WANTED: lines in the file `answers`
    [ "$(wc -l <answers)" = "$1" ] || fail "$(wc -l <answers) answers, not $1"
}
line() { # NUMBER TEXT: that line of the answers has it
    sed -n "$1p" answers | grep -qF -- "$2" || fail "answer $1: no $2: $(sed -n "$1p" answers | cut -c 1-300)"
}

# files: one that doubles an array, one of many documents, and one that is only wrong
mkdir files
{ echo 'X=(a b)'; repeat 100 'X=("${X[@]}" "${X[@]}")'; echo 'torchrun pretrain_gpt.py --bf16 --swiglu --num-layers 4 $X'; } >files/a.sh
repeat 16000 '--- {recipe: x, model: {a: 1}}' >files/b.yaml
echo 'torchrun --nproc_per_node 8 pretrain_gpt.py --bf16 --num-layers 4 --tensor-model-parallel-size 3' >files/c.sh
run 2 "$moeplan" validate files
has "files/a.sh:17:22: error[input-too-large]: too large to be followed: more than 65,536 items in an array"
has "files/b.yaml:1001:1: error[input-too-large]: too large to be read: more than 1,000 documents"
has "files/c.sh:1:27: error[world-size-divides]"
run 2 "$moeplan" validate files --format github
has "file=files/c.sh"
run 0 "$moeplan" explain input-too-large

# below every limit but that of memory
{ printf 'a: ['; repeat 900000 'x,'; echo ']'; printf 'b: '; head -c 50000000 /dev/zero | tr '\0' 'x'; } >large.yaml
run 2 "$moeplan" validate large.yaml files/c.sh
has "large.yaml: error[input-too-large]: cannot be checked: it needs more than 256 MiB of memory"
has "files/c.sh:1:27: error[world-size-divides]"

# lines of a batch, whatever they hold: the last one without its newline
{
    printf '{"id":1,"text":"a: 1"}\n'
    head -c 70000000 /dev/zero | tr '\0' 'x'
    printf '\n\000\n{"id":2,"text":"\377"}\n{"id":3,"text":"\000"}\n\n'
    repeat 3000 '[' | tr -d '\n'
    printf '\n{"id":4,"text":"X=(a b)\\n'
    repeat 100 'X=(${X[@]} ${X[@]})\\n' | tr -d '\n'
    printf 'python pretrain_gpt.py --bf16 --swiglu --num-layers 4"}\n{"id":5,"text":"a: 1"}'
} >lines
"$moeplan" validate --batch <lines >answers || fail "exit $?"
answers 8
line 1 '{"id":1,'
line 2 '{"id":null,"error":"the request is longer than 64 MiB"}'
line 3 '{"id":null,"error":'
line 4 '{"id":null,"error":'
line 5 '{"id":null,"error":'
line 6 '{"id":null,"error":"too large to be read: nested more than 200 deep"}'
line 7 '"rule":"input-too-large"'
line 8 '{"id":5,'

# a long word is read once: a minute is far more than that takes; and of many repeated flags a thousand are told
launch='torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 4 --hidden-size 128 --num-attention-heads 8 --micro-batch-size 1'
{ echo "$launch --bf16"; printf '# -'; head -c 500000 /dev/zero | tr '\0' '_'; } >word.sh
timeout 60 "$moeplan" validate word.sh >/dev/null 2>&1 || [ $? -lt 3 ] || fail "a long word takes longer than a minute"
{ printf '%s --bf16 --dataset Raw' "$launch"; head -c 250000 /dev/zero | tr '\0' '{'; printf '\n'; } >braces.sh
timeout 20 "$moeplan" validate braces.sh >/dev/null 2>&1 || [ $? -lt 3 ] || fail "braces that no template closes are looked through anew at each"
{ printf '%s --rollout-num-gpus 8 --n-samples-per-prompt 8' "$launch"; seq -f ' --rollout-batch-size %.0f' 5000 | tr -d '\n'; } >again.sh
"$moeplan" validate again.sh --format concise >again 2>/dev/null || :
grep -q "flag-repeated" again || fail "a repeated flag is not told"
[ "$(grep -c "flag-repeated" again)" -lt 1000 ] || fail "repeated flags without end"

# a line that nothing ends is read past
head -c 100000000 /dev/zero | tr '\0' ' ' | "$moeplan" eval --batch >answers || fail "exit $?"
answers 1
line 1 'longer than 64 MiB'

# memory: of a list that is as long as an expression may make it there are not many in one text
{
    printf '{"id":1,"text":"x: ['
    repeat 600000 '{a: b},' | tr -d '\n'
    printf ']","as":"plan"}\n{"id":2,"text":"a: 1"}\n'
} | "$moeplan" validate --batch >answers || fail "exit $?"
answers 2
line 1 'input-too-large'
line 2 '{"id":2,'

# time: the YAML parser clears the room of the longest run of blanks at every word
{
    printf '{"id":1,"text":"a: b'
    head -c 4000000 /dev/zero | tr '\0' ' '
    printf 'b'
    repeat 400000 ' a' | tr -d '\n'
    printf '"}\n{"id":2,"text":"a: 1"}\n'
} | "$moeplan" validate --batch --request-timeout 1 >answers || fail "exit $?"
answers 2
line 1 '{"id":1,"error":"the request takes more time than it may (--request-timeout)"}'
line 2 '{"id":2,'
expect 2 "--request-timeout must be an integer of at least 1" "$moeplan" eval --batch --request-timeout 0

# an empty answer to none
: | "$moeplan" suggest --batch >answers || fail "exit $?"
answers 0

# requests say all of their question: nothing beside them is lost without a word
expect 2 "did you mean --gbs 512?" "$moeplan" suggest qwen3-30b-a3b --gpus 8 --platform h100 --batch 512
expect 2 "--gpus is of one question" "$moeplan" suggest --batch --gpus 8 </dev/null
expect 2 'takes no "recipe.yaml"' "$moeplan" validate recipe.yaml --batch </dev/null

# words of the command line may be typed in any case, and a parameter is told where it belongs
asked="$moeplan suggest qwen3-30b-a3b --gpus 8 --platform h100"
expect 0 "tp2 " $asked --precision BF16 --goal Throughput --pin TP=2
expect 0 '{"plans":' $asked --framework Megatron --format JSON
expect 2 "did you mean --pin tp=2?" $asked --tp 2
expect 2 "did you mean --pin tp=2?" $asked --tensor-model-parallel-size=2
expect 2 "did you mean --pin tp=VALUE?" $asked --tp --full
expect 2 "did you mean --seq?" $asked --seq-length 8192
expect 2 "did you mean --format json?" $asked --json
expect 2 "it is an argument: moeplan suggest MODEL" "$moeplan" suggest --model qwen3-30b-a3b
expect 2 "did you mean tensor_model_parallel_size?" $asked --pin tp_size=2
expect 2 "did you mean tensor_model_parallel_size?" "$moeplan" explain tp_size
# what screens say is explained as they say it
expect 0 "tensor_model_parallel_size (tp)" "$moeplan" explain TP
expect 0 "micro_batch_size (mbs)" "$moeplan" explain mbs4
expect 0 "virtual ones" "$moeplan" explain pp4x12
expect 0 "(tt|)*4 repeats, and a bar ends" "$moeplan" explain 'Et*4|(ttt|)*14(tt|)*16mL'
expect 0 "A coefficient of the cost model" "$moeplan" explain hbm_stream
expect 0 "cuda_graph_scope" "$moeplan" explain moe_preprocess
expect 0 "- precision:" "$moeplan" explain MXFP8
for word in p2p ring a2a a2a+p2p all_gather allgather; do expect 0 "how context-parallel ranks exchange" "$moeplan" explain "$word"; done
expect 2 "it is a model: moeplan models glm-5" "$moeplan" explain glm-5
expect 2 "it is a platform: moeplan platforms GB200" "$moeplan" explain GB200
expect 2 "did you mean --set ep=8?" "$moeplan" validate recipe.yaml --ep 8
expect 2 "one of a100, b200" "$moeplan" platforms mi300x
run 2 $asked --nodes 8
! grep -q "did you mean" out err 2>/dev/null || fail "--nodes is told a parameter"
