"""softcuda's cuSPARSE: pruned matrices, incomplete factors of blocks, colours, and sliced ELL."""

import ctypes

import numpy as np
import pytest
from cusparse_calls import (
    Handle,
    close,
    code,
    descriptors_of_test,
    handle_of_library,
    load,
    matrix,
    random_numbers,
    size,
    sparse,
)
from library_calls import LETTERS, argument, random

from pycuda import gpuarray

blas = pytest.fixture(handle_of_library)
make = pytest.fixture(descriptors_of_test)
rng = pytest.fixture(random_numbers)


@pytest.fixture
def info(blas):
    """Makes an info of a kind, such as "Prune"."""
    made = []

    def new(kind):
        place = ctypes.c_void_p()
        assert (
            getattr(blas.library, f"cusparseCreate{kind}Info")(ctypes.byref(place)) == 0
        )
        made.append((kind, place))
        return place

    yield new
    for kind, place in made:
        assert getattr(blas.library, f"cusparseDestroy{kind}Info")(place) == 0


@pytest.fixture
def description(blas):
    """Makes a description of a matrix with the index base."""
    made = []

    def new(base=0):
        place = ctypes.c_void_p()
        assert blas.library.cusparseCreateMatDescr(ctypes.byref(place)) == 0
        assert blas.library.cusparseSetMatIndexBase(place, base) == 0
        made.append(place)
        return place

    yield new
    for place in made:
        assert blas.library.cusparseDestroyMatDescr(place) == 0


def put(array, dtype=np.int32):
    return gpuarray.to_gpu(np.asarray(array, dtype))


def pruned(a, limit):
    return sparse.csr_matrix(np.where(np.abs(a) > limit, a, 0).astype(np.float64))


def threshold_of(values, percentage):
    """As cuSPARSE's documentation defines the threshold."""
    place = int(np.ceil(values.size * (percentage / 100))) - 1
    return np.sort(np.abs(values).ravel())[min(max(place, 0), values.size - 1)]


PRUNED = {"S": np.float32, "D": np.float64, "H": np.float16}


@pytest.mark.parametrize("letter", PRUNED)
@pytest.mark.parametrize("source", ["Dense", "Csr"])
@pytest.mark.parametrize("percentage", [None, 0.0, 40.0, 100.0])
@pytest.mark.parametrize("base", [0, 1])
def test_elements_above_a_threshold_stay(
    blas, info, description, rng, letter, source, percentage, base
):
    dtype = PRUNED[letter]
    a = random(rng, (7, 5), dtype)
    of_a, of_c = description(1 - base), description(base)
    if source == "Dense":
        from_a = (7, 5, put(a.ravel(order="F"), dtype), 7)
        values = a
    else:
        a[rng.random(a.shape) < 0.3] = 0
        rows = sparse.csr_matrix(a.astype(np.float64))
        values = rows.data.astype(dtype)
        from_a = (7, 5, rows.nnz, of_a, put(values, dtype))
        from_a += (put(rows.indptr + 1 - base), put(rows.indices + 1 - base))
    if percentage is None:
        limit, ending, end = np.array([0.5], dtype), "", ()
        wanted = pruned(a, 0.5)
    else:
        limit, end = ctypes.c_float(percentage), (info("Prune"),)
        ending = "ByPercentage"
        wanted = pruned(a, threshold_of(values, percentage))
    name = f"{letter}prune{source}2csr"
    offsets, count = gpuarray.zeros(8, np.int32), np.zeros(1, np.int32)
    buffer = size(
        blas,
        f"{name}{ending}_bufferSizeExt",
        *from_a,
        limit,
        of_c,
        None,
        offsets,
        None,
        *end,
    )
    getattr(blas, f"{name}Nnz{ending}")(
        *from_a, limit, of_c, offsets, count, *end, buffer
    )
    assert count[0] == wanted.nnz
    assert (offsets.get() == wanted.indptr + base).all()
    kept = gpuarray.zeros(max(wanted.nnz, 1), dtype)
    indices = gpuarray.zeros(max(wanted.nnz, 1), np.int32)
    getattr(blas, f"{name}{ending}")(
        *from_a, limit, of_c, kept, offsets, indices, *end, buffer
    )
    assert (kept.get()[: wanted.nnz] == wanted.data).all()
    assert (indices.get()[: wanted.nnz] == wanted.indices + base).all()


def blocks_of(a, side, direction):
    """A square matrix of blocks: offsets, indices and values, with all blocks."""
    count = a.shape[0] // side
    values = np.array(
        [
            a[i * side :, j * side :][:side, :side].ravel(order="CF"[direction])
            for i in range(count)
            for j in range(count)
        ]
    )
    offsets = np.arange(count + 1) * count
    return offsets, np.tile(np.arange(count), count), values.ravel()


def dense_of(values, side, count, direction):
    result = np.zeros((count * side, count * side), values.dtype)
    for k, block in enumerate(values.reshape(-1, side * side)):
        i, j = divmod(k, count)
        result[i * side : (i + 1) * side, j * side : (j + 1) * side] = block.reshape(
            side, side, order="CF"[direction]
        )
    return result


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("direction", [0, 1])
@pytest.mark.parametrize("base", [0, 1])
def test_incomplete_factors_of_full_blocks_are_whole(
    blas, info, description, rng, letter, direction, base
):
    dtype, side, count = LETTERS[letter], 3, 3
    a = random(rng, (9, 9), dtype)
    a = (a @ a.conj().T + 9 * np.eye(9)).astype(dtype)
    offsets, indices, values = blocks_of(a, side, direction)
    of = (direction, count, count * count, description(base))
    for name, kind in (("bsrilu02", "Bsrilu02"), ("bsric02", "Bsric02")):
        there = put(values, dtype)
        rest = (put(offsets + base), put(indices + base), side, info(kind))
        wanted = np.zeros(1, np.int32)
        getattr(blas, f"{letter}{name}_bufferSize")(*of, there, *rest, wanted)
        buffer = gpuarray.zeros(int(wanted[0]), np.uint8)
        getattr(blas, f"{letter}{name}_analysis")(*of, there, *rest, 0, buffer)
        getattr(blas, f"{letter}{name}")(*of, there, *rest, 0, buffer)
        position = np.zeros(1, np.int32)
        assert blas.status(f"X{name}_zeroPivot", rest[-1], position) == 0
        assert position[0] == -1
        got = dense_of(there.get(), side, count, direction)
        if name == "bsrilu02":
            close(np.tril(got, -1) @ np.triu(got) + np.triu(got), a)
        else:
            close(np.tril(got) @ np.tril(got).conj().T, a)


def test_a_zero_pivot_is_that_of_a_block(blas, info, description):
    a = np.diag([1.0, 2, 3, 0, 5, 6]).astype(np.float32)
    offsets, indices, values = blocks_of(a, 2, 0)
    state = info("Bsrilu02")
    of = (0, 3, 9, description(1), put(values, np.float32))
    blas.Sbsrilu02(*of, put(offsets + 1), put(indices + 1), 2, state, 0, None)
    position = np.zeros(1, np.int32)
    assert blas.status("Xbsrilu02_zeroPivot", state, position) == 9
    assert position[0] == 2  # the second block, counted from 1
    blas.Sbsrilu02_numericBoost(state, 1, np.array([1e-3]), np.array([4], np.float32))
    of = (0, 3, 9, description(1), put(values, np.float32))
    blas.Sbsrilu02(*of, put(offsets + 1), put(indices + 1), 2, state, 0, None)
    assert blas.status("Xbsrilu02_zeroPivot", state, position) == 0
    assert dense_of(of[-1].get(), 2, 3, 0)[3, 3] == 4


@pytest.mark.parametrize("letter", LETTERS)
def test_rows_of_a_colour_are_no_neighbours(blas, info, description, rng, letter):
    dtype = LETTERS[letter]
    a = matrix(rng, 30, 30, dtype, 0.1)
    fraction = np.ones(1, np.finfo(dtype).dtype)
    count, colors = np.zeros(1, np.int32), gpuarray.zeros(30, np.int32)
    order = gpuarray.zeros(30, np.int32)
    of = (30, a.nnz, description(1), put(a.data, dtype))
    of += (put(a.indptr + 1), put(a.indices + 1))
    getattr(blas, f"{letter}csrcolor")(
        *of, fraction, count, colors, order, info("Color")
    )
    got = colors.get()
    assert count[0] == got.max() + 1 and set(got) == set(range(count[0]))
    rows, columns = a.nonzero()
    different = rows != columns
    assert (got[rows[different]] != got[columns[different]]).all()
    assert sorted(order.get()) == list(range(30))
    assert (np.diff(got[order.get()]) >= 0).all()


@pytest.mark.parametrize("letter", LETTERS)
def test_sorted_rows_find_back(blas, info, description, rng, letter):
    dtype = LETTERS[letter]
    a = matrix(rng, 6, 8, dtype)
    shuffled, indices = a.data.copy(), a.indices.copy()
    for row in range(6):
        part = slice(a.indptr[row], a.indptr[row + 1])
        order = rng.permutation(part.stop - part.start)
        shuffled[part], indices[part] = a.data[part][order], a.indices[part][order]
    values, there, state = put(shuffled, dtype), put(indices), info("Csru2csr")
    of = (6, 8, a.nnz, description(), values, put(a.indptr), there, state)
    buffer = size(blas, f"{letter}csru2csr_bufferSizeExt", *of[:3], *of[4:])
    getattr(blas, f"{letter}csru2csr")(*of, buffer)
    assert (there.get() == a.indices).all() and (values.get() == a.data).all()
    getattr(blas, f"{letter}csr2csru")(*of, buffer)
    assert (there.get() == indices).all() and (values.get() == shuffled).all()


@pytest.mark.parametrize("letter", LETTERS)
@pytest.mark.parametrize("direction", [0, 1])
def test_masked_products_change_the_rows_of_the_mask(
    blas, description, rng, letter, direction
):
    dtype, side, count = LETTERS[letter], 2, 4
    a = random(rng, (8, 8), dtype)
    offsets, indices, values = blocks_of(a, side, direction)
    begins, ends, mask = offsets[:-1] + 1, offsets[1:] + 1 - 1, np.array([2, 4])
    # Each row ends one block early: the last columns do not count.
    x, y = random(rng, 8, dtype), random(rng, 8, dtype)
    result = put(y, dtype)
    alpha, beta = np.array([2], dtype), np.array([3], dtype)
    getattr(blas, f"{letter}bsrxmv")(
        *(direction, 0, 2, count, count, count * count, alpha, description(1)),
        *(put(values, dtype), put(mask), put(begins), put(ends), put(indices + 1)),
        *(side, put(x, dtype), beta, result),
    )
    wanted = y.copy()
    for row in (2, 3, 6, 7):
        wanted[row] = 2 * (a[row, :6] @ x[:6]) + 3 * y[row]
    close(result.get(), wanted)


@pytest.mark.parametrize("index, base", [("i4", 0), ("i8", 1)])
def test_products_of_sliced_ell(blas, make, rng, index, base):
    slice_rows, rows, columns = 3, 8, 6
    a = matrix(rng, rows, columns, np.float64)
    offsets, indices, values = [0], [], []
    for first in range(0, rows, slice_rows):
        lines = [a[r] if r < rows else None for r in range(first, first + slice_rows)]
        width = max(line.nnz for line in lines if line is not None)
        for j in range(width):
            for line in lines:
                has = line is not None and j < line.nnz
                indices.append(line.indices[j] + base if has else -1)
                values.append(line.data[j] if has else np.nan)
        offsets.append(len(values))
    number = {"i4": 2, "i8": 3}[index]
    there = make.make(
        "SlicedEll",
        *(rows, columns, a.nnz, len(values), slice_rows),
        *(put(np.array(offsets) + base, index), put(indices, index)),
        *(put(values, np.float64), number, number, base, code(np.float64)),
        destroy="DestroySpMat",
    )
    alpha, beta = np.array([2.5]), np.array([-0.5])
    for op in (0, 1):
        of = a.T if op else a
        x, y = rng.standard_normal(of.shape[1]), rng.standard_normal(of.shape[0])
        (one, _), (other, result) = make.vector(x), make.vector(y)
        call = (op, alpha, there, one, beta, other, code(np.float64), 0)
        blas.SpMV(*call, size(blas, "SpMV_bufferSize", *call))
        close(result.get(), 2.5 * (of @ x) - 0.5 * y)


def test_sizes_that_do_not_fit_are_invalid(blas, info, description):
    library = load("libcusparse.so.12")
    assert isinstance(blas, Handle)
    made = ctypes.c_void_p()
    stored_too_few = (4, 4, 9, 8, 2, None, None, None, 2, 2, 0, 0)
    assert (
        library.cusparseCreateSlicedEll(
            ctypes.byref(made), *map(argument, stored_too_few)
        )
        == 3
    )
    of = (0, 2, 4, description(), None, None, None)
    assert blas.status("Sbsrilu02", *of, 0, info("Bsrilu02"), 0, None) == 3
    assert (
        blas.status(
            *("SpruneDense2csrNnzByPercentage", 1, 1, None, 1, ctypes.c_float(101)),
            *(description(), None, None, info("Prune"), None),
        )
        == 3
    )
