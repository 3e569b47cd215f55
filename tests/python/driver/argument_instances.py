"""An object of each class of the package, for the calls of its methods in argument_cases.py."""

from __future__ import annotations

import numpy as np

import pycuda.driver as cuda
from pycuda import _driver, gpuarray

KERNEL = "__global__ void kernel(float *x, int n) { x[0] = n; }"

#: Classes whose objects need OpenGL, another process or a run of some seconds, and containers of results.
WITHOUT_INSTANCE = {
    "IPCMemoryHandle": "opens memory of another process",
    "RegisteredBuffer": "needs OpenGL",
    "RegisteredImage": "needs OpenGL",
    "RegisteredMapping": "needs OpenGL",
    "RegisteredObject": "needs OpenGL",
    "TensorMap": "needs compute capability 9.0; has tests of its own",
    "nccl.Communicator": "waits for the other ranks; has tests of its own",
    "tune.Tuned": "is made by a run of the tuner",
    "tune.TunedKernel": "is made by a run of the tuner",
    "tune.Tuner": "runs processes",
    "tune.Compiler": "runs the compiler",
    "tune.Measurer": "runs processes",
    "tune.SharedArguments": "is made for the tuner's processes",
    "linalg.EigResult": "a tuple",
    "linalg.EighResult": "a tuple",
    "linalg.QRResult": "a tuple",
    "linalg.SVDResult": "a tuple",
    "linalg.SlogdetResult": "a tuple",
    "tune.Variant": "a tuple",
    "tune.Launch": "a tuple",
    "tune.Settings": "a tuple",
    "gpuarray.vec": "a namespace of dtypes",
}

_image = []


def kernel_image() -> bytes:
    from pycuda.compiler import compile as compile_source

    if not _image:
        _image.append(compile_source(KERNEL))
    return _image[0]


def module():
    return cuda.module_from_buffer(kernel_image())


def array():
    return gpuarray.zeros(4, np.float32)


def descriptor():
    described = cuda.ArrayDescriptor()
    described.width, described.height, described.num_channels = 4, 4, 1
    described.format = cuda.array_format.FLOAT
    return described


def descriptor_3d():
    described = cuda.ArrayDescriptor3D()
    described.width, described.height, described.depth = 4, 4, 0
    described.num_channels, described.flags = 1, 0
    described.format = cuda.array_format.FLOAT
    return described


def storing(array):
    """A CUDA array that surfaces may store to."""
    described = descriptor_3d()
    described.flags = cuda.array3d_flags.SURFACE_LDST
    return array(described)


def surface_reference():
    from pycuda.compiler import SourceModule

    source = (
        "surface<void, 2> s; __global__ void kernel(int *x) { surf2Dread(x, s, 0, 0); }"
    )
    return SourceModule(source).get_surfref("s")


def executable():
    graph = _driver.Graph()
    graph.add_kernel(
        module().get_function("kernel").bind(array(), np.int32(1), block=(1, 1, 1))
    )
    return graph.instantiate()


def granularity() -> int:
    return 2 << 20


def mapped():
    memory = cuda.VirtualMemory(granularity())
    memory.map(cuda.PhysicalMemory(granularity(), cuda.Device(0)))
    return memory


def matrix(kind: str):
    from pycuda import sparse

    return getattr(sparse, kind)(np.eye(4, dtype=np.float32))


def generator(kind: str):
    from pycuda import curandom

    return getattr(curandom, kind)()


def solver_state():
    from pycuda.sparse import cg, operator

    return cg.CGStateContainer(operator.IdentityOperator(np.float32, 4))


def packeted():
    import scipy.sparse

    from pycuda.sparse.packeted import PacketedSpMV

    return PacketedSpMV(
        scipy.sparse.csr_matrix(np.eye(4, dtype=np.float32)), False, np.float32
    )


def of(name: str, *arguments, **keywords):
    """A maker that imports the class when it is called."""
    import importlib

    home, _, short = name.rpartition(".")
    return lambda: getattr(importlib.import_module(home), short)(*arguments, **keywords)


MAKERS = {
    "Stream": cuda.Stream,
    "Event": cuda.Event,
    "Device": lambda: cuda.Device(0),
    "Context": cuda.Context.get_current,
    "GreenContext": lambda: _driver.GreenContext(
        cuda.Device(0), _driver.get_sm_resource(cuda.Device(0))
    ),
    "SmResource": lambda: _driver.get_sm_resource(cuda.Device(0)),
    "DeviceAllocation": lambda: cuda.mem_alloc(64),
    "ManagedAllocation": lambda: cuda.managed_zeros(4, np.float32, mem_flags=1).base,
    "AlignedHostAllocation": lambda: cuda.aligned_zeros(4, np.float32).base,
    "PagelockedHostAllocation": lambda: cuda.pagelocked_zeros(4, np.float32).base,
    "RegisteredHostMemory": lambda: _driver.RegisteredHostMemory(
        cuda.aligned_zeros(4096, np.uint8)
    ),
    "PointerHolderBase": cuda.PointerHolderBase,
    "ArrayMemory": lambda: array().gpudata,
    "PooledDeviceAllocation": lambda: _driver.DeviceMemoryPool().allocate(64),
    "PooledHostAllocation": lambda: (
        cuda.PageLockedMemoryPool().allocate(4, np.float32).base
    ),
    "PageLockedAllocator": cuda.PageLockedAllocator,
    "DriverMemoryPool": lambda: _driver.DriverMemoryPool(cuda.Device(0)),
    "DeviceMemoryPool": _driver.DeviceMemoryPool,
    "PageLockedMemoryPool": cuda.PageLockedMemoryPool,
    "PhysicalMemory": lambda: cuda.PhysicalMemory(granularity(), cuda.Device(0)),
    "VirtualMemory": mapped,
    "Array": lambda: cuda.Array(descriptor()),
    "MipmappedArray": lambda: cuda.MipmappedArray(descriptor_3d(), 2),
    "TextureObject": lambda: cuda.TextureObject(cuda.Array(descriptor())),
    "SurfaceObject": lambda: cuda.SurfaceObject(storing(cuda.Array)),
    "TextureReference": cuda.TextureReference,
    "SurfaceReference": surface_reference,
    "ArrayDescriptor": cuda.ArrayDescriptor,
    "ArrayDescriptor3D": cuda.ArrayDescriptor3D,
    "Memcpy2D": cuda.Memcpy2D,
    "Memcpy3D": cuda.Memcpy3D,
    "Memcpy3DPeer": cuda.Memcpy3DPeer,
    "Module": module,
    "Function": lambda: module().get_function("kernel"),
    "BoundLaunch": lambda: (
        module().get_function("kernel").bind(array(), np.int32(1), block=(1, 1, 1))
    ),
    "Linker": _driver.Linker,
    "JitLinker": lambda: _driver.JitLinker(["-lto"]),
    "Graph": _driver.Graph,
    "ExecutableGraph": executable,
    "GPUArray": array,
    "ArrayBase": array,
    "ArrayFlags": lambda: array().flags,
    "FlatElements": lambda: array().flat,
    "ElementwiseKernel": of(
        "pycuda.elementwise.ElementwiseKernel", "float *x", "x[i] = 0"
    ),
    "ReductionKernel": of(
        "pycuda.reduction.ReductionKernel", np.float32, "0", "a + b", "x[i]", "float *x"
    ),
    "ScanKernel": of("pycuda.scan.InclusiveScanKernel", np.float32, "a + b"),
    "SourceModule": of("pycuda.compiler.SourceModule", KERNEL),
    "CudaModule": of("pycuda.compiler.SourceModule", KERNEL),
    "DynamicModule": of("pycuda.compiler.DynamicModule"),
    "DynamicSourceModule": of("pycuda.compiler.DynamicSourceModule", KERNEL),
    "FloatLimits": lambda: __import__("pycuda.array_api").array_api.finfo(np.float32),
    "IntegerLimits": lambda: __import__("pycuda.array_api").array_api.iinfo(np.int32),
    "Checks": of("pycuda.check.Checks", "mem"),
    "Profile": of("pycuda.profile.Profile"),
    "DTypeRegistry": of("pycuda.compyte.dtypes.DTypeRegistry"),
    "DeviceData": of("pycuda.tools.DeviceData"),
    "ScalarArg": of("pycuda.elementwise.ScalarArg", np.float32, "x"),
    "VectorArg": of("pycuda.elementwise.VectorArg", np.float32, "x"),
    "ArgumentHandler": lambda: cuda.ArgumentHandler(np.zeros(4)),
    "In": lambda: cuda.In(np.zeros(4)),
    "Out": lambda: cuda.Out(np.zeros(4)),
    "InOut": lambda: cuda.InOut(np.zeros(4)),
    "FusedFunction": lambda: __import__("pycuda.fusion").fusion.fuse(lambda x: x + 1),
    "Generator": of("pycuda.random.Generator"),
    "Distributions": of("pycuda.random.Generator"),
    "RandomFilling": lambda: generator("XORWOWRandomNumberGenerator"),
    "Sparse": lambda: matrix("csr_array"),
    "Compressed": lambda: matrix("csr_array"),
    "Coordinates": lambda: matrix("coo_array"),
    "LinearOperator": of(
        "pycuda.sparse.linalg.LinearOperator", (4, 4), lambda x: x, dtype=np.float32
    ),
    "CGStateContainer": solver_state,
    "AsyncInnerProduct": lambda: of(
        "pycuda.sparse.inner.AsyncInnerProduct", array(), array(), cuda.pagelocked_empty
    )(),
    "PacketedSpMV": packeted,
    "Configuration": of("pycuda.tune.Configuration", {"a": 1}),
    "Space": of(
        "pycuda.tune._space.Space",
        KERNEL,
        "kernel",
        (32, 1, 1),
        1,
        {"A": [1, 2]},
        {},
        [],
        0,
        1024,
    ),
    "Store": of("pycuda.tune.Store", False),
}


def instance_of(owner: str):
    """An object of the class, for its methods; None if this module does not know how to make one."""
    short = owner.rsplit(".", 1)[-1]
    if owner in WITHOUT_INSTANCE:
        return None
    if short in MAKERS:
        return MAKERS[short]()
    if short.endswith("RandomNumberGenerator"):
        return generator(short)
    if short.endswith(("_array", "_matrix")):
        return matrix(short)
    return None
