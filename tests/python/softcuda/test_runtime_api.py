"""softcuda's CUDA runtime: programs that nvcc compiles with -cudart shared, and Python's ctypes."""

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pycuda.driver as cuda

PROGRAMS = Path(__file__).resolve().parent.parent.parent / "softcuda/cudart/programs"
DRIVER = Path(cuda.get_driver_path())

pytestmark = pytest.mark.skipif(
    "softcuda" not in DRIVER.name, reason="softcuda is not the driver under test"
)


def find_nvcc():
    """nvcc on the path, or from the package nvidia-cuda-nvcc; None if there is none."""
    on_path = shutil.which("nvcc")
    if on_path:
        return on_path
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations if spec else ():
        if (Path(folder) / "cu13/bin/nvcc").is_file():
            return str(Path(folder) / "cu13/bin/nvcc")
    return None


needs_nvcc = pytest.mark.skipif(find_nvcc() is None, reason="there is no nvcc")


def run(tmp_path, *command, **environment):
    """Run a program through softcuda-exec; returns the finished process."""
    return subprocess.run(
        [sys.executable, "-m", "softcuda.exec", *command],
        capture_output=True,
        text=True,
        timeout=250,
        env={
            **os.environ,
            "PYCUDA_SOFTCUDA_LIBRARY": str(DRIVER),
            "SOFTCUDA_CACHE_DIR": str(tmp_path / "cache"),
            "XDG_CACHE_HOME": str(tmp_path / "home"),
            **environment,
        },
    )


def compile_program(tmp_path, sources, *options):
    """Compile with nvcc against softcuda's own library; returns the program's path."""
    libraries = tmp_path / "lib"
    libraries.mkdir(exist_ok=True)
    (libraries / "libcudart.so").symlink_to(DRIVER.resolve().parent / "libcudart.so.13")
    program = tmp_path / "program"
    done = subprocess.run(
        [
            find_nvcc(),
            "-std=c++17",
            "-cudart",
            "shared",
            f"-L{libraries}",
            f"-Xlinker=-rpath-link={DRIVER.resolve().parent}",
            *options,
            "-o",
            program,
            *(PROGRAMS / source for source in sources),
        ],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return program


# The sources, and options in addition to the architecture.
COMPILED = {
    "variables": (["variables.cu"], []),
    "compressed": (["variables.cu"], ["--compress-mode=size"]),
    "streams": (["streams.cu"], []),
    "per_thread_streams": (["streams.cu"], ["--default-stream", "per-thread"]),
    "textures": (["textures.cu"], []),
    "graphs": (["graphs.cu"], []),
    "device_graphs": (["device_graphs.cu"], ["-rdc=true", "-lcudadevrt"]),
    "cooperative": (["cooperative.cu"], []),
    "errors": (["errors.cu"], []),
    "two_units": (["two_units.cu", "two_units_other.cu"], []),
    "linked_units": (["linked_units.cu", "linked_units_other.cu"], ["-rdc=true"]),
}


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("name", COMPILED)
def test_a_compiled_program(tmp_path, name):
    sources, options = COMPILED[name]
    program = compile_program(tmp_path, sources, "-arch=compute_80", *options)
    done = run(tmp_path, program)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout == "passed\n"


@needs_nvcc
@pytest.mark.slow
def test_a_program_without_ptx_gets_a_hint_about_compiling(tmp_path):
    only_machine_code = ["-gencode", "arch=compute_80,code=sm_80"]
    program = compile_program(tmp_path, ["variables.cu"], *only_machine_code)
    done = run(tmp_path, program)
    assert done.returncode != 0
    assert "-gencode arch=compute_XX,code=compute_XX" in done.stderr


def run_python(tmp_path, source, **environment):
    program = tmp_path / "client.py"
    program.write_text(textwrap.dedent(source))
    done = run(tmp_path, sys.executable, program, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("major, version", [(12, 12090), (13, 13000)])
def test_python_loads_the_library(tmp_path, major, version):
    printed = run_python(
        tmp_path,
        f"""
        import ctypes
        library = ctypes.CDLL("libcudart.so.{major}")
        number = ctypes.c_int()
        assert library.cudaRuntimeGetVersion(ctypes.byref(number)) == 0
        print(number.value)
        memory = ctypes.c_void_p()
        assert library.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4)) == 0
        assert library.cudaMemset(memory, 0x11, ctypes.c_size_t(4)) == 0
        assert library.cudaMemcpy(ctypes.byref(number), memory, ctypes.c_size_t(4), 2) == 0
        print(hex(number.value))
        assert library.cudaFree(ctypes.c_void_p(1)) == 1
        library.cudaGetErrorName.restype = ctypes.c_char_p
        print(library.cudaGetErrorName(library.cudaGetLastError()).decode())
        """,
    )
    assert printed == [str(version), "0x11111111", "cudaErrorInvalidValue"]


def test_each_library_has_its_own_layout_of_the_properties(tmp_path):
    """The offsets are those of NVIDIA's headers; memory after a structure is not changed."""
    printed = run_python(
        tmp_path,
        """
        import ctypes
        import struct

        def read(major, name, size, offset):
            library = ctypes.CDLL(f"libcudart.so.{major}")
            memory = ctypes.create_string_buffer(b"\\xee" * (size + 64), size + 64)
            assert library[name](memory, 0) == 0
            assert memory.raw[size:] == b"\\xee" * 64
            value = ctypes.c_int()
            assert library.cudaDeviceGetAttribute(ctypes.byref(value), 16, 0) == 0
            assert struct.unpack_from("i", memory, offset) == (value.value,)
            print(memory.raw[size - 1], memory.raw[size - 4])

        read(12, "cudaGetDeviceProperties", 728, 388)
        read(12, "cudaGetDeviceProperties_v2", 1032, 388)
        read(13, "cudaGetDeviceProperties", 1008, 384)
        """,
    )
    assert len(printed) == 6


def test_the_two_libraries_differ_in_arguments(tmp_path):
    """cudaGraphGetEdges has a parameter for the edges' data in CUDA 13, but not in CUDA 12."""
    printed = run_python(
        tmp_path,
        """
        import ctypes
        from ctypes import byref, c_size_t, c_void_p

        for major in (12, 13):
            library = ctypes.CDLL(f"libcudart.so.{major}")
            print(hasattr(library, "cudaGraphGetEdges_v2"), hasattr(library, "cudaLogsCurrent"))
            graph, first, second, count = c_void_p(), c_void_p(), c_void_p(), c_size_t(99)
            assert library.cudaGraphCreate(byref(graph), 0) == 0
            assert library.cudaGraphAddEmptyNode(byref(first), graph, None, c_size_t(0)) == 0
            assert library.cudaGraphAddEmptyNode(byref(second), graph, byref(first), c_size_t(1)) == 0
            places = [None] * (2 if major == 12 else 3)
            assert library.cudaGraphGetEdges(graph, *places, byref(count)) == 0
            print(count.value)
        """,
    )
    assert printed == ["True", "False", "1", "False", "True", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("major", [12, 13])
def test_no_function_crashes_with_null_arguments(tmp_path, major):
    """Each exported function is called with zeros in a separate process."""
    printed = run_python(
        tmp_path,
        f"""
        import ctypes
        import os
        import re

        table = open({str(PROGRAMS.parents[3] / "softcuda/cudart/cudart.def")!r}).read()
        library = ctypes.CDLL("libcudart.so.{major}")
        names = re.findall(r"^CUDART_FUNCTION(?:_{major})?\\((\\w+)\\)", table, re.MULTILINE)
        names += re.findall(r"^CUDART_PER_THREAD\\(\\w+, (\\w+)\\)", table, re.MULTILINE)
        names.remove("cudaCreateChannelDesc")  # returns a structure, whose place is an argument
        died = []
        for name in names:
            child = os.fork()
            if child == 0:
                library.cudaSetDevice(0)
                library[name](*[ctypes.c_void_p(0)] * 10)
                os._exit(0)
            if os.waitpid(child, 0)[1] != 0:
                died.append(name)
        print(len(names) > 300, *died)
        """,
    )
    assert printed == ["True"]
