"""Programs of tables, groups, samples and masks, in NumPy's words. Used by array_programs.py."""

PROGRAMS = {}


def program(function):
    """Register a program: a function of a library's namespace and of operands."""
    PROGRAMS[function.__name__] = function
    return function


@program
def k_means_step(np, d):
    apart = ((d.points[:, None, :] - d.centres[None]) ** 2).sum(-1)
    nearest = apart.argmin(1)
    sums = np.zeros((8, 4), np.float32)
    np.add.at(sums, nearest, d.points)
    return sums / np.maximum(np.bincount(nearest, minlength=8), 1)[:, None]


@program
def principal_components(np, d):
    centred = d.features - d.features.mean(0)
    values, _ = np.linalg.eigh(centred.T @ centred / len(centred))
    return values[::-1][:4]


@program
def one_hot(np, d):
    return (d.labels[:, None] == np.arange(32)).astype(np.float32)


@program
def one_hot_by_eye(np, d):
    return np.eye(32, dtype=np.float32)[d.labels]


@program
def one_hot_by_assignment(np, d):
    result = np.zeros((len(d.labels), 32), np.float32)
    result[np.arange(len(d.labels)), d.labels] = 1
    return result


@program
def cross_entropy(np, d):
    shifted = d.logits - d.logits.max(1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
    return -logs[np.arange(len(d.labels)), d.labels].mean()


@program
def softmax_gradient(np, d):
    e = np.exp(d.logits - d.logits.max(1, keepdims=True))
    p = e / e.sum(1, keepdims=True)
    p[np.arange(len(d.labels)), d.labels] -= 1
    return p / len(p)


@program
def layer_norm(np, d):
    mean = d.logits.mean(-1, keepdims=True)
    spread = d.logits.std(-1, keepdims=True)
    return (d.logits - mean) / (spread + 1e-5)


@program
def batch_norm(np, d):
    return (d.logits - d.logits.mean(0)) / np.sqrt(d.logits.var(0) + 1e-5)


@program
def accuracy(np, d):
    return (d.logits.argmax(1) == d.labels).mean()


@program
def top_five(np, d):
    return np.sort(np.partition(d.logits, -5, axis=1)[:, -5:], axis=1)


@program
def group_by_means(np, d):
    sums = np.bincount(d.keys, weights=d.x, minlength=100)
    return sums / np.bincount(d.keys, minlength=100)


@program
def group_by_maxima(np, d):
    result = np.full(100, -np.inf, np.float32)
    np.maximum.at(result, d.keys, d.x)
    return result


@program
def group_by_sorting(np, d):
    order = np.argsort(d.keys, kind="stable")
    keys = d.keys[order]
    first = np.flatnonzero(np.concatenate([np.array([True]), keys[1:] != keys[:-1]]))
    return keys[first], np.add.reduceat(d.x[order].astype(np.float64), first)


@program
def run_lengths(np, d):
    starts = np.flatnonzero(np.diff(d.runs)) + 1
    starts = np.concatenate([np.zeros(1, starts.dtype), starts])
    lengths = np.diff(np.append(starts, len(d.runs)))
    return d.runs[starts], lengths


@program
def run_lengths_decoded(np, d):
    return np.repeat(np.arange(len(d.x) // 2), d.whole[: len(d.x) // 2] % 4)


@program
def sort_by_key(np, d):
    return d.x[np.argsort(d.whole, kind="stable")]


@program
def sort_by_two_keys(np, d):
    return np.lexsort((d.whole, d.keys))


@program
def ranks(np, d):
    order = d.y.argsort()
    result = np.empty(len(order), np.int64)
    result[order] = np.arange(len(order))
    return result


@program
def unique_with_counts(np, d):
    return np.unique(d.whole, return_counts=True)


@program
def unique_inverse(np, d):
    values, inverse = np.unique(d.whole, return_inverse=True)
    return values[inverse]


@program
def most_frequent(np, d):
    return np.bincount(d.whole).argmax()


@program
def quantiles(np, d):
    return np.quantile(d.y, np.array([0.05, 0.25, 0.5, 0.75, 0.95]))


@program
def median_of_absolute_deviations(np, d):
    return np.median(np.abs(d.y - np.median(d.y)))


@program
def quantiles_of_days(np, d):
    return np.percentile(d.days, [25, 75], axis=1)


@program
def median_without_nan(np, d):
    return np.nanmedian(d.holes)


@program
def outliers_clipped(np, d):
    low, high = np.percentile(d.y, [1, 99])
    return np.clip(d.y, low, high)


@program
def cumulative_maximum(np, d):
    return np.maximum.accumulate(d.y)


@program
def largest_loss(np, d):
    wealth = np.cumprod(1 + d.y.astype(np.float64) / 1000)
    return (wealth / np.maximum.accumulate(wealth) - 1).min()


@program
def holes_filled_forward(np, d):
    places = np.where(np.isnan(d.holes), 0, np.arange(len(d.holes)))
    return d.holes[np.maximum.accumulate(places)]


@program
def holes_replaced(np, d):
    return np.where(np.isnan(d.holes), np.nanmean(d.holes), d.holes)


@program
def holes_interpolated(np, d):
    missing = np.isnan(d.holes)
    at = np.arange(len(d.holes), dtype=np.float64)
    return np.interp(at, at[~missing], d.holes[~missing].astype(np.float64))


@program
def bits_packed(np, d):
    return np.packbits(d.bits)


@program
def bits_unpacked(np, d):
    return np.unpackbits(d.bytes)


@program
def bits_packed_by_powers(np, d):
    return (d.bits.reshape(-1, 8) * (1 << np.arange(8, dtype=np.int32))).sum(1)


@program
def bits_counted(np, d):
    return np.bitwise_count(d.whole).sum()


@program
def grey_code(np, d):
    return d.whole ^ (d.whole >> 1)


@program
def sample_without_bias(np, d):
    total = np.cumsum(d.whole)
    return d.x[np.searchsorted(total, d.draws[:1000] * 100 + 0.5)]


@program
def bootstrap_means(np, d):
    rows = d.draws[: d.n // 64 * 64].reshape(64, -1)
    return d.x[rows].mean(1)


@program
def horner(np, d):
    result = np.zeros_like(d.x)
    for c in (1.0, -2.0, 3.0, -4.0):
        result = result * d.x + c
    return result


@program
def polynomial_features(np, d):
    return np.vander(d.x, 4).sum(0)


@program
def polynomial_fit(np, d):
    return np.polyfit(d.x, d.x * 2 + 1, 1)


@program
def line_fit(np, d):
    x, y = d.x.astype(np.float64), d.y
    slope = ((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum()
    return slope


@program
def phase_unwrapped(np, d):
    return np.unwrap(np.cumsum(d.x) % (2 * np.pi))


@program
def table_interpolated(np, d):
    return np.interp(d.x, np.linspace(0, 1.2, 65).astype(np.float32), d.table)


@program
def masked_assignment(np, d):
    result = d.y.copy()
    result[d.mask] *= 2
    result[result < 0] = 0
    return result


@program
def masked_mean(np, d):
    return d.y[d.mask].mean(), d.y.mean(where=d.mask)


@program
def masked_pairs(np, d):
    both = d.mask & (d.y > 0)
    return d.x[both], d.whole[both]


@program
def selected(np, d):
    return np.select([d.y < -1, d.y < 0, d.y < 1], [d.y, -d.y, d.y**2], 1)


@program
def chosen(np, d):
    return np.choose(d.whole % 3, [d.x, d.y, d.x + d.y])


@program
def pieces(np, d):
    return np.piecewise(d.y, [d.y < 0, d.y >= 0], [lambda v: -v, lambda v: v * v])


@program
def digitised(np, d):
    return np.bincount(np.digitize(d.x, d.edges), minlength=34)


@program
def histogram_of_two(np, d):
    return np.histogram2d(d.x, d.y, bins=(16, 24))[0]


@program
def histogram_density(np, d):
    return np.histogram(d.y, bins=50, range=(-3, 3), density=True)[0]


@program
def joint_counts(np, d):
    return np.bincount(d.keys * 32 + d.whole % 32, minlength=3200).reshape(100, 32)


@program
def mutual_information(np, d):
    c = np.bincount(d.keys * 8 + d.whole % 8, minlength=800).reshape(100, 8)
    p = c / c.sum()
    q = p.sum(0) * p.sum(1)[:, None]
    return (p * np.log(np.where(p > 0, p / q, 1))).sum()


@program
def integral(np, d):
    return np.trapezoid(d.y, np.cumsum(d.x.astype(np.float64)))


@program
def sieve(np, d):
    prime = np.ones(d.n, bool)
    prime[:2] = False
    for k in (2, 3, 5, 7, 11, 13):
        prime[k * k :: k] = False
    return np.flatnonzero(prime)


@program
def monte_carlo_pi(np, d):
    return 4 * ((d.x - 0.1) ** 2 + (d.x[::-1] - 0.1) ** 2 < 1).mean()


@program
def black_scholes_bounds(np, d):
    d1 = (np.log(d.x) + 0.02) / (0.2 * np.sqrt(d.x))
    return np.maximum(d.x - np.exp(-0.05 * d1), 0).sum()


@program
def dates_of_weeks(np, d):
    week, day = np.divmod(d.whole, 7)
    return np.bincount(day, minlength=7), week.max()


@program
def text_codes(np, d):
    b = d.bytes
    upper = np.where((b >= 97) & (b <= 122), b - 32, b)
    return np.isin(upper, np.array([65, 69, 73, 79, 85], np.uint8)).sum()


@program
def checksum(np, d):
    a = d.bytes.cumsum(dtype=np.uint64) % 65521
    return a[-1], a.sum() % 65521


@program
def dropout(np, d):
    return np.where(d.x > 0.3, d.x / np.float32(0.7), 0)


@program
def adam_step(np, d):
    m = 0.9 * d.x + 0.1 * d.y
    v = 0.999 * d.x + 0.001 * d.y**2
    return d.x - 0.01 * (m / 0.1) / (np.sqrt(v / 0.001) + 1e-8)


@program
def normalised_rows(np, d):
    total = d.days.sum(1, keepdims=True)
    return np.divide(d.days, total, out=np.zeros_like(d.days), where=total > 12)


@program
def standardised_days(np, d):
    return (d.days - d.days.mean(1)[:, None]) / d.days.std(1)[:, None]


@program
def last_axis_differences(np, d):
    return np.diff(d.days, axis=1, prepend=0).max(0)


@program
def sorted_days(np, d):
    return np.take_along_axis(d.days, np.argsort(d.days, axis=1), axis=1)


@program
def set_operations(np, d):
    common = np.intersect1d(d.whole, d.keys)
    return common, np.setdiff1d(d.whole, common), np.union1d(d.keys, common)
