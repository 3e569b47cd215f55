"""Import this module to create a context that can share objects with OpenGL, and to make it current.

Any context can share objects; this is the context of :mod:`pycuda.autoinit`.
"""

from pycuda.autoinit import context, device

__all__ = ["context", "device"]
