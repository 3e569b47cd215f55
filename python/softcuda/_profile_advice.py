"""Chooses the most important changes to a kernel from its counters.

Each piece of advice has a cost, by which advice is sorted: the number of cycles of one multiprocessor
that the kernel would save. The costs are rough, and the same for all GPUs:

====================  ====================  =======================================================
wasted resource       cycles of each        reason
====================  ====================  =======================================================
a sector of 32 bytes  SECTOR_CYCLES         3.35 TB/s among 132 multiprocessors of an H100 at
                                            1.7 GHz: 15 bytes a cycle
a wavefront of        WAVEFRONT_CYCLES      shared memory processes one wavefront a cycle
shared memory
a lane of an atomic   SAME_ADDRESS_CYCLES   accesses to one address are serialised
an instruction        INSTRUCTION_CYCLES    4 schedulers issue one instruction a cycle each
====================  ====================  =======================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from softcuda._profile_data import WARP, Access, Kernel, Line, ratio

SECTOR_CYCLES = 2.0
WAVEFRONT_CYCLES = 1.0
SAME_ADDRESS_CYCLES = 1.0
INSTRUCTION_CYCLES = 0.25

#: Advice is given from these on: sectors of a request beside those that would do,
EXCESS_OF_SECTORS = 1.5
#: wavefronts beside those that would do,
EXCESS_OF_WAVEFRONTS = 1.25
#: lanes of an atomic that wait for another lane, in the mean of its requests,
WAITING_LANES = 4
#: active lanes of an instruction, below this number of 32,
FEW_LANES = 24
#: of a line with at least this share of the kernel's instructions,
SHARE_OF_INSTRUCTIONS = 0.05
#: double precision's share of the instructions,
SHARE_OF_DOUBLE = 0.1
#: warps that fit a multiprocessor, below this share,
LOW_OCCUPANCY = 0.5
#: and blocks of the grid, below this number.
FEW_BLOCKS = 32


#: The name of instructions without a source line.
NO_LINE = "code that the compiler has moved or made"


@dataclass(frozen=True)
class Advice:
    """A change. cycles: the estimated saving; 0 if it is unknown.

    file, line: the source line to change; "" and 0 for the whole kernel.
    """

    text: str
    cycles: float = 0.0
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if self.line:
            return f"line {self.line}: {self.text}"
        return f"{NO_LINE}: {self.text}" if self.file else self.text


def advice_for(kernel: Kernel) -> list[Advice]:
    """The changes for a kernel, the most important first."""
    found = [
        *_failures(kernel),
        *_accesses(kernel),
        *_divergence(kernel),
        *_double(kernel),
        *_shape(kernel),
    ]
    return sorted(found, key=lambda advice: -advice.cycles)


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value - round(value)) < 0.05 else f"{value:.1f}"


def _plural(value: float, word: str) -> str:
    return f"{_number(value)} {word}" + ("" if _number(value) == "1" else "s")


def _failures(kernel: Kernel) -> Iterator[Advice]:
    if kernel.failures:
        yield Advice(
            f"{_plural(kernel.failures, 'launch')} of {kernel.launches} ended with an error, and the "
            "counters end at the error; `python -m pycuda check` finds its cause",
            float("inf"),
        )


def _accesses(kernel: Kernel) -> Iterator[Advice]:
    for access in kernel.accesses:
        if access.space == "global":
            yield from _sectors(access)
        elif access.space == "shared":
            yield from _conflicts(access)
        else:
            yield from _local(access)
        if access.kind == "atomic":
            yield from _same_address(access)


_VERBS = {"load": "read", "store": "write", "atomic": "access"}


def _pattern(access: Access) -> str:
    """A description of the pattern of the lanes' addresses."""
    verb = _VERBS[access.kind]
    if access.regular < access.requests / 2:
        return f"the threads of a warp {verb} scattered addresses"
    if access.stride == access.bytes:
        return "the addresses are adjacent, but do not begin at a multiple of 32 bytes"
    return f"neighbouring threads {verb} addresses {abs(access.stride)} bytes apart"


def _sectors(access: Access) -> Iterator[Advice]:
    if ratio(access.sectors, access.ideal_sectors) < EXCESS_OF_SECTORS:
        return
    yield Advice(
        f"a {access.kind} transfers {_plural(access.sectors_per_request, 'sector')} for each request, and "
        f"{_number(access.ideal_sectors_per_request)} would be enough: {_pattern(access)}; let neighbouring "
        f"threads {_VERBS[access.kind]} neighbouring elements, or copy the data through shared memory",
        SECTOR_CYCLES * (access.sectors - access.ideal_sectors),
        access.file,
        access.line,
    )


def _conflicts(access: Access) -> Iterator[Advice]:
    if ratio(access.wavefronts, access.ideal_wavefronts) < EXCESS_OF_WAVEFRONTS:
        return
    ideal = ratio(access.ideal_wavefronts, access.requests)
    yield Advice(
        f"a {access.kind} in shared memory takes {_plural(access.wavefronts_per_request, 'wavefront')} for each "
        f"request, and {_number(ideal)} would be enough: lanes access different words of the same bank"
        f"{_bank_stride(access)}; pad the rows of the array by one element, or swap its indices",
        WAVEFRONT_CYCLES * access.bank_conflicts,
        access.file,
        access.line,
    )


def _bank_stride(access: Access) -> str:
    if access.regular < access.requests / 2 or access.stride == 0:
        return ""
    return f", because neighbouring threads are {abs(access.stride)} bytes apart"


def _local(access: Access) -> Iterator[Advice]:
    yield Advice(
        f"{_plural(access.requests, access.kind)} of local memory, "
        f"{_plural(access.sectors_per_request, 'sector')} each: the thread has an array with an index that "
        "is known at run time only, or more variables than registers; unroll the loop that indexes "
        "the array, or use shared memory",
        SECTOR_CYCLES * access.sectors,
        access.file,
        access.line,
    )


def _same_address(access: Access) -> Iterator[Advice]:
    waiting = ratio(access.same_address, access.requests)
    if waiting < WAITING_LANES:
        return
    yield Advice(
        f"{_number(waiting)} of {_number(ratio(access.lanes, access.requests))} lanes of an atomic "
        "wait for another lane with the same address; add up within the warp first "
        "(__reduce_add_sync, __shfl_down_sync), or have an array for each block in shared memory",
        SAME_ADDRESS_CYCLES * access.same_address,
        access.file,
        access.line,
    )


def _divergence(kernel: Kernel) -> Iterator[Advice]:
    # The lanes that the last warp of a block lacks are the subject of other advice.
    lanes = ratio(kernel.threads, -(-kernel.threads // WARP))
    for line in kernel.lines:
        share = ratio(line.instructions, kernel.instructions)
        few = line.active_lanes < lanes * FEW_LANES / WARP
        if few and share >= SHARE_OF_INSTRUCTIONS:
            yield _few_lanes(line, share, lanes)


def _few_lanes(line: Line, share: float, lanes: float) -> Advice:
    lost = line.instructions * (lanes - line.active_lanes) / WARP
    return Advice(
        f"{_number(line.active_lanes)} of {_number(lanes)} lanes are active in {share:.0%} of the kernel's "
        "instructions: threads of a warp take different branches, or run different numbers of loop iterations; "
        "give all threads of a warp the same work",
        INSTRUCTION_CYCLES * lost,
        line.file,
        line.line,
    )


def _double(kernel: Kernel) -> Iterator[Advice]:
    share = ratio(kernel.classes.get("double", 0), kernel.instructions)
    if share < SHARE_OF_DOUBLE:
        return
    first = max(kernel.lines, key=lambda line: line.classes.get("double", 0))
    yield Advice(
        f"{share:.0%} of the instructions compute in double precision, which GPUs without fast double "
        "precision do at 1/64 of the speed of float; if float suffices, write 1.0f for 1.0 and sinf "
        "for sin",
        INSTRUCTION_CYCLES * kernel.classes["double"],
        first.file,
        first.line,
    )


def _shape(kernel: Kernel) -> Iterator[Advice]:
    rest = kernel.threads % WARP
    if rest:
        yield Advice(
            f"a block has {_plural(kernel.threads, 'thread')}, so its last warp uses {rest} of {WARP} lanes; "
            f"choose a multiple of {WARP} threads",
            INSTRUCTION_CYCLES
            * ratio(kernel.instructions, -(-kernel.threads // WARP))
            * (1 - rest / WARP),
        )
    occupancy = kernel.occupancy
    if occupancy.fraction < LOW_OCCUPANCY:
        yield Advice(
            f"occupancy is {occupancy.fraction:.0%}, limited by {' and '.join(occupancy.limited_by)}: "
            f"a multiprocessor of a GPU holds {_plural(occupancy.blocks, 'block')}; with more warps, a "
            "GPU computes while other warps wait for memory"
        )
    x, y, z = kernel.grid
    if x * y * z < FEW_BLOCKS:
        yield Advice(
            f"a grid of {_plural(x * y * z, 'block')} keeps at most "
            f"{_plural(x * y * z, 'multiprocessor')} busy; a GPU has from 20 to more than 100"
        )
