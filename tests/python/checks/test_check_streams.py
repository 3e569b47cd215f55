"""Races of launches, copies and fills in different streams."""

import threading

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes"
)

#: For tests with two streams that are unordered on purpose.
plants_a_race = pytest.mark.cuda_check_allow("race")

N = 1 << 12
SOURCE = """
__global__ void fill(int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void add(int *data) {
    data[blockIdx.x * blockDim.x + threadIdx.x] += 2;
}
__global__ void sum(const int *data, int *result) {
    atomicAdd(result, data[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void pass_on(int *data, volatile int *flag) {
    data[0] = 42;
    __threadfence();
    *flag = 1;
}
__global__ void wait(const int *data, volatile int *flag, int *result) {
    while (*flag == 0) {}
    __threadfence();
    *result = data[0];
}
"""
LAUNCH = {"block": (64, 1, 1), "grid": (N // 64, 1)}


class Case:
    """Kernels, memory and streams of one test."""

    def __init__(self):
        module = SourceModule(SOURCE)
        for name in ("fill", "add", "sum", "pass_on", "wait"):
            setattr(self, name, module.get_function(name))
        self.data = cuda.mem_alloc(4 * N)
        self.result = cuda.mem_alloc(4)
        self.flag = cuda.mem_alloc(4)
        self.host = cuda.pagelocked_zeros(N, np.int32)
        cuda.memset_d32(self.data, 0, N)
        cuda.memset_d32(self.result, 0, 1)
        cuda.memset_d32(self.flag, 0, 1)
        self.one, self.other = cuda.Stream(), cuda.Stream()

    def launch(self, kernel, *arguments, stream):
        kernel(*arguments, **LAUNCH, stream=stream)

    def event_after(self, stream):
        event = cuda.Event()
        event.record(stream)
        return event


@pytest.fixture
def case(device):
    yield Case()
    cuda.Context.synchronize()


def kinds_of(checks):
    cuda.Context.synchronize()
    return {finding.kind for finding in checks.findings}


@plants_a_race
def test_copy_beside_a_kernel(case):
    with pycuda.check("race") as checks:
        case.launch(case.fill, case.data, stream=case.one)
        cuda.memcpy_dtoh_async(case.host, case.data, case.other)
        cuda.Context.synchronize()
    (finding,) = checks.findings
    assert finding.kind in (
        "read-after-write",
        "write-after-read",
    )  # the order is random
    assert finding.kernel == "fill"
    copy = next(access for access in finding.accesses if access.by_command)
    assert (copy.what, copy.bytes) == ("copy", 4 * N)
    assert f"copy of {4 * N} bytes in another stream" in str(finding)


@plants_a_race
def test_fill_beside_a_kernel(case):
    with pycuda.check("race") as checks:
        case.launch(case.sum, case.data, case.result, stream=case.one)
        cuda.memset_d32_async(case.data, 1, N, case.other)
        cuda.Context.synchronize()
    assert kinds_of(checks) <= {"read-after-write", "write-after-read"}
    assert checks.findings[0].kernel == "sum"


@plants_a_race
def test_two_copies(case):
    with pycuda.check("race") as checks:
        cuda.memcpy_htod_async(case.data, case.host, case.one)
        cuda.memcpy_dtoh_async(case.host[: N // 2], case.data, case.other)
        cuda.Context.synchronize()
    assert kinds_of(checks) <= {"read-after-write", "write-after-read"}
    assert all(access.by_command for access in checks.findings[0].accesses)


@plants_a_race
def test_a_stream_that_does_not_wait_for_the_default_one(case):
    apart = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    with pycuda.check("race") as checks:
        case.launch(case.fill, case.data, stream=apart)
        cuda.memcpy_dtoh(case.host, case.data)
        apart.synchronize()
    assert checks.findings


@plants_a_race
def test_two_kernels_name_each_other(case):
    with pycuda.check("race") as checks:
        case.launch(case.fill, case.data, stream=case.one)
        case.launch(case.sum, case.data, case.result, stream=case.other)
    cuda.Context.synchronize()
    found = {finding.kernel: finding for finding in checks.findings}
    assert found.keys() <= {"fill", "sum"} and found
    (kernel, finding), *_ = found.items()
    other = {"fill": "sum", "sum": "fill"}[kernel]
    assert {access.kernel for access in finding.accesses} == {"", other}
    assert f"of kernel `{other}`" in str(finding)
    assert {access.line for access in finding.accesses} == {3, 9}


def test_reads_of_one_array_are_no_race(case):
    second = cuda.mem_alloc(4)
    cuda.memset_d32(second, 0, 1)
    with pycuda.check("race") as checks:
        case.launch(case.sum, case.data, case.result, stream=case.one)
        case.launch(case.sum, case.data, second, stream=case.other)
        cuda.memcpy_dtoh_async(case.host, case.data, cuda.Stream())
    assert not kinds_of(checks)


def wait_for_an_event(case):
    case.other.wait_for_event(case.event_after(case.one))


def wait_for_an_event_that_is_over(case):
    event = case.event_after(case.one)
    case.one.synchronize()
    case.other.wait_for_event(event)


def ask_an_event(case):
    event = case.event_after(case.one)
    while not event.query():
        pass


def ask_a_stream(case):
    while not case.one.is_done():
        pass


def wait_on_the_host(case):
    case.one.synchronize()


def wait_for_the_context(case):
    cuda.Context.synchronize()


def wait_through_a_third_stream(case):
    third = cuda.Stream()
    third.wait_for_event(case.event_after(case.one))
    case.other.wait_for_event(case.event_after(third))


def use_the_default_stream(case):
    cuda.memset_d32_async(case.flag, 0, 1, None)


def copy_of_something_else(case):
    cuda.memcpy_dtoh(np.empty(1, np.int32), case.result)


def tell_a_thread(case):
    told = threading.Event()
    cuda.launch_host_func(told.set, case.one)
    assert told.wait(30)


def destroy_the_stream(case):
    case.one.synchronize()
    case.one = None


ORDERS = [
    wait_for_an_event,
    wait_for_an_event_that_is_over,
    ask_an_event,
    ask_a_stream,
    wait_on_the_host,
    wait_for_the_context,
    wait_through_a_third_stream,
    use_the_default_stream,
    copy_of_something_else,
    tell_a_thread,
    destroy_the_stream,
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: order.__name__)
def test_ordered_launches_are_no_race(case, order):
    with pycuda.check("race") as checks:
        for _ in range(3):
            case.launch(case.fill, case.data, stream=case.one)
            cuda.memset_d32_async(case.data, 7, N, case.one)
            order(case)
            case.launch(case.add, case.data, stream=case.other)
            cuda.memcpy_dtoh_async(case.host, case.data, case.other)
            case.other.synchronize()
            case.one = case.one or cuda.Stream()
        assert case.host[0] == 9
    assert not kinds_of(checks)


@plants_a_race
def test_an_event_of_another_stream_orders_nothing(case):
    third = cuda.Stream()
    with pycuda.check("race") as checks:
        case.launch(case.fill, case.data, stream=case.one)
        case.other.wait_for_event(case.event_after(third))
        case.launch(case.add, case.data, stream=case.other)
        cuda.Context.synchronize()
    assert checks.findings


def test_memory_that_is_allocated_again(case):
    """Accesses by the memory's earlier owner are not reported."""
    pool = cuda.DeviceMemoryPool()
    with pycuda.check("race") as checks:
        for stream in (case.one, case.other, case.one, case.other):
            block = pool.allocate(4 * N)
            case.launch(case.fill, block, stream=stream)
            del block
            memory = cuda.mem_alloc(4 * N)
            case.launch(case.fill, memory, stream=stream)
            memory.free()
    assert not kinds_of(checks)


def test_kernels_that_wait_for_each_other(case):
    """A flag in memory orders two launches, as it orders two blocks."""
    one, other = (cuda.Stream(cuda.stream_flags.NON_BLOCKING) for _ in range(2))
    with pycuda.check("race") as checks:
        for _ in range(3):
            cuda.memset_d32(case.flag, 0, 1)
            case.wait(case.data, case.flag, case.result, block=(1, 1, 1), stream=one)
            case.pass_on(case.data, case.flag, block=(1, 1, 1), stream=other)
            cuda.Context.synchronize()
    assert not kinds_of(checks)


def test_array_operations_in_two_streams(case):
    """The operations of the array library are in order."""
    x = gpuarray.to_gpu(np.arange(N, dtype=np.float32))
    with pycuda.check("race") as checks:
        for stream in (case.one, case.other, case.one):
            with stream:
                y = (x * 2 + 1).get()
            stream.synchronize()
            assert y[1] == 3
    assert not kinds_of(checks)


def test_many_streams(case):
    """More streams than have a separate number."""
    streams = [cuda.Stream() for _ in range(80)]
    done = case.event_after(None)
    with pycuda.check("race") as checks:
        for stream in streams:
            stream.wait_for_event(done)
            case.launch(case.add, case.data, stream=stream)
            done = case.event_after(stream)
        done.synchronize()
    assert not kinds_of(checks)
    cuda.memcpy_dtoh(case.host, case.data)
    assert case.host[0] == 160


def test_a_pool_waits_without_the_gil(case):
    """A stream waits for a host function, which needs the GIL that the waiting thread has."""
    x = gpuarray.to_gpu(np.arange(N, dtype=np.float32))
    context = cuda.Context.get_current()
    finished = threading.Event()

    def run():
        with context, case.one:
            for _ in range(3):
                cuda.launch_host_func(lambda: None, case.one)
                (x * 2 + 1).get()
            finished.set()

    with pycuda.check():
        threading.Thread(target=run, daemon=True).start()
        assert finished.wait(30)


@plants_a_race
def test_a_pools_waits_order_nothing(case):
    """A returned block waits for the earlier kernels, but this does not order the program's own work."""
    pool = cuda.DeviceMemoryPool()
    with pycuda.check() as checks:
        block = pool.allocate(64)
        case.launch(case.fill, case.data, stream=case.one)
        del block
        case.launch(case.add, case.data, stream=case.other)
        cuda.Context.synchronize()
    assert "race" in {finding.mode for finding in checks.findings}
