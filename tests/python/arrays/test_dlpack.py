"""Arrays exported and imported through DLPack."""

import ctypes
import gc

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

A = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def name_of(capsule):
    """The name of a capsule, as a consumer reads it."""
    get = ctypes.pythonapi.PyCapsule_GetName
    get.restype, get.argtypes = ctypes.c_char_p, [ctypes.py_object]
    return get(capsule)


class Lender:
    """An array with DLPack alone, like one of another library; without max_version if it is old."""

    def __init__(self, array, old=False):
        self.array, self.old = array, old
        self.streams = []

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, *, stream=None, **kwargs):
        if self.old and kwargs:
            raise TypeError("unexpected keyword")
        self.streams.append(stream)
        return self.array.__dlpack__(stream=stream, **kwargs)


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1, :, 1::2],
        lambda a: a[:0],
        lambda a: a[1, 2, 3],
        lambda a: a[:, None],
    ],
)
def test_round_trip(view, old):
    x = gpuarray.to_gpu(A)
    lender = Lender(view(x), old)
    y = gpuarray.from_dlpack(lender)
    assert (y.shape, y.dtype) == (view(A).shape, A.dtype)
    assert lender.streams == [1]
    np.testing.assert_array_equal(y.get(), view(A))
    y.fill(7)
    np.testing.assert_array_equal(view(x).get(), np.full(view(A).shape, 7))


@pytest.mark.parametrize(
    "dtype", ["?", "i1", "u2", "i8", "u8", "f2", "f8", "c8", "c16"]
)
def test_types(dtype):
    x = gpuarray.to_gpu(A.astype(dtype))
    assert gpuarray.from_dlpack(Lender(x)).dtype == x.dtype


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = gpuarray.to_gpu(A.astype(ml_dtypes.bfloat16))
    assert gpuarray.from_dlpack(x).dtype == ml_dtypes.bfloat16


def test_memory_exists_as_long_as_its_importer():
    x = gpuarray.to_gpu(A)
    y = gpuarray.from_dlpack(x)[1]
    address = x.ptr
    del x
    gc.collect()
    others = [gpuarray.zeros(A.shape, A.dtype) for _ in range(4)]
    assert address not in [other.ptr for other in others]
    np.testing.assert_array_equal(y.get(), A[1])


def test_capsules():
    x = gpuarray.to_gpu(A)
    assert name_of(x.__dlpack__()) == b"dltensor"
    assert name_of(x.__dlpack__(max_version=(0, 8))) == b"dltensor"
    capsule = x.__dlpack__(max_version=(1, 0))
    assert name_of(capsule) == b"dltensor_versioned"

    class Once:
        __dlpack_device__ = x.__dlpack_device__

        def __dlpack__(self, **kwargs):
            return capsule

    gpuarray.from_dlpack(Once())
    assert name_of(capsule) == b"used_dltensor_versioned"
    with pytest.raises(ValueError, match="incorrect name"):
        gpuarray.from_dlpack(Once())


def test_copies():
    x = gpuarray.to_gpu(A)
    y = gpuarray.from_dlpack(x, copy=True)
    assert not np.may_share_memory(x, y)
    z = gpuarray.from_dlpack(A)  # a host array
    np.testing.assert_array_equal(z.get(), A)
    with pytest.raises(ValueError, match="copy is False"):
        gpuarray.from_dlpack(A, copy=False)
    back = np.from_dlpack(x, device="cpu")
    np.testing.assert_array_equal(back, A)
    with pytest.raises(BufferError, match="copy is False"):
        np.from_dlpack(x, device="cpu", copy=False)


def test_streams():
    x = gpuarray.to_gpu(A)
    stream = cuda.Stream()
    for number in (None, -1, 1, 2, stream.handle):
        x.__dlpack__(stream=number)
    for number in (0, -2):
        with pytest.raises(ValueError, match="stream must be"):
            x.__dlpack__(stream=number)

    for wrong in ("first", 1.5, stream, 1 << 70):
        with pytest.raises(TypeError, match="stream must be"):
            x.__dlpack__(stream=wrong)


def test_the_borrowers_stream_waits(run_program):
    """For what the current stream has queued, also on another device; -1 means no wait."""
    done = run_program(
        """
        import time, numpy as np, pycuda.driver as cuda
        cuda.init()
        contexts = [cuda.Device(i).retain_primary_context() for i in range(2)]
        contexts[0].push()
        from pycuda import gpuarray
        free = cuda.stream_flags.NON_BLOCKING
        own, near = cuda.Stream(free), cuda.Stream(free)
        x = gpuarray.zeros(4)
        with contexts[1]:
            far = cuda.Stream(free)
        for version in (None, (1, 1)):
            for stream in (near, far):
                for number, waits in ((stream.handle, True), (-1, False)):
                    cuda.launch_host_func(lambda: time.sleep(0.2), own)
                    with own:
                        capsule = x.__dlpack__(stream=number, max_version=version)
                    start = time.perf_counter()
                    stream.synchronize()
                    assert (time.perf_counter() - start > 0.1) == waits, (version, stream, number)
                    own.synchronize()
        """,
        SOFTCUDA_DEVICES="2",
        PYCUDA_DRIVER="softcuda",
    )
    assert done.returncode == 0, done.stderr


def test_recorded_work_is_lent_within_its_capture_only():
    x, y = gpuarray.zeros(8, np.float32), gpuarray.zeros(8, np.float32)
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    other = cuda.Stream()
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        y[...] = x + 1
        for borrower in (None, 1, 2, other.handle):
            with pytest.raises(cuda.LogicError, match="is being captured"):
                y.__dlpack__(stream=borrower)
        for borrower in (-1, stream.handle):
            y.__dlpack__(stream=borrower)
    recording.graph.instantiate().launch(stream)
    assert (y.get(stream=stream) == 1).all()


def test_an_array_of_another_device(run_program):
    done = run_program(
        """
        import numpy as np, pycuda.driver as cuda
        cuda.init()
        contexts = [cuda.Device(i).retain_primary_context() for i in range(2)]
        contexts[0].push()
        from pycuda import gpuarray

        class Lender:
            def __init__(self, array):
                self.array, self.streams = array, []
            def __dlpack__(self, stream=None, **more):
                self.streams.append(stream)
                return self.array.__dlpack__(stream=stream, **more)
            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        with contexts[1]:
            lender = Lender(gpuarray.arange(5.0))
            inside = cuda.Stream()
        x = gpuarray.from_dlpack(lender)
        assert x.device == gpuarray.from_dlpack(lender, copy=True).device == (x + 1).device == "cuda:1"
        assert x.get().tolist() == [0, 1, 2, 3, 4]
        assert gpuarray.from_dlpack(lender, device="cuda:1").device == "cuda:1"
        try:
            gpuarray.from_dlpack(lender, device="cuda:0")
        except ValueError as error:
            assert "cuda:0" in str(error)
        else:
            raise AssertionError
        with cuda.Stream():  # of the first device, so the work is in the default stream of the second
            gpuarray.from_dlpack(lender)
        assert lender.streams == [1] * 4
        with inside:
            gpuarray.from_dlpack(lender)
        assert lender.streams[-1] == inside.handle
        assert cuda.Context.get_device().handle == 0
        """,
        SOFTCUDA_DEVICES="2",
        PYCUDA_DRIVER="softcuda",
    )
    assert done.returncode == 0, done.stderr


def test_refusals():
    x = gpuarray.to_gpu(A)
    with pytest.raises(BufferError, match=r"\(2, 5\)"):
        x.__dlpack__(dl_device=(2, 5))
    with pytest.raises(BufferError, match="copy is False"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    record = np.zeros(3, [("a", "u1"), ("b", "<f4")])
    with pytest.raises(BufferError, match="structs"):
        gpuarray.to_gpu(record).__dlpack__()
    with pytest.raises(BufferError, match="not a multiple"):
        gpuarray.to_gpu(record)["b"].__dlpack__()
    with pytest.raises(ValueError, match="cuda:3"):
        gpuarray.from_dlpack(x, device="cuda:3")
