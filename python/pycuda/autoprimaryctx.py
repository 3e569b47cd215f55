"""Import this module to make the primary context of the first device that works current.

It does the same as :mod:`pycuda.autoinit`.
"""

from pycuda.autoinit import context, device

__all__ = ["context", "device"]
