"""Conjugate gradients with PyCUDA's interface. New programs should use :func:`pycuda.sparse.linalg.cg`."""

from __future__ import annotations

import numpy as np

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.gpuarray import GPUArray
from pycuda.sparse._conjugate_gradients import step, turn
from pycuda.sparse.inner import AsyncInnerProduct
from pycuda.sparse.operator import IdentityOperator

_CHECK_INTERVAL = 20


class ConvergenceError(RuntimeError):
    """Raised when the residual is still too large after the maximum number of iterations.

    A subclass of Python's RuntimeError. Increase ``max_iterations`` or ``tol``, or use a preconditioner.
    """


class CGStateContainer:
    """The state of an iteration: ``x``, ``residual``, the direction ``d``, and ``delta``, the residual's energy.

    operator: called with a vector, returns a vector; has ``dtype`` and ``shape``, like
        :class:`pycuda.sparse.packeted.PacketedSpMV` and :class:`pycuda.sparse.operator.OperatorBase`.
    precon: the preconditioner, an operator; None for none.
    pagelocked_allocator: called with shape and dtype; None is :func:`pycuda.driver.pagelocked_empty`.
    """

    def __init__(self, operator, precon=None, pagelocked_allocator=None) -> None:
        if precon is None:
            precon = IdentityOperator(operator.dtype, operator.shape[0])
        self.operator = operator
        self.precon = precon
        self.pagelocked_allocator = pagelocked_allocator or cuda.pagelocked_empty

    def lc2(self, a, x: GPUArray, b, y: GPUArray, out: GPUArray | None = None) -> GPUArray:  # fmt: skip
        """Return ``a * x + b * y``.

        a, b: numbers, or device arrays without axes.
        x, y: device arrays of one shape.
        out: a device array for the result; by default a new one of the type of ``x``.
        """
        result = a * x + b * y
        if out is None:
            return result.astype(x.dtype, copy=False)
        out[...] = result
        return out

    def guarded_div(self, a: GPUArray, b: GPUArray) -> GPUArray:
        """Return ``a / b``, and 0 for the elements at which ``b`` is 0.

        a, b: device arrays.
        """
        return np.where(b == 0, 0, a / np.where(b == 0, 1, b)).astype(np.result_type(a.dtype, b.dtype))  # fmt: skip

    def reset(self, rhs: GPUArray, x: GPUArray | None = None) -> None:
        """Restart with another right-hand side.

        rhs: the right-hand side, a vector on the device.
        x: the first estimate of the solution; by default zeros.
        """
        self.rhs = rhs
        if x is None:
            x = gpuarray.zeros(self.operator.shape[0], self.operator.dtype)
        self.x = x
        self.residual = rhs - self.operator(x)
        self.d = self.precon(self.residual)
        energy = AsyncInnerProduct(self.residual, self.d, self.pagelocked_allocator)
        self.real_delta_queue = [energy]
        self.delta = energy.gpu_result

    def one_iteration(self, compute_real_residual: bool = False) -> None:
        """Compute one iteration: update ``x``, ``residual``, ``d`` and ``delta``.

        compute_real_residual: True computes the residual ``rhs - operator(x)``, which costs one more product; by default the
          residual is updated from the residual of the iteration before, and rounding errors add up.
        """
        q = self.operator(self.d)
        energy = gpuarray.vdot(self.d, q)
        self.x, self.residual = step(self.delta, energy, self.d, q, self.x, self.residual)  # fmt: skip
        if compute_real_residual:
            self.residual = self.rhs - self.operator(self.x)
        conditioned = self.precon(self.residual)
        before = self.delta
        inner = AsyncInnerProduct(self.residual, conditioned, self.pagelocked_allocator)
        self.delta = inner.gpu_result
        self.d = turn(self.delta, before, conditioned, self.d)
        if compute_real_residual:
            self.real_delta_queue.append(inner)

    def run(self, max_iterations: int | None = None, tol: float = 1e-7, debug_callback=None) -> GPUArray:  # fmt: skip
        """Iterate until the energy of the real residual is ``tol ** 2`` times the initial energy; returns ``x``.

        max_iterations: by default 10 for each unknown, at least 61.
        debug_callback: called with a text ("it", "it+residual", "end"), the iteration's number, x, residual, d, delta.

        Raises :class:`ConvergenceError`.
        """
        size = self.operator.shape[0]
        if max_iterations is None:
            max_iterations = max(3 * _CHECK_INTERVAL + 1, 10 * size)
        interval = max(min(size, 50), 1)
        first = None

        def report(what: str, number: int) -> None:
            if debug_callback is not None:
                debug_callback(what, number, self.x, self.residual, self.d, self.delta)  # fmt: skip

        for iteration in range(max_iterations):
            real = iteration % interval == 0
            self.one_iteration(compute_real_residual=real)
            report("it+residual" if real else "it", iteration)
            last = iteration == max_iterations - 1
            if iteration % _CHECK_INTERVAL and not last:
                continue
            if last:
                cuda.Context.synchronize()
            if first is None:
                first = self.real_delta_queue[0].get_host_result()
                if first is None:
                    continue
                self.real_delta_queue.pop(0)
            if self._is_small(tol * tol * abs(first)):
                report("end", iteration)
                return self.x
        raise ConvergenceError(
            f"the residual was not small enough after {max_iterations} iterations"
        )

    def _is_small(self, limit: float) -> bool:
        """Whether one of the energies that have been copied to the host is at most ``limit``; removes these from the queue."""
        waiting, small = [], False
        for energy in self.real_delta_queue:
            value = energy.get_host_result()
            if value is None:
                waiting.append(energy)
            else:
                small = small or bool(abs(value) <= limit)
        self.real_delta_queue = waiting
        return small


def solve_pkt_with_cg(
    pkt_spmv, b: GPUArray, precon=None, x: GPUArray | None = None, tol: float = 1e-7,
    max_iterations: int | None = None, debug: bool = False, pagelocked_allocator=None,
):  # fmt: skip
    """Solve ``A x = b`` for a symmetric, positive definite matrix.

    pkt_spmv: the matrix, a :class:`pycuda.sparse.packeted.PacketedSpMV`.
    precon: a preconditioner of permuted vectors, such as
        ``DiagonalPreconditioner(pkt_spmv.permute(1 / diagonal))``.
    x: the initial estimate, by default 0. For the other parameters see :meth:`CGStateContainer.run`.
    debug: True prints a line for each 50 iterations.

    Returns (x, number of iterations, number of iterations that computed the real residual). Raises :class:`ConvergenceError`.

    >>> from pycuda.sparse.packeted import PacketedSpMV
    >>> a = sparse.diags([[-1.0, -1.0], [2.0, 2.0, 2.0], [-1.0, -1.0]], [-1, 0, 1], format="csr")
    >>> x, iterations, residuals = solve_pkt_with_cg(
    ...     PacketedSpMV(a, True, np.float64), gpuarray.array([1.0, 0.0, 1.0]))
    >>> x.get().round(6)
    array([1., 1., 1.])
    """
    counts = {"it": 0, "it+residual": 0, "end": 0}

    def count(what, number, x, residual, d, delta):
        counts[what] += 1
        if debug and what == "it+residual":
            print(f"iteration {number}: energy of the residual {abs(delta.get()):g}")

    state = CGStateContainer(pkt_spmv, precon, pagelocked_allocator)
    start = None if x is None else pkt_spmv.permute(x)
    state.reset(pkt_spmv.permute(b), start)
    solution = state.run(max_iterations, tol, count)
    iterations = counts["it"] + counts["it+residual"]
    return pkt_spmv.unpermute(solution), iterations, counts["it+residual"]
