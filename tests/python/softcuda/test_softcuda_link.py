"""Programs that are linked with softcuda's static runtime: softcuda-config, libcudart_static.a, toolkits."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import pycuda.driver as cuda
import softcuda

DRIVER = Path(cuda.get_driver_path())

pytestmark = pytest.mark.skipif(
    "softcuda" not in DRIVER.name, reason="softcuda is not the driver under test"
)
needs_nvcc = pytest.mark.skipif(
    shutil.which("nvcc") is None, reason="there is no nvcc on the path"
)
needs_cc = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no cc")

KERNEL = """
#include <cstdio>
__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x + 40; }
int main() {
    int *p = nullptr;
    cudaMallocManaged(&p, 32 * sizeof(int));
    fill<<<1, 32>>>(p);
    cudaError_t result = cudaDeviceSynchronize();
    printf("%d %s\\n", result == cudaSuccess ? p[2] : -1, cudaGetErrorName(result));
}
"""

# A program in C that uses only the functions' names, so that no toolkit is needed.
CALLS = """
#include <stdio.h>
#include <string.h>
int cudaRuntimeGetVersion(int *version);
int cudaMalloc(void **memory, size_t bytes);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaFree(void *memory);
const char *cudaGetErrorString(int error);
struct channel { int x, y, z, w, kind; };
struct pitched { void *memory; size_t pitch, width, height; };
struct extent { size_t width, height, depth; };
int cudaMemset3D(struct pitched to, int value, struct extent size); // arguments on the stack
struct channel cudaCreateChannelDesc(int x, int y, int z, int w, int kind);
int main(void) {
    int version = 0, number = 42, back = 0;
    void *memory = 0;
    int error = cudaRuntimeGetVersion(&version);
    if (error) {
        struct channel channel = cudaCreateChannelDesc(8, 16, 24, 32, 1);
        printf("%d %d %d %s\\n", error, channel.y, channel.kind, cudaGetErrorString(error));
        return 0;
    }
    cudaMalloc(&memory, sizeof number);
    cudaMemcpy(memory, &number, sizeof number, 1);
    cudaMemcpy(&back, memory, sizeof number, 2);
    printf("%d %d ", version, back);
    struct pitched place = {memory, 2, 2, 2};
    struct extent size = {2, 1, 1};
    printf("%d ", cudaMemset3D(place, 1, size));
    cudaMemcpy(&back, memory, sizeof number, 2);
    printf("%d %d\\n", back, cudaFree(memory));
    return 0;
}
"""


def environment(tmp_path, **settings):
    return {
        **os.environ,
        "PYCUDA_SOFTCUDA_LIBRARY": str(DRIVER),
        "SOFTCUDA_CACHE_DIR": str(tmp_path / "cache"),
        "XDG_CACHE_HOME": str(tmp_path / "home"),
        **settings,
    }


def output_of(tmp_path, *command, **settings):
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=250,
        cwd=tmp_path,
        env=environment(tmp_path, **settings),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def config(tmp_path, *options):
    return output_of(
        tmp_path, sys.executable, "-m", "softcuda.config", *options
    ).strip()


def run_on_softcuda(tmp_path, program):
    return output_of(tmp_path, sys.executable, "-m", "softcuda.exec", program)


def needed_by(program):
    text = subprocess.run(
        ["readelf", "-d", program], check=True, capture_output=True, text=True
    ).stdout
    return [line for line in text.splitlines() if "NEEDED" in line]


@pytest.mark.parametrize("major, version", [(12, 12090), (13, 13000)])
@needs_cc
def test_a_program_in_c_needs_no_runtime_until_its_first_call(tmp_path, major, version):
    (tmp_path / "calls.c").write_text(CALLS)
    flags = config(tmp_path, "--ldflags", f"--cuda={major}")
    # Like compilers: an archive, with other libraries static as well.
    output_of(
        tmp_path,
        *("cc", "-o", "calls", "calls.c", flags),
        *("-Wl,-Bstatic", "-lcudart_static", "-Wl,-Bdynamic", "-ldl"),
    )
    assert not [line for line in needed_by(tmp_path / "calls") if "cuda" in line]
    assert run_on_softcuda(tmp_path, tmp_path / "calls") == f"{version} 42 0 257 0\n"


@pytest.mark.skipif(
    "libcudart.so.13"
    in subprocess.run(
        ["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False
    ).stdout,
    reason="the system has a CUDA runtime",
)
@needs_cc
def test_without_a_runtime_calls_fail_as_without_a_driver(tmp_path):
    (tmp_path / "calls.c").write_text(CALLS)
    flags = config(tmp_path, "--ldflags")
    output_of(
        tmp_path, "cc", "-o", "calls", "calls.c", flags, "-lcudart_static", "-ldl"
    )
    printed = output_of(tmp_path, tmp_path / "calls", LD_LIBRARY_PATH="")
    assert printed.startswith(
        "35 16 1 the CUDA runtime, libcudart.so.13, was not found"
    )


@needs_cc
def test_a_shared_object_exports_nothing_of_the_archive(tmp_path):
    (tmp_path / "calls.c").write_text(CALLS)
    flags = config(tmp_path, "--ldflags")
    output_of(
        tmp_path,
        *("cc", "-shared", "-fPIC", "-o", "calls.so", "calls.c", flags),
        *("-lcudart_static", "-ldl"),
    )
    names = output_of(tmp_path, "nm", "-D", "--defined-only", "calls.so")
    assert "main" in names and "cuda" not in names


# CUB stops if there is a last error; with NVIDIA's archive this is only the error of its own object.
@needs_cc
def test_each_shared_object_has_a_last_error_of_its_own(tmp_path):
    (tmp_path / "part.c").write_text(
        """
        int cudaFree(void *memory);
        int cudaGetLastError(void);
        int cudaPeekAtLastError(void);
        int free_nothing(void) { return cudaFree((void *)1); }
        int peek(void) { return cudaPeekAtLastError(); }
        int get(void) { return cudaGetLastError(); }
        """
    )
    flags = config(tmp_path, "--ldflags")
    for name in ("one.so", "other.so"):
        output_of(
            tmp_path,
            *("cc", "-shared", "-fPIC", "-o", name, "part.c", flags),
            *("-lcudart_static", "-ldl"),
        )
    (tmp_path / "program.py").write_text(
        textwrap.dedent(
            """
            import ctypes

            one, other = ctypes.CDLL("./one.so"), ctypes.CDLL("./other.so")
            print(one.free_nothing(), one.peek(), other.peek(), other.get())
            print(one.get(), one.get(), other.free_nothing(), one.peek(), other.get())
            """
        )
    )
    printed = output_of(
        tmp_path, sys.executable, "-m", "softcuda.exec", sys.executable, "program.py"
    )
    assert printed == "1 1 0 0\n1 0 1 0 1\n"


@needs_cc
def test_the_driver_for_linkers_is_named_as_nvidias(tmp_path):
    (tmp_path / "count.c").write_text(
        textwrap.dedent(
            """
            #include <stdio.h>
            int cuInit(unsigned flags);
            int cuDeviceGetCount(int *count);
            int main(void) {
                int count = 0;
                printf("%d", cuInit(0));
                printf(" %d", cuDeviceGetCount(&count));
                printf(" %d\\n", count);
                return 0;
            }
            """
        )
    )
    flags = config(tmp_path, "--ldflags")
    output_of(tmp_path, "cc", "-o", "count", "count.c", flags, "-lcuda")
    assert "[libcuda.so.1]" in "".join(needed_by(tmp_path / "count"))
    assert run_on_softcuda(tmp_path, tmp_path / "count") == "0 0 1\n"


@needs_nvcc
@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("-rdc=true",)], ids=["whole", "rdc"])
def test_nvcc_with_its_default_runtime(tmp_path, options):
    (tmp_path / "fill.cu").write_text(KERNEL)
    flags = config(tmp_path, "--ldflags")
    output_of(
        tmp_path,
        *("nvcc", "-arch=compute_80", *options, flags, "-o", "fill", "fill.cu"),
    )
    assert run_on_softcuda(tmp_path, tmp_path / "fill") == "42 cudaSuccess\n"


@needs_nvcc
@pytest.mark.slow
def test_the_nvcc_of_a_toolkit_folder(tmp_path):
    (tmp_path / "fill.cu").write_text(KERNEL)
    toolkit = Path(config(tmp_path, "--toolkit"))
    output_of(
        tmp_path,
        *(toolkit / "bin/nvcc", "-arch=compute_80", "-o", "fill", "fill.cu"),
    )
    assert run_on_softcuda(tmp_path, tmp_path / "fill") == "42 cudaSuccess\n"


def make_toolkit(folder, version=13000):
    """The files of a toolkit, in the layout of the packages on PyPI."""
    for name in ("bin/nvcc", "include/cuda.h", "lib/libcudart_static.a"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("NVIDIA's")
    for name in ("libcublas.so.13", "libcudart.so.13", "libcudadevrt.a"):
        (folder / "lib" / name).write_text("NVIDIA's")
    (folder / "include/cuda.h").write_text(f"#define CUDA_VERSION {version}\n")
    (folder / "nvvm").mkdir()


def test_a_toolkit_folder_has_all_files_but_the_runtime(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    # Without softcuda-libraries, the toolkit's libraries stay.
    monkeypatch.setattr("softcuda._link.closed_libraries", lambda major: {})
    make_toolkit(tmp_path / "toolkit")
    folder = Path(softcuda.toolkit_folder(str(tmp_path / "toolkit")))
    library = DRIVER.resolve().parent
    targets = {
        "bin/nvcc": tmp_path / "toolkit/bin/nvcc",
        "include/cuda.h": tmp_path / "toolkit/include/cuda.h",
        "nvvm": tmp_path / "toolkit/nvvm",
        "lib64/libcublas.so": tmp_path / "toolkit/lib/libcublas.so.13",
        "lib64/libcublas.so.13": tmp_path / "toolkit/lib/libcublas.so.13",
        "lib/libcudadevrt.a": tmp_path / "toolkit/lib/libcudadevrt.a",
        "lib/libcudart_static.a": library / "libcudart_static_13.a",
        "lib64/libcudart.so": library / "libcudart.so.13",
        "lib64/libcudart.so.13": library / "libcudart.so.13",
    }
    for name, target in targets.items():
        assert (folder / name).samefile(target), name
    assert softcuda.toolkit_folder(str(tmp_path / "toolkit")) == str(folder)


def test_the_version_of_a_toolkit_decides_on_the_archive(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    make_toolkit(tmp_path / "toolkit", version=12090)
    folder = Path(softcuda.toolkit_folder(str(tmp_path / "toolkit")))
    archive = DRIVER.resolve().parent / "libcudart_static_12.a"
    assert (folder / "lib64/libcudart_static.a").samefile(archive)


@pytest.mark.parametrize("version, said", [(None, "cuda.h"), (11080, "CUDA 11")])
def test_what_is_no_usable_toolkit_is_refused(tmp_path, version, said):
    make_toolkit(tmp_path / "toolkit", version=version or 13000)
    if version is None:
        (tmp_path / "toolkit/include/cuda.h").unlink()
    with pytest.raises(FileNotFoundError, match=said):
        softcuda.toolkit_folder(str(tmp_path / "toolkit"))
