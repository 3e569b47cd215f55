"""The common base of curandom's generators: fills arrays and creates new ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pycuda._driver import _array_context, _array_require_writable, _Work
from pycuda.compiler import SourceModule
from pycuda.driver import Context
from pycuda.gpuarray import GPUArray


def checked_code(kind: str, codes: str, data: GPUArray) -> str:
    """The letter of the type. Raises NotImplementedError for types and layouts that cannot be filled."""
    code = data.dtype.char if data.dtype.char in codes else None
    if code is None or not data.flags.forc:
        raise NotImplementedError(
            f"{kind} numbers can fill contiguous arrays of {', '.join(str(np.dtype(c)) for c in codes)}, not one of {data.dtype}"
        )
    _array_require_writable(data, "data")
    return code


class RandomFilling:
    """fill_*() and gen_*() by the kernels of ``module``; their first arguments are ``_states`` and ``_constants``.

    A generator belongs to the device of ``_states``. Its work runs on this device, with any current context.
    """

    module: SourceModule
    _states: GPUArray
    _constants: tuple[object, ...] = ()
    _skip_ahead: Callable
    _uniform_types = "fdiI"
    generators_per_block = 256

    def _count_generators(self) -> None:
        """A block of generators for each multiprocessor of the current device."""
        self.block_count = Context.get_device().multiprocessor_count
        self.generators = self.block_count * self.generators_per_block

    @property
    def state(self) -> int:
        """The device address of the generators' states, as an int."""
        return self._states.ptr

    def _work(self, stream) -> _Work:
        return _Work(stream, context=_array_context(self._states))

    def call_skip_ahead(self, i: int, stream=None) -> None:
        """Move each generator ``i`` numbers ahead.

        i: an int, at least 0. ValueError for a negative one.
        """
        self._skip_ahead(i, stream)

    def call_skip_ahead_array(self, i: GPUArray, stream=None) -> None:
        """Move each generator ahead by its own count of numbers.

        i: an integer GPUArray with one element for each generator. ValueError for negative elements.
        """
        self._skip_ahead(i, stream)

    def _check_counts(self, i) -> None:
        """Raise ValueError unless ``i`` is one number or one for each generator, and none is negative."""
        if i.ndim and i.shape != (self.generators,):
            raise ValueError(
                f"i must have {self.generators} elements, one for each generator, but has shape {i.shape}"
            )
        if i.dtype.kind != "u" and bool((i < 0).any()):
            raise ValueError("i must not be negative: generators cannot go back")

    def _run(self, kind, codes, data, stream, a=0.0, b=0.0) -> None:
        code = checked_code(kind, codes, data)
        n = int(np.prod(data.shape))
        if n == 0:
            return
        with self._work(stream):
            self.module.get_function(f"{kind}_{code}")(
                self._states, *self._constants, data, np.uint64(n), np.uint32(self.generators),
                np.float64(a), np.float64(b),
                block=(self.generators_per_block, 1, 1), grid=(self.block_count, 1),
            )  # fmt: skip

    def fill_uniform(self, data: GPUArray, stream=None) -> None:
        """Fill float32 or float64 with numbers in (0, 1], or integers with all values of the generator's bits."""
        self._run("uniform", self._uniform_types, data, stream)

    def fill_normal(self, data: GPUArray, stream=None) -> None:
        """Fill float32 or float64 with normally distributed numbers of mean 0 and standard deviation 1."""
        self._run("normal", "fd", data, stream)

    def fill_log_normal(
        self, data: GPUArray, mean: float, stddev: float, stream=None
    ) -> None:
        """Fill float32 or float64 with numbers whose logarithm is normally distributed."""
        self._run("log_normal", "fd", data, stream, mean, stddev)

    def fill_poisson(
        self, data: GPUArray, lambda_value: float | None = None, stream=None
    ) -> None:
        """Fill uint32 with Poisson-distributed numbers of mean ``lambda_value``.

        If it is None, each element of data (float32, float64 or uint32) is the mean of the number
        that replaces it.
        """
        if lambda_value is None:
            self._run("poisson", "fdI", data, stream)
        else:
            self._run("poisson", "I", data, stream, lambda_value, 1)

    def _gen(self, stream, shape, dtype, fill, *parameters) -> GPUArray:
        with self._work(stream):
            result = GPUArray(shape, dtype)
            fill(result, *parameters)
        return result

    def gen_uniform(self, shape, dtype, stream=None) -> GPUArray:
        """Create an array and fill it with :meth:`fill_uniform`."""
        return self._gen(stream, shape, dtype, self.fill_uniform)

    def gen_normal(self, shape, dtype, stream=None) -> GPUArray:
        """Create an array and fill it with :meth:`fill_normal`."""
        return self._gen(stream, shape, dtype, self.fill_normal)

    def gen_log_normal(self, shape, dtype, mean, stddev, stream=None) -> GPUArray:
        """Create an array and fill it with :meth:`fill_log_normal`."""
        return self._gen(stream, shape, dtype, self.fill_log_normal, mean, stddev)

    def gen_poisson(self, shape, dtype, lambda_value, stream=None) -> GPUArray:
        """Create an array and fill it with :meth:`fill_poisson`."""
        return self._gen(stream, shape, dtype, self.fill_poisson, lambda_value)
