"""A pytest plugin: the fixture that is in numba-cuda's repository, but not in its wheel."""

import pytest


@pytest.fixture(scope="class")
def initialize_from_pytest_config(request):
    """Tests that compare text with FileCheck read this attribute of their class."""
    request.cls._dump_failed_filechecks = False
