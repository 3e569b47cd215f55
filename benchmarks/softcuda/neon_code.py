"""Instructions of softcuda's kernels on 64-bit ARM, beside clang's for the hand-written functions: a table in Markdown.

    ./run benchmarks/softcuda/neon_code.py [KERNEL...]      after: tools/cross aarch64 softcuda

Counts the instructions in the code of each function, not those that run, and says nothing of time. softcuda compiles the
kernels for NEON in the emulator; clang++-19 compiles hand_written/ with -O3 for the same processor, without threads.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import cases

ROOT = Path(__file__).resolve().parents[2]
HAND_WRITTEN = Path(__file__).parent / "hand_written"
FAST_MATH = ("black_scholes", "course")  # as in CMakeLists.txt
VECTOR = re.compile(r"\bv\d+\.\d|\bq\d+\b")
CALL = re.compile(r"\bbl\t[0-9a-f]+ <(\w+)>")
SERIAL_OPENMP = """
inline int omp_get_max_threads() { return 1; }
inline int omp_get_num_threads() { return 1; }
inline int omp_get_thread_num() { return 0; }
"""
PREFIX = "aarch64-linux-gnu-"


@dataclass(frozen=True)
class Code:
    """A function: how many instructions it has, how many of them use whole vector registers, and what it calls."""

    instructions: int
    vector: int
    calls: frozenset[str] = frozenset()

    def __add__(self, other: Code) -> Code:
        return Code(self.instructions + other.instructions, self.vector + other.vector)


def code_of(lines: list[str]) -> Code:
    """`lines`: of objdump, the address, the instruction's word and its text."""
    texts = [line.split("\t", 2)[2] for line in lines if line.count("\t") >= 2]
    used = [text for text in texts if text.split()[0] not in ("nop", "udf", ".inst")]
    return Code(
        len(used),
        sum(bool(VECTOR.search(text)) for text in used),
        frozenset(name for text in used for name in CALL.findall(text)),
    )


def disassemble(file: Path, *options: str) -> str:
    command = [f"{PREFIX}objdump", "-d", *options, file]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def kernels_of(dump: Path) -> dict[str, Code]:
    """The functions in a file for Linux' perf (softcuda/src/jit/perf_files.h)."""
    data, place = dump.read_bytes(), 40
    found = {}
    while place < len(data):
        kind, size = struct.unpack_from("<II", data, place)
        if kind == 0:  # JIT_CODE_LOAD
            (length,) = struct.unpack_from("<Q", data, place + 40)
            end = place + size
            name = data[place + 56 : end - length].split(b"\0")[0].decode()
            binary = dump.with_name("function")
            binary.write_bytes(data[end - length : end])
            text = disassemble(binary, "-D", "-b", "binary", "-m", "aarch64")
            found[name] = code_of(text.splitlines())
        place += size
    return found


def compile_kernels(names: list[str], folder: Path) -> None:
    """In the emulator: compile each kernel's PTX for the launches of its case, and run the kernel."""
    sys.path.insert(0, str(ROOT / "tests/recordings/by_ctypes"))
    import pycuda.driver as cuda

    for name in names:
        case = cases.make(name, small=True)
        module = cuda.module_from_buffer((folder / f"{name}.ptx").read_bytes() + b"\0")
        memory = {array: cuda.to_device(a) for array, a in case.arrays.items()}
        for launch in case.launches:
            arguments = [
                memory[a] if isinstance(a, str) else a for a in launch.arguments
            ]
            kernel = module.get_function(launch.kernel)
            kernel(*arguments, grid=launch.grid, block=launch.block)


def softcuda_code(names: list[str], folder: Path) -> dict[str, Code]:
    from pycuda.compiler import compile

    sys.path.insert(0, str(ROOT / "tools"))
    import arm_tests

    for name in names:
        ptx = compile(
            cases.make(name, small=True).text("cu"), arch="sm_86", target="ptx"
        )
        (folder / f"{name}.ptx").write_bytes(ptx)
    settings = {
        **arm_tests.ENVIRONMENT,
        "SOFTCUDA_ISA": "neon",
        "SOFTCUDA_PERF": "jitdump",
        "SOFTCUDA_PERF_DIR": str(folder),
    }
    command = arm_tests.python("max", __file__, "--child", folder, *names)
    subprocess.run(command, check=True, env={**os.environ, **settings})
    (dump,) = folder.glob("jit-*.dump")
    return kernels_of(dump)


def compile_hand_written(file: Path, folder: Path) -> Path:
    compiler = shutil.which("clang++-19")
    if compiler is None:
        raise SystemExit("there is no clang++-19 (apt-get install clang-19)")
    (folder / "omp.h").write_text(SERIAL_OPENMP)
    options = ["--target=aarch64-linux-gnu", "-std=c++20", "-O3", "-fopenmp-simd"]
    options += ["-ffast-math"] if file.stem in FAST_MATH else []
    made = folder / f"{file.stem}.o"
    subprocess.run(
        [compiler, *options, "-idirafter", folder, "-c", file, "-o", made],
        check=True,
    )
    return made


def hand_written_code(folder: Path) -> dict[str, Code]:
    """Each function, with the functions of its file that it calls."""
    found = {}
    for file in sorted(HAND_WRITTEN.glob("*.cpp")):
        text = disassemble(compile_hand_written(file, folder), "-C")
        parts = re.split(r"^[0-9a-f]+ <(.+)>:$", text, flags=re.MULTILINE)
        for name, body in zip(parts[1::2], parts[2::2], strict=True):
            found[name] = code_of(body.splitlines())
    return found


def with_called(found: dict[str, Code], name: str) -> Code:
    total, waiting, seen = Code(0, 0), [name], set()
    while waiting:
        function = waiting.pop()
        if function in found and function not in seen:
            seen.add(function)
            total += found[function]
            waiting += found[function].calls
    return total


def table(names: list[str]) -> str:
    lines = [
        "| kernel | softcuda | with vectors | hand-written | with vectors |",
        "|---|---|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as name:
        kernels = softcuda_code(names, Path(name))
        functions = hand_written_code(Path(name))
    for name in names:
        case = cases.make(name, small=True)
        ours = Code(0, 0)
        for kernel in {launch.kernel for launch in case.launches}:
            ours += kernels[kernel]
        theirs = with_called(functions, case.hand[0])
        cells = (ours.instructions, ours.vector, theirs.instructions, theirs.vector)
        lines.append(f"| {case.title} | " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "kernels", nargs="*", metavar="KERNEL", help=", ".join(cases.NAMES)
    )
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = arguments.kernels or list(cases.NAMES)
    if arguments.child:
        compile_kernels(names, arguments.child)
    else:
        print(table(names))


if __name__ == "__main__":
    main()
