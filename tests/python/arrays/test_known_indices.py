"""Indices that are known to be in bounds: no call waits for a check of them, and a change makes them unknown."""

import itertools
import threading

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel

pytestmark = pytest.mark.usefixtures("device")

INDICES = np.array([0, 5, -1, 3])
VALUES = np.arange(10, dtype=np.float32)


def known():
    """An array of indices that a call has checked for an axis of 10."""
    indices = gpuarray.to_gpu(INDICES)
    assert (gpuarray.to_gpu(VALUES)[indices].get() == VALUES[INDICES]).all()
    return indices


def assert_wrong(indices):
    """An index is out of bounds, in all functions that take indices."""
    values = gpuarray.to_gpu(VALUES)
    rows = gpuarray.to_gpu(VALUES.reshape(10, 1) + np.zeros(3, np.float32))
    for call in (
        lambda: values[indices],
        lambda: gpuarray.take(values, indices),
        lambda: rows[:, ::2][indices],
        lambda: rows[indices, indices * 0],
        lambda: values.__setitem__(indices, 1),
        lambda: gpuarray.put(values, indices, 1),
        lambda: np.add.at(values, indices, 1),
        lambda: gpuarray.take_along_axis(values, indices, 0),
    ):
        with pytest.raises(IndexError, match="out of bounds"):
            call()
    assert (values.get() == VALUES).all()


def change_by_item(indices):
    indices[1] = 50


def change_by_operator(indices):
    indices *= 10


def change_by_set(indices):
    indices.set(INDICES + 40)


def change_by_fill(indices):
    indices.fill(-11)


def change_by_out(indices):
    np.add(indices, 60, out=indices)


def change_by_view(indices):
    indices[::2].view(np.int64)[...] = 77


def change_by_copy(indices):
    cuda.memcpy_htod(indices.gpudata, INDICES + 40)


def change_by_kernel(indices):
    source = "__global__ void add(long long *x) { x[threadIdx.x] += 30; }"
    kernel = SourceModule(source).get_function("add")
    kernel(indices, block=(4, 1, 1))


def change_by_prepared_kernel(indices):
    source = "__global__ void add(long long *x) { x[threadIdx.x] += 30; }"
    kernel = SourceModule(source).get_function("add").prepare("P")
    kernel.prepared_call((1, 1), (4, 1, 1), indices.gpudata)


def change_by_elementwise_kernel(indices):
    ElementwiseKernel("long long *x", "x[i] += 20", "add_twenty")(indices)


def change_by_address(indices):
    other = gpuarray.GPUArray((4,), np.int64, gpudata=indices.ptr)
    other += 90


def change_by_kept_address(indices):
    """A write that no other use of the array shows."""
    source = "__global__ void add(long long *x) { x[threadIdx.x] += 30; }"
    kernel = SourceModule(source).get_function("add")
    address = indices.ptr
    gpuarray.to_gpu(VALUES)[indices]
    kernel(np.uintp(address), block=(4, 1, 1))


ADD = "__global__ void add(long long *x) { x[threadIdx.x] += 30; }"


def writer_by_dlpack(indices):
    lent = gpuarray.from_dlpack(indices)
    return lambda: lent.fill(70)


def writer_by_interface(indices):
    address = indices.__cuda_array_interface__["data"][0]
    return lambda: cuda.memset_d32(address, 50, 8)


def writer_by_bound_launch(indices):
    return SourceModule(ADD).get_function("add").bind(indices, block=(4, 1, 1))


def writer_by_graph_of_nodes(indices):
    graph = cuda.Graph()
    body = graph.add_conditional("if", value=1).bodies[0]
    body.add_kernel(writer_by_bound_launch(indices))
    return graph.instantiate().launch


def writer_by_kept_argument(indices):
    """A kernel keeps the address in a variable for a kernel without arguments."""
    source = """
    __device__ long long *kept;
    __global__ void keep(long long *x) { kept = x; }
    __global__ void add() { kept[threadIdx.x] += 30; }"""
    module = SourceModule(source)
    module.get_function("keep")(indices, block=(1, 1, 1))
    return lambda: module.get_function("add")(block=(4, 1, 1))


@pytest.mark.parametrize(
    "writer",
    [
        writer_by_dlpack,
        writer_by_interface,
        writer_by_bound_launch,
        writer_by_graph_of_nodes,
        writer_by_kept_argument,
    ],
)
def test_a_write_that_was_prepared_before_a_check(writer):
    indices = known()
    write = writer(indices)
    gpuarray.to_gpu(VALUES)[indices]
    write()
    cuda.Context.synchronize()
    assert_wrong(indices)


def test_a_write_that_waits_in_another_stream():
    """The check reads the old indices, and a write that was queued before writes later."""
    stream, go = cuda.Stream(cuda.stream_flags.NON_BLOCKING), threading.Event()
    indices, values = known(), gpuarray.to_gpu(VALUES)
    later = cuda.pagelocked_empty(4, np.int64)
    later[:] = INDICES + 40
    cuda.launch_host_func(lambda: go.wait(20), stream)
    indices.set_async(later, stream=stream)
    taken = values[indices]
    go.set()
    stream.synchronize()
    assert (taken.get() == VALUES[INDICES]).all()
    assert_wrong(indices)


CHANGES = [
    change_by_item,
    change_by_operator,
    change_by_set,
    change_by_fill,
    change_by_out,
    change_by_view,
    change_by_copy,
    change_by_kernel,
    change_by_prepared_kernel,
    change_by_elementwise_kernel,
    change_by_address,
    change_by_kept_address,
]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_makes_indices_unknown(change):
    indices = known()
    change(indices)
    assert_wrong(indices)


def test_known_indices_are_not_of_shorter_axes():
    indices = known()
    with pytest.raises(IndexError):
        gpuarray.to_gpu(VALUES[:4])[indices]
    assert (gpuarray.to_gpu(VALUES[:6])[indices].get() == VALUES[:6][INDICES]).all()
    with pytest.raises(IndexError):
        gpuarray.to_gpu(VALUES[:4])[indices]


def test_other_elements_of_the_memory_are_not_known():
    whole = gpuarray.to_gpu(np.array([0, 99, 1, 99, 2, 99, 3, 4]))
    values = gpuarray.to_gpu(VALUES)
    some = whole[::2]
    for _ in range(2):
        assert (values[some].get() == VALUES[[0, 1, 2, 3]]).all()
        with pytest.raises(IndexError):
            values[whole[1::2]]
        assert (values[whole[6:]].get() == VALUES[3:5]).all()
        with pytest.raises(IndexError):
            values[whole]


def test_a_view_of_another_type_is_not_known():
    indices = gpuarray.to_gpu(np.array([1 << 32, 3], np.int64).view(np.int32))
    values = gpuarray.to_gpu(VALUES)
    assert (values[indices].get() == VALUES[[0, 1, 3, 0]]).all()
    with pytest.raises(IndexError):
        values[indices.view(np.int64)]


def test_parts_of_known_indices_are_known():
    indices = gpuarray.to_gpu(np.arange(-10, 10))
    values = gpuarray.to_gpu(VALUES)
    values[indices]
    for part in (indices[3:], indices[::-2], indices.reshape(4, 5).T, indices[:0]):
        expected = VALUES[part.get()]
        assert (values[part].get() == expected).all()


def test_results_that_are_indices():
    values = np.random.default_rng(5).random((50, 3)).astype(np.float32)
    x = gpuarray.to_gpu(values)
    order = gpuarray.argsort(x, axis=0)
    assert (x[order].get() == values[np.argsort(values, axis=0)]).all()
    found = gpuarray.nonzero(x > 0.5)
    assert (x[found].get() == values[np.nonzero(values > 0.5)]).all()
    places = gpuarray.searchsorted(
        *(gpuarray.arange(n, dtype=np.int64) for n in (50, 60))
    )
    with pytest.raises(IndexError):
        x[places]
    with pytest.raises(IndexError):
        x[gpuarray.arange(51, dtype=np.int64)]
    order += 1
    with pytest.raises(IndexError):
        x[order]


def test_nothing_waits_for_known_indices():
    """A host function in the stream is still running when the call returns."""
    stream, go, ran = cuda.Stream(), threading.Event(), []
    indices, values = known(), gpuarray.to_gpu(VALUES)
    values[indices]
    cuda.Context.synchronize()
    with stream:
        values[indices]  # memory of the default stream is used here for the first time
        stream.synchronize()
        cuda.launch_host_func(lambda: ran.append(go.wait(20)), stream)
        taken = values[indices]
        values[indices] = 7
        np.add.at(values, indices, 1)
        assert ran == []
        go.set()
        stream.synchronize()
    assert ran == [True]
    assert (taken.get() == VALUES[INDICES]).all()
    expected = VALUES.copy()
    expected[INDICES] = 8
    assert (values.get() == expected).all()


def test_rows_of_strided_arrays():
    rng = np.random.default_rng(6)
    whole = rng.integers(0, 1000, (12, 6, 8))
    axes = list(itertools.permutations(range(3)))
    for dtype in ("i1", "f2", "f4", "c8", "c16", [("a", "u1"), ("b", "f4")]):
        if isinstance(dtype, list):
            numbers = np.zeros(whole.shape, dtype)
            numbers["a"], numbers["b"] = whole % 251, whole
        else:
            numbers = (whole % 100).astype(dtype)
        x = gpuarray.to_gpu(numbers)
        for order in axes:
            for part in (
                np.s_[::2],
                np.s_[:, ::-1, 1::3],
                np.s_[::-1, 2],
                np.s_[:, :0],
            ):
                ours, theirs = x.transpose(order)[part], numbers.transpose(order)[part]
                places = rng.integers(-len(theirs), len(theirs), (2, 3))
                result = ours[gpuarray.to_gpu(places)]
                assert result.flags.c_contiguous
                assert (result.get() == theirs[places]).all()


def test_wrong_indices_of_strided_rows_and_known_bounds_of_broadcast_indices():
    x = gpuarray.to_gpu(np.arange(24.0).reshape(4, 6))
    with pytest.raises(IndexError):
        x[:, ::2][gpuarray.to_gpu(np.array([0, 4]))]
    one = gpuarray.to_gpu(np.array([3]))
    many = gpuarray.broadcast_to(one, (5,))
    for _ in range(2):
        assert (x[many].get() == x.get()[[3] * 5]).all()
    one += 1
    with pytest.raises(IndexError):
        x[many]


def test_memory_that_a_graph_changes_is_not_known():
    indices = known()
    stream = cuda.Stream()
    with stream:
        indices.get()
        stream.synchronize()
    captured = _captured(stream, lambda: np.add(indices, 4, out=indices))
    values = gpuarray.to_gpu(VALUES)
    values[indices]
    captured.launch(stream)
    stream.synchronize()
    assert (values[indices].get() == VALUES[INDICES + 4]).all()
    captured.launch(stream)
    stream.synchronize()
    with pytest.raises(IndexError):
        values[indices]


def _captured(stream, work):
    with cuda.capture(stream) as recording, stream:
        work()
    return recording.graph.instantiate()
