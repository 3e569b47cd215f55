"""Operations with arrays of two contexts of one device: in either current context, with the order of the program."""

import numpy as np
import pytest

import pycuda.cumath  # noqa: F401 -- np.sin and others
import pycuda.driver as cuda
import pycuda.linalg  # noqa: F401
from pycuda import gpuarray


def assign(a, b):
    a[...] = b + 1


def assign_masked(a, b):
    a[b > 2] = b[b > 2]


def add_in_place(a, b):
    a += b


def one(b):
    return b[:1].reshape(())


FUNCTIONS = {
    "add out": lambda a, b: np.add(a, 1, out=b),
    "add": lambda a, b: a + b,
    "add in place": add_in_place,
    "assign": assign,
    "assign masked": assign_masked,
    "sum": lambda a, b: np.sum(a, out=one(b)),
    "mean": lambda a, b: np.mean(a, out=one(b)),
    "cumsum": lambda a, b: np.cumsum(a, out=b),
    "sin": lambda a, b: np.sin(a, out=b),
    "take": lambda a, b: np.take(a, [1, 2], out=b[:2]),
    "index": lambda a, b: a[b.astype(int) % 8],
    "concatenate": lambda a, b: np.concatenate([a, b]),
    "concatenate out": lambda a, b: np.concatenate([a[:4], a[4:]], out=b),
    "where": lambda a, b: np.where(a > 1, a, b),
    "clip": lambda a, b: np.clip(a, 0, 3, out=b),
    "matmul": lambda a, b: np.matmul(a.reshape(2, 4), b.reshape(4, 2)),
    "dot": lambda a, b: np.dot(a, b),
    "outer": lambda a, b: np.outer(a, b),
    "solve": lambda a, b: np.linalg.solve(np.outer(a, a) + np.diag(b + 1), b),
    "searchsorted": lambda a, b: np.searchsorted(a, b),
    "sort": lambda a, b: np.sort(np.concatenate([a, b])),
    "isin": lambda a, b: np.isin(a, b),
    "copyto": lambda a, b: np.copyto(a, b),
    "divmod": lambda a, b: np.divmod(a, 3, out=(b, b.copy()))[0],
    "round": lambda a, b: np.round(a, out=b),
    "at": lambda a, b: np.add.at(a, b.astype(int) % 8, 1),
    "bincount": lambda a, b: np.bincount(a.astype(int), weights=b),
    "put": lambda a, b: np.put_along_axis(a, (b % 8).astype(int), 5, 0),
    "histogram": lambda a, b: np.histogram(a, bins=4, weights=b)[0],
}


def made_in(context, data):
    context.push()
    try:
        return gpuarray.to_gpu(data)
    finally:
        cuda.Context.pop()


@pytest.fixture
def contexts(device):
    """The primary context, and a second one."""
    second = device.make_context()
    cuda.Context.pop()
    yield cuda.Context.get_current(), second
    second.detach()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arrays_of_two_contexts(contexts, name):
    function = FUNCTIONS[name]
    numbers = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    for first in contexts:
        second = next(one for one in contexts if one is not first)
        hosts = [one.copy() for one in numbers]
        arrays = [
            made_in(context, host)
            for context, host in zip((first, second), hosts, strict=True)
        ]
        for current in contexts:
            current.push()
            try:
                for _ in range(2):
                    expected = function(*hosts)
                    found = function(*arrays)
                    if expected is not None:
                        np.testing.assert_allclose(found.get(), expected, rtol=1e-5)
                    for array, host in zip(arrays, hosts, strict=True):
                        np.testing.assert_allclose(array.get(), host, rtol=1e-5)
            finally:
                cuda.Context.pop()
        del arrays, found
