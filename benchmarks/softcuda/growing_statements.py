"""More PTX of any size for compile_growth.py: kinds of which 50 KB took LLVM more than three seconds."""

from __future__ import annotations

from growing_kernels import END, START, SUMS


def statements(size: int, write) -> str:
    """A kernel of `size` statements, which `write` makes from a number and the registers that change in turn."""
    parts = (write(k, SUMS[k % 3], SUMS[(k + 1) % 3]) for k in range(size))
    return START + "".join(parts) + END


def case_labels(size: int) -> str:
    """One switch on a loaded number."""
    labels = ", ".join(f"CASE{k}" for k in range(size))
    cases = "".join(
        f"""
CASE{k}:
mad.lo.u32 {SUMS[k % 3]}, %r3, {2 * k + 3}, {k};
xor.b32 %r3, %r3, {k};
bra JOIN;"""
        for k in range(size)
    )
    return f"""{START}
TABLE: .branchtargets {labels};
rem.u32 %r10, %r3, {size};
brx.idx %r10, TABLE;{cases}
JOIN:{END}"""


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


MORE_KINDS = {
    "cases": (case_labels, 200),
    "else-ifs": (else_ifs, 200),
    "carries": (carries, 200),
    "predicated loads": (predicated_loads, 200),
    "polls": (polls, 100),
    "irreducible loops": (irreducible_loops, 50),
    "halves": (halves, 200),
    "approximate functions": (approximations, 100),
}
