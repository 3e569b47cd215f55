"""Run a program on softcuda, PyCUDA's CUDA driver in software, in place of NVIDIA's driver.

    softcuda-exec PROGRAM [ARGUMENT...]

The program is any that uses the CUDA driver API through libcuda.so.1: in C++, or in Python with
Numba, cuda.core or CuPy. It need not know of softcuda. A folder with a libcuda.so.1 that is softcuda
is put first on the loader's path; nothing else changes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from pathlib import Path

NAMES = ("libcuda.so.1", "libcuda.so")


def find_library() -> Path:
    """The softcuda library: what PYCUDA_SOFTCUDA_LIBRARY says, or the one beside this package."""
    chosen = os.environ.get("PYCUDA_SOFTCUDA_LIBRARY")
    here = Path(__file__).absolute().parent
    library = Path(chosen) if chosen else here / "libsoftcuda.so"
    if not library.is_file():
        raise FileNotFoundError(
            f"there is no {library}; set PYCUDA_SOFTCUDA_LIBRARY to the path of libsoftcuda.so"
        )
    return library.resolve()


def loader_folder(library: Path) -> Path:
    """A folder in which `library` has the names of NVIDIA's driver."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = hashlib.sha256(str(library).encode()).hexdigest()[:16]
    folder = Path(cache) / "softcuda" / "loader" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        link_names(folder, library)
    except OSError:  # no home, or a read-only one
        folder = Path(tempfile.mkdtemp(prefix="softcuda-"))
        link_names(folder, library)
    return folder


def link_names(folder: Path, library: Path) -> None:
    """Make the links, or leave those that another process made at the same time."""
    for name in NAMES:
        link = folder / name
        try:
            link.symlink_to(library)
        except FileExistsError:
            if link.resolve() != library:
                raise


def main() -> None:
    """Replace this process by the program."""
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if len(sys.argv) > 1 else 2)
    folder = loader_folder(find_library())
    path = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{path}" if path else str(folder)
    try:
        os.execvp(sys.argv[1], sys.argv[1:])
    except OSError as error:
        sys.exit(f"softcuda-exec: {sys.argv[1]}: {error.strerror}")


if __name__ == "__main__":
    main()
