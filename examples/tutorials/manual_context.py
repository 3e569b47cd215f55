"""Choose a device and handle its context by hand, without pycuda.autoinit.

./run examples/tutorials/manual_context.py [DEVICE]
"""

import sys

import numpy

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

device_nr = int(sys.argv[1]) if len(sys.argv) > 1 else 0

cuda.init()  # init pycuda driver
current_dev = cuda.Device(device_nr)  # device we are working on
ctx = current_dev.make_context()  # make a working context
ctx.push()  # make it the current context

mod = SourceModule("""
__global__ void doublify(float *a)
{
  int idx = threadIdx.x + threadIdx.y*4;
  a[idx] *= 2;
}
""")
a = numpy.random.randn(4, 4).astype(numpy.float32)
a_doubled = a.copy()
mod.get_function("doublify")(cuda.InOut(a_doubled), block=(4, 4, 1))

ctx.pop()  # deactivate again
ctx.detach()  # delete it

assert (a_doubled == 2 * a).all(), "the kernel did not double the array"
print(
    f"ok: device {device_nr} ({current_dev.name()}) did the work, its context is gone"
)
