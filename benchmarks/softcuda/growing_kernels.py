"""PTX of kernels of any size, for compile_growth.py: a function for each kind of growth."""

from __future__ import annotations

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


def unrolled_loads(count: int) -> str:
    """Loads at computed places, all of which are needed at the end: as many live values."""
    text = "".join(
        f"\nld.global.u32 %w{k}, [%a1+{4 * (k * 7 % 64)}];" for k in range(count)
    )
    text += "\nbar.sync 0;" + "".join(
        f"\nmad.lo.u32 {SUMS[k % 3]}, %w{k}, {2 * k + 1}, {SUMS[k % 3]};"
        for k in range(count)
    )
    return START + f".reg .b32 %w<{count}>;" + text + END


def many_registers(count: int) -> str:
    """A loop over as many accumulators, as in register tiles."""
    names = [f"%w{k}" for k in range(count)]
    text = "".join(f"\nmul.lo.u32 {w}, %r3, {2 * k + 1};" for k, w in enumerate(names))
    text += "\nmov.u32 %r11, 0;\nTILE:"
    text += "".join(
        f"\nmad.lo.u32 {w}, {w}, {names[k - 1]}, %r11;" for k, w in enumerate(names)
    )
    text += "\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p1, %r11, %r2;\n@%p1 bra TILE;"
    text += "".join(f"\nxor.b32 %r3, %r3, {w};" for w in names)
    return START + f".reg .b32 %w<{count}>;" + text + END


def declared_registers(count: int) -> str:
    """Registers that are declared, each used once."""
    text = "".join(
        f"\nadd.u32 %w{k}, %r3, {k};\nxor.b32 %r3, %w{k}, %r5;" for k in range(count)
    )
    return START + f".reg .b32 %w<{count}>;" + text + END


def phi_web(count: int) -> str:
    """Values that rotate through a loop with branches: each has a phi at each join."""
    names = [f"%w{k}" for k in range(16)]
    text = [f"\nadd.u32 {w}, %r3, {k};" for k, w in enumerate(names)]
    text.append("\nmov.u32 %r11, 0;\nTURN:")
    for k in range(count):
        a, b = names[k % 16], names[(k * 7 + 3) % 16]
        text.append(f"""
and.b32 %r10, {a}, {1 << k % 20};
setp.eq.u32 %p1, %r10, 0;
@%p1 bra SAME{k};
mov.u32 %r12, {a};
mov.u32 {a}, {b};
add.u32 {b}, %r12, {k};
SAME{k}:""")
    text.append("\nadd.u32 %r11, %r11, 1;\nsetp.lt.u32 %p2, %r11, %r2;\n@%p2 bra TURN;")
    text.extend(f"\nxor.b32 %r3, %r3, {w};" for w in names)
    return START + ".reg .b32 %w<16>;" + "".join(text) + END


def nest(depth: int) -> str:
    """Branches within branches."""
    text = []
    for k in range(depth):
        text.append(f"""
mad.lo.u32 %r3, %r3, {2 * k + 3}, {k};
and.b32 %r10, %r3, 3;
setp.eq.u32 %p1, %r10, {k % 4};
@%p1 bra OUT{k};""")
    for k in reversed(range(depth)):
        total = SUMS[k % 3]
        text.append(
            f"\nadd.u32 {total}, {total}, %r3;\nOUT{k}:\nxor.b32 %r3, %r3, {k};"
        )
    return START + "".join(text) + END


def loop_nest(depth: int) -> str:
    """Loops within loops."""
    text = [
        f"\nmov.u32 %n{k}, 0;\nHEAD{k}:\nadd.u32 %r5, %r5, %r3;" for k in range(depth)
    ]
    text += [
        f"\nxor.b32 %r6, %r6, %r5;\nadd.u32 %n{k}, %n{k}, 1;\nsetp.lt.u32 %p1, %n{k}, %r2;\n@%p1 bra HEAD{k};"
        for k in reversed(range(depth))
    ]
    return START + f".reg .b32 %n<{depth}>;" + "".join(text) + END


def shared_arrays(count: int) -> str:
    """Arrays in shared memory, each written and read."""
    text = "".join(f".shared .align 4 .b8 t{k}[32];\n" for k in range(count))
    for k in range(count):
        text += f"""
mov.u32 %r13, t{k};
and.b32 %r10, %r3, 7;
mad.lo.u32 %r10, %r10, 4, %r13;
st.shared.u32 [%r10], {SUMS[k % 3]};
ld.shared.u32 %r3, [t{k}+{4 * (k % 8)}];"""
    return START + text + END


def barriers(count: int) -> str:
    """Barriers between accesses of shared memory."""
    text = ".shared .align 4 .b8 t[1024];\nmov.u32 %r13, t;\nmad.lo.u32 %r13, %r1, 4, %r13;"
    for k in range(count):
        total = SUMS[k % 3]
        text += f"""
st.shared.u32 [%r13], %r3;
bar.sync 0;
ld.shared.u32 %r10, [%r13];
add.u32 {total}, {total}, %r10;
bar.sync 0;"""
    return START + text + END


def shuffles(count: int) -> str:
    """Exchanges between lanes, and votes."""
    text = ""
    for k in range(count):
        total = SUMS[k % 3]
        text += f"""
shfl.sync.bfly.b32 %r10, %r3, {1 << k % 5}, 31, -1;
add.u32 {total}, {total}, %r10;
setp.gt.u32 %p1, {total}, %r3;
vote.sync.ballot.b32 %r3, %p1, -1;"""
    return START + text + END


def atomics(count: int) -> str:
    """Atomics at computed places."""
    text = ""
    for k in range(count):
        total = SUMS[k % 3]
        text += f"""
and.b32 %r10, %r3, 63;
mul.wide.u32 %a2, %r10, 4;
add.s64 %a2, %a1, %a2;
atom.global.{("add.u32", "max.u32", "exch.b32", "or.b32")[k % 4]} %r11, [%a2], {total};
add.u32 {total}, {total}, %r11;"""
    return START + text + END


def divisions(count: int) -> str:
    """Integer divisions and remainders."""
    text = "".join(
        f"\nor.b32 %r10, %r3, {2 * k + 1};\ndiv.u32 {SUMS[k % 3]}, {SUMS[(k + 1) % 3]}, %r10;"
        f"\nadd.u32 {SUMS[k % 3]}, {SUMS[k % 3]}, %r3;\nrem.s32 %r3, %r3, {3 * k + 7};"
        for k in range(count)
    )
    return START + text + END


def float_functions(count: int) -> str:
    """Floating-point operations, with approximate functions."""
    text = "\ncvt.rn.f32.u32 %f1, %r3;\nmov.f32 %f2, 0f3F000000;"
    for k in range(count):
        name = ("sin", "cos", "ex2", "lg2", "rsqrt", "rcp.ftz")[k % 6]
        full = name if "." in name else name + ".approx"
        full = full.replace("rcp.ftz", "rcp.approx.ftz")
        text += f"\n{full}.f32 %f3, %f1;\nfma.rn.f32 %f2, %f2, %f1, %f3;\nadd.f32 %f1, %f1, %f2;"
    return START + ".reg .f32 %f<4>;" + text + "\ncvt.rzi.u32.f32 %r5, %f2;" + END


def doubles(count: int) -> str:
    """Divisions and roots in double precision."""
    text = "\ncvt.rn.f64.u32 %d1, %r3;\nmov.f64 %d2, 0d3FF0000000000000;"
    for _ in range(count):
        text += (
            "\nadd.f64 %d1, %d1, 0d3FF0000000000000;\ndiv.rn.f64 %d2, %d2, %d1;"
            "\nsqrt.rn.f64 %d3, %d1;\nadd.f64 %d2, %d2, %d3;"
        )
    return START + ".reg .f64 %d<4>;" + text + "\ncvt.rzi.u32.f64 %r5, %d2;" + END


def local_look_ups(count: int) -> str:
    """Loads and stores at computed places of an array in local memory."""
    text = ".local .align 4 .b8 own[256];\nmov.u32 %r13, own;"
    for k in range(count):
        total = SUMS[k % 3]
        text += f"""
mad.lo.u32 %r10, %r3, {2 * k + 1}, {13 * k};
and.b32 %r10, %r10, 63;
mad.lo.u32 %r10, %r10, 4, %r13;
st.local.u32 [%r10], {total};
xor.b32 %r10, %r10, 4;
ld.local.u32 %r11, [%r10];
add.u32 {total}, {total}, %r11;"""
    return START + text + END


def constants(count: int) -> str:
    """A constant array with an initialiser, and a look-up in it."""
    numbers = ", ".join(str(k * 40503 % 65536) for k in range(count))
    table = f".global .align 4 .u32 numbers[{count}] = {{{numbers}}};\n"
    look_up = f"""
rem.u32 %r10, %r3, {count};
mul.wide.u32 %a2, %r10, 4;
mov.u64 %a3, numbers;
add.s64 %a2, %a3, %a2;
ld.global.u32 %r11, [%a2];
add.u32 %r5, %r5, %r11;"""
    return HEADER + table + ENTRY + look_up + END


def kernels(count: int) -> str:
    """Kernels in one module, of which one is launched."""
    others = "".join(
        ENTRY.replace("grow(", f"other{k}(") + branches(6, "%r3") + END
        for k in range(count)
    )
    return HEADER + others + ENTRY + END


def prints(count: int) -> str:
    """Calls of printf, none of which is reached."""
    text = [
        HEADER,
        ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n",
    ]
    for k in range(count):
        letters = ", ".join(str(ord(c)) for c in f"number {k}: %d\n\0")
        text.append(
            f".global .align 1 .b8 text{k}[{len(letters.split(','))}] = {{{letters}}};\n"
        )
    text.append(ENTRY + ".local .align 8 .b8 place[8];\n")
    for k in range(count):
        text.append(f"""
setp.ne.u32 %p1, %r3, {1000 + k};
@%p1 bra QUIET{k};
st.local.u32 [place], %r3;
mov.u64 %a2, text{k};
cvta.global.u64 %a2, %a2;
mov.u64 %a3, place;
cvta.local.u64 %a3, %a3;
{{
.param .b64 f;
.param .b64 a;
.param .b32 r;
st.param.b64 [f], %a2;
st.param.b64 [a], %a3;
call (r), vprintf, (f, a);
ld.param.b32 %r10, [r];
}}
QUIET{k}:""")
    return "".join(text) + END


def functions(count: int) -> str:
    """Functions of many instructions, each called once."""
    text = [HEADER, *(function(f"f{k}", steps(k) * 3) for k in range(count)), ENTRY]
    text += [call(f"f{k}", "%r3") for k in range(count)]
    return "".join(text) + END


def recursions(count: int) -> str:
    """Recursive functions, each called once."""
    text = [HEADER]
    for k in range(count):
        inner = f"""
shr.u32 %x1, %x1, 1;
setp.eq.u32 %x, %x1, 0;
@%x bra END;{call(f"f{k}", "%x1")}
END:"""
        body = function(f"f{k}", inner + steps(k))
        text.append(
            body.replace(".reg .b32 %x<8>;", ".reg .b32 %x<8>;\n.reg .pred %x;")
        )
    text.append(ENTRY)
    text += [call(f"f{k}", "%r3") for k in range(count)]
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
    "functions": (functions, 20),
    "recursive functions": (recursions, 20),
    "live values": (unrolled_loads, 300),
    "accumulators": (many_registers, 300),
    "registers": (declared_registers, 500),
    "phis": (phi_web, 150),
    "nested branches": (nest, 200),
    "nested loops": (loop_nest, 30),
    "shared arrays": (shared_arrays, 150),
    "barriers": (barriers, 100),
    "shuffles and votes": (shuffles, 150),
    "atomics": (atomics, 150),
    "divisions": (divisions, 200),
    "float functions": (float_functions, 200),
    "doubles": (doubles, 200),
    "look-ups in local memory": (local_look_ups, 120),
    "constant array": (constants, 10000),
    "kernels": (kernels, 30),
    "prints": (prints, 50),
}
