"""Parts of arrays: real and imaginary ones, and all elements along one axis."""

from __future__ import annotations

from pycuda import _driver
from pycuda._driver import _array_apply as apply
from pycuda.arrays.shapes import axes as _axes


class FlatElements:
    """What ``x.flat`` is: indexed, set and run through as if ``x`` had one axis.

    >>> x.flat[3] = 7
    >>> x.flat[::2].get()
    """

    def __init__(self, base) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self):
        return iter(self.base._ravel())

    def __getitem__(self, index):
        """Like ``x._ravel()[index]``, and a copy where ``x`` has gaps."""
        return self.base._ravel()[index]

    def __setitem__(self, index, value) -> None:
        flat = self.base._ravel()
        flat[index] = value
        if not self.base._c_contiguous:  # then it was a copy
            _driver._array_assign(self.base, flat._reshape(self.base.shape))

    def copy(self):
        """All elements, a new array of one axis."""
        return self.base.flatten()


class PartMethods:
    """What GPUArray inherits."""

    __slots__ = ()

    @property
    def real(self):
        """The real part: an array without gaps of its own, or the array itself where it is real.

        Numbers and arrays may be assigned: ``x.real = 1`` changes ``x``.
        """
        return apply("real", self) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value) -> None:
        _axes.part_of(self, 0)._assign(value)

    @property
    def imag(self):
        """The imaginary part, an array of its own; of a complex array it may be assigned to."""
        return apply("imag", self)

    @imag.setter
    def imag(self, value) -> None:
        if self.dtype.kind != "c":
            raise TypeError(f"an array of {self.dtype} has no imaginary part to set")
        _axes.part_of(self, 1)._assign(value)

    @property
    def flat(self) -> FlatElements:
        """All elements in C order, to be indexed, set and run through as one axis."""
        return FlatElements(self)

    @flat.setter
    def flat(self, value) -> None:
        self.flat[:] = value

    def conj(self, out=None):
        """The complex conjugate; of a real array the array itself."""
        if self.dtype.kind != "c" and out is None:
            return self
        return apply("conjugate", self, out=out)

    conjugate = conj
