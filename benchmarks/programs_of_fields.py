"""Programs of fields, images, signals and matrices, in NumPy's words. Used by array_programs.py."""

PROGRAMS = {}


def program(function):
    """Register a program: a function of a library's namespace and of operands."""
    PROGRAMS[function.__name__] = function
    return function


@program
def histogram_equalisation(np, d):
    counts = np.bincount(d.image.ravel(), minlength=256)
    total = counts.cumsum()
    table = (255 * (total - total[0]) / (total[-1] - total[0])).astype(np.uint8)
    return table[d.image]


@program
def moving_average(np, d):
    total = np.cumsum(np.pad(d.signal.astype(np.float64), (1, 0)))
    return (total[25:] - total[:-25]) / 25


@program
def moving_average_of_windows(np, d):
    windows = np.lib.stride_tricks.sliding_window_view(d.signal, 16)
    return windows.mean(-1)


@program
def moving_maximum(np, d):
    return np.lib.stride_tricks.sliding_window_view(d.signal, 8).max(-1)


@program
def exponential_average(np, d):
    weights = 0.9 ** np.arange(31)
    return np.convolve(d.signal, (weights / weights.sum()).astype(np.float32), "valid")


@program
def game_of_life(np, d):
    c = d.cells
    around = sum(
        np.roll(np.roll(c, i, 0), j, 1)
        for i in (-1, 0, 1)
        for j in (-1, 0, 1)
        if i or j
    )
    return ((around == 3) | ((c == 1) & (around == 2))).astype(np.int32)


@program
def heat_step(np, d):
    new = d.m.copy()
    new[1:-1, 1:-1] += 0.1 * (
        d.m[2:, 1:-1] + d.m[:-2, 1:-1] + d.m[1:-1, 2:] + d.m[1:-1, :-2]
        - 4 * d.m[1:-1, 1:-1]
    )  # fmt: skip
    return new


@program
def gradient_magnitude(np, d):
    gy, gx = np.gradient(d.m)
    return np.sqrt(gx**2 + gy**2)


@program
def sobel(np, d):
    p = np.pad(d.m, 1, mode="edge")
    gx = (p[:-2, 2:] + 2 * p[1:-1, 2:] + p[2:, 2:]) - (
        p[:-2, :-2] + 2 * p[1:-1, :-2] + p[2:, :-2]
    )
    return np.abs(gx).clip(0, 1)


@program
def second_differences(np, d):
    return np.diff(d.signal, n=2) * 4


@program
def pairwise_distances(np, d):
    p = d.some_points[:1024]
    return np.sqrt(((p[:, None] - p[None]) ** 2).sum(-1))


@program
def pairwise_distances_by_products(np, d):
    p = d.some_points
    squares = (p * p).sum(1)
    return np.maximum(squares[:, None] + squares - 2 * p @ p.T, 0)


@program
def cosine_similarity(np, d):
    unit = d.features[:512] / np.linalg.norm(d.features[:512], axis=1, keepdims=True)
    return unit @ unit.T


@program
def low_pass(np, d):
    spectrum = np.fft.rfft(d.signal)
    spectrum[len(spectrum) // 10 :] = 0
    return np.fft.irfft(spectrum, len(d.signal))


@program
def power_spectrum(np, d):
    spectrum = np.fft.rfft(d.signal * np.hanning(len(d.signal)).astype(np.float32))
    return 10 * np.log10(np.abs(spectrum) ** 2 + 1e-3)


@program
def autocorrelation(np, d):
    f = np.fft.rfft(d.y, 2 * len(d.y))
    return np.fft.irfft(f * f.conj())[: len(d.y)].real / len(d.y)


@program
def short_time_spectrum(np, d):
    frames = np.lib.stride_tricks.sliding_window_view(d.signal, 64)[::32]
    return np.abs(np.fft.rfft(frames * np.hanning(64).astype(np.float32), axis=1))


@program
def image_filtered_by_fft(np, d):
    f = np.fft.fft2(d.m)
    return np.fft.ifft2(f * 0.5).real


@program
def batched_products(np, d):
    return d.stacks @ d.stacks.transpose(0, 2, 1)


@program
def batched_vectors(np, d):
    return np.einsum("nij,nj->ni", d.stacks, d.vectors)


@program
def batched_determinants(np, d):
    return np.linalg.det(d.stacks)


@program
def batched_traces(np, d):
    return np.einsum("nii->n", d.stacks)


@program
def quadratic_forms(np, d):
    return np.einsum("ni,nij,nj->n", d.vectors, d.stacks, d.vectors)


@program
def outer_products(np, d):
    return np.einsum("ni,nj->nij", d.vectors, d.vectors)


@program
def kronecker(np, d):
    return np.kron(d.few, d.m[: max(d.side // 8, 1), : max(d.side // 8, 1)])


@program
def correlations(np, d):
    return np.corrcoef(d.features, rowvar=False)


@program
def covariances(np, d):
    return np.cov(d.features.T, aweights=np.abs(d.features[:, 0]))


@program
def whitening(np, d):
    c = d.features - d.features.mean(0)
    return (
        c
        @ np.linalg.inv(
            np.linalg.cholesky(c.T @ c / len(c) + 0.1 * np.eye(16, dtype=np.float32))
        ).T
    )


@program
def power_iteration(np, d):
    v = np.ones(d.side, np.float32)
    for _ in range(4):
        v = d.m @ v
        v = v / np.linalg.norm(v)
    return v


@program
def page_ranks(np, d):
    links = d.m / d.m.sum(0)
    r = np.full(d.side, 1 / d.side, np.float32)
    for _ in range(3):
        r = 0.85 * (links @ r) + 0.15 / d.side
    return r


@program
def jacobi(np, d):
    diagonal = np.diag(d.m) + d.side
    rest = d.m - np.diag(np.diag(d.m))
    v = np.zeros(d.side, np.float32)
    for _ in range(3):
        v = (1 - rest @ v) / diagonal
    return v


@program
def image_halved(np, d):
    h, w = d.image.shape
    return d.image.reshape(h // 2, 2, w // 2, 2).mean((1, 3))


@program
def image_doubled(np, d):
    return d.image.repeat(2, axis=0).repeat(2, axis=1)


@program
def maximum_pooling(np, d):
    h, w = d.image.shape
    return d.image.reshape(h // 2, 2, w // 2, 2).max(axis=(1, 3))


@program
def grey_from_colours(np, d):
    return (d.colours @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)


@program
def grey_from_parts(np, d):
    c = d.colours.astype(np.float32)
    return 0.299 * c[..., 0] + 0.587 * c[..., 1] + 0.114 * c[..., 2]


@program
def hue(np, d):
    c = d.colours.astype(np.float32) / 255
    high, low = c.max(-1), c.min(-1)
    spread = np.where(high == low, 1, high - low)
    r, g, b = c[..., 0], c[..., 1], c[..., 2]
    h = np.select(
        [high == r, high == g], [(g - b) / spread % 6, (b - r) / spread + 2],
        (r - g) / spread + 4,
    )  # fmt: skip
    return np.where(high == low, 0, h * 60)


@program
def dilation(np, d):
    w = np.lib.stride_tricks.sliding_window_view(np.pad(d.cells, 1), (3, 3))
    return w.max(axis=(2, 3))


@program
def integral_image(np, d):
    total = d.image.astype(np.int64).cumsum(0).cumsum(1)
    return total[8:, 8:] - total[:-8, 8:] - total[8:, :-8] + total[:-8, :-8]


@program
def mandelbrot(np, d):
    c = d.complex * 2 - 1.5
    z = np.zeros_like(c)
    count = np.zeros(c.shape, np.int32)
    for _ in range(8):
        z = np.where(np.abs(z) < 2, z * z + c, z)
        count += np.abs(z) < 2
    return count


@program
def gravity_step(np, d):
    p = d.some_points[:256]
    apart = p[None] - p[:, None]
    distance = (apart**2).sum(-1) + 0.01
    return (apart * (distance**-1.5)[..., None]).sum(1)


@program
def rotation(np, d):
    a = np.float32(0.3)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]], np.float32)
    return d.points[:, :2] @ turn.T


@program
def triangle_areas(np, d):
    p = d.x[: d.n // 9 * 9].reshape(-1, 3, 3)
    return np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=-1) / 2


@program
def checkerboard(np, d):
    i, j = np.indices((d.side, d.side))
    return (i + j) % 2


@program
def disc(np, d):
    y, x = np.ogrid[: d.side, : d.side]
    return ((x - d.side / 2) ** 2 + (y - d.side / 2) ** 2 < 100).sum()


@program
def bilinear_samples(np, d):
    y = d.x * (d.side - 3)
    x = d.x[::-1] * (d.side - 3)
    i, j = y.astype(np.int64), x.astype(np.int64)
    v, u = y - i, x - j
    i, j = i.clip(0, d.side - 2), j.clip(0, d.side - 2)
    return (
        d.m[i, j] * (1 - v) * (1 - u) + d.m[i, j + 1] * (1 - v) * u
        + d.m[i + 1, j] * v * (1 - u) + d.m[i + 1, j + 1] * v * u
    )  # fmt: skip


@program
def upper_triangle(np, d):
    return d.m[np.triu_indices(d.side, 1)]


@program
def symmetric(np, d):
    return np.triu(d.m) + np.triu(d.m, 1).T


@program
def local_maxima(np, d):
    s = d.signal
    return np.flatnonzero((s[1:-1] > s[:-2]) & (s[1:-1] > s[2:])) + 1


@program
def zero_crossings(np, d):
    return np.count_nonzero(np.diff(np.sign(d.y)))


@program
def attention(np, d):
    q = d.features[:256]
    s = q @ q.T / 4
    s = np.where(np.tri(len(q), dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ q


@program
def convolution_by_windows(np, d):
    w = np.lib.stride_tricks.sliding_window_view(d.m, (3, 3))
    return np.einsum("ijkl,kl->ij", w, d.m[:3, :3])
