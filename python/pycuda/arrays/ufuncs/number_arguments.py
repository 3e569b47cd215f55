"""Numbers among the arguments of a fused function, while the function is traced.

A function of ``(a, x)`` with a number ``a`` is traced once for all values of ``a``, if the value decides nothing:

    a * x                      the kernel gets ``a`` at each call
    math.sqrt(a) * x           the value is used in Python: the function is traced for each value
    if a > 0: ...              the same

A :class:`NumberArgument` notes whether its value was used. Python's ints are always constants, because the type of a
comparison with an int depends on its value.
"""

from __future__ import annotations

import math
import operator

import numpy as np

from pycuda.arrays.ufuncs.tracing import Placeholder, Traced


def can_vary(value) -> bool:
    """Whether an argument is a number whose value may be different at each call of one kernel."""
    return type(value) in (float, complex) or isinstance(value, np.number)


class NumberArgument(Placeholder):
    """A number that notes when Python code uses its value. Operations on traced values do not use the value."""

    __slots__ = ("is_used",)

    def __init__(self, place: int, value) -> None:
        super().__init__(place, value)
        self.is_used = False

    @property
    def __class__(self):  # so that isinstance() has the result of the number
        return type(self.value)

    def _use(self):
        self.is_used = True
        return self.value

    def __getattr__(self, name: str):
        return getattr(self._use(), name)

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._use(), dtype)

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        if any(type(one) is Traced for one in inputs):
            return NotImplemented  # the traced value records the operation
        return getattr(ufunc, method)(*map(_plain, inputs), **kwargs)

    def __round__(self, *digits):
        return round(self._use(), *digits)

    def __format__(self, text: str) -> str:
        return format(self._use(), text)

    def __pow__(self, other, *modulus):
        if type(other) is Traced:
            return NotImplemented
        return pow(self._use(), _plain(other), *map(_plain, modulus))

    def __hash__(self) -> int:
        return hash(self._use())


def _plain(value):
    return value._use() if type(value) is NumberArgument else value


def _unary(function):
    return lambda self: function(self._use())


def _binary(function):
    def method(self, other):
        if type(other) is Traced:
            return NotImplemented
        return function(self._use(), _plain(other))

    return method


def _reflected(function):
    return lambda self, other: function(_plain(other), self._use())


for _name, _function in {
    "bool": bool, "float": float, "int": int, "complex": complex, "index": operator.index, "repr": repr,
    "str": str, "abs": abs, "neg": operator.neg, "pos": operator.pos, "invert": operator.invert,
    "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil,
}.items():  # fmt: skip
    setattr(NumberArgument, f"__{_name}__", _unary(_function))
for _name in ("lt", "le", "eq", "ne", "gt", "ge"):
    setattr(NumberArgument, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "lshift", "rshift", "and", "or", "xor", "divmod", "pow"):  # fmt: skip
    _function = divmod if _name == "divmod" else getattr(operator, f"__{_name}__")
    if _name != "pow":
        setattr(NumberArgument, f"__{_name}__", _binary(_function))
    setattr(NumberArgument, f"__r{_name}__", _reflected(_function))
