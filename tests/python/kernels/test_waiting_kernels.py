"""Kernels whose threads wait for other threads, by every means that CUDA has.

A GPU of sm_70 or later guarantees the progress of each thread of a resident block, and these grids are small
enough to be resident. So each kernel ends, with the same result in every order of the threads.
"""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule


@dataclass(frozen=True)
class Waiting:
    """A kernel ``k(int *mem, int *out)``; ``mem`` begins as zeros, ``out`` as -1."""

    source: str
    out: list
    block: int = 64
    grid: int = 1
    mem: dict = field(default_factory=dict)  # initial contents
    cooperative: bool = False


POLL = "static __device__ __noinline__ "
CASES = {
    # A ring of turns: the expected value of the compare-and-swap is no value of memory.
    "token_by_cas": Waiting(
        """__global__ void k(int *mem, int *out) {
             int id = threadIdx.x / 32, n = blockDim.x / 32, done = 0;
             if (threadIdx.x % 32) return;
             while (done < 3) {
               int want = done * n + id;
               if (atomicCAS(mem, want, want + 1) == want) { out[want] = id; done++; } } }""",
        [0, 1, 2, 3] * 3,
        block=128,
    ),
    "token_by_exchange": Waiting(
        """__global__ void k(int *mem, int *out) {
             int id = threadIdx.x / 32; if (threadIdx.x % 32) return;
             int got; while ((got = atomicExch(mem, -1)) != id) if (got >= 0) atomicExch(mem, got);
             out[id] = id; atomicExch(mem, id + 1); }""",
        [0, 1, 2, 3],
        block=128,
    ),
    "token_by_max": Waiting(
        """__global__ void k(int *mem, int *out) {
             int id = threadIdx.x / 32; if (threadIdx.x % 32) return;
             while (atomicMax(mem, -5) != id) ;
             out[id] = id; __threadfence(); atomicMax(mem, id + 1); }""",
        [0, 1, 2, 3],
        block=128,
    ),
    "token_by_or_and_cas_of_own_value": Waiting(
        """__global__ void k(int *mem, int *out) {
             int id = threadIdx.x / 32; if (threadIdx.x % 32) return;
             for (;;) { int seen = atomicOr(mem, 0);
               if (atomicCAS(mem, seen, seen) == seen && seen == id) break; }
             out[id] = id; __threadfence(); atomicAdd(mem, 1); }""",
        [0, 1, 2, 3],
        block=128,
    ),
    "gate_by_add": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { while (atomicAdd(mem, 1) != 0) ; out[0] = ((volatile int *)out)[1] + 1; }
             if (threadIdx.x == 32) { out[1] = 41; __threadfence(); atomicExch(mem, 0); } }""",
        [42, 41],
        mem={0: 1},
    ),
    "gate_by_inc": Waiting(
        """__global__ void k(unsigned *mem, int *out) {
             if (threadIdx.x == 0) { while (atomicInc(mem, 1000000) != 0) ; out[0] = ((volatile int *)out)[1] + 1; }
             if (threadIdx.x == 32) { out[1] = 41; __threadfence(); atomicExch(mem, 0); } }""",
        [42, 41],
        mem={0: 1},
    ),
    "gate_by_add_below_a_limit": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { while (atomicAdd(mem, 1) >= 1) ; out[0] = ((volatile int *)out)[1] + 1; }
             if (threadIdx.x == 32) { out[1] = 41; __threadfence(); atomicExch(mem, 0); } }""",
        [42, 41],
        mem={0: 7},
    ),
    "gate_with_a_large_count": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { for (long long i = 0; i < 1LL << 50; ++i) if (atomicAdd(mem, 0) == 5) break;
                                     out[0] = 1; }
             if (threadIdx.x == 32) atomicExch(mem, 5); }""",
        [1],
    ),
    "count_to_a_volatile_limit": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             if (threadIdx.x == 0) { long long i = 0; while (i != mem[0]) i += 0 * mem[1]; out[0] = 1; }
             if (threadIdx.x == 32) mem[0] = 0; }""",
        [1],
        mem={0: 9},
    ),
    # The flag passes through memory.
    "flag_through_a_local_variable": Waiting(
        POLL
        + """void poll(volatile int *flag, int *result) { *result = *flag; }
           __global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { int r; do poll(mem, &r); while (r == 0); out[0] = r; }
             if (threadIdx.x == 32) { out[1] = 5; __threadfence(); *(volatile int *)mem = 7; } }""",
        [7, 5],
    ),
    "flag_through_a_local_array": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             int seen[8], i = 0;
             for (int j = 0; j < 8; ++j) seen[j] = 0;
             if (threadIdx.x == 0) { do { seen[i & 7] = mem[i & 7]; i++; } while (seen[(i + mem[9]) & 7] == 0); out[0] = 1; }
             if (threadIdx.x == 32) for (int j = 0; j < 8; ++j) mem[j] = 1; }""",
        [1],
    ),
    "flag_through_global_memory": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { do { mem[1] = *(volatile int *)mem; __threadfence(); } while (mem[1] == 0); out[0] = 1; }
             if (threadIdx.x == 32) *(volatile int *)mem = 7; }""",
        [1],
    ),
    "flag_through_a_function_pointer": Waiting(
        POLL
        + """int a(volatile int *f) { return f[0]; }
        static __device__ __noinline__ int b(volatile int *f) { return f[1]; }
           __device__ int (*table[2])(volatile int *) = {a, b};
           __global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { while (table[*(volatile int *)(mem + 2)](mem) == 0) ; out[0] = 1; }
             if (threadIdx.x == 32) *(volatile int *)(mem + 1) = 7; }""",
        [1],
        mem={2: 1},
    ),
    "flag_by_recursion": Waiting(
        POLL
        + """int poll(volatile int *f, int n) { if (*f) return n; if (n > 200) return -1; return poll(f, n + 1) + 0 * *f; }
           __global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { while (poll(mem, 0) < 0) ; out[0] = 1; }
             if (threadIdx.x == 32) *(volatile int *)mem = 7; }""",
        [1],
    ),
    "flag_in_a_loop_of_a_recursive_function": Waiting(
        POLL
        + """int f(volatile int *flag, int n) { if (n == 0) { while (*flag == 0) ; return *flag; } return f(flag, n - 1) + 1; }
           __global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) out[0] = f(mem, 3);
             if (threadIdx.x == 32) *(volatile int *)mem = 7; }""",
        [10],
    ),
    # Plain flags with fences, sleeps and acquiring accesses.
    "plain_flag_with_a_fence": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { while (!*mem) __threadfence(); out[0] = 1; }
             if (threadIdx.x == 32) { *mem = 1; __threadfence(); } }""",
        [1],
    ),
    "plain_flag_of_several_words_with_a_fence": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { int i = 0; while (mem[i & 3] + mem[(i + 1) & 3] < 2) { i++; __threadfence(); } out[0] = 1; }
             if (threadIdx.x == 32) { for (int j = 0; j < 4; ++j) mem[j] = 1; __threadfence(); } }""",
        [1],
    ),
    "flag_with_nanosleep": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             if (threadIdx.x == 0) { unsigned ns = 8; while (*mem == 0) { __nanosleep(ns); if (ns < 256) ns *= 2; } out[0] = 1; }
             if (threadIdx.x == 32) *mem = 1; }""",
        [1],
    ),
    "shared_volatile_flag": Waiting(
        """__global__ void k(int *mem, int *out) {
             __shared__ volatile int flag; if (threadIdx.x == 0) flag = 0; __syncthreads();
             if (threadIdx.x < 32) { while (flag == 0) ; out[threadIdx.x] = 1; } else flag = 1; }""",
        [1] * 32,
    ),
    "shared_atomic_flag": Waiting(
        """__global__ void k(int *mem, int *out) {
             __shared__ int flag; if (threadIdx.x == 0) flag = 0; __syncthreads();
             if (threadIdx.x < 32) { while (atomicOr(&flag, 0) != 32) ; out[threadIdx.x] = 1; } else atomicAdd(&flag, 1); }""",
        [1] * 32,
    ),
    # Lanes of one warp.
    "lanes_wait_for_each_other": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             int t = threadIdx.x; while (mem[0] != t) ; out[t] = t; __threadfence(); mem[0] = t + 1; }""",
        list(range(32)),
        block=32,
    ),
    "lane_through_a_local_variable": Waiting(
        POLL
        + """void poll(volatile int *flag, int *result) { *result = *flag; }
           __global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { int r; do poll(mem, &r); while (r == 0); out[0] = r; }
             else if (threadIdx.x == 1) { out[1] = 5; __threadfence(); *(volatile int *)mem = 7; } }""",
        [7, 5],
        block=32,
    ),
    "lane_gate_by_add": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { while (atomicAdd(mem, 1) != 0) ; out[0] = 1; }
             else if (threadIdx.x == 1) atomicExch(mem, 0); }""",
        [1],
        mem={0: 1},
        block=32,
    ),
    "lock_of_lanes_by_add": Waiting(
        """__global__ void k(int *mem, int *out) {
             while (atomicAdd(mem, 1) != 0) atomicSub(mem, 1);
             ((volatile int *)out)[0]++; __threadfence(); atomicSub(mem, 1); }""",
        [63],
        block=64,
    ),
    # Blocks.
    "blocks_through_shared_memory": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             __shared__ int ready; int b = blockIdx.x, r;
             do { if (threadIdx.x == 0) ready = b + 1 < gridDim.x ? mem[b + 1] : 1;
                  __syncthreads(); r = ready; __syncthreads(); } while (r == 0);
             if (threadIdx.x == 0) { out[b] = r; __threadfence(); mem[b] = r + 1; } }""",
        list(range(16, 0, -1)),
        grid=16,
    ),
    "blocks_through_a_voting_barrier": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             int b = blockIdx.x;
             while (!__syncthreads_or(threadIdx.x == 5 && (b + 1 == gridDim.x || mem[b + 1]))) ;
             if (threadIdx.x == 0) { out[b] = 1; __threadfence(); mem[b] = 1; } }""",
        [1] * 16,
        grid=16,
    ),
    "blocks_of_one_warp_with_a_barrier": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             int b = blockIdx.x;
             while (b + 1 < gridDim.x && !__shfl_sync(~0u, mem[b + 1], 0)) __syncthreads();
             if (threadIdx.x == 0) { out[b] = 1; __threadfence(); mem[b] = 1; } }""",
        [1] * 16,
        block=32,
        grid=16,
    ),
    "blocks_count_by_atomics": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x == 0) { atomicAdd(mem, 1); while (atomicCAS(mem, -1, -1) < gridDim.x) ; out[blockIdx.x] = 1; } }""",
        [1] * 24,
        grid=24,
    ),
    "blocks_in_two_loops_of_barriers": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             __shared__ int done; int b = blockIdx.x;
             if (threadIdx.x == 0) done = 0;
             __syncthreads();
             if (threadIdx.x < 32) { int r; do { if (threadIdx.x == 0) done = b + 1 == gridDim.x || mem[b + 1];
                                                 __syncthreads(); r = done; __syncthreads(); } while (!r); }
             else { int r; do { __syncthreads(); r = done; __syncthreads(); } while (!r); }
             if (threadIdx.x == 0) { out[b] = 1; __threadfence(); mem[b] = 1; } }""",
        [1] * 8,
        grid=8,
    ),
    "cooperative_blocks_through_a_barrier": Waiting(
        """__global__ void k(volatile int *mem, int *out) {
             __shared__ int ready; int b = blockIdx.x, r;
             do { if (threadIdx.x == 0) ready = b + 1 < gridDim.x ? mem[b + 1] : 1;
                  __syncthreads(); r = ready; __syncthreads(); } while (r == 0);
             if (threadIdx.x == 0) { out[b] = r; __threadfence(); mem[b] = r + 1; } }""",
        list(range(16, 0, -1)),
        grid=16,
        cooperative=True,
    ),
    "grid_sync_after_a_poll": Waiting(
        """#include <cooperative_groups.h>
           __global__ void k(volatile int *mem, int *out) {
             if (threadIdx.x == 0 && blockIdx.x == 0) while (!mem[0]) ;
             if (threadIdx.x == 0 && blockIdx.x + 1 == gridDim.x) mem[0] = 1;
             cooperative_groups::this_grid().sync();
             if (threadIdx.x == 0) out[blockIdx.x] = mem[0]; }""",
        [1] * 12,
        grid=12,
        cooperative=True,
    ),
    # A count that others may undo, and queues.
    "queue_of_work": Waiting(
        """__global__ void k(int *mem, int *out) {
             int i; while ((i = atomicAdd(mem, 1)) < 200) atomicAdd(out + i % 4, 1); }""",
        [49] * 4,
        grid=4,
    ),
    "semaphore_by_cas": Waiting(
        """__global__ void k(int *mem, int *out) {
             if (threadIdx.x % 32) return;
             int old; do { old = *(volatile int *)mem; } while (old == 0 || atomicCAS(mem, old, old - 1) != old);
             atomicAdd(out, 1); __threadfence(); atomicAdd(mem, 1); }""",
        [127],
        block=1024,
        grid=4,
        mem={0: 2},
    ),
}


class Hang(Exception):
    pass


def run_case(case):
    """Raises Hang if the kernel does not end in ten seconds, or AssertionError."""
    mem, out = np.zeros(64, np.int32), np.full(256, -1, np.int32)
    for at, value in case.mem.items():
        mem[at] = value
    source = case.source.replace("__global__", 'extern "C" __global__')
    kernel = SourceModule(source, no_extern_c=True).get_function("k")
    signal.alarm(10)
    try:
        kernel(
            cuda.InOut(mem),
            cuda.InOut(out),
            block=(case.block, 1, 1),
            grid=(case.grid, 1),
            cooperative=case.cooperative,
        )
    finally:
        signal.alarm(0)
    assert out[: len(case.out)].tolist() == case.out


def main(cases):
    """Runs all kernels, or those that the command names, and prints those that fail."""
    import pycuda.autoinit  # noqa: F401

    def stop(*_):
        raise Hang("does not end")

    signal.signal(signal.SIGALRM, stop)
    for name in sys.argv[1:] or cases:
        case = cases[name]
        try:
            run_case(case)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", flush=True)


def failures(program, **environment):
    done = subprocess.run(
        [sys.executable, program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
    )
    return done.stdout + (done.stderr[-2000:] if done.returncode else "")


def test_each_kernel_ends(device):
    """On one thread, nothing but softcuda's own switches lets another warp or block run."""
    assert failures(__file__, SOFTCUDA_THREADS="1", SOFTCUDA_VERIFY="1") == ""


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["", "fibers", "lanes"])
def test_each_kernel_ends_without_proofs(tier, device):
    """Without the analysis of loops, each loop may wait."""
    environment = {"SOFTCUDA_SKIP": "loop-ends", "SOFTCUDA_VERIFY": "1"}
    failed = failures(__file__, SOFTCUDA_TIER=tier, **environment).splitlines()
    if tier == "lanes":  # which does not run two barriers that parts of a block come to
        refused = "blocks_in_two_loops_of_barriers: LogicError: cuLaunchKernel failed: operation not supported"
        failed = [line for line in failed if not line.startswith(refused)]
    assert failed == []


if __name__ == "__main__":
    main(CASES)
