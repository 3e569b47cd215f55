"""A pytest plugin: selects Dr.Jit's tests of its CUDA arrays, and those without a kind of array.

Its LLVM backend needs a library that may be missing, and does not use a CUDA driver.
"""

import re


def pytest_collection_modifyitems(config, items):
    """Tests have the kind of array in their names: test[drjit.llvm.ad.Float]."""
    others = [
        item
        for item in items
        if re.search(r"drjit\.(llvm|scalar|metal)\b", item.nodeid)
    ]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in set(others)]
