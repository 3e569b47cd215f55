"""A profile as text for a terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from softcuda._profile_advice import NO_LINE, advice_for
from softcuda._profile_data import WARP, Access, Event, Kernel, Line, Record, ratio

_BOLD, _YELLOW, _GREY, _PLAIN = "\x1b[1m", "\x1b[33m", "\x1b[90m", "\x1b[0m"


def duration(nanoseconds: float) -> str:
    """A duration such as "12.3 ms"."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.3g} {unit}"
    return f"{nanoseconds:.0f} ns"


def size(count: float) -> str:
    """A number of bytes, such as "1.5 KiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if count < 1024 or unit == "GiB":
            break
        count /= 1024
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.3g} {unit}"


def number(count: float) -> str:
    """A count in short form: "1234", "56.7k", "8.94M"."""
    if count < 1e4:
        return f"{count:.0f}"
    for unit, scale in (("k", 1e3), ("M", 1e6), ("G", 1e9)):
        if count < 999.5 * scale or unit == "G":
            break
    count /= scale
    return f"{count:.0f}{unit}" if count >= 999.5 else f"{count:.3g}{unit}"


def shape(extent: Iterable[int]) -> str:
    """ "16 x 8" for (16, 8, 1)."""
    extents = list(extent)
    while len(extents) > 1 and extents[-1] == 1:
        extents.pop()
    return " x ".join(map(str, extents))


_PLURALS = {"copy": "copies", "launch": "launches"}


def times(count: int, word: str) -> str:
    """ "1 copy", "2 copies"."""
    return f"{count} {word if count == 1 else _PLURALS.get(word, word + 's')}"


def heading(kernel: Kernel) -> str:
    """Shape, launches and time of a kernel."""
    timed = (
        f", {duration(kernel.nanoseconds)} on the {kernel.processor}"
        if kernel.nanoseconds
        else ""
    )
    failed = f", {kernel.failures} failed" if kernel.failures else ""
    return (
        f"grid {shape(kernel.grid)}, block {shape(kernel.block)}, "
        f"{times(kernel.launches, 'launch')}{timed}{failed}"
    )


def resources(kernel: Kernel) -> str:
    """Registers, memory and occupancy of a kernel."""
    shared = f"{size(kernel.static_shared_bytes)} of shared memory"
    if kernel.dynamic_shared_bytes:
        shared = (
            f"{size(kernel.static_shared_bytes)} + {size(kernel.dynamic_shared_bytes)} of shared "
            "memory (static + dynamic)"
        )
    occupancy = kernel.occupancy
    about = "about " if kernel.processor == "CPU" else ""
    return (
        f"{about}{kernel.registers} registers a thread, {shared}, occupancy {occupancy.fraction:.0%}: "
        f"{times(occupancy.blocks, 'block')} of a multiprocessor, limited by "
        f"{' and '.join(occupancy.limited_by)}"
    )


def _sum(accesses: list[Access], count: str) -> int:
    return sum(getattr(access, count) for access in accesses)


def memory_of(accesses: list[Access]) -> str:
    """The counts of a line's accesses: "ld.global 32 of 4 sectors", and so on."""
    words = {"load": "ld", "store": "st", "atomic": "atom"}
    parts = []
    for access in accesses:
        name = f"{words[access.kind]}.{access.space}"
        if access.space == "shared":
            parts.append(
                f"{name} {access.wavefronts_per_request:.3g} wavefronts "
                f"({ratio(access.ideal_wavefronts, access.requests):.3g})"
            )
        else:
            parts.append(
                f"{name} {access.sectors_per_request:.3g} sectors "
                f"({access.ideal_sectors_per_request:.3g})"
            )
        if access.kind == "atomic" and access.same_address:
            waiting = ratio(access.same_address, access.requests)
            parts.append(f"{waiting:.3g} lanes wait")
    return ", ".join(parts)


def _row(kernel: Kernel, line: Line) -> tuple[str, ...]:
    text = kernel.line_text(line.file, line.line).strip()
    return (
        str(line.line or "-"),
        number(line.executions),
        number(line.instructions),
        f"{line.active_lanes:.1f}",
        memory_of(kernel.accesses_of(line.file, line.line)),
        text if line.line else f"({NO_LINE})",
    )


_HEAD = ("line", "executed", "instructions", "lanes", "memory", "source")


def _table(rows: list[tuple[str, ...]], right: int = 4, left: int = 0) -> list[str]:
    """Rows as lines; the columns from ``left`` to ``right`` are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if left <= number < right else cell.ljust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _lines(kernel: Kernel) -> list[str]:
    lines = []
    for file in dict.fromkeys(line.file for line in kernel.lines):
        chosen = [line for line in kernel.lines if line.file == file]
        lines += [f"  {file}"]
        table = _table([_HEAD, *(_row(kernel, line) for line in chosen)])
        lines += [f"    {row}" for row in table]
    return lines


def _describe(kernel: Kernel, paint) -> list[str]:
    lines = [
        paint(_BOLD, f"kernel {kernel.name}") + f": {heading(kernel)}",
        f"  {resources(kernel)}",
    ]
    if kernel.lines:
        lines += [
            f"  {number(kernel.instructions)} warp instructions, {kernel.active_lanes:.1f} of "
            f"{WARP} lanes active; "
            + ", ".join(f"{name} {number(n)}" for name, n in kernel.classes.items())
        ]
    for rank, advice in enumerate(advice_for(kernel) if kernel.lines else [], 1):
        lines += [paint(_YELLOW, f"  {rank}. {advice}")]
    return [*lines, *_lines(kernel), ""]


OWN_HEAD = (
    "operation",
    "time",
    "share",
    "launches",
    "instructions",
    "bytes",
)
#: The events of NumPy's functions on the memory of arrays: "numpy.matmul: matmul(float32[3, 3], float32[3, 3])".
BY_NUMPY = "numpy."


@dataclass
class _Operation:
    """A row of the table of array operations."""

    nanoseconds: int = 0
    kernels: list[Kernel] = field(default_factory=list)

    def cells(self, total: int) -> tuple[str, ...]:
        counted = [kernel for kernel in self.kernels if kernel.lines]
        launches = sum(kernel.launches for kernel in self.kernels)
        return (
            duration(self.nanoseconds),
            f"{ratio(self.nanoseconds, total):.0%}",
            str(launches) if self.kernels else "-",
            number(sum(k.instructions for k in counted)) if counted else "-",
            size(sum(kernel.bytes for kernel in counted)) if counted else "-",
        )


def has_own(record: Record) -> bool:
    """Whether the program computed with arrays."""
    return any(kernel.is_own for kernel in record.kernels) or any(
        event.name.startswith(BY_NUMPY) for event in record.events
    )


def own_title(record: Record) -> str:
    """One sentence about the package's own kernels."""
    kernels = [kernel for kernel in record.kernels if kernel.is_own]
    if not kernels:
        return "computed by NumPy"
    time = sum(kernel.nanoseconds for kernel in kernels)
    launches = sum(kernel.launches for kernel in kernels)
    form = ""
    if any(kernel.processor == "CPU" for kernel in kernels):
        form = ". These are the versions for a CPU; a GPU runs others"
    return (
        f"{times(launches, 'launch')} of PyCUDA's own kernels, {duration(time)}{form}"
    )


def _launched_by(kernel: Kernel) -> str:
    """The operations that launched a kernel. The counts of a kernel with one grid are not divided between operations."""
    first, *others = kernel.operations or (kernel.name,)
    if len(others) > 1:
        return f"{first} and {len(others)} other operations: kernel {kernel.name}"
    return f"{first} and {others[0]}: kernel {kernel.name}" if others else first


def own_rows(record: Record) -> list[tuple[str, ...]]:
    """A row for each operation on arrays, the longest time first. Shares are of the time of all kernels and of NumPy."""
    operations: dict[str, _Operation] = defaultdict(_Operation)
    total = sum(kernel.nanoseconds for kernel in record.kernels)
    for kernel in record.kernels:
        if kernel.is_own:
            row = operations[_launched_by(kernel)]
            row.nanoseconds += kernel.nanoseconds
            row.kernels.append(kernel)
    for event in record.events:
        if event.name.startswith(BY_NUMPY):
            function, _, operation = event.name.partition(": ")
            taken = event.end - event.begin
            operations[f"{operation or function}, by NumPy"].nanoseconds += taken
            total += taken
    by_time = sorted(operations.items(), key=lambda item: -item[1].nanoseconds)
    return [(name, *row.cells(total)) for name, row in by_time]


def _describe_own(record: Record, paint) -> list[str]:
    if not has_own(record):
        return []
    table = _table([OWN_HEAD, *own_rows(record)], right=len(OWN_HEAD), left=1)
    return [
        paint(_BOLD, "array operations") + f": {own_title(record)}",
        *(f"  {row}" for row in table),
        "",
    ]


def _total(events: Iterable[Event], activity: str) -> tuple[int, int, int]:
    chosen = [event for event in events if event.activity == activity]
    time = sum(event.end - event.begin for event in chosen)
    return len(chosen), time, sum(event.bytes for event in chosen)


def timeline_lines(record: Record) -> list[str]:
    """The number, the time and the bytes of each kind of event, a line each."""
    lines = []
    by_numpy = [e for e in record.events if e.name.startswith(BY_NUMPY)]
    calls = defaultdict(list)
    for event in by_numpy:
        calls[event.name.partition(": ")[0]].append(event.end - event.begin)
    for name, taken in calls.items():
        lines.append(
            f"{times(len(taken), 'call')} of {name} on arrays, {duration(sum(taken))}"
        )
    others = [event for event in record.events if event not in by_numpy]
    for activity in ("kernel", "copy", "fill", "host function", "host wait"):
        count, time, moved = _total(others, activity)
        if count:
            what = f", {size(moved)}" if moved else ""
            lines.append(f"{times(count, activity)}, {duration(time)}{what}")
    if record.events_left_out:
        lines.append(f"{times(record.events_left_out, 'event')} more were left out")
    return lines


def _timeline(record: Record, paint) -> list[str]:
    lines = timeline_lines(record)
    title = paint(_BOLD, "timeline")
    return [title, *(f"  {line}" for line in lines), ""] if lines else []


def report(record: Record, colour: bool = False) -> str:
    """A profile as text: kernels by their cost, the most expensive first, then the timeline."""

    def paint(style: str, text: str) -> str:
        return f"{style}{text}{_PLAIN}" if colour else text

    lines = []
    for kernel in by_cost(record.kernels):
        if not kernel.is_own:
            lines += _describe(kernel, paint)
    lines += _describe_own(record, paint)
    lines += _timeline(record, paint)
    if not lines:
        return "no kernel was launched, and nothing was copied"
    lines.append(paint(_GREY, remark(record)))
    return "\n".join(lines)


def remark(record: Record) -> str:
    """Explains which numbers are valid for a GPU."""
    if any(kernel.processor == "GPU" for kernel in record.kernels):
        return "Times were measured on the GPU. For counters, run the program with PYCUDA_DRIVER=softcuda."
    if not any(kernel.lines for kernel in record.kernels):
        return "Times were measured on the CPU."
    if all(kernel.is_own for kernel in record.kernels):
        return "Times were measured on the CPU; counting makes kernels slower."
    return (
        "Times were measured on the CPU; counting makes kernels slower. The other numbers"
        f"{' of kernels with a source' * any(kernel.is_own for kernel in record.kernels)} are those of a GPU. "
        "In brackets: the number for an ideal access pattern."
    )


def by_cost(kernels: Iterable[Kernel]) -> list[Kernel]:
    """Kernels by their instructions, or by their time if nothing was counted."""
    return sorted(kernels, key=lambda k: (-k.instructions, -k.nanoseconds))
