"""softcuda's NVML: its data about devices compared with the driver's, and its use with nvidia-ml-py."""

import ctypes
import os
import re
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

DRIVER = Path(cuda.get_driver_path())
ROOT = Path(__file__).parents[3]

pytestmark = pytest.mark.skipif(
    "softcuda" not in DRIVER.name, reason="softcuda is not the driver under test"
)

SUCCESS, UNINITIALIZED, INVALID, NOT_SUPPORTED = 0, 1, 2, 3
NOT_FOUND, TOO_SMALL, WRONG_VERSION = 6, 7, 25


@pytest.fixture(scope="module")
def library():
    return ctypes.CDLL(str(DRIVER.resolve().parent / "libnvidia-ml.so.1"))


@pytest.fixture
def nvml(library):
    """The library between nvmlInit() and nvmlShutdown()."""
    assert library.nvmlInit_v2() == SUCCESS
    yield library
    assert library.nvmlShutdown() == SUCCESS


@pytest.fixture
def handle(nvml):
    """The first device."""
    found = ctypes.c_void_p()
    assert nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(found)) == SUCCESS
    return found


def run(program, *options, **environment):
    """Run a Python program through softcuda-exec; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "softcuda.exec", sys.executable, "-c"]
        + [textwrap.dedent(program), *options],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "PYCUDA_SOFTCUDA_LIBRARY": str(DRIVER), **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def text_of(function, *arguments):
    buffer = ctypes.create_string_buffer(96)
    assert function(*arguments, buffer, len(buffer)) == SUCCESS
    return buffer.value.decode()


def number_of(function, *arguments):
    number = ctypes.c_uint(77)
    assert function(*arguments, ctypes.byref(number)) == SUCCESS
    return number.value


def test_calls_of_init_are_counted(library):
    count = ctypes.c_uint()
    ask = library.nvmlDeviceGetCount_v2
    assert library.nvmlShutdown() == UNINITIALIZED
    assert ask(ctypes.byref(count)) == UNINITIALIZED
    assert library.nvmlDeviceGetFanSpeed(None) == UNINITIALIZED
    for initialize in (library.nvmlInit, library.nvmlInit_v2):
        assert initialize() == SUCCESS
    assert library.nvmlInitWithFlags(1) == SUCCESS
    assert library.nvmlInitWithFlags(8) == INVALID
    for _ in range(3):
        assert ask(ctypes.byref(count)) == SUCCESS
        assert library.nvmlShutdown() == SUCCESS
    assert ask(ctypes.byref(count)) == UNINITIALIZED


def test_device_is_the_drivers(nvml, handle, device):
    name = text_of(nvml.nvmlDeviceGetName, handle)
    uuid = text_of(nvml.nvmlDeviceGetUUID, handle)
    assert name == device.name()
    assert uuid == f"GPU-{UUID(bytes=device.uuid())}"
    place = device.pci_bus_id()
    for text in (place, place.partition(":")[2], f"0000{place}"):
        found = ctypes.c_void_p()
        assert (
            nvml.nvmlDeviceGetHandleByPciBusId_v2(text.encode(), ctypes.byref(found))
            == SUCCESS
        )
        assert found.value == handle.value
    for text in (uuid, uuid.removeprefix("GPU-")):  # CUDA's form
        found = ctypes.c_void_p()
        assert (
            nvml.nvmlDeviceGetHandleByUUID(text.encode(), ctypes.byref(found))
            == SUCCESS
        )
        assert found.value == handle.value
    assert nvml.nvmlDeviceGetHandleByUUID(b"GPU-0", ctypes.byref(found)) == NOT_FOUND
    major, minor = ctypes.c_int(), ctypes.c_int()
    assert (
        nvml.nvmlDeviceGetCudaComputeCapability(
            handle, ctypes.byref(major), ctypes.byref(minor)
        )
        == SUCCESS
    )
    assert (major.value, minor.value) == device.compute_capability()
    assert number_of(nvml.nvmlDeviceGetCount_v2) == cuda.Device.count()
    assert number_of(nvml.nvmlSystemGetCudaDriverVersion) == cuda.get_driver_version()
    assert number_of(nvml.nvmlDeviceGetComputeMode, handle) == 0
    assert number_of(nvml.nvmlDeviceIsMigDeviceHandle, handle) == 0


class Memory(ctypes.Structure):
    _fields_ = [(name, ctypes.c_ulonglong) for name in ("total", "free", "used")]


class Memory2(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint)] + [
        (name, ctypes.c_ulonglong) for name in ("total", "reserved", "free", "used")
    ]


def memory_of(nvml, handle):
    memory = Memory()
    assert nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)) == SUCCESS
    assert memory.free + memory.used == memory.total
    return memory


def test_memory_in_use_is_what_the_process_allocated(nvml, handle, device):
    before = memory_of(nvml, handle)
    assert before.total == device.total_memory()
    block = cuda.mem_alloc(64 << 20)
    assert memory_of(nvml, handle).used == before.used + (64 << 20)
    free, total = cuda.mem_get_info()
    after = Memory2(version=ctypes.sizeof(Memory2) | 2 << 24)
    assert nvml.nvmlDeviceGetMemoryInfo_v2(handle, ctypes.byref(after)) == SUCCESS
    assert (after.total, after.free, after.reserved) == (total, free, 0)
    block.free()
    assert memory_of(nvml, handle).used == before.used
    after.version = 2
    ask = nvml.nvmlDeviceGetMemoryInfo_v2
    assert ask(handle, ctypes.byref(after)) == WRONG_VERSION


class Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("memory", ctypes.c_ulonglong),
        ("instances", ctypes.c_uint * 2),
    ]


def test_the_process_lists_itself(nvml, handle, device):
    block = cuda.mem_alloc(1 << 20)
    count = ctypes.c_uint(0)
    ask = nvml.nvmlDeviceGetComputeRunningProcesses_v3
    assert ask(handle, ctypes.byref(count), None) == TOO_SMALL
    assert count.value == 1
    process = Process()
    assert ask(handle, ctypes.byref(count), ctypes.byref(process)) == SUCCESS
    assert process.pid == os.getpid()
    assert process.memory == memory_of(nvml, handle).used >= 1 << 20
    assert list(process.instances) == [0xFFFFFFFF] * 2
    block.free()
    name = text_of(nvml.nvmlSystemGetProcessName, os.getpid())
    assert name == os.readlink("/proc/self/exe")
    count.value = 5
    ask = nvml.nvmlDeviceGetGraphicsRunningProcesses_v3
    assert ask(handle, ctypes.byref(count), ctypes.byref(process)) == SUCCESS
    assert count.value == 0


def utilization(nvml, handle):
    rates = (ctypes.c_uint * 2)(77, 77)
    assert nvml.nvmlDeviceGetUtilizationRates(handle, rates) == SUCCESS
    assert rates[1] == 0
    return rates[0]


SPIN = """
__global__ void spin(unsigned *out, unsigned turns) {
    unsigned x = threadIdx.x;
    for (unsigned i = 0; i < turns; i++)
        x = x * 1664525 + 1013904223 + (x >> 7);
    out[threadIdx.x] = x;
}
"""


@pytest.mark.parametrize("turns", [20_000, 20])
def test_utilization_is_measured(nvml, handle, device, turns):
    spin = SourceModule(SPIN).get_function("spin")
    out = cuda.mem_alloc(128)
    spin(out, np.uint32(turns), block=(32, 1, 1))  # compiles
    cuda.Context.synchronize()
    utilization(nvml, handle)
    time.sleep(0.4)
    assert utilization(nvml, handle) <= 1  # no kernel runs
    end = time.monotonic() + 0.5
    launch = spin.bind(out, np.uint32(turns), block=(32, 1, 1))
    started = time.monotonic()
    while time.monotonic() < end:
        launch()
    cuda.Context.synchronize()
    assert utilization(nvml, handle) >= (30 if turns > 100 else 1)
    assert time.monotonic() - started < 30
    time.sleep(0.4)
    assert utilization(nvml, handle) <= 99
    time.sleep(0.4)
    assert utilization(nvml, handle) <= 1
    out.free()


def test_a_kernel_that_still_runs_counts(nvml, handle, device):
    spin = SourceModule(SPIN).get_function("spin")
    out = cuda.mem_alloc(128)
    spin(out, np.uint32(1), block=(32, 1, 1))
    cuda.Context.synchronize()
    utilization(nvml, handle)
    time.sleep(0.2)
    utilization(nvml, handle)
    spin(out, np.uint32(500_000_000), block=(32, 1, 1))  # 0.5 s and more
    time.sleep(0.3)
    assert utilization(nvml, handle) >= 50
    cuda.Context.synchronize()
    out.free()


# Functions that succeed without arguments.
NEED_NOTHING = {"nvmlInit", "nvmlInit_v2", "nvmlInitWithFlags", "nvmlShutdown"}


@pytest.mark.parametrize("handle_value", [None, 1, 0x7FFF12345678, 2**64 - 1])
def test_wrong_handles_are_errors(nvml, handle_value):
    table = (ROOT / "softcuda/nvml/nvml.def").read_text()
    rows = re.findall(r"^NVML_(FUNCTION|OF_DEVICE|REFUSED)\((\w+)\)", table, re.M)
    assert len(rows) > 430
    for kind, name in rows:
        if name in NEED_NOTHING or name == "nvmlErrorString":
            continue
        if kind == "FUNCTION" and not name.startswith("nvmlDeviceGet"):
            continue
        if re.search("HandleBy|GetCount", name):
            continue
        arguments = [ctypes.c_void_p(handle_value)] + [None] * 5
        result = getattr(nvml, name)(*arguments)
        expected = NOT_SUPPORTED if kind == "REFUSED" else INVALID
        assert result in (expected, WRONG_VERSION), name


def test_null_pointers_are_errors(nvml, handle):
    table = (ROOT / "softcuda/nvml/nvml.def").read_text()
    for name in re.findall(r"^NVML_FUNCTION\((\w+)\)", table, re.M):
        if name in NEED_NOTHING or name == "nvmlErrorString":
            continue
        result = getattr(nvml, name)(*[None] * 6)
        assert result in (INVALID, WRONG_VERSION, NOT_FOUND), name
        if name.startswith("nvmlDeviceGet") and not re.search(
            "HandleBy|GetCount", name
        ):
            result = getattr(nvml, name)(handle, *[None] * 5)
            assert result in (INVALID, WRONG_VERSION), name


def test_unsupported_functions_raise(nvml, handle):
    table = (ROOT / "softcuda/nvml/nvml.def").read_text()
    for name in re.findall(r"^NVML_OF_DEVICE\((\w+)\)", table, re.M):
        assert getattr(nvml, name)(handle, *[None] * 5) == NOT_SUPPORTED, name


def test_every_error_has_a_text(library):
    library.nvmlErrorString.restype = ctypes.c_char_p
    texts = {library.nvmlErrorString(result) for result in range(31)}
    assert len(texts) == 31 and None not in texts
    assert library.nvmlErrorString(NOT_SUPPORTED) == b"Not Supported"
    assert library.nvmlErrorString(12345) == b"Unknown Error"


OPEN = """
    import ctypes, os
    nvml = ctypes.CDLL("libnvidia-ml.so.1")
    cuda = ctypes.CDLL("libcuda.so.1")
    assert nvml.nvmlInit_v2() == 0
    count = ctypes.c_uint()
    assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
"""


def test_nvml_does_not_start_the_driver():
    printed = run(
        OPEN
        + """
    child = os.fork()
    if child == 0:
        os._exit(cuda.cuInit(0))
    print(count.value, os.waitpid(child, 0)[1], cuda.cuInit(0))
    child = os.fork()
    if child == 0:  # here the driver is of no use, and NVML tells of the devices all the same
        again = ctypes.c_uint()
        handle = ctypes.c_void_p()
        nvml.nvmlDeviceGetCount_v2(ctypes.byref(again))
        os._exit(again.value + 16 * nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """,
        SOFTCUDA_DEVICES="2",
    )
    assert printed == "2 0 0\n2\n"


def test_a_wrong_setting_is_an_error():
    done = subprocess.run(
        [sys.executable, "-m", "softcuda.exec", sys.executable, "-c"]
        + ["import ctypes; print(ctypes.CDLL('libnvidia-ml.so.1').nvmlInit_v2())"],
        capture_output=True,
        text=True,
        timeout=120,
        env={
            **os.environ,
            "PYCUDA_SOFTCUDA_LIBRARY": str(DRIVER),
            "SOFTCUDA_DEVICES": "none",
        },
    )
    assert done.stdout == "9\n"
    assert "SOFTCUDA_DEVICES is 'none'" in done.stderr


def test_monitors_show_the_settings():
    pytest.importorskip("pynvml")
    printed = run(
        """
    import os
    import pynvml as nvml

    nvml.nvmlInit()
    print(nvml.nvmlDeviceGetCount(), nvml.nvmlSystemGetDriverVersion())
    first, second = map(nvml.nvmlDeviceGetHandleByIndex, (0, 1))
    memory = nvml.nvmlDeviceGetMemoryInfo(second)
    print(memory.total, memory.used, nvml.nvmlDeviceGetMemoryInfo(second, nvml.nvmlMemory_v2).free)
    print(nvml.nvmlDeviceGetArchitecture(first) == nvml.NVML_DEVICE_ARCH_HOPPER)
    print(nvml.nvmlDeviceGetCudaComputeCapability(first))
    print(nvml.nvmlDeviceGetAttributes_v2(first).multiprocessorCount)
    print(nvml.nvmlDeviceGetUUID(second), nvml.nvmlDeviceGetPciInfo(second).busId)
    print(nvml.nvmlDeviceGetTopologyCommonAncestor(first, second) == nvml.NVML_TOPOLOGY_NODE)
    print(len(nvml.nvmlDeviceGetTopologyNearestGpus(first, nvml.NVML_TOPOLOGY_NODE)))
    print(nvml.nvmlDeviceGetP2PStatus(first, second, nvml.NVML_P2P_CAPS_INDEX_WRITE))
    words = nvml.nvmlDeviceGetCpuAffinity(first, 16)
    print({i for i in range(1024) if words[i // 64] >> i % 64 & 1} == os.sched_getaffinity(0))
    print(nvml.nvmlDeviceGetComputeRunningProcesses(first))
    value, = nvml.nvmlDeviceGetFieldValues(first, [nvml.NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION])
    print(value.nvmlReturn)
    for ask in (nvml.nvmlDeviceGetPowerUsage, nvml.nvmlDeviceGetFanSpeed,
                lambda one: nvml.nvmlDeviceGetTemperature(one, nvml.NVML_TEMPERATURE_GPU),
                lambda one: nvml.nvmlDeviceGetClockInfo(one, nvml.NVML_CLOCK_SM),
                nvml.nvmlDeviceGetMigMode):
        try:
            print(ask(first))
        except nvml.NVMLError_NotSupported as error:
            print(error)
    nvml.nvmlShutdown()
    """,
        SOFTCUDA_DEVICES="2",
        SOFTCUDA_MEMORY="512M",
        SOFTCUDA_ARCH="90",
        SOFTCUDA_THREADS="3",
    )
    assert printed.splitlines() == [
        "2 580.0",
        f"{512 << 20} 0 {512 << 20}",
        "True",
        "(9, 0)",
        "3",
        "GPU-736f6674-6375-6461-0000-000000000001 00000000:02:00.0",
        "True",
        "1",
        "0",
        "True",
        "[]",
        "3",
        *["Not Supported"] * 5,
    ]
