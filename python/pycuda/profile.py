"""Profiles: softcuda counts, line by line, why kernels are slow.

For a part of a program::

    with pycuda.profile() as profile:
        kernel(array, block=(256, 1, 1))
    print(profile.report())
    profile.save("report.html")

softcuda counts the operations of a GPU: instructions and active lanes of each source line, sectors of global
memory, bank conflicts of shared memory, conflicts of atomics. Only softcuda has these counters: set the environment
variable ``PYCUDA_DRIVER=softcuda`` on a machine with a GPU. ``python -m pycuda profile program.py``
profiles a whole program.
"""

from __future__ import annotations

import os
import sys
import types

from pycuda import _driver, _profile_sources
from pycuda.check import wait_for_work
from softcuda import _profile_data, _profile_html, _profile_text, _profile_trace
from softcuda._profile_advice import Advice, advice_for
from softcuda._profile_data import Access, Event, Kernel, Line, Occupancy, Record

__all__ = [
    "Access",
    "Advice",
    "Event",
    "Kernel",
    "Line",
    "Occupancy",
    "Profile",
    "advice_for",
    "profile",
]

_TIMELINE, _COUNTERS = 1, 2


class Profile:
    """A context manager: the kernels, copies and waits of its ``with`` block are recorded.

    counters: whether kernels count their instructions and memory accesses. Counting makes kernels slower.
    timeline: whether the start and the end of kernels, copies and waits are recorded.

    The modes apply to all threads of the process. The end of the block waits for the work of the current
    context. Raises ValueError if nothing is to be recorded, and :class:`pycuda.driver.Error` if the driver
    has no profile.
    """

    def __init__(self, counters: bool = True, timeline: bool = True) -> None:
        self._modes = (_COUNTERS if counters else 0) | (_TIMELINE if timeline else 0)
        if not self._modes:
            raise ValueError("counters and timeline are both False; set one of them")
        self._is_active = False
        self._modes_before = 0
        self._before = Record((), ())
        self._record = Record((), ())

    def __enter__(self) -> Profile:
        if self._is_active:
            raise RuntimeError("this profile has already begun; create another one")
        self._modes_before = _driver._profile_modes()
        if self._modes_before:
            wait_for_work()  # launches of an outer profile are not part of this profile
        _driver._set_profile_modes(self._modes_before | self._modes)
        if not self._modes_before:
            _driver._forget_profile()  # the earlier record is no longer needed
        self._before = _current()
        self._is_active = True
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        failure = None
        try:
            wait_for_work()
        except _driver.Error as raised:
            failure = raised  # the failure of a kernel that ended its context
        self._record = self._new_record()
        self._is_active = False
        _driver._set_profile_modes(self._modes_before)
        if error is None and failure is not None:
            raise failure

    def _new_record(self) -> Record:
        return _profile_data.since(_current(), self._before)

    @property
    def record(self) -> Record:
        """The record since the begin of the block: an object with the attributes ``kernels`` and ``events``.

        Inside the block, launches that have not ended are missing. After the block, the record is complete.
        """
        return self._new_record() if self._is_active else self._record

    @property
    def kernels(self) -> tuple[Kernel, ...]:
        """The launched kernels, a tuple of records. Kernels that executed the most instructions are first."""
        return tuple(_profile_text.by_cost(self.record.kernels))

    @property
    def events(self) -> tuple[Event, ...]:
        """The timeline: a tuple of kernels, copies and waits with their times, in the order in which they ended."""
        return self.record.events

    def report(self, colour: bool = False) -> str:
        """Return the profile as text: kernels, their costs, and the source lines that cost most.

        colour: True adds the colours of a terminal.
        """
        return _profile_text.report(self.record, colour)

    def save(self, path: str | os.PathLike) -> None:
        """Write the profile as one page of HTML, which needs no other file and no network.

        path: the file, which is replaced if it exists. Raises OSError if it cannot be written.
        """
        _profile_html.write(self.record, path)

    def save_trace(self, path: str | os.PathLike) -> None:
        """Write the timeline as JSON for Perfetto (ui.perfetto.dev) or chrome://tracing.

        path: the file, which is replaced if it exists. Raises OSError if it cannot be written.
        """
        _profile_trace.write(self.record, path)

    def _repr_html_(self) -> str:
        """The report in a notebook."""
        return _profile_html.fragment(self.record)


def _current() -> Record:
    return _profile_data.parse(
        _driver._profile_report(),
        _profile_sources.texts(),
        _profile_sources.operations(),
    )


def profile(counters: bool = True, timeline: bool = True) -> Profile:
    """Profile the kernels of a ``with`` block: ``with pycuda.profile() as profile: ...``

    Returns a :class:`Profile`, which has the same parameters.
    """
    return Profile(counters, timeline)


class _CallableModule(types.ModuleType):
    """``pycuda.profile`` is this module; calling it calls the function of the same name."""

    def __call__(self, counters: bool = True, timeline: bool = True) -> Profile:
        return profile(counters, timeline)


sys.modules[__name__].__class__ = _CallableModule
