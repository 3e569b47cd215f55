"""The special functions of :mod:`pycuda.special` that are universal functions."""

from __future__ import annotations

from pycuda.arrays import registry
from pycuda.arrays.ufuncs.universal_functions import UniversalFunction

# Name, number of operands, what is computed, and an example: operands and result.
_FUNCTIONS = (
    ("erf", 1, "the error function", "[0.0, 1.0]", "array([0.        , 0.84270079])"),
    ("erfc", 1, "1 minus the error function, exactly also where that is near 0", "[0.0]", "array([1.])"),
    ("erfcx", 1, "exp(x ** 2) * erfc(x)", "[0.0]", "array([1.])"),
    ("erfinv", 1, "the inverse of :data:`erf`", "[0.0]", "array([0.])"),
    ("erfcinv", 1, "the inverse of :data:`erfc`", "[1.0]", "array([0.])"),
    ("gamma", 1, "the gamma function", "[1.0, 5.0]", "array([ 1., 24.])"),
    ("gammaln", 1, "the logarithm of the magnitude of the gamma function", "[1.0]", "array([0.])"),
    ("rgamma", 1, "1 divided by the gamma function", "[3.0, -1.0]", "array([0.5, 0. ])"),
    ("psi", 1, "the digamma function, the derivative of the logarithm of the gamma function", "[1.0]", "array([-0.57721566])"),
    ("beta", 2, "the beta function, gamma(a) * gamma(b) / gamma(a + b)", "[1.0], [2.0]", "array([0.5])"),
    ("betaln", 2, "the logarithm of the magnitude of the beta function", "[1.0], [1.0]", "array([0.])"),
    ("expit", 1, "the logistic sigmoid 1 / (1 + exp(-x))", "[0.0]", "array([0.5])"),
    ("logit", 1, "log(x / (1 - x)), the inverse of :data:`expit`", "[0.5]", "array([0.])"),
    ("log_expit", 1, "the logarithm of the logistic sigmoid", "[0.0]", "array([-0.69314718])"),
    ("ndtr", 1, "the cumulative distribution of the standard normal distribution", "[0.0]", "array([0.5])"),
    ("ndtri", 1, "the inverse of :data:`ndtr`", "[0.5]", "array([0.])"),
    ("j0", 1, "the Bessel function of the first kind of order 0", "[0.0]", "array([1.])"),
    ("j1", 1, "the Bessel function of the first kind of order 1", "[0.0]", "array([0.])"),
    ("y0", 1, "the Bessel function of the second kind of order 0", "[1.0]", "array([0.08825696])"),
    ("y1", 1, "the Bessel function of the second kind of order 1", "[1.0]", "array([-0.78121282])"),
    ("i0", 1, "the modified Bessel function of order 0", "[0.0]", "array([1.])"),
    ("i1", 1, "the modified Bessel function of order 1", "[0.0]", "array([0.])"),
    ("xlogy", 2, "x * log(y), which is 0 for x = 0", "[0.0], [0.0]", "array([0.])"),
    ("xlog1py", 2, "x * log(1 + y), which is 0 for x = 0", "[0.0], [-1.0]", "array([0.])"),
    ("entr", 1, "-x * log(x), which is 0 for x = 0", "[0.0, 1.0]", "array([0., 0.])"),
    ("rel_entr", 2, "x * log(x / y), which is 0 for x = 0", "[0.0], [1.0]", "array([0.])"),
)  # fmt: skip

SPECIAL: dict[str, UniversalFunction] = {}

for _name, _nin, _about, _operands, _result in _FUNCTIONS:
    _function = UniversalFunction(_name, _nin)
    _lists = [f"gpuarray.array([{one.strip('[]')}])" for one in _operands.split("], [")]
    _function.__doc__ = f"""Compute {_about}, of each element. Returns an array.

Elements are real numbers; integers become float64. The keywords are those of the functions of :mod:`pycuda.gpuarray`:
``out``, ``where``, ``dtype``, ``casting``, ``stream`` and ``allocator``. Complex numbers raise TypeError.

>>> special.{_name}({", ".join(_lists)})
{_result}
"""
    SPECIAL[_name] = _function
    registry.add(_function, "special", _name, numpy=False, module=True, array_api=False)

registry.add(SPECIAL["i0"], "", "i0", numpy=True, module=True, array_api=False)
