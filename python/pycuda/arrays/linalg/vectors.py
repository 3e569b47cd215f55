"""Products of vectors."""

from __future__ import annotations

from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.shapes.joining import stack
from pycuda.arrays.shapes.views import broadcast_arrays, moveaxis
from pycuda.arrays.ufuncs.universal_functions import UFUNCS


def cross(a, b, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis=None):
    """The cross products of vectors of three elements."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(as_array(a), axisa, -1), moveaxis(as_array(b), axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(
            f"both must be vectors of 3 elements, not {a.shape[-1]} and {b.shape[-1]}"
        )
    (a0, a1, a2), (b0, b1, b2) = (
        tuple(moveaxis(one, -1, 0)) for one in broadcast_arrays(a, b)
    )
    parts = [a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0]
    return moveaxis(stack(parts, -1), -1, axisc)


def outer(a, b, out=None):
    """The products of each element of ``a`` with each of ``b``."""
    a, b = as_array(a), as_array(b)
    return UFUNCS["multiply"](a._ravel()[:, None], b._ravel()[None, :], out=out)
