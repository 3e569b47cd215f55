"""Kernels for scans (running sums): each element is combined with all elements before it.

>>> running_sum = InclusiveScanKernel(numpy.int32, "a + b")
>>> running_sum(gpuarray.array([1, 2, 3], numpy.int32))
array([1, 3, 6], dtype=int32)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from pycuda import _driver
from pycuda._c_types import dtype_to_ctype
from pycuda.compiler import DEFAULT_NVCC_FLAGS
from pycuda.gpuarray import GPUArray


def _same_bits(dtype: object, wanted: np.dtype) -> bool:
    """True for equal types, and for integers of the same size: sums of uint32 have the bits of int32."""
    if dtype == wanted:
        return True
    kinds = (
        getattr(dtype, "kind", "?") + wanted.kind
    )  # torch's types have no attribute `kind`
    return set(kinds) <= set("iu") and dtype.itemsize == wanted.itemsize


class _ScanKernel(_driver.ScanKernel):
    """The common base of both scans."""

    _exclusive: bool

    def __init__(
        self,
        dtype: np.dtype | type,
        scan_expr: str,
        neutral: object = None,
        name_prefix: str = "scan",
        options: Sequence[str] | None = None,
        preamble: str = "",
        devices: object = None,
        *,
        nvcc: str = "nvcc",
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.neutral = neutral
        super().__init__(
            dtype_to_ctype(self.dtype),
            self.dtype.itemsize,
            str(scan_expr),
            "" if neutral is None else str(neutral),
            self._exclusive,
            name_prefix,
            str(preamble),
            list(DEFAULT_NVCC_FLAGS if options is None else options),
            nvcc,
        )

    def __call__(
        self,
        input_ary: object,
        output_ary: object = None,
        allocator: Callable | None = None,
        stream: _driver.Stream | None = None,
    ) -> object:
        """Scan ``input_ary``, write the result to ``output_ary``, and return it.

        Both have one axis, of any stride, or are C-contiguous. Without ``output_ary``
        the input is overwritten; ``"new"`` creates an array, with memory from ``allocator``. Raises
        ValueError if shapes differ, TypeError if elements have another dtype. Integers of
        the same size may differ in their sign: the kernel interprets the bits as its own type.
        """
        if output_ary is None:
            output_ary = input_ary
        elif isinstance(output_ary, str):
            if output_ary != "new":
                raise ValueError(
                    f'output_ary must be an array, None or "new", not {output_ary!r}'
                )
            allocator = allocator or getattr(input_ary, "_own_allocator", None)
            own = isinstance(input_ary, GPUArray)
            context = _driver._array_context(input_ary) if own else None
            with _driver._Work(stream, context=context):
                output_ary = GPUArray(input_ary.shape, self.dtype, allocator)
        for array in (input_ary, output_ary):
            dtype = getattr(array, "dtype", self.dtype)
            if not _same_bits(dtype, self.dtype):
                raise TypeError(
                    f"the scan has dtype {self.dtype}, but the array has dtype {dtype}"
                )
        if getattr(input_ary, "shape", None) != getattr(output_ary, "shape", None):
            raise ValueError(
                f"input and output must have the same shape, not {input_ary.shape} and "
                f"{output_ary.shape}"
            )
        self._run(output_ary, input_ary, stream)
        return output_ary


class InclusiveScanKernel(_ScanKernel):
    """A scan in which element ``i`` of the result is the combination of elements 0 to ``i``.

    dtype: the type of the elements.
    scan_expr: combines ``a``, the earlier value, and ``b``, such as ``"a + b"``; associative.
    neutral: not needed.
    name_prefix: the kernel's name.
    options, preamble, nvcc: as for :class:`pycuda.elementwise.ElementwiseKernel`. The texts may use the
        macros ``scan_type`` and ``SCAN_EXPR(a, b)``.
    devices: ignored, as in PyCUDA.

    ``kernel(input_ary, output_ary=None, allocator=None, stream=None)`` reads and writes memory
    once. Without ``output_ary`` the input is overwritten; "new" creates an array. The order of operations depends only on
    the number of elements: results are the same in every run and on every device. The method is the decoupled look-back
    over tiles (Merrill and Garland, Single-pass parallel prefix scan, 2016), with a fixed order.

    >>> largest = scan.InclusiveScanKernel(np.int32, "max(a, b)")
    >>> largest(gpuarray.array([3, 1, 5], np.int32), "new")
    array([3, 3, 5], dtype=int32)
    """

    _exclusive = False


class ExclusiveScanKernel(_ScanKernel):
    """A scan in which element ``i`` of the result is the combination of elements 0 to ``i - 1``.

    neutral: the first element of the result, as C++ or a number; ValueError is raised if it is missing.

    The other parameters are those of :class:`InclusiveScanKernel`.

    >>> before = scan.ExclusiveScanKernel(np.int32, "a + b", 0)
    >>> before(gpuarray.array([3, 1, 5], np.int32), "new")
    array([0, 3, 4], dtype=int32)
    """

    _exclusive = True
