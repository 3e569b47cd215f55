"""The registry of array functions: each is declared once, and everything generated from it agrees."""

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections import Counter

import numpy as np
import pytest

from pycuda import array_api, arrays, fft, gpuarray, linalg
from pycuda.arrays import registry
from pycuda.arrays.protocols.numpy_functions import function_for

# NumPy functions of the registry that the oldest supported NumPy does not have.
NEWER = {"matvec", "vecmat", "unstack", "cumulative_sum", "cumulative_prod"}
GONE = {"row_stack"}  # from NumPy 2.5


def test_importing_the_public_modules_completes_the_registry():
    before = len(registry.ENTRIES)
    for module in pkgutil.walk_packages(arrays.__path__, "pycuda.arrays."):
        importlib.import_module(module.name)
    assert len(registry.ENTRIES) == before > 300


def test_importing_gpuarray_alone_completes_its_own_functions(run_program):
    """Linear algebra and transforms take milliseconds to load, so gpuarray does not import them."""
    done = run_program(
        """
        import sys
        from pycuda import gpuarray
        from pycuda.arrays import registry
        slow = {"pycuda.arrays.linalg.factoring", "pycuda.arrays.fourier.functions", "pycuda.compiler"}
        assert not slow & set(sys.modules), slow & set(sys.modules)
        before = set(registry.module_functions(""))
        from pycuda.arrays.protocols import all_functions
        assert set(registry.module_functions("")) == before
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_functions_of_numpy_load_what_they_need(run_program):
    done = run_program(
        """
        import sys
        import numpy as np
        import pycuda.autoinit
        from pycuda import gpuarray
        x = gpuarray.array([[3.0, 4.0]])
        np.concatenate([x, x])
        slow = {"pycuda.arrays.linalg.norms", "pycuda.arrays.fourier.functions", "dataclasses"}
        assert not slow & set(sys.modules), slow & set(sys.modules)
        assert np.linalg.norm(x) == 5
        assert np.fft.fft(x).shape == (1, 2)
        """
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("where", ["module", "numpy", "array_api"])
def test_no_name_is_declared_twice(where):
    names = Counter(
        (entry.namespace, name)
        for entry in registry.ENTRIES
        if getattr(entry, where)
        for name in (entry.api_names if where == "array_api" else entry.names)
    )
    assert [name for name, count in names.items() if count > 1] == []


def test_names_of_numpy_exist():
    owners = {"": np, "linalg": np.linalg, "fft": np.fft}
    missing = {
        name
        for entry in registry.ENTRIES
        if entry.numpy
        for name in entry.names
        if not hasattr(owners[entry.namespace], name)
        and not hasattr(np.lib.stride_tricks, name)
    }
    assert missing <= NEWER | GONE


def test_one_function_has_all_the_names_of_a_sum():
    own = registry.functions_like_numpy()["sum"]
    assert array_api.sum is own is function_for(np.sum)
    assert gpuarray.GPUArray.sum is own
    assert gpuarray.concat is gpuarray.concatenate is array_api.concat


def test_parameters_in_pycudas_order(device):
    x = gpuarray.to_gpu(np.float32([3, 1, 2]))
    names = list(inspect.signature(gpuarray.any).parameters)
    assert names[:3] == ["a", "stream", "allocator"]
    assert gpuarray.zeros(2, np.int8, None, "F").get().tolist() == [0, 0]
    chosen = gpuarray.where(criterion=x > 1, then_=x, else_=0)
    assert chosen.get().tolist() == [3, 0, 2]
    with pytest.raises(TypeError, match="at most 2 arguments by position, not 3"):
        gpuarray.max(x, None, 0)
    with pytest.raises(TypeError, match="got multiple values for argument 'a'"):
        gpuarray.max(x, a=x)


def test_pickles_name_public_modules(device):
    x = gpuarray.to_gpu(np.int32([1, 2]))
    restore = x.__reduce__()[0]  # dumps() may use one that pycuda.dask registers
    assert restore.__module__ == "pycuda.gpuarray"
    assert getattr(gpuarray, restore.__qualname__) is restore
    assert b"pycuda.arrays" not in pickle.dumps(x, protocol=0)
    assert pickle.loads(pickle.dumps(x)).get().tolist() == [1, 2]
    assert copy.deepcopy(x).get().tolist() == [1, 2]
    assert gpuarray.GPUArray.__module__ == "pycuda.gpuarray"
    for function in (gpuarray.sum, gpuarray.max, gpuarray.sort, linalg.solve, fft.fft):
        assert pickle.loads(pickle.dumps(function)) is function


# Arguments that NumPy's calls once ignored


def test_creation_by_numpy_checks_the_device(device):
    with pytest.raises(ValueError, match="device must be None"):
        gpuarray.zeros(3, device="cpu")


def test_array_has_the_requested_order(device):
    host = np.arange(6).reshape(2, 3)
    assert gpuarray.array(host, order="F").flags.f_contiguous
    assert gpuarray.asarray(gpuarray.to_gpu(host), order="F").flags.f_contiguous
    with pytest.raises(ValueError, match="another order"):
        gpuarray.asarray(gpuarray.to_gpu(host), order="F", copy=False)


def test_axis_of_a_range_of_numbers(device):
    with pytest.raises(ValueError, match="axis must be 0"):
        gpuarray.logspace(0, 1, 3, axis=1)
    with pytest.raises(ValueError, match="axis must be 0"):
        gpuarray.geomspace(1, 2, 3, axis=1)


def test_a_variance_about_a_known_mean(device):
    x = gpuarray.to_gpu(np.float64([[1, 2, 6], [3, 4, 5]]))
    mean = gpuarray.to_gpu(np.float64([[3], [3]]))
    expected = ((x.get() - mean.get()) ** 2).mean(1)
    np.testing.assert_allclose(np.var(x, axis=1, mean=mean).get(), expected)
    np.testing.assert_allclose(np.std(x, axis=1, mean=mean).get(), expected**0.5)
    np.testing.assert_allclose(np.nanvar(x, axis=1, mean=mean).get(), expected)


def test_kinds_that_numpy_does_not_have(device):
    x = gpuarray.to_gpu(np.arange(4))
    with pytest.raises(ValueError, match="kind must be 'introselect'"):
        np.partition(x, 1, kind="quick")
    with pytest.raises(ValueError, match="kind must be 'introselect'"):
        np.argpartition(x, 1, kind="quick")
    with pytest.raises(ValueError, match="kind must be None"):
        np.isin(x, x, kind="hash")


def test_clip_accepts_the_keywords_of_a_ufunc(device):
    host = np.array([1, 5, 9])
    x = gpuarray.to_gpu(host)
    for low, high in ((0, 6), (None, 6), (2, None), (None, None)):
        out, mask = np.zeros(3, int), np.array([True, False, True])
        expected = host if low is None and high is None else np.clip(host, low, high)
        got = np.clip(x, low, high, where=mask, out=gpuarray.to_gpu(out))
        np.testing.assert_array_equal(got.get(), np.where(mask, expected, out))
        np.testing.assert_array_equal(np.clip(x, low, high, where=True).get(), expected)
        assert np.clip(x, low, high, dtype=np.float32).dtype == np.float32
