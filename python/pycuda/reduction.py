"""Kernels that join what an expression gives for each element of arrays.

>>> dot = ReductionKernel(numpy.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
>>> dot(x_gpu, y_gpu).get()
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pycuda import _driver
from pycuda._c_types import Argument, dtype_to_ctype
from pycuda.compiler import DEFAULT_NVCC_FLAGS
from pycuda.elementwise import _describe, parse_arguments


class ReductionKernel(_driver.ReductionKernel):
    """A kernel that joins ``map_expr`` of all elements with ``reduce_expr``.

    dtype_out: of the result, and of what is joined.
    neutral: what changes nothing when joined, as C++ or a number; the result of no elements.
    reduce_expr: joins ``a`` and ``b``, such as ``"a + b"``; associative and commutative.
    map_expr: what element ``i`` contributes; None is ``"in[i]"``.
    arguments: as for :class:`pycuda.elementwise.ElementwiseKernel`; None is an array ``in`` of
        dtype_out. The first array says how many elements there are.
    name: the kernels are called ``<name>_stage1`` and ``<name>_stage2``.
    keep, options, preamble: as for :class:`pycuda.elementwise.ElementwiseKernel`. The texts may
        use ``n`` and the macros ``out_type``, ``BLOCK_SIZE``, ``READ_AND_MAP(i)`` and
        ``REDUCE(a, b)``.

    ``kernel(*args, stream=None, out=None, allocator=None)`` returns a GPUArray of no dimension,
    or ``out``. Arrays may lie in any way. Elements are joined in a tree that depends on their
    number and size alone: results are the same in every run and on every device, and the error of
    a sum grows as slowly as that of numpy's.

    Raises ValueError where ``out`` has another dtype or no element.

    >>> largest = ReductionKernel(numpy.int32, "INT_MIN", "max(a, b)", preamble="#include <climits>")
    >>> largest(x_gpu).get()
    """

    block_size = 256

    def __init__(
        self,
        dtype_out: np.dtype | type,
        neutral: object,
        reduce_expr: str,
        map_expr: str | None = None,
        arguments: str | Sequence[Argument | str] | None = None,
        name: str = "reduce_kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        preamble: str = "",
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        out_type = dtype_to_ctype(self.dtype_out)
        if arguments is None:
            arguments = f"{out_type} *in"
        self.arguments = parse_arguments(arguments)
        self.name = name
        super().__init__(
            _describe(self.arguments),
            self.dtype_out,
            out_type,
            str(neutral),
            str(reduce_expr),
            "in[i]" if map_expr is None else str(map_expr),
            name,
            str(preamble),
            list(DEFAULT_NVCC_FLAGS if options is None else options),
            bool(keep),
        )

    @property
    def stage1_func(self) -> _driver.Function:
        """The kernel that reduces arrays without gaps to one result for each block."""
        return self._stages()[0]

    @property
    def stage2_func(self) -> _driver.Function:
        """The kernel that reduces the blocks' results."""
        return self._stages()[1]
