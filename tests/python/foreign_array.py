"""An array on the device that has only __cuda_array_interface__, as arrays of other libraries do."""

import ctypes

import numpy as np

import pycuda.driver as cuda


class ForeignArray:
    """A copy of a numpy array with the same strides, on the device; ``view`` shares its memory."""

    def __init__(self, array, memory=None, offset=None):
        # The host's bytes from the lowest address on; element 0 is `offset` bytes after it.
        low, high = np.lib.array_utils.byte_bounds(array)
        self.offset = array.ctypes.data - low if offset is None else offset
        if memory is None:
            memory = cuda.mem_alloc(max(1, high - low))
            if high > low:
                cuda.memcpy_htod(memory, ctypes.string_at(low, high - low))
        self.memory = memory
        self.shape, self.strides, self.dtype = array.shape, array.strides, array.dtype

    def view(self, change):
        """The view that ``change`` makes of a numpy array; ``change`` may be ``lambda a: a[::-1]``."""
        stand_in = np.lib.stride_tricks.as_strided(
            np.zeros(1, self.dtype), self.shape, self.strides
        )
        changed = change(stand_in)
        moved = changed.ctypes.data - stand_in.ctypes.data
        return ForeignArray(changed, self.memory, self.offset + moved)

    @property
    def __cuda_array_interface__(self):
        return {
            "shape": self.shape,
            "strides": self.strides,
            "typestr": self.dtype.str,
            "data": (int(self.memory) + self.offset, False),
            "version": 3,
        }

    def get(self):
        """The elements as a new numpy array."""
        if 0 in self.shape:
            return np.zeros(self.shape, self.dtype)
        reach = [
            (n - 1) * step for n, step in zip(self.shape, self.strides, strict=True)
        ]
        low = sum(r for r in reach if r < 0)
        high = sum(r for r in reach if r > 0) + self.dtype.itemsize
        raw = np.empty(high - low, np.uint8)
        cuda.memcpy_dtoh(raw, int(self.memory) + self.offset + low)
        return np.ndarray(self.shape, self.dtype, raw, -low, self.strides).copy()
