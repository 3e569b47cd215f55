"""Linear algebra; see pycuda.linalg."""
