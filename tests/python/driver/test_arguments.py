"""The arguments that a kernel accepts, and the errors for others."""

import ctypes

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

NUMBERS = {
    "signed char": np.int8,
    "unsigned char": np.uint8,
    "short": np.int16,
    "unsigned short": np.uint16,
    "int": np.int32,
    "unsigned int": np.uint32,
    "long long": np.int64,
    "unsigned long long": np.uint64,
    "float": np.float32,
    "double": np.float64,
    "bool": np.bool_,
}


@pytest.fixture(scope="module")
def kernels(primary_context):
    stores = "\n".join(
        f"__global__ void store_{name.replace(' ', '_')}({name} *out, {name} value)"
        " { *out = value; }"
        for name in NUMBERS
    )
    with primary_context:
        return SourceModule(
            stores
            + """
            struct Mixed { char c; double d; short s; };
            __global__ void store_mixed(Mixed *out, char before, Mixed value, float after)
            { *out = value; out->s += before; out->d += after; }
            __global__ void store_vectors(float *out, int *p, float4 f, char c, double2 d)
            { out[0] = f.x + f.y + f.z + f.w; out[1] = d.x + d.y; out[2] = c; }
            __global__ void store_complex(float2 *out, float2 z) { *out = z; }
            __global__ void store_double_complex(double2 *out, double2 z) { *out = z; }
            __global__ void store_half(unsigned short *out, unsigned short h) { *out = h; }
            __global__ void is_null(int *out, const void *p) { *out = p == 0; }
            __global__ void add(float *a, const float *b) { a[threadIdx.x] += b[threadIdx.x]; }
            __global__ void many(int *out, char a, short b, int c, long long d, float e, double f)
            { out[0] = a; out[1] = b; out[2] = c; out[3] = d; out[4] = e; out[5] = f; }
            """
        )


def store(kernels, name, dtype, value):
    """The value that the kernel stored."""
    out = np.zeros(1, dtype)
    function = kernels.get_function("store_" + name.replace(" ", "_"))
    function(cuda.Out(out), value, block=(1, 1, 1))
    return out[0]


@pytest.mark.parametrize("name", NUMBERS)
def test_numpy_scalars(device, kernels, name):
    dtype = NUMBERS[name]
    values = [True, False] if dtype is np.bool_ else [0, 1, 100]
    if np.issubdtype(dtype, np.integer):
        values += [np.iinfo(dtype).min, np.iinfo(dtype).max]
    for value in map(dtype, values):
        assert store(kernels, name, dtype, value) == value


@pytest.mark.parametrize("name", NUMBERS)
def test_python_numbers(device, kernels, name):
    dtype = NUMBERS[name]
    if np.issubdtype(dtype, np.integer):
        for value in (0, 7, np.iinfo(dtype).min, np.iinfo(dtype).max):
            assert store(kernels, name, dtype, int(value)) == value
    elif dtype is np.bool_:
        assert store(kernels, name, dtype, True)
    else:
        assert store(kernels, name, dtype, 0.1) == dtype(0.1)
        assert store(kernels, name, dtype, 3) == 3


def test_second_names_of_numpys_types(device, kernels):
    for scalar in (np.longlong(5), np.int_(5), np.int64(5)):
        assert store(kernels, "long long", np.int64, scalar) == 5
    assert store(kernels, "int", np.int32, np.intc(5)) == 5


def test_int_subclasses(device, kernels):
    assert store(kernels, "int", np.int32, cuda.device_attribute.MAX_PITCH) == 11
    assert store(kernels, "float", np.float32, type("F", (float,), {})(0.5)) == 0.5


def test_complex_numbers(device, kernels):
    for value in (np.complex64(1 + 2j), 1 + 2j):
        assert store(kernels, "complex", np.complex64, value) == 1 + 2j
    for value in (np.complex128(1 + 2j), 1 + 2j):
        assert store(kernels, "double_complex", np.complex128, value) == 1 + 2j


def test_half(device, kernels):
    bits = np.zeros(1, np.uint16)
    kernels.get_function("store_half")(
        cuda.Out(bits), np.float16(1.5).view(np.uint16), block=1
    )
    assert bits.view(np.float16)[0] == 1.5


SMALL_FLOATS = """
    #include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void from_half(float *out, __half h, half2 pair)
    { out[0] = h; out[1] = __low2float(pair); out[2] = __high2float(pair); }
    __global__ void from_bfloat16(float *out, char before, __nv_bfloat16 b)
    { out[0] = b; out[1] = before; }
"""


@pytest.fixture(scope="module")
def small_floats(primary_context):
    with primary_context:
        return SourceModule(SMALL_FLOATS)


def test_half_by_type(device, small_floats):
    function = small_floats.get_function("from_half")
    pair = np.array((2.5, -3), np.dtype("f2,f2"))
    for value in (np.float16(1.5), 1.5, np.float16(1.5).view(np.uint16)):
        out = np.zeros(3, np.float32)
        function(cuda.Out(out), value, pair, block=1)
        assert out.tolist() == [1.5, 2.5, -3]


def test_bfloat16(device, small_floats):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    function = small_floats.get_function("from_bfloat16")
    for value in (ml_dtypes.bfloat16(-1.5), -1.5):
        out = np.zeros(2, np.float32)
        function(cuda.Out(out), 7, value, block=1)
        assert out.tolist() == [-1.5, 7]
    with pytest.raises(
        cuda.ArgumentError, match="expected __nv_bfloat16.*numpy.float16"
    ):
        function(cuda.Out(out), 7, np.float16(1), block=1)
    half = small_floats.get_function("from_half")
    with pytest.raises(cuda.ArgumentError, match="expected __half.*bfloat16"):
        half(cuda.Out(out), ml_dtypes.bfloat16(1), None, block=1)


def test_numbers_of_one_byte(device):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    function = SourceModule(
        "__global__ void store(unsigned char *out, unsigned char bits) { *out = bits; }"
    ).get_function("store")
    value = ml_dtypes.float8_e4m3fn(1.25)
    out = np.zeros(1, np.uint8)
    function(cuda.Out(out), value, block=1)
    assert out[0] == np.array(value).view(np.uint8)


NESTED = np.dtype(
    [
        ("tag", "i1"),
        ("corners", [("at", "f4", (3,)), ("id", "i2")], (2,)),
        ("matrix", "f8", (2, 2)),
        ("last", "i1"),
    ],
    align=True,
)


def test_structs_with_arrays_and_structs_inside(device):
    """numpy's align=True gives records the compiler's layout, also with inner arrays."""
    function = SourceModule("""
        struct Corner { float at[3]; short id; };
        struct Nested { signed char tag; Corner corners[2]; double matrix[2][2]; char last; };
        __global__ void sum(double *out, char before, Nested n, int *after)
        {
            out[0] = n.tag + n.last; out[1] = n.corners[1].at[2] + n.corners[0].id;
            out[2] = n.matrix[1][0]; out[3] = after == 0; out[4] = sizeof(Nested);
        }
    """).get_function("sum")
    value = np.zeros((), NESTED)
    value["tag"], value["last"] = 1, 2
    value["corners"]["at"] = [[1, 2, 3], [4, 5, 6]]
    value["corners"]["id"] = 10, 20
    value["matrix"] = [[1, 2], [3.5, 4]]
    out = np.zeros(5)
    function(cuda.Out(out), 9, value, None, block=1)
    assert out.tolist() == [3, 16, 3.5, 1, NESTED.itemsize]
    with pytest.raises(cuda.ArgumentError, match="argument 2.*bytes"):
        packed = np.zeros((), np.dtype([("tag", "i1"), ("matrix", "f8", (2, 2))]))
        function(cuda.Out(out), 9, packed, None, block=1)


MIXED = np.dtype([("c", "i1"), ("d", "f8"), ("s", "i2")], align=True)


@pytest.mark.parametrize("kind", ["record", "array of no dimension"])
def test_structs_by_value(device, kernels, kind):
    array = np.array((1, 2.5, 3), MIXED)
    value = array if kind.startswith("array") else array[()]
    out = np.zeros(1, MIXED)
    kernels.get_function("store_mixed")(
        cuda.Out(out), np.int8(10), value, np.float32(0.25), block=1
    )
    assert out[0].tolist() == (1, 2.75, 13)


def test_vectors_have_the_kernels_alignment(device, kernels):
    # float4 is aligned to 16 bytes: after two pointers and before a char.
    float4 = np.dtype([(axis, "f4") for axis in "xyzw"])
    double2 = np.dtype([(axis, "f8") for axis in "xy"])
    out = np.zeros(3, np.float32)
    kernels.get_function("store_vectors")(
        cuda.Out(out),
        None,
        np.array((1, 2, 3, 4), float4),
        np.int8(5),
        np.array((6, 7), double2),
        block=1,
    )
    assert out.tolist() == [10, 13, 5]


def test_every_size_in_one_call(device, kernels):
    out = np.zeros(6, np.int32)
    kernels.get_function("many")(cuda.Out(out), 1, 2, 3, 4, 5.0, 6.0, block=1)
    assert out.tolist() == [1, 2, 3, 4, 5, 6]


def test_none_is_the_null_pointer(device, kernels):
    out = np.zeros(1, np.int32)
    kernels.get_function("is_null")(cuda.Out(out), None, block=1)
    assert out[0] == 1


def test_pointers_of_many_kinds(device, kernels):
    add = kernels.get_function("add")
    ones = np.ones(8, np.float32)
    a, b = cuda.to_device(ones), cuda.to_device(ones)

    class Holder(cuda.PointerHolderBase):
        def get_pointer(self):
            return int(b)

    class Interface:
        __cuda_array_interface__ = {"data": (int(b), False), "typestr": "<f4"}

    class Gpudata:
        gpudata = b

    class Allocation(cuda.DeviceAllocation):
        pass

    pool_block = cuda.DeviceMemoryPool().allocate(ones.nbytes)
    cuda.memcpy_htod(pool_block, ones)
    pinned = cuda.pagelocked_zeros(8, np.float32) + 0
    kinds = [
        b,
        int(b),
        np.uintp(int(b)),
        np.intp(int(b)),
        Holder(),
        Interface(),
        Gpudata(),
    ]
    kinds += [pool_block, cuda.In(ones)]
    for pointer in kinds:
        add(a, pointer, block=(8, 1, 1))
    assert (cuda.from_device(a, 8, np.float32) == 1 + len(kinds)).all()
    assert pinned.shape == (8,)


def test_managed_and_pinned_arrays_are_their_own_pointers(device, kernels):
    add = kernels.get_function("add")
    managed = cuda.managed_zeros(16, np.float32)
    ones = cuda.pagelocked_zeros(
        16, np.float32, mem_flags=cuda.host_alloc_flags.DEVICEMAP
    )
    ones.fill(1)
    add(managed[8:], ones[4:], block=(8, 1, 1))  # a view has its own address
    cuda.Context.synchronize()
    assert managed.tolist() == [0] * 8 + [1] * 8


def test_in_out_inout(device, kernels):
    add = kernels.get_function("add")
    a, b = np.arange(8, dtype=np.float32), np.ones(8, np.float32)
    add(cuda.InOut(a), cuda.In(b), block=(8, 1, 1))
    assert (a == np.arange(8) + 1).all()
    stream = cuda.Stream(cuda.stream_flags.NON_BLOCKING)
    add(cuda.InOut(a), cuda.In(b), block=(8, 1, 1), stream=stream)
    assert (a == np.arange(8) + 2).all()


@pytest.mark.parametrize("count", [1, 3, 200, 1500, 5000, 16000, 20000])
def test_several_small_arrays_share_their_copies(device, count):
    """From a few bytes to more than one slab of the device's memory."""
    mix = SourceModule("""
        __global__ void mix(float *sum, const float *a, double *twice, const int *b, float *kept,
                            int n)
        { for (int i = threadIdx.x; i < n; i += blockDim.x) {
              sum[i] = a[i] + b[i];
              twice[i] *= 2;
              kept[i] += a[i]; } }
        """).get_function("mix")
    a = np.arange(count, dtype=np.float32)
    b = np.arange(count, dtype=np.int32)[::-1].copy()
    total, twice = np.zeros(count, np.float32), np.full(count, 1.5)
    kept = cuda.InOut(
        np.ones(count, np.float32)
    )  # not a temporary: it keeps its memory
    for turn in range(3):
        mix(
            cuda.Out(total),
            cuda.In(a),
            cuda.InOut(twice),
            cuda.In(b),
            kept,
            np.int32(count),
            block=(32, 1, 1),
        )
        assert (total == count - 1).all()
        assert (twice == 1.5 * 2 ** (turn + 1)).all()
        assert (kept.array == 1 + (turn + 1) * a).all()
        total[:] = 0
    assert (a == np.arange(count)).all() and (b == np.arange(count)[::-1]).all()
    with pytest.raises(TypeError):  # after some arrays have been placed
        mix(cuda.Out(total), cuda.In(a), "no array", block=(1, 1, 1))


def test_host_arrays_may_be_changed_after_the_call(device, kernels):
    add = kernels.get_function("add")
    total = cuda.to_device(np.zeros(8, np.float32))
    for stream in (None, cuda.Stream(), cuda.Stream(cuda.stream_flags.NON_BLOCKING)):
        b = cuda.pagelocked_zeros(8, np.float32)
        b[:] = 1
        add(total, cuda.In(b), block=(8, 1, 1), stream=stream)
        b[:] = 100
        cuda.Context.synchronize()
    assert (cuda.from_device(total, 8, np.float32) == 3).all()


def test_handlers_can_be_used_again(device, kernels):
    add = kernels.get_function("add")
    a, b = cuda.InOut(np.zeros(8, np.float32)), cuda.In(np.ones(8, np.float32))
    add(a, b, block=(8, 1, 1))
    stand_in = a.get_device_alloc()
    add(a, b, block=(8, 1, 1))
    assert (a.array == 2).all()
    assert a.get_device_alloc() is stand_in


def test_handlers_of_users_are_called(device, kernels):
    calls = []

    class Traced(cuda.InOut):
        def pre_call(self, stream):
            calls.append(("pre", stream))
            super().pre_call(stream)

        def post_call(self, stream):
            calls.append(("post", stream))
            super().post_call(stream)

    a, b = np.zeros(8, np.float32), np.ones(8, np.float32)
    kernels.get_function("add")(Traced(a), cuda.In(b), block=(8, 1, 1))
    assert (a == 1).all()
    assert calls == [("pre", None), ("post", None)]


def test_read_only_out_is_an_error(device, kernels):
    a = np.zeros(8, np.float32)
    a.flags.writeable = False
    with pytest.raises(ValueError, match="is read-only, but the call writes to it"):
        kernels.get_function("add")(cuda.Out(a), cuda.In(a), block=(8, 1, 1))


@pytest.mark.parametrize(
    "value", [np.uint32(2**32 - 1), np.int32(7), np.uint8(255), np.int16(300)]
)
def test_a_wider_parameter_accepts_a_narrow_integer(device, kernels, value):
    stored = store(kernels, "unsigned long long", np.uint64, value)
    assert stored == int(value)
    assert store(kernels, "long long", np.int64, value) == int(value)


def test_a_wider_parameter_keeps_the_sign(device, kernels):
    for value in (np.int8(-3), np.int16(-300), np.int32(-(2**31))):
        assert store(kernels, "long long", np.int64, value) == int(value)
        with pytest.raises(cuda.ArgumentError, match="got a numpy.int"):
            store(kernels, "unsigned long long", np.uint64, value)


@pytest.mark.parametrize(
    "value, words",
    [
        (2**31, "the Python int 2147483648"),
        (1.5, "the Python float 1.5"),
        ("1", "a str"),
        ([1], "a list"),
        (np.int64(1), r"a numpy.int64 \(8 bytes\)"),
        (np.float32(1), "a numpy.float32"),
        (None, "None"),
    ],
)
def test_invalid_values_of_an_int_parameter(device, kernels, value, words):
    with pytest.raises(
        cuda.ArgumentError, match=rf"argument 1: expected int \(4 bytes\), got {words}"
    ):
        kernels.get_function("store_int")(
            cuda.In(np.zeros(1, np.int32)), value, block=1
        )


def test_an_array_without_axes_is_checked_like_a_number(device, kernels):
    """The bits of an int are not a float."""
    assert store(kernels, "int", np.int32, np.array(7, np.int16)) == 7
    assert store(kernels, "float", np.float32, np.array(7, np.float32)) == 7
    with pytest.raises(cuda.ArgumentError, match="expected float .* got a numpy.int32"):
        store(kernels, "float", np.float32, np.array(7, np.int32))


def test_unsigned_parameters_refuse_negative_numbers(device, kernels):
    with pytest.raises(cuda.ArgumentError, match="-1"):
        store(kernels, "unsigned int", np.uint32, -1)


STRUCT = "struct Pair { int a; float b; };"


def test_a_ctypes_structure_is_an_argument_as_a_record_is(device):
    class Pair(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_float)]

    class Longer(ctypes.Structure):
        _fields_ = [("a", ctypes.c_int), ("b", ctypes.c_double)]

    class Swapped(ctypes.BigEndianStructure):
        _fields_ = Pair._fields_

    source = STRUCT + "__global__ void k(float *o, Pair p) { o[0] = p.a; o[1] = p.b; }"
    kernel = SourceModule(source).get_function("k")
    out = np.zeros(2, np.float32)
    kernel(cuda.Out(out), Pair(3, 2.5), block=1)
    assert out.tolist() == [3, 2.5]
    with pytest.raises(cuda.ArgumentError, match="Longer of 16 bytes"):
        kernel(cuda.Out(out), Longer(3, 2.5), block=1)
    with pytest.raises(cuda.ArgumentError, match="other order than the device's"):
        kernel(cuda.Out(out), Swapped(3, 2.5), block=1)
    with pytest.raises(cuda.ArgumentError, match="got a .*Pair of 8 bytes"):
        kernel(Pair(3, 2.5), Pair(3, 2.5), block=1)


def test_a_ctypes_number_is_its_value(device):
    source = "__global__ void k(double *o, float x, short n) { o[0] = x; o[1] = n; }"
    kernel = SourceModule(source).get_function("k")
    out = np.zeros(2)
    kernel(cuda.Out(out), ctypes.c_double(2.5), ctypes.c_int(-3), block=1)
    assert out.tolist() == [2.5, -3]
    with pytest.raises(cuda.ArgumentError, match="c_wchar"):
        kernel(cuda.Out(out), ctypes.c_wchar("a"), ctypes.c_int(-3), block=1)


@pytest.mark.parametrize(
    "dtype, pointer, hint",
    [
        (np.complex128, "float", "complex64"),
        (np.complex64, "double", "complex128"),
        (np.complex64, "int", "int32"),
        (np.complex64, "float *", "addresses"),
        (">f4", "float", "float32"),
        (">i4", "unsigned", "uint32"),
        (">c8", "float", "complex64"),
    ],
)
def test_complex_and_big_endian_arrays_are_compared_with_the_pointer(
    device, dtype, pointer, hint
):
    """Arrays of FITS and other old formats have the other order of bytes."""
    source = f"__global__ void k({pointer} *o) {{ }}"
    with pytest.warns(UserWarning, match=f"will misread.*{hint}|{hint}.*will misread"):
        kernel = SourceModule(source).get_function("k")
        kernel(cuda.In(np.zeros(4, dtype)), block=1)


@pytest.mark.parametrize(
    "dtype, pointer",
    [
        (np.complex64, "float"),
        (np.complex128, "double"),
        (np.complex64, "unsigned char"),
        (np.complex64, "unsigned long long"),
        (np.complex128, "float2"),
        (">i8", "void"),
        (">S4", "int"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_elements_that_a_kernel_may_mean_are_no_warning(device, dtype, pointer):
    kernel = SourceModule(f"__global__ void k({pointer} *o) {{ }}").get_function("k")
    kernel(cuda.In(np.zeros(4, dtype)), block=1)


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_a_reference_takes_an_address(device, no_extern_c):
    body = 'extern "C" __global__ void k(const int &n, int *o) { o[0] = n; }'
    kernel = SourceModule(body, no_extern_c=no_extern_c).get_function("k")
    out = np.zeros(1, np.int32)
    kernel(cuda.In(np.array(7, np.int32)), cuda.Out(out), block=1)
    assert out[0] == 7
    for value in (7, np.int32(7), np.float64(7)):
        with pytest.raises(cuda.ArgumentError, match="a reference: pass an address"):
            kernel(value, cuda.Out(out), block=1)
    with pytest.warns(UserWarning, match="const int &, an array of 4-byte elements"):
        kernel(cuda.In(np.array([7, 8], np.int64)), cuda.Out(out), block=1)
