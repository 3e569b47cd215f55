"""Statements of single threads in random kernels: arithmetic, calls, memory and atomics.

Values that threads exchange in no defined order are combined by operations that do not
depend on the order. Other memory belongs to one thread.
"""

from __future__ import annotations

import random

from . import random_forms as forms
from .random_forms import BLOCK_COUNT, MOST_THREADS, OWN_BYTES, REGISTERS

BLOCKS = [
    (32, 1, 1),
    (64, 1, 1),
    (96, 1, 1),
    (40, 1, 1),
    (16, 8, 1),
    (8, 4, 4),
    (128, 2, 1),
]
assert max(x * y * z for x, y, z in BLOCKS) == MOST_THREADS


class Statements:
    """A kernel's text, statement by statement."""

    def __init__(self, seed: int, exact: bool = False) -> None:
        """With `exact` it has no operation that devices may round differently."""
        self.seed = seed
        self.random = random.Random(seed)
        # Features that recorded (exact) kernels do not have use a separate generator: the recorded ones stay the same.
        self.more = None if exact else random.Random(f"{seed} more")
        self.block = self.random.choice(BLOCKS)
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.total = self.threads * BLOCK_COUNT
        self.whole_warps = self.threads % 32 == 0
        # A thread's own memory has pieces of this many bytes; the threads' pieces are adjacent.
        self.piece = self.random.choice([4, 8, 16, OWN_BYTES])
        self.arithmetic_forms = forms.ARITHMETIC + ([] if exact else forms.APPROXIMATE)
        self.lines: list[str] = []
        self.labels = 0
        self.nested = 0
        self.all_threads = True  # no thread has ended
        self.loops: list[tuple[str, str] | None] = []  # labels of continue and break
        self.start = self.random.randrange(1 << 32)
        self.again = forms.AGAIN if self.random.random() < 0.15 else ""

    # ---- words ----------------------------------------------------------------------------

    def emit(self, text: str) -> None:
        self.lines.append("    " + text)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def pick(self, *choices):
        return self.random.choice(choices)

    def register(self) -> str:
        return f"%r{self.random.randrange(REGISTERS)}"

    def wide(self) -> str:
        return f"%v{self.random.randrange(forms.WIDE_REGISTERS)}"

    def fill(self, form: str, **words: str) -> None:
        """Emits a form with random registers."""
        names = {name: self.register() for name in "abcd"}
        names |= {name: self.wide() for name in "pqrs"}
        self.emit(form.format(**names, k=self.random.randrange(1, 8), **words))

    def arithmetic(self) -> None:
        self.fill(
            self.random.choice(
                forms.WIDE if self.random.random() < 0.2 else self.arithmetic_forms
            )
        )

    # ---- calls ----------------------------------------------------------------------------

    def call(self) -> None:
        kind = self.random.randrange(4)
        if kind == 0:
            self.call_fold()
            return
        self.emit("{ .param .b32 x; .param .b32 y; .param .b32 z;")
        self.emit(f"st.param.b32 [x], {self.register()};")
        self.emit(f"st.param.b32 [y], {self.register()};")
        if kind == 1:  # a function that each thread selects
            self.emit(f"setp.lt.s32 %p, {self.register()}, {self.register()};")
            self.emit("mov.u64 %d, mix; mov.u64 %e, turn; selp.b64 %d, %d, %e, %p;")
            self.emit(
                "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);"
            )
            self.emit("call (z), %d, (x, y), P;")
        else:
            self.emit(f"call (z), {self.pick('mix', 'turn')}, (x, y);")
        self.emit(f"ld.param.b32 {self.register()}, [z]; }}")

    def call_fold(self) -> None:
        """Words of global, shared or local memory, through a generic pointer."""
        self.generic_place()
        self.emit("{ .param .b64 x; .param .b32 y; .param .b64 z;")
        self.emit("st.param.b64 [x], %d;")
        self.emit(f"st.param.b32 [y], {self.pick('3', '2', '0')};")
        self.emit("call (z), fold, (x, y);")
        self.emit(f"ld.param.b64 {self.wide()}, [z]; }}")

    def generic_place(self) -> None:
        """%d: 16 bytes of the thread, in local memory for some threads, in shared memory for others."""
        self.emit("mov.u32 %b, pad; shl.b32 %a, %t, 4; add.u32 %a, %a, %b;")
        self.emit("cvt.u64.u32 %d, %a; cvta.shared.u64 %d, %d;")
        if self.random.random() < 0.7:
            self.emit("mov.u64 %e, own_words; cvta.local.u64 %e, %e;")
            self.emit(f"setp.gt.s32 %p, {self.register()}, {self.register()};")
            self.emit("selp.b64 %d, %d, %e, %p;")

    # ---- memory ---------------------------------------------------------------------------

    def memory(self) -> None:
        self.random.choice(
            [
                self.read_input,
                self.read_input,
                self.local_words,
                self.own_global,
                self.own_global,
                self.own_shared,
                self.own_generic,
                self.atomic,
                self.count,
                self.sum_up,
                self.ticket,
            ]
        )()

    def load(self, operation: str, kind: str, count: int, place: str) -> None:
        self.access(operation, kind, count, place, is_load=True)

    def store(self, operation: str, kind: str, count: int, place: str) -> None:
        self.access(operation, kind, count, place, is_load=False)

    def access(self, operation, kind, count, place, is_load) -> None:
        """One load or store of `count` values of a type: narrow types and f32 also need moves."""
        vector = f".v{count}" if count > 1 else ""
        values = [
            self.wide() if kind.endswith("64") else self.register()
            for _ in range(count)
        ]
        if is_load:  # the elements of one vector must be different
            while len(set(values)) < count:
                values = [
                    *dict.fromkeys(values),
                    self.wide() if kind.endswith("64") else self.register(),
                ]
        through, before, after = values, "", ""
        if kind == "f64":
            through = ["%x"]
            before, after = f"mov.b64 %x, {values[0]};", f"mov.b64 {values[0]}, %x;"
        elif kind == "f32":
            through = ["%f", "%g"]
            moves = list(zip(through, values, strict=True))
            before = " ".join(f"mov.b32 {real}, {word};" for real, word in moves)
            after = " ".join(f"mov.b32 {word}, {real};" for real, word in moves)
        elif kind[1:] in ("8", "16") and count > 1:
            through = [f"%h{i}" for i in range(count)]
            moves = list(zip(through, values, strict=True))
            before = " ".join(f"cvt.u16.u32 {half}, {word};" for half, word in moves)
            after = " ".join(f"cvt.u32.u16 {word}, {half};" for half, word in moves)
        operand = f"{{{', '.join(through)}}}" if count > 1 else through[0]
        if is_load:
            self.emit(f"{operation}{vector}.{kind} {operand}, {place}; {after}")
        else:
            self.emit(
                f"{before} {operation}{vector}.{kind.replace('s', 'u')} {place}, {operand};"
            )

    def read_input(self) -> None:
        kind, count, size = self.random.choice(forms.ACCESSES)
        elements = 4096 // size
        if self.random.random() < 0.6:
            self.emit(f"and.b32 %a, {self.register()}, {elements - 1};")
        else:  # adjacent elements
            step, first = self.pick(1, 1, 2, 3, 8), self.random.randrange(elements)
            self.emit(f"mad.lo.u32 %a, {self.pick('%t', '%index')}, {step}, {first};")
            self.emit(f"and.b32 %a, %a, {elements - 1};")
        self.emit(f"mul.wide.u32 %d, %a, {size}; add.u64 %d, %in, %d;")
        self.load(self.pick("ld.global", "ld.global.nc"), kind, count, "[%d]")

    def local_words(self) -> None:
        self.emit(f"and.b32 %a, {self.register()}, 7; shl.b32 %a, %a, 2;")
        self.emit("mov.u32 %b, own_words; add.u32 %a, %a, %b;")
        self.emit(f"st.local.u32 [%a], {self.register()};")
        if self.random.random() < 0.5:
            self.emit("ld.local.u32 %a, [own_words+12];")
        else:
            self.emit(f"and.b32 %a, {self.register()}, 31; add.u32 %a, %a, %b;")
            self.emit(f"ld.local.{self.pick('s8', 'u8')} %a, [%a];")
        self.emit(f"xor.b32 {self.register()}, %a, {self.register()};")

    def own_place(self, size: int) -> None:
        """%d: aligned bytes of `scratch` that no other thread accesses."""
        unit = self.piece
        offset = self.random.randrange(unit // size) * size
        pieces = OWN_BYTES // unit
        if pieces > 1 and self.random.random() < 0.5:
            self.emit(f"and.b32 %a, {self.register()}, {pieces - 1};")
            self.emit(f"mad.lo.u32 %a, %a, {self.total}, %index;")
            self.emit(f"mad.lo.u32 %a, %a, {unit}, {offset};")
        elif unit == OWN_BYTES and self.random.random() < 0.5:
            self.emit(f"and.b32 %a, {self.register()}, {unit // size - 1};")
            self.emit(f"mul.lo.u32 %a, %a, {size};")
            self.emit(f"mad.lo.u32 %a, %index, {unit}, %a;")
        else:
            piece = self.random.randrange(pieces)
            at = piece * self.total * unit + offset
            self.emit(f"mad.lo.u32 %a, %index, {unit}, {at};")
        self.emit("cvt.u64.u32 %d, %a; add.u64 %d, %scratch, %d;")

    def accesses_within(self, size: int):
        return [access for access in forms.ACCESSES if access[2] <= size]

    def own_global(self) -> None:
        self.own_place(self.piece)
        for operation in self.pick(("st", "ld"), ("st",), ("ld",), ("st", "st", "ld")):
            kind, count, size = self.random.choice(self.accesses_within(self.piece))
            offset = self.random.randrange(self.piece // size) * size
            call = self.store if operation == "st" else self.load
            cache = self.pick("", "", ".volatile", ".relaxed.gpu")
            if cache == ".relaxed.gpu" and count > 1:
                cache = ""
            operation = f"st{cache}" if operation == "st" else f"ld{cache}"
            call(f"{operation}.global", kind, count, f"[%d+{offset}]")

    def own_shared(self) -> None:
        self.emit("mov.u32 %b, pad; shl.b32 %a, %t, 4; add.u32 %a, %a, %b;")
        for call, operation in ((self.store, "st"), (self.load, "ld")):
            kind, count, size = self.random.choice(self.accesses_within(16))
            offset = self.random.randrange(16 // size) * size
            call(f"{operation}.shared", kind, count, f"[%a+{offset}]")

    def own_generic(self) -> None:
        self.generic_place()
        for call, operation in ((self.store, "st"), (self.load, "ld")):
            # Local words are aligned to four bytes.
            kind, count, size = self.random.choice(self.accesses_within(4))
            offset = self.random.randrange(16 // size) * size
            call(operation, kind, count, f"[%d+{offset}]")

    # ---- atomics --------------------------------------------------------------------------

    def atomic(self) -> None:
        """An atomic at an address that only this thread uses, so that the old value is known."""
        is_wide = self.piece >= 8 and self.random.random() < 0.3
        form = self.random.choice(forms.WIDE_ATOMICS if is_wide else forms.ATOMICS)
        size = 8 if is_wide else 4
        kind = self.random.randrange(3)
        if kind == 0:
            self.emit("mov.u32 %b, pad; shl.b32 %a, %t, 4; add.u32 %a, %a, %b;")
            offset = self.random.randrange(16 // size) * size
            self.fill(form, at=f"[%a+{offset}]", space=".shared")
        elif kind == 1:
            self.own_place(size)
            self.fill(form, at="[%d]", space=".global")
        else:
            self.own_place(size)
            self.emit("mov.u32 %b, pad; shl.b32 %a, %t, 4; add.u32 %a, %a, %b;")
            self.emit("cvt.u64.u32 %e, %a; cvta.shared.u64 %e, %e;")
            self.emit(f"setp.gt.s32 %p, {self.register()}, {self.register()};")
            self.emit("cvta.global.u64 %d, %d; selp.b64 %d, %d, %e, %p;")
            self.fill(form, at="[%d]", space="")

    def count(self) -> None:
        self.emit(f"and.b32 %a, {self.register()}, 15; shl.b32 %a, %a, 2;")
        self.emit("mov.u32 %b, counts; add.u32 %a, %a, %b;")
        self.emit(f"red.shared.add.u32 [%a], {self.register()};")

    def sum_up(self) -> None:
        slots = {
            "add.u32": 0,
            "max.u32": 20,
            "xor.b32": 40,
            "min.s32": 48,
            "or.b32": 52,
        }
        kind = self.random.randrange(6)
        if kind == 0:
            self.emit(f"red.global.add.u64 [%sums+8], {self.wide()};")
        else:
            op = self.random.choice(list(slots))
            self.emit(f"red.global.{op} [%sums+{slots[op]}], {self.register()};")

    def ticket(self) -> None:
        """Each number is taken once, by any thread: their sum is known."""
        if self.random.random() < 0.5:
            self.emit("atom.global.add.u32 %a, [%sums+64], 1;")
            self.emit("mad.lo.u32 %a, %a, 0x9e3779b9, 12345;")
            self.emit("red.global.add.u32 [%sums+68], %a;")
        else:
            self.emit("atom.shared.add.u64 %d, [tickets], 3;")
            self.emit("mul.lo.u64 %d, %d, %d;")
            self.emit("red.global.add.u64 [%sums+72], %d;")
