"""Random waits: for other blocks, for other threads of the block, for a lock, for memory."""

from __future__ import annotations

from .scope import BLOCK, LANE, Scope
from .tree import Node

LOADS = [
    "__ldcv(&{0})",
    "*(volatile u32 *)&{0}",
    "atomicAdd(&{0}, 0u)",
    "atomicCAS(&{0}, 0u, 0u)",
    "load_acquire(&{0})",
    "{0}",
]
#: Loads that are neither volatile nor atomic. A compiler may move them out of a loop, or remove a loop
#: that does nothing else: ptxas removes `while (__ldcv(p) != n);`. A fence in the loop prevents that.
WEAK_LOADS = ("__ldcv(&{0})", "{0}")
STORES = [
    "atomicExch(&{0}, {1});",
    "*(volatile u32 *)&{0} = {1};",
    "store_release(&{0}, {1});",
    "{0} = {1};\n    __threadfence();",
    "atomicAdd(&{0}, {1});",
]


class Waits:
    """Statements that wait for a value that another thread writes. Mixed into `program.Statements`."""

    def spin(self, place: str, kept: str) -> str:
        """A loop that ends when ``place`` is not 0; its value is in ``kept`` then."""
        draw = self.draw
        load = draw.choice(LOADS)
        body = draw.choice(
            [
                "SPIN();",
                "SPIN();",
                "__nanosleep(20); SPIN();",
                "__threadfence(); SPIN();",
            ]
        )
        if load in WEAK_LOADS:
            body = "__threadfence(); SPIN();"
        return f"while (({kept} = {load.format(place)}) == 0u) {{ {body} }}"

    def chain(self, scope: Scope) -> Node | None:
        """A value that each block passes to the next one, up or down the grid."""
        blocks = scope.shape.blocks
        if (
            scope.level < BLOCK
            or scope.depth
            or not scope.is_kernel
            or scope.threads_ended
            or blocks < 2
        ):
            return None
        draw = self.draw
        base, kept = self.flags(2 * blocks), draw.fresh("v")
        up = draw.chance(0.5)
        first, before = (
            ("block == 0", "block - 1")
            if up
            else (f"block == {blocks - 1}", "block + 1")
        )
        thread = draw.choice(["t == 0", f"t == {scope.shape.threads - 1}"])
        stored = draw.choice(STORES).format(
            f"flags[{base} + block]", f"({kept} * 5u + (u32)block) | 1u"
        )
        payload = draw.chance(0.5)
        parts: list = [
            f"if ({thread}) {{\n    u32 {kept} = 1u;\n    if (!({first}))\n        "
        ]
        parts.append(self.spin(f"flags[{base} + {before}]", kept) + "\n")
        if payload:
            parts.append(
                f"    __threadfence();\n    if (!({first}))\n"
                f"        {kept} += *(volatile u32 *)&flags[{base + blocks} + {before}];\n"
            )
            parts += [
                f"    *(volatile u32 *)&flags[{base + blocks} + block] = ",
                self.expressions.of("u32", scope, BLOCK, 2),
                ";\n    __threadfence();\n",
            ]
        parts.append(f"    {stored}\n    sum ^= {kept};\n}}")
        if self.can_barrier(scope) and draw.chance(0.7):
            parts.append("\n__syncthreads();")
            parts.append(
                f"\n{self.target(scope)} += *(volatile u32 *)&flags[{base} + block];"
            )
        return Node(parts)

    def thread_chain(self, scope: Scope) -> Node | None:
        """Each thread waits for its neighbour, also for one in its own warp."""
        if (
            scope.level < BLOCK
            or scope.depth
            or not scope.is_kernel
            or scope.threads_ended
        ):
            return None
        total = scope.shape.threads * scope.shape.blocks
        draw = self.draw
        base, kept = self.flags(total), draw.fresh("v")
        if base + total > 4096:
            return None
        up = draw.chance(0.5)
        step = draw.choice([1, 1, 2, 32])
        inside, other = (
            (f"t >= {step}", f"gid - {step}")
            if up
            else (f"t + {step} < {scope.shape.threads}", f"gid + {step}")
        )
        stored = draw.choice(STORES).format(
            f"flags[{base} + gid]", f"({kept} * 3u + (u32)t) | 1u"
        )
        return Node(
            [
                f"{{\n    u32 {kept} = 1u;\n    if ({inside})\n        {self.spin(f'flags[{base} + {other}]', kept)}\n"
                f"    {stored}\n    {self.target(scope)} += {kept};\n}}"
            ]
        )

    def turn(self, scope: Scope) -> Node | None:
        """Threads of all blocks that run in turn, one after another."""
        total = scope.shape.threads * scope.shape.blocks
        if (
            scope.level < BLOCK
            or scope.depth
            or not scope.is_kernel
            or scope.threads_ended
            or total > 300
        ):
            return None
        draw, base = self.draw, self.flags(2)
        load = draw.choice(LOADS[:5])
        body = "__threadfence(); SPIN();" if load in WEAK_LOADS else "SPIN();"
        load = load.format(f"flags[{base}]")
        stored = draw.choice(STORES[:4]).format(f"flags[{base}]", "(u32)gid + 1u")
        return Node(
            [
                f"while ({load} != (u32)gid) {{ {body} }}\n__threadfence();\n"
                f"*(volatile u32 *)&flags[{base + 1}] = *(volatile u32 *)&flags[{base + 1}] * 31u + ",
                self.expressions.of("u32", scope, LANE, 2),
                f";\n__threadfence();\n{stored}",
            ]
        )

    def lock(self, scope: Scope) -> Node | None:
        """A lock between all threads, taken in divergent code as well."""
        if not scope.is_kernel:
            return None
        draw, base = self.draw, self.flags(2)
        value = self.expressions.of("u32", scope, LANE, 2)
        place = f"*(volatile u32 *)&flags[{base + 1}]"
        use = f"{place} = {place} {draw.choice('+^')} "
        free = draw.choice(
            [
                f"atomicExch(&flags[{base}], 0u);",
                f"*(volatile u32 *)&flags[{base}] = 0u;",
                f"atomicSub(&flags[{base}], 1u);",
            ]
        )
        form = draw.randrange(
            3 if scope.shape.threads * scope.shape.blocks <= 64 else 2
        )
        if form == 0:
            return Node(
                [
                    f"while (atomicCAS(&flags[{base}], 0u, 1u) != 0u) {{ SPIN(); }}\n__threadfence();\n{use}(",
                    value,
                    f");\n__threadfence();\n{free}",
                ]
            )
        done = draw.fresh("d")
        if form == 1:
            head = f"for (bool {done} = false; !{done};) {{\n    if (atomicExch(&flags[{base}], 1u) == 0u) {{\n        __threadfence();\n        {use}("
            return Node(
                [
                    head,
                    value,
                    f");\n        __threadfence();\n        {free}\n        {done} = true;\n    }} else {{ SPIN(); }}\n}}",
                ]
            )
        head = f"while (atomicAdd(&flags[{base}], 1u) != 0u) {{\n    atomicSub(&flags[{base}], 1u);\n    SPIN();\n}}\n__threadfence();\n{use}("
        return Node(
            [head, value, f");\n__threadfence();\natomicSub(&flags[{base}], 1u);"]
        )

    def warps_in_shared(self, scope: Scope) -> Node | None:
        """One thread of the block signals the others through shared memory, without a barrier."""
        if (
            not self.can_barrier(scope)
            or scope.depth
            or scope.threads_ended
            or scope.shape.threads < 2
        ):
            return None
        draw, threads = self.draw, scope.shape.threads
        name, kept = self.shared("u32", 2), draw.fresh("v")
        teller = draw.choice([0, threads - 1, draw.randrange(threads)])
        parts: list = [
            f"if (t == 0)\n    {name}[0] = 0u;\n__syncthreads();\nif (t == {teller}) {{\n    *(volatile u32 *)&{name}[1] = "
        ]
        parts += [
            self.expressions.of("u32", scope, LANE, 2),
            ";\n    __threadfence_block();\n",
        ]
        parts.append(
            f"    *(volatile u32 *)&{name}[0] = 1u;\n}} else {{\n    u32 {kept};\n    "
        )
        parts.append(
            f"while (({kept} = *(volatile u32 *)&{name}[0]) == 0u) {{ SPIN(); }}\n    __threadfence_block();\n}}\n"
        )
        parts.append(
            f"{self.target(scope)} += *(volatile u32 *)&{name}[1];\n__syncthreads();"
        )
        return Node(parts)
