"""Grids of indices and of coordinates."""

from __future__ import annotations

import math

import numpy as np

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing.indices import as_indices, wrapped_indices
from pycuda.arrays.indexing.items import places_of
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to, moveaxis

# Indices


@public()
def ix_(*args) -> tuple:
    """Vectors as indices of a grid: each along an axis of its own."""
    result = []
    for axis, vector in enumerate(args):
        vector = as_array(vector)
        if vector.ndim != 1:
            raise ValueError("ix_() wants vectors")
        if vector.dtype.kind == "b":
            vector = places_of(vector)[0]
        shape = [1] * len(args)
        shape[axis] = vector.size
        result.append(vector._reshape(shape))
    return tuple(result)


@public()
def unravel_index(indices, shape, order: str = "C") -> tuple:
    """Flat indices as indices of each axis of ``shape``."""
    rest = as_indices(indices).astype(np.int64, copy=False)
    size = math.prod(shape)
    if rest.size:
        low, high = int(rest.min()), int(rest.max())
        if low < 0 or high >= size:
            bad = low if low < 0 else high
            raise ValueError(f"index {bad} is out of bounds for array with size {size}")
    result = []
    for extent in reversed(shape) if order == "C" else shape:
        result.append(rest % extent)
        rest = rest // extent
    return tuple(reversed(result)) if order == "C" else tuple(result)


@public()
def ravel_multi_index(multi_index, dims, mode="raise", order: str = "C"):
    """Indices of each axis of ``dims`` as indices of the flat array."""
    modes = (mode,) * len(dims) if isinstance(mode, str) else mode
    total, step = None, 1
    rows = list(zip(multi_index, dims, modes, strict=True))
    for index, extent, how in reversed(rows) if order == "C" else rows:
        index = wrapped_indices(as_indices(index), extent, how).astype(np.int64)
        if how == "raise" and index.size:
            if int(index.min()) < 0 or int(index.max()) >= extent:
                raise ValueError("invalid entry in coordinates array")
        part = index * step
        total = part if total is None else total + part
        step *= extent
    return total


@public()
def meshgrid(*xi, copy: bool = True, sparse: bool = False, indexing: str = "xy"):
    """Grids of coordinates from vectors: one array for each of them."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing must be 'xy' or 'ij', not {indexing!r}")
    grids = []
    for axis, x in enumerate(xi):
        shape = [1] * len(xi)
        shape[axis] = -1
        grids.append(as_array(x)._reshape(shape))
    if indexing == "xy" and len(grids) > 1:
        grids = [moveaxis(grid, 0, 1) for grid in grids]
    if not sparse:
        shape = np.broadcast_shapes(*(grid.shape for grid in grids))
        grids = [broadcast_to(grid, shape) for grid in grids]
    return tuple(grid.copy("C") for grid in grids) if copy else tuple(grids)


@public()
def indices(dimensions, dtype=int, sparse: bool = False):
    """The index of each element along each axis of an array of shape ``dimensions``."""
    vectors = [arange_of(extent, dtype) for extent in dimensions]
    grids = meshgrid(*vectors, copy=False, sparse=sparse, indexing="ij")
    if sparse:
        return grids
    result = empty((len(vectors), *dimensions), dtype)
    for axis, grid in enumerate(grids):
        result[axis] = grid
    return result
