"""Import this to make a context that can share with OpenGL, and make it current.

Any context can: it is the one of :mod:`pycuda.autoinit`.
"""

from pycuda.autoinit import context, device

__all__ = ["context", "device"]
