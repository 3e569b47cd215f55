"""Writes a program as an independent Python file: CUDA C++, its launch, and the expected results."""

from __future__ import annotations

import pathlib
import re

import numpy as np

from .program import Program

LANGUAGE = pathlib.Path(__file__).with_name("language.h")

TEMPLATE = '''"""{title}

{words}
"""

import numpy as np

import pycuda.autoinit  # noqa: F401
import pycuda.driver as cuda
from pycuda.compiler import compile

SOURCE = r"""
{source}"""

#: (buffer, place) -> the word that the same program leaves there as C++ on the host.
WANTED = {wanted}


def input_words():
    numbers = np.arange(4096 + 16 * 256, dtype=np.uint64) + np.uint64(1)
    state = numbers * np.uint64(0x9E3779B97F4A7C15)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words = ((state ^ (state >> np.uint64(31))) >> np.uint64(32)).astype(np.uint32)
    words[::3] &= 15
    return words


def main():
    cuda.Context.set_limit(cuda.limit.STACK_SIZE, 16384)
    data = cuda.to_device(input_words())
    rows = np.array([int(data) + 4 * (4096 + row * 256 + 128) for row in range(16)], np.uint64)
    software = "softcuda" in cuda.get_driver_path()
    target = {{"target": "ptx", "arch": "sm_90"}} if software else {{}}
    image = compile(SOURCE, options=["-fmad=false", "-std=c++17"], no_extern_c=True, **target)
    kernel = cuda.module_from_buffer(image).get_function("{name}")
    buffers = {{name: np.zeros(count, np.uint32) for name, count in {counts}.items()}}
    kernel(
        data, cuda.In(rows), *map(cuda.InOut, buffers.values()),
        np.int32(5), np.int32(19), np.int32(-5), np.uint32(0xFFFFFFF5), np.int64(-3),
        np.uint64(0xFFFFFFFFFFFFFFF3), grid={grid}, block={block},
    )
    wrong = {{at: int(buffers[at[0]][at[1]]) for at, word in WANTED.items() if buffers[at[0]][at[1]] != word}}
    for at, got in list(wrong.items())[:8]:
        print(f"{{at[0]}}[{{at[1]}}] is {{got:#x}}, not {{WANTED[at]:#x}}")
    assert not wrong, f"{{len(wrong)}} of {{len(WANTED)}} words differ"


main()
'''

MACROS = {
    "NOINLINE": "static __device__ __noinline__",
    "INLINE": "static __device__ __forceinline__",
    "DEVICE": "static __device__",
    "METHOD": "__device__",
    "KERNEL": 'extern "C" __global__ void',
    "CONSTANT": "static __constant__",
    "TABLE": "static __device__",
    "ENVIRONMENT_NAMES": "in, rows, n0, n1, minus, u0, l0, w0",
    "ENVIRONMENT": "const u32 *in, const u32 *const *rows, i32 n0, i32 n1, i32 minus, u32 u0, i64 l0, u64 w0",
}


#: A function's name, in a definition on one line or on several.
_FUNCTION = re.compile(
    r"^(?:template <class T> )?(?:DEVICE|INLINE|NOINLINE) [^\n]*?\b(\w+)\([^\n]*\) \{"
    r"(?:[^\n]*\}|\n(?:.*?\n)??\})\n",
    re.MULTILINE | re.DOTALL,
)


def plain_cuda(program: Program) -> str:
    """The program, and the parts of language.h that it uses, without macros."""
    text = program.text().split("{\n", 1)[1].rstrip().removesuffix("}").rstrip() + "\n"
    device = LANGUAGE.read_text().split("#ifdef __CUDACC__")[1]
    language, both = device.split("#else")[0], device.split("#endif")[1]
    pieces = {}
    for match in re.finditer(r"^(PTX[23])\((\w+), \"([\w.]+)\"\)$", language, re.M):
        count = int(match[1][3])
        names = "abc"[:count]
        inputs = ", ".join(f'"r"({n})' for n in names)
        holes = ", ".join(f"%{k}" for k in range(count + 1))
        body = f'    u32 r;\n    asm("{match[3]} {holes};" : "=r"(r) : {inputs});\n    return r;'
        pieces[match[2]] = (
            f"DEVICE u32 {match[2]}({', '.join('u32 ' + n for n in names)})\n{{\n{body}\n}}\n"
        )
    for match in _FUNCTION.finditer(language + both):
        pieces[match[1]] = pieces.get(match[1], "") + match[0]
    for match in re.finditer(r"^(?:struct|union) (\w+) \{.*?^\};\n", both, re.M | re.S):
        pieces[match[1]] = match[0]
    kept, grown = {}, text
    for _ in range(4):
        for name, piece in pieces.items():
            if name not in kept and re.search(rf"\b{name}\b", grown):
                kept[name] = piece
                grown += piece
    types = re.findall(r"^typedef .*;$", LANGUAGE.read_text(), re.M)
    result = (
        "\n".join(types)
        + "\n"
        + "".join(piece for name, piece in pieces.items() if name in kept)
        + text
    )
    result = re.sub(r"\bSHARED\((\w+), (\w+), (\w+)\)", r"__shared__ \1 \2[\3]", result)
    result = result.replace("SPIN();", "").replace("{  }", "{ }")
    for name, meaning in MACROS.items():
        result = re.sub(rf"\b{name}\b", meaning, result)
    return result


def write(
    path: pathlib.Path, program: Program, wanted: np.ndarray, title: str, words: str
) -> None:
    """``wanted``: all words of the buffers; those of `out` that are not 0 are compared, and some others."""
    kept, start = {}, 0
    counts = dict(
        zip(("scratch", "flags", "sums", "out"), program.words(), strict=True)
    )
    for name, count in counts.items():
        part = wanted[start : start + count]
        places = np.flatnonzero(part)
        step = max(1, len(places) // 200)
        kept |= {(name, int(at)): int(part[at]) for at in places[::step]}
        start += count
    path.write_text(
        TEMPLATE.format(
            title=title,
            words=words,
            source=plain_cuda(program),
            wanted=kept,
            name=program.name,
            counts=counts,
            grid=program.shape.grid[:2],
            block=program.shape.block,
        )
    )
