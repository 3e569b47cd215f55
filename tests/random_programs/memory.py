"""Random statements over memory: local arrays, structs, unions, elements of one thread, atomics."""

from __future__ import annotations

from .scope import LANE, Array, Scope
from .tree import Node

#: The operation of each word of `sums`; its result does not depend on the order of threads.
SUMS = [
    "atomicAdd",
    "atomicXor",
    "atomicMax",
    "atomicMin",
    "atomicOr",
    "atomicAdd",
    "atomicSub",
]


class Memory:
    """Statements that read and write memory. Mixed into `program.Statements`."""

    def own(self, scope: Scope) -> str | None:
        """A variable (u32) that no other thread uses: local, global or shared."""
        draw = self.draw
        arrays = [
            array
            for array in scope.arrays
            if array.writable and array.kind == "u32" and array.text.startswith("loc")
        ]
        index = self.expressions.interval(scope, LANE, 2).text
        if arrays and draw.chance(0.5):
            array = draw.choice(arrays)
            return f"{array.text}[{index} & {array.count - 1}]"
        if not scope.is_kernel:
            return None
        if draw.chance(0.6):
            return f"scratch[{self.own_place(scope, index)}]"
        return f"{self.pad(scope)}[t * 4 + ({index} & 3)]"

    def own_place(self, scope: Scope, index: str) -> str:
        total = scope.shape.threads * scope.shape.blocks
        if self.own_layout == "rows":
            return f"gid * 16 + ({index} & 15)"
        if self.own_layout == "columns":
            return f"({index} & 15) * {total} + gid"
        return f"{16 * total - 1} - gid * 16 - ({index} & 15)"

    def store(self, scope: Scope) -> Node | None:
        place = self.own(scope)
        if place is None:
            return None
        op = self.draw.choice(["=", "=", "+=", "^="])
        return Node([f"{place} {op} ", self.expressions.of("u32", scope, LANE, 2), ";"])

    def update(self, scope: Scope) -> Node | None:
        place = self.own(scope)
        if place is None:
            return None
        return Node(
            [f"{self.target(scope)} {self.draw.choice(['+=', '^=', '-='])} {place};"]
        )

    def local_array(self, scope: Scope) -> Node:
        """An array of the thread, filled, and later read and written at indices that depend on data."""
        draw = self.draw
        kind, count = (
            draw.choice(["u32", "u32", "u8", "i16", "u64"]),
            draw.choice([4, 8, 16]),
        )
        name = draw.fresh("loc")
        value = self.expressions.of("u32", scope, LANE, 1)
        scope.arrays.append(Array(name, kind, 0, count, LANE, writable=True))
        fill = f"for (i32 i = 0; i < {count}; i++)\n    {name}[i] = ({kind})(i * {draw.randrange(1, 99)} + "
        return Node([f"{kind} {name}[{count}];\n{fill}", value, ");"], pinned=True)

    def local_store(self, scope: Scope) -> Node | None:
        arrays = [
            array
            for array in scope.arrays
            if array.writable and array.text.startswith("loc")
        ]
        if not arrays:
            return None
        array = self.draw.choice(arrays)
        index = self.expressions.interval(scope, LANE, 3).text
        value = self.expressions.of(array.kind, scope, LANE, 2)
        return Node([f"{array.text}[{index} & {array.count - 1}] = ", value, ";"])

    def pair(self, scope: Scope) -> Node:
        """A struct with methods, in an array or alone."""
        draw, e = self.draw, self.expressions
        name, target = draw.fresh("s"), self.target(scope)
        scope_text = e.interval(scope, LANE, 2).text
        if draw.chance(0.5):
            parts: list = [
                f"Pair {name}[4];\nfor (i32 i = 0; i < 4; i++)\n    {name}[i] = Pair{{(u8)(i * 3), (i16)(t - i), "
            ]
            parts += [e.of("u32", scope, LANE, 1), "};\n"]
            parts += [
                f"{name}[{scope_text} & 3].turn(",
                e.of("u32", scope, LANE, 1),
                ");\n",
            ]
            parts.append(
                f"{target} += {name}[{e.interval(scope, LANE, 2).text} & 3].sum();"
            )
        else:
            other = draw.fresh("s")
            parts = [
                f"Pair {name}{{(u8)",
                e.of("u32", scope, LANE, 1),
                ", (i16)5, ",
                e.of("u32", scope, LANE, 1),
                "};\n",
            ]
            parts += [
                f"Pair {other} = {name};\nif (",
                e.condition(scope, LANE),
                f")\n    {other}.turn((u32)t);\n",
            ]
            parts += [
                f"const Pair &{name}_ = ",
                e.condition(scope, LANE),
                f" ? {name} : {other};\n",
            ]
            parts.append(f"{target} ^= {name}_.sum() + (u32){name}_.b;")
        return Node(parts)

    def parts_of_word(self, scope: Scope) -> Node:
        """A union: written as a word, read as bytes and halves, and vice versa."""
        draw, e = self.draw, self.expressions
        name = draw.fresh("w")
        parts: list = [
            f"Word {name};\n{name}.word = ",
            e.of("u32", scope, LANE, 2),
            ";\n",
        ]
        index, other = (e.interval(scope, LANE, 2).text for _ in range(2))
        if draw.chance(0.6):
            parts += [
                f"{name}.byte[{index} & 3] = (u8)",
                e.of("u32", scope, LANE, 1),
                ";\n",
            ]
        if draw.chance(0.4):
            parts += [
                f"{name}.half[{other} & 1] += (u16)",
                e.of("u32", scope, LANE, 1),
                ";\n",
            ]
        read = draw.choice(
            [f"{name}.half[{other} & 1]", f"{name}.byte[{other} & 3]", f"{name}.word"]
        )
        return Node([*parts, f"{self.target(scope)} += {read};"])

    def pointer(self, scope: Scope) -> Node | None:
        """A pointer to one of two memories."""
        one, other = self.own(scope), self.own(scope)
        if one is None or other is None:
            return None
        draw, name = self.draw, self.draw.fresh("p")
        parts: list = [
            f"u32 *{name} = ",
            self.expressions.condition(scope, LANE),
            f" ? &{one} : &{other};\n",
        ]
        parts += [
            f"*{name} {draw.choice(['=', '+=', '^='])} ",
            self.expressions.of("u32", scope, LANE, 2),
        ]
        return Node([*parts, f";\n{self.target(scope)} += *{name};"])

    # ---- atomics ---------------------------------------------------------------------------

    def add_up(self, scope: Scope) -> Node | None:
        """An atomic whose result is not read; the final value does not depend on the order."""
        if not scope.is_kernel:
            return None
        draw = self.draw
        word = draw.randrange(len(SUMS))
        if draw.chance(0.15):
            value = self.expressions.of("u64", scope, LANE, 2)
            return Node(["atomicAdd((u64 *)(sums + 32), ", value, ");"])
        value = self.expressions.of("u32", scope, LANE, 2)
        if draw.chance(0.2):
            seen, old = draw.fresh("v"), draw.fresh("v")
            return Node(
                [
                    f"{{\n    u32 {old} = sums[40], {seen};\n    do {{\n        {seen} = {old};\n"
                    f"        {old} = atomicCAS(&sums[40], {seen}, {seen} + (",
                    value,
                    f"));\n    }} while ({old} != {seen});\n}}",
                ]
            )
        return Node([f"{SUMS[word]}(&sums[{word}], ", value, ");"])

    def own_atomic(self, scope: Scope) -> Node | None:
        place = self.own(scope)
        if place is None or place.startswith("loc"):
            return None  # compilers make a trap of atomics on local memory
        call = self.draw.choice(
            ["Add", "Exch", "Min", "Max", "And", "Or", "Xor", "Sub", "Inc", "Dec"]
        )
        value = self.expressions.of("u32", scope, LANE, 2)
        return Node([f"{self.target(scope)} += atomic{call}(&{place}, ", value, ");"])

    def ticket(self, scope: Scope) -> Node | None:
        """Each number is taken once, by any thread: their sum is known."""
        if not scope.is_kernel:
            return None
        base = self.flags(1)
        drawn = f"atomicAdd(&flags[{base}], {self.draw.choice([1, 3])}u)"
        return Node([f"atomicAdd(&sums[41], {drawn} * 2654435761u);"])
