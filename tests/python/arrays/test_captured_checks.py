"""Recorded operations that check values: a launch finds an error, and the next wait raises it (core/src/context/graph_checks.h)."""

import gc
import time

import numpy as np
import pytest
from marks import slow

import pycuda.driver as cuda
from pycuda import gpuarray, linalg

N = 1000
RNG = np.random.default_rng(3)
HOST = RNG.standard_normal(N).astype(np.float32)


@pytest.fixture
def stream(device):
    return cuda.Stream()


@pytest.fixture(params=["blocking", "non-blocking"])
def any_stream(device, request):
    return cuda.Stream(
        0 if request.param == "blocking" else cuda.stream_flags.NON_BLOCKING
    )


def captured(work, stream):
    """The work in ``stream`` as an executable graph."""
    with cuda.capture(stream) as recording, stream:
        work()
    return recording.graph.instantiate()


CHECKED = {
    "take": (lambda x, i, y: y.__setitem__(..., np.take(x, i)), r"take\(\): an index .* axis 0 with size 1000"),
    "x[i]": (lambda x, i, y: y.__setitem__(..., x[i]), r"x\[indices\]: an index .* axis 0 with size 1000"),
    "m[i, j]": (lambda x, i, y: y.__setitem__(..., x._reshape(1, N)[i * 0, i]), "axis 1 with size 1000"),
    "m[i, :]": (lambda x, i, y: y.__setitem__(..., x._reshape(N, 1)[:, None][i, :, 0].ravel()), "size 1000"),
    "m[:, i, None, i]": (
        lambda x, i, y: y.__setitem__(..., x._reshape(1, N, 1)[:, i, i * 0][0]),
        "size 1000",
    ),
    "x[i] = 1": (lambda x, i, y: x.__setitem__(i, 1), r"axis 0 with size 1000"),
    "m[i, :] = 1": (lambda x, i, y: x._reshape(N, 1)[::2].__setitem__((i // 2, slice(None)), 1), "size 500"),
    "add.at": (lambda x, i, y: np.add.at(x, i, 1), r"axis 0 with size 1000"),
    "put": (lambda x, i, y: np.put(x, i, 1), r"put\(\): an index"),
    "put, strided": (lambda x, i, y: np.put(x[::-1], i, 1), r"put\(\): an index"),
    "take_along_axis": (lambda x, i, y: y.__setitem__(..., np.take_along_axis(x, i, 0)), r"take_along_axis\(\)"),
}  # fmt: skip


def checked_graph(name, stream):
    """(graph, x, i, y): the indices i are valid at first."""
    x, y = gpuarray.to_gpu(HOST), gpuarray.zeros(3, np.float32)
    i = gpuarray.to_gpu(np.array([0, -1, 7]))
    cuda.Context.synchronize()
    return captured(lambda: CHECKED[name][0](x, i, y), stream), x, i, y


def set_now(array, values):
    array.set(np.asarray(values, array.dtype))
    cuda.Context.synchronize()


@pytest.mark.parametrize("name", CHECKED)
def test_a_launch_that_finds_a_wrong_index_is_an_error_of_the_next_wait(
    any_stream, name
):
    graph, x, i, y = checked_graph(name, any_stream)
    around = [gpuarray.to_gpu(np.full(N, 4, np.float32)) for _ in range(5)]
    cuda.Context.synchronize()
    for wrong in ([0, 1000, 7], [0, 1, -1001], [1 << 40, 1, 1]):
        set_now(i, [2, -1, 7])
        graph.launch(any_stream)
        any_stream.synchronize()
        before = x.get()
        set_now(i, wrong)
        graph.launch(any_stream)
        with pytest.raises(IndexError, match=CHECKED[name][1]):
            any_stream.synchronize()
        any_stream.synchronize()  # an error is reported once
        cuda.Context.synchronize()
        if name in ("x[i] = 1", "add.at", "put"):
            assert np.array_equal(x.get(), before)  # nothing was written
    assert all((one.get() == 4).all() for one in around)


def test_values_for_the_places_of_a_mask(any_stream):
    """The number of the places is checked in each launch."""
    x, v = gpuarray.to_gpu(HOST), gpuarray.to_gpu(np.arange(3, dtype=np.float32))
    mask = gpuarray.to_gpu(np.arange(N) < 3)
    cuda.Context.synchronize()

    def work():
        x[mask] = v
        gpuarray.place(x, mask, v + 7)
        x[mask] = v.astype(np.float64) * 2

    graph = captured(work, any_stream)
    for first in (0, 10, 997):
        chosen = (np.arange(N) >= first) & (np.arange(N) < first + 3)
        set_now(x, HOST)
        set_now(mask, chosen)
        graph.launch(any_stream)
        any_stream.synchronize()
        want = HOST.copy()
        want[chosen] = [0, 2, 4]
        assert np.array_equal(x.get(), want)
    set_now(mask, np.arange(N) < 4)
    graph.launch(any_stream)
    with pytest.raises(IndexError, match="3 values"):
        any_stream.synchronize()
    with cuda.capture(any_stream), any_stream:
        with pytest.raises(ValueError, match="vector"):
            x[mask] = v[:, None]
        with pytest.raises(ValueError, match="vector with elements"):
            x[mask] = gpuarray.zeros(0, np.float32)


def test_edges_of_bins(any_stream):
    """Each launch finds out whether the edges rise or fall."""
    x, edges = gpuarray.to_gpu(HOST), gpuarray.to_gpu(np.array([-1, 0, 1], np.float32))
    places = gpuarray.zeros(N, np.int64)
    cuda.Context.synchronize()
    graph = captured(lambda: places.__setitem__(..., np.digitize(x, edges)), any_stream)
    for bins in ([-1, 0, 1], [1, 0, -1], [2, 2, 2]):
        set_now(edges, bins)
        graph.launch(any_stream)
        any_stream.synchronize()
        assert np.array_equal(places.get(), np.digitize(HOST, bins))
    set_now(edges, [0, 2, 1])
    graph.launch(any_stream)
    with pytest.raises(ValueError, match=r"digitize\(\): the edges must be monotonic"):
        any_stream.synchronize()


def test_errors_of_values(any_stream):
    """Means whose weights have the sum 0, and rows without a number."""
    x, w, y = (gpuarray.to_gpu(HOST) for _ in range(3))
    cuda.Context.synchronize()

    def work():
        y[0] = np.average(x, weights=w)
        y[1] = np.nanargmax(x)
        y[2:5] = np.add.reduceat(x, [0, 3, 600])

    graph = captured(work, any_stream)
    graph.launch(any_stream)
    any_stream.synchronize()
    want = [
        np.average(HOST, weights=HOST),
        HOST.argmax(),
        *np.add.reduceat(HOST, [0, 3, 600]),
    ]
    np.testing.assert_allclose(y.get()[:5], want, 1e-3)
    for error, array, values in (
        (ZeroDivisionError, w, np.zeros(N)),
        (ValueError, x, np.full(N, np.nan)),
    ):
        set_now(w, np.ones(N))
        set_now(array, values)
        graph.launch(any_stream)
        with pytest.raises(error, match=r"in a launch of the graph"):
            any_stream.synchronize()


def waits(stream, y):
    event = cuda.Event()
    return {
        "stream": stream.synchronize,
        "context": cuda.Context.synchronize,
        "event": lambda: event.record(stream).synchronize(),
        "get": lambda: y.get(stream=stream),
        "get of another array": lambda: (cuda.Context.synchronize(), y.get()),
        "copy": lambda: (y[1:2] + 1).get(stream=stream),
    }


@pytest.mark.parametrize(
    "name", ["stream", "context", "event", "get", "get of another array", "copy"]
)
def test_every_wait_reports(any_stream, name):
    graph, x, i, y = checked_graph("take", any_stream)
    set_now(i, [0, 1000, 0])
    graph.launch(any_stream)
    with pytest.raises(IndexError, match="take"):
        waits(any_stream, y)[name]()
    set_now(i, [0, 1, 2])
    graph.launch(any_stream)
    waits(any_stream, y)[name]()
    assert np.array_equal(y.get(stream=any_stream), HOST[:3])


def test_the_next_launch_reports(any_stream):
    graph, x, i, y = checked_graph("take", any_stream)
    set_now(i, [0, 1000, 0])
    graph.launch(any_stream)
    while not any_stream.is_done():
        time.sleep(0.001)
    with pytest.raises(IndexError, match="take"):
        graph.launch(any_stream)
    graph.launch(any_stream)
    with pytest.raises(IndexError, match="take"):
        any_stream.synchronize()


def test_only_waits_that_cover_the_launch_report(device):
    first, second = (cuda.Stream(cuda.stream_flags.NON_BLOCKING) for _ in range(2))
    graph, x, i, y = checked_graph("take", first)
    other, *_ = checked_graph("x[i]", second)
    set_now(i, [0, 1000, 0])
    graph.launch(first)
    other.launch(second)
    while not first.is_done():
        time.sleep(0.001)
    second.synchronize()
    with pytest.raises(IndexError, match="take"):
        first.synchronize()


def test_an_error_outlives_its_graph(any_stream):
    graph, x, i, y = checked_graph("take", any_stream)
    set_now(i, [0, 1000, 0])
    graph.launch(any_stream)
    while not any_stream.is_done():
        time.sleep(0.001)
    del graph
    gc.collect()
    with pytest.raises(IndexError, match="take"):
        any_stream.synchronize()
    cuda.Context.synchronize()


LAUNCH_AT_THE_END = """
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as cuda
    from pycuda import gpuarray

    s, x, y = cuda.Stream(), gpuarray.zeros(10, np.float32), gpuarray.zeros(1, np.float32)
    i = gpuarray.to_gpu(np.array([20]))
    cuda.Context.synchronize()
    with cuda.capture(s) as recording, s:
        y[...] = x[i]
    recording.graph.instantiate().launch(s)
"""


def test_an_error_that_no_wait_has_found_is_printed_at_exit(run_program):
    result = run_program(LAUNCH_AT_THE_END)
    assert result.returncode == 0, result.stderr
    assert "failed at exit: x[indices]: an index is out of bounds" in result.stderr
    assert "Traceback" not in result.stderr


def test_clones_report(any_stream):
    x, y = gpuarray.to_gpu(HOST), gpuarray.zeros(3, np.float32)
    i = gpuarray.to_gpu(np.array([0, 1000, 7]))
    cuda.Context.synchronize()
    with cuda.capture(any_stream) as recording, any_stream:
        y[...] = x[i]
    clone = recording.graph.clone().instantiate()
    recording.graph.close()
    clone.launch(any_stream)
    with pytest.raises(IndexError):
        any_stream.synchronize()


@pytest.mark.parametrize("n", [1, 4, 8, 40, 100])
@pytest.mark.parametrize("dtype", [np.float32, *slow([np.float64, np.complex128])])
def test_systems_are_captured(any_stream, n, dtype):
    good = (RNG.standard_normal((n, n)) + n * np.eye(n)).astype(dtype)
    bad = np.zeros((n, n), dtype)
    hermitian = (good @ good.conj().T).astype(dtype)
    functions = {
        "inv": (lambda a: linalg.inv(a), np.linalg.inv, good),
        "solve": (lambda a: linalg.solve(a, a + 1), lambda a: np.linalg.solve(a, a + 1), good),
        "cholesky": (lambda a: linalg.cholesky(a), np.linalg.cholesky, hermitian),
    }  # fmt: skip
    for name, (ours, numpys, matrix) in functions.items():
        a, out = gpuarray.to_gpu(matrix), gpuarray.zeros((n, n), dtype)
        cuda.Context.synchronize()

        def work(ours=ours, a=a, out=out):
            out[...] = ours(a)

        graph = captured(work, any_stream)
        for _ in range(2):
            set_now(a, matrix)
            graph.launch(any_stream)
            any_stream.synchronize()
            np.testing.assert_allclose(out.get(), numpys(matrix), rtol=1e-3, atol=1e-4)
            set_now(a, bad)
            graph.launch(any_stream)
            with pytest.raises(
                np.linalg.LinAlgError, match=rf"{name}\(\): .*in a launch"
            ):
                any_stream.synchronize()


def test_refused_functions_are_named(stream):
    x, out = gpuarray.to_gpu(HOST), gpuarray.zeros(N, np.float32)
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        for name, call in {
            "unique": lambda: np.unique(x),
            "nonzero": lambda: np.nonzero(x),
            "allclose": lambda: np.allclose(x, x),
            "GPUArray.get": lambda: x.get(),
        }.items():
            with pytest.raises(cuda.LogicError, match=rf"{name}\(\).*captur"):
                call()
        out[...] = x + 1
    graph = recording.graph.instantiate()
    graph.launch(stream)
    stream.synchronize()
    assert np.array_equal(out.get(), HOST + 1)


def test_an_error_of_an_ended_graph_outlives_the_hold_that_recorded_it(stream):
    """`with cuda.Device(0)` retains the primary context, which lives on after the block."""
    with cuda.Context.get_device():
        graph, x, i, y = checked_graph("take", stream)
    set_now(i, [0, 1000, 7])
    graph.launch(stream)
    end = cuda.Event()
    end.record(stream)
    while not end.query():
        time.sleep(0.001)
    del graph, x, i, y, end
    for _ in range(20):  # CUDA reports the end of a graph in a thread of its own
        gc.collect()
        cuda.mem_get_info()
        time.sleep(0.05)
    with pytest.raises(IndexError, match="size 1000"):
        stream.synchronize()
