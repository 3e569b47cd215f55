"""Assignments whose places, values and targets share memory: all elements are read before the first is written."""

import numpy as np
import pytest

from pycuda import gpuarray

pytestmark = pytest.mark.usefixtures("device")

SIZE = 50_000
ORDER = np.random.default_rng(1).permutation(SIZE)


def put_along(x, p):
    if isinstance(x, np.ndarray):
        np.put_along_axis(x, p, x, 0)
    else:
        gpuarray.put_along_axis(x, p, x, 0)


# Each function changes its first argument, an array or NumPy's, by the places of the second.
CASES = {
    "values": lambda x, p: x.__setitem__(p, x),
    "reversed values": lambda x, p: x.__setitem__(p, x[::-1]),
    "part of the values": lambda x, p: x.__setitem__(p[: SIZE // 2], x[1 : SIZE // 2 + 1]),
    "places": lambda x, p: x.__setitem__(x, -7),
    "places and values": lambda x, p: x.__setitem__(x, x[::-1]),
    "part of the places": lambda x, p: x[: SIZE // 2].__setitem__(x[: SIZE // 2] % (SIZE // 2), -1),
    "rows": lambda x, p: x.reshape(-1, 4).__setitem__(p[p < SIZE // 4], x.reshape(-1, 4)),
    "rows by own places": lambda x, p: x.reshape(-1, 4).__setitem__(x[:100] % 50, 3),
    "two places": lambda x, p: x.reshape(-1, 2).__setitem__((x[: SIZE // 2] % (SIZE // 2), x[SIZE // 2 :] % 2), -1),
    "put": lambda x, p: np.put(x, p, x),
    "put by own places": lambda x, p: np.put(x, x, 5),
    "put_along_axis": put_along,
    # NumPy itself reads elements after it has written them here, if the values are no copy.
    "mask": lambda x, p: x.__setitem__(x % 2 == 0, x[: (SIZE + 1) // 2].copy() if isinstance(x, np.ndarray) else x[: (SIZE + 1) // 2]),
    "own mask": lambda x, p: x.view(np.uint8).view(bool).__setitem__(x.view(np.uint8).view(bool)[::-1], False),
    "place": lambda x, p: np.place(x, x % 3 == 0, x[::-1]),
    "putmask": lambda x, p: np.putmask(x, x % 3 == 0, x[::-1]),
    "copyto": lambda x, p: np.copyto(x[1:], x[:-1]),
    "copyto with a mask": lambda x, p: np.copyto(x[1:], x[:-1], where=x[1:] % 2 == 0),
    "shifted": lambda x, p: x.__setitem__(slice(1, None), x[:-1]),
    "reversed": lambda x, p: x.__setitem__(slice(None), x[::-1]),
    "transposed": lambda x, p: x[:40000].reshape(200, 200).__setitem__(Ellipsis, x[:40000].reshape(200, 200).T),
    "add": lambda x, p: np.add(x[:-1], x[1:], out=x[1:]),
    "add at": lambda x, p: np.add.at(x, p, x),
    "add at own places": lambda x, p: np.add.at(x, x % 100, 1),
    "in place": lambda x, p: x[1:].__iadd__(x[:-1]),
    "cumsum": lambda x, p: np.cumsum(x[:-1], out=x[1:]),
    "cumsum reversed": lambda x, p: np.cumsum(x, out=x[::-1]),
    "maximum.accumulate": lambda x, p: np.maximum.accumulate(x[:-1], out=x[1:]),
    "sum of rows": lambda x, p: np.sum(x[:40000].reshape(200, 200), axis=0, out=x[100:300]),
    "take": lambda x, p: np.take(x, p, out=x, mode="wrap"),
    "take by own places": lambda x, p: np.take(p, x, out=x, mode="wrap"),
    "clip": lambda x, p: np.clip(x[:-1], x[1:], SIZE, out=x[1:]),
    "choose": lambda x, p: np.choose(x % 2, [x[::-1], x], out=x),
    "concatenate": lambda x, p: np.concatenate([x[SIZE // 2 :], x[: SIZE // 2]], out=x),
    "matmul": lambda x, p: np.matmul(x[:10000].reshape(100, 100) % 10, x[5000:15000].reshape(100, 100) % 10, out=x[:10000].reshape(100, 100)),
    "divmod": lambda x, p: np.divmod(x[1:-1], 7, out=(x[2:], x[:-2])) if False else np.floor_divide(x[1:-1], 7, out=x[2:]),
    "median": lambda x, p: np.copyto(x[:200], np.sort(x[:40000].reshape(200, 200), axis=1)[:, 100]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_all_elements_are_read_first(name):
    host = ORDER.copy()
    device = gpuarray.to_gpu(ORDER)
    places = np.random.default_rng(2).permutation(SIZE)
    CASES[name](host, places)
    CASES[name](device, gpuarray.to_gpu(places))
    assert int((device.get() != host).sum()) == 0
