"""softcuda's cuRAND: sequences equal to recorded ones, distributions, streams, errors."""

import ctypes
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from library_calls import Handle, capture, load, synchronize

import pycuda.driver as cuda
from pycuda import gpuarray

RECORDED = json.loads(
    (Path(__file__).resolve().parents[1] / "recordings/curand.json").read_text()
)
TYPES = {"xorwow": 101, "mrg32k3a": 121, "philox": 161}
OUTPUTS = {
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
    generator = Generator(TYPES[kind])
    generator.SetPseudoRandomGeneratorSeed(int(seed, 16) - (int(seed, 16) >> 63 << 64))
    generator.SetGeneratorOffset(int(offset))
    generator.SetGeneratorOrdering(int(ordering))
    parts = [generated(generator, output, count) for count in (1001, 400_000)]
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
    capfd.readouterr()
    assert library.curandCreateGenerator(ctypes.byref(handle), 141) == 103
    assert "generator 141 is not supported" in capfd.readouterr().err
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
