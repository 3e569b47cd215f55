"""Compiles functions of elementwise operations to single kernels.

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

import pycuda.gpuarray  # noqa: F401 -- results are GPUArrays
from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.ufuncs.tracing import FusionError as FusionError
from pycuda.arrays.ufuncs.tracing import Reduced, Trace, Traced

_MOST_PLANS = 256


class _Plan:
    """A function that is traced for certain argument types: the kernel's program and the results."""

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
        # An argument that is returned unchanged is copied, because results are new arrays.
        values = [
            trace.add("copy", v) if v._number < len(arrays) else v for v in values
        ]
        self.program = _driver._Fusion(
            len(arrays), trace.steps, [v._number for v in values], trace.constants
        )
        self.plain = self.single and self.finish == [None]
        # The positions of the arrays, if all arguments were passed by position.
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
    """The key of a plan: an array's type; for other arguments, the value and its type."""
    if isinstance(value, ArrayBase):
        return value.dtype
    if isinstance(value, (np.ndarray, list)):
        raise FusionError(
            f"a fused function takes GPUArrays, not {type(value).__name__}, which is in host memory; "
            "copy it with pycuda.gpuarray.to_gpu() first"
        )
    # 1, 1.0 and True are equal, and so are 0.0 and -0.0. NaN does not equal itself.
    return (
        type(value),
        repr(value) if isinstance(value, (float, complex, np.number)) else value,
    )


class FusedFunction(_driver._FusedCalls):
    """The result of :func:`fuse`.

    Call it like the function, with an additional parameter ``stream=``: one kernel computes the result.
    """

    def __init__(self, function: Callable) -> None:
        super().__init__()
        functools.update_wrapper(self, function)
        self._function = function
        self._plans: dict = {}

    def __repr__(self) -> str:
        name = getattr(self._function, "__name__", repr(self._function))
        return f"<fused function {name}>"

    # A call with arrays of known types does not come here: _FusedCalls has the kernels.
    def _call(self, *args, stream=None, **kwargs):
        """The function's result, computed by one kernel in ``stream``."""
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

    The function is run once with placeholders for each combination of its arguments' types (and of the values
    of arguments that are not arrays). The run records operators, the elementwise functions of ``gpuarray`` and numpy,
    ``where``, ``clip`` and ``astype``. The function may return one value or several, all with the shape
    to which the arguments broadcast. The last step of each value may be a reduction (``sum``, ``max``, ``mean`` ...),
    which runs in a separate kernel. Results have the same bits as those of the function
    without ``fuse``. The fused function has an additional parameter ``stream=``.

    Raises :class:`FusionError`, a TypeError that names what cannot be fused: parts of arrays,
    conditions on elements, arrays that are not arguments, and operations that are not elementwise.

    >>> axpy = fuse(lambda a, x, y: a * x + y)
    >>> axpy(2.0, gpuarray.array([1.0, 2.0]), gpuarray.array([3.0, 4.0]))
    array([5., 8.])
    """
    return FusedFunction(function)
