"""Arrays put together from several arrays: choose(), select(), piecewise()."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, put_back, put_into
from pycuda.arrays.creation.filled import empty, zeros
from pycuda.arrays.indexing.assigning import copyto
from pycuda.arrays.indexing.grids import are_outside, record_check
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
    dtype, choices = _of_common_type([_choice(choice) for choice in choices])
    count = len(choices)
    chosen = wrapped_indices(chosen, count, mode)
    checks = mode == "raise" and chosen.size > 0 and not record_check(chosen, count)
    outside, result = False, None
    if count > _MOST_CHOICES:
        outside = checks and are_outside(chosen, count)
    elif checks:
        outside, result = _chosen_and_check(dtype, chosen, *choices)
    else:
        result = _chosen(dtype, chosen, *choices)
    if outside:
        low, high = int(chosen.min()), int(chosen.max())
        raise ValueError(
            f"indices must be from 0 to {count - 1}, not from {low} to {high}"
        )
    if result is None:
        result = _chosen_one_by_one(dtype, chosen, choices)
    # `result` is not `out`, which may share memory with an operand.
    return (put_back if mode == "raise" else put_into)(out, result)


def _chosen_one_by_one(dtype, chosen, choices):
    """As :func:`_chosen`, of any number of arrays."""
    arrays = [as_array(choice) for choice in choices]
    shape = np.broadcast_shapes(chosen.shape, *(array.shape for array in arrays))
    result = empty(shape, dtype)
    for number, array in enumerate(arrays):
        copyto(result, array, "unsafe", chosen == number)
    return result


@fuse
def _chosen_and_check(kind, chosen, *choices):
    outside = (chosen < 0) | (chosen >= len(choices))
    return outside.any(), _chosen(kind, chosen, *choices)


@fuse
def _chosen(kind, chosen, *choices):
    choices = [_cast(one, kind) for one in choices]
    result = choices[-1]
    for number, choice in enumerate(choices[:-1] or choices):
        result = np.where(chosen == number, choice, result)
    return result


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
    dtype, choices = _of_common_type(
        [_choice(choice) for choice in (*choicelist, default)]
    )
    if len(conditions) <= _MOST_CHOICES:
        return _selected(dtype, len(conditions), *conditions, *choices)
    arrays = [one for one in choices if isinstance(one, _driver.ArrayBase)]
    shape = np.broadcast_shapes(*(one.shape for one in (*conditions, *arrays)))
    result = empty(shape, dtype)
    copyto(result, choices.pop(), "unsafe")
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        copyto(result, choice, "unsafe", condition)
    return result


@public()
def piecewise(x, condlist, funclist, *args, **kw):
    """Evaluate a function that is defined by pieces.

    condlist: arrays of bool, one for each piece. Where several hold, the last one counts.
    funclist: for each piece a number, an array that fits its elements, or a function of these elements. One more than
        conditions: the last one is for elements where no condition holds, which are 0 otherwise.
    args, kw: further arguments of the functions.

    A function gets a vector of the elements of its piece, so their number is read back from the device; numbers do not
    need that. Returns an array of the shape and type of ``x``. Raises ValueError for other lengths of the lists.

    >>> x = gpuarray.array([-2.0, 0.0, 3.0])
    >>> gpuarray.piecewise(x, [x < 0, x > 1], [lambda part: -part, 10])
    array([ 2.,  0., 10.])
    """
    x = as_array(x)
    is_one = np.isscalar(condlist) or (
        not isinstance(condlist, (list, tuple, np.ndarray, _driver.ArrayBase))
    )
    if not is_one and len(condlist) and x.ndim:
        first = condlist[0]
        is_one = not isinstance(first, (list, tuple, np.ndarray, _driver.ArrayBase))
        is_one = is_one or getattr(first, "ndim", 1) == 0
    conditions = [condlist] if is_one else list(condlist)
    conditions = [as_array(one).astype(bool, copy=False) for one in conditions]
    if _are_numbers(funclist) and len(conditions) <= _MOST_CHOICES:
        if len(funclist) - len(conditions) in (0, 1):
            return _of_numbers(x, conditions, list(funclist))
    if len(funclist) == len(conditions) + 1:
        anywhere = conditions[0]
        for one in conditions[1:]:
            anywhere = anywhere | one
        conditions.append(~anywhere)
    elif len(funclist) != len(conditions):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or {len(conditions) + 1} functions are "
            f"expected, not {len(funclist)}"
        )
    result = zeros(x.shape, x.dtype)
    for condition, function in zip(conditions, funclist, strict=True):
        if not callable(function):
            result[condition] = function
            continue
        part = x[condition]
        if part.size:
            result[condition] = function(part, *args, **kw)
    return result


def _are_numbers(values) -> bool:
    return all(
        isinstance(one, (bool, int, float, complex, np.generic)) for one in values
    )


def _of_numbers(x, conditions, numbers):
    """:func:`piecewise` of numbers, in one kernel. The last condition comes first, because it counts."""
    numbers = [  # Python's numbers must fit the type, as in assignments
        one.astype(x.dtype)
        if isinstance(one, np.generic)
        else np.asarray(one, x.dtype)[()]
        for one in numbers
    ]
    default = numbers.pop() if len(numbers) > len(conditions) else x.dtype.type(0)
    shape = np.broadcast_shapes(*(one.shape for one in conditions))
    if shape != x.shape:
        raise IndexError(
            f"conditions of shape {shape} do not fit an array of {x.shape}"
        )
    return _selected(
        x.dtype, len(conditions), *reversed(conditions), *reversed(numbers), default
    )


_MOST_CHOICES = 16  # more would be too many arrays for one kernel


@fuse
def _selected(kind, count, *values):
    conditions, choices = values[:count], values[count:]
    choices = [_cast(one, kind) for one in choices]
    result = choices.pop()
    for condition, choice in reversed(list(zip(conditions, choices, strict=True))):
        result = np.where(condition, choice, result)
    return result


def _cast(value, kind):
    """A choice in a fused function. Numbers have the type already."""
    return value.astype(kind) if isinstance(value, Traced) else value


def _choice(value):
    """Convert a choice to an array of the device. Python's numbers stay, because they do not change the type."""
    return value if type(value) in (int, float, complex) else as_array(value)


def _of_common_type(choices):
    """The type of the result, and the choices of :func:`_choice` with the numbers cast to the type.

    Numbers are cast like arrays: -1 becomes 255 for uint8.
    """
    dtype = np.result_type(*(getattr(one, "dtype", one) for one in choices))
    return dtype, [
        one if isinstance(one, _driver.ArrayBase) else np.asarray(one).astype(dtype)[()]
        for one in choices
    ]
