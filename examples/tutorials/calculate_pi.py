"""Calculate pi as the integral of 4 / (1 + x*x) from 0 to 1, in three ways.

1. The kernel fills an array, the host sums it.
2. The device sums too, in 20 steps; InOut copies the array there and back each time.
3. The array stays on the device; one number is copied back.

    ./run examples/tutorials/calculate_pi.py
"""

import math

import numpy

import pycuda.autoinit  # noqa: F401  (makes a context on the first device)
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

PROBLEM_SIZE = int(1e6)


def check(name, value):
    """Print one result and stop if it is not pi."""
    print(f"{name:24} {value:.7f}")
    assert abs(value - math.pi) < 1e-5, f"{name}: expected {math.pi}, got {value}"


# 1. Map on the device, sum on the host.

module2 = SourceModule("""
__global__ void mapper(float *dest)
{
  const int id = threadIdx.x + blockDim.x*blockIdx.x;
  const double x = 1.0 * id / %d;     // x goes from 0.0 to 1.0 in PROBLEM_SIZE steps
  if (id < %d)
    dest[id] = 4.0 / (1.0 + x*x);
}
""" % (PROBLEM_SIZE, PROBLEM_SIZE))

mapper = module2.get_function("mapper")
dest = numpy.empty(PROBLEM_SIZE, dtype=numpy.float32)
blockdim = (512, 1, 1)
griddim = (int(math.ceil(PROBLEM_SIZE / 512.0)), 1, 1)

mapper(cuda.Out(dest), block=blockdim, grid=griddim)

check("sum on the host", dest.sum() * (1.0 / PROBLEM_SIZE))  # correct for bin size

# 2. Reduce on the device, with the array copied to the device and back in each step.

module3 = SourceModule("""
__global__ void reducer(float *dest, int i)
{
  const int PROBLEM_SIZE = %d;
  const int id = threadIdx.x + blockDim.x*blockIdx.x;
  if (id %% (2*i) == 0  &&  id + i < PROBLEM_SIZE) {
    dest[id] += dest[id + i];
  }
}
""" % PROBLEM_SIZE)

blockdim = (512, 1, 1)
griddim = (int(math.ceil(PROBLEM_SIZE / 512.0)), 1, 1)

reducer = module3.get_function("reducer")

# Python loop over the 20 steps to reduce the array
i = 1
while i < PROBLEM_SIZE:
    reducer(cuda.InOut(dest), numpy.int32(i), block=blockdim, grid=griddim)
    i *= 2

# final result is in the first element
check("InOut in each step", dest[0] * (1.0 / PROBLEM_SIZE))

# 3. All on the device.

# allocate the array directly on the device, no host array involved
dest_gpu = cuda.mem_alloc(PROBLEM_SIZE * numpy.dtype(numpy.float32).itemsize)

# do it again without "driver.InOut", which copies NumPy arrays to and from the device
mapper(dest_gpu, block=blockdim, grid=griddim)
i = 1
while i < PROBLEM_SIZE:
    reducer(dest_gpu, numpy.int32(i), block=blockdim, grid=griddim)
    i *= 2

# we only need the first element, so create a NumPy array with exactly one element
only_one_element = numpy.empty(1, dtype=numpy.float32)

# copy just that one element
cuda.memcpy_dtoh(only_one_element, dest_gpu)

check("all on the device", only_one_element[0] * (1.0 / PROBLEM_SIZE))
print("ok: pi in three ways")
