"""pycuda.random: Philox's published numbers, independence of size, position and launch; distributions."""

import hashlib

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule
from pycuda.gpuarray import GPUArray
from pycuda.random import Generator, default_rng


def test_known_answers_of_random123(device):
    # The vectors "philox4x32 10" of Random123's kat_vectors: counter, key, result.
    vectors = [
        ([0] * 4, [0] * 2, [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (
            [0xFFFFFFFF] * 4,
            [0xFFFFFFFF] * 2,
            [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        ),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ]
    kernel = SourceModule("""
    #include <pycuda-random.hpp>
    __global__ void block(uint4 *out, const uint4 *counter, const uint2 *key)
    { out[threadIdx.x] = pycuda::Philox4x32::block(counter[threadIdx.x], key[threadIdx.x]); }
    """).get_function("block")
    counters, keys, expected = (
        np.array(column, np.uint32) for column in zip(*vectors, strict=True)
    )
    result = np.zeros((3, 4), np.uint32)
    kernel(cuda.Out(result), cuda.In(counters), cuda.In(keys), block=(3, 1, 1))
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numbers_do_not_depend_on_the_count_for_each_thread(device, dtype):
    expected = Generator(5).random(5003, dtype).get()
    rng = Generator(5)
    rng._launching = 4, 2
    np.testing.assert_array_equal(rng.random(5003, dtype).get(), expected)


def philox(counter, key):
    """The same in Python: four words at a 128-bit position."""
    words = [counter >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
    keys = [key & 0xFFFFFFFF, key >> 32]
    for _ in range(10):
        a, b = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [
            b >> 32 ^ words[1] ^ keys[0],
            b & 0xFFFFFFFF,
            a >> 32 ^ words[3] ^ keys[1],
            a & 0xFFFFFFFF,
        ]
        keys = [
            (keys[0] + 0x9E3779B9) & 0xFFFFFFFF,
            (keys[1] + 0xBB67AE85) & 0xFFFFFFFF,
        ]
    return words


def test_numbers_are_the_words_of_philox(device):
    seed = 0x0123456789ABCDEF
    rng = Generator(seed, sequence=5)
    rng.advance(2**64 - 2)  # the third block carries into the upper half
    start = (5 << 65) + 2**64 - 2
    words = np.array([philox(start + k, seed) for k in range(4)], np.uint32).ravel()
    np.testing.assert_array_equal(
        rng.random(16).get(), (words >> 8) * np.float32(2**-24)
    )
    rng.advance(-4)
    pairs = words[::2].astype(np.uint64) << np.uint64(32) | words[1::2]
    result = rng.integers(-(2**63), 2**63, 8).get()
    np.testing.assert_array_equal(result.view(np.uint64), pairs + np.uint64(2**63))


@pytest.mark.parametrize("method", ["random", "standard_normal", "exponential"])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_fewer_numbers_are_the_first_ones(device, method, dtype):
    def draw(n):
        rng = Generator(9)
        draw = getattr(rng, method)
        return draw(size=n, dtype=dtype).get()

    many = draw(10_001)
    for n in (1, 2, 3, 5, 1000, 9999):
        np.testing.assert_array_equal(draw(n), many[:n])


def test_out_at_any_address_gets_the_same_numbers(device):
    expected = Generator(1).random(1001).get()
    memory = cuda.mem_alloc(8192)
    for shift in (0, 4, 8, 12, 16):
        out = GPUArray((1001,), np.float32, gpudata=int(memory) + shift)
        assert Generator(1).random(out=out) is out
        np.testing.assert_array_equal(out.get(), expected)


# Hashes of the first 4096 numbers with seed 2026, computed on softcuda; a GPU must agree.
HASHES = {
    ("random", "f"): "20bab53bf5dd5f17",
    ("random", "d"): "51e9e0cc4797392b",
    ("standard_normal", "f"): "1558a8fe8716de4a",
    ("standard_normal", "d"): "abe1a2035c1d8828",
    ("exponential", "f"): "627f0645319a13d5",
    ("exponential", "d"): "17f25f6312614c22",
}


@pytest.mark.parametrize("method, dtype", HASHES)
def test_all_devices_give_the_same_bits(device, method, dtype):
    numbers = getattr(Generator(2026), method)(size=4096, dtype=dtype).get()
    digest = hashlib.sha256(numbers.tobytes()).hexdigest()[:16]
    assert digest == HASHES[method, dtype]


@pytest.mark.parametrize("dtype", ["e", "f", "d"])
def test_uniform(device, dtype):
    n = 200_000
    x = Generator(3).random(n, dtype).get()
    assert x.dtype == np.dtype(dtype) and x.min() >= 0 and x.max() < 1
    expected = 0.5 - (2.0**-12 if dtype == "e" else 0)
    assert abs(x.mean(dtype=float) - expected) < 5 / np.sqrt(12 * n)
    y = Generator(3).uniform(-2, 6, n, dtype).get()
    tolerance = 1e-2 if dtype == "e" else 1e-5
    np.testing.assert_allclose(y, -2 + 8 * x.astype(float), atol=tolerance)


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_normal_and_exponential(device, dtype):
    n = 400_000
    z = Generator(4).standard_normal(n, dtype).get().astype(float)
    assert abs(z.mean()) < 5 / np.sqrt(n)
    assert abs(z.var() - 1) < 5 * np.sqrt(2 / n)
    assert abs((z**3).mean()) < 5 * np.sqrt(15 / n)
    assert abs((z**4).mean() - 3) < 5 * np.sqrt(96 / n)
    assert abs((z[::2] * z[1::2]).mean()) < 5 / np.sqrt(n / 2)
    shifted = Generator(4).normal(10, 3, n, dtype).get()
    np.testing.assert_allclose(shifted, 10 + 3 * z, rtol=1e-4, atol=1e-5)
    w = Generator(5).exponential(2.5, n, dtype).get().astype(float)
    assert w.min() >= 0 and abs(w.mean() - 2.5) < 5 * 2.5 / np.sqrt(n)


@pytest.mark.parametrize("dtype", "bBhHiIqQ")
def test_integers(device, dtype):
    n = 60_000
    x = Generator(6).integers(3, 8, n, dtype, endpoint=True).get()
    assert x.dtype == np.dtype(dtype)
    counts = np.bincount(x.astype(int), minlength=9)
    assert counts[:3].sum() == 0
    assert (abs(counts[3:] - n / 6) < 5 * np.sqrt(n / 6)).all()
    limits = np.iinfo(dtype)
    y = Generator(7).integers(limits.min, limits.max, n, dtype, endpoint=True).get()
    assert abs((y >= limits.max // 2 + 1 + limits.min // 2).mean() - 0.5) < 0.02
    assert Generator(8).integers(5).get() in range(5)


def test_sequences_state_and_stream(device):
    rng = Generator(1)
    first = rng.random(1000).get()
    state = rng.state
    second = rng.random(1000).get()
    rng.state = state
    np.testing.assert_array_equal(rng.random(1000).get(), second)
    assert not np.intersect1d(first, Generator(1, sequence=1).random(20).get()).size
    assert not np.array_equal(first, Generator(2).random(1000).get())
    assert Generator().seed != Generator().seed
    stream = cuda.Stream()
    streamed = Generator(1).random(1000, stream=stream)
    stream.synchronize()
    np.testing.assert_array_equal(streamed.get(), first)
    assert default_rng(4).seed == 4


def test_shapes_and_order(device):
    assert Generator(1).random().shape == ()
    assert Generator(1).random((2, 0)).shape == (2, 0)
    assert Generator(1).random((3, 4)).shape == (3, 4)
    out = GPUArray((3, 4), np.float64, order="F")
    flat = Generator(1).random(12, np.float64).get()
    np.testing.assert_array_equal(Generator(1).random(out=out).get().ravel("K"), flat)


def test_what_is_refused(device):
    rng = Generator(0)
    with pytest.raises(ValueError, match="seed must be from 0"):
        Generator(-1)
    with pytest.raises(ValueError, match="sequence must be from 0"):
        Generator(0, sequence=2**63)
    with pytest.raises(TypeError, match="uniform numbers cannot have dtype int32"):
        rng.random(3, np.int32)
    with pytest.raises(TypeError, match="normal numbers cannot have dtype float16"):
        rng.normal(size=3, dtype=np.float16)
    with pytest.raises(ValueError, match="scale must not be negative"):
        rng.normal(0, -1)
    with pytest.raises(ValueError, match="no integer from 3 to 2"):
        rng.integers(3, 3)
    with pytest.raises(ValueError, match="0 to 255 does not fit into int8"):
        rng.integers(256, dtype=np.int8)
    with pytest.raises(TypeError, match="needs an integer dtype, not float32"):
        rng.integers(3, dtype=np.float32)
    with pytest.raises(ValueError, match="size is"):
        rng.random(3, out=GPUArray((4,), np.float32))
