"""Creates matrices: identities, diagonals, random matrices, and concatenations."""

from __future__ import annotations

import numpy as np

from pycuda._driver import ArrayBase
from pycuda.arrays.indexing.items import take_known
from pycuda.gpuarray import GPUArray, arange, asarray, concatenate, flatnonzero, to_gpu
from pycuda.sparse._base import CLASSES, Sparse, as_sparse
from pycuda.sparse._coordinates import coo_array, coo_matrix
from pycuda.sparse._kernels import INDEX, check_count, on_own_device
from pycuda.sparse._structure import check_shape


def issparse(x) -> bool:
    """Whether ``x`` is a sparse matrix of this package.

    >>> issparse(eye(2)), issparse(gpuarray.zeros((2, 2)))
    (True, False)
    """
    return isinstance(x, Sparse)


def eye(m: int, n: int | None = None, k: int = 0, dtype=np.float64, format: str | None = None):  # fmt: skip
    """Create a matrix with ones on a diagonal (``*`` is the product of matrices).

    m, n: rows and columns; by default as many columns as rows. k: the diagonal's number, 0 for the main one.
    dtype: the type of the elements. format: "csr", "csc" or "coo"; by default "coo".

    >>> eye(2, 3, k=1).toarray()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    return _eye(coo_matrix, m, n, k, dtype).asformat(format)


def eye_array(m: int, n: int | None = None, *, k: int = 0, dtype=np.float64, format: str | None = None):  # fmt: skip
    """As :func:`eye`, but an array (``*`` multiplies elements).

    >>> eye_array(2).format
    'coo'
    """
    return _eye(coo_array, m, n, k, dtype).asformat(format)


def _eye(cls, m, n, k, dtype):
    shape = check_shape((m, m if n is None else n))
    height, width = shape
    count = max(min(height + min(k, 0), width - max(k, 0)), 0)
    first = arange(count, dtype=INDEX)
    pair = (first + np.int32(max(-k, 0)), first + np.int32(max(k, 0))) if count else (first, first)  # fmt: skip
    return cls._of(pair, GPUArray(count, np.dtype(dtype)).fill(1), shape, True, True)


def identity(n: int, dtype=np.float64, format: str | None = None):
    """The identity matrix of ``n`` rows; see :func:`eye`.

    >>> identity(2, format="csr").indptr
    array([0, 1, 2], dtype=int32)
    """
    return eye(n, dtype=dtype, format=format)


@on_own_device
def diags(diagonals, offsets=0, shape=None, format: str | None = None, dtype=None):
    """Create a matrix from its diagonals.

    diagonals: vectors (device or host arrays), one for each offset, with the lengths of the diagonals; a vector of one
        element fills its diagonal. For a single offset, one vector.
    offsets: the numbers of the diagonals: 0 for the main one, positive above; a number or a sequence.
    shape: the extents, by default square with the extent that the first diagonal requires.
    format: "csr", "csc" or "coo"; by default "coo". dtype: the type, by default the diagonals' common one.

    Raises ValueError for diagonals that do not fit, and for offsets that occur twice.

    >>> diags([[1.0, 2.0], [3.0]], [0, 1]).toarray()
    array([[1., 3.],
           [0., 2.]])
    """
    return _diags(coo_matrix, diagonals, offsets, shape, dtype).asformat(format)


@on_own_device
def diags_array(diagonals, /, *, offsets=0, shape=None, format: str | None = None, dtype=None):  # fmt: skip
    """As :func:`diags`, but an array (``*`` multiplies elements).

    >>> diags_array([[1.0, 2.0]], offsets=[1]).shape
    (3, 3)
    """
    return _diags(coo_array, diagonals, offsets, shape, dtype).asformat(format)


def _diags(cls, diagonals, offsets, shape, dtype):
    if np.ndim(offsets) == 0:
        one = diagonals if isinstance(diagonals, ArrayBase) else list(diagonals)
        single = isinstance(one, ArrayBase) and one.ndim == 1 or not len(one) or np.ndim(one[0]) == 0  # fmt: skip
        diagonals, offsets = ([one] if single else one), [offsets]
    offsets = [int(k) for k in offsets]
    vectors = [asarray(one).reshape(-1) for one in diagonals]
    if len(vectors) != len(offsets):
        raise ValueError(f"{len(vectors)} diagonals do not fit {len(offsets)} offsets")
    if not vectors:
        raise ValueError("expected at least one diagonal")
    if len(set(offsets)) != len(offsets):
        raise ValueError(f"offsets must be distinct, not {offsets}")
    extent = vectors[0].size + abs(offsets[0])
    height, width = shape = check_shape((extent, extent) if shape is None else shape)
    kind = (
        np.result_type(*(one.dtype for one in vectors))
        if dtype is None
        else np.dtype(dtype)
    )
    rows, columns, parts = [], [], []
    for vector, k in zip(vectors, offsets, strict=True):
        count = min(height + min(k, 0), width - max(k, 0))
        if count <= 0 or vector.size not in (1, count):
            raise ValueError(f"a diagonal of {vector.size} elements does not fit diagonal {k} of shape {shape}, of {max(count, 0)}")  # fmt: skip
        first = arange(count, dtype=INDEX)
        rows.append(first + np.int32(max(-k, 0)))
        columns.append(first + np.int32(max(k, 0)))
        part = GPUArray(count, kind)
        part[...] = vector
        parts.append(part)
    pair = (concatenate(rows), concatenate(columns))
    ordered = len(offsets) == 1
    return cls._of(pair, concatenate(parts), shape, ordered, ordered)


def random(m: int, n: int, density: float = 0.01, format: str = "coo", dtype=None, rng=None, data_rvs=None):  # fmt: skip
    """Create a matrix with random numbers at random positions.

    m, n: rows and columns. density: the fraction of elements that are stored, from 0 to 1.
    format: "csr", "csc" or "coo". dtype: the type, by default float64.
    rng: a ``numpy.random.Generator`` or an argument of ``numpy.random.default_rng``, such as a seed.
    data_rvs: a function that returns a given count of numbers; by default uniform in [0, 1), for integers all values of
        the type, for complex numbers both parts uniform.

    The positions are drawn on the host. Raises ValueError for a density outside of [0, 1].

    >>> random(100, 100, density=0.05, rng=1).nnz
    500
    """
    return _random(coo_matrix, (m, n), density, dtype, rng, data_rvs).asformat(format)


def random_array(shape, *, density: float = 0.01, format: str = "coo", dtype=None, rng=None, data_sampler=None):  # fmt: skip
    """As :func:`random`, but an array (``*`` multiplies elements). ``data_sampler`` is called with ``size=``.

    >>> random_array((100, 100), rng=1, dtype=np.float32).dtype
    dtype('float32')
    """
    sampler = None if data_sampler is None else lambda count: data_sampler(size=count)
    return _random(coo_array, shape, density, dtype, rng, sampler).asformat(format)


def _random(cls, shape, density, dtype, rng, sampler):
    height, width = shape = check_shape(shape)
    if not 0 <= density <= 1:
        raise ValueError(f"density must be from 0 to 1, not {density}")
    rng = np.random.default_rng(rng)
    kind = np.dtype(np.float64 if dtype is None else dtype)
    count = round(density * height * width)
    check_count(count)
    places = np.sort(rng.choice(height * width, count, replace=False))
    rows, columns = np.divmod(places, max(width, 1))
    if sampler is not None:
        data = np.asarray(sampler(count)).astype(kind)
    elif kind.kind in "iu":
        limits = np.iinfo(kind)
        data = rng.integers(limits.min, limits.max, count, kind, endpoint=True)
    elif kind.kind == "c":
        data = (rng.random(count) + 1j * rng.random(count)).astype(kind)
    else:
        data = rng.random(count).astype(kind) if kind.kind != "b" else np.ones(count, bool)  # fmt: skip
    pair = tuple(to_gpu(one.astype(INDEX)) for one in (rows, columns))
    return cls._of(pair, to_gpu(data), shape, True, True)


def _parts(blocks) -> list[Sparse]:
    found = []
    for one in blocks:
        matrix = as_sparse(one, coo_matrix)
        found.append(coo_matrix(one) if matrix is None else matrix)
    if not found:
        raise ValueError("expected at least one matrix")
    return found


def _class_of(parts) -> type:
    """An array class if one of the parts is an array, else a matrix class, as in scipy.sparse."""
    return CLASSES["coo", all(one._is_matrix for one in parts)]


@on_own_device
def vstack(blocks, format: str | None = None, dtype=None):
    """Stack matrices vertically.

    blocks: sparse matrices or dense arrays with equal numbers of columns. format: of the result, by default "csr" if all
        blocks have it, else "coo". dtype: the type, by default the common one.

    Raises ValueError for blocks with different numbers of columns.

    >>> vstack([eye(1), eye(1)]).toarray()
    array([[1.],
           [1.]])
    """
    parts = _parts(blocks)
    format = format or (parts[0].format if len({one.format for one in parts}) == 1 else None)  # fmt: skip
    return _stacked([[one] for one in parts], dtype).asformat(format)


@on_own_device
def hstack(blocks, format: str | None = None, dtype=None):
    """Stack matrices horizontally; parameters as of :func:`vstack`, with rows instead of columns.

    >>> hstack([eye(1), eye(1)]).toarray()
    array([[1., 1.]])
    """
    parts = _parts(blocks)
    format = format or (parts[0].format if len({one.format for one in parts}) == 1 else None)  # fmt: skip
    return _stacked([parts], dtype).asformat(format)


@on_own_device
def bmat(blocks, format: str | None = None, dtype=None):
    """Create a matrix from rows of blocks; None is a block of zeros.

    blocks: a sequence of rows, each a sequence of matrices or None. format: by default "coo".

    Raises ValueError for blocks that do not fit, and for a row or column with only None.

    >>> bmat([[eye(1), None], [None, eye(1)]]).toarray()
    array([[1., 0.],
           [0., 1.]])
    """
    grid = [[None if one is None else _parts([one])[0] for one in row] for row in blocks]  # fmt: skip
    if not grid or len({len(row) for row in grid}) != 1:
        raise ValueError("all rows of blocks must have the same number of blocks")
    return _stacked(grid, dtype).asformat(format)


@on_own_device
def block_diag(mats, format: str | None = None, dtype=None):
    """Create a matrix with blocks along its diagonal; parameters as of :func:`bmat`.

    >>> block_diag([eye(1), eye(2)]).shape
    (3, 3)
    """
    parts = _parts(mats)
    grid = [[part if i == j else None for j in range(len(parts))] for i, part in enumerate(parts)]  # fmt: skip
    return _stacked(grid, dtype).asformat(format)


def _extents(grid, axis: int) -> list[int]:
    """The heights of the rows of blocks (axis 0), or the widths of their columns."""
    lines = grid if axis == 0 else list(zip(*grid, strict=True))
    extents = []
    for number, line in enumerate(lines):
        found = {one.shape[axis] for one in line if one is not None}
        if len(found) != 1:
            raise ValueError(
                f"{'row' if axis == 0 else 'column'} {number} of blocks must have one "
                f"{'height' if axis == 0 else 'width'}, not {sorted(found) or 'None alone'}"
            )
        extents += found
    return extents


def _stacked(grid, dtype):
    heights, widths = _extents(grid, 0), _extents(grid, 1)
    shape = check_shape((sum(heights), sum(widths)))
    matrices = [one for row in grid for one in row if one is not None]
    kind = np.result_type(*(one.dtype for one in matrices)) if dtype is None else np.dtype(dtype)  # fmt: skip
    rows, columns, data = [], [], []
    for i, line in enumerate(grid):
        for j, one in enumerate(line):
            if one is None or one.nnz == 0:
                continue
            part = one.tocoo()
            rows.append(part.row + np.int32(sum(heights[:i])))
            columns.append(part.col + np.int32(sum(widths[:j])))
            data.append(part.data.astype(kind, copy=False))
    cls = _class_of(matrices)
    if not data:
        return cls(shape, dtype=kind)
    return cls((concatenate(data), (concatenate(rows), concatenate(columns))), shape)


@on_own_device
def kron(A, B, format: str | None = None):
    """Return the Kronecker product of two matrices. format: by default "coo".

    >>> kron(eye(2), sparse.coo_matrix([[1, 2]])).toarray()
    array([[1., 2., 0., 0.],
           [0., 0., 1., 2.]])
    """
    matrices = _parts([A, B])
    a, b = (one.tocoo() for one in matrices)
    shape = check_shape((a.shape[0] * b.shape[0], a.shape[1] * b.shape[1]))
    kind = np.result_type(a.dtype, b.dtype)
    cls = _class_of(matrices)
    if a.nnz == 0 or b.nnz == 0:
        return cls(shape, dtype=kind).asformat(format)

    def spread(ours, factor, theirs):
        return (ours[:, None] * np.int32(factor) + theirs[None, :]).reshape(-1)

    pair = (spread(a.row, b.shape[0], b.row), spread(a.col, b.shape[1], b.col))
    data = (a.data.astype(kind)[:, None] * b.data.astype(kind)[None, :]).reshape(-1)
    return cls((data, pair), shape).asformat(format)


def _triangle(A, format, keep):
    (A,) = _parts([A])
    matrix = A.tocoo()
    if matrix.nnz:
        places = flatnonzero(keep(matrix.col.astype(np.int64) - matrix.row))
        row, col, data = (take_known(one, places) for one in (matrix.row, matrix.col, matrix.data))  # fmt: skip
        matrix = matrix._of((row, col), data, matrix.shape, matrix._is_sorted, matrix.has_canonical_format)  # fmt: skip
    return matrix.asformat(format)


@on_own_device
def tril(A, k: int = 0, format: str | None = None):
    """Return the elements on and below diagonal ``k``. format: by default "coo".

    >>> tril(sparse.csr_array([[1, 2], [3, 4]])).toarray()
    array([[1, 0],
           [3, 4]])
    """
    return _triangle(A, format, lambda number: number <= k)


@on_own_device
def triu(A, k: int = 0, format: str | None = None):
    """Return the elements on and above diagonal ``k``. format: by default "coo".

    >>> triu(sparse.csr_array([[1, 2], [3, 4]])).toarray()
    array([[1, 2],
           [0, 4]])
    """
    return _triangle(A, format, lambda number: number >= k)


@on_own_device
def find(A):
    """Return rows, columns and values of the elements that are not 0, sorted, with duplicates added up.

    >>> find(sparse.csr_array([[0, 2], [3, 0]]))
    (array([0, 1], dtype=int32), array([1, 0], dtype=int32), array([2, 3]))
    """
    (A,) = _parts([A])
    matrix = A.tocoo(copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix.row, matrix.col, matrix.data
