#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# explain --error: run-time errors as people paste them, each found first by its text; and what the text itself says.
. "$(dirname "$0")/../helpers.sh"

cat >"$dir/errors" <<'TEXTS'
error-cuda-out-of-memory|torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.50 GiB. GPU 0 has a total capacity of 79.11 GiB of which 3.20 GiB is free.
error-cuda-out-of-memory|RuntimeError: CUDA error: out of memory
error-library-out-of-memory|RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`
error-library-out-of-memory|NCCL WARN Cuda failure 2 'out of memory'
error-host-out-of-memory|torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9) local_rank: 3: Signal 9 (SIGKILL) received by PID 4242
error-host-out-of-memory|slurmstepd: error: Detected 1 oom_kill event in StepId=1234.0. Some of the step tasks have been OOM Killed.
error-shared-memory-full|ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).
error-collective-timeout|[rank7]:[E ProcessGroupNCCL.cpp:607] [Rank 7] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=2217, OpType=_ALLGATHER_BASE, NumelIn=1024, NumelOut=8192, Timeout(ms)=1800000) ran for 1800092 milliseconds before timing out.
error-collective-timeout|ProcessGroupNCCL's watchdog got stuck for 480 seconds. Heartbeat monitor timed out!
error-collective-peer-lost|torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a network error, NCCL version 2.26.2 ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.
error-collective-peer-lost|RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:39812
error-collective-system|ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.
error-collective-same-gpu|ncclInvalidUsage: This usually reflects invalid usage of NCCL library. Duplicate GPU detected : rank 1 and rank 0 both on CUDA device 1b000
error-rendezvous-timeout|torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. 1/2 clients joined.
error-rendezvous-timeout|[W socket.cpp:663] [c10d] The client socket has timed out after 60000ms while trying to connect to (node-0, 29500).
error-port-in-use|RuntimeError: The server socket has failed to listen on any local network address. port: 29500, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use
error-deepep-timeout|RuntimeError: DeepEP error: timeout (dispatch CPU)
error-illegal-memory-access|torch.AcceleratorError: CUDA error: an illegal memory access was encountered
error-device-assert|RuntimeError: CUDA error: device-side assert triggered
error-gpu-failed|NVRM: Xid (PCI:0000:9b:00): 79, pid=1234, GPU has fallen off the bus.
error-no-kernel-image|RuntimeError: CUDA error: no kernel image is available for execution on the device
error-no-such-gpu|RuntimeError: CUDA error: invalid device ordinal
error-driver-too-old|RuntimeError: The NVIDIA driver on your system is too old (found version 12020).
error-graph-capture|RuntimeError: CUDA error: operation not permitted when stream is capturing
error-no-fused-dispatcher|ModuleNotFoundError: No module named 'deep_ep'
error-no-transformer-engine|ModuleNotFoundError: No module named 'transformer_engine'
error-library-mismatch|ImportError: /usr/lib/python3/dist-packages/flash_attn_2_cuda.so: undefined symbol: _ZN3c105ErrorC2E
error-no-apex|ModuleNotFoundError: No module named 'amp_C'
error-no-grouped-gemm|Grouped GEMM is not available. Please run `pip install git+https://github.com/fanshiqing/grouped_gemm`
error-no-attention-backend|ValueError: No dot product attention backend is available for the provided inputs. Please run with NVTE_DEBUG=1
error-unexpected-argument|TypeError: TransformerConfig.__init__() got an unexpected keyword argument 'moe_enable_deepep'
error-child-failed|torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
error-world-size-insufficient|World size (8) is insufficient for the parallelism configuration. Required minimum world size: 16
error-hub-unreachable|OSError: You are trying to access a gated repo. Make sure to have access to it
error-disk-full|OSError: [Errno 28] No space left on device
error-not-a-number|RuntimeError: Rank 3, node n7, device 3, iteration 12: Unexpected result nan (message='found NaN in local grad norm for bucket #0 in backward pass before data-parallel communication collective')
error-host-out-of-memory|ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 8129) of binary: /opt/conda/bin/python
error-shared-memory-full|ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -7) local_rank: 0 (pid: 5275) of binary: /usr/bin/python ChildFailedError:
error-segmentation-fault|[node3:1774 :0:2011] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))
error-collective-system|torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3
error-rdma-memory|misc/ibvwrap.cc:190 NCCL WARN Call to ibv_create_cq failed with error Cannot allocate memory
error-rendezvous-timeout|RuntimeError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer
error-nvshmem|/dvs/nvshmem/src/modules/transport/ibgda/ibgda.cpp:3103: non-zero status: 7 ibgda unable to detect nic handler
error-deepep-ranks|RuntimeError: Failed: Assertion error /workspace/DeepEP/csrc/deep_ep.cpp:1054 'num_ranks % NUM_MAX_NVL_PEERS == 0'
error-checkpoint-shape|CheckpointingException: Global shape mismatch for loaded ((151936, 2048)) and expected ((152064, 2048)) tensor for key embedding.word_embeddings.weight
error-checkpoint-shape|size mismatch for decoder.layers.0.mlp.linear_fc1.weight: copying a param with shape torch.Size([1536, 2048]) from checkpoint, the shape in current model is torch.Size([768, 2048]).
error-checkpoint-keys|RuntimeError: Missing key in checkpoint state_dict: decoder.layers.self_attention.linear_qkv._extra_state/shard_0_48.
error-checkpoint-access|CheckpointingException: Invalid access pattern for ShardedTensor(key='chained_0.optimizer.state.exp_avg')
error-checkpoint-unpickle|_pickle.UnpicklingError: Weights only load failed. This file can still be loaded, to do so you have two options
error-model-type-unknown|ValueError: The checkpoint you are trying to load has model type `qwen3_next` but Transformers does not recognize this architecture.
error-data-missing|AssertionError: One or both of the .idx and .bin files cannot be found at the path prefix /data/my
error-data-helpers-missing|ModuleNotFoundError: No module named 'megatron.core.datasets.helpers_cpp'
error-no-such-gpu|RuntimeError: CUDA unknown error - this may be due to an incorrectly set up environment, e.g. changing env variable CUDA_VISIBLE_DEVICES after program start.
error-fabric-not-ready|RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized
error-gemm-unsupported|RuntimeError: transformer_engine/common/gemm/cublaslt_gemm.cu:333 in function cublas_gemm: cuBLAS Error: the requested functionality is not supported
error-fp8-dimensions|AssertionError: FP8 execution requires 2D input matrices with height divisible by 8 and width divisible by 16, but got tensor with dims=[4090, 4096]
error-autocast-dtypes|AssertionError: Data types for parameters must match when outside of autocasted region. Found input dtype: torch.float32 and 'layer_norm_weight' dtype: torch.bfloat16
error-kernel-resources|triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 262144, Hardware limit: 232448.
error-cudnn-no-plan|RuntimeError: cuDNN Frontend error: [cudnn_frontend] Error: No execution plans support the graph.
error-no-compiler|torch._inductor.exc.InductorError: RuntimeError: Failed to find C compiler. Please specify via CC environment variable.
error-no-linear-attention|ImportError: MambaSSM is not installed. Please install it with `pip install mamba-ssm`.
error-no-launcher|KeyError: 'LOCAL_RANK'
error-time-limit|slurmstepd: error: *** JOB 12345 ON node01 CANCELLED AT 2026-06-01T12:00:00 DUE TO TIME LIMIT ***
error-open-files|OSError: [Errno 24] Too many open files
error-forked-cuda|RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method
error-nothing-trained|RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
error-unused-parameters|RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one.
TEXTS
n=0
while IFS='|' read -r id text; do
    n=$((n + 1))
    printf '%s\n' "$text" | "$moeplan" explain --error - --format markdown >"$dir/out" || fail "nobody knows: $text"
    [ "$(grep -m 1 '^# ' "$dir/out")" = "# $id" ] || fail "$(grep -m 1 '^# ' "$dir/out") comes first, not $id: $text"
done <"$dir/errors"
[ "$n" -ge 60 ] || fail "$n texts only"

# a whole traceback, with what a launcher puts before its lines: who asked, and that pieces are the cause
cat >"$dir/oom" <<'TEXT'
[rank5]: Traceback (most recent call last):
[rank5]:   File "/opt/megatron-lm/megatron/core/transformer/moe/experts.py", line 184, in forward
[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 5 has a total capacity of 79.11 GiB of which 1.10 GiB is free. Of the allocated memory 56.10 GiB is allocated by PyTorch, and 18.40 GiB is reserved by PyTorch but unallocated.
TEXT
"$moeplan" explain --error - <"$dir/oom" >"$dir/out" || fail "no answer"
has "rank 5, GPU 5 asked for 2.00 GiB in experts.py:184 in forward"
has "expandable_segments:True"
expect 0 "expandable_segments:True" "$moeplan" explain --error "$dir/oom"

# a version's number or a folder's name in a traceback is no other rule's error
printf '%s\n' 'File "torch/distributed/distributed_c10d.py", line 938: unhandled system error, NCCL version 2.19.3' |
    "$moeplan" explain --error - --format markdown >"$dir/out"
[ "$(grep -c '^# ' "$dir/out")" = 1 ] || fail "more than one rule knows an error of NCCL"
# an assertion of a framework is still found, and what nobody knows is told
expect 0 "ep-divides-experts" "$moeplan" explain --error "AssertionError: Number of experts should be a multiple of expert model parallel_size."
expect 1 "no rule knows this error" "$moeplan" explain --error "the cat sat on the mat"
