"""Accesses to rows of surfaces beside an index computation of NumPy: inside, at the borders and outside."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

WIDTH, HEIGHT, DEPTH = 75, 11, 3
KERNELS = """
#define SHIFT(T, MODE) \\
__global__ void plane_##T##_##MODE(cudaSurfaceObject_t from, cudaSurfaceObject_t to, T *seen, int dx, int dy) { \\
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y; \\
    if (x >= WIDTH || y >= HEIGHT) return; \\
    T value = surf2Dread<T>(from, (x + dx) * (int)sizeof(T), y + dy, cudaBoundaryMode##MODE); \\
    seen[y * WIDTH + x] = value; \\
    surf2Dwrite(value, to, (x + dx) * (int)sizeof(T), y + dy, cudaBoundaryMode##MODE); \\
}
#define MODES(T) SHIFT(T, Zero) SHIFT(T, Clamp)
typedef unsigned char byte;
MODES(byte) MODES(short) MODES(float) MODES(float2) MODES(float4)

#define IN_DEPTH(NAME, READ, WRITE, MODE) \\
__global__ void NAME##_##MODE(cudaSurfaceObject_t from, cudaSurfaceObject_t to, float *seen, int dx, int dz) { \\
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z; \\
    if (x >= WIDTH || y >= HEIGHT) return; \\
    float value = READ<float>(from, (x + dx) * 4, y, z + dz, cudaBoundaryMode##MODE); \\
    seen[(z * HEIGHT + y) * WIDTH + x] = value; \\
    WRITE(value, to, (x + dx) * 4, y, z + dz, cudaBoundaryMode##MODE); \\
}
IN_DEPTH(volume, surf3Dread, surf3Dwrite, Zero)
IN_DEPTH(volume, surf3Dread, surf3Dwrite, Clamp)
IN_DEPTH(layers, surf2DLayeredread, surf2DLayeredwrite, Zero)
IN_DEPTH(layers, surf2DLayeredread, surf2DLayeredwrite, Clamp)

__global__ void line(cudaSurfaceObject_t from, float *seen, int dx) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < WIDTH) seen[x] = surf1Dread<float>(from, (x + dx) * 4, cudaBoundaryModeZero);
}

__global__ void some(cudaSurfaceObject_t from, cudaSurfaceObject_t to, float *seen, int dx, int skip) {
    int x = threadIdx.x;
    if (x % 3 == skip) return; // the border is only reached by lanes that do not come here
    float value = surf2Dread<float>(from, (x + dx) * 4, threadIdx.y);
    seen[threadIdx.y * 32 + x] = value;
    surf2Dwrite(value, to, (x + dx) * 4, threadIdx.y);
}
""".replace("WIDTH", str(WIDTH)).replace("HEIGHT", str(HEIGHT))

BYTE, HALF_WORD, FLOAT = (
    cuda.array_format.UNSIGNED_INT8,
    cuda.array_format.SIGNED_INT16,
    cuda.array_format.FLOAT,
)
#: By the name of the CUDA type: NumPy's type, the format, the channels.
TYPES = {
    "byte": (np.uint8, BYTE, 1),
    "short": (np.int16, HALF_WORD, 1),
    "float": (np.float32, FLOAT, 1),
    "float2": (np.float32, FLOAT, 2),
    "float4": (np.float32, FLOAT, 4),
}
BLOCKS = [(32, 4, 1), (64, 1, 1), (16, 8, 1), (8, 8, 1), (5, 7, 1)]


class Surface:
    """A surface of an array of as many dimensions as ``values`` has without its channels."""

    def __init__(self, values, kind="float", flags=0):
        dtype, form, channels = TYPES[kind]
        self.values = np.ascontiguousarray(values, dtype)
        shape = self.values.shape if channels == 1 else self.values.shape[:-1]
        depth, height, width = (0,) * (3 - len(shape)) + shape
        d = cuda.ArrayDescriptor3D()
        d.width, d.height, d.depth = width, height, depth
        d.format, d.num_channels = form, channels
        d.flags = cuda.array3d_flags.SURFACE_LDST | flags
        self.array = cuda.Array(d)
        self.row = width * channels * self.values.itemsize
        self.height, self.depth = max(height, 1), max(depth, 1)
        copy = self.copy()
        copy.set_src_host(self.values)
        copy.set_dst_array(self.array)
        copy.src_pitch, copy.src_height = self.row, self.height
        copy()
        self.object = cuda.SurfaceObject(self.array)

    def copy(self):
        made = cuda.Memcpy3D()
        made.width_in_bytes, made.height, made.depth = self.row, self.height, self.depth
        return made

    def read(self):
        back = np.zeros_like(self.values)
        copy = self.copy()
        copy.set_src_array(self.array)
        copy.set_dst_host(back)
        copy.dst_pitch, copy.dst_height = self.row, self.height
        copy()
        return back


def moved(values, mode, *distances, layers=False):
    """What threads see that read at a distance along the first axes, and what is there after they wrote it back."""
    indices = np.indices(values.shape[: len(distances)])
    for axis, distance in enumerate(distances):
        indices[axis] += distance
    if layers:
        indices[0] %= 65536  # a layer's number has no sign
    inside = np.all(
        [(0 <= at) & (at < n) for at, n in zip(indices, values.shape, strict=False)],
        axis=0,
    )
    clamped = tuple(
        np.clip(at, 0, n - 1) for at, n in zip(indices, values.shape, strict=False)
    )
    seen = values[clamped]
    if mode == "Zero":
        seen[~inside] = 0
        clamped = tuple(at[inside] for at in clamped)
    written = np.zeros_like(values)
    written[clamped] = values[clamped]
    return seen, written


@pytest.fixture
def kernels(able):
    return able("surfaces", lambda: SourceModule(KERNELS))


def grid_of(block, depth=1):
    return -(-WIDTH // block[0]), -(-HEIGHT // block[1]), depth


@pytest.mark.parametrize("kind", TYPES)
def test_planes(kernels, kind):
    rng = np.random.default_rng(5)
    channels = TYPES[kind][2]
    shape = (HEIGHT, WIDTH) if channels == 1 else (HEIGHT, WIDTH, channels)
    values = rng.integers(1, 100, shape).astype(TYPES[kind][0])
    source = Surface(values, kind)
    for mode in ("Zero", "Clamp"):
        function = kernels.get_function(f"plane_{kind}_{mode}")
        for block in BLOCKS:
            for dx, dy in ((0, 0), (1, -1), (-1, 2), (-40, 0)):
                target = Surface(np.zeros_like(values), kind)
                seen = np.zeros_like(values)
                function(
                    source.object, target.object, cuda.Out(seen), np.int32(dx), np.int32(dy),
                    block=block, grid=grid_of(block),
                )  # fmt: skip
                wanted, written = moved(values, mode, dy, dx)
                assert (seen == wanted).all(), (mode, block, dx, dy)
                assert (target.read() == written).all(), (mode, block, dx, dy)


@pytest.mark.parametrize("name", ["volume", "layers"])
def test_depth(kernels, name):
    values = np.random.default_rng(6).random((DEPTH, HEIGHT, WIDTH), np.float32)
    flags = 0 if name == "volume" else cuda.array3d_flags.ARRAY3D_LAYERED
    source = Surface(values, flags=flags)
    for mode in ("Zero", "Clamp"):
        function = kernels.get_function(f"{name}_{mode}")
        for block in BLOCKS:
            for dx, dz in ((0, 0), (1, -1), (-3, 1)):
                target = Surface(np.zeros_like(values), flags=flags)
                seen = np.zeros_like(values)
                function(
                    source.object, target.object, cuda.Out(seen), np.int32(dx), np.int32(dz),
                    block=block, grid=grid_of(block, DEPTH),
                )  # fmt: skip
                wanted, written = moved(
                    values, mode, dz, 0, dx, layers=name == "layers"
                )
                assert (seen == wanted).all(), (mode, block, dx, dz)
                assert (target.read() == written).all(), (mode, block, dx, dz)


def test_lines(kernels):
    values = np.random.default_rng(7).random(WIDTH, np.float32)
    source = Surface(values)
    for dx in (0, 3, -1):
        seen = np.zeros_like(values)
        kernels.get_function("line")(
            source.object, cuda.Out(seen), np.int32(dx), block=(64, 1, 1), grid=(2, 1)
        )
        assert (seen == moved(values, "Zero", dx)[0]).all()


@pytest.mark.parametrize(("dx", "skip"), [(1, 1), (-1, 0)])
def test_lanes_that_do_not_access_the_border(kernels, dx, skip):
    """Lane 31, or lane 0, would be outside, but does not come to the access."""
    values = np.random.default_rng(8).random((2, 32), np.float32)
    source, target = Surface(values), Surface(np.zeros_like(values))
    seen = np.zeros_like(values)
    kernels.get_function("some")(
        source.object, target.object, cuda.Out(seen), np.int32(dx), np.int32(skip), block=(32, 2, 1)
    )  # fmt: skip
    x = np.arange(32)
    x = x[x % 3 != skip]
    wanted, written = np.zeros_like(values), np.zeros_like(values)
    wanted[:, x] = written[:, x + dx] = values[:, x + dx]
    assert (seen == wanted)[:, x].all() and (target.read() == written).all()


TRAPS = """
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule
module = SourceModule('''
__global__ void f(cudaSurfaceObject_t s, float *out, int dx)
{ out[threadIdx.x] = surf2Dread<float>(s, threadIdx.x * 4 + dx, 0); }''')
array = cuda.np_to_array(np.ones((4, 64), np.float32), "C", allowSurfaceBind=True)
out = np.zeros(32, np.float32)
f, s = module.get_function("f"), cuda.SurfaceObject(array)
f(s, cuda.Out(out), np.int32(128), block=(32, 1, 1))
assert (out == 1).all()
f(s, cuda.Out(out), np.int32(DISTANCE), block=(32, 1, 1))
"""


@pytest.mark.parametrize("distance", [-4, 132, 2, 2**31 - 4, -(2**31)])
def test_traps(run_program, distance):
    """One lane outside, all of them, or between texels."""
    done = run_program(TRAPS.replace("DISTANCE", str(distance)))
    error = "misaligned address" if distance == 2 else "illegal memory access"
    assert done.returncode != 0, done.stderr
    assert "LogicError" in done.stderr and error in done.stderr, done.stderr
