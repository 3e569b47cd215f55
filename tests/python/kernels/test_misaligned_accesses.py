"""Misaligned accesses in kernels are errors in each memory, as on a GPU."""

import textwrap

from conftest import is_softcuda

# One program for all, because each destroys its context. `%a` is the base of the lane's address.
# All that is known of it is read from memory or follows from the lane.
PROGRAM = r'''
import numpy as np
import pycuda.driver as cuda

HEAD = """.version 7.8
.target sm_80
.address_size 64
.extern .shared .align 16 .b8 more[];
.visible .entry run(.param .u64 out, .param .u32 step, .param .u32 offset) {
    .reg .pred %p;
    .reg .b16 %h;
    .reg .b32 %t, %s, %f, %a, %v, %w, %x, %y;
    .reg .b64 %o, %g, %d, %e;
    .shared .align 16 .b8 own[1024];
    .local .align 16 .b8 mine[64];
    ld.param.u64 %o, [out];
    ld.param.u32 %s, [step];
    ld.param.u32 %f, [offset];
    mov.u32 %t, %tid.x;
    mov.u32 %v, 0;
    mov.u32 %w, 0;
    mov.u64 %d, 0;
"""
PLACES = {
    # what is known: nothing; the lanes' steps; a pattern; all of it
    "unknown": "mad.lo.u32 %a, %t, %s, %f;",
    "same in all": "mov.u32 %a, %f;",
    "step known": "shl.b32 %a, %t, 4; add.u32 %a, %a, %f;",
    "few lanes": "and.b32 %a, %t, 3; shl.b32 %a, %a, 4; add.u32 %a, %a, %f;",
    "halves": "shr.u32 %a, %t, 4; mul.lo.u32 %a, %a, %s; add.u32 %a, %a, %f;",
    "known": "shl.b32 %a, %t, 2; add.u32 %a, %a, OFFSET;",
}
ACCESSES = {
    "load": "ld.SPACE.u32 %v, AT;",
    "store": "st.SPACE.u32 AT, %t;",
    "volatile": "ld.volatile.SPACE.u32 %v, AT;",
    "bytes": "ld.SPACE.u8 %v, AT;",
    "16 bits": "ld.SPACE.u16 %h, AT; cvt.u32.u16 %v, %h;",
    "64 bits": "ld.SPACE.u64 %d, AT;",
    "two": "ld.SPACE.v2.u32 {%v, %w}, AT;",
    "four": "ld.SPACE.v4.u32 {%v, %w, %x, %y}, AT; add.u32 %v, %v, %x; add.u32 %v, %v, %y;",
    "store of two": "st.SPACE.v2.u32 AT, {%v, %w};",
    "atomic": "atom.SPACE.add.u32 %v, AT, 1;",
    "reduction": "red.SPACE.max.u32 AT, 1;",
    "compare": "atom.SPACE.cas.b32 %v, AT, 0, 1;",
}
SIZES = {"bytes": 1, "16 bits": 2, "64 bits": 8, "two": 8, "four": 16, "store of two": 8}
SPACES = {
    "shared": ("own", "32"),
    "local": ("mine", "32"),
    "global": ("%o", "64"),
    "generic": ("%o", "64"),
}
TAIL = """
    add.u32 %v, %v, %w;
    cvt.u64.u32 %g, %v;
    add.u64 %g, %g, %d;
    mul.wide.u32 %e, %t, 8;
    add.u64 %e, %o, %e;
    st.global.u64 [%e + 1024], %g;
    ret;
}
"""


def source(space, place, access, offset):
    base, width = SPACES[space]
    if width == "32":
        at = f"mov.u32 %x, {base}; add.u32 %x, %x, %a;", "[%x]"
    else:
        at = f"cvt.u64.u32 %g, %a; add.u64 %g, {base}, %g;", "[%g]"
    words = "" if space == "generic" else "." + space
    text = PLACES[place] + "\n    " + at[0] + "\n    " + ACCESSES[access] + "\n"
    text = text.replace(".SPACE", words).replace("AT", at[1]).replace("OFFSET", str(offset))
    return HEAD + text + TAIL


def run(space, place, access, step, offset):
    """What the driver says: the error's name, or an empty text."""
    context = cuda.Device(0).make_context()
    try:
        out = cuda.mem_alloc(4096)
        cuda.memset_d8(out, 0, 4096)
        module = cuda.module_from_buffer(source(space, place, access, offset).encode())
        kernel = module.get_function("run")
        kernel(out, np.uint32(step), np.uint32(offset), block=(32, 1, 1))
        context.synchronize()
        return ""
    except cuda.Error as error:
        return error.name
    finally:
        context.pop()


cuda.init()
wrong = []
for space in SPACES:
    for place in PLACES:
        if place == "known" and space != "shared" or place == "step known" and space == "local":
            continue  # it is 64 bytes long
        for access in ACCESSES:
            if space == "local" and access in ("atomic", "reduction", "compare"):
                continue
            if (len(space) + len(place) + len(access)) % 3 and place != "unknown":
                continue  # a sample
            if ON_GPU and (space, place, access) != ("shared", "same in all", "load"):
                continue  # no context can be made any more after the first error
            size = SIZES.get(access, 4)
            step = 0 if space == "local" and place == "unknown" else 16
            fine = run(space, place, access, step, 0)
            late = run(space, place, access, step, size // 2) if size > 1 else ""
            expected = "CUDA_ERROR_MISALIGNED_ADDRESS" if size > 1 else ""
            if place == "known" and size > 4:
                fine = ""  # it is every fourth byte
            if (fine, late) != ("", expected):
                wrong.append((space, place, access, fine, late))
for each in wrong:
    print(*each, sep=", ")
print(len(wrong), "wrong")
'''


def test_misaligned_accesses_are_errors(run_program):
    done = run_program(f"ON_GPU = {not is_softcuda()}\n" + textwrap.dedent(PROGRAM))
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "0 wrong", done.stdout
