"""Arrays as the memory behind texture references; methods of GPUArray."""

from __future__ import annotations

from pycuda import driver


def bind_to_texref(self, texref, allow_offset: bool = False) -> float:
    """Let a texture reference read this array; returns the offset in elements."""
    offset = texref.set_address(self, self.nbytes, allow_offset=allow_offset)
    return offset / self.itemsize


def bind_to_texref_ext(
    self,
    texref,
    channels: int = 1,
    allow_double_hack: bool = False,
    allow_complex_hack: bool = False,
    allow_offset: bool = False,
) -> float:
    """:meth:`bind_to_texref` with the format set to the dtype's.

    Doubles and complex numbers are read as pairs of integers, where the hacks allow it.
    """
    if not self.flags.forc:
        raise RuntimeError("only contiguous arrays may be bound to a texture")
    both = allow_complex_hack and allow_double_hack
    hacks = {
        "d": (allow_double_hack, driver.array_format.SIGNED_INT32, 2),
        "F": (allow_complex_hack, driver.array_format.UNSIGNED_INT32, 2),
        "D": (both, driver.array_format.SIGNED_INT32, 4),
    }
    allowed, texel, pairs = hacks.get(self.dtype.char, (False, None, 0))
    if allowed and channels != 1:
        raise ValueError("these elements fit into one channel only")
    if allowed:
        channels = pairs
    else:
        texel = driver.dtype_to_array_format(self.dtype)
    offset = bind_to_texref(self, texref, allow_offset)
    texref.set_format(texel, channels)
    if allowed or self.dtype.kind in "iu":
        texref.set_flags(texref.get_flags() | driver.TRSF_READ_AS_INTEGER)
    return offset
