"""OpenGL buffers and images as device memory.

The module can be imported without OpenGL. Registering an object needs a driver that supports sharing
(:func:`pycuda.driver.have_gl_ext`), and an OpenGL context that is current in the thread. softcuda does not support sharing.

>>> buffer = RegisteredBuffer(gl_buffer, graphics_map_flags.WRITE_DISCARD)
>>> mapping = buffer.map()
>>> address, size = mapping.device_ptr_and_size()
>>> kernel(numpy.intp(address), block=(256, 1, 1))
>>> mapping.unmap()
"""

from __future__ import annotations

import warnings

from pycuda import _driver
from pycuda._driver import RegisteredBuffer as RegisteredBuffer
from pycuda._driver import RegisteredImage as RegisteredImage
from pycuda._driver import RegisteredMapping as RegisteredMapping
from pycuda._driver import graphics_map_flags as graphics_map_flags


def _deprecated(what: str, instead: str) -> None:
    warnings.warn(f"{what} is deprecated; {instead}", DeprecationWarning, stacklevel=3)


def init() -> None:
    """Does nothing, and warns with a DeprecationWarning.

    Exists for old programs: sharing with OpenGL needs no initialisation.
    """
    _deprecated("pycuda.gl.init()", "it is not needed any more")


def make_context(dev: _driver.Device, flags: int = 0) -> _driver.Context:
    """Create a context on a device, and make the context current in this thread.

    dev: the Device.
    flags: a sum of members of :class:`pycuda.driver.ctx_flags`.

    The same as ``dev.make_context(flags)``: any context can share objects with OpenGL.
    """
    return dev.make_context(flags)


class BufferObject:
    """An OpenGL buffer with the interface of PyCUDA 0.94. Deprecated: use :class:`RegisteredBuffer`.

    handle: OpenGL's name of the buffer. Raises LogicError if the buffer cannot be registered.
    """

    def __init__(self, handle: int) -> None:
        _deprecated("pycuda.gl.BufferObject", "use RegisteredBuffer")
        self._registered = RegisteredBuffer(handle)

    def handle(self) -> int:
        """Return OpenGL's name of the buffer, as an int."""
        return self._registered.gl_handle()

    def unregister(self) -> None:
        """End the registration: only OpenGL can use the buffer afterwards."""
        self._registered.unregister()

    def map(self) -> BufferObjectMapping:
        """Map the buffer for CUDA. Returns a :class:`BufferObjectMapping`.

        OpenGL must not use the buffer until the mapping is unmapped.
        """
        return BufferObjectMapping(self._registered.map())


class BufferObjectMapping:
    """The mapping of a :class:`BufferObject`: CUDA may use the buffer until :meth:`unmap`, and OpenGL must not."""

    def __init__(self, mapping: RegisteredMapping) -> None:
        self._mapping = mapping

    def unmap(self) -> None:
        """End the mapping, so that OpenGL can use the buffer again. Raises LogicError if it has ended before."""
        self._mapping.unmap()

    def device_ptr(self) -> int:
        """Return the device address of the buffer, as an int."""
        return self._mapping.device_ptr_and_size()[0]

    def size(self) -> int:
        """Return the size of the buffer in bytes."""
        return self._mapping.device_ptr_and_size()[1]
