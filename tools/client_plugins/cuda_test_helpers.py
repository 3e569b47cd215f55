"""A pytest plugin: the package cuda.bindings._test_helpers of the checkout, which the wheels do not have."""

from pathlib import Path

import cuda.bindings

CHECKOUT = Path.cwd().parents[
    1
]  # pytest runs in cuda_core/tests or cuda_bindings/tests

# The wheel's own modules come before those of the checkout, which are sources.
cuda.bindings.__path__.append(str(CHECKOUT / "cuda_bindings/cuda/bindings"))
