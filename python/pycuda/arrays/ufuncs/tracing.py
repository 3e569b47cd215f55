"""Values that replace arrays while a function is traced for :func:`pycuda.fuse`.

Operations on them are recorded, not executed. The list of recorded steps becomes the kernel.
"""

from __future__ import annotations

import functools
import operator

import numpy as np

from pycuda import _driver
from pycuda._c_types import real_type
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


class Reduction:
    """A reduction among the steps of a trace."""

    __slots__ = ("axes", "dtype", "keepdims", "mean_of_less", "name", "operand")

    def __init__(self, name, operand, axis, keepdims, dtype, mean_of_less) -> None:
        self.name = name
        self.operand = operand
        self.axes = _axes_of(axis)
        self.keepdims = keepdims
        self.dtype = dtype
        self.mean_of_less = mean_of_less

    @property
    def key(self) -> tuple:
        """The arguments of the stage in C++."""
        return (self.name, self.axes, self.keepdims, self.dtype, self.mean_of_less)


class Placeholder:
    """Replaces a number of the call while a function is traced. Only operations on traced values can use it.

    place: the number of the argument. value: the number.
    """

    __slots__ = ("place", "value")

    def __init__(self, place: int, value) -> None:
        self.place = place
        self.value = value


class Trace:
    """The operations that a function has applied to its arrays so far.

    A step is (operation, numbers of the operands, dtype or None), or a :class:`Reduction`. The value with the number
    ``len(arrays) + k`` is the result of step k.
    """

    def __init__(self, dtypes) -> None:
        self.types = list(dtypes)  # of all values
        self.arrays = len(self.types)
        self.steps: list[tuple | Reduction] = []
        self.constants: list = []
        # Constants that are numbers of the call: places in `constants`, and of the arguments.
        self.numbers: list[tuple[int, int]] = []

    def operand(self, value) -> int:
        """The number of a value; for a constant, the bitwise complement of its number."""
        if isinstance(value, Placeholder):
            self.numbers.append((len(self.constants), value.place))
            value = value.value
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
        values = sorted({number for number in numbers if number >= 0})
        places = [values.index(one) if one >= 0 else one for one in numbers]
        program = _driver._Fusion(
            len(values), [(name, places, dtype)], [len(values)], self.constants
        )
        self.types += program.result_types([self.types[one] for one in values])
        return Traced(self, len(self.types) - 1)

    def reduce(
        self, name, value, axis, keepdims, dtype=None, mean_of_less=None
    ) -> Traced:
        """Add a reduction. ``dtype`` is the type of the computation."""
        self.steps.append(
            Reduction(name, value._number, axis, keepdims, dtype, mean_of_less)
        )
        kind = self.types[value._number]
        if name in ("sum", "prod"):
            kind = np.dtype(dtype or _widened(kind))
        elif name in ("any", "all"):
            kind = np.dtype(bool)
        elif name in ("argmin", "argmax", "count_nonzero"):
            kind = np.dtype(np.int64)
        self.types.append(kind)
        return Traced(self, len(self.types) - 1)


def _axes_of(axis):
    if axis is None:
        return None
    axes = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    return [operator.index(one) for one in axes]


def _widened(kind: np.dtype) -> np.dtype:
    if kind.kind in "bi":
        return np.dtype(np.int64)
    return np.dtype(np.uint64) if kind.kind == "u" else kind


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


def _in_place(name: str):
    return lambda self, other: self._become(record(name, self, other))


def _no_matrix_product(self, other):
    raise FusionError("a fused function cannot use the matrix product @")


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
        return self._trace.types[self._number]

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

    def __repr__(self) -> str:
        return f"<a value of {self.dtype} in a fused function, not computed yet>"

    def _no_number(self):
        raise FusionError(
            "a value in a fused function is no Python number yet; use numpy's functions, such as "
            "numpy.sin, instead of those of math"
        )

    __float__ = __int__ = __complex__ = _no_number

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
        if func in (np.real, np.imag):
            return getattr(args[0], func.__name__)
        if func.__name__ in _REDUCTIONS and args and isinstance(args[0], Traced):
            given = {k: v for k, v in kwargs.items() if v is not np._NoValue}
            return getattr(args[0], func.__name__)(*args[1:], **given)
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

    __iadd__, __isub__ = _in_place("add"), _in_place("subtract")
    __imul__, __itruediv__ = _in_place("multiply"), _in_place("divide")
    __ifloordiv__, __imod__ = _in_place("floor_divide"), _in_place("remainder")
    __ipow__, __iand__ = _in_place("power"), _in_place("bitwise_and")
    __ior__, __ixor__ = _in_place("bitwise_or"), _in_place("bitwise_xor")
    __ilshift__, __irshift__ = _in_place("left_shift"), _in_place("right_shift")
    __matmul__ = __rmatmul__ = __imatmul__ = _no_matrix_product

    def _become(self, result: Traced) -> Traced:
        """The value itself after ``self += other``: other names of the value see the result, too."""
        if self._number < self._trace.arrays:
            raise FusionError(
                "a fused function cannot change its arguments: write y = x + 1, not x += 1"
            )
        if not np.can_cast(result.dtype, self.dtype, "same_kind"):
            raise TypeError(
                f"an in-place operation cannot store {result.dtype} in an array of {self.dtype}"
            )
        if result.dtype != self.dtype:
            result = result.astype(self.dtype)
        self._number = result._number
        return self

    # Reductions. A mask replaces the other elements by ones that do not change the result.

    def sum(self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):  # fmt: skip
        """Add up the elements over axes, as GPUArray.sum()."""
        result = self._folded("sum", axis, dtype, out, keepdims, where, 0)
        return result if initial is None else result + result._own_type(initial)

    def prod(self, axis=None, dtype=None, out=None, keepdims=False, initial=None, where=True):  # fmt: skip
        """Multiply the elements over axes, as gpuarray.prod()."""
        result = self._folded("prod", axis, dtype, out, keepdims, where, 1)
        return result if initial is None else result * result._own_type(initial)

    def min(self, axis=None, out=None, keepdims=False, initial=None, where=True):
        """Find the smallest element over axes, as GPUArray.min()."""
        return self._extremum("min", "minimum", axis, out, keepdims, initial, where)

    def max(self, axis=None, out=None, keepdims=False, initial=None, where=True):
        """Find the largest element over axes, as GPUArray.max()."""
        return self._extremum("max", "maximum", axis, out, keepdims, initial, where)

    def any(self, axis=None, out=None, keepdims=False, *, where=True):
        """Test whether any element over axes is true."""
        return self._folded("any", axis, None, out, keepdims, where, False)

    def all(self, axis=None, out=None, keepdims=False, *, where=True):
        """Test whether all elements over axes are true."""
        return self._folded("all", axis, None, out, keepdims, where, True)

    def argmin(self, axis=None, out=None, keepdims=False):
        """Find the index of the first smallest element."""
        return self._folded("argmin", axis, None, out, keepdims, True, None)

    def argmax(self, axis=None, out=None, keepdims=False):
        """Find the index of the first largest element."""
        return self._folded("argmax", axis, None, out, keepdims, True, None)

    def _folded(self, name, axis, dtype, out, keepdims, where, otherwise) -> Traced:
        _refuse_out(out)
        dtype = None if dtype is None else np.dtype(dtype)
        return self._trace.reduce(name, self._where(where, otherwise), axis, keepdims, dtype)  # fmt: skip

    def mean(self, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
        """Compute the mean over axes, as GPUArray.mean()."""
        _refuse_out(out)
        kind, computed = _types_of_mean(self.dtype, dtype)
        return self._mean(axis, computed, keepdims, where, 0).astype(kind)

    def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):  # fmt: skip
        """Compute the variance over axes, in two passes over the elements."""
        _refuse_out(out)
        kind, computed = _types_of_mean(self.dtype, dtype)
        squares = self._variance(axis, computed, ddof, keepdims, where)
        return squares.astype(real_type(kind))

    def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):  # fmt: skip
        """Compute the standard deviation over axes, in two passes over the elements."""
        _refuse_out(out)
        kind, computed = _types_of_mean(self.dtype, dtype)
        squares = self._variance(axis, computed, ddof, keepdims, where)
        return record("sqrt", squares).astype(real_type(kind))

    def _variance(self, axis, computed, ddof, keepdims, where) -> Traced:
        values = self.astype(computed)
        apart = values - values._mean(axis, computed, True, where, 0)
        if computed.kind == "c":
            apart, other = apart.real, apart.imag
            squares = apart * apart + other * other
        else:
            squares = apart * apart
        return squares._mean(axis, real_type(computed), keepdims, where, ddof)

    def _mean(self, axis, computed, keepdims, where, ddof) -> Traced:
        if where is True:
            return self._trace.reduce("sum", self, axis, keepdims, computed, ddof)
        total = self._trace.reduce("sum", self._where(where, 0), axis, keepdims, computed)  # fmt: skip
        everywhere = record("logical_or", self == self, True)  # of the shape of `self`
        counted = record("logical_and", where, everywhere)
        count = self._trace.reduce("count_nonzero", counted, axis, keepdims)
        return (total / record("maximum", count - ddof, 0)).astype(computed)

    def _extremum(self, name, ufunc, axis, out, keepdims, initial, where) -> Traced:
        _refuse_out(out)
        if where is not True and initial is None:
            raise ValueError(
                f"reduction operation '{ufunc}' does not have an identity, so to use a where mask one "
                "has to specify 'initial'"
            )
        elements = self if where is True else self._where(where, initial)
        result = self._trace.reduce(name, elements, axis, keepdims)
        return result if initial is None else record(ufunc, result, result._own_type(initial))  # fmt: skip

    def _where(self, where, otherwise) -> Traced:
        if where is True:
            return self
        if isinstance(where, Traced) and where.dtype.kind != "b":
            where = record("not_equal", where, 0)
        return record("where", where, self, self._own_type(otherwise))

    def _own_type(self, number):
        """A number of the type of this value."""
        return np.asarray(number).astype(self.dtype)[()]


def _refuse_out(out) -> None:
    if out is not None:
        raise FusionError("a reduction in a fused function takes no out")


def _types_of_mean(kind: np.dtype, dtype) -> tuple[np.dtype, np.dtype]:
    """The type of a mean, and the type in which sums are computed."""
    kind = np.dtype(dtype) if dtype is not None else kind
    if kind.kind in "biu":
        kind = np.dtype(np.float64)
    return kind, np.dtype(np.float32) if kind == np.float16 else kind


_REDUCTIONS = "sum prod min max any all mean var std argmin argmax".split()
# numpy's ufuncs whose operation has another name.
_OPERATIONS = {"true_divide": "divide", "mod": "remainder", "conj": "conjugate"}


def traceable(function: Function) -> Function:
    """Wrap the reduction ``function``: if its array is traced, the reduction is recorded."""

    @functools.wraps(function)
    def reduction(a, *args, **kwargs):
        if isinstance(a, Traced):
            return getattr(a, function.__name__)(*args, **kwargs)
        return function(a, *args, **kwargs)

    return reduction  # type: ignore[return-value]
