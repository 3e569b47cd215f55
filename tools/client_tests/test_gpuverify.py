"""GPUVerify's suite: planted races and divergence are found, correct kernels have no findings.

CLIENT_CHECKOUT is a checkout of mc-imperial/gpuverify. GPUVerify proves a kernel for all arguments; here each kernel
runs with a number of draws of arguments, and its findings are those of all draws together.
"""

import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest
from gpuverify_differences import DIFFERENCES
from gpuverify_kernels import SCALARS, Kernel

import pycuda.driver as cuda
from pycuda.check import check
from pycuda.compiler import compile

FOLDER = Path(os.environ["CLIENT_CHECKOUT"]) / "testsuite/CUDA"
PATHS = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.cu"))
DRAWS, ENOUGH = 60, 6
SECONDS = 60  # of the processor


@pytest.fixture(autouse=True)
def context():
    """A context for each test, since a failed kernel costs it."""
    cuda.init()
    made = cuda.Device(0).make_context()
    yield made
    made.pop()
    try:
        made.detach()
    except cuda.Error:
        pass  # it failed with its kernel


class TooLong(Exception):
    """The kernel did not end."""


def stop(*_):
    raise TooLong(f"no end within {SECONDS} s of the processor")


def parameter_sizes(ptx: str, kernel: str) -> list[int]:
    """The bytes of each parameter of a kernel."""
    declared = re.search(rf"\.entry {kernel}\(([^)]*)\)", ptx)
    assert declared, ptx
    sizes = []
    for line in declared[1].split("\n"):
        if found := re.search(
            r"\.param (?:\.align \d+ )?\.[a-z](\d+).*?(?:\[(\d+)\])?,?\s*$", line
        ):
            sizes.append(int(found[1]) // 8 * int(found[2] or 1))
    return sizes


class Run:
    """The launches of one kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        image = compile(
            kernel.source(), no_extern_c=True,
            options=kernel.options_of_compiler,
        )  # fmt: skip
        self.sizes = parameter_sizes(image.decode(), kernel.name)
        self.module = cuda.module_from_buffer(image)
        self.function = self.module.get_function(kernel.name)
        self.random = np.random.default_rng(1)
        self.arrays: list = []
        threads = np.prod(kernel.shape()) * np.prod(kernel.grid)
        self.length = int(np.clip(256 * threads, 1 << 14, 1 << 22))

    def array(self, draw: int, of_pointers: bool = False):
        """An array: of zeros, of small numbers, or of pointers."""
        if of_pointers:
            targets = [int(self.array(draw)) for _ in range(4)]
            data = np.resize(np.array(targets, np.uint64), self.length // 2)
        else:
            data = self.random.integers(
                0, 1 if draw % 3 == 0 else 8, self.length, np.int32
            )
        made = cuda.to_device(data)
        self.arrays.append(made)
        return made

    def functions(self) -> list[int]:
        names = self.kernel.functions()
        table = np.zeros(max(len(names), 1), np.uint64)
        self.module.get_function("gv_functions")(cuda.InOut(table), block=(1, 1, 1))
        return [int(v) for v in table[: len(names)]]

    def arguments(self, draw: int) -> list:
        made: list = []
        for number, parameter in enumerate(self.kernel.parameters):
            size = self.sizes[number]
            if parameter.is_pointer:
                array = self.array(draw, self.kernel.has_pointers(parameter))
                made.append(np.uint64(int(array)))
            elif self.kernel.is_function(parameter):
                made.append(
                    np.uint64(
                        self.random.choice(np.array([0, *self.functions()], np.uint64))
                    )
                )
            elif parameter.type in SCALARS or size in (1, 2, 4):
                value = self.kernel.value(parameter, self.random, draw)
                kind = {"float": np.float32, "double": np.float64}.get(parameter.type)
                made.append(kind(value) if kind else np.int64(value).astype(f"i{size}"))
            elif self.kernel.has_pointers(parameter):
                words = [int(self.array(draw)) for _ in range(size // 8)]
                made.append(np.array(words, np.uint64).view(f"V{size}")[0])
            else:
                made.append(np.zeros(1, f"V{size}")[0])
        return made

    def flag(self, name: str) -> int:
        value = np.zeros(1, np.int32)
        cuda.memcpy_dtoh(value, self.module.get_global(name)[0])
        return int(value[0])

    def set_flag(self, name: str, value: int) -> None:
        cuda.memcpy_htod(self.module.get_global(name)[0], np.array([value], np.int32))

    def launch(self, draw: int) -> bool:
        """False if the arguments do not meet the kernel's requirements."""
        self.arrays.clear()
        self.set_flag("gv_unmet", 0)
        self.set_flag("gv_random", draw)
        arguments = self.arguments(draw)
        self.function(
            *arguments,
            block=self.kernel.shape(),
            grid=self.kernel.grid,
            cooperative=self.kernel.is_cooperative,
        )
        cuda.Context.synchronize()
        return not self.flag("gv_unmet")


def outcome(kernel: Kernel) -> list[str]:
    """What is wrong with the kernel: lines of findings; none for a correct one."""
    wrong: list[str] = []
    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        run = Run(kernel)
        valid, enough = 0, ENOUGH if kernel.is_right else DRAWS
        for draw in range(DRAWS):
            try:
                with check("race", "sync") as found:
                    met = run.launch(draw)
            except cuda.LogicError as error:
                return [str(error)]
            except cuda.LaunchError as error:
                return [str(error)]
            if not met:
                run.set_flag("gv_wrong", 0)
                continue
            valid += 1
            wrong += [f"{f.kind} in line {f.accesses[0].line}" for f in found.findings]
            if run.flag("gv_wrong"):
                wrong.append("an assertion is wrong")
            if wrong or valid == enough or not kernel.parameters:
                break
        assert valid, "no draw of arguments meets the requirements"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    return sorted(set(wrong))


@pytest.mark.parametrize("path", PATHS)
def test_verdict(path):
    kernel = Kernel(FOLDER, path)
    if kernel.is_refused:
        pytest.skip("GPUVerify cannot translate it, and has no verdict")
    difference = DIFFERENCES.get(str(Path(path).parent))
    try:
        wrong = outcome(kernel)
    except cuda.CompileError:
        if kernel.is_right:
            raise
        wrong = ["NVRTC does not compile it"]
    agrees = bool(wrong) != kernel.is_right
    if difference:
        assert not agrees, f"has the verdict of GPUVerify now: {difference}"
        pytest.xfail(difference)
    assert agrees, "; ".join(wrong) or "no finding"
