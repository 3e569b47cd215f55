# Made by tools/array_stubs.py; not to be edited.
# ruff: noqa
# fmt: off
from pycuda import gpuarray as _gpuarray
from pycuda.arrays import registry as _registry
from pycuda.arrays.protocols import all_functions as _all_functions
from pycuda.arrays.fourier.functions import (
    fft as fft, fft2 as fft2, fftfreq as fftfreq, fftn as fftn, fftshift as fftshift, hfft as hfft, ifft as ifft, ifft2 as ifft2, ifftn as ifftn,
    ifftshift as ifftshift, ihfft as ihfft, irfft as irfft, irfft2 as irfft2, irfftn as irfftn, rfft as rfft, rfft2 as rfft2, rfftfreq as rfftfreq,
    rfftn as rfftn,
)
__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2",
    "rfftfreq", "rfftn",
]
