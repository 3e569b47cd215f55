"""Machine code and PTX for GPUs that are compiled with the package, on a softcuda that looks like a GPU.

softcuda refuses machine code, so these tests see what a program does if a GPU's driver refuses an image, too.
"""

import ctypes
import importlib.util
import re
from pathlib import Path

import pytest
from conftest import is_softcuda

import pycuda

BUILD = Path(pycuda.__file__).parents[2]
DRIVER = BUILD / "tools/kernel_pack/libskip_launches.so"
PACK = Path(pycuda.__file__).parent / "gpu_kernels.pack"
TOOL = Path(__file__).parents[3] / "tools/kernel_pack/make_pack.py"
GPU = {"PYCUDA_DRIVER": str(DRIVER), "SKIP_LAUNCHES_AS_GPU": "1", "SOFTCUDA_ARCH": "80"}

PROGRAM = """
    import numpy as np
    import pycuda.autoinit
    from pycuda import gpuarray, random

    x = gpuarray.zeros(1000, np.float32)
    x + x
    x.sum()
    x.var()
    np.isclose(x, x)
    gpuarray.sort(x)
    random.Generator(1).random(8, np.float32)
    print("ended")
"""


@pytest.fixture(autouse=True)
def needed():
    if not is_softcuda() or not DRIVER.exists():
        pytest.skip("the build has no driver that looks like a GPU")


@pytest.fixture
def make_pack():
    spec = importlib.util.spec_from_file_location("make_pack", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def entries(run_program, tmp_path, make_pack):
    """The entries of the kernels of PROGRAM."""
    folder = tmp_path / "recorded"
    folder.mkdir()
    recording = {"PYCUDA_RECORD_KERNELS": str(folder), "PYCUDA_KERNEL_PACK": "none"}
    done = run_program(PROGRAM, **GPU, **recording)
    assert done.stdout == "ended\n", done.stderr
    return make_pack.for_gpus(make_pack.read_recorded(folder))


SOLVE = """
    import importlib.util

    import numpy as np
    import pycuda.autoinit
    from pycuda import gpuarray

    spec = importlib.util.spec_from_file_location("make_pack", {tool!r})
    make_pack = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make_pack)
    with make_pack.without_libraries():
        np.linalg.solve(gpuarray.zeros((512, 512)), gpuarray.zeros(512))
        np.fft.fft(gpuarray.zeros(8))
"""


def test_kernels_between_calls_of_libraries_are_recorded(run_program, tmp_path):
    folder = tmp_path / "recorded"
    folder.mkdir()
    recording = {"PYCUDA_RECORD_KERNELS": str(folder), "PYCUDA_KERNEL_PACK": "none"}
    done = run_program(SOLVE.format(tool=str(TOOL)), **GPU, **recording)
    assert done.returncode == 0, done.stderr
    images = b"".join(file.read_bytes() for file in folder.iterdir())
    for kernel in (b"order_of_rows", b"move_rows", b"complete"):
        assert b".entry " + kernel in images


@pytest.fixture
def run_with(run_program, tmp_path, make_pack):
    """Run PROGRAM with a pack. Returns its output, the number of compiled kernels and the lines of refusals."""

    def run(entries, **environment):
        pack = tmp_path / "kernels.pack"
        make_pack.write_pack(pack, entries)
        settings = {"PYCUDA_KERNEL_PACK": str(pack), "PYCUDA_TRACE": "1"}
        done = run_program(PROGRAM, **{**GPU, **settings, **environment})
        compiled = len(list((tmp_path / "cache").rglob("*.image")))
        lines = re.findall("^pycuda: the driver refused.*", done.stderr, re.MULTILINE)
        return done, compiled, lines

    return run


def test_operations_need_no_compiler(entries, run_with, tmp_path):
    code = [entry for entry in entries if entry.cuda]
    assert len(code) >= 6
    assert {entry.architecture for entry in entries} == {80}
    done, compiled, lines = run_with(entries, PYCUDA_NVRTC=str(tmp_path / "nothing"))
    assert done.stdout == "ended\n", done.stderr
    assert compiled == 0
    assert len(lines) == len(code)
    assert all(
        "the driver refused the package's machine code" in line for line in lines
    )


def test_later_architectures_use_older_images(entries, run_with, tmp_path):
    nothing = str(tmp_path / "nothing")
    # 8.6 runs machine code of 8.0, which this driver refuses; 9.0 does not run it.
    for architecture, refusals in ("86", True), ("90", False):
        done, _, lines = run_with(
            entries, PYCUDA_NVRTC=nothing, SOFTCUDA_ARCH=architecture
        )
        assert done.stdout == "ended\n", done.stderr
        assert bool(lines) == refusals


def test_older_architectures_find_nothing(entries, run_with, tmp_path):
    nothing = str(tmp_path / "nothing")
    done, _, _ = run_with(entries, PYCUDA_NVRTC=nothing, SOFTCUDA_ARCH="75")
    assert "PYCUDA_NVRTC is" in done.stderr


def test_newer_machine_code_than_the_driver_is_not_loaded(entries, run_with, tmp_path):
    newer = {
        entry._replace(cuda=99 if entry.cuda else 0): image
        for entry, image in entries.items()
    }
    done, _, lines = run_with(newer, PYCUDA_NVRTC=str(tmp_path / "nothing"))
    assert done.stdout == "ended\n", done.stderr
    assert not lines


def test_refused_ptx_is_compiled(entries, run_with):
    """The library then loads a compiler's machine code, which softcuda refuses in an error."""
    damaged = {
        entry: image if entry.cuda else b"damaged\n" + image
        for entry, image in entries.items()
    }
    done, compiled, lines = run_with(damaged)
    assert len(lines) == 2
    assert "machine code" in lines[0] and "PTX" in lines[1]
    assert compiled == 1
    assert "machine code for an NVIDIA GPU" in done.stderr


@pytest.fixture
def compile_ptx():
    """Compile PTX with NVIDIA's nvJitLink, which contains the compiler of the driver; 0 if it accepts the text."""
    (path,) = importlib.util.find_spec("nvidia").submodule_search_locations
    library = ctypes.CDLL(str(Path(path, "cu13/lib/libnvJitLink.so.13")))
    ptx_kind = 2

    def run(ptx):
        linker = ctypes.c_void_p()
        option = (ctypes.c_char_p * 1)(b"-arch=sm_90")
        assert library.nvJitLinkCreate(ctypes.byref(linker), 1, option) == 0
        status = library.nvJitLinkAddData(
            linker, ptx_kind, ptx, ctypes.c_size_t(len(ptx)), b"kernel"
        ) or library.nvJitLinkComplete(linker)
        library.nvJitLinkDestroy(ctypes.byref(linker))
        return status

    return run


def test_ptx_is_complete(entries, compile_ptx):
    texts = [image for entry, image in entries.items() if not entry.cuda]
    for ptx in texts:
        assert ptx.startswith(b".version 8.0\n.target sm_80\n")
        assert compile_ptx(ptx) == 0
    assert compile_ptx(b"damaged\n" + texts[0]) != 0


@pytest.mark.slow
def test_all_ptx_of_the_package_is_complete(make_pack, compile_ptx):
    if not PACK.exists():
        pytest.skip("only tools/wheel makes it")
    content = PACK.read_bytes()
    size = 24 + make_pack.ROW.size * int.from_bytes(content[16:24], "little")
    rows = make_pack.ROW.iter_unpack(content[24:size])
    texts = [
        content[place : place + length]
        for _, _, place, length, _, cuda in rows
        if cuda == 0
    ]
    assert len(texts) > 300
    for ptx in texts:
        assert compile_ptx(ptx) == 0
