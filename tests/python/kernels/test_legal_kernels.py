"""Legal but unusual kernels: each once had a wrong result, or did not end.

Each has the expected result on a GPU. softcuda runs each kernel in every tier that supports it.
"""

import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

FOLDER = pathlib.Path(__file__).parent
#: The kernels that run in each tier.
FILES = [FOLDER / "test_legal_kernels.py", FOLDER / "test_undefined_values.py"]

HEADER = ".version 7.8\n.target sm_75\n.address_size 64\n"


def from_ptx(text, name):
    return cuda.module_from_buffer(text.encode()).get_function(name)


def from_cuda(text, name, **options):
    return SourceModule(text, no_extern_c=True, **options).get_function(name)


def same(got, wanted):
    assert np.array_equal(got, wanted), (
        f"got {got.tolist()}\nwanted {np.asarray(wanted).tolist()}"
    )


@pytest.mark.slow
@pytest.mark.parametrize("tier", ["regions", "fibers", "lanes"])
def test_all_in_each_tier(tier, device):
    if "SOFTCUDA_TIER" in os.environ:
        pytest.skip("the outer run is in one tier already")
    able_to_choose = "softcuda" in cuda.get_driver_path()
    if not able_to_choose:
        pytest.skip(f"{cuda.get_driver_path()} has no tiers")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *FILES],
        env={**os.environ, "SOFTCUDA_TIER": tier, "PYCUDA_DRIVER": "softcuda"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:]


EARLY = (
    HEADER
    + """
.visible .entry k(.param .u32 n, .param .u64 out) {
    .reg .pred %p, %q;
    .reg .b32 %n, %t, %lane, %s, %v;
    .reg .b64 %o, %d;
    .shared .align 4 .b32 tile[64];
    ld.param.u32 %n, [n];
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
    mov.u32 %s, tile;
    mad.lo.u32 %s, %t, 4, %s;
    mov.u32 %v, 0;
    st.shared.u32 [%s], %v;
    bar.sync 0;
    setp.le.s32 %p, %n, 0;
    @%p bra C;
    mov.u32 %lane, %laneid;
    setp.lt.u32 %q, %lane, 16;
    @%q bra A;
    ld.shared.u32 %v, [%s];
    add.u32 %v, %v, 100;
    st.shared.u32 [%s], %v;
    bra E;
A:
    ld.shared.u32 %v, [%s];
    add.u32 %v, %v, 10;
    st.shared.u32 [%s], %v;
C:
    ld.shared.u32 %v, [%s];
    add.u32 %v, %v, 1;
    st.shared.u32 [%s], %v;
E:
    bar.sync 0;
    ld.shared.u32 %v, [%s];
    st.global.u32 [%o], %v;
    ret;
}
"""
)


def test_early_exit(device):
    """A warp reaches the pending side of a branch that it did not execute this time."""
    kernel = from_ptx(EARLY, "k")
    lane = np.arange(64) % 32
    for n, wanted in ((1, np.where(lane < 16, 11, 100)), (0, np.ones(64))):
        out = np.zeros(64, np.int32)
        kernel(np.int32(n), cuda.Out(out), block=(64, 1, 1))
        same(out, wanted)


def test_early_return_in_cuda(device):
    """An inlined function that returns early, in half of the lanes or not at all."""
    kernel = from_cuda(
        """
__device__ __forceinline__ void work(int n, int lane, volatile int *p)
{
    if (n > 0) {
        if (lane >= 16) { *p += 100; return; }
        *p += 10;
    }
    *p += 1;
}
extern "C" __global__ void k(int n, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.y * 32 + threadIdx.x, lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    s[t] = 0;
    __syncthreads();
    work(n, lane, s + t);
    __syncthreads();
    out[t] = s[t];
}
""",
        "k",
    )
    lane = np.arange(64) % 32
    for n, wanted in ((1, np.where(lane < 16, 11, 100)), (0, np.ones(64))):
        out = np.zeros(64, np.int32)
        kernel(np.int32(n), cuda.Out(out), block=(32, 2, 1))
        same(out, wanted)


def packed(lines):
    return from_ptx(
        """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 out) {
    .reg .b32 %t, %a, %b, %r;
    .reg .b64 %o, %d;
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
"""
        + lines
        + """
    st.global.u32 [%o], %r;
    ret;
}
""",
        "k",
    )


def test_minimum_of_halves(device):
    """The range of min.u16x2 is not that of a minimum of 32-bit numbers."""
    kernel = packed("add.u32 %a, %t, 65536; mov.u32 %b, 65535; min.u16x2 %r, %a, %b;")
    out = np.zeros(32, np.uint32)
    kernel(cuda.Out(out), block=(32, 1, 1))
    same(out, np.arange(32))


def test_sum_of_halves(device):
    """The lower halves of add.u16x2 do not carry into the upper ones."""
    kernel = packed("mov.u32 %b, 0x0000fff0; add.u16x2 %r, %t, %b;")
    out = np.zeros(32, np.uint32)
    kernel(cuda.Out(out), block=(32, 1, 1))
    same(out, (np.arange(32) + 0xFFF0) & 0xFFFF)


def test_wrapped_index_in_rows(device):
    """rows[t >> 4][(unsigned)(t - off)]: two row pointers, and an index that wraps in the warp."""
    kernel = from_ptx(
        HEADER
        + """
.visible .entry k(.param .u64 rows, .param .u32 off, .param .u64 out) {
    .reg .pred %p;
    .reg .b32 %t, %off, %r, %i, %v;
    .reg .b64 %rows, %row, %o, %d;
    ld.param.u64 %rows, [rows];
    ld.param.u32 %off, [off];
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %rows, %rows;
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    mul.wide.u32 %d, %t, 4;
    add.u64 %o, %o, %d;
    mov.u32 %v, 0;
    setp.lt.u32 %p, %t, %off;
    @%p bra STORE;
    shr.u32 %r, %t, 4;
    mul.wide.u32 %d, %r, 8;
    add.u64 %d, %rows, %d;
    ld.global.u64 %row, [%d];
    sub.u32 %i, %t, %off;
    mul.wide.u32 %d, %i, 4;
    add.u64 %d, %row, %d;
    ld.global.u32 %v, [%d];
STORE:
    st.global.u32 [%o], %v;
    ret;
}
""",
        "k",
    )
    lower, upper = (
        np.arange(32, dtype=np.int32) + 100,
        np.arange(32, dtype=np.int32) + 200,
    )
    first, second = cuda.to_device(lower), cuda.to_device(upper)
    rows, out = np.array([int(first), int(second)], np.uint64), np.zeros(32, np.int32)
    kernel(cuda.In(rows), np.int32(1), cuda.Out(out), block=(32, 1, 1))
    t = np.arange(32)
    same(out, np.where(t < 1, 0, np.where(t < 16, 100, 200) + t - 1))


MISALIGNED = (
    HEADER
    + """
.visible .entry k(.param .u64 a, .param .u64 out) {
    .reg .b32 %t, %r, %y, %s, %b;
    .reg .b64 %a, %o, %d, %v;
    .shared .align 8 .b8 tile[64];
    ld.param.u64 %a, [a];
    ld.param.u64 %o, [out];
    cvta.to.global.u64 %a, %a;
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    shr.u32 %r, %t, 4;
    mul.wide.u32 %d, %r, 4;
    add.u64 %a, %a, %d;
    ld.global.u32 %y, [%a];
    and.b32 %y, %y, 0xfffffff8;
    shl.b32 %s, %r, 2;
    mov.u32 %b, tile;
    add.u32 %b, %b, %y;
    add.u32 %s, %b, %s;
    ld.shared.u64 %v, [%s];
    mul.wide.u32 %d, %t, 8;
    add.u64 %o, %o, %d;
    st.global.u64 [%o], %v;
    ret;
}
"""
)


def test_misaligned_second_group(run_program):
    """Each half of the warp has a base of its own; only the second one is misaligned."""
    done = run_program(
        f"""
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as cuda

        kernel = cuda.module_from_buffer({MISALIGNED.encode()!r}).get_function("k")
        try:
            kernel(cuda.In(np.zeros(2, np.int32)), cuda.Out(np.zeros(32, np.int64)), block=(32, 1, 1))
        except cuda.Error as error:
            print(error)
        """
    )
    assert "misaligned" in done.stdout.lower(), done.stdout + done.stderr


def test_denormals_in_global_sums(device):
    """atom.add.f32 flushes denormals in global memory (PTX ISA, atom)."""
    kernel = from_cuda(
        'extern "C" __global__ void k(float *p, float x) { atomicAdd(p, x); }', "k"
    )
    sum_ = np.zeros(1, np.float32)
    kernel(cuda.InOut(sum_), np.float32(1e-40), block=(32, 1, 1))
    same(sum_, np.zeros(1))


def test_wait_by_uncached_load(device):
    """A loop that waits with ld.global.cv lets the warp run that it waits for."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(int *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (__ldcv(flag) == 0) { }
        *out = 7;
    }
    if (threadIdx.x == 32)
        atomicExch(flag, 1);
}
""",
        "k",
    )
    out = np.zeros(1, np.int32)
    kernel(cuda.InOut(np.zeros(1, np.int32)), cuda.Out(out), block=(64, 1, 1))
    same(out, [7])


# The memory model calls this a race, since the load is plain. GPUs and programs rely on the fence.
@pytest.mark.cuda_check_allow("race")
def test_wait_with_fence(device):
    """A loop that waits with a plain load and a fence."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(int *flag, int *out)
{
    if (threadIdx.x == 0) {
        while (*flag == 0)
            __threadfence();
        *out = 7;
    }
    if (threadIdx.x == 32)
        atomicExch(flag, 1);
}
""",
        "k",
    )
    out = np.zeros(1, np.int32)
    kernel(cuda.InOut(np.zeros(1, np.int32)), cuda.Out(out), block=(64, 1, 1))
    same(out, [7])


def test_semaphore_of_adds(device):
    """A counting semaphore: lanes wait for the lane that has left the loop."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(int *free_places, int *count)
{
    while (atomicSub(free_places, 1) <= 0)
        atomicAdd(free_places, 1);
    volatile int *c = count;
    *c = *c + 1;
    __threadfence();
    atomicAdd(free_places, 1);
}
""",
        "k",
    )
    count = np.zeros(1, np.int32)
    kernel(cuda.InOut(np.ones(1, np.int32)), cuda.InOut(count), block=(32, 1, 1))
    same(count, [32])


@pytest.mark.skipif(not is_softcuda(), reason="need not end on a GPU")
@pytest.mark.parametrize("threads", [32, 64, 100])
def test_semaphore_in_an_unrolled_loop(device, threads):
    """Lanes that wait in different copies of a loop add 1 for a moment and block each other."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(unsigned *lock, unsigned *sum, const unsigned *in)
{
#pragma unroll
    for (int round = 0; round < 3; ++round) {
        while (atomicAdd(lock, 1u) != 0)
            atomicSub(lock, 1u);
        __threadfence();
        *(volatile unsigned *)sum = *(volatile unsigned *)sum + in[threadIdx.x];
        __threadfence();
        atomicSub(lock, 1u);
    }
}
""",
        "k",
    )
    total, values = np.zeros(1, np.uint32), np.arange(threads, dtype=np.uint32)
    lock = np.zeros(1, np.uint32)
    kernel(cuda.InOut(lock), cuda.InOut(total), cuda.In(values), block=(threads, 1, 1))
    same(total, [3 * values.sum()])


def test_syncwarp_on_both_sides(device):
    """Lanes of one warp meet at two different calls of __syncwarp()."""
    text = """
extern "C" __global__ void upper_reads(int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = -1;
    __syncwarp();
    if (lane >= 16) { __syncwarp(); out[lane] = s[lane - 16]; }
    else { s[lane] = 3 * lane + 1; __syncwarp(); out[lane] = -2; }
}
extern "C" __global__ void lower_reads(int *out)
{
    __shared__ int s[32];
    int lane = threadIdx.x;
    s[lane] = -1;
    __syncwarp();
    if (lane < 16) { __syncwarp(); out[lane] = s[lane + 16]; }
    else { s[lane] = 3 * lane + 1; __syncwarp(); out[lane] = -2; }
}
"""
    lane = np.arange(32)
    wanted = {
        "upper_reads": np.where(lane >= 16, 3 * (lane - 16) + 1, -2),
        "lower_reads": np.where(lane < 16, 3 * (lane + 16) + 1, -2),
    }
    for name, right in wanted.items():
        out = np.zeros(32, np.int32)
        from_cuda(text, name)(cuda.Out(out), block=(32, 1, 1))
        same(out, right)


def test_shuffle_on_both_sides(device):
    """Lanes of one warp exchange values at two different shuffles."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(const int *a, int *out)
{
    int lane = threadIdx.x, v;
    if (lane < 16)
        v = __shfl_xor_sync(0xffffffffu, a[lane] + 1000, 16);
    else
        v = __shfl_xor_sync(0xffffffffu, a[lane] * 2, 16);
    out[lane] = v;
}
""",
        "k",
    )
    out = np.zeros(32, np.int32)
    a, lane = np.arange(32, dtype=np.int32), np.arange(32)
    kernel(cuda.In(a), cuda.Out(out), block=(32, 1, 1))
    same(out, np.where(lane < 16, (lane ^ 16) * 2, (lane ^ 16) + 1000))


def test_deep_recursion(device):
    """CU_LIMIT_STACK_SIZE limits the depth of a kernel's calls."""
    text = """
__device__ __noinline__ int down(int n, int *trace)
{
    if (n == 0)
        return 1;
    int below = down(n - 1, trace);
    trace[n & 63] ^= below;
    return below * 3 + n;
}
extern "C" __global__ void k(int n, int *trace, int *out)
{
    out[threadIdx.x] = down(n, trace + threadIdx.x * 64);
}
"""
    before = cuda.Context.get_limit(cuda.limit.STACK_SIZE)
    cuda.Context.set_limit(cuda.limit.STACK_SIZE, 64 * 1024)
    out = np.zeros(32, np.int32)
    from_cuda(text, "k")(
        np.int32(1500),
        cuda.InOut(np.zeros(32 * 64, np.int32)),
        cuda.Out(out),
        block=(32, 1, 1),
    )
    cuda.Context.set_limit(cuda.limit.STACK_SIZE, before)
    wanted = 1
    for n in range(1, 1501):
        wanted = (wanted * 3 + n) & 0xFFFFFFFF
    same(out.view(np.uint32), np.full(32, wanted, np.uint32))


@pytest.mark.slow
def test_chain_backwards(device):
    """Each of 4000 blocks waits for the next one."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(volatile int *flag)
{
    if (threadIdx.x != 0)
        return;
    while (flag[blockIdx.x + 1] == 0) { }
    flag[blockIdx.x] = flag[blockIdx.x + 1] + 1;
}
""",
        "k",
    )
    flag = np.zeros(4001, np.int32)
    flag[4000] = 1
    kernel(cuda.InOut(flag), block=(32, 1, 1), grid=(4000, 1))
    same(flag, np.arange(4001, 0, -1))


def test_groups_whose_first_lanes_are_inactive(device):
    """Four lanes share a row pointer, and only the later ones of them load it."""
    kernel = from_cuda(
        """
extern "C" __global__ void k(const unsigned short *const *rows, const int *from, int *out)
{
    int t = threadIdx.x;
    if ((t & 3) >= from[t >> 2])
        out[t] = rows[t >> 2][t >> 1];
}
""",
        "k",
    )
    t = np.arange(32)
    data = np.arange(8 * 16, dtype=np.uint16).reshape(8, 16)
    rows = cuda.to_device(data)
    pointers = np.uint64(int(rows)) + np.arange(8, dtype=np.uint64) * np.uint64(32)
    starts, out = (
        np.array([1, 2, 3, 0, 3, 2, 1, 4], np.int32),
        np.full(32, -1, np.int32),
    )
    kernel(cuda.In(pointers), cuda.In(starts), cuda.InOut(out), block=(32, 1, 1))
    same(out, np.where(t % 4 >= starts[t // 4], data[t // 4, t // 2].astype(int), -1))


@pytest.mark.parametrize(
    "kind, dtype", [("signed char", np.int8), ("unsigned short", np.uint16)]
)
def test_narrow_elements_anywhere(device, kind, dtype):
    """Bytes and halves at different addresses, with masks; of several stores to one address the last lane's counts."""
    kernel = from_cuda(
        f"""
extern "C" __global__ void k(const {kind} *a, const int *from, const int *to, {kind} *out)
{{
    int t = threadIdx.x;
    if (from[t] >= 0)
        out[to[t]] = a[from[t]];
}}
""",
        "k",
    )
    rng = np.random.default_rng(1)
    a = rng.integers(0, 127, 1001).astype(dtype)
    for count in (32, 33, 128):
        source = rng.integers(-500, 1001, count).astype(np.int32)
        target = rng.permutation(700)[:count].astype(np.int32)
        out = np.full(701, 77, dtype)
        wanted = out.copy()
        wanted[target[source >= 0]] = a[source[source >= 0]]
        kernel(
            cuda.In(a),
            cuda.In(source),
            cuda.In(target),
            cuda.InOut(out),
            block=(count, 1, 1),
        )
        same(out, wanted)
