"""Buffers and images of OpenGL as memory of the device.

Nothing here needs OpenGL to be installed: the driver is asked for its part when an object is
registered, and says so where it has none (:func:`pycuda.driver.have_gl_ext`). A context of OpenGL
must be current in the thread.

>>> buffer = RegisteredBuffer(gl_buffer, graphics_map_flags.WRITE_DISCARD)
>>> mapping = buffer.map()
>>> address, size = mapping.device_ptr_and_size()
>>> kernel(numpy.intp(address), block=(256, 1, 1))
>>> mapping.unmap()
"""

from __future__ import annotations

import warnings

from pycuda import _driver
from pycuda._driver import (
    RegisteredBuffer as RegisteredBuffer,
)
from pycuda._driver import (
    RegisteredImage as RegisteredImage,
)
from pycuda._driver import (
    RegisteredMapping as RegisteredMapping,
)
from pycuda._driver import (
    graphics_map_flags as graphics_map_flags,
)


def _deprecated(what: str, instead: str) -> None:
    warnings.warn(f"{what} is deprecated; {instead}", DeprecationWarning, stacklevel=3)


def init() -> None:
    """Does nothing. Deprecated: nothing needs to be initialised any more."""
    _deprecated("pycuda.gl.init()", "it is not needed any more")


def make_context(dev: _driver.Device, flags: int = 0) -> _driver.Context:
    """A context of ``dev``, made current: any context can share with OpenGL.

    ``flags`` are of :class:`pycuda.driver.ctx_flags`.
    """
    return dev.make_context(flags)


class BufferObject:
    """A buffer of OpenGL, as PyCUDA 0.94 had it. Deprecated: use :class:`RegisteredBuffer`."""

    def __init__(self, handle: int) -> None:
        _deprecated("pycuda.gl.BufferObject", "use RegisteredBuffer")
        self._registered = RegisteredBuffer(handle)

    def handle(self) -> int:
        """OpenGL's number of the buffer."""
        return self._registered.gl_handle()

    def unregister(self) -> None:
        """Give it back to OpenGL for good."""
        self._registered.unregister()

    def map(self) -> BufferObjectMapping:
        """Make it CUDA's until the mapping is unmapped."""
        return BufferObjectMapping(self._registered.map())


class BufferObjectMapping:
    """The time for which a :class:`BufferObject` is CUDA's."""

    def __init__(self, mapping: RegisteredMapping) -> None:
        self._mapping = mapping

    def unmap(self) -> None:
        """Give the buffer back to OpenGL."""
        self._mapping.unmap()

    def device_ptr(self) -> int:
        """The buffer's address on the device."""
        return self._mapping.device_ptr_and_size()[0]

    def size(self) -> int:
        """The buffer's size in bytes."""
        return self._mapping.device_ptr_and_size()[1]
