"""Random numbers with PyCUDA's names; new programs should use :mod:`pycuda.random`.

>>> XORWOWRandomNumberGenerator().gen_uniform((1000,), np.float32).shape
(1000,)

XORWOW and MRG32k3a follow cuRAND's definitions: seeds, subsequences, skipping ahead, and the conversion to
uniform numbers. Each of ``block_count * generators_per_block`` generators has a separate subsequence;
element ``i`` of an array comes from generator ``i`` modulo their number. Normal and Poisson numbers have
cuRAND's distributions, but not its sequences. The Sobol generators give each generator a separate
dimension. For the first 64 dimensions, their direction numbers are Joe and Kuo's. For later ones, up to 20000,
they are computed here and differ from cuRAND's, so the sequences of these dimensions differ, too. Each of these
sequences is equally uniform, but pairs of them are not optimised.
"""

from __future__ import annotations

import random as _python_random
from collections.abc import Callable

import numpy as np

from pycuda import _device_code, _driver, _skip_ahead
from pycuda import driver as drv  # noqa: F401  (a name that PyCUDA's module has)
from pycuda import random as _philox
from pycuda._quasi_random import (
    ScrambledSobol32RandomNumberGenerator,
    ScrambledSobol64RandomNumberGenerator,
    Sobol32RandomNumberGenerator,
    Sobol64RandomNumberGenerator,
    _get_direction_vectors,  # noqa: F401  (PyCUDA's module has this name and the next two)
    _get_scramble_constants32,  # noqa: F401
    _get_scramble_constants64,  # noqa: F401
    direction_vector_set,
    generate_direction_vectors,
    generate_scramble_constants32,
    generate_scramble_constants64,
)
from pycuda._random_filling import RandomFilling
from pycuda.compiler import SourceModule
from pycuda.driver import get_curand_version
from pycuda.gpuarray import GPUArray, to_gpu
from pycuda.tools import context_dependent_memoize

__all__ = [
    "MRG32k3aRandomNumberGenerator",
    "ScrambledSobol32RandomNumberGenerator",
    "ScrambledSobol64RandomNumberGenerator",
    "Sobol32RandomNumberGenerator",
    "Sobol64RandomNumberGenerator",
    "XORWOWRandomNumberGenerator",
    "direction_vector_set",
    "generate_direction_vectors",
    "generate_scramble_constants32",
    "generate_scramble_constants64",
    "get_curand_version",
    "rand",
    "seed_getter_uniform",
    "seed_getter_unique",
]


def rand(
    shape: int | tuple[int, ...],
    dtype: np.dtype | type = np.float32,
    stream: _driver.Stream | None = None,
) -> GPUArray:
    """Make an array of uniform random numbers: [0, 1) of float32 and float64, all values of int32 and uint32.

    shape: the extents of the axes. dtype: one of the four types; others raise NotImplementedError.
    stream: the stream of the work, by default the current one.

    The seed comes from ``numpy.random``, so that ``numpy.random.seed()`` makes a program repeatable.

    >>> curandom.rand((2, 3)).shape
    (2, 3)
    """
    dtype = np.dtype(dtype)
    rng = _philox.Generator(int(np.random.randint(0, 2**63 - 1, dtype=np.int64)))
    if dtype in (np.float32, np.float64):
        return rng.random(shape, dtype, stream=stream)
    if dtype in (np.int32, np.uint32):
        limits = np.iinfo(dtype)
        return rng.integers(
            limits.min, limits.max, shape, dtype, endpoint=True, stream=stream
        )
    raise NotImplementedError(f"rand() does not support numbers of {dtype}")


def seed_getter_uniform(n: int) -> GPUArray:
    """Make ``n`` times the same random seed, as int32.

    >>> len(set(curandom.seed_getter_uniform(4).get().tolist()))
    1
    """
    return to_gpu(np.full(n, _python_random.randint(-(2**31), 2**31 - 1), np.int32))


def seed_getter_unique(n: int) -> GPUArray:
    """Make ``n`` random seeds, as int32.

    >>> curandom.seed_getter_unique(4).dtype
    dtype('int32')
    """
    return to_gpu(np.random.randint(0, 2**31 - 1, n).astype(np.int32))


@context_dependent_memoize
def _module(state_type: str) -> SourceModule:
    return _device_code.load("pseudo_random", STATE=state_type)


class _PseudoRandomNumberGenerator(RandomFilling):
    """The common base of the generators with seeds."""

    generator_bits = 32
    has_box_muller = True
    state_type: str
    _words: int

    def __init__(
        self,
        seed_getter: Callable[[int], GPUArray] | None = None,
        offset: int = 0,
    ) -> None:
        self._count_generators()
        seeds = self._seeds(seed_getter or seed_getter_uniform)
        states = self._seed(seeds)
        states = self._spread(states, np.arange(self.generators))
        if offset < 0:
            raise ValueError(f"offset must not be negative, but is {offset}")
        self._states = to_gpu(self._skip(states, np.uint64(offset)))
        self.module = _module(self.state_type)

    def _seeds(self, seed_getter: Callable[[int], GPUArray]) -> np.ndarray:
        seed = seed_getter(self.generators)
        if not (
            isinstance(seed, GPUArray)
            and seed.dtype == np.int32
            and seed.shape == (self.generators,)
        ):
            raise TypeError("seed must be GPUArray of integers of right length")
        return seed.get().astype(np.int64).view(np.uint64)

    _seed: Callable
    _skip: Callable
    _skip_sequences: Callable
    _spread: Callable  # the distance between generators, as in curand_init()

    # Skipping ahead, for all generators of all blocks.

    def _change(self, skip: Callable, counts, stream) -> None:
        with self._work(stream):
            on_device = isinstance(counts, GPUArray)
            counts = np.asarray(counts.get() if on_device else counts)
            self._check_counts(counts)
            # In place: both copies wait for the kernels in the stream.
            self._states.set(skip(self._states.get(), counts.astype(np.uint64)))

    def _skip_ahead(self, i, stream) -> None:
        self._change(self._skip, i, stream)

    def call_skip_ahead_sequence(self, i: int, stream=None) -> None:
        """Move each generator ``i`` sequences ahead.

        i: an int, at least 0. ValueError for a negative one.
        """
        self._change(self._skip_sequences, i, stream)

    def call_skip_ahead_sequence_array(self, i: GPUArray, stream=None) -> None:
        """Move each generator ahead by its own count of sequences.

        i: an integer GPUArray with one element for each generator. ValueError for negative elements.
        """
        self._change(self._skip_sequences, i, stream)


class XORWOWRandomNumberGenerator(_PseudoRandomNumberGenerator):
    """Random numbers by Marsaglia's xorwow (Xorshift RNGs, 2003), with 2**67 numbers for each generator.

    seed_getter: called with the number of generators, returns a GPUArray of that many int32 seeds;
        None is :func:`seed_getter_uniform`.
    offset: how many numbers each generator skips.

    >>> curandom.XORWOWRandomNumberGenerator().gen_normal((100,), np.float64).shape
    (100,)
    """

    state_type = "Xorwow"

    _seed = staticmethod(_skip_ahead.seed_xorwow)
    _skip = staticmethod(_skip_ahead.skip_xorwow)
    _skip_sequences = _spread = staticmethod(_skip_ahead.skip_xorwow_sequences)


class MRG32k3aRandomNumberGenerator(_PseudoRandomNumberGenerator):
    """Random numbers by L'Ecuyer's MRG32k3a (Good parameters and implementations for combined multiple recursive random
    number generators, 1999).

    Each generator has a subsequence of 2**76 numbers; a sequence has 2**127. The arguments are those of
    :class:`XORWOWRandomNumberGenerator`.

    >>> curandom.MRG32k3aRandomNumberGenerator().gen_uniform((100,), np.float32).shape
    (100,)
    """

    state_type = "Mrg32k3a"

    _seed = staticmethod(_skip_ahead.seed_mrg32k3a)
    _skip = staticmethod(_skip_ahead.skip_mrg32k3a)
    _skip_subsequences = _spread = staticmethod(_skip_ahead.skip_mrg32k3a_subsequences)
    _skip_sequences = staticmethod(_skip_ahead.skip_mrg32k3a_sequences)

    def call_skip_ahead_subsequence(self, i: int, stream=None) -> None:
        """Move each generator ``i`` subsequences of 2**76 numbers ahead.

        >>> generator = curandom.MRG32k3aRandomNumberGenerator()
        >>> generator.call_skip_ahead_subsequence(1)
        """
        self._change(self._skip_subsequences, i, stream)

    def call_skip_ahead_subsequence_array(self, i: GPUArray, stream=None) -> None:
        """Move each generator ahead by its own number of subsequences of 2**76 numbers.

        i: an integer GPUArray with one element for each generator. ValueError for negative elements.
        """
        self._change(self._skip_subsequences, i, stream)
