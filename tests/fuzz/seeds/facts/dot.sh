megatron sft --. \
    --micro_batch_size 1
