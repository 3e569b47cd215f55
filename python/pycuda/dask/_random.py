"""Random chunks: Dask's bit generators and random states, with numbers generated on the device.

:class:`pycuda.random.Generator` generates uniform and normal numbers and integers on the device. Formulas derive other
distributions from them. NumPy generates the remaining distributions on the host, from the same seed, and they are
copied to the device.
"""

from __future__ import annotations

import numpy as np

from pycuda import gpuarray
from pycuda import random as _random


class Philox:
    """A seed. Dask derives one seed for each chunk from it.

    seed: an int, a sequence of ints, or a ``numpy.random.SeedSequence``. None takes a seed from the operating system.
    """

    def __init__(self, seed=None) -> None:
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence(seed)
        self._seed_seq = seed

    @property
    def seed_seq(self) -> np.random.SeedSequence:
        """The seed, a ``numpy.random.SeedSequence``; its method ``spawn(n)`` derives further seeds."""
        return self._seed_seq

    def generator(self) -> Generator:
        """Return a new :class:`Generator` at the beginning of this seed's sequence of numbers."""
        return Generator(self)

    def __dask_tokenize__(self):
        state = self._seed_seq
        return type(self).__name__, state.entropy, state.spawn_key, state.pool_size


class Generator:
    """A generator with the methods of ``numpy.random.Generator``. Results are device arrays of float64.

    bit_generator: a :class:`Philox`.

    The parameters of all methods, and the errors for invalid parameters, are those of NumPy's methods: ``size`` is the shape of
    the result. Equal seeds give equal numbers on every device; the numbers are not those of NumPy. Methods that are not
    listed here draw the numbers with NumPy on the host.
    """

    def __init__(self, bit_generator: Philox) -> None:
        self.bit_generator = bit_generator
        words = bit_generator.seed_seq.generate_state(1, np.uint64)
        self._device = _random.Generator(int(words[0]))
        self._host: np.random.Generator | None = None

    def random(self, size=None, dtype=np.float64, out=None):
        """Draw uniform numbers from 0 (included) to 1 (excluded)."""
        return self._device.random(size, dtype, out)

    def standard_normal(self, size=None, dtype=np.float64, out=None):
        """Draw normally distributed numbers of mean 0 and variance 1."""
        return self._device.standard_normal(size, dtype, out)

    def standard_exponential(self, size=None, dtype=np.float64):
        """Draw exponentially distributed numbers of mean 1."""
        return -np.log1p(-self.random(size, dtype))

    def uniform(self, low=0.0, high=1.0, size=None):
        """Draw uniform numbers from ``low`` (included) to ``high`` (excluded)."""
        return self._formula(
            "uniform", size, (low, high), lambda u: low + (high - low) * u
        )

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Draw normally distributed numbers of mean ``loc`` and standard deviation ``scale``."""
        if not _are_numbers(loc, scale) or scale < 0:
            return self._from_host("normal", size, loc, scale)
        return loc + scale * self.standard_normal(size)

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """Draw log-normally distributed numbers: their logarithms have mean ``mean`` and standard deviation ``sigma``."""
        if not _are_numbers(mean, sigma) or sigma < 0:
            return self._from_host("lognormal", size, mean, sigma)
        return np.exp(self.normal(mean, sigma, size))

    def exponential(self, scale=1.0, size=None):
        """Draw exponentially distributed numbers of mean ``scale``."""
        return self._formula(
            "exponential", size, (scale,), lambda u: -scale * np.log1p(-u)
        )

    def rayleigh(self, scale=1.0, size=None):
        """Draw numbers of the Rayleigh distribution with mode ``scale``."""
        return self._formula(
            "rayleigh", size, (scale,), lambda u: scale * np.sqrt(-2 * np.log1p(-u))
        )

    def weibull(self, a, size=None):
        """Draw numbers of the Weibull distribution with scale 1 and shape parameter ``a``."""
        return self._formula(
            "weibull", size, (a,), lambda u: (-np.log1p(-u)) ** (1 / a)
        )

    def pareto(self, a, size=None):
        """Draw numbers of the Lomax distribution (Pareto II, the Pareto distribution minus 1) with shape parameter ``a``."""
        return self._formula(
            "pareto", size, (a,), lambda u: np.expm1(-np.log1p(-u) / a)
        )

    def power(self, a, size=None):
        """Draw numbers from 0 to 1 with the density ``a * x ** (a - 1)``."""
        return self._formula("power", size, (a,), lambda u: u ** (1 / a))

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """Draw numbers of the logistic distribution with mean ``loc`` and scale ``scale``."""
        return self._formula(
            "logistic",
            size,
            (loc, scale),
            lambda u: loc + scale * (np.log(u) - np.log1p(-u)),
        )

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Draw numbers of the Gumbel distribution with mode ``loc`` and scale ``scale``."""
        return self._formula(
            "gumbel", size, (loc, scale), lambda u: loc - scale * np.log(-np.log1p(-u))
        )

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Draw numbers of the Laplace (double exponential) distribution with mean ``loc`` and scale ``scale``."""

        def inverse(u):
            side = u - 0.5
            return loc - scale * np.sign(side) * np.log1p(-2 * np.abs(side))

        return self._formula("laplace", size, (loc, scale), inverse)

    def standard_cauchy(self, size=None):
        """Draw numbers of the Cauchy distribution with mode 0 and scale 1."""
        return np.tan(np.pi * (self.random(size) - 0.5))

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Draw integers from ``low`` to below ``high``, or to ``high`` if ``endpoint`` is True.

        Without ``high``, the range is from 0 to ``low``.
        """
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
        """Apply the inverse of a distribution function to uniform numbers; NumPy checks the parameters."""
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
    """A generator with the methods of ``numpy.random.RandomState``. Results are device arrays.

    seed: as of :class:`Philox`. The numbers are not those of NumPy.
    """

    def __init__(self, seed=None) -> None:
        super().__init__(Philox(seed))

    def random_sample(self, size=None):
        """Draw uniform numbers from 0 (included) to 1 (excluded)."""
        return self.random(size)

    def randint(self, low, high=None, size=None, dtype=np.int64):
        """Draw integers from ``low`` to below ``high``; without ``high``, from 0 to below ``low``."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Draw integers from ``low`` to ``high`` (included); without ``high``, from 1 to ``low``."""
        low, high = (1, low) if high is None else (low, high)
        return self.integers(low, high, size, endpoint=True)


def _are_numbers(*values) -> bool:
    return all(np.ndim(value) == 0 and not hasattr(value, "get") for value in values)


def default_rng(seed=None) -> Generator:
    """Return a new :class:`Generator`.

    seed: as of :class:`Philox`, or a Philox.
    """
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))
