"""Contexts: the stack, the primary context, limits, detach."""

import gc
import threading

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

WAIT = """
__global__ void wait(long long nanoseconds)
{
    const long long begin = clock64();
    while (clock64() - begin < nanoseconds) { }
}
"""


def test_push_and_pop(device):
    context = device.make_context()
    assert cuda.Context.get_current() == context
    context.push()
    assert context.pop() == context
    assert cuda.Context.get_current() == context
    context.detach()
    assert cuda.Context.get_current() != context


def test_with_makes_current_and_restores(device, primary_context):
    context = device.make_context()
    cuda.Context.pop()
    with context as entered:
        assert entered == cuda.Context.get_current() == context
    assert cuda.Context.get_current() == primary_context
    context.detach()


def test_the_primary_context_is_shared(device, primary_context):
    again = device.retain_primary_context()
    assert again == primary_context and hash(again) == hash(primary_context)
    assert again.handle == primary_context.handle != 0


def test_detaching_twice_is_an_error(device):
    context = device.make_context()
    context.detach()
    assert not context.is_attached
    with pytest.raises(cuda.LogicError, match="detach"):
        context.detach()


def test_popping_an_empty_stack_is_an_error():
    def pop(errors):
        assert cuda.Context.get_current() is None
        try:
            cuda.Context.pop()
        except cuda.LogicError as error:
            errors.append(str(error))

    errors = []
    thread = threading.Thread(target=pop, args=(errors,))
    thread.start()
    thread.join()
    assert len(errors) == 1


def test_no_context_is_a_logic_error():
    def allocate(errors):
        try:
            cuda.mem_alloc(16)
        except cuda.LogicError as error:
            errors.append(str(error))

    cuda.init()
    errors = []
    default = cuda.Context.get_default()  # of another test's autoinit, perhaps
    cuda.Context.set_default(None)
    thread = threading.Thread(target=allocate, args=(errors,))
    thread.start()
    thread.join()
    cuda.Context.set_default(default)
    assert "invalid device context" in errors[0]


def test_static_methods_work_on_instances(primary_context, device):
    assert primary_context.get_device() == device
    assert 3020 <= primary_context.get_api_version() <= cuda.get_driver_version()
    wait = SourceModule(WAIT).get_function("wait")
    wait(np.int64(50_000_000), block=(1, 1, 1))
    event = cuda.Event().record()
    assert not event.query()
    primary_context.synchronize()
    assert event.query()


def test_limits(device):
    limit = cuda.limit.STACK_SIZE
    before = cuda.Context.get_limit(limit)
    assert before > 0
    try:
        cuda.Context.set_limit(limit, 4 * before)
        assert cuda.Context.get_limit(limit) >= 4 * before
    finally:
        cuda.Context.set_limit(limit, before)
    assert cuda.Context.get_limit(limit) < 4 * before
    with pytest.raises(cuda.Error, match="invalid|not supported"):
        cuda.Context.set_limit(99, 1)


def test_cache_config(device):
    cuda.Context.set_cache_config(cuda.func_cache.PREFER_NONE)
    assert cuda.Context.get_cache_config() is cuda.func_cache.PREFER_NONE


@pytest.mark.cuda_check_allow("leak")
def test_objects_exist_longer_than_their_context(device, capfd):
    context = device.make_context()
    memory, stream, event = cuda.mem_alloc(64), cuda.Stream(), cuda.Event()
    context.detach()
    del (
        memory,
        stream,
        event,
    )  # freed with the context
    gc.collect()
    assert capfd.readouterr() == ("", "")
    assert cuda.Context.get_current() is not None  # the fixture's, which was below


def test_memory_can_be_used_and_freed_in_another_thread(device, primary_context):
    memory = cuda.mem_alloc(64)

    def use():
        with primary_context:
            cuda.memset_d8(memory, 7, 64)
        memory.free()

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    with pytest.raises(cuda.LogicError):
        int(memory)


def test_mem_get_info(device):
    free, total = cuda.mem_get_info()
    assert 0 < free <= total


def test_pushed_contexts_exist_without_a_reference(device, primary_context):
    """As in PyCUDA: programs ignore what make_context() returns."""
    device.make_context()
    memory = cuda.mem_alloc(64)
    device.make_context(flags=cuda.ctx_flags.SCHED_YIELD)
    assert cuda.Context.get_current() != primary_context
    cuda.Context.pop()
    cuda.memset_d8(memory, 1, 64)
    first = cuda.Context.get_current().handle
    cuda.Context.attach()
    cuda.Context.pop()
    assert cuda.Context.get_current().handle == first
    cuda.Context.pop()
    assert cuda.Context.get_current() == primary_context

    device.make_context()
    second = device.make_context()
    cuda.Context.pop()
    second.set_current()  # in place of the first, which nobody needs now
    assert cuda.Context.get_current() == second
    second.detach()
    assert cuda.Context.get_current() == primary_context


def test_a_thread_may_end_with_contexts_on_its_stack(device):
    made = []

    def leave():
        device.make_context()
        made.append(cuda.mem_alloc(64))

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    made[0].free()


def test_with_device(device, primary_context):
    current = []

    def work():
        with device as entered:
            assert entered is device
            current.append(cuda.Context.get_current())
            cuda.mem_alloc(64).free()
        current.append(cuda.Context.get_current())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert current == [primary_context, None]


def test_methods_act_on_their_own_context(device, primary_context):
    """A call on the class, as in PyCUDA, uses the current context."""
    other, stack = device.make_context(), cuda.limit.STACK_SIZE
    cuda.Context.pop()
    here = cuda.Context.get_limit(stack)
    other.set_limit(stack, here + 1024)
    assert other.get_limit(limit=stack) > cuda.Context.get_limit(stack) == here
    assert other.get_device() == cuda.Context.get_device() == device
    other.set_cache_config(cuda.func_cache.PREFER_L1)
    other.set_shared_config(sc=cuda.shared_config.FOUR_BYTE_BANK_SIZE)
    assert isinstance(other.get_cache_config(), cuda.func_cache)
    assert isinstance(other.get_shared_config(), cuda.shared_config)
    other.synchronize()
    with pytest.raises(cuda.Error):
        other.disable_peer_access(primary_context)
    other.detach()
    with pytest.raises(cuda.LogicError, match="was detached"):
        other.synchronize()


def test_objects_are_an_error_after_the_end_of_their_context(device):
    """A driver may read freed memory if a call names one of them."""
    context = device.make_context()
    stream, event = cuda.Stream(), cuda.Event().record()
    module = SourceModule("__global__ void nothing() {}")
    kernel = module.get_function("nothing")
    kernel(block=(1, 1, 1), stream=stream)
    cuda.Context.pop()
    context.detach()
    for call in (
        stream.is_done,
        stream.synchronize,
        lambda: kernel(block=(1, 1, 1), stream=stream),
        event.query,
        event.synchronize,
        event.record,
        lambda: event.time_since(event),
        lambda: cuda.Stream().wait_for_event(event),
        lambda: kernel(block=(1, 1, 1)),
        lambda: kernel.num_regs,
        lambda: module.get_function("nothing"),
        lambda: module.get_global("nothing"),
    ):
        with pytest.raises(cuda.LogicError, match="was detached"):
            call()


COPY_IN_A_CONTEXT_THAT_ENDS = """
    import sys
    import numpy as np
    import pycuda.driver as cuda
    from pycuda import gpuarray

    def copy():
        context = cuda.Device(0).make_context()
        stream = cuda.Stream()
        array = gpuarray.empty(1000, np.float32)
        array.set_async(np.ones(1000, np.float32), stream)
        assert (array.get() == 1).all()
        context.pop()
        context.detach()

    cuda.init()
    copy()
    print("ended", file=sys.stderr)
    copy()
"""


def test_no_event_is_queried_after_the_end_of_its_context(run_program):
    """NVIDIA's driver crashes in such a query, now and then."""
    result = run_program(COPY_IN_A_CONTEXT_THAT_ENDS, PYCUDA_TRACE="1")
    assert result.returncode == 0, result.stderr
    later = result.stderr.split("\nended\n")[1]
    copied = later.index("cuMemcpyHtoDAsync")
    assert "cuEventQuery" not in later[: later.index("cuEventCreate", copied)]


CONTEXTS_THAT_LOAD_KERNELS = """
    import ctypes, gc
    import numpy as np
    import pycuda.driver as cuda
    from pycuda import gpuarray

    class Info(ctypes.Structure):
        names = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"
        _fields_ = [(name, ctypes.c_size_t) for name in names.split()]

    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Info

    def used():
        gc.collect()
        info = mallinfo()
        return info.uordblks + info.hblkhd

    def once():
        context = cuda.Device(0).make_context()
        gpuarray.zeros(10, np.float32).sum()
        context.detach()

    cuda.init()
    for _ in range(20):
        once()
    before = used()
    for _ in range(40):
        once()
    print((used() - before) / 40)
"""


def test_a_context_that_ended_keeps_no_kernels(run_program):
    """The last command of a stream kept its module: 10 KB for each context."""
    if not is_softcuda():
        pytest.skip("reads the heap of softcuda")
    result = run_program(CONTEXTS_THAT_LOAD_KERNELS)
    assert result.returncode == 0, result.stderr
    assert float(result.stdout) < 3000
