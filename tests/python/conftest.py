"""What all tests share: a device with its context, and kernels compiled once."""

import gc
import os
import subprocess
import sys
import textwrap

import pytest

import pycuda.driver as cuda
from pycuda import _c_types


@pytest.fixture(scope="session")
def primary_context():
    cuda.init()
    return cuda.Device(0).retain_primary_context()


@pytest.fixture(scope="module", autouse=True)
def fast_collections():
    """What modules and earlier tests hold is left out of each test's garbage collection.

    With all modules of tests loaded, one would take 0.1 s.
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
    """The first device, if it has what compute capability 9.0 adds."""
    if device.compute_capability() < (9, 0):
        pytest.skip("needs compute capability 9.0")
    return device


@pytest.fixture(autouse=True)
def own_registry_of_types():
    """Names that a test registers for dtypes are forgotten after it."""
    registries = (_c_types.NAME_TO_DTYPE, _c_types.DTYPE_TO_NAME)
    before = [registry.copy() for registry in registries]
    yield
    for registry, known in zip(registries, before, strict=True):
        registry.clear()
        registry.update(known)


@pytest.fixture
def able(device):
    """Skip a test, saying so, where the driver answers that it does not have what ``attempt`` does.

    As soon as the driver has it, the test runs: nothing here knows which driver that is.
    """

    def probe(what, attempt):
        try:
            return attempt()
        except cuda.Error as error:
            if error.name in LACKS:
                pytest.skip(f"{cuda.get_driver_path()} has no {what}: {error}")
            raise

    return probe


# How a driver says that it does not have something.
LACKS = {
    "CUDA_ERROR_NOT_SUPPORTED",
    "CUDA_ERROR_INVALID_PTX",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
    "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER",
    "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
}


@pytest.fixture
def run_program(tmp_path):
    """Run a program in an interpreter of its own; returns the finished process."""

    def run(source, *args, timeout=120, **environment):
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(source))
        env = {**os.environ, "PYCUDA_CACHE_DIR": str(tmp_path / "cache"), **environment}
        # Chosen by name, softcuda announces nothing: stderr holds complaints only.
        if "PYCUDA_DRIVER" not in env and is_softcuda():
            env["PYCUDA_DRIVER"] = "softcuda"
        return subprocess.run(
            [sys.executable, program, *args],
            capture_output=True,
            text=True,
            timeout=timeout,
            env=env,
        )

    return run


def is_softcuda():
    return "softcuda" in cuda.get_driver_path()


def require_devices(count):
    """Skips the test on a machine with fewer GPUs. softcuda has as many as SOFTCUDA_DEVICES says."""
    cuda.init()
    if not is_softcuda() and cuda.Device.count() < count:
        pytest.skip(f"needs {count} GPUs")
