"""numpy's universal functions on the device: one object for each, with numpy's keywords."""

from __future__ import annotations

import numpy as np

from pycuda import _array_linalg as _linalg
from pycuda import _array_scans as _scans
from pycuda import _driver


class UniversalFunction:
    """An elementwise function of arrays and numbers, with numpy's types and broadcasting.

    ``out`` is written instead of a new array; ``where``, an array of bool, says where; ``dtype``
    is the type to compute in; ``stream`` the stream to do it in.

    >>> gpuarray.hypot(x, 2.0, out=y)
    """

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
            and stream is None
            and len(inputs) == self.nin
        ):
            return self._plainly(self._number, *inputs)
        if len(inputs) == self.nin + 1 and out is None:
            *inputs, out = inputs
        if isinstance(out, tuple):
            (out,) = out
        if where is False:
            where = _driver._array_to_gpu(np.array(False), None, stream, None)
        return _driver._array_apply(
            self._operation,
            *inputs,
            out=out,
            where=None if where is True else where,
            dtype=None if dtype is None else np.dtype(dtype),
            casting=casting,
            stream=stream,
        )


_UNARY = """
    negative positive absolute fabs sign square reciprocal conjugate logical_not isnan isinf
    isfinite signbit invert exp exp2 expm1 log log2 log10 log1p sqrt sin cos tan arcsin arccos
    arctan sinh cosh tanh arcsinh arccosh arctanh rint cbrt degrees radians floor ceil trunc
""".split()
_BINARY = """
    add subtract multiply divide floor_divide remainder fmod power float_power gcd lcm equal
    not_equal less less_equal greater greater_equal logical_and logical_or logical_xor maximum
    minimum fmax fmin bitwise_and bitwise_or bitwise_xor left_shift right_shift arctan2 hypot
    logaddexp logaddexp2 copysign nextafter heaviside ldexp
""".split()
_ALIASES = {
    "true_divide": "divide",
    "mod": "remainder",
    "pow": "power",
    "abs": "absolute",
    "conj": "conjugate",
    "bitwise_not": "invert",
    "bitwise_invert": "invert",
    "bitwise_left_shift": "left_shift",
    "bitwise_right_shift": "right_shift",
    "deg2rad": "radians",
    "rad2deg": "degrees",
    "acos": "arccos",
    "acosh": "arccosh",
    "asin": "arcsin",
    "asinh": "arcsinh",
    "atan": "arctan",
    "atanh": "arctanh",
    "atan2": "arctan2",
}

UFUNCS: dict[str, UniversalFunction] = {
    name: UniversalFunction(name, nin)
    for nin, names in ((1, _UNARY), (2, _BINARY))
    for name in names
}
for _alias, _name in _ALIASES.items():
    UFUNCS[_alias] = UFUNCS[_name]


def divmod_(x1, x2, *, stream=None):
    """Quotient and remainder, as numpy.divmod."""
    return (
        UFUNCS["floor_divide"](x1, x2, stream=stream),
        UFUNCS["remainder"](x1, x2, stream=stream),
    )


def frexp(x, *, stream=None):
    """Mantissa and exponent, as numpy.frexp; the exponent is int32."""
    return (
        _driver._array_apply("frexp_mantissa", x, stream=stream),
        _driver._array_apply("frexp_exponent", x, stream=stream),
    )


def modf(x, *, stream=None):
    """Fraction and integer part, as numpy.modf."""
    return (
        _driver._array_apply("modf_fraction", x, stream=stream),
        _driver._array_apply("modf_integer", x, stream=stream),
    )


_TWO_RESULTS = {"divmod": divmod_, "frexp": frexp, "modf": modf}
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "minimum": "min",
    "maximum": "max",
    "logical_or": "any",
    "logical_and": "all",
}

_SCANS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
_PRODUCTS = {"matmul": _linalg.matmul, "vecdot": _linalg.vecdot}


def array_ufunc(self, ufunc, method, *inputs, **kwargs):
    """``numpy.sin(x)`` of an array on the device, and what else numpy's ufuncs do."""
    name = ufunc.__name__
    if method == "__call__" and name in _PRODUCTS:
        return _PRODUCTS[name](*inputs, **kwargs)
    if method == "__call__" and name in _TWO_RESULTS:
        return _TWO_RESULTS[name](*inputs)
    if method == "__call__" and name in UFUNCS:
        return UFUNCS[name](*inputs, **kwargs)
    if method == "reduce" and name in _REDUCTIONS:
        kwargs.setdefault("axis", 0)
        out = kwargs.pop("out", None)
        return getattr(self, _REDUCTIONS[name])(
            **kwargs, out=out[0] if isinstance(out, tuple) else out
        )
    if method == "accumulate" and name in _SCANS:
        array, axis, dtype, out = (*inputs, 0, None, None)[:4]
        return _scans._scan(
            _SCANS[name], array, kwargs.get("axis", axis), kwargs.get("dtype", dtype),
            _only(kwargs.get("out", out)),
        )  # fmt: skip
    return NotImplemented


def _only(out):
    return out[0] if isinstance(out, tuple) else out
