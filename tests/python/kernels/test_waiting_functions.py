"""Kernels whose threads wait for other threads inside functions that are not inlined.

A lane waits in a recursive function, at some depth, for a lane of its warp that is in the kernel, in another call,
or that has returned. `test_waiting_kernels` has the other kernels that wait, and how they are run.
"""

import pytest
from test_waiting_kernels import Waiting, failures

# A recursion that the compiler cannot turn into a loop: DEEP(n, then) returns `then`, n calls deep, and counts.
DEEP = """
static __device__ __noinline__ int deep(int n, volatile int *mem, int want, int t) {
  if (n > 0) { int below = deep(n - 1, mem, want, t); return below * 2 + 1; }
  AT_THE_END
}
"""
POLL_DEEP = DEEP.replace(
    "AT_THE_END", "int v; while ((v = *mem) != want) ; return v + t;"
)


def twice(n, value):
    """What `deep` makes of a value, n calls up."""
    return (value + 1) * 2**n - 1


CASES = {
    "deep_for_the_caller": Waiting(
        POLL_DEEP
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t < 16) out[t] = deep(t & 3, mem, 7, 0); else if (t == 31) *(volatile int *)mem = 7; }""",
        [twice(t & 3, 7) for t in range(16)],
        block=32,
    ),
    "caller_and_deep_in_turn": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "for (int i = 0; i < 8; i += 2) { while (*mem != i) ; *mem = i + 1; } return 3;",
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x; volatile int *m = mem;
               if (t == 5) out[0] = deep(2, mem, 0, 0);
               if (t == 9) { for (int i = 1; i < 8; i += 2) { while (*m != i) ; *m = i + 1; } out[1] = 4; } }""",
        [twice(2, 3), 4],
        block=32,
    ),
    "token_through_depths": Waiting(
        POLL_DEEP.replace(
            "return v + t;", "__threadfence(); *mem = want + 1; return v;"
        )
        + """__global__ void k(int *mem, int *out) { int t = threadIdx.x; out[t] = deep(31 - t, mem, t, 0) < 0; }""",
        [int(twice(31 - t, t) & 0x80000000 != 0) for t in range(32)],
        block=32,
    ),
    "token_up_the_depths": Waiting(
        POLL_DEEP.replace(
            "return v + t;", "__threadfence(); *mem = want + 1; return v;"
        )
        + """__global__ void k(int *mem, int *out) { int t = threadIdx.x; out[t] = deep(t % 8, mem, t, 0); }""",
        [twice(t % 8, t) for t in range(32)],
        block=32,
    ),
    "lock_in_functions_and_kernel": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "while (atomicCAS((int *)mem, 0, 1)) ; mem[1] += 1; __threadfence(); atomicExch((int *)mem, 0); return 0;",
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x; volatile int *m = mem;
               if (t % 3) out[t + 1] = deep(t % 5, mem, 0, 0);
               else { while (atomicCAS(mem, 0, 1)) ; m[1] += 1; __threadfence(); atomicExch(mem, 0); }
               __syncthreads(); if (t == 0) out[0] = m[1]; }""",
        [64],
    ),
    "through_a_table_of_functions": Waiting(
        """typedef int (*F)(int, volatile int *);
           __device__ int odd(int n, volatile int *m); __device__ int even(int n, volatile int *m);
           __device__ F table[2] = {even, odd};
           __device__ __noinline__ int odd(int n, volatile int *m) { return 3 * table[(n - 1) & 1](n - 1, m) ^ 1; }
           __device__ __noinline__ int even(int n, volatile int *m) {
             if (n) return 5 * table[(n - 1) & 1](n - 1, m) + 2;
             while (m[0] == 0) ; return m[0]; }
           __global__ void k(int *mem, int *out) {
             int t = threadIdx.x;
             if (t < 4) out[t] = table[t & 1](t, mem); else if (t == 20) *(volatile int *)mem = 6; }""",
        [6, 19, 97, 290],
        block=32,
    ),
    "virtual_functions": Waiting(
        """struct Base { virtual __device__ int run(volatile int *m, Base **all, int n) = 0; };
           struct Waits : Base { __device__ int run(volatile int *m, Base **all, int n) { while (*m == 0) ; return *m; } };
           struct Calls : Base { __device__ int run(volatile int *m, Base **all, int n) {
             return 2 * all[n > 1](m, n) + 1; } };
           __global__ void k(int *mem, int *out) {
             Waits w; Calls c; Base *all[2] = {&w, &c};
             int t = threadIdx.x;
             if (t < 8) out[t] = all[t > 0]->run(mem, all, t); else if (t == 30) *(volatile int *)mem = 4; }""".replace(
            "all[n > 1](m, n)", "all[n > 1]->run(m, all, n - 1)"
        ),
        [twice(t, 4) for t in range(8)],
        block=32,
    ),
    "mutual_recursion": Waiting(
        """static __device__ __noinline__ int b(int n, volatile int *m);
           static __device__ __noinline__ int a(int n, volatile int *m) {
             if (n <= 0) { while (atomicAdd((int *)m, 0) == 0) ; return 1; } return b(n - 1, m) * 3 + 1; }
           static __device__ __noinline__ int b(int n, volatile int *m) {
             if (n <= 0) { while (m[1] == 0) __nanosleep(20); return 2; } return a(n - 1, m) * 3 - 1; }
           __global__ void k(int *mem, int *out) {
             int t = threadIdx.x;
             if (t < 4) out[t] = a(t, mem); else if (t == 8) { atomicExch(mem, 1); ((volatile int *)mem)[1] = 1; } }""",
        [1, 7, 3 * 2 + 1, 3 * (3 * (3 * 2 + 1) - 1) + 1],
        block=32,
    ),
    "returned_lane_gives_the_flag": Waiting(
        DEEP.replace(
            "AT_THE_END", "if (t == 3) return 9; while (*mem != 5) ; return 5;"
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x; int v = deep(2, mem, 0, t);
               if (t == 3) *(volatile int *)mem = 5;
               out[t] = v; }""",
        [twice(2, 9 if t == 3 else 5) for t in range(32)],
        block=32,
    ),
    "lane_ends_in_a_function": Waiting(
        DEEP.replace(
            "AT_THE_END",
            'if (t % 2) { atomicAdd((int *)mem, 1); asm volatile("exit;"); }'
            " while (*mem != 16) ; return t;",
        )
        + """__global__ void k(int *mem, int *out) { int t = threadIdx.x; out[t] = deep(t % 3, mem, 0, t); }""",
        [-1 if t % 2 else twice(t % 3, t) for t in range(32)],
        block=32,
    ),
    "arrivals_at_all_depths": Waiting(
        DEEP.replace(
            "AT_THE_END", "atomicAdd((int *)mem, 1); while (*mem < want) ; return 1;"
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t % 4) out[t] = deep(t % 4, mem, 128, t);
               else { atomicAdd(mem, 1); while (*(volatile int *)mem < 128) ; out[t] = 1; } }""",
        [twice(t % 4, 1) for t in range(64)],
        grid=2,
    ),
    "shared_flag": Waiting(
        DEEP.replace("AT_THE_END", "while (*mem == 0) ; return *mem;")
        + """__global__ void k(int *mem, int *out) {
               __shared__ int flag; int t = threadIdx.x; if (t == 0) flag = 0; __syncthreads();
               if (t % 32 < 8) out[t] = deep(t % 3, &flag, 0, t); else if (t == 63) *(volatile int *)&flag = 2; }""",
        [twice(t % 3, 2) if t % 32 < 8 else -1 for t in range(64)],
    ),
    "local_arrays": Waiting(
        """static __device__ __noinline__ int walk(int n, volatile int *m, int *above) {
             int own[4]; for (int i = 0; i < 4; ++i) own[i] = above[i ^ (n & 3)] + n;
             if (n == 0) { while (*m == 0) ; return own[*m & 3]; }
             int below = walk(n - 1, m, own); return below * 2 + own[n & 3]; }
           __global__ void k(int *mem, int *out) {
             int t = threadIdx.x, own[4] = {t, t + 1, t + 2, t + 3};
             if (t < 8) out[t] = walk(t % 4, mem, own); else if (t == 16) *(volatile int *)mem = 1; }""",
        [],
        block=32,
    ),
    # Exchanges.
    "syncwarp_at_depths": Waiting(
        DEEP.replace(
            "AT_THE_END", "((int *)mem)[t] = t; __syncwarp(); return mem[t ^ 31];"
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t % 2) out[t] = deep(t % 3, mem, 0, t);
               else { mem[t] = t; __syncwarp(); out[t] = ((volatile int *)mem)[t ^ 31]; } }""",
        [twice(t % 3, t ^ 31) if t % 2 else t ^ 31 for t in range(32)],
        block=32,
    ),
    "shuffle_at_depths": Waiting(
        DEEP.replace("AT_THE_END", "return __shfl_xor_sync(~0u, t * 10, 1);")
        + "__global__ void k(int *mem, int *out) { int t = threadIdx.x % 32; out[threadIdx.x] = deep(t % 4, mem, 0, t); }",
        [twice(t % 4, (t % 32 ^ 1) * 10) for t in range(64)],
    ),
    "votes_at_depths": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "return __ballot_sync(0xffff, t % 3 == 0) + __any_sync(0xffff, t == 4);",
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t >= 16) return;
               out[t] = deep(t / 8, mem, 0, t); }""",
        [twice(t // 8, sum(1 << i for i in range(0, 16, 3)) + 1) for t in range(16)],
        block=32,
    ),
    "match_and_reduce_at_depths": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "return (__match_any_sync(~0u, t & 1) & 255) + __reduce_add_sync(~0u, t);",
        )
        + "__global__ void k(int *mem, int *out) { int t = threadIdx.x; out[t] = deep(t & 1, mem, 0, t); }",
        [twice(t & 1, (0xAA if t & 1 else 0x55) + 496) for t in range(32)],
        block=32,
    ),
    "mask_of_the_active_lanes": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "unsigned here = __activemask(); int lanes = __popc(__ballot_sync(here, 1));"
            " while (*mem == 0) ; return lanes > 0;",
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t < 9) out[t] = deep(1, mem, 0, t); else if (t == 9) *(volatile int *)mem = 1; }""",
        [3] * 9,
        block=32,
    ),
    "shuffle_then_wait": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "int v = __shfl_sync(0xff, t, 7); while (*mem == 0) ; return v + __shfl_up_sync(0xff, t, 1);",
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t < 8) out[t] = deep(t & 1, mem, 0, t); else if (t == 8) *(volatile int *)mem = 1; }""",
        [twice(t & 1, 7 + max(t - 1, 0)) for t in range(8)],
        block=32,
    ),
    "tiles_of_cooperative_groups": Waiting(
        """#include <cooperative_groups.h>
           namespace cg = cooperative_groups;
           static __device__ __noinline__ int deep(int n, volatile int *m, cg::thread_block_tile<8> tile, int t) {
             if (n > 0) return 2 * deep(n - 1, m, tile, t) + 1;
             while (*m == 0) ; tile.sync(); return tile.shfl(t, 0); }
           __global__ void k(int *mem, int *out) {
             auto tile = cg::tiled_partition<8>(cg::this_thread_block()); int t = threadIdx.x;
             if (t < 24) out[t] = deep(t % 3, mem, tile, t); else if (t == 31) *(volatile int *)mem = 1; }""",
        [twice(t % 3, t // 8 * 8) for t in range(24)],
        block=32,
    ),
    # Barriers.
    "barrier_in_a_recursion_of_all": Waiting(
        """static __device__ __noinline__ int deep(int n, int *s, int t) {
             s[t] += n; __syncthreads(); int v = s[t ^ 33]; __syncthreads();
             if (n == 0) return v; return deep(n - 1, s, t) * 2 + v; }
           __global__ void k(int *mem, int *out) {
             __shared__ int s[64]; int t = threadIdx.x; s[t] = 1; out[t] = deep(3, s, t); }""",
        [7 * 8 + 7 * 4 + 6 * 2 + 4] * 64,
    ),
    "barrier_at_depths": Waiting(
        DEEP.replace(
            "AT_THE_END",
            'asm volatile("barrier.sync 0;" ::: "memory"); return mem[t ^ 1];',
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x; mem[t & 63] = t;
               if (t % 3) out[t] = deep(t % 3, mem, 0, t & 63);
               else { asm volatile("barrier.sync 0;" ::: "memory"); out[t] = ((volatile int *)mem)[(t & 63) ^ 1]; } }""",
        [twice(t % 3, t ^ 1) for t in range(64)],
    ),
    "votes_of_a_barrier_in_a_recursion": Waiting(
        DEEP.replace(
            "AT_THE_END",
            "return __syncthreads_count(t % 2) + 100 * __syncthreads_or(t == 40);",
        )
        + "__global__ void k(int *mem, int *out) { int t = threadIdx.x; out[t] = deep(2, mem, 0, t); }",
        [twice(2, 132)] * 64,
    ),
    "warps_wait_in_functions": Waiting(
        POLL_DEEP
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t / 32 == 0) out[t] = deep(t % 2, mem, 1, 0); else if (t == 95) *(volatile int *)mem = 1; }""",
        [twice(t % 2, 1) for t in range(32)],
        block=96,
    ),
    "blocks_wait_in_functions": Waiting(
        POLL_DEEP.replace("return v + t;", "return v;")
        + """__global__ void k(int *mem, int *out) {
               int b = blockIdx.x, t = threadIdx.x;
               if (t == b % 32) { int v = b + 1 < gridDim.x ? deep(b % 3, mem + b + 1, 1, 0) : 0;
                 out[b] = v; __threadfence(); ((volatile int *)mem)[b] = 1; }
               if (t == 40) while (((volatile int *)mem)[b] == 0) ; }""",
        [twice(b % 3, 1) if b < 15 else 0 for b in range(16)],
        grid=16,
    ),
    "grid_barrier_in_a_recursion": Waiting(
        """#include <cooperative_groups.h>
           static __device__ __noinline__ int deep(int n, volatile int *m, int t) {
             if (n > 0) return 2 * deep(n - 1, m, t) + 1;
             atomicAdd((int *)m, 1); cooperative_groups::this_grid().sync(); return *m; }
           __global__ void k(int *mem, int *out) { int v = deep(2, mem, 0); if (threadIdx.x == 0) out[blockIdx.x] = v; }""",
        [twice(2, 384)] * 6,
        grid=6,
        cooperative=True,
    ),
    # Other means to wait.
    "sleep": Waiting(
        DEEP.replace("AT_THE_END", "while (*mem != 4) __nanosleep(100); return 1;")
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t < 4) out[t] = deep(t, mem, 0, t); else if (t < 8) atomicAdd(mem, 1); }""",
        [twice(t, 1) for t in range(4)],
        block=32,
    ),
    "memory_from_the_heap": Waiting(
        """static __device__ __noinline__ int deep(int n, int *volatile *slot) {
             if (n > 0) { int v = deep(n - 1, slot); return v * 2 + 1; }
             int *p; while ((p = *slot) == 0) ; return *p; }
           __global__ void k(int *mem, int *out) {
             int t = threadIdx.x; int *volatile *slot = (int *volatile *)mem;
             if (t < 8) out[t] = deep(t % 3, slot);
             else if (t == 8) { int *p = (int *)malloc(8); *p = 11; __threadfence(); *slot = p; } }""",
        [twice(t % 3, 11) for t in range(8)],
        block=32,
    ),
    "asynchronous_copies": Waiting(
        """static __device__ __noinline__ int deep(int n, int *s, const int *from, volatile int *m) {
             if (n > 0) return 2 * deep(n - 1, s, from, m) + 1;
             unsigned at = (unsigned)__cvta_generic_to_shared(s);
             asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group; cp.async.wait_group 0;"
                          :: "r"(at), "l"(from) : "memory");
             while (*m == 0) ; return *(volatile int *)s; }
           __global__ void k(int *mem, int *out) {
             __shared__ int s[32]; int t = threadIdx.x; mem[t + 32] = t + 5;
             if (t < 16) out[t] = deep(t % 4, s + t, mem + 32 + t, mem); else if (t == 17) *(volatile int *)mem = 1; }""",
        [twice(t % 4, t + 5) for t in range(16)],
        block=32,
    ),
    "barrier_objects_in_memory": Waiting(
        """static __device__ __noinline__ int deep(int n, unsigned bar, int t) {
             if (n > 0) return 2 * deep(n - 1, bar, t) + 1;
             unsigned long long state; unsigned done = 0;
             asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(bar) : "memory");
             while (!done)
               asm volatile("{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                            : "=r"(done) : "r"(bar), "l"(state) : "memory");
             return t; }
           __global__ void k(int *mem, int *out) {
             __shared__ unsigned long long b; unsigned bar = (unsigned)__cvta_generic_to_shared(&b); int t = threadIdx.x;
             if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(bar), "r"(64) : "memory");
             __syncthreads(); out[t] = deep(t % 5, bar, t); }""",
        [twice(t % 5, t) for t in range(64)],
    ),
    "hash_table_in_a_recursion": Waiting(
        """static __device__ __noinline__ int insert(int key, int at, int *table) {
             int seen = atomicCAS(table + at, 0, key);
             if (seen == 0 || seen == key) return at;
             return 0 * key + insert(key, (at + 1) & 31, table); }
           __global__ void k(int *mem, int *out) {
             int t = threadIdx.x; insert(t + 1, t * 7 & 31, mem); __syncthreads();
             int sum = 0; for (int i = 0; i < 32; ++i) sum += ((volatile int *)mem)[i]; out[t] = sum; }""",
        [528] * 32,
        block=32,
    ),
    "queue_between_functions": Waiting(
        """static __device__ __noinline__ int put(int n, volatile int *q) {
             if (n > 2) { int left = put(n / 2, q), right = put(n - n / 2, q); return left * right + 1; }
             for (int i = 0; i < n; ++i) { while (q[0] != 0) ; q[1] = n; __threadfence(); q[0] = 1; } return n; }
           static __device__ __noinline__ int take(int n, volatile int *q) {
             if (n > 1) { int left = take(n / 2, q), right = take(n - n / 2, q); return left + right; }
             while (q[0] != 1) ; int v = q[1]; __threadfence(); q[0] = 0; return v; }
           __global__ void k(int *mem, int *out) {
             int t = threadIdx.x;
             if (t == 2) out[0] = put(16, mem); if (t == 7) out[1] = take(16, mem); }""",
        [677, 32],
        block=32,
    ),
    "printf_in_a_waiting_function": Waiting(
        DEEP.replace(
            "AT_THE_END",
            'while (*mem == 0) ; if (*mem == 99) printf("%d\\n", t); return *mem;',
        )
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x;
               if (t < 3) out[t] = deep(t, mem, 0, t); else if (t == 3) *(volatile int *)mem = 2; }""",
        [twice(t, 2) for t in range(3)],
        block=32,
    ),
    "many_calls_of_each_lane": Waiting(
        POLL_DEEP
        + """__global__ void k(int *mem, int *out) {
               int t = threadIdx.x, sum = 0;
               for (int i = 0; i < 20; ++i) {
                 if (t == i) { __threadfence(); *(volatile int *)mem = i + 1; }
                 else if (t > i) sum += deep((t + i) % 3, mem, i + 1, 0) > 0;
                 if (t > i) atomicAdd(mem + 1, 1);
                 while (((volatile int *)mem)[1] < (i + 1) * 31 - i * (i + 1) / 2 && t > i) ; }
               out[t] = sum; }""",
        [min(t, 20) for t in range(32)],
        block=32,
    ),
}


def _local_arrays(t):
    def walk(n, above):
        own = [above[i ^ (n & 3)] + n for i in range(4)]
        return own[1] if n == 0 else walk(n - 1, own) * 2 + own[n & 3]

    return walk(t % 4, [t, t + 1, t + 2, t + 3])


CASES["local_arrays"].out.extend(_local_arrays(t) for t in range(8))


def test_each_kernel_ends(device):
    """On one thread, nothing but softcuda's own switches lets another warp or block run."""
    assert failures(__file__, SOFTCUDA_THREADS="1", SOFTCUDA_VERIFY="1") == ""


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["", "fibers", "lanes"])
def test_each_kernel_ends_without_proofs(tier, device):
    """Without the analysis of loops, each loop may wait."""
    environment = {"SOFTCUDA_SKIP": "loop-ends", "SOFTCUDA_VERIFY": "1"}
    assert failures(__file__, SOFTCUDA_TIER=tier, **environment) == ""


@pytest.mark.slow
def test_each_kernel_ends_without_inlining(device):
    """For a debugger, each call is a call."""
    assert failures(__file__, SOFTCUDA_DEBUG="1") == ""


if __name__ == "__main__":
    from test_waiting_kernels import main

    main(CASES)
