"""softcuda's cuSPARSE: the older functions of matrices of blocks (BSR)."""

import ctypes

import numpy as np
import pytest
from cusparse_calls import close, handle_of_library, random_numbers, sparse
from library_calls import LETTERS, capture, random, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

blas = pytest.fixture(handle_of_library)
rng = pytest.fixture(random_numbers)

NOTHING, TRANSPOSED, CONJUGATED = 0, 1, 2
ROWS, COLUMNS = 0, 1
LOWER, UPPER = 0, 1
INVALID_VALUE, EXECUTION_FAILED, ZERO_PIVOT = 3, 6, 9
SIZE, HIGH, WIDE = 3, 4, 5  # of a block, and the matrix's sizes in blocks
OPERATIONS = {NOTHING: lambda a: a, TRANSPOSED: lambda a: a.T}
OPERATIONS[CONJUGATED] = lambda a: a.conj().T


@pytest.fixture
def describe(blas):
    made = []

    def describe(base=0, fill=LOWER, unit=False):
        description = ctypes.c_void_p()
        assert blas.library.cusparseCreateMatDescr(ctypes.byref(description)) == 0
        blas.library.cusparseSetMatIndexBase(description, base)
        blas.library.cusparseSetMatFillMode(description, fill)
        blas.library.cusparseSetMatDiagType(description, int(unit))
        made.append(description)
        return description

    yield describe
    for description in made:
        assert blas.library.cusparseDestroyMatDescr(description) == 0


def dense_blocks(rng, high, wide, dtype):
    kept = np.kron(rng.random((high, wide)) < 0.5, np.ones((SIZE, SIZE)))
    return (random(rng, (high * SIZE, wide * SIZE), dtype) * kept).astype(dtype)


def arrays_of(a, base, direction):
    """The arrays of BSR on the device, and the number of blocks."""
    blocks = sparse.bsr_matrix(a, blocksize=(SIZE, SIZE))
    values = blocks.data if direction == ROWS else blocks.data.transpose(0, 2, 1)
    arrays = (np.ascontiguousarray(values), blocks.indptr, blocks.indices)
    arrays = [arrays[0], *((x + base).astype(np.int32) for x in arrays[1:])]
    return [gpuarray.to_gpu(x) for x in arrays], len(blocks.indices)


def on_device(a):
    return gpuarray.to_gpu(np.asfortranarray(a))


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize(("base", "direction"), [(0, ROWS), (1, COLUMNS)])
def test_products(blas, rng, describe, letter, op, base, direction):
    dtype = np.dtype(LETTERS[letter])
    a = dense_blocks(rng, HIGH, WIDE, dtype)
    arrays, count = arrays_of(a, base, direction)
    result = OPERATIONS[op](a)
    alpha, beta = np.full(1, 2, dtype), np.full(1, 0.5, dtype)
    matrix = (describe(base), *arrays, SIZE)
    x, y = random(rng, result.shape[1], dtype), random(rng, result.shape[0], dtype)
    there = gpuarray.to_gpu(y)
    shape = (direction, op, HIGH, WIDE, count)
    getattr(blas, f"{letter}bsrmv")(
        *shape, alpha, *matrix, gpuarray.to_gpu(x), beta, there
    )
    close(there.get(), 2 * result @ x + 0.5 * y)
    n = 4
    for op_b in OPERATIONS:
        b, c = (random(rng, (size, n), dtype) for size in result.shape[::-1])
        passed = OPERATIONS[op_b](b)
        there = on_device(c)
        getattr(blas, f"{letter}bsrmm")(
            *(direction, op, op_b, HIGH, n, WIDE, count, alpha, *matrix),
            *(on_device(passed), len(passed), beta, there, len(c)),
        )
        close(there.get(), 2 * result @ b + 0.5 * c)
    call = (alpha, *matrix, gpuarray.to_gpu(x), beta, gpuarray.to_gpu(y))
    for wrong in ((2, op), (direction, 3)):
        status = blas.status(f"{letter}bsrmv", *wrong, HIGH, WIDE, count, *call)
        assert status == INVALID_VALUE


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("op", OPERATIONS)
@pytest.mark.parametrize("fill", [LOWER, UPPER])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_solutions(blas, rng, describe, letter, op, fill, unit):
    dtype, n, null = np.dtype(LETTERS[letter]), 3, ctypes.c_void_p()
    a = dense_blocks(rng, HIGH, HIGH, dtype) / 5
    a += np.kron(np.eye(HIGH), np.ones((SIZE, SIZE))).astype(dtype) * 0.1
    a += 2 * np.eye(len(a), dtype=dtype)
    arrays, count = arrays_of(a, 1, COLUMNS)
    matrix = (describe(1, fill, unit), *arrays, SIZE)
    triangle = (np.tril if fill == LOWER else np.triu)(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    triangle = OPERATIONS[op](triangle)
    alpha, size, position = np.full(1, 2, dtype), ctypes.c_int(), ctypes.c_int(9)
    b = random(rng, (len(a), n), dtype)

    def begin(name, *shape):
        info = ctypes.c_void_p()
        create = getattr(blas.library, f"cusparseCreate{name.capitalize()}Info")
        assert create(ctypes.byref(info)) == 0
        getattr(blas, f"{letter}{name}_bufferSize")(*shape, *matrix, info, size)
        assert size.value > 0
        getattr(blas, f"{letter}{name}_analysis")(*shape, *matrix, info, 0, null)
        getattr(blas, f"X{name}_zeroPivot")(info, position)
        assert position.value == -1
        return info

    def end(name, info):
        destroy = getattr(blas.library, f"cusparseDestroy{name.capitalize()}Info")
        assert destroy(info) == 0

    shape = (COLUMNS, op, HIGH, count)
    info, x = begin("bsrsv2", *shape), gpuarray.zeros(len(a), dtype)
    getattr(blas, f"{letter}bsrsv2_solve")(
        *(*shape, alpha, *matrix, info, gpuarray.to_gpu(b[:, 0].copy()), x, 0, null)
    )
    close(x.get(), np.linalg.solve(triangle, 2 * b[:, 0]))
    end("bsrsv2", info)
    for op_x in (NOTHING, TRANSPOSED):
        shape = (COLUMNS, op, op_x, HIGH, n, count)
        info = begin("bsrsm2", *shape)
        right = OPERATIONS[op_x](b)
        x = on_device(np.zeros_like(right))
        getattr(blas, f"{letter}bsrsm2_solve")(
            *(*shape, alpha, *matrix, info),
            *(on_device(right), len(right), x, len(right), 0, null),
        )
        close(OPERATIONS[op_x](x.get()), np.linalg.solve(triangle, 2 * b))
        end("bsrsm2", info)


def test_zero_pivots_name_a_block(blas, describe):
    a = np.eye(HIGH * SIZE)
    a[7, 7] = 0
    a[7, 8] = 1
    arrays, count = arrays_of(a, 1, ROWS)
    matrix, info = (describe(1), *arrays, SIZE), ctypes.c_void_p()
    assert blas.library.cusparseCreateBsrsv2Info(ctypes.byref(info)) == 0
    shape, position = (ROWS, NOTHING, HIGH, count), ctypes.c_int()
    blas.Dbsrsv2_analysis(*shape, *matrix, info, 0, None)
    assert blas.status("Xbsrsv2_zeroPivot", info, position) == ZERO_PIVOT
    assert position.value == 7 // SIZE + 1
    assert blas.library.cusparseDestroyBsrsv2Info(info) == 0


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize(("base", "direction"), [(0, COLUMNS), (1, ROWS)])
def test_conversions(blas, rng, describe, letter, base, direction):
    dtype, m, n = np.dtype(LETTERS[letter]), 11, 13  # the last blocks are not full
    a = (random(rng, (m, n), dtype) * (rng.random((m, n)) < 0.2)).astype(dtype)
    csr = sparse.csr_matrix(a)
    offsets, indices = (
        gpuarray.to_gpu((x + 1).astype(np.int32)) for x in (csr.indptr, csr.indices)
    )
    high, wide = -(-m // SIZE), -(-n // SIZE)
    offsets_c, total = gpuarray.zeros(high + 1, np.int32), ctypes.c_int()
    of_a, of_c = describe(1), describe(base)
    blas.Xcsr2bsrNnz(
        *(direction, m, n, of_a, offsets, indices, SIZE, of_c, offsets_c, total)
    )
    assert total.value == offsets_c.get()[-1] - base
    values = gpuarray.empty((total.value, SIZE, SIZE), dtype)
    columns = gpuarray.empty(total.value, np.int32)
    matrix = (direction, m, n, of_a, gpuarray.to_gpu(csr.data), offsets, indices)
    getattr(blas, f"{letter}csr2bsr")(
        *(*matrix, SIZE, of_c, values, offsets_c, columns)
    )
    blocks = values.get()
    if direction == COLUMNS:
        blocks = blocks.transpose(0, 2, 1)
    padded = np.zeros((high * SIZE, wide * SIZE), dtype)
    padded[:m, :n] = a
    arrays = (blocks, columns.get() - base, offsets_c.get() - base)
    got = sparse.bsr_matrix(arrays, shape=padded.shape)
    assert (got.toarray() == padded).all()
    for row in range(high):
        inside = slice(*(offsets_c.get()[row : row + 2] - base))
        assert (np.diff(columns.get()[inside]) > 0).all()
    back = [gpuarray.empty(total.value * SIZE**2, t) for t in (dtype, np.int32)]
    rows = gpuarray.empty(high * SIZE + 1, np.int32)
    getattr(blas, f"{letter}bsr2csr")(
        *(direction, high, wide, of_c, values, offsets_c, columns, SIZE),
        *(of_a, back[0], rows, back[1]),
    )
    arrays = (back[0].get(), back[1].get() - 1, rows.get() - 1)
    assert (sparse.csr_matrix(arrays, shape=padded.shape).toarray() == padded).all()


def test_arrays_that_are_no_memory_fail_the_call(blas, describe, capfd):
    """The number of blocks is known only when the stream runs."""
    offsets = gpuarray.to_gpu(np.array([0, 2**30], np.int32))
    small, counts = gpuarray.zeros(4, np.int32), gpuarray.zeros(4, np.int32)
    values, description = gpuarray.zeros(4, np.float64), describe()
    call = (description, values, offsets, small, 2, description, values, counts, small)
    first = blas.status("Dbsr2csr", ROWS, 1, 1, *call)
    synchronize()
    assert EXECUTION_FAILED in (first, blas.status("Dbsr2csr", ROWS, 1, 1, *call))
    assert "no memory of a device" in capfd.readouterr().err


def test_an_info_may_be_destroyed_before_the_work_begins(blas, describe):
    """The next info has its place in memory, which the work must not change."""
    a = np.eye(HIGH * SIZE)
    a[7, 7] = 0
    arrays, count = arrays_of(a, 0, ROWS)
    matrix = (describe(), *arrays, SIZE)
    first, second, position = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
    create, stream = blas.library.cusparseCreateBsrsv2Info, cuda.Stream()
    assert create(ctypes.byref(first)) == 0
    blas.SetStream(ctypes.c_void_p(stream.handle))
    analysis = (ROWS, NOTHING, HIGH, count, *matrix, first, 0, None)
    graph = capture(stream, lambda: blas.Dbsrsv2_analysis(*analysis)).instantiate()
    assert blas.library.cusparseDestroyBsrsv2Info(first) == 0
    assert create(ctypes.byref(second)) == 0
    graph.launch(stream)
    stream.synchronize()
    blas.Xbsrsv2_zeroPivot(second, position)
    assert position.value == -1
    assert blas.library.cusparseDestroyBsrsv2Info(second) == 0
