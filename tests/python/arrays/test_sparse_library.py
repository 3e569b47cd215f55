"""Sparse matrices with cuSPARSE: NVIDIA's on a GPU, softcuda's where PYCUDA_LIBRARIES names its folder."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import is_softcuda
from test_sparse import FLOATS, agree, check, matrix, ours, rng

from pycuda import _driver, gpuarray, sparse
from pycuda.sparse import _library
from pycuda.sparse._structure import Structure

sp = pytest.importorskip("scipy.sparse")
pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.usefixtures("device"),
]


@pytest.fixture(params=["library", "own"])
def library(request, device, monkeypatch):
    """Whether cuSPARSE is used, also for small matrices."""
    used = request.param == "library"
    if used and not _library.takes(np.dtype(np.float64)):
        pytest.skip("no cuSPARSE")
    monkeypatch.setattr(_library, "LEAST", 0 if used else 1 << 40)
    if not used:
        monkeypatch.setattr(_library, "takes", lambda dtype: False)
    return used


def test_with_cusparse_of_softcuda():
    """Runs these tests and those of sparse matrices with the library that computes on softcuda's memory."""
    softcuda_libraries = pytest.importorskip("softcuda_libraries")
    if not is_softcuda() or _library.takes(np.dtype(np.float64)):
        pytest.skip("on a GPU, the tests use NVIDIA's library")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider",
         "-k", "library",
         __file__, str(Path(__file__).with_name("test_sparse.py"))],
        env={**os.environ, "PYCUDA_LIBRARIES": softcuda_libraries.FOLDER},
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert " passed" in done.stdout


def _calls_of_library(monkeypatch):
    called = []
    for name in ("times_vector", "times_sparse", "transpose"):
        own = getattr(_driver, f"_sparse_{name}")

        def call(*args, name=name, own=own):
            called.append(name)
            return own(*args)

        monkeypatch.setattr(_driver, f"_sparse_{name}", call)
    return called


def test_the_library_has_what_it_is_quicker_for(library, monkeypatch):
    if not library:
        pytest.skip("for cuSPARSE")
    called = _calls_of_library(monkeypatch)
    for dtype in FLOATS:
        a = ours(matrix((30, 20), dtype))
        a.tocsc() @ gpuarray.ones(20, dtype)
        a @ gpuarray.ones(20, dtype)
        a @ a.T
        expected = ["transpose", "times_vector", *["times_vector"] * (dtype != np.float32), "transpose", "times_sparse"]  # fmt: skip
        assert called == expected
        called.clear()
        with gpuarray.deterministic(True):
            assert (a @ a.T).shape == (30, 30)
            a @ gpuarray.ones(20, dtype)
        assert "times_sparse" not in called and "times_vector" not in called
        called.clear()
    ours(matrix((30, 20), np.int32)).tocsc()
    assert not called


def test_a_product_without_common_elements(library):
    a = sp.csr_array((np.ones(2), np.int32([0, 1]), np.int32([0, 1, 2])), shape=(2, 4))
    b = sp.csr_array((np.ones(2), np.int32([0, 1]), np.int32([0, 0, 0, 1, 2])), shape=(4, 5))  # fmt: skip
    product = check(ours(a) @ ours(b))
    assert product.nnz == 0 and product.shape == (2, 5)
    agree(product, (a @ b).toarray())


def test_parts_of_arrays_as_elements(library):
    theirs = matrix((40, 30), np.float64)
    every = gpuarray.to_gpu(np.repeat(theirs.data, 2))[::2]
    mine = sparse.csr_array((every, theirs.indices, theirs.indptr), shape=theirs.shape)
    x = rng().standard_normal(60)[::2]
    agree(mine @ gpuarray.to_gpu(np.repeat(x, 2))[::2], theirs @ x)
    agree(check(mine.tocsc()), theirs)
    agree(check(mine @ mine.T), theirs @ theirs.T)


def test_what_cusparse_does_not_take():
    x = gpuarray.zeros(3, np.float64)
    if not _driver._sparse_takes(np.dtype(np.float64)):
        with pytest.raises(TypeError, match="cuSPARSE is not available for float64"):
            _driver._sparse_times_vector(x, x, x, 3, False, x, x, False)
        return
    with pytest.raises(ValueError, match="does not fit the other operands"):
        _driver._sparse_times_vector(x, x, x, 3, False, x, x, False)
    assert not _driver._sparse_takes(np.dtype(np.int32))


@pytest.mark.parametrize(
    ("columns", "is_sorted", "is_canonical"),
    [([0, 2, 1], True, True), ([2, 0, 1], False, False), ([1, 1, 0], True, False)],
)
def test_the_order_of_elements_may_be_unknown(
    library, columns, is_sorted, is_canonical
):
    """As after a product by cuSPARSE, whose result nobody has read."""
    starts = np.int32([0, 2, 3])
    theirs = sp.csr_array((np.float64([1, 2, 3]), np.int32(columns), starts), (2, 3))
    known = ours(theirs)

    def unknown():
        structure = Structure(known.indptr, known.indices, 2, 3, None)
        return sparse.csr_array._of(structure, known.data)

    for made in unknown(), unknown().copy(), pickle.loads(pickle.dumps(unknown())):
        assert made.has_sorted_indices is is_sorted
        assert made.has_canonical_format is is_canonical
    agree(unknown() @ unknown().T, theirs @ theirs.T)
    agree(unknown()[:1], theirs[:1])
    summed = unknown()
    summed.sum_duplicates()
    assert summed.has_canonical_format
    assert summed.nnz == 3 - (is_sorted and not is_canonical)
