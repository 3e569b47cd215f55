"""Bulk copies, bulk reductions and asynchronous stores, whose end mbarriers or groups report.

test_hopper.py runs these tests on softcuda.
"""

import numpy as np
import pytest
from conftest import is_softcuda
from hopper_ptx import PTX, function_of

import pycuda
import pycuda.check
import pycuda.driver as cuda


@pytest.mark.parametrize("stages", [1, 2, 3])
def test_bulk_copies_in_a_pipeline(hopper, stages):
    """One warp copies tiles in, the others multiply them and copy them out."""
    scale = function_of(
        PTX
        + r"""
        constexpr int tile = 512;
        extern "C" __global__ void scale(const float *in, float *out, int tiles)
        {
            __shared__ alignas(128) float buffer[STAGES][tile], result[2][tile];
            __shared__ unsigned long long full[STAGES], empty[STAGES];
            if (threadIdx.x == 0)
                for (int s = 0; s < STAGES; s++)
                    initialize(full + s, 1), initialize(empty + s, 128);
            __syncthreads();
            int stage = 0, parity = 0, round = 0;
            for (int t = blockIdx.x; t < tiles; t += gridDim.x, round++) {
                if (threadIdx.x == 128) {
                    wait(empty + stage, parity ^ 1);
                    expect(full + stage, sizeof buffer[0]);
                    for (int half = 0; half < 2; half++)
                        copy_in(shared_address(buffer[stage] + half * tile / 2),
                                in + t * tile + half * tile / 2, sizeof buffer[0] / 2,
                                shared_address(full + stage));
                } else if (threadIdx.x < 128) {
                    wait(full + stage, parity);
                    if (round >= 2 && threadIdx.x == 0)
                        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
                    asm volatile("barrier.sync 1, 128;" ::: "memory");
                    for (int i = threadIdx.x; i < tile; i += 128)
                        result[round % 2][i] = buffer[stage][i] * 3;
                    arrive(empty + stage);
                    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
                    asm volatile("barrier.sync 1, 128;" ::: "memory");
                    if (threadIdx.x == 0)
                        copy_out(out + t * tile, result[round % 2], sizeof result[0]);
                }
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            if (threadIdx.x == 0) wait_for_copies_out();
        }
        """.replace("STAGES", str(stages)),
        "scale",
    )
    values = np.random.default_rng(3).random(512 * 37, np.float32)
    out = np.zeros_like(values)
    scale(cuda.In(values), cuda.Out(out), np.int32(37), block=(160, 1, 1), grid=(5, 1))
    assert (out == values * np.float32(3)).all()


def test_each_active_lane_copies(hopper):
    """A warp's lanes each copy a piece, and a barrier counts the bytes of all of them."""
    gather = function_of(
        PTX
        + r"""
        extern "C" __global__ void gather(const int *in, const int *rows, int *out)
        {
            __shared__ alignas(16) int buffer[32 * 8];
            __shared__ unsigned long long full;
            if (threadIdx.x == 0) initialize(&full, 1);
            __syncthreads();
            if (threadIdx.x == 0) expect(&full, 20 * 32);
            __syncwarp();
            if (threadIdx.x < 20)
                copy_in(shared_address(buffer + threadIdx.x * 8), in + rows[threadIdx.x] * 8, 32,
                        shared_address(&full));
            wait(&full, 0);
            for (int i = threadIdx.x; i < 20 * 8; i += 32) out[i] = buffer[i];
        }
        """,
        "gather",
    )
    values = np.arange(800, dtype=np.int32).reshape(100, 8)
    rows = np.random.default_rng(4).permutation(100)[:20].astype(np.int32)
    out = np.zeros((20, 8), np.int32)
    gather(cuda.In(values), cuda.In(rows), cuda.Out(out), block=(32, 1, 1))
    assert (out == values[rows]).all()


@pytest.mark.parametrize("mask", [1, 5, 15])
def test_multicast_within_a_cluster(hopper, mask):
    spread = function_of(
        PTX
        + r"""
        extern "C" __global__ void spread(const int *in, int *out, unsigned short mask)
        {
            __shared__ alignas(16) int buffer[128];
            __shared__ unsigned long long full;
            const unsigned rank = cluster_rank();
            if (threadIdx.x == 0) initialize(&full, 1);
            for (int i = threadIdx.x; i < 128; i += blockDim.x) buffer[i] = -1;
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
            if (threadIdx.x == 0 && (mask >> rank & 1)) expect(&full, 512);
            meet();
            if (threadIdx.x == 0 && rank == 1)
                for (int half = 0; half < 2; half++)
                    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                                 ".multicast::cluster [%0], [%1], %2, [%3], %4;"
                                 :: "r"(shared_address(buffer + half * 64)), "l"(in + half * 64),
                                    "r"(256), "r"(shared_address(&full)), "h"(mask) : "memory");
            if (mask >> rank & 1) wait(&full, 0);
            meet();
            for (int i = threadIdx.x; i < 128; i += blockDim.x) out[blockIdx.x * 128 + i] = buffer[i];
        }
        """,
        "spread",
        arch="sm_90a",
    )
    values = np.arange(128, dtype=np.int32)
    out = np.zeros((4, 128), np.int32)
    spread(
        cuda.In(values),
        cuda.Out(out),
        np.uint16(mask),
        block=(64, 1, 1),
        grid=(4, 1),
        cluster=(4, 1, 1),
    )
    for rank in range(4):
        assert (out[rank] == (values if mask >> rank & 1 else -1)).all()


REDUCTIONS = [
    ("add", "u32", np.uint32),
    ("add", "s32", np.int32),
    ("add", "u64", np.uint64),
    ("add", "f32", np.float32),
    ("add", "f64", np.float64),
    ("add.noftz", "f16", np.float16),
    ("min", "s32", np.int32),
    ("max", "u32", np.uint32),
    ("min", "u64", np.uint64),
    ("max", "s64", np.int64),
    ("min", "f16", np.float16),
    ("inc", "u32", np.uint32),
    ("dec", "u32", np.uint32),
    ("and", "b32", np.uint32),
    ("or", "b64", np.uint64),
    ("xor", "b32", np.uint32),
]


def reduced(operation, old, new):
    if operation == "inc":
        return np.where(old >= new, 0, old + 1)
    if operation == "dec":
        return np.where((old == 0) | (old > new), new, old - 1)
    names = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }
    return names[operation.removesuffix(".noftz")](old, new)


@pytest.mark.parametrize("operation, ptx_type, dtype", REDUCTIONS)
def test_bulk_reductions_into_memory(hopper, operation, ptx_type, dtype):
    reduce = function_of(
        PTX
        + r"""
        extern "C" __global__ void reduce(const int4 *in, int4 *sums)
        {
            __shared__ alignas(16) int4 buffer[16];
            if (threadIdx.x < 16) buffer[threadIdx.x] = in[threadIdx.x];
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
            if (threadIdx.x == 0) {
                asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.OPERATION [%0], [%1], %2;"
                             :: "l"(sums), "r"(shared_address(buffer)), "r"(256) : "memory");
                asm volatile("cp.async.bulk.commit_group;");
                wait_for_copies_out();
            }
        }
        """.replace("OPERATION", f"{operation}.{ptx_type}"),
        "reduce",
    )
    random = np.random.default_rng(6)
    count = 256 // np.dtype(dtype).itemsize
    old, new = (random.integers(0, 900, count).astype(dtype) for _ in range(2))
    if np.issubdtype(dtype, np.signedinteger):
        old -= dtype(450)
    out = old.copy()
    reduce(cuda.In(new), cuda.InOut(out), block=(32, 1, 1))
    assert (out == reduced(operation, old, new).astype(dtype)).all()


@pytest.mark.parametrize(
    "operation, dtype",
    [
        ("add.u64", np.uint64),
        ("min.s32", np.int32),
        ("xor.b32", np.uint32),
        ("inc.u32", np.uint32),
    ],
)
def test_reductions_in_the_memory_of_a_cluster(hopper, operation, dtype):
    """Each block reduces into the next one's memory with a bulk copy and with red.async."""
    reduce = function_of(
        PTX
        + r"""
        extern "C" __global__ void reduce(const TYPE *in, TYPE *out)
        {
            __shared__ alignas(16) TYPE values[32], sums[32];
            __shared__ unsigned long long full;
            const unsigned rank = cluster_rank(), next = rank ^ 1;
            if (threadIdx.x == 0) initialize(&full, 1), expect(&full, 64 * sizeof(TYPE));
            values[threadIdx.x] = in[threadIdx.x];
            sums[threadIdx.x] = rank * 100 + threadIdx.x;
            asm volatile("fence.proxy.async;" ::: "memory");
            meet();
            if (threadIdx.x == 0)
                asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta"
                             ".mbarrier::complete_tx::bytes.OPERATION [%0], [%1], %2, [%3];"
                             :: "r"(in_block(sums, next)), "r"(shared_address(values)),
                                "n"(32 * sizeof(TYPE)), "r"(in_block(&full, next)) : "memory");
            asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes"
                         ".OPERATION [%0], %1, [%2];"
                         :: "r"(in_block(sums + threadIdx.x, next)), "CONSTRAINT"(values[threadIdx.x]),
                            "r"(in_block(&full, next)) : "memory");
            wait(&full, 0);
            out[blockIdx.x * 32 + threadIdx.x] = sums[threadIdx.x];
            meet();
        }
        """.replace("OPERATION", operation)
        .replace(
            "TYPE",
            {"uint64": "unsigned long long", "int32": "int"}.get(
                dtype.__name__, "unsigned"
            ),
        )
        .replace("CONSTRAINT", "l" if dtype == np.uint64 else "r"),
        "reduce",
    )
    values = np.random.default_rng(7).integers(60, 120, 32).astype(dtype)
    out = np.zeros((2, 32), dtype)
    reduce(
        cuda.In(values),
        cuda.Out(out),
        block=(32, 1, 1),
        grid=(2, 1),
        cluster=(2, 1, 1),
    )
    old = (np.arange(2)[:, None] * 100 + np.arange(32)).astype(dtype)
    name = operation.split(".")[0]
    once = reduced(name, old, values).astype(dtype)
    assert (out == reduced(name, once, values).astype(dtype)).all()


def test_asynchronous_stores_to_another_block(hopper):
    send = function_of(
        PTX
        + r"""
        extern "C" __global__ void send(unsigned *out)
        {
            __shared__ alignas(16) unsigned cells[32 * 7];
            __shared__ unsigned long long full;
            const unsigned rank = cluster_rank(), next = rank ^ 1, t = threadIdx.x;
            if (t == 0) initialize(&full, 1), expect(&full, sizeof cells);
            meet();
            const unsigned v = rank * 1000 + t * 10, barrier = in_block(&full, next);
            #define SEND "st.async.shared::cluster.mbarrier::complete_tx::bytes"
            asm volatile(SEND ".v4.u32 [%0], {%1, %2, %3, %4}, [%5];"
                         :: "r"(in_block(cells + t * 4, next)), "r"(v), "r"(v + 1), "r"(v + 2),
                            "r"(v + 3), "r"(barrier) : "memory");
            asm volatile(SEND ".b64 [%0], %1, [%2];"
                         :: "r"(in_block(cells + 128 + t * 2, next)),
                            "l"(v + 4 | (unsigned long long)(v + 5) << 32), "r"(barrier) : "memory");
            asm volatile(SEND ".f32 [%0], %1, [%2];"
                         :: "r"(in_block(cells + 192 + t, next)), "f"(__uint_as_float(v + 6)),
                            "r"(barrier) : "memory");
            wait(&full, 0);
            for (int i = 0; i < 4; i++) out[(blockIdx.x * 32 + t) * 7 + i] = cells[t * 4 + i];
            for (int i = 0; i < 2; i++) out[(blockIdx.x * 32 + t) * 7 + 4 + i] = cells[128 + t * 2 + i];
            out[(blockIdx.x * 32 + t) * 7 + 6] = cells[192 + t];
            meet();
        }
        """,
        "send",
    )
    out = np.zeros((2, 32, 7), np.uint32)
    send(cuda.Out(out), block=(32, 1, 1), grid=(2, 1), cluster=(2, 1, 1))
    rank, thread, n = np.indices(out.shape)
    assert (out == (1 - rank) * 1000 + thread * 10 + n).all()


@pytest.mark.cuda_check_allow("mem", "init")
def test_check_modes_check_bulk_copies(hopper):
    if not is_softcuda():
        pytest.skip("check modes are softcuda's")
    copy = function_of(
        PTX
        + r"""
        extern "C" __global__ void copy(const int *in, int *out, unsigned bytes)
        {
            __shared__ alignas(16) int buffer[64];
            __shared__ unsigned long long full;
            if (threadIdx.x == 0) {
                initialize(&full, 1);
                expect(&full, bytes);
                copy_in(shared_address(buffer), in, bytes, shared_address(&full));
                wait(&full, 0);
                copy_out(out, buffer, 256);
                wait_for_copies_out();
            }
        }
        """,
        "copy",
    )
    source, out = cuda.mem_alloc(192), cuda.mem_alloc(256)
    cuda.memset_d8(source, 1, 192)
    with pycuda.check() as checks:
        copy(source, out, np.uint32(192), block=(32, 1, 1))
    uninitialized = [f.kind for f in checks.findings]
    assert uninitialized == ["uninitialized"]
    with pycuda.check("mem") as checks:
        copy(source, out, np.uint32(256), block=(32, 1, 1))
    assert [(f.kind, f.accesses[0].thread) for f in checks.findings] == [
        ("out-of-bounds", (0, 0, 0))
    ]
