"""Elements of an array taken and set with ``x[index]``."""

from __future__ import annotations

import operator

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.checks import raise_if
from pycuda.arrays.creation.conversion import from_foreign, to_gpu
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.creation.ranges import arange_of
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.shapes.views import broadcast_to

# Basic indexing: views


def _is_basic(index) -> bool:
    return (
        index is None
        or index is Ellipsis
        or isinstance(index, slice)
        or (_is_integer(index))
    )


def _is_integer(index) -> bool:
    if isinstance(index, (bool, np.bool_, ArrayBase)):
        return False
    if isinstance(index, np.ndarray):
        return index.ndim == 0 and index.dtype.kind in "iu"
    return hasattr(index, "__index__")


def _as_tuple(index) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def _axes_used(item) -> int:
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, (bool, np.bool_)):
        return 0
    if hasattr(item, "dtype") and item.dtype.kind == "b":
        return item.ndim
    return 1


def _expand(ary, items: tuple) -> list:
    """Replace the ellipsis (or the end of the index) by slices of all remaining axes.

    An ellipsis of no axes is kept, because it separates the index arrays on its two sides, as a slice does.
    """
    if sum(item is Ellipsis for item in items) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(_axes_used(item) for item in items)
    if used > ary.ndim:
        raise IndexError(
            f"too many indices for array: array is {ary.ndim}-dimensional, "
            f"but {used} were indexed"
        )
    where = next((i for i, item in enumerate(items) if item is Ellipsis), len(items))
    rest = [slice(None)] * (ary.ndim - used) or list(items[where : where + 1])
    return [*items[:where], *rest, *items[where + 1 :]]


def basic_view(ary, items) -> ArrayBase:
    """The view that ints, slices, None and an ellipsis select."""
    items = tuple(operator.index(i) if _is_integer(i) else i for i in items)
    return _driver._array_part(ary, items)


def get_item(ary, index):
    """``ary[index]`` for indices that the base class does not support: NumPy's integers, fields, arrays."""
    if isinstance(index, ArrayBase):  # the usual call, which shall cost little
        return _select(ary, (index,))
    if isinstance(index, str):
        return _field(ary, index)
    items = _as_tuple(index)
    if all(_is_basic(item) for item in items):
        return basic_view(ary, items)
    return _select(ary, items)


def select(ary, items: tuple):
    """``ary[items]`` of which some are arrays, in the context of the arrays."""
    if len(items) == 1 and ary.ndim and _is_mask_of(items[0], ary):
        mask = items[0]
        mask = mask if isinstance(mask, ArrayBase) else to_gpu(mask)
        return _driver._array_compress(ary, mask)
    if ary.ndim and _are_places(items):
        return _take_rows(ary, items[0])
    return _AdvancedIndex(ary, items).take()


# Errors name the operator, x[indices], not this function.
_select = on_own_device(select, False)


def set_item(ary, index, value) -> None:
    """``ary[index] = value`` for these indices, with broadcasting and conversion."""
    if isinstance(index, str):
        return _field(ary, index)._assign(value)
    items = _as_tuple(index)
    if all(_is_basic(item) for item in items):
        return basic_view(ary, items)._assign(value)
    return _assign_selected(ary, items, value)


@on_own_device
def _assign_selected(ary, items, value) -> None:
    if (lent := from_foreign(value)) is not None:
        value = lent
    if len(items) == 1 and _is_mask_of(items[0], ary) and _is_single(value):
        return _assign_where(ary, items[0], value)
    if ary.ndim and _are_places(items) and _driver._array_has_rows(ary):
        return _put_rows(ary, items[0], value)
    if len(items) == 1 and _is_mask_of(items[0], ary) and _driver._is_captured():
        return _assign_in_order(ary, items[0], value)
    return _AdvancedIndex(ary, items).put(value)


def _field(ary, name: str):
    """A field of structs."""
    if not ary.dtype.fields or name not in ary.dtype.fields:
        raise IndexError(f"no field of name {name!r} in {ary.dtype}")
    dtype, offset = ary.dtype.fields[name][:2]
    return ary._view(offset, ary.shape, ary.strides, dtype)


def _is_mask_of(item, ary) -> bool:
    return hasattr(item, "dtype") and item.dtype.kind == "b" and item.shape == ary.shape


def _is_single(value) -> bool:
    return np.ndim(value) == 0 if not isinstance(value, ArrayBase) else value.size == 1


def _assign_where(ary, mask, value) -> None:
    """Assign a number to the elements at which the mask is true, in one kernel without a list of indices."""
    mask = mask if isinstance(mask, ArrayBase) else to_gpu(mask)
    if not isinstance(value, ArrayBase):
        value = np.asarray(value, ary.dtype)[()]
    else:
        value = value._reshape(())
    _driver._array_apply("copy", value, out=ary, where=mask, casting="unsafe")


def _assign_in_order(ary, mask, value) -> None:
    """As above for a vector of values, in a capture. The number of true elements of the mask is known only during a
    launch of the graph, which checks it."""
    mask = mask if isinstance(mask, ArrayBase) else to_gpu(mask)
    if not isinstance(value, ArrayBase) or value.dtype != ary.dtype:
        source = empty(np.shape(value), ary.dtype)
        source._assign(value)
        value = source
    if value.ndim != 1 or value.size == 0:
        raise ValueError(
            "in a capture, the values that a mask assigns must be a vector with elements, "
            f"not of shape {value.shape}"
        )
    wrong = mask.sum(dtype=np.int64) != value.size
    message = f"a vector of {value.size} values does not fit the places of the mask"
    _driver._record_check(wrong, IndexError, message)
    put_in_order(ary, mask, value)


def put_in_order(ary, mask, values) -> None:
    """Set the elements where the mask is true to the values, one after the other; values that are too few are repeated."""
    number = mask._ravel().astype(np.int64).cumsum() - 1
    spread = values[number % values.size]._reshape(ary.shape)
    _driver._array_apply("copy", spread, out=ary, where=mask, casting="unsafe")


# Advanced indexing: arrays of integers and bools


def places_of(array) -> tuple:
    """The indices of the elements that are not zero: an array of int64 for each axis."""
    if array.ndim == 0 or array.dtype.kind == "V" and array.dtype.fields:
        return tuple(to_gpu(places) for places in array.get().nonzero())
    rows = _driver._array_nonzero(array)
    return tuple(rows[axis] for axis in range(array.ndim))


def check_bounds(array, axis: int, extent: int) -> None:
    """Raise IndexError if an index is out of bounds for an axis of this length. In a capture, the launches check."""
    if array.size == 0:
        return
    if _driver._is_captured():
        outside = (array < -extent) | (array >= extent)
        message = f"an index is out of bounds for axis {axis} with size {extent}"
        return raise_if(outside, message, IndexError)
    low, high = int(array.min().get()), int(array.max().get())
    if low < -extent or high >= extent:
        bad = low if low < -extent else high
        raise IndexError(
            f"index {bad} is out of bounds for axis {axis} with size {extent}"
        )


class _NewAxis:
    """A mask without axes. It selects the whole array along a new axis of extent 1, or of extent 0 if it is False."""

    def __init__(self, places: ArrayBase) -> None:
        self.places = places  # [0] if the mask is true, else empty


def _fits(mask, extents) -> bool:
    """Whether a mask can choose among axes of these lengths; like numpy, one without elements may be
    shorter than they are."""
    if mask.ndim != len(extents):
        return False
    return all(
        n == extent or mask.size == 0 and n == 0
        for n, extent in zip(mask.shape, extents, strict=True)
    )


# One array of integers for the first axis: the frequent case, without the work of the general one


def _are_places(items: tuple) -> bool:
    if len(items) != 1:
        return False
    places = items[0]
    return isinstance(places, (ArrayBase, np.ndarray)) and places.dtype.kind in "iu"


def as_places(places):
    """Indices on the device as int32 or int64."""
    if not isinstance(places, ArrayBase):
        places = to_gpu(np.asarray(places, np.int64))
    if places.dtype.char in "ilq" and places.dtype.itemsize >= 4:
        return places
    return places.astype(np.int64)


def _take_rows(ary, places):
    places = as_places(places)
    result = _driver._array_take_rows(ary, places)
    if result is None:
        check_bounds(places, 0, ary.shape[0])
    return result


def take_known(vector, places):
    """``vector[places]`` for indices from 0 to the extent, of which the caller is sure: nothing waits for a check."""
    return _driver._array_take_rows(vector, as_places(places), False)


def put_known(vector, places, values) -> None:
    """``vector[places] = values`` for such indices, and values of the vector's type."""
    _driver._array_put_rows(vector, as_places(places), values, False)


def _put_rows(ary, places, value) -> None:
    places = as_places(places)
    shape = places.shape + ary.shape[1:]
    value = _broadcast_value(value, ary.dtype, shape)
    if not _driver._array_put_rows(ary, places, value):
        check_bounds(places, 0, ary.shape[0])


def _broadcast_value(value, dtype, shape):
    """The array or number as an array of the type; some of its axes may repeat elements."""
    if not isinstance(value, ArrayBase) or value.dtype != dtype:
        source = empty(np.shape(value), dtype)
        source._assign(value)
        value = source
    while value.ndim > len(shape) and value.shape[0] == 1:
        value = value[0]
    return broadcast_to(value, shape)


class _AdvancedIndex:
    """Arrays of integers as an index. The address of each element is computed.

    The arrays are broadcast to one shape, which replaces the axes that they index. The new axes are at the position of
    the first array if the arrays are adjacent in the index, else in front. All other items are applied first, as a view.
    """

    def __init__(self, ary, items: tuple) -> None:
        basic, arrays = [], []  # arrays: (axis of the view, array of int64)
        axis = 0  # of the view
        places = []
        for place, item in enumerate(
            self._without_masks(_expand(ary, self._prepare(items)), ary.shape)
        ):
            if isinstance(item, ArrayBase):
                arrays.append((axis, item))
                places.append(place)
                basic.append(slice(None))
                axis += 1
            elif isinstance(item, _NewAxis):
                arrays.append((axis, item.places))
                places.append(place)
                basic.append(None)
                axis += 1
            else:
                basic.append(item)
                axis += item is not Ellipsis and not _is_integer(item)
        # An integer beside arrays is an array, too: it decides where the axes of the result are.
        self.view = basic_view(ary, tuple(basic))
        self.arrays = arrays
        self.shape = np.broadcast_shapes(*(array.shape for _, array in arrays))
        side_by_side = places[-1] - places[0] == len(places) - 1
        self.front = arrays[0][0] if side_by_side else 0

    @staticmethod
    def _prepare(items: tuple) -> tuple:
        prepared = []
        has_array = any(not _is_basic(item) for item in items)
        for item in items:
            if isinstance(item, (list, tuple)) or isinstance(item, (bool, np.bool_)):
                item = np.asarray(item)
                if item.size == 0 and item.dtype.kind == "f":
                    item = item.astype(np.int64)
            if isinstance(item, np.ndarray) and not _is_integer(item):
                item = to_gpu(item)
            elif has_array and _is_integer(item) and not isinstance(item, ArrayBase):
                item = to_gpu(np.array(operator.index(item), np.int64))
            elif not _is_basic(item) and not isinstance(item, ArrayBase):
                raise IndexError(
                    f"cannot index with {type(item).__name__}; expected an int, a slice, None, an "
                    "ellipsis, or an array of integers or bools"
                )
            prepared.append(item)
        return tuple(prepared)

    def _without_masks(self, items: list, shape) -> list:
        result, axis = [], 0
        for item in items:
            start, axis = axis, axis + _axes_used(item)
            if not isinstance(item, ArrayBase):
                result.append(item)
            elif item.dtype.kind == "b":
                # The shape of the result depends on the number of selected elements, which the host must read.
                if not _fits(item, shape[start:axis]):
                    raise IndexError(
                        f"a mask of shape {item.shape} does not fit axes of {shape[start:axis]}"
                    )
                if item.ndim == 0:
                    one = _NewAxis(to_gpu(np.zeros(int(item.get()), np.int64)))
                    result.append(one)
                    continue
                places = places_of(item)
                result.extend(places)
            elif item.dtype.kind in "iu":
                result.append(item.astype(np.int64, copy=False))
            else:
                raise IndexError(
                    "arrays used as indices must be of integer (or boolean) type"
                )
        return result

    def _result_shape(self) -> tuple[int, ...]:
        used = {axis for axis, _ in self.arrays}
        rest = [n for axis, n in enumerate(self.view.shape) if axis not in used]
        return (*rest[: self.front], *self.shape, *rest[self.front :])

    def _addressed(self):
        """The offsets of all elements, in bytes, as an array that broadcasts to the result.

        Raises IndexError for an index that is not on its axis, also where another axis has no elements.
        """
        before = self.front
        after = len(self._result_shape()) - before - len(self.shape)
        offsets, outside = _driver._array_offsets(*self._indexed_axes())
        self._refuse(outside)
        return offsets._reshape((1,) * before + self.shape + (1,) * after)

    def _indexed_axes(self) -> tuple[list, list, list]:
        """For each indexed axis: the indices, broadcast to one shape, the extent and the stride."""
        return (
            [broadcast_to(array, self.shape) for _, array in self.arrays],
            [self.view.shape[axis] for axis, _ in self.arrays],
            [self.view.strides[axis] for axis, _ in self.arrays],
        )

    def _refuse(self, outside: int) -> None:
        """Raise IndexError if array number ``outside`` has an index out of bounds; -1 means that no array has."""
        if outside >= 0:
            axis, array = self.arrays[outside]
            check_bounds(array, axis, self.view.shape[axis])

    def _base(self):
        """The view without the indexed axes, with the result's axes in their place."""
        used = {axis for axis, _ in self.arrays}
        rest = [axis for axis in range(self.view.ndim) if axis not in used]
        shape = [self.view.shape[axis] for axis in rest]
        strides = [self.view.strides[axis] for axis in rest]
        shape[self.front : self.front] = self.shape
        strides[self.front : self.front] = [0] * len(self.shape)
        return self.view._view(0, shape, strides)

    def take(self):
        shape = self._result_shape()
        result = _driver._array_empty(
            shape, self.view.dtype, self.view._own_allocator, "C", type(self.view)
        )
        if shape == self.shape:
            self._refuse(
                _driver._array_gather_indexed(result, self.view, *self._indexed_axes())
            )
        elif 0 not in self.shape:
            _driver._array_gather(result, self._base(), self._addressed())
        return result

    def put(self, value) -> None:
        shape = self._result_shape()
        source = _broadcast_value(value, self.view.dtype, shape)
        if shape == self.shape:
            self._refuse(
                _driver._array_scatter_indexed(self.view, source, *self._indexed_axes())
            )
        elif 0 not in self.shape:
            _driver._array_scatter(self._base(), self._addressed(), source)


def flat_places(ary, index) -> ArrayBase:
    """The flat indices, in C order, of the elements that an index selects, with the shape of the selection."""
    items = _as_tuple(index)
    if ary.size and any(not _is_basic(item) for item in items):
        advanced = _AdvancedIndex(ary, items)
        if ary._c_contiguous and advanced._result_shape() == advanced.shape and advanced.view.ptr == ary.ptr:  # fmt: skip
            return advanced._addressed() // ary.itemsize
    return arange_of(ary.size)._reshape(ary.shape)[index]
