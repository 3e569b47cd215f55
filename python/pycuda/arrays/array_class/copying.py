"""Arrays copied by the module copy, and pickled, with the attributes that programs gave them."""

from __future__ import annotations

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import to_gpu
from pycuda.arrays.creation.filled import empty_as


def _unconstructed(cls: type, like: ArrayBase) -> ArrayBase:
    """Make an array of class ``cls`` with the strides of ``like``. The constructor of ``cls`` is not called."""
    array = ArrayBase.__new__(cls)
    strides = empty_as(like).strides
    _driver._array_init(
        array, like.shape, like.dtype, like.allocator, None, None, strides, "C"
    )
    return array


def restored(cls: type, host: np.ndarray) -> ArrayBase:
    """Make an array for pickle, which then sets the attributes."""
    array = to_gpu(host)
    result = _unconstructed(cls, array)
    _driver._array_assign(result, array)
    return result


# Pickles contain the path of this function. The public path stays valid if this file moves.
restored.__module__ = "pycuda.gpuarray"
restored.__name__ = restored.__qualname__ = "_restored"


class CopyMethods:
    """What GPUArray inherits. As Python does, none of these calls the constructor of a subclass."""

    __slots__ = ()

    def __copy__(self):
        result = _unconstructed(type(self), self)
        _driver._array_assign(result, self)
        if vars(self):
            vars(result).update(vars(self))
        return result

    def __deepcopy__(self, memo):
        result = CopyMethods.__copy__(self)
        memo[id(self)] = result
        if vars(self):
            from copy import deepcopy  # loaded already, because it called this method

            vars(result).update(deepcopy(vars(self), memo))
        return result

    def __reduce__(self):
        return restored, (type(self), self.get()), vars(self) or None
