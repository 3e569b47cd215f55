"""Arrays put together from several arrays: choose(), select()."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array, as_operand
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.indexing.assigning import copyto
from pycuda.arrays.indexing.indices import (
    as_indices,
    wrapped_indices,
)
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.registry import public


@public()
def choose(a, choices, out=None, mode: str = "raise"):
    """For each place the element of ``choices[a]`` there."""
    chosen = as_indices(a)
    if isinstance(choices, _driver.ArrayBase):
        choices = list(choices)
    arrays = [as_array(choice) for choice in choices]
    shape = np.broadcast_shapes(chosen.shape, *(array.shape for array in arrays))
    dtype = np.result_type(*(array.dtype for array in arrays))
    chosen = wrapped_indices(chosen, len(arrays), mode)
    if mode == "raise" and chosen.size:
        low, high = int(chosen.min()), int(chosen.max())
        if low < 0 or high >= len(arrays):
            raise ValueError(f"there are {len(arrays)} choices, not {low} to {high}")
    result = empty(shape, dtype) if out is None else out
    for number, array in enumerate(arrays):
        copyto(result, array, "unsafe", chosen == number)
    return result


@public()
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
