"""Kernels of conjugate gradients: steps whose factors stay on the device, so that no step waits for the host."""

from __future__ import annotations

from pycuda.sparse._kernels import blocks, kernel

_LARGEST_GRID = 1 << 16


def _grid(count: int) -> dict:
    return {"block": (256, 1, 1), "grid": (min(max(blocks(count, 256), 1), _LARGEST_GRID), 1)}  # fmt: skip


def step(numerator, denominator, p, q, x, r) -> None:
    """``x += alpha * p`` and ``r -= alpha * q`` with ``alpha = numerator / denominator``, 0 for a denominator of 0.

    Both are arrays of one element; all arrays have one dtype and no gaps.
    """
    kernel("conjugate_gradients", "step", T=x.dtype)(
        numerator, denominator, p, q, x, r, x.size, **_grid(x.size)
    )


def turn(numerator, denominator, z, p) -> None:
    """``p = z + beta * p`` with ``beta = numerator / denominator``; see :func:`step`."""
    kernel("conjugate_gradients", "turn", T=p.dtype)(
        numerator, denominator, z, p, p.size, **_grid(p.size)
    )
