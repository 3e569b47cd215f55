"""The record of softcuda's profile: dataclasses for its JSON text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

#: Lanes of a warp.
WARP = 32
SECTOR_BYTES = 32


def ratio(part: float, whole: float) -> float:
    """part / whole; 0 if the whole is 0."""
    return part / whole if whole else 0.0


@dataclass(frozen=True)
class Line:
    """The execution counts of a kernel for one line of its source.

    executions: the number of times that a warp reached the line; for several basic blocks, the largest number.
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
    """The counts of one load, store or atomic of a kernel in one memory space.

    kind: "load", "store" or "atomic". space: "global", "shared" or "local".
    bytes: of one lane. requests: executions by a warp. lanes: active lanes over all requests.
    sectors: sectors of 32 bytes that global or local memory transferred. ideal_sectors: the smallest number of sectors
    for the accessed bytes. wavefronts: passes of shared memory's banks. ideal_wavefronts: the number
    without conflicts. same_address: lanes of atomics that had to wait for another lane of their
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
        """The identity of the access in the program."""
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
        """Wavefronts that conflicts cause in addition to the necessary ones."""
        return self.wavefronts - self.ideal_wavefronts

    @property
    def wavefronts_per_request(self) -> float:
        return ratio(self.wavefronts, self.requests)


_ACCESS_COUNTS = (
    "requests", "lanes", "sectors", "ideal_sectors", "wavefronts", "ideal_wavefronts", "same_address", "regular",
)  # fmt: skip


@dataclass(frozen=True)
class Occupancy:
    """The number of blocks of a kernel that fit a multiprocessor of the emulated GPU.

    limits: the number of blocks that each resource allows: "blocks", "threads", "registers", "shared memory".
    threads: of a block. most_threads: of a multiprocessor.
    """

    limits: dict[str, int]
    threads: int
    most_threads: int

    @property
    def blocks(self) -> int:
        """The number of resident blocks per multiprocessor."""
        return min(self.limits.values())

    @property
    def fraction(self) -> float:
        """The resident warps as a fraction of the multiprocessor's maximum."""
        warps = -(-self.threads // WARP)
        return ratio(self.blocks * warps, self.most_threads // WARP)

    @property
    def limited_by(self) -> tuple[str, ...]:
        """The resources that limit the number of blocks."""
        return tuple(name for name, most in self.limits.items() if most == self.blocks)


@dataclass(frozen=True)
class Kernel:
    """Launches of one kernel with one grid and block shape, and their total counts.

    grid, block: (x, y, z). launches: their number; failures: the number of launches that ended with an error.
    nanoseconds: time from begin to end, the sum over the launches; shortest and longest: of one launch.
    registers: of a thread, on softcuda an estimate. source: the text that the kernel was compiled from,
    "" if it is unknown. processor: "CPU" on softcuda, "GPU" with NVIDIA's driver, for which there are no
    counters, only times. is_own: whether it is a kernel of the Python package itself, such as one for an operation on arrays,
    whose source is no concern of the program. operations: for such a kernel, the operations on arrays that launched the
    kernel, such as "mean(float32[1000, 300], axis=1)", each with its number of launches.
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
    is_own: bool = False
    operations: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple:
        return (
            self.name, self.grid, self.block, self.registers, self.static_shared_bytes, self.dynamic_shared_bytes,
            self.device,
        )  # fmt: skip

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

    @property
    def bytes(self) -> int:
        """Bytes of global memory that the accesses transferred."""
        return SECTOR_BYTES * self.total("sectors", "global")

    def line_text(self, file: str, line: int) -> str:
        """A line of the kernel's source; "" if its text is unknown."""
        lines = source_lines(self, file)
        return lines[line - 1] if 0 < line <= len(lines) else ""

    def accesses_of(self, file: str, line: int) -> list[Access]:
        return [a for a in self.accesses if (a.file, a.line) == (file, line)]


def source_lines(kernel: Kernel, file: str) -> list[str]:
    """The lines of a source file of a kernel; empty if its text is unknown."""
    if "/" in file:
        try:
            with open(file, encoding="utf-8", errors="replace") as text:
                return text.read().splitlines()
        except OSError:  # such as a header on another machine
            return []
    return kernel.source.splitlines()


@dataclass(frozen=True)
class Event:
    """An activity. begin and end: nanoseconds of the system's monotonic clock.

    activity: "kernel", "copy", "fill", "host function", "stream wait", or "host wait".
    stream: its number in the driver, 0 for activities of a host thread. thread: the number of that
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
    """A whole profile: kernels in the order of their first launches, events in the order of their ends."""

    kernels: tuple[Kernel, ...]
    events: tuple[Event, ...]
    events_left_out: int = 0


_NO_LIMIT = 2**32 - 1
#: The key of the sources under which a package gives the prefix of its own kernels' names. No kernel has this name.
OWN = ""


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
    """Merge accesses with equal keys: unrolled loops, parts of vectors."""
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


def _kernel(
    value: dict,
    sources: Mapping[str, str],
    processor: str,
    launched: dict[tuple, dict[str, int]],
) -> Kernel:
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
    # A program may have a kernel of the same name; its lines are those of a source.
    has_source = any(not line.file.endswith(".ptx") for line in special["lines"])
    prefix = sources.get(OWN, "")
    if prefix and value["name"].startswith(prefix) and not has_source:
        operation = value["name"].removeprefix(prefix)
        shape = (*value["grid"], *value["block"], value["dynamic_shared_bytes"])
        operations = launched.get((value["name"], *shape), {})
        special |= {
            "name": operation,
            "source": "",
            "is_own": True,
            "operations": operations,
        }
    return Kernel(**{**value, **special})


def parse(
    text: str, sources: Mapping[str, str] = {}, operations: Iterable[Iterable] = ()
) -> Record:
    """The record in a report of softcuda. Raises ValueError if the text is not a report.

    sources: the source of kernels by their names; see OWN for one further key. operations: the launches of kernels by
    operations on arrays: (kernel, grid, block, dynamic shared memory, operation, number).
    """
    value = json.loads(text)
    processor = value.get("processor", "CPU")
    launched: dict[tuple, dict[str, int]] = {}
    for name, grid, block, shared, operation, count in operations:
        launched.setdefault((name, *grid, *block, shared), {})[operation] = count
    return Record(
        tuple(
            _kernel(kernel, sources, processor, launched) for kernel in value["kernels"]
        ),
        tuple(Event(**event, process=value["process"]) for event in value["events"]),
        value["events_left_out"],
    )


def merge(records: Iterable[Record]) -> Record:
    """Merge the records of several processes. Kernels of different processes stay separate."""
    records = list(records)
    return Record(
        tuple(kernel for record in records for kernel in record.kernels),
        tuple(event for record in records for event in record.events),
        sum(record.events_left_out for record in records),
    )


# -- the new part of a record ------------------------------------------------------------------


def since(record: Record, before: Record) -> Record:
    """The record in addition to ``before``, which is an earlier state of the same record."""
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


def _difference(one, before, counts: Iterable[str]) -> dict[str, int]:
    return {name: getattr(one, name) - getattr(before, name) for name in counts}


def _kernel_since(kernel: Kernel, before: Kernel) -> Kernel:
    counts = ("launches", "failures", "nanoseconds")
    old_lines = {(line.file, line.line): line for line in before.lines}
    old_accesses = {access.key: access for access in before.accesses}
    new_launches = {
        operation: count - before.operations.get(operation, 0)
        for operation, count in kernel.operations.items()
    }
    return replace(
        kernel,
        operations={name: count for name, count in new_launches.items() if count},
        **_difference(kernel, before, counts),
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
        **_difference(line, before, counts),
        classes={
            name: count - before.classes.get(name, 0)
            for name, count in line.classes.items()
        },
    )


def _access_since(access: Access, before: Access | None) -> Access:
    if before is None:
        return access
    return replace(access, **_difference(access, before, _ACCESS_COUNTS))
