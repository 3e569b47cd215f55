"""Random kernels whose results do not depend on the order of threads. The same seed makes the same kernel.

Each mixes the statements of random_statements.py with data-dependent branches, switches and loops, barriers,
and exchanges between lanes and between warps.
"""

from __future__ import annotations

from . import random_forms as forms
from .random_forms import OWN_BYTES, REGISTERS
from .random_statements import Statements

FULL = "0xffffffff"


class Kernel(Statements):
    """One kernel's text."""

    # ---- flow -----------------------------------------------------------------------------

    def condition(self) -> str:
        """A predicate that does not change while the branches on it are made."""
        self.nested += 1
        predicate = f"%c{self.nested}"
        self.emit(f"and.b32 %a, {self.register()}, {self.pick(1, 3, 6, 16)};")
        self.emit(f"setp.ne.u32 {predicate}, %a, 0;")
        return predicate

    def either(self, predicate: str, first, second) -> None:
        """Runs `first` if the predicate is false, `second` if it is true."""
        other, end = self.label(), self.label()
        self.emit(f"@{predicate} bra {other};")
        first()
        self.emit(f"bra {end};")
        self.lines.append(other + ":")
        second()
        self.lines.append(end + ":")
        self.nested -= 1

    def maybe(self, statement):
        return statement if self.random.random() < 0.7 else lambda: None

    def branch(self, depth: int) -> None:
        def way():
            self.divergent(depth + 1)

        self.either(self.condition(), way, self.maybe(way))

    def loop(self, depth: int, body, rounds: str) -> None:
        """`rounds` is an operand: a number makes a loop that all threads leave together."""
        self.nested += 1
        counter, predicate, start = (
            f"%n{self.nested}",
            f"%c{self.nested}",
            self.label(),
        )
        together = not rounds.startswith("%r")
        if together:
            self.emit(f"mov.u32 {counter}, {rounds};")
        else:
            self.emit(f"and.b32 {counter}, {rounds}, 7;")
        self.lines.append(start + ":")
        jumps = None if together else (self.label(), self.label())
        self.loops.append(jumps)
        if jumps and self.more and self.more.random() < 0.3:
            self.go_round(counter, start)
        body(depth + 1)
        self.loops.pop()
        if jumps:
            self.lines.append(jumps[0] + ":")
        if not together and self.random.random() < 0.3:
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

    def go_round(self, counter: str, start: str) -> None:
        """Some threads begin the next round at once, the others can leave the loop before that."""
        changed = f"%r{self.more.randrange(forms.REGISTERS)}"
        self.emit(f"add.u32 {changed}, {changed}, {counter};")
        self.emit(f"setp.gt.s32 %p, {counter}, {self.more.choice([1, 3, 5])};")
        self.emit(f"@%p sub.u32 {counter}, {counter}, 1;")
        self.emit(f"@%p bra {start};")

    def end_loop(self, counter: str, predicate: str, start: str) -> None:
        self.emit(f"sub.u32 {counter}, {counter}, 1;")
        self.emit(f"setp.gt.s32 {predicate}, {counter}, 0;")
        self.emit(f"@{predicate} bra {start};")

    def jump(self) -> None:
        """Some threads continue with the innermost loop's next round, or leave it."""
        self.emit(f"and.b32 %a, {self.register()}, {self.pick(3, 12, 56)};")
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
            if self.random.random() < 0.7:  # otherwise it falls through
                self.emit(f"bra {end};")
        self.lines.append(end + ":")

    def divergent(self, depth: int) -> None:
        for _ in range(self.random.randrange(1, 5)):
            kind = self.random.random()
            if kind < 0.5 or depth > 3:
                self.arithmetic()
            elif kind < 0.66:
                self.memory()
            elif kind < 0.69:
                self.call()
            elif kind < 0.72 and self.loops and self.loops[-1]:
                self.jump()
            elif kind < 0.75:
                self.switch(depth)
            elif kind < 0.88:
                self.branch(depth)
            else:
                self.loop(depth, self.divergent, self.register())

    # ---- common operations of threads -------------------------------------------------------------

    def exchange(self) -> None:
        """An operation that all threads of the block execute together."""
        ways = [self.exchange_all, self.exchange_all, self.reduce_at_barrier]
        if self.all_threads:
            ways += [self.exchange_in_function, self.barrier_or_not]
        if self.all_threads and self.whole_warps:
            ways += [self.exchange_in_warp] * 3 + [
                self.exchange_in_groups,
                self.warp_loop,
            ]
        self.random.choice(ways)()

    def barrier(self) -> str:
        if self.all_threads and self.random.random() < 0.2:
            return f"barrier.sync {self.random.randrange(14)};"
        if self.all_threads and self.whole_warps and self.random.random() < 0.2:
            return f"bar.sync {self.random.randrange(14)}, {self.threads};"
        return f"{self.barrier_word()}.sync 0;"

    def barrier_word(self) -> str:
        """``bar`` requires a warp's threads to arrive together, which the remaining threads may not do."""
        return "bar" if self.all_threads else "barrier"

    def another_thread(self) -> None:
        """%a: a thread of the block."""
        step, first = self.pick(1, 3, 5, 7), self.random.randrange(9)
        self.emit(f"mad.lo.u32 %a, %t, {step}, {first};")
        self.emit(f"rem.u32 %a, %a, {self.threads};")

    def exchange_all(self) -> None:
        """Each thread reads what another one wrote into a shared array."""
        array, kind, size, before, stored, loaded, after = self.random.choice(
            forms.SHARED_ARRAYS
        )
        names = dict(zip("abcd", self.random.sample(range(REGISTERS), 4), strict=True))
        names = {name: f"%r{number}" for name, number in names.items()}
        self.emit(f"mov.u32 %b, {array}; mad.lo.u32 %a, %t, {size}, %b;")
        self.emit(before.format(**names))
        self.emit(f"st.shared.{kind} [%a], {stored.format(**names)};")
        self.emit(self.barrier())
        self.another_thread()
        self.emit(f"mad.lo.u32 %a, %a, {size}, %b;")
        self.emit(f"ld.shared.{kind} {loaded.format(**names)}, [%a];")
        self.emit(after.format(**names))
        self.emit(self.barrier())

    def exchange_in_function(self) -> None:
        """Like exchange_all, with the barriers in a function."""
        self.emit("{ .param .b32 x; .param .b32 y; .param .b32 o; .param .b32 z;")
        self.emit("mov.u32 %b, cells; mad.lo.u32 %a, %t, 4, %b;")
        self.emit(f"st.param.b32 [x], {self.register()}; st.param.b32 [y], %a;")
        self.another_thread()
        self.emit("mad.lo.u32 %a, %a, 4, %b; st.param.b32 [o], %a;")
        self.emit("call.uni (z), meet, (x, y, o);")
        self.emit(f"ld.param.b32 {self.register()}, [z]; }}")

    def reduce_at_barrier(self) -> None:
        d = self.register()
        self.emit(f"and.b32 %a, {self.register()}, 4; setp.ne.u32 %p, %a, 0;")
        if self.random.random() < 0.5:
            self.emit(f"{self.barrier_word()}.red.popc.u32 %a, 0, %p;")
        else:
            operation = self.pick("and", "or")
            self.emit(f"{self.barrier_word()}.red.{operation}.pred %q, 0, %p;")
            self.emit("selp.u32 %a, 5, 9, %q;")
        self.emit(f"add.u32 {d}, {d}, %a;")

    def barrier_or_not(self) -> None:
        """Barriers under predicates that are equal in all threads, but read from memory."""
        predicate = self.block_condition()
        self.emit("mov.u32 %b, cells; mad.lo.u32 %a, %t, 4, %b;")
        self.emit(f"st.shared.u32 [%a], {self.register()};")
        self.emit(
            f"@{predicate} bar.sync 0; @!{predicate} bar.sync {self.random.randrange(14)};"
        )
        self.another_thread()
        self.emit("mad.lo.u32 %a, %a, 4, %b;")
        self.emit(f"ld.shared.u32 {self.register()}, [%a]; bar.sync 0;")
        self.nested -= 1

    def exchange_in_warp(self) -> None:
        self.random.choice(
            [
                lambda: self.exchange_among(FULL),
                lambda: self.exchange_among(FULL),
                self.exchange_in_parts,
            ]
        )()

    def exchange_in_parts(self) -> None:
        """The lanes of a warp diverge, and those on each path exchange values."""
        predicate = self.condition()
        members = f"%n{self.nested}"

        def others():
            self.emit(f"not.b32 {members}, {members};")
            self.exchange_among(members)
            if self.random.random() < 0.3:
                self.loop(2, lambda depth: self.exchange_among(members), "2")

        def those():
            self.arithmetic()
            self.exchange_among(members)

        self.emit(f"vote.sync.ballot.b32 {members}, {predicate}, {FULL};")
        self.either(predicate, others, those)

    def exchange_among(self, members: str) -> None:
        """The named lanes of the warp, all of them active, exchange values."""
        a, d = self.register(), self.register()
        kind = self.random.randrange(7)
        if kind == 0:
            op = self.pick("add.u32", "min.s32", "xor.b32", "max.u32", "and.b32")
            self.emit(f"redux.sync.{op} {d}, {a}, {members};")
        elif kind == 1:
            self.emit(f"and.b32 %a, {a}, 3; match.any.sync.b32 {d}, %a, {members};")
        elif kind == 2:
            self.emit(f"setp.gt.s32 %p, {a}, {d};")
            self.emit(f"vote.sync.ballot.b32 {d}, %p, {members};")
        elif kind == 3:
            self.emit(f"setp.gt.s32 %p, {a}, {d};")
            self.emit(
                f"vote.sync.{self.pick('any', 'all', 'uni')}.pred %q, %p, {members};"
            )
            self.emit(f"@%q xor.b32 {d}, {d}, {self.register()};")
        elif kind == 4:
            self.emit(f"bar.warp.sync {members};")
        elif members == FULL:
            self.shuffle(a, d)
        else:
            self.shuffle_among(members, a, d)

    def shuffle(self, a: str, d: str) -> None:
        mode = self.pick("bfly", "up", "down", "idx")
        low = self.pick(0, 0, 16, 24)  # shuffles within halves or quarters of a warp
        clamp = low << 8 | (0 if mode == "up" else 31)
        lane = self.pick(str(self.random.randrange(32)), self.register())
        self.emit(f"shfl.sync.{mode}.b32 {d}|%p, {a}, {lane}, {clamp}, {FULL};")
        if self.random.random() < 0.5:
            self.emit(f"@%p add.u32 {d}, {d}, 1;")

    def shuffle_among(self, members: str, a: str, d: str) -> None:
        """Reads from lanes that may be inactive: their values are not used."""
        mode, distance = self.pick("bfly", "up", "down"), self.random.randrange(1, 32)
        self.emit("mov.u32 %b, %laneid;")
        if mode == "bfly":
            self.emit(f"xor.b32 %b, %b, {distance};")
        else:
            self.emit(f"{'sub' if mode == 'up' else 'add'}.u32 %b, %b, {distance};")
        clamp = 0 if mode == "up" else 31
        self.emit(f"shfl.sync.{mode}.b32 %a|%p, {a}, {distance}, {clamp}, {members};")
        self.emit(f"and.b32 %b, %b, 31; shr.u32 %b, {members}, %b; and.b32 %b, %b, 1;")
        self.emit(f"setp.ne.and.u32 %q, %b, 0, %p; @%q add.u32 {d}, {d}, %a;")

    def exchange_in_groups(self) -> None:
        """The even warps and the odd ones wait for each other at separate barriers, 14 and 15."""
        warps = self.threads // 32
        self.nested += 1
        predicate = f"%c{self.nested}"
        self.emit("shr.u32 %a, %t, 5; and.b32 %a, %a, 1;")
        self.emit(f"setp.ne.u32 {predicate}, %a, 0;")

        def group(number, count):
            def meet():
                self.emit("mov.u32 %b, cells; mad.lo.u32 %a, %t, 4, %b;")
                self.emit(f"st.shared.u32 [%a], {self.register()};")
                self.emit(f"bar.sync {number}, {32 * count};")
                lane = self.random.randrange(1, 32)
                self.emit(f"xor.b32 %a, %t, {lane}; mad.lo.u32 %a, %a, 4, %b;")
                self.emit(f"ld.shared.u32 {self.register()}, [%a];")
                self.emit(f"bar.sync {number}, {32 * count};")
                self.divergent(2)

            return meet if count else self.arithmetic

        self.either(predicate, group(14, (warps + 1) // 2), group(15, warps // 2))

    def warp_loop(self) -> None:
        """Warps run different numbers of rounds, all lanes of a warp together."""
        self.emit("shr.u32 %a, %t, 5; and.b32 %a, %a, 3; add.u32 %a, %a, 1;")

        def body(depth):
            for _ in range(self.random.randrange(1, 4)):
                self.random.choice(
                    [self.arithmetic, self.memory, self.exchange_in_warp]
                )()

        self.loop(1, body, "%a")

    # ---- the whole kernel ------------------------------------------------------------------------

    def block_condition(self) -> str:
        """A predicate that is the same in all threads of a block, but read from memory."""
        self.nested += 1
        self.emit("mov.u32 %a, %ctaid.x; mul.wide.u32 %d, %a, 4;")
        self.emit("add.u64 %d, %in, %d; ld.global.u32 %a, [%d];")
        self.emit(f"and.b32 %a, %a, {self.pick(1, 2, 4, 256)};")
        self.emit(f"setp.ne.u32 %c{self.nested}, %a, 0;")
        return f"%c{self.nested}"

    def block_branch(self, depth: int) -> None:
        """A branch of all threads of a block."""

        def way():
            self.uniform(depth + 1)

        self.either(self.block_condition(), way, self.maybe(way))

    def end_some(self) -> None:
        """Some threads end. The barriers of the others do not wait for them."""
        self.emit("mov.u32 %a, 0;")  # it may hold an address
        self.store_result()
        self.emit(f"and.b32 %a, {self.register()}, {self.pick(1, 6, 32)};")
        self.emit("setp.eq.u32 %p, %a, 0;")
        self.emit("@%p exit;")
        self.all_threads = False
        self.uniform(1)

    def uniform(self, depth: int) -> None:
        for _ in range(self.random.randrange(2, 6)):
            kind = self.random.random()
            if kind < 0.4:
                self.exchange()
            elif kind < 0.47 and depth < 2:
                self.block_branch(depth)
            elif kind < 0.55 and depth < 2:
                self.loop(depth, self.uniform, str(self.random.randrange(1, 4)))
            else:
                self.divergent(depth)

    def store_result(self) -> None:
        """A hash of all registers, and of the memory at %a."""
        for n in range(REGISTERS):
            self.emit(f"mad.lo.u32 %a, %a, 31, %r{n};")
        for n in range(forms.WIDE_REGISTERS):
            self.emit(
                f"mov.b64 {{%b, %n0}}, %v{n}; mad.lo.u32 %a, %a, 31, %b; xor.b32 %a, %a, %n0;"
            )
        self.emit("mul.wide.u32 %d, %index, 4; add.u64 %d, %out, %d;")
        self.emit("st.global.u32 [%d], %a;")

    def text(self) -> str:
        for n in range(REGISTERS):
            self.emit(f"mad.lo.u32 %a, %index, {2 * n + 1}, {n * 37};")
            self.emit("and.b32 %a, %a, 1023; mul.wide.u32 %d, %a, 4;")
            self.emit(f"add.u64 %d, %in, %d; ld.global.u32 %r{n}, [%d];")
        for n in range(forms.WIDE_REGISTERS):
            self.emit(f"mov.b64 %v{n}, {{%r{2 * n}, %r{2 * n + 1}}};")
        for n in range(8):
            self.emit(f"st.local.u32 [own_words+{4 * n}], %r{n % REGISTERS};")
        self.uniform(0)
        if self.random.random() < 0.25:
            self.end_some()
        self.emit(f"{self.barrier_word()}.sync 0; ld.shared.u32 %a, [counts+20];")
        self.store_result()
        self.emit("ret;")
        return self.header() + "\n".join(self.lines) + "\n}\n"

    def header(self) -> str:
        x, y, z = self.block
        return forms.HEADER.format(
            seed=self.seed,
            start=self.start,
            x=x,
            y=y,
            z=z,
            xy=x * y,
            threads=self.threads,
            total=self.total,
            scratch=self.total * OWN_BYTES // 4,
            registers=REGISTERS,
            wide=forms.WIDE_REGISTERS,
            functions=forms.FUNCTIONS.format(again=self.again),
        )
