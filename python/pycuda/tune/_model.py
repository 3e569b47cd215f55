"""Estimates of the times of variants before they are measured: the prior of the search.

On a GPU the estimate depends on the block shape, the grid and the registers of a variant with similar code. It models six
effects, each as a factor of the time:

    lanes without work     a block of 48 threads has two warps with 64 lanes
    occupancy              few warps on a multiprocessor do not hide the time that memory takes
    the last wave          33 blocks on 32 multiprocessors take as long as 64
    narrow rows            a warp that reads rows of 8 elements reads 4 pieces of memory instead of one
    small blocks           the start of a block costs as much as some instructions
    large blocks           the resources of a block are free when its last warp ends (on an H200 blocks of 1024 threads took
                           1.16 times as long as blocks of 192 in a sum of vectors, and 1.29 times in a mean of rows)

None of these effects exists on softcuda. There, a few variants run once with the counters of the profile. The counted
instructions and sectors of memory give the estimates of all other variants.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from pycuda._occupancy import DeviceData, OccupancyRecord
from pycuda.tune._search import spread
from pycuda.tune._space import Launch
from pycuda.tune._worker import Facts


class OccupancyModel:
    """The guess for a GPU. Facts of compiled variants make it better.

    launches: one for each variant. points: their coordinates in the search.
    """

    def __init__(self, launches: Sequence[Launch], points: np.ndarray) -> None:
        self._launches, self._points = launches, points
        self._device = DeviceData()
        self._multiprocessors = _multiprocessors()
        self._facts: dict[int, Facts] = {}
        self._costs: np.ndarray | None = None

    def add(self, row: int, facts: Facts) -> None:
        """A variant has been compiled."""
        self._facts[row] = facts
        self._costs = None

    def costs(self) -> np.ndarray:
        """The logarithm of the cost of each variant, up to a constant; inf for one that the device cannot run."""
        if self._costs is None:
            known = np.array(sorted(self._facts), int)
            self._costs = np.array(
                [
                    self._cost(row, launch, known)
                    for row, launch in enumerate(self._launches)
                ]
            )
        return self._costs

    def _cost(self, row: int, launch: Launch, known: np.ndarray) -> float:
        registers, static, exact = 32, 0, row in self._facts
        if len(known):
            squares = ((self._points[known] - self._points[row]) ** 2).sum(1)
            facts = self._facts[int(known[np.argmin(squares)])]
            registers, static = facts.registers, facts.static_shared
        threads = math.prod(launch.block)
        shared = launch.shared + static
        try:
            record = OccupancyRecord(self._device, threads, shared, registers)
        except ValueError:
            # Another variant's registers may be too many for this one; its own are certain.
            return (
                math.inf
                if exact or launch.shared > self._device.shared_memory_optin
                else 3.0
            )
        if record.tb_per_mp == 0:
            return math.inf if exact else 3.0
        return sum(self._effects(launch, threads, record))

    def _effects(
        self, launch: Launch, threads: int, record: OccupancyRecord
    ) -> tuple[float, ...]:
        warp = self._device.warp_size
        lanes = -(-threads // warp) * warp / threads
        hidden = min(1.0, record.occupancy / 0.5)
        at_once = self._multiprocessors * record.tb_per_mp
        waves = math.prod(launch.grid) / at_once
        last = math.ceil(waves) / waves if waves >= 1 else 1.0
        busy = math.prod(launch.grid) / self._multiprocessors
        idle = 1 / busy if busy < 1 else 1.0
        narrow = max(1.0, warp / launch.block[0]) if threads > launch.block[0] else 1.0
        size = (1 + 16 / threads) * (1 + threads / 4096)
        return (
            math.log(lanes),
            -0.7 * math.log(hidden),
            0.7 * math.log(last),
            math.log(idle),
            0.3 * math.log(narrow),
            math.log(size),
        )


def _multiprocessors() -> int:
    from pycuda import driver

    return driver.Context.get_device().multiprocessor_count


class CountingModel:
    """The guess for softcuda: the counted work of a few variants, continued to all others.

    points: the coordinates of the variants in the search.
    """

    def __init__(self, points: np.ndarray) -> None:
        self._points = points
        self._counts: dict[int, float] = {}

    def candidates(self, first: int, count: int) -> list[int]:
        """Variants to count, far from each other."""
        return [first, *spread(self._points, [first], count - 1)]

    def count(self, row: int, work: float) -> None:
        """A variant was counted: instructions and sectors."""
        self._counts[row] = math.log(max(work, 1.0))

    def add(self, row: int, facts: Facts) -> None:
        """A variant has been compiled, which says nothing here."""

    def costs(self) -> np.ndarray:
        """The logarithm of the cost of each variant: that of counted ones, weighted by their distance."""
        if not self._counts:
            return np.zeros(len(self._points))
        rows = np.array(sorted(self._counts))
        values = np.array([self._counts[row] for row in rows])
        squares = ((self._points[:, None, :] - self._points[rows]) ** 2).sum(2)
        weights = 1 / (squares + 1e-6) ** 1.5
        return (weights @ values) / weights.sum(1)
