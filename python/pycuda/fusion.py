"""Functions of elementwise operations as single kernels.

>>> import pycuda
>>> @pycuda.fuse
... def loss(x, y, scale=2.0):
...     return (scale * x - gpuarray.exp(y)) ** 2
>>> loss(gpuarray.array([1.0, 2.0]), gpuarray.array([0.0, 0.0]))
array([1., 9.])
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.ufuncs.tracing import FusionError as FusionError
from pycuda.arrays.ufuncs.tracing import Reduced, Trace, Traced

_MOST_PLANS = 256


class _Plan:
    """A function traced for arguments of certain types: the kernel's program and what to return."""

    def __init__(self, function, args, kwargs) -> None:
        arrays = [
            one for one in (*args, *kwargs.values()) if isinstance(one, ArrayBase)
        ]
        if not arrays:
            raise FusionError(
                "a fused function must be called with at least one GPUArray"
            )
        trace = Trace(array.dtype for array in arrays)
        numbers = iter(range(len(arrays)))

        def stand_in(value):
            return (
                Traced(trace, next(numbers)) if isinstance(value, ArrayBase) else value
            )

        returned = function(
            *(stand_in(one) for one in args),
            **{name: stand_in(one) for name, one in kwargs.items()},
        )
        self.single = not isinstance(returned, (tuple, list))
        parts = (returned,) if self.single else tuple(returned)
        self.finish = [part if isinstance(part, Reduced) else None for part in parts]
        values = [part.value if isinstance(part, Reduced) else part for part in parts]
        for value in values:
            if not isinstance(value, Traced):
                raise FusionError(
                    f"a fused function must return values computed from its arrays, not {type(value).__name__}"
                )
        # An argument that is returned as it came is copied: results are new arrays.
        values = [
            trace.add("copy", v) if v._number < len(arrays) else v for v in values
        ]
        self.program = _driver._Fusion(
            len(arrays), trace.steps, [v._number for v in values], trace.constants
        )
        self.plain = self.single and self.finish == [None]
        # Where the arrays are, if all arguments were given by position.
        self.places = [i for i, one in enumerate(args) if isinstance(one, ArrayBase)]

    def run(self, args, kwargs, stream):
        if len(self.places) != len(args):
            args = [args[i] for i in self.places]
        if kwargs:
            named = [one for one in kwargs.values() if isinstance(one, ArrayBase)]
            args = [*args, *named]
        if self.plain:
            return self.program.run(args, stream)
        with _driver._Using(stream):
            results = self.program.run(args)
            results = [results] if len(self.finish) == 1 else list(results)
            for place, reduced in enumerate(self.finish):
                if reduced is not None:
                    method = getattr(results[place], reduced.method)
                    results[place] = method(*reduced.args, **reduced.kwargs)
        return results[0] if self.single else tuple(results)


def _kind(value):
    """What a plan depends on: an array's type; of anything else the value and its type."""
    if isinstance(value, ArrayBase):
        return value.dtype
    # 1, 1.0 and True are equal, 0.0 and -0.0 too, NaN is not even itself.
    return (
        type(value),
        repr(value) if isinstance(value, (float, complex, np.number)) else value,
    )


class FusedFunction(_driver._FusedCalls):
    """What :func:`fuse` makes of a function.

    Call it as the function, with ``stream=`` in addition: one kernel computes what it returns.
    """

    def __init__(self, function: Callable) -> None:
        super().__init__()
        functools.update_wrapper(self, function)
        self._function = function
        self._plans: dict = {}

    def __repr__(self) -> str:
        name = getattr(self._function, "__name__", repr(self._function))
        return f"<fused function {name}>"

    # A call with arrays of types that are known needs nothing of this: _FusedCalls has their kernels.
    def _call(self, *args, stream=None, **kwargs):
        """What the function returns, computed by one kernel, in ``stream``."""
        key = tuple([_kind(one) for one in args])
        if kwargs:
            key += tuple((name, _kind(one)) for name, one in kwargs.items())
        plan = self._plans.get(key)
        if plan is None:
            plan = _Plan(self._function, args, kwargs)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[key] = plan
            if plan.plain and not kwargs and len(plan.places) == len(args):
                self._remember(args, plan.program)
        return plan.run(args, kwargs, stream)

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def fuse(function: Callable) -> FusedFunction:
    """Make one kernel of a function of elementwise operations on arrays.

    The function is run once with stand-ins for each combination of its arguments' types (and values
    of what is no array): operators, the elementwise functions of ``gpuarray`` and numpy, ``where``,
    ``clip`` and ``astype`` are written down. It may return one value or several, all of the shape
    that the arguments broadcast to; a reduction (``sum``, ``max``, ``mean`` ...) may be the last
    step of each, and is done by a kernel of its own. Results are bit for bit those of the function
    without ``fuse``. The fused function takes ``stream=`` in addition.

    Raises :class:`FusionError`, a TypeError, which says what cannot be fused: parts of arrays,
    decisions by elements, arrays that are not arguments, anything that is not elementwise.

    >>> axpy = fuse(lambda a, x, y: a * x + y)
    >>> axpy(2.0, gpuarray.array([1.0, 2.0]), gpuarray.array([3.0, 4.0]))
    array([5., 8.])
    """
    return FusedFunction(function)
