"""Settings of the property-based tests that compare with numpy."""

import pytest

hypothesis = pytest.importorskip("hypothesis")

# The same examples in each run, so that compiled kernels are in the cache.
settings = hypothesis.settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
