"""PyCUDA's less common names, which old programs and other packages import."""

import importlib
import io
import shutil
import struct
import warnings
from importlib import metadata

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda import _cluda, _pvt_struct, characterize, compiler, tools
from pycuda.compyte import array as strides
from pycuda.compyte import dtypes

ADD = "__global__ void add(int *out, float by, int n) { out[threadIdx.x] += by * n; }"


def test_version():
    """The version that programs compare and the version that pip compares are equal."""
    assert pycuda.VERSION >= (2022, 1)
    text = ".".join(str(part) for part in pycuda.VERSION) + pycuda.VERSION_STATUS
    assert pycuda.VERSION_TEXT == text
    assert pycuda.__version__ == metadata.version("pycuda") == text


def test_profiler(device):
    cuda.start_profiler()
    cuda.stop_profiler()
    with pytest.raises(cuda.LogicError, match="Nsight"):
        cuda.initialize_profiler("config", "out", cuda.profiler_output_mode.CSV)


def test_attach_pushes_the_current_context(device, primary_context):
    attached = cuda.Context.attach()
    assert attached == primary_context
    assert cuda.Context.pop() == primary_context
    assert cuda.Context.get_current() == primary_context


def test_peer_access_to_the_same_device_is_an_error(device, primary_context):
    for change in (cuda.Context.enable_peer_access, cuda.Context.disable_peer_access):
        with pytest.raises(cuda.Error):
            change(primary_context)
    assert device.can_access_peer(device) is False


# Launching as CUDA 3 did


@pytest.fixture
def add(device):
    return compiler.SourceModule(ADD).get_function("add")


def check_launches(out, *launches):
    for launch in launches:
        launch()
    cuda.Context.synchronize()
    assert cuda.from_device(out, 4, np.int32).tolist() == [30] * 4


def test_launch_in_pieces(add):
    out, stream = cuda.to_device(np.zeros(4, np.int32)), cuda.Stream()
    add.set_block_shape(4, 1, 1)
    add.set_shared_size(0)
    add.param_setv(0, np.uint64(int(out)))
    add.param_setf(8, 2.0)
    add.param_seti(12, 5)
    add.param_set_size(16)
    check_launches(
        out,
        add.launch,
        lambda: add.launch_grid(1, 1),
        lambda: add.launch_grid_async(1, 1, stream),
    )


def test_launch_in_pieces_by_private_names(add):
    out, stream = cuda.to_device(np.zeros(4, np.int32)), cuda.Stream()
    add._set_block_shape(4, 1, 1)
    add._set_shared_size(0)
    add._param_setv(0, np.uint64(int(out)))
    add._param_setf(8, 2.0)
    add._param_seti(12, 5)
    add._param_set_size(16)
    check_launches(
        out,
        add._launch,
        lambda: add._launch_grid(1, 1),
        lambda: add._launch_grid_async(1, 1, stream),
    )


def test_parameters_at_once(add):
    out = cuda.to_device(np.zeros(4, np.int32))
    add.param_set(out, np.float32(1), np.int32(3))
    add.set_block_shape(4, 1, 1)
    add.launch()
    packed = struct.pack("Pfi", int(out), 1, 4)
    add._launch_kernel((1, 1), (4, 1, 1), packed, 0, None)
    assert cuda.from_device(out, 4, np.int32).tolist() == [7] * 4


def test_parameters_that_are_missing(device):
    add = compiler.SourceModule(ADD).get_function("add")
    with pytest.raises(cuda.LogicError, match="16 bytes of parameters, but 0 were set"):
        add.launch()


# pycuda._pvt_struct


@pytest.mark.parametrize(
    "format, size",
    [("bP", 16), ("id", 16), ("iF", 12), ("iD", 24), ("P16s", 24), ("i16s", 20)],
)
def test_struct_sizes(format, size):
    assert _pvt_struct.calcsize(format) == size


def test_struct_round_trip():
    values = (7, 1 + 2j, b"ab", -3)
    packed = _pvt_struct.pack("iF3sh", *values)
    assert _pvt_struct.unpack("iF3sh", packed) == (7, 1 + 2j, b"ab\0", -3)
    room = bytearray(len(packed) + 4)
    _pvt_struct.pack_into("iF3sh", room, 4, *values)
    assert _pvt_struct.unpack_from("iF3sh", room, 4)[0] == 7
    form = _pvt_struct.Struct("P")
    assert form.unpack(form.pack(np.uint64(1 << 40))) == (1 << 40,)
    _pvt_struct._clearcache()


@pytest.mark.parametrize(
    "call",
    [
        lambda: _pvt_struct.pack("B", -1),
        lambda: _pvt_struct.pack("ii", 1),
        lambda: _pvt_struct.calcsize("w"),
        lambda: _pvt_struct.unpack("i", b"12"),
    ],
)
def test_struct_errors(call):
    with pytest.raises(_pvt_struct.error):
        call()


# pycuda.compyte, pycuda._cluda, pycuda._mymako


def test_pycudas_relics_have_pycudas_paths():
    for module in (_cluda, _pvt_struct, strides, dtypes):
        assert "_compat" in module.__file__
        assert "_compat" not in module.__name__
    with pytest.raises(ImportError):
        importlib.import_module("pycuda._compat.no_such_module")


def test_strides():
    assert strides.f_contiguous_strides(4, (2, 3, 5)) == (4, 8, 24)
    assert strides.c_contiguous_strides(4, (2, 3, 5)) == (60, 20, 4)
    assert strides.f_contiguous_strides(4, ()) == ()
    assert strides.equal_strides((4, 999), (4, 8), (3, 1))
    assert not strides.equal_strides((4, 9), (4, 8), (3, 2))
    assert strides.is_f_contiguous_strides((4, 8), 4, (2, 3))
    assert not strides.is_c_contiguous_strides((4, 8), 4, (2, 3))
    a = np.zeros((3, 4))
    flags = strides.ArrayFlags(a.T)
    assert (flags.f_contiguous, flags.c_contiguous, flags.forc) == (True, False, True)
    assert strides.as_strided(a, (2, 2), (8, 8)).shape == (2, 2)
    f4, f8 = np.zeros(1, "f4"), np.zeros(1, "f8")
    assert strides.get_common_dtype(f4, f8, allow_double=True) == np.float64
    assert strides.get_common_dtype(f4, f8, allow_double=False) == np.float32
    assert strides.get_common_dtype(f4, 1j, allow_double=False) == np.complex64


def test_registries():
    own = dtypes.DTypeRegistry()
    for kind in (dtypes.TypeNameNotKnown, ValueError, RuntimeError):
        with pytest.raises(kind):
            own.get_or_register_dtype("float")
    dtypes.fill_registry_with_c_types(own, respect_windows=False)
    dtypes.fill_registry_with_c99_stdint_types(own)
    dtypes.fill_registry_with_c99_complex_types(own)
    assert own.get_or_register_dtype("uint16_t") == np.uint16
    assert own.get_or_register_dtype("float complex") == np.complex64
    assert own.dtype_to_ctype(np.float32) == "float"
    with pytest.raises(ValueError, match="unable to map"):
        own.dtype_to_ctype(np.dtype("f4,f4"))
    opencl = dtypes.DTypeRegistry()
    dtypes.fill_registry_with_opencl_c_types(opencl)
    assert opencl.get_or_register_dtype("ulong") == np.uint64
    dtypes._fill_dtype_registry(respect_windows=False)
    assert dtypes.TYPE_REGISTRY.name_to_dtype is dtypes.NAME_TO_DTYPE
    assert dtypes.DTYPE_TO_NAME[np.dtype(np.int32)] == "int"
    made = dtypes.parse_c_arg_backend(
        "const uint *x", tools.ScalarArg, tools.VectorArg, opencl
    )
    assert isinstance(made, tools.VectorArg) and made.dtype == np.uint32
    assert dtypes.get_or_register_dtype("float") == np.float32
    assert dtypes.dtype_to_ctype(np.float64) == "double"


def test_cluda(device):
    module = compiler.SourceModule(
        _cluda.CLUDA_PREAMBLE
        + """
        KERNEL void REQD_WG_SIZE(4, 1, 1) ids(GLOBAL_MEM int *out)
        { LOCAL_MEM int one; one = 1; local_barrier() out[LID_0] = LID_0 + 10 * LDIM_0 + one + GID_0; }
        """,
        no_extern_c=True,
    )
    out = np.zeros(4, np.int32)
    module.get_function("ids")(cuda.Out(out), block=(4, 1, 1))
    assert out.tolist() == [41, 42, 43, 44]


def test_mako_is_explained():
    if shutil.which("mako-render"):
        from pycuda import _mymako

        assert _mymako.mako
        return
    try:
        import mako  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install mako"):
            import pycuda._mymako  # noqa: F401


# pycuda.compiler


def test_compile_plain(device):
    ptx = compiler.compile_plain(
        'extern "C" __global__ void f() {}', ["-arch=sm_80"], False, "nvcc", None, "ptx"
    )
    assert b".entry f" in ptx and b"sm_80" in ptx


def test_nvcc_that_is_missing(device):
    with pytest.warns(UserWarning, match="could not be determined"):
        assert compiler.get_nvcc_version("/no/nvcc") is None
    with pytest.raises(
        cuda.CompileError, match="'/no/nvcc' could not be started"
    ) as caught:
        compiler.preprocess_source("int x;", [], "/no/nvcc")
    assert caught.value.command_line[:2] == ["/no/nvcc", "--preprocess"]
    assert (caught.value.stdout, caught.value.stderr) == (None, None)
    assert "could not be started" in caught.value.msg


def test_nvcc_that_is_there(device):
    nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
    if nvcc is None:
        pytest.skip("there is no nvcc")
    assert "release" in compiler.get_nvcc_version(nvcc)
    text = compiler.preprocess_source("#define A 41\nint x = A + 1;", [], nvcc)
    assert "int x = 41 + 1;" in text
    with pytest.raises(cuda.CompileError, match="nvcc preprocessing of"):
        compiler.preprocess_source("#error no", [], nvcc)


def test_newer_architecture_than_the_device_warns(device):
    major, minor = device.compute_capability()
    module = compiler.CudaModule()
    with pytest.warns(UserWarning, match="higher than selected GPU"):
        module._check_arch(f"sm_{major + 1}{minor}")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for arch in (None, f"sm_{major}{minor}", f"sm_{major}{minor}a"):
            module._check_arch(arch)
    module._bind_module()


TEMPLATE = """
template <class T, int N> __global__ void scale(T *a) { a[threadIdx.x] *= N; }
"""


def test_templates_by_name_expression(device):
    module = compiler.SourceModule(TEMPLATE, no_extern_c=True)
    for name, dtype in (("scale<float, 4>", np.float32), ("scale<int, -2>", np.int32)):
        a = np.arange(4).astype(dtype)
        function = module.get_function(name)
        function(cuda.InOut(a), block=(4, 1, 1))
        factor = 4 if dtype == np.float32 else -2
        assert a.tolist() == [factor * i for i in range(4)]
        assert module.get_function(name) is function

    both = compiler.SourceModule(
        TEMPLATE,
        no_extern_c=True,
        name_expressions=["scale<float, 2>", "scale<double, 3>"],
    )
    a = np.ones(4)
    both.get_function("scale<double, 3>")(cuda.InOut(a), block=(4, 1, 1))
    assert a.tolist() == [3] * 4
    assert len(both.module.function_names()) == 2


def test_unknown_template(device):
    module = compiler.SourceModule(TEMPLATE, no_extern_c=True)
    with pytest.raises(cuda.CompileError):
        module.get_function("missing<int>")


# Linking


def test_linker(device, able):
    caller = 'extern "C" __device__ int answer(); __global__ void ask(int *p) { *p = answer(); }'
    callee = 'extern "C" __device__ int answer() { return 42; }'
    said = []
    module = able(
        "a linker",
        lambda: compiler.DynamicModule(
            message_handler=lambda *words: said.append(words), log_verbose=True
        ),
    )
    module.add_source(caller, name="caller.ptx").add_source(callee, name="callee.ptx")
    assert module.link() is module
    out = np.zeros(1, np.int32)
    module.get_function("ask")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 42
    assert said[-1][0] is True
    with pytest.raises(cuda.LogicError, match="link_module"):
        module.linker.link_module()


def test_linker_names_missing_symbols(device, able, tmp_path):
    source = 'extern "C" __device__ int nobody(); __global__ void f(int *p) { *p = nobody(); }'
    said = []
    linker = able("a linker", lambda: cuda.Linker(lambda *words: said.append(words)))
    ptx = tmp_path / "f.ptx"
    ptx.write_bytes(compiler.compile(source, target="ptx", options=["-rdc=true"]))
    with pytest.raises(cuda.Error, match="nobody"):
        linker.add_file(str(ptx), cuda.jit_input_type.PTX)
        linker.link_module()
    assert said and said[-1][0] is False


def link_time_optimised(callee):
    caller = """extern "C" __device__ int answer(int);
        __global__ void ask(int *p) { *p = answer(6); }"""
    said = []
    module = compiler.DynamicModule(
        lto=True, message_handler=lambda *words: said.append(words)
    )
    return module.add_source(caller, name="caller").add_source(
        callee, name="callee"
    ), said


@pytest.fixture
def nvjitlink(device):
    try:
        return cuda.nvjitlink_version()
    except cuda.CompileError as error:
        assert "pip install nvidia-nvjitlink" in str(error)
        pytest.skip("nvJitLink is not installed")


def test_link_time_optimisation(nvjitlink):
    callee = 'extern "C" __device__ int answer(int x) { return 7 * x; }'
    module, said = link_time_optimised(callee)
    assert module.link() is module
    out = np.zeros(1, np.int32)
    module.get_function("ask")(cuda.Out(out), block=(1, 1, 1))
    assert out[0] == 42
    assert [words[0] for words in said] == [True]
    with pytest.raises(cuda.CompileError, match="link_module"):
        module.linker.link_module()
    if is_softcuda():  # its code can be read
        again, _ = link_time_optimised(callee)
        assert b"call" not in again.linker.link(), "the callee is not inlined"


def test_link_time_optimisation_names_missing_symbols(nvjitlink):
    module, said = link_time_optimised("__device__ int unused;")
    # nvJitLink reports this when it makes a cubin; for PTX, the driver does.
    with pytest.raises(cuda.Error, match="answer"):
        module.link()
    assert said[-1][0] is is_softcuda()


def test_jit_linker_raises_for_unknown_input(nvjitlink):
    with pytest.raises(cuda.CompileError, match="unknown option"):
        cuda.JitLinker(["-nonsense"])
    linker = cuda.JitLinker(["-lto"])
    with pytest.raises(ValueError, match="jit_input_type, not 77"):
        linker.add_data(b"", 77)
    with pytest.raises(cuda.CompileError, match="cannot link garbage"):
        linker.add_data(b"garbage", cuda.jit_input_type.LTOIR, "garbage")


def test_missing_nvjitlink_is_explained(run_program):
    """pycuda.compiler finds the wheels; here it has not been imported."""
    program = """
        import pycuda.driver as cuda
        try:
            print(cuda.nvjitlink_version())
        except cuda.CompileError as error:
            print("not found:", error)
    """
    nowhere = dict.fromkeys(
        ["VIRTUAL_ENV", "CONDA_PREFIX", "CUDA_HOME", "CUDA_PATH"], ""
    )
    said = run_program(program, **nowhere).stdout
    if said.startswith("nvJitLink "):
        pytest.skip("nvJitLink is installed for the whole system")
    assert "not found: no nvJitLink" in said
    assert "pip install nvidia-nvjitlink" in said


def test_library_that_is_missing(device, able):
    module = able("a linker", compiler.DynamicModule)
    with pytest.raises(OSError, match="libnonsense.a was not found"):
        module.add_stdlib("nonsense")
    ptx = compiler.compile(ADD, target="ptx")
    assert module.add_data(ptx, cuda.jit_input_type.PTX) is module


def test_kernels_that_launch_kernels(device, able):
    source = """
        __global__ void child(int *p) { p[threadIdx.x] = threadIdx.x; }
        __global__ void parent(int *p) { child<<<1, 4>>>(p); }
    """
    try:
        module = able(
            "launches by kernels", lambda: compiler.DynamicSourceModule(source)
        )
    except OSError as missing:
        pytest.skip(f"no cudadevrt: {missing}")
    out = np.zeros(4, np.int32)
    module.get_function("parent")(cuda.Out(out), block=(1, 1, 1))
    assert out.tolist() == [0, 1, 2, 3]


# pycuda.tools and pycuda.characterize


def test_debug_memory_pool(device):
    said = io.StringIO()
    pool = tools.DebugMemoryPool(interactive=False, logfile=said)
    block = pool.allocate(1 << 20)
    again = pool(2048)
    text = said.getvalue()
    assert "[pool] 1.0 MiB allocated, 1 blocks" in text
    assert "test_debug_memory_pool" in text and "the driver was asked" in text
    assert pool.active_blocks == 2 and len(again) == 2048
    del block
    said.truncate(0)
    pool.show_held()
    assert "2.0 KiB in 1 blocks" in said.getvalue() and "1.0 MiB" not in said.getvalue()


def test_device_facts(device):
    assert characterize.platform_bits() == 64
    assert characterize.has_stack() and characterize.has_double_support()


def test_random_numbers_need_no_library():
    major, minor, revision = cuda.get_curand_version()
    assert major >= 10 and minor >= 0 and revision >= 0
    assert cuda.direction_vector_set.SCRAMBLED_VECTOR_64 == 104
