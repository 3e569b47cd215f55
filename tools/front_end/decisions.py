"""Why nvcc and this package differ, for ``tools/front_end_differences.py``."""

from __future__ import annotations

import re

HEAD = """\
# Sources for nvcc compiled by NVRTC

PyCUDA compiles kernels with nvcc. This package compiles them with NVRTC, in the process, in a twentieth of the time.
Both are compilers of NVIDIA with the same back end, but nvcc reads a source as GCC does, with the host's headers before
it. `tools/front_end_differences.py` makes small kernels, compiles each by nvcc {version} and by this package *without
nvcc*, runs both, and compares the numbers. {texts} texts were compared here: all texts about the language, and
{mathematics} calls of functions of `math_functions.h`.

- **A text that only nvcc compiles** ({only_nvcc} of {texts}) is passed to nvcc if there is one, as the
  [user guide](user_guide.md#templates-and-headers) says. Without nvcc it is an error.
- **A text that only this package compiles** ({only_here}) is mostly a call that nvcc refuses without
  `--expt-relaxed-constexpr`. The result is that of C++. The tool asks nvcc again with this option, and compares the numbers.
- **Large headers** (Thrust, CUB, cooperative groups) are precompiled, and Thrust has a mode of its own here: see
  the [user guide](user_guide.md#templates-and-headers). Functions, variables and
  classes of the host, such as `main()`, are dropped. Headers of CUDA's libraries are replaced by the types that kernels use.
- **Header-only libraries** for the host compile here too, unless they need much of the host's C++ library. The
  [user guide](user_guide.md#templates-and-headers) names those that are tested, and two parts of Boost that need nvcc.
- **Another number** ({other}): each is listed below with its reason.

| | texts |
|-|-|
| both | accepted by both, with the same numbers |
| neither | refused by both |
| last bits | the same to six digits |

"""

NVCC = "compiled by nvcc if there is one; else an error that says how to get nvcc"
HOST = "a function of the host for nvcc; here as in C++"

# Group, kinds of difference, expression for the name, decision. The first row that matches counts.
DECISIONS: list[tuple[str, str, str, str]] = [
    (
        "mathematics",
        "only here",
        ".*",
        "nvcc needs `--expt-relaxed-constexpr`; here C++'s type, `double` unless all are `float`",
    ),
    (
        "mathematics",
        "another number",
        r"(isinf|isnan|isfinite|signbit)\(.*",
        "an `int`, not a `bool`: only `sizeof` differs, the values are 0 and 1",
    ),
    (
        "macros",
        "another number",
        "(#ifdef|in a header:) (__CUDACC_RTC__|__EDG__|va_start|__noinline__|__CUDA_FTZ|__CUDA_PREC_DIV|__USE_FAST_MATH__)",
        "NVRTC's own macros; CUDA's headers need them",
    ),
    (
        "macros",
        "another number",
        "(#ifdef|in a header:) (__GLIBC__|__GLIBCXX__|_GLIBCXX_CMATH|_MATH_H|_STDIO_H|_STDLIB_H)",
        "the host's C library is not included, and these name it; its macros that kernels use (`INT_MAX`, `M_PI`) are defined",
    ),
    (
        "macros",
        "another number",
        "(#ifdef|in a header:) __COUNTER__",
        "NVRTC has no such macro; a source that uses it without asking is compiled by nvcc",
    ),
    (
        "declarations",
        "only here",
        "an array.*|a string",
        "nvcc keeps arrays of the host from device code; here their values are known",
    ),
    ("declarations", "only nvcc", "extern", NVCC),
    (
        "statements",
        "only here",
        "std::printf",
        "nvcc needs `#include <cstdio>`",
    ),
    (
        "statements",
        "only here",
        r"std::(pair|numeric_limits)",
        "nvcc needs `--expt-relaxed-constexpr`",
    ),
    (
        "statements",
        "only nvcc",
        "std::.*",
        "needs libcu++ (`nvidia-cuda-cccl`), or nvcc",
    ),
    ("builtins", "only here", ".*", HOST),
    ("builtins", "only nvcc", ".*", NVCC),
    ("types", "only here", "uint.*", "nvcc needs `#include <stdint.h>`"),
    ("types", "only nvcc", ".*", "types of the host's headers or of GCC: " + NVCC),
    (
        "types",
        "another number",
        "va_list",
        "the size of `va_list` is that of device code; nvcc has the host's",
    ),
    (
        "attributes",
        "only nvcc",
        ".*",
        "nvcc ignores an attribute in a wrong place; " + NVCC,
    ),
    (
        "extensions",
        "another number",
        "case range",
        "nvcc 13.0 compares with the first value only; here as in GCC",
    ),
    (
        "extensions",
        "only nvcc",
        "designators, old",
        "an error that names the member; write `{.a = 1}`",
    ),
    ("extensions", "only nvcc", ".*", "no form in C++ has the same meaning: " + NVCC),
    (
        "headers",
        "only here",
        "<texture_fetch_functions.h>",
        "CUDA 12 removed the header; its functions are built in",
    ),
    (
        "features",
        "only here",
        "constexpr function.*",
        "nvcc needs `--expt-relaxed-constexpr`",
    ),
    (
        "features",
        "only here",
        "function without __device__|class without specifiers",
        "compiled for the device, as NVRTC's `--device-as-default-execution-space` does",
    ),
    (
        "features",
        "only here",
        "old texture",
        "nvcc does not compile this text since CUDA 12; see [textures](user_guide.md#textures-and-surfaces)",
    ),
]


def find(row: tuple[str, str, str]) -> str | None:
    """The decision about a difference, or None. ``row``: the group, the name and the kind."""
    group, name, kind = row
    for its_group, kinds, names, decision in DECISIONS:
        if (
            its_group == group
            and kind in kinds.split(", ")
            and re.fullmatch(names, name)
        ):
            return decision
    return None
