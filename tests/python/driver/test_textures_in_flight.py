"""Textures and surfaces that a program drops or binds anew before the kernels that read them have run."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

N = 256
SOURCE = """
texture<float, 1, cudaReadModeElementType> bound;
surface<void, 2> drawn;
__global__ void by_object(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f); }
__global__ void by_object_1d(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
__global__ void by_reference(float *out) { out[threadIdx.x] = tex1Dfetch(bound, threadIdx.x); }
__global__ void by_surface(cudaSurfaceObject_t s, float *out) { out[threadIdx.x] = surf2Dread<float>(s, threadIdx.x * 4, 0); }
__global__ void draw(float x) { surf2Dwrite(x, drawn, threadIdx.x * 4, 0); }
"""


@pytest.fixture
def module(device):
    return SourceModule(SOURCE)


@pytest.fixture
def gate(device):
    """A stream whose work waits until the test opens it."""
    stream, opened = cuda.Stream(cuda.stream_flags.NON_BLOCKING), threading.Event()
    cuda.launch_host_func(lambda: opened.wait(10), stream)
    yield stream, opened
    opened.set()
    stream.synchronize()


def image(value, flags=0):
    """A CUDA array of one row."""
    description = cuda.ArrayDescriptor3D()
    description.width, description.height, description.depth = N, 1, 0
    description.format, description.num_channels = cuda.array_format.FLOAT, 1
    description.flags = flags
    array = cuda.Array(description)
    copy = cuda.Memcpy2D()
    copy.set_src_host(np.full((1, N), value, np.float32))
    copy.set_dst_array(array)
    copy.width_in_bytes = copy.src_pitch = 4 * N
    copy.height = 1
    copy(aligned=True)
    return array


def texture(value):
    return cuda.TextureObject(image(value))


def linear_texture(value):
    x = gpuarray.zeros(N, np.float32).fill(value)
    cuda.Context.synchronize()
    return cuda.TextureObject(x.gpudata, size=4 * N)


def surface(value):
    return cuda.SurfaceObject(image(value, cuda.array3d_flags.SURFACE_LDST))


@pytest.mark.parametrize(
    "kernel, make",
    [
        ("by_object", texture),
        ("by_object_1d", linear_texture),
        ("by_surface", surface),
    ],
)
@pytest.mark.parametrize("how", ["call", "prepared", "bound"])
def test_dropped_before_the_kernel_runs(module, device, kernel, make, how):
    """The object lives until the kernel is done; its end does not wait for the device."""
    function, out = module.get_function(kernel), gpuarray.zeros(N, np.float32)
    used = make(1)
    stream, opened = cuda.Stream(cuda.stream_flags.NON_BLOCKING), threading.Event()
    cuda.Context.synchronize()
    cuda.launch_host_func(lambda: opened.wait(10), stream)
    if how == "call":
        function(used, out, block=(N, 1, 1), stream=stream)
    elif how == "prepared":
        function.prepare("PP")
        function.prepared_async_call((1, 1), (N, 1, 1), stream, used, out.gpudata)
    else:
        function.bind(used, out, block=(N, 1, 1), stream=stream)()
    start = time.perf_counter()
    alive = weakref.ref(used)
    del used
    gc.collect()
    assert time.perf_counter() - start < 5, "the end of the object waited"
    assert alive() is not None
    opened.set()
    stream.synchronize()
    assert (out.get() == 1).all()
    cuda.Context.synchronize()
    gc.collect()
    assert alive() is None


def test_a_texture_bound_anew_before_the_kernel_runs(module, gate):
    stream, opened = gate
    function, out = module.get_function("by_reference"), gpuarray.zeros(N, np.float32)
    first, second = (gpuarray.zeros(N, np.float32).fill(value) for value in (1, 2))
    reference = module.get_texref("bound")
    reference.set_address(first.gpudata, first.nbytes)
    function(out, block=(N, 1, 1), stream=stream, texrefs=[reference])
    threading.Timer(0.3, opened.set).start()
    reference.set_address(second.gpudata, second.nbytes)
    stream.synchronize()
    assert (out.get() == 1).all()
    function(out, block=(N, 1, 1), texrefs=[reference])
    assert (out.get() == 2).all()


def test_a_surface_bound_anew_before_the_kernel_runs(module, gate):
    stream, opened = gate
    first, second = (image(0, cuda.array3d_flags.SURFACE_LDST) for _ in range(2))
    reference = module.get_surfref("drawn")
    reference.set_array(first)
    module.get_function("draw")(np.float32(7), block=(N, 1, 1), stream=stream)
    threading.Timer(0.3, opened.set).start()
    reference.set_array(second)
    stream.synchronize()
    read, out = module.get_function("by_surface"), gpuarray.zeros(N, np.float32)
    for array, value in ((first, 7), (second, 0)):
        read(cuda.SurfaceObject(array), out, block=(N, 1, 1))
        assert (out.get() == value).all()


def test_a_reference_keeps_its_binding_if_a_new_one_fails(module, device):
    x = gpuarray.zeros(N, np.float32).fill(3)
    reference = module.get_texref("bound")
    reference.set_address(x.gpudata, x.nbytes)
    y = gpuarray.zeros(N, np.float32)
    with pytest.raises(cuda.Error):
        reference.set_address(y.gpudata, 1 << 60)
    assert reference.get_address() == x.ptr
    out = gpuarray.zeros(N, np.float32)
    module.get_function("by_reference")(out, block=(N, 1, 1), texrefs=[reference])
    assert (out.get() == 3).all()


@pytest.mark.parametrize("kind", ["texture", "surface"])
@pytest.mark.parametrize("how", ["called", "bound", "prepared"])
def test_a_graph_keeps_the_textures_of_its_launches(module, kind, how):
    stream, out = cuda.Stream(), gpuarray.zeros(N, np.float32)
    array = image(3, cuda.array3d_flags.SURFACE_LDST)
    kernel = module.get_function("by_object" if kind == "texture" else "by_surface")
    shown = cuda.TextureObject(array) if kind == "texture" else cuda.SurfaceObject(array)  # fmt: skip
    alive = weakref.ref(shown)
    with cuda.capture(stream) as recording:
        if how == "called":
            kernel(shown, out, block=(N, 1, 1), stream=stream)
        elif how == "bound":
            kernel.bind(shown, out, block=(N, 1, 1))(stream=stream)
        else:
            kernel.prepare("PP")
            kernel.prepared_async_call((1, 1), (N, 1, 1), stream, shown, out.gpudata)
    del shown, array
    gc.collect()
    others = [
        texture(9) for _ in range(4)
    ]  # would have the handles of textures that ended
    launch = recording.graph.instantiate()
    for _ in range(3):
        launch.launch(stream)
    stream.synchronize()
    assert (out.get() == 3).all()
    del launch, recording, others
    gc.collect()
    end = (
        time.monotonic() + 20
    )  # the driver ends a graph's objects in a thread of its own
    while alive() is not None and time.monotonic() < end:
        time.sleep(0.01)
        cuda.mem_get_info()  # this library drops what the driver has ended
    assert alive() is None
