#!/usr/bin/env python3
"""Check the rules of the repository's layout that a compiler does not check.

    tools/check_layers.py [FOLDER]      the repository's root, by default the one this file is in

For each C++ and Python file, checks: its includes or imports against the table of layers, cycles,
its size, its first line. Prints one line for each violation, and exits with 1 if there are any.
"""

from __future__ import annotations

import ast
import copy
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from layer_table import ARRAY_LAYERS, ARRAYS, LAYERS, layer_of, may_include

# Search folders for `#include "a/b.h"`, in addition to the file's own folder.
INCLUDE_ROOTS = [
    "abi/include",
    "abi",
    "core/include",
    "core/src",
    "softcuda/src",
    "softcuda/include",
    "python/src",
    "tests",
    ".",
]

# Headers of other projects that only some folders may include.
FOREIGN = [
    (
        re.compile(r"^(llvm|llvm-c|clang|lld)/"),
        (
            "softcuda/src/codegen",
            "softcuda/src/vector_math",
            "softcuda/src/debug_data",
            "softcuda/src/jit",
            "softcuda/src/target/code",
            "tests/softcuda",
        ),
    ),
    (re.compile(r"^(nanobind/|Python\.h$|pybind11/)"), ("python/src",)),
    (re.compile(r"^(gtest|gmock)/"), ("tests",)),
    # Part of the CUDA toolkit, but not of the wheel nvidia-cuda-runtime, with which the project
    # must build.
    (
        re.compile(
            r"^(cudaProfiler\.h|cuda_profiler_api\.h|cuda_stdint\.h|fatbinary_section\.h"
            r"|(cupti|cublas|cufft|cusolver|cusparse|curand|cudnn|nccl|nvperf)\w*\.h"
            r"|(nvJitLink|nvvm|nvblas|nvml|nv_decode)\.h|(nvtx3|crt|nv|cccl)/)"
        ),
        ("tests", "benchmarks", "examples"),
    ),
]

# What depends on the processor is in these folders, behind headers that do not.
LINK_FOLDERS = {"softcuda/link/x86_64", "softcuda/link/aarch64"}
TARGET_FOLDERS = {"softcuda/src/target", "core/src/target", *LINK_FOLDERS}
PROCESSOR = re.compile(
    r"\b(__x86_64(__)?|__amd64(__)?|__i386(__)?|__aarch64__|__SSE\w*|__AVX\w*|__ARM\w*|_mm\d*_\w+|target_clones"
    r"|__builtin_(ia32|aarch64|cpu)_\w+|v(ld|st)\d+q?_[usf]\d+|_*rdtscp?|cntvct_el0"
    r"|gregs|uc_mcontext|[a-z]mmintrin\.h|x86intrin\.h|cpuid\.h|Intrinsics(X86|AArch64)\.h"
    r"|x86_(avx|sse)\w*|aarch64_\w+|arm_(neon|sve)\.h|stmxcsr|ldmxcsr|fpcr|cpuid)\b"
    # LLVM's names of features and options
    r"|\"(\+fma|[+-]?(avx\w*|sse\d\w*|f16c|bmi2?|neon|sve2?|lse))[\",]|\"[\w-]*(x86|aarch64)-[a-z-]+\""
)

# Other code may name a processor, such as in a test of its instructions; a condition on one is in these only.
HAND_WRITTEN = "benchmarks/softcuda/hand_written"  # with intrinsic functions
CONDITION_FOLDERS = {"tests/softcuda/target_test.cpp", HAND_WRITTEN}

# What no C++ file of the library may say, except for the files named: a pattern, the files, the rule.
RULES = [
    (
        re.compile(r"=\s*(pycuda::)?current_stream\(\)\s*[,)]"),
        "",
        "a default argument may not be the current stream, which is known after the context only",
    ),
    (
        re.compile(
            r"^[ \t]+[\w:]*Stream\w*\s+\w+_?\s*=\s*current_stream\(\);", re.MULTILINE
        ),
        ".cpp",
        "a member may not start as the current stream; let its type be GivenStream",
    ),
    (
        re.compile(r"\bimage_kind\(\)\s*[!=]="),
        "core/src/context/device_traits.cpp",
        "only device_traits.h asks which driver it is",
    ),
    (
        re.compile(r"\bstd::(recursive_|shared_)?mutex\b"),
        ("caller_lock.h", "library_call.cpp", "progress_line.cpp", "progress_line.h"),
        "a thread that waits for a std::mutex keeps Python's lock; use CallerMutex of caller_lock.h",
    ),
    (
        re.compile(r"^[ \t]+static (const )?nb::\w+ \w+ =(?!\s*nb::type<)", re.M),
        "",
        "a static local may not run Python code to begin with; use KeptObject of python_object.h",
    ),
]

MAX_LINES = {".cpp": 600, ".h": 300, ".cuh": 600, ".py": 600}

# Exceptions from the size limits, each with its reason and its own limit.
LONGER: dict[str, tuple[int, str]] = {}

CPP_SUFFIXES = (".h", ".cpp", ".cuh", ".def")
TOP_FOLDERS = (
    "abi",
    "core",
    "softcuda",
    "python",
    "tests",
    "benchmarks",
    "examples",
    "tools",
)

# The packages, and what each may import in addition to itself and the standard library.
PYTHON_PACKAGES = {"pycuda": {"numpy", "softcuda"}, "softcuda": set()}
# Further imports of parts of the packages, for programs that use these packages.
PYTHON_OPTIONAL = {
    "python/pycuda/_gdb": {"gdb"},  # a module of gdb's Python
    "python/pycuda/tune": {"matplotlib"},
    "python/pycuda/dask": {"dask", "distributed"},
    "python/pycuda/pytest_plugin.py": {"pytest"},
    "python/softcuda/_profile_charts.py": {"matplotlib"},
    "python/pycuda/sparse": {"scipy"},
}


# The modules that arrays may import from the rest of the package; they do not depend on arrays.
BELOW_ARRAYS = {"_driver", "_c_types", "_device_code", "compiler", "driver", "tools"}
# Modules that only programs for PyCUDA import; they are on the package's path: pycuda._cluda and so
# on.
COMPAT = "python/pycuda/_compat"


@dataclass
class Report:
    """The violations found so far, one line each."""

    violations: list[str] = field(default_factory=list)
    files: int = 0

    def add(self, path: Path, line: int, message: str) -> None:
        self.violations.append(f"{path.as_posix()}:{line}: {message}")


def is_within(path: Path, folders: tuple[str, ...] | set[str]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def resolve_include(root: Path, path: Path, name: str) -> Path | None:
    """The repository's file that an include names, or None if it is not our file."""
    for folder in [path.parent, *map(Path, INCLUDE_ROOTS)]:
        candidate = root / folder / name
        if candidate.is_file():
            return candidate.resolve().relative_to(root)
    return None


def check_include(
    root: Path, path: Path, line: int, name: str, target: Path | None, report: Report
) -> None:
    """Checks one include against the table."""
    if target is None:
        for pattern, folders in FOREIGN:
            if pattern.search(name) and not is_within(path, folders):
                report.add(
                    path,
                    line,
                    f"<{name}> may be included in {' and '.join(folders)} only",
                )
        return
    layer, other = layer_of(root, path), layer_of(root, target)
    if layer is None or other is None:
        missing = path if layer is None else target
        report.add(
            path,
            line,
            f"{missing.parent} is in no layer; name it in tools/check_layers.py",
        )
    elif layer != other and not may_include(layer, target, other):
        report.add(path, line, f"{layer} may not include from {other} ({name})")


def strip_comments(text: str) -> str:
    """The C++ text without comments, with the same lines."""
    keep_lines = lambda match: "\n" * match.group().count("\n")  # noqa: E731
    return re.sub(r"/\*.*?\*/|//[^\n]*", keep_lines, text, flags=re.DOTALL)


def check_cpp_form(path: Path, lines: list[str], report: Report) -> None:
    """Checks the first line and the include guard."""
    first = lines[0] if lines else ""
    # "//", the file's name, and a description.
    if not re.match(rf"// {re.escape(path.name)} -- \S", first):
        report.add(path, 1, f"the first line must read '// {path.name} -- what it is'")
    if path.suffix in (".h", ".cuh") and "#pragma once" not in lines:
        report.add(path, 1, "a header needs '#pragma once'")


def check_processor(path: Path, code: str, report: Report) -> None:
    """Checks that the libraries name a processor, and other code has a condition on one, in the folders for it only."""
    library = is_within(path, {"abi", "core", "softcuda", "python/src"})
    folders = TARGET_FOLDERS if library else CONDITION_FOLDERS
    lines = code.splitlines()
    for match in () if is_within(path, folders) else PROCESSOR.finditer(code):
        line = code.count("\n", 0, match.start())
        if library or re.match(r"\s*#\s*(el)?if", lines[line]):
            only = " and ".join(sorted(folders))
            report.add(path, line + 1, f"{match.group()} is for {only} only")


def check_rules(path: Path, code: str, report: Report) -> None:
    """Checks RULES in the library. An exception is one ending of paths, or several."""
    if not is_within(path, {"core", "python/src"}):
        return
    for pattern, exception, rule in RULES:
        if exception and path.as_posix().endswith(exception):
            continue
        for match in pattern.finditer(code):
            report.add(path, code.count("\n", 0, match.start()) + 1, rule)


def check_size(path: Path, lines: int, report: Report) -> None:
    limit = MAX_LINES.get(path.suffix)
    if path.as_posix() in LONGER:
        limit = LONGER[path.as_posix()][0]
    if limit is not None and lines > limit:
        report.add(
            path,
            lines,
            f"{lines} lines, more than the {limit} that a {path.suffix} file may have",
        )


def check_cpp(root: Path, path: Path, report: Report) -> list[Path]:
    """Checks all rules for one C++ file; returns the repository's files that it includes."""
    text = (root / path).read_text(encoding="utf-8")
    lines = text.splitlines()
    check_cpp_form(path, lines, report)
    check_size(path, len(lines), report)
    includes = []
    code = strip_comments(text)
    check_processor(path, code, report)
    check_rules(path, code, report)
    for number, line in enumerate(code.splitlines(), start=1):
        if match := re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line):
            target = resolve_include(root, path, match.group(1))
            check_include(root, path, number, match.group(1), target, report)
            if target is not None:
                includes.append(target)
    return includes


def imported_names(tree: ast.AST, package: str) -> list[tuple[int, str]]:
    """(line, dotted name) of all imports in `tree`; relative imports become absolute."""
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = (
                package.split(".")[: len(package.split(".")) - node.level + 1]
                if node.level
                else []
            )
            module = ".".join([*base, *([node.module] if node.module else [])])
            names += [(node.lineno, f"{module}.{alias.name}") for alias in node.names]
    return names


def check_python(root: Path, path: Path, report: Report) -> list[Path]:
    """Checks all rules for one Python file; returns the package's files that its import loads."""
    text = (root / path).read_text(encoding="utf-8")
    check_size(path, len(text.splitlines()), report)
    tree = ast.parse(text, filename=path.as_posix())
    own = path.parts[1] if is_within(path, {"python"}) else ""
    if own not in PYTHON_PACKAGES:
        return []
    if text.strip() and ast.get_docstring(tree) is None:
        report.add(path, 1, "a module needs a docstring that says what it is")
    parts = path.relative_to("python").with_suffix("").parts
    package = ".".join(parts[:-1])
    foreign = PYTHON_PACKAGES[own].union(
        *(
            names
            for folder, names in PYTHON_OPTIONAL.items()
            if is_within(path, {folder})
        )
    )
    for line, name in imported_names(tree, package):
        top = name.split(".")[0]
        if top != own and top not in sys.stdlib_module_names and top not in foreign:
            report.add(path, line, f"{own} may not import {top}")
    check_python_layers(
        root, path, imported_names(without_types(tree), package), report
    )
    at_import = ast.Module(
        body=[node for node in tree.body if is_import_time(node)], type_ignores=[]
    )
    files = [python_file(root, name) for _, name in imported_names(at_import, package)]
    return [file for file in files if file is not None and file != path]


def without_types(tree: ast.Module) -> ast.Module:
    """The module without the imports that are only for type checkers."""

    class Pruned(ast.NodeTransformer):
        def visit_If(self, node: ast.If) -> ast.If | None:
            return None if "TYPE_CHECKING" in ast.dump(node.test) else node

    return Pruned().visit(copy.deepcopy(tree))


def array_layer(path: Path) -> int:
    """The number of the layer of a file in ARRAYS; -1 for files outside the folders."""
    parts = path.relative_to(ARRAYS).parts
    if len(parts) == 1:
        return -1
    return ARRAY_LAYERS.index(parts[0]) if parts[0] in ARRAY_LAYERS else 99


def check_python_layers(
    root: Path, path: Path, names: list[tuple[int, str]], report: Report
) -> None:
    """Checks the order inside the package: the folders of arrays, and the compatibility modules, which nothing imports."""
    relics = {one.stem for one in (root / COMPAT).glob("*")}
    for line, name in names:
        parts = name.split(".")
        if parts[0] != "pycuda" or len(parts) < 2:
            continue
        if parts[1] in relics and not is_within(path, {COMPAT}):
            report.add(path, line, f"pycuda.{parts[1]} is for programs of PyCUDA only")
        if not is_within(path, {ARRAYS}):
            continue
        target = python_file(root, name)
        if target is None or not is_within(target, {ARRAYS}):
            if parts[1] not in (*BELOW_ARRAYS, "arrays"):
                report.add(path, line, f"arrays may not import pycuda.{parts[1]}")
        elif array_layer(target) > array_layer(path):
            report.add(
                path,
                line,
                f"{path.parent.name} is below {target.parent.name} in arrays",
            )
    if is_within(path, {ARRAYS}) and array_layer(path) == 99:
        report.add(path, 1, "the folder is in no layer; name it in ARRAY_LAYERS")


def is_import_time(node: ast.stmt) -> bool:
    """Whether a top-level statement runs imports when the module is imported, not only for a type checker."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return False
    return not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))


def python_file(root: Path, name: str) -> Path | None:
    """The file of the dotted name `pycuda.a.b`, where b may be a name in a."""
    parts = name.split(".")
    if parts[0] not in PYTHON_PACKAGES:
        return None
    for count in range(len(parts), 1, -1):
        base = Path("python", *parts[:count])
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if (root / candidate).is_file():
                return candidate
    return None


def find_circle(edges: dict[Path, list[Path]]) -> list[Path] | None:
    """One cycle of the graph, with its first file repeated at the end; None if there is none."""
    done: set[Path] = set()

    def visit(node: Path, trail: list[Path]) -> list[Path] | None:
        if node in trail:
            return [*trail[trail.index(node) :], node]
        if node in done:
            return None
        for target in edges.get(node, []):
            if circle := visit(target, [*trail, node]):
                return circle
        done.add(node)
        return None

    for start in sorted(edges):
        if circle := visit(start, []):
            return circle
    return None


def check_table(report: Report) -> None:
    """Checks the table: every allowed folder is a row or a parent of rows, and there is no cycle."""
    edges = {}
    for folder in LAYERS:
        edges[Path(folder)] = sorted(
            Path(row)
            for row in LAYERS
            if row != folder and may_include(folder, Path(row), row)
        )
    if circle := find_circle(edges):
        report.add(
            Path("tools/check_layers.py"),
            1,
            "the layers form a cycle: " + " -> ".join(map(str, circle)),
        )


def check_repository(root: Path) -> Report:
    """Checks all rules for all files in `root`."""
    report = Report()
    check_table(report)
    edges: dict[Path, list[Path]] = {}
    for top in TOP_FOLDERS:
        for file in sorted((root / top).rglob("*")):
            path = file.relative_to(root)
            if not file.is_file() or "__pycache__" in path.parts:
                continue
            if path.suffix in CPP_SUFFIXES:
                edges[path] = check_cpp(root, path, report)
            elif path.suffix == ".py":
                edges[path] = check_python(root, path, report)
            else:
                continue
            report.files += 1
    if circle := find_circle(edges):
        report.add(
            circle[0], 1, "includes form a cycle: " + " -> ".join(map(str, circle))
        )
    return report


def main() -> int:
    root = Path(
        sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent
    ).resolve()
    report = check_repository(root)
    for violation in report.violations:
        print(violation)
    print(f"layers: {report.files} files checked, {len(report.violations)} violations")
    return 1 if report.violations else 0


if __name__ == "__main__":
    sys.exit(main())
