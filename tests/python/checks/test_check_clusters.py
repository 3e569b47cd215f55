"""Races between the thread blocks of a cluster, and in their shared memory."""

import json
import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes"
)

KERNELS = r"""
typedef unsigned long long u64;
__device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ unsigned rank() { unsigned r; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r)); return r; }
__device__ unsigned there(const void *p, int rank) {
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank));
    return a;
}
__device__ int *peer(int *p, int rank) {
    u64 a;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(a) : "l"(p), "r"(rank));
    return (int *)a;
}
__device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;" ::: "memory"); }
__device__ void wait() { asm volatile("barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ void meet() { arrive(); wait(); }
__device__ void put(unsigned a, int v) { asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(a), "r"(v) : "memory"); }
__device__ int get(unsigned a) { int v; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory"); return v; }
__device__ void init(u64 *bar, int n) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" :: "r"(at(bar)), "r"(n) : "memory");
}
__device__ void expect(u64 *bar, int bytes) {
    asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" :: "r"(at(bar)), "r"(bytes) : "memory");
}
__device__ void arrive_at(unsigned bar) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" :: "r"(bar) : "memory");
}
__device__ void wait_for(u64 *bar, int parity) {
    int done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
__device__ void multicast(int *tile, const int *from, u64 *bar, int ranks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 512, [%2], %3;"
                 :: "r"(at(tile)), "l"(from), "r"(at(bar)), "h"((short)ranks) : "memory");
}
__device__ void send(unsigned to, const int *from, unsigned bar) {
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];"
                 :: "r"(to), "r"(at(from)), "r"(bar) : "memory");
}
#define CLUSTER extern "C" __global__ __cluster_dims__(2) void
#define TILE __shared__ __align__(128) int tile[128]; int t = threadIdx.x, me = rank(), other = me ^ 1; \
    int i = blockIdx.x * 128 + t; (void)other; (void)i;

// Writes to the other block, and a barrier of the cluster between the accesses.
CLUSTER exchanged(int *in, int *out) {
    TILE meet();
    put(there(&tile[127 - t], other), in[i]);
    meet();
    out[i] = tile[t];
}
CLUSTER only_the_block_meets(int *in, int *out) { // FINDS read-after-write
    TILE tile[t] = in[i];
    __syncthreads();
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER written_too_early(int *in, int *out) { // FINDS read-after-write
    TILE tile[t] = 0;
    meet();
    out[i] = tile[t];
    put(there(&tile[t], other), in[i]);
    meet();
}
CLUSTER both_write(int *in, int *out) { // FINDS write-after-write
    TILE meet();
    put(there(&tile[t], 0), me);
    meet();
    out[i] = tile[t];
}
// The arrival is before the write that it should release.
CLUSTER arrives_too_early(int *in, int *out) { // FINDS read-after-write
    TILE meet();
    arrive();
    put(there(&tile[t], other), in[i]);
    wait();
    out[i] = tile[t];
    meet();
}
CLUSTER work_between_arrival_and_wait(int *in, int *out) {
    TILE tile[t] = in[i];
    arrive();
    out[i] = 1;
    wait();
    out[i] += get(there(&tile[127 - t], other));
    meet();
}
CLUSTER arrives_relaxed(int *in, int *out) { // FINDS read-after-write
    TILE tile[t] = in[i];
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    wait();
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER arrives_relaxed_after_a_fence(int *in, int *out) {
    TILE tile[t] = in[i];
    asm volatile("fence.acq_rel.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    wait();
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER generic_addresses(int *in, int *out) {
    TILE tile[t] = in[i];
    meet();
    out[i] = peer(tile, other)[127 - t];
    meet();
}
CLUSTER generic_addresses_without_a_barrier(int *in, int *out) { // FINDS read-after-write
    TILE tile[t] = in[i];
    __syncthreads();
    out[i] = peer(tile, other)[127 - t];
    meet();
}
CLUSTER half_of_a_warp_meets(int *in, int *out) { // FINDS divergent-barrier
    TILE out[i] = in[i];
    if (t % 2 == 0) { arrive(); wait(); }
}
// Through global memory.
CLUSTER through_global_memory(int *in, int *out) {
    TILE out[i] = in[i];
    meet();
    in[i] = out[i ^ 128];
}
CLUSTER through_global_memory_of_another_cluster(int *in, int *out) { // FINDS read-after-write
    TILE out[i] = in[i];
    meet();
    in[i] = out[i ^ 256];
}
CLUSTER many_phases(int *in, int *out) {
    TILE int sum = 0;
    for (int n = 0; n < 300; ++n) {
        tile[t] = in[i] + n;
        meet();
        sum += get(there(&tile[127 - t], other));
        meet();
    }
    out[i] = sum;
}
CLUSTER one_phase_is_missing(int *in, int *out) { // FINDS write-after-read
    TILE int sum = 0;
    for (int n = 0; n < 300; ++n) {
        tile[t] = in[i] + n;
        meet();
        sum += get(there(&tile[127 - t], other));
        if (n != 200) meet();
    }
    meet();
    out[i] = sum;
}
// What a warp learns from another block, it passes on in its own.
CLUSTER passed_on_in_the_block(int *in, int *out) {
    TILE __shared__ u64 bar;
    if (t == 0) init(&bar, 1);
    meet();
    tile[t] = in[i];
    __syncthreads();
    if (t == 0) arrive_at(there(&bar, other));
    if (t < 32) wait_for(&bar, 0);
    __syncthreads();
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER not_passed_on_in_the_block(int *in, int *out) { // FINDS read-after-write
    TILE __shared__ u64 bar;
    if (t == 0) init(&bar, 1);
    meet();
    tile[t] = in[i];
    __syncthreads();
    if (t == 0) arrive_at(there(&bar, other));
    if (t < 32) wait_for(&bar, 0);
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER one_thread_arrives_for_all(int *in, int *out) { // FINDS read-after-write
    TILE __shared__ u64 bar;
    if (t == 0) init(&bar, 1);
    meet();
    tile[t] = in[i];
    if (t == 0) arrive_at(there(&bar, other));
    wait_for(&bar, 0);
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER atomics(int *in, int *out) {
    TILE __shared__ int sum;
    if (t == 0) sum = 0;
    meet();
    atomicAdd(peer(&sum, other), in[i]);
    meet();
    out[i] = sum;
}
CLUSTER atomics_of_the_block(int *in, int *out) { // FINDS write-after-write
    TILE __shared__ int sum;
    if (t == 0) sum = 0;
    meet();
    atomicAdd_block(peer(&sum, 0), in[i]);
    meet();
    out[i] = t;
}
// Bulk copies.
CLUSTER copied_to_both(int *in, int *out) {
    TILE __shared__ u64 bar;
    if (t == 0) { init(&bar, 1); expect(&bar, 512); }
    meet();
    if (me == 0 && t == 0) multicast(tile, in, &bar, 3);
    wait_for(&bar, 0);
    out[i] = tile[127 - t];
    meet();
}
CLUSTER copied_to_both_not_waited(int *in, int *out) { // FINDS read-after-write
    TILE __shared__ u64 bar;
    if (t == 0) { init(&bar, 1); expect(&bar, 512); }
    meet();
    if (me == 0 && t == 0) multicast(tile, in, &bar, 3);
    if (me == 0) wait_for(&bar, 0);
    meet();
    if (me == 1) out[i] = tile[127 - t];
    meet();
}
CLUSTER copied_while_it_is_read(int *in, int *out) { // FINDS read-after-write
    TILE __shared__ u64 bar;
    if (t == 0) { init(&bar, 1); expect(&bar, 512); }
    tile[t] = 0;
    meet();
    if (me == 1) out[i] = tile[127 - t];
    if (me == 0 && t == 0) multicast(tile, in, &bar, 2);
    if (me == 1) wait_for(&bar, 0);
    meet();
}
CLUSTER copied_tiles(int *in, int *out) {
    TILE __shared__ u64 full, empty;
    if (t == 0) { init(&full, 1); init(&empty, 2); }
    meet();
    int sum = 0;
    for (int n = 0; n < 4; ++n) {
        if (t == 0) {
            expect(&full, 512);
            arrive_at(there(&empty, 0));
        }
        if (me == 0 && t == 0) {
            wait_for(&empty, n & 1);
            multicast(tile, in + 128 * (n & 1), &full, 3);
        }
        wait_for(&full, n & 1);
        sum += tile[127 - t];
        __syncthreads();
    }
    out[i] = sum;
    meet();
}
CLUSTER copied_tiles_too_early(int *in, int *out) { // FINDS write-after-read
    TILE __shared__ u64 full, empty;
    if (t == 0) { init(&full, 1); init(&empty, 2); }
    meet();
    int sum = 0;
    for (int n = 0; n < 4; ++n) {
        if (t == 0) {
            expect(&full, 512);
            arrive_at(there(&empty, 0));
        }
        if (me == 0 && t == 0) {
            wait_for(&empty, n & 1);
            multicast(tile, in + 128 * (n & 1), &full, 3);
        }
        wait_for(&full, n & 1);
        sum += tile[127 - t];
    }
    out[i] = sum;
    meet();
}
CLUSTER sent_to_the_other(int *in, int *out) {
    TILE __shared__ __align__(128) int source[128]; __shared__ u64 bar;
    if (t == 0) { init(&bar, 1); expect(&bar, 512); }
    source[t] = in[i];
    meet();
    if (t == 0) send(there(tile, other), source, there(&bar, other));
    wait_for(&bar, 0);
    out[i] = tile[127 - t];
    meet();
}
CLUSTER sent_and_the_source_is_overwritten(int *in, int *out) { // FINDS write-after-read
    TILE __shared__ __align__(128) int source[128]; __shared__ u64 bar;
    if (t == 0) { init(&bar, 1); expect(&bar, 512); }
    source[t] = in[i];
    meet();
    if (t == 0) send(there(tile, other), source, there(&bar, other));
    __syncthreads();
    source[t] = 0;
    wait_for(&bar, 0);
    out[i] = tile[127 - t];
    meet();
}
// A flag in the other block's shared memory.
CLUSTER flag(int *in, int *out) {
    TILE __shared__ int ready;
    if (t == 0) ready = 0;
    meet();
    tile[t] = in[i];
    __syncthreads();
    if (t == 0) asm volatile("st.release.cluster.shared::cluster.u32 [%0], 1;" :: "r"(there(&ready, other)) : "memory");
    int seen = 0;
    while (!seen)
        asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(at(&ready)) : "memory");
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
CLUSTER flag_of_the_block_only(int *in, int *out) { // FINDS read-after-write
    TILE __shared__ int ready;
    if (t == 0) ready = 0;
    meet();
    tile[t] = in[i];
    __threadfence_block();
    __syncthreads();
    if (t == 0) asm volatile("st.relaxed.cluster.shared::cluster.u32 [%0], 1;" :: "r"(there(&ready, other)) : "memory");
    int seen = 0;
    while (!seen)
        asm volatile("ld.acquire.cluster.shared::cta.u32 %0, [%1];" : "=r"(seen) : "r"(at(&ready)) : "memory");
    out[i] = get(there(&tile[127 - t], other));
    meet();
}
"""

PROGRAM = f"""
import json
import numpy as np
import pycuda
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

module = SourceModule(r'''{KERNELS}''', nvcc="nvrtc", no_extern_c=True)
found = {{}}
for line in r'''{KERNELS}'''.split("CLUSTER ")[2:]:
    name = line.split("(")[0]
    data, out = cuda.to_device(np.arange(512, dtype=np.int32)), cuda.mem_alloc(2048)
    with pycuda.check("race", "sync", "mem", "init") as checks:
        module.get_function(name)(data, out, grid=(4, 1), block=(128, 1, 1))
    found[name] = [{{f.kind for f in checks.findings if f.mode in ("race", "sync")}}]
    with pycuda.check("race", "sync") as checks:
        module.get_function(name)(data, out, grid=(4, 1), block=(128, 1, 1))
    found[name].append({{f.kind for f in checks.findings}})
    found[name] = [sorted(kinds) for kinds in found[name]]
print(json.dumps(found))
"""

NAMES = [part.split("(")[0] for part in KERNELS.split("CLUSTER ")[2:]]


def expected(name):
    line = next(line for line in KERNELS.splitlines() if f" {name}(" in line)
    return line.split("FINDS ")[1].split(", ") if "FINDS" in line else []


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("clusters")
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "program.py"], capture_output=True, text=True, timeout=300, cwd=folder,
        env={**os.environ, "PYCUDA_DRIVER": "softcuda", "SOFTCUDA_ARCH": "90"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def alike(kinds):
    """Which of a read and a write comes first depends on the schedule."""
    return {
        "read-after-write" if kind == "write-after-read" else kind for kind in kinds
    }


@pytest.mark.parametrize("kernel", NAMES)
def test_races_in_a_cluster(found, kernel):
    with_all_modes, alone = found[kernel]
    assert alike(with_all_modes) == alike(alone) == alike(expected(kernel))
