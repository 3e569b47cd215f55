"""tools/check_layers.py finds each kind of violation, and accepts correct files."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import check_layers  # noqa: E402


def violations_of(folder, files):
    """Write `files` (path -> text) under `folder` and return the violations found."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check_layers.check_repository(folder.resolve()).violations


def header(name, body=""):
    return f"// {name} -- a test.\n#pragma once\n{body}"


GOOD = {
    "abi/include/abi/types.h": header("types.h", "#include <cuda.h>\n"),
    "core/include/pycuda/device.h": header("device.h", '#include "abi/types.h"\n'),
    "core/src/device.cpp": "// device.cpp -- a test.\n#include <pycuda/device.h>\n",
    "softcuda/src/support/text.h": header("text.h"),
    "softcuda/src/jit/engine.cpp": "// engine.cpp -- a test.\n#include <llvm/IR/Module.h>\n",
    "python/pycuda/_compat/_cluda.py": '"""A test."""\n',
    "python/pycuda/arrays/linalg/good.py": '"""A test."""\nfrom pycuda.arrays.shapes import good\n',
    "python/pycuda/arrays/shapes/good.py": '"""A test."""\nfrom pycuda import driver\n',
    "python/pycuda/driver.py": '"""A test."""\nimport numpy\nimport softcuda\nfrom pycuda import _driver\n',
}


def test_correct_files_pass(tmp_path):
    assert violations_of(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        (
            "core/src/bad.cpp",
            '// bad.cpp -- a test.\n#include "support/text.h"\n',
            "core/src/bad.cpp:2: core may not include from softcuda/src/support (support/text.h)",
        ),
        (
            "softcuda/src/support/bad.cpp",
            '// bad.cpp -- a test.\n#include "../../../core/include/pycuda/device.h"\n',
            "softcuda/src/support may not include from core",
        ),
        (
            "core/include/pycuda/bad.h",
            header(
                "bad.h",
                "Array copy(const Array &x, StreamRef s = current_stream(),\n    int n);\n",
            ),
            "core/include/pycuda/bad.h:3: a default argument may not be the current stream",
        ),
        (
            "python/src/bad.h",
            header(
                "bad.h", "struct A {\n    StreamRef stream = current_stream();\n};\n"
            ),
            "python/src/bad.h:4: a member may not start as the current stream",
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test.\nbool f() { return driver().image_kind() == ImageKind::Ptx; }\n",
            "core/src/bad.cpp:2: only device_traits.h asks which driver it is",
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test.\nstd::mutex mutex;\n",
            "core/src/bad.cpp:2: a thread that waits for a std::mutex keeps Python's lock",
        ),
        (
            "python/src/bad.cpp",
            "// bad.cpp -- a test.\nvoid f() {\n    static const nb::handle x = made();\n}\n",
            "python/src/bad.cpp:3: a static local may not run Python code to begin with",
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test.\n#include <cudaProfiler.h>\n",
            "core/src/bad.cpp:2: <cudaProfiler.h> may be included in tests and benchmarks",
        ),
        (
            "softcuda/src/support/bad.h",
            "// bad.h -- a test.\n#pragma once\n#include <nvtx3/nvToolsExt.h>\n",
            "<nvtx3/nvToolsExt.h> may be included in tests and benchmarks and examples only",
        ),
        (
            "softcuda/src/ir/bad.cpp",
            "// bad.cpp -- a test.\n\n#include <llvm/IR/Value.h>\n",
            "softcuda/src/ir/bad.cpp:3: <llvm/IR/Value.h> may be included in softcuda/src/codegen",
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test.\n#include <Python.h>\n",
            "<Python.h> may be included",
        ),
        (
            "core/src/bad.cpp",
            "// other.cpp -- a test.\n",
            "the first line must read '// bad.cpp -- what it is'",
        ),
        ("core/src/bad.cpp", "", "the first line must read"),
        ("core/src/bad.h", "// bad.h -- a test.\n", "a header needs '#pragma once'"),
        (
            "core/src/bad.h",
            header("bad.h", "\n" * 400),
            "402 lines, more than the 300 that a .h file may have",
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test." + "\n" * 601,
            "601 lines, more than the 600",
        ),
        (
            "python/pycuda/bad.py",
            '"""A test."""\nimport torch.cuda\n',
            "bad.py:2: pycuda may not import torch",
        ),
        (
            "python/softcuda/bad.py",
            '"""A test."""\nimport pycuda\n',
            "bad.py:2: softcuda may not import pycuda",
        ),
        (
            "softcuda/src/support/bad.cpp",
            "// bad.cpp -- a test.\n#if defined(__x86_64__)\n#endif\n",
            "softcuda/src/support/bad.cpp:2: __x86_64__ is for core/src/target",
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test of __aarch64__.\nvoid f() { _mm_pause(); }\n",
            "core/src/bad.cpp:2: _mm_pause is for core/src/target",
        ),
        (
            "softcuda/src/jit/bad.cpp",
            "// bad.cpp -- a test.\n#include <llvm/IR/IntrinsicsX86.h>\n",
            "softcuda/src/jit/bad.cpp:2: IntrinsicsX86.h is for core/src/target",
        ),
        (
            "softcuda/src/jit/bad.cpp",
            '// bad.cpp -- a test.\nbool wide = has("+avx512f");\n',
            'softcuda/src/jit/bad.cpp:2: "+avx512f" is for core/src/target',
        ),
        (
            "softcuda/src/jit/bad.cpp",
            '// bad.cpp -- a test.\nauto option = "disable-x86-domain-reassignment";\n',
            'bad.cpp:2: "disable-x86-domain-reassignment" is for core/src/target',
        ),
        (
            "core/src/bad.cpp",
            "// bad.cpp -- a test.\nauto now = __rdtsc();\n",
            "core/src/bad.cpp:2: __rdtsc is for core/src/target",
        ),
        (
            "tests/softcuda/bad.cpp",
            '// bad.cpp -- a test.\nauto tier = "avx2";\n\n#elif defined(__aarch64__)\n#endif\n',
            "bad.cpp:4: __aarch64__ is for benchmarks/softcuda/hand_written and tests",
        ),
        ("python/pycuda/bad.py", "import numpy\n", "a module needs a docstring"),
        (
            "python/pycuda/arrays/shapes/bad.py",
            '"""A test."""\n\ndef f():\n    from pycuda.arrays.linalg import good\n',
            "bad.py:4: shapes is below linalg in arrays",
        ),
        (
            "python/pycuda/arrays/shapes/bad.py",
            '"""A test."""\nfrom pycuda import gpuarray\n',
            "bad.py:2: arrays may not import pycuda.gpuarray",
        ),
        (
            "python/pycuda/arrays/new/bad.py",
            '"""A test."""\n',
            "bad.py:1: the folder is in no layer; name it in ARRAY_LAYERS",
        ),
        (
            "python/pycuda/bad.py",
            '"""A test."""\nimport pycuda._cluda\n',
            "bad.py:2: pycuda._cluda is for programs of PyCUDA only",
        ),
    ],
)
def test_each_violation_is_named(tmp_path, path, text, message):
    violations = violations_of(tmp_path, {**GOOD, path: text})
    assert len(violations) == 1, violations
    assert message in violations[0]


def test_circle_of_headers(tmp_path):
    files = {
        "core/src/a.h": header("a.h", '#include "b.h"\n'),
        "core/src/b.h": header("b.h", '#include "a.h"\n'),
    }
    (violation,) = violations_of(tmp_path, files)
    assert (
        "includes form a cycle: core/src/a.h -> core/src/b.h -> core/src/a.h"
        in violation
    )


def test_circle_of_python_modules(tmp_path):
    files = {
        "python/pycuda/a.py": '"""A test."""\nfrom . import b\n',
        "python/pycuda/b.py": '"""A test."""\nimport pycuda.a\n',
    }
    (violation,) = violations_of(tmp_path, files)
    assert (
        "includes form a cycle: python/pycuda/a.py -> python/pycuda/b.py" in violation
    )


def test_import_for_a_type_checker_makes_no_circle(tmp_path):
    files = {
        "python/pycuda/a.py": '"""A test."""\nfrom . import b\n',
        "python/pycuda/b.py": '"""A test."""\nfrom typing import TYPE_CHECKING\n'
        "if TYPE_CHECKING:\n    import pycuda.a\n",
    }
    assert violations_of(tmp_path, files) == []


def test_commented_include_does_not_count(tmp_path):
    text = '// ok.cpp -- a test.\n// #include "support/text.h"\n/*\n#include <Python.h>\n*/\n'
    assert violations_of(tmp_path, {**GOOD, "core/src/ok.cpp": text}) == []


def test_long_file_named_with_a_reason_passes(tmp_path, monkeypatch):
    monkeypatch.setitem(check_layers.LONGER, "core/src/long.cpp", (700, "a table"))
    assert (
        violations_of(
            tmp_path, {"core/src/long.cpp": "// long.cpp -- a test." + "\n" * 650}
        )
        == []
    )


def test_table_without_circles(monkeypatch):
    report = check_layers.Report()
    check_layers.check_table(report)
    assert report.violations == []
    monkeypatch.setitem(check_layers.LAYERS, "abi", {"core"})
    check_layers.check_table(report)
    assert "the layers form a cycle" in report.violations[0]
