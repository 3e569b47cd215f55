"""Each public function of arrays in a capture: the launches give the results of the eager call, for other inputs, too.

The calls are those of benchmarks/function_calls.py, so a new function is tested. NOT_CAPTURED lists the functions that
cannot be recorded, each with the reason.
"""

import importlib
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import gpuarray, special

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
try:
    calls = importlib.import_module("function_calls")
finally:
    sys.path.remove(str(BENCHMARKS))

pytestmark = pytest.mark.usefixtures("device")

SHAPE = "the shape of the result depends on values"
HOST = "the result is a number, a text or an array of the host"

#: Functions that cannot be captured, each with the reason.
NOT_CAPTURED = {
    **dict.fromkeys(["allclose", "array_equal", "array_equiv"], HOST),
    **dict.fromkeys(
        ["argwhere", "bincount", "bincount, weights", "compress", "extract", "flatnonzero", "intersect1d", "nonzero",
         "repeat", "roots", "setdiff1d", "setxor1d", "trim_zeros", "union1d", "unique", "unique_all", "unique_counts",
         "unique_inverse", "unique_values", "x[mask]"],
        SHAPE,
    ),
    **dict.fromkeys(
        ["linalg.eig", "linalg.eigvals", "real_if_close"],
        "the type of the result depends on values",
    ),
    **dict.fromkeys(
        ["histogram", "histogram, weights", "histogram2d", "histogramdd", "histogram_bin_edges"],
        "the host computes the edges of the bins from the range of the values",
    ),
    **dict.fromkeys(["linalg.lstsq", "polyfit"], "the rank is a number of the host"),
}  # fmt: skip

#: Calls of functions that the benchmarks leave out.
MORE_CALLS = {
    "to_gpu": "np.ones(4)",
    "if_positive": "x - 0.5, x, y",
    "subset_sum": "i, x",
    "multi_take": "[x, y], i",
    "linalg.eig": "square",
    "linalg.eigvals": "square",
    "fft.fftfreq": "16",
}

#: Results that are undefined.
UNDEFINED = {"empty", "empty_like"}
#: Results that are not unique, and what is compared instead.
UNIQUE = {
    "linalg.svd": lambda r: [(r[0] * r[1]) @ r[2], r[1]],
    "linalg.eigh": lambda r: [(r[1] * r[0]) @ r[1].T.conj(), r[0]],
}

#: Operands that are the same in all launches: other values are errors, or have no meaning.
CONSTANT = {"edges", "sorted", "coefficients"}


class Functions:
    """The functions of NumPy's names, else of pycuda's."""

    def __getattr__(self, name):
        if name == "special":
            return special
        found = getattr(np, name, None)
        own = found is None or name in ("ascontiguousarray", "asfortranarray")
        return getattr(gpuarray, name) if own else found


def call_of(name, operands):
    """A function without arguments that makes the call."""
    if name in calls.MORE:
        return lambda: calls.MORE[name][0](Functions(), operands)
    function = Functions()
    for part in name.split("."):
        function = getattr(function, part)
    text = {**calls.function_calls(), **MORE_CALLS}[name]
    given, keywords = calls.arguments(text, operands, Functions())
    return lambda: function(*given, **keywords)


def changed(name, host, k):
    """Other valid values of an operand."""
    if name in CONSTANT:
        return host
    if host.ndim == 2 and host.shape[0] == host.shape[1]:
        return np.roll(host, (k, k), (0, 1))  # stays positive definite
    return np.roll(host, k, 0)


def on_host(result):
    if isinstance(result, gpuarray.GPUArray):
        return result.get()
    if isinstance(result, (tuple, list)):
        return [on_host(one) for one in result]
    if hasattr(result, "__dict__") and not isinstance(result, (np.ndarray, np.generic)):
        return [on_host(one) for one in vars(result).values()]
    return result


def assert_equal(ours, want):
    if isinstance(want, list):
        assert len(ours) == len(want)
        for one, other in zip(ours, want, strict=True):
            assert_equal(one, other)
    elif want is None:
        assert ours is None
    elif np.asarray(want).dtype.kind in "fc":
        scale = max(
            1.0,
            float(
                np.nanmax(np.abs(np.asarray(want)), initial=0, where=np.isfinite(want))
            ),
        )
        np.testing.assert_allclose(ours, want, rtol=1e-4, atol=1e-5 * scale)
    else:
        np.testing.assert_array_equal(ours, want)


def names():
    return sorted(
        {**calls.function_calls(), **dict.fromkeys(calls.MORE, ""), **MORE_CALLS}
    )


@pytest.mark.parametrize("name", names())
def test_function(name):
    warnings.simplefilter("ignore")
    operands = calls.Operands(gpuarray.to_gpu, 256)
    call = call_of(name, operands)
    call()
    call = call_of(name, operands)  # also the operands that the call itself names
    arrays = {
        key: x for key, x in vars(operands).items() if isinstance(x, gpuarray.GPUArray)
    }
    host = operands._host

    def prepare(k):
        for key, x in arrays.items():
            x.set(changed(key, host[key], k))
        cuda.Context.synchronize()

    def state():
        return [x.get() for x in arrays.values()]

    stream = cuda.Stream()
    after = gpuarray.zeros(4, np.float32)
    prepare(0)
    refused = None
    with cuda.capture(stream) as recording, stream:
        try:
            result = call()
        except cuda.LogicError as error:
            refused = error
        after += 1
    graph = recording.graph.instantiate()
    if name in NOT_CAPTURED:
        assert refused is not None, "can be captured"
        word = "mask" if name == "x[mask]" else name.split(".")[-1].split(",")[0]
        assert word in str(refused) and "captur" in str(refused), str(refused)
    elif refused is not None:
        raise refused
    for k in range(3):
        if refused is None:
            prepare(k)
            want, want_state = on_host(call()), state()
        prepare(k)
        graph.launch(stream)
        stream.synchronize()
        if refused is None:
            if name not in UNDEFINED:
                unique = UNIQUE.get(name, lambda r: r)
                assert_equal(unique(on_host(result)), unique(want))
            assert_equal(state(), want_state)
    assert (after.get() == 3).all()
