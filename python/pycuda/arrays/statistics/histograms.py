"""Counting: ``bincount``, ``digitize``, histograms.

Counts are exact integers. With few bins they are added up in shared memory. Weights are added by the scatter engine
(core's array_rows.h), or in a fixed order with ``deterministic(True)``.
"""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from pycuda import _device_code, _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.creation.filled import empty, full, zeros
from pycuda.arrays.indexing.items import as_places, put_known, take_known
from pycuda.arrays.indexing.selecting import where
from pycuda.arrays.numerics.differences import diff
from pycuda.arrays.reductions import reductions as _reductions
from pycuda.arrays.reductions.determinism import can_combine_rows
from pycuda.arrays.reductions.segments import join_segments, segments_of_equal
from pycuda.arrays.registry import public
from pycuda.arrays.shapes.joining import concatenate
from pycuda.arrays.shapes.views import broadcast_to
from pycuda.arrays.sorting.sorting import searchsorted
from pycuda.arrays.statistics.quantiles import percentile
from pycuda.arrays.statistics.small_histograms import count_at_once, given_range
from pycuda.tools import context_dependent_memoize

_MOST_SHARED = 4096


@context_dependent_memoize
def _processors() -> int:
    return _driver.Context.get_device().multiprocessor_count


def _prepared(values):
    """Flatten an array, and convert it to a type that kernels compare with doubles."""
    flat = values._ravel()
    if not flat._c_contiguous:
        flat = flat.copy()
    if flat.dtype == np.float16:
        return flat.astype(np.float32)
    return flat.astype(np.uint8) if flat.dtype == np.bool_ else flat


def _has_rows(size: int, count: int, processors: int) -> bool:
    """Whether each processor counts in its own row: on a CPU, if clearing the rows is cheap."""
    return _driver._array_threads_are_cores() and (
        processors == 1 or processors * count <= size
    )


def _counts(values, count: int, edges=None, uniform: bool = False):
    """The number of elements in each of ``count`` bins, int64."""
    if values.size == 0 or count == 0:
        return zeros(count, np.int64)
    shared = count <= _MOST_SHARED
    processors = _processors()
    if not shared and edges is None and _has_rows(values.size, count, processors):
        rows = zeros((processors, count), np.int64)
        kernel = _device_code.kernel(
            "histogram", "count_in_rows", "T uniform", values.dtype, uniform
        )
        kernel(
            values, values.size, rows, 0, count, block=(1, 1, 1), grid=(processors, 1)
        )
        return rows[0] if processors == 1 else rows.sum(0)
    counts = zeros(count, np.int64)
    name = "count_in_blocks" if shared else "count_in_memory"
    kernel = _device_code.kernel("histogram", name, "T uniform", values.dtype, uniform)
    kernel(
        values, values.size, counts, 0 if edges is None else edges, count,
        block=(256, 1, 1), grid=(min(-(-values.size // 1024), 8 * processors), 1),
        shared=4 * count if shared else 0,
    )  # fmt: skip
    return counts


def _weighted(bins, weights, count: int):
    """The sum of the weights of each bin. ``bins`` is int32 or int64; -1 means no bin.

    weights: a vector, or an array without axes: the weight of all elements.
    """
    result = zeros(count, weights.dtype)
    if can_combine_rows("add", weights.dtype):
        _driver._array_combine_rows("add", result, bins, weights, checked=False)
        return result
    weights = broadcast_to(weights, bins.shape)
    order = _driver._array_argsort(bins, 0)
    ordered = take_known(bins, order)
    starts, lengths = segments_of_equal(ordered)
    sums = join_segments("add", take_known(weights, order), starts, lengths)
    names = take_known(ordered, starts)
    if bins.size and int(names[0].get()) < 0:
        names, sums = names[1:], sums[1:]
    put_known(result, names, sums)
    return result


def _largest(x) -> int:
    """The largest element, or -1 if there is none. Raises ValueError for negative elements."""
    if x.size == 0:
        return -1
    # As unsigned numbers, negative ones are the largest. So one reduction finds both errors.
    signed = x.dtype.kind == "i"
    largest = int((x.view(f"u{x.dtype.itemsize}") if signed else x).max().get())
    if signed and largest > np.iinfo(x.dtype).max:
        raise ValueError("bincount() expects no negative elements")
    return largest


@public()
def bincount(x, /, weights=None, minlength: int = 0):
    """Count how often each of the numbers 0, 1, 2 ... occurs.

    x: integers, not negative, a vector. Raises ValueError for negative ones.
    weights: a number for each element; their sums are the result then, of type float64.
    minlength: the least number of counts.

    Returns a vector of int64. The largest element is read back from the device.

    >>> gpuarray.bincount(gpuarray.array([0, 2, 2]))
    array([1, 0, 2])
    """
    x = as_array(x)
    if x.ndim != 1:
        raise ValueError(f"bincount() expects a vector, not {x.ndim} axes")
    if x.dtype.kind not in "biu":
        raise TypeError(f"bincount() expects integers, not {x.dtype}")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    count = max(_largest(x) + 1, operator.index(minlength))
    if weights is None:
        return _counts(_prepared(x), count)
    weights = as_array(weights).astype(np.float64, copy=False)
    if weights.shape != x.shape:
        raise ValueError(
            f"weights of shape {weights.shape} do not fit a vector of {x.size}"
        )
    return _weighted(as_places(x), weights, count)


@public()
def digitize(x, bins, right: bool = False):
    """Find for each element the number of its bin.

    bins: the edges, a vector that rises or falls; others raise ValueError.
    right: whether a bin contains its right edge; by default it contains its left one.

    >>> gpuarray.digitize(gpuarray.array([0.5, 1.0, 9.0]), gpuarray.array([0.0, 1.0, 2.0]))
    array([1, 2, 3])
    """
    bins = bins if isinstance(bins, ArrayBase) else np.asarray(bins)
    if bins.ndim != 1:
        raise ValueError(f"bins must be a vector, not of {bins.ndim} axes")
    x = as_array(x)
    if "c" in (x.dtype.kind, bins.dtype.kind):
        raise TypeError("x and the bins must be real numbers")
    if isinstance(bins, ArrayBase):  # the search finds out whether they rise or fall
        kind = np.result_type(bins.dtype, x.dtype)
        bins, x = (one.astype(kind, copy=False) for one in (bins, x))
        return _driver._array_search(bins, x, not right, edges=True)
    side = "left" if right else "right"
    early, late = bins[:-1], bins[1:]
    if bool((late >= early).all()):
        return searchsorted(as_array(bins), x, side=side)
    if not bool((late <= early).all()):
        raise ValueError("the edges must be monotonically increasing or decreasing")
    return bins.size - searchsorted(as_array(bins[::-1].copy()), x, side=side)


# Histograms


def _ends(vectors):
    """The least and the greatest element of each vector, on the host. The device is read once."""
    ends = empty((len(vectors), 2), vectors[0].dtype)
    for k, vector in enumerate(vectors):
        _reductions.min(vector, out=ends[k, 0])
        _reductions.max(vector, out=ends[k, 1])
    return ends.get()


def _outer_edges(a, range, ends=None):
    """``ends``: the result of :func:`_ends`, if it is known."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"supplied range of [{first}, {last}] is not finite")
    elif a.size == 0:
        first, last = 0, 1
    else:
        first, last = _ends([a])[0] if ends is None else ends
        if not (np.isfinite(first) and np.isfinite(last)):
            raise ValueError(f"autodetected range of [{first}, {last}] is not finite")
    if first == last:
        first, last = first - 0.5, last + 0.5
    return first, last


def _quartiles(x, range):
    low, high = percentile(x, [25, 75]).get().tolist()
    return 2 * (high - low) * x.size ** (-1 / 3)


def _sturges(x, range):
    return float(x.ptp().get()) / (math.log2(x.size) + 1)


def _doane(x, range):
    sigma = float(x.std().get())
    if x.size <= 2 or sigma <= 0:
        return 0.0
    skew = float((((x - x.mean()) / sigma) ** 3).mean().get())
    spread = math.sqrt(6 * (x.size - 2) / ((x.size + 1) * (x.size + 3)))
    return float(x.ptp().get()) / (
        1 + math.log2(x.size) + math.log2(1 + abs(skew) / spread)
    )


def _square_root(x, range):
    return float(x.ptp().get()) / math.sqrt(x.size)


def _stone(x, range):
    """The width with the least estimated loss by leave-one-out cross-validation (Stone, 1984)."""
    count, extent = x.size, float(x.ptp().get())
    if count <= 1 or extent == 0:
        return 0.0

    def loss(bins: int) -> float:
        shares = histogram(x, bins, range)[0].get() / count
        return (2 - (count + 1) * float(shares @ shares)) * bins / extent

    return extent / min(builtins.range(1, max(100, int(count**0.5)) + 1), key=loss)


_WIDTHS = {
    "auto": lambda x, r: min(max(_quartiles(x, r), _square_root(x, r) / 2), _sturges(x, r)),
    "fd": _quartiles,
    "scott": lambda x, r: (24.0 * math.pi**0.5 / x.size) ** (1 / 3) * float(x.std().get()),
    "sturges": _sturges,
    "doane": _doane,
    "sqrt": _square_root,
    "rice": lambda x, r: float(x.ptp().get()) / (2 * x.size ** (1 / 3)),
    "stone": _stone,
}  # fmt: skip


def _estimated_count(a, name, first, last, range, weights) -> int:
    if name not in _WIDTHS:
        raise ValueError(f"{name!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError(
            "Automated estimation of the number of bins is not supported for weighted data"
        )
    if range is not None:
        a = a[(a >= first) & (a <= last)]
    if a.size == 0:
        return 1
    values = a.astype(np.float64) if a.dtype.kind in "biu" else a
    width = _WIDTHS[name](values, (float(first), float(last)))
    if not width:  # for example because the quartiles are equal
        return 1
    if a.dtype.kind in "iu":
        width = max(width, 1)
    return math.ceil((float(last) - float(first)) / width)


def _is_number(bins) -> bool:
    """Whether the argument is a number of bins: a number or an array without axes."""
    return getattr(bins, "ndim", 1) == 0 or not hasattr(bins, "__len__")


def _rising(bins):
    """The given edges on the host."""
    edges = bins.get() if isinstance(bins, ArrayBase) else np.asarray(bins)
    if edges.ndim != 1:
        raise ValueError("`bins` must be 1d, when an array")
    if (edges[:-1] > edges[1:]).any():
        raise ValueError("`bins` must increase monotonically, when an array")
    return edges


def _edges(a, bins, range, weights):
    """The edges on the host, and whether they are evenly spaced."""
    if isinstance(bins, str):
        first, last = _outer_edges(a, range)
        bins = _estimated_count(a, bins, first, last, range, weights)
    elif np.ndim(bins) == 1:
        return _rising(bins), False
    elif np.ndim(bins) == 0:
        first, last = _outer_edges(a, range)
    else:
        raise ValueError("`bins` must be 1d, when an array")
    try:
        count = operator.index(bins.item() if isinstance(bins, ArrayBase) else bins)
    except TypeError:
        raise TypeError("`bins` must be an integer, a string, or an array") from None
    if count < 1:
        raise ValueError("`bins` must be positive, when an integer")
    kind = np.result_type(first, last, a.dtype)
    if kind.kind in "iu":
        kind = np.result_type(kind, float)
    edges = np.linspace(first, last, count + 1, dtype=kind)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(
            f"Too many bins for data range. Cannot create {count} finite-sized bins."
        )
    return edges, True


def _values_and_weights(a, weights):
    a = as_array(a)
    if a.dtype.kind == "c":
        raise TypeError("a histogram of complex numbers is not defined")
    a = a.astype(np.uint8) if a.dtype == np.bool_ else a
    if weights is not None:
        weights = as_array(weights)
        if weights.shape != a.shape:
            raise ValueError("weights should have the same shape as a.")
        weights = weights._ravel()
    return a._ravel(), weights


@public()
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """Compute the edges of the bins of :func:`histogram`, with its parameters.

    a: an array of any shape.
    bins: the number of bins, the edges, or the name of one of NumPy's rules.
    range: the lower and the upper end, by default the smallest and the largest element.
    weights: an array of the shape of ``a``, as of :func:`histogram`.

    Returns a vector of one edge more than there are bins. Raises ValueError for a range that is not finite or falls.

    >>> gpuarray.histogram_bin_edges(gpuarray.array([0.0, 4.0]), bins=2)
    array([0., 2., 4.])
    """
    a, weights = _values_and_weights(a, weights)
    found = _counted_at_once([a], [bins], [range], of_points=False)
    return (
        as_array(_edges(a, bins, range, weights)[0]) if found is None else found[1][0]
    )


@public()
def histogram(a, bins=10, range=None, density=None, weights=None):
    """Count how many elements are in each bin.

    bins: the number of bins, their edges, or the name of a rule: "auto", "fd", "scott", "sturges", "doane",
        "sqrt", "rice", "stone".
    range: the lowest and the highest edge, by default the smallest and the largest element.
    density: True scales the counts so that the integral is 1.
    weights: a number for each element, which is added up in the place of 1.

    Returns (counts, edges). The last bin contains both its edges. Raises ValueError for edges that fall.

    >>> gpuarray.histogram(gpuarray.array([1.0, 2.0, 4.0]), bins=[0, 2, 4])
    (array([1, 2]), array([0, 2, 4]))
    """
    a, weights = _values_and_weights(a, weights)
    found = _counted_at_once([a], [bins], [range], of_points=False)
    if found is not None:
        result, (edges,) = found
        if weights is not None:
            result = _weighted_bins(_prepared(a), edges, True, weights)
        return (_density(result, [edges]) if density else result), edges
    edges, uniform = _edges(a, bins, range, weights)
    values, on_device = _prepared(a), as_array(edges)
    if weights is None:
        wide = as_array(edges.astype(np.float64))
        result = _counts(values, edges.size - 1, wide, uniform)
    else:
        result = _weighted_bins(values, on_device, uniform, weights)
    return (_density(result, [on_device]) if density else result), on_device


def _weighted_bins(values, edges, uniform: bool, weights):
    """The sum of the weights of the values in each bin. ``uniform``: whether the edges are evenly spaced."""
    bins_of, count = empty(values.size, np.int64), edges.size - 1
    if values.size:
        _device_code.kernel("histogram", "find", "T uniform", values.dtype, uniform)(
            values, values.size, bins_of, edges.astype(np.float64, copy=False), count,
            block=(256, 1, 1), grid=(-(-values.size // 256), 1),
        )  # fmt: skip
    return _weighted(bins_of, weights, count)


def _counted_at_once(columns, bins, ranges, of_points: bool):
    """The result of :func:`count_at_once`; None if a number of bins is not an int, if the sample is large, or if some
    ranges are given and some are not."""
    if not all(type(one) is int for one in bins):
        return None
    if ranges[0] is None:
        if any(one is not None for one in ranges):
            return None
        return count_at_once(columns, bins, None, of_points=of_points)
    if any(one is None for one in ranges):
        return None
    ends = [given_range(one, columns[0].dtype) for one in ranges]
    if None in ends:
        return None
    return count_at_once(columns, bins, ends, of_points=of_points)


@public()
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """Count how many points are in each box of a grid.

    sample: an array (points, axes), or a sequence with a vector for each axis.
    bins: as of :func:`histogram`: one for all axes, or one for each.
    range, density, weights: as of :func:`histogram`; ranges are one pair for each axis.

    Returns (counts in float64, a list of the edges along each axis).

    >>> counts, edges = gpuarray.histogramdd(gpuarray.array([[0.0, 0.0], [1.0, 1.0]]), bins=2)
    >>> counts
    array([[1., 0.],
           [0., 1.]])
    """
    columns = _columns(sample)
    axes = len(columns)
    bins = [bins] * axes if _is_number(bins) else list(bins)
    if len(bins) != axes:
        raise ValueError(
            "The dimension of bins must be equal to the dimension of the sample x."
        )
    ranges = [None] * axes if range is None else list(range)
    if len(ranges) != axes:
        raise ValueError("range argument must have one entry per dimension")
    if weights is None:
        found = _counted_at_once(columns, bins, ranges, of_points=True)
        if found is not None:
            result, edges = found
            return (_density(result, edges) if density else result), tuple(edges)
    unknown = [
        k for k, (column, own, range_) in enumerate(zip(columns, bins, ranges, strict=True))
        if range_ is None and _is_number(own) and column.size
    ]  # fmt: skip
    ends = dict(zip(unknown, _ends([columns[k] for k in unknown]), strict=True)) if unknown else {}  # fmt: skip
    on_host = [
        _edges_of_axis(*one, ends.get(k))
        for k, one in enumerate(zip(columns, bins, ranges, strict=True))
    ]
    edges = [as_array(one) for one in on_host]
    if weights is None:
        weights = full((), 1.0, np.float64)
    weights = as_array(weights).astype(np.float64, copy=False)
    shape = [one.size - 1 for one in edges]
    if columns[0].dtype.itemsize <= 4 or columns[0].dtype == np.float64:
        uniform = [_is_number(one) for one in bins]
        boxes = _boxes_at_once(columns, on_host, edges, uniform)
    else:  # a double does not represent all values
        boxes = _boxes(columns, edges)
    result = _weighted(boxes, weights, math.prod(shape))
    result = result._reshape(shape)
    return _density(result, edges) if density else result, tuple(edges)


def _columns(sample) -> list:
    """The coordinates along each axis, vectors of one type.

    sample: an array (points, axes); another array or sequence has a vector for each axis, or is the only vector.
    """
    if hasattr(sample, "shape"):
        sample = as_array(sample)
        columns = list(sample.T) if sample.ndim == 2 else [sample]
    else:
        columns = [as_array(one) for one in sample]
        if all(one.ndim == 0 for one in columns):
            columns = [concatenate([one._reshape([1]) for one in columns])]
    shapes = {one.shape for one in columns}
    if len(shapes) > 1 or len(next(iter(shapes), (0,))) != 1:
        raise ValueError(
            f"each axis of the sample must be a vector of one length, not {sorted(shapes)}"
        )
    kind = np.result_type(*(one.dtype for one in columns))
    kind = np.dtype(np.uint8) if kind == np.bool_ else kind
    return [one.astype(kind, copy=False) for one in columns]


def _edges_of_axis(column, bins, range, ends):
    """The edges on the host. Edges that rounding makes equal are allowed, other than in histogram()."""
    if not _is_number(bins):
        return _rising(bins)
    if bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    count = operator.index(bins.item() if isinstance(bins, ArrayBase) else bins)
    return np.linspace(*_outer_edges(column, range, ends), count + 1)


def _boxes_at_once(columns, edges, on_device, uniform):
    """As :func:`_boxes`, with one kernel for each axis. ``edges`` are on the host, ``on_device`` are the same ones."""
    size = columns[0].size
    numbers = empty(size, np.int64)
    if size == 0:
        return numbers
    for axis, (column, along, own, even) in enumerate(zip(columns, edges, on_device, uniform, strict=True)):  # fmt: skip
        if column.dtype == np.float16:
            column = column.astype(np.float32)
        even = even and bool((along[:-1] < along[1:]).all())
        _device_code.kernel("histogram", "find_box", "T uniform", column.dtype, even)(
            column, size, column.strides[0], numbers, own.astype(np.float64, copy=False),
            len(along) - 1, axis == 0, block=(256, 1, 1), grid=(-(-size // 256), 1),
        )  # fmt: skip
    return numbers


def _boxes(columns, edges):
    """The number of the box of each point, in C order; -1 for a point outside."""
    number, inside = None, None
    for column, along in zip(columns, edges, strict=True):
        place = searchsorted(along, column, side="right") - 1
        place = where(column == along[-1], along.size - 2, place)
        valid = (place >= 0) & (place < along.size - 1)
        inside = valid if inside is None else inside & valid
        place = where(valid, place, 0)
        number = place if number is None else number * (along.size - 1) + place
    return where(inside, number, -1)


def _density(counts, edges):
    """The counts divided by their sum and by the sizes of their boxes."""
    total = counts.sum()
    for axis, along in enumerate(edges):
        shape = [1] * len(edges)
        shape[axis] = -1
        widths = diff(along).astype(np.float64, copy=False)
        counts = counts / widths._reshape(shape)
    return counts / total


@public()
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """Count how many points (x, y) are in each box of a grid; parameters as of :func:`histogramdd`.

    Returns (counts, edges along x, edges along y).

    >>> gpuarray.histogram2d(gpuarray.array([0.0, 1.0]), gpuarray.array([0.0, 1.0]), bins=2)[0]
    array([[1., 0.],
           [0., 1.]])
    """
    if not _is_number(bins) and len(bins) > 2:
        bins = [bins, bins]
    x, y = as_array(x), as_array(y)
    if x.ndim == 0 or x.shape[:1] != y.shape[:1]:
        raise ValueError(
            f"x and y must be vectors of one length, not of shapes {x.shape} and {y.shape}"
        )
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
