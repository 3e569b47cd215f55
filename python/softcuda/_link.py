"""Folders with which a build links programs to softcuda: for a linker, and in the form of a toolkit."""

from __future__ import annotations

import os
import platform
import re
import shutil
from pathlib import Path

from softcuda import library
from softcuda._loader import closed_libraries, make_folder

# Libraries of softcuda that replace a toolkit's. The toolkit's files with these names are skipped.
OWN = re.compile(r"lib(cudart(_static)?|cuda|nvidia-ml|nvJitLink)\.(a|so(\.\d+)*)")
VERSIONED = re.compile(r"(lib.+\.so)\.\d+")


def link_libraries(driver: Path, major: int) -> dict[str, Path]:
    """The file for each name that a linker uses. ``major`` is the version of CUDA."""
    folder = driver.parent
    return {
        "libcudart_static.a": folder / f"libcudart_static_{major}.a",
        "libcudart.so": folder / f"libcudart.so.{major}",
        f"libcudart.so.{major}": folder / f"libcudart.so.{major}",
        "libcuda.so": folder / "libcuda_names.so",
        "libsoftcuda.so": driver,  # which libcudart.so needs
        "libnvidia-ml.so": folder / "libnvidia-ml.so.1",
        "libnvJitLink.so": folder / f"libnvJitLink.so.{major}",
        f"libnvJitLink.so.{major}": folder / f"libnvJitLink.so.{major}",
        **closed_libraries(major),
    }


def link_folder(major: int = 13) -> str:
    """The path of a folder for a linker's option ``-L``: with it, programs use softcuda's runtime.

    The folder has ``libcudart_static.a``, which compilers use by default, ``libcudart.so``, ``libcuda.so``,
    ``libnvidia-ml.so`` and ``libnvJitLink.so``, and with the package softcuda-libraries ``libcublas.so`` and so on. major: the version of CUDA of the compiler's headers, 12 or 13. The folder is
    in the user's cache folder, like that of :func:`softcuda.loader_folder`. Raises FileNotFoundError if one
    of the libraries is missing.
    """
    return make_folder("link", _checked(link_libraries(_driver(), major)))


def toolkit_folder(toolkit: str | None = None) -> str:
    """The path of a folder with the layout of a CUDA toolkit, in which the runtime is softcuda's.

    All other files are links to the files of ``toolkit``. The default is the toolkit of nvcc, or NVIDIA's
    packages in this Python. Build systems accept the folder as ``CUDA_PATH``, ``CUDA_HOME`` or
    ``CUDAToolkit_ROOT``. Its ``bin/nvcc`` links with softcuda's runtime by default. Each library
    with a version in its name also has the name without it, which the packages on PyPI do not have. Raises
    FileNotFoundError if there is no toolkit, or if it has no cuda.h.
    """
    root = Path(toolkit).absolute() if toolkit else _find_toolkit()
    links = _checked(link_libraries(_driver(), _major_of(root)))
    files = {f"lib64/{name}": path for name, path in links.items()}
    files["lib"] = Path("lib64")
    for path in root.iterdir():
        if path.name not in ("lib", "lib64", "bin", "targets"):
            files[path.name] = path
    # nvcc searches for its parts in the folder of the name with which it was started.
    for path in (root / "bin").iterdir():
        files[f"bin/{path.name}"] = path
    for path in _libraries_in(root):
        unversioned = VERSIONED.fullmatch(path.name)
        for name in (path.name, unversioned[1] if unversioned else path.name):
            if not OWN.fullmatch(name):
                files.setdefault(f"lib64/{name}", path)
    return make_folder("toolkit", files)


def _driver() -> Path:
    return Path(library()).resolve()


def _checked(libraries: dict[str, Path]) -> dict[str, Path]:
    for path in libraries.values():
        if not path.is_file():
            raise FileNotFoundError(
                f"there is no {path}, which programs are linked with"
            )
    return libraries


def _find_toolkit() -> Path:
    """The toolkit from the environment, of nvcc on the path, of this Python's packages, or of the system."""
    on_path = shutil.which("nvcc")
    candidates = (
        *(os.environ.get("CUDA_PATH"), os.environ.get("CUDA_HOME")),
        *([Path(on_path).resolve().parents[1]] if on_path else []),
        *(*_package_folders(), "/usr/local/cuda"),
    )
    for candidate in candidates:
        # The links in a folder of toolkit_folder() point outside it. /usr has more than a toolkit.
        if candidate and (nvcc := Path(candidate) / "bin/nvcc").is_file():
            root = nvcc.resolve().parents[1]
            if root != Path("/usr"):
                return root
    raise FileNotFoundError(
        "there is no CUDA toolkit: nvcc is not on the path, nor in this Python's package nvidia-cuda-nvcc"
    )


def _package_folders() -> list[str]:
    from importlib.util import find_spec

    spec = find_spec("nvidia")
    found = spec.submodule_search_locations if spec else None
    return [
        os.path.join(folder, name)
        for folder in found or ()
        for name in ("cu13", "cu12")
    ]


def _major_of(toolkit: Path) -> int:
    header = toolkit / "include/cuda.h"
    if not header.is_file():
        raise FileNotFoundError(f"there is no {header}; is {toolkit} a CUDA toolkit?")
    text = header.read_text(encoding="utf-8", errors="replace")
    version = int(re.search(r"#define CUDA_VERSION (\d+)", text)[1])
    if version // 1000 not in (12, 13):
        raise FileNotFoundError(f"{toolkit} is CUDA {version // 1000}, not 12 or 13")
    return version // 1000


def _libraries_in(toolkit: Path) -> list[Path]:
    """Each file of the toolkit's folder of libraries, which has different names in different toolkits."""
    target = {"aarch64": "sbsa"}.get(platform.machine(), platform.machine())
    for name in ("lib64", "lib", f"targets/{target}-linux/lib"):
        if (toolkit / name).is_dir():
            return sorted((toolkit / name).iterdir())
    return []
