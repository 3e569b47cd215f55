"""Functions of small arrays that need one kernel and at most one wait have NumPy's values to the last bit."""

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

# Functions of x, y (floats), i, j (integers), p (points) and b (bool), with the launches of one call, and its copies and waits.
CASES = {
    "histogram": (1, 2, lambda np, a: np.histogram(a.x, 12)),
    "histogram of a range": (1, 0, lambda np, a: np.histogram(a.x, 7, (-1.5, 1))),
    "histogram of a point": (1, 0, lambda np, a: np.histogram(a.x, 7, (1, 1))),
    "histogram of integers": (1, 2, lambda np, a: np.histogram(a.i, 12)),
    "histogram of equal elements": (1, 2, lambda np, a: np.histogram(a.i[:1], 5)),
    "histogram of every second": (2, 2, lambda np, a: np.histogram(a.x[::-2], 12)),
    "histogram2d": (1, 2, lambda np, a: np.histogram2d(a.x, a.y, 12)),
    "histogram2d of many boxes": (1, 2, lambda np, a: np.histogram2d(a.x, a.y, 70)),
    "histogram2d of ranges": (1, 0, lambda np, a: np.histogram2d(a.x, a.y, [3, 4], [(-1, 1), (0, 2)])),
    "histogramdd": (1, 2, lambda np, a: np.histogramdd(a.p, 5)),
}  # fmt: skip


class Operands:
    def __init__(self, convert) -> None:
        rng = np.random.default_rng(0)
        self.x = convert(rng.standard_normal(1000).astype(np.float32))
        self.y = convert(rng.standard_normal(1000).astype(np.float32))
        self.p = convert(rng.standard_normal((400, 3)))
        self.i = convert(rng.integers(-20, 200, 1000).astype(np.int32))
        self.j = convert(rng.integers(-90, 90, 300).astype(np.int32))
        self.b = convert(rng.random(1000) > 0.7)


def flat(results) -> list:
    if not isinstance(results, (tuple, list)):
        return [results]
    return [part for one in results for part in flat(one)]


@pytest.mark.parametrize("name", CASES)
def test_values_and_launches(name):
    most_launches, most_others, function = CASES[name]
    operands = Operands(gpuarray.to_gpu)
    ours, theirs = function(np, operands), function(np, Operands(np.array))
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.array_equal(one.get(), other)
    if not is_softcuda():  # only the software device counts launches
        return
    cuda.Context.synchronize()
    with pycuda.profile(counters=False) as profile:
        function(np, operands)
    launches = sum(one.activity == "kernel" for one in profile.events)
    others = len(profile.events) - launches - 1  # without the profile's own wait
    assert (launches <= most_launches, others <= most_others) == (True, True)


@pytest.mark.parametrize(
    "values",
    [[1, np.nan], [1, np.inf], [-1.7e308, 1.7e308], [1, 1 + 1e-15]],
    ids=["nan", "infinite", "wide", "narrow"],
)
@pytest.mark.parametrize("given", [False, True], ids=["found", "given"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_ranges_without_bins(values, given):
    """NumPy refuses these ranges, with the same words."""
    arguments = (10, tuple(values)) if given else (10,)
    with pytest.raises(ValueError) as expected:
        np.histogram(np.array(values), *arguments)
    with pytest.raises(ValueError) as error:
        np.histogram(gpuarray.array(values), *arguments)
    assert str(error.value) == str(expected.value)


def test_equal_edges_of_points():
    """histogramdd() accepts two equal edges."""
    x = np.array([1.0, 1 + 2e-16, 1 + 4e-16])
    ours = np.histogramdd([gpuarray.to_gpu(x)] * 2, 8)
    theirs = np.histogramdd([x] * 2, 8)
    for one, other in zip(flat(ours), flat(theirs), strict=True):
        assert np.array_equal(one.get(), other)
