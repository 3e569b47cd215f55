"""python -m pycuda, and the IPython magic."""

from pathlib import Path

import pytest
from conftest import is_softcuda

from pycuda import __main__ as command
from pycuda import docs


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


def test_output_to_a_program_that_ends_early(run_program):
    done = run_program(
        """
        import subprocess, sys
        command = f"{sys.executable} -m pycuda | true"
        print(subprocess.run(command, shell=True, capture_output=True, text=True).stderr)
        """
    )
    assert "Traceback" not in done.stdout and "BrokenPipe" not in done.stdout


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
    assert "1 file, 2.0 KiB" in capsys.readouterr().out
    assert command.main(["cache", "--clear"]) == 0
    assert "2.0 KiB freed" in capsys.readouterr().out
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


def test_docs_print_their_path(tmp_path, monkeypatch, capsys):
    page = tmp_path / "index.html"
    monkeypatch.setattr(docs, "site", lambda: page)
    opened = []
    monkeypatch.setattr(docs.webbrowser, "open", opened.append)
    assert docs.main([]) == 1
    assert "./test docs builds it" in capsys.readouterr().err
    page.write_text("")
    assert docs.main([]) == 0 and opened == [page.as_uri()]
    assert docs.main(["--path"]) == 0 and len(opened) == 1
    assert capsys.readouterr().out.splitlines() == [str(page)] * 2
    monkeypatch.setattr(docs, "site", lambda: None)
    assert docs.main([]) == 1
    assert "python -m pydoc pycuda.gpuarray" in capsys.readouterr().err


def test_docs_of_a_repository_are_in_its_build_folder():
    root = Path(__file__).parents[3]
    assert docs.site() == root / "build/docs/html/index.html"
