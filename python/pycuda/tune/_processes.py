"""Measuring processes, seen from the process that tunes: start them, wait with a limit, replace a lost one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from multiprocessing.connection import Connection
from typing import NamedTuple

from pycuda import driver
from pycuda.tune._arguments import SharedArguments
from pycuda.tune._worker import Facts, Job, computing_threads

#: Seconds until a new process must be ready, and until code must be loaded or a result compared.
_PATIENCE = 120.0

_PROGRAM = (
    "import sys; sys.path[:] = {path!r}; from pycuda.tune._worker import main; "
    "main({channel}, {file})"
)


class Outcome(NamedTuple):
    """The measurement of a variant by a process.

    status: "ok", "differs", "hangs" or "failed". seconds: the shortest run, or of a counted variant the only one.
    note: why the variant is not "ok". facts: None if the code could not be loaded. counted: instructions and sectors.
    """

    status: str
    seconds: float
    note: str
    facts: Facts | None
    counted: float = 0.0


class Worker:
    """A measuring process. It is ended by :meth:`kill`, or ends itself when a kernel has ended its context."""

    def __init__(self, arguments: SharedArguments) -> None:
        if not sys.executable:
            raise RuntimeError(
                "this Python does not know its own path (sys.executable is empty), so no process can be started"
            )
        ours, theirs = socket.socketpair()
        file = arguments.fileno()
        with theirs:
            program = _PROGRAM.format(
                path=[os.path.abspath(folder or ".") for folder in sys.path],
                channel=theirs.fileno(),
                file=file,
            )
            self._messages = tempfile.TemporaryFile()
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._messages,
                pass_fds=[theirs.fileno(), file],
                start_new_session=True,  # a Ctrl-C reaches the process that tunes only
                env=_environment(),
            )
        self._channel = Connection(ours.detach())
        self._channel.send(arguments.setup)
        self._is_ready = False
        self.has_ended = False  # by itself

    def wait_until_ready(self) -> None:
        """Wait until the process has its context. RuntimeError says why it has none."""
        if not self._is_ready:
            said = self.receive(_PATIENCE)
            if said is None or said[0] != "ready":
                reason = said[1] if said else self._last_words() or "it does not answer"
                self.kill()
                raise RuntimeError(f"a measuring process cannot start: {reason}")
            self._is_ready = True

    def send(self, job: Job) -> bool:
        """Give the process a variant. False if the process has ended."""
        try:
            self._channel.send(job)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    def receive(self, seconds: float) -> tuple | None:
        """The next message of the process. None after ``seconds``, or if the process has ended."""
        try:
            return self._channel.recv() if self._channel.poll(seconds) else None
        except (EOFError, ConnectionResetError):
            self.has_ended = True
            return None

    def processor_seconds(self) -> float:
        """The processor time that the process has used."""
        times = _processor_ticks(f"/proc/{self._process.pid}/stat")
        return times / os.sysconf("SC_CLK_TCK")

    def is_computing(self) -> bool:
        """Whether a thread of the process runs, or is ready to run and waits for a processor."""
        return computing_threads(self._process.pid) > 0

    def _last_words(self) -> str:
        self._process.poll()
        self._messages.seek(0)
        lines = self._messages.read().decode(errors="replace").strip().splitlines()
        return lines[-1] if lines else ""

    def ended_because(self) -> str:
        """Why the process has ended by itself."""
        try:
            code = self._process.wait(5)
        except subprocess.TimeoutExpired:
            return "the measuring process does not answer"
        return self._last_words() or f"the measuring process ended with status {code}"

    def kill(self) -> None:
        """End the process, and its kernels. The call returns when the driver has removed them."""
        self._process.kill()
        self._channel.close()
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            pass  # the driver still cleans up; the system ends the process when it is done
        self._messages.close()


def _environment() -> dict[str, str]:
    """The environment with this process's driver, without the settings that record or check whole programs."""
    removed = ("PYCUDA_PROFILE_SOURCES", "SOFTCUDA_CHECK", "SOFTCUDA_PROFILE")
    kept = {n: v for n, v in os.environ.items() if not n.startswith(removed)}
    return {**kept, "PYCUDA_DRIVER": driver.get_driver_path(), "PYCUDA_QUIET": "1"}


def _processor_ticks(path: str) -> int:
    try:
        with open(path) as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return 0  # the process has ended
    return int(fields[11]) + int(fields[12])


class Measurer:
    """Measures variants in a process that is replaced whenever a variant ends it.

    limit: seconds that one run of a variant may take.
    """

    def __init__(self, arguments: SharedArguments, limit: float) -> None:
        self._arguments = arguments
        self._limit = limit
        self._worker = Worker(arguments)
        self._next: Worker | None = None
        self.replaced = 0  # processes that variants have ended

    def measure(self, job: Job) -> Outcome:
        """Run a variant. The outcome says whether the variant ran, agreed, and how long it took.

        Raises TypeError for arguments that do not fit the kernel's parameters.
        """
        job = job._replace(has_result=self._arguments.has_result)
        self._worker.wait_until_ready()
        if not self._worker.send(job):
            self._replace()  # it ended after its last variant
            self._worker.wait_until_ready()
            self._worker.send(job)
        outcome = self._follow(job)
        if outcome.status == "ok":
            self._arguments.has_result = True
        return outcome

    def _follow(self, job: Job) -> Outcome:
        facts, first, phase = None, 0.0, "loading"
        while True:
            if phase == "running":
                said = self._wait_for_run(on_processors=job.waits_for_code)
            else:
                said = self._worker.receive(_PATIENCE)
            if said is None:
                return self._lost(phase, facts)
            phase = said[0]
            if phase == "loaded":
                facts = said[1]
            elif phase == "refused":
                raise TypeError(said[1])
            elif phase == "failed":
                _, text, is_lost = said
                if (
                    is_lost
                ):  # the process ends: a further variant must not be sent to it
                    self._replace()
                return Outcome("failed", 0.0, text, facts)
            elif phase == "ended":
                first = first or said[1]
            elif phase == "timed":
                _, times, difference, counted = said
                if difference:
                    return Outcome("differs", first, difference, facts, counted)
                return Outcome("ok", min(times, default=first), "", facts, counted)

    def _wait_for_run(self, on_processors: bool) -> tuple | None:
        """The message at the end of a run, or None after the limit. After half of the limit, another process is prepared.

        on_processors: kernels run on the processors of this machine. If other programs use these, a run takes long that
        has had little of their time: such a run is waited for.
        """
        begin, used = time.monotonic(), self._worker.processor_seconds()
        said = self._worker.receive(self._limit / 2)
        if said is not None or self._worker.has_ended:
            return said
        if self._next is None:
            self._next = Worker(self._arguments)
        left = begin + self._limit - time.monotonic()
        while said is None and not self._worker.has_ended:
            said = self._worker.receive(max(left, 0.0))
            if not on_processors or not self._worker.is_computing():
                break
            left = self._limit - (self._worker.processor_seconds() - used)
            if left <= 0 or time.monotonic() - begin > 60 * self._limit:
                break
        return said

    def _lost(self, phase: str, facts: Facts | None) -> Outcome:
        """The process does not answer or has ended: replace it."""
        if self._worker.has_ended:
            outcome = Outcome("failed", 0.0, self._worker.ended_because(), facts)
        elif phase == "running":
            note = f"no end within {self._limit:g} s"
            outcome = Outcome("hangs", 0.0, note, facts)
        else:
            note = f"the measuring process does not answer for {_PATIENCE:g} s"
            outcome = Outcome("failed", 0.0, note, facts)
        self._replace()
        return outcome

    def _replace(self) -> None:
        self._worker.kill()
        self.replaced += 1
        self._worker, self._next = self._next or Worker(self._arguments), None

    def close(self) -> None:
        """End all processes."""
        for worker in (self._worker, self._next):
            if worker is not None:
                worker.kill()
