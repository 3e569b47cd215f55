#!/usr/bin/env python3
"""Check the order of memory on 64-bit ARM on paper: litmus tests of PTX as the instructions that softcuda emits.

    tools/arm_litmus.py [--herd HERD7] [--keep FOLDER]

Each test is a few threads of different blocks in PTX's words, and an outcome. The threads are translated as code
generation does (docs/arm.md), without and with FEAT_LSE. Then all executions with the outcome are searched for one that
ARM's model of memory permits (Model). Fails if PTX forbids the outcome and ARM permits it. PTX allows the outcomes of some
tests: those must be found, which shows that the others can fail.

HERD7 is the program herd7 of herdtools7, to which ARM contributes its own model: it must agree. --keep keeps the tests
in its language.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Litmus:
    """Threads as lines of PTX without types; `outcome` has registers as 1:r0, and locations at the end as [x]."""

    name: str
    threads: tuple[str, ...]
    outcome: str
    forbidden: bool = True


def mp(name: str, write: str, read: str, forbidden: bool = True) -> Litmus:
    """Message passing: who has seen the flag y must see the data x."""
    threads = (f"st x 1; {write}", f"{read}; ld r1 x")
    return Litmus(f"MP-{name}", threads, "1:r0=1 1:r1=0", forbidden)


TESTS = (
    mp("relaxed", "st y 1", "ld r0 y", forbidden=False),
    mp("release-relaxed", "st.release y 1", "ld r0 y", forbidden=False),
    mp("release-acquire", "st.release y 1", "ld.acquire r0 y"),
    mp("fences", "fence; st y 1", "ld r0 y; fence"),
    mp("fence-acquire", "fence; st y 1", "ld.acquire r0 y"),
    mp("release-fence", "st.release y 1", "ld r0 y; fence"),
    mp("atomics", "atom.exch r2 y 1", "atom.exch r0 y 2"),
    mp("release-atomic", "st.release y 1", "atom.exch r0 y 2"),
    mp("atomic-acquire", "atom.exch r2 y 1", "ld.acquire r0 y"),
    mp("fence-atomic", "fence; atom.exch r2 y 1", "atom.exch r0 y 2; fence"),
    mp("add", "atom.add r2 y 1", "atom.add r0 y 0"),
    mp("cas", "atom.cas r2 y 0 1", "atom.cas r0 y 1 2"),
    Litmus(
        "SB-relaxed", ("st x 1; ld r0 y", "st y 1; ld r0 x"), "0:r0=0 1:r0=0", False
    ),
    Litmus(
        "SB-release-acquire",
        ("st.release x 1; ld.acquire r0 y", "st.release y 1; ld.acquire r0 x"),
        "0:r0=0 1:r0=0",
        False,
    ),
    Litmus(
        "SB-fences",
        ("st x 1; fence; ld r0 y", "st y 1; fence; ld r0 x"),
        "0:r0=0 1:r0=0",
    ),
    Litmus(
        "SB-atomics-fences",
        ("atom.exch r1 x 1; fence; ld r0 y", "atom.exch r1 y 1; fence; ld r0 x"),
        "0:r0=0 1:r0=0",
    ),
    Litmus(
        "LB-release-acquire",
        ("ld r0 x; st.release y 1", "ld.acquire r0 y; st x 1"),
        "0:r0=1 1:r0=1",
    ),
    Litmus(
        "LB-fences",
        ("ld r0 x; fence; st y 1", "ld r0 y; fence; st x 1"),
        "0:r0=1 1:r0=1",
    ),
    Litmus(
        "S-release-acquire",
        ("st x 2; st.release y 1", "ld.acquire r0 y; st x 1"),
        "1:r0=1 [x]=2",
    ),
    Litmus(
        "R-fences", ("st x 1; fence; st y 1", "st y 2; fence; ld r0 x"), "1:r0=0 [y]=2"
    ),
    Litmus("2+2W-relaxed", ("st x 1; st y 2", "st y 1; st x 2"), "[x]=1 [y]=1", False),
    Litmus(
        "2+2W-fences",
        ("st x 1; fence; st y 2", "st y 1; fence; st x 2"),
        "[x]=1 [y]=1",
    ),
    Litmus(
        "WRC",
        ("st x 1", "ld.acquire r0 x; st.release y 1", "ld.acquire r0 y; ld r1 x"),
        "1:r0=1 2:r0=1 2:r1=0",
    ),
    Litmus(
        "ISA2",
        (
            "st x 1; st.release y 1",
            "ld.acquire r0 y; st.release z 1",
            "ld.acquire r0 z; ld r1 x",
        ),
        "1:r0=1 2:r0=1 2:r1=0",
    ),
    Litmus(
        "release-sequence",
        ("st x 1; st.release y 1", "atom.add r0 y 1", "ld.acquire r0 y; ld r1 x"),
        "1:r0=1 2:r0=2 2:r1=0",
    ),
    Litmus(
        "IRIW-fences",
        ("st x 1", "st y 1", "ld r0 x; fence; ld r1 y", "ld r0 y; fence; ld r1 x"),
        "2:r0=1 2:r1=0 3:r0=1 3:r1=0",
    ),
    Litmus("CoRR", ("st x 1", "ld r0 x; ld r1 x"), "1:r0=1 1:r1=0"),
    Litmus("CoWW", ("st x 1; st x 2", "ld r0 y"), "[x]=1"),
    Litmus("CoWR", ("st x 1; ld r0 x", "st x 2"), "0:r0=2 [x]=1"),
    Litmus("CoRW", ("ld r0 x; st x 1", "st x 2"), "0:r0=1"),
    Litmus("exch-once", ("atom.exch r0 x 1", "atom.exch r0 x 2"), "0:r0=0 1:r0=0"),
    Litmus("add-counts", ("atom.add r0 x 1", "atom.add r0 x 1"), "0:r0=0 1:r0=0"),
    Litmus("cas-once", ("atom.cas r0 x 0 1", "atom.cas r0 x 0 2"), "0:r0=0 1:r0=0"),
    Litmus(
        "lock",
        (
            "atom.cas r0 m 0 1; fence; ld r1 x; st x 1; fence; atom.exch r2 m 0",
            "atom.cas r0 m 0 1; fence; ld r1 x; st x 1; fence; atom.exch r2 m 0",
        ),
        "0:r0=0 1:r0=0 0:r1=0 1:r1=0",
    ),
)


@dataclass(frozen=True)
class Instruction:
    """One of ARM's. kind: load, store, fence, or an atomic operation: exch, add, cas.

    order: of a fence: "ISH" or "ISHLD". register: of the result. values: what is stored, added, or compared and stored.
    """

    kind: str
    place: str = ""
    register: int = 0
    values: tuple[int, ...] = ()
    order: str = ""


def translate(thread: str, fences: bool = True) -> list[Instruction]:
    """The instructions of code generation for a thread's PTX. Without `fences`, as if x86-64 kept the order."""
    code = []
    for line in thread.split(";"):
        operation, *words = line.split()
        kind, _, order = operation.partition(".")
        if kind == "fence" or order == "release":
            code.append(Instruction("fence", order="ISH"))
        if kind == "st":
            code.append(Instruction("store", words[0], values=(int(words[1]),)))
        elif kind == "ld":
            code.append(Instruction("load", words[1], int(words[0][1:])))
        elif kind == "atom":
            values = tuple(map(int, words[2:]))
            code.append(Instruction(order, words[1], int(words[0][1:]), values))
        if kind == "ld" and order == "acquire":
            code.append(Instruction("fence", order="ISHLD"))
    return [step for step in code if fences or step.kind != "fence"]


# ARM's model.


@dataclass(frozen=True)
class Event:
    """A read, a write or a fence. Values are found later. `rmw` is the number of an atomic operation, or -1."""

    thread: int  # -1: the value at the start
    kind: str  # R, W, or the order of a fence
    place: str = ""
    register: int = -1
    value: int | None = None
    acquires: bool = False
    releases: bool = False
    rmw: int = -1
    added: int | None = None  # the write is the value that was read, and this


class Model:
    """Executions of a test, and whether ARM's model permits them (Arm Architecture Reference Manual, B2.3).

    It has what the tests need: plain accesses, full and load fences, and atomic operations that acquire and release.
    """

    def __init__(self, test: Litmus, lse: bool, fences: bool = True):
        self.lse = lse
        self.threads = [translate(text, fences) for text in test.threads]
        self.registers: dict[tuple[int, int], int] = {}
        self.final: dict[str, int] = {}
        for word in test.outcome.split():
            left, value = word.split("=")
            if left.startswith("["):
                self.final[left[1:-1]] = int(value)
            else:
                thread, register = left.split(":r")
                self.registers[int(thread), int(register)] = int(value)

    def permits(self) -> bool:
        """Whether there is an execution with the outcome."""
        steps = [step for thread in self.threads for step in thread]
        compared = [step for step in steps if step.kind == "cas"]
        return any(
            self.permits_path(iter(path))
            for path in itertools.product((True, False), repeat=len(compared))
        )

    def events(
        self, succeeds: Iterator[bool]
    ) -> tuple[list[Event], list[tuple[int, int]]]:
        """The events, and for each comparison that must fail its read and the value that it must not have."""
        places = sorted({s.place for thread in self.threads for s in thread if s.place})
        events = [Event(-1, "W", place, value=0) for place in places]
        unequal = []
        for number, thread in enumerate(self.threads):
            for step in thread:
                if step.kind == "fence":
                    events.append(Event(number, step.order))
                elif step.kind == "load":
                    events.append(Event(number, "R", step.place, step.register))
                elif step.kind == "store":
                    events.append(Event(number, "W", step.place, value=step.values[0]))
                else:
                    self.add_atomic(events, unequal, number, step, succeeds)
        return events, unequal

    @staticmethod
    def add_atomic(events, unequal, number, step, succeeds) -> None:
        read = len(events)
        stores = step.kind != "cas" or next(succeeds)
        wanted = step.values[0] if step.kind == "cas" and stores else None
        events.append(
            Event(
                number, "R", step.place, step.register, wanted, acquires=True, rmw=read
            )
        )
        if not stores:
            unequal.append((read, step.values[0]))
            return
        added = step.values[0] if step.kind == "add" else None
        value = None if step.kind == "add" else step.values[-1]
        events.append(
            Event(
                number,
                "W",
                step.place,
                value=value,
                releases=True,
                rmw=read,
                added=added,
            )
        )

    def permits_path(self, succeeds: Iterator[bool]) -> bool:
        events, unequal = self.events(succeeds)
        reads = [i for i, e in enumerate(events) if e.kind == "R"]
        writes: dict[str, list[int]] = {}
        for i, event in enumerate(events):
            if event.kind == "W":
                writes.setdefault(event.place, []).append(i)
        sources = [self.possible_sources(events, read, writes) for read in reads]
        orders = [
            [(first, *rest) for rest in itertools.permutations(others)]
            for first, *others in writes.values()
        ]
        for chosen in itertools.product(*sources):
            source = dict(zip(reads, chosen, strict=True))
            values = self.values(events, source)
            if values is None or any(values[read] == value for read, value in unequal):
                continue
            for coherence in itertools.product(*orders):
                ends = {
                    events[order[-1]].place: values[order[-1]] for order in coherence
                }
                if all(
                    ends[p] == v for p, v in self.final.items()
                ) and self.is_permitted(events, source, coherence):
                    return True
        return False

    def possible_sources(self, events, read, writes) -> list[int]:
        wanted = self.registers.get((events[read].thread, events[read].register))
        return [
            write
            for write in writes[events[read].place]
            if events[write].added is not None
            or (
                events[write].value
                == (events[write].value if wanted is None else wanted)
                and events[read].value in (None, events[write].value)
            )
        ]

    def values(self, events, source) -> dict[int, int] | None:
        """The value of each read and write; None if they contradict the outcome, or each other."""
        values = {
            i: e.value
            for i, e in enumerate(events)
            if e.kind == "W" and e.added is None
        }
        for _ in events:
            for read, write in source.items():
                if write in values:
                    values[read] = values[write]
            for i, event in enumerate(events):
                if event.added is not None and event.rmw in values:
                    values[i] = values[event.rmw] + event.added
        for read in source:
            event = events[read]
            wanted = self.registers.get(
                (event.thread, event.register), values.get(read)
            )
            if read not in values or values[read] != wanted:
                return None
            if event.value is not None and values[read] != event.value:
                return None
        return values

    def is_permitted(self, events, source, coherence) -> bool:
        """The three axioms: internal visibility, external visibility, atomic operations."""
        place = {write: i for order in coherence for i, write in enumerate(order)}
        order_of = {events[order[0]].place: order for order in coherence}
        after = [
            (a, b) for order in coherence for a, b in itertools.combinations(order, 2)
        ]
        overtaken = [  # from a read to the writes behind the one that it has read
            (read, later)
            for read, write in source.items()
            for later in order_of[events[read].place][place[write] + 1 :]
        ]
        seen = [(write, read) for read, write in source.items()]
        for read, later in overtaken:
            if events[later].rmw == read:
                between = [
                    w
                    for w in order_of[events[read].place]
                    if place[source[read]] < place[w] < place[later]
                ]
                if any(events[w].thread != events[read].thread for w in between):
                    return False
        by_place, ordered = [], []
        count = len(events)
        for a, b in itertools.combinations(range(count), 2):
            first, second = events[a], events[b]
            if first.thread != second.thread or first.thread < 0:
                continue
            if first.place and first.place == second.place:
                by_place.append((a, b))
            if first.place and second.place and self.is_ordered(events, a, b):
                ordered.append((a, b))
        if has_cycle(count, by_place + after + overtaken + seen):
            return False
        between_threads = [
            (a, b)
            for a, b in after + overtaken + seen
            if events[a].thread != events[b].thread
        ]
        # A read that acquires from this thread's atomic operation is behind it.
        for write, read in seen:
            if events[write].rmw >= 0 and events[read].acquires:
                if events[write].thread == events[read].thread:
                    ordered.append((write, read))
        return not has_cycle(count, ordered + between_threads)

    def is_ordered(self, events, a, b) -> bool:
        """Whether the processor keeps the order of two accesses of a thread."""
        first, second = events[a], events[b]
        fences = {e.kind for e in events[a + 1 : b]}
        if "ISH" in fences or ("ISHLD" in fences and first.kind == "R"):
            return True
        if first.acquires or second.releases or (first.releases and second.acquires):
            return True
        if first.rmw >= 0 and first.rmw == second.rmw:
            return True
        # An instruction that acquires and releases separates what comes before from what follows.
        return self.lse and any(
            e.rmw >= 0 and e.releases and e.rmw > a for e in events[a + 1 : b]
        )


def has_cycle(count: int, edges: list[tuple[int, int]]) -> bool:
    following: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for a, b in edges:
        following[a].append(b)
        waiting[b] += 1
    free = [i for i in range(count) if waiting[i] == 0]
    done = 0
    while free:
        done += 1
        for b in following[free.pop()]:
            waiting[b] -= 1
            if waiting[b] == 0:
                free.append(b)
    return done < count


# The language of herd7.


class HerdThread:
    """A thread's lines. r0 to r9 are W0 to W9, addresses are in X10 and up."""

    def __init__(self, number: int, code: list[Instruction], lse: bool):
        self.number = number
        self.lse = lse
        self.places: dict[str, int] = {}
        self.constants: dict[int, int] = {}  # registers W20 and up
        self.stored: list[int] = []  # of exclusive stores: 0 if they happened
        self.lines: list[str] = []
        for step in code:
            self.add(step)

    def add(self, step: Instruction) -> None:
        if step.kind == "fence":
            self.lines.append(f"DMB {step.order}")
            return
        at = f"[X{self.places.setdefault(step.place, 10 + len(self.places))}]"
        if step.kind == "load":
            self.lines.append(f"LDR W{step.register},{at}")
            return
        value = step.values[-1]
        new = f"W{self.constants.setdefault(value, 20 + len(self.constants))}"
        if step.kind == "store":
            self.lines.append(f"STR {new},{at}")
        elif self.lse:
            self.add_instruction(step, f"W{step.register}", new, at)
        else:
            self.add_exclusive(step, f"W{step.register}", new, at)

    def add_instruction(self, step: Instruction, old: str, new: str, at: str) -> None:
        if step.kind == "cas":
            self.lines += [f"MOV {old},#{step.values[0]}", f"CASAL {old},{new},{at}"]
        else:
            name = {"exch": "SWPAL", "add": "LDADDAL"}[step.kind]
            self.lines.append(f"{name} {new},{old},{at}")

    def add_exclusive(self, step: Instruction, old: str, new: str, at: str) -> None:
        # herd7 has one set of labels for all threads.
        done, end = 25 + len(self.stored), f"L{self.number}{len(self.lines)}"
        self.lines.append(f"LDAXR {old},{at}")
        if step.kind == "cas":
            # After a failed comparison, there is no store, and the register of its success is 0.
            self.lines += [f"CMP {old},#{step.values[0]}", f"B.NE {end}"]
        if step.kind == "add":
            self.lines.append(f"ADD W24,{old},#{step.values[0]}")
            new = "W24"
        self.lines.append(f"STLXR W{done},{new},{at}")
        if step.kind == "cas":
            self.lines.append(f"{end}:")
        self.stored.append(done)


def herd_text(test: Litmus, lse: bool) -> str:
    """The test in herd7's language."""
    threads = [
        HerdThread(number, translate(text), lse)
        for number, text in enumerate(test.threads)
    ]
    start, columns, conditions = [], [], []
    for number, thread in enumerate(threads):
        for place, register in thread.places.items():
            start.append(f"{number}:X{register}={place};")
        for value, register in thread.constants.items():
            start.append(f"{number}:X{register}={value};")
        # Real code repeats an exclusive store that did not happen.
        conditions += [f"{number}:X{register}=0" for register in thread.stored]
        columns.append([f"P{number}", *thread.lines])
    rows = [
        " | ".join(f"{line:24}" for line in row) + ";"
        for row in itertools.zip_longest(*columns, fillvalue="")
    ]
    conditions += [re.sub(r":r(\d)", r":X\1", word) for word in test.outcome.split()]
    condition = "exists (" + " /\\ ".join(conditions) + ")"
    name = f"AArch64 {test.name}-{'lse' if lse else 'neon'}"
    return "\n".join([name, "{", *start, "}", *rows, condition, ""])


def ask_herd(herd: str, text: str, file: Path) -> bool:
    """Whether herd7 finds the outcome."""
    file.write_text(text)
    # Only executions with the outcome, and none that contradicts the order of a single location: without these options
    # the locks take more than ten minutes.
    options = ("-speedcheck", "true", "-optace", "true")
    done = subprocess.run([herd, *options, file], capture_output=True, text=True)
    found = re.search(r"^Observation \S+ (\w+)", done.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{file}: herd7 failed: {done.stderr.strip()}")
    return found[1] != "Never"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--herd")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for test, lse in itertools.product(TESTS, (False, True)):
            name = f"{test.name}-{'lse' if lse else 'neon'}"
            verdicts = [Model(test, lse).permits()]
            text, file = herd_text(test, lse), folder / f"{name}.litmus"
            file.write_text(text)
            if options.herd:
                verdicts.append(ask_herd(options.herd, text, file))
            bad = len({*verdicts, not test.forbidden}) > 1
            wrong += bad
            meant = "forbidden" if test.forbidden else "allowed"
            shown = ", ".join(
                "permitted" if found else "not permitted" for found in verdicts
            )
            print(f"{name:28} {meant:10} {shown}{'  WRONG' if bad else ''}")
    print(f"{2 * len(TESTS)} tests, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
