"""The process that runs variants of a kernel, one after the other, and measures them.

A variant may never end, or may end its context. Both end this process only: the process that tunes kills it and starts
another one. The two speak over a socket. For a variant, this process says ``("loaded", facts)``, ``("running",)`` and
``("ended", seconds)`` for each run, and ``("timed", seconds, difference, counted)``; or ``("failed", text, is_lost)``,
after which this process ends if its context is lost; or ``("refused", text)`` for arguments that no variant can take.
"""

from __future__ import annotations

import math
import mmap
import os
import signal
import sys
import threading
import time
from multiprocessing.connection import Connection
from typing import NamedTuple

import numpy as np

from pycuda import _driver, driver
from pycuda.tune._arguments import ArraySpec, Setup, differences

#: Kernels that are shorter than this in total are measured more often, at most _MOST_RUNS times.
_ENOUGH_SECONDS = 0.02
_MOST_RUNS = 100
_DEFAULT_SHARED_BYTES = 48 << 10


class Job(NamedTuple):
    """A variant to measure.

    image, kernel: the compiled code, and the kernel's name in the code. source: its text. waits_for_code: whether the driver compiles
    at the launch. counts: whether one run is counted instead of several measured. repeats: measured runs.
    best: the shortest time so far in seconds, or inf. limit: seconds that a run may take; the other process ends this
    one then. has_result: whether there is a result to compare with; else this variant's result becomes that.
    """

    image: bytes
    kernel: str
    source: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared: int
    waits_for_code: bool
    counts: bool
    repeats: int
    best: float
    limit: float
    has_result: bool = False


class Facts(NamedTuple):
    """The driver's facts about a compiled kernel: registers of a thread, bytes, blocks of a multiprocessor."""

    registers: int
    static_shared: int
    local_bytes: int
    blocks_per_multiprocessor: int


class _DeviceArray:
    """An array in device memory, with a copy of its first content."""

    def __init__(self, spec: ArraySpec, memory: mmap.mmap) -> None:
        self.spec = spec
        self._content = np.frombuffer(memory, np.uint8, spec.nbytes, spec.content)
        self._result = (
            np.frombuffer(memory, np.uint8, spec.nbytes, spec.result)
            if spec.is_compared
            else None
        )
        self.device = driver.mem_alloc(max(spec.nbytes, 1))
        self._copy = None
        if spec.nbytes:
            try:
                self._copy = driver.to_device(self._content)
            except driver.MemoryError:  # then the copy stays on the host
                self._copy = None

    def restore(self) -> None:
        """Write the first content."""
        if not self.spec.nbytes:
            return
        if self._copy is not None:
            driver.memcpy_dtod(self.device, self._copy, self.spec.nbytes)
        else:
            driver.memcpy_htod(self.device, self._content)

    def compare(self, has_result: bool, tolerance: float | None) -> str:
        """How the array differs from the result. Without a result, this content becomes the result."""
        if self._result is None or not self.spec.nbytes:
            return ""
        now = driver.from_device(self.device, self.spec.nbytes, np.uint8)
        if not has_result:
            self._result[:] = now
            return ""
        return differences(now, self._result, self.spec.dtype, tolerance)


class Worker:
    """The arguments on the device, and the measurement of variants."""

    def __init__(self, channel: Connection, setup: Setup, file: int) -> None:
        self._channel = channel
        self._setup = setup
        memory = mmap.mmap(file, max(setup.file_bytes, 1))
        self._arrays: list[_DeviceArray] = []
        self._arguments = []
        for argument in setup.arguments:
            if isinstance(argument, ArraySpec):
                array = _DeviceArray(argument, memory)
                self._arrays.append(array)
                argument = array.device
            self._arguments.append(argument)
        self._constants = [
            (spec.name, np.frombuffer(memory, np.uint8, spec.nbytes, spec.content))
            for spec in setup.constants
        ]
        self._stream = driver.Stream()
        self._start, self._end = driver.Event(), driver.Event()

    def measure(self, job: Job) -> None:
        """Run a variant, and send the outcome."""
        module = _driver.module_from_buffer(job.image)
        module._describe(
            job.source
        )  # gives Python's numbers the types of the parameters
        kernel = module.get_function(job.kernel)
        if job.shared > _DEFAULT_SHARED_BYTES:
            attribute = driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            kernel.set_attribute(attribute, job.shared)
        for name, content in self._constants:
            self._set_constant(module, name, content)
        launch = kernel.bind(
            *self._arguments,
            block=job.block,
            grid=job.grid,
            shared=job.shared,
            stream=self._stream,
        )
        threads = math.prod(job.block)
        facts = Facts(
            kernel.num_regs,
            kernel.shared_size_bytes,
            kernel.local_size_bytes,
            kernel.max_active_blocks(threads, job.shared),
        )
        self._channel.send(("loaded", facts))
        if job.counts:
            _driver._set_profile_modes(2)
        try:
            self._restore()
            first = self._run(launch, job)
            self._channel.send(("ended", first))
            counted = _counted_work() if job.counts else 0.0
        finally:
            if job.counts:
                _driver._set_profile_modes(0)
                _driver._forget_profile()
        difference = self._compare(job.has_result)
        times = [] if job.counts or difference else self._repeat(launch, first, job)
        self._channel.send(("timed", times, difference, counted))

    def _set_constant(
        self, module: _driver.Module, name: str, content: np.ndarray
    ) -> None:
        address, size = module.get_global(name)
        if content.nbytes > size:
            raise ValueError(
                f"the variable {name} has {size} bytes, its value {content.nbytes}"
            )
        driver.memcpy_htod(address, content)

    def _restore(self) -> None:
        for array in self._arrays:
            array.restore()
        driver.Context.synchronize()

    def _run(self, launch: _driver.BoundLaunch, job: Job) -> float:
        """One run, in seconds. The time of compiling at the launch is no part of the run."""
        gate = threading.Event()
        if job.waits_for_code:
            driver.launch_host_func(gate.wait, self._stream)
        else:
            self._announce(job)
        self._start.record(self._stream)
        launch()
        self._end.record(self._stream)
        if job.waits_for_code:
            _wait_for_quiet_threads()
            self._announce(job)
            begin = time.perf_counter()
            gate.set()
            self._end.synchronize()
            signal.alarm(0)
            return time.perf_counter() - begin
        self._end.synchronize()
        signal.alarm(0)
        return self._start.time_till(self._end) / 1e3

    def _announce(self, job: Job) -> None:
        # If the other process is gone, nobody ends this one: the alarm does, whatever the kernel does.
        signal.alarm(math.ceil(job.limit) + 30)
        self._channel.send(("running",))

    def _compare(self, has_result: bool) -> str:
        for number, argument in enumerate(self._setup.arguments, 1):
            if isinstance(argument, ArraySpec) and argument.is_compared:
                array = next(a for a in self._arrays if a.spec is argument)
                said = array.compare(has_result, self._setup.tolerance)
                if said:
                    return f"argument {number}: {said}"
        return ""

    def _repeat(
        self, launch: _driver.BoundLaunch, first: float, job: Job
    ) -> list[float]:
        """Times of several runs in seconds, each with restored arrays."""
        times: list[float] = []
        while len(times) < _MOST_RUNS:
            least = min(times, default=first)
            is_enough = sum(times) >= _ENOUGH_SECONDS or least * job.repeats > 1.0
            if len(times) >= job.repeats and is_enough:
                break
            if len(times) >= 2 and (least > 1.5 * job.best or sum(times) > job.limit):
                break  # it cannot become the best one, or takes long
            self._restore()
            times.append(self._run(launch, job._replace(waits_for_code=False)))
            self._channel.send(("ended", times[-1]))
        return times


def _counted_work() -> float:
    """The work of the counted launch: warp instructions, and sectors of memory, each of which costs like four."""
    from softcuda import _profile_data

    record = _profile_data.parse(_driver._profile_report(), {})
    return float(
        sum(
            sum(line.instructions for line in kernel.lines)
            + 4 * sum(access.sectors for access in kernel.accesses)
            for kernel in record.kernels
        )
    )


def _wait_for_quiet_threads(patience: float = 60.0) -> None:
    """Wait until no other thread of this process computes: the driver has compiled the kernel then.

    Threads that are ready to run but have no processor count as computing, so a busy machine makes no difference.
    """
    mine = threading.get_native_id()
    end = time.monotonic() + patience
    quiet = 0
    while quiet < 3 and time.monotonic() < end:
        time.sleep(0.001)
        quiet = 0 if computing_threads(os.getpid(), mine) else quiet + 1


def computing_threads(process: int, except_thread: int = 0) -> int:
    """The number of threads of a process that run, or are ready to run."""
    count = 0
    try:
        threads = os.listdir(f"/proc/{process}/task")
    except FileNotFoundError:
        return 0  # it has ended
    for thread in threads:
        try:
            with open(f"/proc/{process}/task/{thread}/stat") as file:
                state = file.read().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
        count += thread != str(except_thread) and state in "RD"
    return count


def _context_is_lost() -> bool:
    try:
        driver.Context.synchronize()
    except driver.Error:
        return True
    return False


def main(socket: int, file: int) -> None:
    """Measure the jobs that arrive at the socket, until the socket is closed."""
    channel = Connection(socket)
    setup = channel.recv()
    driver.init()
    try:
        driver.Device(setup.device).retain_primary_context().push()
        worker = Worker(channel, setup, file)
    except driver.Error as error:
        channel.send(("unusable", str(error)))
        return
    channel.send(("ready",))
    while True:
        try:
            job = channel.recv()
        except EOFError:
            return
        try:
            worker.measure(job)
        except (driver.ArgumentError, TypeError) as error:
            channel.send(("refused", str(error)))
        except (driver.Error, ValueError) as error:
            signal.alarm(0)
            is_lost = _context_is_lost()
            channel.send(("failed", str(error), is_lost))
            if is_lost:
                return  # another process takes over


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
