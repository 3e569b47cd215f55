"""The end of a program that leaves its context to pycuda.autoinit."""

from __future__ import annotations

import atexit
import os
import sys

from pycuda import _driver, driver
from pycuda.tools import clear_context_caches

#: Seconds that work which nobody waits for any more may take at exit. The end of a process ends its
#: kernels; without a limit one that never ends would keep the process alive.
PATIENCE = 2.0


def finish_at_exit(context: driver.Context) -> None:
    """At exit, wait for the work in ``context``, so that kernels end and their output appears.

    What takes longer than two seconds ends with the process, and a line on stderr says so;
    ``context.synchronize()`` waits for it.
    """
    atexit.register(_finish, context, os.getpid())


def _finish(context: driver.Context, owner: int) -> None:
    if os.getpid() != owner:
        return clear_context_caches()  # a forked child, which has no part in this
    told = _driver._told_of_kernel()
    try:
        if _driver._synchronize_for(context, PATIENCE):
            clear_context_caches()
        else:  # to free what kernels still use would wait for them again
            print(
                f"pycuda: gave up unfinished work {PATIENCE:g} s after the program's end; "
                "Context.synchronize() waits for it",
                file=sys.stderr,
            )
    except driver.Error as error:
        # Nobody else has asked for the result: a kernel's failure must not pass unseen. After
        # detach() by the program itself there is nothing to wait for.
        if context.is_attached and not told:
            print(f"pycuda: unfinished work failed at exit: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        pass
