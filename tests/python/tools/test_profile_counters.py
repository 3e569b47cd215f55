"""Counters of pycuda.profile, of kernels whose numbers are known by hand."""

import importlib.util
import json
import pathlib

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda.compiler import DynamicSourceModule, SourceModule

ROOT = pathlib.Path(__file__).resolve().parents[3]
_spec = importlib.util.spec_from_file_location(
    "compare_with_ncu", ROOT / "tools/compare_with_ncu/compare.py"
)
compare = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(compare)

needs_softcuda = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has a profile"
)

#: A kernel reads with one access, at ``in + INDEX``, and writes to one address of each thread.
GLOBAL = """
__global__ void read(const TYPE *in, TYPE *out) {
    int t = threadIdx.x;
    out[t] = in[INDEX];
}
"""

#: A kernel writes and reads shared memory at ``INDEX``.
SHARED = """
__global__ void share(TYPE *out) {
    __shared__ TYPE s[2048];
    int t = threadIdx.x;
    s[INDEX] = out[t];
    __syncthreads();
    out[t] = s[INDEX];
}
"""


@pytest.fixture
def memory(device):
    allocation = cuda.mem_alloc(1 << 16)
    cuda.memset_d8(allocation, 0, 1 << 16)
    return allocation


def profile_of(source, name, *arguments, block=(32, 1, 1), grid=(1, 1), **how):
    """The profile of one launch of a kernel of ``source``."""
    kernel = SourceModule(source, nvcc="nvrtc", **how).get_function(name)
    with pycuda.profile() as profile:
        kernel(*arguments, block=block, grid=grid)
    (counted,) = profile.kernels
    return counted


def access_of(kernel, kind, space):
    (access,) = [a for a in kernel.accesses if (a.kind, a.space) == (kind, space)]
    return access


@needs_softcuda
@pytest.mark.parametrize(
    ("type_name", "index", "sectors", "ideal"),
    [
        ("float", "t", 4, 4),
        ("float", "t + 1", 5, 4),
        ("float", "t * 2", 8, 4),
        ("float", "t * 8", 32, 4),
        ("float", "t * 32", 32, 4),
        ("float", "31 - t", 4, 4),
        ("float", "7", 1, 1),
        ("float", "t / 2", 2, 2),
        ("char", "t", 1, 1),
        ("char", "t * 4", 4, 1),
        ("double", "t", 8, 8),
        ("double", "t + 1", 9, 8),
        ("float4", "t", 16, 16),
        ("float4", "t * 2", 32, 16),
    ],
)
def test_sectors_of_a_request(memory, type_name, index, sectors, ideal):
    source = GLOBAL.replace("TYPE", type_name).replace("INDEX", index)
    load = access_of(
        profile_of(source, "read", memory, np.uintp(int(memory) + 32768)),
        "load",
        "global",
    )
    assert (load.requests, load.lanes, load.line) == (1, 32, 4)
    assert (load.sectors, load.ideal_sectors) == (sectors, ideal)


@needs_softcuda
@pytest.mark.parametrize(
    ("type_name", "index", "wavefronts", "ideal"),
    [
        ("float", "t", 1, 1),
        ("float", "t ^ 5", 1, 1),
        ("float", "2 * t", 2, 1),
        ("float", "3 * t", 1, 1),
        ("float", "32 * t", 32, 1),
        ("float", "33 * t", 1, 1),
        ("float", "3", 1, 1),
        ("float", "t / 4", 1, 1),
        ("float", "t % 2 * 32", 2, 1),
        ("double", "t", 2, 2),
        ("double", "2 * t", 4, 2),
        ("float4", "t", 4, 4),
        ("char", "t", 1, 1),
    ],
)
def test_wavefronts_of_shared_memory(memory, type_name, index, wavefronts, ideal):
    source = SHARED.replace("TYPE", type_name).replace("INDEX", index)
    kernel = profile_of(source, "share", memory)
    load = access_of(kernel, "load", "shared")
    assert (load.requests, load.line) == (1, 7)
    assert (load.wavefronts, load.ideal_wavefronts) == (wavefronts, ideal)
    assert load.bank_conflicts == wavefronts - ideal


BRANCHES = """
__global__ void part(float *out, const float *in, int lanes, int rounds) {
    int t = threadIdx.x;
    float x = 0;
    if (t % 32 < lanes)
        #pragma unroll 1
        for (int k = 0; k < rounds; ++k)
            x = __sinf(x) + in[k];
    out[t] = x;
}
"""


def line_with(kernel, text):
    """The line of a kernel whose source contains ``text``."""
    (found,) = [n for n, t in enumerate(kernel.source.splitlines(), 1) if text in t]
    (line,) = [line for line in kernel.lines if line.line == found]
    return line


@needs_softcuda
@pytest.mark.parametrize("lanes", [32, 16, 1])
def test_active_lanes_of_a_branch(memory, lanes):
    arguments = (memory, np.uintp(int(memory) + 4096), np.int32(lanes), np.int32(10))
    kernel = profile_of(BRANCHES, "part", *arguments, block=(64, 1, 1))
    body, end = line_with(kernel, "__sinf"), line_with(kernel, "out[t] = x")
    assert body.active_lanes == lanes
    assert body.classes["special"] == 2 * 10  # two warps, ten rounds
    assert body.classes["load"] == 2 * 10
    assert (end.executions, end.lanes) == (2, 64)
    load = access_of(kernel, "load", "global")
    assert (load.requests, load.lanes) == (20, 20 * lanes)
    assert load.sectors == 20  # one address in each request


@needs_softcuda
def test_threads_that_do_not_fill_a_warp(memory):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = profile_of(
        source,
        "read",
        memory,
        np.uintp(int(memory) + 32768),
        block=(50, 1, 1),
        grid=(3, 1),
    )
    load = access_of(kernel, "load", "global")
    assert (load.requests, load.lanes) == (6, 150)
    assert load.sectors == 3 * (4 + 3)
    line = line_with(kernel, "out[t] = in[t]")
    assert (line.executions, line.lanes) == (6, 150)
    assert kernel.active_lanes == 25
    assert any("multiple of 32" in str(a) for a in pycuda.profile.advice_for(kernel))


@needs_softcuda
def test_a_warp_with_one_thread_does_not_branch(memory):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = profile_of(
        source, "read", memory, np.uintp(int(memory) + 32768), block=(33, 1, 1)
    )
    assert kernel.active_lanes == 16.5
    advice = [str(a) for a in pycuda.profile.advice_for(kernel)]
    assert any("multiple of 32" in text for text in advice)
    assert not any("different branches" in text for text in advice)


@needs_softcuda
@pytest.mark.parametrize(
    ("index", "waiting"), [("0", 31), ("t / 4", 24), ("t", 0), ("t % 16", 16)]
)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics_on_one_address(memory, space, index, waiting):
    declaration = "__shared__ int s[32];" if space == "shared" else "int *s = out;"
    source = f"""
    __global__ void add(int *out) {{
        {declaration}
        int t = threadIdx.x;
        s[t] = 0;
        __syncwarp();
        out[64 + t] = atomicAdd(&s[{index}], t);
    }}"""
    atomic = access_of(profile_of(source, "add", memory), "atomic", space)
    assert (atomic.requests, atomic.lanes) == (1, 32)
    assert atomic.same_address == waiting


@needs_softcuda
def test_local_memory_is_laid_out_by_lanes(memory):
    source = """
    __global__ void keep(int *out, int n) {
        int kept[64];
        for (int k = 0; k < 64; ++k)
            kept[k] = k * n;
        out[threadIdx.x] = kept[out[threadIdx.x] + n];
    }"""
    kernel = profile_of(source, "keep", memory, np.int32(3))
    load = access_of(kernel, "load", "local")
    assert load.sectors == 4  # all lanes read element 3: their words are adjacent
    assert any("local memory" in str(a) for a in pycuda.profile.advice_for(kernel))


@needs_softcuda
def test_instructions_by_class(memory):
    source = """
    __global__ void mix(double *out, float f) {
        int t = threadIdx.x;
        double d = out[t];
        d = d * d + 1.0;
        __syncthreads();
        d += __shfl_xor_sync(~0u, t, 1);
        out[t] = d;
    }"""
    kernel = profile_of(source, "mix", memory, np.float32(1))
    assert kernel.classes["double"] == 2
    assert kernel.classes["barrier"] == 1
    assert kernel.classes["exchange"] == 1
    assert kernel.classes["load"] == kernel.classes["store"] == 1
    assert kernel.instructions == sum(kernel.classes.values())
    assert any("double precision" in str(a) for a in pycuda.profile.advice_for(kernel))


@needs_softcuda
def test_exchanges_of_lanes_that_are_apart(memory):
    source = """
    __global__ void apart(int *out, int n) {
        int t = threadIdx.x, x;
        if (t < n) {
            out[t + 64] = t;
            x = __shfl_xor_sync(~0u, t, 1);
        } else {
            out[t + 128] = 2 * t;
            x = __shfl_xor_sync(~0u, 3 * t, 1);
        }
        out[t] = x;
    }"""
    kernel = profile_of(source, "apart", memory, np.int32(7))
    assert kernel.classes["exchange"] == 2
    assert line_with(kernel, "__shfl_xor_sync(~0u, t").lanes == 7
    assert line_with(kernel, "__shfl_xor_sync(~0u, 3 * t").lanes == 25


@needs_softcuda
def test_resources_and_occupancy(memory):
    source = """
    __global__ void share(float *out) {
        __shared__ float s[8192];
        extern __shared__ float more[];
        s[threadIdx.x] = out[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    }"""
    kernel = profile_of(source, "share", memory, block=(64, 1, 1))
    assert kernel.static_shared_bytes == 32768 and kernel.registers > 0
    function = SourceModule(source, nvcc="nvrtc").get_function("share")
    assert kernel.occupancy.blocks == function.max_active_blocks(64)
    assert kernel.occupancy.limited_by == ("shared memory",)
    assert any(
        "limited by shared memory" in str(a) for a in pycuda.profile.advice_for(kernel)
    )


@needs_softcuda
def test_the_most_important_advice_comes_first(memory):
    source = """
    __global__ void slow(float *in, float *out) {
        __shared__ float s[64];
        int t = threadIdx.x;
        s[2 * t] = in[32 * t];
        __syncthreads();
        out[t] = s[2 * t];
    }"""
    kernel = profile_of(source, "slow", memory, np.uintp(int(memory) + 8192))
    first, *rest = pycuda.profile.advice_for(kernel)
    assert str(first).startswith(
        "line 5: a load transfers 32 sectors for each request, and 4 would be enough: neighbouring threads read "
        "addresses 128 bytes apart"
    )
    assert "2 wavefronts" in rest[0].text and rest[0].line in (5, 7)


@needs_softcuda
def test_nested_functions_and_loops_have_their_lines(memory):
    source = """
    __device__ float twice(float x) {
        return __sinf(x) * 2;
    }
    __global__ void outer(float *out) {
        float x = 0;
    #pragma unroll 1
        for (int k = 0; k < 7; ++k)
            x += twice(out[k]);
        out[32 + threadIdx.x] = x;
    }"""
    kernel = profile_of(source, "outer", memory)
    assert line_with(kernel, "__sinf").executions == 7
    assert line_with(kernel, "__sinf").classes["special"] == 7


@needs_softcuda
def test_recursion(memory):
    source = """
    __device__ int count(int n) { return n < 2 ? 1 : count(n - 1) + count(n - 2); }
    __global__ void start(int *out) {
        out[threadIdx.x] = count(6);
    }"""
    kernel = profile_of(source, "start", memory)
    # The compiler turns the second call into a loop: C(n) = 1 + C(n-1) + C(n-3) + ...
    assert line_with(kernel, "__device__").executions == 13


@needs_softcuda
def test_kernels_that_kernels_launch(memory):
    source = """
    __global__ void child(int *out) { out[threadIdx.x] = threadIdx.x; }
    __global__ void parent(int *out) { child<<<2, 64>>>(out); }"""
    try:
        module = DynamicSourceModule(source)
    except (cuda.CompileError, OSError) as error:
        pytest.skip(f"no dynamic parallelism here: {error}")
    with pycuda.profile() as profile:
        module.get_function("parent")(memory, block=(1, 1, 1))
    found = {kernel.name: kernel for kernel in profile.kernels}
    child = next(kernel for name, kernel in found.items() if "child" in name)
    assert child.grid == (2, 1, 1) and child.block == (64, 1, 1)
    assert access_of(child, "store", "global").sectors == 2 * 2 * 4


@needs_softcuda
def test_launches_of_a_graph(memory):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t * 2")
    kernel = SourceModule(source, nvcc="nvrtc").get_function("read")
    stream = cuda.Stream()
    cuda.begin_capture(stream)
    for _ in range(2):
        kernel(memory, np.uintp(int(memory) + 32768), block=(32, 1, 1), stream=stream)
    launchable = cuda.end_capture(stream).instantiate()
    with pycuda.profile() as profile:
        launchable.launch(stream)
    (found,) = profile.kernels
    assert (found.launches, found.total("sectors")) == (2, 2 * (8 + 4))
    assert [event.activity for event in profile.events].count("kernel") == 2


@needs_softcuda
def test_code_without_lines_has_those_of_the_ptx(memory):
    ptx = """.version 7.0
.target sm_75
.address_size 64
.visible .entry zero(.param .u64 a)
{
    .reg .b64 %a;
    .reg .b32 %t;
    ld.param.u64 %a, [a];
    mov.u32 %t, %tid.x;
    mad.wide.u32 %a, %t, 4, %a;
    st.global.u32 [%a], %t;
    ret;
}
"""
    kernel = cuda.module_from_buffer(ptx.encode()).get_function("zero")
    with pycuda.profile() as profile:
        kernel(memory, block=(32, 1, 1))
    (found,) = profile.kernels
    store = access_of(found, "store", "global")
    assert (store.file, store.line, store.sectors) == ("kernel.ptx", 11, 4)
    assert "11" in profile.report() and "kernel.ptx" in profile._repr_html_()


@needs_softcuda
def test_an_h200_counts_the_same(device):
    """Nsight Compute's numbers for 26 kernels, in tools/compare_with_ncu/h200.json."""
    theirs = json.loads((compare.HERE / "h200.json").read_text())
    assert len(theirs) == 26
    for name, ours in compare.count().items():
        expected = {count: theirs[name][key] for count, key in compare.EQUAL.items()}
        assert {count: ours[count] for count in expected} == expected, name
        lanes = theirs[name][compare.ALIKE["active lanes"]]
        if name not in compare.PARTED:
            assert ours["active lanes"] == lanes, name
