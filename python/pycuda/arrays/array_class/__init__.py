"""The class GPUArray and its parts; see pycuda.gpuarray."""
