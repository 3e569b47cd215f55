"""Linear algebra with sparse matrices, with the names of scipy.sparse.linalg."""

from __future__ import annotations

import numpy as np

from pycuda.gpuarray import GPUArray, asarray, vdot, zeros
from pycuda.sparse._base import Sparse, is_number
from pycuda.sparse._compressed import csr_array
from pycuda.sparse._conjugate_gradients import step, turn
from pycuda.sparse._kernels import on_own_device

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LinearOperator", "aslinearoperator", "cg", "norm"]


class LinearOperator:
    """A linear map that a function computes, without a stored matrix.

    shape: rows and columns. matvec: the function, which takes a vector (columns,) and returns a vector (rows,).
    rmatvec: the function for the conjugate transpose; may be missing. dtype: the type of the numbers.

    >>> from pycuda.sparse.linalg import LinearOperator
    >>> twice = LinearOperator((2, 2), lambda x: 2 * x, dtype=np.float64)
    >>> twice @ gpuarray.array([1.0, 2.0])
    array([2., 4.])
    """

    def __init__(self, shape, matvec: Callable, rmatvec: Callable | None = None, dtype=np.float64):  # fmt: skip
        rows, columns = shape
        self.shape = (int(rows), int(columns))
        self.dtype = np.dtype(dtype)
        self._matvec = matvec
        self._rmatvec = rmatvec

    def matvec(self, x) -> GPUArray:
        """Apply the map to a vector. ``operator @ x`` and ``operator(x)`` are other spellings.

        x: an array of shape (columns,); others raise ValueError. Returns the result of the operator's function.

        >>> from pycuda.sparse.linalg import LinearOperator
        >>> LinearOperator((2, 2), lambda x: 2 * x).matvec(gpuarray.array([1.0, 2.0]))
        array([2., 4.])
        """
        return self._called(self._matvec, x, self.shape[1])

    def rmatvec(self, x) -> GPUArray:
        """Apply the conjugate transpose of the map to a vector.

        x: an array of shape (rows,); others raise ValueError. Raises NotImplementedError if the operator has no ``rmatvec``.
        """
        if self._rmatvec is None:
            raise NotImplementedError("this LinearOperator has no rmatvec")
        return self._called(self._rmatvec, x, self.shape[0])

    def _called(self, function, x, length: int) -> GPUArray:
        x = asarray(x)
        if x.shape != (length,):
            raise ValueError(f"the operator of shape {self.shape} expects a vector of {length} numbers, not shape {x.shape}")  # fmt: skip
        return function(x)

    __call__ = __matmul__ = matvec


def aslinearoperator(A) -> LinearOperator:
    """Convert a sparse matrix, a dense array, or an object with ``shape`` and ``matvec`` or ``__call__`` to an operator.

    Raises TypeError for other objects.

    >>> from pycuda.sparse.linalg import aslinearoperator
    >>> aslinearoperator(sparse.eye(2)) @ gpuarray.array([1.0, 2.0])
    array([1., 2.])
    """
    if isinstance(A, LinearOperator):
        return A
    if hasattr(A, "tocsr") and not isinstance(A, Sparse):
        A = csr_array(A)
    if isinstance(A, Sparse):
        return LinearOperator(A.shape, A.dot, lambda x: A.H.dot(x), A.dtype)
    if hasattr(A, "shape") and len(A.shape) == 2:
        dtype = getattr(A, "dtype", np.float64)
        for name in ("matvec", "__call__"):
            if hasattr(A, name):
                return LinearOperator(A.shape, getattr(A, name), getattr(A, "rmatvec", None), dtype)  # fmt: skip
        if isinstance(A, (GPUArray, np.ndarray)) or hasattr(A, "__cuda_array_interface__"):  # fmt: skip
            array = asarray(A)
            return LinearOperator(A.shape, array.dot, lambda x: array.T.conj().dot(x), dtype)  # fmt: skip
    raise TypeError(
        f"expected a matrix, an array of two axes or an object with shape and matvec, not {type(A).__name__}"
    )


def _square(A, what: str, n: int | None = None) -> LinearOperator:
    operator = aslinearoperator(A)
    rows, columns = operator.shape
    if rows != columns:
        raise ValueError(f"{what} must be square, not shape {operator.shape}")
    if n is not None and rows != n:
        raise ValueError(f"{what} of shape {operator.shape} does not fit {n} unknowns")
    return operator


def _vector(values, name: str, n: int, kind) -> GPUArray:
    array = asarray(values)
    if array.shape not in ((n,), (n, 1)):
        raise ValueError(f"{name} must have shape ({n},), not {array.shape}")
    return array.reshape(n).astype(kind).copy("C")


def _between_checks(iteration: int) -> int:
    """The number of iterations before the next check of the residual: a sixteenth of the iterations so far."""
    return min(max(iteration // 16, 1), 16)


@on_own_device
def cg(A, b, x0=None, *, rtol=1e-5, atol=0.0, maxiter=None, M=None, callback=None):
    """Solve ``A @ x = b`` for a Hermitian, positive definite matrix by conjugate gradients.

    A: a sparse matrix, a dense array or a :class:`LinearOperator`, of shape (n, n).
    b: the right-hand side, (n,) or (n, 1).
    x0: the initial estimate, by default 0; it is not changed.
    rtol, atol: the iteration ends when the norm of the residual ``b - A @ x`` is at most ``max(rtol * norm(b), atol)``.
    maxiter: the largest number of iterations, by default 10 n.
    M: a preconditioner, an approximate inverse of ``A``, of the same types as ``A``.
    callback: called after each iteration with ``x``.

    Returns (x, info): x has shape (n,) and the common type of ``A``, ``b`` and ``x0``, at least float32; info is 0 if the
    residual became small enough, else the number of iterations. The residual is updated by the iteration, not computed as ``b - A @ x``.
    From iteration 32 on, it is not checked after each iteration, but at intervals of a sixteenth of the iterations so
    far, at most 16: this costs up to 15 unnecessary iterations, but the device need not wait for the host.

    Hestenes and Stiefel, J. Res. Nat. Bur. Stand. 49, 409 (1952). Raises ValueError for shapes that do not fit.

    >>> from pycuda.sparse.linalg import cg
    >>> a = sparse.diags([[-1.0, -1.0], [2.0, 2.0, 2.0], [-1.0, -1.0]], [-1, 0, 1], format="csr")
    >>> x, info = cg(a, gpuarray.array([1.0, 0.0, 1.0]))
    >>> x.get().round(6), info
    (array([1., 1., 1.]), 0)
    """
    operator = _square(A, "A")
    n = operator.shape[0]
    b = asarray(b)
    kinds = [operator.dtype, b.dtype] + ([] if x0 is None else [asarray(x0).dtype])
    kind = np.result_type(np.float32, *kinds)
    b = _vector(b, "b", n, kind)
    precondition = None if M is None else _square(M, "M", n)
    x = zeros(n, kind) if x0 is None else _vector(x0, "x0", n, kind)
    size = float(norm_of(b)) if n else 0.0
    if size == 0.0:
        return zeros(n, kind), 0
    limit = max(rtol * size, atol)
    maxiter = 10 * n if maxiter is None else int(maxiter)
    if maxiter < 1:
        raise ValueError(f"maxiter must be at least 1, not {maxiter}")
    r = b if x0 is None else b - operator(x)
    return _iterate(operator, precondition, x, r, limit, maxiter, callback)


def norm_of(x: GPUArray) -> float:
    """Return the Euclidean norm of a vector as a float. Waits for the device.

    x: a device vector.
    """
    return float(np.sqrt(vdot(x, x).real.get()))


def _iterate(operator, precondition, x, r, limit, maxiter, callback):
    """Conjugate gradients from ``x`` with residual ``r``."""
    kind = x.dtype

    def conditioned():
        return r if precondition is None else precondition(r).astype(kind, copy=False)

    def is_small() -> bool:
        if precondition is None:
            return float(np.sqrt(energy.real.get())) <= limit
        return norm_of(r) <= limit

    p = z = conditioned()
    energy = vdot(r, z)
    if is_small():
        return x, 0
    check = 1
    for iteration in range(1, maxiter + 1):
        q = operator(p).astype(kind, copy=False)
        x, r = step(energy, vdot(p, q), p, q, x, r)
        if callback is not None:
            callback(x)
        z = conditioned()
        before, energy = energy, vdot(r, z)
        if iteration in (check, maxiter):
            if is_small():
                return x, 0
            check = iteration + _between_checks(iteration)
        p = turn(energy, before, z, p)
    return x, maxiter


@on_own_device
def norm(x, ord=None, axis=None):
    """Return the norm of a sparse matrix as a device array without axes, or one norm for each row or column.

    ord: None or "fro" (Frobenius), 1 (the largest sum of absolute values of a column), inf (of a row), -1 and -inf (the
        smallest sums).
    axis: None for the norm of the matrix; 0 for the norms of the columns, 1 of the rows: Euclidean (None, 2), or the
        sum of absolute values (1).

    Raises NotImplementedError for another ``ord``, TypeError if ``x`` is not sparse.

    >>> from pycuda.sparse.linalg import norm
    >>> norm(3 * sparse.eye(4))
    array(6.)
    """
    if not isinstance(x, Sparse):
        raise TypeError(f"norm() expects a sparse matrix, not {type(x).__name__}")
    x = x.tocsr()
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    if axis is not None:
        if ord in (None, 2):
            return np.sqrt(_squares(x).sum(axis)._ravel())
        if ord == 1:
            return abs(x).sum(axis)._ravel()
        raise NotImplementedError(f"the norm along an axis is None, 1 or 2, not {ord!r}")  # fmt: skip
    if ord in (None, "fro", "f"):
        return np.sqrt(_squares(x).sum())
    if is_number(ord) and abs(ord) in (1, np.inf):
        sums = abs(x).sum(0 if abs(ord) == 1 else 1)._ravel()
        return sums.max() if ord > 0 else sums.min()
    raise NotImplementedError(f"ord must be None, 'fro', 1, -1, inf or -inf, not {ord!r}")  # fmt: skip


def _squares(x: Sparse) -> Sparse:
    size = abs(x.data)
    return x._with_data(size * size)
