"""Context, stream and lifetime of work: one set of rules for every entry (core/include/pycuda/work.h)."""

import contextlib
import threading

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import gpuarray, nccl
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel

SOURCE = """
__global__ void slow(float *x, int rounds, float value) {
    float y = 1;
    for (int i = 0; i < rounds; ++i) y = y * 1.0000001f + 1e-9f;
    x[threadIdx.x] = y > 0 ? value : 0.0f;
}
__global__ void copy(float *z, const float *x) { z[threadIdx.x] = x[threadIdx.x]; }
"""
N = 32
ROUNDS = 20_000_000


class Slow:
    """Writes ``value`` to N floats at the end of a long kernel."""

    def __init__(self):
        module = SourceModule(SOURCE)
        self.kernel = module.get_function("slow")
        self.copy = module.get_function("copy")
        self.memory = cuda.mem_alloc(4 * N)
        self.write(self.memory, 1, rounds=1)
        cuda.Context.synchronize()

    def write(self, target, value, stream=None, rounds=ROUNDS):
        self.kernel(
            target, np.int32(rounds), np.float32(value), block=(N, 1, 1), stream=stream
        )


@pytest.fixture
def slow(device):
    return Slow()


@pytest.fixture
def stream(device):
    """A stream that no other stream waits for."""
    return cuda.Stream(cuda.stream_flags.NON_BLOCKING)


# The current stream of calls without a stream.


def host_ones():
    return np.ones(N, np.float32)


def copy_2d(source, target, to_host):
    copy = cuda.Memcpy2D()
    copy.set_src_device(source)
    (copy.set_dst_host if to_host else copy.set_dst_device)(target)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 4 * N
    copy.height = 1
    copy()


def copy_3d(source, target):
    copy = cuda.Memcpy3D()
    copy.set_src_device(source)
    copy.set_dst_host(target)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 4 * N
    copy.height = copy.depth = copy.src_height = copy.dst_height = 1
    copy()


def through_array(source, target):
    array = cuda.Array(cuda_array_descriptor())
    cuda.memcpy_dtoa(array, 0, source, 4 * N)
    cuda.memcpy_atoh(target, array, 0)


def cuda_array_descriptor():
    descriptor = cuda.ArrayDescriptor()
    descriptor.width, descriptor.height = N, 0
    descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1
    return descriptor


def by_device(source, target, copy):
    middle = cuda.mem_alloc(4 * N)
    copy(middle, source, 4 * N)
    cuda.memcpy_dtoh(target, middle)


READS = {
    "memcpy_dtoh": lambda source, host: cuda.memcpy_dtoh(host, source),
    "memcpy_dtod": lambda source, host: by_device(source, host, cuda.memcpy_dtod),
    "memcpy_peer": lambda source, host: by_device(source, host, cuda.memcpy_peer),
    "Memcpy2D": lambda source, host: copy_2d(source, host, True),
    "Memcpy3D": copy_3d,
    "Array": through_array,
}


@pytest.mark.parametrize("name", READS)
def test_a_copy_reads_after_the_kernels_of_the_current_stream(slow, stream, name):
    host = np.zeros(N, np.float32)
    with stream:
        slow.write(slow.memory, 7)
        READS[name](slow.memory, host)
    stream.synchronize()
    assert (host == 7).all()


WRITES = {
    "memcpy_htod": (lambda to: cuda.memcpy_htod(to, host_ones()), 1),
    "memset_d8": (lambda to: cuda.memset_d8(to, 0, 4 * N), 0),
    "memset_d16": (lambda to: cuda.memset_d16(to, 0, 2 * N), 0),
    "memset_d32": (lambda to: cuda.memset_d32(to, 0, N), 0),
    "memset_d2d8": (lambda to: cuda.memset_d2d8(to, 4 * N, 0, 4 * N, 1), 0),
    "memset_d2d16": (lambda to: cuda.memset_d2d16(to, 4 * N, 0, 2 * N, 1), 0),
    "memset_d2d32": (lambda to: cuda.memset_d2d32(to, 4 * N, 0, N, 1), 0),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_follows_the_kernels_of_the_current_stream(slow, stream, name):
    write, value = WRITES[name]
    with stream:
        slow.write(slow.memory, 7)
        write(slow.memory)
    stream.synchronize()
    assert (cuda.from_device(slow.memory, N, np.float32) == value).all()


def test_a_block_must_end_in_its_thread(device):
    stream = cuda.Stream()
    with pytest.raises(cuda.LogicError, match="has not entered"):
        stream.__exit__(None, None, None)
    stack, raised = contextlib.ExitStack(), []

    def close():
        try:
            stack.close()
        except cuda.LogicError as error:
            raised.append(error)

    stack.enter_context(stream)
    thread = threading.Thread(target=close)
    thread.start()
    thread.join()
    assert len(raised) == 1
    stream.__exit__(None, None, None)  # in the thread that entered the block


def test_blocks_of_generators_end_in_any_order(device):
    def block(stream):
        with stream:
            yield

    def number():
        return gpuarray.zeros(1).__cuda_array_interface__["stream"]

    first, second = cuda.Stream(), cuda.Stream()
    one, two = block(first), block(second)
    next(one)
    next(two)
    assert number() == second.handle
    next(one, None)
    assert number() == second.handle
    next(two, None)
    assert number() in (1, None)


def test_a_stream_that_was_closed_in_its_block_is_an_error(device):
    x = gpuarray.zeros(8)
    stream = cuda.Stream()
    with stream:
        stream.close()
        other = cuda.Stream()  # may get the handle of the closed one
        for work in (
            lambda: x + 1,
            lambda: cuda.memset_d8(x.gpudata, 0, 8),
            x.get,
            x.sum,
        ):
            with pytest.raises(cuda.LogicError, match="the stream was closed"):
                work()
    assert (x + 1).get()[0] == 1
    other.close()


# Arrays of other libraries.


class Foreign:
    """An array of another library: what its interface says."""

    def __init__(self, pointer, stream=None, read_only=False):
        self.__cuda_array_interface__ = {
            "shape": (N,), "typestr": "<f4", "data": (int(pointer), read_only), "version": 3, "stream": stream,
        }  # fmt: skip
        self.shape, self.dtype = (N,), np.dtype(np.float32)


def test_every_kernel_waits_for_the_stream_of_a_foreign_array(slow, stream):
    z = gpuarray.zeros(N, np.float32)
    foreign = Foreign(slow.memory, stream.handle)
    elementwise = ElementwiseKernel("float *z, float *x", "z[i] = x[i]")
    total = ReductionKernel(np.float32, "0", "a + b", arguments="float *in")
    first = InclusiveScanKernel(np.float32, "a + b")
    bound = slow.copy.bind(z, foreign, block=(N, 1, 1))
    slow.copy.prepare("PP")
    target = cuda.mem_alloc(4 * N)
    host = np.zeros(N, np.float32)
    calls = {
        "call": lambda: (slow.copy(z, foreign, block=(N, 1, 1)), z.get()[0])[1],
        "prepared": lambda: (slow.copy.prepared_call((1, 1), (N, 1, 1), z.gpudata, foreign), z.get()[0])[1],
        "bound": lambda: (bound(), z.get()[0])[1],
        "elementwise": lambda: (elementwise(z, foreign), z.get()[0])[1],
        "reduction": lambda: total(foreign).get() / N,
        "scan": lambda: (first(foreign, z), z.get()[0])[1],
        "memcpy_dtod": lambda: (cuda.memcpy_dtod(target, foreign, 4 * N), cuda.memcpy_dtoh(host, target), host[0])[2],
        "memcpy_dtoh": lambda: (cuda.memcpy_dtoh(host, foreign), host[0])[1],
    }  # fmt: skip
    for call in calls.values():  # compiles the kernels
        call()
    wrong = {}
    for name, call in calls.items():
        cuda.memset_d32(slow.memory, 0, N)
        cuda.Context.synchronize()
        slow.write(slow.memory, 7, stream)
        result = call()
        cuda.Context.synchronize()
        if result != 7:
            wrong[name] = result
    assert wrong == {}


def test_the_interface_names_the_stream_of_the_work(device):
    x = gpuarray.zeros(N, np.float32)
    # The default stream; None if it has no work.
    assert x.__cuda_array_interface__["stream"] in (1, None)
    stream = cuda.Stream()
    with stream:
        assert x.__cuda_array_interface__["stream"] == stream.handle


# The lifetime of memory.


def test_memory_of_a_dropped_array_waits_for_an_asynchronous_copy(slow, stream):
    pinned, target, n = cuda.pagelocked_empty(N, np.float32), cuda.mem_alloc(4 * N), N
    host = np.zeros(N, np.float32)

    def from_target():
        cuda.memcpy_dtoh(host, target)
        return host

    def two_dimensional(x):
        copy = cuda.Memcpy2D()
        copy.set_src_device(x.gpudata)
        copy.set_dst_device(target)
        copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 4 * n
        copy.height = 1
        copy(stream)

    copies = {
        "memcpy_dtoh_async": (lambda x: cuda.memcpy_dtoh_async(pinned, x.gpudata, stream), lambda: pinned),
        "memcpy_dtod_async": (lambda x: cuda.memcpy_dtod_async(target, x.gpudata, 4 * n, stream), from_target),
        "memcpy_dtod_async of the array": (lambda x: cuda.memcpy_dtod_async(target, x, 4 * n, stream), from_target),
        "memcpy_peer_async": (lambda x: cuda.memcpy_peer_async(target, x.gpudata, 4 * n, stream=stream), from_target),
        "Memcpy2D": (two_dimensional, from_target),
        "get_async": (lambda x: x.get_async(stream, pinned), lambda: pinned),
        "prepared": (lambda x: slow.copy.prepared_async_call((1, 1), (N, 1, 1), stream, target, x.gpudata), from_target),
    }  # fmt: skip
    slow.copy.prepare("PP")
    wrong = []
    for name, (copy, result) in copies.items():
        x = gpuarray.zeros(n, np.float32) + 3
        cuda.Context.synchronize()
        slow.write(slow.memory, 1, stream)  # the copy waits behind this kernel
        copy(x)
        del x
        other = gpuarray.zeros(n, np.float32) + 9  # in the default stream
        cuda.Context.synchronize()
        if not (result() == 3).all():
            wrong.append(name)
        del other
    assert wrong == []


# Read-only operands.


def test_no_function_writes_into_a_read_only_array(device):
    one = gpuarray.ones(4)
    communicator = nccl.Communicator(1, 0, nccl.unique_id())
    total = ReductionKernel(np.float64, "0", "a + b")
    scans = (
        InclusiveScanKernel(np.float64, "a + b"),
        ExclusiveScanKernel(np.float64, "a + b", 0),
    )
    calls = {
        "memcpy_htod": lambda x: cuda.memcpy_htod(x, np.ones(4)),
        "memcpy_dtod": lambda x: cuda.memcpy_dtod(x, one, 32),
        "memset": lambda x: cuda.memset_d8(x, 1, 32),
        "memset_async": lambda x: cuda.memset_d8_async(x, 1, 32),
        "all_gather": lambda x: communicator.all_gather(one, x.reshape(1, 4)),
        "all_reduce": lambda x: communicator.all_reduce(one, x),
        "all_reduce in place": lambda x: communicator.all_reduce(x),
        "reduction": lambda x: total(one, out=x[0]),
        "inclusive scan": lambda x: scans[0](one, x),
        "exclusive scan": lambda x: scans[1](one, x),
        "scan of a foreign array": lambda x: scans[0](one, Borrowed(x)),
    }  # fmt: skip

    class Borrowed:
        def __init__(self, array):
            self.__cuda_array_interface__ = array.__cuda_array_interface__
            self.shape, self.dtype = array.shape, array.dtype

    wrong = []
    for name, call in calls.items():
        x = gpuarray.zeros(4)
        x.flags.writeable = False
        try:
            call(x)
            wrong.append(name)
        except ValueError:
            pass
        assert (x.get() == 0).all(), name
    assert wrong == []


def test_a_kernel_with_an_array_of_another_device(run_program):
    done = run_program(
        """
        import numpy as np
        import pycuda.driver as cuda
        cuda.init()
        from pycuda import gpuarray
        from pycuda.compiler import SourceModule
        first, second = (cuda.Device(i).retain_primary_context() for i in range(2))
        second.push()
        x = gpuarray.zeros(1 << 16, np.float32)
        cuda.Context.pop()
        first.push()
        k = SourceModule("__global__ void k(float *a)"
                         "{ a[blockIdx.x * blockDim.x + threadIdx.x] += 1; }").get_function("k")
        size = dict(block=(256, 1, 1), grid=(256, 1))
        k.prepare("P")
        for launch in (
            lambda: k(x, **size), lambda: k(x.gpudata, **size), lambda: k.bind(x, **size)(),
            lambda: k.prepared_call((256, 1), (256, 1, 1), x),
            lambda: k.prepared_call((256, 1), (256, 1, 1), x.gpudata),
        ):
            try:
                launch()
            except ValueError as error:
                assert "cuda:1" in str(error) and "cuda:0" in str(error), error
            else:
                raise AssertionError("nothing was raised")
        first.enable_peer_access(second)
        for _ in range(5):  # in order, though the default streams of two devices do not wait for each other
            y = x * 0
            k(y, **size)
            z = y + 1
            assert (z.get() == 2).all()
            bound = k.bind(y, **size)
            bound()
            bound()
            assert (y.get() == 3).all()
        """,
        SOFTCUDA_DEVICES="2",
        PYCUDA_DRIVER="softcuda",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


PEERS = """
import numpy as np
import pycuda.driver as cuda

cuda.init()
contexts = [cuda.Device(i).retain_primary_context() for i in range(cuda.Device.count())]
contexts[0].push()
from pycuda import gpuarray
from pycuda.elementwise import ElementwiseKernel

change = ElementwiseKernel("double *z, double k", "for (int j = 0; j < 2000; j++) z[i] = fmod(z[i] + k, 251.0)")

def filled(value, n=50000):
    made = gpuarray.empty(n, np.float64)
    made.fill(value)
    return made

def where(array):
    return int(array.gpudata)
"""


@pytest.mark.skipif(not is_softcuda(), reason="only softcuda has a schedule")
def test_a_copy_between_devices_keeps_its_memory(run_program):
    """The default streams of two devices have the same handle, but do not wait for each other."""
    done = run_program(
        PEERS
        + """
source = filled(7)
change(source, 1.0)
with cuda.Device(1):
    target = filled(1)
place = where(target)
cuda.memcpy_peer_async(target, source, source.nbytes, contexts[1], contexts[0])
del target
with cuda.Device(1):
    later = filled(3)
    assert where(later) == place
    cuda.Context.synchronize()
cuda.Context.synchronize()
with cuda.Device(1):
    assert (later.get() == 3).all(), later.get()
""",
        SOFTCUDA_DEVICES="2",
        SOFTCUDA_SCHEDULE="1",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not is_softcuda(), reason="only softcuda has a schedule")
def test_to_device_follows_the_earlier_work_with_its_memory(run_program):
    done = run_program(
        PEERS
        + """
stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
with stream:
    x = filled(5)
with cuda.Device(1):
    earlier = filled(1)
    change(earlier, 1.0)
    place = where(earlier)
    del earlier
with stream:
    y = x.to_device(1)
assert where(y) == place
with cuda.Device(1):
    assert (y.get() == 5).all(), y.get()
    cuda.Context.synchronize()
    assert (y.get() == 5).all(), y.get()
""",
        SOFTCUDA_DEVICES="2",
        SOFTCUDA_SCHEDULE="1",
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not is_softcuda(), reason="only softcuda has a schedule")
def test_an_array_of_another_context_of_the_device_keeps_its_memory(run_program):
    """Both contexts share the device's memory, but their default streams do not wait for each other."""
    done = run_program(
        PEERS
        + """
second = cuda.Device(0).make_context()
y = filled(7)
place = where(y)
cuda.Context.synchronize()
cuda.Context.pop()
x = filled(1)
change(x, 1.0)
before = x.copy()
z = x + y
del y
second.push()
later = filled(3)
assert where(later) == place
cuda.Context.synchronize()
cuda.Context.pop()
cuda.Context.synchronize()
assert (z.get() == before.get() + 7).all(), z.get()
second.detach()
""",
        SOFTCUDA_SCHEDULE="1",
    )
    assert done.returncode == 0, done.stderr


def test_operands_of_two_devices_are_an_error_that_names_both(run_program):
    """Also where the host computes, and for the result of a reduction."""
    done = run_program(
        PEERS
        + """
from pycuda.reduction import ReductionKernel

add = ReductionKernel(np.float64, "0", "a + b", arguments="double *in")
x = gpuarray.to_gpu(np.eye(4))
with cuda.Device(1):
    y = gpuarray.to_gpu(np.ones(4))
    total = gpuarray.zeros((), np.float64)
for call in (lambda: np.linalg.solve(x, y), lambda: add(x, out=total), lambda: x @ y):
    try:
        call()
    except ValueError as error:
        assert "cuda:0" in str(error) and "cuda:1" in str(error), error
    else:
        raise AssertionError("no error")
""",
        SOFTCUDA_DEVICES="2",
        PYCUDA_DRIVER="softcuda",
    )
    assert done.returncode == 0, done.stderr
