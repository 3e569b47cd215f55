"""A case: a few statements, run by NumPy and on the device, and compared."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass

import numpy as np

from pycuda import _driver, gpuarray
from random_arrays.calls import Arguments
from random_arrays.operands import base_values
from random_arrays.tables import (
    CALLS,
    EXPRESSIONS,
    MORE_CALLS,
    REST_CALLS,
    REST_EXPRESSIONS,
    is_change,
    parse_calls,
    parse_expressions,
)

#: The functions and the expressions of each table.
TABLES = {
    "usual": (parse_calls(CALLS), parse_expressions(EXPRESSIONS)),
    "more": (parse_calls(MORE_CALLS), []),
    "rest": (parse_calls(REST_CALLS), parse_expressions(REST_EXPRESSIONS)),
}
ITEM = re.compile(r"(!?)([\w.]+?)(\??)(?:=([\w']+))?(?::([a-z]+))?$")


def host_names() -> dict:
    """The names that statements use, on NumPy's side."""

    def view(base, offset, shape, steps):
        item = base.itemsize
        whole = np.ndarray(
            shape, base.dtype, base, offset * item, [s * item for s in steps]
        )
        if any(s == 0 and n > 1 for s, n in zip(steps, shape, strict=True)):
            whole.flags.writeable = False
        return whole

    def const(values, dtype, shape):
        return np.array(values, dtype).reshape(shape)

    return {"np": np, "base": base_values, "view": view, "const": const}


def device_names() -> dict:
    """The same names on the device's side."""
    host = host_names()

    def base(seed, count, dtype):
        return gpuarray.to_gpu(base_values(seed, count, dtype))

    def view(base, offset, shape, steps):
        item = base.itemsize
        seen = base._view(offset * item, shape, [s * item for s in steps])
        if any(s == 0 and n > 1 for s, n in zip(steps, shape, strict=True)):
            seen.flags.writeable = False
        return seen

    def const(values, dtype, shape):
        return gpuarray.to_gpu(host["const"](values, dtype, shape))

    return {"np": np, "base": base, "view": view, "const": const}


def make(seed: int, only: str = "", table: str = "usual") -> list[str]:
    """The statements of a case; the last one is compared: ``r = ...`` or a change.

    table: the name of one of TABLES.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _make(seed, only, table)


def _make(seed, only, table):
    draw = Arguments(seed, host_names())
    functions, expressions = TABLES[table]
    calls = [name for name in functions if re.fullmatch(only or ".*", name)]
    patterns = [one for one in expressions if not only or re.search(only, one)]
    if draw.chance(0.3) and patterns or not calls:
        pattern = draw.rng.choice(patterns)
        statement = draw.statement(pattern)
        if not is_change(pattern):
            statement = f"r = {statement}"
    else:
        name = draw.rng.choice(calls)
        statement = f"r = {_call(draw, name, functions[name])}"
    return [*draw.lines, statement]


def _call(draw: Arguments, name: str, items: list[str]) -> str:
    # The other arguments depend on the first array, whatever its position.
    by_place, by_name, texts = [], [], {}
    for item in items:
        if item[0] == "!" or re.match(r"x\d?(:|$)", item):
            texts[item] = _first_array(draw, item)
    out = "out?" in items and draw.chance(0.3)
    # A universal function does not set the elements that its mask excludes, so it needs an array for the result.
    is_ufunc = out_before_where(items)
    for item in items:
        if item == "out?" or item == "where?=mask" and is_ufunc and not out:
            continue
        text = texts.get(item)
        if text is not None:
            by_place.append(text)
            continue
        if item == "np.sum":
            by_place.append(item)
            continue
        _, word, maybe, what, kinds = ITEM.match(item).groups()
        if maybe and draw.chance(0.6):
            continue
        what = what or word
        text = what if what.startswith("'") else getattr(draw, what)(*([kinds] if kinds else []))  # fmt: skip
        if "=" in item:
            by_name.append(f"{word}={text}")
        else:
            by_place.append(text)
    if name[0] == ".":
        function = f"{by_place.pop(0)}{name}"
    else:
        function = f"np.{name}"
    plain = ", ".join([*by_place, *by_name])
    if out:
        target = _out(draw, f"{function}({plain})")
        plain = (plain + target).removeprefix(", ")
        if not target and "where=" in plain and is_ufunc:
            plain = re.sub(r", where=\w+", "", plain)
    return f"{function}({plain})"


def out_before_where(items: list[str]) -> bool:
    return [one for one in items if one in ("out?", "where?=mask")] == [
        "out?",
        "where?=mask",
    ]


def _first_array(draw: Arguments, item: str) -> str:
    kinds = item.partition(":")[2] or "biufc"
    least = int(re.search(r"x(\d?)", item)[1] or 0)
    if item[0] == "!":
        draw.x = draw.array(draw.shape(least), None, kinds, may_repeat=False)
    else:
        draw.x = draw.any_array(kinds, least)
    return draw.x


def _out(draw: Arguments, call: str) -> str:
    """``out=`` for a call: mostly an array that fits, perhaps in the memory of an operand."""
    try:
        wanted = eval(call, dict(draw.host))
    except Exception:
        return ""
    if not isinstance(wanted, (np.ndarray, np.generic)) or wanted.dtype.kind not in "biufc":  # fmt: skip
        return ""
    shape = wanted.shape if draw.chance(0.95) else draw.broadcasting(wanted.shape)
    if re.search(
        "cum|accumulate", call
    ):  # NumPy 2.4 writes past an array with fewer axes
        shape = wanted.shape
    dtype = wanted.dtype.str[1:].replace("b1", "?") if draw.chance(0.75) else None
    return f", out={draw.array(shape, dtype, may_repeat=draw.chance(0.05))}"


@dataclass
class Difference:
    """A difference between NumPy and the device."""

    what: str
    lines: list[str]

    def __str__(self) -> str:
        return "\n".join(
            [*("    " + line for line in self.lines), f"    # {self.what}"]
        )


def run(lines: list[str], names: dict):
    """The names after the statements, and the exception of the last one or None."""
    for line in lines[:-1]:
        exec(line, names)
    try:
        exec(lines[-1], names)
    except Exception as error:
        return names, error
    return names, None


def compare(lines: list[str]) -> Difference | None:
    """Run a case on both sides. Skips intended differences, and results that are not defined."""
    what = difference(lines)
    if not what or _is_meant(lines, what) or _is_undefined(lines):
        return None
    if not _is_softcuda() and _depends_on_library(lines, what):
        return None
    return Difference(what, lines)


def _is_softcuda() -> bool:
    return "softcuda" in _driver.get_driver_path()


def _depends_on_library(lines: list[str], what: str) -> bool:
    """Whether cuSOLVER's or cuFFT's result may differ from that of NumPy's library.

    Infinities and NaN take other ways through a factorization or a transform, and whether a matrix is singular
    depends on the rounding.
    """
    if not re.search(r"linalg\.|fft\.", lines[-1]):
        return False
    host = host_names()
    for line in lines[:-1]:
        exec(line, host)
    arrays = [host[name] for name in set(re.findall(r"a\d+", lines[-1]))]
    is_finite = all(np.isfinite(one).all() for one in arrays)
    return not is_finite or "Singular matrix" in what


def difference(lines: list[str]) -> str:
    """The difference between NumPy and the device, or ""."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        host, host_error = run(lines, host_names())
        ours, our_error = run(lines, device_names())
        return _judge(lines, host, host_error, ours, our_error)


REFUSALS = re.compile(r"has no version for GPUArray|has no keyword|not reorderable")
#: The kinds of errors for arguments that do not fit. If there are several errors, the first one is not defined.
FAULTS = (TypeError, ValueError, IndexError, OverflowError)

#: Intended differences, as (pattern of the statement, pattern of the difference, reason). docs/arrays.md lists them for
#: users, under "Where arrays differ from NumPy".
MEANT = [
    (r"\.fill\(", "not None$", "PyCUDA's fill() returns the array"),
    (r"^r = \+", "a view|does not raise|no view", "PyCUDA's +x is x"),
    (r"\.(real|imag)$|np\.(real|imag)\(", "r is (a|no) view", "PyCUDA's parts are copies"),
    (r"np\.\w+\(.*copy=|np\.linalg|np\.fft", "r is (a|no) view", "views are not promised"),
    (r"(int|float|bool)\(", "does not raise", "one element is a number, whatever its axes"),
    (r"\*\*|power", "negative integer powers", "exponents in an array are not read back"),
    (r"\.view\(", "does not raise", "the axis that is last in memory changes"),
    (r"equiv", "cannot cast Python", "NumPy's equiv is stricter than no for Python's numbers"),
    (r"\.(real|imag) = ", "raises (Overflow|Type|Value)Error|does not raise", "as other assignments"),
    (r"^a\d+\[.*\] \W+= ", "which cannot be cast|Cannot cast", "x[0] is an array, and no scalar, so x[0] += 1 is in place"),
    (r"partition", r"(r|b\d) is$", "the order of the others is open"),
    (r"select", "Cannot cast array data", "NumPy takes a number for an array of int64 there"),
    (r"nanmean|nanvar|nanstd", "out must be inexact", "out is cast as elsewhere"),
    (r"unique_values", "r is$", "the order is open"),
    (r"@=", "raises ValueError", "a product of one axis has another shape"),
    (r"np\.apply_over_axes", "does not raise|raises AxisError", "None is all axes, axes out of bounds are errors"),
    (r"choose|take|put", "uint64", "indices of uint64 are indices"),
    (r"round", "does not raise", "results are cast to integers, as elsewhere"),
    (r"^a\d+\[.*\] = ", "setting an array element with a sequence", "x[0] is an array of one element"),
    (r"nan(quantile|percentile)", "r has shape", "NumPy forgets the shape of the shares for no elements"),
    (r"quantile|percentile", "which is not defined for bool", "NumPy takes an array of no bools"),
    (r"cross", "both must be vectors of 3", "vectors of two elements are deprecated"),
    (r"put_along_axis", "read-only", "NumPy refuses axis=None for some layouts"),
    (r"pad|polyval|vector_norm|average|transpose", "does not raise", "arrays without axes"),
    (r"view\(", "new type not compatible", "negative strides"),
    (r"\*\* 2$", "has dtype", "NumPy takes the square of bools as int8, their power as int64"),
    (r"^a\d+\[", r"cannot broadcast shape .*\b0\b", "NumPy assigns no elements from any shape"),
    (r"(less|greater|equal|logical|is|signbit)\w*\(.*where=", r"(r|b\d) is$", "NumPy casts the elements that where leaves out"),
    (r"initial=np\.int.*out=", "r is$", "the first value has the type of the array"),
    (r"where=False", r"(r|b\d) is$", "NumPy writes a cast mask into out"),
    (r"fftshift", "does not raise", "of no axes"),
    (r"^a\d+\[a\d+\] = ", "requires a 0 or 1-dimensional input", "one element is a number, whatever its axes"),
    (r"clip\((\w+, )?None, None", "does not raise UFuncTypeError", "of bool: a copy"),
    (r"(divide|subtract)\.reduce\(.*out=", "r is$", "NumPy casts to the type of out after each element"),
    (r"percentile|quantile", "does not raise ValueError: cannot reshape array of size 0", "no rows, no results"),
    (r"repeat", "repeats must not be negative", "also for no elements"),
    (r"(mean|var|std)\(.*out=", "r is$", "NumPy casts the sum to the type of out before it divides"),
    (r"power.*np\.float\d+\(0\.5\)", r"(r|b\d) is$", "power() by 0.5 is C's pow(), NumPy 2.4's is sqrt()"),
    (r"^a\d+\[.*\](\.T)?\[\.\.\.\] ", "does not support item assignment", "x[0] is an array"),
    (r"gradient", "does not raise ZeroDivisionError", "the quotient is infinite"),
    (r"\.flat\[a\d+\]", "r has shape", "indices of .flat are those of a vector"),
    (r"interp.*period", "r is", "the order of equal points is open"),
    (r"arange", "MemoryError", "other words"),
    (r"isin.*table", "RuntimeError", "tables are not used"),
    (r"(divmod|modf).*out=", "return arrays must be of ArrayType", "1 * x is a scalar"),
    (r"\.ravel\(|\.reshape\(", "r is|no view", "the order of memory, as in PyCUDA"),
    (r"insert", r"cannot broadcast shape .*\b0\b", "NumPy assigns no elements from any shape"),
    (r"\.flat\[", "Error setting single item", "as other assignments"),
]  # fmt: skip


def _is_meant(lines, what) -> bool:
    return any(
        re.search(statement, lines[-1]) and re.search(difference, what, re.M)
        for statement, difference, _ in MEANT
    )


def _judge(lines, host, host_error, ours, our_error) -> str:
    if host_error is None and our_error is not None:
        if REFUSALS.search(str(our_error)):
            return ""
        return f"raises {type(our_error).__name__}: {our_error}"
    if host_error is not None and our_error is None:
        return f"does not raise {type(host_error).__name__}: {host_error}"
    if host_error is not None:
        # NumPy's error has a type of its own, and PyCUDA's is none of Python's.
        no_memory = isinstance(host_error, MemoryError)
        kinds = (MemoryError, _driver.MemoryError) if no_memory else (type(host_error),)
        expected = (*FAULTS, *kinds)
        what = (
            "" if isinstance(our_error, expected) else _describe(host_error, our_error)
        )
    else:
        what = _judge_values("r", ours.get("r"), host.get("r"), lines)
    for name in host if host_error is None else ():
        if not what and re.fullmatch(r"b\d+", name):
            what = _judge_values(name, ours[name], host[name], lines)
    return what or _judge_views(lines, host, ours)


def _describe(host_error, our_error) -> str:
    return (
        f"raises {type(our_error).__name__}: {our_error}\n    # NumPy raises "
        f"{type(host_error).__name__}: {host_error}"
    )


def _is_undefined(lines) -> bool:
    """Whether the result of the last statement depends on the CPU or on NumPy's loops.

    A division of integers by zero, a cast of a float that does not fit, sums of infinities, and values that
    an integer type cannot represent.
    """
    statement, host = lines[-1], host_names()
    for line in lines[:-1]:  # the values before the statement changes them
        exec(line, host)
    bases = [host[name] for name in host if re.fullmatch(r"b\d+", name)]
    kinds = {one.dtype.kind for one in bases}
    mixed = "i" in kinds and re.search("'u8'|uint64", "".join(lines))
    if re.search(r"\.at\(.*np\.int", statement) and re.search("'u8'", "".join(lines)):
        return True
    if re.search(r"power\.(reduce|accumulate)", statement):  # wrong in NumPy 2.4
        return True
    used = [host[name] for name in set(re.findall(r"a\d+", statement)) if name in host]
    if "fft." in statement and any(one.size == 0 for one in used):
        return True  # NumPy 2.4 reads uninitialised memory
    if _overwrites_operand(statement, host):
        return True
    if re.search(r"divide\.", statement) and any(one.dtype.kind in "biu" and not one.all() for one in bases):  # fmt: skip
        return True
    if re.search(r"\d\.\d|\de\d|\dj|float|complex|'[fc]\d", statement):
        kinds.add("f")
    if mixed:
        kinds.add("f")  # their common type is float64
    wild = any(_has_extremes(one) for one in bases) or "1e10" in statement
    # Overflow depends on the order of the elements; a negative float has no unsigned value.
    if re.search(r"prod|multiply\.(reduce|acc)", statement) and kinds & set("fc"):
        return True
    if re.search(r"\.at\(", statement) and kinds & set("fc") and kinds & set("u"):
        return True
    if wild and kinds & set("iu") and re.search(r"mean|average|var|std", statement):
        return True  # cancellation
    if wild and re.search(
        r"isclose|allclose|round\(.*-\d|percentile|quantile|median", statement
    ):
        return True
    if wild and re.search(r"convolve|correlate", statement):
        return True  # 0 * inf at the ends
    if wild and "c" in kinds and re.search(r"dot|inner|outer|mul|kron|@|einsum|\*", statement):  # fmt: skip
        return True
    if (
        wild
        and kinds & set("fc")
        and (
            not statement.startswith("r = ")
            or re.search(
                r"dtype=|out=|weights=|astype|reduceat|\.at\(|put|full|clip|copyto|insert",
                statement,
            )
        )
    ):
        return bool(kinds & set("iu")) or bool(
            re.search(r"'[iu]\d'|np\.u?int", statement)
        )
    writes = not statement.startswith("r = ") or re.search(
        r"out=|put|place|copyto|fill|\.at\(", statement
    )
    to_unsigned = re.search(r"(dtype=|astype\((a\d+, )?)(np\.uint|'u)", statement)
    if "subtract" in statement and writes and kinds >= set("fu"):
        return True
    if kinds & set("fc") and (to_unsigned or writes and "u" in kinds):
        signed = (
            "ifc" if mixed or re.search(r"'[fc]\d|float|complex", statement) else "fc"
        )
        return any((one < 0).any() for one in bases if one.dtype.kind in signed)
    return "spacing" in statement and bool(
        re.search("'(f2|[iu]1|\\?)'", "".join(lines))
    )


def _overwrites_operand(statement, host) -> bool:
    """Whether NumPy reads an operand after it was written, so that its result differs from that for a copy of the operand."""
    patterns = [r"r = np\.place\((a\d+), a\d+, (a\d+)", r"r = np\.ptp\((a\d+).*out=(a\d+)",
                r"r = np\.copyto\((a\d+).*where=(a\d+)", r"(a\d+)\[\.\.\.\] = (a\d+)"]  # fmt: skip
    for pattern in patterns:
        if found := re.match(pattern, statement):
            return np.may_share_memory(host[found[1]], host[found[2]])
    return False


def _has_extremes(values) -> bool:
    if values.dtype.kind in "fc":
        return not np.isfinite(values).all()
    if values.dtype.kind == "b" or not values.size:
        return False
    info = np.iinfo(values.dtype)
    return bool(
        (values >= info.max - 1).any() or (info.min < 0 and (values == info.min).any())
    )


def _judge_values(name, ours, host, lines) -> str:
    if isinstance(host, (tuple, list)):
        if not isinstance(ours, (tuple, list)):
            return f"{name} is a {type(ours).__name__}, not a {type(host).__name__}"
        if len(ours) != len(host):
            return f"{name} has {len(ours)} parts, not {len(host)}"
        for i, (one, other) in enumerate(zip(ours, host, strict=True)):
            if what := _judge_values(f"{name}[{i}]", one, other, lines):
                return what
        return ""
    if host is None or isinstance(host, (bool, str)) or type(host) in (int, float, complex):  # fmt: skip
        ours = ours.item() if isinstance(ours, (_driver.ArrayBase, np.generic)) and ours.size == 1 else ours  # fmt: skip
        same = host == ours or (host != host and ours != ours) or _close(ours, host, lines)  # fmt: skip
        return "" if same else f"{name} is {ours!r}, not {host!r}"
    if not isinstance(ours, _driver.ArrayBase):
        # Without an array of the device among its arguments, NumPy's function runs.
        if re.search(r"[ab]\d", lines[-1]) and (np.ndim(host) or np.ndim(ours)):
            return f"{name} is a {type(ours).__name__}, not a GPUArray"
    got = np.asarray(ours.get() if isinstance(ours, _driver.ArrayBase) else ours)
    host = np.asarray(host)
    if got.dtype != host.dtype:
        return f"{name} has dtype {got.dtype}, not {host.dtype}"
    if got.shape != host.shape:
        return f"{name} has shape {got.shape}, not {host.shape}"
    if _close(got, host, lines):
        return ""
    return f"{name} is\n    # {got.tolist()!r:.500}, not\n    # {host.tolist()!r:.500}"


def _close(ours, host, lines) -> bool:
    try:
        ours, host = np.asarray(ours), np.asarray(host)
        if host.dtype.kind not in "fc":
            return bool(np.array_equal(ours, host))
        eps = max(np.finfo(host.dtype).eps, _least_eps(lines))
        finite = np.abs(host[np.isfinite(host)]).astype("f8")
        scale = float(finite.max()) if finite.size else 0.0
        if (
            host.dtype.kind == "c"
        ):  # separately: with an infinite part, the other one is compared exactly
            broken = np.isnan(ours) & np.isnan(host)
            ours, host = (np.where(broken, 0, one) for one in (ours, host))
            parts = ((ours.real, host.real), (ours.imag, host.imag))
            return all(_close(one, other, lines) for one, other in parts)
        return bool(
            np.allclose(
                ours, host, rtol=32 * eps, atol=8 * eps * min(scale, 1e300),
                equal_nan=True,
            )
        )  # fmt: skip
    except TypeError:
        return False


def _least_eps(lines) -> float:
    """Results that went through a type of low precision have no more precision than it."""
    text = "\n".join(lines)
    if "'f2'" in text or "float16" in text:
        return float(np.finfo("f2").eps)
    if "'f4'" in text or "'c8'" in text or "float32" in text or "complex64" in text:
        return float(np.finfo("f4").eps)
    return 0.0


def _judge_views(lines, host, ours) -> str:
    """A result must be a view here if and only if it is one for NumPy."""
    result, own = host.get("r"), ours.get("r")
    if not isinstance(result, np.ndarray) or not isinstance(own, _driver.ArrayBase):
        return ""
    for name in host:
        if not re.fullmatch(r"b\d+", name):
            continue
        theirs = np.may_share_memory(result, host[name])
        if theirs != _driver._array_share_memory(own, ours[name]):
            return f"r is {'a' if theirs else 'no'} view of {name} for NumPy"
    return ""
