"""Grids of indices and of coordinates."""

from __future__ import annotations

import math

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, to_gpu
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.indices import as_indices, wrapped_indices
from pycuda.arrays.indexing.items import places_of
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import stack
from pycuda.arrays.ufuncs.fusing import fuse

# Indices


@public()
def ix_(*args) -> tuple:
    """Turn vectors into indices of a grid: the vector of axis i keeps its extent along axis i and has 1 elsewhere.

    Vectors of bool stand for the indices where they are true. Raises ValueError for arrays that are no vectors.

    >>> x = gpuarray.array([[1, 2, 3], [4, 5, 6]])
    >>> x[gpuarray.ix_([1, 0], [0, 2])]
    array([[4, 6],
           [1, 3]])
    """
    result = []
    for axis, vector in enumerate(args):
        vector = as_array(vector)
        if vector.ndim != 1:
            raise ValueError("ix_() expects vectors")
        if vector.dtype.kind == "b":
            vector = places_of(vector)[0]
        shape = [1] * len(args)
        shape[axis] = vector.size
        result.append(vector._reshape(shape))
    return tuple(result)


def record_check(indices, extent: int) -> bool:
    """In a capture, let the launches check that indices are from 0 to ``extent - 1``: an error is IndexError then."""
    if not _driver._is_captured():
        return False
    outside = ((indices < 0) | (indices >= extent)).any()
    message = f"an index is out of bounds for an extent of {extent}"
    return _driver._record_check(outside, IndexError, message)


def are_outside(indices, extent: int) -> bool:
    """Whether an index is not from 0 to ``extent - 1``. One reduction, because negative numbers are large without sign."""
    if indices.size == 0:
        return False
    unsigned = np.dtype(f"u{indices.itemsize}")
    bits = indices._view(0, indices.shape, indices.strides, unsigned)
    return int(bits.max()) >= extent


@public()
def unravel_index(indices, shape, order: str = "C") -> tuple:
    """Convert flat indices to a tuple of indices, one array for each axis.

    shape: the extents of the array that the indices are of; an int for a vector.
    order: "C" or "F", the order of the flat array.

    Raises ValueError for an index outside, and for an array of indices of an array without axes.

    >>> gpuarray.unravel_index(gpuarray.array([1, 5]), (2, 3))
    (array([0, 1]), array([1, 2]))
    """
    rest = as_indices(indices).astype(np.int64, copy=False)
    shape = (shape,) if isinstance(shape, (int, np.integer)) else tuple(shape)
    size = math.prod(shape)
    if not shape and rest.ndim:
        raise ValueError("an array without axes has one element, and no indices")
    if rest.size == 0 or not shape:
        return tuple(rest.copy() for _ in shape)
    extents = shape[::-1] if order == "C" else shape
    if size == 0 or record_check(rest, size):
        outside, result = size == 0, None
    else:
        outside, *result = _parts_and_check(rest, size, *extents)
    if outside:
        low, high = int(rest.min()), int(rest.max())
        bad = low if low < 0 else high
        raise ValueError(f"index {bad} is out of bounds for array with size {size}")
    if result is None:
        result = _parts(rest, *extents)
    return tuple(reversed(result)) if order == "C" else tuple(result)


def _split(rest, extents) -> list:
    """The remainders of a flat index by the extents, the one of the first extent first."""
    result = []
    for extent in extents:
        result.append(rest % extent)
        rest = rest // extent
    return result


@fuse
def _parts(rest, *extents):
    return tuple(_split(rest, extents))


@fuse
def _parts_and_check(rest, size, *extents):
    outside = ((rest < 0) | (rest >= size)).any()
    return (outside, *_split(rest, extents))


@public()
def ravel_multi_index(multi_index, dims, mode="raise", order: str = "C"):
    """Convert a tuple of indices, one array for each axis, to flat indices.

    dims: the extents of the array that the indices are of.
    mode: for indices outside: "raise" ValueError, "wrap" or "clip"; one, or one for each axis.
    order: "C" or "F", the order of the flat array.

    >>> gpuarray.ravel_multi_index((gpuarray.array([0, 1]), gpuarray.array([1, 2])), (2, 3))
    array([1, 5])
    """
    dims = (dims,) if isinstance(dims, (int, np.integer)) else tuple(dims)
    modes = (mode,) * len(dims) if isinstance(mode, str) else mode
    total, step = None, 1
    rows = list(zip(multi_index, dims, modes, strict=True))
    if len(rows) > 1 and all(how == "raise" for how in modes) and not _driver._is_captured():  # fmt: skip
        return _raveled([as_indices(one) for one in multi_index], dims, order)
    for index, extent, how in reversed(rows) if order == "C" else rows:
        index = wrapped_indices(as_indices(index), extent, how)
        if how == "raise" and index.size and not record_check(index, extent):
            if are_outside(index, extent):
                raise ValueError("invalid entry in coordinates array")
        index = index.astype(np.int64, copy=False)
        part = index if step == 1 else index * step
        total = part if total is None else total + part
        step *= extent
    return total if len(rows) > 1 else total.copy()


def _raveled(indices, dims, order: str):
    """The flat indices by one kernel, which validates the indices as well."""
    if order == "F":
        indices, dims = indices[::-1], dims[::-1]
    if any(one.size == 0 for one in indices):
        shape = np.broadcast_shapes(*(one.shape for one in indices))
        return empty(shape, np.int64)
    outside, total = _sum_and_check(dims, *indices)
    if outside:
        raise ValueError("invalid entry in coordinates array")
    return total


@fuse
def _sum_and_check(dims, *indices):
    outside, total = None, None
    for index, extent in zip(indices, dims, strict=True):
        bad = (index < 0) | (index >= extent)
        outside = bad if outside is None else outside | bad
        part = index.astype(np.int64)
        total = part if total is None else total * extent + part
    return outside.any(), total


@public()
def meshgrid(*xi, copy: bool = True, sparse: bool = False, indexing: str = "xy"):
    """Make grids of coordinates from vectors: one array for each vector, all of one shape.

    copy: False gives views of the vectors.
    sparse: True gives arrays with extent 1 along the other axes.
    indexing: "xy" gives the shape (m, n) for vectors of n and m elements, "ij" the shape (n, m).

    >>> x, y = gpuarray.meshgrid(gpuarray.array([1, 2, 3]), gpuarray.array([5, 6]))
    >>> x
    array([[1, 2, 3],
           [1, 2, 3]])
    >>> y
    array([[5, 5, 5],
           [6, 6, 6]])
    """
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    return _driver._meshgrid(xi, bool(copy), bool(sparse), indexing == "xy")


@public()
def indices(dimensions, dtype=int, sparse: bool = False):
    """Make arrays of the index of each element along each axis.

    dimensions: the extents of the axes.
    dtype: the type of the indices.
    sparse: True gives a tuple of arrays with extent 1 along the other axes.

    Returns an array of shape ``(number of axes, *dimensions)``.

    >>> gpuarray.indices((2, 2))[1]
    array([[0, 1],
           [0, 1]])
    """
    shape = tuple(dimensions)
    if sparse or not shape:
        vectors = [arange_of(extent, dtype) for extent in shape]
        grids = meshgrid(*vectors, copy=False, sparse=True, indexing="ij")
        return grids if sparse else empty(0, dtype)
    longest = arange_of(max(shape), dtype)  # its first elements are the shorter ranges
    lines = [longest[:extent] for extent in shape]
    return stack([_broadcast_along(one, k, shape) for k, one in enumerate(lines)])


def _broadcast_along(vector, axis: int, shape):
    """A view of ``shape`` in which the elements of a vector lie along an axis."""
    steps = [0] * len(shape)
    steps[axis] = vector.strides[0]
    return vector._view(0, shape, steps)


class CoordinateGrid:
    """Makes grids of coordinates from slices, as :data:`numpy.ogrid` and :data:`numpy.mgrid` do on the host.

    The vector of each slice is made by NumPy and copied to the device. Several slices give a tuple of open grids, or an
    array of full ones.

    >>> gpuarray.mgrid[:2, 1:3]
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[1, 2],
            [1, 2]]])
    """

    def __init__(self, is_open: bool) -> None:
        self._is_open = is_open

    def __repr__(self) -> str:
        return f"<pycuda.gpuarray.{'ogrid' if self._is_open else 'mgrid'}>"

    def __getitem__(self, key):
        host = np.ogrid[key]
        if not isinstance(key, tuple):
            return to_gpu(host)
        vectors = tuple(to_gpu(np.ascontiguousarray(one)) for one in host)
        if self._is_open:
            return vectors
        shape = np.broadcast_shapes(*(one.shape for one in host))
        result = empty((len(vectors), *shape), np.result_type(*host) if host else float)
        for axis, vector in enumerate(vectors):
            result[axis] = vector
        return result


ogrid = CoordinateGrid(True)
mgrid = CoordinateGrid(False)
