"""Names of pycuda.driver that no other test uses."""

import copy
import ctypes
import pickle

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import compiler, tools
from pycuda.compiler import SourceModule

# The values in cuda.h of CUDA 13.0, and PyCUDA's values of names that were removed there.
CONSTANTS = {
    "ipc_mem_flags": {"LAZY_ENABLE_PEER_ACCESS": 1},
    "pointer_attribute": {
        "CONTEXT": 1,
        "MEMORY_TYPE": 2,
        "DEVICE_POINTER": 3,
        "HOST_POINTER": 4,
    },
    "shared_config": {
        "DEFAULT_BANK_SIZE": 0,
        "FOUR_BYTE_BANK_SIZE": 1,
        "EIGHT_BYTE_BANK_SIZE": 2,
    },
    "jit_fallback": {"PREFER_PTX": 0, "PREFER_BINARY": 1},
    "graphics_register_flags": {
        "NONE": 0,
        "READ_ONLY": 1,
        "WRITE_DISCARD": 2,
        "SURFACE_LDST": 4,
        "TEXTURE_GATHER": 8,
    },
    "graphics_map_flags": {"NONE": 0, "READ_ONLY": 1, "WRITE_DISCARD": 2},
    "array_cubemap_face": {"POSITIVE_X": 0, "NEGATIVE_Z": 5},
    "jit_target": {"COMPUTE_75": 75, "COMPUTE_90": 90, "COMPUTE_90A": 65626},
}


@pytest.mark.parametrize("enumeration", CONSTANTS)
def test_constants(enumeration):
    members = getattr(cuda, enumeration)
    for name, value in CONSTANTS[enumeration].items():
        assert getattr(members, name) == value
        assert str(members.names[name]) == name
        assert members.values[value] is members.names[name]


def test_constants_of_the_module():
    assert cuda.TRSA_OVERRIDE_FORMAT == 1
    assert cuda.TRSF_READ_AS_INTEGER == 1
    assert cuda.TRSF_NORMALIZED_COORDINATES == 2
    assert cuda.TR_DEFAULT == -1


def test_the_extension_for_gl_is_there_if_the_driver_has_it(device):
    library = ctypes.CDLL(cuda.get_driver_path())
    # softcuda exports the name, but the function is not supported.
    has_it = hasattr(library, "cuGraphicsGLRegisterBuffer") and not is_softcuda()
    assert cuda.have_gl_ext() is has_it


def test_classes_of_memory(device):
    assert cuda.HostAllocation is cuda.PagelockedHostAllocation
    assert cuda.ManagedAllocationOrStub is cuda.ManagedAllocation
    pinned = cuda.pagelocked_empty(4, np.int32).base
    assert isinstance(pinned, cuda.HostPointer)
    array = np.zeros(4096, np.uint8)
    registered = cuda.register_host_memory(array).base
    while not isinstance(registered, cuda.RegisteredHostMemory):
        registered = registered.base
    assert registered.base is array
    registered.unregister()
    pool = cuda.DeviceMemoryPool()
    assert isinstance(pool.allocate(16), cuda.PooledDeviceAllocation)
    portable = cuda.PageLockedAllocator(cuda.host_alloc_flags.PORTABLE)
    host_pool = cuda.PageLockedMemoryPool(portable)
    block = host_pool.allocate((3,), np.float32)
    assert isinstance(block.base, cuda.PooledHostAllocation)
    block.base.free()


LIKE = {
    "pagelocked_zeros_like": cuda.PagelockedHostAllocation,
    "aligned_empty_like": cuda.AlignedHostAllocation,
    "aligned_zeros_like": cuda.AlignedHostAllocation,
    "managed_empty_like": cuda.ManagedAllocation,
    "managed_zeros_like": cuda.ManagedAllocation,
}


@pytest.mark.parametrize("make", LIKE)
def test_host_arrays_like_another(device, make):
    model = np.ones((3, 5), np.int16, order="F")
    made = getattr(cuda, make)(model)
    assert (made.shape, made.dtype, made.strides) == (
        model.shape,
        model.dtype,
        model.strides,
    )
    assert isinstance(made.base, LIKE[make])
    if "zeros" in make:
        assert not made.any()
    with pytest.raises(ValueError, match="could not detect array order"):
        getattr(cuda, make)(np.ones((4, 4))[::2, ::2])


def test_aligned_and_managed(device):
    aligned = cuda.aligned_zeros((3, 5), np.float64, alignment=8192)
    assert aligned.ctypes.data % 8192 == 0 and not aligned.any()
    managed = cuda.managed_empty(4, np.int32, mem_flags=cuda.mem_attach_flags.GLOBAL)
    managed[:] = 7
    assert managed.sum() == 28


FILLS = {
    "memset_d16": (np.uint16, None),
    "memset_d16_async": (np.uint16, None),
    "memset_d2d16": (np.uint16, 2),
    "memset_d2d32": (np.uint32, 2),
    "memset_d2d8_async": (np.uint8, 2),
    "memset_d2d16_async": (np.uint16, 2),
    "memset_d2d32_async": (np.uint32, 2),
}


@pytest.mark.parametrize("fill", FILLS)
def test_fills(device, fill):
    dtype, rows = FILLS[fill]
    memory = cuda.to_device(np.zeros((4, 8), dtype))
    stream = cuda.Stream()
    more = (stream,) if fill.endswith("_async") else ()
    if rows:
        pitch = 8 * np.dtype(dtype).itemsize
        getattr(cuda, fill)(memory, pitch, 9, 5, rows, *more)
    else:
        getattr(cuda, fill)(memory, 9, 5, *more)
    stream.synchronize()
    expected = np.zeros((4, 8), dtype)
    expected[: rows or 1, :5] = 9
    assert (cuda.from_device(memory, (4, 8), dtype) == expected).all()


def test_copies_between_contexts(device, primary_context):
    a = np.arange(8, dtype=np.int32)
    source, target = cuda.to_device(a), cuda.mem_alloc_like(a)
    stream = cuda.Stream()
    cuda.memcpy_peer_async(
        target, source, a.nbytes, primary_context, primary_context, stream
    )
    stream.synchronize()
    assert (cuda.from_device_like(target, a) == a).all()
    with pytest.raises(TypeError, match="could not determine array length"):
        cuda.mem_alloc_like(3)


def test_memory_of_another_process(device, able, run_program):
    a = np.arange(16, dtype=np.int32)
    memory = cuda.to_device(a)
    handle = able("shared memory", lambda: cuda.mem_get_ipc_handle(memory))
    assert isinstance(handle, bytearray) and len(handle) == 64
    done = run_program(
        """
        import sys
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as cuda
        shared = cuda.IPCMemoryHandle(bytearray.fromhex(sys.argv[1]))
        print(cuda.from_device(int(shared), 16, np.int32).tolist())
        cuda.memset_d32(int(shared), 5, 8)
        shared.close()
        """,
        bytes(handle).hex(),
    )
    assert done.stdout == f"{a.tolist()}\n", done.stderr
    a[:8] = 5
    assert (cuda.from_device_like(memory, a) == a).all()
    with pytest.raises(cuda.LogicError, match="a handle has 64 bytes, not 3"):
        cuda.IPCMemoryHandle(bytearray(3))


def test_event_of_another_process(device, able, run_program):
    flags = cuda.event_flags.INTERPROCESS | cuda.event_flags.DISABLE_TIMING
    event = able("shared events", lambda: cuda.Event(flags))
    event.record().synchronize()
    handle = able("shared events", event.ipc_handle)
    assert isinstance(handle, bytearray) and len(handle) == 64
    done = run_program(
        """
        import sys
        import pycuda.autoinit
        import pycuda.driver as cuda
        event = cuda.Event.from_ipc_handle(bytearray.fromhex(sys.argv[1]))
        print(event.synchronize().query())
        """,
        bytes(handle).hex(),
    )
    assert done.stdout == "True\n", done.stderr


def test_attributes_of_a_function(device):
    function = SourceModule("""
        __constant__ int table[64];
        __global__ void f(int *p)
        {
            volatile int local[100];
            __shared__ int shared[32];
            shared[*p % 32] = local[*p] = table[*p];
            *p = local[p[1]] + shared[p[1] % 32];
        }
    """).get_function("f")
    assert function.local_size_bytes >= 400 and function.shared_size_bytes == 128
    assert function.const_size_bytes == 256
    major, minor = device.compute_capability()
    assert 50 <= function.ptx_version <= 10 * major + minor == function.binary_version
    assert function.MAX_THREADS_PER_BLOCK == function.max_threads_per_block > 0
    function.set_shared_config(cuda.shared_config.FOUR_BYTE_BANK_SIZE)
    assert not hasattr(function, "no_such_attribute")


def test_bank_size_of_a_context(device):
    cuda.Context.set_shared_config(cuda.shared_config.FOUR_BYTE_BANK_SIZE)
    assert cuda.Context.get_shared_config() is cuda.shared_config.FOUR_BYTE_BANK_SIZE
    with pytest.raises((TypeError, ValueError, cuda.LogicError)):
        cuda.Context.set_shared_config(99)


def test_a_handler_of_ones_own(device):
    class Doubled(cuda.ArgumentHandler):
        def pre_call(self, stream):
            cuda.memcpy_htod(self.get_device_alloc(), self.array * 2)

    function = SourceModule(
        "__global__ void f(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }"
    ).get_function("f")
    out = np.zeros(4, np.int32)
    function(cuda.Out(out), Doubled(np.arange(4, dtype=np.int32)), block=(4, 1, 1))
    assert out.tolist() == [0, 2, 4, 6]


def test_debugging_turns_the_cache_off(device, capsys):
    assert cuda.CUDA_DEBUGGING is False
    cuda.set_debugging()
    try:
        assert cuda.CUDA_DEBUGGING is True
        module = SourceModule("__global__ void debugged() { }")
        assert isinstance(module.module, cuda.Module)
        assert isinstance(module, compiler.CudaModule)
        assert "*** compiler output in" in capsys.readouterr().out
    finally:
        cuda.set_debugging(False)


def test_surface_references_come_from_modules():
    with pytest.raises(TypeError):
        cuda.SurfaceReference()


def test_old_choice_of_a_device(device, monkeypatch):
    monkeypatch.setenv("CUDA_DEVICE", "0")
    with pytest.warns(DeprecationWarning):
        assert tools.get_default_device() == cuda.Device(0)
    assert isinstance(tools.context_dependent_memoized_functions, list)


def test_a_fixture_of_ones_own(device):
    fixture = tools.init_cuda_context_fixture()
    context = next(fixture)
    assert cuda.Context.get_current() == context
    with pytest.raises(StopIteration):
        next(fixture)
    assert cuda.Context.get_current() != context


def test_numbers_of_a_device(device):
    data = tools.DeviceData()
    assert [data.align_bytes(size) for size in (4, 8, 16)] == [64, 128, 128]
    assert data.align_dtype(3, 4) == 16
    assert data.align_words(8) == 16
    assert data.align(65) == 128 and data.coalesce(17) == 32
    assert [tools.DeviceData.make_valid_tex_channel_count(n) for n in (1, 3)] == [1, 4]
    with pytest.raises(ValueError, match="a texture cannot have 5 channels"):
        data.make_valid_tex_channel_count(5)


def test_arguments_as_old_programs_describe_them():
    x = tools.VectorArg(np.float32, "x")
    assert isinstance(x, tools.Argument) and x.declarator() == "float *x"
    assert tools.get_arg_type("double y") == "d"
    assert tools.get_arg_type("const int *y") == "P"
    with pytest.warns(DeprecationWarning, match="get_or_register_dtype"):
        tools.register_dtype(np.dtype([("p", "f4"), ("q", "f8")]), "old_pair")


def test_star_imports_have_all_names(device):
    names: dict = {}
    exec("from pycuda.driver import *\nfrom pycuda.tools import *", names)
    wanted = "mem_alloc matrix_to_array np_to_array In CompileError device_attribute"
    wanted += " VectorArg dtype_to_ctype DebugMemoryPool DeviceMemoryPool bitlog2"
    for name in wanted.split():
        assert name in names
    assert not {"TYPE_CHECKING", "annotations"} & names.keys()


def test_numbers_that_are_no_constant_print_as_they_do_in_pycuda():
    unknown = cuda.device_attribute(99999)
    assert repr(unknown) == "pycuda._driver.device_attribute(99999)"
    assert (str(unknown), unknown) == ("99999", 99999)


def test_errors_can_be_copied_and_sent():
    error = cuda.CompileError("no", ["nvcc", "-x"], "out", "err")
    for twin in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert str(twin) == str(error)
        assert (twin.command_line, twin.stdout, twin.stderr, twin.kept_in) == (
            ["nvcc", "-x"],
            "out",
            "err",
            "",
        )
    try:
        cuda.mem_alloc(0)
    except cuda.Error as raised:
        twin = pickle.loads(pickle.dumps(raised))
        assert (str(twin), twin.code, twin.name) == (
            str(raised),
            raised.code,
            raised.name,
        )


def test_handles_are_for_other_processes(device, able):
    memory = cuda.mem_alloc(64)
    handle = able("sharing of memory", lambda: cuda.mem_get_ipc_handle(memory))
    with pytest.raises(cuda.Error, match="cuIpcOpenMemHandle failed") as caught:
        cuda.IPCMemoryHandle(handle)
    assert "autoinit" not in str(caught.value)


def test_contexts_of_a_copy_are_checked(device):
    memory = cuda.mem_alloc(64)
    with pytest.raises(
        TypeError, match="src_context must be a .*Context or None, not int"
    ):
        cuda.memcpy_peer(memory, memory, 64, None, 5)
