"""The folder of the cache of compiled kernels."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """``$PYCUDA_CACHE_DIR``, or a folder in the user's cache folder. core/src/compile/compilers/compile_job.cpp has the same rule."""
    chosen = os.environ.get("PYCUDA_CACHE_DIR")
    if chosen:
        return Path(chosen)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "pycuda" / "compiler-cache-v2"
