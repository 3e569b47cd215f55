"""CUDA C++ to device code at run time.

>>> mod = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
>>> twice = mod.get_function("twice")
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Sequence

from pycuda import _driver, driver

DEFAULT_NVCC_FLAGS: list[str] = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()

# Frames between the user's line and _warn_of_log, when SourceModule or compile is called.
_STACKLEVEL = 4


def _find_compiler() -> None:
    """Tell where the nvidia-* wheels and the headers for kernels are."""
    for folder in sys.path:
        if folder and os.path.isdir(os.path.join(folder, "nvidia")):
            _driver.add_compiler_directory(folder)
    headers = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda")
    if os.path.isdir(headers):
        _driver.set_kernel_header_directory(headers)


_find_compiler()


def _warn_of_log(log: str) -> None:
    if log.strip():
        warnings.warn(
            "The CUDA compiler succeeded, but said the following:\n" + log,
            stacklevel=_STACKLEVEL,
        )
    if "demoted" in log or "demoting" in log:
        warnings.warn(
            "nvcc said it demoted types in source code it compiled--this is likely not what "
            "you want.",
            stacklevel=_STACKLEVEL,
        )


def _compile(
    source: object,
    nvcc: str,
    options: Sequence[str] | None,
    keep: bool,
    no_extern_c: bool,
    arch: str | None,
    code: str | None,
    cache_dir: str | os.PathLike | bool | None,
    include_dirs: Iterable[str] | None,
    target: str,
) -> _driver.CompileResult:
    options = list(DEFAULT_NVCC_FLAGS if options is None else options)
    if driver.CUDA_DEBUGGING:
        options += ["-g", "-G"]
        cache_dir, keep = False, True
    try:
        result = _driver.compile_source(
            str(source),
            nvcc,
            options,
            keep,
            no_extern_c,
            arch or "",
            code or "",
            cache_dir,
            [os.fspath(folder) for folder in include_dirs or ()],
            target,
        )
    except driver.CompileError as error:
        if error.kept_in:
            print(f"*** compiler output in {error.kept_in}")
        raise
    if result.kept_in:
        print(f"*** compiler output in {result.kept_in}")
    _warn_of_log(result.log)
    return result


def compile(
    source: object,
    nvcc: str = "nvcc",
    options: Sequence[str] | None = None,
    keep: bool = False,
    no_extern_c: bool = False,
    arch: str | None = None,
    code: str | None = None,
    cache_dir: str | os.PathLike | bool | None = None,
    include_dirs: Iterable[str] | None = None,
    target: str = "cubin",
) -> bytes:
    """Compile CUDA C++ to a ``"cubin"``, ``"ptx"`` or ``"fatbin"``.

    The arguments are those of :class:`SourceModule`. Raises
    :class:`pycuda.driver.CompileError`.

    >>> ptx = compile("__global__ void nop() {}", arch="sm_86", target="ptx")
    """
    if target not in ("cubin", "ptx", "fatbin"):
        raise ValueError(f'target must be "cubin", "ptx" or "fatbin", not {target!r}')
    return _compile(
        source,
        nvcc,
        options,
        keep,
        no_extern_c,
        arch,
        code,
        cache_dir,
        include_dirs,
        target,
    ).image


class CudaModule:
    """Device code of the current context, with its kernels and variables."""

    module: _driver.Module

    def get_function(self, name: str) -> _driver.Function:
        """The kernel ``name``. An unknown name is an error that lists the names there are."""
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Address and size in bytes of a ``__device__`` or ``__constant__`` variable."""
        return self.module.get_global(name)


class SourceModule(CudaModule):
    """Compile CUDA C++ and load it into the current context.

    source: the program's text, or an object whose ``str()`` is.
    nvcc: ``"nvcc"`` is NVRTC in this process, and nvcc only for what NVRTC cannot do;
        ``"nvrtc"`` or the path of an nvcc insists on that one.
    options: as for nvcc, such as ``["-std=c++17", "--use_fast_math"]``;
        None is :data:`DEFAULT_NVCC_FLAGS`.
    keep: leave the compiler's files in a folder, whose name is printed.
    no_extern_c: do not wrap the source in ``extern "C" { }``; needed for templates.
    arch, code: as nvcc's options; None is the device's own.
    cache_dir: None is ``$PYCUDA_CACHE_DIR`` or the user's cache folder; False, no cache.
    include_dirs: searched for ``#include``.

    Raises :class:`pycuda.driver.CompileError`. What the compiler says on success (such as
    ptxas's ``-v``) becomes a ``UserWarning``.

    >>> mod = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
    >>> mod.get_function("twice")(a_gpu, block=(16, 1, 1))
    """

    def __init__(
        self,
        source: object,
        nvcc: str = "nvcc",
        options: Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | os.PathLike | bool | None = None,
        include_dirs: Iterable[str] | None = None,
    ) -> None:
        source = str(source)
        result = _compile(
            source,
            nvcc,
            options,
            keep,
            no_extern_c,
            arch,
            code,
            cache_dir,
            include_dirs,
            "image",
        )
        self.module = _driver.module_from_buffer(result.image)
        self.module._describe(source)
