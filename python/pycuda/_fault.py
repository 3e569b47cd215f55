"""What the errors of failed kernels are made of."""

from __future__ import annotations

from typing import NamedTuple


class Allocation(NamedTuple):
    """A piece of device memory: its address, and its size in bytes."""

    base: int
    size: int
