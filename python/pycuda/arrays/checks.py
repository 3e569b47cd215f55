"""Errors that depend on values, such as those of singular matrices.

A check waits for the device. Recorded work does not run yet: the launches of the graph check, and the next wait for a
launch raises the error.
"""

from __future__ import annotations

from numpy.linalg import LinAlgError

from pycuda import _driver


def raise_if(failed, message: str, error=LinAlgError) -> None:
    """Raise an error if an element of the array is not 0: IndexError, ValueError, ZeroDivisionError or LinAlgError."""
    if failed.size == 0:
        return
    if failed.size > 1:
        failed = failed.any()
    if not _driver._record_check(failed, error, message) and failed.get().item():
        raise error(message)


def raise_unless_finite(a, message: str) -> None:
    """Raise LinAlgError if an element of the array is not finite."""
    if a.size == 0:
        return
    finite = _driver._array_apply("isfinite", a).all()
    if _driver._is_captured():
        raise_if(finite == 0, message)
    elif not bool(finite):
        raise LinAlgError(message)
