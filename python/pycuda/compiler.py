"""Compiles CUDA C++ to device code at run time.

>>> mod = SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
>>> twice = mod.get_function("twice")
>>> x = gpuarray.array([1, 2], np.float32)
>>> twice(x, block=(2, 1, 1))
>>> x
array([2., 4.], dtype=float32)
"""

from __future__ import annotations

import os
import sys
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterable, Sequence

from pycuda import _debug_sources, _driver, _profile_sources, driver
from pycuda._compile_messages import warn_of_log
from pycuda._source_text import text_of

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from typing import NoReturn

DEFAULT_NVCC_FLAGS: list[str] = os.environ.get("PYCUDA_DEFAULT_NVCC_FLAGS", "").split()


def _find_compiler() -> None:
    """Pass the folders of the nvidia-* wheels and of the kernel headers to the compiler search."""
    for folder in sys.path:
        if folder and os.path.isdir(os.path.join(folder, "nvidia")):
            _driver.add_compiler_directory(folder)
    headers = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cuda")
    if os.path.isdir(headers):
        _driver.set_kernel_header_directory(headers)


_find_compiler()


# The arguments that compile() and SourceModule share.
_How = namedtuple(
    "_How",
    "nvcc options keep no_extern_c arch code cache_dir include_dirs",
    defaults=("nvcc", None, False, False, None, None, None, None),
)


def _compile(
    source: object,
    target: str,
    how: _How,
    name_expressions: Sequence[str] = (),
    frames: int | None = 1,
    refused: tuple[()] | tuple[_driver.CompileResult, str] = (),  # of compile_source()
) -> _driver.CompileResult:
    """``frames`` is the number of functions between the user's line and this one; None: no warning of the compiler's."""
    # As in PyCUDA, an option that is on or off accepts any truth value.
    for name in ("options", "include_dirs"):
        if isinstance(given := getattr(how, name), str):
            raise TypeError(f"{name} must be a list of strings, such as [{given!r}]")
    options = list(DEFAULT_NVCC_FLAGS if how.options is None else how.options)
    for option in options:
        if not isinstance(option, str):
            raise TypeError(
                f"options must be a list of strings; it contains {option!r}"
            )
    text = text_of(source)
    if driver.CUDA_DEBUGGING or _debug_sources.FOLDER:
        options += ["-g", "-G"]
        how = how._replace(cache_dir=False, keep=how.keep or driver.CUDA_DEBUGGING)
    if _debug_sources.FOLDER and not driver.CUDA_DEBUGGING:
        text = _debug_sources.keep(text)
    try:
        result = _driver.compile_source(
            text,
            how.nvcc,
            options,
            bool(how.keep),
            bool(how.no_extern_c),
            "" if how.arch in (None, "native") else how.arch,
            how.code or "",
            how.cache_dir,
            [os.fspath(folder) for folder in how.include_dirs or ()],
            target,
            list(name_expressions),
            *refused,
        )
    except driver.CompileError as error:
        if error.kept_in:
            print(f"*** compiler output in {error.kept_in}")
        raise
    if result.kept_in:
        print(f"*** compiler output in {result.kept_in}")
    warn_of_log(result.log if frames is not None else "", stacklevel=(frames or 1) + 3)
    return result


def _module_of(result: _driver.CompileResult) -> _driver.Module:
    """Load an image. If the driver refuses PTX, the error is a CompileError."""
    said: list[tuple[bool, str, str]] = []
    try:
        return _driver.module_from_buffer(
            result.image, message_handler=lambda *words: said.append(words)
        )
    except driver.LogicError as error:
        _raise_compile_error(error, result.command_line, said[-1][2] if said else "")


def _raise_compile_error(
    error: driver.Error,
    command_line: list[str],
    log: str = "",
    refusals: tuple[str, ...] = ("CUDA_ERROR_INVALID_PTX",),
) -> NoReturn:
    """Raises a CompileError if the driver refuses PTX, and any other error unchanged."""
    if error.name not in refusals:
        raise error
    message = "the driver cannot compile the PTX of kernel.cu"
    if hint := _driver._hint_for_refused_ptx(log or str(error)):
        message += "; " + hint
    raise driver.CompileError(message, command_line, "", log or str(error)) from error


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
    """Compile CUDA C++ to device code.

    target: "cubin", "ptx", "fatbin" or "ltoir". "cubin" gives code that :func:`pycuda.driver.module_from_buffer` loads
        in the current context: machine code on a GPU, and PTX if the driver takes no machine code (softcuda). Without
        a context it gives machine code.

    The other arguments are those of :class:`SourceModule`. Returns bytes. Raises
    :class:`pycuda.driver.CompileError` for a source that does not compile, ValueError for another target.

    >>> compiler.compile("__global__ void nop() {}", arch="sm_86", target="ptx")[:2]
    b'//'
    """
    if target not in ("cubin", "ptx", "fatbin", "ltoir"):
        raise ValueError(
            f'target must be "cubin", "ptx", "fatbin" or "ltoir", not {target!r}'
        )
    how = _How(nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs)
    return _compile(source, target, how).image


def compile_plain(
    source: object,
    options: Sequence[str],
    keep: bool,
    nvcc: str,
    cache_dir: str | os.PathLike | bool | None,
    target: str = "cubin",
) -> bytes:
    """Compile a source as it is, with these options and no others; see :func:`compile`.

    >>> source = 'extern "C" __global__ void nop() {}'
    >>> compiler.compile_plain(source, ["-arch=sm_86"], False, "nvcc", None, "ptx")[:2]
    b'//'
    """
    how = _How(nvcc, options, keep, no_extern_c=True, cache_dir=cache_dir)
    return _compile(source, target, how).image


def get_nvcc_version(nvcc: str) -> str | None:
    """Return the text that ``nvcc --version`` prints; None, with a UserWarning, if ``nvcc`` cannot be run."""
    import subprocess

    try:
        return subprocess.run(
            [nvcc, "--version"], capture_output=True, text=True, check=True
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        warnings.warn("NVCC version could not be determined.", stacklevel=2)
        return None


def preprocess_source(source: object, options: Sequence[str], nvcc: str) -> str:
    """Run nvcc's preprocessor on a source and return the text.

    options: for nvcc, such as ``["-DN=4"]``. nvcc: the program's name or path.

    Raises :class:`pycuda.driver.CompileError` if nvcc is not found or refuses the source.
    """
    import subprocess
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".cu") as file:
        file.write(str(source))
        file.flush()
        command = [nvcc, "--preprocess", *options, file.name]
        command += ["--compiler-options", "-P"]
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as reason:
            raise driver.CompileError(
                f"nvcc preprocessing failed: {nvcc!r} could not be started ({reason})",
                command,
            ) from None
    if done.returncode != 0:
        message = f"nvcc preprocessing of {file.name} failed"
        raise driver.CompileError(message, command, done.stdout, done.stderr)
    return done.stdout


class CudaModule:
    """Device code of the current context, with its kernels and variables. Base class of the other classes here.

    As a context manager, the module is unloaded at the end of the block.

    >>> with compiler.SourceModule("__global__ void nop() {}") as module:
    ...     module.get_function("nop")(block=(1, 1, 1))
    """

    module: _driver.Module

    def __repr__(self) -> str:
        name = f"pycuda.compiler.{type(self).__name__}"
        if "module" not in self.__dict__:
            return f"<{name}, not linked yet>"
        kernels = ", ".join(self.module.function_names()) or "no kernels"
        return f"<{name} with {kernels}>"

    def __getattr__(self, name: str) -> NoReturn:
        # As in PyCUDA, kernels are not attributes; the message explains how to get one.
        hint = "" if name.startswith("_") else f"; get_function({name!r}) gets a kernel"
        message = f"{type(self).__name__!r} object has no attribute {name!r}{hint}"
        raise AttributeError(message, name=name, obj=self)

    def _bind_module(self) -> None:
        """For old subclasses, which call this after they set ``module``."""

    def _check_arch(self, arch: str | None) -> None:
        """Warn if ``arch`` is newer than the current device."""
        if arch is None:
            return
        digits = "".join(letter for letter in arch if letter.isdigit())
        capability = driver.Context.get_device().compute_capability()
        if digits and (int(digits[:-1] or 0), int(digits[-1])) > capability:
            warnings.warn(
                "trying to compile for a compute capability higher than selected GPU",
                stacklevel=3,
            )

    def get_function(self, name: str) -> _driver.Function:
        """Find the kernel ``name``. Raises LogicError for an unknown name, and lists the names that exist.

        >>> module = compiler.SourceModule("__global__ void nop() {}")
        >>> module.get_function("nop").num_regs >= 0
        True
        """
        return self.module.get_function(name)

    def get_global(self, name: str) -> tuple[int, int]:
        """Find the address and the size in bytes of a ``__device__`` or ``__constant__`` variable.

        >>> module = compiler.SourceModule("__device__ float values[4];")
        >>> module.get_global("values")[1]
        16
        """
        return self.module.get_global(name)

    def get_texref(self, name: str) -> _driver.TextureReference:
        """Find a texture that the source declares as a variable, ``texture<float, 2> name;``. LogicError for another name."""
        return self.module.get_texref(name)

    def get_surfref(self, name: str) -> _driver.SurfaceReference:
        """Find a surface that the source declares as a variable, ``surface<void, 2> name;``. LogicError for another name."""
        return self.module.get_surfref(name)

    def close(self) -> None:
        """Unload the module when its kernels are done. Its functions are refused afterwards, with LogicError.

        >>> module = compiler.SourceModule("__global__ void nop() {}")
        >>> module.close()
        """
        self.module.close()

    def __enter__(self) -> CudaModule:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


class SourceModule(CudaModule):
    """Compile CUDA C++ and load it into the current context.

    source: the source text, or an object whose ``str()`` returns it.
    nvcc: ``"nvcc"`` selects NVRTC in this process, and nvcc only for features that NVRTC lacks;
        ``"nvrtc"`` or the path of an nvcc selects that compiler.
    options: as for nvcc, such as ``["-std=c++17", "--use_fast_math"]``;
        None is :data:`DEFAULT_NVCC_FLAGS`.
    keep: leave the compiler's files in a folder, whose name is printed.
    no_extern_c: do not wrap the source in ``extern "C" { }``; required for templates.
    arch, code: as nvcc's options; None selects the current device's.
    cache_dir: None selects ``$PYCUDA_CACHE_DIR`` or the user's cache folder; False disables the cache.
    include_dirs: folders that are searched for ``#include``.
    name_expressions: kernels of templates to be in the module, such as ``"scale<float, 4>"``;
        needs ``no_extern_c``. Others are made when :meth:`get_function` asks for them, each in
        a module of its own, with variables of its own.

    Raises :class:`pycuda.driver.CompileError`. Messages of the compiler on success (such as
    ptxas's ``-v``) become a ``UserWarning``.

    >>> module = compiler.SourceModule("__global__ void twice(float *a) { a[threadIdx.x] *= 2; }")
    >>> x = gpuarray.array([1, 2], np.float32)
    >>> module.get_function("twice")(x, block=(2, 1, 1))
    >>> x
    array([2., 4.], dtype=float32)
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
        name_expressions: Iterable[str] = (),
    ) -> None:
        self._source = text_of(source)
        self._check_arch(arch)
        self._how = _How(
            nvcc, options, keep, no_extern_c, arch, code, cache_dir, include_dirs
        )
        self._instances: dict[str, _driver.Function] = {}
        self._loaded: list[_driver.Module] = []
        self.module = self._load(list(name_expressions))

    def close(self) -> None:
        """Wait for kernels of the module and its templates, and unload them. Its kernels and variables then raise LogicError."""
        for module in self._loaded:
            module.close()

    def _load(self, name_expressions: list[str]) -> _driver.Module:
        refused: tuple[()] | tuple[_driver.CompileResult, str] = ()
        while True:
            result = _compile(
                self._source, "image", self._how, name_expressions, 2, refused
            )
            try:
                module = _module_of(result)
                break
            except driver.Error as error:
                if result.origin != "package":
                    raise
                refused = result, str(error)
        self._loaded.append(module)
        module._describe(self._source)
        _profile_sources.note(module, self._source, self._how)
        for expression, name in result.lowered_names.items():
            self._instances[expression] = module.get_function(name)
        return module

    def get_function(self, name: str) -> _driver.Function:
        """Find the kernel ``name``, or one in a namespace or of a template, ``"scale<float, 4>"``.

        Raises LogicError for an unknown name, and lists the names that exist.

        >>> source = "template <class T> __global__ void nop(T *x) {}"
        >>> module = compiler.SourceModule(source, no_extern_c=True)
        >>> module.get_function("nop<float>")(gpuarray.zeros(1, np.float32), block=(1, 1, 1))
        """
        is_expression = isinstance(name, str) and ("<" in name or "::" in name)
        if is_expression and name not in self._instances and self._how.no_extern_c:
            self._load([name])
        return self._instances.get(name) or self.module.get_function(name)


class DynamicModule(CudaModule):
    """Device code linked from several sources, objects and libraries.

    link_options: pairs of a ``jit_option`` and an int; with ``lto`` the options of nvJitLink, such as ``["-O3"]``.
    cuda_libdir: the folder where :meth:`add_stdlib` looks first.
    lto: True makes LTO IR of the sources, which nvJitLink optimises as a whole: calls from one source to another can
        be inlined. Raises :class:`pycuda.driver.CompileError` if there is no nvJitLink.

    Each ``add_`` method returns the module itself; :meth:`link` loads the result.

    >>> caller = "extern __device__ int seven(); __global__ void f(int *x) { *x = seven(); }"
    >>> callee = "__device__ int seven() { return 7; }"
    >>> module = compiler.DynamicModule().add_source(caller).add_source(callee).link()
    >>> x = gpuarray.zeros(1, np.int32)
    >>> module.get_function("f")(x, block=(1, 1, 1))
    >>> x
    array([7], dtype=int32)
    """

    def __init__(
        self,
        nvcc: str = "nvcc",
        link_options: Sequence[tuple[int, int]] | Sequence[str] | None = None,
        keep: bool = False,
        no_extern_c: bool = False,
        arch: str | None = None,
        code: str | None = None,
        cache_dir: str | os.PathLike | bool | None = None,
        include_dirs: Iterable[str] | None = None,
        message_handler: Callable[[bool, str, str], None] | None = None,
        log_verbose: bool = False,
        cuda_libdir: str | None = None,
        lto: bool = False,
    ) -> None:
        capability = driver.Context.get_device().compute_capability()
        if capability < (3, 5):
            raise RuntimeError(
                f"dynamic parallelism needs compute capability 3.5, not {capability}"
            )
        self._check_arch(arch)
        self._how = _How(
            nvcc, None, keep, no_extern_c, arch, code, cache_dir, include_dirs
        )
        self.cuda_libdir = cuda_libdir
        self._command_line: list[str] = []  # the last compiler's
        self._lto = lto
        self.linker: driver.Linker | driver.JitLinker
        if lto:
            words = ["-lto", *(link_options or ()), *["-verbose"][: bool(log_verbose)]]
            self.linker = driver.JitLinker(words, message_handler)
        else:
            self.linker = driver.Linker(
                message_handler, link_options, bool(log_verbose)
            )

    def add_source(
        self,
        source: object,
        nvcc_options: Sequence[str] | None = None,
        name: str = "kernel.ptx",
    ) -> DynamicModule:
        """Compile a source with relocatable device code and add it. Returns the module itself.

        nvcc_options: for the compiler; None is :data:`DEFAULT_NVCC_FLAGS`.
        name: the name of the code in messages of the linker.

        Raises :class:`pycuda.driver.CompileError`. For an example see :class:`DynamicModule`.
        """
        options = list(DEFAULT_NVCC_FLAGS if nvcc_options is None else nvcc_options)
        if not {"-rdc=true", "--relocatable-device-code=true", "-dc"} & set(options):
            options.append("-rdc=true")
        how = self._how._replace(options=options)
        target, kind = (
            ("ltoir", driver.jit_input_type.LTOIR)
            if self._lto
            else ("ptx", driver.jit_input_type.PTX)
        )
        result = _compile(source, target, how)
        self._command_line = result.command_line
        return self.add_data(result.image, kind, name)

    def add_data(
        self, data: object, input_type: int, name: str = "unknown"
    ) -> DynamicModule:
        """Add code from memory. Returns the module itself.

        data: the code, bytes. input_type: of :class:`pycuda.driver.jit_input_type`.
        name: the name of the code in messages of the linker.

        >>> ptx = compiler.compile("__global__ void nop() {}", target="ptx", options=["-rdc=true"])
        >>> module = compiler.DynamicModule().add_data(ptx, cuda.jit_input_type.PTX).link()
        >>> module.get_function("nop")(block=(1, 1, 1))
        """
        self.linker.add_data(data, input_type, name)
        return self

    def add_file(self, filename: str, input_type: int) -> DynamicModule:
        """Add code from a file. Returns the module itself.

        input_type: of :class:`pycuda.driver.jit_input_type`: a cubin, PTX, an object file, a library.

        Raises OSError if the file cannot be read.
        """
        self.linker.add_file(filename, input_type)
        return self

    def add_stdlib(self, libname: str) -> DynamicModule:
        """Add a library of the CUDA toolkit, such as ``"cudadevrt"``. Returns the module itself.

        Raises OSError if there is no such library in ``cuda_libdir`` and the toolkit's folders.
        """
        path = _find_cuda_library(libname, self.cuda_libdir)
        return self.add_file(path, driver.jit_input_type.LIBRARY)

    def link(self) -> DynamicModule:
        """Link the added code and load the result into the current context. Returns the module itself.

        Raises CompileError if the driver's linker rejects the code. For an example see :class:`DynamicModule`.
        """
        try:
            self.module = self.linker.link_module()
        except driver.Error as error:
            _raise_compile_error(error, self._command_line, refusals=_LINKER_REFUSALS)
        return self


# Messages of a driver's linker for an error in the added code. Both of the last two results have
# the text "device kernel image is invalid".
_LINKER_REFUSALS = (
    "CUDA_ERROR_INVALID_PTX",
    "CUDA_ERROR_INVALID_IMAGE",
    "CUDA_ERROR_INVALID_SOURCE",
    "CUDA_ERROR_UNKNOWN",  # from cuLinkComplete of some drivers, with the reason in its log
)


def _find_cuda_library(libname: str, first: str | None) -> str:
    import itertools

    roots = [os.environ.get(name) for name in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")]
    folders = itertools.chain(
        [first],
        os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep),
        (
            os.path.join(root, lib)
            for root in [*roots, "/usr/local/cuda", "/usr"]
            if root
            for lib in (
                "lib64",
                "lib",
                f"lib/{os.uname().machine}-linux-gnu",
                "targets/x86_64-linux/lib",
                "targets/sbsa-linux/lib",
            )
        ),
        (
            os.path.join(path, "nvidia", part, "lib")
            for path in sys.path
            for part in ("cu13", "cuda_runtime")
        ),
    )
    for folder in filter(None, folders):
        path = os.path.join(folder, f"lib{libname}.a")
        if os.path.isfile(path):
            return path
    raise OSError(
        f"lib{libname}.a was not found; pass cuda_libdir, or set CUDA_HOME to the CUDA toolkit"
    )


class DynamicSourceModule(DynamicModule):
    """Compile CUDA C++ whose kernels may launch kernels, and load it into the current context.

    cuda_libdir: the folder of ``libcudadevrt.a``; by default the toolkit's or the wheel's.

    The other parameters are those of :class:`SourceModule`. The source is compiled as relocatable code and linked with
    ``cudadevrt``. A source that launches no kernel needs no such library. Raises :class:`pycuda.driver.CompileError`.

    >>> module = compiler.DynamicSourceModule("__global__ void nop() {}")
    >>> module.get_function("nop")(block=(1, 1, 1))
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
        cuda_libdir: str | None = None,
    ) -> None:
        super().__init__(
            nvcc, keep=keep, no_extern_c=no_extern_c, arch=arch, code=code,
            cache_dir=cache_dir, include_dirs=include_dirs, cuda_libdir=cuda_libdir,
        )  # fmt: skip
        self.add_source(source, options)
        try:
            self.add_stdlib("cudadevrt")
        except OSError as missing:
            self._link_without_library(missing)
        else:
            self.link()

    def _link_without_library(self, missing: OSError) -> None:
        """Only a source that launches kernels needs the library; the linker reports whether it is missing."""
        try:
            self.link()
        except driver.CompileError as error:
            error.stderr = f"{error.stderr}\n{missing}"
            raise
