"""The package softcuda_libraries: who finds its libraries, and what they export."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from library_calls import load

import softcuda

SOURCES = Path(__file__).resolve().parents[3] / "softcuda/libraries"
# Folder: name and sonames of CUDA 12 and 13.
LIBRARIES = {
    "cublas": ("cublas", 12, 13),
    "cublaslt": ("cublasLt", 12, 13),
    "cufft": ("cufft", 11, 12),
    "cufftw": ("cufftw", 11, 12),
    "curand": ("curand", 10, 10),
    "cusolver": ("cusolver", 11, 12),
    "cusparse": ("cusparse", 12, 12),
}


def rows(folder, major):
    text = (SOURCES / folder / f"{folder}.def").read_text()
    return re.findall(rf"^LIBRARY_FUNCTION(?:_{major})?\((\w+)\)", text, re.MULTILINE)


@pytest.mark.parametrize("folder", LIBRARIES)
@pytest.mark.parametrize("major", [12, 13])
def test_each_row_is_exported(device, folder, major):
    name, *sonames = LIBRARIES[folder]
    library = load(f"lib{name}.so.{sonames[major - 12]}")
    names = rows(folder, major)
    assert len(names) > 20
    assert [name for name in names if not hasattr(library, name)] == []


@pytest.mark.parametrize("folder", LIBRARIES)
@pytest.mark.parametrize("major", [12, 13])
def test_no_function_has_a_name_that_is_not_exported(device, folder, major):
    """A misspelt function would be hidden, and the true name would still return "not supported"."""
    name, *sonames = LIBRARIES[folder]
    path = load(f"lib{name}.so.{sonames[major - 12]}")._name
    symbols = subprocess.run(
        ["nm", path], capture_output=True, text=True, check=True
    ).stdout
    prefix = "fftw" if name == "cufftw" else name
    hidden = set(re.findall(rf" t ({prefix}\w+)$", symbols, re.MULTILINE))
    assert re.search(rf" [TW] {prefix}\w+", symbols)
    # One set of objects serves both versions of CUDA.
    assert hidden - set(rows(folder, 12)) - set(rows(folder, 13)) == set()


def test_names_without_a_version_are_those_of_one_cuda(device):
    load("libcublas.so.13")
    from softcuda import _link, _loader

    assert _loader.closed_libraries()["libcublas.so"].name == "libcublas.so.13"
    assert _loader.closed_libraries(12)["libcublas.so"].name == "libcublas.so.12"
    folder = Path(softcuda.loader_folder())
    assert (folder / "libcublas.so").resolve().name == "libcublas.so.13"
    libraries = _link.link_libraries(Path(softcuda.library()).resolve(), 12)
    assert libraries["libcublas.so"].name == "libcublas.so.12"


PROGRAM = """
import ctypes, sys
import cuda.pathfinder
found = cuda.pathfinder.load_nvidia_dynamic_lib("cublas").abs_path
version = ctypes.c_int()
assert ctypes.CDLL("libcublas.so.12").cublasGetVersion_v2(None, ctypes.byref(version)) == 0
print(version.value // 10000, found)
"""


def test_softcuda_exec_finds_them_and_no_other_program_does(device, tmp_path):
    load("libcublas.so.13")
    pytest.importorskip("cuda.pathfinder")
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    start = [sys.executable, "-m", "softcuda.exec", sys.executable, program]
    done = subprocess.run(start, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    version, found = done.stdout.split()
    assert version == "12" and "softcuda" in found
    # NVIDIA's library, or none.
    plain = "import ctypes; ctypes.CDLL('libcublas.so.13'); print(open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", plain], capture_output=True, text=True)
    assert "softcuda_libraries" not in done.stdout
    assert done.returncode == 0 or "cannot open shared object file" in done.stderr


def test_no_openblas_is_an_error_of_the_first_call(device, run_program):
    folder = load("libcublas.so.13")._name
    done = run_program(
        f"""
        import ctypes
        handle = ctypes.c_void_p()
        print(ctypes.CDLL({folder!r}).cublasCreate_v2(ctypes.byref(handle)), handle.value)
        """,
        SOFTCUDA_OPENBLAS="/nowhere/libopenblas.so",
    )
    assert done.stdout.split() == ["1", "None"]
    assert "there is no OpenBLAS" in done.stderr and "/nowhere" in done.stderr
