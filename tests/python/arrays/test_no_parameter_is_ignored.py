"""Every public function with ``stream=`` or ``allocator=`` uses it, which its effect shows.

The test searches all public names for such functions, and fails if one has no call here.
"""

import inspect
import time

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import cumath, curandom, fft, gpuarray, linalg
from pycuda import random as philox
from pycuda.gpuarray import GPUArray
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
from pycuda.tools import DeviceMemoryPool

SIZE = 600
DELAY = 0.05


def indices(count=20, dtype=np.int32, first=1):
    return gpuarray.to_gpu(np.arange(first, first + count).astype(dtype))


def zeros(count):
    """Without work in the current stream."""
    return gpuarray.to_gpu(np.zeros(count, np.float32))


def filled(call, like=None):
    """The contents of an array after a function that fills it."""

    def run(x, **given):
        out = gpuarray.empty(SIZE, np.float32) if like is None else like()
        call(x, out, **given)
        return out

    return run


def function_of(module, name):
    return lambda x, **given: getattr(module, name)(x, **given)


def method_of(name):
    return lambda x, **given: getattr(x, name)(**given)


def drawn(name):
    return lambda x, **given: getattr(philox.Generator(1), name)(size=SIZE, **given)


def host_array():
    return np.arange(1, SIZE + 1, dtype=np.float32)


total = ReductionKernel(np.float32, "0", "a + b", "x[i]", "const float *x")
running = InclusiveScanKernel(np.float32, "a + b")
before = ExclusiveScanKernel(np.float32, "a + b", "0")
fused = pycuda.fuse(lambda x: x * 2 + 1)

# The calls of all functions, with an array and the tested keyword. Functions without an array ignore it.
CALLS = {
    "GPUArray.set": filled(lambda x, out, **g: out.set(host_array(), **g)),
    "GPUArray.set_async": filled(lambda x, out, **g: out.set_async(host_array(), **g)),
    "GPUArray.get": lambda x, **g: x.get(**g),
    "GPUArray.get_async": lambda x, stream=None: (x.get_async(stream), cuda.Context.synchronize())[0],
    "GPUArray.to_device": lambda x, **g: x.to_device("cpu", **g),
    "GPUArray.copy": lambda x, **g: x.copy(**g),
    "GPUArray.clip": lambda x, **g: x.clip(1, 3, **g),
    "gpuarray.clip": lambda x, **g: gpuarray.clip(x, 1, 3, **g),
    "GPUArray.astype": lambda x, **g: x.astype(np.float64, **g),
    "GPUArray.fill": filled(lambda x, out, **g: out.fill(x[5], **g)),
    "GPUArray.reverse": lambda x, **g: x.reverse(**g),
    "GPUArray.mul_add": lambda x, **g: x.mul_add(2, x, 3, **g),
    "GPUArray.cumsum": lambda x, **g: x.cumsum(**g),
    "GPUArray.cumprod": lambda x, **g: (x[:9]).cumprod(**g),
    "GPUArray.ptp": lambda x, **g: x.ptp(**g),
    "GPUArray.take": lambda x, **g: x.take(indices(), **g),
    "GPUArray.searchsorted": lambda x, **g: x[:50].searchsorted(x, **g),
    "GPUArray.argsort": lambda x, **g: x.argsort(**g),
    "GPUArray.sort": lambda x, **g: (y := x.copy(**g), y.sort(**g))[0],
    **{
        f"{owner}{name}": function_of(gpuarray, name)
        if owner == "gpuarray."
        else method_of(name)
        for name in "sum prod min max any all argmin argmax mean var std".split()
        for owner in ("GPUArray.", "gpuarray.")
    },
    **{
        f"gpuarray.{name}": function_of(gpuarray, name)
        for name in """amin amax ptp cumsum cumprod sort argsort nansum nanprod nanmin nanmax
        count_nonzero""".split()
    },
    "gpuarray.dot": lambda x, **g: gpuarray.dot(x, x, **g),
    "gpuarray.vdot": lambda x, **g: gpuarray.vdot(x, x, **g),
    "gpuarray.matmul": lambda x, **g: gpuarray.matmul(x.reshape(20, 30), x.reshape(30, 20), **g),
    "gpuarray.asnumpy": lambda x, **g: gpuarray.asnumpy(x, **g),
    "gpuarray.subset_sum": lambda x, **g: gpuarray.subset_sum(indices(), x, **g),
    "gpuarray.subset_dot": lambda x, **g: gpuarray.subset_dot(indices(), x, x, **g),
    "gpuarray.subset_min": lambda x, **g: gpuarray.subset_min(indices(), x, **g),
    "gpuarray.subset_max": lambda x, **g: gpuarray.subset_max(indices(), x, **g),
    "gpuarray.take": lambda x, **g: gpuarray.take(x, indices(), **g),
    "gpuarray.put": filled(
        lambda x, out, **g: gpuarray.put(out, indices(), x[:20], **g),
        lambda: zeros(SIZE),
    ),
    "gpuarray.multi_take": lambda x, **g: gpuarray.multi_take([x], indices(), **g)[0],
    "gpuarray.multi_put": lambda x, **g: gpuarray.multi_put(
        [x[:20]], indices(first=0), out=[zeros(20)], **g
    )[0],
    "gpuarray.multi_take_put": lambda x, **g: gpuarray.multi_take_put(
        [x], indices(first=0), indices(), out=[zeros(20)], **g
    )[0],
    "gpuarray.where": lambda x, **g: gpuarray.where(x, x, 7, **g),
    "gpuarray.if_positive": lambda x, **g: gpuarray.if_positive(x, x, 7, **g),
    "gpuarray.topk": lambda x, **g: gpuarray.topk(x, 5, **g)[0],
    "gpuarray.searchsorted": lambda x, **g: gpuarray.searchsorted(x[:50], x, **g),
    "gpuarray.to_gpu": lambda x, **g: gpuarray.to_gpu(host_array(), **g),
    "gpuarray.to_gpu_async": lambda x, **g: gpuarray.to_gpu_async(host_array(), **g),
    "gpuarray.empty": lambda x, **g: gpuarray.empty(SIZE, np.float32, **g).fill(3),
    "gpuarray.zeros": lambda x, **g: gpuarray.zeros(SIZE, np.float32, **g),
    "gpuarray.ones": lambda x, **g: gpuarray.ones(SIZE, np.float32, **g),
    "gpuarray.full": lambda x, **g: gpuarray.full(SIZE, 3, np.float32, **g),
    "gpuarray.arange": lambda x, **g: gpuarray.arange(SIZE, dtype=np.float32, **g),
    "gpuarray.concatenate": lambda x, **g: gpuarray.concatenate([x, x], **g),
    "gpuarray.concat": lambda x, **g: gpuarray.concat([x, x], **g),
    "gpuarray.stack": lambda x, **g: gpuarray.stack([x, x], **g),
    "gpuarray.divmod": lambda x, **g: gpuarray.divmod(x, 0.25, **g)[1],
    "gpuarray.frexp": lambda x, **g: gpuarray.frexp(x, **g)[0],
    "gpuarray.modf": lambda x, **g: gpuarray.modf(x, **g)[1],
    "GPUArray": lambda x, **g: GPUArray(SIZE, np.float32, **g).fill(2),
    "a ufunc of one": lambda x, **g: gpuarray.sqrt(x, **g),
    "a ufunc of two": lambda x, **g: gpuarray.hypot(x, 2, **g),
    **{
        f"cumath.{name}": function_of(cumath, name)
        for name in """acos asin atan arccos arcsin arctan ceil cos cosh exp fabs floor log log10
        sin sinh sqrt tan tanh""".split()
    },
    "cumath.fmod": lambda x, **g: cumath.fmod(x, 0.25, **g),
    "cumath.frexp": lambda x, **g: cumath.frexp(x, **g)[0],
    "cumath.ldexp": lambda x, **g: cumath.ldexp(x, x, **g),
    "cumath.modf": lambda x, **g: cumath.modf(x, **g)[1],
    "curandom.rand": lambda x, **g: curandom.rand(SIZE, **g),
    **{
        f"Generator.{name}": drawn(name)
        for name in "random uniform standard_normal normal exponential".split()
    },
    "Generator.integers": lambda x, **g: philox.Generator(1).integers(9, size=SIZE, **g),
    "fuse": lambda x, **g: fused(x, **g),
    "ReductionKernel": lambda x, **g: total(x, **g),
    "InclusiveScanKernel": lambda x, **g: running(x, output_ary="new", **g),
    "ExclusiveScanKernel": lambda x, **g: before(x, output_ary="new", **g),
}  # fmt: skip

# Functions whose keyword of this name has another meaning.
OTHERS = {
    "GPUArray.__dlpack__": "stream is the borrower's; see test_dlpack.py",
}

MODULES = {"gpuarray": gpuarray, "cumath": cumath, "curandom": curandom, "fft": fft,
           "linalg": linalg, "random": philox}  # fmt: skip
CLASSES = {"GPUArray": GPUArray, "Generator": philox.Generator}


def parameters(function):
    try:
        return set(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return set()


def public_functions():
    """(name, function) of all functions in the modules and their array classes."""
    for module_name, module in MODULES.items():
        for name, value in vars(module).items():
            is_borrowed = module is not gpuarray and value is getattr(
                gpuarray, name, None
            )
            if (
                not name.startswith("_")
                and inspect.isfunction(inspect.unwrap(value))
                and not is_borrowed
            ):
                yield f"{module_name}.{name}", value
    for class_name, cls in CLASSES.items():
        yield class_name, cls.__init__
        for name in dir(cls):
            value = inspect.getattr_static(cls, name)
            if (
                inspect.isfunction(inspect.unwrap(value))
                and not name.startswith("_")
                or name == "__dlpack__"
            ):
                yield f"{class_name}.{name}", value


def taking(parameter):
    found = {}
    for name, function in public_functions():
        if parameter in parameters(function) and name not in OTHERS:
            found[name] = function
    return found


ALWAYS = ["a ufunc of one", "a ufunc of two"]
STREAM = sorted([*taking("stream"), *ALWAYS, "fuse", "ReductionKernel",
                 "InclusiveScanKernel", "ExclusiveScanKernel"])  # fmt: skip
ALLOCATOR = sorted([*taking("allocator"), *ALWAYS, "ReductionKernel",
                    "InclusiveScanKernel", "ExclusiveScanKernel"])  # fmt: skip


def test_the_search_finds_all_functions():
    assert {"gpuarray.sum", "gpuarray.take", "GPUArray.fill", "cumath.sin"} <= set(
        STREAM
    )
    assert {"gpuarray.dot", "GPUArray.any", "gpuarray.stack"} <= set(ALLOCATOR)
    missing = {*STREAM, *ALLOCATOR} - set(CALLS)
    assert not missing, f"no call in CALLS for {sorted(missing)}"


def delay(stream):
    cuda.launch_host_func(lambda: time.sleep(DELAY), stream)


def host(result):
    return result.get() if isinstance(result, GPUArray) else np.asarray(result)


@pytest.mark.parametrize("name", STREAM)
def test_stream_is_used(device, name):
    """The call comes after the stream's work, whose input arrives late, or its result is late."""
    call = CALLS[name]
    data = np.arange(1, SIZE + 1, dtype=np.float32)[::-1] / 1000
    later = gpuarray.to_gpu(data)
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    np.random.seed(1)
    expected = host(call(later))
    x = gpuarray.zeros(SIZE, np.float32) + 0.5
    old = host(call(x))
    np.random.seed(1)
    takes_array = not np.array_equal(old, expected)
    if takes_array:
        cuda.Context.synchronize()
        delay(stream)
        cuda.memcpy_dtod_async(x.gpudata, later.gpudata, x.nbytes, stream)
        result = call(x, stream=stream)
        stream.synchronize()
        np.testing.assert_array_equal(host(result), expected)
        return
    with stream:  # the memory of the later result
        poison = [gpuarray.empty(SIZE, np.float32).fill(-77) for _ in range(4)]
    stream.synchronize()
    del poison
    delay(stream)
    start = time.perf_counter()
    result = call(x, stream=stream)
    # Either the work is in the stream, or the call has waited for it.
    assert not stream.is_done() or time.perf_counter() - start > DELAY / 2
    stream.synchronize()
    np.testing.assert_array_equal(host(result), expected)


@pytest.mark.parametrize("name", ALLOCATOR)
def test_allocator_is_used(device, name):
    pool, sizes = DeviceMemoryPool(), []

    def allocate(nbytes):
        sizes.append(nbytes)
        return pool.allocate(nbytes)

    x = gpuarray.to_gpu(np.arange(1, SIZE + 1, dtype=np.float32))
    expected = host(CALLS[name](x))
    result = CALLS[name](x, allocator=allocate)
    assert result.nbytes in sizes
    assert result._own_allocator is allocate
    assert isinstance(result.gpudata, cuda.PooledDeviceAllocation)
    np.testing.assert_array_equal(host(result), expected)
    # Results made from it come from there as well.
    before = len(sizes)
    assert (result + 1)._own_allocator is allocate
    assert len(sizes) == before + 1


INHERITING = {
    "empty_like": gpuarray.empty_like,
    "zeros_like": gpuarray.zeros_like,
    "ones_like": gpuarray.ones_like,
    "copy": lambda x: x.copy(),
    "astype": lambda x: x.astype(np.float64),
    "reverse": lambda x: x.reverse(),
    "concatenate": lambda x: gpuarray.concatenate([x, x]),
    "stack": lambda x: gpuarray.stack([x, x]),
    "take": lambda x: gpuarray.take(x, indices()),
    "indices": lambda x: x[indices()],
    "mask": lambda x: x[x > 5],
    "add": lambda x: x + 1,
    "add from the right": lambda x: 1 + x,
    "sum": lambda x: x.sum(),
    "gpuarray.sum": gpuarray.sum,
    "dot": lambda x: gpuarray.dot(x, x),
    "cumsum": lambda x: x.cumsum(),
    "sort": gpuarray.sort,
    "argsort": gpuarray.argsort,
    "topk": lambda x: gpuarray.topk(x, 3)[0],
    "matmul": lambda x: x.reshape(20, 30) @ x.reshape(30, 20),
    "where": lambda x: gpuarray.where(x > 3, x, 0),
    "fuse": lambda x: fused(x),
    "cumath": cumath.sqrt,
    "cumath.modf": lambda x: cumath.modf(x)[0],
    "divmod": lambda x: divmod(x, 3)[0],
    "view": lambda x: x[3:],
    "reshape": lambda x: x.reshape(20, 30),
    "ReductionKernel": lambda x: total(x),
    "InclusiveScanKernel": lambda x: running(x, output_ary="new"),
}


@pytest.mark.parametrize("name", INHERITING)
def test_results_of_an_array_from_a_pool_are_in_the_pool(device, name):
    pool = DeviceMemoryPool()
    allocate = pool.allocate
    x = gpuarray.to_gpu(np.arange(1, SIZE + 1, dtype=np.float32), allocator=allocate)
    blocks = pool.active_blocks
    result = INHERITING[name](x)
    assert result._own_allocator == allocate
    if name not in ("view", "reshape"):
        assert pool.active_blocks > blocks


# Functions for which PyCUDA accepts them by position


def test_stream_and_allocator_by_position(device):
    sizes = []

    def allocate(nbytes):
        sizes.append(nbytes)
        return cuda.mem_alloc(nbytes)

    stream = cuda.Stream()
    x = gpuarray.to_gpu(np.arange(8, dtype=np.float32))
    assert x.any(stream).get() and not x.all(stream, allocate).get()
    assert sizes == [1]
    assert gpuarray.concatenate([x, x], 0, allocate).size == 16
    assert gpuarray.stack([x, x], 0, allocate).shape == (2, 8)
    assert len(sizes) == 3
    out = gpuarray.empty_like(x)
    assert gpuarray.maximum(x, x + 1, out, stream) is out
    assert (out.get() == np.arange(1, 9)).all()
    assert gpuarray.minimum(x, 3, out, stream) is out
    stream.synchronize()
    assert (out.get() == np.minimum(np.arange(8), 3)).all()


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("name", ["sum", "dot", "subset_sum", "subset_dot"])
def test_an_allocator_makes_the_result_alone(device, name, dtype):
    """PyCUDA's own test counts the calls."""
    pool, sizes = DeviceMemoryPool(), []

    def allocate(nbytes):
        sizes.append(nbytes)
        return pool.allocate(nbytes)

    x = gpuarray.to_gpu(np.ones(2000, dtype))
    arrays = [x] * (2 if "dot" in name else 1)
    chosen = [indices(1601, first=0)] if "subset" in name else []
    result = getattr(gpuarray, name)(*chosen, *arrays, allocator=allocate)
    assert result.get() == (1601 if chosen else 2000)
    assert sizes == [result.nbytes]


def test_where_of_a_condition_alone(device):
    x = zeros(SIZE)
    with pytest.raises(ValueError, match="takes no out"):
        gpuarray.where(x, out=zeros(SIZE))
    later = gpuarray.to_gpu(np.ones(SIZE, np.float32))
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    cuda.Context.synchronize()
    delay(stream)
    cuda.memcpy_dtod_async(x.gpudata, later.gpudata, x.nbytes, stream)
    (found,) = gpuarray.where(x, stream=stream)
    stream.synchronize()
    assert found.size == SIZE


@pytest.mark.parametrize("given", ["out", "stream"])
def test_where_in_a_fused_function(device, given):
    x = zeros(SIZE)
    value = zeros(SIZE) if given == "out" else cuda.Stream()
    fused = pycuda.fuse(lambda x: gpuarray.where(x > 0, x, -x, **{given: value}))
    with pytest.raises(TypeError, match="neither out nor stream"):
        fused(x)
