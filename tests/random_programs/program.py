"""A random program: its features, its launch, its functions and its kernel."""

from __future__ import annotations

import copy
import re

from .exchanges import Exchanges
from .expressions import Expressions
from .flow import Flow
from .functions import Function, Functions
from .memory import Memory
from .scope import BLOCK, INTEGERS, LANE, WARP, Array, Draw, Index, Scope, Shape, Var
from .tree import Block, Node, text_of
from .waits import Waits

BLOCKS = [
    (1, 1, 1),
    (31, 1, 1),
    (32, 1, 1),
    (32, 1, 1),
    (33, 1, 1),
    (64, 1, 1),
    (64, 1, 1),
    (100, 1, 1),
]
BLOCKS += [
    (128, 1, 1),
    (16, 16, 1),
    (8, 8, 1),
    (16, 4, 1),
    (4, 4, 4),
    (8, 4, 3),
    (5, 7, 2),
    (33, 2, 1),
    (256, 1, 1),
    (1, 40, 1),
]
GRIDS = [(1, 1, 1), (1, 1, 1), (2, 1, 1), (3, 1, 1), (2, 2, 1), (5, 1, 1)]

#: The features of programs, and the probability of each. A program with few features uses them often.
FEATURES = {
    "ptx": 0.3,
    "packed": 0.3,
    "barriers": 0.5,
    "named": 0.3,
    "masks": 0.45,
    "meetings": 0.4,
    "calls": 0.45,
    "recursion": 0.3,
    "waits": 0.12,
    "locks": 0.12,
    "ends": 0.15,
    "gotos": 0.4,
    "memory": 0.6,
    "atomics": 0.3,
}

MOST_SHARED_BYTES = 40 * 1024
SIZES = {"u8": 1, "u16": 2, "i16": 2, "u64": 8}


class NoRoomError(Exception):
    """The shared memory or the flags for another statement are exhausted."""


class Statements(Flow, Exchanges, Memory, Waits, Functions):
    """Makes the statements of one program."""

    def __init__(self, draw: Draw, shape: Shape):
        self.draw, self.shape = draw, shape
        self.expressions = Expressions(draw)
        self.prologue = Block()
        self.functions: list[Function] = []
        self.tables: list[tuple[str, str]] = []
        self.constant_arrays: list[Array] = []
        self.own_layout = draw.choice(["rows", "columns", "backwards"])
        self.shared_bytes = 0
        self.flag_count = 0
        self.pads: dict[int, str] = {}
        self.budget = draw.choice([3, 5, 8, 12, 20])
        self.choices = self._choices()

    def _choices(self):
        has = self.draw.has
        table = [
            (self.assign, 8),
            (self.declare, 2),
            (self.branch, 5),
            (self.loop, 3),
            (self.leave, 3),
        ]
        table += [(self.set_on_one_side, 3), (self.switch, 1), (self.forever, 1)]
        table += [(self.out_of_loops, 2), (self.many_entries, 1)] * has("gotos")
        if has("memory"):
            table += [
                (self.store, 2),
                (self.update, 2),
                (self.local_array, 1),
                (self.local_store, 2),
            ]
            table += [(self.pair, 1), (self.parts_of_word, 1), (self.pointer, 1)]
        table += [(self.add_up, 2), (self.own_atomic, 1), (self.ticket, 1)] * has(
            "atomics"
        )
        table += [(self.call, 4)] * has("calls")
        if has("barriers"):
            table += [
                (self.through_shared, 6),
                (self.block_vote, 2),
                (self.histogram, 2),
                (self.tree_sum, 1),
            ]
            table += [(self.some_warps, 2), (self.barriers_on_both_sides, 2)]
        if has("masks"):
            table += [
                (self.shuffle, 4),
                (self.vote, 4),
                (self.broadcast, 2),
                (self.lanes_through_shared, 2),
            ]
            table += [
                (self.partition, 1),
                (self.warp_sum, 1),
                (self.tracked_loop, 2),
                (self.fixed_halves, 2),
            ]
            table += [(self.meet_from_both_sides, 3)] * has("meetings")
        table += [(self.end_threads, 2)] * has("ends")
        table += [
            (self.chain, 3),
            (self.thread_chain, 2),
            (self.turn, 1),
            (self.warps_in_shared, 2),
        ] * has("waits")
        table += [(self.lock, 2)] * has("locks")
        return [row[0] for row in table], [row[1] for row in table]

    def block(self, scope: Scope, count: int) -> Block:
        """About ``count`` statements."""
        result = Block()
        for _ in range(count):
            if self.budget <= 0 or scope.depth > 7:
                node = self.assign(scope)
            else:
                self.budget -= 1
                node = self.statement(scope)
            if node:
                result.nodes.append(node)
        return result

    def statement(self, scope: Scope) -> Node | None:
        for _ in range(6):
            make = self.draw.choices(*self.choices)[0]
            try:
                node = make(scope)
            except NoRoomError:
                continue
            if node:
                return node
        return None

    # ---- shared objects of statements -------------------------------------------------------------

    def shared(self, kind: str, count: int) -> str:
        """A new array in shared memory, filled with numbers before the first statement."""
        size = SIZES.get(kind, 4) * count
        if self.shared_bytes + size > MOST_SHARED_BYTES:
            raise NoRoomError
        self.shared_bytes += size
        name = self.draw.fresh("sh")
        self.prologue.nodes.append(
            Node([f"SHARED({kind}, {name}, {count});"], pinned=True)
        )
        self.prologue.nodes.append(
            Node([f"fill_shared({name}, {count}, t, {self.shape.threads});"])
        )
        return name

    def pad(self, scope: Scope) -> str:
        """Four words of shared memory for each thread."""
        key = id(self.prologue)
        if key not in self.pads:
            self.pads[key] = self.shared("u32", scope.shape.threads * 4)
        return self.pads[key]

    def flags(self, count: int) -> int:
        """The index of the first of ``count`` words of ``flags`` that no other statement uses; all are 0."""
        if self.flag_count + count > 4096:
            raise NoRoomError
        self.flag_count += count
        return self.flag_count - count


class Program:
    """The program that a seed makes. `text` is CUDA C++, and C++ for the host (see language.h).

    ``without``: features (see `FEATURES`) that it must not use.
    """

    def __init__(self, seed: int, without: frozenset[str] = frozenset()):
        draw = Draw(seed)
        self.seed, self.name = seed, f"k{seed}"
        wanted = {
            name for name, probability in FEATURES.items() if draw.chance(probability)
        }
        draw.features = wanted - without
        shape = Shape(draw.choice(BLOCKS), draw.choice(GRIDS))
        self.shape = shape
        make = Statements(draw, shape)
        self.constants = [
            self._constant(draw, make) for _ in range(draw.choice([0, 1, 1, 2]))
        ]
        make.constant_arrays += [
            Array("in", "u32", 0, 4096),
            Array("rows", "u32", 0, 16),
            Array("rows", "u32", 0, 16),
        ]
        if draw.has("calls"):
            for _ in range(draw.choice([1, 1, 2])):
                make.functions.append(make.make_function())
        scope = self._scope(draw, make)
        self.prologue = make.prologue
        body = self._variables(draw, make, scope)
        self.variables = list(scope.vars)
        make.budget = max(make.budget, 4)
        body.nodes += make.block(scope, draw.choice([2, 3, 4, 6])).nodes
        self.body = body
        self.functions, self.tables = make.functions, make.tables
        self.thread_index = make.thread_index()

    def _constant(self, draw: Draw, make: Statements) -> str:
        name, count = draw.fresh("table"), draw.choice([16, 32, 64])
        kind = draw.choice(["u32", "u32", "u8", "i16", "u16"])
        make.constant_arrays.append(Array(name, kind, 0, count))
        bits = {"u32": 32, "u8": 8, "i16": 15, "u16": 16}[kind]
        numbers = ", ".join(
            str(draw.getrandbits(bits)) + "u" * (kind == "u32") for _ in range(count)
        )
        return f"CONSTANT {kind} {name}[{count}] = {{{numbers}}};"

    def _scope(self, draw: Draw, make: Statements) -> Scope:
        shape, threads = self.shape, self.shape.threads
        x, y, z = shape.block
        scope = Scope(shape)
        scope.indices = [Index("t", 0, threads - 1)] * 3 + [
            Index("lane", 0, min(31, threads - 1))
        ]
        scope.indices += [
            Index("warp", 0, shape.warps - 1, WARP),
            Index("block", 0, shape.blocks - 1, BLOCK),
        ]
        scope.indices += [Index("n0", 5, 5, BLOCK), Index("n1", 19, 19, BLOCK)]
        for name, size in (("x", x), ("y", y), ("z", z)):
            if size > 1 and size != threads:
                scope.indices += [Index(name, 0, size - 1)] * 2
        scope.arrays = list(make.constant_arrays)
        if draw.has("masks"):
            last = threads % 32
            full = "0xffffffffu"
            scope.mask = full if last == 0 else "members"
        return scope

    def _variables(self, draw: Draw, make: Statements, scope: Scope) -> Block:
        """The variables that the end of the kernel writes out."""
        body = Block([Node(["u32 sum = in[gid & 4095];"], pinned=True)])
        scope.vars.append(Var("sum", "u32"))
        kinds = [
            "u32",
            "u32",
            "i32",
            draw.choice(INTEGERS),
            draw.choice(INTEGERS),
            "u32",
            draw.choice(["f32", "f64", "u64"]),
        ]
        for kind in kinds[: draw.randrange(1, 6)]:
            level = draw.choice([LANE, LANE, LANE, WARP, BLOCK])
            value = make.expressions.of(kind, scope, level, draw.choice([1, 2, 3]))
            var = Var(draw.fresh("v"), kind, level)
            body.nodes.append(Node([f"{kind} {var.name} = ", value, ";"], pinned=True))
            scope.vars.append(var)
        return body

    def words(self) -> tuple[int, int, int, int]:
        """The number of words in scratch, flags, sums and out."""
        total = self.shape.threads * self.shape.blocks
        return 16 * total, 4096, 64, 8 * total

    def text(self) -> str:
        """In a separate namespace, so that many programs can be in one file."""
        pieces = [f"namespace n{self.seed} {{\n"]
        pieces += [constant + "\n" for constant in self.constants]
        kernel = self._kernel_text()
        functions = [function.text() for function in self.functions]
        used = kernel
        kept: list[str] = []
        for function, text in reversed(
            list(zip(self.functions, functions, strict=True))
        ):
            named = [
                table
                for _, table in self.tables
                if re.search(rf"\b{function.name}\b", table)
                and table in self._tables_used(used)
            ]
            if re.search(rf"\b{function.name}\b", used) or named:
                kept.append(text)
                used += text
        pieces += reversed(kept)
        pieces += [table + "\n" for table in self._tables_used(kernel + "".join(kept))]
        pieces.append(kernel + "}\n")
        text = "".join(pieces)
        for constant in self.constants:
            name = re.search(r"(table\d+)\[", constant)[1]
            if len(re.findall(rf"\b{name}\b", text)) == 1:
                text = text.replace(constant + "\n", "")
        return text

    def _tables_used(self, text: str) -> list[str]:
        return [table for name, table in self.tables if re.search(rf"\b{name}\b", text)]

    def _kernel_text(self) -> str:
        threads, last = self.shape.threads, self.shape.threads % 32
        end = self._end_text()
        body = text_of(self.body)
        prologue = text_of(self._used_prologue(body))
        if "fill_shared" in prologue:
            prologue += "    __syncthreads();\n"
        lines = {
            "x": "const i32 x = (i32)threadIdx.x;",
            "y": "const i32 y = (i32)threadIdx.y;",
            "z": "const i32 z = (i32)threadIdx.z;",
            "t": f"const i32 t = {self.thread_index};",
            "lane": "const i32 lane = t & 31;",
            "warp": "const i32 warp = t >> 5;",
            "block": "const i32 block = (i32)(blockIdx.x + gridDim.x * blockIdx.y);",
            "gid": f"const i32 gid = block * {threads} + t;",
            "members": f"const u32 members = t >= {threads - last} ? {(1 << last) - 1:#x}u : 0xffffffffu;",
        }
        text = prologue + body + end
        for name in reversed(lines):
            if name in ("t", "block", "gid") or re.search(rf"\b{name}\b", text):
                text = f"    {lines[name]}\n" + text
        # In the order of the table: a line uses only earlier ones.
        head = f"KERNEL {self.name}(const u32 *in, const u32 *const *rows, u32 *scratch, u32 *flags, u32 *sums,\n    u32 *out, i32 n0, i32 n1, i32 minus, u32 u0, i64 l0, u64 w0)\n"
        return f"{head}{{\n{text}}}\n"

    def _used_prologue(self, body: str) -> Block:
        kept = []
        for node in self.prologue.nodes:
            name = re.search(r"\bsh\d+\b", str(node.parts[0]))
            if name is None or re.search(rf"\b{name[0]}\b", body):
                kept.append(node)
        return Block(kept)

    def _end_text(self) -> str:
        lines = ["    u64 hash = sum;\n"]
        for var in self.variables:
            bits = (
                f"bits_of({var.name})"
                if var.kind in ("f32", "f64")
                else f"(u64){var.name}"
            )
            lines.append(f"    hash = (hash ^ {bits}) * 0x100000001b3ull;\n")
        lines.append(
            "    out[gid * 8 + 1] = (u32)hash;\n    out[gid * 8 + 2] = (u32)(hash >> 32);\n"
        )
        for place, var in enumerate(self.variables[:5]):
            bits = f"bits_of({var.name})" if var.kind in ("f32", "f64") else var.name
            lines.append(f"    out[gid * 8 + {3 + place}] = (u32){bits};\n")
        return "".join(lines)

    def host_row(self) -> str:
        """This program's line in the table that host_threads.cpp runs."""
        grid, block = self.shape.grid, self.shape.block
        return f'    {{"{self.name}", n{self.seed}::{self.name}, {{{grid[0]}, {grid[1]}, {grid[2]}}}, {{{block[0]}, {block[1]}, {block[2]}}}, 0}},\n'

    def waits(self) -> bool:
        """True if a thread may wait for another one, without a barrier or an exchange."""
        return "SPIN()" in self.text()

    def rename(self, number: int) -> None:
        """Other names for the kernel and the namespace, so that variants can be in one file."""
        self.seed, self.name = number, f"k{number}"

    def copy(self) -> Program:
        return copy.deepcopy(self)
