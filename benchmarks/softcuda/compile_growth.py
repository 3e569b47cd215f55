"""How the time to compile a kernel grows with its size, for each kind of growth.

    ./run benchmarks/softcuda/compile_growth.py [--limit 60] [--isa avx512 avx2 sse4] [KIND ...]

The kernels are generated as PTX. A process of its own compiles each of them, with no cache. A kind grows to
twice the size each time, from about 1000 instructions on, until a compilation takes more than --limit seconds.
Times are processor time of the compiling thread (SOFTCUDA_TIMES=1), in milliseconds for each 1000 lines of PTX:
where the time grows in proportion to the kernel, a column has equal numbers.
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

HEADER = """
.version 8.0
.target sm_86
.address_size 64
"""
ENTRY = """
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
START = HEADER + ENTRY
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


def arithmetic(count: int) -> str:
    """Straight-line code without memory."""
    text = "".join(
        f"\nmad.lo.u32 {SUMS[k % 3]}, {SUMS[(k + 1) % 3]}, {2 * k + 1}, %r3;"
        f"\nxor.b32 %r3, %r3, {SUMS[k % 3]};"
        for k in range(count)
    )
    return START + text + END


def local_stores(count: int) -> str:
    """An array in local memory, filled by straight-line code and read by a loop."""
    stores = "".join(
        f"\nmad.lo.u32 %r10, %r3, {k * 40503 % 65536 | 1}, {k};\nst.local.u32 [array+{4 * k}], %r10;"
        for k in range(count)
    )
    sums = f"""
mov.u32 %r11, 0;
mov.u32 %r13, array;
SUM:
rem.u32 %r12, %r3, {count};
mad.lo.u32 %r12, %r12, 4, %r13;
ld.local.u32 %r10, [%r12];
mad.lo.u32 %r5, %r5, 31, %r10;
add.u32 %r3, %r3, 7;
add.u32 %r11, %r11, 1;
setp.lt.u32 %p1, %r11, {count};
@%p1 bra SUM;"""
    return START + f".local .align 4 .b8 array[{4 * count}];" + stores + sums + END


def look_ups(count: int) -> str:
    """Loads at computed places of a table, as in unrolled ciphers."""
    text = "".join(
        f"""
mad.lo.u32 %r10, %r3, {2 * k + 1}, {13 * k};
and.b32 %r10, %r10, 63;
mul.wide.u32 %a2, %r10, 4;
add.s64 %a2, %a1, %a2;
ld.global.u32 %r11, [%a2];
mad.lo.u32 {SUMS[k % 3]}, %r11, {2 * k + 1}, {SUMS[k % 3]};"""
        for k in range(count)
    )
    return START + text + END


def scatters(count: int) -> str:
    """Stores at computed places of shared memory."""
    text = "".join(
        f"""
mad.lo.u32 %r10, %r3, {2 * k + 1}, {13 * k};
and.b32 %r10, %r10, 63;
mad.lo.u32 %r10, %r10, 4, %r13;
st.shared.u32 [%r10], {SUMS[k % 3]};
add.u32 {SUMS[k % 3]}, {SUMS[k % 3]}, {k};"""
        for k in range(count)
    )
    return START + ".shared .align 4 .b8 table[256];\nmov.u32 %r13, table;" + text + END


def switches(count: int) -> str:
    """Switches of eight cases in a row."""
    text = []
    for k in range(count):
        cases = [f"CASE{k}_{n}" for n in range(8)]
        text.append(
            f"\nTABLE{k}: .branchtargets {', '.join(cases)};"
            f"\nxor.b32 %r10, %r3, {k};\nand.b32 %r10, %r10, 7;\nbrx.idx %r10, TABLE{k};"
        )
        for n, case in enumerate(cases):
            text.append(
                f"\n{case}:\nmad.lo.u32 {SUMS[n % 3]}, {SUMS[n % 3]}, {2 * n + 3}, %r3;\nbra JOIN{k};"
            )
        text.append(f"\nJOIN{k}:\nadd.u32 %r3, %r3, %r5;")
    return START + "".join(text) + END


def function(name: str, body: str) -> str:
    """A function of one number."""
    return f"""
.func (.param .b32 result) {name}(.param .b32 n)
{{
.reg .b32 %x<8>;
ld.param.u32 %x1, [n];{body}
st.param.b32 [result], %x1;
ret;
}}
"""


def call(name: str, register: str, shape: str = "") -> str:
    """A call; `shape` is the name of its prototype if `name` is a register."""
    return f"""
{{
.param .b32 to;
.param .b32 back;
st.param.b32 [to], {register};
{f"{shape}: .callprototype (.param .b32 _) _ (.param .b32 _);" if shape else ""}
call (back), {name}, (to){f", {shape}" if shape else ""};
ld.param.b32 {register}, [back];
}}"""


def steps(seed: int) -> str:
    """Some arithmetic of a function."""
    return "".join(
        f"\nmad.lo.u32 %x1, %x1, {2 * (seed + k) + 3}, {seed * 7 + k};"
        for k in range(12)
    )


def calls(count: int) -> str:
    """Functions in a tree: each calls the one before it three times. The last one is not called at run time."""
    text = [HEADER, function("f0", steps(0))]
    for k in range(1, count + 1):
        text.append(function(f"f{k}", steps(k) + 3 * call(f"f{k - 1}", "%x1")))
    skip = "\nsetp.eq.u32 %p1, %r2, 1;\n@%p1 bra SKIP;"
    return "".join(text) + ENTRY + skip + call(f"f{count}", "%r3") + "\nSKIP:" + END


def calls_of_one(count: int) -> str:
    """Many calls of one function."""
    return HEADER + function("f", steps(1) * 4) + ENTRY + count * call("f", "%r3") + END


def pointers(count: int) -> str:
    """Calls through pointers, each of one of as many functions."""
    names = [f"f{k}" for k in range(count)]
    text = [HEADER, *(function(f"f{k}", steps(k)) for k in range(count))]
    text.append(f".global .align 8 .u64 table[{count}] = {{{', '.join(names)}}};\n")
    text.append(ENTRY + "\nmov.u64 %a3, table;")
    for k in range(count):
        text.append(f"""
add.u32 %r10, %r3, {k};
rem.u32 %r10, %r10, {count};
mul.wide.u32 %a2, %r10, 8;
add.s64 %a2, %a3, %a2;
ld.global.u64 %a2, [%a2];""")
        text.append(call("%a2", "%r3", f"shape{k}"))
    return "".join(text) + END


#: The sizes are numbers of basic blocks, of statements, of functions.
KINDS = {
    "divergent branches": (divergent, 300),
    "uniform branches": (uniform, 300),
    "branches in one loop": (one_loop, 300),
    "loops": (loops, 300),
    "early exits": (early_exits, 300),
    "switches": (switches, 40),
    "arithmetic": (arithmetic, 500),
    "local stores": (local_stores, 500),
    "look-ups": (look_ups, 150),
    "stores in shared memory": (scatters, 200),
    "tree of calls": (calls, 10),
    "calls of one function": (calls_of_one, 100),
    "calls through pointers": (pointers, 16),
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


def child(kind: str, size: int) -> None:
    """Compiles one kernel; its times go to stderr."""
    module = cuda.module_from_buffer(KINDS[kind][0](size).encode())
    memory = cuda.mem_alloc(4 * (256 + 64))
    cuda.memset_d32(memory, 1, 256 + 64)
    module.get_function("grow").bind(
        memory, np.uint32(1), grid=(1, 1), block=(256, 1, 1)
    )()
    cuda.Context.synchronize()


def measure(kind: str, size: int, isa: str) -> dict[str, float] | None:
    """Milliseconds by stage; None if the kernel takes much longer than the limit, or fails."""
    try:
        process = subprocess.run(
            [sys.executable, __file__, "--child", str(size), kind],
            env={
                **os.environ,
                "SOFTCUDA_DISABLE_CACHE": "1",
                "SOFTCUDA_TIMES": "1",
                "SOFTCUDA_ISA": isa,
            },
            stderr=subprocess.PIPE,
            text=True,
            timeout=600,
        )
    except subprocess.TimeoutExpired:
        return None
    times = dict.fromkeys(STAGES, 0.0)
    for line in process.stderr.splitlines():
        found = re.match(r"softcuda: times of (.*?): (.*)", line)
        for part in found[2].split(", ") if found else ():
            name, milliseconds = part.rsplit(" ", 1)
            times[stage_of(found[1], name)] += float(milliseconds)
    # A processor without the instructions compiles the kernel, and fails when it runs.
    return times if times[STAGES[-1]] > 0 else None


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", default=list(KINDS), metavar="KIND")
    parser.add_argument("--limit", type=float, default=60, help="seconds")
    parser.add_argument("--isa", nargs="+", default=["native"], metavar="ISA")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        assert pycuda.autoinit.device is not None
        child(options.kinds[0], options.child)
        return
    print(
        "| ms for each 1000 lines | ISA | lines | KB | "
        + " | ".join(STAGES)
        + " | all | s |"
    )
    print("|---|---|---:|---:|" + "---:|" * (len(STAGES) + 2))
    for kind in options.kinds:
        make, size = KINDS[kind]
        for isa in options.isa:
            print_growth(kind, make, size, isa, options.limit)


def print_growth(kind, make, size: int, isa: str, limit: float) -> None:
    """The rows of one kind and ISA."""
    seconds = 0.0
    while seconds < limit:
        text = make(size)
        lines = text.count("\n")
        times = measure(kind, size, isa)
        row = f"| {kind} | {isa} | {lines} | {len(text) / 1000:.0f} | "
        if times is None:
            print(row + "failed or took more than 600 s |", flush=True)
            return
        seconds = sum(times.values()) / 1e3
        cells = [f"{t / lines * 1e3:.0f}" for t in (*times.values(), seconds * 1e3)]
        print(row + " | ".join(cells) + f" | {seconds:.1f} |", flush=True)
        size *= 2


if __name__ == "__main__":
    main()
