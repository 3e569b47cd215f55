"""Mathematical functions of each element of an array.

>>> from pycuda import cumath
>>> cumath.sqrt(gpuarray.array([4.0, 9.0]))
array([2., 3.])

The functions of one argument accept the number types that numpy's corresponding function accepts, and
return numpy's type: ``exp`` of int32 is float64. Arrays may have any layout.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np

from pycuda import _driver
from pycuda import elementwise as elementwise
from pycuda import gpuarray as gpuarray
from pycuda._c_types import VectorArg
from pycuda.arrays.ufuncs.universal_functions import UFUNCS
from pycuda.elementwise import ElementwiseKernel
from pycuda.gpuarray import GPUArray

# For each function: numpy's name, the first sentence of the docstring, and the array and the result of an example.
_FUNCTIONS = {
    "fabs": ("fabs", "Compute the absolute value", "[-1.5, 2.0]", "[1.5, 2. ]"),
    "ceil": ("ceil", "Round up to an integral value", "[-1.5, 1.2]", "[-1.,  2.]"),
    "floor": ("floor", "Round down to an integral value", "[-1.5, 1.2]", "[-2.,  1.]"),
    "exp": ("exp", "Compute e to the power", "[0.0, 1.0]", "[1.        , 2.71828183]"),
    "log": ("log", "Compute the natural logarithm", "[1.0, np.e]", "[0., 1.]"),
    "log10": ("log10", "Compute the logarithm to base 10", "[1.0, 100.0]", "[0., 2.]"),
    "sqrt": ("sqrt", "Compute the square root", "[4.0, 9.0]", "[2., 3.]"),
    "sin": ("sin", "Compute the sine, of radians,", "[0.0, np.pi / 2]", "[0., 1.]"),
    "cos": ("cos", "Compute the cosine, of radians,", "[0.0, np.pi]", "[ 1., -1.]"),
    "tan": ("tan", "Compute the tangent, of radians,", "[0.0, 1.0]", "[0.        , 1.55740772]"),
    "asin": ("arcsin", "Compute the inverse sine, in radians,", "[0.0, 1.0]", "[0.        , 1.57079633]"),
    "acos": ("arccos", "Compute the inverse cosine, in radians,", "[0.0, 1.0]", "[1.57079633, 0.        ]"),
    "atan": ("arctan", "Compute the inverse tangent, in radians,", "[0.0, 1.0]", "[0.        , 0.78539816]"),
    "sinh": ("sinh", "Compute the hyperbolic sine", "[0.0, 1.0]", "[0.        , 1.17520119]"),
    "cosh": ("cosh", "Compute the hyperbolic cosine", "[0.0, 1.0]", "[1.        , 1.54308063]"),
    "tanh": ("tanh", "Compute the hyperbolic tangent", "[0.0, 1.0]", "[0.        , 0.76159416]"),
}  # fmt: skip

_DOCSTRING = """{first} of each element, as ``numpy.{numpy}`` does.

array: a GPUArray of any shape and layout.
out: an array for the result, of its shape and dtype.
stream: the stream of the work, by default the current one.
stream_or_out: ``out`` or ``stream`` by position. Deprecated; a DeprecationWarning is issued.

Returns a new array, or ``out``. The dtype is that of numpy's result: float64 for int32, float16 for float16.
Raises TypeError for a dtype that numpy's function refuses, ValueError if ``out`` does not fit.

>>> cumath.{name}(gpuarray.array({array}))
array({result})
"""


def _like(array: GPUArray, dtype: np.dtype) -> GPUArray:
    """A new array of the same shape and order of axes."""
    order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    return GPUArray(array.shape, dtype, array._own_allocator, order=order)


def _check_array(name: str, array: object) -> None:
    if not isinstance(array, GPUArray):
        hint = "; copy it with pycuda.gpuarray.to_gpu() first"
        raise TypeError(
            f"{name}() takes a GPUArray, not {type(array).__name__}"
            f"{hint if isinstance(array, (np.ndarray, np.generic)) else ''}"
        )


@functools.cache
def _result_dtype(name: str, dtype: np.dtype) -> np.dtype:
    """numpy's type of the result. Raises TypeError if the function does not support the dtype."""
    try:
        return getattr(np, _FUNCTIONS[name][0])(np.ones(1, dtype)).dtype
    except TypeError:
        raise TypeError(f"{name}() does not support arrays of {dtype}") from None


def _check_out(out: GPUArray, shape: tuple[int, ...], dtype: np.dtype) -> None:
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"out must be an array of {dtype} with shape {shape}, not of {out.dtype} with shape "
            f"{out.shape}"
        )


def _unary(name: str, array: GPUArray, stream_or_out, out, stream) -> GPUArray:
    if stream_or_out is not None:
        warnings.warn(
            "please use 'out' or 'stream' keyword arguments",
            DeprecationWarning,
            stacklevel=3,
        )
        if isinstance(stream_or_out, _driver.Stream):
            stream = stream_or_out
        else:
            out = stream_or_out
    _check_array(name, array)
    if out is not None:
        _check_out(out, array.shape, _result_dtype(name, array.dtype))
    return UFUNCS[_FUNCTIONS[name][0]](array, out=out, stream=stream)


def _make_function(name: str):

    def function(
        array: GPUArray,
        stream_or_out: object = None,
        *,
        out: GPUArray | None = None,
        stream: _driver.Stream | None = None,
    ) -> GPUArray:
        return _unary(name, array, stream_or_out, out, stream)

    function.__name__ = function.__qualname__ = name
    numpy_name, first, example, result = _FUNCTIONS[name]
    function.__doc__ = _DOCSTRING.format(
        name=name, numpy=numpy_name, first=first, array=example, result=result
    )
    return function


fabs = _make_function("fabs")
ceil = _make_function("ceil")
floor = _make_function("floor")
exp = _make_function("exp")
log = _make_function("log")
log10 = _make_function("log10")
sqrt = _make_function("sqrt")
sin = _make_function("sin")
cos = _make_function("cos")
tan = _make_function("tan")
asin = _make_function("asin")
acos = _make_function("acos")
atan = _make_function("atan")
sinh = _make_function("sinh")
cosh = _make_function("cosh")
tanh = _make_function("tanh")


# Functions of two arguments or with two results, for float16, float32 and float64.


@functools.cache
def _pair_kernel(declared: str, operation: str, dtype: np.dtype) -> ElementwiseKernel:
    """``declared`` names the arrays. In ``operation``, F is the suffix of functions, and T is their type."""
    if dtype.kind != "f":
        raise TypeError(f"this function expects floating-point arrays, not {dtype}")
    double = dtype == np.float64
    text = operation.replace("@F", "" if double else "f")
    text = text.replace("@T", "double" if double else "float")
    return ElementwiseKernel(
        [VectorArg(dtype, name) for name in declared.split()], text, "pair_kernel"
    )


def _check_pair(a: GPUArray, b: GPUArray) -> None:
    if a.shape != b.shape or a.dtype != b.dtype:
        raise ValueError(
            f"both arrays must have the same shape and dtype, not {a.shape} of {a.dtype} and "
            f"{b.shape} of {b.dtype}"
        )


def fmod(
    arg: GPUArray, mod: GPUArray | float, stream: _driver.Stream | None = None
) -> GPUArray:
    """Compute the remainder of ``arg / mod``, an array or a number, with the sign of ``arg``.

    stream: the stream of the work, by default the current one.

    Returns a new array. Raises ValueError if shapes or dtypes differ, TypeError if ``arg`` is not a GPUArray.

    >>> cumath.fmod(gpuarray.array([5.5, -5.5]), 2)
    array([ 1.5, -1.5])
    """
    _check_array("fmod", arg)
    if not isinstance(mod, (int, float, np.number)):
        _check_pair(arg, mod)
    return UFUNCS["fmod"](arg, mod, stream=stream)


def frexp(
    arg: GPUArray, stream: _driver.Stream | None = None
) -> tuple[GPUArray, GPUArray]:
    """Split numbers into significands, of magnitude 0.5 to 1, and exponents to base 2, both of arg's dtype.

    stream: the stream of the work, by default the current one.

    Returns two new arrays, for which ``arg == significand * 2**exponent``. Raises TypeError for elements that are not floating-point numbers.

    >>> cumath.frexp(gpuarray.array([8], np.float32))
    (array([0.5], dtype=float32), array([4.], dtype=float32))
    """
    with _driver._Work(stream):
        significand, exponent = _like(arg, arg.dtype), _like(arg, arg.dtype)
        operation = "int e = 0; s[i] = frexp@F((@T)x[i], &e); z[i] = (@T)e"
        kernel = _pair_kernel("s z x", operation, arg.dtype)
        kernel(significand, exponent, arg)
        return significand, exponent


def ldexp(
    significand: GPUArray, exponent: GPUArray, stream: _driver.Stream | None = None
) -> GPUArray:
    """Compute ``significand * 2**exponent``; both arrays have the same shape and floating-point dtype.

    stream: the stream of the work, by default the current one.

    Returns a new array. Raises ValueError if they differ, TypeError for another dtype.

    >>> cumath.ldexp(gpuarray.array([0.5]), gpuarray.array([4.0]))
    array([8.])
    """
    _check_pair(significand, exponent)
    with _driver._Work(stream):
        result = _like(significand, significand.dtype)
        operation = "z[i] = ldexp@F((@T)x[i], (int)(@T)y[i])"
        kernel = _pair_kernel("z x y", operation, significand.dtype)
        kernel(result, significand, exponent)
        return result


def modf(
    arg: GPUArray, stream: _driver.Stream | None = None
) -> tuple[GPUArray, GPUArray]:
    """Split numbers into fractional parts and integer parts, both of arg's dtype and sign.

    arg: an array of float32 or float64.
    stream: the stream of the work, by default the current one.

    Returns two new arrays of the shape of ``arg``.

    >>> cumath.modf(gpuarray.array([2.5, -2.5]))
    (array([ 0.5, -0.5]), array([ 2., -2.]))
    """
    with _driver._Work(stream):
        fraction, integer = _like(arg, arg.dtype), _like(arg, arg.dtype)
        operation = "@T whole = 0; f[i] = modf@F((@T)x[i], &whole); z[i] = whole"
        kernel = _pair_kernel("f z x", operation, arg.dtype)
        kernel(fraction, integer, arg)
        return fraction, integer
