"""More PTX of any size for compile_growth.py: kinds of which 50 KB took LLVM more than three seconds."""

from __future__ import annotations

from growing_kernels import END, START, SUMS


def statements(size: int, write) -> str:
    """A kernel of `size` statements, which `write` makes from a number and the registers that change in turn."""
    parts = (write(k, SUMS[k % 3], SUMS[(k + 1) % 3]) for k in range(size))
    return START + "".join(parts) + END


def labels(size: int) -> str:
    """A jump by a loaded number."""
    names = ", ".join(f"CASE{k}" for k in range(size))
    return f"""
TABLE: .branchtargets {names};
rem.u32 %r10, %r3, {size};
brx.idx %r10, TABLE;"""


def case_labels(size: int) -> str:
    """One switch on a loaded number."""
    cases = "".join(
        f"""
CASE{k}:
mad.lo.u32 {SUMS[k % 3]}, %r3, {2 * k + 3}, {k};
xor.b32 %r3, %r3, {k};
bra JOIN;"""
        for k in range(size)
    )
    return f"{START}{labels(size)}{cases}\nJOIN:{END}"


def else_ifs(size: int) -> str:
    """A chain of `else if` on a loaded number."""
    chain = "".join(
        f"""
setp.ne.u32 %p1, %r3, {k};
@%p1 bra NEXT{k};
mad.lo.u32 {SUMS[k % 3]}, %r3, {2 * k + 3}, {k};
bra JOIN;
NEXT{k}:"""
        for k in range(size)
    )
    return f"{START}{chain}\nJOIN:{END}"


def carries(size: int) -> str:
    """Products of long numbers."""
    return statements(
        size,
        lambda k, *_: (
            f"""
mad.lo.cc.u32 %r5, %r5, %r3, %r6;
madc.hi.cc.u32 %r6, %r5, %r3, %r7;
addc.u32 %r7, %r7, {k};"""
        ),
    )


def predicated_loads(size: int) -> str:
    """Loads of some lanes."""
    return statements(
        size,
        lambda k, first, second: (
            f"""
setp.gt.u32 %p1, {first}, %r3;
@%p1 ld.global.u32 {second}, [%a1+{4 * (k % 60)}];"""
        ),
    )


def polls(size: int) -> str:
    """Loops that wait for memory."""
    return statements(
        size,
        lambda k, total, _: (
            f"""
AGAIN{k}:
ld.volatile.global.u32 %r10, [%a1];
setp.eq.u32 %p1, %r10, {1000000 + k};
@%p1 bra AGAIN{k};
add.u32 {total}, {total}, %r10;"""
        ),
    )


def irreducible_loops(size: int) -> str:
    """Loops with two entries."""
    return statements(
        size,
        lambda k, *_: (
            f"""
and.b32 %r10, %r3, 1;
setp.eq.u32 %p1, %r10, 0;
mov.u32 %r11, 3;
@%p1 bra SECOND{k};
FIRST{k}:
add.u32 %r5, %r5, 1;
SECOND{k}:
sub.u32 %r11, %r11, 1;
xor.b32 %r3, %r3, %r5;
setp.gt.u32 %p2, %r11, 0;
@%p2 bra FIRST{k};"""
        ),
    )


def halves(size: int) -> str:
    """Arithmetic of pairs of halves."""
    return statements(
        size,
        lambda _, first, second: (
            f"""
fma.rn.f16x2 {first}, {second}, %r3, {first};
add.rn.f16x2 %r3, %r3, {first};"""
        ),
    )


def approximations(size: int) -> str:
    """Functions of the special function unit."""
    chain = """
sin.approx.f32 %f1, %f1;
lg2.approx.f32 %f2, %f1;
ex2.approx.f32 %f1, %f2;
rsqrt.approx.f32 %f1, %f1;"""
    return f"{START}\n.reg .f32 %f<3>;\ncvt.rn.f32.u32 %f1, %r3;{chain * size}\nmov.b32 %r5, %f1;{END}"


def falling_cases(size: int) -> str:
    """One switch on a loaded number; each case goes on with the next one."""
    cases = "".join(
        f"""
CASE{k}:
mad.lo.u32 {SUMS[k % 3]}, %r3, {2 * k + 3}, {k};
xor.b32 %r3, %r3, {k};"""
        for k in range(size)
    )
    return f"{START}{labels(size)}{cases}{END}"


def interpreter(size: int) -> str:
    """A loop around a switch on a number that the case before has computed."""
    cases = "".join(
        f"""
CASE{k}:
mad.lo.u32 {SUMS[k % 3]}, {SUMS[(k + 1) % 3]}, {2 * k + 3}, %r3;
add.u32 %r3, %r3, {SUMS[k % 3]};
bra NEXT;"""
        for k in range(size)
    )
    return f"""{START}
mov.u32 %r11, 0;
STEP:{labels(size)}{cases}
NEXT:
add.u32 %r11, %r11, 1;
setp.lt.u32 %p1, %r11, %r2;
@%p1 bra STEP;{END}"""


def comparisons(size: int) -> str:
    """A tree of comparisons with a loaded number, as of a binary search."""

    def tree(first: int, last: int) -> str:
        if last - first == 1:
            total = SUMS[first % 3]
            return f"\nmad.lo.u32 {total}, %r3, {2 * first + 3}, {total};\nbra JOIN;"
        middle = (first + last) // 2
        return f"""
setp.ge.u32 %p1, %r3, {middle};
@%p1 bra FROM{middle};{tree(first, middle)}
FROM{middle}:{tree(middle, last)}"""

    return f"{START}{tree(0, size)}\nJOIN:{END}"


def constant_offsets(size: int) -> str:
    """Loads and stores in turn, at constant offsets from one pointer."""
    return statements(
        size,
        lambda k, total, _: (
            f"""
ld.global.u32 %r10, [%a1+{4 * (k * 7 % 250)}];
add.u32 {total}, {total}, %r10;
st.global.u32 [%a1+{4 * (k * 11 % 250)}], {total};"""
        ),
    )


def divergent_loops(size: int) -> str:
    """Loops that each lane leaves after a number of its own."""
    return statements(
        size,
        lambda k, total, _: (
            f"""
and.b32 %r11, %r3, 7;
LOOP{k}:
mad.lo.u32 {total}, {total}, {2 * k + 3}, %r11;
sub.u32 %r11, %r11, 1;
setp.gt.s32 %p1, %r11, 0;
@%p1 bra LOOP{k};
add.u32 %r3, %r3, {total};"""
        ),
    )


def inlined_lines(size: int) -> str:
    """Functions of a header of CUDA in each other, three deep, with lines as of -lineinfo."""
    text = statements(
        size,
        lambda k, total, _: (
            f"""
.loc 2 {k + 1} 3, function_name $inlined, inlined_at 3 {k + 1} 5
mad.lo.u32 {total}, {total}, {2 * k + 3}, %r3;
.loc 3 {k + 1} 5, function_name $inlined, inlined_at 1 {k + 1} 7
xor.b32 %r3, %r3, {total};"""
        ),
    )
    return f"""{text}
.file 1 "/kernel.cu"
.file 2 "/cuda/include/inner.h"
.file 3 "/cuda/include/outer.h"
.section .debug_str
{{
$inlined:
.b8 102,0
}}
"""


MORE_KINDS = {
    "cases": (case_labels, 200),
    "else-ifs": (else_ifs, 200),
    "carries": (carries, 200),
    "predicated loads": (predicated_loads, 200),
    "polls": (polls, 100),
    "irreducible loops": (irreducible_loops, 50),
    "halves": (halves, 200),
    "approximate functions": (approximations, 100),
    "cases that fall through": (falling_cases, 200),
    "interpreters": (interpreter, 200),
    "comparisons": (comparisons, 200),
    "constant offsets": (constant_offsets, 200),
    "divergent loops": (divergent_loops, 100),
    "inlined lines": (inlined_lines, 200),
}
