"""Lloyd's k-means: 200 000 points find their groups.

    ./run examples/gallery/k_means.py [PICTURE]

Distances are one product of matrices, the nearest centre is an argmin, and the sums by groups are
np.bincount: everything stays on the device. The picture shows the groups and the paths of the centres.
"""

import sys

import matplotlib
import numpy as np

import pycuda.autoinit  # noqa: F401
from pycuda import gpuarray


def nearest(points, centres):
    """The number of the nearest centre for each point: (n, d) and (k, d) to (n,), all on the device."""
    distances = (centres * centres).sum(axis=1)[None, :] - 2 * (points @ centres.T)
    return distances.argmin(axis=1)


def k_means(points, centres, rounds=100):
    """The centres of all rounds until they stop moving, a list of (k, d), and the points' groups (n,)."""
    history = [centres]
    for _ in range(rounds):
        groups = nearest(points, centres)
        counts = np.bincount(groups, minlength=len(centres))
        sums = [np.bincount(groups, points[:, i], len(centres)) for i in range(points.shape[1])]
        moved = (np.stack(sums, axis=1) / np.maximum(counts, 1)[:, None]).astype(np.float32)
        centres = gpuarray.where((counts > 0)[:, None], moved, centres)
        history.append(centres)
        if (history[-1] == history[-2]).all():
            break
    return history, groups


def clusters(random, n):
    """Points (n, 2) of float32 in seven groups of different sizes and shapes."""
    corners = random.uniform(-1, 1, (7, 2)) * (2.2, 1.2)
    shapes = random.normal(0, 0.22, (7, 2, 2))
    groups = random.integers(7, size=n)
    noise = random.normal(size=(n, 1, 2))
    return np.float32(corners[groups] + (noise @ shapes[groups])[:, 0])


if __name__ == "__main__":
    matplotlib.use("agg")
    from matplotlib import pyplot

    random = np.random.default_rng(11)
    points = gpuarray.to_gpu(clusters(random, 200_000))
    history, groups = k_means(points, points[:7].copy())
    ways = np.array([centres.get() for centres in history])
    print(f"{len(points)} points in {len(ways[0])} groups after {len(ways) - 1} rounds")
    figure = pyplot.figure(figsize=(8, 5), dpi=100, facecolor="#0b0d17")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.scatter(*points.get().T, s=0.4, c=groups.get(), cmap="Set2", alpha=0.25, linewidths=0)
    for way in ways.transpose(1, 2, 0):
        axes.plot(*way, color="white", linewidth=1.5)
        axes.plot(*way[:, -1:], "o", color="white", markeredgecolor="black")
    name = sys.argv[1] if len(sys.argv) > 1 else "k_means.jpg"
    figure.savefig(name, facecolor=figure.get_facecolor())
    print("the picture is", name)
