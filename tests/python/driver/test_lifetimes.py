"""Memory stays allocated while work uses it, whichever object brought the memory to the work."""

import gc
import weakref

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray

SOURCE = """
__global__ void slow(float *x, int rounds) {
    float y = 1;
    for (int i = 0; i < rounds; ++i) y = y * 1.0000001f + 1e-9f;
    x[threadIdx.x] = y > 0 ? 7.0f : 8.0f;
}
__global__ void add(float *x, float a) { x[threadIdx.x] += a; }
"""
N = 32
BLOCK = (N, 1, 1)
ONE = np.float32(1)


class Program:
    """A stream that is busy with a long kernel, and arrays of another stream."""

    def __init__(self):
        module = SourceModule(SOURCE)
        self.slow, self.add = module.get_function("slow"), module.get_function("add")
        self.busy = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
        self.home = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
        self.memory = cuda.mem_alloc(4 * N)
        self.sevens = cuda.to_device(np.full(N, 7, np.float32))
        self.add.bind(gpuarray.zeros(N, np.float32), ONE, block=BLOCK)()
        self.hold(1)
        cuda.Context.synchronize()

    def hold(self, rounds=20_000_000):
        self.slow(self.memory, np.int32(rounds), block=BLOCK, stream=self.busy)

    def zeros(self, count):
        with self.home:
            return [gpuarray.zeros(N, np.float32) for _ in range(count)]

    def later_arrays_are_unchanged(self, use):
        """Calls use(array) while the stream is busy, drops the array, and makes others."""
        (x,) = self.zeros(1)
        cuda.Context.synchronize()
        self.hold()
        use(x)
        del x
        gc.collect()
        others = self.zeros(16)
        cuda.Context.synchronize()
        return not any(other.get().any() for other in others)


@pytest.fixture
def program(device):
    return Program()


class Holder(cuda.PointerHolderBase):
    def __init__(self, array):
        super().__init__()
        self.array = array

    def get_pointer(self):
        return int(self.array.gpudata)


class WithGpudata:
    def __init__(self, array):
        self.gpudata = array.gpudata


class Interface:
    """An array of another library."""

    def __init__(self, array, interface=None):
        self.array = array
        self.__cuda_array_interface__ = interface or array.__cuda_array_interface__


def with_new_gpudata(gpudata):
    x = gpuarray.zeros(N, np.float32)
    x.gpudata = gpudata
    return x


ALIASES = {
    "gpudata": lambda x: GPUArray((N,), np.float32, gpudata=x.gpudata),
    "gpudata is an array": lambda x: GPUArray((N,), np.float32, gpudata=x),
    "gpudata is set": lambda x: with_new_gpudata(x.gpudata),
    "gpudata is set to an array": with_new_gpudata,
    "gpudata is a holder": lambda x: GPUArray((N,), np.float32, gpudata=Holder(x)),
    "gpudata of an object": lambda x: GPUArray(
        (N,), np.float32, gpudata=WithGpudata(x)
    ),
    "array interface": lambda x: gpuarray.asarray(Interface(x)),
    "from_dlpack": gpuarray.from_dlpack,
}


@pytest.mark.parametrize("name", ALIASES)
def test_memory_that_is_used_through_another_array(program, name):
    def use(x):
        alias = ALIASES[name](x)
        with program.busy:
            alias += 1

    assert program.later_arrays_are_unchanged(use)


@pytest.mark.parametrize("holder", [Holder, WithGpudata])
def test_objects_that_hold_memory_are_kept_until_the_kernel_is_done(program, holder):
    program.add.prepare("Pf")

    def prepared(x):
        program.add.prepared_async_call((1, 1), BLOCK, program.busy, holder(x), 1.0)

    def called(x):
        program.add(holder(x), ONE, block=BLOCK, stream=program.busy)

    def bound_before(x):
        launch = program.add.bind(holder(x), ONE, block=BLOCK, stream=program.busy)
        program.hold()
        launch()

    for use in prepared, called, bound_before:
        assert program.later_arrays_are_unchanged(use), use.__name__


def copy_rows(program, target):
    copy = cuda.Memcpy2D()
    copy.set_src_device(program.sevens)
    copy.set_dst_device(target)
    copy.width_in_bytes = copy.src_pitch = copy.dst_pitch = 4 * N
    copy.height = 1
    copy(program.busy)


WRITES = {
    "memset_d32_async": lambda p, to: cuda.memset_d32_async(to, 1, N, p.busy),
    "memset_d2d32_async": lambda p, to: cuda.memset_d2d32_async(
        to, 4 * N, 1, N, 1, p.busy
    ),
    "memcpy_htod_async": lambda p, to: cuda.memcpy_htod_async(
        to, np.ones(N, np.float32), p.busy
    ),
    "memcpy_dtod_async": lambda p, to: cuda.memcpy_dtod_async(
        to, p.sevens, 4 * N, p.busy
    ),
    "memcpy_batch_async": lambda p, to: cuda.memcpy_batch_async(
        [to], [p.sevens], [4 * N], p.busy
    ),
    "memcpy_peer_async": lambda p, to: cuda.memcpy_peer_async(
        to, p.sevens, 4 * N, stream=p.busy
    ),
    "Memcpy2D": copy_rows,
}


@pytest.mark.parametrize("name", WRITES)
def test_objects_that_hold_memory_are_kept_until_a_write_is_done(program, name):
    def write(x):
        WRITES[name](program, Holder(x))

    assert program.later_arrays_are_unchanged(write)


def test_objects_that_hold_memory_are_kept_until_a_read_is_done(program):
    host = np.zeros(N, np.float32)

    def read(x):
        with program.home:
            x.fill(3)
        cuda.Context.synchronize()
        program.hold()
        cuda.memcpy_dtoh_async(host, Holder(x), program.busy)

    assert program.later_arrays_are_unchanged(read)
    assert (host == 3).all()


def test_memory_that_a_holder_returns_is_ordered_like_an_array(program):
    """The first use of a block follows the block's earlier user in its home stream."""

    class HolderOfMemory(Holder):
        def get_pointer(self):
            return self.array.gpudata

    with program.home:
        earlier = gpuarray.zeros(N, np.float32)
        cuda.Context.synchronize()
        program.slow(earlier, np.int32(20_000_000), block=BLOCK)
        del earlier
        x = gpuarray.empty(N, np.float32)  # the same block
    cuda.memset_d32_async(HolderOfMemory(x), 0, N, program.busy)
    program.busy.synchronize()
    program.home.synchronize()
    assert not x.get().any()


def graph_of(program, kind, x):
    launch = program.add.bind(x, ONE, block=BLOCK)
    graph = cuda.Graph()
    if kind == "kernel":
        graph.add_kernel(launch)
    elif kind == "fill":
        graph.add_fill(x, 0x3F800000, N, element_size=4)
    elif kind == "copy":
        graph.add_copy(x, gpuarray.zeros(N, np.float32) + 1, 4 * N)
    elif kind == "clone":
        graph.add_kernel(launch)
        return graph.clone().instantiate()
    elif kind == "body":
        (body,) = graph.add_conditional("if", value=1).bodies
        body.add_kernel(launch)
    else:
        node = graph.add_kernel(program.add.bind(program.memory, ONE, block=BLOCK))
        executable = graph.instantiate()
        if kind == "update_kernel":
            executable.update_kernel(node, launch)
        else:
            other = cuda.Graph()
            other.add_kernel(launch)
            executable.update(other)
        return executable
    return graph.instantiate()


KINDS = ["kernel", "fill", "copy", "clone", "body", "update_kernel", "update"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_launched_graph_of_nodes_keeps_its_memory(program, kind):
    assert program.later_arrays_are_unchanged(
        lambda x: graph_of(program, kind, x).launch(program.busy)
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_of_nodes_keeps_its_memory_until_it_ends(program, kind):
    (x,) = program.zeros(1)
    cuda.Context.synchronize()
    executable = graph_of(program, kind, x)
    del x
    gc.collect()
    others = program.zeros(16)
    cuda.Context.synchronize()
    executable.launch()
    cuda.Context.synchronize()
    assert not any(other.get().any() for other in others)


def test_updates_release_the_earlier_arguments(program):
    x = gpuarray.zeros(N, np.float32)
    graph = cuda.Graph()
    node = graph.add_kernel(program.add.bind(x, ONE, block=BLOCK))
    fill = graph.add_fill(x, 0, N, element_size=4)
    executable = graph.instantiate()
    launches = [program.add.bind(x, ONE, block=BLOCK) for _ in range(3)]
    alive = [weakref.ref(launch) for launch in launches]
    while launches:
        executable.update_kernel(node, launches.pop(0))
    for _ in range(3):
        other = cuda.Graph()
        memory = gpuarray.zeros(N, np.float32)
        launch = program.add.bind(memory, ONE, block=BLOCK)
        alive.append(weakref.ref(launch))
        first = other.add_kernel(launch)
        other.add_fill(memory, 0, N, element_size=4)
        executable.update(other)
        del other, launch, first
    executable.update_fill(fill, x, 1, N)
    gc.collect()
    assert [ref() is not None for ref in alive] == [False] * 5 + [True]
    executable.close()
    gc.collect()
    assert alive[-1]() is None


def test_a_graph_in_a_cycle_is_collected(program):
    class Array(GPUArray):
        pass

    x = Array((N,), np.float32)
    graph = cuda.Graph()
    graph.add_kernel(program.add.bind(x, ONE, block=BLOCK))
    x.graph, x.executable = graph, graph.instantiate()
    alive = weakref.ref(graph)
    del x, graph
    gc.collect()
    assert alive() is None


def test_a_graph_follows_the_stream_of_a_foreign_array(program):
    memory = cuda.mem_alloc(4 * N)
    cuda.memset_d32(memory, 0, N)
    foreign = Interface(
        memory,
        {
            "shape": (N,), "typestr": "<f4", "data": (int(memory), False),
            "version": 3, "stream": program.busy.handle,
        },
    )  # fmt: skip
    y, z = gpuarray.zeros(N, np.float32), gpuarray.zeros(N, np.float32)
    graph = cuda.Graph()
    graph.add_copy(y, foreign, 4 * N)
    executable = graph.instantiate()
    cuda.Context.synchronize()
    program.slow(memory, np.int32(20_000_000), block=BLOCK, stream=program.busy)
    executable.launch(program.home)
    with program.home:
        z += GPUArray((N,), np.float32, gpudata=foreign)
    assert (y.get(stream=program.home) == 7).all()
    assert (z.get(stream=program.home) == 7).all()


def test_the_end_of_a_context_frees_what_its_captures_use(device):
    context = cuda.Device(0).make_context()
    try:
        x = gpuarray.zeros(N, np.float32)
        stream = cuda.Stream()
        launch = SourceModule(SOURCE).get_function("add").bind(x, ONE, block=BLOCK)
        with cuda.capture(stream) as recording:
            launch(stream=stream)
        executable = recording.graph.instantiate()
        executable.launch(stream)
        alive = weakref.ref(launch)
        del launch
        gc.collect()
        assert alive() is not None
    finally:
        context.pop()
        context.detach()
    gc.collect()
    assert alive() is None
    with pytest.raises(cuda.Error):
        executable.launch(stream)


def test_streams_of_short_life_do_not_hoard_memory(device):
    x = gpuarray.zeros(250_000, np.float32)

    def round_of_streams():
        streams = [cuda.Stream(), cuda.Stream()]
        kept = []
        for stream in streams:
            with stream:
                kept.append((x + 1) * 2)
        cuda.Context.synchronize()
        assert all((y.get() == 2).all() for y in kept)

    round_of_streams()
    round_of_streams()
    free = cuda.mem_get_info()[0]
    for _ in range(30):
        round_of_streams()
    gc.collect()
    cuda.Context.synchronize()
    assert free - cuda.mem_get_info()[0] < 10 * x.nbytes
