"""Sparse matrices on the device, with the interface of scipy.sparse.

>>> from pycuda import sparse
>>> a = sparse.csr_array((np.float32([4, 1, 3]), np.int32([0, 1, 1]), np.int32([0, 2, 3])))
>>> a.toarray()
array([[4., 1.],
       [0., 3.]], dtype=float32)
>>> a @ gpuarray.array([1, 10], np.float32)
array([14., 30.], dtype=float32)
>>> (a.T @ a).nnz
4

- Formats: CSR (:class:`csr_array`), CSC (:class:`csc_array`), COO (:class:`coo_array`); ``csr_matrix``, ``csc_matrix``
  and ``coo_matrix`` differ in that ``*`` is the product of matrices. All are :class:`Sparse`; CSR and CSC are
  :class:`Compressed`, COO is :class:`Coordinates`.
- Elements: bool, integers, float32, float64, complex64, complex128; indices are int32.
- To and from SciPy: ``csr_array(scipy_matrix)``, ``a.get()``. Only ``get()`` needs SciPy.
- Solvers: :mod:`pycuda.sparse.linalg`.

Operations run on the device of the matrix, in the current stream of the thread, with this package's kernels. On the
software device with up to three cores, SciPy's loops replace some kernels if SciPy is installed. An operation whose
result size is computed by the device, such as a sum of two matrices, waits for the size once.

:mod:`pycuda.sparse.cg`, ``coordinate``, ``inner``, ``operator`` and ``packeted`` have PyCUDA's classes.
"""

from pycuda.sparse import linalg as linalg
from pycuda.sparse._base import Sparse as Sparse
from pycuda.sparse._compressed import Compressed as Compressed
from pycuda.sparse._compressed import csc_array as csc_array
from pycuda.sparse._compressed import csc_matrix as csc_matrix
from pycuda.sparse._compressed import csr_array as csr_array
from pycuda.sparse._compressed import csr_matrix as csr_matrix
from pycuda.sparse._construct import block_diag as block_diag
from pycuda.sparse._construct import bmat as bmat
from pycuda.sparse._construct import diags as diags
from pycuda.sparse._construct import diags_array as diags_array
from pycuda.sparse._construct import eye as eye
from pycuda.sparse._construct import eye_array as eye_array
from pycuda.sparse._construct import find as find
from pycuda.sparse._construct import hstack as hstack
from pycuda.sparse._construct import identity as identity
from pycuda.sparse._construct import issparse as issparse
from pycuda.sparse._construct import kron as kron
from pycuda.sparse._construct import random as random
from pycuda.sparse._construct import random_array as random_array
from pycuda.sparse._construct import tril as tril
from pycuda.sparse._construct import triu as triu
from pycuda.sparse._construct import vstack as vstack
from pycuda.sparse._coordinates import Coordinates as Coordinates
from pycuda.sparse._coordinates import coo_array as coo_array
from pycuda.sparse._coordinates import coo_matrix as coo_matrix
