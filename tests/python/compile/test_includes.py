"""Headers of a source: each is read once, however many names it has."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))


def write_headers(folder, headers):
    for name, others in headers.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        includes = "".join(f'#include "{other}"\n' for other in others)
        macro = path.stem.upper()
        path.write_text(f"#pragma once\n{includes}#define {macro} 1\n")


def compile_in_child(folder, source, seconds=30):
    """Compiles in a child, which is ended if it does not end by itself."""
    program = f"""
    from pycuda import compiler
    compiler.compile({source!r}, target="ptx", arch="sm_80", include_dirs=[{str(folder)!r}])
    print("compiled")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=seconds,
    )
    assert done.stdout == "compiled\n", done.stderr


def test_headers_that_include_each_other(tmp_path):
    write_headers(
        tmp_path,
        {
            "a/a.h": ["../b/b.h", "../c/c.h"],
            "b/b.h": ["../a/a.h", "../c/c.h"],
            "c/c.h": ["../a/a.h", "../b/b.h"],
        },
    )
    kernel = "__global__ void k(int *o) { o[0] = A + B + C; }"
    compile_in_child(tmp_path, f'#include "a/a.h"\n{kernel}')


def test_layers_of_headers_are_read_once_each(tmp_path):
    """Each of 24 layers includes both headers of the layer below: 2 ** 24 ways down."""
    headers = {"l0/x.h": [], "l0/y.h": []}
    for layer in range(1, 24):
        below = [f"../l{layer - 1}/x.h", f".././l{layer - 1}/y.h"]
        headers |= {f"l{layer}/x.h": below, f"l{layer}/y.h": below}
    write_headers(tmp_path, headers)
    compile_in_child(
        tmp_path, '#include "l23/x.h"\n__global__ void k(int *o) { o[0] = X; }'
    )


def test_links_that_make_a_cycle_of_folders(tmp_path):
    write_headers(tmp_path, {"a/a.h": ["again/a.h", "./again/again/b.h"], "a/b.h": []})
    (tmp_path / "a/again").symlink_to(tmp_path / "a")
    compile_in_child(
        tmp_path, '#include "a/a.h"\n__global__ void k(int *o) { o[0] = B; }'
    )


def test_a_header_behind_a_link_is_a_dependency(device, tmp_path):
    """The two names of the file lie in different folders, with different neighbours."""
    for folder, number in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "number.h").write_text(f"#define NUMBER {number}\n")
    (tmp_path / "a/x.h").write_text('#include "number.h"\n')
    (tmp_path / "b/x.h").symlink_to(tmp_path / "a/x.h")
    how = {"include_dirs": [str(tmp_path)]}
    source = """
    #include "a/x.h"
    #undef NUMBER
    #include "b/x.h"
    __global__ void answer(int *o) { o[0] = NUMBER; }
    """
    for number in (2, 33):
        (tmp_path / "b/number.h").write_text(f"#define NUMBER {number}\n")
        out = np.zeros(1, np.int32)
        SourceModule(source, **how).get_function("answer")(cuda.Out(out), block=1)
        assert out[0] == number


@pytest.mark.parametrize("mark_of", ["source", "header"])
@pytest.mark.parametrize("no_extern_c", [False, True])
def test_a_byte_order_mark_is_ignored(device, tmp_path, no_extern_c, mark_of):
    """As by GCC and nvcc. Editors of Windows write them at the begin of a file."""
    source = (
        '#include "three.h"\nextern "C" __global__ void k(int *o) { o[0] = THREE; }'
    )
    mark_of_source, mark = ("\ufeff", "") if mark_of == "source" else ("", "\ufeff")
    (tmp_path / "three.h").write_text(f'{mark}#include "four.h"\n', "utf-8")
    for number in (3, 33):  # the cache knows the headers
        (tmp_path / "four.h").write_text(f"{mark}#define THREE {number}\n", "utf-8")
        module = SourceModule(
            mark_of_source + source,
            no_extern_c=no_extern_c,
            include_dirs=[str(tmp_path)],
            nvcc="nvrtc",
        )
        out = np.zeros(1, np.int32)
        module.get_function("k")(cuda.Out(out), block=(1, 1, 1))
        assert out[0] == number
