"""Arrays that operations must not change: flags.writeable, and the views that repeat elements."""

import copy
import pickle

import numpy as np
import pytest

import pycuda.curandom
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

pytestmark = pytest.mark.usefixtures("device")


def repeated():
    base = gpuarray.to_gpu(np.arange(3.0))
    return base, gpuarray.broadcast_to(base, (2, 3))


def alone():
    from pycuda import nccl

    return nccl.Communicator(1, 0, nccl.unique_id())


def sum_of_two():
    return ReductionKernel(np.float64, "0", "a + b")


WRITES = {
    "index": lambda v: v.__setitem__(Ellipsis, 1),
    "mask": lambda v: v.__setitem__(gpuarray.to_gpu(v.get() > 0), 1),
    "indices": lambda v: v.__setitem__((gpuarray.array([0, 1]),), 1),
    "in place": lambda v: v.__iadd__(1),
    "power": lambda v: v.__ipow__(2),
    "matmul": lambda v: v.__imatmul__(gpuarray.zeros((3, 3))),
    "fill": lambda v: v.fill(1),
    "set": lambda v: v.set(np.ones((2, 3))),
    "set from device": lambda v: v.set(gpuarray.zeros((2, 3))),
    "set_async": lambda v: v.set_async(np.ones((2, 3))),
    "flat": lambda v: v.flat.__setitem__(0, 1),
    "real": lambda v: setattr(v, "real", 1),
    "sort": lambda v: v.sort(),
    "partition": lambda v: v.partition(1),
    "put": lambda v: v.put([0], 1),
    "putmask": lambda v: np.putmask(v, gpuarray.to_gpu(v.get() >= 0), 1),
    "place": lambda v: np.place(v, gpuarray.to_gpu(v.get() >= 0), [1]),
    "put_along_axis": lambda v: np.put_along_axis(v, gpuarray.array([[0]]), 1, 1),
    "copyto": lambda v: np.copyto(v, 1),
    "fill_diagonal": lambda v: np.fill_diagonal(v, 1),
    "at": lambda v: np.add.at(v, gpuarray.array([0]), 1),
    "ufunc": lambda v: np.sqrt(gpuarray.zeros((2, 3)), out=v),
    "two results": lambda v: np.modf(gpuarray.zeros((2, 3)), out=(v, None)),
    "reduction": lambda v: np.sum(gpuarray.zeros((4, 2, 3)), axis=0, out=v),
    "mean": lambda v: np.mean(gpuarray.zeros((4, 2, 3)), axis=0, out=v),
    "scan": lambda v: np.cumsum(gpuarray.zeros((2, 3)), axis=0, out=v),
    "accumulate": lambda v: np.hypot.accumulate(gpuarray.zeros((2, 3)), out=v),
    "matmul out": lambda v: np.matmul(gpuarray.zeros((2, 2)), gpuarray.zeros((2, 3)), out=v),
    "take": lambda v: np.take(gpuarray.zeros(4), gpuarray.zeros((2, 3), np.int64), out=v),
    "concatenate": lambda v: np.concatenate([gpuarray.zeros((1, 3))] * 2, out=v),
    "choose": lambda v: np.choose(gpuarray.zeros((2, 3), np.int64), [1.0], out=v),
    "clip": lambda v: np.clip(gpuarray.zeros((2, 3)), 0, 1, out=v),
    "ReductionKernel": lambda v: sum_of_two()(gpuarray.zeros(2), out=v[:1, 0]),
    "memcpy_htod": lambda v: cuda.memcpy_htod(v, np.ones(3)),
    "memcpy_htod_async": lambda v: cuda.memcpy_htod_async(v, np.ones(3), cuda.Stream()),
    "memcpy_dtod": lambda v: cuda.memcpy_dtod(v, gpuarray.ones(3), 24),
    "memcpy_dtod_async": lambda v: cuda.memcpy_dtod_async(v, gpuarray.ones(3), 24, cuda.Stream()),
    "memcpy_peer": lambda v: cuda.memcpy_peer(v, gpuarray.ones(3), 24),
    "memset_d8": lambda v: cuda.memset_d8(v, 1, 24),
    "memset_d32_async": lambda v: cuda.memset_d32_async(v, 1, 6, cuda.Stream()),
    "memset_d2d16": lambda v: cuda.memset_d2d16(v, 4, 1, 2, 2),
    "Memcpy2D": lambda v: cuda.Memcpy2D().set_dst_device(v),
    "median": lambda v: np.median(gpuarray.zeros((4, 2, 3)), axis=0, out=v),
}  # fmt: skip

# Writes to contiguous arrays only.
CONTIGUOUS_WRITES = {
    "scan kernel": lambda v: InclusiveScanKernel(np.float64, "a + b")(gpuarray.zeros(6), v.reshape(6)),
    "all_reduce": lambda v: alone().all_reduce(gpuarray.zeros((2, 3)), v),
    "all_gather": lambda v: alone().all_gather(gpuarray.zeros((2, 3)), v.reshape(1, 2, 3)),
    "reduce": lambda v: alone().reduce(gpuarray.zeros((2, 3)), v),
    "reduce_scatter": lambda v: alone().reduce_scatter(gpuarray.zeros((1, 2, 3)), v),
    "random": lambda v: pycuda.curandom.XORWOWRandomNumberGenerator().fill_uniform(v),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTIGUOUS_WRITES)
def test_contiguous_arrays_are_not_written(name):
    array = gpuarray.zeros((2, 3))
    CONTIGUOUS_WRITES[name](array)
    array.fill(5)
    array.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        CONTIGUOUS_WRITES[name](array)
    assert (array.get() == 5).all()


@pytest.mark.parametrize("name", WRITES)
def test_views_that_repeat_elements_are_read_only(name):
    base, view = repeated()
    assert not view.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        WRITES[name](view)
    assert base.get().tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", WRITES)
def test_the_same_writes_work_on_other_arrays(name):
    array = gpuarray.zeros((2, 3))
    WRITES[name](array)


def test_views_of_read_only_arrays_are_read_only():
    _, view = repeated()
    for part in (view[0], view.T, view[:, ::2], view.view(np.int64), np.reshape(view, (2, 1, 3))):  # fmt: skip
        assert not part.flags.writeable
    for new in (view.copy(), view + 1, copy.copy(view), copy.deepcopy(view), pickle.loads(pickle.dumps(view))):  # fmt: skip
        assert new.flags.writeable


def test_flag_is_set_and_kept():
    x = gpuarray.zeros(4)
    x.flags.writeable = False
    part = x[1:]
    with pytest.raises(ValueError, match="view of an array that is read-only"):
        part.flags.writeable = True
    x.setflags(write=True)
    part.flags["WRITEABLE"] = True
    part += 1
    assert x.get().tolist() == [0, 1, 1, 1]
    with pytest.raises(KeyError, match="only 'writeable'"):
        x.flags["c_contiguous"] = False
    # As in NumPy, a program can make a view with repeated elements writeable.
    _, view = repeated()
    view.flags.writeable = True
    view[0] = 5


def test_broadcast_arrays_returns_arrays_of_the_shape_themselves():
    x, y = gpuarray.zeros((2, 3)), gpuarray.zeros(3)
    a, b = gpuarray.broadcast_arrays(x, y)
    assert a.flags.writeable and not b.flags.writeable


def test_the_root_of_a_broadcast_is_only_read():
    _, view = repeated()
    alone().broadcast(gpuarray.zeros(3)._view(0, (3,), (8,)))
    root = gpuarray.ones(3)
    root.flags.writeable = False
    alone().broadcast(root)


def test_kernels_get_the_address():
    base, view = repeated()
    kernel = SourceModule("__global__ void f(double *x) { x[0] = 7; }").get_function(
        "f"
    )
    kernel(view, block=(1, 1, 1))
    assert base[0].get() == 7


def test_other_libraries_get_the_read_only_flag():
    _, view = repeated()
    assert view.__cuda_array_interface__["data"] == (view.ptr, True)
    assert not gpuarray.zeros(3).__cuda_array_interface__["data"][1]
    with pytest.raises(BufferError, match="max_version"):
        view.__dlpack__()
    seen = gpuarray.from_dlpack(view)
    assert seen.ptr == view.ptr and seen.strides == view.strides
    with pytest.raises(ValueError, match="read-only"):
        seen[0, 0] = 1
    with pytest.raises(ValueError, match="view of an array"):
        seen.flags.writeable = True
    assert gpuarray.from_dlpack(view, copy=True).flags.writeable
    assert np.array_equal(np.from_dlpack(view, device="cpu"), view.get())


def test_driver_gets_the_address():
    base, view = repeated()
    cuda.memcpy_htod(view.ptr, np.float64([9]))
    assert base.get()[0] == 9


def test_random_numbers_do_not_fill_read_only_arrays():
    from pycuda import curandom
    from pycuda.random import default_rng

    data = gpuarray.zeros(4, np.float32)
    data.flags.writeable = False
    with pytest.raises(ValueError, match="data is read-only"):
        curandom.XORWOWRandomNumberGenerator().fill_uniform(data)
    with pytest.raises(ValueError, match="out is read-only"):
        default_rng(1).random(out=data)
    assert not data.get().any()
