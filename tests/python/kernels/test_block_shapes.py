"""A kernel that is launched with many block shapes: few compilations, the same results."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(not is_softcuda(), reason="softcuda compiles kernels")

SHAPES = [
    (1, 1, 1),
    (2, 1, 1),
    (31, 1, 1),
    (32, 1, 1),
    (33, 1, 1),
    (64, 1, 1),
    (100, 1, 1),
    (128, 1, 1),
    (255, 1, 1),
    (256, 1, 1),
    (257, 1, 1),
    (512, 1, 1),
    (1000, 1, 1),
    (1024, 1, 1),
    (16, 16, 1),
    (8, 8, 1),
    (4, 4, 4),
    (7, 5, 3),
    (1, 1, 64),
    (1, 33, 1),
    (1, 1024, 1),
    (32, 32, 1),
    (32, 8, 1),
    (32, 1, 8),
    (64, 2, 2),
    (96, 3, 1),
    (96, 1, 10),
    (3, 31, 11),
    (10, 10, 10),
    (17, 3, 2),
    (33, 31, 1),
    (5, 200, 1),
    (2, 2, 64),
    (48, 2, 1),
    (160, 1, 1),
    (640, 1, 1),
    (13, 13, 1),
    (16, 1, 4),
    (24, 24, 1),
    (1, 7, 9),
]

#: Each thread writes its index, and a function of the values of other threads of its block. They are handed over in
#: shared memory and by shuffles. `stop` is a depth of recursion, so that the second kernel runs as fibers.
SOURCE = """\
#define BODY(scale) \\
    __shared__ unsigned cells[1024]; \\
    unsigned all = blockDim.x * blockDim.y * blockDim.z; \\
    unsigned me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; \\
    unsigned local[4] = {me, 1, 2, 3}; \\
    local[keys[me] & 3] += 5; \\
    unsigned kept = local[1] * 3 + local[me & 3]; \\
    cells[me] = kept + threadIdx.x * 7 + threadIdx.y * 11 + threadIdx.z * 13; \\
    __syncthreads(); \\
    unsigned sum = 0; \\
    for (unsigned k = 0; k < blockDim.x; k++) \\
        sum += (scale) * cells[(me + k * 5) % all]; \\
    int yes = __syncthreads_count(sum & 1); \\
    unsigned other = __shfl_xor_sync(__activemask(), sum, 1); \\
    if ((me ^ 1) >= all) \\
        other = 0; \\
    unsigned at = blockIdx.x * all + me; \\
    out[4 * at] = threadIdx.x | threadIdx.y << 10 | threadIdx.z << 20; \\
    out[4 * at + 1] = sum; \\
    out[4 * at + 2] = kept + yes; \\
    out[4 * at + 3] = other;

extern "C" __global__ void regions(unsigned *out, const unsigned *keys, unsigned stop) { BODY(1) }

extern "C" __global__ void __launch_bounds__(1024) bounded(unsigned *out, const unsigned *keys, unsigned stop) { BODY(1) }

__device__ __noinline__ unsigned deep(unsigned n) { return n == 0 ? 1 : deep(n - 1) * 1 + (n & 0); }
extern "C" __global__ void fibers(unsigned *out, const unsigned *keys, unsigned stop) { BODY(deep(stop)) }

extern "C" __global__ void lanes(unsigned *out, const unsigned *keys, unsigned stop, unsigned *lock)
{
    while (atomicCAS(lock, 0, 1) != 0) { }
    lock[1] += 1;
    __threadfence();
    atomicExch(lock, 0);
    BODY(1)
}
"""

PROGRAM = f"""
import sys
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

def expected(shape, keys):
    x, y, z = shape
    threads = np.arange(x * y * z, dtype=np.uint32)
    tx, ty, tz = threads % x, threads // x % y, threads // (x * y)
    local = np.stack([threads] + [np.full_like(threads, k) for k in (1, 2, 3)])
    local[keys[threads] & 3, threads] += np.uint32(5)
    kept = local[1] * 3 + local[threads & 3, threads]
    cells = kept + tx * 7 + ty * 11 + tz * 13
    total = np.zeros_like(threads)
    for k in range(x):
        total += cells[(threads + k * 5) % len(threads)]
    yes = np.uint32((total & 1).sum())
    padded = np.append(total, np.zeros(2, np.uint32))
    other = np.where((threads ^ 1) < len(threads), padded[threads ^ 1], 0)
    return np.stack([tx | ty << 10 | tz << 20, total, kept + yes, other], 1).astype(np.uint32)

name = sys.argv[1]
kernel = SourceModule({SOURCE!r}, no_extern_c=True).get_function(name)
keys = np.random.default_rng(1).integers(0, 1 << 32, 1024, dtype=np.uint32)
keys_gpu = gpuarray.to_gpu(keys)
for shape in {SHAPES!r}:
    size = int(np.prod(shape))
    out = gpuarray.zeros((3, size, 4), np.uint32)
    extra = (gpuarray.zeros(2, np.uint32),) if name == "lanes" else ()
    kernel(out, keys_gpu, np.uint32(3), *extra, block=shape, grid=(3, 1))
    wanted = expected(shape, keys)
    for block, found in enumerate(out.get()):
        assert (found == wanted).all(), (shape, block, np.argwhere(found != wanted)[:3])
    if extra:
        assert extra[0].get()[1] == 3 * size, shape
"""


OFTEN_SOURCE = """\
__global__ void often(float *out, int n)
{
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += __sinf(sum + k);
    out[blockIdx.x * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x] = sum;
}
"""

#: One shape after four others, again and again.
OFTEN = f"""
import numpy as np
import pycuda.autoinit
from pycuda import gpuarray
from pycuda.compiler import SourceModule

often = SourceModule({OFTEN_SOURCE!r}).get_function("often")
for shape in (32, 64, 96, 128):
    often(gpuarray.zeros(shape, np.float32), np.int32(1), block=(shape, 1, 1))
out, results = gpuarray.zeros((64, 160), np.float32), set()
for launch in range(400):
    often(out, np.int32(1000), block=(16, 10, 1), grid=(64, 1))
    results.update(out.get().ravel().tolist())
assert len(results) == 1, results
"""


def run(name: str, program: str = PROGRAM, **settings: str) -> list[str]:
    """The compilations."""
    done = subprocess.run(
        [sys.executable, "-c", program, name],
        env={
            **os.environ,
            "PYCUDA_DRIVER": "softcuda",
            "SOFTCUDA_TIMES": "1",
            **settings,
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    wanted = f"optimising `{name}`"
    return [line for line in done.stderr.splitlines() if wanted in line]


@pytest.mark.parametrize("name", ["regions", "bounded", "fibers", "lanes"])
def test_forty_shapes(name: str) -> None:
    """Three shapes get their own code. The others share code: one for rows of whole warps, one for all others."""
    assert len(SHAPES) == len(set(SHAPES)) == 40
    compilations = run(name, SOFTCUDA_DISABLE_CACHE="1", SOFTCUDA_BLOCK_SHAPES="3")
    assert len(compilations) <= 3 + 2


@pytest.mark.parametrize("name", ["regions", "fibers", "lanes"])
def test_no_shape_with_its_own_code(name: str) -> None:
    compilations = run(name, SOFTCUDA_DISABLE_CACHE="1", SOFTCUDA_BLOCK_SHAPES="0")
    assert len(compilations) == 2


def test_the_disk_cache(tmp_path) -> None:
    """Code for one shape and code for all shapes are different files, and both are found again."""
    folder = str(tmp_path)
    first = run("regions", SOFTCUDA_CACHE_DIR=folder, SOFTCUDA_BLOCK_SHAPES="3")
    assert len(first) == 5
    assert run("regions", SOFTCUDA_CACHE_DIR=folder, SOFTCUDA_BLOCK_SHAPES="3") == []
    # One shape has new code; further shapes find that for all shapes.
    more = run("regions", SOFTCUDA_CACHE_DIR=folder, SOFTCUDA_BLOCK_SHAPES="4")
    assert len(more) == 1


def test_a_shape_in_heavy_use_gets_its_own_code() -> None:
    compilations = run("often", OFTEN, SOFTCUDA_DISABLE_CACHE="1")
    # Three shapes, the shared code for rows, that for other blocks, and at last the code for 16 x 10 threads.
    assert len(compilations) == 6
    settings = {"SOFTCUDA_DISABLE_CACHE": "1", "SOFTCUDA_BLOCK_SHAPES": "3"}
    assert len(run("often", OFTEN, **settings)) == 5


def test_a_wrong_setting_is_named() -> None:
    with pytest.raises(AssertionError, match="SOFTCUDA_BLOCK_SHAPES is 'many'"):
        run("regions", SOFTCUDA_DISABLE_CACHE="1", SOFTCUDA_BLOCK_SHAPES="many")
