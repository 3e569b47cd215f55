"""numpy's functions that take or set chosen elements of an array."""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.filled import arange_of, as_array, empty, zeros
from pycuda.arrays.shapes import axes as _indexing
from pycuda.arrays.shapes.views import moveaxis
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def where(condition, x=None, y=None, /, *, out=None, stream=None):
    """``x`` where the condition holds, elsewhere ``y``; alone: the places where it holds."""
    if (x is None) != (y is None):
        raise ValueError("where() wants either both x and y, or neither")
    if x is None:
        return nonzero(condition)
    condition = as_array(condition)
    if condition.dtype.kind != "b":
        condition = condition != 0
    x, y = (as_operand(one) for one in (x, y))
    return _driver._array_apply("where", condition, x, y, out=out, stream=stream)


def as_operand(value):
    """Arrays on the device and numbers as they are; what lives on the host is copied."""
    if isinstance(value, (_driver.ArrayBase, bool, int, float, complex, np.generic)):
        return value
    return as_array(value)


def nonzero(a) -> tuple:
    """The indices of the elements that are not zero: an array of int64 for each axis."""
    array = as_array(a)
    if array.ndim == 0:
        raise ValueError("nonzero() of an array without axes is not defined")
    return _indexing.places_of(array)


def argwhere(a):
    """The indices of the elements that are not zero, one row for each."""
    array = as_array(a)
    if array.ndim == 0:
        return zeros((int(bool(array)), 0), np.int64)
    places = nonzero(array)
    result = empty((places[0].size, array.ndim), np.int64)
    for axis, column in enumerate(places):
        result[:, axis] = column
    return result


def flatnonzero(a):
    """The indices, counted over the flat array, of the elements that are not zero."""
    return nonzero(as_array(a)._ravel())[0]


def _wrapped(indices, extent: int, mode: str):
    """Indices that are surely inside, by numpy's ``mode``."""
    if mode == "raise":
        return indices
    if extent == 0 and indices.size:
        raise IndexError("there is nothing to take from an axis of length 0")
    if mode == "wrap":
        return UFUNCS["remainder"](indices.astype(np.int64, copy=False), extent)
    if mode == "clip":
        return indices.clip(0, extent - 1)
    raise ValueError(f"mode must be 'raise', 'wrap' or 'clip', not {mode!r}")


def take(a, indices, axis=None, out=None, mode: str = "raise"):
    """The elements of ``a`` at ``indices``, counted over the flat array or along ``axis``."""
    array = as_array(a)
    array = array._ravel() if axis is None else array
    axis = 0 if axis is None else _indexing.normalize_axis(axis, array.ndim)
    indices = _wrapped(as_indices(indices), array.shape[axis], mode)
    result = array[(slice(None),) * axis + (indices,)]
    if out is None:
        return result
    return _driver._array_apply("copy", result, out=out)


def as_indices(value):
    """An array of integers on the device; an empty list is one."""
    array = as_array(value)
    if array.size == 0 and array.dtype.kind == "f" and not hasattr(value, "dtype"):
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise TypeError(f"indices must be of integers, not of {array.dtype}")
    return array


def put(a, ind, v, mode: str = "raise") -> None:
    """Set the elements of ``a`` at flat ``ind`` to ``v``, which repeats where it is short."""
    indices = _wrapped(as_indices(ind), a.size, mode)._ravel()
    values = as_array(v)._ravel()
    if indices.size == 0 or values.size == 0:
        return
    if values.size not in (1, indices.size):
        values = values[arange_of(indices.size) % values.size]
    _indexing.check_bounds(indices, 0, a.size)
    wrapped = UFUNCS["remainder"](indices.astype(np.int64, copy=False), a.size)
    a[unravel_index(wrapped, a.shape)] = values


def take_along_axis(arr, indices, axis: int = -1):
    """For each place of ``indices``, the element of ``arr`` at that index along ``axis``."""
    if axis is None:
        return arr._ravel()[as_indices(indices)]
    return arr[_along_axis(arr, as_indices(indices), axis)]


def put_along_axis(arr, indices, values, axis: int) -> None:
    """Set for each place of ``indices`` the element of ``arr`` at that index along ``axis``."""
    if axis is None:
        put(arr, indices, values)
    else:
        arr[_along_axis(arr, as_indices(indices), axis)] = values


def _along_axis(arr, indices, axis: int) -> tuple:
    axis = _indexing.normalize_axis(axis, arr.ndim)
    if indices.ndim != arr.ndim:
        raise ValueError(
            f"indices has {indices.ndim} axes, the array {arr.ndim}: they must be as many"
        )
    places = []
    for one in range(arr.ndim):
        shape = [1] * arr.ndim
        shape[one] = arr.shape[one]
        places.append(
            indices if one == axis else arange_of(arr.shape[one])._reshape(shape)
        )
    return tuple(places)


def compress(condition, a, axis=None, out=None):
    """The parts of ``a`` along ``axis`` for which ``condition``, a vector, holds."""
    mask = as_array(condition)
    if mask.ndim != 1:
        raise ValueError(f"the condition must be a vector, not of {mask.ndim} axes")
    return take(a, nonzero(mask)[0], axis, out)


def extract(condition, arr):
    """The elements of ``arr`` where ``condition``, of the same size, holds."""
    return take(arr, nonzero(as_array(condition)._ravel())[0])


def place(arr, mask, vals) -> None:
    """Set the elements where ``mask`` holds to ``vals`` in turn."""
    places = flatnonzero(mask)
    values = as_array(vals)._ravel()
    if places.size and not values.size:
        raise ValueError("there are no values to place")
    put(arr, places, values)


def putmask(a, mask, values) -> None:
    """Set the elements where ``mask`` holds to those of ``values``, which repeats."""
    values = as_array(values)
    mask = as_array(mask)
    if values.size == 0:
        return
    if values.size != 1 and values.shape != a.shape:
        values = values._ravel()[arange_of(a.size) % values.size]._reshape(a.shape)
    copyto(a, values._reshape(()) if values.size == 1 else values, "unsafe", mask)


def copyto(dst, src, casting: str = "same_kind", where=True) -> None:
    """Copy ``src`` to ``dst`` with broadcasting and casting, where ``where`` holds."""
    if not isinstance(dst, _driver.ArrayBase):
        raise TypeError("copyto() does not copy to the host; call get()")
    if not isinstance(src, (bool, int, float, complex)):
        src = as_array(src)
        if not np.can_cast(src.dtype, dst.dtype, casting):
            raise TypeError(
                f"{src.dtype} cannot be cast to {dst.dtype} by the rule {casting!r}"
            )
    else:
        src = np.asarray(src).astype(dst.dtype)[()]
    if where is True:
        _driver._array_assign(dst, src)
    else:
        _driver._array_apply(
            "copy", src, out=dst, where=_as_mask(where), casting="unsafe"
        )


def _as_mask(mask):
    mask = as_array(mask)
    return mask if mask.dtype.kind == "b" else mask != 0


def choose(a, choices, out=None, mode: str = "raise"):
    """For each place the element of ``choices[a]`` there."""
    chosen = as_indices(a)
    if isinstance(choices, _driver.ArrayBase):
        choices = list(choices)
    arrays = [as_array(choice) for choice in choices]
    shape = np.broadcast_shapes(chosen.shape, *(array.shape for array in arrays))
    dtype = np.result_type(*(array.dtype for array in arrays))
    chosen = _wrapped(chosen, len(arrays), mode)
    if mode == "raise" and chosen.size:
        low, high = int(chosen.min()), int(chosen.max())
        if low < 0 or high >= len(arrays):
            raise ValueError(f"there are {len(arrays)} choices, not {low} to {high}")
    result = empty(shape, dtype) if out is None else out
    for number, array in enumerate(arrays):
        copyto(result, array, "unsafe", chosen == number)
    return result


def select(condlist, choicelist, default=0):
    """For each place the element of the first choice whose condition holds, else ``default``."""
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"as many conditions as choices, and at least one: {len(condlist)} "
            f"and {len(choicelist)}"
        )
    result = as_operand(default)
    for condition, choice in reversed(list(zip(condlist, choicelist, strict=True))):
        if condition.dtype.kind != "b":
            raise TypeError(f"conditions must be of bool, not of {condition.dtype}")
        result = where(condition, choice, result)
    return result


# Matrices


def tri(N: int, M=None, k: int = 0, dtype=float):
    """Ones at and below the diagonal ``k``, zeros above it."""
    rows, columns = operator.index(N), operator.index(N if M is None else M)
    below = arange_of(rows)[:, None] + k >= arange_of(columns)
    return below.astype(dtype)


def tril(m, k: int = 0):
    """A copy with zeros above the diagonal ``k`` of the last two axes."""
    return _triangle(m, k, keep_below=True)


def triu(m, k: int = 0):
    """A copy with zeros below the diagonal ``k`` of the last two axes."""
    return _triangle(m, k - 1, keep_below=False)


def _triangle(m, k: int, keep_below: bool):
    array = as_array(m)
    if array.ndim == 1:
        array = _indexing.broadcast_to(array, (array.size, array.size))
    if array.ndim == 0:
        raise ValueError("a triangle wants an array of at least one axis")
    rows, columns = array.shape[-2:]
    below = tri(rows, columns, k, bool)
    zero = array.dtype.type(0)
    return where(below, array, zero) if keep_below else where(below, zero, array)


def _triangle_indices(mask) -> tuple:
    return nonzero(mask)


def tril_indices(n: int, k: int = 0, m=None) -> tuple:
    """The indices of the elements at and below the diagonal ``k``."""
    return _triangle_indices(tri(n, m, k, bool))


def triu_indices(n: int, k: int = 0, m=None) -> tuple:
    """The indices of the elements at and above the diagonal ``k``."""
    return _triangle_indices(~tri(n, m, k - 1, bool))


def tril_indices_from(arr, k: int = 0) -> tuple:
    """:func:`tril_indices` for a matrix of the shape of ``arr``."""
    _want_matrix(arr)
    return tril_indices(arr.shape[-2], k, arr.shape[-1])


def triu_indices_from(arr, k: int = 0) -> tuple:
    """:func:`triu_indices` for a matrix of the shape of ``arr``."""
    _want_matrix(arr)
    return triu_indices(arr.shape[-2], k, arr.shape[-1])


def _want_matrix(arr) -> None:
    if arr.ndim != 2:
        raise ValueError(f"a matrix has two axes, this array has {arr.ndim}")


def diag(v, k: int = 0):
    """The diagonal ``k`` of a matrix, a view; or a matrix with the vector ``v`` there."""
    array = as_array(v)
    if array.ndim == 2:
        return array.diagonal(k)
    if array.ndim != 1:
        raise ValueError(f"diag() wants a vector or a matrix, not {array.ndim} axes")
    n = array.size + abs(k)
    result = zeros((n, n), array.dtype)
    if array.size:
        result.diagonal(k)._assign(array)
    return result


def diagflat(v, k: int = 0):
    """A matrix with all elements of ``v`` on its diagonal ``k``."""
    return diag(as_array(v)._ravel(), k)


def diag_indices_from(arr) -> tuple:
    """The indices of the main diagonal of an array whose axes are all equally long."""
    if arr.ndim < 2 or len(set(arr.shape)) != 1:
        raise ValueError(f"all axes must be equally long, not {arr.shape}")
    return (arange_of(arr.shape[0]),) * arr.ndim


def fill_diagonal(a, val, wrap: bool = False) -> None:
    """Set the main diagonal to ``val``, which repeats where it is short."""
    if a.ndim < 2:
        raise ValueError("fill_diagonal() wants an array of at least two axes")
    if wrap:
        raise TypeError("fill_diagonal() of a GPUArray has no wrap=True")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError(f"all axes must be equally long, not {a.shape}")
    length = min(a.shape)
    diagonal = a._view(0, (length,), (sum(a.strides),))
    values = as_array(val)._ravel()
    if values.size != 1 and values.size != length:
        values = values[arange_of(length) % values.size]
    if length:
        diagonal._assign(values._reshape(()) if values.size == 1 else values)


def trace(a, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None):
    """The sum of the diagonal of two axes."""
    return a.diagonal(offset, axis1, axis2).sum(-1, dtype, out)


# Indices


def ix_(*args) -> tuple:
    """Vectors as indices of a grid: each along an axis of its own."""
    result = []
    for axis, vector in enumerate(args):
        vector = as_array(vector)
        if vector.ndim != 1:
            raise ValueError("ix_() wants vectors")
        if vector.dtype.kind == "b":
            vector = nonzero(vector)[0]
        shape = [1] * len(args)
        shape[axis] = vector.size
        result.append(vector._reshape(shape))
    return tuple(result)


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


def ravel_multi_index(multi_index, dims, mode="raise", order: str = "C"):
    """Indices of each axis of ``dims`` as indices of the flat array."""
    modes = (mode,) * len(dims) if isinstance(mode, str) else mode
    total, step = None, 1
    rows = list(zip(multi_index, dims, modes, strict=True))
    for index, extent, how in reversed(rows) if order == "C" else rows:
        index = _wrapped(as_indices(index), extent, how).astype(np.int64)
        if how == "raise" and index.size:
            if int(index.min()) < 0 or int(index.max()) >= extent:
                raise ValueError("invalid entry in coordinates array")
        part = index * step
        total = part if total is None else total + part
        step *= extent
    return total


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
        grids = [_indexing.broadcast_to(grid, shape) for grid in grids]
    return tuple(grid.copy("C") for grid in grids) if copy else tuple(grids)


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
