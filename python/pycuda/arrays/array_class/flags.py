"""The flags of an array: how its elements are ordered in memory."""

from __future__ import annotations

from pycuda._driver import ArrayBase


class ArrayFlags:
    """The order of an array in memory: ``c_contiguous``, ``f_contiguous``, and ``forc`` for one of both.

    Names are attributes and keys, keys also in capital letters.

    >>> gpuarray.zeros((2, 3)).flags.c_contiguous
    True
    """

    def __init__(self, ary: ArrayBase) -> None:
        self.c_contiguous = ary._c_contiguous
        self.f_contiguous = ary._f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous

    def __getitem__(self, name: str) -> bool:
        return getattr(self, name.lower())

    def __repr__(self) -> str:
        return f"ArrayFlags(c_contiguous={self.c_contiguous}, f_contiguous={self.f_contiguous})"


class Derived:
    """A property that gives way to an attribute of the instance, as PyCUDA's are plain attributes."""

    def __init__(self, function) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance, owner=None):
        return self if instance is None else self.function(instance)
