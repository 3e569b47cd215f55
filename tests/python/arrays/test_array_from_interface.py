"""Arrays of the device from objects that have only __cuda_array_interface__, as Numba's."""

import gc
import weakref

import numpy as np
import pytest
from conftest import is_softcuda

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")


class Foreign:
    """An array of another library: the memory of `array`, with other values in its interface."""

    def __init__(self, array, **changes):
        self.array = array
        interface = array.__cuda_array_interface__ | changes
        self.__cuda_array_interface__ = {
            k: v for k, v in interface.items() if v != "absent"
        }


def test_it_sees_the_memory():
    x = gpuarray.arange(12, dtype=np.float32).reshape(3, 4)
    for view in (x, x[1:, ::2], x[::-1], x.T, x[:0]):
        y = gpuarray.asarray(Foreign(view))
        assert y.dtype == x.dtype and y.strides == view.strides
        np.testing.assert_array_equal(y.get(), view.get())
    y = gpuarray.asarray(Foreign(x))
    y += 1
    assert x[0, 0].get() == 1
    assert gpuarray.array(Foreign(x), copy=False)[0, 1].get() == 2
    for copy in (
        gpuarray.array(Foreign(x)),
        gpuarray.to_gpu(Foreign(x)),
        gpuarray.asarray(Foreign(x), copy=True),
    ):
        copy += 1
    assert x[0, 0].get() == 1
    np.testing.assert_array_equal(
        gpuarray.asarray(Foreign(x), np.int64).get(), x.get().astype(np.int64)
    )
    np.testing.assert_array_equal(
        gpuarray.concatenate([Foreign(x), x]).get(), np.concatenate([x.get()] * 2)
    )


def test_elements_with_fields():
    rows = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
    x = gpuarray.to_gpu(rows)
    y = gpuarray.asarray(Foreign(x, descr=rows.dtype.descr, typestr=rows.dtype.str))
    assert y.dtype == rows.dtype and y.get().tolist() == rows.tolist()


def test_the_other_object_lives_as_long():
    other = Foreign(gpuarray.ones(5))
    seen = weakref.ref(other)
    y = gpuarray.asarray(other)[1:]
    del other
    gc.collect()
    assert seen() is not None and y.get().tolist() == [1] * 4
    del y
    gc.collect()
    assert seen() is None


def test_it_waits_for_the_producer(run_program):
    program = """
        import numpy as np, pycuda.autoinit, pycuda.driver as cuda
        from pycuda import gpuarray
        producer = cuda.Stream(flags=1)
        x = gpuarray.zeros(1 << 16)
        cuda.Context.synchronize()
        with producer:
            x += 1

        class Foreign:
            __cuda_array_interface__ = dict(x.__cuda_array_interface__, stream=producer.handle)

        with cuda.Stream(flags=1):
            assert (gpuarray.asarray(Foreign()) + 1).get().max() == 2
    """
    for seed in range(4):
        done = run_program(program, SOFTCUDA_SCHEDULE=str(seed))
        assert done.returncode == 0, done.stderr


def test_read_only_stays_so():
    x = gpuarray.zeros(3)
    y = gpuarray.asarray(Foreign(x, data=(int(x.gpudata), True)))
    assert not y.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        y += 1


def test_what_is_refused():
    x = gpuarray.zeros(4)
    for changes, error, text in [
        ({"shape": "absent"}, TypeError, 'has no "shape"'),
        ({"data": "absent"}, TypeError, 'has no "data"'),
        ({"typestr": "absent"}, TypeError, 'has no "typestr"'),
        ({"typestr": "|O"}, TypeError, "object"),
        ({"typestr": "no type"}, TypeError, "no type"),
        ({"shape": (-1,)}, ValueError, "negative"),
        ({"shape": 2.5}, TypeError, "shape must be"),
        ({"strides": (8, 8)}, ValueError, "strides"),
        ({"mask": x}, TypeError, "mask"),
        ({"data": (1 << 45, False)}, ValueError, "does not know"),
    ]:
        if text == "does not know" and not is_softcuda():
            continue  # only softcuda is asked about addresses
        with pytest.raises(error, match=text):
            gpuarray.asarray(Foreign(x, **changes))
    wrong = Foreign(x)
    wrong.__cuda_array_interface__ = 5
    with pytest.raises(TypeError, match="must be a dict"):
        gpuarray.asarray(wrong)


def test_an_array_of_another_device(run_program):
    done = run_program(
        """
        import numpy as np, pycuda.driver as cuda
        cuda.init()
        from pycuda import gpuarray
        other = cuda.Device(1).retain_primary_context()
        other.push()
        x = gpuarray.ones(4)

        class Foreign:
            __cuda_array_interface__ = x.__cuda_array_interface__

        cuda.Context.pop()
        cuda.Device(0).retain_primary_context().push()
        try:
            gpuarray.asarray(Foreign())
        except ValueError as error:
            assert "on device 1" in str(error) and "device 0" in str(error), error
        else:
            raise AssertionError("nothing was raised")
        """,
        SOFTCUDA_DEVICES="2",
        PYCUDA_DRIVER="softcuda",
    )
    assert done.returncode == 0, done.stderr


def test_numbers_and_host_arrays_as_before():
    assert gpuarray.asarray(5).get() == 5
    assert gpuarray.asarray(np.arange(3)).get().tolist() == [0, 1, 2]
    with pytest.raises(TypeError):
        gpuarray.asarray([object()])


def test_it_is_a_value_of_assignments():
    x, y = gpuarray.zeros(6), gpuarray.arange(6, dtype=np.float32)
    x[...] = Foreign(y)
    np.testing.assert_array_equal(x.get(), y.get())
    x[::2] = Foreign(y[3:])
    np.testing.assert_array_equal(x.get(), [3, 1, 4, 3, 5, 5])
    x[gpuarray.array([0, 1])] = Foreign(y[:2])
    x[x == 5] = Foreign(y[1:3])
    np.testing.assert_array_equal(x.get(), [0, 1, 4, 3, 1, 2])
    assert x.fill(Foreign(y[5:])).get().tolist() == [5] * 6


def test_operators_leave_it_to_the_other_class():
    class Adds(Foreign):
        def __radd__(self, other):
            return "the other class"

    x = gpuarray.zeros(3)
    y = x
    with pytest.raises(TypeError, match="unsupported operand"):
        y += Foreign(x)
    assert y is x
    y += Adds(x)
    assert y == "the other class"
