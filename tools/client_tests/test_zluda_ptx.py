"""ZLUDA's PTX tests with values: each kernel of ptx/src/test/spirv_run must give the output in its test.

CLIENT_CHECKOUT is a checkout of vosen/ZLUDA. Its mod.rs has a line for each kernel:

    test_ptx!(add, [1u64], [2u64]);                        one thread, an input and an output
    test_ptx_warp!(tid, [0u8, 1u8, ...]);                  64 threads, an output alone
"""

import ctypes
import os
import re
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(os.environ["CLIENT_CHECKOUT"]) / "ptx/src/test/spirv_run"
TYPES = {
    **{
        f"{kind}{bits}": f"{kind}{bits // 8}"
        for kind in "ui"
        for bits in (8, 16, 32, 64)
    },
    **{f"f{bits}": f"f{bits // 8}" for bits in (16, 32, 64)},
}


def split(text: str) -> list[str]:
    """Split at the commas outside brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts if part.strip()]


def value_of(text: str) -> tuple[str | None, object]:
    """The type of a Rust constant, if it is given, and its value."""
    text = (
        text.replace("half::", "")
        .replace("std::f32::consts::PI", "3.14159265358979f32")
        .strip()
    )
    if match := re.fullmatch(r"(.*)\.to_bits\(\)", text):
        return "u16", int(np.float16(value_of(match[1])[1]).view("u2"))
    if match := re.fullmatch(r"(f16|f32)::from_bits\((.*)\)", text):
        kind = TYPES[match[1]]
        return match[1], np.array(value_of(match[2])[1], kind.replace("f", "u")).view(
            kind
        )[()]
    if match := re.fullmatch(r"f16::from_f(?:32|64)\((.*)\)", text):
        return "f16", value_of(match[1])[1]
    if match := re.fullmatch(r"(\w+)::(NAN|INFINITY|NEG_INFINITY)", text):
        return match[1], {"NAN": np.nan, "INFINITY": np.inf, "NEG_INFINITY": -np.inf}[
            match[2]
        ]
    if match := re.fullmatch(r"(\w+)::(MAX|MIN|max_value\(\))", text):
        limits = np.iinfo(TYPES[match[1]])
        return match[1], limits.min if match[2] == "MIN" else limits.max
    if match := re.fullmatch(r"(.*) / (.*)", text):
        kind, value = value_of(match[1])
        return kind, value / value_of(match[2])[1]
    match = re.fullmatch(
        r"(-?)(0x[0-9a-fA-F_]+|0b[01_]+|[0-9._]+?)_?([uif](?:8|16|32|64))?", text
    )
    assert match, f"{FOLDER}/mod.rs: unknown form of a value: {text}"
    digits = match[2].replace("_", "")
    kind = match[3]
    if "." in digits or (kind or "").startswith("f"):
        return kind, float(match[1] + digits)
    number = int(digits, 0)
    return kind, -number if match[1] else number


def array_of(text: str) -> np.ndarray:
    """`[1u32, 2, 3]`: a constant without a type has the others' type, or else Rust's default."""
    pairs = [value_of(part) for part in split(text.strip()[1:-1])]
    kinds = [kind for kind, _ in pairs if kind]
    default = "f64" if any(isinstance(value, float) for _, value in pairs) else "i32"
    kind = TYPES[kinds[0] if kinds else default]
    with np.errstate(over="ignore"):
        return np.array([np.array(value).astype(kind) for _, value in pairs], kind)


def cases() -> list:
    text = re.sub(r"//.*", "", (FOLDER / "mod.rs").read_text(encoding="utf-8"))
    found = []
    for kind, body in re.findall(
        r"^test_ptx(_with_32|_warp)?!\((.*?)\);", text, re.DOTALL | re.M
    ):
        name, *arrays = split(body)
        if arrays:
            found.append(pytest.param(name, arrays, kind == "_warp", id=name))
    return found


class Driver:
    """libcuda.so.1, or the library CLIENT_DRIVER; every call must succeed."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(os.environ.get("CLIENT_DRIVER", "libcuda.so.1"))

    def __getattr__(self, name: str):
        function = getattr(self.library, name)

        def call(*arguments) -> None:
            result = function(*arguments)
            assert result == 0, f"{name} gave {result}"

        return call


@pytest.fixture
def driver():
    """Each kernel has a separate context, because a kernel that fails destroys its context."""
    made = Driver()
    made.cuInit(0)
    context = ctypes.c_void_p()
    made.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
    yield made
    made.library.cuCtxDestroy_v2(context)


def memory_for(driver: Driver, content: np.ndarray) -> ctypes.c_uint64:
    address = ctypes.c_uint64()
    size = ctypes.c_size_t(content.nbytes)
    driver.cuMemAlloc_v2(ctypes.byref(address), size)
    driver.cuMemcpyHtoD_v2(address, content.ctypes.data_as(ctypes.c_void_p), size)
    return address


@pytest.mark.parametrize(("name", "arrays", "is_warp"), cases())
def test_kernel(driver, name, arrays, is_warp):
    wanted = array_of(arrays[-1])
    got = np.zeros_like(wanted)
    output = memory_for(driver, got)
    passed = (
        [output, output]
        if is_warp
        else [memory_for(driver, array_of(arrays[0])), output]
    )
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    log = ctypes.create_string_buffer(4096)
    options = (ctypes.c_int * 2)(5, 6)  # CU_JIT_ERROR_LOG_BUFFER and its size
    values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
    ptx = (FOLDER / f"{name}.ptx").read_bytes() + b"\0"
    try:
        driver.cuModuleLoadDataEx(ctypes.byref(module), ptx, 2, options, values)
    except AssertionError as error:
        raise AssertionError(f"{error}: {log.value.decode()}") from None
    driver.cuModuleGetFunction(ctypes.byref(function), module, name.encode())
    pointers = (ctypes.c_void_p * 2)(*map(ctypes.addressof, passed))
    threads = 64 if is_warp else 1
    driver.cuLaunchKernel(function, 1, 1, 1, threads, 1, 1, 1024, None, pointers, None)
    size = ctypes.c_size_t(got.nbytes)
    driver.cuMemcpyDtoH_v2(got.ctypes.data_as(ctypes.c_void_p), output, size)
    assert (got == wanted).all(), f"got {got}, wanted {wanted}"
