"""Random exchanges between threads: barriers with shared memory, shuffles, votes, masks."""

from __future__ import annotations

from .scope import BLOCK, LANE, WARP, Array, Scope, Var
from .tree import Block, Node

SHUFFLED = ["u32", "u32", "i32", "u64", "f32"]
SHARED_KINDS = ["u32", "u32", "u32", "i32", "u64", "u16", "u8", "i16", "f32"]
REDUCTIONS = ["add", "and", "or", "xor", "min", "max"]


class Exchanges:
    """Statements in which threads wait for each other. Mixed into `program.Statements`."""

    def barrier(self) -> str:
        forms = ["__syncthreads();"] * 6 + [
            "block_barrier();",
            "(void)__syncthreads_or(0);",
        ]
        if self.draw.has("calls"):
            forms += ["barrier_in_function();"] * 2
        return self.draw.choice(forms)

    def slot(self, threads: int) -> str:
        """An index that is different for each thread of the block."""
        forms = [
            "t",
            "t",
            "t",
            f"{threads - 1} - t",
            f"(t + {self.draw.randrange(threads)}) % {threads}",
        ]
        if threads % 2 == 0:
            forms += ["t ^ 1"]
        if threads % 32 == 0:
            forms += ["t ^ 16", "(t & ~31) | (31 - (t & 31))"]
        return self.draw.choice(forms)

    def can_barrier(self, scope: Scope) -> bool:
        return scope.level == BLOCK and self.draw.has("barriers")

    # ---- in a block ------------------------------------------------------------------------

    def through_shared(self, scope: Scope) -> Node | None:
        """Each thread writes one element; after a barrier each reads some."""
        if not self.can_barrier(scope):
            return None
        draw, threads = self.draw, scope.shape.threads
        kind = draw.choice(SHARED_KINDS)
        name = self.shared(kind, threads)
        parts: list = [
            f"{name}[{self.slot(threads)}] = ",
            self.expressions.of(kind, scope, LANE, 2),
            ";\n",
        ]
        parts += [self.barrier(), "\n{"]
        inner = scope.inner()
        inner.arrays.append(Array(name, kind, 0, threads, LANE, writable=True))
        inner.exits = []
        if draw.chance(0.5):
            inner.level, inner.mask = LANE, None
        body = Block()
        for _ in range(draw.choice([1, 1, 2])):
            index, guard = self.expressions.place(inner.arrays[-1], inner, LANE)
            read = self.mix_in(kind, f"{name}[{index}]")
            body.nodes.append(
                Node(
                    [
                        f"if ({guard})\n    " if guard else "",
                        f"{self.target(scope)} ",
                        *read,
                        ";",
                    ]
                )
            )
        if draw.chance(0.4):
            body.nodes += self.block(inner, 1).nodes
        return Node([*parts, body, "}\n", self.barrier()])

    def block_vote(self, scope: Scope) -> Node | None:
        if not self.can_barrier(scope):
            return None
        draw, var = self.draw, Var(self.draw.fresh("v"), "u32", BLOCK, writable=False)
        call = draw.choice(["count", "or", "and"])
        condition = self.expressions.condition(scope, LANE)
        cast = "(u32)" if call == "count" else "(u32)!!"
        scope.vars.append(var)
        return Node(
            [f"const u32 {var.name} = {cast}__syncthreads_{call}(", condition, ");"],
            pinned=True,
        )

    def histogram(self, scope: Scope) -> Node | None:
        """Counts in shared memory with atomics in divergent code."""
        if not self.can_barrier(scope):
            return None
        draw, threads, e = self.draw, scope.shape.threads, self.expressions
        bins = draw.choice([1, 4, 16, 64])
        name = self.shared("u32", bins)
        inner = scope.inner(level=LANE, mask=None)
        inner.exits = []
        add = [
            f"atomicAdd(&{name}[",
            e.of("u32", inner, LANE, 2),
            f" & {bins - 1}u], {draw.choice(['1u', '3u', 'sum & 7u', '(u32)t'])});",
        ]
        wrapped = draw.choice(["plain", "if", "loop"])
        statement: list = add
        if wrapped == "if":
            statement = ["if (", e.condition(inner, LANE), ")\n    ", *add]
        elif wrapped == "loop":
            i = draw.fresh("j")
            statement = [
                f"for (i32 {i} = 0; {i} < {draw.choice([2, 3, 7])}; {i}++)\n    ",
                *add,
            ]
        read = f"{self.target(scope)} += {name}[t % {bins}] * 7u + {name}[{draw.randrange(bins)}];"
        clear = f"for (i32 i = t; i < {bins}; i += {threads})\n    {name}[i] = 0;\n"
        if scope.threads_ended:
            clear = f"for (i32 i = 0; i < {bins}; i++)\n    {name}[i] = 0;\n"
        return Node(
            [
                clear,
                "__syncthreads();\n",
                *statement,
                f"\n{self.barrier()}\n{read}\n",
                self.barrier(),
            ]
        )

    def tree_sum(self, scope: Scope) -> Node | None:
        """A reduction, or a scan, in steps with one barrier each."""
        if (
            not self.can_barrier(scope)
            or scope.threads_ended
            or scope.shape.threads < 2
        ):
            return None
        draw, threads = self.draw, scope.shape.threads
        name = self.shared("u32", threads)
        parts: list = [
            f"{name}[t] = ",
            self.expressions.of("u32", scope, LANE, 2),
            ";\n__syncthreads();\n",
        ]
        step, target = draw.fresh("j"), self.target(scope)
        top = 1 << ((threads - 1).bit_length() - 1)
        if draw.chance(0.5):
            parts.append(
                f"for (i32 {step} = {top}; {step} > 0; {step} >>= 1) {{\n"
                f"    if (t < {step} && t + {step} < {threads})\n"
                f"        {name}[t] {draw.choice(['+=', '^='])} {name}[t + {step}];\n    {self.barrier()}\n}}\n"
                f"{target} += {name}[0];\n"
            )
        else:
            kept = draw.fresh("v")
            parts.append(
                f"for (i32 {step} = 1; {step} < {threads}; {step} *= 2) {{\n"
                f"    const u32 {kept} = t >= {step} ? {name}[t - {step}] : 0u;\n    {self.barrier()}\n"
                f"    {name}[t] += {kept};\n    {self.barrier()}\n}}\n"
                f"{target} ^= {name}[t];\n"
            )
        return Node([*parts, self.barrier()])

    def some_warps(self, scope: Scope) -> Node | None:
        """A named barrier of some of the block's warps."""
        warps = scope.shape.threads // 32
        if (
            not self.can_barrier(scope)
            or scope.threads_ended
            or warps < 2
            or not self.draw.has("named")
        ):
            return None
        draw = self.draw
        count = draw.randrange(1, warps + 1)
        name = self.shared("u32", warps * 32 + 31)
        inside = f"t < {count * 32}" if draw.chance(0.5) else f"warp < {count}"
        call = f"    named_barrier({draw.randrange(1, 8)}u, {count * 32}u);\n"
        value = self.expressions.of("u32", scope, LANE, 2)
        parts: list = [f"if ({inside}) {{\n    {name}[t] = ", value, f";\n{call}"]
        parts.append(
            f"    {self.target(scope)} += {name}[(t + {draw.randrange(count * 32)}) % {count * 32}];\n{call}}}"
        )
        return Node(parts)

    def barriers_on_both_sides(self, scope: Scope) -> Node | None:
        """Warps that reach the same barrier at different instructions."""
        if (
            not self.can_barrier(scope)
            or not self.draw.has("named")
            or scope.threads_ended
        ):
            return None
        draw, threads, e = self.draw, scope.shape.threads, self.expressions
        name = self.shared("u32", threads)
        parts: list = [
            "if (",
            e.condition(scope, WARP),
            f") {{\n    {name}[t] = ",
            e.of("u32", scope, LANE, 1),
        ]
        parts += [
            f";\n    block_barrier();\n}} else {{\n    {name}[t] = ",
            e.of("u32", scope, LANE, 1),
        ]
        parts.append(";\n    block_barrier();\n}\n")
        read = f"{self.target(scope)} ^= {name}[(t + {draw.randrange(threads)}) % {threads}];\n"
        return Node([*parts, read, "__syncthreads();"])

    # ---- in a warp -------------------------------------------------------------------------

    def shuffle(self, scope: Scope) -> Node | None:
        if scope.mask is None:
            return None
        draw = self.draw
        kind = draw.choice(SHUFFLED)
        value = self.expressions.of(kind, scope, LANE, 2)
        head, result, use = self.shuffle_of(scope, kind)
        return Node(
            [
                "{\n    " + head,
                f"const {kind} {result} = {use[0]}",
                value,
                f"{use[1]}\n    {use[2]}\n}}",
            ]
        )

    def shuffle_of(
        self, scope: Scope, kind: str, target: str | None = None
    ) -> tuple[str, str, tuple[str, str, str]]:
        """(statements before, the result's name, (the call up to the value, the rest of it, the use))."""
        draw, mask = self.draw, scope.mask
        source, result = draw.fresh("l"), draw.fresh("r")
        width = draw.choice([32, 32, 32, 16, 8, 4, 2])
        first = f"(lane & {32 - width})" if width < 32 else "0"
        by = draw.randrange(1, 32) if draw.chance(0.7) else None
        form = draw.choice(["idx", "idx", "up", "down", "xor"])
        if form == "idx":
            index = (
                self.expressions.interval(scope, LANE, 2).text
                if by is None
                else f"lane + {by}"
            )
            head = f"const i32 {source} = {first} + ({index} & {width - 1});\n    "
            given = (
                source if width == 32 or draw.chance(0.5) else f"{source} & {width - 1}"
            )
        else:
            amount = str(by) if by is not None else "n0"
            op = {"up": "-", "down": "+", "xor": "^"}[form]
            inside = {
                "up": f">= {first}",
                "down": f"<= {first} + {width - 1}",
                "xor": f"<= {first} + {width - 1}",
            }[form]
            head = f"const i32 {source} = (lane {op} {amount}) {inside} ? lane {op} {amount} : lane;\n    "
            given = amount
        name = {
            "idx": "__shfl_sync",
            "up": "__shfl_up_sync",
            "down": "__shfl_down_sync",
            "xor": "__shfl_xor_sync",
        }
        last = (
            f", {given}, {width});"
            if width < 32 or draw.chance(0.2)
            else f", {given});"
        )
        target = target or self.target(scope)
        use = (
            f"if ({mask} >> {source} & 1)\n        {target} "
            + "".join(self.mix_in(kind, result))
            + ";"
        )
        return head, result, (f"{name[form]}({mask}, ", last, use)

    def vote(self, scope: Scope) -> Node | None:
        if scope.mask is None:
            return None
        draw, e = self.draw, self.expressions
        condition = e.condition(scope, LANE)
        call = draw.choice(
            ["ballot", "ballot", "any", "all", "match", "match_all", "reduce", "reduce"]
        )
        if call in ("any", "all") and draw.chance(0.6):
            inner = scope.inner(level=min(scope.level, WARP))
            return Node(
                [
                    f"if (__{call}_sync({scope.mask}, ",
                    condition,
                    ")) {",
                    self.block(inner, 2),
                    "}",
                ]
            )
        kind = draw.choice(["u32", "u64", "i32"])
        if call == "match":
            few = (
                f" & {draw.choice([1, 3, 7])}u"
                if kind != "i32"
                else f" & {draw.choice([1, 3])}"
            )
            parts = [
                f"__match_any_sync({scope.mask}, ",
                e.of(kind, scope, LANE, 2),
                f"{few})",
            ]
        elif call == "match_all":
            same = draw.fresh("p")
            few = " & 1" if draw.chance(0.5) else " & 0"
            text = [
                f"i32 {same};\n",
                f"{self.target(scope)} += __match_all_sync({scope.mask}, ",
            ]
            return Node(
                [
                    *text,
                    e.of(kind, scope, LANE, 2),
                    f"{few}, &{same}) * 3u + (u32)(!!{same});",
                ]
            )
        elif call == "reduce":
            op = draw.choice(REDUCTIONS)
            kind = draw.choice(["u32", "i32"]) if op in ("min", "max") else "u32"
            parts = [
                f"(u32)__reduce_{op}_sync({scope.mask}, ",
                e.of(kind, scope, LANE, 2),
                ")",
            ]
        else:
            parts = [f"(u32)__{call}_sync({scope.mask}, ", condition, ")"]
            if call in ("any", "all"):
                parts[0] = f"(u32)!!__{call}_sync({scope.mask}, "
        if call != "match" and draw.chance(0.5):
            var = Var(draw.fresh("v"), "u32", min(scope.level, WARP), writable=False)
            scope.vars.append(var)
            return Node([f"const u32 {var.name} = ", *parts, ";"], pinned=True)
        return Node([f"{self.target(scope)} {draw.choice(['+=', '^='])} ", *parts, ";"])

    def broadcast(self, scope: Scope) -> Node | None:
        """One lane's value, for all of them."""
        if scope.mask is None:
            return None
        draw = self.draw
        var = Var(draw.fresh("v"), "u32", min(scope.level, WARP), writable=False)
        leader = draw.choice(
            [f"__ffs((i32){scope.mask}) - 1", f"31 - __clz((i32){scope.mask})"]
        )
        value = self.expressions.of("u32", scope, LANE, 2)
        scope.vars.append(var)
        return Node(
            [
                f"const u32 {var.name} = __shfl_sync({scope.mask}, ",
                value,
                f", {leader});",
            ],
            pinned=True,
        )

    def lanes_through_shared(self, scope: Scope) -> Node | None:
        """Lanes of a mask that exchange through shared memory with __syncwarp()."""
        if scope.mask is None:
            return None
        draw, threads = self.draw, scope.shape.threads
        kind = draw.choice(SHARED_KINDS)
        name = self.shared(kind, (threads + 31) // 32 * 32)
        source, mask = draw.fresh("l"), scope.mask
        index = (
            self.expressions.interval(scope, LANE, 2).text
            if draw.chance(0.5)
            else f"lane {draw.choice('+^-')} {draw.randrange(1, 32)}"
        )
        parts: list = [
            f"{name}[t] = ",
            self.expressions.of(kind, scope, LANE, 2),
            f";\n__syncwarp({mask});\n",
        ]
        parts.append(
            f"{{\n    const i32 {source} = ({index}) & 31;\n    if ({mask} >> {source} & 1)\n"
        )
        use = "".join(self.mix_in(kind, f"{name}[(t & ~31) + {source}]"))
        parts.append(f"        {self.target(scope)} {use};\n}}\n__syncwarp({mask});")
        return Node(parts)

    def partition(self, scope: Scope) -> Node | None:
        """Lanes with equal values form a separate mask."""
        if scope.mask is None or scope.depth > 4:
            return None
        draw, mask = self.draw, self.draw.fresh("m")
        inner = scope.inner(level=LANE, mask=mask)
        inner.exits = []
        if draw.chance(0.3):
            size = draw.choice([4, 8, 16])
            ones = (1 << size) - 1
            head: list = [
                f"{{\n    const u32 {mask} = {scope.mask} & ({ones:#x}u << (lane & {32 - size}));"
            ]
        else:
            value = self.expressions.of("u32", scope, LANE, 2)
            head = [
                f"{{\n    const u32 {mask} = __match_any_sync({scope.mask}, ",
                value,
                f" & {draw.choice([1, 3])}u);",
            ]
        return Node([*head, self.block(inner, draw.choice([1, 2, 3])), "}"])

    def warp_sum(self, scope: Scope) -> Node | None:
        """Steps of shuffles that add up."""
        if scope.mask is None:
            return None
        draw, mask = self.draw, scope.mask
        value, other, step = draw.fresh("v"), draw.fresh("r"), draw.fresh("j")
        down = draw.chance(0.5)
        call, place = (
            ("__shfl_down_sync", f"lane + {step}")
            if down
            else ("__shfl_xor_sync", f"lane ^ {step}")
        )
        inside = (
            f"{place} < 32 && {mask} >> ({place}) & 1"
            if down
            else f"{mask} >> ({place}) & 1"
        )
        if mask == "0xffffffffu":
            inside = f"{place} < 32" if down else "true"
        return Node(
            [
                f"u32 {value} = ",
                self.expressions.of("u32", scope, LANE, 2),
                f";\nfor (i32 {step} = 16; {step} > 0; {step} >>= 1) {{\n"
                f"    const u32 {other} = {call}({mask}, {value}, {step});\n    if ({inside})\n        {value} += {other};\n}}\n"
                f"{self.target(scope)} ^= {value};",
            ]
        )

    def meet_from_both_sides(self, scope: Scope) -> Node | None:
        """Lanes of one mask that reach their exchange at different instructions."""
        if scope.mask is None or not self.draw.has("meetings"):
            return None
        draw, e, mask = self.draw, self.expressions, scope.mask
        chosen = draw.fresh("c")
        part, rest = draw.fresh("m"), draw.fresh("m")
        known = draw.chance(0.5)
        parts: list = [f"const bool {chosen} = ", e.condition(scope, LANE), ";\n"]
        if known:
            parts.append(
                f"const u32 {part} = __ballot_sync({mask}, {chosen}), {rest} = {mask} & ~{part};\n"
            )
        sides = [
            scope.inner(level=LANE, mask=name if known else None)
            for name in (part, rest)
        ]
        for side in sides:
            side.exits = []
        what = draw.choice(["shuffle", "shuffle", "syncwarp", "ballot", "reduce"])
        # In the order of the text: names declared after the exchange are not visible before it.
        before = [self.block(side, draw.choice([0, 1])) for side in sides]
        values = [
            e.condition(side, LANE)
            if what == "ballot"
            else e.of("u32", side, LANE, 1 if what == "syncwarp" else 2)
            for side in sides
        ]
        after = [self.block(side, draw.choice([0, 1])) for side in sides]
        result, target = draw.fresh("r"), self.target(scope)
        if what == "syncwarp":
            name = self.shared("u32", (scope.shape.threads + 31) // 32 * 32)
            source = draw.fresh("l")
            tail = f"\n__syncwarp({mask});"
            parts.append(
                f"const i32 {source} = (lane {draw.choice('+^-')} {draw.randrange(1, 32)}) & 31;\n"
            )
            for k in range(2):
                parts += [
                    [f"if ({chosen}) {{", " else {"][k],
                    before[k],
                    f"    {name}[t] = ",
                    values[k],
                ]
                parts.append(f";\n    __syncwarp({mask});\n")
                parts += [
                    f"    if ({mask} >> {source} & 1)\n        {target} += {name}[(t & ~31) + {source}] * {k + 2}u;",
                    after[k],
                    "}",
                ]
            return Node([*parts, tail])
        if what == "shuffle":
            head, result, (call, end, use) = self.shuffle_of(scope, "u32", target)
            parts.append(head.strip() + "\n")
        else:
            call = {
                "ballot": f"__ballot_sync({mask}, ",
                "reduce": f"__reduce_{draw.choice(REDUCTIONS)}_sync({mask}, ",
            }[what]
            end, use = ");", f"{target} += {result};"
        parts.append(f"u32 {result};\n")
        for k in range(2):
            parts += [
                [f"if ({chosen}) {{", " else {"][k],
                before[k],
                f"    {result} = {call}",
                values[k],
                f"{end}",
                after[k],
                "}",
            ]
        return Node([*parts, f"\n{use}"])
