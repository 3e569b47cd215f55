"""Random device functions, and calls of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .scope import BLOCK, LANE, Index, Scope, Var
from .tree import Block, Node, text_of

FUEL = 8


@dataclass
class Function:
    """``level``: the uniformity that a call requires. ``form``: the form of the call."""

    name: str
    form: str
    level: int
    has_mask: bool
    head: str
    prologue: Block
    body: Block
    tail: str
    pinned_text: str = ""
    calls: list[str] = field(default_factory=list)

    def text(self) -> str:
        prologue = text_of(self.prologue)
        if "fill_shared" in prologue:
            meet = "__syncthreads()" if self.form == "block" else "__syncwarp(m)"
            prologue += f"    {meet};\n"
        return f"{self.head}\n{{\n{prologue}{text_of(self.body)}{self.tail}}}\n"


class Functions:
    """Makes functions, and statements that call them. Mixed into `program.Statements`."""

    def thread_index(self) -> str:
        x, y, z = self.shape.block
        if y == z == 1:
            return "(i32)threadIdx.x"
        size_x, size_y = (
            (str(x), str(y)) if self.draw.chance(0.5) else ("blockDim.x", "blockDim.y")
        )
        return f"(i32)(threadIdx.x + {size_x} * (threadIdx.y + {size_y} * threadIdx.z))"

    def make_function(self) -> Function:
        draw = self.draw
        forms = ["plain"] * 4 + ["reference"] + ["recursive"] * draw.has("recursion")
        forms += ["mask"] * draw.has("masks") + ["block"] * draw.has("barriers") * 2
        form, name = draw.choice(forms), draw.fresh("fun")
        level = BLOCK if form == "block" else LANE
        has_mask = draw.has("masks") and form in ("mask", "block")
        scope = Scope(
            self.shape,
            level=level,
            mask="m" if has_mask else None,
            is_kernel=False,
            fuel=FUEL,
            depth=1,
        )
        scope.vars = [
            Var("a", "u32"),
            Var("b", draw.choice(["u32", "i32", "u64", "u8", "i16"])),
            Var("sum", "u32"),
        ]
        threads = self.shape.threads
        scope.indices = [
            Index("t", 0, threads - 1),
            Index("lane", 0, min(31, threads - 1)),
        ]
        scope.indices += [Index("n0", 5, 5, BLOCK), Index("n1", 19, 19, BLOCK)]
        scope.arrays = list(self.constant_arrays)
        outer, self.prologue = self.prologue, Block()
        self.prologue.nodes.append(
            Node(
                [f"const i32 t = {self.thread_index()}, lane = t & 31, warp = t >> 5;"],
                pinned=True,
            )
        )
        self.prologue.nodes.append(
            Node(["(void)t, (void)lane, (void)warp;"], pinned=True)
        )
        if not has_mask and form != "block":
            scope.exits = [("return;" if form == "reference" else "return", LANE)] * 2
        linkage = draw.choice(["NOINLINE", "INLINE", "INLINE", "DEVICE"])
        result = "void" if form == "reference" else "u32"
        mask = ", u32 m" if has_mask else ""
        first = (
            "u32 &a"
            if form == "reference"
            else "i32 left, u32 a"
            if form == "recursive"
            else "u32 a"
        )
        if form == "recursive":
            linkage, scope.fuel = "NOINLINE", 2
        head = f"{linkage} {result} {name}(ENVIRONMENT{mask}, {first}, {scope.vars[1].kind} b)"
        start = Node(["u32 sum = a + (u32)b;"], pinned=True)
        body = Block([start])
        if form == "recursive":
            body.nodes.append(
                Node(
                    [
                        "if (left <= 0)\n    return ",
                        self.expressions.of("u32", scope, LANE, 2),
                        ";",
                    ],
                    pinned=True,
                )
            )
        body.nodes += self.block(scope, draw.choice([1, 2, 3])).nodes
        if form == "recursive":
            for _ in range(draw.choice([1, 1, 2])):
                left = draw.choice(["left - 1", "left - 1", "left - 2"])
                call = f"{name}(ENVIRONMENT_NAMES, {left}, "
                parts: list = [
                    "sum += " + call,
                    self.expressions.of("u32", scope, LANE, 1),
                    f", ({scope.vars[1].kind})3u) * 3u;",
                ]
                if draw.chance(0.5):
                    parts = [
                        "if (",
                        self.expressions.condition(scope, LANE),
                        ")\n    ",
                        *parts,
                    ]
                body.nodes.append(Node(parts))
            body.nodes += self.block(scope, 1).nodes
        tail = "    a ^= sum;\n" if form == "reference" else "    return sum;\n"
        function = Function(
            name, form, level, has_mask, head, self.prologue, body, tail
        )
        function.pinned_text = scope.vars[1].kind
        self.prologue = outer
        return function

    def call(self, scope: Scope) -> Node | None:
        """A call, or a choice among several functions through a pointer."""
        draw, e = self.draw, self.expressions
        able = [
            function
            for function in self.functions
            if function.level <= scope.level
            and (scope.mask is not None or not function.has_mask)
            and not (
                function.form == "block"
                and (scope.threads_ended or not scope.is_kernel)
            )
        ]
        if not able or scope.fuel < FUEL:
            return None
        function = draw.choice(able)
        second = function.pinned_text
        mask = f", {scope.mask}" if function.has_mask else ""
        target = self.target(scope)
        if function.form == "reference":
            return Node(
                [
                    f"{function.name}(ENVIRONMENT_NAMES{mask}, {target}, ",
                    e.of(second, scope, LANE, 2),
                    ");",
                ]
            )
        if function.form == "recursive":
            left = e.of("u32", scope, LANE, 2)
            parts: list = [
                f"{target} += {function.name}(ENVIRONMENT_NAMES, (i32)(",
                left,
                f" & {draw.choice([3, 5, 7])}u), ",
            ]
            return Node(
                [
                    *parts,
                    e.of("u32", scope, LANE, 2),
                    ", ",
                    e.of(second, scope, LANE, 2),
                    ");",
                ]
            )
        alike = [
            other
            for other in able
            if (other.form, other.pinned_text, other.has_mask)
            == (function.form, second, function.has_mask)
        ]
        if function.form == "plain" and len(alike) > 1 and draw.chance(0.6):
            return self.call_by_pointer(scope, alike, second, target)
        parts = [
            f"{target} {draw.choice(['+=', '^='])} {function.name}(ENVIRONMENT_NAMES{mask}, ",
            e.of("u32", scope, LANE, 2),
        ]
        return Node([*parts, ", ", e.of(second, scope, LANE, 2), ");"])

    def call_by_pointer(
        self, scope: Scope, alike: list[Function], second: str, target: str
    ) -> Node:
        draw, e = self.draw, self.expressions
        pointer = draw.fresh("g")
        kind = f"u32 (*{pointer}{{}})(ENVIRONMENT, u32, {second})"
        if draw.chance(0.5):
            one, other = draw.sample(alike, 2)
            parts: list = [
                f"{{\n    {kind.format('')} = ",
                e.condition(scope, LANE),
                f" ? {one.name} : {other.name};\n    ",
            ]
            chosen = pointer
        else:
            names = ", ".join(function.name for function in alike)
            self.tables.append(
                (pointer, f"TABLE {kind.format(f'[{len(alike)}]')} = {{{names}}};")
            )
            parts = ["{\n    "]
            chosen = (
                f"{pointer}[(u32){e.interval(scope, LANE, 2).text} % {len(alike)}u]"
            )
        return Node(
            [
                *parts,
                f"{target} += {chosen}(ENVIRONMENT_NAMES, ",
                e.of("u32", scope, LANE, 2),
                ", ",
                e.of(second, scope, LANE, 1),
                ");\n}",
            ]
        )
