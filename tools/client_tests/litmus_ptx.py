"""Litmus tests of Dat3M as kernels: a reader of its files, PTX for them, and their conditions as NumPy expressions.

A litmus test is a few threads with a few instructions each. Here many instances of a test run at once, each with its
own memory. In the layout "warps" a litmus thread is a warp, whose 32 lanes are 32 instances; in "lanes" the litmus
threads are neighbouring lanes of one warp. Litmus threads of different CTAs are in different blocks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

LINE = 32  # 4-byte words from a location to the next one: each has a line of the cache


class NotExpressible(Exception):
    """PTX has no kernel that does what the test says."""


@dataclass
class Thread:
    """A litmus thread: its CTA, its instructions and the registers that they write or read."""

    cta: tuple[str, str]
    lines: list[str] = field(default_factory=list)
    registers: list[str] = field(default_factory=list)


@dataclass
class Litmus:
    """A litmus test. ``condition`` is about registers and locations at the end; kind: exists, ~exists or forall."""

    name: str
    memory: dict[str, int]
    initial: dict[tuple[int, str], int]  # of registers
    threads: list[Thread]
    kind: str
    condition: str

    @property
    def ctas(self) -> list[tuple[str, str]]:
        """The CTAs in the order of their first threads."""
        return list(dict.fromkeys(thread.cta for thread in self.threads))

    def forbidden(self, passes: bool):
        """A function of an :class:`Outcome`: where it is an outcome that the model forbids; None if it forbids none.

        passes: the verdict: of "exists", that the condition can hold; of the others, that the assertion holds.
        """
        if self.kind == "exists":
            return None if passes else self._holds
        if not passes:
            return None
        return self._holds if self.kind == "~exists" else lambda o: ~self._holds(o)

    def _holds(self, outcome: Outcome) -> np.ndarray:
        text = re.sub(r"P?(\d+)\s*:\s*(r\d+)", r"R[\1,'\2']", self.condition)
        text = re.sub(r"(?<![\w'\[,])([A-Za-z_]\w*)(?![\w'\[])", r"M['\1']", text)
        text = re.sub(
            r"([\w'\[\],]+)\s*(==|!=|<=|>=|<|>|=)\s*([\w'\[\],-]+)",
            r"((\1) \2 (\3))",
            text,
        )
        text = text.replace("/\\", "&").replace("\\/", "|").replace(") = (", ") == (")
        found = eval(text, {}, {"R": outcome.registers, "M": outcome.memory})  # noqa: S307
        return np.broadcast_to(found, outcome.count)


@dataclass
class Outcome:
    """Registers and memory of ``count`` instances at the end."""

    count: int
    registers: dict[tuple[int, str], np.ndarray]
    memory: dict[str, np.ndarray]


def operands_of(threads: list[Thread]) -> list[str]:
    """What stands behind the names of the threads' instructions."""
    return [line.partition(" ")[2] for thread in threads for line in thread.lines]


def read(text: str) -> Litmus:
    """The test in the text of a .litmus file. Raises NotExpressible."""
    head, _, rest = text.partition("{")
    declared, _, rest = rest.partition("}")
    memory, initial = {}, {}
    for item in filter(None, map(str.strip, declared.split(";"))):
        if "aliases" in item:
            raise NotExpressible("one location in several address spaces")
        name, _, value = (part.strip() for part in item.partition("="))
        if re.fullmatch(r"P\d+\s*:\s*r\d+", name):
            if not value.lstrip("-").isdigit():
                raise NotExpressible("a register that holds an address")
            number, _, register = name.partition(":")
            initial[int(number.strip()[1:]), register.strip()] = int(value)
        elif value.lstrip("-").isdigit():
            memory[name] = int(value)
        else:
            raise NotExpressible("a location that holds an address")
    match = re.search(r"(~\s*exists|exists|forall)(.*)", rest, re.DOTALL)
    body = rest[: match.start()]
    if "filter" in body:
        raise NotExpressible("a filter")
    rows = [row.split("|") for row in filter(str.strip, body.split(";"))]
    threads = []
    for cell in rows[0]:
        cta, gpu = re.search(r"cta\s+(\d+)\s*,\s*gpu\s+(\d+)", cell).groups()
        threads.append(Thread((cta, gpu)))
    for row in rows[1:]:
        for thread, cell in zip(threads, row, strict=False):
            if cell.strip():
                thread.lines.append(" ".join(cell.split()))
    words = re.findall(r"[A-Za-z_]\w*", " ".join(operands_of(threads)))
    for word in words:  # a location that is not declared is 0
        if not re.fullmatch(r"r\d+|LC\d+", word):
            memory.setdefault(word, 0)
    for number, thread in enumerate(threads):
        named = re.findall(r"\br\d+\b", " ".join(thread.lines))
        asked = re.findall(rf"\bP?{number}\s*:\s*(r\d+)", match[2])
        thread.registers = sorted({*named, *asked})
    condition = " ".join(match[2].split())
    return Litmus(
        head.split()[1],
        memory,
        initial,
        threads,
        match[1].replace(" ", ""),
        condition,
    )


class _Kernel:
    """PTX of a test. A subclass decides where in the grid a litmus thread is."""

    block: int  # threads of a block
    per_block: int  # instances of which a block has threads

    def __init__(self, test: Litmus) -> None:
        self.test = test
        self.locations = list(test.memory)

    def _barrier(self, number: int, mode: str, numbers: str) -> str:
        """bar.sync or bar.arrive of a litmus thread. Raises NotExpressible."""
        raise NotImplementedError

    def _place(self) -> str:
        """Sets %role, the number of the litmus thread, and %instance, from the place in the grid."""
        raise NotImplementedError

    def _value(self, number: int, word: str) -> str:
        word = word.strip()
        return f"%p{number}{word}" if re.fullmatch(r"r\d+", word) else word

    def _address(self, word: str) -> str:
        return f"[%mem+{4 * LINE * self.locations.index(word.strip())}]"

    def _instruction(self, number: int, line: str) -> str:
        name, _, rest = line.partition(" ")
        words = [word.strip() for word in rest.split(",")]

        def value(i: int) -> str:
            return self._value(number, words[i])

        parts = name.split(".")
        if name.endswith(":"):
            return f"{name[:-1]}_{number}:"
        if name == "goto":
            return f"bra {words[0]}_{number};"
        if name in ("beq", "bne", "blt", "bgt", "ble", "bge"):
            return f"setp.{name[1:]}.s32 %q, {value(0)}, {value(1)};\n    @%q bra {words[2]}_{number};"
        if name == "ld" or name in ("add", "sub", "mul", "div"):
            form = {"ld": "mov.b32", "mul": "mul.lo.s32"}.get(name, f"{name}.s32")
            return f"{form} {', '.join(value(i) for i in range(len(words)))};"
        if parts[0] in ("ld", "st"):
            form = ".".join([*parts, "global", "b32"])
            if parts[0] == "ld":
                return f"{form} {value(0)}, {self._address(words[1])};"
            return f"{form} {self._address(words[0])}, {value(1)};"
        if parts[0] == "fence" and parts[1] in ("sc", "acq_rel"):
            return f"{name};"
        if parts[:2] == ["bar", "cta"]:
            return self._barrier(number, parts[2], rest)
        if parts[0] in ("atom", "red"):
            return self._atomic(parts, words, value)
        raise NotExpressible(
            f"{name}, which is no instruction of PTX for memory of this kind"
        )

    def _atomic(self, parts: list[str], words: list[str], value) -> str:
        *_, order, scope, operation = parts
        if order == "weak" or operation in ("mul", "div"):
            raise NotExpressible(".".join(parts))
        # red has no acq_rel and no sub: an atom whose result is not used is the same.
        result = value(0) if parts[0] == "atom" else "%unused"
        first = 1 if parts[0] == "atom" else 0
        operands = [value(i) for i in range(first + 1, len(words))]
        before = ""
        if operation == "sub":
            before, operands, operation = (
                f"neg.s32 %unused, {operands[0]};\n    ",
                ["%unused"],
                "add",
            )
        kind = "u32" if operation == "add" else "b32"
        form = f"atom.{order}.{scope}.global.{operation}.{kind}"
        return f"{before}{form} {', '.join([result, self._address(words[first]), *operands])};"

    def _begin(self, number: int) -> str:
        """The litmus threads of an instance meet at its last line of memory; then each waits for its delay."""
        meeting = f"[%mem+{4 * LINE * len(self.locations)}]"
        return f"""    atom.relaxed.gpu.global.add.u32 %unused, {meeting}, 1;
MEET_{number}:
    ld.relaxed.gpu.global.b32 %unused, {meeting};
    setp.lt.s32 %q, %unused, {len(self.test.threads)};
    @%q bra MEET_{number};
    ld.global.b32 %d, [%delay];
WAIT_{number}:
    setp.le.s32 %q, %d, 0;
    @%q bra BEGIN_{number};
    add.s32 %d, %d, -1;
    bra WAIT_{number};
BEGIN_{number}:"""

    def text(self) -> str:
        """PTX of ``litmus(memory, registers, delays)``."""
        test, count = self.test, len(self.test.threads)
        blocks = []
        for number, thread in enumerate(test.threads):
            body = [f"THREAD_{number}:"]
            for register in thread.registers:
                body.append(
                    f"    mov.b32 %p{number}{register}, {test.initial.get((number, register), 0)};"
                )
            body.append("DELAY")
            body += ["    " + self._instruction(number, line) for line in thread.lines]
            for i, register in enumerate(thread.registers):
                body.append(f"    st.global.b32 [%out+{4 * i}], %p{number}{register};")
            body.append("    ret;")
            blocks.append("\n".join(body).replace("DELAY", self._begin(number)))
        registers = [
            f"%p{n}{r}" for n, t in enumerate(test.threads) for r in t.registers
        ]
        return f"""
.version 7.5
.target sm_75
.address_size 64
.visible .entry litmus(.param .u64 memory, .param .u64 registers, .param .u64 delays)
{{
    .reg .pred %q;
    .reg .b32 %d, %unused, %lane, %warp, %block, %cta, %role, %instance, %n, %group;
    .reg .b32 {", ".join(["%none", *registers])};
    .reg .u64 %mem, %out, %delay, %x;
    mov.u32 %n, %tid.x;
    and.b32 %lane, %n, 31;
    shr.u32 %warp, %n, 5;
    mov.u32 %block, %ctaid.x;
    rem.u32 %cta, %block, {len(test.ctas)};
    div.u32 %group, %block, {len(test.ctas)};
{self._place()}
    ld.param.u64 %mem, [memory];
    mul.wide.u32 %x, %instance, {4 * LINE * (len(test.memory) + 1)};
    add.u64 %mem, %mem, %x;
    ld.param.u64 %out, [registers];
    mad.lo.u32 %n, %instance, {count}, %role;
    mul.wide.u32 %x, %n, {4 * self.width};
    add.u64 %out, %out, %x;
    ld.param.u64 %delay, [delays];
    mul.wide.u32 %x, %n, 4;
    add.u64 %delay, %delay, %x;
{self._dispatch()}
    ret;
{chr(10).join(blocks)}
}}
"""

    @property
    def width(self) -> int:
        """Registers that are kept of each thread."""
        return max(1, *(len(thread.registers) for thread in self.test.threads))

    def _dispatch(self) -> str:
        return "\n".join(
            f"    setp.eq.s32 %q, %role, {n};\n    @%q bra THREAD_{n};"
            for n in range(len(self.test.threads))
        )


class Warps(_Kernel):
    """The layout in which a litmus thread is a warp. The lanes are instances, unless barriers have their numbers in
    registers, which all lanes of a warp must agree about."""

    def __init__(self, test: Litmus) -> None:
        super().__init__(test)
        lines = " ".join(line + ";" for t in test.threads for line in t.lines)
        self.per_block = 1 if re.search(r"bar\.cta\.\w+ \d+\s*,\s*r\d+", lines) else 32
        most = max(sum(t.cta == cta for t in test.threads) for cta in test.ctas)
        self.block = 32 * most

    def _barrier(self, number: int, mode: str, numbers: str) -> str:
        words = [self._value(number, word) for word in numbers.split(",")]
        together = [
            t for t in self.test.threads if t.cta == self.test.threads[number].cta
        ]
        if len(words) == 1:  # all threads with the same instance
            words.append(words[0])
            same = re.compile(rf"bar\.cta\.\w+ {words[0]}\s*(,|$)")
            count = sum(any(map(same.match, t.lines)) for t in together)
        elif len(words) == 3 and not words[2].isdigit():
            raise NotExpressible("a number of threads in a register")
        else:
            count = int(words[2]) if len(words) == 3 else len(together)
        return f"bar.{mode} {words[1]}, {32 * count};"

    def _place(self) -> str:
        lines = [
            f"    mad.lo.u32 %instance, %group, {self.per_block}, %lane;"
            if self.per_block > 1
            else "    mov.b32 %instance, %group;",
            "    mad.lo.u32 %n, %cta, 64, %warp;",
            "    mov.b32 %role, -1;",
        ]
        for number, thread in enumerate(self.test.threads):
            cta = self.test.ctas.index(thread.cta)
            warp = sum(t.cta == thread.cta for t in self.test.threads[:number])
            lines.append(
                f"    setp.eq.s32 %q, %n, {64 * cta + warp};\n    @%q mov.b32 %role, {number};"
            )
        return "\n".join([*lines, "    setp.lt.s32 %q, %role, 0;", "    @%q ret;"])


class Lanes(_Kernel):
    """The layout in which the litmus threads are neighbouring lanes of a warp."""

    block = 64

    def __init__(self, test: Litmus) -> None:
        super().__init__(test)
        if len(test.ctas) > 1:
            raise NotExpressible("lanes of one warp in several CTAs")
        self.per_block = 2 * (32 // len(test.threads))

    def _barrier(self, number: int, mode: str, numbers: str) -> str:
        raise NotExpressible("a barrier of lanes of one warp")

    def _place(self) -> str:
        count = len(self.test.threads)
        return "\n".join(
            [
                f"    setp.ge.u32 %q, %lane, {32 // count * count};",
                "    @%q ret;",
                f"    rem.u32 %role, %lane, {count};",
                f"    div.u32 %lane, %lane, {count};",
                f"    mad.lo.u32 %lane, %warp, {32 // count}, %lane;",
                f"    mad.lo.u32 %instance, %group, {self.per_block}, %lane;",
            ]
        )


LAYOUTS = {"warps": Warps, "lanes": Lanes}
