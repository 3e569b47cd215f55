"""A folder with softcuda's libraries under the names of NVIDIA's libraries, for the dynamic loader."""

from __future__ import annotations

import hashlib
import os
import tempfile
from importlib.util import find_spec
from pathlib import Path

from softcuda import library

# The driver's names. The other libraries search the last one in their own folder.
DRIVER_NAMES = ("libcuda.so.1", "libcuda.so", "libsoftcuda.so")
OTHER_NAMES = (
    "libcudart.so.12",
    "libcudart.so.13",
    "libnvidia-ml.so.1",
    "libnvJitLink.so.12",
    "libnvJitLink.so.13",
    "libsoftcuda_preload.so",
)
# Programs that load the runtime by hand, such as scikit-cuda, use the name without a version.
RUNTIME_NAME, RUNTIME = "libcudart.so", "libcudart.so.13"
# It loads nvJitLink, which Python packages would otherwise find in their own environment.
PRELOAD = "libsoftcuda_preload.so"


def closed_libraries(major: int = 13) -> dict[str, Path]:
    """softcuda's cuBLAS and so on by their names, if the package softcuda-libraries is installed.

    ``major`` is the version of CUDA whose libraries also have names without a version.
    """
    spec = find_spec("softcuda_libraries")
    folders = spec.submodule_search_locations if spec else None
    paths = [
        path for folder in folders or () for path in Path(folder).glob("lib*.so.*")
    ]
    # libcublas.so.12 and libcublas.so.13: the last of a name is that of CUDA 13.
    paths = sorted(filter(Path.is_file, paths), reverse=major == 12)
    return {
        name: path.resolve()
        for path in paths
        for name in (path.name, path.name.partition(".so.")[0] + ".so")
    }


def libraries_of(driver: Path) -> dict[str, Path]:
    """The file for each library name that programs use. The other libraries are in the driver's folder."""
    libraries = dict.fromkeys(DRIVER_NAMES, driver)
    for name in OTHER_NAMES:
        if (driver.parent / name).is_file():
            libraries[name] = driver.parent / name
    if RUNTIME in libraries:
        libraries[RUNTIME_NAME] = libraries[RUNTIME]
    return libraries | closed_libraries()


def loader_folder() -> str:
    """The path of a folder in which softcuda's libraries have the names of NVIDIA's.

    The folder is in the user's cache folder, or is a temporary one if the cache cannot be written. It has
    ``libcuda.so.1``, ``libcudart.so.12``, ``libcudart.so.13``, ``libnvidia-ml.so.1``, ``libnvJitLink.so.12``,
    ``libnvJitLink.so.13``, and names without a version; with the package softcuda-libraries also ``libcublas.so.12``
    and so on. Raises FileNotFoundError if there is no libsoftcuda.so.
    """
    return make_folder("loader", libraries_of(Path(library()).resolve()))


def make_folder(kind: str, files: dict[str, Path]) -> str:
    """A folder of links with these names, in the cache, or a temporary one. Returns its path."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = hashlib.sha256(repr(files).encode()).hexdigest()[:16]
    folder = Path(cache) / "softcuda" / kind / name
    try:
        link_names(folder, files)
    except OSError:  # no home folder, or a read-only one
        folder = Path(tempfile.mkdtemp(prefix="softcuda-"))
        link_names(folder, files)
    return str(folder)


def link_names(folder: Path, files: dict[str, Path]) -> None:
    """Create the links; keep those that another process creates at the same time."""
    for name, path in files.items():
        link = folder / name
        link.parent.mkdir(parents=True, exist_ok=True)
        try:
            link.symlink_to(path)
        except FileExistsError:
            if link.resolve() != (link.parent / path).resolve():
                raise


def loader_path() -> str:
    """A value of ``LD_LIBRARY_PATH`` with which a program finds softcuda's libraries first.

    The folders of this process's own ``LD_LIBRARY_PATH`` follow. Raises FileNotFoundError if there is no
    libsoftcuda.so.
    """
    return _after(loader_folder(), "LD_LIBRARY_PATH")


def loader_environment() -> dict[str, str]:
    """The environment variables with which a program finds softcuda's libraries first.

    ``LD_LIBRARY_PATH`` is as from :func:`loader_path`. ``LD_PRELOAD`` names a small library that loads softcuda's
    nvJitLink: Python packages look for nvJitLink in their environment, but before this among the libraries that are
    loaded already. ``ASAN_OPTIONS`` lets a program of AddressSanitizer start with a preloaded library that has no
    functions. Raises FileNotFoundError if there is no libsoftcuda.so.
    """
    folder = loader_folder()
    variables = {"LD_LIBRARY_PATH": _after(folder, "LD_LIBRARY_PATH")}
    preload = Path(folder) / PRELOAD
    if preload.is_file():
        # The value is split at spaces and colons. The name alone is searched in LD_LIBRARY_PATH.
        name = str(preload) if not set(" :") & set(folder) else PRELOAD
        before = os.environ.get("LD_PRELOAD")
        variables["LD_PRELOAD"] = f"{before}:{name}" if before else name
        options = ("verify_asan_link_order=0", os.environ.get("ASAN_OPTIONS"))
        variables["ASAN_OPTIONS"] = ":".join(filter(None, options))
    return variables


def _after(folder: str, variable: str) -> str:
    path = os.environ.get(variable)
    return f"{folder}:{path}" if path else folder
