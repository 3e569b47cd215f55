"""Memory that kernels reach through the second comparison: registered host memory, and shared and local memory through
generic pointers. Every form of access, up to the first and the last byte, and the reports of the bytes beyond."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

SOURCE = r"""
extern "C" __global__ void copy(const int *from, int *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}
extern "C" __global__ void copy_whole(const int *from, int *to) {
    to[threadIdx.x] = from[threadIdx.x];
}
extern "C" __global__ void gather(const int *from, const int *index, int *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[index[i]] = from[index[i]];
}
extern "C" __global__ void rows(const int *from, int *to, int width, int height) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        to[y * width + x] = from[y * width + x] + from[0];
}
extern "C" __global__ void bytes(const char *from, char *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}
extern "C" __global__ void vectors(const int4 *from, int4 *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = from[i];
}
extern "C" __global__ void count(const int *index, int *counts, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&counts[index[i]], 1);
        atomicAdd(&counts[0], 1);
    }
}
extern "C" __global__ void through_pointers(int *const *arrays, const int *which, int *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        to[i] = arrays[which[i]][i];
}
extern "C" __global__ void element(const int *from, int *to, long long at) { *to = from[at]; }
extern "C" __global__ void put(int *to, long long at) { to[at] = 1; }
extern "C" __global__ void spaces(const int *from, int *to, int n, int space) {
    __shared__ int tile[256];
    int own[8];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++)
        own[k] = from[(i + k) % n];
    tile[threadIdx.x] = from[i % n];
    __syncthreads();
    const int *pointer = space == 0 ? from + blockIdx.x * blockDim.x : space == 1 ? tile : own - threadIdx.x;
    asm volatile("" : "+l"(pointer));
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum += pointer[(threadIdx.x + (space == 2 ? k : 0))];
    if (i < n)
        to[i] = sum;
}
"""


@pytest.fixture
def kernels(device):
    module = SourceModule(SOURCE, no_extern_c=True)
    return lambda name: module.get_function(name)


class Registered:
    """`count` elements, `before` bytes behind the start of an array whose other bytes are not registered."""

    def __init__(self, count, dtype=np.int32, before=4):
        size = count * np.dtype(dtype).itemsize
        self.memory = np.zeros(size + 4096 + before, np.uint8)
        start = -self.memory.ctypes.data % 64 + before
        self.array = self.memory[start : start + size].view(dtype)
        self.handle = cuda.register_host_memory(
            self.array, cuda.mem_host_register_flags.DEVICEMAP
        ).base

    @property
    def pointer(self):
        return np.uint64(self.array.ctypes.data)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        cuda.Context.synchronize()
        self.handle.unregister()


def numbers(n, high=1 << 30):
    return np.random.default_rng(n).integers(0, high, n).astype(np.int32)


@pytest.mark.parametrize("n", [1, 5, 31, 32, 33, 64, 1000])
def test_adjacent_elements(kernels, n):
    with Registered(n) as a, Registered(n) as b:
        a.array[:] = numbers(n)
        kernels("copy")(
            a.pointer, b.pointer, np.int32(n), block=(64, 1, 1), grid=(16, 1)
        )
        cuda.Context.synchronize()
        assert (b.array == a.array).all()


def test_all_lanes(kernels):
    with Registered(64) as a, Registered(64) as b:
        a.array[:] = numbers(64)
        kernels("copy_whole")(a.pointer, b.pointer, block=(64, 1, 1))
        cuda.Context.synchronize()
        assert (b.array == a.array).all()


@pytest.mark.parametrize("n", [1, 40, 1000])
def test_elements_anywhere(kernels, n):
    index = np.random.default_rng(n).permutation(n).astype(np.int32)
    with Registered(n) as a, Registered(n) as b, Registered(n) as places:
        a.array[:], places.array[:] = numbers(n), index
        kernels("gather")(
            a.pointer,
            places.pointer,
            b.pointer,
            np.int32(n),
            block=(64, 1, 1),
            grid=(16, 1),
        )
        cuda.Context.synchronize()
        assert (b.array == a.array).all()


@pytest.mark.parametrize("block", [(16, 16, 1), (8, 4, 1), (5, 7, 1), (32, 8, 1)])
def test_rows(kernels, block):
    width, height = 45, 23
    with Registered(width * height) as a, Registered(width * height) as b:
        a.array[:] = numbers(width * height, 1 << 20)
        kernels("rows")(
            a.pointer,
            b.pointer,
            np.int32(width),
            np.int32(height),
            block=block,
            grid=(10, 10),
        )
        cuda.Context.synchronize()
        assert (b.array == a.array + a.array[0]).all()


def test_bytes_and_vectors(kernels):
    with Registered(77, np.int8, before=3) as a, Registered(77, np.int8, before=1) as b:
        a.array[:] = numbers(77, 100).astype(np.int8)
        kernels("bytes")(
            a.pointer, b.pointer, np.int32(77), block=(32, 1, 1), grid=(4, 1)
        )
        cuda.Context.synchronize()
        assert (b.array == a.array).all()
    with Registered(4 * 77, before=16) as a, Registered(4 * 77, before=48) as b:
        a.array[:] = numbers(4 * 77)
        kernels("vectors")(
            a.pointer, b.pointer, np.int32(77), block=(32, 1, 1), grid=(4, 1)
        )
        cuda.Context.synchronize()
        assert (b.array == a.array).all()


def test_atomics(kernels):
    index = numbers(500, 20)
    with Registered(500) as places, Registered(20) as counts:
        places.array[:] = index
        kernels("count")(
            places.pointer,
            counts.pointer,
            np.int32(500),
            block=(128, 1, 1),
            grid=(4, 1),
        )
        cuda.Context.synchronize()
        wanted = np.bincount(index, minlength=20)
        wanted[0] += 500
        assert (counts.array == wanted).all()


def test_lanes_in_different_arrays(kernels):
    n = 300
    which = numbers(n, 4)
    arrays = [Registered(n) for _ in range(3)]
    device = cuda.mem_alloc(4 * n)
    cuda.memcpy_htod(device, numbers(n + 7)[:n])
    for k, one in enumerate(arrays):
        one.array[:] = numbers(n + k + 1)[:n]
    pointers = np.array([int(device), *(int(one.pointer) for one in arrays)], np.uint64)
    to = cuda.mem_alloc(4 * n)
    kernels("through_pointers")(
        cuda.In(pointers),
        cuda.In(which),
        to,
        np.int32(n),
        block=(64, 1, 1),
        grid=(5, 1),
    )
    seen = cuda.from_device(to, n, np.int32)
    table = np.stack([numbers(n + 7)[:n], *(one.array for one in arrays)])
    assert (seen == table[which, np.arange(n)]).all()
    for one in arrays:
        one.handle.unregister()


@pytest.mark.parametrize("space", [0, 1, 2])
def test_generic_pointers(kernels, space):
    n = 1000
    values = numbers(n, 1 << 20)
    to = np.zeros(n, np.int32)
    kernels("spaces")(
        cuda.In(values), cuda.Out(to), np.int32(n), np.int32(space), block=(256, 1, 1), grid=(4, 1)
    )  # fmt: skip
    if space == 2:
        wanted = sum(np.roll(values, -k) for k in range(8))
    else:
        wanted = values * 8
    assert (to == wanted).all()


FAULT = r"""
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
sys.path.insert(0, {folder!r})
from test_memory_outside_arena import SOURCE, Registered, numbers
module = SourceModule(SOURCE, no_extern_c=True)
a = Registered(100, before=64)
{body}
try:
    cuda.Context.synchronize()
except cuda.Error as error:
    print(str(error).replace(hex(int(a.pointer)), "BEGIN"))
"""


def report(body):
    import subprocess
    import sys
    from pathlib import Path

    text = FAULT.format(folder=str(Path(__file__).parent), body=body)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=120
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("element", "a.pointer, cuda.mem_alloc(4), np.int64(100)", "0 bytes after the 400-byte allocation"),
        ("element", "a.pointer, cuda.mem_alloc(4), np.int64(-1)", "4 bytes before the 400-byte allocation"),
        ("put", "a.pointer, np.int64(101)", "4 bytes after the 400-byte allocation"),
        ("put", "np.uint64(a.pointer + np.uint64(2)), np.int64(3)", "misaligned"),
        ("copy", "a.pointer, cuda.mem_alloc(4096), np.int32(101)", "0 bytes after the 400-byte allocation"),
        ("copy", "cuda.mem_alloc(4096), a.pointer, np.int32(101)", "0 bytes after the 400-byte allocation"),
        ("rows", "a.pointer, cuda.mem_alloc(4096), np.int32(10), np.int32(11)", "0 bytes after the 400-byte allocation"),
    ],
)  # fmt: skip
def test_reports_beyond_registered_memory(device, name, arguments, wanted):
    """After accesses that made the range known: the kernel first runs within it."""
    if not is_softcuda():
        pytest.skip("needs reports of bytes")
    inside = {
        "element": "a.pointer, cuda.mem_alloc(4), np.int64(0)",
        "put": "a.pointer, np.int64(0)",
        "copy": "a.pointer, a.pointer, np.int32(100)",
        "rows": "a.pointer, a.pointer, np.int32(10), np.int32(10)",
    }[name]
    shape = "block=(1, 1, 1)" if name in ("element", "put") else "block=(16, 8, 1)"
    if name == "copy":
        shape = "block=(128, 1, 1)"
    if name == "rows":
        shape = "block=(16, 8, 1), grid=(1, 2)"
    body = f"""
kernel = module.get_function("{name}")
kernel({inside}, {shape})
cuda.Context.synchronize()
keep = kernel({arguments}, {shape})
"""
    text = report(body)
    assert wanted in text and "address" in text, text
