"""Run a program on softcuda, PyCUDA's CUDA driver in software, in place of NVIDIA's driver.

    softcuda-exec PROGRAM [ARGUMENT...]
    softcuda-exec --check=MODES [--json=PATH] [--suppress=FILE] [--error-exitcode=N] PROGRAM ...
    softcuda-exec --profile=PATH PROGRAM ...

The program is any that uses the CUDA driver API through libcuda.so.1, or the CUDA runtime API through
libcudart.so.12 or libcudart.so.13: in C++, or in Python with Numba or cuda.core. It need not know of
softcuda. A folder in which these libraries are softcuda's is put first on the loader's path; nothing
else changes.

--check finds defects in the program's kernels. MODES are mem, race, init and sync, separated by commas, or
all. The findings are printed at the end, and the exit status is 1 if there is any.

--profile says why the program's kernels are slow, as a page of HTML, or as text on stderr where PATH is "-".
Lines are those of the source if the program was compiled with -lineinfo, else those of the PTX code.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from pathlib import Path

from pycuda import _check_command, _profile_command

# What the driver is called. The runtime library looks for the last name, in its own folder.
DRIVER_NAMES = ("libcuda.so.1", "libcuda.so", "libsoftcuda.so")
RUNTIME_NAMES = ("libcudart.so.12", "libcudart.so.13")


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


def libraries_of(driver: Path) -> dict[str, Path]:
    """What each name that programs ask for stands for; runtime libraries lie beside the driver."""
    libraries = dict.fromkeys(DRIVER_NAMES, driver)
    for name in RUNTIME_NAMES:
        if (driver.parent / name).is_file():
            libraries[name] = driver.parent / name
    return libraries


def loader_folder(driver: Path) -> Path:
    """A folder in which softcuda has the names of NVIDIA's libraries."""
    libraries = libraries_of(driver)
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = hashlib.sha256(repr(libraries).encode()).hexdigest()[:16]
    folder = Path(cache) / "softcuda" / "loader" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        link_names(folder, libraries)
    except OSError:  # no home, or a read-only one
        folder = Path(tempfile.mkdtemp(prefix="softcuda-"))
        link_names(folder, libraries)
    return folder


def link_names(folder: Path, libraries: dict[str, Path]) -> None:
    """Make the links, or leave those that another process made at the same time."""
    for name, library in libraries.items():
        link = folder / name
        try:
            link.symlink_to(library)
        except FileExistsError:
            if link.resolve() != library.resolve():
                raise


def loader_path() -> str:
    """LD_LIBRARY_PATH for a program that is to find softcuda."""
    folder = loader_folder(find_library())
    path = os.environ.get("LD_LIBRARY_PATH")
    return f"{folder}:{path}" if path else str(folder)


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options before the program's name. What follows that is the program's own."""
    parser = argparse.ArgumentParser(
        prog="softcuda-exec",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--check", type=_check_command.modes_argument, metavar="MODES", default=()
    )
    _check_command.add_options(parser)
    parser.add_argument("--profile", metavar="PATH")
    parser.add_argument("program", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    if not options.program:
        parser.error("which program?")
    if not options.check and (options.json or options.suppress):
        parser.error("--json and --suppress go with --check")
    if options.check and options.profile:
        parser.error("--check and --profile each need a run of their own")
    return options


def main() -> None:
    """Replace this process by the program, or run the program and print what was found."""
    options = parse(sys.argv[1:])
    if options.check:
        environment = {
            "LD_LIBRARY_PATH": loader_path(),
            "SOFTCUDA_CHECK": ",".join(options.check),
        }
        sys.exit(
            _check_command.run_checked(
                options.program, options.check, options, environment
            )
        )
    if options.profile:
        is_text = options.profile == "-"
        wanted = argparse.Namespace(
            output=None if is_text else options.profile,
            text=is_text,
            trace=None,
            timeline=False,
        )
        environment = {"LD_LIBRARY_PATH": loader_path()}
        sys.exit(_profile_command.run_profiled(options.program, wanted, environment))
    os.environ["LD_LIBRARY_PATH"] = loader_path()
    try:
        os.execvp(options.program[0], options.program)
    except OSError as error:
        sys.exit(f"softcuda-exec: {options.program[0]}: {error.strerror}")


if __name__ == "__main__":
    main()
