"""Open the site of the docs, or say where it is and how it is made.

python -m pycuda.docs            open the site in a browser
python -m pycuda.docs --path     print the page's file
"""

from __future__ import annotations

import argparse
import sys
import webbrowser
from pathlib import Path


def site() -> Path | None:
    """The first page of the site; None where this package is not that of a repository."""
    for folder in Path(__file__).resolve().parents:
        if (folder / "tools/docs_site.py").exists():
            return folder / "build/docs/html/index.html"
    return None


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 where there is no site."""
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
            "the docs are in PyCUDA's repository, not in an installed package",
            file=sys.stderr,
        )
        return 1
    if not page.exists():
        print(f"there is no {page} yet: ./test docs makes it", file=sys.stderr)
        return 1
    if not chosen.path:
        webbrowser.open(page.as_uri())
    print(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
