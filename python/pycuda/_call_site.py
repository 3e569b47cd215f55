"""The program's line that is being executed, as seen from inside this package."""

from __future__ import annotations

import os
import re
import sys

_CELL = re.compile(r"In\[(\d+)\]")
_PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


def _shown(file: str) -> str:
    """The name of a source file in messages: a cell of a notebook is "cell 7"."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    found = shell.compile.format_code_name(file) if shell is not None else None
    cell = _CELL.fullmatch(found[1]) if found else None
    return f"cell {cell[1]}" if cell else file


def call_site() -> str:
    """The innermost line of this thread outside of this package, as "file:line" or "cell 7:line"; "" if there is none."""
    frame = sys._getframe(1) if sys._getframe(0).f_back else None
    while frame is not None:
        name = frame.f_code.co_filename
        if not os.path.abspath(name).startswith(_PACKAGE):
            return f"{_shown(name)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""
