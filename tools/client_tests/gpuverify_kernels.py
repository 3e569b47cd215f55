"""The kernels of GPUVerify's suite: their launch sizes, annotations and arguments.

The first line of a kernel is the verdict, the second one the options of the command. Annotations are functions that
GPUVerify's own headers declare. Those about one thread's values become code: a wrong `__assert()` sets a flag, and an
unmet `__requires()` sets another one, because the arguments of the launch are then none that the kernel is for.
Annotations about pairs of threads and about recorded accesses guide a proof, and are true here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PRELUDE = r"""
typedef unsigned int uint; typedef unsigned char uchar; typedef unsigned short ushort; typedef unsigned long ulong;
#define __inline inline
extern "C" __device__ int gv_unmet = 0, gv_wrong = 0;
extern "C" __device__ int gv_random = 1;
static __device__ inline bool gv_require(bool met) { if (!met) { gv_unmet = 1; asm volatile("exit;"); } return true; }
static __device__ inline bool gv_check(bool right) { if (!right) gv_wrong = 1; return true; }
#define __requires(c) gv_require(c)
#define __assume(c) gv_require(c)
#define __assert(c) gv_check(c)
#define __global_assert(c) gv_check(c)
#define __invariant(c) gv_check(c)
#define __global_invariant(c) gv_check(c)
#define __ensures(c)
#define __global_ensures(c)
#define __axiom(c)
#define __requires_fresh_array(a)
#define __implies(a, b) (!(a) || (b))
#define __enabled() true
#define __uniform_bool(x) true
#define __uniform_int(x) true
#define __distinct_int(x) true
#define __all(x) (x)
#define __other_int(x) (~(x))
#define __no_read(p) true
#define __no_write(p) true
#define __read_implies(p, c) true
#define __write_implies(p, c) true
#define __read(p) false
#define __write(p) false
#define __read_offset_bytes(p) 0
#define __write_offset_bytes(p) 0
#define __ptr_offset_bytes(p) 0
#define __non_temporal(x) (x)
"""

CURAND = "#include <curand_kernel.h>\n#include <curand_mtgp32_kernel.h>\n"
GROUPS = """#include <cooperative_groups.h>
template <class G> __device__ void synchronize(const G &group) { cooperative_groups::sync(group); }
"""
SCALARS = {
    "char": 1, "bool": 1, "short": 2, "int": 4, "unsigned": 4, "uint": 4, "float": 4, "long": 8, "double": 8,
    "size_t": 8,
}  # fmt: skip
MOST_THREADS = 1024  # of a block on a GPU; GPUVerify has no limit


def without_comments(text: str) -> str:
    return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)


@dataclass
class Parameter:
    """One parameter of a kernel, as the source declares it."""

    text: str

    @property
    def is_pointer(self) -> bool:
        return "*" in self.text or "[" in self.text

    @property
    def type(self) -> str:
        words = re.sub(
            r"\b(const|volatile|struct|__restrict(__)?|restrict)\b", " ", self.text
        )
        return re.findall(r"\w+(?:\s+(?:int|long|char|short|double)\b)*", words)[0]


class Kernel:
    """One file of the suite."""

    def __init__(self, folder: Path, path: str) -> None:
        self.path = path
        self.text = (folder / path).read_text(errors="replace").replace("\r", "")
        lines = self.text.split("\n")
        self.verdict = lines[0].lstrip("/").strip().lower()
        self.options = lines[1].lstrip("/").split()
        self.block = self.sizes("blockDim")
        self.grid = self.sizes("gridDim")
        self.code = without_comments(self.text)
        found = re.search(r"__global__\s+[^(;]*?(\w+)\s*\(([^)]*)\)", self.code)
        if found is None:  # the suite checks functions without a kernel, too
            self.name, self.parameters = "", []
            return
        self.name = found[1]
        self.parameters = [
            Parameter(text)
            for text in found[2].split(",")
            if text.strip() not in ("", "void")
        ]

    @property
    def is_right(self) -> bool:
        """GPUVerify verifies it."""
        return self.verdict == "pass"

    @property
    def is_refused(self) -> bool:
        """GPUVerify's front end cannot translate it, so that it has no verdict."""
        return "bugle" in self.verdict

    @property
    def does_not_compile(self) -> bool:
        return "clang" in self.verdict

    @property
    def options_of_compiler(self) -> list[str]:
        """Of NVRTC. It leaves out stores that nobody reads, such as those of planted races, except with -G.

        Only without -G a store to a constant variable is a trap, and the generators of curand are fast.
        """
        keeps_stores = not self.is_right and not re.search(
            "curand|__constant__", self.code
        )
        defined = [option for option in self.options if option.startswith("-D")]
        return ["-w", "-default-device", *(["-G"] if keeps_stores else []), *defined]

    @property
    def is_cooperative(self) -> bool:
        return "this_grid" in self.code

    def option(self, name: str) -> str:
        for option in self.options:
            if option.startswith(f"--{name}="):
                return option.partition("=")[2]
        raise ValueError(f"{self.path} has no option {name}")

    def sizes(self, name: str) -> tuple[int, int, int]:
        numbers = [int(n) for n in re.findall(r"\d+", self.option(name))]
        return tuple((numbers + [1, 1])[:3])

    def shape(self) -> tuple[int, int, int]:
        """The block, with as many threads as a GPU permits."""
        x, y, z = self.block
        x = min(x, MOST_THREADS)
        y = min(y, MOST_THREADS // x)
        return x, y, min(z, MOST_THREADS // (x * y), 64)

    def source(self) -> str:
        text = re.sub(r'#include\s*[<"]cuda.h[">]', "", self.text)
        text = re.sub(r"(__global__\b)", r'extern "C" \1', text)
        text = re.sub(r'extern\s+"C"\s+extern\s+"C"', 'extern "C"', text)
        text = re.sub(r"\b__return_val_\w+\(.*?\)", "0", text)
        before = CURAND if "curand" in self.code else ""
        before += GROUPS if "cooperative_groups" in self.code else ""
        return (
            before
            + PRELUDE
            + "#line 1\n"
            + text
            + self.given_functions()
            + self.function_table()
        )

    def given_functions(self) -> str:
        """Definitions of functions that the kernel only declares: GPUVerify lets them return anything."""
        made = ""
        for before, result, name, parameters in re.findall(
            r"^[ \t]*((?:(?:__device__|extern|\"C\"|__attribute__\(\(\w+\)\)|static)\s+)*)"
            r"([\w]+(?:\s+(?:int|long|char))?\s*\*?)\s*\b(\w+)\s*\(([^(){}]*)\)\s*;",
            self.code,
            re.MULTILINE,
        ):
            result = result.strip()
            is_defined = re.search(rf"\b{name}\s*\([^(){{}};]*\)\s*\{{", self.code)
            if is_defined or result in ("return", "else") or name.startswith("__"):
                continue
            if not before and not re.match(r"(void|\w*int|float|bool|char)\b", result):
                continue  # a call
            returns = (
                "" if result == "void"
                else f"return ({result})(gv_random & 3);" if result in SCALARS
                else f"{result} made = {{}}; return made;"
            )  # fmt: skip
            linkage = 'extern "C"' if '"C"' in before else ""
            made += f"\n{linkage} __device__ {result} {name}({parameters}) {{ {returns} }}\n"
        return made

    def functions(self) -> list[str]:
        """The device functions that a parameter may point to."""
        if not re.search(r"typedef\s+\w+\s*\(\s*\*\s*(\w+)\s*\)", self.code):
            return []
        return re.findall(r"__device__\s+\w+\s+(\w+)\s*\([^)]*\)\s*\{", self.code)

    def function_table(self) -> str:
        stores = "".join(
            f"out[{i}] = (void *)&{name};" for i, name in enumerate(self.functions())
        )
        return f'\nextern "C" __global__ void gv_functions(void **out) {{ {stores} }}\n'

    def is_function(self, parameter: Parameter) -> bool:
        return bool(
            re.search(rf"typedef\s+\w+\s*\(\s*\*\s*{parameter.type}\s*\)", self.code)
        )

    def has_pointers(self, parameter: Parameter) -> bool:
        """Whether the parameter, or what it points to, is a struct with pointers."""
        if parameter.type in SCALARS:
            return parameter.text.count("*") > 1
        named = re.search(
            rf"(?:struct|union|class)\s+{parameter.type}\b[^;{{]*\{{(.*?)\}}\s*;"
            rf"|typedef\s+(?:struct|union|class)[^;{{]*\{{(.*?)\}}\s*{parameter.type}\s*;",
            self.code,
            re.DOTALL,
        )
        if named is None:
            return False
        members = named[0]
        base = re.search(
            rf"struct\s+{parameter.type}\s*:\s*(?:public\s+)?(\w+)", self.code
        )
        return (
            "*" in members
            or bool(base and self.has_pointers(Parameter(f"{base[1]} x")))
            or any(
                self.has_pointers(Parameter(f"{name} x"))
                for name in re.findall(
                    r"(?:struct\s+)?(\w+)\s+\w+(?:\[\w+\])?\s*;", members
                )
                if name not in SCALARS and name != parameter.type
            )
        )

    def value(
        self, parameter: Parameter, random: np.random.Generator, draw: int
    ) -> int:
        """A value of a scalar: the required one, a small one, or one that the source names."""
        name = re.findall(r"\w+", parameter.text)[-1]
        if required := re.search(
            rf"__requires\(\s*{name}\s*==\s*(\d+)\s*\)", self.code
        ):
            return int(required[1])
        named = sorted({int(n) for n in re.findall(r"\b\d{1,6}\b", self.text)})
        small = [0, 1, 2, 3, 4, 5, 7, 8, self.shape()[0]]
        choices = small if draw % 2 == 0 or not named else named
        return int(random.choice(choices))
