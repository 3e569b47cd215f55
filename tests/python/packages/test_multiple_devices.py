"""The programs and pictures of docs/multiple_devices.md, and the benchmark, on devices of softcuda."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import require_devices
from marks import slow

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples" / "multi_device"


def run(*command, timeout=200, **environment):
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True, text=True, timeout=timeout,
        env={**os.environ, "SOFTCUDA_THREADS": "1", **environment},
    )  # fmt: skip
    missing = (
        "there is no libnccl",
        "there is no device",
        "there is no libsoftcuda.so",
    )
    if any(words in done.stderr for words in missing):
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]
    return done.stdout


GRAPH_OF_TWO_DEVICES = r"""
import ctypes
import pycuda.driver as cuda

class Params(ctypes.Structure):  # CUDA_KERNEL_NODE_PARAMS
    _fields_ = [("function", ctypes.c_void_p), ("shape", ctypes.c_uint * 7),
                ("parameters", ctypes.c_void_p), ("extra", ctypes.c_void_p)]

PTX = b".version 7.0\n.target sm_75\n.address_size 64\n" + b"".join(
    b".visible .entry " + name + b"(.param .u64 p) { .reg .u64 %p; .reg .u32 %x; ld.param.u64 %p, [p];"
    b" ld.global.u32 %x, [%p]; " + work + b" st.global.u32 [%p], %x; ret; }\n"
    for name, work in ((b"add", b"add.u32 %x, %x, 5;"), (b"triple", b"mul.lo.u32 %x, %x, 3;")))
driver = ctypes.CDLL(cuda.get_driver_path())
def call(name, *arguments):
    result = getattr(driver, name)(*arguments)
    assert result == 0, (name, result)
def made(name, *arguments):
    value = ctypes.c_void_p()
    call(name, ctypes.byref(value), *arguments)
    return value

call("cuInit", 0)
contexts = [made("cuDevicePrimaryCtxRetain", device) for device in (0, 1)]
functions = {}
for device, context in enumerate(contexts):
    call("cuCtxSetCurrent", context)
    module = made("cuModuleLoadData", PTX)
    for name in (b"add", b"triple"):
        functions[device, name] = made("cuModuleGetFunction", module, name)
address = made("cuMemAllocManaged", ctypes.c_size_t(4), 1)
parameters = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.byref(address), ctypes.c_void_p))
graph = made("cuGraphCreate", 0)
after = None
for device, name in ((0, b"add"), (1, b"triple"), (0, b"add"), (1, b"add"), (0, b"triple")):
    call("cuCtxSetCurrent", contexts[device])
    params = Params(functions[device, name].value, (1, 1, 1, 1, 1, 1, 0),
                    ctypes.cast(parameters, ctypes.c_void_p), None)
    before = ctypes.byref(after) if after else None
    after = made("cuGraphAddKernelNode", graph, before, ctypes.c_size_t(1 if after else 0), ctypes.byref(params))
exec = made("cuGraphInstantiateWithFlags", graph, ctypes.c_ulonglong(0))
call("cuCtxSetCurrent", contexts[0])
word = ctypes.c_uint.from_address(address.value)
word.value = 1
call("cuGraphLaunch", exec, None)
call("cuCtxSynchronize")
print(word.value)
"""


def test_a_graph_has_kernels_of_two_devices():
    out = run(
        *(sys.executable, "-c", GRAPH_OF_TWO_DEVICES),
        SOFTCUDA_DEVICES="2", PYCUDA_DRIVER="softcuda",
    )  # fmt: skip
    assert out == f"{(((1 + 5) * 3 + 5) + 5) * 3}\n"


def test_mpi_stencil():
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun")
    out = run(
        *("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "3", sys.executable),
        *(EXAMPLES / "mpi_stencil.py", "--size", "100", "--steps", "20"),
        SOFTCUDA_DEVICES="3", PYCUDA_MPI="staged",
    )  # fmt: skip
    assert re.search(r"3 processes on devices \[.*\]: 20 steps, .* as NumPy", out), out


def test_nccl_fit():
    out = run(sys.executable, EXAMPLES / "nccl_fit.py", "--samples", "4000")
    assert re.search(r"\d devices, NCCL .*: 60 steps, largest error of a weight", out)


@pytest.mark.slow
def test_dask_out_of_core():
    pytest.importorskip("distributed")
    out = run(
        sys.executable, EXAMPLES / "dask_out_of_core.py",
        *("--gigabytes", "0.02", "--device-limit", "4MB", "--chunk", "1MB"),
    )  # fmt: skip
    found = re.search(
        r"2 devices, 0.02 GB in (\d+) chunks, (\d+) moved to the host", out
    )
    assert found and int(found[2]) > 0, out


@pytest.mark.parametrize("program", ["reduction", *slow(["svd"])])
def test_out_of_core(program):
    pytest.importorskip("distributed")
    out = run(
        sys.executable, ROOT / "benchmarks/out_of_core.py", program,
        *("--gigabytes", "0.04", "--chunk", "2MB", "--device-limit", "4MB", "--memory-limit", "1GB"),
    )  # fmt: skip
    found = re.search(
        rf"\| {program} \| 0.04 \| 2 \| [\d.]+ \| [\d.]+ \| (\d+) \|", out
    )
    assert found, out
    if program == "svd":
        assert int(found[1]) > 20  # four of forty chunks of Q and U stay


def run_benchmark(*arguments, **environment):
    require_devices(2)
    return run(
        sys.executable, ROOT / "benchmarks/multi_gpu.py", "--small", "--devices", "2", *arguments,
        SOFTCUDA_DEVICES="2", **environment,
    )  # fmt: skip


def test_benchmark_of_devices():
    out = run_benchmark("--only", "nccl,stencil,overlap")
    assert out.count("| all_reduce |") == 3 and out.count("| ring |") == 3
    assert "peer copy's time by ours" in out and "nccl-tests: there is no" in out
    assert re.search(r"\| 2 \| [\d.]+ \| [\d.]+ \|", out.split("## Stencil")[1])
    assert "## Copies beside kernels" in out


@pytest.mark.slow
def test_benchmark_of_processes():
    pytest.importorskip("mpi4py")
    if shutil.which("mpirun") is None:
        pytest.skip("there is no mpirun")
    out = run_benchmark("--only", "messages,seed", PYCUDA_MPI="staged")
    assert out.count("| NCCL |") == 3 + 2 and out.count("| MPI, staged |") == 3
    assert out.count("| MPI, in pieces |") == 1
    assert out.count("| pickled |") == out.count("| buffers |") == 2


@pytest.mark.slow
def test_benchmark_of_dask():
    pytest.importorskip("distributed")
    out = run_benchmark("--only", "dask")
    assert out.count("| kept |") == out.count("| made |") == 2


def test_benchmark_names_missing_packages(tmp_path):
    (tmp_path / "mpi4py.py").write_text("")
    out = run_benchmark("--only", "messages,seed", PATH=str(tmp_path))
    assert out.count("Not measured: MPI: there is no mpirun in the PATH.") == 2
    assert out.count("| NCCL |") == 3 + 2


def test_pictures_are_current(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    if matplotlib.__version__ != "3.10.8":
        pytest.skip(
            "other versions than 3.10.8 draw the same pictures with other bytes"
        )
    pages = {"draw_devices.py": "multiple_devices.md", "draw_arrays.py": "arrays.md"}
    for program, page in pages.items():
        before = set(tmp_path.iterdir())
        run(sys.executable, ROOT / "docs/pictures" / program, tmp_path)
        drawn = sorted(path.name for path in set(tmp_path.iterdir()) - before)
        text = (ROOT / "docs" / page).read_text()
        assert sorted(re.findall(r"pictures/(\w+\.svg)", text)) == drawn
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == sorted(path.name for path in (ROOT / "docs/pictures").glob("*.svg"))
    for name in names:
        assert (tmp_path / name).read_text() == (
            ROOT / "docs/pictures" / name
        ).read_text()
