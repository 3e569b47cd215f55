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
