"""Random numbers that are the same on every device.

>>> rng = Generator(seed=42)
>>> rng.standard_normal((1000, 1000))
>>> rng.integers(0, 6, 100, endpoint=True)

Element ``i`` of a call is a function of the seed, the generator's position and ``i``: not of the device,
nor of how kernels are launched. Numbers come from Philox4x32 with ten rounds, as in Random123.
"""

from __future__ import annotations

import functools
import math
import secrets

import numpy as np

from pycuda import _driver
from pycuda._c_types import dtype_to_ctype
from pycuda.compiler import SourceModule
from pycuda.driver import Context
from pycuda.gpuarray import GPUArray
from pycuda.tools import context_dependent_memoize

_BLOCK = 256
_BLOCKS_PER_PROCESSOR = 16

_SOURCE = """
#include <pycuda-random.hpp>
%(include)s
__global__ void fill(%(type)s *out, size_t n, unsigned long long low, unsigned long long high,
                     unsigned long long seed, %(parameter)s a, %(parameter)s b)
{
    const uint4 counter = {unsigned(low), unsigned(low >> 32), unsigned(high), unsigned(high >> 32)};
    const uint2 key = {unsigned(seed), unsigned(seed >> 32)};
    pycuda::philox_fill<%(type)s, %(each)d, %(ahead)d>(out, n, counter, key,
        [&](const unsigned (&r)[4], %(type)s (&v)[%(each)d]) { %(make)s });
}
"""

# For each distribution, by kind of type: how many elements four words make, and how.
_REAL = {
    "uniform": {
        2: (
            4,
            "for (int k = 0; k < 4; ++k) v[k] = (a + b * ((r[k] >> 21) * 0x1p-11f));",
        ),
        4: (4, "for (int k = 0; k < 4; ++k) v[k] = a + b * pycuda::unit(r[k]);"),
        8: (
            2,
            "for (int k = 0; k < 2; ++k) v[k] = a + b * pycuda::unit(r[2 * k], r[2 * k + 1]);",
        ),
    },
    "normal": {
        4: (
            4,
            "for (int k = 0; k < 4; k += 2) {"
            " const float2 z = pycuda::box_muller(pycuda::positive_unit(r[k]),"
            " pycuda::unit(r[k + 1]));"
            " v[k] = a + b * z.x; v[k + 1] = a + b * z.y; }",
        ),
        8: (
            2,
            "const double2 z = pycuda::box_muller(pycuda::positive_unit(r[0], r[1]),"
            " pycuda::unit(r[2], r[3]));"
            " v[0] = a + b * z.x; v[1] = a + b * z.y;",
        ),
    },
    "exponential": {
        4: (
            4,
            "for (int k = 0; k < 4; ++k) v[k] = -a * logf(pycuda::positive_unit(r[k]));",
        ),
        8: (
            2,
            "for (int k = 0; k < 2; ++k)"
            " v[k] = -a * log(pycuda::positive_unit(r[2 * k], r[2 * k + 1]));",
        ),
    },
}
# A 64-bit word times the range, cut to its upper half: uneven by less than range / 2^64.
_INTEGERS = (
    2,
    "for (int k = 0; k < 2; ++k) {"
    " const unsigned long long x = (unsigned long long)r[2 * k] << 32 | r[2 * k + 1];"
    " v[k] = a + (b ? __umul64hi(x, b) : x); }",
)


@context_dependent_memoize
def _kernel(distribution: str, dtype: np.dtype, ahead: int) -> _driver.Function:
    if distribution == "integers":
        parameter, (each, make) = "unsigned long long", _INTEGERS
    else:
        parameter = "double" if dtype.itemsize == 8 else "float"
        each, make = _REAL[distribution][dtype.itemsize]
    source = _SOURCE % {
        "include": "#include <cuda_fp16.h>" if dtype == np.float16 else "",
        "type": dtype_to_ctype(dtype),
        "parameter": parameter,
        "each": each,
        "ahead": ahead,
        "make": make,
    }
    return SourceModule(source).get_function("fill")


@context_dependent_memoize
def _most_blocks() -> int:
    """Of a launch: enough to keep the memory busy. Each goes on where another would begin."""
    return _BLOCKS_PER_PROCESSOR * Context.get_device().multiprocessor_count


@functools.cache
def _elements_of_block(distribution: str, dtype: np.dtype) -> int:
    """How many elements four words make."""
    if distribution == "integers":
        return _INTEGERS[0]
    return _REAL[distribution][dtype.itemsize][0]


def _shape_of(size: object) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(size) if isinstance(size, (tuple, list)) else (int(size),)


class Generator:
    """A source of random numbers, like ``numpy.random.Generator``.

    seed: 0 to 2**64 - 1; None draws one from the operating system.
    sequence: 0 to 2**63 - 1; generators of the same seed and different sequences never meet.

    Each method returns a new GPUArray of shape ``size`` (an int or a tuple; None is one number, of no
    dimension), or fills ``out``, whose elements must lie one after the other. The work is put into
    ``stream``. Use one object in one thread at a time.

    >>> Generator(7).random(3).get()
    array([...], dtype=float32)
    """

    def __init__(self, seed: int | None = None, *, sequence: int = 0) -> None:
        seed = secrets.randbits(64) if seed is None else int(seed)
        if not 0 <= seed < 2**64:
            raise ValueError(f"seed must be from 0 to 2**64 - 1, not {seed}")
        if not 0 <= sequence < 2**63:
            raise ValueError(f"sequence must be from 0 to 2**63 - 1, not {sequence}")
        self.seed = seed
        self._position = sequence << 65
        # Blocks of words that a thread makes at a time, and the most CUDA blocks of a launch, None for
        # what suits the device; numbers do not depend on them. benchmarks/arrays.py tries others.
        self._launching: tuple[int, int | None] = 1, None

    @property
    def state(self) -> dict[str, int]:
        """Seed and position, in blocks of four words; may be set to what it was."""
        return {"seed": self.seed, "position": self._position}

    @state.setter
    def state(self, state: dict[str, int]) -> None:
        self.seed, self._position = int(state["seed"]), int(state["position"])

    def advance(self, blocks: int) -> None:
        """Skip ``blocks`` times four words; a negative number goes back."""
        self._position = (self._position + int(blocks)) % 2**128

    def random(self, size=None, dtype=np.float32, out=None, stream=None) -> GPUArray:
        """Uniform numbers in [0, 1): float16, float32 or float64."""
        return self.uniform(0, 1, size, dtype, out, stream)

    def uniform(
        self, low=0.0, high=1.0, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Uniform numbers from ``low`` on, below ``high`` but for rounding."""
        return self._real(
            "uniform", dtype, size, out, stream, float(low), float(high) - float(low)
        )

    def standard_normal(
        self, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Normal numbers with mean 0 and standard deviation 1: float32 or float64."""
        return self.normal(0, 1, size, dtype, out, stream)

    def normal(
        self, loc=0.0, scale=1.0, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Normal numbers with mean ``loc`` and standard deviation ``scale``."""
        if not scale >= 0:
            raise ValueError(f"scale must not be negative, but is {scale}")
        return self._real("normal", dtype, size, out, stream, float(loc), float(scale))

    def exponential(
        self, scale=1.0, size=None, dtype=np.float32, out=None, stream=None
    ) -> GPUArray:
        """Exponential numbers with mean ``scale``."""
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
        """Integers from ``low`` on, below ``high``, or up to it with ``endpoint``.

        With ``high`` None they are from 0 on, below ``low``. Probabilities are uneven by at most
        (high - low) / 2**64. Raises ValueError where no integer qualifies or some does not fit dtype.
        """
        if high is None:
            low, high = 0, low
        low, last = int(low), int(high) - (not endpoint)
        dtype = np.dtype(dtype if out is None else out.dtype)
        if dtype.kind not in "iu":
            raise TypeError(f"integers() makes arrays of integers, not of {dtype}")
        if last < low:
            raise ValueError(f"there is no integer from {low} to {last}")
        limits = np.iinfo(dtype)
        if low < limits.min or last > limits.max:
            raise ValueError(f"{low} to {last} does not fit {dtype}")
        count = (last - low + 1) % 2**64
        return self._fill("integers", dtype, size, out, stream, low % 2**64, count)

    def _real(self, distribution, dtype, size, out, stream, a, b) -> GPUArray:
        dtype = np.dtype(dtype if out is None else out.dtype)
        if dtype.kind != "f" or dtype.itemsize not in _REAL[distribution]:
            raise TypeError(f"{distribution} numbers cannot be {dtype}")
        return self._fill(distribution, dtype, size, out, stream, a, b)

    def _fill(self, distribution, dtype, size, out, stream, a, b) -> GPUArray:
        with _driver._Using(stream):
            return self._fill_here(distribution, dtype, size, out, a, b)

    def _fill_here(self, distribution, dtype, size, out, a, b) -> GPUArray:
        if out is None:
            out = GPUArray(_shape_of(size), dtype)
        elif size is not None and _shape_of(size) != out.shape:
            raise ValueError(
                f"size is {_shape_of(size)}, and out has shape {out.shape}"
            )
        if not out.flags.forc:
            raise ValueError("the elements of out must lie one after the other")
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
    """A :class:`Generator`, by numpy's name for it.

    An object with a method ``generator()``, such as a bit generator of :mod:`pycuda.dask`, gives its own.
    """
    if hasattr(seed, "generator"):
        return seed.generator()
    return Generator(seed)
