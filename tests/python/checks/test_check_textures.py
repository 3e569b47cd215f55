"""Races with accesses through textures and surfaces."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = [
    pytest.mark.skipif(not is_softcuda(), reason="only softcuda has check modes"),
    pytest.mark.cuda_check_allow("race"),
]

WIDTH, HEIGHT = 64, 4
SOURCE = """
__device__ int x() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ int y() { return blockIdx.y; }

__global__ void shift(cudaSurfaceObject_t image, int distance) {
    float value = surf2Dread<float>(image, 4 * (x() + distance), y(), cudaBoundaryModeClamp);
    surf2Dwrite(value + 1, image, 4 * x(), y());
}
__global__ void fill(cudaSurfaceObject_t image, int divisor) {
    surf2Dwrite((float)x(), image, 4 * (x() / divisor), y());
}
__global__ void turn(cudaSurfaceObject_t image, int wait) {
    surf2Dwrite((float)x(), image, 4 * x(), y());
    if (wait)
        __syncthreads();
    float value = surf2Dread<float>(image, 4 * (63 - x()), y());
    if (wait)
        __syncthreads();
    surf2Dwrite(value, image, 4 * x(), y());
}
__global__ void smooth(cudaTextureObject_t from, cudaSurfaceObject_t to, float offset) {
    float value = tex2D<float>(from, x() + offset, y() + .5f);
    surf2Dwrite(value, to, 4 * x(), y());
}
__global__ void fetch(cudaTextureObject_t from, float *to, int distance) {
    to[x()] = tex1Dfetch<float>(from, x() + distance) + 1;
}
__global__ void count(cudaSurfaceObject_t image, int plain) {
    int value = 1;
    if (plain && x() == 5)
        surf2Dwrite(value, image, 0, y());
    asm volatile("sured.b.2d.add.u32.clamp [%0, {%1, %2}], %3;"
                 :: "l"(image), "r"(0), "r"(y()), "r"(value) : "memory");
}
"""
SHAPE = {"block": (WIDTH // 2, 1, 1), "grid": (2, HEIGHT, 1)}
ROW = {"block": (WIDTH, 1, 1), "grid": (1, HEIGHT, 1)}
LINE = {"block": (WIDTH // 2, 1, 1), "grid": (2, 1, 1)}


class Objects:
    """The kernels, an array with its surface, a second one, and linear memory."""

    def __init__(self):
        module = SourceModule(SOURCE)
        for name in ("shift", "fill", "turn", "smooth", "fetch", "count"):
            setattr(self, name, module.get_function(name))
        description = cuda.ArrayDescriptor3D()
        description.width, description.height, description.depth = WIDTH, HEIGHT, 0
        description.format = cuda.array_format.FLOAT
        description.num_channels = 1
        description.flags = cuda.array3d_flags.SURFACE_LDST
        self.array, self.other_array = (cuda.Array(description) for _ in range(2))
        self.surface = cuda.SurfaceObject(self.array)
        self.other_surface = cuda.SurfaceObject(self.other_array)
        self.memory = gpuarray.zeros(2 * WIDTH, np.float32)
        self.line = cuda.TextureObject(self.memory.gpudata, size=self.memory.nbytes)

    def texture(self, filter_mode):
        return cuda.TextureObject(self.array, filter_mode=filter_mode)


@pytest.fixture
def objects(device):
    return Objects()


def findings_of(kernel, *arguments, **shape):
    with pycuda.check("race") as checks:
        kernel(*arguments, **shape)
        cuda.Context.synchronize()
    return checks.findings


def kinds_of(kernel, *arguments, **shape):
    return {finding.kind for finding in findings_of(kernel, *arguments, **shape)}


READ_AND_WRITE = {"read-after-write", "write-after-read"}


def test_a_surface_shifted_in_place(objects):
    found = findings_of(objects.shift, objects.surface, np.int32(1), **SHAPE)
    assert {finding.kind for finding in found} <= READ_AND_WRITE
    assert {access.line for access in found[0].accesses} == {6, 7}
    assert found[0].accesses[0].bytes == 4


def test_each_thread_has_a_texel_of_its_own(objects):
    assert not kinds_of(objects.shift, objects.surface, np.int32(0), **SHAPE)
    assert not kinds_of(objects.fill, objects.surface, np.int32(1), **SHAPE)


def test_two_threads_write_one_texel(objects):
    kinds = kinds_of(objects.fill, objects.surface, np.int32(2), **SHAPE)
    assert kinds == {"write-after-write"}


@pytest.mark.parametrize("wait", [False, True])
def test_a_barrier_orders_accesses_to_a_surface(objects, wait):
    kinds = kinds_of(objects.turn, objects.surface, np.int32(wait), **ROW)
    assert bool(kinds) != wait


@pytest.mark.parametrize("filter_mode", ["POINT", "LINEAR"])
@pytest.mark.parametrize("offset", [0.5, 0.75])
def test_filtering_reads_neighbours(objects, filter_mode, offset):
    texture = objects.texture(getattr(cuda.filter_mode, filter_mode))
    kinds = kinds_of(objects.smooth, texture, objects.surface, np.float32(offset), **SHAPE)  # fmt: skip
    assert bool(kinds) == (filter_mode == "LINEAR" and offset != 0.5)
    assert not kinds_of(objects.smooth, texture, objects.other_surface, np.float32(offset), **SHAPE)  # fmt: skip


def test_linear_memory_behind_a_texture(objects):
    def kinds(distance):
        return kinds_of(objects.fetch, objects.line, objects.memory, np.int32(distance), **LINE)  # fmt: skip

    assert kinds(3) and kinds(3) <= READ_AND_WRITE
    assert not kinds(0)
    assert not kinds(WIDTH)


@pytest.mark.parametrize("plain", [False, True])
def test_reductions_of_a_surface(objects, plain):
    kinds = kinds_of(objects.count, objects.surface, np.int32(plain), **ROW)
    assert kinds == ({"atomic-and-plain"} if plain else set())


def test_streams_that_share_a_surface(objects):
    first, second = cuda.Stream(), cuda.Stream()

    def kinds(wait):
        with pycuda.check("race") as checks:
            objects.fill(objects.surface, np.int32(1), stream=first, **SHAPE)
            if wait:
                second.wait_for_event(cuda.Event().record(first))
            objects.shift(objects.surface, np.int32(0), stream=second, **SHAPE)
            cuda.Context.synchronize()
        return {finding.kind for finding in checks.findings}

    assert kinds(wait=False)
    assert not kinds(wait=True)


@pytest.mark.parametrize("modes", [("mem", "init"), ("sync",)])
def test_other_modes(objects, modes):
    with pycuda.check(*modes) as checks:
        objects.shift(objects.surface, np.int32(1), **SHAPE)
        cuda.Context.synchronize()
    kinds = {finding.kind for finding in checks.findings}
    assert kinds == ({"missing-syncwarp"} if "sync" in modes else set())


def test_results_are_those_of_unchecked_kernels(objects):
    texture = objects.texture(cuda.filter_mode.LINEAR)
    objects.fill(objects.surface, np.int32(1), **SHAPE)

    def result():
        objects.smooth(texture, objects.other_surface, np.float32(0.75), **SHAPE)
        seen = np.zeros((HEIGHT, WIDTH), np.float32)
        copy = cuda.Memcpy2D()
        copy.set_src_array(objects.other_array)
        copy.set_dst_host(seen)
        copy.width_in_bytes, copy.height = seen.strides[0], HEIGHT
        copy(aligned=True)
        return seen

    wanted = result()
    with pycuda.check("mem", "race", "init", "sync") as checks:
        seen = result()
    assert not checks.findings
    np.testing.assert_array_equal(seen, wanted)
