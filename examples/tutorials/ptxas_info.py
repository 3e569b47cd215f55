"""Show how many registers and how much memory a kernel uses.

The option `--ptxas-options=-v` makes ptxas print this; pycuda shows the output as a warning
("The CUDA compiler succeeded, but said the following").

    ./run examples/tutorials/ptxas_info.py
"""

import numpy

import pycuda.autoinit  # noqa: F401  (makes a context on the first device)
import pycuda.driver as drv
from pycuda.compiler import SourceModule

mod = SourceModule(
    """
__global__ void vec_elm_mul(float *dest, float *a, float *b)
{
    const int i = threadIdx.x;
    dest[i] = a[i] * b[i];
}
""",
    options=["--ptxas-options=-v"],
)
vec_elm_mul = mod.get_function("vec_elm_mul")

a = numpy.random.randn(400).astype(numpy.float32)
b = numpy.random.randn(400).astype(numpy.float32)

dest = numpy.zeros_like(a)
vec_elm_mul(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))

assert (dest == a * b).all(), "the kernel's products differ from numpy's"
print("ok: 400 products are equal to numpy's")
