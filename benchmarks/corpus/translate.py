"""Translates a program's CUDA source for g++ and NVRTC, and its OpenMP version for the cores of a CPU.

This repository contains no part of the programs: they are read from a checkout, and the results
are written to a build folder.
"""

from __future__ import annotations

import re
from pathlib import Path

_TOKEN = re.compile(
    r"//(?:\\\n|[^\n])*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'", re.DOTALL
)


def without_comments(text: str) -> str:
    return _TOKEN.sub(lambda m: " " if m[0].startswith("/") else m[0], text)


def include_folders(file: Path) -> list[Path]:
    """The folders with the program's own headers: its folder, the folder of the CUDA program, and the
    folders in its Makefile."""
    makefile = file.parent / "Makefile"
    text = makefile.read_text() if makefile.exists() else ""
    named = re.findall(r"-I(\.\S*)", text)
    cuda = file.parent.with_name(file.parent.name.replace("-omp", "-cuda"))
    return [file.parent, cuda, *((file.parent / name).resolve() for name in named)]


def read_with_includes(file: Path) -> str:
    """The file's text, in which the program's own headers replace their #include lines."""
    return _read(file, include_folders(file), set())


def _read(file: Path, folders: list[Path], seen: set[Path]) -> str:
    seen.add(file.resolve())
    text = without_comments(file.read_text(errors="replace"))

    def include(match: re.Match) -> str:
        places = [(folder / match[1]).resolve() for folder in [file.parent, *folders]]
        header = next((place for place in places if place.exists()), None)
        if not header:
            return match[0]
        return "" if header in seen else _read(header, folders, seen)

    return re.sub(
        r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"[^\n]*$',
        include,
        text,
        flags=re.MULTILINE,
    )


# ---- host code of the CUDA program ---------------------------------------------------------


def host_source(text: str) -> str:
    """C++ for g++: each `kernel<<<...>>>(...)` becomes a call of corpus::Launch.

    The types of the arguments determine the instance of a template. So each template is followed by
    a function that takes the same arguments and returns the kernel's address.
    """
    text = re.sub(r"extern\s+__shared__", "extern", text)
    text, templates = with_address_functions(_plain(text))
    pieces, at = [], 0
    for match in re.finditer(r"([A-Za-z_]\w*(?:::\w+)*)\s*(<[^;{}()]*?>)?\s*<<<", text):
        if match.start() < at:
            continue
        end = text.index(">>>", match.end())
        opening = text.index("(", end)
        closing = matching(text, opening)
        kernel = match[1] + (match[2] or "")
        arguments = text[opening + 1 : closing].strip()
        configuration = text[match.end() : end]
        if match[1] in templates:
            kernel = f"corpus_address_{kernel}({arguments})"
        pieces.append(text[at : match.start()])
        pieces.append(
            f"corpus::Launch({configuration})({kernel}{', ' if arguments else ''}{arguments})"
        )
        at = closing + 1
    return '#include "cuda_runtime.h"\n' + "".join([*pieces, text[at:]])


_TEMPLATE = re.compile(
    r"template\s*<([^{};()]*)>\s*(?:static\s+|inline\s+)*__global__\s+(?:static\s+)?void\s+(\w+)\s*\("
)


def with_address_functions(text: str) -> tuple[str, set[str]]:
    """The text with such a function after each kernel template, and the templates' names."""
    pieces, names, at = [], set(), 0
    while match := _TEMPLATE.search(text, at):
        closing = matching(text, match.end() - 1)
        opening = text.find("{", closing)
        if ";" in text[closing:opening]:  # a declaration
            end = text.index(";", closing) + 1
        else:
            end = matching(text, opening) + 1
        pieces.append(text[at:end])
        if match[2] not in names:
            parameters = [
                part.split("=")[0].split()[-1] for part in match[1].split(",")
            ]
            pieces.append(
                f"\ntemplate <{match[1]}> auto corpus_address_{match[2]}({text[match.end() : closing]})"
                f" {{ return &{match[2]}<{', '.join(parameters)}>; }}\n"
            )
            names.add(match[2])
        at = end
    return "".join([*pieces, text[at:]]), names


def matching(text: str, opening: int) -> int:
    """The position of the bracket that closes the one at ``opening``."""
    pairs, depth = {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}, 0
    at = opening
    while at < len(text):
        if text[at] in "\"'" and (literal := _TOKEN.match(text, at)):
            at = literal.end()
            continue
        depth += pairs.get(text[at], 0)
        if depth == 0:
            return at
        at += 1
    raise ValueError(f"a bracket that nobody closes: {text[opening : opening + 60]!r}")


# ---- device code ---------------------------------------------------------------------------


def device_source(text: str) -> str:
    """What NVRTC compiles: kernels, device functions, types and constants; no host functions."""
    kept = []
    macros = re.findall(r"#[ \t]*define[ \t]+(\w+)[^\n]*__device__", text)
    marks = "|".join(["__global__", "__device__", "__constant__", *macros])
    for piece in top_level(text):
        if piece.lstrip().startswith("#"):
            directive = piece.strip()
            if re.match(r"#\s*include", directive):
                name = re.search(r'[<"](.*)[>"]', directive)
                if name and re.match(
                    r"(cuda_fp16|cuda_bf16|cooperative_groups)", name[1]
                ):
                    kept.append(piece)
                continue
            kept.append(piece)
        elif is_for_device(piece, marks):
            kept.append(piece)
    return DEVICE_START + "".join(kept)


DEVICE_START = """typedef unsigned char uint8_t; typedef signed char int8_t;
typedef unsigned short uint16_t; typedef short int16_t;
typedef unsigned int uint32_t; typedef int int32_t; typedef unsigned int uint;
typedef unsigned long uint64_t; typedef long int64_t; typedef unsigned short ushort;
typedef unsigned char uchar;
#define M_PI 3.14159265358979323846
#define M_PI_F 3.14159265358979323846f
#define FLT_MAX 3.402823466e+38F
#define FLT_MIN 1.175494351e-38F
#define FLT_EPSILON 1.192092896e-07F
#define DBL_MAX 1.7976931348623158e+308
#define INT_MAX 2147483647
#define INT_MIN (-2147483647 - 1)
#define UINT_MAX 4294967295u
#define INFINITY __int_as_float(0x7f800000)
"""


def top_level(text: str) -> list[str]:
    """The text in pieces; each is one preprocessor directive or one declaration."""
    pieces, at, start = [], 0, 0
    length = len(text)
    while at < length:
        if text[at] == "#" and not text[start:at].strip():
            end = at
            while True:
                end = text.find("\n", end)
                end = length if end < 0 else end
                if end == length or text[end - 1] != "\\":
                    break
                end += 1
            pieces.append(text[start:end] + "\n")
            at = start = end
            continue
        if text[at] in "\"'" and (literal := _TOKEN.match(text, at)):
            at = literal.end()
            continue
        if text[at] in "({[":
            is_function = text[at] == "{" and ")" in text[start:at]
            opened = text[at]
            at = matching(text, at) + 1
            head = text[start:at]
            is_type = re.match(
                r"\s*(typedef\b|(template\s*<[^{]*>\s*)?(struct|union|class|enum)\b)",
                head,
            )
            if opened == "{" and (
                is_function
                and not is_type
                or re.match(r"\s*(namespace|extern\s+\")", head)
            ):
                if not re.search(r"=\s*\{", head.split(")")[-1]):
                    pieces.append(head + "\n")
                    start = at
            continue
        if text[at] == ";":
            pieces.append(text[start : at + 1] + "\n")
            start = at + 1
        at += 1
    return [piece for piece in pieces if piece.strip()]


def is_for_device(piece: str, marks: str) -> bool:
    """``marks``: what a declaration for the device has before its body, as a regular expression."""
    head = piece.split("{")[0]
    if re.search(rf"\b({marks})\b", head):
        return True
    if "std::" in piece or re.search(
        r"\b(FILE|ifstream|vector<|string|chrono)\b", piece
    ):
        return False
    if re.match(r"\s*using\s+namespace", piece):
        return False
    if re.match(
        r"\s*(typedef|using|static_assert|(template\s*<[^{]*>\s*)?(struct|union|class|enum)\b)",
        piece,
    ):
        return True
    is_constant = re.match(
        r"\s*(static\s+)?(inline\s+)?(const|constexpr)\b[^()]*=", piece
    )
    return bool(is_constant)


# ---- the OpenMP twin -----------------------------------------------------------------------

_CLAUSES = "map num_teams thread_limit num_threads is_device_ptr has_device_addr device defaultmap depend in_reduction use_device_ptr use_device_addr nowait"


def openmp_source(text: str) -> str:
    """The twin for all cores of a CPU: offloaded loops become parallel loops.

    g++ would run `target teams` on the host one team after another. This removes clauses about a device and the
    directives that only move data.
    """
    text = re.sub(r"\\[ \t]*\r?\n", " ", text)
    return re.sub(
        r"^[ \t]*#[ \t]*pragma[ \t]+omp[ \t]+([^\n]*)$",
        _directive,
        text,
        flags=re.MULTILINE,
    )


def _directive(match: re.Match) -> str:
    words = match[1]
    if not re.search(r"\b(target|teams|distribute|declare|end)\b", words):
        return match[0]
    if re.match(
        r"(target\s+(enter|exit)\b|target\s+data\b|target\s+update\b|(begin\s+|end\s+)?declare\s+target|end\s+declare)",
        words,
    ):
        return ""
    rest = re.sub(r"\b(target|teams|distribute)\b", "", words)
    for clause in _CLAUSES.split():
        rest = without_clause(rest, clause)
    rest = (
        re.sub(r"\bparallel\s+for\b|\bsimd\b", "", rest)
        .replace("parallel", "")
        .strip(" ,")
    )
    is_loop = re.search(r"\b(distribute|for)\b", words)
    if not is_loop:
        raise ValueError(f"no loop on all cores can be made of: #pragma omp {words}")
    return f"#pragma omp parallel for {rest}"


def without_clause(text: str, name: str) -> str:
    """The directive without `name(...)`; brackets inside it may nest."""
    while found := re.search(rf"\b{name}\b\s*(\()?", text):
        end = matching(text, found.end() - 1) + 1 if found[1] else found.end()
        text = text[: found.start()] + text[end:]
    return text


def instances(device: str, symbols: str) -> str:
    """Instantiations of the kernel templates that the host's program names; ``symbols`` is the output of `nm -C`."""
    templates = re.findall(
        r"template\s*<[^{;]*?>\s*(?:static\s+)?__global__[^{;(]*?\b(\w+)\s*\(",
        _plain(device),
    )
    lines = []
    for line in symbols.splitlines():
        words = line.split(" ", 2)
        if len(words) < 3:
            continue
        found = re.match(r"void (\w+)<", words[2])
        if found and found[1] in templates:
            lines.append(f"template __global__ {words[2]};\n")
    return "".join(sorted(set(lines)))


def _plain(text: str) -> str:
    """The text without attributes that hide a kernel's name."""
    return re.sub(r"__launch_bounds__\s*\([^()]*\)", "", text)
