"""What softcuda's profile has recorded: its JSON text as dataclasses."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

#: Lanes of a warp.
WARP = 32


def ratio(part: float, whole: float) -> float:
    """part / whole; 0 where the whole is 0."""
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class Line:
    """What a kernel executed for one line of its source.

    executions: how often a warp came to the line; of its basic blocks the most frequent one counts.
    lanes: the sum of the active lanes over these executions.
    instructions: instructions executed by warps, of softcuda's intermediate code.
    thread_instructions: the sum of the active lanes over these.
    classes: the instructions by class: "integer", "float", "load", "control" and so on.
    """

    file: str
    line: int
    executions: int
    lanes: int
    instructions: int
    thread_instructions: int
    classes: dict[str, int]

    @property
    def active_lanes(self) -> float:
        """The mean number of active lanes of an instruction, of 32."""
        return ratio(self.thread_instructions, self.instructions)


@dataclass(frozen=True)
class Access:
    """What one load, store or atomic of a kernel did in one memory space.

    kind: "load", "store" or "atomic". space: "global", "shared" or "local".
    bytes: of one lane. requests: executions by a warp. lanes: active lanes over all requests.
    sectors: of 32 bytes, which global and local memory moved. ideal_sectors: what the bytes that the
    lanes wanted would have filled. wavefronts: rounds of shared memory's banks. ideal_wavefronts: the
    same without conflicts. same_address: lanes of atomics that had to wait for another lane of their
    warp. stride: bytes between neighbouring lanes, in ``regular`` of the requests.
    """

    file: str
    line: int
    kind: str
    space: str
    bytes: int
    requests: int
    lanes: int
    sectors: int
    ideal_sectors: int
    wavefronts: int
    ideal_wavefronts: int
    same_address: int
    stride: int
    regular: int

    @property
    def key(self) -> tuple:
        """The access in the program, as far as the profile tells accesses apart."""
        return self.file, self.line, self.kind, self.space, self.bytes

    @property
    def total_bytes(self) -> int:
        """The bytes that the lanes accessed."""
        return self.bytes * self.lanes

    @property
    def sectors_per_request(self) -> float:
        return ratio(self.sectors, self.requests)

    @property
    def ideal_sectors_per_request(self) -> float:
        return ratio(self.ideal_sectors, self.requests)

    @property
    def bank_conflicts(self) -> int:
        """Wavefronts beyond those that are needed without conflicts."""
        return self.wavefronts - self.ideal_wavefronts

    @property
    def wavefronts_per_request(self) -> float:
        return ratio(self.wavefronts, self.requests)


_ACCESS_COUNTS = (
    "requests",
    "lanes",
    "sectors",
    "ideal_sectors",
    "wavefronts",
    "ideal_wavefronts",
    "same_address",
    "regular",
)


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel fit a multiprocessor of the GPU that the device stands for.

    limits: blocks that each resource has room for: "blocks", "threads", "registers", "shared memory".
    threads: of a block. most_threads: of a multiprocessor.
    """

    limits: dict[str, int]
    threads: int
    most_threads: int

    @property
    def blocks(self) -> int:
        """Blocks of a multiprocessor at a time."""
        return min(self.limits.values())

    @property
    def fraction(self) -> float:
        """Warps that fit, of those that the multiprocessor could hold."""
        warps = -(-self.threads // WARP)
        return ratio(self.blocks * warps, self.most_threads // WARP)

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that run out first."""
        return tuple(name for name, most in self.limits.items() if most == self.blocks)


@dataclass(frozen=True)
class Kernel:
    """Launches of one kernel with one shape, and what they did together.

    grid, block: (x, y, z). launches: how many; failures: those of them that ended with an error.
    nanoseconds: time from begin to end, the sum over the launches; shortest and longest: of one launch.
    registers: of a thread, on softcuda an estimate. source: the text that the kernel was compiled from,
    "" where that is not known. processor: "CPU" on softcuda, "GPU" with NVIDIA's driver, which counts
    nothing: there are times alone.
    """

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    launches: int
    failures: int
    nanoseconds: int
    shortest: int
    longest: int
    registers: int
    static_shared_bytes: int
    dynamic_shared_bytes: int
    local_bytes_per_thread: int
    device: int
    occupancy: Occupancy
    lines: tuple[Line, ...]
    accesses: tuple[Access, ...]
    source: str = field(default="", repr=False)
    processor: str = "CPU"

    @property
    def key(self) -> tuple:
        return (
            self.name,
            self.grid,
            self.block,
            self.registers,
            self.static_shared_bytes,
            self.dynamic_shared_bytes,
            self.device,
        )

    @property
    def threads(self) -> int:
        """Threads of a block."""
        x, y, z = self.block
        return x * y * z

    @property
    def instructions(self) -> int:
        """Instructions executed by warps."""
        return sum(line.instructions for line in self.lines)

    @property
    def active_lanes(self) -> float:
        """The mean number of active lanes of an instruction, of 32."""
        threads = sum(line.thread_instructions for line in self.lines)
        return ratio(threads, self.instructions)

    @property
    def classes(self) -> dict[str, int]:
        """Instructions by class, the most frequent class first."""
        sums: dict[str, int] = {}
        for line in self.lines:
            for name, count in line.classes.items():
                sums[name] = sums.get(name, 0) + count
        return dict(sorted(sums.items(), key=lambda item: -item[1]))

    def total(self, count: str, space: str | None = None, kind: str | None = None):
        """The sum of a count over the accesses of a space and kind: ``total("sectors", "global", "load")``."""
        return sum(
            getattr(access, count)
            for access in self.accesses
            if space in (None, access.space) and kind in (None, access.kind)
        )

    def line_text(self, file: str, line: int) -> str:
        """A line of the kernel's source, "" where its text is not known."""
        lines = source_lines(self, file)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def accesses_of(self, file: str, line: int) -> list[Access]:
        return [a for a in self.accesses if (a.file, a.line) == (file, line)]


def source_lines(kernel: Kernel, file: str) -> list[str]:
    """The lines of a file that a kernel was compiled from, none where its text is not known."""
    if "/" in file:
        try:
            with open(file, encoding="utf-8", errors="replace") as text:
                return text.read().splitlines()
        except OSError:  # such as a header of another machine
            return []
    return kernel.source.splitlines()


@dataclass(frozen=True)
class Event:
    """Something that took time. begin and end: nanoseconds of the system's monotonic clock.

    activity: "kernel", "copy", "fill", "host function", "stream wait", or "host wait".
    stream: its number in the driver, 0 for what a thread of the host does. thread: the number of that
    thread in the system, else 0. bytes: of copies and fills.
    """

    activity: str
    name: str
    stream: int
    device: int
    thread: int
    begin: int
    end: int
    bytes: int
    process: int = 0


@dataclass(frozen=True)
class Record:
    """All of a profile: kernels in the order of their first launches, events in that of their ends."""

    kernels: tuple[Kernel, ...]
    events: tuple[Event, ...]
    events_left_out: int = 0


_NO_LIMIT = 2**32 - 1


def _occupancy(value: dict, block: Iterable[int]) -> Occupancy:
    x, y, z = block
    limits = {
        "blocks": value["by_blocks"],
        "threads": value["by_threads"],
        "registers": value["by_registers"],
        "shared memory": value["by_shared"],
    }
    return Occupancy(
        {name: most for name, most in limits.items() if most != _NO_LIMIT},
        x * y * z,
        value["threads_per_multiprocessor"],
    )


def _merge_accesses(accesses: Iterable[Access]) -> tuple[Access, ...]:
    """Accesses of one key as one: loops that were unrolled, parts of vectors."""
    merged: dict[tuple, Access] = {}
    for access in accesses:
        known = merged.get(access.key)
        merged[access.key] = _add(known, access) if known else access
    return tuple(merged.values())


def _add(a: Access, b: Access) -> Access:
    sums = {name: getattr(a, name) + getattr(b, name) for name in _ACCESS_COUNTS}
    if not a.regular:
        sums["stride"] = b.stride
    elif a.stride != b.stride:
        sums["regular"] = a.regular
    return replace(a, **sums)


def _kernel(value: dict, sources: dict[str, str], processor: str) -> Kernel:
    special = {
        "grid": tuple(value["grid"]),
        "block": tuple(value["block"]),
        "shortest": min(value["shortest"], value["longest"]),
        "occupancy": _occupancy(value["occupancy"], value["block"]),
        "lines": tuple(Line(**line) for line in value["lines"]),
        "accesses": _merge_accesses(Access(**a) for a in value["accesses"]),
        "source": sources.get(value["name"], ""),
        "processor": processor,
    }
    return Kernel(**{**value, **special})


def parse(text: str, sources: dict[str, str]) -> Record:
    """The record in a report of softcuda's. Raises ValueError for text that is no report."""
    value = json.loads(text)
    processor = value.get("processor", "CPU")
    return Record(
        tuple(_kernel(kernel, sources, processor) for kernel in value["kernels"]),
        tuple(Event(**event, process=value["process"]) for event in value["events"]),
        value["events_left_out"],
    )


def merge(records: Iterable[Record]) -> Record:
    """The records of several processes as one. Kernels of different processes stay apart."""
    records = list(records)
    return Record(
        tuple(kernel for record in records for kernel in record.kernels),
        tuple(event for record in records for event in record.events),
        sum(record.events_left_out for record in records),
    )


# -- what is new in a record -------------------------------------------------------------------


def since(record: Record, before: Record) -> Record:
    """What was recorded in addition to ``before``, which is an earlier state of the same record."""
    kernels = []
    for number, kernel in enumerate(record.kernels):
        if number < len(before.kernels):
            kernel = _kernel_since(kernel, before.kernels[number])
        if kernel.launches:
            kernels.append(kernel)
    return Record(
        tuple(kernels),
        record.events[len(before.events) :],
        record.events_left_out - before.events_left_out,
    )


def _kernel_since(kernel: Kernel, before: Kernel) -> Kernel:
    counts = ("launches", "failures", "nanoseconds")
    old_lines = {(line.file, line.line): line for line in before.lines}
    old_accesses = {access.key: access for access in before.accesses}
    return replace(
        kernel,
        **{name: getattr(kernel, name) - getattr(before, name) for name in counts},
        lines=tuple(
            _line_since(line, old_lines.get((line.file, line.line)))
            for line in kernel.lines
        ),
        accesses=tuple(
            _access_since(access, old_accesses.get(access.key))
            for access in kernel.accesses
        ),
    )


def _line_since(line: Line, before: Line | None) -> Line:
    if before is None:
        return line
    counts = ("executions", "lanes", "instructions", "thread_instructions")
    return replace(
        line,
        **{name: getattr(line, name) - getattr(before, name) for name in counts},
        classes={
            name: count - before.classes.get(name, 0)
            for name, count in line.classes.items()
        },
    )


def _access_since(access: Access, before: Access | None) -> Access:
    if before is None:
        return access
    counts = {n: getattr(access, n) - getattr(before, n) for n in _ACCESS_COUNTS}
    return replace(access, **counts)
