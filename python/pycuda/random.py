"""Random numbers that are equal on every device.

>>> rng = Generator(seed=42)
>>> rng.standard_normal((100, 100)).shape
(100, 100)
>>> rng.integers(1, 6, 100, endpoint=True).max().item() <= 6
True

Element ``i`` of a call depends only on the seed, the generator's position and ``i``: not on the device,
nor on the configuration of launches. The generator is Philox4x32 with ten rounds, as in Random123.
"""

from __future__ import annotations

import functools
import math
import operator
import secrets

import numpy as np

from pycuda import _device_code, _driver
from pycuda._driver import ArrayBase
from pycuda._random_distributions import (
    Distributions,
    check_parameter,
    extents_of,
    parameter_of,
    shape_of,
)
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.own_device import methods_on_own_device
from pycuda.driver import Context
from pycuda.gpuarray import GPUArray
from pycuda.tools import context_dependent_memoize

_BLOCK = 256
_BLOCKS_PER_PROCESSOR = 32

#: For each distribution of _device/fill.cuh, by bytes of an element: the number of elements that
#: four words give.
_REAL = {
    "uniform": {2: 4, 4: 4, 8: 2},
    "normal": {4: 4, 8: 2},
    "exponential": {4: 4, 8: 2},
}
_INTEGERS = 2


@context_dependent_memoize
def _kernel(distribution: str, dtype: np.dtype, ahead: int) -> _driver.Function:
    parameter = np.dtype(np.float64 if dtype.itemsize == 8 else np.float32)
    if distribution == "integers":
        parameter = np.dtype(np.uint64)
    module = _device_code.load(
        "fill",
        T=dtype,
        P=parameter,
        MAKE=distribution.capitalize(),
        ahead=ahead,
    )
    return module.get_function("fill")


@context_dependent_memoize
def _most_blocks() -> int:
    """The maximum number of blocks of a launch, which keeps the memory busy. Each block continues where another would begin."""
    return _BLOCKS_PER_PROCESSOR * Context.get_device().multiprocessor_count


@functools.cache
def _elements_of_block(distribution: str, dtype: np.dtype) -> int:
    """The number of elements that four words give."""
    if distribution == "integers":
        return _INTEGERS
    return _REAL[distribution][dtype.itemsize]


def _are_numbers(*values) -> bool:
    return all(isinstance(value, (int, float, np.generic)) for value in values)


def _shape_of_result(size, out, *parameters) -> tuple[int, ...]:
    """The shape of a result of parameters in arrays. Raises ValueError if ``out`` does not have it."""
    shape = shape_of(
        out.shape if size is None and out is not None else size, *parameters
    )
    if out is not None and out.shape != shape:
        raise ValueError(f"size is {shape}, but out has shape {out.shape}")
    return shape


def _limits_of(value):
    """Limits of ranges as a host array of Python ints, whose differences are exact."""
    host = value.get() if isinstance(value, ArrayBase) else value
    if not hasattr(host, "dtype"):  # NumPy has no common integer type of -1 and 2**63
        host = np.asarray(host, object)
    if host.dtype.kind not in "iubO":
        raise TypeError(f"the limits of integers() must be integers, not {host.dtype}")
    exact = [operator.index(one) for one in host.astype(object).flat]
    return np.array(exact, object).reshape(host.shape)


def _check_ranges(low, last, dtype) -> None:
    """Raise ValueError for a range that is empty or does not fit dtype."""
    if dtype.kind not in "iu":
        raise TypeError(f"integers() needs an integer dtype, not {dtype}")
    limits = np.iinfo(dtype)
    if np.any(last < low):
        raise ValueError("low must be below high in each range")
    if np.any(low < limits.min) or np.any(last > limits.max):
        raise ValueError(f"the ranges do not fit into {dtype}")


@methods_on_own_device
class Generator(Distributions):
    """A random number generator, like ``numpy.random.Generator``.

    seed: 0 to 2**64 - 1; None draws one from the operating system.
    sequence: 0 to 2**63 - 1; generators of the same seed and different sequences have different numbers.

    Each method returns a new GPUArray of shape ``size`` (an int or a tuple; None is one number, an array without
    axes), or fills ``out``, which must be contiguous. The work is put into ``stream``. Use an object in only one
    thread at a time.

    >>> same = Generator(7).random(3) == Generator(7).random(3)
    >>> same
    array([ True,  True,  True])
    """

    def __init__(self, seed: int | None = None, *, sequence: int = 0) -> None:
        seed = secrets.randbits(64) if seed is None else int(seed)
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed must be from 0 to 2**64 - 1, not {seed}")
        if not 0 <= sequence < 2**63:
            raise ValueError(f"sequence must be from 0 to 2**63 - 1, not {sequence}")
        self.seed = seed
        self._position = sequence << 65
        # The number of blocks of words that a thread generates at a time, and the maximum number of
        # CUDA blocks of a launch; None selects it by the device. Numbers do not depend on them.
        # benchmarks/arrays.py tries other values.
        self._launching: tuple[int, int | None] = 1, None

    @property
    def state(self) -> dict[str, int]:
        """The seed and the position, in blocks of four words, as a dict. Assign a state to restore it.

        >>> rng = Generator(7)
        >>> state = rng.state
        >>> first = rng.random(2)
        >>> rng.state = state
        >>> rng.random(2) == first
        array([ True,  True])
        """
        return {"seed": self.seed, "position": self._position}

    @state.setter
    def state(self, state: dict[str, int]) -> None:
        self.seed, self._position = int(state["seed"]), int(state["position"])

    def advance(self, blocks: int) -> None:
        """Skip ``blocks`` times four words of 32 bits; a negative number moves back.

        >>> rng = Generator(7)
        >>> first = rng.random(4)
        >>> rng.advance(-1)
        >>> rng.random(4) == first
        array([ True,  True,  True,  True])
        """
        self._position = (self._position + int(blocks)) % 2**128

    def random(self, size=None, dtype=np.float32, out=None, stream=None) -> GPUArray:
        """Draw uniform numbers from 0 (included) to 1 (excluded).

        size, out, stream: as of :class:`Generator`.
        dtype: float16, float32 or float64; others raise TypeError.

        >>> Generator(7).random(1000).max().item() < 1
        True
        """
        return self.uniform(0, 1, size, dtype, out, stream)

    def uniform(
        self, low=0.0, high=1.0, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Draw uniform numbers from ``low`` (included) to ``high`` (excluded, except for rounding).

        low, high: numbers, or arrays that broadcast to ``size``. The other parameters are those of :meth:`random`.

        >>> Generator(7).uniform(5, 6, 1000).min().item() >= 5
        True
        """
        if not _are_numbers(low, high):
            low, high = parameter_of(low), parameter_of(high)
            return self._scaled("uniform", dtype, size, out, stream, high - low, low)
        return self._real(
            "uniform", dtype, size, out, stream, float(low), float(high) - float(low)
        )

    def standard_normal(
        self, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Draw normal numbers with mean 0 and standard deviation 1.

        dtype: float32 or float64; others raise TypeError. The other parameters are those of :meth:`random`.

        >>> abs(Generator(7).standard_normal(10_000).mean().item()) < 0.1
        True
        """
        return self.normal(0, 1, size, dtype, out, stream)

    def normal(
        self, loc=0.0, scale=1.0, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Draw normal numbers with mean ``loc`` and standard deviation ``scale``; see :meth:`standard_normal`.

        loc, scale: numbers, or arrays that broadcast to ``size``.

        >>> abs(Generator(7).normal(5, 0.1, 10_000).mean().item() - 5) < 0.1
        True
        """
        if not _are_numbers(loc, scale):
            check_parameter("scale", scale)
            return self._scaled("normal", dtype, size, out, stream, scale, loc)
        if not scale >= 0:
            raise ValueError(f"scale must not be negative, but is {scale}")
        return self._real("normal", dtype, size, out, stream, float(loc), float(scale))

    def exponential(
        self, scale=1.0, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Draw exponential numbers with mean ``scale``.

        scale: a number, or an array that broadcasts to ``size``. The other parameters are those of :meth:`random`.

        >>> Generator(7).exponential(2, 100).min().item() >= 0
        True
        """
        if not _are_numbers(scale):
            check_parameter("scale", scale)
            return self._scaled("exponential", dtype, size, out, stream, scale, 0)
        if not scale >= 0:
            raise ValueError(f"scale must not be negative, but is {scale}")
        return self._real("exponential", dtype, size, out, stream, float(scale), 0.0)

    def integers(
        self,
        low,
        high=None,
        size=None,
        dtype=np.int64,
        endpoint=False,
        out=None,
        stream=None,
    ) -> GPUArray:
        """Draw integers from ``low`` to below ``high``, or to ``high`` with ``endpoint``.

        low, high: numbers, or arrays that broadcast to ``size``; arrays of the device are read back, because their
            ranges are checked. With ``high`` None the range is from 0 to below ``low``.

        Probabilities deviate from uniform by at most (high - low) / 2**64. Raises ValueError if the range is empty or
        does not fit dtype.

        >>> Generator(7).integers([0, 10], [1, 11])
        array([ 0, 10])
        """
        if high is None:
            low, high = 0, low
        if not _are_numbers(low, high):
            return self._integers_of(low, high, size, dtype, endpoint, out, stream)
        low, last = int(low), int(high) - (not endpoint)
        dtype = np.dtype(dtype if out is None else out.dtype)
        if dtype.kind not in "iu":
            raise TypeError(f"integers() needs an integer dtype, not {dtype}")
        if last < low:
            raise ValueError(
                f"low must be below high: there is no integer from {low} to {last}"
            )
        limits = np.iinfo(dtype)
        if low < limits.min or last > limits.max:
            raise ValueError(
                f"the range from {low} to {last} does not fit into {dtype}"
            )
        count = (last - low + 1) % 2**64
        return self._fill("integers", dtype, size, out, stream, low % 2**64, count)

    def _scaled(self, distribution, dtype, size, out, stream, scale, offset):
        """``scale`` times a number of the distribution plus ``offset``, which may be arrays."""
        with _driver._Work(stream):
            scale, offset = parameter_of(scale), parameter_of(offset)
            shape = _shape_of_result(size, out, scale, offset)
            dtype = np.dtype(dtype if out is None else out.dtype)
            unit = (0.0, 1.0) if distribution != "exponential" else (1.0, 0.0)
            drawn = self._real(distribution, dtype, shape, None, None, *unit)
            np.multiply(drawn, scale, out=drawn, casting="same_kind")
            return np.add(
                drawn, offset, out=drawn if out is None else out, casting="same_kind"
            )

    def _integers_of(self, low, high, size, dtype, endpoint, out, stream):
        """:meth:`integers` of ranges in arrays: words of 64 bits, modulo the number of integers of each range."""
        dtype = np.dtype(dtype if out is None else out.dtype)
        low, last = _limits_of(low), _limits_of(high) - (not endpoint)
        _check_ranges(low, last, dtype)
        with _driver._Work(stream):
            shape = _shape_of_result(size, out, low, last)
            words = self.integers(0, 2**64 - 1, shape, np.uint64, endpoint=True)
            count = np.asarray((last - low + 1) % 2**64, np.uint64)
            drawn = words % parameter_of(np.maximum(count, 1))
            if not count.all():  # a range of all integers of 64 bits
                drawn = np.where(as_array(count == 0), words, drawn)
            drawn += parameter_of(np.asarray(low % 2**64, np.uint64))
            drawn = drawn.astype(dtype, copy=False)
            if out is None:
                return drawn
            out[...] = drawn
            return out

    def _real(self, distribution, dtype, size, out, stream, a, b) -> GPUArray:
        dtype = np.dtype(dtype if out is None else out.dtype)
        if dtype.kind != "f" or dtype.itemsize not in _REAL[distribution]:
            raise TypeError(f"{distribution} numbers cannot have dtype {dtype}")
        return self._fill(distribution, dtype, size, out, stream, a, b)

    def _fill(self, distribution, dtype, size, out, stream, a, b) -> GPUArray:
        with _driver._Work(stream):
            return self._fill_here(distribution, dtype, size, out, a, b)

    def _fill_here(self, distribution, dtype, size, out, a, b) -> GPUArray:
        if out is None:
            out = GPUArray(() if size is None else extents_of(size), dtype)
        elif size is not None and extents_of(size) != out.shape:
            raise ValueError(
                f"size is {extents_of(size)}, but out has shape {out.shape}"
            )
        if not out.flags.forc:
            raise ValueError("out must be contiguous")
        _driver._array_require_writable(out, "out")
        n = math.prod(out.shape)
        if n == 0:
            return out
        blocks = -(-n // _elements_of_block(distribution, dtype))
        ahead, most = self._launching
        most = most or _most_blocks()
        _kernel(distribution, dtype, ahead)(
            out,
            n,
            self._position & 0xFFFFFFFFFFFFFFFF,
            self._position >> 64,
            self.seed,
            a,
            b,
            block=(_BLOCK, 1, 1),
            grid=(min(-(-blocks // (_BLOCK * ahead)), most), 1),
        )
        self.advance(blocks)
        return out


def default_rng(seed: int | None = None) -> Generator:
    """Return a :class:`Generator`; numpy's name for it.

    An object with a method ``generator()``, such as a bit generator of :mod:`pycuda.dask`, returns its own generator.
    """
    if hasattr(seed, "generator"):
        return seed.generator()
    return Generator(seed)
