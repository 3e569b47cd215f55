"""Arrays on the device: all that :mod:`pycuda.gpuarray`, NumPy's functions and the array API offer.

Programs import the public modules: :mod:`pycuda.gpuarray`, :mod:`pycuda.linalg`, :mod:`pycuda.fft` and
:mod:`pycuda.array_api`. The folders are layers: each one uses only earlier ones of this list.

- ``ufuncs``: universal functions, and the tracing that records them for :func:`pycuda.fuse`
- ``creation``: new arrays
- ``shapes``: axes, views, joining and splitting
- ``indexing``: reading and assigning elements by index or condition
- ``elementwise``: functions of each element and of its neighbours
- ``reductions``: sums, means and other reductions; running sums; segments
- ``sorting``: sorting, searching, sets
- ``interop``: host memory, files, other packages' arrays, textures
- ``linalg``, ``fourier``: linear algebra and Fourier transforms
- ``statistics``, ``numerics``: histograms, quantiles, correlation; polynomials
- ``protocols``: NumPy's functions and ufuncs called on arrays, the array API
- ``array_class``: the class GPUArray
"""
