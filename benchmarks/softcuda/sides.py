"""The sides of the comparison: hand-written C++, softcuda through pycuda, PoCL through PyOpenCL.

Each is made from a case and has its own copy of the case's arrays. ``run()`` does the work once and
waits for it; ``results()`` fetches the outputs.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
from cases import Arrays, Case

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

C_TYPES = {np.float32: ctypes.c_float, np.int32: ctypes.c_int, np.uint32: ctypes.c_uint}


def aligned_copy(array: np.ndarray) -> np.ndarray:
    """A copy that starts at a multiple of 64 bytes."""
    memory = np.empty(array.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


class HandWritten:
    """The C++ function of the case, from libhand_written.so."""

    name = "hand-written"

    def __init__(self, case: Case) -> None:
        library = ctypes.CDLL(str(self.library()))
        self._arrays = {name: aligned_copy(a) for name, a in case.arrays.items()}
        self._outputs = case.outputs
        function, arguments = case.hand
        self._function = getattr(library, function)
        self._function.restype = None
        self._arguments = [
            ctypes.c_void_p(self._arrays[a].ctypes.data)
            if isinstance(a, str)
            else C_TYPES[type(a)](a.item())
            for a in arguments
        ]

    @staticmethod
    def library() -> Path:
        """The path of the library in the build folder of the package in use."""
        build = Path(cuda.__file__).parent.parent.parent
        return build / "benchmarks" / "softcuda" / "libhand_written.so"

    def run(self) -> None:
        self._function(*self._arguments)

    def results(self) -> Arrays:
        return {name: self._arrays[name].copy() for name in self._outputs}


class SoftCuda:
    """The CUDA C++ kernels on the current device."""

    name = "softcuda"

    def __init__(self, case: Case) -> None:
        self._module = SourceModule(case.text("cu"))
        self._memory = {name: cuda.to_device(a) for name, a in case.arrays.items()}
        self._outputs = {
            name: np.empty_like(case.arrays[name]) for name in case.outputs
        }
        self._launches = [
            self._module.get_function(launch.kernel).bind(
                *(
                    self._memory[a] if isinstance(a, str) else a
                    for a in launch.arguments
                ),
                grid=launch.grid,
                block=(launch.block + (1, 1))[:3],
            )
            for launch in case.launches
        ]

    def run(self) -> None:
        for launch in self._launches:
            launch()
        cuda.Context.synchronize()

    def results(self) -> Arrays:
        for name, array in self._outputs.items():
            cuda.memcpy_dtoh(array, self._memory[name])
        return self._outputs


class Pocl:
    """The OpenCL C kernels on PoCL's CPU device."""

    name = "PoCL"

    def __init__(self, case: Case) -> None:
        import pyopencl as cl

        self._cl, device = cl, self.device()
        context = cl.Context([device])
        self._queue = cl.CommandQueue(context)
        program = cl.Program(context, case.text("cl")).build()
        flags = cl.mem_flags.READ_WRITE | cl.mem_flags.COPY_HOST_PTR
        self._memory = {
            n: cl.Buffer(context, flags, hostbuf=a) for n, a in case.arrays.items()
        }
        self._outputs = {
            name: np.empty_like(case.arrays[name]) for name in case.outputs
        }
        self._launches = []
        for launch in case.launches:
            kernel = cl.Kernel(program, launch.kernel)
            kernel.set_args(
                *(
                    self._memory[a] if isinstance(a, str) else a
                    for a in launch.arguments
                )
            )
            threads = tuple(
                g * b for g, b in zip(launch.grid, launch.block, strict=True)
            )
            self._launches.append((kernel, threads, launch.block))

    @staticmethod
    def device():  # noqa: ANN205 -- pyopencl may be missing
        """PoCL's device; raises ImportError or LookupError with the reason if there is none."""
        import pyopencl as cl

        for platform in cl.get_platforms():
            if platform.name == "Portable Computing Language":
                return platform.get_devices()[0]
        raise LookupError("PyOpenCL finds no PoCL; install benchmarks/requirements.txt")

    def run(self) -> None:
        for kernel, threads, block in self._launches:
            self._cl.enqueue_nd_range_kernel(self._queue, kernel, threads, block)
        self._queue.finish()

    def results(self) -> Arrays:
        for name, array in self._outputs.items():
            self._cl.enqueue_copy(self._queue, array, self._memory[name])
        return self._outputs
