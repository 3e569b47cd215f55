# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
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

from pycuda import gpuarray as _gpuarray
from pycuda.arrays import registry as _registry
from pycuda.arrays.protocols import all_functions as _all_functions
from pycuda.arrays.fourier.functions import fft as fft
from pycuda.arrays.fourier.functions import fft2 as fft2
from pycuda.arrays.fourier.functions import fftfreq as fftfreq
from pycuda.arrays.fourier.functions import fftn as fftn
from pycuda.arrays.fourier.functions import fftshift as fftshift
from pycuda.arrays.fourier.functions import hfft as hfft
from pycuda.arrays.fourier.functions import ifft as ifft
from pycuda.arrays.fourier.functions import ifft2 as ifft2
from pycuda.arrays.fourier.functions import ifftn as ifftn
from pycuda.arrays.fourier.functions import ifftshift as ifftshift
from pycuda.arrays.fourier.functions import ihfft as ihfft
from pycuda.arrays.fourier.functions import irfft as irfft
from pycuda.arrays.fourier.functions import irfft2 as irfft2
from pycuda.arrays.fourier.functions import irfftn as irfftn
from pycuda.arrays.fourier.functions import rfft as rfft
from pycuda.arrays.fourier.functions import rfft2 as rfft2
from pycuda.arrays.fourier.functions import rfftfreq as rfftfreq
from pycuda.arrays.fourier.functions import rfftn as rfftn

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
