"""Sparse matrices compared with SciPy's, with the kernels for GPUs and those for a CPU's cores."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest
from conftest import is_softcuda
from foreign_array import ForeignArray
from marks import slow

import pycuda.driver as cuda
from pycuda import gpuarray, sparse
from pycuda.sparse import _host, _kernels, _library, _products

sp = pytest.importorskip("scipy.sparse")
pytestmark = pytest.mark.filterwarnings("error")

FORMATS = ("csr", "csc", "coo")
FLOATS = (np.float32, np.float64, np.complex64, np.complex128)
TYPES = (*FLOATS, np.int32, np.int64, np.uint8, np.bool_)


@pytest.fixture(params=["blocks", "serial", "host", "library"])
def form(device, request, monkeypatch):
    """Kernels for blocks of threads; kernels with blocks of one thread; SciPy's loops, if the memory is the host's;
    cuSPARSE, where it was found."""
    kind = request.param
    if kind != "library":
        monkeypatch.setattr(_library, "takes", lambda dtype: False)
    elif not _library.takes(np.dtype(np.float64)):
        pytest.skip("no cuSPARSE")
    monkeypatch.setattr(_library, "LEAST", 0)
    monkeypatch.setattr(_kernels, "is_serial", lambda: kind in ("serial", "host"))
    monkeypatch.setattr(_host, "FEW_CORES", 1 << 30 if kind == "host" else 0)
    return kind


def rng():
    return np.random.default_rng(3)


def numbers(shape, dtype):
    dtype = np.dtype(dtype)
    values = rng().standard_normal(shape) * 5
    if dtype.kind == "c":
        values = values + 1j * rng().standard_normal(shape)
    return (np.abs(values) if dtype.kind == "u" else values).astype(dtype)


def matrix(shape, dtype=np.float64, density=0.1, format="csr", seed=3):
    random = np.random.default_rng(seed)
    places = random.random(shape) < density
    values = np.where(places, numbers(shape, np.complex128) + seed, 0)
    values = values if np.dtype(dtype).kind == "c" else values.real
    values = abs(values) if np.dtype(dtype).kind == "u" else values
    return sp.csr_array(values.astype(dtype)).asformat(format)


def ours(theirs):
    return getattr(sparse, type(theirs).__name__)(theirs)


def host(value):
    value = value.toarray() if hasattr(value, "toarray") else value
    return value.get() if isinstance(value, gpuarray.GPUArray) else np.asarray(value)


def agree(got, expected, dtype=None):
    got, expected = host(got), host(expected)
    assert got.shape == expected.shape
    single = np.dtype(got.dtype).itemsize <= (8 if got.dtype.kind == "c" else 4)
    limit = 1e-4 if single else 1e-11
    np.testing.assert_allclose(got, expected, rtol=limit, atol=limit * (1 + float(np.abs(expected).max(initial=0))))  # fmt: skip
    if dtype is not None:
        assert got.dtype == dtype


def check(matrix):
    """The invariants of a compressed matrix, checked on the host."""
    theirs = matrix.get()
    if matrix.format != "coo":
        theirs.check_format(full_check=True)
        lists = [theirs.indices[a:b] for a, b in zip(theirs.indptr, theirs.indptr[1:], strict=False)]  # fmt: skip
        rising = all((np.diff(one) >= 0).all() for one in lists)
        assert rising or not matrix.has_sorted_indices
        distinct = all((np.diff(one) > 0).all() for one in lists)
        assert distinct or not matrix.has_canonical_format
    return matrix


# Products


@pytest.mark.parametrize("format", FORMATS)
def test_products_with_vectors_and_matrices(form, format):
    # The kernels of a GPU compile slowly for a CPU.
    few = form == "blocks" and (format != "csr" or is_softcuda())
    for dtype in (np.float32, np.complex128) if few else TYPES:
        theirs = matrix((83, 61), dtype, format=format)
        mine = ours(theirs)
        x, y = numbers(61, dtype), numbers(83, dtype)
        agree(mine @ gpuarray.to_gpu(x), theirs @ x, dtype)
        agree(gpuarray.to_gpu(y) @ mine, y @ theirs, dtype)
        agree(mine.T @ gpuarray.to_gpu(y), theirs.T @ y, dtype)
        agree(mine.dot(gpuarray.to_gpu(x)), theirs @ x)
        b = numbers((5, 83), dtype)
        agree(gpuarray.to_gpu(b) @ mine, b @ theirs, dtype)


@pytest.mark.parametrize("wide", [1, 2, 5, 8, 33, 64, 130])
def test_products_for_each_number_of_columns(form, wide):
    theirs, b = matrix((83, 61)), numbers((61, wide), np.float64)
    agree(ours(theirs) @ gpuarray.to_gpu(b), theirs @ b)


@pytest.mark.parametrize("mean", [1, 3, 7, 20, 70])
def test_products_for_each_length_of_rows(form, mean):
    lengths = rng().integers(0, 2 * mean + 1, 300)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = rng().integers(0, 500, starts[-1])
    theirs = sp.csr_array((numbers(starts[-1], np.float64), columns, starts), (300, 500))  # fmt: skip
    x = numbers(500, np.float64)
    agree(ours(theirs) @ gpuarray.to_gpu(x), theirs @ x)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("wide", [None, 3, 40])
def test_a_very_long_row_is_split(form, dtype, wide):
    long = 5_000 if form == "blocks" else 200_000
    lengths = np.zeros(500, int)
    lengths[[3, 77, 499]] = [long, 9, long - 2345]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = rng().integers(0, 900, starts[-1])
    data = numbers(starts[-1], dtype)
    mine = sparse.csr_array((data, columns, starts), (500, 900))
    assert mine._structure.long_rows().rows.get().tolist() == [3, 499]
    theirs = sp.csr_array((data.astype(np.complex128), columns, starts), (500, 900))
    x = numbers(900 if wide is None else (900, wide), dtype)
    expected = theirs @ x
    expected = expected if np.dtype(dtype).kind == "c" else expected.real
    agree(mine @ gpuarray.to_gpu(x), expected)
    with gpuarray.deterministic(True):  # else cuSPARSE may add in another order
        first = (mine @ gpuarray.to_gpu(x)).get()
        np.testing.assert_array_equal(first, (mine @ gpuarray.to_gpu(x)).get())


def test_operands_of_other_layouts_and_types(form):
    theirs = matrix((30, 40))
    mine = ours(theirs)
    x = numbers((80, 12), np.float32)
    device = gpuarray.to_gpu(x)
    agree(mine @ device[::2, 3], theirs @ x[::2, 3], np.float64)
    agree(mine @ device[::2, ::3], theirs @ x[::2, ::3])
    agree(mine @ gpuarray.to_gpu(x[:40].T.copy()).T, theirs @ x[:40])
    agree(mine @ x[:40], theirs @ x[:40])
    agree(mine @ (1j * device[:40]), theirs @ (1j * x[:40]), np.complex128)
    agree(mine.astype(np.int32) @ device[:40, 0], theirs.astype(np.int32) @ x[:40, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.complex128, np.int64, np.bool_])
def test_products_of_sparse_matrices(form, dtype):
    a, b = matrix((50, 70), dtype), matrix((70, 45), dtype, seed=5)
    for one in FORMATS:
        for other in FORMATS:
            product = ours(a.asformat(one)) @ ours(b.asformat(other))
            agree(product, a @ b, dtype)
            check(product).sort_indices()
            assert check(product).has_canonical_format
    assert (ours(a.tocsc()) @ ours(b.tocsc())).format == "csc"
    agree(ours(a) @ b, a @ b)
    agree(a @ ours(b), a @ b)


def test_a_product_in_parts(form, monkeypatch):
    monkeypatch.setattr(_products, "_LARGEST_EXPANSION", 300)
    a, b = matrix((60, 50), density=0.2), matrix((50, 80), density=0.2, seed=8)
    agree(ours(a) @ ours(b), a @ b)


def test_a_product_is_added_to_the_given_matrix(form):
    theirs = matrix((40, 30))
    x, y = numbers(30, np.float64), numbers(40, np.float64)
    out = gpuarray.to_gpu(y)
    assert ours(theirs)._times_dense(gpuarray.to_gpu(x), out) is out
    agree(out, theirs @ x + y)


# Formats


@pytest.mark.parametrize("format", FORMATS)
def test_conversions(form, format):
    for dtype in TYPES:
        theirs = matrix((37, 53), dtype)
        mine = ours(theirs)
        converted = check(mine.asformat(format))
        assert converted.format == format and converted.nnz == theirs.nnz
        agree(converted, theirs, dtype)
        agree(converted.toarray("F"), theirs.toarray())
        for other in FORMATS:
            agree(check(converted.asformat(other)), theirs)
        assert isinstance(converted.get(), getattr(sp, f"{format}_array"))
        dense = type(converted)(gpuarray.to_gpu(theirs.toarray()))
        agree(dense, theirs, dtype)
        assert dense.nnz == theirs.nnz


def test_duplicates_and_unsorted_coordinates(form):
    rows = rng().integers(0, 20, 500)
    columns = rng().integers(0, 30, 500)
    data = numbers(500, np.float64)
    theirs = sp.coo_array((data, (rows, columns)), (20, 30))
    mine = sparse.coo_array(theirs)
    np.testing.assert_array_equal(mine.row.get(), rows)
    mine = sparse.coo_array((data, (rows, columns)), (20, 30))
    assert mine.nnz == 500 and not mine.has_canonical_format
    x = numbers(30, np.float64)
    agree(mine @ x, theirs @ x)
    agree(mine, theirs)
    converted = check(mine.tocsr())
    assert converted.nnz == theirs.tocsr().nnz and converted.has_canonical_format
    agree(check(mine.tocsc()), theirs)
    agree(mine + mine, theirs + theirs)
    mine.sum_duplicates()
    assert mine.has_canonical_format and mine.nnz == converted.nnz
    agree(mine, theirs)


def test_unsorted_rows_with_duplicates(form):
    starts = np.array([0, 4, 4, 9])
    columns = np.array([5, 1, 5, 0, 3, 3, 2, 1, 3])
    data = np.arange(1.0, 10)
    theirs = sp.csr_array((data, columns, starts), (3, 6))
    mine = sparse.csr_array((data, columns, starts), (3, 6))
    assert not mine.has_sorted_indices
    x = numbers(6, np.float64)
    agree(mine @ x, theirs @ x)
    agree(mine.T @ numbers(3, np.float64), theirs.T @ numbers(3, np.float64))
    agree(mine.diagonal(), theirs.diagonal())
    agree(mine[0, 5], 4.0)
    agree(mine.multiply(mine), theirs.multiply(theirs))
    agree(check(mine.tocsc()), theirs)
    ordered = check(mine.sorted_indices())
    assert ordered.has_sorted_indices and ordered.nnz == 9
    assert ordered.data.get()[:4].tolist() == [
        4,
        2,
        1,
        3,
    ]  # equal ones keep their order
    mine.sum_duplicates()
    assert check(mine).nnz == 6
    agree(mine, theirs)


def test_zeros_are_dropped_on_request(form):
    for format in FORMATS:
        theirs = matrix((20, 30)).asformat(format)
        theirs.data[::3] = 0
        mine = ours(theirs)
        mine.eliminate_zeros()
        theirs.eliminate_zeros()
        assert mine.nnz == theirs.nnz == mine.count_nonzero()
        agree(check(mine), theirs)


@pytest.mark.parametrize("shape", [(0, 0), (0, 5), (5, 0), (4, 6)])
@pytest.mark.parametrize("format", FORMATS)
def test_matrices_without_elements(form, shape, format):
    mine = getattr(sparse, f"{format}_array")(shape, dtype=np.float32)
    assert mine.nnz == 0 and mine.dtype == np.float32 and mine.shape == shape
    dense = np.zeros(shape, np.float32)
    agree(mine, dense)
    agree(mine @ np.ones(shape[1], np.float32), np.zeros(shape[0]))
    agree(mine @ np.ones((shape[1], 3), np.float32), np.zeros((shape[0], 3)))
    agree(mine + mine, dense)
    agree(mine.multiply(mine), dense)
    agree(mine @ mine.T, dense @ dense.T)
    agree(mine.sum(0), dense.sum(0))
    agree(mine.sum(1), dense.sum(1))
    agree(mine.sum(), 0)
    agree(3 * mine, dense)
    agree(mine.T, dense.T)
    for other in FORMATS:
        agree(check(mine.asformat(other)), dense)
    mine.eliminate_zeros()
    mine.sum_duplicates()
    agree(mine.copy(), dense)
    agree(getattr(sparse, f"{format}_array")(gpuarray.to_gpu(dense)), dense)
    if format != "coo":
        agree(mine[: shape[0] // 2, 1:], dense[: shape[0] // 2, 1:])
        agree(mine[[]], dense[[]])


def test_inputs_of_constructors(device):
    theirs = matrix((20, 30), np.float32)
    mine = sparse.csr_array(theirs)
    for cls in (sparse.csr_array, sparse.csc_array, sparse.coo_array):
        agree(cls(theirs), theirs, np.float32)
        agree(cls(mine), theirs)
        agree(cls(theirs.toarray()), theirs)
        agree(cls(theirs.toarray().tolist(), dtype=np.float32), theirs, np.float32)
        agree(cls(sp.csc_matrix(theirs), dtype=np.float64), theirs, np.float64)
    agree(sparse.csc_array((theirs.data, theirs.indices, theirs.indptr), (30, 20)), theirs.T)  # fmt: skip
    wide = (theirs.data, theirs.indices.astype(np.int64), theirs.indptr.astype(np.uint64))  # fmt: skip
    agree(sparse.csr_array(wide, (20, 30)), theirs)
    on_device = tuple(gpuarray.to_gpu(one) for one in wide)
    agree(sparse.csr_array(on_device, (20, 30)), theirs)
    shared = sparse.csr_array((on_device[0], *wide[1:]), (20, 30))
    assert shared.data is on_device[0]
    assert sparse.csr_array((on_device[0], *wide[1:]), (20, 30), copy=True).data is not on_device[0]  # fmt: skip
    rows = theirs.tocoo()
    assert sparse.coo_array((rows.data, (rows.row, rows.col))).shape == (rows.row.max() + 1, rows.col.max() + 1)  # fmt: skip


def test_a_matrix_of_another_package_on_the_device(device):
    """Like CuPy's: arrays with __cuda_array_interface__."""

    class Foreign:
        def __init__(self, theirs):
            self.shape, self.nnz = theirs.shape, theirs.nnz
            self.data, self.indices, self.indptr = (
                ForeignArray(one) for one in (theirs.data, theirs.indices, theirs.indptr)
            )  # fmt: skip

        def tocsr(self):
            return self

    theirs = matrix((20, 30))
    agree(sparse.csr_array(Foreign(theirs)), theirs)
    agree(sparse.coo_array(Foreign(theirs)), theirs)
    agree(sparse.csr_array(theirs) + Foreign(theirs), 2 * theirs.toarray())
    x = numbers(30, np.float64)
    agree(sparse.csr_array(theirs) @ ForeignArray(x), theirs @ x)
    arrays = tuple(ForeignArray(one) for one in (theirs.data, theirs.indices, theirs.indptr))  # fmt: skip
    with pytest.raises(ValueError, match="integers"):
        sparse.csr_array((arrays[0], arrays[0], arrays[2]))


# Elements


@pytest.mark.parametrize("dtype", [np.float32, np.int32, *slow([np.float64, np.complex64])])  # fmt: skip
def test_sums_and_products_of_elements(form, dtype):
    a, b = matrix((40, 33), dtype), matrix((40, 33), dtype, seed=6)
    for one in FORMATS:
        for other in FORMATS:
            x, y = ours(a.asformat(one)), ours(b.asformat(other))
            agree(check(x + y), a + b, dtype)
            agree(check(x - y), a - b, dtype)
            agree(check(x.multiply(y)), a.multiply(b), dtype)
            agree(x * y, a.multiply(b))
            assert (x != x.copy()).nnz == 0
            agree(x != y, a != b, np.bool_)
            if np.dtype(dtype).kind != "c":
                agree(x.maximum(y), a.maximum(b), dtype)
                agree(x.minimum(y), a.minimum(b), dtype)
                agree(x < y, a < b)
                agree(x > y, a > b)
    agree(ours(a) + b.astype(np.complex128), a + b.astype(np.complex128), np.complex128)
    agree(a + ours(b), a + b)
    agree(a - ours(b), a - b)


def test_a_sum_of_an_uneven_matrix(form):
    a = sp.lil_array((50, 3000))
    a[7] = 1
    a[:, 5] = 2
    a, b = a.tocsr(), matrix((50, 3000), density=0.01)
    agree(check(ours(a) + ours(b)), a + b)


def test_numbers_and_dense_arrays(form):
    a = matrix((20, 30))
    dense = numbers((20, 30), np.float64)
    mine, device = ours(a), gpuarray.to_gpu(dense)
    agree(mine * 3, a * 3)
    agree(np.float64(3) * mine, a * 3)
    agree(2j * mine, 2j * a)
    agree(mine / 4, a / 4)
    agree(-mine, -a)
    agree(abs(mine), abs(a))
    agree(mine**2, a.power(2))
    agree(mine.astype(np.float32), a, np.float32)
    agree(mine.astype(np.complex64).conj(), a, np.complex64)
    agree((1j * mine).conj(), -1j * a)
    agree((1j * mine).H, -1j * a.T)
    agree((2j * mine).imag, 2 * a)
    agree(mine + device, a + dense)
    agree(device - mine, dense - a)
    agree(mine.multiply(device), a.multiply(dense))
    agree(device * mine, a.multiply(dense))
    agree(mine * dense[:1], a.multiply(dense[:1]))
    agree(mine * dense[:, :1], a.multiply(dense[:, :1]))
    agree(mine.tanh(), np.tanh(a.toarray()))
    agree(mine.maximum(0), a.maximum(0))
    agree(mine.minimum(0), a.minimum(0))
    agree(mine + 0, a)
    agree(0 - mine, -a)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint8, np.complex128])
def test_reductions(form, format, dtype):
    theirs = matrix((20, 30), dtype, format=format)
    mine = ours(theirs)
    agree(mine.sum(), theirs.sum())
    agree(mine.mean(), theirs.toarray().mean())
    for axis in (0, 1, -1, -2):
        expected = theirs.toarray().sum(axis)
        agree(mine.sum(axis), expected, expected.dtype)
        agree(mine.mean(axis), theirs.toarray().mean(axis))
    for k in (-19, -3, 0, 4, 29):
        agree(mine.diagonal(k), theirs.diagonal(k), dtype)
    agree(mine.trace(), theirs.diagonal().sum())
    as_matrix = getattr(sparse, f"{format}_matrix")(theirs)
    assert as_matrix.sum(0).shape == (1, 30) and as_matrix.sum(1).shape == (20, 1)


def test_matrices_multiply_where_arrays_multiply_elements(device):
    theirs = sp.csr_matrix(matrix((12, 12)))
    mine = ours(theirs)
    assert isinstance(mine, sparse.csr_matrix)
    agree(mine * mine, (theirs * theirs).toarray())
    agree(mine**3, (theirs**3).toarray())
    agree(mine**0, np.eye(12))
    x = numbers(12, np.float64)
    agree(mine * x, theirs * x)
    agree(gpuarray.to_gpu(x) * mine, x * theirs)
    agree(2 * mine, (2 * theirs).toarray())
    for result in (mine.T, mine.tocoo(), mine + mine, mine @ mine, mine[2:4], mine.copy()):  # fmt: skip
        assert result._is_matrix
    assert isinstance(mine.tocoo().get(), sp.coo_matrix)


# Parts


@pytest.mark.parametrize("format", ["csr", "csc"])
def test_rows_columns_and_elements(form, format):
    theirs = matrix((20, 30), density=0.3)
    mine = ours(theirs).asformat(format)
    dense = theirs.toarray()
    mask = rng().random(20) < 0.4
    indices = [
        slice(3, 9), slice(None), slice(None, None, -1), slice(15, 2, -3), slice(9, 3),
        [3, 1, 3, -1], np.array([], int), mask, gpuarray.to_gpu(np.int64([5, 0])),
    ]  # fmt: skip
    for index in indices:
        on_host = index.get() if isinstance(index, gpuarray.GPUArray) else index
        part = check(mine[index])
        assert part.format == format
        agree(part, dense[on_host])
        if not isinstance(index, np.ndarray) or index.dtype != bool:
            agree(check(mine[:, index]), dense[:, on_host])
            agree(check(mine[2:17, index]), dense[2:17][:, on_host])
    agree(mine[4], dense[4:5])
    agree(mine[-1, :], dense[-1:])
    agree(mine[:, 7], dense[:, 7:8])
    agree(mine.getrow(2), dense[2:3])
    agree(mine.getcol(-2), dense[:, -2:-1])
    for row in range(20):
        agree(mine[row, row + 5], dense[row, row + 5])
    agree(mine[[1, 2, -1], [4, 5, 6]], dense[[1, 2, -1], [4, 5, 6]])
    agree(next(iter(mine)), dense[:1])
    for wrong in (20, -21, [0, 20], np.zeros(3, bool), [0.5], [[1]]):
        with pytest.raises(IndexError):
            mine[wrong]
    with pytest.raises(IndexError, match="out of bounds"):
        mine[0, 30]
    part = mine[3:9]
    part.data.fill(0)
    agree(mine, dense)


# Shared structures


def test_transposing_finds_the_order_once(form):
    mine = ours(matrix((40, 30)))
    assert mine.T.T.indices is mine.indices
    found = mine._structure.transposed()
    mine.T @ numbers(40, np.float64)
    assert (2 * mine).T._structure is mine._structure
    assert mine._structure.transposed() is found
    mine.data[...] = 0  # the order is cached, the elements are not
    agree(mine.T @ numbers(40, np.float64), np.zeros(30))


def test_a_copy_has_its_own_memory(device):
    for format in FORMATS:
        mine = ours(matrix((10, 10), format=format))
        before = host(mine)
        other = mine.copy()
        other.data.fill(7)
        (other.row if format == "coo" else other.indices).fill(0)
        agree(mine, before)


def test_pickles(form):
    for format in FORMATS:
        mine = ours(matrix((10, 10), format=format))
        expected = host(mine.T @ np.ones(10))
        for other in (pickle.loads(pickle.dumps(mine)), copy.deepcopy(mine)):
            assert type(other) is type(mine)
            agree(other, host(mine))
            agree(other.T @ np.ones(10), expected)
            other.data.fill(7)
        agree(mine.T @ np.ones(10), expected)


def test_new_elements_are_assigned(device):
    mine = ours(matrix((10, 10)))
    mine.data = np.arange(mine.nnz, dtype=np.float32)
    assert mine.dtype == np.float32 and mine.data.get()[2] == 2
    with pytest.raises(ValueError, match="data must have shape"):
        mine.data = np.zeros(mine.nnz + 1)


# Streams and threads


@pytest.mark.parametrize("format", FORMATS)
def test_work_is_done_in_the_current_stream(form, format):
    theirs = matrix((60, 50), format=format)
    operations = (
        lambda a, x: a @ x, lambda a, x: a.T.T @ x[:, None], lambda a, x: (a + a).toarray(),
        lambda a, x: (a @ a.T).toarray(), lambda a, x: a.tocsc().tocsr()[3:9].toarray(), lambda a, x: a.sum(0),
    )  # fmt: skip
    x = numbers(50, np.float64)
    for operation in operations:
        expected = host(operation(ours(theirs), gpuarray.to_gpu(x)))
        stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
        mine, late = ours(theirs), gpuarray.zeros(50, np.float64)
        data, source = mine.data, gpuarray.to_gpu(theirs.data)
        mine.data = gpuarray.zeros(data.size, data.dtype)
        cuda.Context.synchronize()
        cuda.launch_host_func(lambda: time.sleep(0.03), stream)
        with stream:
            late[...] = gpuarray.to_gpu(x)
            mine.data[...] = source
            result = host(operation(mine, late))
        agree(result, expected)
        stream.synchronize()


@pytest.mark.parametrize("format", FORMATS)
def test_cached_results_are_ready_for_other_streams(form, format):
    """The order of the elements is computed in one stream, and used in another one."""
    theirs = matrix((50, 50)).tocoo()  # too few elements for a long row
    order = rng().permutation(theirs.nnz)
    theirs = sp.coo_array((theirs.data[order], (theirs.row[order], theirs.col[order])), (50, 50))  # fmt: skip
    mine, x = ours(theirs).asformat(format), gpuarray.to_gpu(numbers(50, np.float64))
    expected = theirs.T @ x.get()
    ours(theirs).asformat(format).T @ x  # compiles the kernels
    first, second = (cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING) for _ in range(2))  # fmt: skip
    cuda.Context.synchronize()
    cuda.launch_host_func(lambda: time.sleep(0.05), first)
    with first:
        kept = mine.T @ x
    with second:
        agree((mine.T @ x).get(), expected)
    first.synchronize()
    agree(kept, expected)


def test_a_copy_to_the_host_in_a_stream(device):
    theirs = matrix((30, 20))
    for format in FORMATS:
        mine, source = ours(theirs.asformat(format)), gpuarray.to_gpu(numbers(theirs.nnz, np.float64))  # fmt: skip
        stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING)
        cuda.Context.synchronize()
        cuda.launch_host_func(lambda: time.sleep(0.03), stream)
        cuda.memcpy_dtod_async(mine.data.gpudata, source.gpudata, source.nbytes, stream)
        np.testing.assert_array_equal(mine.get(stream).data, source.get())


def test_threads_share_a_matrix(device):
    theirs = matrix((200, 200))
    mine, x = ours(theirs), numbers(200, np.float64)
    context, wrong = cuda.Context.get_current(), []

    def run():
        with context:
            for _ in range(10):
                if not np.allclose((mine.T @ x).get(), theirs.T @ x):
                    wrong.append("a product")

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
