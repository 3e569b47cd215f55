"""The pieces of text from which random_kernels.py makes kernels.

In the forms {a} to {d} are registers of 32 bits, {p} to {s} of 64, {k} is a digit from 1 to 7. The
registers %a, %b, %d, %f to %k, %x, %y, %w and %p, %q are free within a statement.
"""

from __future__ import annotations

REGISTERS = 8
#: Registers of 64 bits.
WIDE_REGISTERS = 4
#: Bytes in `scratch` for each thread.
OWN_BYTES = 64
#: Threads of a block, and blocks of the grid.
MOST_THREADS, BLOCK_COUNT = 256, 3

HEADER = """// Made by tools/random_kernels.py, seed {seed}.
// LAUNCH: k grid 3 block {x} {y} {z}
// BUFFER: in u32 1024 = iota {start} 2654435761
// BUFFER: out u32 {total} = zero
// BUFFER: sums u32 32 = zero
// BUFFER: scratch u32 {scratch} = zero
// ARGS: in out sums scratch
// COMPARE: out sums scratch
.version 7.8
.target sm_80
.address_size 64
{functions}.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 sums, .param .u64 own) {{
    .reg .pred %p, %q, %c<32>;
    .reg .b32 %r<{registers}>, %n<32>, %t, %a, %b, %threads, %index;
    .reg .f32 %f, %g;
    .reg .f64 %x, %y;
    .reg .b16 %h<4>;
    .reg .b64 %in, %out, %sums, %scratch, %d, %e, %w, %v<{wide}>;
    .shared .align 16 .b8 pad[4096];
    .shared .align 8 .b64 pairs[256];
    .shared .align 4 .b32 cells[256];
    .shared .align 4 .f32 reals[256];
    .shared .align 2 .b16 halves[256];
    .shared .b8 bytes[256];
    .shared .align 4 .b32 counts[16];
    .shared .align 8 .b64 tickets;
    .local .align 4 .b32 own_words[8];
    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u64 %sums, [sums];
    ld.param.u64 %scratch, [own];
    cvta.to.global.u64 %in, %in;
    cvta.to.global.u64 %out, %out;
    cvta.to.global.u64 %sums, %sums;
    cvta.to.global.u64 %scratch, %scratch;
    mov.u32 %a, %tid.x;
    mov.u32 %b, %tid.y;
    mad.lo.u32 %a, %b, {x}, %a;
    mov.u32 %b, %tid.z;
    mad.lo.u32 %t, %b, {xy}, %a;
    mov.u32 %a, %ctaid.x;
    mad.lo.u32 %index, %a, {threads}, %t;
    and.b32 %a, %t, 15;
    shl.b32 %a, %a, 2;
    mov.u32 %b, counts;
    add.u32 %a, %a, %b;
    st.shared.u32 [%a], 0;
    st.shared.u64 [tickets], 0;
    shl.b32 %a, %t, 2;
    mov.u32 %b, cells;
    add.u32 %a, %a, %b;
    st.shared.u32 [%a], %t;
    shl.b32 %a, %t, 4;
    mov.u32 %b, pad;
    add.u32 %a, %a, %b;
    st.shared.v4.u32 [%a], {{%t, %index, 77, 0}};
    mov.u32 %b, pairs;
    mad.lo.u32 %a, %t, 8, %b;
    st.shared.v2.u32 [%a], {{%t, 5}};
    mov.u32 %b, reals;
    mad.lo.u32 %a, %t, 4, %b;
    st.shared.u32 [%a], 0;
    mov.u32 %b, halves;
    mad.lo.u32 %a, %t, 2, %b;
    st.shared.u16 [%a], 7;
    mov.u32 %b, bytes;
    add.u32 %a, %t, %b;
    st.shared.u8 [%a], %t;
    mov.u64 %w, 1;
    setp.lt.u32 %p, %t, 9;
    bar.sync 0;
"""

# With `again`, `mix` calls itself as often as its second argument says. `meet` has two block
# barriers. `fold` reads words through a generic pointer.
FUNCTIONS = """.func (.param .b32 result) mix(.param .b32 a, .param .b32 n)
{{
    .reg .pred %p;
    .reg .b32 %a, %n, %i;
    ld.param.b32 %a, [a];
    ld.param.b32 %n, [n];
    and.b32 %n, %n, 7;
    setp.eq.u32 %p, %n, 0;
    @%p bra DONE;
    mov.u32 %i, 0;
MORE:
    mad.lo.u32 %a, %a, 1664525, %n;
    setp.eq.u32 %p, %a, 77;
    @%p bra DONE;
    add.u32 %i, %i, 1;
    setp.lt.u32 %p, %i, %n;
    @%p bra MORE;
    {again}
DONE:
    st.param.b32 [result], %a;
    ret;
}}
.func (.param .b32 result) turn(.param .b32 a, .param .b32 n)
{{
    .reg .pred %p;
    .reg .b32 %a, %n;
    ld.param.b32 %a, [a];
    ld.param.b32 %n, [n];
    shf.l.wrap.b32 %a, %a, %a, %n;
    setp.gt.s32 %p, %a, %n;
    @%p xor.b32 %a, %a, %n;
    st.param.b32 [result], %a;
    ret;
}}
.func (.param .b32 result) meet(.param .b32 value, .param .b32 place, .param .b32 other)
{{
    .reg .b32 %a, %b;
    ld.param.b32 %a, [value];
    ld.param.b32 %b, [place];
    st.shared.u32 [%b], %a;
    bar.sync 0;
    ld.param.b32 %b, [other];
    ld.shared.u32 %a, [%b];
    bar.sync 0;
    st.param.b32 [result], %a;
    ret;
}}
.func (.param .b64 result) fold(.param .b64 from, .param .b32 count)
{{
    .reg .pred %p;
    .reg .b32 %n, %a;
    .reg .b64 %d, %w, %v;
    ld.param.b64 %d, [from];
    ld.param.b32 %n, [count];
    and.b32 %n, %n, 3;
    mov.u64 %w, 5;
NEXT:
    ld.u32 %a, [%d];
    cvt.s64.s32 %v, %a;
    mad.lo.s64 %w, %w, 6364136223846793005, %v;
    add.u64 %d, %d, 4;
    sub.u32 %n, %n, 1;
    setp.ge.s32 %p, %n, 0;
    @%p bra NEXT;
    st.param.b64 [result], %w;
    ret;
}}
"""
AGAIN = """sub.u32 %n, %n, 1;
    {
    .param .b32 x;
    .param .b32 y;
    .param .b32 z;
    st.param.b32 [x], %a;
    st.param.b32 [y], %n;
    call (z), mix, (x, y);
    ld.param.b32 %i, [z];
    }
    xor.b32 %a, %a, %i;"""

ARITHMETIC = [
    "add.u32 {d}, {a}, {b};",
    "sub.u32 {d}, {a}, {b};",
    "mul.lo.u32 {d}, {a}, {b};",
    "mul.hi.s32 {d}, {a}, {b};",
    "mad.lo.u32 {d}, {a}, {b}, {c};",
    "mad.hi.u32 {d}, {a}, {b}, {c};",
    "and.b32 {d}, {a}, {b};",
    "or.b32 {d}, {a}, {b};",
    "xor.b32 {d}, {a}, {b};",
    "min.s32 {d}, {a}, {b};",
    "max.u32 {d}, {a}, {b};",
    "abs.s32 {d}, {a};",
    "sad.u32 {d}, {a}, {b}, {c};",
    "shr.u32 {d}, {a}, {k};",
    "shr.s32 {d}, {a}, {b};",
    "shl.b32 {d}, {a}, {k};",
    "popc.b32 {d}, {a};",
    "bfind.shiftamt.s32 {d}, {a};",
    "prmt.b32 {d}, {a}, {b}, 0x{k}517;",
    "prmt.b32 {d}, {a}, {b}, {c};",
    "shf.l.wrap.b32 {d}, {a}, {b}, {k};",
    "shf.r.clamp.b32 {d}, {a}, {b}, {c};",
    "setp.lt.s32 %p, {a}, {b}; selp.b32 {d}, {c}, {a}, %p;",
    "setp.lt.and.u32 %p, {a}, {b}, %p; slct.s32.s32 {d}, {c}, {a}, {b}; @%p not.b32 {d}, {d};",
    "div.u32 {d}, {a}, 7;",
    "rem.s32 {d}, {a}, {b};",
    "mul.wide.s32 %w, {a}, {b}; shr.s64 %w, %w, {k}; cvt.u32.u64 {d}, %w;",
    "mad.wide.u32 %w, {a}, {b}, %w; cvt.u32.u64 {d}, %w;",
    "add.cc.u32 {d}, {a}, {b}; addc.u32 {c}, {c}, {k};",
    "sub.cc.u32 {d}, {a}, {b}; subc.cc.u32 {c}, {c}, {k}; subc.u32 {d}, {d}, 0;",
    "setp.lt.u32 %p, {a}, {b}; @%p add.u32 {d}, {d}, {c};",
    "setp.ge.s32 %p|%q, {a}, {b}; @%q xor.b32 {d}, {a}, {c}; @!%p sub.u32 {c}, {d}, {b};",
    "bfe.s32 {d}, {a}, {k}, 11;",
    "bfe.u32 {d}, {a}, {b}, {c};",
    "bfi.b32 {d}, {a}, {b}, {k}, 9;",
    "lop3.b32 {d}, {a}, {b}, {c}, 0x{k}9;",
    "clz.b32 {d}, {a};",
    "brev.b32 {d}, {a};",
    "dp4a.s32.u32 {d}, {a}, {b}, {c};",
    "dp2a.lo.u32.s32 {d}, {a}, {b}, {c};",
    "cvt.u32.u8 {d}, {a};",
    "cvt.s32.s16 {d}, {a};",
    "cvt.sat.s8.s32 {d}, {a};",
    "mul24.lo.s32 {d}, {a}, {b};",
    "vabsdiff4.u32.u32.u32.add {d}, {a}, {b}, {c};",
    "mov.b32 {{%h0, %h1}}, {a}; mul.wide.s16 {d}, %h0, %h1;",
    "mov.b32 {{%h0, %h1}}, {a}; mad.lo.u16 %h2, %h0, %h1, %h0; shr.s16 %h3, %h1, {k};"
    " mov.b32 {d}, {{%h2, %h3}};",
    # Floats of one width.
    "cvt.rn.f32.s32 %f, {a}; cvt.rn.f32.u32 %g, {b}; fma.rn.f32 %f, %f, %g, %g; mov.b32 {d}, %f;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; add.rn.f32 %f, %f, %g; mov.b32 {d}, %f;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; mul.rz.ftz.f32 %f, %f, %g; mov.b32 {d}, %f;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; fma.rm.sat.f32 %f, %f, %g, %f; mov.b32 {d}, %f;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; min.ftz.f32 %f, %f, %g; mov.b32 {d}, %f;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; setp.ltu.f32 %p, %f, %g; selp.b32 {d}, {c}, {a}, %p;",
    "mov.b32 %f, {a}; cvt.rni.s32.f32 {d}, %f;",
    "mov.b32 %f, {a}; cvt.rmi.f32.f32 %f, %f; mov.b32 {d}, %f;",
    "cvt.rn.f32.s32 %f, {a}; sqrt.rn.f32 %g, %f; div.rn.f32 %f, %f, %g; mov.b32 {d}, %f;",
    "cvt.rn.f32.s32 %f, {a}; rcp.rp.f32 %g, %f; mov.b32 {d}, %g;",
    "cvt.rn.f64.s32 %x, {a}; cvt.rn.f64.u32 %y, {b}; fma.rn.f64 %x, %x, %y, %x;"
    " div.rn.f64 %x, %x, 0d4010000000000000; cvt.rzi.s32.f64 {d}, %x;",
    # Halves.
    "mov.b16 %h0, 0x3c0{k}; mov.b32 {d}, {{%h0, %h0}}; fma.rn.f16x2 {d}, {d}, {a}, {b};",
    "fma.rn.bf16x2 {d}, {a}, {b}, {c};",
    "fma.rn.relu.f16x2 {d}, {a}, {b}, {c};",
    "add.f16x2 {d}, {a}, {b};",
    "mul.sat.f16x2 {d}, {a}, {b};",
    "sub.ftz.f16x2 {d}, {a}, {b};",
    "max.NaN.bf16x2 {d}, {a}, {b};",
    "min.f16x2 {d}, {a}, {b};",
    "neg.f16x2 {d}, {a};",
    "setp.lt.f16x2 %p|%q, {a}, {b}; selp.b32 {d}, {a}, {c}, %p; @%q add.u32 {d}, {d}, {b};",
    "set.geu.u32.f16x2 {d}, {a}, {b};",
    "mov.b32 {{%h0, %h1}}, {a}; cvt.f32.f16 %f, %h0; cvt.rzi.s32.f16 {d}, %h1;"
    " mov.b32 {c}, %f;",
    "cvt.rn.f32.s32 %f, {a}; mov.b32 %g, {b}; cvt.rn.bf16x2.f32 {d}, %f, %g;",
    "mov.b32 %f, {a}; mov.b32 %g, {b}; cvt.rz.f16x2.f32 {d}, %f, %g;",
]

#: Different on each device: omitted if a GPU's results are compared.
APPROXIMATE = [
    "cvt.rn.f32.s32 %f, {a}; mul.rn.f32 %f, %f, 0f30000000; sin.approx.f32 %g, %f;"
    " ex2.approx.ftz.f32 %f, %g; mov.b32 {d}, %f;",
    "cvt.rn.f32.u32 %f, {a}; rsqrt.approx.f32 %f, %f; lg2.approx.f32 %g, %f; mov.b32 {d}, %g;",
]

WIDE = [
    "add.u64 {s}, {p}, {q};",
    "sub.s64 {s}, {p}, {q};",
    "mul.lo.u64 {s}, {p}, {q};",
    "mul.hi.s64 {s}, {p}, {q};",
    "mad.lo.s64 {s}, {p}, {q}, {r};",
    "mad.wide.s32 {s}, {a}, {b}, {p};",
    "mul.wide.u32 {s}, {a}, {b};",
    "div.u64 {s}, {p}, 1000003;",
    "rem.s64 {s}, {p}, {q};",
    "shr.s64 {s}, {p}, {a};",
    "shl.b64 {s}, {p}, {k};",
    "and.b64 {s}, {p}, {q};",
    "lop3.b32 {d}, {a}, {b}, {c}, 0xe{k}; cvt.s64.s32 {s}, {d};",
    "xor.b64 {s}, {p}, {q};",
    "not.b64 {s}, {p};",
    "min.s64 {s}, {p}, {q};",
    "max.u64 {s}, {p}, {q};",
    "popc.b64 {d}, {p};",
    "clz.b64 {d}, {p};",
    "brev.b64 {s}, {p};",
    "bfind.u64 {d}, {p};",
    "bfe.u64 {s}, {p}, {a}, {b};",
    "bfi.b64 {s}, {p}, {q}, {k}, 33;",
    "mov.b64 {{{c}, {d}}}, {p};",
    "mov.b64 {s}, {{{a}, {b}}};",
    "setp.lt.s64 %p, {p}, {q}; selp.b64 {s}, {q}, {r}, %p; @!%p add.u32 {d}, {d}, {a};",
    "add.cc.u64 {s}, {p}, {q}; addc.u64 {r}, {r}, 0;",
    "cvt.rn.f64.s64 %x, {p}; mov.b64 %y, {q}; add.rn.f64 %x, %x, %y; mov.b64 {s}, %x;",
    "mov.b64 %x, {p}; mov.b64 %y, {q}; fma.rz.f64 %x, %x, %y, %x; mov.b64 {s}, %x;",
    "cvt.rn.f32.u64 %f, {p}; cvt.rni.s64.f32 {s}, %f;",
    "mov.b64 %x, {p}; cvt.rm.f32.f64 %f, %x; mov.b32 {d}, %f;",
    "cvt.u32.u64 {d}, {p}; cvt.s64.s16 {s}, {q};",
]

#: (type, count, bytes) of one load or store.
ACCESSES = [
    ("u8", 1, 1),
    ("s8", 1, 1),
    ("u8", 2, 2),
    ("u8", 4, 4),
    ("u16", 1, 2),
    ("s16", 1, 2),
    ("u16", 2, 4),
    ("u16", 4, 8),
    ("u32", 1, 4),
    ("u32", 2, 8),
    ("u32", 4, 16),
    ("u64", 1, 8),
    ("u64", 2, 16),
    ("f32", 2, 8),
    ("f64", 1, 8),
]

#: The forms of atom on an address that only one thread uses, so that its result is known: {at} is the address,
#: {space} its state space.
ATOMICS = [
    "atom{space}.add.u32 {d}, {at}, {a};",
    "atom{space}.min.s32 {d}, {at}, {a};",
    "atom{space}.max.u32 {d}, {at}, {a};",
    "atom{space}.and.b32 {d}, {at}, {a};",
    "atom{space}.or.b32 {d}, {at}, {a};",
    "atom{space}.xor.b32 {d}, {at}, {a};",
    "atom{space}.exch.b32 {d}, {at}, {a};",
    "atom{space}.inc.u32 {d}, {at}, {k};",
    "atom{space}.dec.u32 {d}, {at}, {a};",
    "atom{space}.cas.b32 {d}, {at}, {a}, {b};",
    "ld{space}.u32 {d}, {at}; atom{space}.cas.b32 {c}, {at}, {d}, {b};",
    "red{space}.add.u32 {at}, {a};",
    "cvt.rn.f32.s32 %f, {a}; cvt.rn.f32.u32 %g, {b}; st{space}.f32 {at}, %f;"
    " atom{space}.add.f32 %f, {at}, %g; mov.b32 {d}, %f;",
    "and.b32 {a}, {a}, 0x7bff33ff; and.b32 {b}, {b}, 0x33ff3bff; st{space}.b32 {at}, {a};"
    " atom{space}.add.noftz.f16x2 {d}, {at}, {b};",
]
WIDE_ATOMICS = [
    "atom{space}.add.u64 {s}, {at}, {p};",
    "atom{space}.max.s64 {s}, {at}, {p};",
    "atom{space}.xor.b64 {s}, {at}, {p};",
    "atom{space}.exch.b64 {s}, {at}, {p};",
    "ld{space}.u64 {s}, {at}; atom{space}.cas.b64 {r}, {at}, {s}, {q};",
    "cvt.rn.f64.s32 %x, {a}; cvt.rn.f64.u32 %y, {b}; st{space}.f64 {at}, %x;"
    " atom{space}.add.f64 %x, {at}, %y; mov.b64 {s}, %x;",
]

#: Shared arrays: name, type of their loads and stores, bytes of an element, forms that make a value
#: of that type from {a} and give {d} from it.
SHARED_ARRAYS = [
    ("cells", "u32", 4, "", "{a}", "{d}", ""),
    ("bytes", "u8", 1, "cvt.u16.u32 %h0, {a};", "%h0", "%h1", "cvt.u32.u16 {d}, %h1;"),
    (
        *("halves", "u16", 2, "cvt.u16.u32 %h0, {a};", "%h0"),
        *("%h1", "cvt.s32.s16 {d}, %h1;"),
    ),
    ("reals", "f32", 4, "cvt.rn.f32.s32 %f, {a};", "%f", "%g", "mov.b32 {d}, %g;"),
    (
        *("pairs", "u64", 8, "mul.wide.s32 %w, {a}, {b};", "%w", "%w"),
        "mov.b64 {{{d}, %b}}, %w; xor.b32 {d}, {d}, %b;",
    ),
    ("pairs", "v2.u32", 8, "", "{{{a}, {b}}}", "{{{d}, {c}}}", ""),
]
