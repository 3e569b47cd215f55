"""Texture and surface references keep the memory that the program frees until they are bound anew."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

IMAGE = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture
def texture_module(able):
    """SourceModule, for sources with textures that the driver may not support."""
    return lambda source, **how: able("textures", lambda: SourceModule(source, **how))


READ_REFERENCE = """
texture<float, 2> image; surface<void, 2> canvas;
__global__ void read(float *out) { out[0] = tex2D(image, 0.5f, 0.5f); }
__global__ void draw(float value) { surf2Dwrite(value, canvas, 0, 0); }
"""


def test_references_keep_arrays_that_the_program_frees(texture_module):
    module = texture_module(READ_REFERENCE)
    read, draw = module.get_function("read"), module.get_function("draw")
    image, canvas = module.get_texref("image"), module.get_surfref("canvas")
    first = cuda.np_to_array(IMAGE, "C", allowSurfaceBind=True)
    out = gpuarray.zeros(1, np.float32)
    image.set_array(first)
    canvas.set_array(first)
    first.free()
    for touch in (lambda: first.handle, first.free, lambda: image.set_array(first), lambda: canvas.set_array(first),
                  lambda: read(out, block=(1, 1, 1), texrefs=[image]), lambda: image.set_filter_mode(cuda.filter_mode.LINEAR)):  # fmt: skip
        with pytest.raises(cuda.LogicError, match="freed"):
            touch()
    draw(np.float32(7), block=(1, 1, 1))
    read(
        out, block=(1, 1, 1)
    )  # a launch does not know which references its kernel reads
    assert out.get() == [7]
    image.set_array(cuda.np_to_array(IMAGE, "C"))
    read(out, block=(1, 1, 1), texrefs=[image])
    assert out.get() == IMAGE[0, 0]


def test_freed_memory_of_a_reference_returns_when_it_is_bound_anew(texture_module):
    image = texture_module(READ_REFERENCE).get_texref("image")
    large = cuda.np_to_array(np.zeros((4096, 4096), np.float32), "C")
    image.set_array(large)
    held = cuda.mem_get_info()[0]
    large.free()
    assert cuda.mem_get_info()[0] <= held
    image.set_array(cuda.np_to_array(IMAGE, "C"))
    assert cuda.mem_get_info()[0] > held + (32 << 20)


FETCH = """
texture<float, 1> line; __device__ float store[3], other; __constant__ int three = 3;
__device__ float of(int i) { return tex1Dfetch(line, i) + store[i] + three; }
__global__ void read(float *out) { out[threadIdx.x] = tex1Dfetch(line, threadIdx.x); }
__global__ void rest(float *out) { out[0] = of(0) + other; }
"""


@pytest.mark.parametrize("kind", ["memory", "array", "managed"])
def test_references_keep_linear_memory_that_the_program_frees(texture_module, kind):
    module = texture_module(FETCH)
    line, read = module.get_texref("line"), module.get_function("read")
    out = gpuarray.zeros(12, np.float32)
    if kind == "array":
        first = gpuarray.to_gpu(IMAGE.ravel())
        first.bind_to_texref(line)
        first.gpudata = None
    else:
        first = cuda.mem_alloc(48) if kind == "memory" else cuda.ManagedAllocation(48)
        cuda.memcpy_htod(first, IMAGE.ravel())
        line.set_address(first, 48)
        line.set_format(cuda.array_format.FLOAT, 1)
        first.free()
        with pytest.raises(cuda.LogicError, match="freed"):
            first.free()
        with pytest.raises(cuda.LogicError, match="freed"):
            read(out, block=(12, 1, 1), texrefs=[line])
    others = [gpuarray.zeros(12, np.float32) + 99 for _ in range(4)]
    read(out, block=(12, 1, 1))
    assert (out.get() == IMAGE.ravel()).all()
    del others


def test_freed_linear_memory_returns_when_the_reference_is_bound_anew(texture_module):
    line = texture_module(FETCH).get_texref("line")
    large = cuda.mem_alloc(64 << 20)
    line.set_address(large, 48)
    held = cuda.mem_get_info()[0]
    large.free()
    assert cuda.mem_get_info()[0] <= held
    line.set_address(cuda.mem_alloc(48), 48)
    assert cuda.mem_get_info()[0] > held + (32 << 20)


def test_an_unknown_variable_is_named_with_those_of_the_module(texture_module):
    module = texture_module(FETCH)
    for look_up in (module.get_global, module.get_texref, module.get_surfref):
        with pytest.raises(
            cuda.LogicError, match="which has: line, other, store, three"
        ):
            look_up("lines")


@pytest.mark.parametrize("is_current", [True, False])
def test_a_reference_is_found_during_a_capture(texture_module, is_current):
    module = texture_module(READ_REFERENCE)
    stream = cuda.Stream()
    with cuda.capture(stream) as recording:
        if is_current:
            with stream:
                image = module.get_texref("image")
        else:
            image = module.get_texref("image")
    assert recording.graph is not None
    image.set_array(cuda.np_to_array(IMAGE, "C"))
    out = gpuarray.empty(1, np.float32)
    module.get_function("read")(out, block=(1, 1, 1), texrefs=[image])
    assert out.get()[0] == IMAGE[0, 0]
