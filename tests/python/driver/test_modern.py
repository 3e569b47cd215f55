"""Newer features of the driver: attributes of launches, graphs, `with stream:`, memory of streams."""

import threading

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from pycuda.tools import DeviceMemoryPool


@pytest.fixture
def module(device):
    return SourceModule("""
        __global__ void add(int *out, int by) { out[threadIdx.x] += by; }
        __global__ void twice(int *out) { out[threadIdx.x] *= 2; }
    """)


@pytest.fixture
def numbers(device):
    return cuda.to_device(np.arange(4, dtype=np.int32))


def values(memory):
    return cuda.from_device(memory, 4, np.int32).tolist()


# Launches


def test_cooperative_launch(device, able):
    module = able(
        "grid-wide barriers",
        lambda: SourceModule(
            """
            #include <cooperative_groups.h>
            extern "C" __global__ void total(int *parts, int *out)
            {
                if (threadIdx.x == 0) parts[blockIdx.x] = blockIdx.x + 1;
                cooperative_groups::this_grid().sync();
                if (blockIdx.x == 0 && threadIdx.x == 0)
                    for (int i = 0; i < gridDim.x; ++i) *out += parts[i];
            }
        """,
            no_extern_c=True,
        ),
    )
    total = module.get_function("total")
    parts, out = cuda.to_device(np.zeros(8, np.int32)), np.zeros(1, np.int32)
    able(
        "cooperative launches",
        lambda: total(
            parts, cuda.InOut(out), block=(32, 1, 1), grid=(8, 1), cooperative=True
        ),
    )
    assert out[0] == 36
    with pytest.raises(cuda.Error, match="all must run at once|too large|cooperative"):
        total(parts, parts, block=(1024, 1, 1), grid=(1 << 20, 1), cooperative=True)


def test_priority_and_programmatic(module, numbers, able):
    add = module.get_function("add")
    able(
        "launch attributes",
        lambda: add(numbers, 1, block=(4, 1, 1), priority=0, programmatic=True),
    )
    assert values(numbers) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="time_kernel cannot be combined"):
        add(numbers, 1, block=(4, 1, 1), priority=0, time_kernel=True)
    with pytest.raises(ValueError, match="bind.. does not support cooperative"):
        add.bind(numbers, 1, block=(4, 1, 1), cooperative=True)


def test_clusters(device, able):
    if device.compute_capability() < (9, 0):
        with pytest.raises(cuda.Error):
            SourceModule("__global__ void f() {}").get_function("f")(
                block=(32, 1, 1), grid=(2, 1), cluster=(2, 1, 1)
            )
        return
    module = SourceModule(
        """
        #include <cooperative_groups.h>
        extern "C" __global__ void size(int *out)
        { *out = cooperative_groups::this_cluster().num_blocks(); }
    """,
        no_extern_c=True,
    )
    out = np.zeros(1, np.int32)
    module.get_function("size")(
        cuda.Out(out), block=(32, 1, 1), grid=(4, 1), cluster=(2, 1, 1)
    )
    assert out[0] == 2


def test_occupancy(module, device):
    add = module.get_function("add")
    blocks = add.max_active_blocks(256)
    assert 1 <= blocks <= device.max_threads_per_multiprocessor // 256
    threads, grid = add.suggest_block_size()
    assert 32 <= threads <= device.max_threads_per_block and grid >= 1
    assert add.suggest_block_size(0, 64)[0] <= 64


# Streams as context managers


def test_current_stream(module, numbers):
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    add, twice = module.get_function("add"), module.get_function("twice")
    with stream:
        add(numbers, 1, block=(4, 1, 1))
        done = cuda.Event().record()
        with cuda.Stream(cuda.stream_flags.NON_BLOCKING) as inner:
            inner.wait_for_event(done)
            twice(numbers, block=(4, 1, 1))
            done.record()
        stream.wait_for_event(done)
        add.prepare("Pi").prepared_call((1, 1), (4, 1, 1), numbers, 1)
    stream.synchronize()
    assert values(numbers) == [3, 5, 7, 9]


def test_current_stream_is_of_one_thread(module, numbers, primary_context, able):
    def other():
        with primary_context:
            module.get_function("add")(numbers, 1, block=(4, 1, 1))

    with cuda.Stream(cuda.stream_flags.NON_BLOCKING) as stream:
        able("graphs", lambda: cuda.begin_capture(stream))  # a launch in another thread
        thread = threading.Thread(target=other)  # is not recorded
        try:
            thread.start()
            thread.join()
        finally:
            graph = cuda.end_capture(stream)
    assert len(graph) == 0
    assert values(numbers) == [1, 2, 3, 4]


def test_closing(device):
    stream = cuda.Stream()
    stream.close()
    stream.close()
    with pytest.raises(cuda.LogicError, match="closed"):
        with stream:
            pass
    with cuda.Event() as event:
        event.record().synchronize()
    assert event.handle == 0
    assert "Event" in repr(event)


# Graphs


def test_capture_and_replay(module, numbers, able):
    stream = cuda.Stream()
    add, twice = module.get_function("add"), module.get_function("twice")

    def record(by):
        with cuda.capture(stream) as recording:
            add(numbers, by, block=(4, 1, 1), stream=stream)
            twice(numbers, block=(4, 1, 1), stream=stream)
            assert cuda.is_capturing(stream)
        return recording.graph

    graph = able("graphs", lambda: record(1))
    assert values(numbers) == [0, 1, 2, 3]  # recorded, not executed
    assert len(graph) == 2 and len(graph.clone()) == 2
    step = able("graphs", graph.instantiate)
    step.upload(stream)
    for _ in range(2):
        step.launch(stream)
    stream.synchronize()
    assert values(numbers) == [6, 10, 14, 18]
    step.update(record(100))
    step.launch(stream)
    stream.synchronize()
    assert values(numbers) == [212, 220, 228, 236]


def test_graph_of_nodes(module, numbers, able, tmp_path):
    other = cuda.mem_alloc(16)
    graph = able("graphs", cuda.Graph)

    def build():
        fill = graph.add_fill(other, 7, 4, element_size=4)
        launch = module.get_function("add").bind(other, 3, block=(4, 1, 1))
        add = graph.add_kernel(launch, [fill])
        gate = graph.add_empty([add])
        graph.add_copy(numbers, other, 16, dependencies=[gate])

    able("graph nodes", build)
    assert len(graph) == 4
    stream = cuda.Stream()
    step = graph.instantiate()
    step.launch(stream)
    stream.synchronize()
    assert values(numbers) == [10] * 4
    graph.write_dot(str(tmp_path / "graph.dot"))
    assert "digraph" in (tmp_path / "graph.dot").read_text()
    with pytest.raises(TypeError, match="the result of Function.bind.., not int"):
        graph.add_kernel(1)


def test_update_with_another_graph_is_an_error(module, numbers, able):
    stream = cuda.Stream()
    add = module.get_function("add")

    def record(times):
        with cuda.capture(stream) as recording:
            for _ in range(times):
                add(numbers, 1, block=(4, 1, 1), stream=stream)
        return recording.graph

    step = able("graphs", lambda: record(1).instantiate())
    with pytest.raises(cuda.Error, match="differs in more than its arguments"):
        step.update(record(2))


# Memory


def test_memory_by_streams(module, device, able):
    stream = cuda.Stream()
    memory = able("stream-ordered allocation", lambda: cuda.mem_alloc_async(16, stream))
    cuda.memset_d32_async(memory, 5, 4, stream)
    module.get_function("add")(memory, 2, block=(4, 1, 1), stream=stream)
    stream.synchronize()
    assert values(memory) == [7] * 4
    cuda.mem_free_async(memory, stream)
    with pytest.raises(cuda.LogicError, match="free"):
        memory.free()
    stream.synchronize()


def test_pool_of_the_driver(device, able):
    pool = able("driver pools", lambda: cuda.DriverMemoryPool(device))
    before = pool.release_threshold
    pool.release_threshold = 1 << 20
    try:
        assert pool.release_threshold == 1 << 20
        memory = able("stream-ordered allocation", lambda: cuda.mem_alloc_async(4096))
        cuda.Context.synchronize()
        assert pool.used_bytes >= 4096
        assert pool.most_used_bytes >= pool.used_bytes
        assert pool.reserved_bytes >= pool.used_bytes
        memory.free()
        pool.trim()
    finally:
        pool.release_threshold = before


def test_hints_for_managed_memory(device, able):
    memory = cuda.ManagedAllocation(4096)
    able(
        "managed-memory advice",
        lambda: cuda.mem_advise(memory, 4096, cuda.mem_advice.SET_READ_MOSTLY, device),
    )
    able("prefetching", lambda: cuda.mem_prefetch(memory, 4096, device))
    cuda.mem_prefetch(memory, 4096, None)
    cuda.Context.synchronize()


def test_host_function_in_a_stream(device, able):
    called = threading.Event()
    where = []

    def callback():
        where.append(threading.get_ident())
        called.set()

    stream = cuda.Stream()
    able("host functions", lambda: cuda.launch_host_func(callback, stream))
    stream.synchronize()
    assert called.wait(10)
    with pytest.raises(TypeError, match="must be callable, not int"):
        cuda.launch_host_func(3)


def test_closing_graphs(module, numbers, able):
    graph = able("graphs", cuda.Graph)
    graph.add_kernel(module.get_function("add").bind(numbers, 1, block=(4, 1, 1)))
    assert repr(graph) == "<pycuda.driver.Graph of 1 node>"
    ready = graph.instantiate()
    graph.close()
    graph.close()
    assert repr(graph) == "<pycuda.driver.Graph, closed>"
    for use in (lambda: len(graph), graph.instantiate, graph.clone, graph.add_empty):
        with pytest.raises(cuda.LogicError, match="the graph was closed"):
            use()
    ready.launch()  # its inputs are ready
    cuda.Context.synchronize()
    assert values(numbers) == [1, 2, 3, 4]
    ready.close()
    assert "closed" in repr(ready)
    with pytest.raises(cuda.LogicError, match="executable graph was closed"):
        ready.launch()


def test_types_of_modern_calls_are_checked(module, device):
    function = module.get_function("add")
    assert function.max_active_blocks(threads=128, shared=0) >= 1
    assert function.suggest_block_size(shared=0, most_threads=64)[0] <= 64
    for call, words in (
        (lambda: cuda.mem_free_async(5), "memory must be .*DeviceAllocation, not int"),
        (lambda: cuda.mem_prefetch(0, 4, "gpu"), "device must be .*Device, or None"),
        (lambda: cuda.launch_host_func(5), "func must be callable, not int"),
    ):
        with pytest.raises(TypeError, match=words):
            call()


def test_closed_modules_are_an_error(device):
    module = SourceModule(
        "__global__ void twice(int *a) { *a *= 2; }\n__device__ int variable;"
    )
    twice = module.get_function("twice")
    memory = cuda.to_device(np.array([4], np.int32))
    bound = twice.bind(memory, block=(1, 1, 1))
    prepared = module.get_function("twice").prepare("P")
    twice(memory, block=(1, 1, 1))
    cuda.Context.synchronize()
    module.close()
    module.close()  # a second time does nothing
    for use in (
        lambda: twice(memory, block=(1, 1, 1)),
        lambda: prepared.prepared_call((1, 1), (1, 1, 1), memory),
        bound,
        lambda: twice.num_regs,
        lambda: module.get_function("twice"),
        lambda: module.get_global("variable"),
    ):
        with pytest.raises(cuda.LogicError, match="module .*was closed before"):
            use()
    assert cuda.from_device(memory, 1, np.int32)[0] == 8


def test_with_blocks_free_objects(device):
    with SourceModule("__global__ void nothing() { }") as module:
        module.get_function("nothing")(block=(1, 1, 1))
        cuda.Context.synchronize()
    with pytest.raises(cuda.LogicError, match="closed"):
        module.get_function("nothing")
    pool = DeviceMemoryPool()
    for make in (
        lambda: cuda.mem_alloc(64),
        lambda: cuda.pagelocked_empty(16, np.float32).base,
        lambda: cuda.aligned_empty(16, np.float32).base,
        lambda: pool.allocate(64),
        lambda: cuda.matrix_to_array(np.zeros((4, 4), np.float32), "C"),
    ):
        with make() as memory:
            pass
        with pytest.raises(cuda.Error):
            memory.free()
        with make() as memory:
            memory.free()  # so the end of the block does not
    descriptor = cuda.ArrayDescriptor3D()
    descriptor.width = descriptor.height = 8
    descriptor.format, descriptor.num_channels = cuda.array_format.FLOAT, 1
    with cuda.MipmappedArray(descriptor, 2) as mipmapped:
        assert mipmapped.get_level(1).handle
    with pytest.raises(cuda.LogicError, match="mipmapped array was freed before"):
        mipmapped.get_level(0)
    granularity = cuda.mem_get_allocation_granularity(device)
    with cuda.PhysicalMemory(granularity, device) as physical:
        mapped = cuda.VirtualMemory(granularity)
        mapped.map(physical)
    with pytest.raises(cuda.LogicError, match="the memory was closed before"):
        _ = physical.handle
    mapped.close()
    graph = cuda.Graph()
    with graph:
        graph.add_empty()
    with pytest.raises(cuda.LogicError, match="closed"):
        graph.add_empty()
