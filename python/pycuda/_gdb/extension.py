"""gdb commands for the lanes of a warp: loaded by ``python -m pycuda gdb``, or by gdb's ``source``.

softcuda runs the 32 lanes of a warp together, in one thread of the process. A kernel that was
compiled for a debugger has a variable ``__warp`` in its stack frames: the selected lane, the active
lanes, and the number of the warp in its thread block. The value of a variable of the
kernel is its value in the selected lane.

This file runs in gdb's Python. It uses only gdb's module and the standard library.
"""

from __future__ import annotations

import gdb

LANES = 32
_ROW = 8


class _Warp:
    """A frame of a kernel, or of a function that a kernel has called."""

    def __init__(self, frame: gdb.Frame) -> None:
        self.frame = frame
        state = frame.read_var("__warp")
        self.mask = int(state["mask"])
        self.number = int(state["warp"])
        self._lane_address = int(state["lane"].address)

    @property
    def lane(self) -> int:
        return int(self.frame.read_var("__warp")["lane"])

    @lane.setter
    def lane(self, lane: int) -> None:
        inferior = gdb.selected_inferior()
        inferior.write_memory(self._lane_address, lane.to_bytes(4, "little"))
        # Clears gdb's cache of the stack.
        gdb.execute("maintenance flush dcache", to_string=True)

    def is_active(self, lane: int) -> bool:
        return bool(self.mask >> lane & 1)

    def coordinates(self, name: str) -> str:
        value = self.frame.read_var(name)
        return "({}, {}, {})".format(*(int(value[axis]) for axis in "xyz"))

    def evaluate(self, expression: str) -> list[str]:
        """The expression's value in each lane, as text. Restores the selected lane."""
        before = self.lane
        texts = []
        try:
            for lane in range(LANES):
                self.lane = lane
                try:
                    texts.append(gdb.parse_and_eval(expression).format_string())
                except gdb.MemoryError:
                    texts.append("<unreadable>")
        finally:
            self.lane = before
        return texts

    def describe(self) -> str:
        threads = _threads_of(self)
        active = bin(self.mask).count("1")
        return (
            f"block {self.coordinates('blockIdx')}, warp {self.number}: "
            f"{active} of {threads} lanes active, mask 0x{self.mask:08x}"
        )


def _threads_of(warp: _Warp) -> int:
    """The number of lanes that have a thread."""
    size = warp.frame.read_var("blockDim")
    threads = int(size["x"]) * int(size["y"]) * int(size["z"])
    return min(LANES, threads - warp.number * LANES)


def _kernel_frame(frame: gdb.Frame | None) -> gdb.Frame | None:
    """The frame itself, or the next older frame of a kernel."""
    while frame is not None and frame.is_valid():
        try:
            if frame.function() is not None:
                frame.read_var("__warp")
                return frame
        except (ValueError, RuntimeError, gdb.error):
            pass
        try:
            frame = frame.older()
        except gdb.error:
            return None
    return None


def _current() -> _Warp:
    try:
        frame = _kernel_frame(gdb.selected_frame())
    except gdb.error:
        frame = None
    if frame is None:
        raise gdb.GdbError(
            "this thread does not run a kernel that was compiled for a debugger; `cuda threads` lists the threads that do"
        )
    frame.select()
    return _Warp(frame)


class _Focus:
    """The lane that the user has selected. It is set in the frames at each stop."""

    lane = 0
    _last_note = ""

    def stopped(self, event: object) -> None:
        try:
            frame = _kernel_frame(gdb.newest_frame())
            if frame is None:
                return
            warp = _Warp(frame)
            lane = self.lane
            if not warp.is_active(lane) and warp.mask:
                lane = (warp.mask & -warp.mask).bit_length() - 1
            while frame is not None:
                _Warp(frame).lane = lane
                frame = _kernel_frame(frame.older())
        except gdb.error:
            return  # the program or the thread has ended
        thread = warp.frame.read_var("threadIdx")
        index = "({}, {}, {})".format(*(int(thread[axis]) for axis in "xyz"))
        note = "" if lane == self.lane else f"; lane {self.lane} is not active"
        text = f"[{warp.describe()}; lane {lane}, thread {index}{note}]"
        # After a step, prints the note only if it has changed.
        if text != self._last_note or isinstance(event, gdb.BreakpointEvent):
            print(text)
        self._last_note = text


class _Cuda(gdb.Command):
    """Inspect the lanes of a kernel that softcuda runs.

    cuda print EXPRESSION   its value in each lane; inactive lanes are in parentheses
    cuda lane [N]           select a lane for `print`, `info locals` and `display`
    cuda lanes              all lanes with their threads
    cuda block              the thread block and the warp
    cuda locals             the variables of the selected frame in each lane
    cuda threads            all threads of the process that are in kernels
    $lane()                 the selected lane
    $any_lane("CONDITION")  1 if the condition is true in an active lane; for breakpoints
    """

    def __init__(self) -> None:
        super().__init__("cuda", gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION, True)


class _Command(gdb.Command):
    """A subcommand of `cuda`. The docstring of its class is its help text."""

    name = ""

    def __init__(self) -> None:
        super().__init__("cuda " + self.name, gdb.COMMAND_DATA)


def _print_lanes(name: str, texts: list[str], warp: _Warp) -> None:
    threads = _threads_of(warp)
    if len(set(texts[:threads])) == 1:
        print(f"{name} = {texts[0]} in all lanes")
        return
    shown = [
        text if warp.is_active(lane) else f"({text})" for lane, text in enumerate(texts)
    ]
    width = max(map(len, shown))
    if "\n" in "".join(shown) or width > 20:
        for lane, text in enumerate(shown[:threads]):
            print(f"{name}, lane {lane:2}: {text}")
        return
    print(f"{name} =")
    for start in range(0, threads, _ROW):
        row = shown[start : min(start + _ROW, threads)]
        print(
            f"  lane {start:2}: " + " ".join(text.rjust(width) for text in row).rstrip()
        )


class _Print(_Command):
    """cuda print EXPRESSION: its value in each lane.

    Inactive lanes are in parentheses; their values are those of the last instruction in which they
    were active."""

    name = "print"

    def invoke(self, argument: str, _from_tty: bool) -> None:
        if not argument.strip():
            raise gdb.GdbError("cuda print: expected an expression")
        warp = _current()
        _print_lanes(argument, warp.evaluate(argument), warp)


class _Lane(_Command):
    """cuda lane [N]: select lane N, 0 to 31, or show the selected lane."""

    name = "lane"

    def invoke(self, argument: str, _from_tty: bool) -> None:
        warp = _current()
        if argument.strip():
            try:
                lane = int(gdb.parse_and_eval(argument))
            except gdb.error as error:
                raise gdb.GdbError(f"cuda lane: {error}") from None
            threads = _threads_of(warp)
            if not 0 <= lane < threads:
                raise gdb.GdbError(
                    f"there is no lane {lane}; this warp has lanes 0 to {threads - 1}"
                )
            focus.lane = lane
            frame: gdb.Frame | None = _kernel_frame(gdb.newest_frame())
            while frame is not None:
                _Warp(frame).lane = lane
                frame = _kernel_frame(frame.older())
        lane = warp.lane
        state = "active" if warp.is_active(lane) else "not active"
        print(f"lane {lane}, thread {warp.coordinates('threadIdx')}, {state}")


class _Lanes(_Command):
    """cuda lanes: all lanes with their threads; * marks the selected lane."""

    name = "lanes"

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        warp = _current()
        print(warp.describe())
        texts = [warp.evaluate(f"threadIdx.{axis}") for axis in "xyz"]
        for lane in range(_threads_of(warp)):
            mark = "*" if lane == warp.lane else " "
            state = "active" if warp.is_active(lane) else "-"
            thread = ", ".join(axis[lane] for axis in texts)
            print(f"{mark} lane {lane:2}  thread ({thread})  {state}")


class _Block(_Command):
    """cuda block: the thread block and the warp of the selected frame."""

    name = "block"

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        warp = _current()
        print(
            f"{warp.describe()}; grid {warp.coordinates('gridDim')}, "
            f"blocks of {warp.coordinates('blockDim')} threads"
        )


class _Locals(_Command):
    """cuda locals: the variables of the selected frame in each lane."""

    name = "locals"

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        warp = _current()
        block: gdb.Block | None = warp.frame.block()
        seen: set[str] = set()
        while block is not None and not block.is_global:
            for symbol in block:
                if symbol.name in seen or symbol.name in _COORDINATES:
                    continue
                if symbol.is_variable or symbol.is_argument:
                    seen.add(symbol.name)
                    _print_lanes(symbol.name, warp.evaluate(symbol.name), warp)
            if block.function is not None:
                break
            block = block.superblock


_COORDINATES = ("__warp", "threadIdx", "blockIdx", "blockDim", "gridDim")


class _Threads(_Command):
    """cuda threads: all threads of the process that are in kernels."""

    name = "threads"

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        chosen = gdb.selected_thread()
        if chosen is None:
            raise gdb.GdbError("the program is not running")
        before = gdb.selected_frame()
        found = 0
        for thread in sorted(gdb.selected_inferior().threads(), key=lambda t: t.num):
            thread.switch()
            frame = _kernel_frame(gdb.newest_frame())
            if frame is None:
                continue
            found += 1
            mark = "*" if thread.num == chosen.num else " "
            place = frame.find_sal()
            file = place.symtab.filename.rsplit("/", 1)[-1] if place.symtab else "?"
            print(
                f"{mark} thread {thread.num}: {frame.name()} at {file}:{place.line}, "
                f"{_Warp(frame).describe()}"
            )
        chosen.switch()
        before.select()
        if not found:
            print("no thread is in a kernel that was compiled for a debugger")


class _AnyLane(gdb.Function):
    """$any_lane("CONDITION"): 1 if the condition is true in an active lane."""

    def __init__(self) -> None:
        super().__init__("any_lane")

    def invoke(self, condition: gdb.Value) -> bool:
        text = condition.string()
        warp = _current()
        before = warp.lane
        try:
            for lane in range(LANES):
                if warp.is_active(lane):
                    warp.lane = lane
                    if bool(gdb.parse_and_eval(text)):
                        return True
        finally:
            warp.lane = before
        return False


class _LaneFunction(gdb.Function):
    """$lane(): the selected lane."""

    def __init__(self) -> None:
        super().__init__("lane")

    def invoke(self) -> int:
        return _current().lane


focus = _Focus()


def _install() -> None:
    for command in (_Cuda, _Print, _Lane, _Lanes, _Block, _Locals, _Threads):
        command()
    _AnyLane()
    _LaneFunction()
    gdb.events.stop.connect(focus.stopped)


_install()
