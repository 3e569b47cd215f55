"""Runs planted programs on the driver of this process, one process for each.

    python execute.py FILE [MODE...]     run one program; with modes, print what pycuda.check finds
    python execute.py --serve            run the programs named on stdin, see Server

A kernel with a defect can destroy its context, or never end. Each program therefore has a process
of its own, a fork of a process that has imported everything and has not used the driver.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import pycuda.driver as cuda  # noqa: E402
from checks.program import (  # noqa: E402
    Array,
    Copy,
    Free,
    Launch,
    Program,
    Sync,
    Wait,
    read,
)
from pycuda.compiler import SourceModule  # noqa: E402

OPTIONS = ["-lineinfo", "-std=c++17"]


class Execution:
    """Carries out the steps of one program in the current context."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.arrays: dict[str, Array] = {}
        self.blocks: dict = {}
        self.streams: dict[int, cuda.Stream] = {}
        self.pool = cuda.DeviceMemoryPool()
        self.module = SourceModule(
            program.numbered_source(),
            nvcc=os.environ.get("PYCUDA_COMPILER", "nvrtc"),
            no_extern_c='extern "C"' in program.source,
            options=OPTIONS,
        )

    def run(self) -> None:
        for step in self.program.steps:
            getattr(self, type(step).__name__.lower())(step)
        cuda.Context.synchronize()
        for name in list(self.blocks):
            self.blocks.pop(name).free()

    def array(self, array: Array) -> None:
        allocate = self.pool.allocate if array.pooled else cuda.mem_alloc
        self.arrays[array.name] = array
        block = self.blocks[array.name] = allocate(array.bytes)
        if (initial := array.initial()) is not None:
            cuda.memcpy_htod(int(block), initial)
        self.addresses = {**getattr(self, "addresses", {}), array.name: int(block)}

    def free(self, step: Free) -> None:
        self.blocks.pop(step.name).free()

    def copy(self, step: Copy) -> None:
        bytes = step.count * self.arrays[step.source].dtype.itemsize
        cuda.memcpy_dtod(
            self.addresses[step.target], self.addresses[step.source], bytes
        )

    def sync(self, step: Sync) -> None:
        cuda.Context.synchronize()

    def stream(self, number: int) -> cuda.Stream | None:
        """The stream with this number; the default stream for 0."""
        if number and number not in self.streams:
            self.streams[number] = cuda.Stream()
        return self.streams.get(number)

    def wait(self, step: Wait) -> None:
        done = cuda.Event()
        done.record(self.stream(step.earlier))
        self.stream(step.later).wait_for_event(done)

    def launch(self, step: Launch) -> None:
        function = self.module.get_function(step.kernel)
        function(
            *(self.argument(value) for value in step.arguments),
            grid=step.grid,
            block=(*step.block, 1, 1)[:3],
            shared=step.shared,
            stream=self.stream(step.stream),
            **({"cooperative": True} if step.cooperative else {}),
        )

    def argument(self, value):
        """A number, or an address in an array, which may be freed memory."""
        if not isinstance(value, tuple):
            return value
        name, offset, unit = value
        scale = 1 if unit == "bytes" else self.arrays[name].dtype.itemsize
        return Address(self.addresses[name] + offset * scale)


class Address(cuda.PointerHolderBase):
    """A device address as a kernel's argument, which is not checked."""

    def __init__(self, address: int) -> None:
        super().__init__()
        self.address = address

    def get_pointer(self) -> int:
        return self.address


def execute(path: Path, modes: tuple[str, ...]) -> dict:
    """Run one program here. "error" is the driver's message, "" without an error."""
    result = {"error": "", "findings": []}
    program = read(path)
    cuda.init()
    with cuda.Device(0).retain_primary_context():
        try:
            if modes:
                from pycuda import check

                with check(*modes) as checks:
                    try:
                        Execution(program).run()
                    finally:
                        result["findings"] = checks.as_dicts()
            else:
                Execution(program).run()
        except cuda.Error as error:
            result["error"] = f"{type(error).__name__}: {error}"
    return result


def _child(path: Path, modes: tuple[str, ...], pipe: int) -> None:
    """In a fork: send the result and end, also after any error."""
    try:
        result = execute(path, modes)
    except BaseException:
        result = {"error": "", "findings": [], "broken": traceback.format_exc()}
    with os.fdopen(pipe, "w") as stream:
        json.dump(result, stream)
    os._exit(0)


def _fork(path: Path, modes: tuple[str, ...], timeout: float) -> dict:
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read_end)
        _child(path, modes, write_end)
    os.close(write_end)
    text = b""
    while select.select([read_end], [], [], timeout)[0]:
        part = os.read(read_end, 1 << 16)
        if not part:
            break
        text += part
    else:
        os.kill(child, signal.SIGKILL)
    os.close(read_end)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if text:
        return json.loads(text)
    why = f"no end after {timeout:.0f} s" if status == -signal.SIGKILL else f"{status}"
    return {"error": "", "findings": [], "broken": f"the process ended: {why}"}


def _serve() -> None:
    for line in sys.stdin:
        order = json.loads(line)
        result = _fork(Path(order["path"]), tuple(order["modes"]), order["timeout"])
        print(json.dumps(result), flush=True)


class Server:
    """A process that runs programs in forks of itself. ``environment`` is added to this process's environment.

    ``run()`` returns {"error": the driver's message, "findings": [...]}; it also has "broken" if
    the program's process failed otherwise.
    """

    def __init__(self, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )

    def run(self, program: Program, modes=(), timeout: float = 60) -> dict:
        order = {"path": str(program.path), "modes": list(modes), "timeout": timeout}
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the server of planted programs ended: {program.name}")
        return json.loads(answer)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--serve"]:
        _serve()
    else:
        answer = execute(Path(sys.argv[1]), tuple(sys.argv[2:]))
        print(json.dumps(answer, indent=1))
        sys.exit(1 if answer["error"] else 0)
