"""Random chunks: Dask's bit generators and states, with numbers made on the device.

Uniform and normal numbers, integers and what follows from them by a formula are made on the device by
:class:`pycuda.random.Generator`. The other distributions of NumPy are drawn by NumPy on the host, from
the same seed, and copied to the device.
"""

from __future__ import annotations

import numpy as np

from pycuda import gpuarray
from pycuda import random as _random


class Philox:
    """A seed, from which Dask spawns one for each chunk.

    ``seed``: an int, a sequence of ints, a ``numpy.random.SeedSequence``, or None for one of the
    operating system.
    """

    def __init__(self, seed=None) -> None:
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed)
        self._seed_seq = seed

    @property
    def seed_seq(self) -> np.random.SeedSequence:
        """The seed, which has ``spawn(n)``."""
        return self._seed_seq

    def generator(self) -> Generator:
        """A generator at the beginning of this seed's numbers."""
        return Generator(self)

    def __dask_tokenize__(self):
        state = self._seed_seq
        return type(self).__name__, state.entropy, state.spawn_key, state.pool_size


class Generator:
    """``numpy.random.Generator``'s methods with results on the device; numbers are float64, as NumPy's.

    Equal seeds give equal numbers on every device. Raises what NumPy raises for bad parameters.
    """

    def __init__(self, bit_generator: Philox) -> None:
        self.bit_generator = bit_generator
        words = bit_generator.seed_seq.generate_state(1, np.uint64)
        self._device = _random.Generator(int(words[0]))
        self._host: np.random.Generator | None = None

    def random(self, size=None, dtype=np.float64, out=None):
        """Uniform numbers from 0 (included) to 1 (excluded)."""
        return self._device.random(size, dtype, out)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        """Normal numbers of mean 0 and variance 1."""
        return self._device.standard_normal(size, dtype, out)

    def standard_exponential(self, size=None, dtype=np.float64):
        """Exponential numbers of mean 1."""
        return -np.log1p(-self.random(size, dtype))

    def uniform(self, low=0.0, high=1.0, size=None):
        """Uniform numbers from ``low`` (included) to ``high`` (excluded)."""
        return self._formula(
            "uniform", size, (low, high), lambda u: low + (high - low) * u
        )

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Normal numbers of mean ``loc`` and standard deviation ``scale``."""
        if not _are_numbers(loc, scale) or scale < 0:
            return self._from_host("normal", size, loc, scale)
        return loc + scale * self.standard_normal(size)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """Numbers whose logarithm is normal."""
        if not _are_numbers(mean, sigma) or sigma < 0:
            return self._from_host("lognormal", size, mean, sigma)
        return np.exp(self.normal(mean, sigma, size))

    def exponential(self, scale=1.0, size=None):
        """Exponential numbers of mean ``scale``."""
        return self._formula(
            "exponential", size, (scale,), lambda u: -scale * np.log1p(-u)
        )

    def rayleigh(self, scale=1.0, size=None):
        """Rayleigh's distribution with mode ``scale``."""
        return self._formula(
            "rayleigh", size, (scale,), lambda u: scale * np.sqrt(-2 * np.log1p(-u))
        )

    def weibull(self, a, size=None):
        """Weibull's distribution of scale 1 and shape ``a``."""
        return self._formula(
            "weibull", size, (a,), lambda u: (-np.log1p(-u)) ** (1 / a)
        )

    def pareto(self, a, size=None):
        """Lomax's distribution, Pareto's less 1, of shape ``a``."""
        return self._formula(
            "pareto", size, (a,), lambda u: np.expm1(-np.log1p(-u) / a)
        )

    def power(self, a, size=None):
        """Numbers from 0 to 1 with density ``a * x ** (a - 1)``."""
        return self._formula("power", size, (a,), lambda u: u ** (1 / a))

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """The logistic distribution."""
        return self._formula(
            "logistic",
            size,
            (loc, scale),
            lambda u: loc + scale * (np.log(u) - np.log1p(-u)),
        )

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Gumbel's distribution."""
        return self._formula(
            "gumbel", size, (loc, scale), lambda u: loc - scale * np.log(-np.log1p(-u))
        )

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Laplace's distribution, also known as the double exponential."""

        def inverse(u):
            side = u - 0.5
            return loc - scale * np.sign(side) * np.log1p(-2 * np.abs(side))

        return self._formula("laplace", size, (loc, scale), inverse)

    def standard_cauchy(self, size=None):
        """Cauchy's distribution of mode 0 and scale 1."""
        return np.tan(np.pi * (self.random(size) - 0.5))

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Integers from ``low`` to ``high``, which ``endpoint`` includes; from 0 to ``low`` without."""
        if not _are_numbers(low) or not (high is None or _are_numbers(high)):
            drawn = self._numpy().integers(low, high, size, dtype, endpoint)
            return gpuarray.to_gpu(np.asarray(drawn))
        low, high = (0, low) if high is None else (low, high)
        return self._device.integers(low, high, size, dtype, endpoint=endpoint)

    def __getattr__(self, name: str):
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"a Generator has no attribute {name!r}")

        def draw(*args, **kwargs):
            return gpuarray.to_gpu(
                np.asarray(getattr(self._numpy(), name)(*args, **kwargs))
            )

        return draw

    def _formula(self, name: str, size, parameters, inverse):
        """The inverse of a distribution function, of uniform numbers; parameters are checked by NumPy."""
        if not _are_numbers(*parameters):
            return self._from_host(name, size, *parameters)
        getattr(np.random.Generator(np.random.Philox(0)), name)(*parameters, size=0)
        return inverse(self.random(size))

    def _from_host(self, name: str, size, *parameters):
        drawn = getattr(self._numpy(), name)(*parameters, size=size)
        return gpuarray.to_gpu(np.asarray(drawn))

    def _numpy(self) -> np.random.Generator:
        if self._host is None:
            self._host = np.random.Generator(
                np.random.Philox(self.bit_generator.seed_seq)
            )
        return self._host


class RandomState(Generator):
    """``numpy.random.RandomState``'s methods with results on the device; other numbers than NumPy's.

    ``seed``: as of :class:`Philox`.
    """

    def __init__(self, seed=None) -> None:
        super().__init__(Philox(seed))

    def random_sample(self, size=None):
        """Uniform numbers from 0 (included) to 1 (excluded)."""
        return self.random(size)

    def randint(self, low, high=None, size=None, dtype=np.int64):
        """Integers from ``low`` to below ``high``; from 0 to below ``low`` without."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Integers from ``low`` to ``high``, included; from 1 to ``low`` without."""
        low, high = (1, low) if high is None else (low, high)
        return self.integers(low, high, size, endpoint=True)


def _are_numbers(*values) -> bool:
    return all(np.ndim(value) == 0 and not hasattr(value, "get") for value in values)


def default_rng(seed=None) -> Generator:
    """A :class:`Generator`; ``seed`` as of :class:`Philox`, or a Philox."""
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))
