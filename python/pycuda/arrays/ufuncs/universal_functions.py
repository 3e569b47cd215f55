"""numpy's universal functions on the device: one object for each, with numpy's keywords."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda.arrays import registry
from pycuda.arrays.own_device import on_own_device
from pycuda.arrays.ufuncs import tracing as _tracing


class _Docstring:
    """A descriptor: the docstring of a universal function, made at the first access, or that of the class."""

    def __get__(self, instance, owner=None) -> str:
        if instance is None:
            return _ABOUT
        from pycuda.arrays.ufuncs.descriptions import docstring

        return docstring(instance.__name__, instance.nin)


_ABOUT = """A function of each element of arrays and numbers, with NumPy's types and broadcasting.

``out`` is written instead of a new array. ``where``, an array of bool, says which elements are written. ``dtype``
is the type to compute in, ``casting`` which casts are allowed, ``stream`` the stream of the work.
``allocator(nbytes)`` returns the memory of a new array. Raises TypeError for types that the function does not take,
ValueError for shapes that cannot be broadcast.

>>> y = gpuarray.zeros(2)
>>> gpuarray.hypot(gpuarray.array([3.0, 5.0]), gpuarray.array([4.0, 12.0]), out=y)
array([ 5., 13.])
"""


class UniversalFunction:
    __doc__ = _Docstring()

    def __init__(self, name: str, nin: int, operation: str | None = None) -> None:
        self.__name__ = name
        self.nin = nin
        self.nout = 1
        self._operation = operation or name
        self._number = _driver._array_operation_number(self._operation)
        self._plainly = _driver._array_apply_1 if nin == 1 else _driver._array_apply_2

    def __repr__(self) -> str:
        return f"<pycuda.gpuarray ufunc {self.__name__!r}>"

    def __call__(
        self,
        *inputs,
        out=None,
        where=True,
        dtype=None,
        casting: str = "same_kind",
        stream=None,
        allocator=None,
    ):
        if (
            out is None
            and where is True
            and dtype is None
            and casting == "same_kind"
            and stream is None
            and allocator is None
            and len(inputs) == self.nin
        ):
            try:
                return self._plainly(self._number, *inputs)
            except TypeError:
                if _tracing.is_traced(inputs):
                    return _tracing.record(self._operation, *inputs)
                raise
        if _tracing.is_traced(inputs):
            raise _tracing.FusionError(
                f"{self.__name__}() takes no keywords in a fused function"
            )
        if len(inputs) == self.nin + 2 and stream is None:  # as in PyCUDA's minimum()
            *inputs, stream = inputs
        if len(inputs) == self.nin + 1 and out is None:
            *inputs, out = inputs
        if isinstance(out, tuple):
            (out,) = out
        with _driver._Work(stream, allocator):
            return _driver._array_apply(
                self._operation,
                *inputs,
                out=out,
                where=array_of_where(where),
                dtype=None if dtype is None else np.dtype(dtype),
                casting=casting,
            )


def as_mask(where):
    """Convert ``where`` to an array of the device. As in NumPy, numbers and lists are converted to bool.

    Raises TypeError for an array of another type than bool.
    """
    if isinstance(where, (_driver.ArrayBase, np.ndarray)) and where.dtype != np.bool_:
        raise TypeError(f"where must be an array of bool, not of {where.dtype}")
    if isinstance(where, _driver.ArrayBase):
        return where
    return _driver._array_to_gpu(np.asarray(where, np.bool_), None, None, None)


def array_of_where(where):
    """Convert ``where`` to an array of the device; None if it is true everywhere."""
    return None if where is True else as_mask(where)


# NumPy's names. A star marks functions that the array API has, too.
_UNARY = """
    negative* positive* absolute fabs sign* square* reciprocal* conjugate logical_not* isnan* isinf*
    isfinite* signbit* invert exp* exp2 expm1* log* log2* log10* log1p* sqrt* sin* cos* tan* arcsin
    arccos arctan sinh* cosh* tanh* arcsinh arccosh arctanh rint cbrt degrees radians floor* ceil*
    trunc* spacing bitwise_count
"""
_BINARY = """
    add* subtract* multiply* divide* floor_divide* remainder* fmod power float_power gcd lcm equal*
    not_equal* less* less_equal* greater* greater_equal* logical_and* logical_or* logical_xor*
    maximum* minimum* fmax fmin bitwise_and* bitwise_or* bitwise_xor* left_shift right_shift arctan2
    hypot* logaddexp* logaddexp2 copysign* nextafter* heaviside ldexp
"""
_ALIASES = """
    true_divide=divide mod=remainder pow*=power abs*=absolute conj*=conjugate bitwise_not=invert
    bitwise_invert*=invert bitwise_left_shift*=left_shift bitwise_right_shift*=right_shift
    deg2rad=radians rad2deg=degrees acos*=arccos acosh*=arccosh asin*=arcsin asinh*=arcsinh
    atan*=arctan atanh*=arctanh atan2*=arctan2
"""
# `from pycuda.gpuarray import *` must not replace these builtins of Python.
_NOT_IN_MODULE = {"abs", "pow"}

UFUNCS: dict[str, UniversalFunction] = {}


def _declare(word: str, function: UniversalFunction) -> None:
    name = word.removesuffix("*")
    UFUNCS[name] = function
    registry.add(
        function, "", name, numpy=False, module=name not in _NOT_IN_MODULE, array_api=word != name
    )  # fmt: skip


for _nin, _words in ((1, _UNARY), (2, _BINARY)):
    for _word in _words.split():
        _declare(_word, UniversalFunction(_word.removesuffix("*"), _nin))
for _pair in _ALIASES.split():
    _word, _, _name = _pair.partition("=")
    _declare(_word, UFUNCS[_name])


_NEW = (None, None)  # no arrays are given for two results


def _two_results(name: str, first: str, second: str, nin: int, about: str):
    def function(
        *inputs,
        out=_NEW,
        where=True,
        dtype=None,
        casting="same_kind",
        stream=None,
        allocator=None,
    ):
        if not nin <= len(inputs) <= nin + 2:
            raise TypeError(
                f"{name}() takes {nin} arrays or numbers and two arrays for the results, "
                f"not {len(inputs)} arguments"
            )
        usual = out is _NEW and where is True
        usual = usual and dtype is stream is allocator is None and len(inputs) == nin
        if usual and all(isinstance(one, _driver.ArrayBase) for one in inputs):
            return both.run(inputs)
        outs = [*inputs[nin:], *((None,) * (nin + 2 - len(inputs)))]
        if len(inputs) == nin:
            outs = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(outs) != 2:
            raise ValueError(f"out of {name}() is a tuple of two arrays or None")
        with _driver._Work(stream, allocator):
            if (
                outs == [None, None]
                and where is True
                and dtype is None
                and all(isinstance(one, _driver.ArrayBase) for one in inputs)
            ):
                return both.run(inputs)
            inputs = [_apart(one, outs[0]) for one in inputs[:nin]]
            mask = _apart(array_of_where(where), outs[0])
            return tuple(
                _driver._array_apply(
                    operation,
                    *inputs,
                    out=one,
                    where=mask,
                    dtype=None if dtype is None else np.dtype(dtype),
                    casting=casting,
                )
                for operation, one in zip((first, second), outs, strict=True)
            )

    places = list(range(nin))
    both = _driver._Fusion(
        nin, [(first, places, None), (second, places, None)], [nin, nin + 1], []
    )
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (
        about.partition("\n")[0]
        + """

    out: a tuple of two arrays or None for the results.
    where: an array of bool: the elements of both results to write.
    dtype: the type of the computation and of both results.
    casting: which casts of types are allowed, as in NumPy.
    stream: the stream of the work, by default the current one.
    allocator: a function that returns the memory of the results.

    Returns a tuple of two arrays.

    """
        + about.partition("\n")[2].lstrip()
    )
    return on_own_device(function)


def _apart(value, out):
    """Copy an array if writing the first result would change it."""
    if not isinstance(value, _driver.ArrayBase) or out is None:
        return value
    return value.copy() if _driver._array_share_memory(value, out) else value


divmod_ = _two_results(
    "divmod", "floor_divide", "remainder", 2,
    """Divide and round down, and compute the remainder, as :func:`floor_divide` and :func:`remainder` do.
    >>> np.divmod(gpuarray.array([7, -7]), 2)
    (array([ 3, -4]), array([1, 1]))
    """,
)  # fmt: skip
frexp = _two_results(
    "frexp", "frexp_mantissa", "frexp_exponent", 1,
    """Split each element into a mantissa, of magnitude 0.5 to 1, and an exponent to base 2 (int32).
    >>> gpuarray.frexp(gpuarray.array([8.0, 0.75]))
    (array([0.5 , 0.75]), array([4, 0], dtype=int32))
    """,
)  # fmt: skip
modf = _two_results(
    "modf", "modf_fraction", "modf_integer", 1,
    """Split each element into a fractional and an integer part, both with the element's sign.
    >>> gpuarray.modf(gpuarray.array([2.5, -2.5]))
    (array([ 0.5, -0.5]), array([ 2., -2.]))
    """,
)  # fmt: skip
TWO_RESULTS = {"divmod": divmod_, "frexp": frexp, "modf": modf}
for _name in ("frexp", "modf"):
    registry.add(
        TWO_RESULTS[_name], "", _name, numpy=False, module=True, array_api=False
    )
