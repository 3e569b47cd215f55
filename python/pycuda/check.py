"""Check modes: softcuda finds defects in kernels while they run.

For a part of a program::

    with pycuda.check("mem", "race") as checks:
        kernel(array, block=(256, 1, 1))
    print(checks.report())

The modes are "mem" (accesses out of bounds, after free, misaligned), "race" (unordered accesses of two
threads), "init" (reads of uninitialised memory) and "sync" (barriers and member masks). Only softcuda has them: set
the environment variable ``PYCUDA_DRIVER=softcuda`` or ``PYCUDA_CHECK=mem,race`` on a machine with a GPU.
``python -m pycuda check program.py`` checks a whole program.
"""

from __future__ import annotations

import sys
import types
from dataclasses import asdict

from pycuda import _driver
from softcuda import _findings
from softcuda._findings import Access, Finding

__all__ = ["Access", "CheckError", "Checks", "Finding", "check"]


class CheckError(Exception):
    """Raised at the end of a block of :func:`check` with ``raise_findings`` if kernels have defects.

    findings: the list of findings, each with its kernel, place and kind. ``str()`` of the error is their report.
    """

    def __init__(self, findings: list[Finding]) -> None:
        super().__init__(_findings.report(findings))
        self.findings = findings


def modes_on() -> tuple[str, ...]:
    """Return the names of the check modes that are on, a tuple.

    The tuple is empty for a driver without check modes, as NVIDIA's is.
    """
    bits = _driver._check_modes()
    return tuple(
        name for name in _findings.MODES if bits & _driver._parse_check_modes(name)
    )


class Checks:
    """A context manager: kernels that are launched in its ``with`` block are checked.

    modes: names of check modes; all of them if none is given. Modes that are on already stay on.
    raise_findings: whether the end of the block raises :class:`CheckError` if there is a finding.

    The modes apply to all threads of the process. The end of the block waits for the work of the
    current context. Raises ValueError for an unknown mode, and :class:`pycuda.driver.Error` if the
    driver has no check modes.
    """

    def __init__(self, *modes: str, raise_findings: bool = False) -> None:
        for mode in modes:
            if mode not in _findings.MODES:
                raise ValueError(
                    f"unknown check mode {mode!r}; expected "
                    + ", ".join(map(repr, _findings.MODES))
                )
        self.modes = tuple(
            m for m in _findings.MODES if m in (modes or _findings.MODES)
        )
        self.raise_findings = raise_findings
        self._is_active = False
        self._modes_before = 0
        self._before: list[Finding] = []
        self._found: list[Finding] = []

    def __enter__(self) -> Checks:
        if self._is_active:
            raise RuntimeError("this check has already begun; create another one")
        self._modes_before = _driver._check_modes()
        wanted = _driver._parse_check_modes(",".join(self.modes))
        _driver._set_check_modes(self._modes_before | wanted)
        self._before = _findings.parse(_driver._check_report())
        self._is_active = True
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        failure = None
        try:
            wait_for_work()
        except _driver.Error as raised:
            failure = raised  # the failure of a kernel that ended its context
        self._found = self._new_findings()
        self._is_active = False
        _driver._set_check_modes(self._modes_before)
        if error is not None:
            return
        if self.raise_findings and self._found:
            raise CheckError(self.findings) from failure
        if failure is not None:
            raise failure

    def _new_findings(self) -> list[Finding]:
        found = _findings.since(_findings.parse(_driver._check_report()), self._before)
        return [finding for finding in found if finding.mode in self.modes]

    @property
    def findings(self) -> list[Finding]:
        """The findings since the begin of the block. Inside the block, those of kernels that have ended.

        Findings that the program has read here are not printed when it ends.
        """
        found = self._new_findings() if self._is_active else list(self._found)
        _driver._mark_findings_read([finding.number for finding in found])
        return found

    def report(self, colour: bool = False) -> str:
        """Return the findings as text, with the source lines of the kernels.

        colour: True adds the colours of a terminal.
        """
        return _findings.report(self.findings, colour)

    def as_dicts(self) -> list[dict]:
        """Return the findings as a list of dictionaries, with the keys of softcuda's JSON report.

        Use it to write findings to a file with ``json.dump()``.
        """
        return [asdict(finding) for finding in self.findings]


def wait_for_work() -> None:
    """Wait for all work of the current context.

    Does nothing if no context is current, and before :func:`pycuda.driver.init`. Raises the error of a kernel that failed.
    """
    try:
        current = _driver.Context.get_current()
    except _driver.LogicError as error:
        if "initialization error" not in str(error):
            raise
        return  # init() was not called, so no kernel has run
    if current is not None:
        _driver.Context.synchronize()


def check(*modes: str, raise_findings: bool = False) -> Checks:
    """Check the kernels of a ``with`` block: ``with pycuda.check("mem", "race") as checks: ...``

    Returns a :class:`Checks`, which has the same parameters.
    """
    return Checks(*modes, raise_findings=raise_findings)


class _CallableModule(types.ModuleType):
    """``pycuda.check`` is this module; calling it calls the function of the same name."""

    def __call__(self, *modes: str, raise_findings: bool = False) -> Checks:
        return check(*modes, raise_findings=raise_findings)


sys.modules[__name__].__class__ = _CallableModule
