"""softcuda's cuSPARSE: products and solutions beside SciPy's and NumPy's."""

import ctypes
import itertools

import numpy as np
import pytest
from cusparse_calls import (
    BY_COLUMNS,
    BY_ROWS,
    DEVICE,
    close,
    code,
    descriptors_of_test,
    handle_of_library,
    matrix,
    operation,
    random_numbers,
    size,
    sparse,
)
from library_calls import LETTERS, capture, random, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

blas = pytest.fixture(handle_of_library)
make = pytest.fixture(descriptors_of_test)
rng = pytest.fixture(random_numbers)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    "form, index, base",
    [("Csr", "i4", 0), ("Csc", "i8", 1), ("Coo", "i4", 1), ("Csr", "i8", 0)],
)
def test_products_with_vectors_and_matrices(blas, make, rng, letter, form, index, base):
    dtype = np.dtype(LETTERS[letter])
    a = matrix(rng, 13, 9, dtype)
    there, _ = make.matrix(a, form, index, base)
    alpha, beta = np.array([2.5], dtype), np.array([-0.5], dtype)
    for op in (0, 1, 2):
        of = operation(a.toarray(), op)
        x, y = random(rng, of.shape[1], dtype), random(rng, of.shape[0], dtype)
        (one, _), (other, result) = make.vector(x), make.vector(y)
        call = (op, alpha, there, one, beta, other, code(dtype), 0)
        buffer = size(blas, "SpMV_bufferSize", *call)
        blas.SpMV_preprocess(*call, buffer)
        blas.SpMV(*call, buffer)
        close(result.get(), 2.5 * (of @ x) - 0.5 * y)
        for op_b, order_b, order_c in itertools.product(
            (0, 1, 2), (BY_COLUMNS, BY_ROWS), (BY_COLUMNS, BY_ROWS)
        ):
            b, c = (
                random(rng, (of.shape[1], 4), dtype),
                random(rng, (of.shape[0], 4), dtype),
            )
            one, _ = make.dense(operation(b, op_b), order_b)
            other, result = make.dense(c, order_c)
            call = (op, op_b, alpha, there, one, beta, other, code(dtype), 0)
            blas.SpMM(*call, size(blas, "SpMM_bufferSize", *call))
            close(result(), 2.5 * (of @ b) - 0.5 * c)


def test_a_result_that_is_no_number_is_replaced(blas, make, rng):
    a = matrix(rng, 5, 5, np.float32)
    there, _ = make.matrix(a)
    one, _ = make.vector(np.ones(5, np.float32))
    other, result = make.vector(np.full(5, np.nan, np.float32))
    blas.SpMV(
        0,
        np.ones(1, np.float32),
        there,
        one,
        np.zeros(1, np.float32),
        other,
        0,
        0,
        None,
    )
    close(result.get(), a @ np.ones(5, np.float32))


def test_scalars_on_the_device_and_captures(blas, make, rng):
    a = matrix(rng, 6, 6, np.float64)
    there, _ = make.matrix(a)
    x = rng.standard_normal(6)
    (one, _), (other, result) = make.vector(x), make.vector(np.zeros(6))
    alpha, beta = gpuarray.to_gpu(np.ones(1)), gpuarray.to_gpu(np.ones(1))
    blas.SetPointerMode(DEVICE)
    call = (0, alpha, there, one, beta, other, 1, 0, None)
    stream = cuda.Stream()
    blas.SetStream(ctypes.c_void_p(stream.handle))
    graph = capture(stream, lambda: blas.SpMV(*call)).instantiate()
    assert (result.get() == 0).all()
    for _ in range(3):
        graph.launch()
    synchronize()
    close(result.get(), 3 * (a @ x))
    alpha.fill(2)
    graph.launch()
    synchronize()
    close(result.get(), 5 * (a @ x))


@pytest.mark.parametrize(
    "value, compute", [("f2", 0), ("i1", 10), ("i1", 0), ("f4", 4)]
)
def test_mixed_types(blas, make, rng, value, compute):
    dtype = np.dtype(value)
    a = rng.integers(-3, 4, (7, 6)).astype(dtype)
    result = {0: np.float32, 10: np.int32, 4: np.complex64}[compute]
    there, _ = make.matrix(
        sparse.csr_matrix(a.astype("f8")).astype(dtype) if value != "f2" else half(a)
    )
    x = rng.integers(-3, 4, 6).astype(np.complex64 if compute == 4 else dtype)
    (one, _), (other, y) = make.vector(x), make.vector(np.zeros(7, result))
    scalars = np.array([1], result), np.array([0], result)
    blas.SpMV(0, scalars[0], there, one, scalars[1], other, compute, 0, None)
    np.testing.assert_array_equal(
        y.get(), a.astype("f8") @ x.astype(np.result_type(x, "f8"))
    )


def half(a):
    """A matrix of half precision, which SciPy does not make itself."""
    made = sparse.csr_matrix(a.astype("f4"))
    made.data = made.data.astype("f2")
    return made


def test_batches(blas, make, rng):
    a = matrix(rng, 8, 8, np.float32)
    there, (_, _, values) = make.matrix(a)
    several = gpuarray.to_gpu(np.concatenate([a.data, 2 * a.data, 3 * a.data]))
    make.call("SpMatSetValues", there, several)
    indices = gpuarray.to_gpu(np.tile(a.indices, 3))
    offsets = gpuarray.to_gpu(np.tile(a.indptr, 3))
    make.call("CsrSetPointers", there, offsets, indices, several)
    make.call("CsrSetStridedBatch", there, 3, 9, a.nnz)
    b = random(rng, (3, 8, 2), np.float32)
    one, _ = make.dense(b[0], BY_ROWS)
    other, _ = make.dense(np.zeros((8, 2), np.float32), BY_ROWS)
    all_b, all_c = gpuarray.to_gpu(b), gpuarray.zeros((3, 8, 2), np.float32)
    for matrices, values in ((one, all_b), (other, all_c)):
        make.call("DnMatSetValues", matrices, values)
        make.call("DnMatSetStridedBatch", matrices, 3, 16)
    blas.SpMM(0, 0, np.ones(1, "f4"), there, one, np.zeros(1, "f4"), other, 0, 0, None)
    for i in range(3):
        close(all_c.get()[i], (i + 1) * (a @ b[i]))


def test_blocks(blas, make, rng):
    blocks = sparse.random(4, 3, 0.5, random_state=4, format="csr")
    values = random(rng, (blocks.nnz, 2, 3), np.float64)
    a = sparse.bsr_matrix((values, blocks.indices, blocks.indptr), shape=(8, 9))
    x = random(rng, 9, np.float64)
    for order in (BY_ROWS, BY_COLUMNS):
        stored = (
            values if order == BY_ROWS else np.ascontiguousarray(values.swapaxes(1, 2))
        )
        there = make.make(
            "Bsr", 4, 3, blocks.nnz, 2, 3, gpuarray.to_gpu(blocks.indptr), gpuarray.to_gpu(blocks.indices),
            gpuarray.to_gpu(stored), 2, 2, 0, 1, order, destroy="DestroySpMat",
        )  # fmt: skip
        (one, _), (other, y) = make.vector(x), make.vector(np.zeros(8))
        blas.SpMV(0, np.ones(1), there, one, np.zeros(1), other, 1, 0, None)
        close(y.get(), a @ x)


@pytest.mark.parametrize("letter", LETTERS)
def test_samples_of_a_dense_product(blas, make, rng, letter):
    dtype = np.dtype(LETTERS[letter])
    for form, op_a, op_b in itertools.product(("Csr", "Csc", "Coo"), (0, 1), (0, 2)):
        c = matrix(rng, 6, 7, dtype)
        a, b = random(rng, (6, 5), dtype), random(rng, (5, 7), dtype)
        there, (_, _, values) = make.matrix(c, form)
        one, _ = make.dense(operation(a, op_a))
        other, _ = make.dense(operation(b, op_b), BY_ROWS)
        call = (
            op_a,
            op_b,
            np.array([2], dtype),
            one,
            other,
            np.array([3], dtype),
            there,
            code(dtype),
            0,
        )
        blas.SDDMM(*call, size(blas, "SDDMM_bufferSize", *call))
        wanted = sparse.csr_matrix(
            (2 * (a @ b) + 3 * c.toarray()) * (c.toarray() != 0)
        ).asformat(form.lower())
        close(values.get(), wanted.data)


@pytest.mark.parametrize("letter", LETTERS)
def test_products_of_sparse_matrices(blas, make, rng, letter):
    dtype = np.dtype(LETTERS[letter])
    a, b = matrix(rng, 12, 8, dtype), matrix(rng, 8, 10, dtype)
    (one, _), (other, (_, _, values_of_b)) = make.matrix(a), make.matrix(b)
    offsets = gpuarray.zeros(13, np.int32)
    there = make.make(
        "Csr",
        12,
        10,
        0,
        offsets,
        None,
        None,
        2,
        2,
        0,
        code(dtype),
        destroy="DestroySpMat",
    )
    descriptor = make.new("SpGEMM_createDescr")
    scalars = np.array([1.5], dtype), np.zeros(1, dtype)
    call = (0, 0, scalars[0], one, other, scalars[1], there, code(dtype), 0, descriptor)
    for name in ("SpGEMM_workEstimation", "SpGEMM_compute"):
        wanted = np.zeros(1, np.uint64)
        getattr(blas, name)(*call, wanted, None)
        getattr(blas, name)(*call, wanted, gpuarray.zeros(int(wanted[0]), np.uint8))
    shape = np.zeros(3, np.int64)
    make.call("SpMatGetSize", there, shape[:1], shape[1:2], shape[2:])
    product = (a @ b).sorted_indices()
    assert shape.tolist() == [12, 10, product.nnz]
    number = np.zeros(1, np.int64)
    make.call("SpGEMM_getNumProducts", descriptor, number)
    assert number[0] == ((a != 0).astype(int) @ (b != 0).astype(int)).sum()
    indices, values = (
        gpuarray.zeros(product.nnz, np.int32),
        gpuarray.zeros(product.nnz, dtype),
    )
    make.call("CsrSetPointers", there, offsets, indices, values)
    blas.SpGEMM_copy(*call)
    got = sparse.csr_matrix((values.get(), indices.get(), offsets.get()), (12, 10))
    close(got.toarray(), 1.5 * product.toarray())

    # The same pattern with other values.
    reuse = (0, 0, one, other, there, 0, descriptor)
    sizes = [np.zeros(1, np.uint64) for _ in range(3)]
    blas.SpGEMMreuse_workEstimation(*reuse, sizes[0], None)
    buffer = gpuarray.zeros(8, np.uint8)
    blas.SpGEMMreuse_nnz(*reuse, sizes[0], buffer, sizes[1], buffer, sizes[2], buffer)
    indices.fill(0)
    blas.SpGEMMreuse_copy(*reuse, sizes[0], buffer)
    assert indices.get().tolist() == product.indices.tolist()
    values_of_b *= dtype.type(2)
    blas.SpGEMMreuse_compute(*call)
    close(values.get(), 3 * product.data)
    make.call("SpGEMM_destroyDescr", descriptor)


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(
    "lower, unit", list(itertools.product((True, False), repeat=2))
)
def test_triangular_equations(blas, make, rng, letter, lower, unit):
    dtype = np.dtype(LETTERS[letter])
    a = random(rng, (9, 9), dtype) / 9 + 2 * np.eye(9, dtype=dtype)
    triangle = np.tril(a) if lower else np.triu(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    there, (_, _, values) = make.matrix(
        sparse.csr_matrix(a), "Csr"
    )  # the other triangle is not read
    make.call("SpMatSetAttribute", there, 0, np.array([0 if lower else 1], np.int32), 4)
    make.call("SpMatSetAttribute", there, 1, np.array([1 if unit else 0], np.int32), 4)
    alpha = np.array([2], dtype)
    for op in (0, 1, 2):
        x = random(rng, 9, dtype)
        (one, _), (other, y) = make.vector(x), make.vector(np.zeros(9, dtype))
        descriptor = make.new("SpSV_createDescr")
        call = (op, alpha, there, one, other, code(dtype), 0, descriptor)
        blas.SpSV_analysis(*call, size(blas, "SpSV_bufferSize", *call))
        blas.SpSV_solve(*call)
        close(y.get(), np.linalg.solve(operation(triangle, op), 2 * x))
        if not unit:
            blas.SpSV_updateMatrix(descriptor, gpuarray.to_gpu(values.get() * 2), 0)
            blas.SpSV_solve(*call)
            close(y.get(), np.linalg.solve(operation(triangle, op), x))
        make.call("SpSV_destroyDescr", descriptor)
        b = random(rng, (9, 3), dtype)
        one, _ = make.dense(b.T, BY_ROWS)
        other, result = make.dense(np.zeros((9, 3), dtype))
        descriptor = make.new("SpSM_createDescr")
        call = (op, 1, alpha, there, one, other, code(dtype), 0, descriptor)
        blas.SpSM_analysis(*call, size(blas, "SpSM_bufferSize", *call))
        blas.SpSM_solve(*call)
        close(result(), np.linalg.solve(operation(triangle, op), 2 * b))
        make.call("SpSM_destroyDescr", descriptor)


def test_wrong_arguments(blas, make, rng, capfd):
    a = matrix(rng, 4, 4, np.float32)
    there, _ = make.matrix(a)
    one, _ = make.vector(np.ones(5, np.float32))
    other, _ = make.vector(np.ones(4, np.float32))
    scalar = np.ones(1, np.float32)
    assert (
        blas.status("SpMV", 0, scalar, there, one, scalar, other, 0, 0, None) == 3
    )  # a shape
    assert (
        blas.status("SpMV", 5, scalar, there, other, scalar, other, 0, 0, None) == 3
    )  # an operation
    assert (
        blas.status("SpMV", 0, scalar, None, other, scalar, other, 0, 0, None) == 3
    )  # no descriptor
    assert (
        blas.status("SpMV", 0, scalar, there, other, scalar, other, 99, 0, None) == 10
    )  # a type
    short = make.make(
        "DnVec", 400, gpuarray.zeros(4, np.float32), 0, destroy="DestroyDnVec"
    )
    wide, _ = make.matrix(sparse.csr_matrix((4, 400), dtype=np.float32))
    assert (
        blas.status("SpMV", 0, scalar, wide, short, scalar, other, 0, 0, None) == 6
    )  # memory
    assert "B must be device memory of 1600 bytes" in capfd.readouterr().err
    assert blas.status("SpGEAM", *[0] * 12) == 10
    name = blas.library.cusparseGetErrorName
    name.restype = ctypes.c_char_p
    assert name(3) == b"CUSPARSE_STATUS_INVALID_VALUE"
    outside, (_, indices, _) = make.matrix(a)
    indices.fill(77)
    result = gpuarray.zeros((4, 4), np.float32)
    dense = make.make("DnMat", 4, 4, 4, result, 0, BY_ROWS, destroy="DestroyDnMat")
    blas.status("SparseToDense", outside, dense, 0, None)
    synchronize()
    assert blas.status("SparseToDense", outside, dense, 0, None) == 6
    assert "outside of the matrix" in capfd.readouterr().err


def test_work_waits_for_its_stream(blas, make, rng):
    a = matrix(rng, 5, 5, np.float64)
    there, _ = make.matrix(a)
    stream = cuda.Stream(flags=1)
    blas.SetStream(ctypes.c_void_p(stream.handle))
    with stream:
        x = gpuarray.zeros(5)
        for _ in range(50):
            x += 1
    one = make.make("DnVec", 5, x, 1, destroy="DestroyDnVec")
    other, y = make.vector(np.zeros(5))
    blas.SpMV(0, np.ones(1), there, one, np.zeros(1), other, 1, 0, None)
    stream.synchronize()
    close(y.get(), a @ np.full(5, 50.0))
