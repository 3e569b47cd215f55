"""Random control flow: branches, loops, switches, gotos, loops with several entries, early exits."""

from __future__ import annotations

from .scope import BITS, BLOCK, INTEGERS, LANE, WARP, Index, Scope, Var
from .tree import Block, Expr, Node


def far_exits(scope: Scope) -> list[tuple[str, int]]:
    """The exits that have the same meaning inside one more loop."""
    return [way for way in scope.exits if way[0] not in ("break;", "continue;")]


class Flow:
    """Statements that decide which threads run which code. Mixed into `program.Statements`."""

    # ---- variables -------------------------------------------------------------------------

    def assign(self, scope: Scope) -> Node | None:
        draw, targets = self.draw, scope.writable()
        if not targets:
            return None
        var = draw.choice(targets)
        if var.kind[0] == "u" and draw.chance(0.4):
            ops = ["+=", "^=", "-="] + ["*=", "|=", "&="] * (BITS[var.kind] >= 32)
            value = self.expressions.of(var.kind, scope, var.level, 2)
            return Node([f"{var.name} {draw.choice(ops)} ", value, ";"])
        depth = draw.choice([1, 1, 2, 3])
        return Node(
            [
                f"{var.name} = ",
                self.expressions.of(var.kind, scope, var.level, depth),
                ";",
            ]
        )

    def declare(self, scope: Scope) -> Node:
        draw = self.draw
        kind = draw.choice(INTEGERS + ["u32", "u32", "i32", "u64", "f32"])
        level = draw.choice([LANE, LANE, WARP, BLOCK])
        var = Var(draw.fresh("v"), kind, level)
        value = self.expressions.of(kind, scope, level, draw.choice([1, 2, 3]))
        scope.vars.append(var)
        return Node([f"{kind} {var.name} = ", value, ";"], pinned=True)

    def set_on_one_side(self, scope: Scope) -> Node:
        """Variables that only some threads set, and that only these use later."""
        draw, e = self.draw, self.expressions
        # If the condition is computed twice, it uses only constants.
        again = draw.chance(0.3)
        level = LANE if again else draw.choice([LANE, LANE, LANE, WARP, BLOCK])
        condition = str(e.lane_condition()) if again else e.condition(scope, level)
        chosen = draw.fresh("c")
        kinds = [draw.choice(INTEGERS + ["u32", "f32", "f64"]) for _ in range(2)]
        names = [draw.fresh("v") for _ in range(2)]
        both = draw.chance(0.6)
        sides = [
            scope.inner(level=min(scope.level, level), mask=None) for _ in range(4)
        ]
        parts: list = [f"{kinds[0]} {names[0]};\n"]
        if both:
            parts.append(f"{kinds[1]} {names[1]};\n")
        parts += [f"const bool {chosen} = ", condition, f";\nif ({chosen}) {{"]
        before = self.block(sides[0], 1) if draw.chance(0.4) else Block()
        parts += [before, f"    {names[0]} = ", e.of(kinds[0], scope, LANE, 2), ";\n}"]
        if both:
            before = self.block(sides[1], 1) if draw.chance(0.4) else Block()
            parts += [
                " else {",
                before,
                f"    {names[1]} = ",
                e.of(kinds[1], scope, LANE, 2),
                ";\n}",
            ]
        parts.append("\n{")
        parts.append(self.block(scope.inner(), draw.choice([0, 1, 2])))
        parts.append("}\n")
        test = condition if again else chosen
        for side, (name, kind) in enumerate(
            zip(names[: 1 + both], kinds, strict=False)
        ):
            inner = sides[2 + side]
            inner.vars.append(Var(name, kind))
            target = self.target(inner)
            body = self.block(inner, draw.choice([0, 1]))
            parts.append(f"if ({test}) {{" if side == 0 else " else {")
            parts += [body, f"    {target} ", *self.mix_in(kind, name), ";\n}"]
        return Node(parts)

    def target(self, scope: Scope) -> str:
        """A u32 of the thread, to which any value can be added."""
        own = [
            var.name
            for var in scope.vars
            if var.kind == "u32" and var.writable and var.level == LANE
        ]
        return self.draw.choice(own or ["sum"])

    def mix_in(self, kind: str, name: str) -> list[str]:
        value = f"bits_of({name})" if kind in ("f32", "f64") else name
        return [
            f"{self.draw.choice(['+=', '^=', '-='])} (u32){value} * {self.draw.choice([1, 3, 5, 31])}u"
        ]

    # ---- branches --------------------------------------------------------------------------

    def branch(self, scope: Scope) -> Node:
        """An if. With a mask, diverged lanes know the lanes on their side."""
        draw = self.draw
        level = draw.choice([LANE, LANE, LANE, WARP, BLOCK])
        condition = self.expressions.condition(scope, level)
        has_else, size = draw.chance(0.6), draw.choice([1, 1, 2, 3])
        inner_level = min(scope.level, level)
        if level >= WARP or scope.mask is None or draw.chance(0.5):
            mask = scope.mask if level >= WARP else None
            parts: list = ["if (", condition, ") {"]
            parts += [self.block(scope.inner(level=inner_level, mask=mask), size), "}"]
            if has_else:
                parts += [
                    " else {",
                    self.block(scope.inner(level=inner_level, mask=mask), size),
                    "}",
                ]
            return Node(parts)
        chosen, mask, rest = draw.fresh("c"), draw.fresh("m"), draw.fresh("m")
        parts = [f"const bool {chosen} = ", condition, ";\n"]
        parts.append(f"const u32 {mask} = __ballot_sync({scope.mask}, {chosen});\n")
        parts.append(f"if ({chosen}) {{")
        parts += [self.block(scope.inner(level=LANE, mask=mask), size), "}"]
        if has_else:
            parts.append(f" else {{\n    const u32 {rest} = {scope.mask} & ~{mask};")
            parts += [self.block(scope.inner(level=LANE, mask=rest), size), "}"]
        return Node(parts)

    def fixed_halves(self, scope: Scope) -> Node | None:
        """Two sides; each lane is always on the same one; the masks are literals."""
        if scope.mask is None or scope.level < WARP:
            return None
        draw = self.draw
        count = draw.choice([4, 8, 16, 16, 20, 24])
        below, above = draw.fresh("m"), draw.fresh("m")
        low = (1 << count) - 1
        head = f"const u32 {below} = {scope.mask} & {low:#x}u, {above} = {scope.mask} & {low ^ 0xFFFFFFFF:#x}u;\n"
        sides = [
            self.block(scope.inner(level=LANE, mask=mask), draw.choice([1, 2]))
            for mask in (below, above)
        ]
        return Node(
            [head, f"if (lane < {count}) {{", sides[0], "} else {", sides[1], "}"]
        )

    def switch(self, scope: Scope) -> Node:
        draw = self.draw
        level = draw.choice([LANE, LANE, WARP, BLOCK])
        cases = draw.randrange(2, 6)
        most = 1 << (cases - 1).bit_length()
        value = self.expressions.of("u32", scope, level, 2)
        parts: list = ["switch (", value, f" & {most - 1}u) {{\n"]
        falls = False
        inner_level = min(scope.level, level)
        for case in range(cases):
            mask = scope.mask if level >= WARP else None
            inner = scope.inner(level=inner_level, mask=mask)
            inner.exits = [way for way in inner.exits if way[0] != "break;"]
            label = (
                f"case {case}:" if case < cases - 1 or draw.chance(0.5) else "default:"
            )
            falls = draw.chance(0.25)
            parts += [f"{label} {{", self.block(inner, draw.choice([1, 1, 2])), "}"]
            parts.append("\n" if falls else " break;\n")
        parts.append("}")
        return Node(parts)

    # ---- loops -----------------------------------------------------------------------------

    def loop(self, scope: Scope) -> Node | None:
        """A loop with a known or an unknown count of rounds, perhaps with exits."""
        draw, e = self.draw, self.expressions
        if scope.fuel < 2:
            return None
        most = draw.choice([n for n in (1, 2, 3, 4, 5, 8, 13) if n <= scope.fuel])
        level = draw.choice([LANE, LANE, WARP, BLOCK, BLOCK])
        parts: list = []
        if draw.chance(0.35):
            level, rounds = BLOCK, Expr([str(most)], "i32", BLOCK)
        elif draw.chance(0.3) and most >= 5:
            level, rounds = BLOCK, Expr(["n0"], "i32", BLOCK)
        else:
            most = 1 << (most.bit_length() - 1)
            value = e.of("u32", scope, level, 2)
            rounds = Expr(
                ["(i32)(", value, f" & {most - 1}u)" if most > 1 else " & 1u)"],
                "i32",
                level,
            )
        body_level = min(scope.level, level)
        mask = scope.mask if level >= WARP else None
        if draw.chance(0.4):  # exits on which the lanes diverge
            body_level, mask = LANE, None
        inner = scope.inner(
            level=body_level, mask=mask, fuel=scope.fuel // max(most, 2)
        )
        inner.exits = [
            way for way in far_exits(scope) if way[1] > LANE or body_level == LANE
        ]
        if mask is None or body_level >= WARP:
            inner.exits += [("break;", body_level), ("continue;", body_level)]
        i = draw.fresh("j")
        inner.indices.append(Index(i, 0, most, level))
        size = draw.choice([1, 2, 2, 3])
        count = draw.fresh("n")
        style = draw.randrange(5)
        if style == 0:
            parts += [f"for (i32 {i} = ", rounds, f"; {i} > 0; {i}--) {{"]
        elif style == 1:
            parts += [
                f"const i32 {count} = ",
                rounds,
                f";\nfor (i32 {i} = 0; {i} < {count}; {i} += {draw.choice([1, 1, 2])}) {{",
            ]
        elif style == 2 and mask is None:
            parts += [
                f"i32 {i} = 0;\nconst i32 {count} = ",
                rounds,
                f";\nwhile ({i}++ < {count}) {{",
            ]
        elif style == 3:
            parts += [f"const i32 {count} = ", rounds, ";\n#pragma unroll 1\n"]
            parts.append(f"for (i32 {i} = 0; {i} < {count}; ++{i}) {{")
        else:
            parts += [
                f"const i32 {count} = ",
                rounds,
                f";\nfor (i32 {i} = 0; {i} != {count}; {i}++) {{",
            ]
        parts += [self.block(inner, size), "}"]
        return Node(parts)

    def tracked_loop(self, scope: Scope) -> Node | None:
        """A loop that lanes leave one by one; the remaining lanes know each other."""
        if scope.mask is None or scope.fuel < 4:
            return None
        draw = self.draw
        mask, i, stays = draw.fresh("m"), draw.fresh("j"), draw.fresh("c")
        most = 8
        inner = scope.inner(level=LANE, mask=mask, fuel=scope.fuel // most)
        inner.exits = []
        inner.indices.append(Index(i, 0, most, LANE))
        condition = self.expressions.of("u32", scope, LANE, 2)
        parts: list = [
            f"u32 {mask} = {scope.mask};\nfor (i32 {i} = 0; {i} < {most}; {i}++) {{\n"
        ]
        parts += [f"    const bool {stays} = {i} <= (i32)(", condition, " & 7u);\n"]
        parts.append(
            f"    {mask} = __ballot_sync({mask}, {stays});\n    if (!{stays})\n        break;"
        )
        parts += [self.block(inner, draw.choice([1, 2, 3])), "}"]
        return Node(parts)

    def forever(self, scope: Scope) -> Node | None:
        """A loop with its exit in the middle."""
        if scope.fuel < 4:
            return None
        draw = self.draw
        left = draw.fresh("n")
        inner = scope.inner(level=LANE, mask=None, fuel=scope.fuel // 4)
        inner.exits = [way for way in far_exits(scope) if way[1] == LANE] + [
            ("break;", LANE)
        ]
        condition = self.expressions.condition(inner, LANE)
        head = draw.choice(["for (;;) {", "while (true) {", "do {"])
        parts: list = [
            f"i32 {left} = {draw.choice([2, 3, 5, 7])};\n{head}",
            self.block(inner, 1),
        ]
        parts += [f"    if (--{left} < 0 || ", condition, ")\n        break;"]
        parts += [self.block(inner, draw.choice([0, 1, 2]))]
        parts.append("} while (true);" if head == "do {" else "}")
        return Node(parts)

    def leave(self, scope: Scope) -> Node | None:
        """An exit of one loop, of several loops, or of the function."""
        ways = [way for way in scope.exits if way[1] <= scope.level]
        if not ways:
            return None
        text, level = self.draw.choice(ways)
        if text == "return":
            text = "return " + str(self.expressions.of("u32", scope, LANE, 2)) + ";"
        if self.draw.chance(0.15) and level == LANE:
            return Node(["if (", self.expressions.lane_condition(), f")\n    {text}"])
        condition = self.expressions.condition(scope, level)
        return Node(["if (", condition, f")\n    {text}"])

    def out_of_loops(self, scope: Scope) -> Node | None:
        """Nested loops, and gotos from inside to the code after all of them."""
        if scope.fuel < 8:
            return None
        draw = self.draw
        label = draw.fresh("L")
        level = LANE if draw.chance(0.7) else scope.level
        inner = scope.inner(level=level, mask=None if level == LANE else scope.mask)
        inner.exits = [way for way in inner.exits if way[1] > LANE or level == LANE]
        inner.exits += [(f"goto {label};", level)] * 3
        nodes = [
            self.loop(inner),
            self.leave(inner),
            self.assign(inner),
            self.loop(inner),
        ]
        body = Block([node for node in nodes if node])
        parts: list = ["{", body, "}\n"]
        if draw.chance(0.4):  # code that a goto skips
            parts += ["{", self.block(inner.inner(), 1), "}\n"]
        return Node([*parts, f"{label}:;"])

    def many_entries(self, scope: Scope) -> Node | None:
        """Basic blocks with any branches to each other, until the fuel is used up."""
        if scope.fuel < 8:
            return None
        draw = self.draw
        count = draw.randrange(3, 7)
        labels = [draw.fresh("B") for _ in range(count)]
        end, fuel = draw.fresh("L"), draw.fresh("n")
        inner = scope.inner(level=LANE, mask=None, fuel=1)
        inner.exits = [way for way in far_exits(scope) if way[1] == LANE]
        parts: list = [f"i32 {fuel} = {draw.choice([5, 9, 20])};\n"]
        if draw.chance(0.5):
            parts += [
                "if (",
                self.expressions.condition(scope, LANE),
                f")\n    goto {draw.choice(labels)};\n",
            ]
        for label in labels:
            parts += [
                f"{label}:\nif (--{fuel} < 0)\n    goto {end};\n{{",
                self.block(inner.inner(), draw.choice([1, 1, 2])),
            ]
            parts += ["}\nif (", self.expressions.condition(inner, LANE), ")\n"]
            yes, no = draw.choice(labels), draw.choice([*labels, end])
            parts.append(
                f"    goto {yes};\n" + (f"goto {no};\n" if draw.chance(0.5) else "")
            )
        return Node([*parts, f"{end}:;"])

    def end_threads(self, scope: Scope) -> Node | None:
        """Some threads end; the others run the rest."""
        if not scope.is_kernel or scope.depth > 0 or scope.mask is None:
            return None
        draw = self.draw
        chosen, mask = draw.fresh("c"), draw.fresh("m")
        level = draw.choice([LANE, WARP])
        condition = self.expressions.condition(scope, level)
        parts: list = [f"const bool {chosen} = ", condition, ";\n"]
        parts.append(
            f"const u32 {mask} = __ballot_sync({scope.mask}, !{chosen});\nif ({chosen}) {{"
        )
        parts += [self.block(scope.inner(level=LANE, mask=None), 1)]
        parts.append("    out[gid * 8] = sum;\n    return;\n}")
        scope.mask, scope.threads_ended = mask, True
        return Node(parts, pinned=True)
