"""Show the driver, the devices and the compilers that PyCUDA finds on this machine.

python -m pycuda                    driver, devices, compilers, headers, caches
python -m pycuda cache              the content of the cache of compiled kernels
python -m pycuda cache --clear      clear the cache
python -m pycuda check PROGRAM      run a program and find defects in its kernels; see --help
python -m pycuda profile PROGRAM    run a program and show the costs of its kernels; see --help
python -m pycuda gdb PROGRAM        run a program under gdb, which stops in its kernels; see --help
python -m pycuda docs               open the documentation, or print its path
python -m pycuda --version          the version of PyCUDA
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pycuda
from pycuda import (
    _check_command,
    _gdb_command,
    _profile_command,
    compiler,
    docs,
    driver,
)
from pycuda._cache_folder import cache_directory

#: Commands with options of their own.
COMMANDS = {
    "check": _check_command.main,
    "profile": _profile_command.main,
    "gdb": _gdb_command.main,
    "docs": docs.main,
}


def _readable(size: float) -> str:
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def _line(name: str, value: object) -> None:
    print(f"{name:18} {value}")


def _describe_driver() -> bool:
    """Print driver and devices; False if there is no driver."""
    try:
        driver.init()
    except driver.Error as error:
        _line("driver", f"none: {error}")
        return False
    version = driver.get_driver_version()
    path = driver.get_driver_path()
    _line("driver", f"{path}, CUDA {version // 1000}.{version % 1000 // 10}")
    if "softcuda" in path:
        _line(
            "",
            "kernels run on the CPU; with an NVIDIA driver and GPU they run on the GPU",
        )
    for number in range(driver.Device.count()):
        device = driver.Device(number)
        major, minor = device.compute_capability()
        _line(
            f"device {number}",
            f"{device.name()}, compute capability {major}.{minor}, "
            f"{device.multiprocessor_count} multiprocessors, "
            f"{_readable(device.total_memory())}",
        )
    return True


def _describe_compilers() -> bool:
    """Try NVRTC and look for nvcc; False if neither is found."""
    nvrtc = True
    try:
        compiler.compile(
            "__global__ void f() {}", nvcc="nvrtc", target="ptx", cache_dir=False
        )
        _line("NVRTC", "works")
    except driver.CompileError as error:
        nvrtc = False
        _line("NVRTC", f"missing: {error.msg}")
        _line("", "pip install nvidia-cuda-nvrtc, or set CUDA_HOME to a toolkit")
    nvcc = shutil.which("nvcc")
    _line("nvcc", nvcc or "not on PATH; needed only if a program requests it")
    return nvrtc or nvcc is not None


def _describe_headers() -> None:
    headers = Path(compiler.__file__).parent / "cuda"
    names = ", ".join(sorted(path.name for path in headers.glob("*.hpp")))
    _line("kernel headers", f"{headers}: {names}")


def _cache_files() -> Iterator[Path]:
    folder = cache_directory()
    return (path for path in folder.rglob("*") if path.is_file())


def _describe_cache() -> None:
    sizes = [path.stat().st_size for path in _cache_files()]
    files = "1 file" if len(sizes) == 1 else f"{len(sizes)} files"
    _line("cache", f"{cache_directory()}: {files}, {_readable(sum(sizes))}")
    if os.environ.get("PYCUDA_DISABLE_CACHE"):
        _line("", "PYCUDA_DISABLE_CACHE is set: it is not used")


def _show() -> int:
    _line("pycuda", f"{pycuda.VERSION_TEXT}, {Path(pycuda.__file__).parent}")
    _line("python", f"{sys.version.split()[0]}, {sys.executable}")
    has_driver = _describe_driver()
    has_compiler = _describe_compilers()
    _describe_headers()
    _describe_cache()
    for name in sorted(os.environ):
        if name.startswith(("PYCUDA_", "CUDA_", "SOFTCUDA_")):
            _line(f"${name}", os.environ[name])
    return 0 if has_driver and has_compiler else 1


def _cache(clear: bool) -> int:
    if clear:
        freed = sum(path.stat().st_size for path in _cache_files())
        shutil.rmtree(cache_directory(), ignore_errors=True)
        print(f"{_readable(freed)} freed")
    _describe_cache()
    return 0


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in COMMANDS:
        return COMMANDS[arguments[0]](arguments[1:])
    parser = argparse.ArgumentParser(
        prog="python -m pycuda",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "command",
        nargs="?",
        choices=["cache", *COMMANDS],
        help="without a command: show the driver, the devices and the compilers",
    )
    parser.add_argument(
        "--version", action="version", version=f"pycuda {pycuda.VERSION_TEXT}"
    )
    parser.add_argument("--clear", action="store_true", help="empty the cache")
    options = parser.parse_args(arguments)
    if options.clear and options.command != "cache":
        parser.error("--clear needs the command cache")
    return _cache(options.clear) if options.command == "cache" else _show()


def _run() -> int:
    """Run the command line; the output may go to a program that ends early, such as ``head``."""
    try:
        status = main()
        sys.stdout.flush()
        return status
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(_run())
