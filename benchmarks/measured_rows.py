"""Rows of a benchmark, printed and kept in a file as they are measured, so that a later run continues."""

import contextlib
import json
import math
import os
import signal
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path


class Stopped(BaseException):
    """Raised at the time limit, by SIGTERM, and by Ctrl-C: the measurement ends, and the table is printed."""


@contextlib.contextmanager
def stopped_by_signals(seconds: float):
    """Raise Stopped inside the block when a signal arrives or ``seconds`` have passed."""

    def stop(number, frame):
        raise Stopped(signal.Signals(number).name)

    signals = (signal.SIGALRM, signal.SIGTERM, signal.SIGINT)
    earlier = [signal.signal(one, stop) for one in signals]
    if math.isfinite(seconds):
        signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-3))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        for one, handler in zip(signals, earlier, strict=True):
            signal.signal(one, handler)


@dataclass
class Row:
    """One call: its times in microseconds by the names of libraries, or the error of ours."""

    function: str
    elements: str
    times: dict[str, float] = field(default_factory=dict)
    other_values: bool = False
    error: str = ""

    @property
    def ratio(self) -> float:
        """The quickest peer's time divided by ours; NaN without a peer."""
        ours, *peers = self.times.values() or [math.nan]
        return min(peers) / ours if peers else math.nan

    def text(self, libraries) -> str:
        """The row of the table."""
        times = [
            f"{self.times[one]:.4g}" if one in self.times else "" for one in libraries
        ]
        name = f"{self.function}{' (other values)' if self.other_values else ''}"
        return f"| {name} | {self.elements} | {' | '.join(times)} | {self.ratio:.2f} |"


class Rows:
    """All rows. ``path``: a file of JSON lines with earlier rows, to which new rows are added; None keeps no file."""

    def __init__(self, path: Path | None, libraries: list[str]) -> None:
        self._path, self._libraries = path, libraries
        self._rows: dict[tuple[str, str], Row] = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                row = Row(**json.loads(line))
                self._rows[row.function, row.elements] = row

    def __contains__(self, key: tuple[str, str]) -> bool:
        return key in self._rows

    def __iter__(self):
        return iter(self._rows.values())

    def get(self, function: str, elements: str) -> Row | None:
        return self._rows.get((function, elements))

    def add(self, row: Row) -> None:
        """Print the row and write it to the file, in one piece."""
        self._rows[row.function, row.elements] = row
        shown = (
            f"{row.function}: {row.error}" if row.error else row.text(self._libraries)
        )
        print(shown, file=sys.stderr, flush=True)
        if self._path:
            with open(self._path, "ab", buffering=0) as file:
                file.write(f"{json.dumps(asdict(row))}{os.linesep}".encode())

    def report(self, worst: int = 0) -> None:
        """Print the table, the smallest ratios first (``worst`` rows of it), and a summary for each kind of elements."""
        print(
            f"| function | elements | {' | '.join(f'{one}, µs' for one in self._libraries)} | ratio |"
        )
        print("|---" * (len(self._libraries) + 3) + "|")
        compared = sorted(
            (row for row in self if row.ratio == row.ratio), key=lambda row: row.ratio
        )
        for row in compared[: worst or None]:
            print(row.text(self._libraries))
        for elements in dict.fromkeys(row.elements for row in self):
            ratios = [row.ratio for row in compared if row.elements == elements]
            if ratios:
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                below = sum(one < 0.9 for one in ratios)
                print(
                    f"{elements}: {len(ratios)} rows, geometric mean {mean:.2f}, {below} below 0.9"
                )
        alone = {row.function for row in self if not row.error} - {
            row.function for row in compared
        }
        self._names("without a peer", alone)
        self._names(
            "other values than NumPy's",
            {row.function for row in self if row.other_values},
        )
        for row in self:
            if row.error:
                print(f"{row.function}, {row.elements}: {row.error}")

    def _names(self, title: str, names: set[str]) -> None:
        if names:
            print(f"{title}: {', '.join(sorted(names))}")
