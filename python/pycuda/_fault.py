"""The parts of the errors of failed kernels."""

from __future__ import annotations

from typing import NamedTuple


class Allocation(NamedTuple):
    """An allocation of device memory: its address, and its size in bytes."""

    base: int
    size: int
