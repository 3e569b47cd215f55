"""Sparse matrices in a capture, and matrices whose elements are stored several times."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray, sparse
from pycuda.sparse import _host, _kernels, _library

sp = pytest.importorskip("scipy.sparse")
FORMATS = ("csr", "csc", "coo")


@pytest.fixture(params=["blocks", "serial", "host"])
def form(device, request, monkeypatch):
    """Kernels for blocks of threads; kernels with blocks of one thread; SciPy's loops, if the memory is the host's."""
    monkeypatch.setattr(_library, "takes", lambda dtype: False)
    monkeypatch.setattr(_kernels, "is_serial", lambda: request.param != "blocks")
    few = 1 << 30 if request.param == "host" else 0
    monkeypatch.setattr(_host, "FEW_CORES", few)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", ["power", "abs", "sqrt", "sign"])
def test_functions_add_up_duplicates(device, format, name):
    entries = np.array([1.0, 2, -3, 4]), np.array([0, 0, 1, 2]), np.array([0, 1, 3, 4])
    if format == "coo":
        entries = np.array([1.0, 2, -3, 4]), (np.array([0, 0, 1, 2]), np.array([1, 1, 2, 0]))  # fmt: skip
    theirs = getattr(sp, f"{format}_array")(entries, shape=(3, 3))
    ours = getattr(sparse, f"{format}_array")(entries, shape=(3, 3))
    call = {"power": lambda m: m.power(2), "abs": abs}.get(name) or (lambda m: getattr(m, name)())  # fmt: skip
    with np.errstate(all="ignore"):
        expected = call(theirs).toarray()
    np.testing.assert_array_equal(call(ours).toarray().get(), expected)


CAPTURED = {
    "A.T @ x": lambda a, x, y: a.T @ x,
    "A @ y": lambda a, x, y: a @ y,
    "x @ A": lambda a, x, y: x @ a,
    "columns": lambda a, x, y: a @ y[:, None],
    "sum(0)": lambda a, x, y: a.sum(axis=0),
    "sum(1)": lambda a, x, y: a.sum(axis=1),
}


@pytest.mark.parametrize("blocking", [True, False])
@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("name", CAPTURED)
def test_first_use_in_a_capture(form, blocking, format, name):
    """What a structure keeps is computed outside of the graph."""
    call, flags = CAPTURED[name], 0 if blocking else cuda.stream_flags.NON_BLOCKING
    host = sp.random_array((40, 30), density=0.2, format=format, rng=np.random.default_rng(1))  # fmt: skip
    stream = cuda.Stream(flags)
    a, known = (getattr(sparse, f"{format}_array")(host) for _ in range(2))
    x, y = (gpuarray.to_gpu(np.arange(n)) for n in (40.0, 30.0))
    expected = call(known, x, y).get()
    out = gpuarray.zeros(expected.shape)
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        out[...] = call(a, x, y)
    graph = recording.graph.instantiate()
    for factor in (1, 3):
        x.set(np.arange(40.0) * factor)
        y.set(np.arange(30.0) * factor)
        cuda.Context.synchronize()
        graph.launch(stream)
        stream.synchronize()
        scale = 1 if name.startswith("sum") else factor
        np.testing.assert_allclose(out.get(), expected * scale)
    np.testing.assert_allclose(call(a, x, y).get(), expected * scale)


@pytest.mark.parametrize("before", [True, False])
def test_structures_of_recorded_arrays(device, before):
    """A structure keeps nothing that depends on the work of the captured stream; the capture continues."""
    stream = cuda.Stream()
    x = gpuarray.to_gpu(np.arange(4.0))
    with stream:
        known = sparse.csr_array(np.eye(4))
    stream.synchronize()
    y = gpuarray.zeros(4)
    cuda.Context.synchronize()
    with cuda.capture(stream) as recording, stream:
        a = known if before else sparse.eye(4).copy()
        try:
            y[...] = a.T @ x
        except cuda.LogicError as error:
            assert "make the result before the capture" in str(error)
            y[...] = x
        else:
            assert before
    graph = recording.graph.instantiate()
    graph.launch(stream)
    assert y.get(stream=stream).tolist() == [0, 1, 2, 3]
    cuda.Context.synchronize()
    assert ((known.T @ x).get() == x.get()).all()


def test_an_order_that_nobody_asked_for_is_found_in_a_capture(device):
    """The order of a product by cuSPARSE is checked when it is needed, which may be in a capture."""
    matrix = sparse.csr_array(np.array([[0.0, 1, 2], [3, 0, 0]]))
    matrix._structure.order = None  # as after such a product
    with cuda.capture(cuda.Stream()):
        order = matrix._structure.is_sorted, matrix._structure.is_canonical
    assert order == (True, True)
