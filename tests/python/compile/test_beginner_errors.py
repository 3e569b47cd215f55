"""Common mistakes of beginners, and the helpful message for each."""

import warnings

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda.driver as cuda
from pycuda import gpuarray
from pycuda.compiler import DynamicModule, SourceModule
from pycuda.elementwise import ElementwiseKernel
from pycuda.reduction import ReductionKernel
from pycuda.scan import InclusiveScanKernel

SAXPY = """
__global__ void saxpy(float *y, const float *x, float a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] += a * x[i];
}
__global__ void other(int *p) {}
"""


@pytest.fixture
def saxpy(device):
    return SourceModule(SAXPY).get_function("saxpy")


@pytest.fixture
def vectors(device):
    return cuda.to_device(np.zeros(64, np.float32)), cuda.to_device(
        np.ones(64, np.float32)
    )


def test_syntax_error(device):
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule("__global__ void broken(float *a)\n{\n    a[0] = 1\n}\n")
    error = caught.value
    # The statement ends before the next line.
    assert 'kernel.cu(4): error: expected a ";"' in error.stderr
    assert isinstance(error.command_line, list) and error.command_line
    assert isinstance(error.stdout, str)
    assert (
        error.msg in str(error)
        and "[stderr:" in str(error)
        and "[command:" in str(error)
    )


@pytest.mark.parametrize("nvcc", ["nvcc", "nvrtc"])
def test_unknown_type_of_a_parameter(device, nvcc):
    """The compiler takes such a kernel for a variable of the host."""
    with pytest.raises(
        cuda.CompileError, match="'uint32', the type of a kernel's parameter"
    ) as caught:
        SourceModule("__global__ void f(uint32 *a) { a[0] = 1; }", nvcc=nvcc)
    assert "host code" not in caught.value.msg


def test_unknown_kernel(device):
    with pytest.raises(cuda.LogicError, match='"saxpi".*other, saxpy'):
        SourceModule(SAXPY).get_function("saxpi")


def test_unknown_global(device):
    with pytest.raises(cuda.LogicError, match='"factor"'):
        SourceModule(SAXPY).get_global("factor")


def test_too_few_arguments(saxpy, vectors):
    with pytest.raises(
        cuda.ArgumentError, match="takes 4 arguments, got 3; argument 3, int"
    ):
        saxpy(*vectors, np.float32(1), block=(64, 1, 1))


def test_too_many_arguments(saxpy, vectors):
    with pytest.raises(TypeError, match="kernel 'saxpy' takes 4 arguments, got 5"):
        saxpy(*vectors, 1.0, 64, 64, block=(64, 1, 1))


def test_wrong_type(saxpy, vectors):
    with pytest.raises(TypeError, match="'saxpy', argument 3: expected int.*got a str"):
        saxpy(*vectors, 1.0, "64", block=(64, 1, 1))


def test_wrong_size(saxpy, vectors):
    with pytest.raises(
        cuda.ArgumentError,
        match=r"argument 2: expected float \(4 bytes\), got a numpy.float64 \(8 bytes\)",
    ):
        saxpy(*vectors, np.float64(1), np.int32(64), block=(64, 1, 1))


def test_host_array_without_in_is_an_error(saxpy, vectors):
    with pytest.raises(
        TypeError,
        match="argument 1.*numpy.ndarray of float32.*is in host memory; pass it as pycuda.driver.In",
    ):
        saxpy(vectors[0], np.ones(64, np.float32), 1.0, 64, block=(64, 1, 1))


def test_float64_array_for_float_pointer(saxpy, vectors):
    doubles = cuda.In(np.ones(64))
    with pytest.warns(
        UserWarning,
        match=r"argument 1: .*const float \*.*float64.*astype\(numpy.float32\)",
    ) as caught:
        saxpy(vectors[0], doubles, 1.0, 64, block=(64, 1, 1))
    assert caught[0].filename == __file__
    import warnings

    with warnings.catch_warnings():  # once is enough
        warnings.simplefilter("error")
        saxpy(vectors[0], doubles, 1.0, 64, block=(64, 1, 1))
        saxpy(vectors[0], cuda.In(np.ones(64, np.float32)), 1.0, 64, block=(64, 1, 1))


def test_block_too_large(saxpy, vectors, device):
    limit = device.max_threads_per_block
    with pytest.raises(
        cuda.Error, match=f"x is {2 * limit}, the device's limit is {limit}"
    ):
        saxpy(*vectors, 1.0, 64, block=(2 * limit, 1, 1))
    with pytest.raises(
        cuda.Error, match=rf"has {64 * 64} threads, the limit of the device is {limit}"
    ):
        saxpy(*vectors, 1.0, 64, block=(64, 64, 1))


def test_too_much_shared_memory(saxpy, vectors):
    with pytest.raises(cuda.Error, match="bytes of dynamic shared memory"):
        saxpy(*vectors, 1.0, 64, block=(64, 1, 1), shared=2**20)


def test_freed_memory(saxpy, vectors):
    vectors[0].free()
    with pytest.raises(cuda.LogicError, match=r"256 bytes\) was freed before"):
        saxpy(*vectors, 1.0, 64, block=(64, 1, 1))
    with pytest.raises(cuda.LogicError, match="was freed before"):
        cuda.memcpy_dtoh(np.zeros(64, np.float32), vectors[0])


def test_out_of_memory(device):
    with pytest.raises(
        cuda.MemoryError, match="out of memory.*requested .* bytes"
    ) as caught:
        cuda.mem_alloc(2**50)
    assert caught.value.code == 2


def test_host_and_device_swapped(vectors):
    host = np.zeros(64, np.float32)
    with pytest.raises(
        TypeError,
        match="dest must be memory of the device.*not numpy.ndarray, which is in host memory",
    ):
        cuda.memcpy_htod(host, vectors[0])
    with pytest.raises(
        TypeError,
        match="dest must be host memory.*DeviceAllocation, which is in device memory",
    ):
        cuda.memcpy_dtoh(vectors[0], host)


def test_bytes_cannot_be_written(device):
    memory = cuda.mem_alloc(16)
    with pytest.raises(
        TypeError, match=r"dest is read-only \(bytes\).*expected a numpy array"
    ):
        cuda.memcpy_dtoh(bytes(16), memory)
    text = bytearray(16)
    cuda.memcpy_htod(memory, b"sixteen letters.")
    cuda.memcpy_dtoh(text, memory)
    assert text == b"sixteen letters."


def test_arrays_larger_than_the_device(device):
    with pytest.raises(cuda.MemoryError, match=r"requested 40000000000000 bytes \(a"):
        gpuarray.empty(10**13, np.float32)


def test_not_contiguous(device):
    with pytest.raises(
        ValueError, match="src is not contiguous; copy it with numpy.ascontig"
    ):
        cuda.memcpy_htod(cuda.mem_alloc(64), np.zeros(16)[::2])


def test_writing_out_of_bounds(run_program):
    # In a separate program, because the context is destroyed afterwards.
    done = run_program("""
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
        kernel = SourceModule(
            "__global__ void wild(float *p) { p[1ull << 40] = 1; }").get_function("wild")
        try:
            kernel(cuda.InOut(np.zeros(4, np.float32)), block=(1, 1, 1))
        except cuda.Error as error:
            print(type(error).__name__, error.code, error)
        """)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("LogicError 700 ")
    assert "kernel 'wild'" in done.stdout


@pytest.mark.parametrize("blocking", ["0", "1"])
def test_launch_blocking_names_the_kernel(run_program, blocking):
    done = run_program(
        """
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
        kernel = SourceModule(
            "__global__ void wild(float *p) { p[1ull << 40] = 1; }").get_function("wild")
        try:
            kernel(cuda.mem_alloc(16), block=(1, 1, 1))
            print("launched")
            cuda.memcpy_dtoh(np.zeros(4), cuda.mem_alloc(32))
        except cuda.Error as error:
            print(error)
        """,
        PYCUDA_LAUNCH_BLOCKING=blocking,
    )
    assert done.returncode == 0, done.stderr
    if blocking == "1":
        assert done.stdout.startswith("cuLaunchKernel failed: ")
        # softcuda's statement of the failure begins with the kernel's name, which stands there once.
        expected = " - kernel `wild` failed" if is_softcuda() else " - kernel 'wild'"
        assert expected in done.stdout
        assert done.stdout.count("wild") == 1
    else:
        assert done.stdout.startswith("launched")
        # softcuda names the earlier kernel that failed; NVIDIA's driver does not.
        expected = (
            "kernel `wild` failed"
            if is_softcuda()
            else "PYCUDA_LAUNCH_BLOCKING=1 finds the kernel"
        )
        assert expected in done.stdout


def test_a_template_without_an_instance(device):
    module = SourceModule(
        "template <class T> __global__ void zero(T *a) { *a = 0; }", no_extern_c=True
    )
    with pytest.raises(cuda.LogicError, match='such as "zero<float>"'):
        module.get_function("zero")
    assert module.get_function("zero<float>")


def test_a_template_in_extern_c(device):
    with pytest.raises(cuda.CompileError, match="no_extern_c=True"):
        SourceModule("template <class T> __global__ void zero(T *a) { *a = 0; }")


@pytest.mark.parametrize("name", ["my kernel", "", "2nd", "a-b"])
def test_names_of_kernels(device, name):
    for make in (
        lambda: ElementwiseKernel("float *x", "x[i] = 1", name),
        lambda: ReductionKernel(np.float32, "0", "a + b", "x[i]", "float *x", name),
        lambda: InclusiveScanKernel(np.float32, "a + b", name_prefix=name),
    ):
        with pytest.raises(ValueError, match=f"the name '{name}' is not a name in C"):
            make()


def errors_of(kernel, *arrays):
    """The compiler's messages, and the first line of the error."""
    with pytest.raises(cuda.CompileError) as caught:
        kernel(*arrays)
    return caught.value.stderr, str(caught.value).splitlines()[0]


@pytest.mark.parametrize(
    "operation, message, first",
    [
        (
            "x[i = 2",
            'operation(1): error: expected a "]"\n  x[i = 2;\n         ^',
            "'['",
        ),
        (
            "x[i] = 2 +",
            "operation(1): error: expected an expression\n  x[i] = 2 +;",
            "",
        ),
        ("x[i] = 2\nx[i] = 3 // 3", 'operation(2): error: expected a ";"\n  x[i]', ""),
        ("x[i] = 2; }", "", "the '}' in column 11 of kernel.operation(1) closes"),
        (
            "if (i) { x[i] = tid",
            "",
            "the '{' in column 8 of kernel.operation(1) is not",
        ),
    ],
)
def test_syntax_errors_in_operations(device, operation, message, first):
    kernel = ElementwiseKernel("float *x", operation)
    text, title = errors_of(kernel, gpuarray.zeros(4, np.float32))
    assert message in text and first in title


@pytest.mark.parametrize(
    "reduce, map, neutral, message",
    [
        (
            "a + b",
            "x[i",
            "0",
            'sum.map_expr(1): error: expected a "]"\n  x[i);\n     ^',
        ),
        (
            "a +",
            "x[i]",
            "0",
            "sum.reduce_expr(1): error: expected an expression\n  a +);",
        ),
        ("a + b", "x[i]", "zero", 'neutral(1): error: identifier "zero" is undefined'),
        ("a + b", "1 *\nx[i] * q", "0", 'map_expr(2): error: identifier "q" is undef'),
    ],
)
def test_syntax_errors_in_reductions(device, reduce, map, neutral, message):
    kernel = ReductionKernel(np.float32, neutral, reduce, map, "float *x", "sum")
    assert message in errors_of(kernel, gpuarray.zeros(4, np.float32))[0]


def test_syntax_errors_in_scans(device):
    kernel = InclusiveScanKernel(np.float32, "a + * b")
    text, title = errors_of(kernel, gpuarray.zeros(4, np.float32))
    assert "scan.scan_expr(1): error: operand of" in text
    assert "a + * b);\n        ^" in text and title.startswith("nv")


def test_texts_that_end_in_a_comment(device):
    x = gpuarray.zeros(4, np.float32)
    ElementwiseKernel(
        "float *x",
        "x[i] = two  // for all",
        loop_prep="float two = 2 // here",
        after_loop="n += 1  // nothing",
    )(x)
    assert (x.get() == 2).all()
    total = ReductionKernel(
        np.float32, "0 // none", "a + b // sum", "x[i] // each", "float *x"
    )
    assert total(x).get() == 8
    InclusiveScanKernel(np.float32, "a + b // sum")(x)
    assert x.get().tolist() == [2, 4, 6, 8]


def test_clusters_on_an_older_device(device):
    if device.compute_capability() >= (9, 0):
        pytest.skip("this device has clusters")
    kernel = SourceModule("__global__ void f() {}").get_function("f")
    with pytest.raises(
        cuda.Error,
        match=r"'f': .* capability \d\.\d, and clusters need 9\.0; SOFTCUDA_A",
    ):
        kernel(block=(1, 1, 1), grid=(2, 1), cluster=(2, 1, 1))


def test_expected_results_in_a_trace(run_program):
    """Nothing in the trace of a program without errors looks like an error."""
    done = run_program(
        """
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
        f = SourceModule("__global__ void f(float *x, int n) { x[0] = n; }").get_function("f")
        f(cuda.Out(np.zeros(1, np.float32)), 1, block=(1, 1, 1))
        """,
        PYCUDA_TRACE="1",
    )
    lines = [line for line in done.stderr.splitlines() if "GetParamInfo" in line]
    assert len(lines) == 3, done.stderr
    assert [" = CUDA_SUCCESS " in line for line in lines] == [True, True, False]
    assert "INVALID_VALUE, expected: the kernel has no such parameter" in lines[2]
    unexplained = [
        line for line in done.stderr.splitlines() if "INVALID_VALUE  " in line
    ]
    assert unexplained == []


def test_forgotten_autoinit(run_program):
    done = run_program("""
        from pycuda import gpuarray
        try:
            gpuarray.zeros(4, "f4")
        except Exception as error:
            print(error)
        """)
    assert "import pycuda.autoinit" in done.stdout, done.stderr


def test_forgotten_context(run_program):
    done = run_program("""
        import pycuda.driver as cuda
        cuda.init()
        try:
            cuda.mem_alloc(16)
        except cuda.LogicError as error:
            print(error)
        """)
    assert done.returncode == 0, done.stderr
    assert "invalid device context" in done.stdout
    assert "autoinit" in done.stdout


def test_calls_in_a_thread_without_a_context(run_program):
    done = run_program("""
        import threading
        import numpy as np
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
        f = SourceModule("__global__ void f(int *p) { *p = 3; }").get_function("f")
        memory, host = cuda.to_device(np.zeros(1, np.int32)), np.zeros(1, np.int32)
        def call(function, *args, **kwargs):
            try:
                function(*args, **kwargs)
            except cuda.LogicError as error:
                print(error)
        def inside():
            with pycuda.autoinit.context:
                f(memory, block=(1, 1, 1))
                cuda.memcpy_dtoh(host, memory)
        for work in (
            lambda: call(f, memory, block=(1, 1, 1)),
            lambda: call(cuda.memcpy_dtoh, host, memory),  # in the context of the memory
            inside,
        ):
            thread = threading.Thread(target=work)
            thread.start()
            thread.join()
        print(host)
        """)
    launch, host = done.stdout.splitlines()
    hint = "'with pycuda.autoinit.context:' makes it current)"
    assert (
        "kernel 'f': no context is current in this thread" in launch and hint in launch
    )
    assert host == "[3]"


def test_unread_failure_is_reported_at_exit(run_program):
    done = run_program("""
        import pycuda.autoinit
        import pycuda.driver as cuda
        from pycuda.compiler import SourceModule
        kernel = SourceModule(
            "__global__ void wild(float *p) { p[1ull << 40] = 1; }").get_function("wild")
        kernel(cuda.mem_alloc(16), block=(1, 1, 1))
        """)
    assert done.returncode == 0
    ours = [line for line in done.stderr.splitlines() if line.startswith("pycuda")]
    assert len(ours) == 1
    assert "unfinished work failed at exit" in ours[0]
    assert "illegal memory access" in ours[0]
    assert "Traceback" not in done.stderr


def test_copies_beyond_an_allocation(device):
    memory, host = cuda.mem_alloc(400), np.zeros(1000, np.float32)
    stream = cuda.Stream()
    text = r"the host memory has 4000 bytes, the device memory at 0x\w+ \(400 bytes\) is smaller"
    for copy in (
        lambda: cuda.memcpy_htod(memory, host),
        lambda: cuda.memcpy_dtoh(host, memory),
        lambda: cuda.memcpy_htod_async(memory, host, stream),
        lambda: cuda.memcpy_dtoh_async(host, memory, stream),
    ):
        with pytest.raises(cuda.LogicError, match=text):
            copy()


def test_a_copy_with_a_wrong_address_names_the_address(device):
    host = np.zeros(1000, np.float32)
    text = r"copy (to|from) device memory at 0x10 \(4000 bytes\)"
    for copy in (
        lambda: cuda.memcpy_htod(16, host),
        lambda: cuda.memcpy_dtoh(host, 16),
    ):
        with pytest.raises(cuda.LogicError, match=text):
            copy()


def test_sizes_that_are_none(device):
    for allocate, name in (
        (cuda.mem_alloc, "bytes"),
        (cuda.DeviceMemoryPool().allocate, "size"),
    ):
        with pytest.raises(ValueError, match=f"{name} is -1, expected 0 or more"):
            allocate(-1)
        with pytest.raises(TypeError, match=f"{name} must be an int, not float; //"):
            allocate(4.0)
        array = np.zeros((3, 4), np.float32)
        with pytest.raises(TypeError, match="not numpy.ndarray, whose nbytes is 48"):
            allocate(array)
        assert allocate(np.int64(64)).size == 64


def test_a_file_name_as_source(device):
    for name in ("kernel.cu", "/tmp/my-kernels/kernel.cu"):
        with pytest.raises(cuda.CompileError, match="name of a file.*open"):
            SourceModule(name)


def test_a_header_of_the_program_that_is_not_found(device):
    with pytest.raises(cuda.CompileError, match="'mine.h' was not found; include_dirs"):
        SourceModule('#include "mine.h"')


def test_types_that_the_device_lacks(device):
    for dtype in (np.longdouble, "M8[s]"):
        array = gpuarray.empty(3, dtype)
        assert array.dtype == np.dtype(dtype) and isinstance(array.dtype, np.dtype)
        assert gpuarray.to_gpu(np.zeros(3, dtype)).get().dtype == dtype
        with pytest.raises(TypeError, match="cannot be set to a number"):
            gpuarray.zeros(3, dtype)


def test_options_in_one_string(device):
    with pytest.raises(TypeError, match=r"options must be a list .* \['-O3'\]"):
        SourceModule("__global__ void f() {}", options="-O3")
    with pytest.raises(TypeError, match="list of strings; it contains 3"):
        SourceModule("__global__ void f() {}", options=["-O3", 3])
    with pytest.raises(TypeError, match="include_dirs must be a list"):
        SourceModule("__global__ void f() {}", include_dirs="/usr/include")


def test_events_without_a_time(device):
    recorded, fresh = cuda.Event().record(), cuda.Event()
    recorded.synchronize()
    with pytest.raises(cuda.LogicError, match="starts at was not recorded"):
        recorded.time_since(fresh)
    with pytest.raises(cuda.LogicError, match="ends at was not recorded"):
        recorded.time_till(fresh)


def test_prepared_arguments_of_another_type(device):
    module = SourceModule("__global__ void f(int n, float x) {}")
    function = module.get_function("f").prepare("if")
    with pytest.raises(cuda.ArgumentError, match="'f', argument 0: .* got 'a'"):
        function.prepared_call((1, 1), (1, 1, 1), "a", 1)
    with pytest.raises(cuda.ArgumentError, match=r"'f', argument 1: .* got \[\]"):
        function.prepared_call((1, 1), (1, 1, 1), 1, [])

    class Own:
        def __index__(self):
            raise KeyError("its own reason")

    with pytest.raises(KeyError, match="its own reason"):
        function.prepared_call((1, 1), (1, 1, 1), Own(), 1)


def test_repr_of_modules_and_memory(device):
    module = SourceModule("__global__ void f() {}")
    assert repr(module) == "<pycuda.compiler.SourceModule with f>"
    assert repr(DynamicModule()) == "<pycuda.compiler.DynamicModule, not linked yet>"
    memory = gpuarray.zeros(4, np.float32).gpudata
    assert repr(memory).startswith("<pycuda.driver.ArrayMemory of 16 bytes at 0x")
    memory.free()
    assert repr(memory) == "<pycuda.driver.ArrayMemory, freed>"


def test_code_that_is_no_text(device):
    """The message shows as much of the value as possible."""
    image = b".version 7.0\n.target sm_75\n.address_size 64\n// \xc3\xa9\n\xed\xa0\x80 \xff\n"
    with pytest.raises(cuda.Error, match="."):
        cuda.module_from_buffer(image + b"\0" * 16)


def test_arrays_in_fortran_order_are_named(device):
    """A kernel that reads rows finds columns: cuda.In(a.T) says so. The memory is passed as it is, as in PyCUDA."""
    a = np.arange(12, dtype=np.float32).reshape(3, 4)
    for handler in (cuda.In, cuda.Out, cuda.InOut):
        name = rf"array of {handler.__name__}\(\) is in Fortran order.*its 3 columns.*its 4 rows"
        with pytest.warns(UserWarning, match=name) as said:
            handler(a.T)
        assert said[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for array in (a, a[0], a[:, :1], np.ascontiguousarray(a.T), b"bytes"):
            cuda.In(array)
