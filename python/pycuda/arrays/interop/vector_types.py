"""CUDA's vector types as numpy dtypes: ``vec.float4`` and its like."""

from __future__ import annotations

import numpy as np

#: For each base name of CUDA's vectors: NumPy's type, and the largest number of components.
_BASES = {
    "char": ("i1", 4), "short": ("i2", 4), "int": ("i4", 4), "long": ("i8", 4), "longlong": ("i8", 2),
    "uchar": ("u1", 4), "ushort": ("u2", 4), "uint": ("u4", 4), "ulong": ("u8", 4), "ulonglong": ("u8", 2),
    "float": ("f4", 4), "double": ("f8", 2),
}  # fmt: skip


class vec:
    """The vector types of CUDA C++: ``vec.float4`` is a dtype with the fields x, y, z, w.

    ``vec.make_float4(...)`` makes a number of it, ``vec.zeros_float4()`` one of zeros.

    >>> gpuarray.vec.make_float2(1, 2)["y"].item()
    2.0
    """


def _maker(dtype: np.dtype):
    def make(*values):
        if len(values) != len(dtype.fields):
            raise TypeError(
                f"expected {len(dtype.fields)} numbers, one for each field, got {len(values)}"
            )
        return np.array(tuple(values), dtype)

    return staticmethod(make)


def _define() -> None:
    from pycuda.tools import get_or_register_dtype

    for base, (scalar, most) in _BASES.items():
        for count in range(1, most + 1):
            name = f"{base}{count}"
            dtype = np.dtype([(field, scalar) for field in "xyzw"[:count]])
            get_or_register_dtype(name, dtype)
            setattr(vec, name, dtype)
            setattr(vec, f"make_{name}", _maker(dtype))


_define()
