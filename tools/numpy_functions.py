#!/usr/bin/env python3
"""Write or check docs/numpy_functions.md: the public functions of numpy that this package supports.

    tools/numpy_functions.py           write the table
    tools/numpy_functions.py --check   exit with 1 if the table in docs is not current

Run it with the package on the path (./run tools/numpy_functions.py). The supported functions are read from
pycuda itself; REASONS explains the others. A function without a reason is an error, and so
is a reason for a supported function.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from pycuda import gpuarray
from pycuda.arrays import registry
from pycuda.arrays.protocols import numpy_functions, numpy_ufuncs

TABLE = Path(__file__).resolve().parent.parent / "docs/numpy_functions.md"

HEAD = """\
# NumPy's functions

`tools/numpy_functions.py` makes this table of NumPy {version} and `pycuda`; a test checks that it is current.
*Present*: `numpy.f(x)` of a `GPUArray` returns a `GPUArray` with NumPy's types, shapes and values, and
`pycuda.gpuarray` has the function under the same name. *Host*: the function takes no device array. *Absent*: the
function raises `TypeError` with its name; pass `x.get()`, a copy on the host, instead.

"""

# The reasons for missing functions, and the functions to which each applies.
REASONS = {
    "einsum(optimize=...) plans by itself": "einsum_path",
    "of polynomials there is polyval(), polyfit(), roots(), vander(); the rest works on few numbers, for the host": """
        poly polyadd polyder polydiv polyint polymul polysub""",
    "dates are not types of the device": """
        busday_count busday_offset datetime_as_string datetime_data is_busday isnat""",
    "matrices of the class numpy.matrix, not of arrays": "asmatrix bmat",
    "needs elements that are Python objects or functions": "frompyfunc nested_iters",
    "would read back all bytes; may_share_memory() is there": "shares_memory",
    "checks values while it converts: numpy.asarray(x, like=x), then isfinite()": "asarray_chkfinite",
    "takes the layout in memory as strings; ascontiguousarray() and asfortranarray() are there": """
        require isfortran""",
}

# Functions whose arguments are never device arrays.
HOST = set(
    """base_repr binary_repr broadcast_shapes can_cast common_type
    diag_indices format_float_positional format_float_scientific from_dlpack frombuffer fromfile
    fromfunction fromiter fromregex fromstring genfromtxt get_include get_printoptions getbufsize
    geterr geterrcall info isdtype isscalar issubdtype iterable loadtxt
    min_scalar_type mintypecode printoptions promote_types result_type set_printoptions setbufsize
    seterr seterrcall show_config show_runtime test typename fft.fftfreq fft.rfftfreq""".split()
)


def reasons() -> dict[str, str]:
    """The reason for each missing name."""
    return {name: why for why, names in REASONS.items() for name in names.split()}


def public_names() -> list[str]:
    """All functions of numpy, numpy.linalg and numpy.fft, with the module if it is not numpy."""
    names = []
    for prefix, module in (("", np), ("linalg.", np.linalg), ("fft.", np.fft)):
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if callable(value) and not isinstance(value, type):
                names.append(prefix + name)
    return names


def find(name: str):
    """numpy's function of that name."""
    owner, _, last = name.rpartition(".")
    return getattr(getattr(np, owner) if owner else np, last)


def is_present(name: str) -> bool:
    """Whether numpy's function accepts device arrays."""
    function = find(name)
    if isinstance(function, np.ufunc):
        return numpy_ufuncs.has_ufunc(function.__name__)
    here = hasattr(gpuarray, name) and name in registry.functions_like_numpy()
    return numpy_functions.function_for(function) is not None or here


def state_of(name: str, why: dict[str, str]) -> str:
    """ "present", "host" or the reason why it is missing."""
    present = is_present(name)
    if name in HOST and not present:
        return "host"
    if present and name in why:
        raise SystemExit(
            f"{name} is present, but has a reason why it is not: {why[name]}"
        )
    if not present and name not in why:
        raise SystemExit(f"{name} is absent and has no reason; see REASONS")
    return "present" if present else why[name]


def make_table() -> str:
    """The whole text of the table."""
    why = reasons()
    if unknown := (why.keys() | HOST) - set(public_names()):
        raise SystemExit(f"numpy {np.__version__} has no {sorted(unknown)}")
    states = {name: state_of(name, why) for name in public_names()}
    present = [name for name, state in states.items() if state == "present"]
    host = [name for name, state in states.items() if state == "host"]
    absent = len(states) - len(present) - len(host)
    version = ".".join(np.__version__.split(".")[:2])
    text = HEAD.format(version=version)
    text += f"{len(present)} present, {absent} absent, {len(host)} host.\n"
    for title, prefix in (
        ("numpy", ""),
        ("numpy.linalg", "linalg."),
        ("numpy.fft", "fft."),
    ):
        text += f"\n## {title}\n\n| function | state |\n|---|---|\n"
        for name, state in states.items():
            own = name.startswith(prefix) if prefix else "." not in name
            if own:
                shown = state if state in ("present", "host") else f"absent: {state}"
                text += f"| `{name.removeprefix(prefix)}` | {shown} |\n"
    return text


def main() -> int:
    """Write or check the table."""
    text = make_table()
    if "--check" not in sys.argv[1:]:
        TABLE.write_text(text)
        return 0
    if TABLE.exists() and TABLE.read_text() == text:
        return 0
    print(
        "docs/numpy_functions.md is not current: run ./run tools/numpy_functions.py",
        file=sys.stderr,
    )
    return 1


if __name__ == "__main__":
    sys.exit(main())
