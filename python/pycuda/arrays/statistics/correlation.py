"""Convolutions, correlations and covariances."""

from __future__ import annotations

import functools

import numpy as np

from pycuda import _device_code, _driver
from pycuda.arrays.creation.conversion import as_array, put_into
from pycuda.arrays.creation.filled import empty, zeros
from pycuda.arrays.interop import host as _host
from pycuda.arrays.linalg.products import matmul
from pycuda.arrays.reductions.means import average
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import concatenate
from pycuda.arrays.ufuncs.fusing import fuse

_MODES = ("full", "same", "valid")


def _windows(padded, length: int):
    """A view: row i has the ``length`` elements from i on."""
    step = padded.strides[0]
    return padded._view(0, [padded.size - length + 1, length], [step, step])


def _correlation(a, v, mode: str, what: str):
    """The sum over n of a[n + k] v[n]. ``v`` is the shorter vector."""
    if mode not in _MODES:
        raise ValueError(f"mode must be one of {_MODES}, not {mode!r}")
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError(f"{what}() expects vectors, not {a.ndim} and {v.ndim} axes")
    a, v = a._reshape(-1), v._reshape(-1)
    if a.size == 0 or v.size == 0:
        raise ValueError(f"{what}() expects non-empty vectors")
    kind = np.result_type(a.dtype, v.dtype)
    a, v = a.astype(kind, copy=False), v.astype(kind, copy=False)
    m = v.size
    before = {"full": m - 1, "same": m // 2, "valid": 0}[mode]
    after = {"full": m - 1, "same": m - 1 - m // 2, "valid": 0}[mode]
    on_cores = _driver._array_threads_are_cores()
    if on_cores and kind.char in "fdFD" and _driver._array_host_has_arrays():
        result = _host.call(np.correlate, a, v.conj(), mode=mode)
        if result is not None:
            return result
    # In a product of matrices, the zeros that are added at the ends are multiplied too: 0 * infinity is not 0.
    if (not on_cores or kind.kind in "fc") and m <= _most_taps(kind):
        return _correlated(a, v, before, a.size + before + after - m + 1)
    padded = zeros(a.size + before + after, kind)
    padded[before : before + a.size] = a
    return matmul(_windows(padded, m), v.copy())


_TILE = 1024  # results of a thread block


def _most_taps(kind: np.dtype) -> int:
    """How long the shorter vector may be, so that a tile and the vector fit the shared memory of a thread block."""
    return (40960 // kind.itemsize - _TILE) // 2 if kind.kind in "biufc" else 0


def _correlated(a, v, before: int, count: int):
    """The correlation by a kernel that keeps ``v`` in shared memory. ``before``: zeros in front of ``a``."""
    a, v = (one if one._c_contiguous else one.copy() for one in (a, v))
    kind = a.dtype
    wide = np.dtype({"b": np.int32, "e": np.float32}.get(kind.char if kind.char == "e" else kind.kind, kind))  # fmt: skip
    result = empty(count, kind)
    shared = (_TILE + 2 * v.size) * kind.itemsize
    _device_code.kernel("correlate", "correlate", "T S tile", kind, wide, _TILE)(
        a, a.size, v, v.size, before, result, count, shared=shared,
        block=(_TILE // 4, 1, 1), grid=(-(-count // _TILE), 1),
    )  # fmt: skip
    return result


@public()
def convolve(a, v, mode: str = "full"):
    """Compute the discrete convolution of two vectors.

    a, v: vectors of n and m elements; the result has their common type.
    mode: "full" gives n + m - 1 elements, "same" as many as the longer vector has, "valid" those that depend on
        no element outside.

    Raises ValueError for arrays that are no vectors, empty ones and another ``mode``.

    >>> gpuarray.convolve(gpuarray.array([1, 2, 3]), gpuarray.array([1, 1]))
    array([1, 3, 5, 3])
    """
    a, v = as_array(a), as_array(v)
    if a.ndim > 1 or v.ndim > 1:
        raise ValueError(
            f"convolve() expects two vectors, not arrays of {a.ndim} and {v.ndim} axes"
        )
    if v.size > a.size:
        a, v = v, a
    if (
        mode == "same" and v.size % 2 == 0
    ):  # the middle is one element before that of a correlation
        full = _correlation(a, v._ravel()[::-1], "full", "convolve")
        start = (v.size - 1) // 2
        return full[start : start + a.size].copy()
    return _correlation(a, v._ravel()[::-1], mode, "convolve")


@public()
def correlate(a, v, mode: str = "valid"):
    """Compute the cross-correlation of two vectors: sums of products, those of ``v`` conjugated.

    Returns a vector of the common type of ``a`` and ``v``. Parameters are those of :func:`convolve`, but ``mode``
    is "valid" by default.

    >>> gpuarray.correlate(gpuarray.array([1, 2, 3]), gpuarray.array([1, 1]))
    array([3, 5])
    """
    a, v = as_array(a), as_array(v).conj()
    if a.ndim != 1 or v.ndim != 1:
        raise ValueError(f"correlate() expects two vectors, not arrays of {a.ndim} and {v.ndim} axes")  # fmt: skip
    if v.size > a.size:
        return _correlation(v, a, mode, "correlate")[::-1].copy()
    return _correlation(a, v, mode, "correlate")


@public()
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None):  # fmt: skip
    """Compute the covariances of variables.

    m: the observations, an array (variables, observations) or a vector for one variable.
    y: further variables.
    rowvar: False takes the columns of ``m`` as the variables.
    bias, ddof: the sums are divided by the number of observations less ``ddof``; ddof is 1, or 0 with ``bias``.
    fweights: how often each observation counts, integers.
    aweights: the weight of each observation.
    dtype: the type of the result, at least float64 by default.

    Returns an array (variables, variables).

    >>> gpuarray.cov(gpuarray.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    x, kind, weights, factor = _observations(m, y, rowvar, bias, ddof, fweights, aweights, dtype)  # fmt: skip
    if x.shape[0] == 0:
        return zeros((0, 0), np.float64)  # of any type, as in NumPy
    if weights is None and factor > 0 and _are_few(x, kind):
        result = _few_covariances(*_pairs(x), kind, x.shape[1] - factor)
    else:
        result = _covariances(x, kind, weights, factor)
    return result._reshape(()) if result.size == 1 else result


def _observations(m, y, rowvar, bias, ddof, fweights, aweights, dtype) -> tuple:
    """The variables (variables, observations), less their means if there are weights; the type of the result; the
    weights or None; the divisor of the sums."""
    m = as_array(m)
    if m.ndim > 2:
        raise ValueError(f"m has more than 2 dimensions: {m.ndim}")
    kinds = [m.dtype] if y is None else [m.dtype, as_array(y).dtype]
    kind = np.result_type(*kinds, np.float64) if dtype is None else np.dtype(dtype)
    # As in NumPy, ``m`` of one row is transposed, and ``y`` of one row is not.
    # Without other variables and weights, the kernel that subtracts the means converts as well.
    is_plain = y is None and fweights is None and aweights is None and m.size > 0
    x = _variables(m, rowvar or m.ndim < 2, m.dtype if is_plain else kind)
    if y is not None:
        y = as_array(y)
        if y.ndim > 2:
            raise ValueError(f"y has more than 2 dimensions: {y.ndim}")
        is_row = y.ndim < 2 or y.shape[0] == 1
        x = concatenate((x, _variables(y, rowvar or is_row, kind)), axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if int(ddof) != ddof:
        raise ValueError("ddof must be integer")
    weights = None
    for one in (fweights, aweights):
        if one is not None:
            one = as_array(one).astype(np.float64)
            if one.shape != (x.shape[1],):
                raise ValueError(
                    f"weights of shape {one.shape} do not fit {x.shape[1]} observations"
                )
            weights = one if weights is None else weights * one
    if weights is None:
        return x, kind, None, x.shape[1] - ddof
    mean = average(x, 1, weights)
    total = float(weights.sum().get())
    used = 0.0
    if ddof and aweights is not None:
        used = ddof * float((weights * as_array(aweights)).sum().get()) / total
    factor = total - (used if aweights is not None else ddof)
    return x - mean[:, None], kind, weights, factor


def _covariances(x, kind, weights, factor):
    """The sums of the products of all pairs of variables, less their means, divided by ``factor``."""
    if weights is not None:
        products = matmul(x, (x * weights).T.conj())
    else:
        x = _centred(x, kind) if x.size else x
        products = matmul(x, x.T.conj())
    return products * (1 / factor if factor > 0 else np.inf)


@fuse
def _centred(x, kind):
    x = x.astype(kind)
    return x - x.mean(-1, keepdims=True)


# Few variables: one kernel subtracts the means of each pair of variables and adds up the products. The most products for
# which this takes less time than a product of matrices, on a CPU and on a GPU.
_FEW_PRODUCTS = {True: 1 << 13, False: 1 << 16}


def _are_few(x, kind) -> bool:
    variables, observations = x.shape
    most = _FEW_PRODUCTS[_driver._array_threads_are_cores()]
    few = variables * variables * observations <= most
    return few and 0 < observations <= 2048 and kind.char in "fdFD"


def _pairs(x) -> tuple:
    """Two views (variables, variables, observations): the first and the second variable of each pair."""
    count, length = x.shape
    row, step = x.strides
    shape = (count, count, length)
    return x._view(0, shape, (row, 0, step)), x._view(0, shape, (0, row, step))


@fuse
def _few_covariances(a, b, kind, ddof):
    return (_centred(a, kind) * _centred(b, kind).conj())._mean(-1, kind, False, True, ddof)  # fmt: skip


@fuse
def _few_correlations(a, b, kind, ddof):
    a, b = _centred(a, kind), _centred(b, kind)
    covariances, *variances = (
        product._mean(-1, kind, False, True, ddof)
        for product in (a * b.conj(), a * a.conj(), b * b.conj())
    )
    return _scaled(covariances, *variances)


def _variables(m, rowvar, kind):
    m = m.astype(kind, copy=False)
    if m.ndim < 2:
        return m._reshape(1, -1)
    return m if rowvar else m.T


@public()
def corrcoef(x, y=None, rowvar=True, *, dtype=None):
    """Compute Pearson's correlation coefficients of variables; parameters as of :func:`cov`.

    Returns a matrix with a row and a column for each variable; without axes for one variable. Values are cut to the
    range from -1 to 1. NaN where a variable is constant.

    >>> gpuarray.corrcoef(gpuarray.array([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])).get().round(6)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    x, kind, _, factor = _observations(x, y, rowvar, False, None, None, None, dtype)
    if x.shape[0] == 0:
        return zeros((0, 0), np.float64)
    if x.shape[0] > 1 and factor > 0 and _are_few(x, kind):
        return _few_correlations(*_pairs(x), kind, x.shape[1] - factor)
    c = _covariances(x, kind, None, factor)
    if c.size == 1:
        c = c._reshape(())
        return c / c
    variances = c.diagonal()
    return _scaled(c, variances[:, None], variances[None, :])


@fuse
def _scaled(c, rows, columns):
    c = c / np.sqrt(rows.real) / np.sqrt(columns.real)
    if c.dtype.kind == "c":
        return c.real.clip(-1, 1) + c.imag.clip(-1, 1) * c.dtype.type(1j)
    return c.clip(-1, 1)


@public("linalg")
def multi_dot(arrays, *, out=None):
    """Multiply several matrices in the order that takes the fewest multiplications.

    arrays: matrices whose extents fit; the first and the last may be vectors.
    out: an array for the result.

    The order is found by dynamic programming (Cormen et al., Introduction to Algorithms, chapter 15).

    >>> x = gpuarray.ones((2, 2))
    >>> linalg.multi_dot([x, x, x])
    array([[4., 4.],
           [4., 4.]])
    """
    arrays = [as_array(one) for one in arrays]
    if len(arrays) < 2:
        raise ValueError("Expecting at least two arrays.")
    row, column = arrays[0].ndim == 1, arrays[-1].ndim == 1
    arrays[0] = arrays[0][None, :] if row else arrays[0]
    arrays[-1] = arrays[-1][:, None] if column else arrays[-1]
    for one in arrays:
        if one.ndim != 2:
            raise np.linalg.LinAlgError(
                f"{one.ndim}-dimensional array given. Array must be two-dimensional"
            )
    sides = (*(one.shape[0] for one in arrays), arrays[-1].shape[1])
    result = _chain(arrays, _best_cuts(sides), 0, len(arrays) - 1)
    shape = result.shape[row : 1 if column else 2]
    result = result._reshape(shape)
    return put_into(out, result, "same_kind")


@functools.lru_cache(256)
def _best_cuts(sides: tuple[int, ...]) -> dict:
    """For all i < j, the best place to split the product of matrices i to j in two. Matrix i is sides[i] by sides[i + 1]."""
    count = len(sides) - 1
    cost = {(i, i): 0 for i in range(count)}
    cuts = {}
    for length in range(1, count):
        for i in range(count - length):
            j = i + length
            cost[i, j], cuts[i, j] = min(
                (
                    cost[i, k]
                    + cost[k + 1, j]
                    + sides[i] * sides[k + 1] * sides[j + 1],
                    k,
                )
                for k in range(i, j)
            )
    return cuts


def _chain(arrays, cuts, i: int, j: int):
    if i == j:
        return arrays[i]
    k = cuts[i, j]
    return matmul(_chain(arrays, cuts, i, k), _chain(arrays, cuts, k + 1, j))
