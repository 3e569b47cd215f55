"""Kernels with random control flow, compared with the same programs run by Python."""

import random

import numpy as np
import pytest

import pycuda.driver as cuda

WORD = 0xFFFFFFFF
THREADS = 64
MOST_ROUNDS = 300

HEAD = """.version 7.8
.target sm_75
.address_size 64
.visible .entry run(.param .u64 out) {
    .reg .pred %p;
    .reg .b32 %t, %x, %sum, %fuel, %r<3>, %u<2>, %c<2>;
    .reg .b64 %d, %e;
    mov.u32 %t, %tid.x;
    mov.u32 %u0, 12345; mov.u32 %u1, 678; mov.u32 %c0, 0; mov.u32 %c1, 0;
    mov.u32 %fuel, 60; mov.u32 %sum, 0;
"""
TAIL = """
    ld.param.u64 %d, [out];
    mul.wide.u32 %e, %t, 4;
    add.u64 %d, %d, %e;
    st.global.u32 [%d], %sum;
    ret;
}
"""
STATE = ["r0", "r1", "r2", "u0", "u1", "c0", "c1", "fuel"]


class Program:
    """Blocks with a few operations each, and a branch to two others.

    Registers `r` differ between threads from the start, `u` and `c` only if threads have taken
    different paths. Some blocks end the thread after a number of rounds.
    """

    def __init__(self, seed):
        draw = random.Random(seed)
        self.size = draw.randrange(3, 12)
        loops = draw.random() < 0.4
        self.blocks = []
        for here in range(self.size):

            def target(here=here):
                if not loops:
                    return draw.randrange(self.size + 1)
                near = [
                    here + 1,
                    here + 1,
                    here + 2,
                    draw.randrange(here + 1),
                    here + 3,
                ]
                return min(self.size, draw.choice(near))

            operations = [self.operation(draw) for _ in range(draw.randrange(1, 4))]
            what = draw.choice(["r0", "r1", "r2", "u0", "u1", "c0", "c1", "fuel", "c0"])
            shift = {"r": 7, "u": 3}.get(what[0], 0)
            bits = draw.choice([1, 2, 4, 8, 16, 3, 5, 6, 12])
            branch = what, shift, bits, target(), target()
            self.blocks.append((operations, branch, draw.random() < 0.2))

    @staticmethod
    def operation(draw):
        """(register, other, factor or 0, addend): register = other * factor + addend."""
        kind = draw.randrange(6)
        if kind < 2:
            r, s = draw.choice(STATE[:3]), draw.choice(STATE[:3])
            return r, s, draw.randrange(1, 1 << 16) | 1, draw.randrange(1 << 16)
        if kind < 4:
            u, s = draw.choice(STATE[3:5]), draw.choice(STATE[3:5])
            return (
                u,
                s,
                draw.choice([1, draw.randrange(1 << 16) | 1]),
                draw.randrange(9),
            )
        if kind == 4:  # to the value of another register
            return draw.choice(STATE[:3]), draw.choice(STATE[3:5]), 1, 77
        c = draw.choice(STATE[5:7])
        return c, c, 1, 1

    def run(self, thread):
        """The registers at the thread's end; None if it runs too long."""
        state = dict.fromkeys(STATE, 0) | {"u0": 12345, "u1": 678, "fuel": 60}
        for k in range(3):
            state[f"r{k}"] = (thread * 2654435761 + k * 977) & WORD
        at = trace = 0
        for _ in range(MOST_ROUNDS):
            if at == self.size:
                break
            operations, (what, shift, bits, yes, no), checks = self.blocks[at]
            state["fuel"] = (state["fuel"] - 1) & WORD
            if checks and (state["fuel"] == 0 or state["fuel"] >> 31):
                break
            trace = (trace * 31 + at + 1) & WORD
            for register, other, factor, addend in operations:
                state[register] = (state[other] * factor + addend) & WORD
            at = yes if state[what] >> shift & bits else no
        else:
            return None
        for name in STATE:
            trace = (trace * 1000003 + state[name]) & WORD
        return trace

    def ptx(self):
        lines = [f"    mad.lo.u32 %r{k}, %t, 2654435761, {k * 977};" for k in range(3)]
        for here, (operations, branch, checks) in enumerate(self.blocks):
            lines.append(f"B{here}: sub.u32 %fuel, %fuel, 1;")
            if checks:
                lines.append("    setp.le.s32 %p, %fuel, 0;")
                lines.append(f"    @%p bra B{self.size};")
            lines.append(f"    mad.lo.u32 %sum, %sum, 31, {here + 1};")
            for register, other, factor, addend in operations:
                lines.append(
                    f"    mad.lo.u32 %{register}, %{other}, {factor}, {addend};"
                )
            what, shift, bits, yes, no = branch
            lines.append(f"    shr.u32 %x, %{what}, {shift}; and.b32 %x, %x, {bits};")
            lines.append(f"    setp.ne.u32 %p, %x, 0; @%p bra B{yes}; bra B{no};")
        lines.append(f"B{self.size}:")
        lines += [f"    mad.lo.u32 %sum, %sum, 1000003, %{name};" for name in STATE]
        return HEAD + "\n".join(lines) + TAIL


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_random_flow(device, first):
    compared = 0
    for seed in range(first, first + 20):
        program = Program(seed)
        expected = [program.run(thread) for thread in range(THREADS)]
        if None in expected:
            continue
        run = cuda.module_from_buffer(program.ptx().encode()).get_function("run")
        out = np.zeros(THREADS, np.uint32)
        run(cuda.Out(out), block=(THREADS, 1, 1))
        assert out.tolist() == expected, f"program {seed}:\n{program.ptx()}"
        compared += 1
    assert compared > 5
