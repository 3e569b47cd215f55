"""Fixtures of all tests: a device with its context, and kernels compiled once."""

import gc
import os
import subprocess
import sys
import textwrap

import pytest

import pycuda.driver as cuda
from pycuda import _c_types

# For programs of tests that import a test module: it imports this file and its neighbours.
os.environ["PYTHONPATH"] = os.pathsep.join(
    filter(None, (os.environ.get("PYTHONPATH"), os.path.dirname(__file__)))
)


@pytest.fixture(scope="session")
def primary_context():
    cuda.init()
    return cuda.Device(0).retain_primary_context()


@pytest.fixture(scope="module", autouse=True)
def fast_collections():
    """Leaves the objects of modules and earlier tests out of each test's garbage collection.

    With all test modules loaded, a collection would take 0.1 s.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture
def device(primary_context):
    """The first device, with its primary context current; the stack is as before afterwards."""
    with primary_context:
        yield cuda.Device(0)
        gc.collect()
        cuda.Context.synchronize()


@pytest.fixture
def hopper(device):
    """The first device, if it has the features of compute capability 9.0."""
    if device.compute_capability() < (9, 0):
        pytest.skip("needs compute capability 9.0")
    return device


@pytest.fixture(autouse=True)
def own_registry_of_types():
    """Removes the names that a test registers for dtypes after the test."""
    registries = (_c_types.NAME_TO_DTYPE, _c_types.DTYPE_TO_NAME)
    before = [registry.copy() for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.fixture
def able(device):
    """Skip a test with a message if the driver does not support what ``attempt`` does.

    The test does not depend on the name of the driver: it runs if the driver supports the feature.
    """

    def probe(what, attempt):
        try:
            return attempt()
        except cuda.Error as error:
            if error.name in LACKS:
                pytest.skip(f"{cuda.get_driver_path()} has no {what}: {error}")
            raise

    return probe


# The errors with which a driver reports an unsupported feature.
LACKS = {
    "CUDA_ERROR_NOT_SUPPORTED",
    "CUDA_ERROR_INVALID_PTX",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
}


@pytest.fixture
def run_program(tmp_path):
    """Run a program in a separate interpreter; returns the finished process."""

    def run(source, *args, timeout=120, **environment):
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(source))
        env = {**os.environ, "PYCUDA_CACHE_DIR": str(tmp_path / "cache"), **environment}
        # If it is selected by name, softcuda prints no notice: stderr has errors only.
        if "PYCUDA_DRIVER" not in env and is_softcuda():
            env["PYCUDA_DRIVER"] = "softcuda"
        done = subprocess.run(
            [sys.executable, program, *args],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=env,
        )
        if not is_softcuda() and "but there is no libsoftcuda.so" in done.stderr:
            pytest.skip("the program needs softcuda, which is not built here")
        return done

    return run


def is_softcuda():
    return "softcuda" in cuda.get_driver_path()


def require_devices(count):
    """Skips the test on a machine with fewer GPUs. softcuda has SOFTCUDA_DEVICES of them."""
    cuda.init()
    if not is_softcuda() and cuda.Device.count() < count:
        pytest.skip(f"needs {count} GPUs")
