"""Values that replace arrays while a function is traced for :func:`pycuda.fuse`.

Operations on them are recorded, not executed. The list of recorded steps becomes the kernel.
"""

from __future__ import annotations

import functools

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    Function = TypeVar("Function", bound=Callable)

_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


class FusionError(TypeError):
    """Raised when a function uses an operation that cannot be part of a fused kernel.

    Examples are a branch on elements, an index, and an array that is not an argument.
    """


class Trace:
    """The operations that a function has applied to its arrays so far."""

    def __init__(self, dtypes) -> None:
        self.dtypes = list(dtypes)
        self.steps: list[tuple] = []
        self.constants: list = []

    def operand(self, value) -> int:
        """The number of a value; for a constant, the bitwise complement of its number."""
        if isinstance(value, Traced):
            if value._trace is not self:
                raise FusionError("a fused function cannot use a value of another call")
            return value._number
        if isinstance(value, ArrayBase):
            raise FusionError(
                "a fused function can only use arrays that are its arguments: pass the array of "
                f"shape {value.shape} as an argument"
            )
        if not isinstance(value, _NUMBERS):
            raise FusionError(
                f"a fused function cannot use a {type(value).__name__} with arrays"
            )
        self.constants.append(value)
        return ~(len(self.constants) - 1)

    def add(self, name: str, *operands, dtype=None) -> Traced:
        """Add an operation. Return its result as a new value."""
        numbers = [self.operand(operand) for operand in operands]
        self.steps.append((name, numbers, dtype))
        return Traced(self, len(self.dtypes) + len(self.steps) - 1)


def record(name: str, *operands) -> Traced:
    """Record an operation with a traced operand."""
    trace = next(one._trace for one in operands if isinstance(one, Traced))
    return trace.add(name, *operands)


def is_traced(values) -> bool:
    """Whether any of the values is traced."""
    return any(isinstance(value, Traced) for value in values)


def _unary(name: str):
    return lambda self: record(name, self)


def _binary(name: str):
    return lambda self, other: record(name, self, other)


def _reflected(name: str):
    return lambda self, other: record(name, other, self)


def _reduction(name: str):
    def method(self, *args, **kwargs):
        return Reduced(self, name, args, kwargs)

    method.__name__ = name
    method.__doc__ = (
        f"The last step of a fused function: GPUArray.{name}() of its value."
    )
    return method


class Traced:
    """A value inside a function that is being fused."""

    __slots__ = ("_trace", "_number")
    __array_priority__ = 200
    __hash__ = None

    def __init__(self, trace: Trace, number: int) -> None:
        self._trace = trace
        self._number = number

    @property
    def dtype(self) -> np.dtype:
        """The type of the elements."""
        trace = self._trace
        if self._number < len(trace.dtypes):
            return trace.dtypes[self._number]
        program = _driver._Fusion(
            len(trace.dtypes), trace.steps, [self._number], trace.constants
        )
        return program.result_types(trace.dtypes)[0]

    def astype(self, dtype, stream=None, copy: bool = True) -> Traced:
        """Convert the value to another type."""
        if stream is not None:
            raise FusionError(
                "astype() takes no stream in a fused function; pass stream to the fused function"
            )
        return self._trace.add("copy", self, dtype=np.dtype(dtype))

    def clip(self, min=None, max=None) -> Traced:
        """Limit the value to the range from ``min`` to ``max``."""
        if min is None or max is None:
            name, bound = ("minimum", max) if min is None else ("maximum", min)
            return record(name, self, bound)
        return record("clip", self, min, max)

    def conj(self) -> Traced:
        """The complex conjugate."""
        return record("conjugate", self) if self.dtype.kind == "c" else self

    conjugate = conj

    @property
    def real(self) -> Traced:
        """The real part."""
        return record("real", self) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Traced:
        """The imaginary part."""
        return record("imag", self)

    def __bool__(self) -> bool:
        raise FusionError(
            "a fused function cannot branch on the elements of its arrays (if, and, or, while); "
            "use where(), logical_and(), logical_or()"
        )

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise FusionError(f"a fused function cannot use {name!r} of an array")

    def _no_part(self, *args):
        raise FusionError("a fused function cannot index or assign parts of an array")

    __getitem__ = __setitem__ = __iter__ = __len__ = _no_part

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if method != "__call__" or any(v is not None for v in kwargs.values()):
            raise FusionError(
                f"a fused function cannot use numpy.{ufunc.__name__} with method "
                f"{method!r} or the keywords {sorted(kwargs)}"
            )
        return record(_OPERATIONS.get(ufunc.__name__, ufunc.__name__), *inputs)

    def __array_function__(self, func, types, args, kwargs):
        if func is np.where and len(args) == 3:
            return record("where", *args)
        if func is np.clip:
            return self.clip(*args[1:], **kwargs)
        if func.__name__ in _REDUCTIONS and args and isinstance(args[0], Traced):
            return getattr(args[0], func.__name__)(*args[1:], **kwargs)
        raise FusionError(
            f"a fused function cannot use {func.__module__}.{func.__name__}()"
        )

    def __abs__(self) -> Traced:
        return record("absolute", self)

    __neg__ = _unary("negative")
    __pos__ = _unary("positive")
    __invert__ = _unary("invert")
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("subtract"), _reflected("subtract")
    __mul__, __rmul__ = _binary("multiply"), _reflected("multiply")
    __truediv__, __rtruediv__ = _binary("divide"), _reflected("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _reflected("floor_divide")
    __mod__, __rmod__ = _binary("remainder"), _reflected("remainder")
    __pow__, __rpow__ = _binary("power"), _reflected("power")
    __and__, __rand__ = _binary("bitwise_and"), _reflected("bitwise_and")
    __or__, __ror__ = _binary("bitwise_or"), _reflected("bitwise_or")
    __xor__, __rxor__ = _binary("bitwise_xor"), _reflected("bitwise_xor")
    __lshift__, __rlshift__ = _binary("left_shift"), _reflected("left_shift")
    __rshift__, __rrshift__ = _binary("right_shift"), _reflected("right_shift")
    __eq__, __ne__ = _binary("equal"), _binary("not_equal")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")

    sum, prod, min, max = (_reduction(name) for name in ("sum", "prod", "min", "max"))
    any, all, mean = (_reduction(name) for name in ("any", "all", "mean"))
    var, std = _reduction("var"), _reduction("std")
    argmin, argmax = _reduction("argmin"), _reduction("argmax")


_REDUCTIONS = "sum prod min max any all mean var std argmin argmax".split()
# numpy's ufuncs whose operation has another name.
_OPERATIONS = {"true_divide": "divide", "mod": "remainder", "conj": "conjugate"}


def last_step(function: Function) -> Function:
    """Wrap the reduction ``function``: if its array is traced, the reduction is recorded."""

    @functools.wraps(function)
    def reduction(a, *args, **kwargs):
        if isinstance(a, Traced):
            return Reduced(a, function.__name__, args, kwargs)
        return function(a, *args, **kwargs)

    return reduction  # type: ignore[return-value]


class Reduced:
    """The result of a reduction at the end of a fused function. It cannot be an operand."""

    def __init__(self, value: Traced, method: str, args, kwargs) -> None:
        self.value, self.method, self.args, self.kwargs = value, method, args, kwargs

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        raise FusionError(
            f"a reduction ({self.method}) can only be the last step of a fused function"
        )

    def _no_more(self, *args):
        raise FusionError(
            f"a reduction ({self.method}) can only be the last step of a fused function"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _no_more
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __abs__ = _no_more
    __array_ufunc__ = __lt__ = __gt__ = __le__ = __ge__ = __bool__ = _no_more
