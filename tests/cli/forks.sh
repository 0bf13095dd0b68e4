#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Forks of Megatron-LM: which release they stand on, what their parsers take, and what a model of their own does not check.
. "$(dirname "$0")/../helpers.sh"
cd "$dir"

# a flag that a newer release has too may be the fork's own: one alone says nothing of the release, two do
own="$data --hop-a 1 --hop-b 2 --cross-entropy-loss-fusion --cross-entropy-fusion-impl te"
script train_hop.py "$own"
expect 0 "release 0.17 does not refuse it" "$moeplan" validate r.sh
script train_hop.py "$own --chat-template hop"
expect 0 "warning[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh
script train_hop.py "$own --chat-template hop --fault-injector-ranks 1"
expect 1 "error[cross-entropy-fusion-not-te]" "$moeplan" validate r.sh

# what a model class of Megatron-LM's checks, a script that builds another model does not run into
export NVTE_FUSED_ATTN=0
printf '#!/bin/bash\nexport NVTE_FUSED_ATTN=0\ntorchrun --nproc_per_node 8 train_hop.py %s\n' "$sizes $data --hop-a 1 --hop-b 2 --attention-backend fused" >r.sh
expect 0 "warning[attention-environment-fused]" "$moeplan" validate r.sh
has "this script may build another"
sed -i 's/train_hop.py/pretrain_gpt.py/' r.sh
expect 1 "error[attention-environment-fused]" "$moeplan" validate r.sh

# a parser that is made of dataclasses: the fields of the checkout's are its flags, and their words its choices
mkdir -p fork/megatron/core fork/megatron/training/config
printf 'MAJOR = 0\nMINOR = 19\n' >fork/megatron/core/package_info.py
printf 'factory = ArgumentGroupFactory(HopConfig)\n' >fork/megatron/training/arguments.py
printf '@dataclass\nclass HopConfig:\n    distributed_backend: Literal["nccl", "hop"] = "nccl"\n    """Hops."""\n\n    num_expert: int = 1\n\n    mmap_hop: bool = True\n' \
    >fork/megatron/training/config/common_config.py
script pretrain_gpt.py "$data --distributed-backend hop --num-expert 8 --no-mmap-hop"
expect 0 "warning[value-choice]: --distributed-backend does not take 'hop'" "$moeplan" validate r.sh
cp r.sh fork/
expect 0 "info[fork-flags]: --num-expert and 1 others are flags of this checkout" "$moeplan" validate fork/r.sh
lacks "value-choice"
sed -i 's/backend hop/backend nccl2/' fork/r.sh
expect 0 "warning[value-choice]: --distributed-backend does not take 'nccl2'" "$moeplan" validate fork/r.sh
printf 'x = 1\n' >fork/megatron/training/arguments.py
expect 0 "has no flag --num-expert" "$moeplan" validate fork/r.sh
