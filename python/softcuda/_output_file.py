"""Files that the commands write. Their paths are checked before the program runs, because a run can take hours."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path


def output_path(text: str) -> str:
    """For argparse: the path of a file that can be written."""
    path = Path(text).absolute()
    if path.is_dir():
        raise argparse.ArgumentTypeError(
            f"{text!r} is a folder; expected the name of a file"
        )
    if not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder '{path.parent}'")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise argparse.ArgumentTypeError(f"no permission to write {text!r}")
    return text


def write_or_explain(path: str, text: str) -> bool:
    """Write the file. If this fails, print the reason to stderr and return False."""
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        print(f"softcuda: cannot write {path}: {error.strerror}", file=sys.stderr)
        return False
    return True
