"""Marks for some of a test's values."""

from collections.abc import Iterable

import pytest


def slow(values: Iterable) -> list:
    """The values as parameters that only ./test slow runs; tuples are several parameters."""
    mark = pytest.mark.slow
    return [
        pytest.param(*one, marks=mark)
        if isinstance(one, tuple)
        else pytest.param(one, marks=mark)
        for one in values
    ]
