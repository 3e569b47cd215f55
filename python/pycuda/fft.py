"""Discrete Fourier transforms, with numpy.fft's names; ``numpy.fft.fft(x)`` of a GPUArray comes here too.

>>> from pycuda import fft
>>> spectrum = fft.rfft(gpuarray.ones((8, 2)), axis=0)
>>> spectrum.shape
(5, 2)

float16, float32 and complex64 are transformed in complex64, all else in complex128. Transforms are computed

- by NumPy's pocketfft where the host has the arrays' memory (softcuda), without a copy;
- by cuFFT where it is found (a toolkit, or the wheel nvidia-cufft); its plans are kept with the context;
- else by own kernels: lengths are taken apart into factors up to 13, one pass over memory for each (4 for two
  factors of 2); where a length has a larger prime factor, Bluestein's algorithm makes a convolution of it.
"""

from pycuda.arrays import registry as _registry
from pycuda.arrays.protocols import all_functions as _all_functions  # noqa: F401

_FUNCTIONS = _registry.module_functions("fft")
__all__ = list(_FUNCTIONS)
globals().update(_FUNCTIONS)
