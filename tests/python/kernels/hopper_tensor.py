"""Tensor maps for tests, made by the driver in use, and the expected results of copies with them."""

import ctypes

import numpy as np

import pycuda.driver as cuda

# In the order of CUtensorMapDataType.
TYPES = ["u1", "u2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "bfloat16"]
TYPES += ["f4_ftz", "tf32", "tf32_ftz"]
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def encode(address, dtype, extents, strides, box, steps=None, swizzle=0, nan=False):
    """A CUtensorMap as 128 bytes; extents and box innermost first. Also returns the result code."""
    rank = len(extents)
    room = (ctypes.c_byte * 192)()
    at = (ctypes.addressof(room) + 63) // 64 * 64
    driver = ctypes.CDLL(cuda.get_driver_path())
    name = dtype if dtype in TYPES else np.dtype(dtype).str[1:]
    result = driver.cuTensorMapEncodeTiled(
        ctypes.c_void_p(at),
        TYPES.index(name),
        rank,
        ctypes.c_void_p(int(address)),
        (ctypes.c_uint64 * rank)(*extents),
        (ctypes.c_uint64 * max(rank - 1, 1))(*strides),
        (ctypes.c_uint32 * rank)(*box),
        (ctypes.c_uint32 * rank)(*(steps or [1] * rank)),
        0,
        SWIZZLES[swizzle],
        0,
        int(nan),
    )
    return result, np.frombuffer(ctypes.string_at(at, 128), np.uint8)


def tensor_map(address, array, box, **options):
    """The map of a C-contiguous array, whose rows must be multiples of 16 bytes."""
    result, encoded = encode(
        address,
        array.dtype,
        array.shape[::-1],
        array.strides[-2::-1],
        box,
        **options,
    )
    assert result == 0
    return encoded


def swizzle_bytes(raw, swizzle):
    """Bytes of shared memory with the chunks of 16 bytes at the positions of a swizzle."""
    if swizzle == 0:
        return raw
    chunk = np.arange(raw.size // 16)
    moved = chunk ^ (chunk >> 3) & (swizzle // 16 - 1)
    out = np.empty_like(raw).reshape(-1, 16)
    out[moved] = raw.reshape(-1, 16)
    return out.reshape(-1)


def box_of(array, begin, box, steps=None, fill=0):
    """The box of an array that begins at `begin`; both and the steps innermost first."""
    steps = [1, *(steps or [1] * array.ndim)[1:]]
    indices = [
        start + np.arange(0, extent, step)
        for start, extent, step in zip(begin, box, steps, strict=True)
    ][::-1]
    out = np.full([len(i) for i in indices], fill, array.dtype)
    inside = [(i >= 0) & (i < n) for i, n in zip(indices, array.shape, strict=True)]
    where = np.ix_(*[np.flatnonzero(i) for i in inside])
    out[where] = array[np.ix_(*[i[k] for i, k in zip(indices, inside, strict=True)])]
    return out
