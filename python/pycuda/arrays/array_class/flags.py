"""The flags of an array: how its elements are ordered in memory."""

from __future__ import annotations

from pycuda._driver import ArrayBase


class ArrayFlags:
    """The flags of an array: ``c_contiguous``, ``f_contiguous``, ``forc`` (one of the two) and ``writeable``.

    ``writeable`` says whether operations may change the elements. It is False for views that repeat elements
    (:func:`pycuda.gpuarray.broadcast_to`), and may be set. Operations that would write to an array that is
    read-only raise ValueError. A kernel gets the address of an array, and does not know the flag.

    Each flag is an attribute and a key. Keys are case-insensitive.

    >>> gpuarray.zeros((2, 3)).flags.c_contiguous
    True
    """

    def __init__(self, ary: ArrayBase) -> None:
        self.c_contiguous = ary._c_contiguous
        self.f_contiguous = ary._f_contiguous
        self.forc = self.c_contiguous or self.f_contiguous
        self._array = ary

    @property
    def writeable(self) -> bool:
        """Whether operations may change the elements.

        Setting True raises ValueError for a view of an array that is read-only.

        >>> x = gpuarray.zeros(3)
        >>> x.flags.writeable = False
        >>> x += 1
        Traceback (most recent call last):
        ValueError: out is read-only: an array of shape (3,) and strides (8,) whose flags.writeable is False
        """
        return self._array._writable

    @writeable.setter
    def writeable(self, value: bool) -> None:
        self._array._writable = value

    def __getitem__(self, name: str) -> bool:
        return getattr(self, name.lower())

    def __setitem__(self, name: str, value: bool) -> None:
        if name.lower() != "writeable":
            raise KeyError(f"{name!r} cannot be set; only 'writeable' can be set")
        self.writeable = value

    def __repr__(self) -> str:
        return (
            f"ArrayFlags(c_contiguous={self.c_contiguous}, f_contiguous={self.f_contiguous}, "
            f"writeable={self.writeable})"
        )


class Derived:
    """A property that an attribute of the instance replaces. In PyCUDA these are plain attributes."""

    def __init__(self, function) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def __get__(self, instance, owner=None):
        return self if instance is None else self.function(instance)
