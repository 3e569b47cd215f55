"""Grades an exercise of the course: the right result, and kernels without defects.

>>> grade("1.1", lambda: 2 + 2, 4)
exercise 1.1: right
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np

import pycuda
import pycuda.driver as cuda


def _first_difference(got: np.ndarray, expected: np.ndarray, rtol: float) -> str | None:
    """What is wrong with a result, in words; None if nothing is."""
    if got.dtype == object and got.shape == ():
        return f"the result is {got[()]}, expected an array or a number; is there a return?"
    if got.shape != expected.shape:
        return f"the result has shape {got.shape}, expected {expected.shape}"
    wrong = ~np.isclose(got, expected, rtol=rtol, atol=rtol, equal_nan=True)
    if not wrong.any():
        return None
    place = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = (
        f"element {place[0] if len(place) == 1 else place}" if place else "the result"
    )
    count = f" ({int(wrong.sum())} of {got.size} differ)" if got.size > 1 else ""
    return (
        f"{where} is {_number(got[place])}, expected {_number(expected[place])}{count}"
    )


def _number(value: object) -> str:
    """Six digits of a float; all digits of an integer."""
    return f"{value:.6g}" if isinstance(value, np.floating) else str(value)


def _excess(run: Callable[[], object], limits: dict[str, float]) -> str | None:
    """Which count of the profile is above its limit, in words; None if none is."""
    with pycuda.profile() as profile:
        run()
    for name, limit in limits.items():
        if name == "copies":
            count = sum(event.activity == "copy" for event in profile.events)
        else:
            count = sum(kernel.total(name) for kernel in profile.kernels)
        if count > limit:
            return f"the result is right, but the profile counts {count} {name}; at most {limit:g} are needed"
    return None


#: Results of the driver for an array or a kernel of a context that has ended.
_ENDED = (400, 709)  # invalid handle, context is destroyed


def _renew_lost_context(error: cuda.Error) -> None:
    """In a notebook, make a new context if a kernel's fault has ended the present one."""
    if error.code in _ENDED:
        print("Run the cells again that make the arrays and kernels of this exercise.")
        return
    try:
        cuda.Context.synchronize()
    except cuda.Error:
        ipython = sys.modules.get("IPython")
        shell = ipython.get_ipython() if ipython is not None else None
        if shell is not None:
            print(
                "The kernel's fault ended the context. Correct the kernel, and run its cell again."
            )
            shell.run_line_magic("cuda_reset", "")


def grade(
    exercise: str,
    run: Callable[[], object],
    expected: object,
    rtol: float = 1e-5,
    limits: dict[str, float] | None = None,
) -> None:
    """Run an exercise and print whether it is solved.

    exercise: its number, such as "3.2".
    run: calls your kernel and returns the result, an array or a number. An AssertionError is an answer that is not right.
    expected: the right result.
    rtol: the tolerated relative difference.
    limits: the largest counts of the profile, such as {"sectors": 4096, "copies": 2}; counted only without a GPU.

    Without a GPU, the check modes must find nothing, too.
    """
    on_cpu = "softcuda" in cuda.get_driver_path()
    checks = pycuda.check() if on_cpu else None
    try:
        if checks is None:
            got = run()
        else:
            with checks:
                got = run()
        cuda.Context.synchronize()
    except cuda.Error as error:
        print(f"exercise {exercise}: not yet: {error}")
        _renew_lost_context(error)
        return
    except NameError as error:
        print(f"exercise {exercise}: not yet: {error}; correct its cell, and run it")
        return
    except AssertionError as error:
        print(f"exercise {exercise}: not yet: {error}")
        return
    if hasattr(got, "get"):
        got = got.get()
    problem = _first_difference(np.asarray(got), np.asarray(expected), rtol)
    if checks is not None and checks.findings:
        problem = (
            f"{problem or 'the result is right'}; the check modes found a defect:\n"
            f"{checks.report()}"
        )
    if problem is None and limits and on_cpu:
        problem = _excess(run, limits)
    print(
        f"exercise {exercise}: "
        + ("right" if problem is None else f"not yet: {problem}")
    )
