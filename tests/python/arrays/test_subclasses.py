"""Subclasses of GPUArray, and attributes that programs set on arrays as on any Python object."""

import copy
import pickle

import numpy as np
import pytest
from conftest import is_softcuda  # noqa: F401  (the fixtures need the module)

import pycuda.driver as cuda
from pycuda import gpuarray

HOST = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(autouse=True)
def _device(device):
    return device


class Threaded(gpuarray.GPUArray):
    """Like reikna's arrays: another constructor, extra attributes, results made by a method."""

    def __init__(
        self, thread, shape, dtype, strides=None, nbytes=None, base_data=None, offset=0
    ):
        gpudata = None if base_data is None else int(base_data) + offset
        gpuarray.GPUArray.__init__(
            self,
            shape,
            dtype,
            strides=strides,
            allocator=cuda.mem_alloc,
            gpudata=gpudata,
        )
        self.base_data = self.gpudata if base_data is None else base_data
        self.offset = offset
        self.nbytes = nbytes
        self.thread = thread

    def _new_like_me(self, dtype=None):
        return Threaded(self.thread, self.shape, dtype or self.dtype)

    def copy(self):
        result = self._new_like_me()
        gpuarray._memcpy_discontig(result, self)
        return result

    def __getitem__(self, index):
        seen = gpuarray.GPUArray.__getitem__(self, index)
        offset = int(seen.gpudata) - int(self.base_data)
        return Threaded(
            self.thread,
            seen.shape,
            seen.dtype,
            seen.strides,
            None,
            self.base_data,
            offset,
        )


def threaded(host=HOST):
    array = Threaded("a thread", host.shape, host.dtype, nbytes=1000)
    array.set(host)
    return array


def test_a_subclass_with_its_own_constructor():
    array = threaded()
    assert (array.nbytes, array.thread, array.offset) == (1000, "a thread", 0)
    np.testing.assert_array_equal(array.get(), HOST)
    part = array[1:, ::2]
    assert type(part) is Threaded and part.thread == "a thread" and part.offset == 16
    np.testing.assert_array_equal(part.get(), HOST[1:, ::2])
    np.testing.assert_array_equal(array.copy().get(), HOST)
    part.fill(-1)
    expected = HOST.copy()
    expected[1:, ::2] = -1
    np.testing.assert_array_equal(array.get(), expected)


def test_results_come_from_new_like_me():
    array = threaded()
    for result, expected in (
        (array + 1, HOST + 1),
        (2 - array, 2 - HOST),
        (-array, -HOST),
        (array * array, HOST * HOST),
        (array > 3, HOST > 3),
        (gpuarray.to_gpu(HOST) + array, HOST + HOST),
    ):
        if type(result) is not gpuarray.GPUArray:
            assert type(result) is Threaded and result.thread == "a thread"
        np.testing.assert_array_equal(result.get(), expected)
    assert type(array + 1) is Threaded
    array += 1
    assert type(array) is Threaded
    np.testing.assert_array_equal(array.get(), HOST + 1)


def test_results_without_a_constructor_call_are_plain_arrays():
    """Every object of a class has been initialised with __init__."""
    array = threaded()
    for result in (array.sum(), array.T, array.reshape(12), array.astype(np.float64)):
        assert type(result) is gpuarray.GPUArray
    assert float(array.sum().get()) == HOST.sum()
    np.testing.assert_array_equal(array.T.get(), HOST.T)


def test_a_constructor_with_pycudas_arguments_makes_results():
    made = []

    class Counted(gpuarray.GPUArray):
        def __init__(self, *args, **kwargs):
            super().__init__(*args, **kwargs)
            made.append(self)
            self.number = len(made)

    array = Counted((2, 3), np.float32)
    array.fill(2)
    result = array * 2
    assert type(result) is Counted and result.number == 2
    np.testing.assert_array_equal(result.get(), np.full((2, 3), 4, np.float32))
    fortran = Counted((2, 3), np.float32, order="F")
    assert (fortran.fill(1) + 1).flags.f_contiguous


def test_a_new_of_ones_own():
    class Made(gpuarray.GPUArray):
        def __new__(cls, host):
            self = super().__new__(cls)
            self.made_by = "new"
            return self

        def __init__(self, host):
            super().__init__(host.shape, host.dtype)
            self.set(host)

        def _new_like_me(self, dtype=None):
            return Made(np.zeros(self.shape, dtype))

    array = Made(HOST)
    assert array.made_by == "new" and (array + 1).made_by == "new"
    np.testing.assert_array_equal((array + 1).get(), HOST + 1)


def test_the_result_of_new_like_me_is_checked():
    class Wrong(gpuarray.GPUArray):
        def _new_like_me(self, dtype=None):
            return "no array"

    array = Wrong((3,), np.float32).fill(1)
    with pytest.raises(TypeError, match="_new_like_me.*str"):
        array + 1


def test_attributes_that_follow_from_the_array_may_be_set():
    array = gpuarray.to_gpu(HOST)
    for name, value in {
        "size": 12, "mem_size": 12, "nbytes": 48, "itemsize": 4,
    }.items():  # fmt: skip
        assert getattr(array, name) == value
        setattr(array, name, 7)
        assert getattr(array, name) == 7 and vars(array)[name] == 7
        assert (array + 1).size == 12
        delattr(array, name)
        assert getattr(array, name) == value
        with pytest.raises(AttributeError, match=name):
            delattr(array, name)
    array.flags = "flags"
    array._grid, array._block = (1, 1), (1, 1, 1)
    array.anything = "else"
    assert (array.flags, array._grid, array.anything) == ("flags", (1, 1), "else")
    del array.flags
    assert array.flags.c_contiguous
    np.testing.assert_array_equal((array + 1).get(), HOST + 1)


def test_a_class_may_shadow_attributes():
    class Shadowing(gpuarray.GPUArray):
        nbytes = 5

        @property
        def flags(self):
            return "own"

        @property
        def size(self):
            return super().size + 100

    array = Shadowing((2, 2), np.float32).fill(3)
    assert (array.nbytes, array.flags, array.size) == (5, "own", 104)
    np.testing.assert_array_equal((array + 1).get(), np.full((2, 2), 4, np.float32))


def test_slots_of_a_class():
    class Slotted(gpuarray.GPUArray):
        __slots__ = ("name",)

    array = Slotted((2,), np.float32).fill(1)
    array.name = "x"
    array.other = "y"
    assert (array.name, array.other) == ("x", "y")
    assert type(array + 1) is Slotted


def test_shape_strides_and_dtype_may_be_set():
    array = gpuarray.to_gpu(HOST)
    array.shape = (2, -1)
    assert (array.shape, array.strides) == ((2, 6), (24, 4))
    array.shape, array.strides = (4, 3), (4, 16)
    np.testing.assert_array_equal(array.get(), HOST.T)
    array.strides = (12, 4)
    array.dtype = np.int32
    assert array.dtype == np.int32
    np.testing.assert_array_equal(array.get(), HOST.reshape(4, 3).view(np.int32))
    array.dtype = np.int16
    assert array.shape == (4, 6) and array.itemsize == 2
    for name, value in (("dtype", np.dtype("V5")), ("strides", (24, 4)), ("strides", (4,)), ("shape", (5, 5))):  # fmt: skip
        view = array[:]
        setattr(view, name, value)  # the check comes with the next use
        with pytest.raises(ValueError, match=f"{name} was set"):
            view.get()
    for name in ("shape", "strides", "dtype"):
        with pytest.raises(TypeError, match="cannot be deleted"):
            delattr(array, name)


def test_memory_base_and_allocator_may_be_set():
    memory = cuda.mem_alloc(HOST.nbytes)
    cuda.memcpy_htod(memory, HOST * 2)
    array = gpuarray.to_gpu(HOST)
    assert isinstance(array.gpudata, cuda.DeviceAllocation)
    array.gpudata = memory
    assert array.gpudata is memory
    np.testing.assert_array_equal(array.get(), HOST * 2)
    array.base = "anything"
    assert array.base == "anything"
    sizes = []

    def allocate(size):
        sizes.append(size)
        return cuda.mem_alloc(size)

    array.allocator = allocate
    assert array.allocator is allocate
    assert (array + 1).allocator is allocate and sizes == [48]
    array.allocator = cuda.mem_alloc
    assert array.allocator is cuda.mem_alloc


def test_copies_of_subclasses():
    class Named(gpuarray.GPUArray):
        pass

    array = Named((2, 2), np.float32).fill(3)
    array.name = "x"
    for result in (copy.copy(array), copy.deepcopy(array), array.copy()):
        assert type(result) is Named
        np.testing.assert_array_equal(result.get(), np.full((2, 2), 3, np.float32))


class Picklable(gpuarray.GPUArray):
    pass


class PicklableItself(gpuarray.GPUArray):
    def __init__(self, name, host):
        super().__init__(host.shape, host.dtype)
        self.set(host)
        self.name = name

    def __reduce__(self):
        return PicklableItself, (self.name, self.get())


def test_pickling():
    plain = pickle.loads(pickle.dumps(gpuarray.to_gpu(HOST)))
    assert type(plain) is gpuarray.GPUArray
    np.testing.assert_array_equal(plain.get(), HOST)

    own = pickle.loads(pickle.dumps(PicklableItself("x", HOST)))
    assert type(own) is PicklableItself and own.name == "x"
    np.testing.assert_array_equal(own.get(), HOST)

    array = Picklable(HOST.shape, HOST.dtype, order="F")
    array.set(HOST)
    array.name = "y"
    array.nbytes = 99
    again = pickle.loads(pickle.dumps(array))
    assert type(again) is Picklable and (again.name, again.nbytes) == ("y", 99)
    assert again.flags.f_contiguous
    np.testing.assert_array_equal(again.get(), HOST)
