"""Arrays of evenly spaced numbers."""

from __future__ import annotations

import math
import warnings

import numpy as np

from pycuda import _driver
from pycuda._driver import _Using
from pycuda.arrays.creation.filled import empty
from pycuda.arrays.ufuncs.universal_functions import UFUNCS

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from pycuda.arrays.array_class.gpu_array import GPUArray


def logspace(start, stop, num: int = 50, endpoint: bool = True, base=10.0, dtype=None, axis: int = 0):  # fmt: skip
    """``base`` to the power of ``num`` numbers from ``start`` to ``stop``."""
    result = UFUNCS["power"](float(base), linspace(start, stop, num, endpoint))
    return result if dtype is None else result.astype(dtype, copy=False)


def geomspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None, axis: int = 0):  # fmt: skip
    """``num`` numbers from ``start`` to ``stop``, each a constant multiple of the one before."""
    if start == 0 or stop == 0:
        raise ValueError("a geometric sequence cannot include zero")
    if isinstance(start, complex) or isinstance(stop, complex) or start * stop < 0:
        raise TypeError("geomspace() wants two real numbers of the same sign")
    sign = math.copysign(1.0, start)
    exponents = linspace(math.log(abs(start)), math.log(abs(stop)), num, endpoint)
    result = sign * UFUNCS["exp"](exponents)
    if num > 0:
        result[0] = start
    if num > 1 and endpoint:
        result[-1] = stop
    return result if dtype is None else result.astype(dtype, copy=False)


def arange_of(count: int, dtype=np.int64) -> GPUArray:
    """0, 1, 2 ... ``count`` - 1."""
    return _fill_range(empty(count, np.dtype(dtype)), 0, 1)


def arange(
    *args, start=None, stop=None, step=None, dtype=None, stream=None, allocator=None
):
    """``arange([start,] stop[, step][, dtype])``: evenly spaced numbers.

    Without ``dtype`` the type is numpy's for the numbers given; PyCUDA made float32 of them once,
    so another type is announced with a warning.
    """
    args = list(args)
    if args and isinstance(args[-1], (np.dtype, type)):
        if dtype is not None:
            raise TypeError("arange() got dtype twice")
        dtype = args.pop()
    if len(args) > 3:
        raise ValueError("too many arguments")
    names = ("stop",) if len(args) == 1 else ("start", "stop", "step")
    given = {"start": start, "stop": stop, "step": step}
    for name, value in zip(names, args, strict=False):
        if given[name] is not None:
            raise TypeError(f"arange() got {name} twice")
        given[name] = value
    start, stop, step = given["start"], given["stop"], given["step"]
    if stop is None:
        raise ValueError("stop argument not specified")
    start = 0 if start is None else start
    step = 1 if step is None else step
    if dtype is None:
        dtype = np.result_type(*(np.asarray(x).dtype for x in (start, stop, step)))
        if dtype != np.float32:
            warnings.warn(
                "behavior change: arange guessed dtype other than float32. "
                "suggest specifying explicit dtype.",
                stacklevel=2,
            )
    dtype = np.dtype(dtype)
    count = _builtin_max(0, math.ceil((stop - start) / step))
    with _Using(stream):
        return _fill_range(empty(count, dtype, allocator), start, step)


_builtin_max = max


def _fill_range(result, start, step):
    compute = result.dtype if result.dtype.kind != "b" else np.dtype(np.int64)
    return _driver._array_apply(
        "arange", compute.type(start), compute.type(step),
        out=result, dtype=compute, casting="unsafe",
    )  # fmt: skip


def linspace(start, stop, num: int = 50, endpoint: bool = True, dtype=None):
    """``num`` numbers from ``start`` to ``stop``, evenly spaced."""
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else float("nan")
    kind = np.complex128 if isinstance(start + stop + 0.0, complex) else np.float64
    result = _fill_range(empty(num, kind), start, step if num > 1 else 0)
    if endpoint and num > 1:
        result[-1] = stop
    if dtype is not None and np.dtype(dtype).kind in "iu":
        result = _driver._array_apply("floor", result)
    return result if dtype is None else result.astype(dtype, copy=False)
