"""Special functions of arrays, under the names of ``scipy.special``.

>>> from pycuda import special
>>> special.erf(gpuarray.array([0.0, 1.0]))
array([0.        , 0.84270079])

Each is a universal function with the keywords ``out``, ``where``, ``dtype``, ``casting``, ``stream`` and ``allocator``.
SciPy's functions of these names take arrays of the device as well: ``scipy.special.erf(x)`` is ``special.erf(x)``. They
may be used in ``@pycuda.fuse``. :func:`softmax`, :func:`log_softmax` and :func:`logsumexp` reduce axes.
"""

import numpy as np

import pycuda.gpuarray  # noqa: F401 -- results are GPUArrays
from pycuda.arrays.creation.conversion import as_array as _as_array
from pycuda.arrays.ufuncs.fusing import fuse as _fuse
from pycuda.arrays.ufuncs.special_functions import SPECIAL as _SPECIAL
from pycuda.arrays.ufuncs.tracing import Traced as _Traced

erf = _SPECIAL["erf"]
erfc = _SPECIAL["erfc"]
erfcx = _SPECIAL["erfcx"]
erfinv = _SPECIAL["erfinv"]
erfcinv = _SPECIAL["erfcinv"]
gamma = _SPECIAL["gamma"]
gammaln = _SPECIAL["gammaln"]
rgamma = _SPECIAL["rgamma"]
psi = digamma = _SPECIAL["psi"]
beta = _SPECIAL["beta"]
betaln = _SPECIAL["betaln"]
expit = _SPECIAL["expit"]
logit = _SPECIAL["logit"]
log_expit = _SPECIAL["log_expit"]
ndtr = _SPECIAL["ndtr"]
ndtri = _SPECIAL["ndtri"]
j0 = _SPECIAL["j0"]
j1 = _SPECIAL["j1"]
y0 = _SPECIAL["y0"]
y1 = _SPECIAL["y1"]
i0 = _SPECIAL["i0"]
i1 = _SPECIAL["i1"]
xlogy = _SPECIAL["xlogy"]
xlog1py = _SPECIAL["xlog1py"]
entr = _SPECIAL["entr"]
rel_entr = _SPECIAL["rel_entr"]


def softmax(x, axis=None):
    """Compute exp(x) divided by its sum over axes, without overflow.

    axis: an int, several, or None for all axes.

    Integers become float64. In a function with ``@pycuda.fuse``, the steps become a part of this function's kernels.

    >>> special.softmax(gpuarray.array([0.0, 0.0]))
    array([0.5, 0.5])
    """
    return _softmax(x, axis) if isinstance(x, _Traced) else _fused_softmax(_as_array(x), axis)  # fmt: skip


def log_softmax(x, axis=None):
    """Compute the logarithm of :func:`softmax`, exactly also for small results.

    axis: an int, several, or None for all axes.

    Integers become float64. Returns an array of the shape of ``x``.

    >>> special.log_softmax(gpuarray.array([0.0, 0.0]))
    array([-0.69314718, -0.69314718])
    """
    return _log_softmax(x, axis) if isinstance(x, _Traced) else _fused_log_softmax(_as_array(x), axis)  # fmt: skip


def logsumexp(a, axis=None, b=None, keepdims=False):
    """Compute the logarithm of the sum of exp(a) over axes, without overflow.

    axis: an int, several, or None for all axes.
    b: an array or number by which the exponentials are multiplied.
    keepdims: whether reduced axes stay, with extent 1.

    Integers become float64. The result is NaN where the sum is negative, and -infinity where it is 0.

    >>> special.logsumexp(gpuarray.array([0.0, 0.0]))
    array(0.69314718)
    """
    function = _logsumexp if isinstance(a, _Traced) else _fused_logsumexp
    a = a if isinstance(a, _Traced) else _as_array(a)
    b = b if b is None or isinstance(b, _Traced) or np.ndim(b) == 0 else _as_array(b)
    return function(a, axis, b, bool(keepdims))


def _floats(x):
    return x.astype(np.float64) if x.dtype.kind in "biu" else x


def _softmax(x, axis):
    x = _floats(x)
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _log_softmax(x, axis):
    x = _floats(x)
    apart = x - x.max(axis=axis, keepdims=True)
    return apart - np.log(np.exp(apart).sum(axis=axis, keepdims=True))


def _logsumexp(a, axis, b, keepdims):
    a = _floats(a)
    high = a.max(axis=axis, keepdims=True)
    high = np.where(np.isfinite(high), high, 0)
    e = np.exp(a - high)
    e = e if b is None else e * b
    total = np.log(e.sum(axis=axis, keepdims=keepdims))
    return total + (high if keepdims else high.sum(axis=axis))


_fused_softmax = _fuse(_softmax)
_fused_log_softmax = _fuse(_log_softmax)
_fused_logsumexp = _fuse(_logsumexp)
