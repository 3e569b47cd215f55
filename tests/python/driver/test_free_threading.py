"""Many threads use the same objects at once, as a Python without a GIL allows.

With a GIL these tests pass, too, and are quick: there the interpreter runs few things at once.
"""

import gc
import sys
import sysconfig
import threading

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel

FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
THREADS = 8
TURNS = 60 if FREE_THREADED else 6

AXPY = """
__global__ void axpy(float *y, const float *x, float a, int n)
{ int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) y[i] += a * x[i]; }
"""


@pytest.fixture
def together(device, primary_context):
    """Call a function in many threads, which start at once; raises the exception of the first that failed."""

    def run(work, threads=THREADS):
        start = threading.Barrier(threads)
        failures = []

        def body(number):
            try:
                with primary_context:
                    start.wait()
                    work(number)
            except BaseException as failure:
                failures.append(failure)

        running = [threading.Thread(target=body, args=(n,)) for n in range(threads)]
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
        if failures:
            raise failures[0]

    return run


@pytest.mark.skipif(not FREE_THREADED, reason="this Python has a GIL")
def test_imports_leave_the_gil_disabled(run_program):
    result = run_program("""
        import sys
        import pycuda.driver, pycuda.autoinit, pycuda.compiler, pycuda.gpuarray
        import pycuda.curandom, pycuda.cumath, pycuda.elementwise, pycuda.reduction, pycuda.scan
        import pycuda.tools, pycuda.characterize, pycuda.fusion
        assert not sys._is_gil_enabled()
    """)
    assert (result.returncode, result.stderr) == (0, "")


@pytest.mark.filterwarnings("ignore:.*misread")
def test_one_function_is_launched_by_all(together):
    axpy = SourceModule(AXPY).get_function("axpy")
    x = gpuarray.to_gpu(np.arange(64, dtype=np.float32))
    x64 = gpuarray.zeros(64, np.float64)
    sizes = [np.int32(64), 64, np.uint32(64)]

    def work(number):
        y = gpuarray.zeros(64, np.float32)
        stream = cuda.Stream()
        bound = axpy.bind(y, x, np.float32(1), 64, block=(64, 1, 1), stream=stream)
        for turn in range(TURNS):
            axpy(y, x, 1.0, sizes[turn % 3], block=(64, 1, 1), stream=stream)
            axpy.prepare(
                "PPfi" if (turn + number) % 2 else [np.intp, "P", "f", np.int32]
            )
            axpy.prepared_async_call(
                (1, 1), (64, 1, 1), stream, y.gpudata, x.gpudata, 1, 64
            )
            bound()
            if turn % 4 == 3:  # elements that the kernel would misread
                axpy(y, x64, 0.0, 0, block=(1, 1, 1), stream=stream)
        stream.synchronize()
        assert (y.get() == 3 * TURNS * np.arange(64)).all()

    together(work)


def test_the_same_source_is_compiled_by_all(together):
    found = []

    def work(number):
        for turn in range(max(TURNS // 10, 2)):
            source = f"__global__ void put(int *p) {{ *p = {turn} + {turn}; }}"
            put = SourceModule(source).get_function("put")
            memory = cuda.mem_alloc(4)
            put(memory, block=(1, 1, 1))
            found.append(int(cuda.from_device(memory, 1, np.int32)[0]) == 2 * turn)

    together(work)
    assert found and all(found)


def test_shared_arrays_are_read_by_all(together):
    """Each operation and pair of types is used for the first time in several threads at once."""
    types = [np.int32, np.float32, np.float64, np.complex64, np.int8, np.uint16]
    hosts = [np.arange(1, 33).astype(t) for t in types]
    arrays = [gpuarray.to_gpu(host) for host in hosts]

    def work(number):
        for turn in range(max(TURNS // 4, 3)):
            i, j = (turn + number) % 6, (turn + 1) % 6
            total = arrays[i] * arrays[j] + arrays[i][::-1]
            np.testing.assert_array_equal(
                total.get(), hosts[i] * hosts[j] + hosts[i][::-1]
            )
            assert arrays[i].dtype is arrays[i].dtype
            assert gpuarray.sum(arrays[1]).get() == 528

    together(work)


def test_kernel_objects_are_shared(together):
    scale = ElementwiseKernel("float *y, float *x, float a", "y[i] = a * x[i]", "scale")
    dot = ReductionKernel(
        np.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y", name="dot"
    )
    x = gpuarray.to_gpu(np.ones((16, 16), np.float32))

    def work(number):
        y = gpuarray.empty_like(x)
        for turn in range(max(TURNS // 4, 3)):
            scale(y, x, number) if turn % 2 else scale(y[::2], x[::2], number)
            scale(y, x, number)
            assert dot(x, y).get() == 256 * number

    together(work)


def test_streams_and_events_are_created_and_destroyed(together):
    source = gpuarray.to_gpu(np.arange(256, dtype=np.int32))
    handed_on = []

    def work(number):
        for _ in range(TURNS):
            with cuda.Stream() as stream:
                doubled = source * 2
                handed_on.append((stream, cuda.Event().record(stream), doubled))
            if len(handed_on) > THREADS:  # drops an array of another thread here
                other, event, array = handed_on.pop(0)
                event.synchronize()
                other.synchronize()
                assert array.get()[255] == 510
                other.close()

    together(work)
    handed_on.clear()


@pytest.fixture
def quick_switches():
    """A Python with a GIL lets another thread run as soon as one waits for it."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_memory_is_freed_once(together, quick_switches):
    pool = cuda.DeviceMemoryPool()
    blocks = [
        (pool.allocate if turn % 2 else cuda.mem_alloc)(1 << 10) for turn in range(400)
    ]
    freed = []

    def work(number):
        for block in blocks:
            try:
                block.free()
                freed.append(block)
            except cuda.LogicError:  # another thread was faster
                pass

    together(work)
    assert len(freed) == len(blocks)
    assert pool.active_blocks == 0


def test_host_arrays_go_in_and_out(together):
    twice = SourceModule(
        "__global__ void twice(float *to, const float *from)"
        "{ to[threadIdx.x] = 2 * from[threadIdx.x]; }"
    ).get_function("twice")
    shared = cuda.In(np.arange(32, dtype=np.float32))  # one wrapper for all threads

    def work(number):
        own = np.empty(32, np.float32)
        for _ in range(TURNS):
            twice(cuda.Out(own), shared, block=(32, 1, 1))
            assert (own == 2 * np.arange(32)).all()
            stream = cuda.Stream()
            device = cuda.mem_alloc(own.nbytes)
            cuda.memcpy_htod_async(device, own.copy(), stream)  # kept until it is done
            cuda.memcpy_dtoh_async(own, device, stream)
            stream.synchronize()
            assert (own == 2 * np.arange(32)).all()

    together(work)


def test_a_graph_is_built_by_all(together):
    add = SourceModule("__global__ void add(int *p) { atomicAdd(p, 1); }").get_function(
        "add"
    )
    total = gpuarray.zeros(1, np.int32)
    graph = cuda.Graph()

    def work(number):
        for _ in range(TURNS):
            graph.add_kernel(add.bind(total, block=(1, 1, 1)))

    together(work)
    assert len(graph) == THREADS * TURNS
    ready = graph.instantiate()
    together(lambda number: ready.launch())
    cuda.Context.synchronize()
    assert total.get()[0] == THREADS * THREADS * TURNS


def test_types_are_learned_while_others_launch(together):
    put = SourceModule("__global__ void put(int *p, int v) { *p = v; }").get_function(
        "put"
    )

    def work(number):
        for _ in range(max(TURNS // 10, 2)):
            memory = cuda.mem_alloc(4)

            class Own:  # a type that was never packed before
                __cuda_array_interface__ = {
                    "data": (int(memory), False),
                    "typestr": "<i4",
                    "shape": (1,),
                    "version": 3,
                }

            put(Own(), number, block=(1, 1, 1))
            assert cuda.from_device(memory, 1, np.int32)[0] == number

    together(work)


def test_the_collector_stops_all_threads(together):
    """A thread that waits for one of our locks must not prevent a stop of the others."""
    axpy = SourceModule(AXPY).get_function("axpy")
    x = gpuarray.to_gpu(np.ones(64, np.float32))

    def work(number):
        for _ in range(max(TURNS // 2, 3)):
            if number == 0:
                gc.collect()
                continue
            y = gpuarray.zeros(64, np.float32)
            cycle = [y, x * 2]
            cycle.append(cycle)
            axpy(y, cycle[1], np.float32(number), 64, block=(64, 1, 1))
            assert (y.get() == 2 * number).all()

    together(work)


FIRST_USES = """
    import threading
    import pycuda.autoinit
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    put = SourceModule(
        "__global__ void put(float *p, float v, int i) { p[i] = v; }").get_function("put")
    context = cuda.Context.get_current()
    start = threading.Barrier(8)
    failures = []

    def work(number):
        try:
            import numpy as np
            from pycuda import gpuarray
            with context:
                start.wait()
                memory = gpuarray.empty(4, np.float32)
                put(memory, np.float32(number), np.int32(2), block=(1, 1, 1))
                assert memory.get()[2] == number
                assert (gpuarray.zeros(4, np.float16) + np.float16(1)).get()[0] == 1
        except BaseException as failure:
            failures.append(repr(failure))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures

    def forever():
        with context:
            while True:
                put(gpuarray_of_all, 1.0, 0, block=(1, 1, 1))

    from pycuda import gpuarray
    import numpy
    gpuarray_of_all = gpuarray.zeros(1, numpy.float32)
    for _ in range(3):  # still at it when the program ends
        threading.Thread(target=forever, daemon=True).start()
"""


def test_first_uses_and_the_end_with_threads_at_work(run_program):
    for _ in range(4 if FREE_THREADED else 1):
        result = run_program(FIRST_USES)
        assert (result.returncode, result.stderr) == (0, "")
