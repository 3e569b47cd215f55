"""softcuda's cuSPARSE: conversions, vectors and factors beside SciPy's and NumPy's."""

import ctypes
import itertools

import numpy as np
import pytest
from cusparse_calls import (
    BY_ROWS,
    close,
    code,
    descriptors_of_test,
    handle_of_library,
    matrix,
    random_numbers,
    size,
    sparse,
)
from library_calls import LETTERS, random

from pycuda import gpuarray

blas = pytest.fixture(handle_of_library)
make = pytest.fixture(descriptors_of_test)
rng = pytest.fixture(random_numbers)


@pytest.mark.parametrize("form", ["Csr", "Csc", "Coo"])
def test_dense_to_sparse_and_back(blas, make, rng, form):
    a = matrix(rng, 7, 5, np.float64).toarray()
    dense, _ = make.dense(a, BY_ROWS)
    lines = {"Csr": 8, "Csc": 6, "Coo": 0}[form]
    offsets = gpuarray.zeros(lines, np.int32) if lines else None
    types = [2] if form == "Coo" else [2, 2]
    there = make.make(
        form, 7, 5, 0, offsets, None, None, *types, 0, 1, destroy="DestroySpMat"
    )
    buffer = size(blas, "DenseToSparse_bufferSize", dense, there, 0)
    blas.DenseToSparse_analysis(dense, there, 0, buffer)
    shape = np.zeros(3, np.int64)
    make.call("SpMatGetSize", there, shape[:1], shape[1:2], shape[2:])
    wanted = sparse.csr_matrix(a).asformat(form.lower())
    assert shape[2] == wanted.nnz
    major = gpuarray.zeros(wanted.nnz, np.int32) if form == "Coo" else offsets
    minor, values = (
        gpuarray.zeros(wanted.nnz, np.int32),
        gpuarray.zeros(wanted.nnz, np.float64),
    )
    make.call(f"{form}SetPointers", there, major, minor, values)
    blas.DenseToSparse_convert(dense, there, 0, buffer)
    assert values.get().tolist() == wanted.data.tolist()
    back, result = make.dense(np.full((7, 5), 9.0))
    blas.SparseToDense(
        there, back, 0, size(blas, "SparseToDense_bufferSize", there, back, 0)
    )
    assert (result() == a).all()


def test_rows_to_columns_and_sorting(blas, rng):
    a = matrix(rng, 7, 5, np.float32)
    put = gpuarray.to_gpu
    offsets, indices, values = put(a.indptr), put(a.indices), put(a.data)
    wanted = a.tocsc()
    out = (
        gpuarray.zeros(6, np.int32),
        gpuarray.zeros(a.nnz, np.int32),
        gpuarray.zeros(a.nnz, np.float32),
    )
    call = (7, 5, a.nnz, values, offsets, indices, out[2], out[0], out[1], 0)
    blas.Csr2cscEx2(*call, 1, 0, 1, size(blas, "Csr2cscEx2_bufferSize", *call, 1, 0, 1))
    for got, expected in zip(
        out, (wanted.indptr, wanted.indices, wanted.data), strict=True
    ):
        assert (got.get() == expected).all()

    coo = a.tocoo()
    order = rng.permutation(a.nnz)
    rows, columns = put(coo.row[order]), put(coo.col[order])
    p = gpuarray.zeros(a.nnz, np.int32)
    blas.CreateIdentityPermutation(a.nnz, p)
    blas.XcoosortByRow(7, 5, a.nnz, rows, columns, p, None)
    assert (coo.data[order][p.get()] == a.data).all() and (
        columns.get() == a.indices
    ).all()
    again, back = gpuarray.zeros(8, np.int32), gpuarray.zeros(a.nnz, np.int32)
    blas.Xcoo2csr(rows, a.nnz, 7, again, 0)
    assert (again.get() == a.indptr).all()
    blas.Xcsr2coo(again, a.nnz, 7, back, 0)
    assert (back.get() == coo.row).all()

    description = ctypes.c_void_p()
    assert blas.library.cusparseCreateMatDescr(ctypes.byref(description)) == 0
    shuffled, keep = a.indices.copy(), np.arange(a.nnz)
    for begin, end in itertools.pairwise(a.indptr):
        keep[begin:end] = rng.permutation(keep[begin:end])
    there = put(shuffled[keep])
    blas.CreateIdentityPermutation(a.nnz, p)
    blas.Xcsrsort(7, 5, a.nnz, description, offsets, there, p, None)
    assert (there.get() == a.indices).all() and (
        keep[p.get()] == np.arange(a.nnz)
    ).all()

    counts, total = gpuarray.zeros(7, np.int32), np.zeros(1, np.int32)
    blas.Snnz(
        0, 7, 5, description, put(np.asfortranarray(a.toarray())), 7, counts, total
    )
    assert total[0] == a.nnz and (counts.get() == np.diff(a.indptr)).all()
    large = abs(a.data) > 0.5
    blas.Snnz_compress(
        7, description, values, offsets, counts, total, ctypes.c_float(0.5)
    )
    assert total[0] == large.sum()
    parts = (
        gpuarray.zeros(int(total[0]), np.float32),
        gpuarray.zeros(int(total[0]), np.int32),
    )
    blas.Scsr2csr_compress(
        7,
        5,
        description,
        values,
        indices,
        offsets,
        a.nnz,
        counts,
        parts[0],
        parts[1],
        again,
        ctypes.c_float(0.5),
    )
    assert (parts[0].get() == a.data[large]).all() and (
        parts[1].get() == a.indices[large]
    ).all()
    assert blas.library.cusparseDestroyMatDescr(description) == 0


@pytest.mark.parametrize("letter", LETTERS)
def test_sums_of_sparse_matrices(blas, rng, letter):
    dtype = np.dtype(LETTERS[letter])
    a, b = matrix(rng, 9, 6, dtype), matrix(rng, 9, 6, dtype)
    description = ctypes.c_void_p()
    assert blas.library.cusparseCreateMatDescr(ctypes.byref(description)) == 0
    put = gpuarray.to_gpu
    there = [
        (description, m.nnz, put(m.data), put(m.indptr), put(m.indices)) for m in (a, b)
    ]
    offsets, total = gpuarray.zeros(10, np.int32), np.zeros(1, np.int32)
    patterns = [(d, n, o, i) for d, n, _, o, i in there]
    blas.Xcsrgeam2Nnz(
        9, 6, *patterns[0], *patterns[1], description, offsets, total, None
    )
    assert total[0] == ((a != 0) + (b != 0)).nnz
    values, indices = (
        gpuarray.zeros(int(total[0]), dtype),
        gpuarray.zeros(int(total[0]), np.int32),
    )
    alpha, beta = np.array([2], dtype), np.array([-1], dtype)
    getattr(blas, f"{letter}csrgeam2")(
        9,
        6,
        alpha,
        *there[0],
        beta,
        *there[1],
        description,
        values,
        offsets,
        indices,
        None,
    )
    got = sparse.csr_matrix((values.get(), indices.get(), offsets.get()), (9, 6))
    close(got.toarray(), (2 * a - b).toarray())
    assert blas.library.cusparseDestroyMatDescr(description) == 0


@pytest.mark.parametrize("letter", LETTERS)
def test_vectors(blas, make, rng, letter):
    dtype = np.dtype(LETTERS[letter])
    places = np.array([1, 4, 7], np.int32)
    x, y = random(rng, 3, dtype), random(rng, 9, dtype)
    values = gpuarray.to_gpu(x)
    vector = make.make(
        "SpVec",
        9,
        3,
        gpuarray.to_gpu(places),
        values,
        2,
        0,
        code(dtype),
        destroy="DestroySpVec",
    )
    dense, there = make.vector(y)
    result = np.zeros(1, dtype)
    blas.SpVV(2, vector, dense, result, code(dtype), None)
    close(result[0], np.vdot(x, y[places]))
    blas.Axpby(np.array([2], dtype), vector, np.array([3], dtype), dense)
    wanted = 3 * y
    wanted[places] += 2 * x
    close(there.get(), wanted)
    blas.Gather(dense, vector)
    close(values.get(), wanted[places])
    values.fill(5)
    blas.Scatter(vector, dense)
    assert (there.get()[places] == 5).all()
    a = random(rng, (4, 9), dtype)
    out = gpuarray.zeros(4, dtype)
    getattr(blas, f"{letter}gemvi")(
        0, 4, 9, np.ones(1, dtype), gpuarray.to_gpu(np.asfortranarray(a)), 4, 3, values, gpuarray.to_gpu(places),
        np.zeros(1, dtype), out, 0, None,
    )  # fmt: skip
    close(out.get(), 5 * a[:, places].sum(1))


@pytest.mark.parametrize("letter", LETTERS)
def test_tridiagonal_equations(blas, rng, letter):
    dtype, m = np.dtype(LETTERS[letter]), 8
    lower, main, upper = (random(rng, (2, m), dtype) for _ in range(3))
    main = (main + 4).astype(dtype)
    full = [
        np.diag(d) + np.diag(low[1:], -1) + np.diag(up[:-1], 1)
        for low, d, up in zip(lower, main, upper, strict=True)
    ]
    b = random(rng, (m, 3), dtype)
    put = gpuarray.to_gpu
    for name in ("gtsv2", "gtsv2_nopivot"):
        there = put(np.asfortranarray(b))
        getattr(blas, letter + name)(
            m, 3, put(lower[0]), put(main[0]), put(upper[0]), there, m, None
        )
        close(there.get(), np.linalg.solve(full[0], b))
    x = random(rng, (2, m), dtype)
    there = put(x)
    getattr(blas, f"{letter}gtsv2StridedBatch")(
        m, put(lower), put(main), put(upper), there, 2, m, None
    )
    for i in range(2):
        close(there.get()[i], np.linalg.solve(full[i], x[i]))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(("name", "width"), [("gtsv", 1), ("gpsv", 2)])
@pytest.mark.parametrize("m", [1, 2, 9])
def test_interleaved_batches(blas, rng, letter, name, width, m):
    dtype, batch = np.dtype(LETTERS[letter]), 3
    diagonals = random(rng, (2 * width + 1, m, batch), dtype)
    diagonals[width] = 0.1  # needs row exchanges
    diagonals[width, :, 2] = 4
    full = np.zeros((batch, m, m), dtype)
    for place, diagonal in enumerate(diagonals):
        for i in range(m):
            if 0 <= (j := i + place - width) < m:
                full[:, i, j] = diagonal[i]
    x = random(rng, (m, batch), dtype)
    there, size = gpuarray.to_gpu(x), ctypes.c_size_t()
    arrays = [*map(gpuarray.to_gpu, diagonals), there]
    function = f"{letter}{name}InterleavedBatch"
    getattr(blas, f"{function}_bufferSizeExt")(0, m, *arrays, batch, size)
    assert size.value > 0
    getattr(blas, function)(0, m, *arrays, batch, None)
    for item in range(batch):
        wanted = np.linalg.solve(full[item], x[:, item])
        error = np.abs(there.get()[:, item] - wanted).max()
        condition = np.linalg.cond(full[item])
        assert error <= 20 * condition * np.finfo(dtype).eps * np.abs(wanted).max()
    assert blas.status(function, 3, m, *arrays, batch, None) == 3
    assert blas.status(function, 0, -1, *arrays, batch, None) == 3


@pytest.mark.parametrize("letter", LETTERS)
def test_incomplete_factors(blas, rng, letter):
    """Without an element that would be new, they are the factors."""
    dtype, n = np.dtype(LETTERS[letter]), 7
    band = random(rng, (n, n), dtype)
    a = np.tril(np.triu(band @ band.conj().T + n * np.eye(n), -1), 1).astype(dtype)
    description, info = ctypes.c_void_p(), ctypes.c_void_p()
    assert blas.library.cusparseCreateMatDescr(ctypes.byref(description)) == 0
    for name, wanted in (
        ("csrilu02", lambda got: (np.tril(got, -1) + np.eye(n)) @ np.triu(got)),
        ("csric02", lambda got: np.tril(got) @ np.tril(got).conj().T),
    ):
        create = getattr(blas.library, f"cusparseCreate{name.capitalize()}Info")
        assert create(ctypes.byref(info)) == 0
        compressed = sparse.csr_matrix(a)
        parts = [
            gpuarray.to_gpu(x)
            for x in (compressed.data, compressed.indptr, compressed.indices)
        ]
        call = (n, compressed.nnz, description, *parts, info)
        getattr(blas, f"{letter}{name}_analysis")(*call, 0, None)
        getattr(blas, letter + name)(*call, 0, None)
        place = np.zeros(1, np.int32)
        assert blas.status(f"X{name}_zeroPivot", info, place) == 0 and place[0] == -1
        got = sparse.csr_matrix(
            (parts[0].get(), compressed.indices, compressed.indptr)
        ).toarray()
        close(wanted(got).astype(dtype), a)
        parts[0].fill(0)
        getattr(blas, letter + name)(*call, 0, None)
        assert blas.status(f"X{name}_zeroPivot", info, place) == 9 and place[0] == 0
        assert (
            getattr(blas.library, f"cusparseDestroy{name.capitalize()}Info")(info) == 0
        )
    assert blas.library.cusparseDestroyMatDescr(description) == 0
