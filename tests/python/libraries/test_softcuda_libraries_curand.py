"""softcuda's cuRAND: sequences equal to recorded ones, distributions, streams, errors."""

import ctypes
import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest
from library_calls import Handle, capture, load, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

RECORDED = json.loads(
    (Path(__file__).resolve().parents[2] / "recordings/curand.json").read_text()
)
TYPES = {"xorwow": 101, "mrg32k3a": 121, "philox": 161, "mtgp32": 141, "mt19937": 142}
QUASI = {
    "sobol32": 201,
    "scrambled sobol32": 202,
    "sobol64": 203,
    "scrambled sobol64": 204,
}
OUTPUTS = {
    "wide bits": ("GenerateLongLong", np.uint64),
    "bits": ("Generate", np.uint32),
    "uniform": ("GenerateUniform", np.float32),
    "uniform double": ("GenerateUniformDouble", np.float64),
}


class Generator(Handle):
    """A generator of the device or, with `form` CreateGeneratorHost, of the host."""

    def __init__(self, kind, form="CreateGenerator"):
        self.library, self.prefix = load("libcurand.so.10"), "curand"
        self.destroy = "curandDestroyGenerator"
        self.handle = ctypes.c_void_p()
        create = getattr(self.library, f"curand{form}")
        assert create(ctypes.byref(self.handle), kind) == 0


def generated(generator, output, count, *parameters):
    function, dtype = OUTPUTS.get(output, (output, np.uint32))
    if "Normal" in function:
        dtype = np.float64 if function.endswith("Double") else np.float32
        real = ctypes.c_double if dtype is np.float64 else ctypes.c_float
        parameters = [real(p) for p in parameters]
    values = gpuarray.zeros(count, dtype)
    getattr(generator, function)(values, count, *parameters)
    return values.get()


@pytest.mark.parametrize("name", RECORDED)
def test_sequences_are_the_recorded_ones(device, name):
    kind, seed, offset, ordering, output = name.split(" ", 4)
    generator, seed = Generator((TYPES | QUASI)[kind]), int(seed, 16)
    if kind in QUASI:
        generator.SetQuasiRandomGeneratorDimensions(seed)
    else:
        generator.SetPseudoRandomGeneratorSeed(seed - (seed >> 63 << 64))
    if kind != "mtgp32":
        generator.SetGeneratorOffset(int(offset))
    generator.SetGeneratorOrdering(int(ordering))
    multiple = seed if kind in QUASI else 1
    counts = [max(n // multiple, 1) * multiple for n in (1001, 400_000)]
    parts = [generated(generator, output, count) for count in counts]
    values = np.concatenate(parts)
    *first, digest = RECORDED[name]
    assert [value.tobytes().hex() for value in values[:4]] == first
    assert hashlib.sha256(values.tobytes()).hexdigest() == digest
    generator.close()


@pytest.mark.parametrize("kind", TYPES)
def test_generators_of_the_host_give_the_same_numbers(device, kind):
    generator = Generator(TYPES[kind], "CreateGeneratorHost")
    values = np.zeros(5000, np.uint32)
    generator.Generate(values, 5000)
    assert (values == generated(Generator(TYPES[kind]), "bits", 5000)).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("suffix", ["", "Double"])
def test_normal_numbers(device, kind, suffix):
    generator = Generator(TYPES[kind])
    values = generated(generator, f"GenerateNormal{suffix}", 200_000, 2, 3)
    assert abs(values.mean() - 2) < 0.05 and abs(values.std() - 3) < 0.05
    assert abs(((values - 2) / 3 > 1).mean() - 0.1587) < 0.005
    again = Generator(TYPES[kind])
    logs = generated(again, f"GenerateLogNormal{suffix}", 200_000, 2, 3)
    np.testing.assert_allclose(np.log(logs), values, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("mean", [0.01, 3.0, 100.0, 5000.0])
def test_poisson_numbers(device, kind, mean):
    values = generated(
        Generator(TYPES[kind]), "GeneratePoisson", 100_000, ctypes.c_double(mean)
    )
    assert abs(values.mean() - mean) < 5 * (mean / 100_000) ** 0.5
    assert abs(values.var() / mean - 1) < 0.1


def test_streams_and_captures(device):
    """A graph continues the sequence each time it is launched."""
    generator, stream = Generator(101), cuda.Stream()
    generator.SetStream(ctypes.c_void_p(stream.handle))
    values = gpuarray.zeros(3000, np.uint32)
    synchronize()
    graph = capture(stream, lambda: generator.Generate(values, 3000)).instantiate()
    wanted = generated(Generator(101), "bits", 6000)
    generator.close()
    for start in (0, 3000):
        graph.launch(stream)
        stream.synchronize()
        assert (values.get() == wanted[start : start + 3000]).all()


def test_errors_are_curands_own(device, capfd):
    library = load("libcurand.so.10")
    handle = ctypes.c_void_p()
    assert library.curandCreateGenerator(ctypes.byref(handle), 5) == 103
    assert library.curandCreateGenerator(None, 101) == 104
    assert library.curandGenerate(None, None, 5) == 101
    generator = Generator(101)
    values = gpuarray.zeros(8, np.float32)
    one = ctypes.c_float(1)
    assert generator.status("GenerateNormal", values, 7, one, one) == 105
    assert generator.status("SetGeneratorOrdering", 55) == 104
    assert generator.status("GenerateLongLong", values, 2) == 103
    assert generator.status("GenerateUniform", values, 90) == 201
    assert "the output must be device memory of 360 bytes" in capfd.readouterr().err
    generator.GenerateUniform(values, 8)
    generator.close()
    assert generator.status("GenerateUniform", values, 8) == 101


def test_errors_of_quasi_random_generators_and_twisters(device):
    sobol, twister, mt = Generator(201), Generator(141), Generator(142)
    values = gpuarray.zeros(12, np.uint32)
    assert sobol.status("SetPseudoRandomGeneratorSeed", 5) == 103
    assert sobol.status("SetQuasiRandomGeneratorDimensions", 0) == 104
    assert sobol.status("SetQuasiRandomGeneratorDimensions", 20001) == 104
    assert sobol.status("GenerateLongLong", values, 2) == 103
    assert sobol.status("SetGeneratorOrdering", 100) == 104
    sobol.SetQuasiRandomGeneratorDimensions(5)
    assert sobol.status("Generate", values, 12) == 105
    assert Generator(203).status("Generate", values, 12) == 103
    assert twister.status("SetGeneratorOffset", 3) == 103
    assert twister.status("SetQuasiRandomGeneratorDimensions", 3) == 103
    assert twister.status("SetGeneratorOrdering", 102) == 104
    assert mt.status("SetGeneratorOrdering", 100) == 104
    assert Generator(121).status("SetGeneratorOrdering", 102) == 104


@pytest.mark.parametrize("kind", QUASI)
def test_each_interval_has_its_share_of_a_quasi_random_sequence(device, kind):
    """Of 2^k numbers of a dimension, each of 2^k intervals has one."""
    generator, n = Generator(QUASI[kind]), 1024
    generator.SetQuasiRandomGeneratorDimensions(50)
    values = generated(generator, "uniform double", 50 * n).reshape(50, n)
    for numbers in values:
        assert sorted(np.floor(np.minimum(numbers, 1 - 1e-9) * n)) == list(range(n))
    # 32 x 32 squares of the first two dimensions have one point each.
    squares = np.floor(values[:2] * 32) @ np.eye(n)
    assert len(set(zip(*squares, strict=True))) == n


@pytest.mark.parametrize("kind", QUASI)
def test_normal_numbers_of_a_quasi_random_sequence(device, kind):
    for suffix, tolerance in (("", 2e-6), ("Double", 1e-9)):
        uniform = generated(Generator(QUASI[kind]), "uniform double", 999)
        values = generated(Generator(QUASI[kind]), f"GenerateNormal{suffix}", 999, 0, 1)
        below = [0.5 * math.erfc(-x / 2**0.5) for x in values]
        np.testing.assert_allclose(below, uniform, rtol=2e-6, atol=tolerance)


def test_the_tables_of_direction_vectors_make_the_sequence(device):
    library, table, constants = (
        load("libcurand.so.10"),
        ctypes.c_void_p(),
        ctypes.c_void_p(),
    )
    assert library.curandGetDirectionVectors32(ctypes.byref(table), 7) == 104
    for kind, which in (("sobol32", 101), ("scrambled sobol32", 102)):
        assert library.curandGetDirectionVectors32(ctypes.byref(table), which) == 0
        assert library.curandGetScrambleConstants32(ctypes.byref(constants)) == 0
        vectors = (ctypes.c_uint32 * (20000 * 32)).from_address(table.value)
        shifts = (ctypes.c_uint32 * 20000).from_address(constants.value)
        generator = Generator(QUASI[kind])
        generator.SetQuasiRandomGeneratorDimensions(20000)
        numbers = generated(generator, "bits", 40000).reshape(20000, 2)
        first = np.array(shifts) if which == 102 else np.zeros(20000, np.uint32)
        assert (numbers[:, 0] == first).all()
        assert (numbers[:, 1] == first ^ np.array(vectors).reshape(-1, 32)[:, 0]).all()


def test_the_seeded_ordering_has_other_subsequences(device):
    plain, seeded = Generator(101), Generator(101)
    seeded.SetGeneratorOrdering(102)
    a, b = (generated(g, "bits", 8192) for g in (plain, seeded))
    assert (a[::4096] == b[::4096]).all() and (a != b).sum() > 8000


def test_mt19937_has_the_numbers_of_its_authors(device):
    generator = Generator(142)
    generator.SetPseudoRandomGeneratorSeed(5489)
    assert generated(generator, "bits", 10_000)[-1] == 4123659995  # of the C++ standard


def test_generators_are_freed(device):
    def make(count):
        for _ in range(count):
            generator = Generator(161)
            generator.GenerateSeeds()
            generator.close()

    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    make(1000)
    before = resident()
    make(10000)
    assert resident() - before < 256  # pages: 1 MB
