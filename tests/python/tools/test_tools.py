"""pycuda.tools: default context, caches per context, C types, occupancy."""

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import _c_types, gpuarray, tools
from pycuda.compiler import SourceModule


def test_make_default_context_obeys_the_environment(device, monkeypatch):
    asked = []
    monkeypatch.setenv("CUDA_DEVICE", "0")
    assert tools.make_default_context(lambda dev: asked.append(dev) or "made") == "made"
    assert asked == [cuda.Device(0)]
    monkeypatch.setenv("CUDA_DEVICE", "first")
    with pytest.raises(ValueError, match="CUDA_DEVICE must be the number of a device"):
        tools.make_default_context(lambda dev: dev)


def test_make_default_context_reads_the_users_file(device, monkeypatch, tmp_path):
    (tmp_path / ".cuda_device").write_text("0\n")
    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert tools.make_default_context(lambda dev: dev) == cuda.Device(0)


def test_make_default_context_reports_all_failures(device, monkeypatch, tmp_path):
    def fail(dev):
        raise cuda.LogicError("this device is tired")

    monkeypatch.delenv("CUDA_DEVICE", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(
        RuntimeError, match="wasn't able to create a context.*\n.*tired"
    ):
        tools.make_default_context(fail)


def test_memoize_is_per_context(device):
    calls = []

    @tools.context_dependent_memoize
    def double(x, *, plus=0):
        calls.append(x)
        return 2 * x + plus

    assert (double(2), double(2), double(2, plus=1)) == (4, 4, 5)
    assert calls == [2, 2]
    context = device.make_context()
    double(2)
    context.detach()
    assert calls == [2, 2, 2]
    tools.clear_context_caches()
    double(2)
    assert len(calls) == 4


@tools.mark_cuda_test
def test_mark_cuda_test_makes_a_context():
    assert cuda.Context.get_current() is not None
    cuda.mem_alloc(16)


@pytest.mark.parametrize(
    "dtype, name",
    [
        (np.float32, "float"),
        (np.int64, "long"),
        (np.uint8, "unsigned char"),
        (np.bool_, "bool"),
        (np.float16, "half"),
        (np.complex64, "pycuda::complex<float>"),
    ],
)
def test_dtype_to_ctype(dtype, name):
    assert tools.dtype_to_ctype(dtype) == name


def test_unknown_dtypes_are_value_errors():
    with pytest.raises(ValueError, match="unable to map dtype"):
        tools.dtype_to_ctype(np.dtype("M8[s]"))
    with pytest.raises(ValueError, match="must not be None"):
        tools.dtype_to_ctype(None)
    with pytest.raises(ValueError, match="unknown type 'no_such_type'"):
        tools.parse_c_arg("no_such_type x")


def test_registering_types():
    names = set(_c_types.NAME_TO_DTYPE)
    assert names.isdisjoint({"test_pair", "old_pair", "elementwise_pair"}), (
        "a test before this one left what it registered"
    )
    pair = np.dtype([("only", np.float32), ("here", np.int32)])
    assert tools.get_or_register_dtype(["test_pair", "test_pair_t"], pair) == pair
    assert tools.get_or_register_dtype("test_pair_t") == pair
    assert tools.dtype_to_ctype(pair) == "test_pair"
    with pytest.raises(ValueError, match="is already registered for"):
        tools.get_or_register_dtype("test_pair", np.float32)


@pytest.mark.parametrize(
    "text, kind, dtype, name",
    [
        ("const float *x", tools.VectorArg, np.float32, "x"),
        ("float x", tools.ScalarArg, np.float32, "x"),
        ("unsigned long long n", tools.ScalarArg, np.uint64, "n"),
        ("double * __restrict__ out", tools.VectorArg, np.float64, "out"),
        ("int a[]", tools.VectorArg, np.int32, "a"),
        ("pycuda::complex<float> *z", tools.VectorArg, np.complex64, "z"),
    ],
)
def test_parse_c_arg(text, kind, dtype, name):
    argument = tools.parse_c_arg(text)
    assert type(argument) is kind
    assert (argument.dtype, argument.name) == (np.dtype(dtype), name)


def test_arguments_describe_themselves():
    assert repr(tools.VectorArg(np.float32, "x")) == "VectorArg('x', float32)"
    assert tools.VectorArg(np.float32, "x").declarator() == "float *x"
    assert tools.VectorArg(np.float32, "x").struct_char == "P"
    assert tools.ScalarArg(np.int32, "n").declarator() == "int n"
    assert tools.ScalarArg(np.int32, "n").struct_char == "i"


def test_device_data_and_occupancy(device):
    data = tools.DeviceData()
    assert data.warp_size == 32 and data.max_threads >= 512
    assert data.align(100) == 128 and data.align_words(8) == 16
    assert data.coalesce(17) == 32
    full = tools.OccupancyRecord(data, threads=256)
    assert 0 < full.occupancy <= 1 and full.limited_by in ("device", "warps")
    tight = tools.OccupancyRecord(data, threads=256, shared_mem=data.shared_memory)
    assert tight.limited_by == "smem" and tight.tb_per_mp < full.tb_per_mp
    with pytest.raises(ValueError, match="too many threads"):
        tools.OccupancyRecord(data, threads=10**6)


def test_match_dtype_to_c_struct(device):
    inner, _ = tools.match_dtype_to_c_struct(
        None, "inner_t", np.dtype([("flag", np.int8), ("weight", np.float64)])
    )
    tools.get_or_register_dtype("inner_t", inner)
    packed = np.dtype(
        [
            ("n", np.int8),
            ("v", gpuarray.vec.float4),
            ("m", np.float32, (2, 3)),
            ("z", np.complex64),
            ("i", inner),
        ]
    )
    dtype, text = tools.match_dtype_to_c_struct(device, "outer_t", packed)
    assert [dtype.fields[name][1] for name in dtype.names] == [0, 16, 32, 56, 64]
    assert dtype.itemsize == 80 and "float m[2][3];" in text and "inner_t i;" in text
    bodies = np.zeros(2, dtype)
    bodies[1]["v"]["w"], bodies[1]["m"][1, 2], bodies[1]["i"]["weight"] = 1, 2, 3
    inner_text = "typedef struct { signed char flag; double weight; } inner_t;\n"
    kernel = SourceModule(
        "#include <pycuda-complex.hpp>\n"
        + inner_text
        + text
        + """
        extern "C" __global__ void f(outer_t *b, float *x) {
            x[0] = b[1].v.w; x[1] = b[1].m[1][2]; x[2] = b[1].i.weight;
        }""",
        no_extern_c=True,
    ).get_function("f")
    x = np.zeros(3, np.float32)
    kernel(cuda.In(bodies), cuda.Out(x), block=(1, 1, 1))
    np.testing.assert_array_equal(x, [1, 2, 3])


@pytest.mark.parametrize(
    "name, dtype, said",
    [
        ("t", np.float32, "has no fields"),
        ("t", np.dtype([]), "has no fields"),
        ("2t", np.dtype([("a", "f4")]), "no name in C"),
        ("t", np.dtype([("a b", "f4")]), "no name in C"),
        ("t", np.dtype([("a", "S5")]), "unable to map"),
        ("t", np.dtype([("a", [("unregistered", "f4")])]), "unable to map"),
    ],
)
def test_match_dtype_to_c_struct_refuses(device, name, dtype, said):
    with pytest.raises(ValueError, match=said):
        tools.match_dtype_to_c_struct(None, name, dtype)
