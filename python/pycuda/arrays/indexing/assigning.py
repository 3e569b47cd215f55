"""Functions that set selected elements of an array."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import (
    as_array,
    holds_arrays,
    values_to_gpu,
)
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.indexing import items as _items
from pycuda.arrays.indexing.grids import unravel_index
from pycuda.arrays.indexing.indices import (
    as_indices,
    places_along_axis,
    wrapped_indices,
)
from pycuda.arrays.indexing.selecting import flatnonzero
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def values_for(a, values, casting: str = "unsafe"):
    """Values that elements of ``a`` are set to. Numbers and lists become its type as they would one by one."""
    is_number = isinstance(values, np.generic)
    if is_number or not hasattr(values, "dtype") and not holds_arrays(values):
        return values_to_gpu(np.asarray(values, a.dtype))
    values = as_array(values)
    if not np.can_cast(values.dtype, a.dtype, casting):
        raise TypeError(
            f"{values.dtype} cannot be cast to {a.dtype} by the rule {casting!r}"
        )
    return values


def want_own(name: str, array) -> None:
    """Raise TypeError unless ``array`` is on the device: ``name`` changes it."""
    if not isinstance(array, ArrayBase):
        raise TypeError(
            f"{name}() changes an array of the device, not {type(array).__name__}"
        )


@public(module=False)
def put(a, ind, v, mode: str = "raise") -> None:
    """Set the elements at flat indices.

    ind: integers, counted in C order; negative ones count from the end.
    v: the values, repeated if there are too few.
    mode: for indices outside: "raise" IndexError, "wrap" around, or "clip" to the first and last element.

    ``a`` is changed in place; nothing is returned.

    >>> x = gpuarray.zeros(4, np.int32)
    >>> np.put(x, [0, -1], [5, 6])
    >>> x
    array([5, 0, 0, 6], dtype=int32)
    """
    indices = wrapped_indices(as_indices(ind, bools=True), a.size, mode)._ravel()
    values = values_for(a, v)._ravel()
    if indices.size and not a.size:
        raise IndexError("cannot put values into an empty array")
    if indices.size == 0 or values.size == 0:
        return
    values = _as_many(values, indices.size)
    if a._c_contiguous or a.ndim == 1:
        (a._ravel() if a._c_contiguous else a)[indices] = values
        return
    _items.check_bounds(indices, 0, a.size)
    wrapped = UFUNCS["remainder"](indices.astype(np.int64, copy=False), a.size)
    if (
        a.ndim == 0
    ):  # an index without axes selects the whole array, which takes one value
        a = a._view(0, (1,), (a.itemsize,))
    a[unravel_index(wrapped, a.shape)] = values


def _as_many(values, count: int):
    """The first ``count`` values, or the values repeated to this number. One value is returned unchanged."""
    if values.size in (1, count):
        return values
    if values.size > count:
        return values[:count]
    return values[arange_of(count) % values.size]


@public()
def put_along_axis(arr, indices, values, axis: int) -> None:
    """Set for each place of ``indices`` the element of ``arr`` at that index along ``axis``.

    indices: integers; their shape is that of ``arr`` but for ``axis``.
    values: an array or number that broadcasts to ``indices``.
    axis: the axis; None takes both arrays as flat.

    >>> x = gpuarray.array([[1, 2], [3, 4]])
    >>> gpuarray.put_along_axis(x, gpuarray.array([[1], [0]]), 0, axis=1)
    >>> x
    array([[1, 0],
           [0, 4]])
    """
    indices = as_indices(indices)
    if axis is not None:
        arr[places_along_axis(arr, indices, axis)] = values
        return
    if indices.ndim != 1:
        raise ValueError(
            f"with axis=None, indices must be a vector, not of {indices.ndim} axes"
        )
    put(arr, indices, values)


@public()
def place(arr, mask, vals) -> None:
    """Set the elements where ``mask`` holds to the first values of ``vals``, one after the other.

    mask: an array of the shape of ``arr``.
    vals: the values, repeated if there are too few. Raises ValueError for none.

    >>> x = gpuarray.array([1, 2, 3, 4])
    >>> gpuarray.place(x, x > 1, [7, 8])
    >>> x
    array([1, 7, 8, 7])
    """
    want_own("place", arr)
    is_number = isinstance(vals, (bool, int, float, complex, np.number))
    if is_number and arr.dtype.kind in "biufc":
        mask = as_array(mask)
        if mask.size == arr.size:
            number = np.asarray(vals, arr.dtype).item()
            return copyto(arr, number, "unsafe", mask._reshape(arr.shape))
    values = values_for(arr, vals, "safe")._ravel()
    if _driver._is_captured():
        if not values.size:
            raise ValueError("vals must have at least one element")
        mask = (as_array(mask) != 0)._reshape(arr.shape)
        return _items.put_in_order(arr, mask, values)
    mask = as_array(mask)
    if values.size == 1 and mask.size == arr.size:
        return copyto(arr, values._reshape(()), "unsafe", mask._reshape(arr.shape))
    places = flatnonzero(mask)
    if places.size and not values.size:
        raise ValueError("vals must have at least one element")
    if arr._c_contiguous and mask.size <= arr.size and places.size:
        values = _as_many(values, places.size).astype(arr.dtype, copy=False)
        values = broadcast_to(values, places.shape)
        return _items.put_known(arr._ravel(), places, values)
    put(arr, places, values)


@public()
def putmask(a, mask, values) -> None:
    """Set the elements where ``mask`` holds to the elements of ``values`` at the same places.

    mask: an array of the shape of ``a``.
    values: the values; a short array is repeated over the places of ``a``.

    >>> x = gpuarray.array([1, 2, 3, 4])
    >>> gpuarray.putmask(x, x > 1, gpuarray.array([7, 8]))
    >>> x
    array([1, 8, 7, 8])
    """
    want_own("putmask", a)
    values = values_for(a, values, "safe")
    mask = as_array(mask)
    if mask.size != a.size:
        raise ValueError(
            f"mask and array must have the same size, not {mask.size} and {a.size}"
        )
    mask = mask._reshape(a.shape)
    if values.size == 0:
        return
    if values.size != 1 and values.shape != a.shape:
        values = values._ravel()[arange_of(a.size) % values.size]._reshape(a.shape)
    copyto(a, values._reshape(()) if values.size == 1 else values, "unsafe", mask)


@public()
def copyto(dst, src, casting: str = "same_kind", where=True) -> None:
    """Copy an array or number into an array, with broadcasting.

    dst: the array to write.
    src: an array of the device or of the host, or a number.
    casting: which casts of types are allowed, as in NumPy; others raise TypeError.
    where: an array of bool: the places to write.

    >>> x = gpuarray.zeros(3)
    >>> gpuarray.copyto(x, gpuarray.array([1, 2, 3]), where=gpuarray.array([True, False, True]))
    >>> x
    array([1., 0., 3.])
    """
    if not isinstance(dst, _driver.ArrayBase):
        raise TypeError("copyto() does not copy to the host; call get()")
    is_number = isinstance(src, (bool, int, float, complex))
    if not is_number:
        src = as_array(src)
    kind = np.asarray(src).dtype if is_number else src.dtype
    is_weak = type(src) in (int, float, complex) and _takes_weak(dst.dtype, src)
    if not is_weak and not np.can_cast(kind, dst.dtype, casting):
        raise TypeError(f"{kind} cannot be cast to {dst.dtype} by the rule {casting!r}")
    if is_number:
        src = np.asarray(src, dst.dtype if is_weak else None).astype(dst.dtype)[()]
    if where is True:
        _driver._array_assign(dst, src)
        return
    if not is_number:  # as in an assignment, additional axes of extent 1 are permitted
        while src.ndim > dst.ndim and src.shape[0] == 1:
            src = src[0]
    _driver._array_apply("copy", src, out=dst, where=_as_mask(where), casting="unsafe")


def _takes_weak(dtype, number) -> bool:
    """Whether a Python number has the type ``dtype`` beside an array of it, by NEP 50."""
    return dtype.kind in "iufc" and np.result_type(dtype, number) == dtype


def _as_mask(mask):
    mask = as_array(mask)
    return mask if mask.dtype.kind == "b" else mask != 0
