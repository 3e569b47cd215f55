"""PyCUDA's private methods of arrays, which scikit-cuda and others call."""

from pycuda._driver import _array_apply as apply
from pycuda.arrays.creation.filled import empty_as
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


class PrivateMethods:
    """Private methods that GPUArray inherits. Results are stored in ``out``, which is returned; it may be None."""

    __slots__ = ()

    def _new_like_me(self, dtype=None, order="C"):
        """Make an array with the shape and the allocator of this one, and with its strides if the dtypes are equal."""
        same = dtype is None or dtype == self.dtype
        like = empty_as(self, "K" if same else order, dtype, type(self))
        if type(like) is type(self):
            return like
        # A subclass with its own constructor. PyCUDA calls it with these arguments.
        return type(self)(
            self.shape,
            like.dtype,
            allocator=self.allocator,
            strides=like.strides,
            order=order,
        )

    def _axpbyz(self, selffac, other, otherfac, out=None, add_timer=None, stream=None):
        """``selffac * self + otherfac * other``"""
        return self.mul_add(selffac, other, otherfac, add_timer, stream, out)

    def _axpbz(self, selffac, other, out=None, stream=None):
        """``selffac * self + other``, two numbers"""
        return apply("mul_add", self, selffac, 1, other, out=out, stream=stream)

    def _elwise_multiply(self, other, out=None, stream=None):
        """``self * other``"""
        return UFUNCS["multiply"](self, other, out=out, stream=stream)

    def _div(self, other, out=None, stream=None):
        """``self / other``"""
        return UFUNCS["divide"](self, other, out=out, stream=stream)

    def _rdiv_scalar(self, other, out=None, stream=None):
        """``other / self`` with a number"""
        return UFUNCS["divide"](other, self, out=out, stream=stream)

    def _pow(self, other, new=True):
        """``self ** other``: a new array, or this one changed in place."""
        return UFUNCS["power"](self, other, out=None if new else self)
