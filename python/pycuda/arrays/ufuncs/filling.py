"""New arrays whose elements are computed from their indices, in one kernel: :func:`by_index`.

The function is traced once for each combination of types, with placeholders for the index and for its numbers.
"""

from __future__ import annotations

import functools

import numpy as np

from pycuda import _driver
from pycuda.arrays.ufuncs.tracing import Placeholder, Trace, Traced

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable


class Index:
    """The index of an element in C order, while a function is traced."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    def range(self, start, step, dtype) -> Traced:
        """``start + index * step``, computed in ``dtype``. Numbers must have this type."""
        trace, dtype = self._trace, np.dtype(dtype)
        start, step = (
            trace.operand(one if isinstance(one, Placeholder) else dtype.type(one))
            for one in (start, step)
        )
        trace.steps.append(("arange", [start, step], dtype))
        trace.types.append(dtype)
        return Traced(trace, len(trace.types) - 1)


class _Plan:
    """The program of a function for a type of the elements and types of the numbers."""

    def __init__(self, function, dtype, numbers) -> None:
        trace = Trace([dtype])
        result = function(
            Index(trace), dtype, *(Placeholder(k, one) for k, one in enumerate(numbers))
        )
        if result.dtype != dtype:
            result = result.astype(dtype)
        self.make = _driver._Filling(
            dtype, trace.steps, result._number, trace.constants, trace.numbers
        ).make


def by_index(function: Callable) -> Callable:
    """Make a function that makes new C-contiguous arrays from a function of the index.

    The decorated function is called as ``function(index, dtype, *numbers)``: with an :class:`Index`, the array's type and
    placeholders of the numbers. It returns the element, which is cast to the type of the array. The resulting function is
    called with the shape, the type and the numbers, and returns the array.
    """
    plans: dict = {}

    @functools.wraps(function)
    def make(shape, dtype, *numbers, allocator=None):
        key = (dtype, *map(type, numbers))
        plan = plans.get(key)
        if plan is None:
            plan = plans[key] = _Plan(function, np.dtype(dtype), numbers)
        return plan.make(shape, allocator, *numbers)

    return make
