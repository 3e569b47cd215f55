"""python -m pycuda, and the IPython magic."""

from pathlib import Path

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import __main__ as command
from pycuda import docs, gpuarray, ipython


def test_shows_the_available_devices(run_program, tmp_path):
    done = run_program(
        """
        import runpy, sys
        sys.argv = ["pycuda"]
        runpy.run_module("pycuda", run_name="__main__")
        """
    )
    assert done.returncode == 0, done.stderr
    for word in ("driver ", "device 0", "compute capability", "NVRTC", "nvcc", "cache"):
        assert word in done.stdout
    assert ("kernels run on the CPU" in done.stdout) == is_softcuda()
    assert "pycuda-complex.hpp" in done.stdout


def test_names_missing_libraries(run_program):
    done = run_program(
        """
        import runpy, sys
        sys.argv = ["pycuda"]
        runpy.run_module("pycuda", run_name="__main__")
        """,
        PYCUDA_DRIVER="/nowhere/libcuda.so",
    )
    assert done.returncode == 1
    assert "driver             none:" in done.stdout


def test_cache(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache" / "a").mkdir(parents=True)
    (tmp_path / "cache" / "a" / "entry").write_bytes(bytes(2048))
    assert command.main(["cache"]) == 0
    assert "1 files, 2.0 KiB" in capsys.readouterr().out
    assert command.main(["cache", "--clear"]) == 0
    assert "2.0 KiB given back" in capsys.readouterr().out
    assert not (tmp_path / "cache").exists()
    monkeypatch.delenv("PYCUDA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert command.cache_directory().parent == tmp_path / "pycuda"


def test_an_unknown_command_gets_the_names_of_the_commands(capsys):
    with pytest.raises(SystemExit):
        command.main(["banana"])
    error = capsys.readouterr().err
    assert "argument command: invalid choice: 'banana'" in error
    for name in ("cache", "check", "profile", "gdb"):
        assert f"'{name}'" in error


class FakeShell:
    def register_magic_function(self, function, magic_kind, magic_name):
        assert magic_kind == "cell" and magic_name == function.__name__
        self.magics = {**getattr(self, "magics", {}), magic_name: function}

    def run_cell(self, cell):
        exec(cell, self.names)

    def push(self, names):
        self.names = names


def test_magic(device, capsys):
    shell = FakeShell()
    ipython.load_ipython_extension(shell)
    shell.magics["cuda"](
        "-std=c++17", "__global__ void twice(float *a) { a[threadIdx.x] *= 2; }"
    )
    assert "kernels: twice" in capsys.readouterr().out
    a = np.ones(4, np.float32)
    shell.names["twice"](cuda.InOut(a), block=(4, 1, 1))
    assert a.tolist() == [2] * 4


@pytest.mark.skipif(not is_softcuda(), reason="only softcuda has a profile")
def test_magic_of_the_profile(device):
    shell = FakeShell()
    ipython.load_ipython_extension(shell)
    shell.names = {"zeros": gpuarray.zeros}
    shown = shell.magics["cuda_profile"]("p", "(zeros(1000, 'f') + 1).get()")
    assert shell.names == {"p": shown} and shown.kernels
    assert "<h1>Kernel report</h1>" in shown._repr_html_()


def test_docs_print_their_path(tmp_path, monkeypatch, capsys):
    page = tmp_path / "index.html"
    monkeypatch.setattr(docs, "site", lambda: page)
    opened = []
    monkeypatch.setattr(docs.webbrowser, "open", opened.append)
    assert docs.main([]) == 1
    assert "./test docs makes it" in capsys.readouterr().err
    page.write_text("")
    assert docs.main([]) == 0 and opened == [page.as_uri()]
    assert docs.main(["--path"]) == 0 and len(opened) == 1
    assert capsys.readouterr().out.splitlines() == [str(page)] * 2
    monkeypatch.setattr(docs, "site", lambda: None)
    assert docs.main([]) == 1
    assert "not in an installed package" in capsys.readouterr().err


def test_docs_of_a_repository_are_in_its_build_folder():
    root = Path(__file__).parents[2]
    assert docs.site() == root / "build/docs/html/index.html"
