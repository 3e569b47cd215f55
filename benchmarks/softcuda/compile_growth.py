"""How the time to compile a kernel grows with the number of its basic blocks.

    ./run benchmarks/softcuda/compile_growth.py [--blocks 300 1250 5000 20000] [KIND ...]

The kernels are generated as PTX. A process of its own compiles each of them, with no cache. Times are
processor time of the compiling thread (SOFTCUDA_TIMES=1), in milliseconds for each 1000 basic blocks: where
the time grows in proportion to the kernel, a column has equal numbers.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

os.environ.setdefault("PYCUDA_DRIVER", "softcuda")

import numpy as np

import pycuda.autoinit
import pycuda.driver as cuda

BLOCKS = (300, 1250, 5000, 20000)

START = """
.version 8.0
.target sm_86
.address_size 64
.visible .entry grow(.param .u64 memory, .param .u32 count)
{
.reg .pred %p<4>;
.reg .b32 %r<64>;
.reg .b64 %a<4>;
mov.u32 %r1, %tid.x;
ld.param.u64 %a1, [memory];
ld.param.u32 %r2, [count];
mul.wide.u32 %a2, %r1, 4;
add.s64 %a1, %a1, %a2;
ld.global.u32 %r3, [%a1];
mov.u32 %r4, %r2;
mov.u32 %r5, 7;
mov.u32 %r6, 9;
mov.u32 %r7, 11;
"""
END = """
add.u32 %r3, %r3, %r5;
add.u32 %r3, %r3, %r6;
add.u32 %r3, %r3, %r7;
st.global.u32 [%a1], %r3;
ret;
}
"""
SUMS = ("%r5", "%r6", "%r7")


def branches(blocks: int, choice: str) -> str:
    """`if` and `else` in a row: three basic blocks each."""
    text = []
    for k in range(blocks // 3):
        total = SUMS[k % 3]
        text.append(f"""
and.b32 %r10, {choice}, {1 << k % 20};
setp.eq.u32 %p1, %r10, 0;
@%p1 bra ELSE{k};
add.u32 {total}, {total}, %r3;
xor.b32 %r3, %r3, {k * 40503 % 65536};
bra JOIN{k};
ELSE{k}:
mul.lo.u32 {total}, {total}, 3;
sub.u32 %r4, %r4, {k % 7};
JOIN{k}:""")
    return "".join(text)


def divergent(blocks: int) -> str:
    """Branches on loaded numbers."""
    return START + branches(blocks, "%r3") + END


def uniform(blocks: int) -> str:
    """Branches on a parameter."""
    return START + branches(blocks, "%r4") + END


def one_loop(blocks: int) -> str:
    """All basic blocks in the body of one loop, branches on loaded numbers."""
    head = "mov.u32 %r12, 0;\nTOP:\n"
    tail = "\nadd.u32 %r12, %r12, 1;\nsetp.lt.u32 %p2, %r12, %r2;\n@%p2 bra TOP;\n"
    return START + head + branches(blocks, "%r3") + tail + END


def loops(blocks: int) -> str:
    """Loops in a row, each with a branch on a loaded number: four basic blocks each."""
    text = []
    for k in range(blocks // 4):
        total = SUMS[k % 3]
        text.append(f"""
mov.u32 %r11, 0;
LOOP{k}:
add.u32 {total}, {total}, %r3;
and.b32 %r10, {total}, 3;
setp.eq.u32 %p2, %r10, 1;
@%p2 bra SKIP{k};
xor.b32 %r3, %r3, {total};
SKIP{k}:
add.u32 %r11, %r11, 1;
setp.lt.u32 %p1, %r11, %r2;
@%p1 bra LOOP{k};""")
    return START + "".join(text) + END


def early_exits(blocks: int) -> str:
    """Loads in a row, behind each of which some lanes leave: one basic block each."""
    text = []
    for k in range(blocks):
        total = SUMS[k % 3]
        text.append(f"""
add.u32 {total}, {total}, %r3;
setp.eq.u32 %p1, {total}, {k};
@%p1 bra OUT;
ld.global.u32 %r10, [%a1+{4 * (k % 64)}];
add.u32 %r3, %r3, %r10;""")
    return START + "".join(text) + "\nOUT:" + END


KINDS = {
    "divergent branches": divergent,
    "uniform branches": uniform,
    "branches in one loop": one_loop,
    "loops": loops,
    "early exits": early_exits,
}
STAGES = ("PTX and IR", "analyses", "code generation", "LLVM's passes", "machine code")


def stage_of(line: str, name: str) -> str:
    """The stage of a pass, by the line of SOFTCUDA_TIMES that it is in."""
    if line.startswith("reading") or line.startswith("planning") and name in IR_PASSES:
        return STAGES[0]
    if line.startswith("planning"):
        return STAGES[1]
    return {"code generation": STAGES[2], "machine code": STAGES[4]}.get(
        name, STAGES[3]
    )


IR_PASSES = {
    "specialize",
    "fold",
    "simplify-flow",
    "dead-code",
    "canonicalize-loops",
    "split-pointers",
    "split-at-barriers",
    "simplify-loops",
    "close-loops",
}


def child(kind: str, blocks: int) -> None:
    """Compiles one kernel; its times go to stderr."""
    module = cuda.module_from_buffer(KINDS[kind](blocks).encode())
    memory = cuda.mem_alloc(4 * (256 + 64))
    cuda.memset_d32(memory, 1, 256 + 64)
    module.get_function("grow").bind(
        memory, np.uint32(1), grid=(1, 1), block=(256, 1, 1)
    )()
    cuda.Context.synchronize()


def measure(kind: str, blocks: int) -> dict[str, float]:
    """Milliseconds by stage."""
    process = subprocess.run(
        [sys.executable, __file__, "--child", str(blocks), kind],
        env={**os.environ, "SOFTCUDA_DISABLE_CACHE": "1", "SOFTCUDA_TIMES": "1"},
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    times = dict.fromkeys(STAGES, 0.0)
    for line in process.stderr.splitlines():
        found = re.match(r"softcuda: times of (.*?): (.*)", line)
        for part in found[2].split(", ") if found else ():
            name, milliseconds = part.rsplit(" ", 1)
            times[stage_of(found[1], name)] += float(milliseconds)
    return times


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    parser.add_argument("--blocks", nargs="+", type=int, default=BLOCKS)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        assert pycuda.autoinit.device is not None
        child(options.kinds[0], options.child)
        return
    print(
        "| ms for each 1000 basic blocks | blocks | " + " | ".join(STAGES) + " | all |"
    )
    print("|---|---:|" + "---:|" * (len(STAGES) + 1))
    for kind in options.kinds:
        for blocks in options.blocks:
            times = measure(kind, blocks)
            cells = [
                f"{t / blocks * 1e3:.0f}"
                for t in (*times.values(), sum(times.values()))
            ]
            print(f"| {kind} | {blocks} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
