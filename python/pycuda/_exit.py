"""The exit of a program that uses the context of pycuda.autoinit."""

from __future__ import annotations

import atexit
import os
import sys

from pycuda import _driver, driver
from pycuda.tools import clear_context_caches

#: The maximum time in seconds to wait for running work at exit. The end of a process ends its
#: kernels. Without a limit, a kernel that never ends would keep the process alive.
PATIENCE = 2.0


def finish_at_exit(context: driver.Context) -> None:
    """At exit, wait for the work in ``context``, so that kernels end and their output appears.

    Work that takes longer than two seconds ends with the process, and a line on stderr reports it.
    ``context.synchronize()`` waits without a limit.
    """
    atexit.register(_finish, context, os.getpid())


def _finish(context: driver.Context, owner: int) -> None:
    if os.getpid() != owner:
        return clear_context_caches()  # a forked child, which must not use the context
    is_reported = _driver._reported_kernel_failure()
    try:
        if _driver._synchronize_for(context, PATIENCE):
            clear_context_caches()
        else:  # freeing memory that kernels use would wait for them again
            print(f"pycuda: {_abandoned()}", file=sys.stderr)
    except driver.Error as error:
        # The program has not asked for the result, so a kernel's failure must be reported. After
        # the program has called detach() there is nothing to wait for.
        if not context.is_attached or is_reported:
            return
        if _is_interrupt(error):
            line = "Ctrl-C ended the kernel that was running"
        else:
            line = f"unfinished work failed at exit: {error}"
        print(f"pycuda: {line}", file=sys.stderr)
    except (IndexError, ValueError) as error:  # of a check in a graph's launch
        print(f"pycuda: unfinished work failed at exit: {error}", file=sys.stderr)
        clear_context_caches()
    except KeyboardInterrupt:
        pass


def _was_interrupted() -> bool:
    return getattr(sys, "last_type", None) is KeyboardInterrupt


def _is_interrupt(error: driver.Error) -> bool:
    """Whether a failure is that of a kernel which softcuda has ended because of Ctrl-C. Other failures name a kernel."""
    return (
        _was_interrupted()
        and isinstance(error, driver.LaunchError)
        and error.kernel is None
        and "softcuda" in driver.get_driver_path()
    )


def _abandoned() -> str:
    """A sentence about work that has not ended in time."""
    if _was_interrupted():
        return "work was still running after Ctrl-C, and ends with the program"
    return (
        f"gave up unfinished work {PATIENCE:g} s after the program's end; "
        "Context.synchronize() waits for it"
    )
