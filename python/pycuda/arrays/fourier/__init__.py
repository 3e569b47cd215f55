"""Fourier transforms; see pycuda.fft."""
