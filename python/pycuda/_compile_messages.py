"""Messages about a source that the compiler has compiled or the driver refuses."""

from __future__ import annotations

import re
import warnings

_INDEX_WITH_COMMA = re.compile(r"\[[^]\n]*,[^]\n]*\]")


def warn_of_log(log: str, stacklevel: int) -> None:
    """Warns with the compiler's messages about a source that compiled."""
    if log.strip():
        advice = ""
        if "expression has no effect" in log and _INDEX_WITH_COMMA.search(log):
            advice = "\na[y, x] means a[x] in C++; write a[y * width + x]"
        warnings.warn(
            "The CUDA compiler succeeded, but said the following:\n" + log + advice,
            stacklevel=stacklevel,
        )
    if "demoted" in log or "demoting" in log:
        warnings.warn(
            "nvcc said it demoted types in source code it compiled--this is likely not what "
            "you want.",
            stacklevel=stacklevel,
        )
