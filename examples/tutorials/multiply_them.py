"""Multiply two arrays; In and Out copy between host and device.

./run examples/tutorials/multiply_them.py
"""

import numpy

import pycuda.autoinit  # noqa: F401  (makes a context on the first device)
import pycuda.driver as drv
from pycuda.compiler import SourceModule

mod = SourceModule("""
__global__ void multiply_them(float *dest, float *a, float *b)
{
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
""")

multiply_them = mod.get_function("multiply_them")

a = numpy.random.randn(400).astype(numpy.float32)
b = numpy.random.randn(400).astype(numpy.float32)

dest = numpy.zeros_like(a)
multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))

print(dest - a * b)

assert (dest == a * b).all(), "the kernel's products differ from numpy's"
print("ok: 400 products are equal to numpy's")
