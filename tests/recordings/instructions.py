"""Runs single instructions on many inputs and hashes their results.

`instructions.txt` has the results of an H200 (see lists.py); the list of instructions is the output of
`softcuda_coverage_table operands`.
"""

import hashlib
import pathlib
import re
import zlib

import numpy as np

import pycuda.driver as cuda

from . import values

FILE = pathlib.Path(__file__).with_name("instructions.txt")
#: Instructions in one kernel. LLVM compiles several of 16 in less time than one of 48.
CHUNK = 16
#: The mark of an instruction that a driver did not compile.
REFUSED = "refused"

_HEADER = ".version {version}\n.target {target}\n.address_size 64\n"
_APPROXIMATE = re.compile(r"\.(approx|full)\b")


class Instruction:
    """One line: `add.rn.f32 =f32 f32 f32`."""

    def __init__(self, line):
        self.spelling, *self.operands = line.split()
        self.number = zlib.crc32(
            line.encode()
        )  # selects parts of operands and constants

    def __str__(self):
        return " ".join([self.spelling, *self.operands])

    @property
    def opcode(self):
        return self.spelling.split(".")[0]

    @property
    def is_approximate(self):
        return bool(_APPROXIMATE.search(self.spelling))

    @property
    def sources(self):
        return [o.lstrip("~") for o in self.operands if o[0] not in "=#"]

    @property
    def uses_carry(self):
        return ".cc" in self.spelling or self.opcode in ("addc", "subc", "madc")

    @property
    def outputs(self):
        """The number of results, including the carry flag."""
        return sum(o[0] == "=" for o in self.operands) + self.uses_carry

    def repeatable_threads(self):
        """The threads whose results are the same on each processor and in each tier.

        Of two f64 NaNs an H200 returns the last. softcuda returns either: LLVM may swap the factors of a product.
        """
        nans = np.zeros(values.COUNT, int)
        for position, kind in enumerate(self.sources):
            if kind == "f64":
                nans += np.isnan(values.inputs(kind, position).view(np.float64))
        return nans < 2

    def exact_threads(self):
        """The threads whose results the manual defines to the last bit."""
        exact = self.repeatable_threads()
        for position, kind in enumerate(self.sources):
            if self.is_approximate:
                exact &= _is_special(values.inputs(kind, position), kind)
        return exact


def _is_special(bits, kind):
    """Zeros, infinities and NaNs."""
    if kind not in ("f32", "f64"):
        return np.zeros(bits.shape, bool)
    numbers = (
        bits.astype(np.uint32).view(np.float32)
        if kind == "f32"
        else bits.view(np.float64)
    )
    return (numbers == 0) | ~np.isfinite(numbers)


# Writing PTX.


def _register_type(kind):
    if kind in ("pred", "f32", "f64"):
        return kind
    return f"b{max(values.BITS[kind], 16)}"


def _load(kind, register, position, offset):
    bits = values.BITS[kind]
    if kind == "pred":
        return f"ld.global.u8 %word, [%in+{offset}]; setp.ne.b16 {register}, %word, 0;"
    loaded = kind if kind in ("f32", "f64") else f"b{bits}"
    return f"ld.global.{loaded} {register}, [%in+{offset}];"


def _selector(instruction, index):
    """Video instructions select parts of their operands: returns the possible selections in turn."""
    operand, turn = instruction.operands[index], instruction.number + index
    if "~" not in operand or (instruction.opcode == "vmad" and index == 3):
        return ""
    is_result = operand[0] == "="
    if instruction.opcode[-1] in "24":
        two = (
            (".h10", ".h0", ".h1")
            if is_result
            else ("", ".h10", ".h32", ".h21", ".h03")
        )
        four = (
            (".b3210", ".b20", ".b1", ".b321")
            if is_result
            else ("", ".b7654", ".b5230", ".b0123")
        )
        ways = two if instruction.opcode[-1] == "2" else four
    elif is_result:  # the last operand has the rest of the result, if there is one
        ways = (
            ("",)
            if len(instruction.sources) == 2
            else (".b0", ".b3", ".h1", ".b2", ".h0")
        )
    else:
        ways = ("", ".b0", ".b3", ".h1", ".b2", ".h0", ".b1")
    return ways[turn % len(ways)]


def _write_one(instruction, slot, tables):
    """The text that loads, runs and stores one instruction."""
    code, arguments, results, position = [], [], [], 0
    for i, operand in enumerate(instruction.operands):
        kind = operand.lstrip("=~")
        if operand[0] == "#":
            low, high = (int(n) for n in operand[1:].split(".."))
            arguments.append(
                str(low + (high - low) * (instruction.number % 7 + 1) // 8)
            )
            continue
        register = f"%r{i}"
        code.append(f".reg .{_register_type(kind)} {register};")
        if operand[0] == "=":
            results.append((kind, register))
        else:
            code.append(
                _load(
                    kind, register, position, tables[kind, position] * 8 * values.COUNT
                )
            )
            position += 1
        arguments.append(register + _selector(instruction, i))
    text = ", ".join(arguments)
    if len(results) == 2:
        text = text.replace(", ", "|", 1)
    if instruction.uses_carry:
        code.append("add.cc.u32 %junk, %flags, %flags;")
    code.append(f"{instruction.spelling} {text};")
    if instruction.uses_carry:
        code.append("addc.u32 %carry, 0, 0;")
        results.append(("u32", "%carry"))
    for n, (kind, register) in enumerate(results):
        offset = (slot + n) * 8 * values.COUNT
        if kind == "pred":
            code.append(
                f"selp.b32 %bit, 1, 0, {register}; st.global.b32 [%out+{offset}], %bit;"
            )
        else:
            stored = _register_type(kind)
            code.append(f"st.global.{stored} [%out+{offset}], {register};")
    return "{\n" + "\n".join(code) + "\n}\n"


def write_module(instructions, tables, version="8.5", target="sm_86"):
    """A kernel `k(inputs, outputs)` that runs all of them, one thread for each set of inputs."""
    slot, bodies = 0, []
    for instruction in instructions:
        bodies.append(_write_one(instruction, slot, tables))
        slot += instruction.outputs
    return (
        _HEADER.format(version=version, target=target)
        + """.visible .entry k(.param .u64 inputs, .param .u64 outputs)
{
.reg .b64 %in, %out, %offset; .reg .b16 %word;
.reg .b32 %thread, %block, %bit, %junk, %carry, %flags;
ld.param.u64 %in, [inputs]; ld.param.u64 %out, [outputs];
mov.u32 %thread, %tid.x; mov.u32 %block, %ctaid.x; mad.lo.u32 %thread, %block, 128, %thread;
mul.wide.u32 %offset, %thread, 8; add.u64 %in, %in, %offset; add.u64 %out, %out, %offset;
shl.b32 %flags, %thread, 31;
"""
        + "".join(bodies)
        + "ret;\n}\n"
    )


# Running.


class Runner:
    """Inputs on the device, and room for the results of one kernel."""

    def __init__(self, kinds):
        self.tables = {
            key: n
            for n, key in enumerate(
                (kind, position) for kind in sorted(kinds) for position in range(4)
            )
        }
        data = np.concatenate([values.inputs(*key) for key in self.tables])
        self._inputs = cuda.to_device(data)
        self._outputs = cuda.mem_alloc(4 * CHUNK * values.COUNT * 8)

    def run(self, instructions):
        """A list of arrays (result, thread) of 64 bits for the instructions; raises cuda.Error."""
        function = cuda.module_from_buffer(
            write_module(instructions, self.tables).encode()
        ).get_function("k")
        slots = sum(instruction.outputs for instruction in instructions)
        cuda.memset_d32(self._outputs, 0, slots * values.COUNT * 2)
        function(
            self._inputs,
            self._outputs,
            block=(128, 1, 1),
            grid=(values.COUNT // 128, 1),
        )
        data = np.empty((slots, values.COUNT), np.uint64)
        cuda.memcpy_dtoh(data, self._outputs)
        ends = np.cumsum([instruction.outputs for instruction in instructions])
        return np.split(data, ends[:-1])

    def run_each(self, instructions):
        """The same, with None for those that the driver does not compile."""
        try:
            return self.run(instructions)
        except cuda.Error:
            if len(instructions) == 1:
                return [None]
        middle = len(instructions) // 2
        return self.run_each(instructions[:middle]) + self.run_each(
            instructions[middle:]
        )


def repeatable(instruction, results):
    """The results that are the same on each processor, the bits of approximations included."""
    return results[:, instruction.repeatable_threads()]


def hash_results(instruction, results):
    """A hash (16 hexadecimal digits) of the results that must be exact."""
    if results is None:
        return REFUSED
    exact = np.ascontiguousarray(results[:, instruction.exact_threads()])
    return hashlib.sha256(exact.astype("<u8").tobytes()).hexdigest()[:16]


def run_all(instructions):
    """Yields each instruction with its results."""
    runner = Runner(
        {kind for instruction in instructions for kind in instruction.sources}
    )
    for start in range(0, len(instructions), CHUNK):
        chunk = instructions[start : start + CHUNK]
        yield from zip(chunk, runner.run_each(chunk), strict=True)
