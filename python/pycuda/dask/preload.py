"""A preload module for Dask workers with device arrays: ``dask worker --preload pycuda.dask.preload``.

``$CUDA_DEVICE`` selects the worker's device; without it, every worker uses the first device.
"""

from __future__ import annotations

import logging

import pycuda.dask

logger = logging.getLogger(__name__)


def dask_setup(worker) -> None:
    """Called by Dask when the worker starts."""
    context = pycuda.dask.ensure_default_context()
    device = context.get_device()
    logger.info("%s works on device %d, %s", worker, device.handle, device.name())
