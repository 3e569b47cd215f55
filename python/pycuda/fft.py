"""Discrete Fourier transforms, with numpy.fft's names; ``numpy.fft.fft(x)`` of a GPUArray calls this module, too.

>>> from pycuda import fft
>>> spectrum = fft.rfft(gpuarray.ones((8, 2)), axis=0)
>>> spectrum.shape
(5, 2)

float16, float32 and complex64 are transformed in complex64, all other types in complex128. Transforms are computed

- by NumPy's pocketfft if the host can access the arrays' memory (softcuda), without a copy;
- by cuFFT if it is found (in a toolkit, or the wheel nvidia-cufft); its plans are kept with the context;
- else by this package's kernels: lengths are factored into factors up to 13 (4 for two factors of 2), with one pass
  over memory for each; if a length has a larger prime factor, Bluestein's algorithm converts it to a convolution.
"""

from pycuda import gpuarray as _gpuarray  # noqa: F401 -- results are GPUArrays
from pycuda.arrays import registry as _registry
from pycuda.arrays.protocols import all_functions as _all_functions  # noqa: F401

_FUNCTIONS = _registry.module_functions("fft")
__all__ = list(_FUNCTIONS)
globals().update(_FUNCTIONS)
