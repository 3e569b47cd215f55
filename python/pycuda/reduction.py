"""Kernels that evaluate an expression for each element of arrays, and reduce the results.

>>> dot = ReductionKernel(numpy.float32, "0", "a + b", "x[i] * y[i]", "float *x, float *y")
>>> x = gpuarray.array([1, 2], numpy.float32)
>>> dot(x, x)
array(5., dtype=float32)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import pycuda.gpuarray  # noqa: F401 -- results are GPUArrays
from pycuda import _driver
from pycuda._c_types import Argument, VectorArg, dtype_to_ctype
from pycuda._kernel_arguments import describe_arguments, parse_arguments
from pycuda.compiler import DEFAULT_NVCC_FLAGS
from pycuda.tools import context_dependent_memoize


class ReductionKernel(_driver.ReductionKernel):
    """A kernel that reduces ``map_expr`` of all elements with ``reduce_expr``.

    dtype_out: the type of the result, and of the values that are combined.
    neutral: the neutral element of ``reduce_expr``, as C++ or a number; the result of no elements.
    reduce_expr: combines ``a`` and ``b``, such as ``"a + b"``; associative and commutative.
    map_expr: the value of element ``i``; None is ``"in[i]"``.
    arguments: as for :class:`pycuda.elementwise.ElementwiseKernel`; None is an array ``in`` of
        dtype_out. The first array determines the number of elements.
    name: the kernels are called ``<name>_stage1`` and ``<name>_stage2``.
    keep, options, preamble, nvcc: as for :class:`pycuda.elementwise.ElementwiseKernel`. The texts may
        use ``n`` and the macros ``out_type``, ``BLOCK_SIZE``, ``READ_AND_MAP(i)`` and
        ``REDUCE(a, b)``.

    ``kernel(*args, stream=None, out=None, allocator=None)`` returns a GPUArray without axes,
    or ``out``. Arrays may have any strides. Elements are combined in a tree that depends only on their
    number and size: results are the same in every run and on every device, and the error of
    a sum grows as slowly as in NumPy.

    Raises ValueError if ``out`` has another dtype or no element.

    >>> largest = reduction.ReductionKernel(np.int32, "INT_MIN", "max(a, b)", preamble="#include <climits>")
    >>> largest(gpuarray.array([3, 9, 4], np.int32))
    array(9, dtype=int32)
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
        *,
        nvcc: str = "nvcc",
    ) -> None:
        self.dtype_out = np.dtype(dtype_out)
        out_type = dtype_to_ctype(self.dtype_out)
        if arguments is None:
            arguments = f"{out_type} *in"
        self.arguments = parse_arguments(arguments)
        self.name = name
        super().__init__(
            describe_arguments(self.arguments),
            self.dtype_out,
            out_type,
            str(neutral),
            str(reduce_expr),
            "in[i]" if map_expr is None else str(map_expr),
            name,
            str(preamble),
            list(DEFAULT_NVCC_FLAGS if options is None else options),
            bool(keep),
            nvcc,
        )

    @property
    def stage1_func(self) -> _driver.Function:
        """The kernel of the first stage: each block reduces a part of the arrays to one result.

        A property for programs that launch the stages themselves, as with PyCUDA. The arrays must have no gaps.
        """
        return self._stages()[0]

    @property
    def stage2_func(self) -> _driver.Function:
        """The second kernel, a Function: it reduces the results of the blocks to one value."""
        return self._stages()[1]

    @property
    def stage1_arg_types(self) -> list[Argument]:
        """The arguments of the first kernel as declared, a list of :class:`pycuda.tools.VectorArg` and ``ScalarArg``."""
        return list(self.arguments)

    @property
    def stage2_arg_types(self) -> list[Argument]:
        """The arguments of the second kernel: the results of the blocks, then the arguments of the first kernel."""
        return [VectorArg(self.dtype_out, "pycuda_reduction_inp"), *self.arguments]


# Kernels for older programs of PyCUDA; new programs use gpuarray.sum() and similar functions.


def _subset(dtype_subset, dtype_in) -> tuple[str, str]:
    """The arguments and the value of element ``i``, for elements that are selected by their indices."""
    places, values = dtype_to_ctype(dtype_subset), dtype_to_ctype(dtype_in)
    return f"const {places} *lookup_tbl, const {values} *in", "in[lookup_tbl[i]]"


@context_dependent_memoize
def get_sum_kernel(dtype_out, dtype_in) -> ReductionKernel:
    """Make the kernel of a sum: ``kernel(in)``. None as ``dtype_out`` is ``dtype_in``.

    >>> reduction.get_sum_kernel(None, np.int32)(gpuarray.array([1, 2], np.int32))
    array(3, dtype=int32)
    """
    out = dtype_in if dtype_out is None else dtype_out
    arguments = f"const {dtype_to_ctype(dtype_in)} *in"
    return ReductionKernel(out, "0", "a + b", arguments=arguments)


@context_dependent_memoize
def get_subset_sum_kernel(dtype_out, dtype_subset, dtype_in) -> ReductionKernel:
    """Make the kernel of a sum of the elements at flat indices: ``kernel(lookup_tbl, in)``.

    >>> kernel = reduction.get_subset_sum_kernel(None, np.int32, np.int32)
    >>> kernel(gpuarray.array([0, 2], np.int32), gpuarray.array([1, 2, 3], np.int32))
    array(4, dtype=int32)
    """
    out = dtype_in if dtype_out is None else dtype_out
    arguments, element = _subset(dtype_subset, dtype_in)
    return ReductionKernel(out, "0", "a + b", element, arguments)


@context_dependent_memoize
def get_any_kernel(dtype_out, dtype_in) -> ReductionKernel:
    """Make the kernel that gives 1 if an element is not 0, else 0: ``kernel(in)``. None as ``dtype_out`` is ``dtype_in``.

    >>> reduction.get_any_kernel(None, np.int32)(gpuarray.array([0, 2], np.int32))
    array(1, dtype=int32)
    """
    out = dtype_in if dtype_out is None else dtype_out
    arguments = f"const {dtype_to_ctype(dtype_in)} *in"
    return ReductionKernel(out, "0", "a != 0 || b != 0", "in[i] != 0", arguments)


@context_dependent_memoize
def get_all_kernel(dtype_out, dtype_in) -> ReductionKernel:
    """Make the kernel that gives 0 if an element is 0, else 1: ``kernel(in)``. None as ``dtype_out`` is ``dtype_in``.

    >>> reduction.get_all_kernel(None, np.int32)(gpuarray.array([0, 2], np.int32))
    array(0, dtype=int32)
    """
    out = dtype_in if dtype_out is None else dtype_out
    arguments = f"const {dtype_to_ctype(dtype_in)} *in"
    return ReductionKernel(out, "1", "a != 0 && b != 0", "in[i] != 0", arguments)


def _dot_types(dtype_out, dtype_a, dtype_b) -> tuple[np.dtype, str, str]:
    """The type of the result, and the names of the operands' types in C. Missing types are derived."""
    dtype_a = dtype_out if dtype_a is None else dtype_a
    dtype_b = dtype_a if dtype_b is None else dtype_b
    out = np.result_type(dtype_a, dtype_b) if dtype_out is None else dtype_out
    return np.dtype(out), dtype_to_ctype(dtype_a), dtype_to_ctype(dtype_b)


@context_dependent_memoize
def get_dot_kernel(dtype_out, dtype_a=None, dtype_b=None) -> ReductionKernel:
    """Make the kernel of a sum of products: ``kernel(a, b)``. The dtypes of ``a`` and ``b`` are ``dtype_out`` by default.

    >>> x = gpuarray.array([1, 2], np.float32)
    >>> reduction.get_dot_kernel(np.float32)(x, x)
    array(5., dtype=float32)
    """
    out, a, b = _dot_types(dtype_out, dtype_a, dtype_b)
    arguments = f"const {a} *a_in, const {b} *b_in"
    return ReductionKernel(out, "0", "a + b", "a_in[i] * b_in[i]", arguments)


@context_dependent_memoize
def get_subset_dot_kernel(
    dtype_out, dtype_subset, dtype_a=None, dtype_b=None
) -> ReductionKernel:
    """Make the kernel of a sum of products of the elements at flat indices: ``kernel(lookup_tbl, a, b)``.

    >>> x = gpuarray.array([1, 2, 3], np.float32)
    >>> reduction.get_subset_dot_kernel(np.float32, np.int32)(gpuarray.array([0, 2], np.int32), x, x)
    array(10., dtype=float32)
    """
    out, a, b = _dot_types(dtype_out, dtype_a, dtype_b)
    arguments = f"const {dtype_to_ctype(dtype_subset)} *lookup_tbl, const {a} *a_in, const {b} *b_in"
    product = "a_in[lookup_tbl[i]] * b_in[lookup_tbl[i]]"
    return ReductionKernel(out, "0", "a + b", product, arguments)


def get_minmax_neutral(what: str, dtype) -> str:
    """Return the neutral element of the minimum (``what`` is "min") or the maximum ("max") of a dtype, as C++ code.

    >>> isinstance(reduction.get_minmax_neutral("min", np.int32), str)
    True
    """
    dtype = np.dtype(dtype)
    if what not in ("min", "max"):
        raise ValueError(f'what must be "min" or "max", not {what!r}')
    if dtype.kind == "f":
        infinity = "__int_as_float(0x7f800000)"  # an expression that needs no header
        return infinity if what == "min" else f"-{infinity}"
    if dtype.kind not in "iu":
        raise TypeError(f"minimum and maximum are not defined for {dtype}")
    limits = np.iinfo(dtype)
    limit = limits.max if what == "min" else limits.min
    # The lowest number has no literal: C++ parses -x as the negative of x.
    text = f"(-{-(limit + 1)}LL - 1)" if limit < 0 else f"{limit}ULL"
    return f"({dtype_to_ctype(dtype)}){text}"


def _minmax(what: str, dtype) -> str:
    """The C++ function that combines two elements."""
    return f"f{what}(a, b)" if np.dtype(dtype).kind == "f" else f"{what}(a, b)"


@context_dependent_memoize
def get_minmax_kernel(what: str, dtype) -> ReductionKernel:
    """Make a kernel that computes the minimum (``what`` is "min") or the maximum ("max"): ``kernel(in)``.

    >>> reduction.get_minmax_kernel("max", np.int32)(gpuarray.array([1, 5], np.int32))
    array(5, dtype=int32)
    """
    neutral, join = get_minmax_neutral(what, dtype), _minmax(what, dtype)
    arguments = f"const {dtype_to_ctype(dtype)} *in"
    return ReductionKernel(dtype, neutral, join, arguments=arguments)


@context_dependent_memoize
def get_subset_minmax_kernel(what: str, dtype, dtype_subset) -> ReductionKernel:
    """Make the kernel of the smallest or largest of the elements at flat indices: ``kernel(lookup_tbl, in)``.

    >>> kernel = reduction.get_subset_minmax_kernel("min", np.int32, np.int32)
    >>> kernel(gpuarray.array([1, 2], np.int32), gpuarray.array([1, 5, 3], np.int32))
    array(3, dtype=int32)
    """
    neutral, join = get_minmax_neutral(what, dtype), _minmax(what, dtype)
    arguments, element = _subset(dtype_subset, dtype)
    return ReductionKernel(dtype, neutral, join, element, arguments)
