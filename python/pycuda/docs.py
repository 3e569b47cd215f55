"""Open the documentation, or explain where it is and how to make it.

python -m pycuda.docs            open the site in a browser
python -m pycuda.docs --path     print the path of the first page
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path


def site() -> Path | None:
    """The first page of the documentation; None if this package is not in a repository."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "tools/docs_site.py").exists():
            return folder / "build/docs/html/index.html"
    return None


def main(arguments: list[str] | None = None) -> int:
    """The command; returns 1 if there is no documentation."""
    parser = argparse.ArgumentParser(
        prog="python -m pycuda.docs", description="Open the docs."
    )
    parser.add_argument(
        "--path", action="store_true", help="print where the first page is"
    )
    chosen = parser.parse_args(arguments)
    page = site()
    if page is None:
        print(
            "the docs are in PyCUDA's repository, not in an installed package. In a clone, ./test docs builds them, and "
            "./run -m pycuda docs opens them. python -m pydoc pycuda.gpuarray shows the docstrings of a module.",
            file=sys.stderr,
        )
        return 1
    if not page.exists():
        print(f"there is no {page} yet: ./test docs builds it", file=sys.stderr)
        return 1
    if not chosen.path:
        webbrowser.open(page.as_uri())
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
