#!/usr/bin/env python3
"""Make random kernels and compare what they compute in softcuda's three tiers.

    tools/random_kernels.py RUNNER LIBRARY [--count N] [--seed S] [--keep FOLDER]

RUNNER is the program softcuda_run_tests, LIBRARY libsoftcuda.so; both are in build/release. Each
kernel mixes arithmetic, branches, switches and loops by data, calls, shared and local memory,
barriers, shuffles, votes and atomics, so that its results do not depend on the order in which
threads run. The same
seed makes the same kernels. Exits with 1, and says which kernels differ, where any do.
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

REGISTERS = 8
BLOCKS = [(32, 1, 1), (64, 1, 1), (96, 1, 1), (40, 1, 1), (16, 8, 1), (8, 4, 4)]

HEADER = """// Made by tools/random_kernels.py, seed {seed}.
// LAUNCH: k grid 3 block {x} {y} {z}
// BUFFER: in u32 1024 = iota {start} 2654435761
// BUFFER: out u32 {size} = zero
// BUFFER: sums u32 16 = zero
// ARGS: in out sums
// COMPARE: out sums
.version 7.8
.target sm_80
.address_size 64
{functions}.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sums) {{
    .reg .pred %p, %q, %c<32>;
    .reg .b32 %r<{registers}>, %n<32>, %t, %a, %b, %threads, %index;
    .reg .f32 %f, %g;
    .reg .f64 %x, %y;
    .reg .b16 %h;
    .reg .b64 %in, %out, %sums, %d, %w;
    .shared .align 4 .b32 cells[256];
    .shared .align 4 .b32 counts[16];
    .local .align 4 .b32 own[8];
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u64 %sums, [sums];
    cvta.to.global.u64 %in, %in;
    cvta.to.global.u64 %out, %out;
    cvta.to.global.u64 %sums, %sums;
    mov.u32 %a, %tid.x;
    mov.u32 %b, %tid.y;
    mad.lo.u32 %a, %b, {x}, %a;
    mov.u32 %b, %tid.z;
    mad.lo.u32 %t, %b, {xy}, %a;
    mov.u32 %a, %ctaid.x;
    mad.lo.u32 %index, %a, {threads}, %t;
    and.b32 %a, %t, 15;
    shl.b32 %a, %a, 2;
    mov.u32 %b, counts;
    add.u32 %a, %a, %b;
    st.shared.u32 [%a], 0;
    shl.b32 %a, %t, 2;
    mov.u32 %b, cells;
    add.u32 %a, %a, %b;
    st.shared.u32 [%a], %t;
    mov.u64 %w, 1;
    bar.sync 0;
"""

# With `again` it calls itself as often as its second argument says.
FUNCTIONS = """.func (.param .b32 result) mix(.param .b32 a, .param .b32 n)
{{
    .reg .pred %p;
    .reg .b32 %a, %n, %i;
    ld.param.b32 %a, [a];
    ld.param.b32 %n, [n];
    and.b32 %n, %n, 7;
    setp.eq.u32 %p, %n, 0;
    @%p bra DONE;
    mov.u32 %i, 0;
MORE:
    mad.lo.u32 %a, %a, 1664525, %n;
    setp.eq.u32 %p, %a, 77;
    @%p bra DONE;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra MORE;
    {again}
DONE:
    st.param.b32 [result], %a;
    ret;
}}
"""
AGAIN = """sub.u32 %n, %n, 1;
    {
    .param .b32 x;
    .param .b32 y;
    .param .b32 z;
    st.param.b32 [x], %a;
    st.param.b32 [y], %n;
    call (z), mix, (x, y);
    ld.param.b32 %i, [z];
    }
    xor.b32 %a, %a, %i;"""

ARITHMETIC = [
    "add.u32 {d}, {a}, {b};",
    "sub.u32 {d}, {a}, {b};",
    "mul.lo.u32 {d}, {a}, {b};",
    "mul.hi.s32 {d}, {a}, {b};",
    "mad.lo.u32 {d}, {a}, {b}, {c};",
    "and.b32 {d}, {a}, {b};",
    "or.b32 {d}, {a}, {b};",
    "xor.b32 {d}, {a}, {b};",
    "min.s32 {d}, {a}, {b};",
    "max.u32 {d}, {a}, {b};",
    "shr.u32 {d}, {a}, {k};",
    "shl.b32 {d}, {a}, {k};",
    "popc.b32 {d}, {a};",
    "prmt.b32 {d}, {a}, {b}, 0x{k}517;",
    "shf.l.wrap.b32 {d}, {a}, {b}, {k};",
    "setp.lt.s32 %p, {a}, {b}; selp.b32 {d}, {c}, {a}, %p;",
    "cvt.rn.f32.s32 %f, {a}; cvt.rn.f32.u32 %g, {b}; fma.rn.f32 %f, %f, %g, %g; mov.b32 {d}, %f;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; add.rn.f32 %f, %f, %g; mov.b32 {d}, %f;",
    "div.u32 {d}, {a}, 7;",
    "rem.s32 {d}, {a}, {b};",
    "mul.wide.s32 %w, {a}, {b}; shr.s64 %w, %w, {k}; cvt.u32.u64 {d}, %w;",
    "mad.wide.u32 %w, {a}, {b}, %w; cvt.u32.u64 {d}, %w;",
    "add.cc.u32 {d}, {a}, {b}; addc.u32 {c}, {c}, {k};",
    "setp.lt.u32 %p, {a}, {b}; @%p add.u32 {d}, {d}, {c};",
    "setp.ge.s32 %p|%q, {a}, {b}; @%q xor.b32 {d}, {a}, {c}; @!%p sub.u32 {c}, {d}, {b};",
    "bfe.s32 {d}, {a}, {k}, 11;",
    "bfi.b32 {d}, {a}, {b}, {k}, 9;",
    "lop3.b32 {d}, {a}, {b}, {c}, 0x{k}9;",
    "clz.b32 {d}, {a};",
    "brev.b32 {d}, {a};",
    "dp4a.s32.u32 {d}, {a}, {b}, {c};",
    "cvt.rn.f32.s32 %f, {a}; sqrt.rn.f32 %g, %f; div.rn.f32 %f, %f, %g; mov.b32 {d}, %f;",
    "cvt.rn.f32.s32 %f, {a}; mul.rn.f32 %f, %f, 0f30000000; sin.approx.f32 %g, %f;"
    " ex2.approx.ftz.f32 %f, %g; mov.b32 {d}, %f;",
    "cvt.rn.f32.u32 %f, {a}; rsqrt.approx.f32 %f, %f; lg2.approx.f32 %g, %f; mov.b32 {d}, %g;",
    "cvt.rn.f64.s32 %x, {a}; cvt.rn.f64.u32 %y, {b}; fma.rn.f64 %x, %x, %y, %x;"
    " div.rn.f64 %x, %x, 0d4010000000000000; cvt.rzi.s32.f64 {d}, %x;",
    "mov.b16 %h, 0x3c0{k}; mov.b32 {d}, {{%h, %h}}; fma.rn.f16x2 {d}, {d}, {a}, {b};",
]


class Kernel:
    """One kernel's text, statement by statement."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.block = self.random.choice(BLOCKS)
        self.threads = self.block[0] * self.block[1] * self.block[2]
        self.lines: list[str] = []
        self.labels = 0
        self.nested = 0
        self.all_threads = True  # none has ended
        self.loops: list[tuple[str, str] | None] = []  # labels of continue and break
        again = AGAIN if self.random.random() < 0.15 else ""
        x, y, z = self.block
        self.header = HEADER.format(
            seed=seed,
            start=self.random.randrange(1 << 32),
            x=x,
            y=y,
            z=z,
            xy=x * y,
            threads=self.threads,
            size=self.threads * 3,
            registers=REGISTERS,
            functions=FUNCTIONS.format(again=again),
        )

    def emit(self, text: str) -> None:
        self.lines.append("    " + text)

    def label(self) -> str:
        self.labels += 1
        return f"L{self.labels}"

    def register(self) -> str:
        return f"%r{self.random.randrange(REGISTERS)}"

    def arithmetic(self) -> None:
        form = self.random.choice(ARITHMETIC)
        k = self.random.randrange(1, 8)
        a, b, c, d = (self.register() for _ in range(4))
        self.emit(form.format(a=a, b=b, c=c, d=d, k=k))

    def condition(self) -> str:
        """A predicate that stays as it is while the branches on it are made."""
        self.nested += 1
        predicate = f"%c{self.nested}"
        self.emit(
            f"and.b32 %a, {self.register()}, {self.random.choice([1, 3, 6, 16])};"
        )
        self.emit(f"setp.ne.u32 {predicate}, %a, 0;")
        return predicate

    def branch(self, depth: int) -> None:
        predicate, other, end = self.condition(), self.label(), self.label()
        self.emit(f"@{predicate} bra {other};")
        self.divergent(depth + 1)
        self.emit(f"bra {end};")
        self.lines.append(other + ":")
        if self.random.random() < 0.7:
            self.divergent(depth + 1)
        self.lines.append(end + ":")
        self.nested -= 1

    def loop(self, depth: int, body, rounds: str) -> None:
        """`rounds` is an operand: a number makes a loop that all threads leave together."""
        self.nested += 1
        counter, predicate, start = (
            f"%n{self.nested}",
            f"%c{self.nested}",
            self.label(),
        )
        if rounds.startswith("%"):
            self.emit(f"and.b32 {counter}, {rounds}, 7;")
        else:
            self.emit(f"mov.u32 {counter}, {rounds};")
        self.lines.append(start + ":")
        jumps = (self.label(), self.label()) if rounds.startswith("%") else None
        self.loops.append(jumps)
        body(depth + 1)
        self.loops.pop()
        if jumps:
            self.lines.append(jumps[0] + ":")
        if rounds.startswith("%") and self.random.random() < 0.3:
            end = self.label()
            self.emit(f"setp.eq.u32 %p, {self.register()}, 12345;")
            self.emit(f"@%p bra {end};")
            self.end_loop(counter, predicate, start)
            self.lines.append(end + ":")
        else:
            self.end_loop(counter, predicate, start)
        if jumps:
            self.lines.append(jumps[1] + ":")
        self.nested -= 1

    def jump(self) -> None:
        """Some threads go on with the innermost loop's next round, or leave it."""
        self.emit(f"and.b32 %a, {self.register()}, {self.random.choice([3, 12, 56])};")
        self.emit("setp.eq.u32 %p, %a, 0;")
        self.emit(f"@%p bra {self.random.choice(self.loops[-1])};")

    def switch(self, depth: int) -> None:
        ways = [self.label() for _ in range(self.random.randrange(2, 5))]
        targets, end = self.label(), self.label()
        order = [self.random.choice(ways) for _ in range(4)]
        self.emit(f"and.b32 %a, {self.register()}, 3;")
        self.lines.append(f"{targets}: .branchtargets {', '.join(order)};")
        self.emit(f"brx.idx %a, {targets};")
        for way in ways:
            self.lines.append(way + ":")
            self.divergent(depth + 2)
            if self.random.random() < 0.7:  # else it falls through
                self.emit(f"bra {end};")
        self.lines.append(end + ":")

    def call(self) -> None:
        self.emit("{ .param .b32 x; .param .b32 y; .param .b32 z;")
        self.emit(f"st.param.b32 [x], {self.register()};")
        self.emit(f"st.param.b32 [y], {self.register()};")
        self.emit("call (z), mix, (x, y);")
        self.emit(f"ld.param.b32 {self.register()}, [z]; }}")

    def end_loop(self, counter: str, predicate: str, start: str) -> None:
        self.emit(f"sub.u32 {counter}, {counter}, 1;")
        self.emit(f"setp.gt.s32 {predicate}, {counter}, 0;")
        self.emit(f"@{predicate} bra {start};")

    def memory(self) -> None:
        kind = self.random.randrange(4)
        r = self.register()
        if kind == 0:
            self.emit(f"and.b32 %a, {r}, 1023; mul.wide.u32 %d, %a, 4;")
            self.emit(f"add.u64 %d, %in, %d; ld.global.u32 {self.register()}, [%d];")
        elif kind == 1:
            self.emit(f"and.b32 %a, {r}, 7; shl.b32 %a, %a, 2;")
            self.emit("mov.u32 %b, own; add.u32 %a, %a, %b;")
            self.emit(f"st.local.u32 [%a], {self.register()};")
            self.emit("ld.local.u32 %a, [own+12];")
            self.emit(f"xor.b32 {self.register()}, %a, {self.register()};")
        elif kind == 2:
            self.emit(f"and.b32 %a, {r}, 15; shl.b32 %a, %a, 2;")
            self.emit("mov.u32 %b, counts; add.u32 %a, %a, %b;")
            self.emit(f"red.shared.add.u32 [%a], {self.register()};")
        else:
            op = self.random.choice(["add.u32", "max.u32", "xor.b32"])
            slot = {"add.u32": 0, "max.u32": 20, "xor.b32": 40}[op]
            self.emit(f"red.global.{op} [%sums+{slot}], {r};")

    def divergent(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 5)):
            kind = self.random.random()
            if kind < 0.55 or depth > 3:
                self.arithmetic()
            elif kind < 0.66:
                self.memory()
            elif kind < 0.68:
                self.call()
            elif kind < 0.72 and self.loops and self.loops[-1]:
                self.jump()
            elif kind < 0.75:
                self.switch(depth)
            elif kind < 0.88:
                self.branch(depth)
            else:
                self.loop(depth, self.divergent, self.register())

    def exchange(self) -> None:
        """What all threads of the block do together."""
        kind = self.random.randrange(5 if self.all_threads else 2)
        a, d = self.register(), self.register()
        if kind == 4 and self.threads % 32 == 0:
            self.exchange_in_parts()
        elif kind == 0:
            self.emit("shl.b32 %a, %t, 2; mov.u32 %b, cells; add.u32 %a, %a, %b;")
            self.emit(f"st.shared.u32 [%a], {a};")
            self.emit("bar.sync 0;")
            self.emit(
                f"mad.lo.u32 %a, %t, {self.random.choice([1, 3, 5, 7])}, {self.random.randrange(9)};"
            )
            self.emit(f"rem.u32 %a, %a, {self.threads};")
            self.emit("shl.b32 %a, %a, 2; add.u32 %a, %a, %b;")
            self.emit(f"ld.shared.u32 {d}, [%a];")
            self.emit("bar.sync 0;")
        elif kind == 1:
            self.emit(f"and.b32 %a, {a}, 4; setp.ne.u32 %p, %a, 0;")
            if self.random.random() < 0.5:
                self.emit("bar.red.popc.u32 %a, 0, %p;")
            else:
                self.emit(
                    f"bar.red.{self.random.choice(['and', 'or'])}.pred %q, 0, %p;"
                )
                self.emit("selp.u32 %a, 5, 9, %q;")
            self.emit(f"add.u32 {d}, {d}, %a;")
        elif self.threads % 32 == 0 and kind == 2:
            mode = self.random.choice(["bfly", "up", "down", "idx"])
            clamp = 0 if mode == "up" else 31
            self.emit(
                f"shfl.sync.{mode}.b32 {d}, {a}, {self.random.randrange(32)}, {clamp}, 0xffffffff;"
            )
        elif self.threads % 32 == 0:
            self.emit(f"and.b32 %a, {a}, 2; setp.ne.u32 %p, %a, 0;")
            self.emit("vote.sync.ballot.b32 %a, %p, 0xffffffff;")
            self.emit(f"xor.b32 {d}, {d}, %a;")

    def exchange_in_parts(self) -> None:
        """The lanes of a warp part, and those on each way exchange values."""
        predicate, other, end = self.condition(), self.label(), self.label()
        members = f"%n{self.nested}"
        self.emit(f"vote.sync.ballot.b32 {members}, {predicate}, 0xffffffff;")
        self.emit(f"@{predicate} bra {other};")
        self.emit(f"not.b32 {members}, {members};")
        self.exchange_among(members)
        self.emit(f"bra {end};")
        self.lines.append(other + ":")
        self.arithmetic()
        self.exchange_among(members)
        self.lines.append(end + ":")
        self.nested -= 1

    def exchange_among(self, members: str) -> None:
        a, d = self.register(), self.register()
        kind = self.random.randrange(4)
        if kind == 0:
            op = self.random.choice(["add.u32", "min.s32", "xor.b32"])
            self.emit(f"redux.sync.{op} {d}, {a}, {members};")
        elif kind == 1:
            self.emit(f"and.b32 %a, {a}, 3; match.any.sync.b32 {d}, %a, {members};")
        elif kind == 2:
            self.emit(
                f"setp.gt.s32 %p, {a}, {d}; vote.sync.ballot.b32 {d}, %p, {members};"
            )
        else:
            self.emit(f"bar.warp.sync {members};")

    def block_branch(self, depth: int) -> None:
        """A branch of all threads of a block, by what only memory knows."""
        self.nested += 1
        predicate, other, end = f"%c{self.nested}", self.label(), self.label()
        self.emit("mov.u32 %a, %ctaid.x; mul.wide.u32 %d, %a, 4;")
        self.emit("add.u64 %d, %in, %d; ld.global.u32 %a, [%d];")
        self.emit(f"and.b32 %a, %a, {self.random.choice([1, 2, 4, 256])};")
        self.emit(f"setp.ne.u32 {predicate}, %a, 0;")
        self.emit(f"@{predicate} bra {other};")
        self.uniform(depth + 1)
        self.emit(f"bra {end};")
        self.lines.append(other + ":")
        if self.random.random() < 0.7:
            self.uniform(depth + 1)
        self.lines.append(end + ":")
        self.nested -= 1

    def end_some(self) -> None:
        """Some threads end. The others' barriers do not wait for them."""
        self.store_result()
        self.emit(f"and.b32 %a, {self.register()}, {self.random.choice([1, 6, 32])};")
        self.emit("setp.eq.u32 %p, %a, 0;")
        self.emit("@%p exit;")
        self.all_threads = False
        self.uniform(1)

    def uniform(self, depth: int) -> None:
        for _ in range(self.random.randrange(2, 6)):
            kind = self.random.random()
            if kind < 0.35:
                self.exchange()
            elif kind < 0.42 and depth < 2:
                self.block_branch(depth)
            elif kind < 0.5 and depth < 2:
                self.loop(depth, self.uniform, str(self.random.randrange(1, 4)))
            else:
                self.divergent(depth)

    def store_result(self) -> None:
        """A number of all registers, and of what %a holds."""
        for n in range(REGISTERS):
            self.emit(f"mad.lo.u32 %a, %a, 31, %r{n};")
        self.emit("mul.wide.u32 %d, %index, 4; add.u64 %d, %out, %d;")
        self.emit("st.global.u32 [%d], %a;")

    def text(self) -> str:
        for n in range(REGISTERS):
            self.emit(f"mad.lo.u32 %a, %index, {2 * n + 1}, {n * 37};")
            self.emit("and.b32 %a, %a, 1023; mul.wide.u32 %d, %a, 4;")
            self.emit(f"add.u64 %d, %in, %d; ld.global.u32 %r{n}, [%d];")
        for n in range(8):
            self.emit(f"st.local.u32 [own+{4 * n}], %r{n % REGISTERS};")
        self.uniform(0)
        if self.random.random() < 0.25:
            self.end_some()
        self.emit("bar.sync 0; ld.shared.u32 %a, [counts+20];")
        self.store_result()
        self.emit("ret;")
        return self.header + "\n".join(self.lines) + "\n}\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("runner")
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", help="a folder in which the kernels are left")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        files = []
        for seed in range(options.seed, options.seed + options.count):
            path = folder / f"random_{seed}.ptx"
            path.write_text(Kernel(seed).text())
            files.append(str(path))
        return subprocess.run([options.runner, options.library, *files]).returncode


if __name__ == "__main__":
    sys.exit(main())
