"""Launching: blocks, grids, streams, shared memory, attributes, prepared calls."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule, compile


@pytest.fixture(scope="module")
def module(primary_context):
    with primary_context:
        return SourceModule("""
        __global__ void extents(int *out)
        {
            if (threadIdx.x + threadIdx.y + threadIdx.z + blockIdx.x + blockIdx.y + blockIdx.z)
                return;
            out[0] = blockDim.x; out[1] = blockDim.y; out[2] = blockDim.z;
            out[3] = gridDim.x; out[4] = gridDim.y; out[5] = gridDim.z;
        }
        __global__ void reverse(int *data)
        {
            extern __shared__ int tile[];
            tile[threadIdx.x] = data[threadIdx.x];
            __syncthreads();
            data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
        }
        __global__ void axpy(float *y, const float *x, float a, int n)
        {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            if (i < n) y[i] += a * x[i];
        }
        __device__ int counter = 41;
        __constant__ float table[4];
        __global__ void count(int *out) { *out = ++counter; }
        __global__ void look_up(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
        """)


def extents(module, **how):
    out = np.zeros(6, np.int32)
    module.get_function("extents")(cuda.Out(out), **how)
    return out.tolist()


@pytest.mark.parametrize(
    "block, grid, expected",
    [
        ((4, 3, 2), (5, 6, 7), [4, 3, 2, 5, 6, 7]),
        ((4, 3), (5, 6), [4, 3, 1, 5, 6, 1]),
        ((4,), (5,), [4, 1, 1, 5, 1, 1]),
        (4, 5, [4, 1, 1, 5, 1, 1]),
        ([4, 3, 2], [5, 6], [4, 3, 2, 5, 6, 1]),
        ((np.int32(4), np.int64(3), 1), (np.uint8(5), 6), [4, 3, 1, 5, 6, 1]),
        (np.array([4, 3]), np.int64(5), [4, 3, 1, 5, 1, 1]),
    ],
)
def test_extents(device, module, block, grid, expected):
    assert extents(module, block=block, grid=grid) == expected


def test_the_grid_is_one_block_by_default(device, module):
    assert extents(module, block=(8, 1, 1)) == [8, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "how, error, words",
    [
        ({}, ValueError, "must specify block size: call kernel 'extents'"),
        (
            {"block": (1, 1, 1), "gird": (1, 1)},
            ValueError,
            "extra keyword arguments: gird",
        ),
        (
            {"block": (1, 1, 1, 1)},
            cuda.LogicError,
            "too many block dimensions in kernel launch",
        ),
        (
            {"block": 1, "grid": (1, 1, 1, 1)},
            cuda.LogicError,
            "too many grid dimensions",
        ),
        (
            {"block": 1, "grid": (7.5, 1)},
            TypeError,
            "grid must be one to three ints.*7.5; //",
        ),
        ({"block": "8"}, TypeError, "block must be one to three ints, got '8'"),
        ({"block": ()}, TypeError, "block must be one to three ints"),
        ({"block": (-1, 1, 1)}, ValueError, "block has -1"),
        ({"block": (0, 1, 1)}, cuda.LogicError, "x is 0, it must be at least 1"),
        ({"block": 1, "stream": 5}, TypeError, "stream must be a pycuda.driver.Stream"),
        ({"block": 1, "texrefs": [1]}, TypeError, "TextureReferences, not int"),
    ],
)
def test_wrong_launches(device, module, how, error, words):
    with pytest.raises(error, match=words):
        extents(module, **how)


def test_dynamic_shared_memory(device, module):
    data = np.arange(64, dtype=np.int32)
    module.get_function("reverse")(cuda.InOut(data), block=(64, 1, 1), shared=256)
    assert (data == np.arange(64)[::-1]).all()


def test_time_kernel(device, module):
    seconds = module.get_function("extents")(
        cuda.Out(np.zeros(6, np.int32)), block=(1, 1, 1), time_kernel=True
    )
    assert 0 < seconds < 60


def test_a_call_returns_none(device, module):
    out = cuda.mem_alloc(24)
    assert module.get_function("extents")(out, block=(1, 1, 1)) is None


def test_streams(device, module):
    stream = cuda.Stream()
    n = 1000
    x, y = (
        cuda.to_device(np.ones(n, np.float32)),
        cuda.to_device(np.zeros(n, np.float32)),
    )
    for _ in range(10):
        module.get_function("axpy")(
            y, x, 2.0, n, block=(128, 1, 1), grid=(8, 1), stream=stream
        )
    stream.synchronize()
    assert (cuda.from_device(y, n, np.float32) == 20).all()


def test_globals(device, module):
    address, size = module.get_global("counter")
    assert size == 4
    out = np.zeros(1, np.int32)
    module.get_function("count")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 42
    cuda.memcpy_htod(address, np.int32(7))
    module.get_function("count")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 8
    table = np.array([1, 2, 3, 4], np.float32)
    cuda.memcpy_htod(module.get_global("table")[0], table)
    result = np.zeros(4, np.float32)
    module.get_function("look_up")(cuda.Out(result), block=(4, 1, 1))
    assert (result == table).all()
    cuda.memcpy_htod(address, np.int32(41))


def test_attributes(device, module):
    function = module.get_function("reverse")
    attribute = cuda.function_attribute
    assert function.num_regs == function.get_attribute(attribute.NUM_REGS) >= 0
    assert function.max_threads_per_block > 0
    assert function.shared_size_bytes == 0
    function.set_attribute(attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, 16384)
    assert function.max_dynamic_shared_size_bytes == 16384
    function.set_cache_config(cuda.func_cache.PREFER_L1)
    with pytest.raises(AttributeError, match="nonsense"):
        function.nonsense  # noqa: B018


def test_a_limit_of_registers_is_respected(device):
    source = """
    __global__ void LIMIT many(float *x) {
        float y[32];
        #pragma unroll
        for (int i = 0; i < 32; i++)
            y[i] = x[i * 64 + threadIdx.x];
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < 32; i++)
            x[i * 64 + threadIdx.x] = y[31 - i];
    }
    """
    free, limited = (
        SourceModule(source.replace("LIMIT", word)).get_function("many")
        for word in ("", "__maxnreg__(24)")
    )
    assert free.num_regs > 32
    assert limited.num_regs <= 24


def test_functions_take_attributes_of_users(device, module):
    function = module.get_function("axpy")
    function.remark = "mine"
    assert function.remark == "mine" and function.__dict__ == {"remark": "mine"}
    assert function.name == "axpy" and function.handle != 0
    assert "axpy(float *, const float *, float, int)" in repr(function)


def test_functions_keep_their_module_loaded(device):
    function = SourceModule("__global__ void one(int *p) { *p = 1; }").get_function(
        "one"
    )
    out = np.zeros(1, np.int32)
    function(cuda.Out(out), block=1)
    assert out[0] == 1


@pytest.mark.parametrize(
    "arg_types",
    ["PPfi", ["P", "P", np.float32, np.int32], [np.intp, "P", "f", np.dtype("i4")]],
)
def test_prepared_calls(device, module, arg_types):
    n = 100
    x, y = (
        cuda.to_device(np.ones(n, np.float32)),
        cuda.to_device(np.zeros(n, np.float32)),
    )
    axpy = module.get_function("axpy")
    assert axpy.prepare(arg_types) is axpy
    axpy.prepared_call((1, 1), (128, 1, 1), y, x, 1.0, n)
    axpy.prepared_call((1, 1), (128, 1, 1), int(y), int(x), np.float32(1), np.int64(n))
    axpy.prepared_async_call((1, 1), (128, 1, 1), None, y, x, 1, n)
    axpy.prepared_async_call(
        (1, 1), (128, 1, 1), cuda.Stream(), y, x, 1, n, shared_size=16
    )
    seconds = axpy.prepared_timed_call((1, 1), (128, 1, 1), y, x, 1.0, n)
    assert 0 <= seconds() < 60
    cuda.Context.synchronize()
    assert (cuda.from_device(y, n, np.float32) == 5).all()


def test_prepared_calls_take_handlers(device, module):
    y = np.zeros(8, np.float32)
    axpy = module.get_function("axpy").prepare("PPfi")
    axpy.prepared_call(
        (1, 1), (8, 1, 1), cuda.InOut(y), cuda.In(np.ones(8, "f4")), 3.0, 8
    )
    assert (y == 3).all()


def test_prepare_knows_structs_and_bools(device):
    kernel = SourceModule("""
    struct Pair { int a; float b; };
    __global__ void sum(float *out, Pair p, bool twice) { *out = (p.a + p.b) * (twice ? 2 : 1); }
    """).get_function("sum")
    pair = np.dtype([("a", "i4"), ("b", "f4")])
    out = cuda.mem_alloc(4)
    kernel.prepare(["P", pair, np.bool_])
    assert kernel.arg_format == "P8s?"
    kernel.prepared_call((1, 1), (1, 1, 1), out, np.array((3, 0.5), pair), True)
    assert cuda.from_device(out, 1, np.float32)[0] == 7


def test_wrong_prepared_calls(device, module):
    axpy = module.get_function("axpy")
    with pytest.raises(cuda.LogicError, match="has not been prepared"):
        axpy.prepared_call((1, 1), (1, 1, 1), 0, 0, 0.0, 0)
    axpy.prepare("PPfi")
    with pytest.raises(cuda.ArgumentError, match="prepared for 4 arguments, got 3"):
        axpy.prepared_call((1, 1), (1, 1, 1), 0, 0, 0.0)
    with pytest.raises(TypeError, match="unknown keyword arguments: stream"):
        axpy.prepared_call((1, 1), (1, 1, 1), 0, 0, 0.0, 0, stream=None)
    with pytest.raises(cuda.ArgumentError, match="argument 3.*2147483648"):
        axpy.prepared_call((1, 1), (1, 1, 1), 0, 0, 0.0, 2**31)
    with pytest.raises(TypeError):
        axpy.prepared_call((1, 1), (1, 1, 1), 0, 0, "much", 1)
    with pytest.raises(ValueError, match="does not know the type code 'y'"):
        axpy.prepare("y")
    axpy.prepare("PPdi")  # not the kernel's arguments
    with pytest.raises(cuda.ArgumentError, match="argument 2: expected float"):
        axpy.prepared_call((1, 1), (1, 1, 1), 0, 0, 0.0, 0)


def test_extents_are_those_of_each_call(device):
    """Tuples that were read before are cached: each must keep its own meaning."""
    tell = SourceModule("""
        __global__ void tell(int *out)
        { out[0] = gridDim.x; out[1] = gridDim.y; out[2] = blockDim.x; out[3] = blockDim.z; }
    """).get_function("tell")
    tell.prepare("P")
    out = cuda.mem_alloc(16)
    for _ in range(2):
        for n in range(1, 41):
            grid, block = (n, 41 - n), (n, 1, 1 + n % 3)
            tell(out, grid=grid, block=block)
            assert cuda.from_device(out, 4, np.int32).tolist() == [*grid, n, block[2]]
            tell.prepared_call(block, grid, out)  # the same tuples exchanged
            assert cuda.from_device(out, 4, np.int32).tolist() == [n, 1, n, 1]
    with pytest.raises(cuda.LogicError, match="too many block dimensions"):
        tell(out, block=(1, 1, 1, 1))


def test_prepared_calls_as_before_2011(device, module):
    """Without a block argument, because set_block_shape() has set it."""
    x = cuda.to_device(np.ones(4, np.float32))
    y = cuda.to_device(np.zeros(4, np.float32))
    axpy = module.get_function("axpy")
    assert axpy.prepare("PPfi").texrefs == []
    axpy.set_block_shape(4, 1, 1)
    calls = (
        lambda: axpy.prepared_call((1, 1), y, x, 1.0, 4),
        lambda: axpy.prepared_call((1, 1), int(y), int(x), 1.0, 4, shared_size=0),
        lambda: axpy.prepared_async_call((1, 1), None, y, x, 1.0, 4),
        lambda: axpy.prepared_timed_call((1, 1), y, x, 1.0, 4)(),
    )
    for call in calls:
        with pytest.warns(DeprecationWarning, match="take the block after the grid"):
            call()
    axpy.prepared_call((1, 1), (2, 1, 1), y, x, 1.0, 4)  # the current form
    assert cuda.from_device(y, 4, np.float32).tolist() == [5, 5, 4, 4]


def test_missing_parts_are_named(device, module, tmp_path):
    with pytest.raises(ValueError, match="must specify block size"):
        module.get_function("count")(cuda.mem_alloc(4), block=None)
    with pytest.raises(
        ValueError, match="extra keyword arguments: colour,shape; .* by position$"
    ):
        module.get_function("count")(1, block=1, colour=1, grid=1, shape=2)
    with pytest.raises(TypeError, match="get_function"):
        module.get_function(b"count")
    with pytest.raises(cuda.RuntimeError, match="file not found - .* is a folder"):
        cuda.module_from_file(tmp_path)
    names = repr(module.module).removeprefix("<pycuda.driver.Module with ")
    assert sorted(names.removesuffix(">").split(", ")) == sorted(
        ["axpy", "count", "extents", "look_up", "reverse"]
    )
    ptx = compile(SOURCE_OF_ONE, target="ptx")
    one = cuda.module_from_buffer(ptx).get_function("one")
    assert repr(one) == "<pycuda.driver.Function one(8 bytes, 1 byte)>"


SOURCE_OF_ONE = "__global__ void one(int *p, char c) { *p = c; }"


def test_arrays_of_the_right_size_are_structs_by_value(device):
    """As in PyCUDA, where every host array is passed by value."""
    module = SourceModule("""
        typedef struct { float x; int n; } Pair;
        struct Three { int a, b, c; };
        enum Color { RED, GREEN = 5 };
        __global__ void f(Pair pair, Three three, dim3 extent, Color color, float *out)
        {
            out[0] = pair.x; out[1] = pair.n; out[2] = three.c; out[3] = extent.y; out[4] = color;
        }
        __global__ void g(const float *p) {}
        """)
    pair = np.array([(1.5, 2)], [("x", "f4"), ("n", "i4")])
    out = np.zeros(5, np.float32)
    numbers = np.array([1, 2, 3], np.int32)
    module.get_function("f")(pair, numbers, numbers + 3, 5, cuda.Out(out), block=1)
    assert out.tolist() == [1.5, 2, 3, 5, 5]
    for wrong in (pair.repeat(2), np.zeros(3)):
        with pytest.raises(
            TypeError,
            match="the definition of Pair is not known, .* align=True|is in host memory",
        ):
            module.get_function("f")(wrong, numbers, numbers, 5, cuda.Out(out), block=1)
    with pytest.raises(TypeError, match="argument 0.*is in host memory"):
        module.get_function("g")(pair, block=1)
