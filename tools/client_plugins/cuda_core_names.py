"""A pytest plugin: names that cuda.core's tests import, and that the wheels do not have."""

from pathlib import Path

import cuda.bindings
import cuda.core._memory
from cuda.core._memory import _ipc

cuda.core._memory.IPCBufferDescriptor = _ipc.IPCBufferDescriptor

# The package _test_helpers of the checkout. The other modules of the wheel are found before the checkout's.
CHECKOUT = Path.cwd().parents[1]  # pytest runs in cuda_core/tests
cuda.bindings.__path__.append(str(CHECKOUT / "cuda_bindings/cuda/bindings"))
