"""What a profile shows of kernels beyond the driver's record: source texts, and operations on arrays."""

from __future__ import annotations

import atexit
import os
import threading
import weakref

from pycuda import _driver

#: Modules, the names of their kernels, their source, and how it was compiled. Functions keep their modules alive. The
#: references have no callbacks, because a callback during the destruction of a module would ignore a
#: Ctrl-C.
_alive: list[tuple[weakref.ref, list[str], str, object]] = []
#: The profile recognises the kernels of operations on arrays by the prefix of their names (own_kernel_name() in
#: core/src/arrays/kernel_table.h). The prefix has the key of a kernel without a name.
_OWN = {"": "pycuda_"}
_LEAST = 64
_most = _LEAST  # the number of entries at which those of destroyed modules are removed
_kept: dict[str, str] = {}
_lock = threading.Lock()


def note(module: _driver.Module, source: str, how: object) -> None:
    """Records the source of a module: as long as the module exists, or for ever if a profile is on.

    how: options of the compiler.
    """
    global _alive, _most
    names = module.function_names()
    with _lock:
        if len(_alive) >= _most:
            _alive = [entry for entry in _alive if entry[0]() is not None]
            _most = max(_LEAST, 2 * len(_alive))
        _alive.append((weakref.ref(module), names, source, how))
        if _driver._profile_modes():
            _kept.update(dict.fromkeys(names, source))


def texts() -> dict[str, str]:
    """The source of each known kernel, by the kernel's name in its module."""
    with _lock:
        for module, names, source, _ in _alive:
            if module() is not None:
                _kept.update(dict.fromkeys(names, source))
        return {**_kept, **_OWN}


def operations() -> list[tuple]:
    """The launches of kernels by operations on arrays: (kernel, grid, block, dynamic shared memory, operation, number)."""
    return _driver._operation_launches()


def origin_of(function: _driver.Function) -> tuple[str, object] | tuple[None, None]:
    """The source of a kernel and how it was compiled; None for a kernel that was not compiled from a source."""
    with _lock:
        candidates = [entry for entry in _alive if function.name in entry[1]]
    for reference, _, source, how in candidates:
        module = reference()
        if (
            module is not None
            and module.get_function(function.name).handle == function.handle
        ):
            return source, how
    return None, None


def _write(path: str) -> None:
    import json  # imported here, so that importing pycuda is fast

    with open(path.replace("%p", str(os.getpid())), "w", encoding="utf-8") as file:
        json.dump({"sources": {**_kept, **_OWN}, "operations": operations()}, file)


if _path := os.environ.get("PYCUDA_PROFILE_SOURCES"):
    _driver._note_operations(True)
    atexit.register(_write, _path)
