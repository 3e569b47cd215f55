"""The package softcuda: the path of its library, its devices, and its independence of other packages."""

import ctypes
import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pycuda
import pycuda.driver as cuda
import softcuda
from softcuda._loader import closed_libraries

needs_library = pytest.mark.skipif(
    not os.path.exists(softcuda.LIBRARY), reason="this build has no softcuda"
)
ROOT = Path(__file__).parents[3]


def run(*arguments, **environment):
    """Run Python with only these settings; returns the finished process."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("SOFTCUDA_", "PYCUDA_", "LD_LIBRARY_PATH"))
    }
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        env={**kept, **environment},
    )


def test_both_packages_have_one_version():
    assert softcuda.__version__ == pycuda.__version__
    assert importlib.metadata.version("pycuda") == pycuda.__version__


def test_nothing_but_the_standard_library_is_imported():
    done = run(
        "-c",
        "import sys; known = set(sys.modules)\n"
        "import softcuda.__main__, softcuda.exec\n"
        "softcuda.loader_path, softcuda.devices\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - known}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))",
    )
    assert done.stdout == "['softcuda']\n", done.stderr


@needs_library
def test_devices_follow_the_settings():
    done = run(
        "-m",
        "softcuda",
        SOFTCUDA_DEVICES="3",
        SOFTCUDA_ARCH="90",
        SOFTCUDA_MEMORY="512M",
        SOFTCUDA_THREADS="2",
    )
    assert done.returncode == 0, done.stderr
    assert f"softcuda           {softcuda.__version__}, " in done.stdout
    assert f"library            {softcuda.LIBRARY}\n" in done.stdout
    for number in range(3):
        (line,) = (x for x in done.stdout.splitlines() if f"device {number}" in x)
        assert "compute capability 9.0, 2 multiprocessors, 0.5 GiB" in line
    assert "device 3" not in done.stdout
    assert "$SOFTCUDA_MEMORY   512M" in done.stdout


@needs_library
def test_devices_of_the_function():
    done = run(
        "-c",
        "import softcuda\nprint(softcuda.devices())",
        SOFTCUDA_ARCH="75",
        SOFTCUDA_MEMORY="1G",
        SOFTCUDA_THREADS="1",
    )
    assert done.stdout.startswith("[Device(number=0, name='softcuda ("), done.stderr
    assert (
        "compute_capability=(7, 5), multiprocessors=1, memory=1073741824" in done.stdout
    )


@needs_library
@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("SOFTCUDA_ARCH", "70", "is 70, not one of 75, 80, 86, 87, 89, 90"),
        ("SOFTCUDA_DEVICES", "0", "is 0, not between 1 and 64"),
        ("SOFTCUDA_DEVICES", "two", "is 'two', not a number such as 4, 512M or 2G"),
        ("SOFTCUDA_THREADS", "-1", "is '-1', not a number"),
        ("SOFTCUDA_MEMORY", "4 GB", "is '4 GB', not a number"),
        ("SOFTCUDA_MEMORY", "99999999999T", "is '99999999999T', not a number"),
    ],
)
def test_a_wrong_setting_is_named(name, value, words):
    done = run("-m", "softcuda", **{name: value})
    assert done.returncode == 1
    assert f"softcuda: {name} {words}" in done.stderr
    assert "cuInit of" in done.stdout and "CUDA_ERROR_INVALID_VALUE" in done.stdout


def test_a_missing_library_is_named():
    setting = {"PYCUDA_SOFTCUDA_LIBRARY": "/nowhere/libsoftcuda.so"}
    for arguments in (["softcuda"], ["softcuda", "--library"], ["softcuda.exec", "x"]):
        done = run("-m", *arguments, **setting)
        assert done.returncode == 1
        said = done.stdout + done.stderr
        assert "there is no /nowhere/libsoftcuda.so; set PYCUDA_SOFTCUDA" in said
        assert "Traceback" not in said


@needs_library
def test_the_command_runs_a_program_of_the_driver_api():
    client = str(ROOT / "tests/tools/driver_client.py")
    done = run("-m", "softcuda.exec", sys.executable, client)
    assert done.stdout == "[1, 2, 3, 4, 5, 6, 7, 8]\n", done.stderr


@needs_library
@pytest.mark.parametrize(
    ("name", "symbol"),
    [
        ("cuGraphicsGLRegisterBuffer", "cuGraphicsGLRegisterBuffer"),
        ("cuGLGetDevices", "cuGLGetDevices_v2"),
        ("cuGraphicsVDPAURegisterVideoSurface",) * 2,
        ("cuEGLStreamConsumerConnect", "cuEGLStreamConsumerConnect"),
    ],
)
def test_functions_of_displays_are_there_and_not_supported(name, symbol):
    # Dr.Jit searches for the symbols when it starts, Warp asks cuGetProcAddress.
    library = ctypes.CDLL(softcuda.LIBRARY)
    function = getattr(library, symbol)
    assert function() == 801
    found, status = ctypes.c_void_p(), ctypes.c_int()
    assert 0 == library.cuGetProcAddress_v2(
        name.encode(),
        ctypes.byref(found),
        12000,
        ctypes.c_uint64(0),
        ctypes.byref(status),
    )
    assert found.value == ctypes.cast(function, ctypes.c_void_p).value


@needs_library
def test_a_folder_has_the_names_of_nvidias_libraries(tmp_path):
    done = run("-m", "softcuda", "--path", XDG_CACHE_HOME=str(tmp_path))
    folder = Path(done.stdout.strip())
    assert folder.is_relative_to(tmp_path), done.stderr
    closed = closed_libraries()  # of the package softcuda-libraries
    names = {path.name for path in folder.iterdir()}
    assert closed.keys() <= names
    assert sorted(names - closed.keys()) == [
        "libcuda.so",
        "libcuda.so.1",
        "libcudart.so",
        "libcudart.so.12",
        "libcudart.so.13",
        "libnvJitLink.so.12",
        "libnvJitLink.so.13",
        "libnvidia-ml.so.1",
        "libsoftcuda.so",
        "libsoftcuda_preload.so",
    ]


@needs_library
@pytest.mark.skipif(
    "PYCUDA_SOFTCUDA_LIBRARY" in os.environ
    or os.environ.get("PYCUDA_DRIVER", "auto") not in ("auto", "softcuda"),
    reason="another driver was chosen",
)
def test_pycuda_uses_the_packages_library():
    if "softcuda" in cuda.get_driver_path():
        assert cuda.get_driver_path() == softcuda.LIBRARY


LARGE_MODULE = """
import numpy, pycuda.autoinit, pycuda.driver as cuda
ptx = ".version 7.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() { ret; }\\n//" + "x" * 1_000_000
cuda.module_from_buffer(ptx.encode()).get_function("k")(block=(1, 1, 1))
pycuda.autoinit.context.synchronize()
"""


@needs_library
def test_the_cache_keeps_kernels_without_their_modules_text(tmp_path):
    """Each kernel of a large module has two entries, one for its object; with the text they would fill the cache."""
    done = run(
        "-c",
        LARGE_MODULE,
        PYCUDA_DRIVER="softcuda",
        SOFTCUDA_CACHE_DIR=str(tmp_path),
    )
    assert done.returncode == 0, done.stderr
    sizes = [entry.stat().st_size for entry in tmp_path.glob("*.object")]
    assert len(sizes) == 2 and sum(sizes) < 100_000


SAME_KERNEL = """
import sys
import pycuda.autoinit, pycuda.driver as cuda
for other in sys.argv[1:]:
    ptx = f".version 7.0\\n.target sm_75\\n.address_size 64\\n.visible .entry k() {{ ret; }}\\n{other}"
    cuda.module_from_buffer(ptx.encode()).get_function("k")(block=(1, 1, 1))
    pycuda.autoinit.context.synchronize()
"""


@needs_library
def test_equal_kernels_of_different_modules_share_an_object(tmp_path):
    settings = {
        "PYCUDA_DRIVER": "softcuda",
        "SOFTCUDA_CACHE_DIR": str(tmp_path),
        "SOFTCUDA_TIMES": "1",
    }
    other = ".visible .entry other() { ret; }"
    first = run("-c", SAME_KERNEL, "", other, **settings)
    assert first.returncode == 0, first.stderr
    assert first.stderr.count("generating `k`") == 2
    assert first.stderr.count("optimising `k`") == 1
    again = run("-c", SAME_KERNEL, "", other, **settings)
    assert "generating `k`" not in again.stderr
    # Without the object, the kernel's entry is of no use.
    largest = max(tmp_path.glob("*.object"), key=lambda entry: entry.stat().st_size)
    largest.unlink()
    repaired = run("-c", SAME_KERNEL, "", other, **settings)
    assert repaired.stderr.count("optimising `k`") == 1
    skipped = run("-c", SAME_KERNEL, "", SOFTCUDA_SKIP="gvn", **settings)
    assert skipped.stderr.count("optimising `k`") == 1
    shown = run("-c", SAME_KERNEL, "", SOFTCUDA_DUMP="optimized", **settings)
    assert "--- optimized ---" in shown.stderr
