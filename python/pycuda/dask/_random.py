"""Random chunks: Dask's bit generators and random states, with numbers generated on the device.

:class:`pycuda.random.Generator` generates numbers of the distributions that :class:`Generator` lists. NumPy generates those
of the remaining distributions on the host, from the same seed, and they are copied to the device.
"""

from __future__ import annotations

import functools
import inspect

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


def _are_numbers(*values) -> bool:
    return all(np.ndim(value) == 0 and not hasattr(value, "get") for value in values)


def _drawn(name: str):
    """A method that draws float64 on the device if the parameters are numbers, else on the host. NumPy checks them."""
    draw_on_device = getattr(_random.Generator, name)
    signature = inspect.signature(draw_on_device)

    @functools.wraps(draw_on_device)
    def draw(self, *args, **kwargs):
        given = signature.bind(self, *args, **kwargs).arguments
        del given["self"]
        size = given.pop("size", None)
        if not _are_numbers(*given.values()):
            return self._from_host(name, size, **given)
        getattr(np.random.Generator(np.random.Philox(0)), name)(**given, size=0)
        return draw_on_device(self._device, **given, size=size, dtype=np.float64)

    return draw


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
        return self._device.standard_exponential(size, dtype)

    def standard_cauchy(self, size=None):
        """Draw numbers of the Cauchy distribution with mode 0 and scale 1."""
        return self._device.standard_cauchy(size, np.float64)

    uniform = _drawn("uniform")
    normal = _drawn("normal")
    lognormal = _drawn("lognormal")
    exponential = _drawn("exponential")
    rayleigh = _drawn("rayleigh")
    weibull = _drawn("weibull")
    pareto = _drawn("pareto")
    power = _drawn("power")
    logistic = _drawn("logistic")
    gumbel = _drawn("gumbel")
    laplace = _drawn("laplace")

    def integers(self, low, high=None, size=None, dtype=np.int64, endpoint=False):
        """Draw integers from ``low`` to below ``high``, or to ``high`` if ``endpoint`` is True.

        Without ``high``, the range is from 0 to ``low``.
        """
        if not _are_numbers(low) or not (high is None or _are_numbers(high)):
            return self._from_host(
                "integers", size, low, high, dtype=dtype, endpoint=endpoint
            )
        low, high = (0, low) if high is None else (low, high)
        return self._device.integers(low, high, size, dtype, endpoint=endpoint)

    def __getattr__(self, name: str):
        if name.startswith("_") or not hasattr(np.random.Generator, name):
            raise AttributeError(f"a Generator has no attribute {name!r}")

        def draw(*args, **kwargs):
            drawn = getattr(self._numpy(), name)(*args, **kwargs)
            return gpuarray.to_gpu(np.asarray(drawn))

        return draw

    def _from_host(self, name: str, size, *parameters, **options):
        drawn = getattr(self._numpy(), name)(*parameters, size=size, **options)
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


def default_rng(seed=None) -> Generator:
    """Return a new :class:`Generator`.

    seed: as of :class:`Philox`, or a Philox.
    """
    return Generator(seed if isinstance(seed, Philox) else Philox(seed))
