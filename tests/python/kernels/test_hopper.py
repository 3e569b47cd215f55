"""Features of compute capability 9.0: clusters of blocks, barriers that count bytes.

Without a GPU these tests run in a separate process, in which softcuda is such a device.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import is_softcuda
from hopper_ptx import PTX, function_of
from marks import slow

import pycuda
import pycuda.check
import pycuda.driver as cuda


@pytest.mark.parametrize("some", ["cluster or tensor_map", *slow([""])])
def test_all_on_a_software_device_of_9_0(device, some):
    if not is_softcuda() or device.compute_capability() >= (9, 0):
        pytest.skip("the other tests run in this process")
    files = sorted(str(file) for file in Path(__file__).parent.glob("test_hopper*.py"))
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "-k",
            some,
            *files,
        ],
        env=os.environ | {"SOFTCUDA_ARCH": "90"},
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]


# Clusters

EXCHANGE = r"""
    #include <cooperative_groups.h>
    namespace cg = cooperative_groups;
    extern "C" __global__ void BOUNDS exchange(int *out)
    {
        __shared__ int mine[64];
        cg::cluster_group cluster = cg::this_cluster();
        unsigned rank = cluster.block_rank(), count = cluster.num_blocks();
        mine[threadIdx.x] = blockIdx.x * 100 + threadIdx.x;
        cluster.sync();
        int *other = cluster.map_shared_rank(mine, (rank + 1) % count);
        int got = other[threadIdx.x];
        atomicAdd(other + threadIdx.x, 1000000);
        cluster.sync();
        int *row = out + (blockIdx.x * 64 + threadIdx.x) * 4;
        row[0] = got;
        row[1] = mine[threadIdx.x];
        row[2] = cluster.query_shared_rank(other);
        row[3] = cluster.thread_rank();
        cluster.barrier_arrive();
        cluster.barrier_wait();
    }
"""


def check_exchange(out, blocks, size):
    for block in range(blocks):
        rank = block % size
        other = block - rank + (rank + 1) % size
        threads = np.arange(64)
        assert (out[block, :, 0] == other * 100 + threads).all()
        assert (out[block, :, 1] == block * 100 + threads + 1000000).all()
        assert (out[block, :, 2] == (rank + 1) % size).all()
        assert (out[block, :, 3] == rank * 64 + threads).all()


@pytest.mark.parametrize("size", [1, 2, 4, 8])
def test_blocks_of_a_cluster_share_memory(hopper, size):
    exchange = function_of(EXCHANGE.replace("BOUNDS", ""), "exchange")
    out = np.zeros((16, 64, 4), np.int32)
    exchange(cuda.Out(out), block=(64, 1, 1), grid=(16, 1), cluster=(size, 1, 1))
    check_exchange(out, 16, size)


def test_size_of_a_cluster_in_the_source(hopper):
    source = EXCHANGE.replace("BOUNDS", "__cluster_dims__(4, 1, 1)")
    exchange = function_of(source, "exchange")
    out = np.zeros((8, 64, 4), np.int32)
    exchange(cuda.Out(out), block=(64, 1, 1), grid=(8, 1))
    check_exchange(out, 8, 4)


def test_clusters_that_cannot_be(hopper):
    exchange = function_of(EXCHANGE.replace("BOUNDS", ""), "exchange")
    out = cuda.mem_alloc(16 * 64 * 4 * 4)
    for grid, cluster in [(3, 2), (32, 32), (16, 16)]:
        with pytest.raises(cuda.Error):
            exchange(out, block=(64, 1, 1), grid=(grid, 1), cluster=(cluster, 1, 1))


@pytest.mark.cuda_check_allow("mem", "init")
def test_check_modes_check_the_memory_of_a_cluster(hopper):
    if not is_softcuda():
        pytest.skip("check modes are softcuda's")
    with pycuda.check() as checks:
        exchange = function_of(EXCHANGE.replace("BOUNDS", ""), "exchange")
        out = cuda.mem_alloc(4 * 64 * 4 * 4)
        exchange(out, block=(64, 1, 1), grid=(4, 1), cluster=(2, 1, 1))
        cuda.Context.synchronize()
    assert checks.findings == []
    source = EXCHANGE.replace("BOUNDS", "").replace(
        "mine[threadIdx.x] = block", "block"
    )
    with pycuda.check("init") as checks:
        function_of(source, "exchange")(
            out, block=(64, 1, 1), grid=(4, 1), cluster=(2, 1, 1)
        )
    assert {finding.accesses[0].line for finding in checks.findings} >= {12}


def test_positions_in_a_cluster(hopper):
    place = function_of(
        r"""
        #include <cooperative_groups.h>
        extern "C" __global__ void place(unsigned *out)
        {
            auto cluster = cooperative_groups::this_cluster();
            unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
            dim3 at = cluster.block_index(), size = cluster.dim_blocks(), id;
            asm("mov.u32 %0, %%clusterid.x;" : "=r"(id.x));
            asm("mov.u32 %0, %%clusterid.y;" : "=r"(id.y));
            asm("mov.u32 %0, %%nclusterid.z;" : "=r"(id.z));
            unsigned values[] = {at.x, at.y, at.z, size.x, size.y, size.z, id.x, id.y, id.z,
                                 cluster.block_rank()};
            for (int i = 0; i < 10; i++) out[block * 10 + i] = values[i];
        }
        """,
        "place",
    )
    out = np.zeros((2, 4, 6, 10), np.uint32)
    place(cuda.Out(out), block=(1, 1, 1), grid=(6, 4, 2), cluster=(3, 2, 1))
    z, y, x = np.indices((2, 4, 6))
    wanted = [x % 3, y % 2, 0 * x, 3 + 0 * x, 2 + 0 * x, 1 + 0 * x]
    wanted += [x // 3, y // 2, 2 + 0 * x, x % 3 + 3 * (y % 2)]
    assert (out == np.stack(wanted, -1)).all()


def test_histogram_over_the_shared_memory_of_a_cluster(hopper):
    histogram = function_of(
        r"""
        #include <cooperative_groups.h>
        extern "C" __global__ void histogram(const int *values, int count, int *bins)
        {
            extern __shared__ int own[];
            auto cluster = cooperative_groups::this_cluster();
            for (int i = threadIdx.x; i < 256; i += blockDim.x) own[i] = 0;
            cluster.sync();
            for (int i = cluster.thread_rank(); i < count; i += cluster.num_threads()) {
                int bin = values[i];
                atomicAdd(cluster.map_shared_rank(own, bin / 256) + bin % 256, 1);
            }
            cluster.sync();
            for (int i = threadIdx.x; i < 256; i += blockDim.x)
                bins[cluster.block_rank() * 256 + i] = own[i];
        }
        """,
        "histogram",
    )
    values = np.random.default_rng(5).integers(0, 1024, 10000).astype(np.int32)
    bins = np.zeros(1024, np.int32)
    histogram(
        cuda.In(values),
        np.int32(values.size),
        cuda.Out(bins),
        block=(128, 1, 1),
        grid=(4, 1),
        cluster=(4, 1, 1),
        shared=1024,
    )
    assert (bins == np.bincount(values, minlength=1024)).all()


def test_a_warp_elects_a_lane_and_moves_registers(hopper):
    elect = function_of(
        r"""
        extern "C" __global__ void elect(unsigned *out)
        {
            unsigned lane, first;
            asm volatile("griddepcontrol.wait;");
            asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
            asm volatile("{ .reg .pred p; elect.sync %0|p, 0xffffffff; selp.u32 %1, 1, 0, p; }"
                         : "=r"(lane), "=r"(first));
            asm volatile("griddepcontrol.launch_dependents;");
            out[threadIdx.x] = lane * 2 + first;
        }
        """,
        "elect",
        arch="sm_90a",
    )
    out = np.zeros(128, np.uint32)
    elect(cuda.Out(out), block=(128, 1, 1))
    lanes, firsts = out.reshape(4, 32) // 2, out.reshape(4, 32) % 2
    assert (lanes == lanes[:, :1]).all() and (firsts.sum(1) == 1).all()
    assert (firsts.argmax(1) == lanes[:, 0]).all()


# Barriers in shared memory


def test_a_barrier_counts_bytes(hopper):
    count = function_of(
        PTX
        + r"""
        extern "C" __global__ void count(unsigned *out)
        {
            __shared__ unsigned long long barrier;
            unsigned at = shared_address(&barrier), over[6], n = 0;
            initialize(&barrier, 1);
            auto test = [&](unsigned parity) {
                asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2;"
                             "selp.u32 %0, 1, 0, p; }" : "=r"(over[n++]) : "r"(at), "r"(parity));
            };
            asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 32;" :: "r"(at));
            test(0);
            asm volatile("mbarrier.expect_tx.shared::cta.b64 [%0], 32;" :: "r"(at));
            test(0);
            arrive(&barrier);
            test(0);
            expect(&barrier, 100);
            test(1);
            asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 60;" :: "r"(at));
            test(1);
            asm volatile("mbarrier.complete_tx.shared::cta.b64 [%0], 40;" :: "r"(at));
            test(1);
            for (unsigned i = 0; i < 6; i++) out[i] = over[i];
        }
        """,
        "count",
    )
    out = np.zeros(6, np.uint32)
    count(cuda.Out(out), block=(1, 1, 1))
    assert out.tolist() == [0, 0, 1, 0, 0, 1]


@pytest.mark.parametrize("size", [1, 2, 4])
def test_blocks_pass_values_with_barriers(hopper, size):
    """In each round a block writes into the next block's buffer, when that is empty."""
    ring = function_of(
        PTX
        + r"""
        extern "C" __global__ void ring(unsigned *out, unsigned size)
        {
            __shared__ unsigned long long full, empty;
            __shared__ unsigned cell[32];
            const unsigned rank = cluster_rank(), next = (rank + 1) % size;
            const unsigned before = (rank + size - 1) % size, warp = threadIdx.x / 32;
            const unsigned lane = threadIdx.x % 32;
            if (threadIdx.x == 0) initialize(&full, 32), initialize(&empty, 32);
            meet();
            for (unsigned round = 0; round < 9; round++) {
                if (warp == 0) {
                    wait(&empty, (round & 1) ^ 1);
                    asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(in_block(cell + lane, next)),
                                 "r"(rank * 1000 + round * 50 + lane) : "memory");
                    arrive_at(in_block(&full, next));
                } else {
                    wait(&full, round & 1);
                    out[(blockIdx.x * 9 + round) * 32 + lane] = cell[lane];
                    arrive_at(in_block(&empty, before));
                }
            }
            meet();
        }
        """,
        "ring",
    )
    out = np.zeros((8, 9, 32), np.uint32)
    ring(
        cuda.Out(out),
        np.uint32(size),
        block=(64, 1, 1),
        grid=(8, 1),
        cluster=(size, 1, 1),
    )
    block, turn, lane = np.indices(out.shape)
    before = (block % size + size - 1) % size
    assert (out == before * 1000 + turn * 50 + lane).all()


# Floats of 8 bits


def values_of_codes(exponent_bits, bias):
    """The values of the 256 codes of a float of 8 bits; e4m3 has no infinities."""
    code = np.arange(256)
    mantissa_bits = 7 - exponent_bits
    mantissa = (code & (1 << mantissa_bits) - 1) / (1 << mantissa_bits)
    exponent = code >> mantissa_bits & (1 << exponent_bits) - 1
    size = np.where(
        exponent == 0,
        mantissa * 2.0 ** (1 - bias),
        (1 + mantissa) * 2.0 ** (exponent - bias),
    )
    if exponent_bits == 5:
        size[exponent == 31] = np.where(mantissa[exponent == 31] == 0, np.inf, np.nan)
    else:
        size[code & 0x7F == 0x7F] = np.nan
    return np.where(code < 128, size, -size).astype(np.float32)


@pytest.mark.parametrize("name, bits, bias", [("e4m3", 4, 7), ("e5m2", 5, 15)])
def test_conversions_of_floats_of_8_bits(hopper, name, bits, bias):
    widen = function_of(
        r"""
        extern "C" __global__ void widen(const unsigned short *codes, unsigned *halves)
        {
            asm("cvt.rn.f16x2.NAMEx2 %0, %1;" : "=r"(halves[threadIdx.x]) : "h"(codes[threadIdx.x]));
        }
        """.replace("NAME", name),
        "widen",
    )
    values = values_of_codes(bits, bias)
    halves = np.zeros(256, np.float16)
    widen(
        cuda.In(np.arange(256, dtype=np.uint8).view(np.uint16)),
        cuda.Out(halves.view(np.uint32)),
        block=(128, 1, 1),
    )
    assert np.array_equal(halves.astype(np.float32), values, equal_nan=True)

    shrink = function_of(
        r"""
        extern "C" __global__ void shrink(const unsigned *halves, unsigned short *codes)
        {
            asm("cvt.rn.satfinite.NAMEx2.f16x2 %0, %1;" : "=h"(codes[threadIdx.x])
                : "r"(halves[threadIdx.x]));
        }
        """.replace("NAME", name),
        "shrink",
    )
    codes = np.zeros(256, np.uint8)
    shrink(
        cuda.In(halves.view(np.uint32)),
        cuda.Out(codes.view(np.uint16)),
        block=(128, 1, 1),
    )
    is_number = np.isfinite(values)
    assert (codes == np.arange(256))[is_number].all()

    finite = values[:128][np.isfinite(values[:128])]
    middles = (finite[1:] + finite[:-1]) / 2
    samples = np.concatenate(
        [
            finite,
            middles,
            np.nextafter(middles, np.float32(0)),
            np.nextafter(middles, np.float32(1e9)),
            np.float32([finite[-1] * 2, 1e30, np.inf]),
        ]
    ).astype(np.float32)
    distance = np.abs(finite[None].astype(np.float64) - samples[:, None])
    odd = np.arange(finite.size) & 1
    wanted = np.array([np.lexsort((odd, row))[0] for row in distance])
    wanted[samples > finite[-1]] = finite.size - 1
    narrow = function_of(
        r"""
        extern "C" __global__ void narrow(const float *values, unsigned short *codes, int count)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < count)
                asm("cvt.rn.satfinite.NAMEx2.f32 %0, %1, %2;"
                    : "=h"(codes[i]) : "f"(-values[i]), "f"(values[i]));
        }
        """.replace("NAME", name),
        "narrow",
    )
    codes = np.zeros(samples.size, np.uint16)
    narrow(
        cuda.In(samples),
        cuda.Out(codes),
        np.int32(samples.size),
        block=(128, 1, 1),
        grid=(-(-samples.size // 128), 1),
    )
    assert (codes & 0xFF == wanted).all()
    assert (codes >> 8 == wanted | 0x80).all()
