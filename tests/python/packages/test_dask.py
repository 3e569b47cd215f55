"""Arrays of the device as chunks of Dask's arrays, in threads of one process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

da = pytest.importorskip("dask.array")
pytest.importorskip("distributed")

import dask  # noqa: E402
from dask.sizeof import sizeof  # noqa: E402
from distributed.protocol import deserialize, serialize  # noqa: E402
from distributed.protocol.cuda import cuda_dumps, cuda_loads  # noqa: E402

import pycuda.dask as ours  # noqa: E402
import pycuda.driver as cuda  # noqa: E402
from pycuda import gpuarray  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def default_context(primary_context):
    """Threads of Dask's schedulers use the device's primary context; this thread has no current context."""
    before = cuda.Context.get_default()
    cuda.Context.set_default(primary_context)
    yield
    cuda.Context.set_default(before)


def chunked(host, chunks):
    return da.from_array(host, chunks=chunks).map_blocks(ours.to_gpu)


REDUCTIONS = """sum prod min max any all mean std var argmin argmax nansum nanprod nanmin nanmax nanmean
nanstd nanvar cumsum cumprod nanargmin nanargmax ptp median nancumsum""".split()


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_in_threads(name):
    host = np.random.default_rng(3).standard_normal((30, 40))
    if name.startswith("nan"):
        host[3, 4] = np.nan
    x = chunked(host, (7, 11))
    only_axes = name.startswith("cum") or name.startswith("nancum") or name == "median"
    for axis in (0, 1) if only_axes else (None, 0, 1):
        result = getattr(da, name)(x, axis=axis).compute(scheduler="threads")
        expected = getattr(np, name)(host, axis=axis)
        assert isinstance(result, gpuarray.GPUArray), type(result)
        np.testing.assert_allclose(result.get(), expected, rtol=1e-10)


def test_a_graph_of_many_steps_in_threads():
    host = np.random.default_rng(4).standard_normal((60, 50))
    x = chunked(host, (13, 50))
    got = ((x @ x.T).sum(axis=0) + da.sqrt(abs(x)).mean(axis=1)[::-1]).compute()
    expected = (host @ host.T).sum(axis=0) + np.sqrt(abs(host)).mean(axis=1)[::-1]
    np.testing.assert_allclose(got.get(), expected, rtol=1e-9)
    u, s, v = da.linalg.svd(x)
    np.testing.assert_allclose(s.compute().get(), np.linalg.svd(host)[1], rtol=1e-9)
    np.testing.assert_allclose((u * s @ v).compute().get(), host, atol=1e-9)


@pytest.mark.cuda_check_allow("init")  # computes da.empty()
def test_backend():
    with dask.config.set({"array.backend": "pycuda"}):
        made = [
            da.ones((5, 6), chunks=2), da.zeros(7, dtype="f4"), da.full((3,), 2.5), da.arange(9),
            da.empty((2, 2)), da.random.default_rng(5).standard_normal((4, 5), chunks=3),
            da.random.RandomState(5).uniform(2, 3, size=6),
        ]  # fmt: skip
        for array in made:
            assert isinstance(array._meta, gpuarray.GPUArray)
            assert isinstance(array.compute(), gpuarray.GPUArray)
        again = da.random.default_rng(5).standard_normal((4, 5), chunks=3)
        np.testing.assert_array_equal(again.compute().get(), made[5].compute().get())
    host = made[3].to_backend("numpy")
    assert isinstance(host.compute(), np.ndarray) and host.compute().tolist() == list(
        range(9)
    )
    assert isinstance(host.to_backend("pycuda").compute(), gpuarray.GPUArray)
    assert ours.to_host(ours.to_gpu(np.arange(3))).tolist() == [0, 1, 2]
    with pytest.raises(TypeError, match="a chunk must be an array, not list"):
        ours.to_gpu([1, 2])
    with pytest.raises(TypeError, match="no keyword 'stream'"):
        ours.to_gpu(np.arange(3), stream=None)


def test_random_distributions():
    n = 4000
    for name, mean, arguments in [
        ("uniform", 2.5, (2, 3)), ("normal", 1, (1, 2)), ("exponential", 3, (3,)),
        ("rayleigh", np.sqrt(np.pi / 2), ()), ("weibull", 1, (1,)), ("pareto", 0.25, (5,)),
        ("power", 2 / 3, (2,)), ("logistic", 1, (1, 0.5)), ("gumbel", np.euler_gamma, ()),
        ("laplace", 2, (2, 1)), ("gamma", 6, (2, 3)), ("poisson", 4, (4,)), ("integers", 4.5, (10,)),
        ("lognormal", np.exp(0.125), (0, 0.5)), ("standard_exponential", 1, ()),
    ]:  # fmt: skip
        for seed in (1, 2):
            draw = getattr(ours.default_rng(seed), name)(*arguments, size=n)
            assert isinstance(draw, gpuarray.GPUArray) and draw.shape == (n,)
            host = draw.get()
            assert abs(host.mean() - mean) < 5 * host.std() / np.sqrt(n), (
                name,
                host.mean(),
            )
            again = getattr(ours.default_rng(seed), name)(*arguments, size=n)
            np.testing.assert_array_equal(again.get(), host)
    with pytest.raises(ValueError, match="scale"):
        ours.default_rng(1).exponential(-1, 3)
    with pytest.raises(AttributeError, match="no attribute 'normals'"):
        _ = ours.default_rng(1).normals


def test_size_and_token():
    x = gpuarray.zeros((1000, 500), np.float64)
    assert sizeof(x) == 4_000_000
    assert sizeof([x, x]) > 8_000_000
    y = x.copy()
    assert dask.base.tokenize(x) == dask.base.tokenize(y)
    assert dask.base.tokenize(x) != dask.base.tokenize(y + 1)
    assert dask.base.tokenize(x) != dask.base.tokenize(x.get())


ARRAYS = [
    np.arange(24, dtype="f4").reshape(2, 3, 4),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.arange(24).reshape(4, 6)[::2, ::3],
    np.array(7, "i2"),
    np.zeros((0, 3), "c16"),
    np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")]),
    np.array([True, False]),
    np.arange(5, dtype="f2"),
]


@pytest.mark.parametrize(
    "host", ARRAYS, ids=lambda host: f"{host.dtype.str}{host.shape}"
)
def test_messages(host):
    x = gpuarray.to_gpu(host.copy(order="K"))
    if host.strides != x.strides and host.size:  # with gaps
        x = gpuarray.to_gpu(np.arange(24).reshape(4, 6))[::2, ::3]
    header, frames = serialize(x)
    assert header["serializer"] == "dask"
    assert sum(memoryview(frame).nbytes for frame in frames) == x.nbytes
    assert not any(b"numpy" in bytes(frame)[:200] for frame in frames)
    back = deserialize(header, frames)
    assert type(back) is gpuarray.GPUArray and back.dtype == host.dtype
    np.testing.assert_array_equal(back.get(), host)
    header, frames = cuda_dumps(x)
    assert all(isinstance(frame, gpuarray.GPUArray) for frame in frames)
    back = cuda_loads(header, frames)
    np.testing.assert_array_equal(back.get(), host)
    if x.size and x._c_contiguous:
        assert back.ptr == x.ptr  # no copy


class Named(gpuarray.GPUArray):
    """A subclass whose arrays have an attribute."""


def test_messages_keep_class_and_attributes():
    x = gpuarray.zeros(3, np.float32)._view(0, (3,), (4,))
    x = ours._serialization.restored(Named, np.arange(3, dtype="f4"))
    x.unit = "m"
    for back in (deserialize(*serialize(x)), cuda_loads(*cuda_dumps(x))):
        assert type(back) is Named and back.unit == "m"
        assert back.get().tolist() == [0, 1, 2]


def test_store_spills_the_oldest_and_brings_it_back(tmp_path):
    store = ours.DeviceHostStore(
        str(tmp_path), device_memory_limit=40_000, memory_limit=30_000
    )
    hosts = {f"x{i}": np.full(2000, i, "f8") for i in range(6)}  # 16 kB each
    for name, host in hosts.items():
        store[name] = {"pair": [gpuarray.to_gpu(host), i_of(name)]}
    assert store.used == 32_000 and store.spilled == 4 and len(store) == 6
    assert any(tmp_path.rglob("*x*")), "nothing went to files"
    for name, host in hosts.items():
        pair = store[name]["pair"]
        assert isinstance(pair[0], gpuarray.GPUArray) and pair[1] == i_of(name)
        np.testing.assert_array_equal(pair[0].get(), host)
    assert store.restored == 6 - 2 + 2 and store.used <= 40_000
    store["host"] = np.arange(3)
    assert "host" in store and store["host"].tolist() == [0, 1, 2]
    assert sorted(store) == sorted([*hosts, "host"])
    for name in list(store):
        del store[name]
    assert len(store) == 0 and store.used == 0
    with pytest.raises(KeyError):
        store["x1"]
    with pytest.raises(ValueError, match="device_memory_limit must be"):
        ours.DeviceHostStore(device_memory_limit=-1)


def test_store_writes_to_files_when_dask_asks(tmp_path):
    store = ours.DeviceHostStore(
        str(tmp_path), device_memory_limit=20_000, memory_limit=100_000
    )
    for i in range(3):
        store[f"x{i}"] = gpuarray.to_gpu(np.full(2000, i, "f8"))
    assert len(store.fast) == 2 and not any(tmp_path.rglob("*x0*"))
    assert store.evict() >= 16_000 and any(tmp_path.rglob("*x0*"))
    assert store.evict() >= 16_000
    assert store.evict() == -1 and not store.fast
    assert [store[f"x{i}"].get()[0] for i in range(3)] == [0, 1, 2]
    assert ours.DeviceHostStore(device_memory_limit=20_000).evict() == -1


def test_memory_that_device_and_host_share():
    split = ours._spilling.split_shared_memory
    assert split(1000, 100) == (100, 500)
    assert split(1000, 900) == (400, 200)


def i_of(name):
    return int(name[1:])


@pytest.mark.slow
def test_dasks_own_tests():
    """The tests that Dask runs with CuPy, with our arrays."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools/dask_suite"],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
