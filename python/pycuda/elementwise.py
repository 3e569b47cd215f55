"""Kernels from an expression that is evaluated for each element of arrays.

>>> axpy = ElementwiseKernel("float *z, float a, float *x, float *y", "z[i] = a * x[i] + y[i]")
>>> x, y = gpuarray.array([1, 2], numpy.float32), gpuarray.array([3, 4], numpy.float32)
>>> z = gpuarray.empty_like(x)
>>> axpy(z, 2, x, y)
>>> z
array([5., 8.], dtype=float32)
"""

from __future__ import annotations

from collections.abc import Sequence

from pycuda import _driver
from pycuda._c_types import Argument, ScalarArg, VectorArg, dtype_to_ctype
from pycuda._elementwise_kernels import *  # noqa: F403  # for programs of PyCUDA's time
from pycuda._kernel_arguments import describe_arguments, parse_arguments
from pycuda.compiler import DEFAULT_NVCC_FLAGS

__all__ = [
    "Argument",
    "ElementwiseKernel",
    "ScalarArg",
    "VectorArg",
    "dtype_to_ctype",
    "parse_arguments",
]


class ElementwiseKernel(_driver.ElementwiseKernel):
    """A kernel that runs ``operation`` for each element ``i``.

    arguments: as C declares them, ``"float *x, float a"``, or a list of :class:`VectorArg` and
        :class:`ScalarArg`. At least one is an array; the first array determines the number of elements.
    operation: statements in CUDA C++, such as ``"z[i] = a * x[i]"``. They can use ``i``, ``n``,
        ``tid``, ``total_threads`` and ``cta_start``.
    name: the kernel's name.
    keep: leave the compiler's files in a folder, whose name is printed.
    options: for the compiler; None is :data:`pycuda.compiler.DEFAULT_NVCC_FLAGS`.
    preamble: CUDA C++ before the kernel.
    nvcc: the compiler, as for :class:`pycuda.compiler.SourceModule`.
    loop_prep, after_loop: statements that each thread runs before its first and after its last
        element.

    ``kernel(*args, range=None, slice=None, stream=None)`` runs the kernel: over all elements, over the
    indices ``range=slice(start, stop, step)``, or over the indices that ``slice=`` selects. Arrays are GPUArrays or
    have ``__cuda_array_interface__``. For arrays of different orders or with gaps, ``x[i]`` is the element that NumPy's
    ``x.flat[i]`` is; in the compiled code, such an ``x`` is an object with ``[]``, ``*`` and ``+``.

    The kernel is compiled at the first call with arrays of each layout. Raises ValueError if the sizes of arrays
    that are used only as ``x[i]`` differ, and :class:`pycuda.driver.CompileError`.

    >>> double = elementwise.ElementwiseKernel("float *x", "x[i] *= 2")
    >>> x = gpuarray.array([1, 2, 3], np.float32)
    >>> double(x)
    >>> double(x, slice=slice(0, None, 2))
    >>> x
    array([ 4.,  4., 12.], dtype=float32)
    """

    def __init__(
        self,
        arguments: str | Sequence[Argument | str],
        operation: str,
        name: str = "kernel",
        keep: bool = False,
        options: Sequence[str] | None = None,
        *,
        preamble: str = "",
        loop_prep: str = "",
        after_loop: str = "",
        nvcc: str = "nvcc",
    ) -> None:
        self.arguments = parse_arguments(arguments)
        if not any(isinstance(argument, VectorArg) for argument in self.arguments):
            raise ValueError(
                f"elementwise kernel {name!r} needs at least one array among its arguments"
            )
        self.name = name
        super().__init__(
            describe_arguments(self.arguments),
            str(operation),
            name,
            str(preamble),
            str(loop_prep),
            str(after_loop),
            list(DEFAULT_NVCC_FLAGS if options is None else options),
            bool(keep),
            nvcc,
        )

    def get_texref(self, name: str, use_range: bool = False) -> None:
        """Always raises NotImplementedError: CUDA 12 removed texture references.

        The parameters are those of PyCUDA.
        """
        raise NotImplementedError(
            f"texture reference {name!r}: CUDA 12 removed texture references; pass a texture "
            "object, or read the array itself"
        )
