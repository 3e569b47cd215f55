"""A memory pool that logs its allocations and their call stacks."""

from __future__ import annotations

import sys
import traceback
from typing import TextIO

from pycuda import driver


def _readable(bytes: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if bytes >= size:
            return f"{bytes / size:.1f} {unit}"
    return f"{bytes} B"


class DebugMemoryPool(driver.DeviceMemoryPool):
    """A DeviceMemoryPool that writes a line for each allocation to ``logfile``.

    If a block is allocated from the driver, the call stacks that hold the most memory follow.
    ``interactive`` then waits for the Enter key. ``logfile`` is stdout by default.
    """

    def __init__(self, interactive: bool = True, logfile: TextIO | None = None) -> None:
        super().__init__()
        self.last_free, self.last_total = driver.mem_get_info()
        self.interactive = interactive
        self.logfile = logfile or sys.stdout
        self._blocks: dict[int, tuple[int, tuple[str, ...]]] = {}

    def allocate(self, size: int) -> driver.PooledDeviceAllocation:
        """As DeviceMemoryPool.allocate()."""
        import weakref

        managed = self.managed_bytes
        block = super().allocate(size)
        stack = tuple(
            f"{frame.filename}:{frame.lineno} {frame.name}"
            for frame in traceback.extract_stack()[:-1]
        )
        key = id(block)
        self._blocks[key] = (size, stack)
        weakref.finalize(block, self._blocks.pop, key, None).atexit = False
        self._write(
            f"[pool] {_readable(size)} allocated, {self.active_blocks} blocks with "
            f"{_readable(self.active_bytes)} in use"
        )
        if self.managed_bytes > managed:
            self._describe_growth()
        return block

    __call__ = allocate

    def _write(self, line: str) -> None:
        print(line, file=self.logfile, flush=True)

    def _describe_growth(self) -> None:
        free, total = driver.mem_get_info()
        self._write(
            f"[pool] the driver was asked: {_readable(self.managed_bytes)} of this pool, "
            f"{_readable(free)} of {_readable(total)} free (change: "
            f"{free - self.last_free:+d} bytes)"
        )
        self.last_free = free
        self.show_held()
        if self.interactive:
            input("[pool] Enter to go on: ")

    def show_held(self, limit: int = 5) -> None:
        """Write the call stacks that hold the most memory."""
        held: dict[tuple[str, ...], list[int]] = {}
        for size, stack in self._blocks.values():
            held.setdefault(stack, []).append(size)
        largest = sorted(held.items(), key=lambda item: -sum(item[1]))[:limit]
        for stack, sizes in largest:
            self._write(f"[pool]   {_readable(sum(sizes))} in {len(sizes)} blocks by")
            for line in stack[-3:]:
                self._write(f"[pool]     {line}")
