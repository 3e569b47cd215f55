"""Programs for PyCUDA for a type checker. This file is checked, never run.

``# type: ignore`` marks a line that must have an error: mypy reports a mark that is not needed.
"""

from collections.abc import Callable
from typing import assert_type

import numpy as np

import pycuda
import pycuda.driver as cuda
import pycuda.gl as gl
from pycuda import compiler, gpuarray
from pycuda.check import CheckError, Finding
from pycuda.elementwise import ElementwiseKernel
from pycuda.profile import Kernel
from pycuda.reduction import ReductionKernel


def devices_and_contexts() -> None:
    cuda.init()
    device = cuda.Device(0)
    assert_type(cuda.Device.count(), int)
    assert_type(device.name(), str)
    assert_type(device.compute_capability(), tuple[int, int])
    assert_type(device.retain_primary_context(), cuda.Context)
    with device.retain_primary_context():
        assert_type(cuda.Context.get_current(), cuda.Context | None)
        cuda.Context.synchronize()
    cuda.Device("first", 2)  # type: ignore[call-overload]


def streams_and_events() -> None:
    stream = cuda.Stream(flags=cuda.stream_flags.NON_BLOCKING, priority=-1)
    event = cuda.Event()
    event.record(stream)
    stream.wait_for_event(event)
    assert_type(stream.is_done(), bool)
    assert_type(stream.handle, int)
    with stream:
        assert_type(event.query(), bool)
    stream.wait_for_event(stream)  # type: ignore[arg-type]


def memory() -> None:
    a = np.zeros(4, np.float32)
    a_gpu = cuda.mem_alloc(a.nbytes)
    assert_type(a_gpu, cuda.DeviceAllocation)
    assert_type(int(a_gpu), int)
    cuda.memcpy_htod(a_gpu, a)
    cuda.memcpy_dtoh(a, a_gpu)
    cuda.memset_d32(a_gpu, 0, 4)
    assert_type(cuda.to_device(a), cuda.DeviceAllocation)
    assert_type(cuda.mem_get_info(), tuple[int, int])
    cuda.mem_alloc("4 KB")  # type: ignore[arg-type]


def kernels() -> None:
    module = compiler.SourceModule("__global__ void twice(float *a) { *a *= 2; }")
    twice = module.get_function("twice")
    assert_type(twice, cuda.Function)
    a_gpu = cuda.mem_alloc(16)
    seconds = twice(a_gpu, np.int32(4), block=(4, 1, 1), grid=(1, 1), time_kernel=True)
    assert_type(seconds, float | None)
    twice(a_gpu, block=(4, 1, 1), stream=cuda.Stream(), shared=1024)
    twice.prepare("P").prepared_call((1, 1), (4, 1, 1), a_gpu)
    wait = twice.prepared_timed_call((1, 1), (4, 1, 1), a_gpu)
    assert_type(wait, Callable[[], float])
    assert_type(twice.bind(a_gpu, block=4), cuda.BoundLaunch)
    assert_type(twice.num_regs, int)
    assert_type(module.get_global("x"), tuple[int, int])
    twice(a_gpu)  # type: ignore[call-arg]
    twice(a_gpu, block="large")  # type: ignore[arg-type]


def compilation() -> None:
    assert_type(compiler.compile("", target="ptx", arch="sm_86"), bytes)
    try:
        compiler.SourceModule("nonsense", options=["-std=c++17"])
    except cuda.CompileError as error:
        assert_type(error.stderr, str | None)
    linked = compiler.DynamicModule(lto=True).add_source("", name="a.cu").link()
    assert_type(linked, compiler.DynamicModule)
    compiler.SourceModule("", options="-std=c++17", keep=3)  # type: ignore[arg-type]


def later_things() -> None:
    device = cuda.Device(0)
    with cuda.VirtualMemory(1 << 21) as addresses:
        addresses.map(cuda.PhysicalMemory(1 << 21, device))
        addresses.set_access(device, cuda.mem_access.READ)
    groups, _ = cuda.get_sm_resource(device).split(8)
    green = cuda.GreenContext(device, groups[0])
    assert_type(green.create_stream(), cuda.Stream)
    with cuda.capture(cuda.Stream()) as recording:
        pass
    assert_type(recording.graph, cuda.Graph | None)
    assert_type(gl.RegisteredBuffer(1).map(), gl.RegisteredMapping)


def arrays() -> None:
    a = gpuarray.to_gpu(np.arange(4, dtype=np.float32))
    assert_type(a, gpuarray.GPUArray)
    host = a.get()
    assert_type(host, np.ndarray)
    assert_type(a + 1, gpuarray.GPUArray)
    assert_type(2 * a[1:] < -a, gpuarray.GPUArray)
    assert_type(divmod(a, 2), tuple[gpuarray.GPUArray, gpuarray.GPUArray])
    a += 1
    a **= 2
    a == 1  # noqa: B015
    a.get_everything()  # type: ignore[attr-defined]
    assert_type(a.shape, tuple[int, ...])
    add = ElementwiseKernel("float *x, float *y", "x[i] += y[i]", "add")
    add(a, gpuarray.zeros(4, np.float32))
    total = ReductionKernel(
        np.float32, neutral="0", reduce_expr="a+b", arguments="float *x"
    )
    total(a)
    cuda.memcpy_htod(a.ptr, host)


def checks() -> None:
    try:
        with pycuda.check("mem", "race", raise_findings=True) as found:
            pass
        assert_type(found.findings, list[Finding])
        assert_type(found.report(), str)
    except CheckError as error:
        assert_type(error.findings, list[Finding])
    pycuda.check(modes="mem")  # type: ignore[call-arg]


def profiles() -> None:
    with pycuda.profile(timeline=False) as found:
        pass
    assert_type(found.kernels, tuple[Kernel, ...])
    assert_type(found.report(), str)
    pycuda.profile("counters")  # type: ignore[arg-type]
