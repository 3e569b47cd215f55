"""The memory that a compiled kernel takes as long as it is loaded."""

import ctypes
import gc
import statistics

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import compile

pytestmark = pytest.mark.usefixtures("device")

SOURCE = """
extern "C" __global__ void run(float *x) {
    float v = x[threadIdx.x];
#pragma unroll
    for (int i = 0; i < 40; ++i)
        v = v / (i + 1) + x[(threadIdx.x + i) % 32];
    x[threadIdx.x] = v;
}
"""


class MallInfo(ctypes.Structure):
    """The result of mallinfo2() of glibc 2.33 and newer."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()
    ]


def heap_bytes() -> int:
    try:
        mallinfo2 = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        pytest.skip("this C library has no mallinfo2()")
    mallinfo2.restype = MallInfo
    gc.collect()
    info = mallinfo2()
    return info.uordblks + info.hblkhd


def count_mappings() -> int:
    with open("/proc/self/maps") as maps:
        return sum(1 for _ in maps)


def load_and_run(ptx: bytes, number: int, x) -> cuda.Module:
    """Load a module whose text differs from that of other numbers, so that no cache has the module."""
    module = cuda.module_from_buffer(b"// %d\n" % number + ptx)
    module.get_function("run")(x, block=(32, 1, 1))
    cuda.Context.synchronize()
    return module


@pytest.mark.skipif(not is_softcuda(), reason="the memory of softcuda")
def test_a_compiled_kernel_keeps_little_more_than_its_text():
    """The compiler's form of a kernel takes 15 times the memory of the kernel's text."""
    ptx = compile(SOURCE, target="ptx", arch="compute_86", no_extern_c=True)
    x = cuda.mem_alloc(4 * 32)
    cuda.memset_d32(x, 0, 32)
    modules, each = [], []
    for number in range(9):
        before = heap_bytes()
        modules.append(load_and_run(ptx, number, x))
        each.append(heap_bytes() - before)
    # At times the compiler itself grows.
    assert statistics.median(each) < 3 * len(ptx) + 20_000
    # Another shape needs the text again.
    y = cuda.mem_alloc(4 * 64)
    cuda.memset_d32(y, 0, 64)
    modules[0].get_function("run")(y, block=(64, 1, 1))
    result = np.empty(32, np.float32)
    cuda.memcpy_dtoh(result, y)
    assert np.isfinite(result).all()


VARIABLES = """
constexpr int sizes[2] = {3, 4};
__device__ int unused[4] = {1, 2, 3, 4};
__device__ int used = 5;
__device__ int *pointer = &used;
extern "C" __global__ void run(int *x) { x[threadIdx.x] = used + sizes[1]; }
"""


@pytest.mark.skipif(not is_softcuda(), reason="the memory of softcuda")
def test_unused_variables_take_no_memory():
    """NVRTC writes all constexpr variables; a device allocation has two mappings, and the system allows 65,530."""
    unused = "".join(
        f"constexpr int c{i} = {i};\nstatic_assert(c{i} == {i});\n" for i in range(8)
    )
    ptx = compile(unused + SOURCE, target="ptx", arch="compute_86", no_extern_c=True)
    assert b"c7" in ptx
    modules = [cuda.module_from_buffer(b"// 0\n" + ptx)]
    before = count_mappings()
    modules += [
        cuda.module_from_buffer(b"// %d\n" % number + ptx) for number in range(1, 21)
    ]
    assert count_mappings() - before < 40


def test_unused_variables_are_found_by_name():
    module = cuda.module_from_buffer(
        compile(VARIABLES, target="ptx", arch="compute_75", no_extern_c=True)
    )
    address, size = module.get_global("unused")
    values = np.empty(size // 4, np.int32)
    cuda.memcpy_dtoh(values, address)
    assert values.tolist() == [1, 2, 3, 4]
    assert module.get_global("unused") == (address, size)
    pointer = np.empty(1, np.uint64)
    cuda.memcpy_dtoh(pointer, module.get_global("pointer")[0])
    assert pointer[0] == module.get_global("used")[0]


def test_the_cache_of_images_does_not_keep_sources():
    each = []
    for number in range(9):
        source = SOURCE + f"// {number}" + 200_000 * "x"
        before = heap_bytes()
        compile(source, target="ptx", arch="compute_75", no_extern_c=True)
        each.append(heap_bytes() - before)
    assert statistics.median(each) < 100_000
