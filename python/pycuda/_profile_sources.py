"""Source texts of kernels, so that a profile can show their lines."""

from __future__ import annotations

import atexit
import os
import threading
import weakref

from pycuda import _driver

#: By the module, names of its kernels and their source. Functions keep their modules alive.
_alive: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()
_kept: dict[str, str] = {}
_lock = threading.Lock()


def note(module: _driver.Module, source: str) -> None:
    """Remembers what a module was compiled from: while it lives, or for good under a profile."""
    names = module.function_names()
    with _lock:
        _alive[module] = names, source
        if _driver._profile_modes():
            _kept.update(dict.fromkeys(names, source))


def texts() -> dict[str, str]:
    """The source of each kernel that is known, by the kernel's name in its module."""
    with _lock:
        for names, source in _alive.values():
            _kept.update(dict.fromkeys(names, source))
        return dict(_kept)


def _write(path: str) -> None:
    import json  # importing pycuda does not wait for it

    with open(path.replace("%p", str(os.getpid())), "w", encoding="utf-8") as file:
        json.dump(_kept, file)


if _path := os.environ.get("PYCUDA_PROFILE_SOURCES"):
    atexit.register(_write, _path)
