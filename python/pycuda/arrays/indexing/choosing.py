"""Arrays put together from several arrays: choose(), select()."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, put_back, put_into
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.indexing.assigning import copyto
from pycuda.arrays.indexing.grids import record_check
from pycuda.arrays.indexing.indices import (
    as_indices,
    wrapped_indices,
)
from pycuda.arrays.registry import public
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.arrays.ufuncs.tracing import Traced


@public()
def choose(a, choices, out=None, mode: str = "raise"):
    """Take each element from one of several arrays.

    a: for each place, the number of the array.
    choices: the arrays, which are broadcast with ``a``.
    out: an array for the result.
    mode: for numbers outside: "raise" ValueError, "wrap" around, or "clip" to the first and last array.

    >>> gpuarray.choose(gpuarray.array([0, 1, 0]), [gpuarray.array([1, 2, 3]), gpuarray.array([7, 8, 9])])
    array([1, 8, 3])
    """
    chosen = as_indices(a)
    if isinstance(choices, _driver.ArrayBase):
        choices = list(choices)
    arrays = [as_array(choice) for choice in choices]
    shape = np.broadcast_shapes(chosen.shape, *(array.shape for array in arrays))
    dtype = np.result_type(*(array.dtype for array in arrays))
    chosen = wrapped_indices(chosen, len(arrays), mode)
    if mode == "raise" and chosen.size and not record_check(chosen, len(arrays)):
        low, high = int(chosen.min()), int(chosen.max())
        if low < 0 or high >= len(arrays):
            raise ValueError(
                f"indices must be from 0 to {len(arrays) - 1}, not from {low} to {high}"
            )
    result = empty(shape, dtype)  # not `out`, which may share memory with an operand
    for number, array in enumerate(arrays):
        copyto(result, array, "unsafe", chosen == number)
    return (put_back if mode == "raise" else put_into)(out, result)


@public()
def select(condlist, choicelist, default=0):
    """Take each element from the first of several arrays whose condition holds there.

    condlist: arrays of bool.
    choicelist: as many arrays or numbers.
    default: the value where no condition holds.

    >>> x = gpuarray.array([1, 5, 9])
    >>> gpuarray.select([x < 3, x > 7], [x, -x], default=0)
    array([ 1,  0, -9])
    """
    if len(condlist) != len(choicelist) or not condlist:
        raise ValueError(
            f"condlist and choicelist must have the same length, at least 1, not {len(condlist)} and {len(choicelist)}"
        )
    conditions = [as_array(condition) for condition in condlist]
    for condition in conditions:
        if condition.dtype.kind != "b":
            raise TypeError(f"conditions must be of bool, not of {condition.dtype}")
    choices = [_choice(choice) for choice in (*choicelist, default)]
    arrays = [one for one in choices if isinstance(one, _driver.ArrayBase)]
    types = [getattr(one, "dtype", one) for one in choices]
    shape = np.broadcast_shapes(*(one.shape for one in (*conditions, *arrays)))
    result = empty(shape, np.result_type(*types))
    choices = [  # numbers are cast like arrays: -1 becomes 255 for uint8
        one
        if isinstance(one, _driver.ArrayBase)
        else np.asarray(one).astype(result.dtype)[()]
        for one in choices
    ]
    if len(conditions) <= _MOST_CHOICES:
        return _selected(result.dtype, len(conditions), *conditions, *choices)
    copyto(result, choices.pop(), "unsafe")
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        copyto(result, choice, "unsafe", condition)
    return result


_MOST_CHOICES = 16  # more would be too many arrays for one kernel


@fuse
def _selected(kind, count, *values):
    conditions, choices = values[:count], values[count:]
    choices = [one.astype(kind) if isinstance(one, Traced) else one for one in choices]
    result = choices.pop()
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = np.where(condition, choice, result)
    return result


def _choice(value):
    """Convert a choice to an array of the device. Python's numbers stay, because they do not change the type."""
    return value if type(value) in (int, float, complex) else as_array(value)
