"""IPython magics: CUDA C++ in a cell, and cells of Python whose kernels are checked or profiled.

Load the extension, then write kernels in a cell::

    %load_ext pycuda.ipython

    %%cuda -std=c++17
    __global__ void twice(float *a) { a[threadIdx.x] *= 2; }

Then the notebook's variable ``twice`` is the kernel, and ``_cuda_module`` is the module. Words after ``%%cuda`` are
options of the compiler, or parameters of :class:`pycuda.compiler.SourceModule`, such as ``no_extern_c=True``. A cell may
use functions, types and macros of earlier cells. Messages call the cell ``cell 7``, by its number in the notebook, and
count its lines from the magic on.

========================  =================================================================================
``%%cuda``                compile a cell of CUDA C++
``%%cuda_check``          run a cell of Python, and show the defects of its kernels (:mod:`pycuda.check`)
``%%cuda_profile``        run a cell of Python, and show the profile of its kernels (:mod:`pycuda.profile`)
``%cuda_reset``           make a new context after a kernel's fault; all arrays and kernels are lost
========================  =================================================================================

A name after ``%%cuda_check`` or ``%%cuda_profile`` becomes the variable that holds the result.
"""

from __future__ import annotations

import ast
import difflib
import inspect
import os
import re
import shlex
import warnings
from collections.abc import Callable

from pycuda import check, driver
from pycuda.compiler import SourceModule
from pycuda.profile import Profile
from pycuda.tools import clear_context_caches
from softcuda._findings import MODES

_PARAMETERS = set(inspect.signature(SourceModule).parameters) - {"source", "options"}


class MagicError(Exception):
    """Raised for unknown words after a magic, and for a cell that failed.

    A notebook shows the message alone: the frames are the magic's own.
    """

    def _render_traceback_(self) -> list[str]:
        return [str(self)]


def _read_line(line: str) -> dict[str, object]:
    """The parameters of SourceModule for the words after ``%%cuda``."""
    parameters: dict[str, object] = {}
    options: list[str] = []
    words = shlex.split(line, posix=False)
    for word, before in zip(words, ["", *words], strict=False):
        name, equals, value = word.partition("=")
        is_value = before.startswith("-") and (not equals or len(before) == 2)  # -D N=1
        if word.startswith("-") or is_value:
            options += shlex.split(word)
        elif name in _PARAMETERS:
            try:
                parameters[name] = ast.literal_eval(value)
            except (ValueError, SyntaxError):
                parameters[name] = value
        else:
            raise MagicError(
                f"%%cuda has no parameter {name!r}; expected options of the compiler, such as -std=c++20, or "
                "NAME=VALUE with one of the names " + ", ".join(sorted(_PARAMETERS))
            )
    return {**parameters, "options": options} if options else parameters


_KERNEL = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | [{};] | \b\w+\b""",
    re.VERBOSE | re.DOTALL,
)


def without_kernels(source: str) -> str:
    """The source without its kernels' definitions; lines keep their numbers.

    The remaining text has the parts that another cell may use: functions, types, variables, macros, includes.
    """
    kept, begin, statement, depth, is_kernel = [], 0, 0, 0, False
    for token in _KERNEL.finditer(source):
        text = token[0]
        if text == "__global__" and depth == 0:
            is_kernel = True
        elif text == "{":
            depth += 1
        elif text in "};" and text:
            depth -= text == "}"
            if depth == 0:
                if is_kernel:
                    lines = source[statement : token.end()].count("\n")
                    kept += [source[begin:statement], "\n" * lines]
                    begin = token.end()
                statement, is_kernel = token.end(), False
    return "".join([*kept, source[begin:]])


def _names_in(source: str) -> set[str]:
    return {token[0] for token in _KERNEL.finditer(source)}


_UNDEFINED = re.compile(
    r'(?:identifier|name followed by "::"|type name) "(\w+)" (?:is undefined|must be)'
    r'|"(\w+)" is not a (?:template|class|type)'
)


class Cells:
    """The cells of CUDA C++ of a notebook, and the modules that they become."""

    def __init__(self) -> None:
        self._kept: dict[
            str, str
        ] = {}  # without kernels; by the cell's name, oldest first

    def compile(self, line: str, cell: str, name: str) -> SourceModule:
        """Compile a cell. The earlier cells that it needs are put in front.

        line: the words after ``%%cuda``.
        name: the name of the cell in the compiler's messages.

        Raises CompileError and MagicError.
        """
        parameters = _read_line(line)
        needed: set[str] = set()
        while True:
            try:
                module = SourceModule(self._source(cell, name, needed), **parameters)
                break
            except driver.CompileError as error:
                more = self._cells_with(error.stderr or "", needed)
                if not more:
                    raise
                needed |= more
        rest = without_kernels(cell)
        self._kept.pop(name, None)
        if rest.strip():
            self._kept[name] = rest
        return module

    def kernels(self, line: str, cell: str, name: str) -> dict[str, object]:
        """Compile a cell as :meth:`compile` does.

        line: the options of the magic, as in ``%%cuda -std=c++20``.
        cell: the source.
        name: the cell's name in the compiler's messages.

        Returns the cell's kernels by name, and the module as ``_cuda_module``.
        """
        module = self.compile(line, cell, name)
        names = sorted(module.module.function_names())
        found = {kernel: module.get_function(kernel) for kernel in names}
        return {**found, "_cuda_module": module}

    def _source(self, cell: str, name: str, needed: set[str]) -> str:
        cells = [(n, text) for n, text in self._kept.items() if n in needed]
        # The magic is the first line of a cell.
        return "\n".join(f'#line 2 "{n}"\n{text}' for n, text in [*cells, (name, cell)])

    def _cells_with(self, messages: str, needed: set[str]) -> set[str]:
        """The newest cell with each name that the compiler does not know."""
        missing = {first or second for first, second in _UNDEFINED.findall(messages)}
        found = set()
        for word in missing:
            for name in reversed(self._kept):
                if name not in needed and word in _names_in(self._kept[name]):
                    found.add(name)
                    break
        return found


_NO_EXTERN_C = "pass no_extern_c=True (in C++: Linkage::Cxx)"
_INSTANCE = (
    'none; get an instance of a template with _cuda_module.get_function("name<float>")'
)


def _show_messages(error: driver.CompileError) -> list[str]:
    """The text that a notebook shows for a compile error: the compiler's messages, without a traceback."""
    messages = (error.stderr or "").strip() or str(error)
    lines = [
        line for line in messages.splitlines() if "detected in the comp" not in line
    ]
    _, _, advice = error.msg.partition(" failed: ")
    if " failed (before, " in error.msg:  # nvcc, after NVRTC
        advice = advice.removesuffix(")")
    advice = advice.replace(_NO_EXTERN_C, "begin the cell with %%cuda no_extern_c=True")
    return [line.rstrip() for line in lines if line.strip()] + (
        [advice] if advice else []
    )


def _without_frame(message: str) -> str:
    """A warning of the compiler without the sentences around it: the heading, and how to suppress warnings."""
    lines = [
        line
        for line in message.splitlines()
        if not line.startswith(("The CUDA compiler succeeded", "Remark: "))
    ]
    return re.sub(r"\n{2,}", "\n", "\n".join(lines)).strip()


#: Results of the driver after which a context runs no kernel any more.
_LOST = {700, 702, 708, 709, 710, 714, 715, 716, 717, 718, 719, 720}
_RESET_HINT = (
    "The context is lost, with its arrays and kernels. %cuda_reset makes a new one; then run the cells again that "
    "make arrays and kernels."
)


class _Magics:
    """The magics of one notebook.

    shell: the InteractiveShell of IPython.
    """

    def __init__(self, shell: object) -> None:
        self._shell = shell
        self._cells = Cells()

    def _number(self) -> int:
        """The number of the cell that runs."""
        return len(self._shell.user_ns.get("In", [""])) - 1

    def cuda(self, line: str, cell: str) -> None:
        """Compile a cell of CUDA C++; its kernels become variables."""
        try:
            with warnings.catch_warnings(record=True) as messages:
                warnings.simplefilter("always")
                found = self._cells.kernels(line, cell, f"cell {self._number()}")
        except driver.CompileError as error:
            shown = _show_messages(error)
            error._render_traceback_ = lambda: shown
            raise
        except driver.Error as error:  # the magic's own frames help nobody
            shown = [str(error)]
            error._render_traceback_ = lambda: shown
            raise
        for message in messages:  # without the red box of a warning
            print(_without_frame(str(message.message)))
        self._shell.push(found)
        names = ", ".join(name for name in found if name != "_cuda_module")
        is_template = "template" in _names_in(cell) and "__global__" in _names_in(cell)
        none = _INSTANCE if is_template else "none; later cells may use this one"
        print("kernels:", names or none)

    def cuda_profile(self, line: str, cell: str) -> Profile:
        """Run a cell of Python and return the profile of its kernels."""
        with Profile() as recorded:
            self._run(cell)
        return self._name(line, recorded)

    def cuda_check(self, line: str, cell: str) -> None:
        """Run a cell of Python and print the findings of the check modes. ``mem race`` after the magic selects modes."""
        modes, names = [], []
        for word in line.split():
            (modes if word in MODES else names).append(word)
        for name in names:
            if difflib.get_close_matches(name, MODES):
                raise MagicError(
                    f"there is no check mode {name!r}: the modes are {', '.join(MODES)}; to name the "
                    "variable of the result, use a word that is not similar to a mode"
                )
        checks = check(*modes)
        try:
            with checks:
                self._run(cell)
        finally:
            print(checks.report())
            self._name(" ".join(names), checks)

    def cuda_reset(self, line: str) -> None:
        """Make a new context in place of the present one, whose arrays and kernels are lost."""
        if line.strip():
            raise MagicError(f"%cuda_reset takes no words: {line.strip()!r}")
        import pycuda.autoinit as chosen

        clear_context_caches()
        chosen.context.pop()
        chosen.device.reset_primary_context()
        chosen.context = chosen.device.retain_primary_context()
        chosen.context.push()
        driver.Context.set_default(chosen.context)
        print("a new context; make arrays and kernels again")

    def _run(self, cell: str) -> None:
        if not cell.startswith("%"):  # lines keep their numbers below the magic
            cell = "#\n" + cell
        shell, number = self._shell, self._shell.execution_count
        shell.execution_count = self._number()  # IPython may have counted on already
        try:
            done = shell.run_cell(cell)
        finally:
            shell.execution_count = number
        failure = getattr(done, "error_in_exec", None) or getattr(
            done, "error_before_exec", None
        )
        if failure is not None:  # shown already; "run all" must stop
            error = MagicError(f"the cell failed: {failure}")
            error._render_traceback_ = lambda: []
            raise error

    def _name(self, line: str, result: object) -> object:
        if name := line.strip():
            if not name.isidentifier():
                raise MagicError(f"{name!r} is not a valid name of a variable")
            self._shell.push({name: result})
        return result

    def show_error(
        self,
        shell: object,
        kind: type,
        error: Exception,
        *rest: object,
        **options: object,
    ) -> None:
        """The traceback of an error of the driver, with advice if the context is lost."""
        shell.showtraceback((kind, error, error.__traceback__), **options)
        if getattr(error, "code", None) in _LOST:
            print(_RESET_HINT)


def compile_cell(line: str, cell: str) -> dict[str, object]:
    """Compile a cell. Returns its kernels by name, and the module as ``_cuda_module``.

    line: options of the compiler and parameters of SourceModule, separated by spaces.
    cell: the source in CUDA C++.
    """
    return Cells().kernels(line, cell, "cell")


def load_ipython_extension(ipython: object) -> None:
    """Create a context and define the magics. ``%load_ext pycuda.ipython`` calls this function.

    ipython: the InteractiveShell of IPython.
    """
    is_chosen = "PYCUDA_QUIET" in os.environ
    os.environ.setdefault("PYCUDA_QUIET", "1")  # stderr is a red box in a notebook
    import pycuda.autoinit

    if not is_chosen:  # else the line about an endless kernel would be hidden, too
        del os.environ["PYCUDA_QUIET"]

    print(f"PyCUDA runs on {pycuda.autoinit.device.name()}")
    magics = _Magics(ipython)
    cells: tuple[Callable, ...] = (magics.cuda, magics.cuda_check, magics.cuda_profile)
    for magic in cells:
        ipython.register_magic_function(
            magic, magic_kind="cell", magic_name=magic.__name__
        )
    ipython.register_magic_function(
        magics.cuda_reset, magic_kind="line", magic_name="cuda_reset"
    )
    if hasattr(ipython, "set_custom_exc"):
        ipython.set_custom_exc((driver.Error,), magics.show_error)
