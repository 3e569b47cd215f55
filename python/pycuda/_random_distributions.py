"""Further methods of :class:`pycuda.random.Generator`: orders, choices, and other distributions."""

from __future__ import annotations

import math
import operator
import warnings

import numpy as np

from pycuda import _device_code, _driver, gpuarray
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.shapes.axes import normalize_axis
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.ufuncs.fusing import fuse
from pycuda.gpuarray import GPUArray

_BLOCK = 128


def extents_of(size) -> tuple[int, ...]:
    return tuple(size) if isinstance(size, (tuple, list)) else (operator.index(size),)


def shape_of(size, *parameters) -> tuple[int, ...]:
    """The shape of a result: ``size``, or that of the parameters. Raises ValueError if they do not broadcast to it."""
    common = np.broadcast_shapes(*(np.shape(one) for one in parameters))
    if size is None:
        return common
    shape = extents_of(size)
    if np.broadcast_shapes(shape, common) != shape:
        raise ValueError(f"parameters of shape {common} do not fit size {shape}")
    return shape


def parameter_of(value):
    """A parameter of a distribution: a number, or an array on the device."""
    return as_array(value) if np.ndim(value) else value


def check_parameter(name: str, value, least=0.0, most=math.inf, above=False) -> None:
    """Raise ValueError for a parameter out of its range. Parameters in arrays of the device are not read."""
    if isinstance(value, ArrayBase):
        return
    values = np.asarray(value, np.float64)
    inside = (values > least if above else values >= least) & (values <= most)
    if not inside.all():
        bound = f"above {least}" if above else f"at least {least}"
        upper = "" if most == math.inf else f" and at most {most}"
        raise ValueError(f"{name} must be {bound}{upper}, but is {value}")


@fuse
def _from_uniform(u, kind, a, b):
    """The inverse of a distribution function at u, from 0 (included) to 1 (excluded)."""
    if kind == "laplace":
        return a - b * np.sign(u - 0.5) * np.log1p(-2 * abs(u - 0.5))
    if kind == "logistic":
        return a + b * np.log((u + 2.0**-54) / (1 - u))
    if kind == "gumbel":
        return a - b * np.log(-np.log(u + 2.0**-54))
    if kind == "cauchy":
        return a + b * np.tan(math.pi * (u - 0.5))
    if kind == "weibull":
        return np.power(-np.log1p(-u), 1 / a)
    if kind == "pareto":
        return np.expm1(-np.log1p(-u) / a)
    if kind == "rayleigh":
        return a * np.sqrt(-2 * np.log1p(-u))
    return np.power(1 - u, 1 / a)  # the power distribution


class Distributions:
    """The methods. A Generator has ``seed``, ``random()``, ``normal()``, ``integers()``, ``advance()``, ``_position``."""

    # Orders and choices

    def permutation(self, x, axis: int = 0) -> GPUArray:
        """Copy an array with its parts along an axis in random order; an int is the numbers below it.

        All orders are equally likely. The order is that of random keys of 63 bits, which are sorted.

        >>> np.sort(Generator(7).permutation(5))
        array([0, 1, 2, 3, 4])
        """
        if isinstance(x, (int, np.integer)):
            return self._order(operator.index(x))
        x = as_array(x)
        if x.ndim == 0:
            raise IndexError("permutation() needs an int or an array with an axis")
        extent = x.shape[normalize_axis(axis, x.ndim)]
        return gpuarray.take(x, self._order(extent), axis=axis)

    def permuted(self, x, axis=None, out=None) -> GPUArray:
        """Copy an array with the elements along an axis in random order, each row in its own; None takes all elements.

        out: an array for the result, which may be ``x``.

        >>> np.sort(Generator(7).permuted(gpuarray.array([[1, 2], [3, 4]]), axis=1), axis=1)
        array([[1, 2],
               [3, 4]])
        """
        x = as_array(x)
        if axis is None:
            result = np.ravel(x)[self._order(x.size)].reshape(x.shape)
        else:
            keys = self.integers(0, 2**63 - 1, x.shape, endpoint=True)
            order = gpuarray.argsort(keys, axis=axis)
            result = gpuarray.take_along_axis(x, order, axis)
        if out is None:
            return result
        out[...] = result
        return out

    def shuffle(self, x, axis: int = 0) -> None:
        """Put the parts of an array along an axis into random order, in place.

        >>> x = gpuarray.array([0, 1, 2, 3, 4])
        >>> Generator(7).shuffle(x)
        >>> np.sort(x).get().tolist()
        [0, 1, 2, 3, 4]
        """
        if not isinstance(x, ArrayBase):
            raise TypeError(
                f"shuffle() changes an array of the device, not {type(x).__name__}"
            )
        x[...] = self.permutation(x, axis)

    def choice(self, a, size=None, replace=True, p=None, axis: int = 0, shuffle=True) -> GPUArray:  # fmt: skip
        """Draw parts of an array, or numbers below an int.

        size: the shape of the draws; None is one draw.
        replace: whether a part can be drawn more than once.
        p: the probability of each part; None for equal ones.
        shuffle: whether draws without replacement are in random order; else they have the order of ``a``.

        Raises ValueError for probabilities that do not add up to 1, and for more draws without replacement than
        parts of a probability above 0.

        >>> Generator(7).choice(gpuarray.array([2, 3]), 4).shape
        (4,)
        """
        is_int = isinstance(a, (int, np.integer))
        a = operator.index(a) if is_int else as_array(a)
        extent = a if is_int else a.shape[axis]
        shape = shape_of(size)
        count = math.prod(shape)
        if extent == 0 and count:
            raise ValueError("a cannot be empty unless no samples are taken")
        if p is not None:
            p = as_array(p).astype(np.float64)
            if p.shape != (extent,):
                raise ValueError(f"p of shape {p.shape} does not fit {extent} parts")
            total, least = float(p.sum().get()), float(p.min().get())
            if least < 0 or not abs(total - 1) < 1e-7:
                raise ValueError(
                    f"probabilities must not be negative and must add up to 1, not to {total}"
                )
        if not replace:
            parts = extent if p is None else int((p != 0).sum().get())
            if count > parts:
                raise ValueError(
                    f"{count} parts cannot be drawn from {parts} without replacement"
                )
            places = self._without_replacement(extent, p)[:count]
            places = (places if shuffle else gpuarray.sort(places)).reshape(shape)
        elif p is None:
            places = self.integers(0, extent, shape) if count else gpuarray.zeros(shape, np.int64)  # fmt: skip
        else:
            ends = gpuarray.cumsum(p)
            places = gpuarray.searchsorted(
                ends / ends[-1:], self.random(shape, np.float64), side="right"
            )
        return places if is_int else gpuarray.take(a, places, axis=axis)

    def _order(self, count: int) -> GPUArray:
        return gpuarray.argsort(self.integers(0, 2**63 - 1, count, endpoint=True))

    def _without_replacement(self, extent: int, p) -> GPUArray:
        """All numbers in random order; with ``p``, as if drawn one after the other (Efraimidis and Spirakis, 2006)."""
        if p is None:
            return self._order(extent)
        return gpuarray.argsort(self.exponential(1.0, extent, np.float64) / p)

    # Distributions by rejection

    def standard_gamma(self, shape, size=None, dtype=np.float32, out=None) -> GPUArray:
        """Draw gamma numbers of scale 1; parameters as of :meth:`gamma`.

        >>> abs(Generator(7).standard_gamma(3.0, 10_000).mean().item() - 3) < 0.1
        True
        """
        return self.gamma(shape, 1.0, size, dtype, out)

    def gamma(self, shape, scale=1.0, size=None, dtype=np.float32, out=None) -> GPUArray:  # fmt: skip
        """Draw gamma numbers: mean ``shape * scale`` (Marsaglia and Tsang, 2000).

        shape, scale: numbers or arrays, not negative, that broadcast to ``size``.
        size: the shape of the result, by default that of the parameters.
        dtype: float32 or float64.
        out: a contiguous array for the result.

        >>> abs(Generator(7).gamma(2.0, 3.0, 10_000).mean().item() - 6) < 0.2
        True
        """
        check_parameter("shape", shape)
        check_parameter("scale", scale)
        return self._draw("Gamma", dtype, size, shape, scale, out)

    def poisson(self, lam=1.0, size=None, dtype=np.int64) -> GPUArray:
        """Draw Poisson numbers: integers with mean ``lam``, a number or an array.

        >>> abs(Generator(7).poisson(20.0, 10_000).mean().item() - 20) < 0.3
        True
        """
        check_parameter("lam", lam, most=2.0**62)
        return self._draw("Poisson", dtype, size, lam, 0.0)

    def binomial(self, n, p, size=None, dtype=np.int64) -> GPUArray:
        """Draw binomial numbers: successes of ``n`` trials of probability ``p``; numbers or arrays.

        >>> abs(Generator(7).binomial(100, 0.3, 10_000).mean().item() - 30) < 0.3
        True
        """
        check_parameter("n", n)
        check_parameter("p", p, most=1.0)
        return self._draw("Binomial", dtype, size, n, p)

    def _draw(self, name, dtype, size, a, b, out=None) -> GPUArray:
        shape = shape_of(size, a, b)
        if out is not None:
            if size is not None and out.shape != shape or np.broadcast_shapes(out.shape, shape) != out.shape:  # fmt: skip
                raise ValueError(f"size is {shape}, but out has shape {out.shape}")
            if not out.flags.c_contiguous:
                raise ValueError("out must be contiguous")
            _driver._array_require_writable(out, "out")
            shape, dtype = out.shape, out.dtype
        dtype = np.dtype(dtype)
        if dtype.kind not in ("iu" if name != "Gamma" else "f") or dtype.itemsize < 4:
            raise TypeError(f"{name.lower()} numbers cannot have dtype {dtype}")
        result = GPUArray(shape, dtype) if out is None else out
        if result.size == 0:
            return result
        parameters = []
        for one in (a, b):
            one = as_array(one).astype(np.float64)
            if one.size > 1:
                one = broadcast_to(one, shape).copy("C")
            parameters += [one, int(one.size > 1)]
        _device_code.kernel("distributions", "draw", "T MAKE", dtype, name)(
            result, result.size, self._position & 0xFFFFFFFFFFFFFFFF, self._position >> 64, self.seed,
            *parameters, block=(_BLOCK, 1, 1), grid=(-(-result.size // _BLOCK), 1),
        )  # fmt: skip
        self.advance(result.size)
        return result

    # Distributions that follow from others

    def beta(self, a, b, size=None, dtype=np.float32) -> GPUArray:
        """Draw beta numbers, from 0 to 1, of mean a / (a + b).

        >>> abs(Generator(7).beta(1.0, 3.0, 10_000).mean().item() - 0.25) < 0.02
        True
        """
        check_parameter("a", a, above=True)
        check_parameter("b", b, above=True)
        shape = shape_of(size, a, b)
        first = self.gamma(a, 1.0, shape, np.float64)
        return (first / (first + self.gamma(b, 1.0, shape, np.float64))).astype(dtype)

    def chisquare(self, df, size=None, dtype=np.float32) -> GPUArray:
        """Draw chi-square numbers with ``df`` degrees of freedom.

        >>> abs(Generator(7).chisquare(4.0, 10_000).mean().item() - 4) < 0.2
        True
        """
        check_parameter("df", df, above=True)
        return self.gamma(np.multiply(df, 0.5), 2.0, size, dtype)

    def f(self, dfnum, dfden, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the F distribution: a ratio of two chi-square numbers per degree of freedom.

        >>> Generator(7).f(4.0, 6.0, 100).min().item() >= 0
        True
        """
        shape = shape_of(size, dfnum, dfden)
        dfnum, dfden = parameter_of(dfnum), parameter_of(dfden)
        above = self.chisquare(dfnum, shape, np.float64) / dfnum
        return (above / (self.chisquare(dfden, shape, np.float64) / dfden)).astype(dtype)  # fmt: skip

    def standard_t(self, df, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of Student's t distribution with ``df`` degrees of freedom.

        >>> abs(Generator(7).standard_t(10.0, 10_000).mean().item()) < 0.1
        True
        """
        shape = shape_of(size, df)
        df = parameter_of(df)
        normal = self.standard_normal(shape, np.float64)
        return (normal / np.sqrt(self.chisquare(df, shape, np.float64) / df)).astype(dtype)  # fmt: skip

    def dirichlet(self, alpha, size=None, dtype=np.float32) -> GPUArray:
        """Draw vectors of numbers that add up to 1; ``alpha`` is a vector, the last axis of the result.

        >>> np.allclose(Generator(7).dirichlet([1.0, 2.0], 3).sum(1).get(), 1)
        True
        """
        check_parameter("alpha", alpha, above=True)
        shape = (*shape_of(size), *np.shape(alpha))
        parts = self.gamma(alpha, 1.0, shape, np.float64)
        return (parts / parts.sum(axis=-1, keepdims=True)).astype(dtype)

    def negative_binomial(self, n, p, size=None, dtype=np.int64) -> GPUArray:
        """Draw the failures before ``n`` successes of probability ``p``.

        >>> abs(Generator(7).negative_binomial(3, 0.5, 10_000).mean().item() - 3) < 0.2
        True
        """
        check_parameter("n", n, above=True)
        check_parameter("p", p, above=True, most=1.0)
        shape = shape_of(size, n, p)
        means = self.gamma(n, np.divide(np.subtract(1, p), p), shape, np.float64)
        return self.poisson(means, shape, dtype)

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd", dtype=np.float64) -> GPUArray:  # fmt: skip
        """Draw vectors of normal numbers with a mean and a covariance matrix; the last axis of the result.

        mean, cov: a vector, and a symmetric matrix without negative eigenvalues.
        check_valid: "warn", "raise" or "ignore": the action if an eigenvalue is below ``-tol``.
        method: "svd" or "eigh" use eigenvectors, "cholesky" needs positive eigenvalues and is quicker.

        >>> Generator(7).multivariate_normal([0.0, 1.0], [[1.0, 0.5], [0.5, 1.0]], 5).shape
        (5, 2)
        """
        mean, cov = (as_array(one).astype(np.float64) for one in (mean, cov))
        if mean.ndim != 1 or cov.shape != 2 * mean.shape:
            raise ValueError(
                f"a mean of shape {mean.shape} does not fit a covariance of {cov.shape}"
            )
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError(f"check_valid must be 'warn', 'raise' or 'ignore', not {check_valid!r}")  # fmt: skip
        if method not in ("svd", "eigh", "cholesky"):
            raise ValueError(f"method must be 'eigh', 'svd' or 'cholesky', not {method!r}")  # fmt: skip
        normal = self.standard_normal((*shape_of(size), mean.size), np.float64)
        if method == "cholesky":
            factor = np.linalg.cholesky(cov)
        else:
            values, vectors = np.linalg.eigh(cov)
            if check_valid != "ignore" and float(values.min().get()) < -tol:
                text = "covariance is not symmetric positive-semidefinite."
                if check_valid == "raise":
                    raise ValueError(text)
                warnings.warn(text, RuntimeWarning, stacklevel=2)
            factor = vectors * np.sqrt(np.maximum(values, 0))
        return (normal @ factor.T + mean).astype(dtype, copy=False)

    # Distributions whose distribution function has an inverse

    def _inverse(self, kind, size, dtype, a, b=0.0) -> GPUArray:
        shape = shape_of(size, a, b)
        a, b = parameter_of(a), parameter_of(b)
        uniform = self.random(shape, np.float64)
        return _from_uniform(uniform, kind, a, b).astype(dtype)

    def lognormal(self, mean=0.0, sigma=1.0, size=None, dtype=np.float32) -> GPUArray:
        """Draw exp() of normal numbers with mean ``mean`` and standard deviation ``sigma``.

        >>> Generator(7).lognormal(0.0, 1.0, 100).min().item() > 0
        True
        """
        check_parameter("sigma", sigma)
        shape = shape_of(size, mean, sigma)
        mean, sigma = parameter_of(mean), parameter_of(sigma)
        return np.exp(self.standard_normal(shape, np.float64) * sigma + mean).astype(dtype)  # fmt: skip

    def standard_exponential(self, size=None, dtype=np.float32) -> GPUArray:
        """Draw exponential numbers of mean 1.

        >>> Generator(7).standard_exponential(100).min().item() >= 0
        True
        """
        return self.exponential(1.0, size, dtype)

    def laplace(self, loc=0.0, scale=1.0, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the Laplace distribution around ``loc``.

        >>> abs(Generator(7).laplace(1.0, 1.0, 10_000).mean().item() - 1) < 0.1
        True
        """
        check_parameter("scale", scale)
        return self._inverse("laplace", size, dtype, loc, scale)

    def logistic(self, loc=0.0, scale=1.0, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the logistic distribution around ``loc``.

        >>> abs(Generator(7).logistic(1.0, 1.0, 10_000).mean().item() - 1) < 0.1
        True
        """
        check_parameter("scale", scale)
        return self._inverse("logistic", size, dtype, loc, scale)

    def gumbel(self, loc=0.0, scale=1.0, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the Gumbel distribution, of maxima.

        >>> abs(Generator(7).gumbel(0.0, 1.0, 10_000).mean().item() - 0.577) < 0.1
        True
        """
        check_parameter("scale", scale)
        return self._inverse("gumbel", size, dtype, loc, scale)

    def standard_cauchy(self, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the Cauchy distribution around 0.

        >>> Generator(7).standard_cauchy(3).shape
        (3,)
        """
        return self._inverse("cauchy", size, dtype, 0.0, 1.0)

    def weibull(self, a, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the Weibull distribution of shape ``a`` and scale 1.

        >>> abs(Generator(7).weibull(1.0, 10_000).mean().item() - 1) < 0.1
        True
        """
        check_parameter("a", a, above=True)
        return self._inverse("weibull", size, dtype, a)

    def pareto(self, a, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the Lomax distribution of shape ``a``, NumPy's Pareto distribution.

        >>> Generator(7).pareto(3.0, 100).min().item() >= 0
        True
        """
        check_parameter("a", a, above=True)
        return self._inverse("pareto", size, dtype, a)

    def rayleigh(self, scale=1.0, size=None, dtype=np.float32) -> GPUArray:
        """Draw the lengths of normal vectors of two axes.

        >>> abs(Generator(7).rayleigh(1.0, 10_000).mean().item() - 1.2533) < 0.05
        True
        """
        check_parameter("scale", scale)
        return self._inverse("rayleigh", size, dtype, scale)

    def power(self, a, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers from 0 to 1 of density a * x ** (a - 1).

        >>> abs(Generator(7).power(2.0, 10_000).mean().item() - 2 / 3) < 0.02
        True
        """
        check_parameter("a", a, above=True)
        return self._inverse("power", size, dtype, a)

    def geometric(self, p, size=None, dtype=np.int64) -> GPUArray:
        """Draw the number of trials of probability ``p`` up to the first success.

        >>> abs(Generator(7).geometric(0.25, 10_000).mean().item() - 4) < 0.2
        True
        """
        check_parameter("p", p, above=True, most=1.0)
        waits = self._inverse("weibull", shape_of(size, p), np.float64, 1.0)
        rate = -np.log1p(np.negative(as_array(p).astype(np.float64)))
        return np.maximum(np.ceil(waits / rate), 1).astype(dtype)

    def triangular(self, left, mode, right, size=None, dtype=np.float32) -> GPUArray:
        """Draw numbers of the triangular distribution from ``left`` over ``mode`` to ``right``, numbers.

        >>> abs(Generator(7).triangular(0.0, 1.0, 2.0, 10_000).mean().item() - 1) < 0.05
        True
        """
        if not left <= mode <= right or left == right:
            raise ValueError(
                f"left, mode and right must be in increasing order, but are {left}, {mode}, {right}"
            )
        u = self.random(shape_of(size), np.float64)
        whole, below = right - left, mode - left
        rising = left + np.sqrt(u * (whole * below))
        falling = right - np.sqrt((1 - u) * (whole * (right - mode)))
        return np.where(u < below / whole, rising, falling).astype(dtype)
