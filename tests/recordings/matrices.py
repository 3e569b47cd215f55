"""Runs matrix instructions (mma, mma.sp, wmma) on many matrices and hashes their results.

`matrices.txt` has the results of an H200 (see lists.py); the list of instructions is the output of
`softcuda_coverage_table matrices`.
"""

import hashlib
import pathlib
import re

import numpy as np

import pycuda.driver as cuda

from . import values

FILE = pathlib.Path(__file__).with_name("matrices.txt")
#: Warps that run each instruction, each with different matrices.
WARPS = 64
#: Kinds of matrices, by the warp's number: see random_floats.
CLASSES = 8

_FORMATS = {
    "f16": (5, 10),
    "bf16": (8, 7),
    "tf32": (8, 23),
    "f32": (8, 23),
    "f64": (11, 52),
}
_INTEGER_BITS = {"u8": 8, "s8": 8, "u4": 4, "s4": 4, "b1": 1, "s32": 32}
_SHAPE = re.compile(r"\.m(\d+)n(\d+)k(\d+)\b")


def random_floats(kind, count, which, seed):
    """Bit patterns of `kind` for one warp. `which` is the kind of matrix:

    0 near 1; 1 of any exponent; 2 any bits, NaN and infinity too; 3 within a factor of 2**16;
    4 small integers; 5 mostly zeros, of any exponent; 6 denormals and slightly larger numbers; 7 near 1, positive.
    """
    exponent_bits, mantissa_bits = _FORMATS[kind]
    bias = (1 << (exponent_bits - 1)) - 1
    most = (1 << exponent_bits) - 2
    raw = splits(seed, count)
    low, high = {
        0: (bias - 2, bias + 2),
        1: (1, most),
        3: (bias - 8, bias + 8),
        4: (bias, bias + 2),
        5: (bias // 2, bias + bias // 2),
        6: (0, 2),
        7: (bias - 1, bias + 1),
    }.get(which, (0, 0))
    width = 1 + exponent_bits + mantissa_bits
    if which == 2:
        return raw >> np.uint64(64 - width)
    exponent = np.uint64(low) + (raw >> np.uint64(50)) % np.uint64(high - low + 1)
    mantissa = raw & np.uint64((1 << mantissa_bits) - 1)
    sign = raw >> np.uint64(49) & np.uint64(1)
    if which == 4:
        mantissa &= np.uint64(
            ((1 << mantissa_bits) - 1) & ~((1 << (mantissa_bits - 2)) - 1)
        )
    if which == 7:
        sign &= np.uint64(0)
    bits = (
        sign << np.uint64(width - 1) | exponent << np.uint64(mantissa_bits) | mantissa
    )
    if which == 5:
        bits = np.where(raw >> np.uint64(62) == 0, bits, np.uint64(0))
    return bits


def splits(seed, count):
    return values.splitmix(seed + 77_000, count)


def random_elements(kind, count, which, seed):
    """`count` elements of a matrix, one in each 64-bit number."""
    if kind in _FORMATS:
        return random_floats(kind, count, which, seed)
    bits = _INTEGER_BITS[kind]
    raw = splits(seed, count)
    if kind != "s32":
        return raw >> np.uint64(64 - bits)
    shift = np.uint64(
        32 + (which % 4) * 8
    )  # sums of s32: from small ones to those that overflow
    return (raw.view(np.int64) >> shift.astype(np.int64)).view(np.uint64) & np.uint64(
        0xFFFFFFFF
    )


def element_bits(kind):
    return 32 if kind == "tf32" else _INTEGER_BITS.get(kind) or 1 + sum(_FORMATS[kind])


def packed_registers(kind, register_bits, registers, which, seed):
    """A fragment's registers: (registers, lane) of 64 bits, elements packed from the low end."""
    bits = element_bits(kind)
    each = max(1, register_bits // bits)
    elements = random_elements(kind, registers * 32 * each, which, seed).reshape(
        registers, 32, each
    )
    shifts = np.arange(each, dtype=np.uint64) * np.uint64(bits)
    return np.bitwise_or.reduce(elements << shifts, axis=2)


class MatrixInstruction:
    """One line: `mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 ={f64:2} {f64:1} {f64:1} {f64:2}`."""

    def __init__(self, line):
        self.spelling, *self.operands = line.split()
        types = re.findall(
            r"\.(f16|bf16|tf32|f32|f64|s32|[us]8|[us]4|b1)(?=\.|$)", self.spelling
        )
        if self.is_wmma and len(types) == 2:  # the types of D and C: A and B are f16
            types = [types[0], "f16", "f16", types[1]]
        self.types = types  # of D, A, B, C
        self.shape = tuple(int(n) for n in _SHAPE.search(self.spelling).groups())

    def __str__(self):
        return " ".join([self.spelling, *self.operands])

    @property
    def is_wmma(self):
        return self.spelling.startswith("wmma")

    @property
    def is_sparse(self):
        return self.spelling.startswith(("mma.sp",))

    def fragment(self, index):
        """Register type and count of D, A, B or C."""
        kind, count = re.fullmatch(r"=?\{(\w+):(\d+)\}", self.operands[index]).groups()
        return kind, int(count)

    def seed(self, index, warp):
        a, b = ("D A B C".index("ABC"[index - 1]), warp) if index < 4 else (9, warp)
        return (a * 1000 + b) * 100 + len(self.types[min(index, 3)]) + sum(self.shape)


def metadata(instruction, warp):
    """Which two of four elements are stored, in the form of mma.sp: two increasing indices in each nibble."""
    ways = [4, 14] if "tf32" in instruction.types else [4, 8, 12, 9, 13, 14]
    picks = splits(instruction.seed(4, warp), 32 * 8).reshape(32, 8) % np.uint64(
        len(ways)
    )
    nibbles = np.array(ways, np.uint64)[picks]
    return np.bitwise_or.reduce(
        nibbles << (np.arange(8, dtype=np.uint64) * np.uint64(4)), axis=1
    )


def operand_data(instruction, index):
    """The contents of the registers of A, B, C (index 1 to 3) or of the metadata (4): (warp, register, lane)."""
    if index == 4:
        return np.stack([metadata(instruction, warp)[None] for warp in range(WARPS)])
    kind, count = instruction.fragment(index)
    bits = 64 if kind == "f64" else 32
    return np.stack(
        [
            packed_registers(
                instruction.types[index],
                bits,
                count,
                warp % CLASSES,
                instruction.seed(index, warp),
            )
            for warp in range(WARPS)
        ]
    )


# Writing PTX.


def _declare(name, kind, count):
    return f".reg .{kind} {name}<{count}>;\n"


def _list(name, count):
    return "{" + ", ".join(f"{name}{i}" for i in range(count)) + "}"


def _move(operation, name, kind, count, base):
    """Loads or stores a fragment: register r of a lane is at (warp * count + r) * 32 + lane."""
    text = f"mad.lo.u32 %word, %warp, {count * 32}, %lane; mul.wide.u32 %at, %word, 8; add.u64 %at, %at, {base};\n"
    for i in range(count):
        address = f"[%at+{i * 256}]"
        text += (
            f"ld.global.{kind} {name}{i}, {address};\n"
            if operation == "ld"
            else f"st.global.{kind} {address}, {name}{i};\n"
        )
    return text


_PROLOGUE = """.version {version}
.target sm_86
.address_size 64
.visible .entry k(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pm, .param .u64 pd)
{{
.reg .b32 %word, %warp, %lane, %meta0; .reg .b64 %at, %pa, %pb, %pc, %pm, %pd;
ld.param.u64 %pa, [pa]; ld.param.u64 %pb, [pb]; ld.param.u64 %pc, [pc];
ld.param.u64 %pm, [pm]; ld.param.u64 %pd, [pd];
mov.u32 %warp, %ctaid.x; mov.u32 %lane, %tid.x;
"""


def write_module(instruction, version="8.5"):
    """A kernel that each warp runs on different matrices."""
    text = _PROLOGUE.format(version=version)
    body = _write_wmma(instruction) if instruction.is_wmma else _write_mma(instruction)
    return text + body + "ret;\n}\n"


def _write_mma(instruction):
    text, operands = "", []
    for index, name in enumerate("dabc"):
        kind, count = instruction.fragment(index)
        text += _declare(f"%{name}", kind, count)
        operands.append(_list(f"%{name}", count))
        if index:
            text += _move("ld", f"%{name}", kind, count, f"%p{name}")
    if instruction.is_sparse:
        text += _move("ld", "%meta", "b32", 1, "%pm")
        operands += ["%meta0", "0"]
    kind, count = instruction.fragment(0)
    text += f"{instruction.spelling} {', '.join(operands)};\n"
    return text + _move("st", "%d", kind, count, "%pd")


def wmma_pitch(instruction, name):
    """The leading dimension of a matrix in memory, in elements."""
    m, n, k = instruction.shape
    rows, columns = {"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[name]
    return columns if wmma_layout(instruction, name) == "row" else rows


def wmma_layout(instruction, name):
    layouts = re.findall(r"\.(row|col)\b", instruction.spelling)
    return {"a": layouts[0], "b": layouts[1], "c": "row", "d": "col"}[name]


def matrix_bytes(instruction, index):
    m, n, k = instruction.shape
    elements = [m * n, m * k, k * n, m * n][index]
    return elements * element_bits(instruction.types[index]) // 8


def _write_wmma(instruction):
    shape = f"m{instruction.shape[0]}n{instruction.shape[1]}k{instruction.shape[2]}"
    text, operands = "", []
    for index, name in enumerate("dabc"):
        kind, count = instruction.fragment(index)
        text += _declare(f"%{name}", kind, count)
        operands.append(_list(f"%{name}", count))
        if index == 0:
            continue
        layout, pitch = wmma_layout(instruction, name), wmma_pitch(instruction, name)
        text += f"mul.wide.u32 %at, %warp, {matrix_bytes(instruction, index)}; add.u64 %at, %at, %p{name};\n"
        text += f"wmma.load.{name}.sync.aligned.{layout}.{shape}.global.{instruction.types[index]} {operands[-1]}, [%at], {pitch};\n"
    text += f"{instruction.spelling} {', '.join(operands)};\n"
    text += f"mul.wide.u32 %at, %warp, {matrix_bytes(instruction, 0)}; add.u64 %at, %at, %pd;\n"
    return (
        text
        + f"wmma.store.d.sync.aligned.{wmma_layout(instruction, 'd')}.{shape}.global.{instruction.types[0]} [%at], {operands[0]}, {wmma_pitch(instruction, 'd')};\n"
    )


# Running.


def wmma_data(instruction, index):
    """A, B or C of each warp as bytes, in memory order."""
    kind = instruction.types[index]
    bits, count = (
        element_bits(kind),
        matrix_bytes(instruction, index) * 8 // element_bits(kind),
    )
    rows = []
    for warp in range(WARPS):
        elements = random_elements(
            kind, count, warp % CLASSES, instruction.seed(index, warp)
        )
        if bits < 8:
            each = 8 // bits
            shifts = np.arange(each, dtype=np.uint64) * np.uint64(bits)
            elements, bits_out = (
                np.bitwise_or.reduce(elements.reshape(-1, each) << shifts, axis=1),
                8,
            )
        else:
            bits_out = bits
        rows.append(elements.astype(f"<u{bits_out // 8}").tobytes())
    return np.frombuffer(b"".join(rows), np.uint8)


def run(instruction):
    """D: (warp, register, lane) of 64 bits, or the bytes of the matrices that wmma stores."""
    if instruction.is_wmma:
        data = [wmma_data(instruction, index) for index in (1, 2, 3)]
        result = np.empty(matrix_bytes(instruction, 0) * WARPS, np.uint8)
    else:
        data = [operand_data(instruction, index) for index in (1, 2, 3)]
        result = np.empty((WARPS, instruction.fragment(0)[1], 32), np.uint64)
    data.append(
        operand_data(instruction, 4)
        if instruction.is_sparse
        else np.zeros(1, np.uint64)
    )
    buffers = [cuda.to_device(np.ascontiguousarray(array)) for array in data]
    output = cuda.mem_alloc(result.nbytes)
    cuda.memset_d32(output, 0, result.nbytes // 4)
    function = cuda.module_from_buffer(write_module(instruction).encode()).get_function(
        "k"
    )
    function(*buffers, output, block=(32, 1, 1), grid=(WARPS, 1))
    cuda.memcpy_dtoh(result, output)
    return result


def run_all(instructions):
    for instruction in instructions:
        try:
            yield instruction, run(instruction)
        except cuda.Error:
            yield instruction, None


def repeatable(_instruction, results):
    """All results: they are the same on each processor."""
    return results


def hash_results(_instruction, results):
    if results is None:
        return "refused"
    return hashlib.sha256(np.ascontiguousarray(results).tobytes()).hexdigest()[:16]
