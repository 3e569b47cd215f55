"""Tools for the driver: default context, caches per context, occupancy, types of C."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterator

from pycuda import _driver, driver
from pycuda import driver as cuda  # noqa: F401  (a name that PyCUDA's module has)
from pycuda._driver import DeviceMemoryPool as DeviceMemoryPool
from pycuda._driver import PageLockedAllocator as PageLockedAllocator
from pycuda._driver import bitlog2 as bitlog2
from pycuda._occupancy import DeviceData as DeviceData
from pycuda._occupancy import OccupancyRecord as OccupancyRecord
from pycuda.driver import PageLockedMemoryPool as PageLockedMemoryPool

_TYPE_NAMES = {
    "Argument",
    "ScalarArg",
    "VectorArg",
    "dtype_to_ctype",
    "get_arg_type",
    "get_or_register_dtype",
    "parse_c_arg",
    "register_dtype",
}


# For `from pycuda.tools import *`: includes the names that __getattr__ loads.
__all__ = [
    "DeviceData",
    "DeviceMemoryPool",
    "OccupancyRecord",
    "PageLockedAllocator",
    "PageLockedMemoryPool",
    "bitlog2",
    "clear_context_caches",
    "context_dependent_memoize",
    "context_dependent_memoized_functions",
    "get_default_device",
    "init_cuda_context_fixture",
    "make_default_context",
    "mark_cuda_test",
    *sorted(_TYPE_NAMES | {"DebugMemoryPool", "match_dtype_to_c_struct"}),
]


def __getattr__(name: str) -> object:
    # The types of C need numpy, whose import is slow, and which not every program uses.
    if name in _TYPE_NAMES:
        from pycuda import _c_types

        return getattr(_c_types, name)
    if name == "match_dtype_to_c_struct":
        from pycuda._c_structs import match_dtype_to_c_struct

        return match_dtype_to_c_struct
    if name == "DebugMemoryPool":
        from pycuda._debug_pool import DebugMemoryPool

        return DebugMemoryPool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# The default context.


def _chosen_device() -> int | None:
    """The device that the environment or the user's file selects."""
    chosen = os.environ.get("CUDA_DEVICE")
    if chosen is not None:
        return _device_number(chosen, "$CUDA_DEVICE")
    path = os.path.join(os.path.expanduser("~"), ".cuda_device")
    try:
        with open(path) as file:
            return _device_number(file.read(), path)
    except OSError:
        return None


def _device_number(text: str, where: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(
            f"{where} must be the number of a device, not {text.strip()!r}"
        ) from None


def make_default_context(
    ctx_maker: Callable[[driver.Device], driver.Context] | None = None,
) -> driver.Context:
    """Make a context on the device that the user chose, else on the first device that works. The context becomes current.

    ctx_maker: called as ``ctx_maker(device)`` to make the context; by default :meth:`Device.make_context`.

    The choice is ``$CUDA_DEVICE`` or the number in ``~/.cuda_device``; ValueError if it is no number. Raises RuntimeError
    if there is no device, or if a context can be made on none of them.

    >>> context = tools.make_default_context()
    >>> context.pop() == context
    True
    >>> context.detach()
    """
    if ctx_maker is None:
        ctx_maker = driver.Device.make_context
    count = driver.Device.count()
    if count == 0:
        raise RuntimeError(
            "No CUDA enabled device found. Please check your installation."
        )
    chosen = _chosen_device()
    if chosen is not None:
        return ctx_maker(driver.Device(chosen))
    failures = []
    for number in range(count):
        try:
            return ctx_maker(driver.Device(number))
        except driver.Error as error:
            failures.append(f"\n  device {number}: {error}")
    raise RuntimeError(
        "make_default_context() wasn't able to create a context on any of the "
        f"{count} detected devices:" + "".join(failures)
    )


def get_default_device(default: int = 0) -> driver.Device:
    """Return the device that the user chose by ``$CUDA_DEVICE`` or ``~/.cuda_device``. Deprecated.

    default: the number of the device if there is no choice.

    Warns with a DeprecationWarning; :func:`make_default_context` replaces the function.
    """
    import warnings

    warnings.warn(
        "get_default_device() is deprecated; use make_default_context() instead",
        DeprecationWarning,
        stacklevel=2,
    )
    chosen = _chosen_device()
    return driver.Device(default if chosen is None else chosen)


# Caches per context.

context_dependent_memoized_functions: list[Callable] = []


def context_dependent_memoize(func: Callable) -> Callable:
    """Cache the results of a function for each context and for its arguments: a decorator.

    The results for a context are removed after the context has ended, at the latest when the function is called
    in the next context. Arguments must be hashable.

    >>> @tools.context_dependent_memoize
    ... def kernel(name):
    ...     return compiler.SourceModule(f"__global__ void {name}() {{}}").get_function(name)
    >>> kernel("nop") is kernel("nop")
    True
    """
    # By serial number: a new context may have the handle of one that has ended.
    cache: dict = {}

    def results_of(context) -> dict:
        for serial, (known, _) in list(cache.items()):
            if known is not None and not known._is_usable:
                cache.pop(serial, None)
        return cache.setdefault(context and context._serial, (context, {}))[1]

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        key = args if not kwargs else (args, frozenset(kwargs.items()))
        context = driver.Context.get_current()
        known = cache.get(context and context._serial)
        per_context = known[1] if known else results_of(context)
        try:
            return per_context[key]
        except KeyError:
            pass
        # The result outlives a graph that may be recorded now.
        with _driver._OutsideCapture():
            result = per_context[key] = func(*args, **kwargs)
        return result

    wrapper._pycuda_ctx_dep_memoize_dic = cache
    context_dependent_memoized_functions.append(wrapper)
    return wrapper


def clear_context_caches() -> None:
    """Clear the caches of all functions of :func:`context_dependent_memoize`, for all contexts.

    >>> tools.clear_context_caches()
    """
    for func in context_dependent_memoized_functions:
        func._pycuda_ctx_dep_memoize_dic.clear()


# Tests.


def init_cuda_context_fixture() -> Iterator[driver.Context]:
    """Make a context for one test, and destroy it afterwards: a generator for a pytest fixture.

    Yields the context, made by :func:`make_default_context`. Afterwards the caches of
    :func:`context_dependent_memoize` are cleared, so that nothing of the context remains.

    >>> import contextlib
    >>> with contextlib.contextmanager(tools.init_cuda_context_fixture)() as context:
    ...     context == cuda.Context.get_current()
    True
    """
    import gc

    driver.init()
    context = make_default_context()
    try:
        yield context
    finally:
        clear_context_caches()
        gc.collect()
        context.pop()
        context.detach()


def mark_cuda_test(func: Callable) -> Callable:
    """Run a test in a context of its own: a decorator.

    func: the test. With pytest, the result has the mark ``cuda``. The test cannot use fixtures;
    use :func:`init_cuda_context_fixture` for tests with fixtures.

    >>> @tools.mark_cuda_test
    ... def test():
    ...     assert cuda.Context.get_current() is not None
    >>> test()
    """

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        for _context in init_cuda_context_fixture():
            func(*args, **kwargs)

    pytest = sys.modules.get("pytest")
    return pytest.mark.cuda(wrapper) if pytest else wrapper
