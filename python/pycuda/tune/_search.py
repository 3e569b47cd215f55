"""Which variant to measure next: Bayesian optimisation with a Gaussian process (Jones, Schonlau, Welch 1998).

The logarithms of the times are samples of a smooth function of the parameters. The process gives each variant that has
not been measured an expected time and an uncertainty. The next variant is the one with the largest expected improvement
over the best time. A cost model gives the prior mean: the process describes the differences between the measured times
and the model.

    variant    model    measured    expected         improvement
    32 x 1     4.0      2.0 ms      2.0 ms +- 0.0    -
    64 x 1     2.0      -           1.1 ms +- 0.3    large: the next one
    128 x 1    1.8      1.0 ms      1.0 ms +- 0.0    -
    512 x 1    3.9      -           1.9 ms +- 0.2    none

The first variants are chosen without the process: the variant in the middle of all, and one or two that are far from it
(:func:`first_rows`).

When no variant has an expected improvement of 0.2 percent, the nearest neighbours of the best variant are measured, because
times are less smooth than the process assumes. The search ends when all of these neighbours have been measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

_NOISE = 1e-4  # variance of a measured logarithm: 1 percent
_STEPS = 0.1  # the part of the variance that comes from steps
_STEP_LENGTH = 0.1
_WORTH = 2e-3  # the least expected improvement, as a logarithm of times
_CANDIDATES = 2000  # variants that are considered in one step


def coordinates(choices: Sequence[Sequence[object]]) -> np.ndarray:
    """A point for each variant, a row. ``choices`` has a tuple of values for each variant.

    Positive numbers are points on a logarithmic axis, other numbers on a linear one, and each other value has an axis of
    its own. A tuple, such as a block shape, has an axis for each number and one for their product.
    """
    columns: list[np.ndarray] = []
    for values in zip(*choices, strict=True):
        if all(isinstance(value, tuple) for value in values):
            table = np.array(values, float)
            sides = [*table.T, table.prod(1)]
        elif all(isinstance(value, (int, float)) for value in values):
            sides = [np.array(values, float)]
        else:
            names = [str(value) for value in values]
            sides = [
                np.array([name == one for name in names], float)
                for one in sorted(set(names))
            ]
        columns += [_unit(side) for side in sides if np.ptp(side) > 0]
    if not columns:
        return np.zeros((len(choices), 1))
    return np.stack(columns, 1)


def _unit(side: np.ndarray) -> np.ndarray:
    side = np.log2(side) if side.min() > 0 else side
    return (side - side.min()) / np.ptp(side)


def _matern(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Matern's covariance with smoothness 5/2 between rows."""
    square = (one**2).sum(1)[:, None] + (other**2).sum(1) - 2 * one @ other.T
    distance = np.sqrt(5 * np.maximum(square, 0))
    return (1 + distance + distance**2 / 3) * np.exp(-distance)


class _Process:
    """A Gaussian process with one length for each axis, fitted to values at points."""

    def __init__(self, lengths: np.ndarray, points: np.ndarray, values: np.ndarray):
        self._lengths, self._points = lengths, points
        covariance = self._covariance(points)
        self._mean = values.mean()
        rest = values - self._mean
        # The scale of the values is the one that makes them most likely.
        self._factor = np.linalg.cholesky(
            covariance + (_NOISE / max(rest.var(), 0.01) + 1e-8) * np.eye(len(points))
        )
        half = np.linalg.solve(self._factor, rest)
        self._weights = np.linalg.solve(self._factor.T, half)
        self._scale = max(half @ half / len(rest), 1e-6)
        logs = np.log(np.diag(self._factor)).sum()
        # Lengths near 1 are likely beforehand, so that few points do not decide.
        prior = 0.25 * (np.log(lengths) ** 2).sum()
        self.unlikeliness = 0.5 * len(rest) * math.log(self._scale) + logs + prior

    def _covariance(self, points: np.ndarray) -> np.ndarray:
        """Between points and those that are known: a smooth part, and steps such as those of the occupancy."""
        smooth = _matern(points / self._lengths, self._points / self._lengths)
        steps = _matern(points / _STEP_LENGTH, self._points / _STEP_LENGTH)
        return (1 - _STEPS) * smooth + _STEPS * steps

    def predict(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Expected values at points, and their standard deviations."""
        shared = self._covariance(points)
        half = np.linalg.solve(self._factor, shared.T)
        variance = np.maximum(1 - (half**2).sum(0), 1e-9) * self._scale
        return self._mean + shared @ self._weights, np.sqrt(variance)


def _fit(
    lengths: np.ndarray, points: np.ndarray, values: np.ndarray
) -> tuple[np.ndarray, _Process]:
    """Change one length after the other as long as the values become more likely."""
    best = _Process(lengths, points, values)
    for axis in range(len(lengths)):
        for factor in (0.5, 2.0):
            tried = lengths.copy()
            tried[axis] = min(max(tried[axis] * factor, 0.1), 8.0)
            process = _Process(tried, points, values)
            if process.unlikeliness < best.unlikeliness - 1e-9:
                best, lengths = process, tried
    return lengths, best


def spread(points: np.ndarray, begin: Sequence[int], count: int) -> list[int]:
    """Rows that are far from ``begin`` and from each other: each row is the farthest one from all earlier rows."""
    chosen = list(begin)
    far = np.full(len(points), np.inf)
    for row in chosen:
        far = np.minimum(far, ((points - points[row]) ** 2).sum(1))
    for _ in range(min(count, len(points) - len(chosen))):
        far[chosen] = -1.0
        row = int(np.argmax(far))
        chosen.append(row)
        far = np.minimum(far, ((points - points[row]) ** 2).sum(1))
    return chosen[len(begin) :]


def first_rows(points: np.ndarray, most: int) -> list[int]:
    """The variants to measure before any time is known: the variant in the middle, and one or two far from it.

    In recorded searches of all variants of small spaces (benchmarks/tune_replay.py), a search that began with the variant
    whose estimated cost was least, or with the first of the list, found a good variant less often.

    most: the number of measurements of the whole search.
    """
    middle = int(((points - points.mean(0)) ** 2).sum(1).argmin())
    return [middle, *spread(points, [middle], 2 if most >= 6 else 1)]


class Search:
    """The measured variants, and the choice of the next one. Variants are row numbers of ``points``."""

    def __init__(self, points: np.ndarray) -> None:
        self._points = points
        self._lengths = np.full(points.shape[1], 1.0)
        self._logs: dict[int, float] = {}
        self._failed: set[int] = set()
        self._fitted = 0  # the number of times when the lengths were fitted last
        self._random = np.random.default_rng(0)

    def add(self, row: int, seconds: float | None) -> None:
        """A variant was measured; None for one that did not run or was wrong."""
        if seconds is None:
            self._failed.add(row)
        else:
            self._logs[row] = math.log(max(seconds, 1e-9))

    def ranked(self, model: np.ndarray, count: int) -> tuple[list[int], bool]:
        """The ``count`` most promising variants, best first, and whether the search may end.

        model: the logarithm of the cost of each variant, up to a constant. Infinite ones cannot run.
        """
        done = np.zeros(len(self._points), bool)
        done[[*self._logs, *self._failed]] = True
        open_rows = np.flatnonzero(~done & np.isfinite(model))
        if not len(open_rows):
            return [], True
        if len(self._logs) < 2:
            order = np.argsort(model[open_rows], kind="stable")
            return [int(row) for row in open_rows[order[:count]]], False
        if len(open_rows) > _CANDIDATES:
            open_rows = self._random.choice(open_rows, _CANDIDATES, replace=False)
        gain = self._improvement(model, open_rows)
        if gain.max() < _WORTH:
            near = self._neighbours_of_best(done, model)
            return near[:count], not near
        order = np.argsort(-gain, kind="stable")[:count]
        return [int(row) for row in open_rows[order]], False

    def _neighbours_of_best(self, done: np.ndarray, model: np.ndarray) -> list[int]:
        """Neighbours of the best variant that have not been measured, the nearest first."""
        best = min(self._logs, key=self._logs.__getitem__)
        away = (((self._points - self._points[best]) / self._lengths) ** 2).sum(1)
        nearest = np.argsort(away, kind="stable")[1 : 2 * self._points.shape[1] + 1]
        return [
            int(row) for row in nearest if not done[row] and np.isfinite(model[row])
        ]

    def _improvement(self, model: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The expected improvement of each row over the best time, as a logarithm."""
        known = np.array(sorted(self._logs))
        logs = np.array([self._logs[row] for row in known])
        # A variant that failed is as bad as the worst one, so its neighbours become less promising.
        failed = np.array(sorted(self._failed), int)
        failed = failed[np.isfinite(model[failed])] if len(failed) else failed
        rows_known = np.concatenate([known, failed]).astype(int)
        values = np.concatenate([logs, np.full(len(failed), logs.max())])
        best = None
        is_due = len(rows_known) < 24 or len(rows_known) >= 1.1 * self._fitted
        self._fitted = len(rows_known) if is_due else self._fitted
        for trust in (0.0, 0.5, 1.0):
            rest = values - trust * model[rows_known]
            lengths = self._lengths
            if is_due:
                lengths, process = _fit(lengths, self._points[rows_known], rest)
            else:
                process = _Process(lengths, self._points[rows_known], rest)
            if best is None or process.unlikeliness < best[0]:
                best = process.unlikeliness, trust, lengths, process
        _, trust, self._lengths, process = best
        mean, deviation = process.predict(self._points[rows])
        ahead = logs.min() - (mean + trust * model[rows])
        z = ahead / deviation
        density = np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi)
        below = 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))
        return ahead * below + deviation * density
