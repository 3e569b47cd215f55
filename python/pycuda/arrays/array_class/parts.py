"""Parts of arrays: real and imaginary ones, and all elements along one axis."""

from __future__ import annotations

from pycuda import _driver
from pycuda._driver import _array_apply as apply
from pycuda.arrays.shapes import axes as _axes


class FlatElements:
    """The elements of an array in C order: indexed, set and iterated as an array of one axis.

    >>> x = gpuarray.array([[1, 2], [3, 4]])
    >>> x.flat[3] = 7
    >>> x.flat[::2]
    array([1, 3])
    """

    def __init__(self, base) -> None:
        self.base = base

    def __len__(self) -> int:
        return self.base.size

    def __iter__(self):
        return iter(self.base._ravel())

    def __getitem__(self, index):
        """A copy of the chosen elements, as in NumPy; an array without axes for an int."""
        chosen = self.base._ravel()[index]
        return (
            chosen.copy() if _driver._array_share_memory(chosen, self.base) else chosen
        )

    def __setitem__(self, index, value) -> None:
        flat = self.base._ravel()
        flat[index] = value
        if not self.base._c_contiguous:  # ravel() has made a copy
            _driver._array_assign(self.base, flat._reshape(self.base.shape))

    def copy(self):
        """Copy all elements to a new array of one axis.

        >>> gpuarray.array([[1, 2], [3, 4]]).flat.copy()
        array([1, 2, 3, 4])
        """
        return self.base.flatten()


class PartMethods:
    """What GPUArray inherits."""

    __slots__ = ()

    @property
    def real(self):
        """The real parts: a new array of its own, or the array itself if it is real.

        Numbers and arrays may be assigned: ``x.real = 1`` changes ``x``.

        >>> gpuarray.array([1 + 2j]).real
        array([1.])
        """
        return apply("real", self) if self.dtype.kind == "c" else self

    @real.setter
    def real(self, value) -> None:
        _axes.part_of(self, 0)._assign(value)

    @property
    def imag(self):
        """The imaginary parts, a new array of its own; zeros for a real array.

        Numbers and arrays may be assigned to that of a complex array; TypeError for a real one.

        >>> gpuarray.array([1 + 2j]).imag
        array([2.])
        """
        return apply("imag", self)

    @imag.setter
    def imag(self, value) -> None:
        if self.dtype.kind != "c":
            raise TypeError(f"an array of {self.dtype} has no imaginary part to set")
        _axes.part_of(self, 1)._assign(value)

    @property
    def flat(self) -> FlatElements:
        """The elements in C order, indexed, set and iterated as one axis: a :class:`FlatElements`.

        >>> gpuarray.array([[1, 2], [3, 4]]).flat[2]
        array(3)
        """
        return FlatElements(self)

    @flat.setter
    def flat(self, value) -> None:
        self.flat[:] = value

    def conj(self, out=None):
        """Return the complex conjugate; a real array returns itself.

        out: an array for the result.

        >>> gpuarray.array([1 + 2j]).conj()
        array([1.-2.j])
        """
        if self.dtype.kind != "c" and out is None:
            return self
        return apply("conjugate", self, out=out)

    conjugate = conj
