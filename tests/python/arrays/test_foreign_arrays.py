"""Arrays of other libraries as kernel arguments: array interface, DLPack, its C functions, torch."""

import ctypes
import warnings

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel


@pytest.fixture(scope="module")
def twice(primary_context):
    with primary_context:
        return SourceModule(
            "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }"
        ).get_function("twice")


def run(kernel, make, data=(1, 2, 3, 4), dtype=np.float32, **how):
    memory = cuda.to_device(np.array(data, dtype))
    kernel(make(memory), block=(4, 1, 1), **how)
    cuda.Context.synchronize()
    return cuda.from_device(memory, 4, np.float32).tolist()


class WithInterface:
    def __init__(self, memory, typestr="<f4", **more):
        self.memory = memory
        self.more = {"typestr": typestr, **more}

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": (4,),
            "data": (int(self.memory), False),
            "version": 3,
            **self.more,
        }


def test_array_interface(device, twice):
    for _ in range(2):  # the second time its type is cached
        assert run(twice, WithInterface) == [2, 4, 6, 8]


def test_array_interface_of_one_object(device, twice):
    class Plain:
        pass

    def make(memory):
        array = Plain()
        array.__cuda_array_interface__ = WithInterface(memory).__cuda_array_interface__
        return array

    assert run(twice, make) == [2, 4, 6, 8]


def test_stream_of_the_interface_is_waited_for(device):
    module = SourceModule("""
        __global__ void slowly_one(float *a)
        {
            long long start = clock64();
            while (clock64() - start < 20000000) { }
            a[threadIdx.x] = 1;
        }
        __global__ void twice(float *a) { a[threadIdx.x] *= 2; }
    """)
    flags = cuda.stream_flags.NON_BLOCKING
    producer, consumer = cuda.Stream(flags), cuda.Stream(flags)
    memory = cuda.to_device(np.zeros(4, np.float32))
    module.get_function("slowly_one")(memory, block=(4, 1, 1), stream=producer)
    array = WithInterface(memory, stream=producer.handle)
    module.get_function("twice")(array, block=(4, 1, 1), stream=consumer)
    consumer.synchronize()
    assert cuda.from_device(memory, 4, np.float32).tolist() == [2] * 4


def test_wrong_elements_warn_once(device, twice):
    with pytest.warns(UserWarning, match="float64|<f8"):
        run(twice, lambda m: WithInterface(m, "<f8"), dtype=np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(twice, lambda m: WithInterface(m, "<f4"))


def test_interface_without_data_is_named(device, twice):
    class Broken:
        __cuda_array_interface__ = {"typestr": "<f4"}

    with pytest.raises(TypeError, match='Broken has no "data"'):
        twice(Broken(), block=(4, 1, 1))


# DLPack without a library


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class DLManagedTensor(ctypes.Structure):
    _fields_ = [
        ("tensor", DLTensor),
        ("manager", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


def capsule(pointer, name):
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    return new(pointer, name, None)


def fill(tensor, memory, device_type=2, code=2, bits=32):
    tensor.data = int(memory) - 16
    tensor.byte_offset = 16
    tensor.device_type, tensor.device_id, tensor.ndim = device_type, 0, 1
    tensor.code, tensor.bits, tensor.lanes = code, bits, 1


class WithCapsule:
    def __init__(self, memory, device_type=2):
        self.memory = memory
        self.managed = DLManagedTensor()
        fill(self.managed.tensor, memory, device_type)
        self.asked = []

    def __dlpack_device__(self):
        return (self.managed.tensor.device_type, 0)

    def __dlpack__(self, stream=None):
        self.asked.append(stream)
        return capsule(ctypes.addressof(self.managed), b"dltensor")


def test_dlpack_capsule(device, twice):
    assert run(twice, WithCapsule) == [2, 4, 6, 8]


def test_dlpack_capsule_gets_the_stream(device, twice):
    stream = cuda.Stream()
    array = WithCapsule(cuda.to_device(np.zeros(4, np.float32)))
    twice(array, block=(4, 1, 1))
    twice(array, block=(4, 1, 1), stream=stream)
    stream.synchronize()
    assert array.asked == [1, stream.handle]


def test_dlpack_on_the_host_is_an_error(device, twice):
    array = WithCapsule(cuda.to_device(np.zeros(4, np.float32)), device_type=1)
    with pytest.raises(
        cuda.ArgumentError, match="WithCapsule, which is in host memory"
    ):
        twice(array, block=(4, 1, 1))


TensorFromObject = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.py_object, ctypes.POINTER(DLTensor)
)
CurrentWorkStream = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_int32, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p)
)


class ExchangeApi(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("previous", ctypes.c_void_p),
        ("allocator", ctypes.c_void_p),
        ("managed_from_object", ctypes.c_void_p),
        ("managed_to_object", ctypes.c_void_p),
        ("tensor_from_object", TensorFromObject),
        ("current_work_stream", CurrentWorkStream),
    ]


@pytest.fixture(scope="module")
def exchanged_type():
    """A class with DLPack's C functions, like torch's."""

    @TensorFromObject
    def tensor_from_object(array, tensor):
        fill(tensor.contents, array.memory, array.device_type, array.code, array.bits)
        return 0

    @CurrentWorkStream
    def current_work_stream(device_type, device_id, stream):
        stream[0] = Exchanged.stream
        return 0

    api = ExchangeApi(1, 3, None, None, None, None)
    api.tensor_from_object = tensor_from_object
    api.current_work_stream = current_work_stream

    class Exchanged:
        stream = None
        __dlpack_c_exchange_api__ = capsule(
            ctypes.addressof(api), b"dlpack_exchange_api"
        )

        def __init__(self, memory, device_type=2, code=2, bits=32):
            self.memory, self.device_type = memory, device_type
            self.code, self.bits = code, bits

    Exchanged.keep = (api, tensor_from_object, current_work_stream)
    return Exchanged


def test_dlpack_exchange(device, twice, exchanged_type):
    for _ in range(2):
        assert run(twice, exchanged_type) == [2, 4, 6, 8]


def test_dlpack_exchange_honours_the_producers_stream(device, twice, exchanged_type):
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
    exchanged_type.stream = stream.handle
    try:
        assert run(twice, exchanged_type) == [2, 4, 6, 8]
    finally:
        exchanged_type.stream = None


def test_dlpack_exchange_checks_elements_and_place(device, twice, exchanged_type):
    memory = cuda.to_device(np.zeros(8, np.float32))
    with pytest.raises(cuda.ArgumentError, match="is in host memory"):
        twice(exchanged_type(memory, device_type=1), block=(4, 1, 1))
    fresh = SourceModule(
        "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }"
    ).get_function("twice")
    with pytest.warns(UserWarning, match="float64"):
        fresh(exchanged_type(memory, bits=64), block=(4, 1, 1))


def test_torch(device, twice):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not torch.cuda.is_available():
        with pytest.raises(cuda.ArgumentError, match="is in host memory"):
            twice(torch.zeros(4), block=(4, 1, 1))
        return
    check_array_of_the_gpu(twice, torch.arange(4, dtype=torch.float32, device="cuda"))


def check_array_of_the_gpu(twice, array):
    """0, 1, 2, 3 in the memory of NVIDIA's driver: softcuda raises an error, and continues to work."""
    if not is_softcuda():
        twice(array, block=(4, 1, 1))
        assert array.tolist() == [0, 2, 4, 6]
        return
    with pytest.raises(cuda.ArgumentError, match="softcuda.* does not know"):
        twice(array, block=(4, 1, 1))
    cuda.Context.synchronize()


def test_tensor_of_a_torch_without_the_exchange(device, twice):
    class Tensor:
        """A class like torch.Tensor before DLPack's C functions existed."""

        __module__ = "torch"
        dtype = np.dtype(np.float32)

        def __init__(self, memory, is_cuda=True):
            self.memory, self._is_cuda = memory, is_cuda

        @property
        def is_cuda(self):
            return self._is_cuda

        def data_ptr(self):
            return int(self.memory)

    assert run(twice, Tensor) == [2, 4, 6, 8]
    with pytest.raises(cuda.ArgumentError, match="is in host memory"):
        twice(Tensor(cuda.mem_alloc(16), is_cuda=False), block=(4, 1, 1))


CUPY_PROGRAM = """
    import sys, types
    import numpy as np
    import pycuda.autoinit, pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    # The type of CuPy's arrays and its current stream, as they are seen from here.
    class Stream:
        ptr = 0
        asked = 0
        def __init__(self):
            Stream.asked += 1

    class ndarray:
        dtype = np.dtype(np.float32)
        def __init__(self, memory):
            self.data = types.SimpleNamespace(ptr=int(memory))
        @property
        def __cuda_array_interface__(self):
            raise AssertionError("the slow way")

    ndarray.__module__, ndarray.__qualname__ = "cupy", "ndarray"
    sys.modules["cupy"] = cupy = types.ModuleType("cupy")
    cupy.cuda = types.SimpleNamespace(get_current_stream=Stream)

    module = SourceModule('''
        __global__ void slowly_one(float *a)
        {
            long long start = clock64();
            while (clock64() - start < 20000000) { }
            a[threadIdx.x] = 1;
        }
        __global__ void twice(float *a) { a[threadIdx.x] *= 2; }
        __global__ void add(float *to, const float *a, const float *b)
        { to[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }
    ''')
    twice = module.get_function("twice")
    memory = cuda.to_device(np.arange(4, dtype=np.float32))
    total = cuda.mem_alloc(16)
    arrays = [ndarray(total), ndarray(memory), ndarray(memory)]
    module.get_function("add")(*arrays, block=(4, 1, 1))
    assert cuda.from_device(total, 4, np.float32).tolist() == [0, 2, 4, 6]
    assert Stream.asked == 1  # once for all arrays of the call
    for _ in range(2):  # the second time its type is known
        twice(ndarray(memory), block=(4, 1, 1))
    assert cuda.from_device(memory, 4, np.float32).tolist() == [0, 4, 8, 12]

    flags = cuda.stream_flags.NON_BLOCKING
    producer, consumer = cuda.Stream(flags), cuda.Stream(flags)
    Stream.ptr = producer.handle
    module.get_function("slowly_one")(memory, block=(4, 1, 1), stream=producer)
    twice(ndarray(memory), block=(4, 1, 1), stream=consumer)
    consumer.synchronize()
    assert cuda.from_device(memory, 4, np.float32).tolist() == [2] * 4
    print("ok")
"""


def test_cupy_array_without_its_dictionary(run_program):
    """In a separate process, because CuPy's function is looked up only once."""
    done = run_program(CUPY_PROGRAM)
    assert (done.stdout, done.stderr) == ("ok\n", "")


def test_cupy(device, twice):
    cupy = pytest.importorskip("cupy", reason="CuPy is not installed")
    if not has_gpu(cupy):
        pytest.skip("CuPy has no GPU here")
    check_array_of_the_gpu(twice, cupy.arange(4, dtype=cupy.float32))


def has_gpu(cupy):
    try:
        return cupy.cuda.runtime.getDeviceCount() > 0
    except cupy.cuda.runtime.CUDARuntimeError:
        return False


class Elsewhere(WithInterface):
    """An array at an address that is not softcuda's memory."""

    @property
    def __cuda_array_interface__(self):
        return {**super().__cuda_array_interface__, "data": (0x302000000, False)}


@pytest.fixture
def stranger(device):
    if not is_softcuda():
        pytest.skip("NVIDIA's driver knows the memory of all CUDA libraries")
    return Elsewhere(cuda.mem_alloc(16))


def test_memory_of_another_driver_is_an_error(stranger, twice, exchanged_type):
    says = "argument 0: .*0x302000000, memory that the driver .* does not know"
    with pytest.raises(cuda.ArgumentError, match=says):
        twice(stranger, block=(4, 1, 1))
    with pytest.raises(cuda.ArgumentError, match=says):
        twice(exchanged_type(0x302000000), block=(4, 1, 1))
    with pytest.raises(cuda.ArgumentError, match=says):
        twice(WithCapsule(0x302000000), block=(4, 1, 1))
    cuda.Context.synchronize()  # no kernel has accessed it


def test_memory_of_another_driver_is_an_error_in_other_calls(stranger):
    with pytest.raises(ValueError, match="0x302000000.* does not know"):
        cuda.memcpy_dtoh(np.empty(4, np.float32), stranger)
    negate = ElementwiseKernel("float *x", "x[i] = -x[i]", "negate")
    with pytest.raises(ValueError, match="argument 'x'.* does not know"):
        negate(stranger)


def test_a_mask_is_an_error(device, twice):
    memory = cuda.to_device(np.ones(4, np.float32))
    masked = WithInterface(memory, mask=WithInterface(memory, "|b1"))
    negate = ElementwiseKernel("float *x", "x[i] = -x[i]", "negate")
    for call in (
        lambda: twice(masked, block=(4, 1, 1)),
        lambda: negate(masked),
        lambda: gpuarray.asarray(masked),
        lambda: cuda.memcpy_dtoh(np.empty(4, np.float32), masked),
        lambda: cuda.memset_d8(masked, 0, 16),
    ):
        with pytest.raises(TypeError, match="WithInterface has a mask"):
            call()
    cuda.Context.synchronize()
    assert cuda.from_device(memory, 4, np.float32).tolist() == [1, 1, 1, 1]


def test_empty_array_at_the_end_of_its_memory_is_valid(device, twice):
    memory = cuda.mem_alloc(16)
    nothing = SourceModule("__global__ void nothing(float *a) {}")
    end = WithInterface(int(memory) + 16)
    nothing.get_function("nothing")(end, block=(4, 1, 1))


def test_elements_without_memory_are_an_error(device):
    """A kernel that reads address 0 ends the context."""

    class Empty:
        __cuda_array_interface__ = {
            "shape": (4,), "typestr": "<f4", "data": (0, False), "version": 3,
        }  # fmt: skip

    with pytest.raises(ValueError, match="no memory"):
        gpuarray.asarray(Empty())
    with pytest.raises(ValueError, match="no memory"):
        ElementwiseKernel("float *x", "x[i] = 1")(Empty())
    assert (gpuarray.zeros(4, np.float32) + 1).get().all()


@pytest.mark.parametrize("missing", ["data", "shape"])
def test_a_tensor_without_memory_or_shape_is_an_error(device, missing):
    class Tensor(ctypes.Structure):
        _fields_ = [
            ("data", ctypes.c_void_p), ("device", ctypes.c_int * 2), ("ndim", ctypes.c_int),
            ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
            ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64),
            ("manager", ctypes.c_void_p), ("deleter", ctypes.c_void_p),
        ]  # fmt: skip

    memory, shape = gpuarray.zeros(4, np.float32), (ctypes.c_int64 * 1)(4)
    tensor = Tensor(
        memory.ptr, (2, 0), 1, 2, 32, 1, ctypes.addressof(shape), None, 0, None, None
    )
    setattr(tensor, missing, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype = ctypes.py_object
    new.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]

    class Producer:
        def __dlpack__(self, **options):
            return new(ctypes.addressof(tensor), b"dltensor", None)

        def __dlpack_device__(self):
            return 2, 0

    with pytest.raises(BufferError, match=f"no (memory|{missing})"):
        gpuarray.from_dlpack(Producer())
