"""All modules that declare public functions, imported so that the registry is complete.

pycuda.gpuarray alone does not load this module: its import takes 2 ms less without linear algebra and transforms.
"""

# ruff: noqa: F401

from pycuda.arrays.fourier import functions
from pycuda.arrays.linalg import eigen, factoring, norms, spectral, tensor_equations
from pycuda.arrays.protocols import main_functions
