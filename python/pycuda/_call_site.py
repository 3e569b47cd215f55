"""The program's line that is being executed, as seen from inside this package."""

from __future__ import annotations

import os
import sys

_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def call_site() -> str:
    """The innermost line of this thread outside of this package, as "file:line"; "" if there is none."""
    frame = sys._getframe(1) if sys._getframe(0).f_back else None
    while frame is not None:
        name = frame.f_code.co_filename
        if not os.path.abspath(name).startswith(_PACKAGE):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
