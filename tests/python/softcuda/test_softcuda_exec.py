"""softcuda-exec: programs without PyCUDA run on softcuda unmodified."""

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pycuda.driver as cuda

needs_softcuda = pytest.mark.skipif(
    "softcuda" not in cuda.get_driver_path(),
    reason="softcuda is not the driver under test",
)


def run(tmp_path, source):
    """Run a Python program through softcuda-exec; returns what it printed."""
    program = tmp_path / "client.py"
    program.write_text(textwrap.dedent(source))
    done = subprocess.run(
        [sys.executable, "-m", "softcuda.exec", sys.executable, program],
        capture_output=True,
        text=True,
        timeout=250,
        env={
            **os.environ,
            "PYCUDA_SOFTCUDA_LIBRARY": cuda.get_driver_path(),
            "SOFTCUDA_CACHE_DIR": str(tmp_path / "cache"),
            "XDG_CACHE_HOME": str(tmp_path / "home"),
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def missing(*modules):
    return [
        name for name in modules if importlib.util.find_spec(name.split(".")[0]) is None
    ]


@needs_softcuda
def test_the_loader_finds_softcuda_as_libcuda(tmp_path):
    printed = run(
        tmp_path,
        """
        import ctypes
        library = ctypes.CDLL("libcuda.so.1")
        assert library.cuInit(0) == 0
        name = ctypes.create_string_buffer(64)
        assert library.cuDeviceGetName(name, 64, 0) == 0
        print(name.value.decode())
        """,
    )
    assert printed.startswith("softcuda (")


@needs_softcuda
def test_a_failing_runtime_of_nvidia_is_named_once(tmp_path):
    """Programs that ignore its errors, such as CuPy's compiled sums, have wrong results without a word."""
    source = """
        import ctypes, os, uuid
        library = ctypes.CDLL("libcuda.so.1")
        assert library.cuInit(0) == 0
        os.dup2(1, 2)
        table = ctypes.c_void_p(1)
        for name in ("f8cff951-2146-8b4e-b9e2-fb469e7c0dd9", *["6bd5fb6c-5bf4-e74a-8987-d93912fd9df9"] * 2):
            assert library.cuGetExportTable(ctypes.byref(table), uuid.UUID(name).bytes) == 801
            assert table.value is None
            print(name[:4], flush=True)
        assert library.cuGetExportTable(None, uuid.UUID(name).bytes) == 1
        """
    lines = run(tmp_path, source).splitlines()
    assert [line[:4] for line in lines] == ["f8cf", "soft", "6bd5", "6bd5"]
    assert "softcuda-config" in lines[1]


def test_the_program_must_exist(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "softcuda.exec", str(tmp_path / "nothing")],
        capture_output=True,
        text=True,
        env={
            **os.environ,
            "PYCUDA_SOFTCUDA_LIBRARY": sys.executable,
            "HOME": str(tmp_path),
        },
    )
    assert done.returncode == 1
    assert "nothing: No such file or directory" in done.stderr


@needs_softcuda
@pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")
@pytest.mark.parametrize("sanitizer", ["address", "undefined"])
def test_programs_with_a_sanitizer_start(tmp_path, sanitizer):
    # AddressSanitizer refuses to start after another preloaded library by default.
    (tmp_path / "a.c").write_text(
        'int puts(const char *); int main(void) { return puts("well") < 0; }'
    )
    compiled = ("gcc", f"-fsanitize={sanitizer}", "a.c", "-o", "a")
    if subprocess.run(compiled, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip(f"gcc has no library of the sanitizer {sanitizer}")
    program = f"import subprocess; subprocess.run({str(tmp_path / 'a')!r}, check=True)"
    assert run(tmp_path, program) == "well\n"


@needs_softcuda
@pytest.mark.slow
@pytest.mark.skipif(bool(missing("cuda.core")), reason="cuda.core is not installed")
def test_cuda_core(tmp_path):
    printed = run(
        tmp_path,
        """
        import warnings

        import numpy
        from cuda.core import (Device, LaunchConfig, LegacyPinnedMemoryResource, Program,
                               ProgramOptions, launch)

        # "The CUDA driver version is older than the backend version": it is not.
        warnings.filterwarnings("error", message=".*older than")
        SOURCE = '''extern "C" __global__ void saxpy(float a, const float *x, const float *y,
                                                     float *out, size_t n) {
            size_t i = threadIdx.x + blockIdx.x * (size_t)blockDim.x;
            if (i < n) out[i] = a * x[i] + y[i];
        }'''
        device = Device()
        device.set_current()
        stream = device.create_stream()
        program = Program(SOURCE, code_type="c++", options=ProgramOptions(std="c++17"))
        kernel = program.compile("ptx").get_kernel("saxpy")
        n = 1000
        pinned = LegacyPinnedMemoryResource()
        buffers = [pinned.allocate(n * 4, stream=stream) for _ in range(3)]
        x, y, out = (numpy.from_dlpack(buffer).view(numpy.float32) for buffer in buffers)
        x[:] = numpy.arange(n)
        y[:] = 1
        config = LaunchConfig(grid=(n + 255) // 256, block=256)
        launch(stream, config, kernel, numpy.float32(2), *buffers, numpy.uint64(n))
        stream.sync()
        assert (out == 2 * x + 1).all()
        on_device = device.allocate(n * 4, stream=stream)
        on_device.copy_from(buffers[0], stream=stream)
        buffers[2].copy_from(on_device, stream=stream)
        stream.sync()
        assert (out == x).all()
        print("well")
        """,
    )
    assert printed == "well\n"


@needs_softcuda
@pytest.mark.slow
@pytest.mark.skipif(bool(missing("numba")), reason="Numba is not installed")
@pytest.mark.skipif(
    not missing("numba_cuda") and not hasattr(np, "row_stack"),
    reason="numba-cuda asks this NumPy for row_stack(), which is gone",
)
def test_numba(tmp_path):
    printed = run(
        tmp_path,
        """
        import warnings
        warnings.simplefilter("ignore")
        import numpy
        from numba import cuda, float32

        @cuda.jit
        def block_sums(values, total):
            shared = cuda.shared.array(256, float32)
            thread, i = cuda.threadIdx.x, cuda.grid(1)
            shared[thread] = values[i] if i < values.size else 0
            cuda.syncthreads()
            step = 128
            while step > 0:
                if thread < step:
                    shared[thread] += shared[thread + step]
                cuda.syncthreads()
                step //= 2
            if thread == 0:
                cuda.atomic.add(total, 0, shared[0])

        values = numpy.ones(10000, numpy.float32)
        total = numpy.zeros(1, numpy.float32)
        block_sums[40, 256](values, total)
        assert total[0] == 10000, total
        print("well")
        """,
    )
    assert printed == "well\n"
