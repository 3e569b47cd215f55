"""What the property-based tests beside numpy have in common."""

import pytest

hypothesis = pytest.importorskip("hypothesis")

# The same examples in each run: kernels that were compiled once are found again.
settings = hypothesis.settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(hypothesis.HealthCheck),
)
