"""The end of a program that leaves its context to pycuda.autoinit."""

from __future__ import annotations

import atexit
import os
import sys

from pycuda import _driver, driver
from pycuda.tools import clear_context_caches


def finish_at_exit(context: driver.Context) -> None:
    """At exit, wait for the work in ``context``, so that kernels end and their output appears."""
    atexit.register(_finish, context, os.getpid())


def _finish(context: driver.Context, owner: int) -> None:
    clear_context_caches()
    if os.getpid() != owner:
        return  # a forked child, which has no part in this
    told = _driver._told_of_kernel()
    try:
        with context:
            driver.Context.synchronize()
    except driver.Error as error:
        # Nobody else has asked for the result: a kernel's failure must not pass unseen. After
        # detach() by the program itself there is nothing to wait for.
        if context.is_attached and not told:
            print(f"pycuda: unfinished work failed at exit: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        pass
