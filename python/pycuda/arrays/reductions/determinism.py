"""Whether sums of floats must have the same bits in every run."""

from __future__ import annotations

import contextvars
import functools

from pycuda import _driver

_chosen: contextvars.ContextVar[bool] = contextvars.ContextVar(
    "pycuda_deterministic", default=False
)
# Their results depend on the order of the steps if the elements are floats.
_ORDERED = {"add", "subtract", "multiply", "divide"}


class deterministic:
    """Choose whether results must have the same bits in every run, in this thread or task.

    enabled: True for equal bits. The default of a program is False.

    On a GPU, ``numpy.add.at()``, ``bincount()`` and histograms with weights add floats in the order in which threads
    arrive, so the last bits of sums may differ from run to run. So may those of products of large sparse matrices,
    if cuSPARSE is installed. With ``deterministic(True)``, elements are sorted before they are added, and sparse
    products use the package's own kernels, which is slower. All other functions, integers, and softcuda always give
    the same bits.

    The call takes effect at once. In a ``with`` statement, the earlier choice is restored at the end:

    >>> x = gpuarray.zeros(2)
    >>> with gpuarray.deterministic(True):
    ...     np.add.at(x, gpuarray.array([0, 0, 1]), 0.5)
    >>> x
    array([1. , 0.5])
    """

    def __init__(self, enabled: bool = True) -> None:
        if not isinstance(enabled, bool):
            raise TypeError(
                f"deterministic() expects a bool, not {type(enabled).__name__}"
            )
        self._before = _chosen.get()
        _chosen.set(enabled)

    def __enter__(self) -> deterministic:
        return self

    def __exit__(self, *error) -> None:
        _chosen.set(self._before)


def is_deterministic() -> bool:
    """Whether results must have the same bits in every run, in this thread or task."""
    return _chosen.get()


_engine_combines = functools.cache(_driver._array_can_combine_rows)


def can_combine_rows(name: str, dtype) -> bool:
    """Whether ``_driver._array_combine_rows`` supports an operation on a type, and its order of the steps is allowed."""
    if not _engine_combines(name, dtype):
        return False
    is_ordered = name in _ORDERED and dtype.kind in "fc"
    if not is_ordered or not is_deterministic():
        return True
    return (
        _driver._array_threads_are_cores()
    )  # they combine the elements in a fixed order
