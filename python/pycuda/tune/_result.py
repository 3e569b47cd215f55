"""The result of tuning: the variants with their times, as an object, a table and a picture."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from typing import NamedTuple

from pycuda import _driver, driver
from pycuda.tune._space import Configuration, Launch
from pycuda.tune._worker import Facts


class Variant(NamedTuple):
    """A variant that was measured.

    configuration: its block shape, macros and template arguments. seconds: the shortest of its runs.
    status: "ok", "counted" (softcuda: one run with counters, which is no time), "differs" (its result is not that of the
    first variant), "hangs" (no end within the limit) or "failed". note: the reason for the last three.
    registers: of a thread. shared: bytes of static shared memory of a block. warps: of a multiprocessor at the same time.
    These three are None if the code could not be loaded. work: the counted instructions and sectors of memory, else 0.
    """

    configuration: Configuration
    seconds: float
    status: str
    note: str = ""
    registers: int | None = None
    shared: int | None = None
    warps: int | None = None
    work: float = 0.0

    @classmethod
    def of(
        cls, configuration: Configuration, outcome: object, status: str | None = None
    ) -> Variant:
        """Convert the outcome of a measuring process."""
        facts: Facts | None = outcome.facts
        known: tuple = (None, None, None)
        if facts is not None:
            warps = facts.blocks_per_multiprocessor * -(-configuration.threads // 32)
            known = (facts.registers, facts.static_shared, warps)
        status = status or outcome.status
        return cls(
            configuration,
            outcome.seconds,
            status,
            outcome.note,
            *known,
            outcome.counted,
        )


def readable_time(seconds: float) -> str:
    """A time with three digits and its unit: "1.25 ms"."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


class Tuned:
    """The best variant of a kernel, ready to be launched, and all measurements. Made by :func:`pycuda.tune`.

    A call launches the best variant with its block and grid: ``tuned(*arguments, stream=None)``.

    best: the :class:`Configuration`. seconds: the time of the best variant. function: its kernel, a
    :class:`pycuda.driver.Function`. grid, block: of the launch; shared: bytes of dynamic shared memory.
    variants: all measured variants, :class:`Variant`, fastest first. choices: the number of variants of the search space.
    is_from_cache: whether the result is from the cache, so that no variant was run.
    """

    def __init__(
        self,
        function: _driver.Function,
        launch: Launch,
        variants: Sequence[Variant],
        choices: int,
        is_from_cache: bool,
        keep: object,
    ) -> None:
        timed = {v.configuration for v in variants if v.status == "ok"}
        shown = (
            v for v in variants if v.status != "counted" or v.configuration not in timed
        )
        self.variants = tuple(sorted(shown, key=_order))
        self.best = self.variants[0].configuration
        self.seconds = self.variants[0].seconds
        self.function = function
        self.grid, self.block, self.shared = launch.grid, launch.block, launch.shared
        self.choices = choices
        self.is_from_cache = is_from_cache
        self._keep = keep  # the module

    def __call__(self, *arguments: object, stream: driver.Stream | None = None) -> None:
        """Launch the best variant.

        arguments: as in a call of a Function. stream: a Stream; by default the thread's current stream.
        """
        self.launch(self.grid, arguments, stream)

    def launch(
        self,
        grid: tuple[int, int, int],
        arguments: Sequence[object],
        stream: driver.Stream | None = None,
    ) -> None:
        """Launch the best variant with another grid.

        grid: blocks, (x, y, z). arguments: a sequence. stream: a Stream; None is the thread's current stream.
        """
        how = {} if stream is None else {"stream": stream}
        self.function(
            *arguments, grid=grid, block=self.block, shared=self.shared, **how
        )

    def __repr__(self) -> str:
        return f"<pycuda.tune.Tuned: {self.best}, {readable_time(self.seconds)}>"

    def __str__(self) -> str:
        return self.table()

    def summary(self) -> str:
        """The result in one or two sentences."""
        timed = [v for v in self.variants if v.status == "ok"]
        variants = "1 variant" if self.choices == 1 else f"{self.choices} variants"
        text = f"best of {variants}: {self.best}, {readable_time(self.seconds)}"
        text += f"; {len(timed)} {'was' if len(timed) == 1 else 'were'} timed"
        if counted := sum(v.status == "counted" for v in self.variants):
            text += f", {counted} counted"
        if self.is_from_cache:
            text += " by an earlier run"
        for status, words in _BAD.items():
            if bad := sum(v.status == status for v in self.variants):
                text += f"; {bad} {words}"
        differing = sum(v.status == "differs" for v in self.variants)
        if differing >= len(timed):
            text += (
                "\nMost variants differ from the first one, so the first one may be wrong: "
                "pass expected=, the right results."
            )
        return text

    def table(self, rows: int = 20) -> str:
        """The measured variants as text, the fastest first.

        rows: the number of variants that are shown; more are summed up in a line. The columns are the parameters, the time,
        the time relative to the best, registers of a thread, bytes of static shared memory of a block, and warps that run on
        a multiprocessor at the same time.
        """
        head, lines = self._cells(rows)
        widths = [
            max(len(line[i]) for line in [head, *lines]) for i in range(len(head))
        ]
        text = [self.summary(), ""]
        for line in (head, *lines):
            padded = [
                word.rjust(width) if i < len(head) - 1 else word
                for i, (word, width) in enumerate(zip(line, widths, strict=True))
            ]
            text.append("  ".join(padded).rstrip())
        if len(self.variants) > rows:
            text.append(
                f"... and {len(self.variants) - rows} slower or failed variants"
            )
        return "\n".join(text)

    def _cells(self, rows: int) -> tuple[list[str], list[list[str]]]:
        names = [
            name
            for name in self.best
            if name == "block"
            or len({v.configuration[name] for v in self.variants}) > 1
        ]
        head = [*names, "time", "/ best", "registers", "shared", "warps", ""]
        lines = []
        for variant in self.variants[:rows]:
            is_ok = variant.status == "ok"
            words = [_readable(variant.configuration[name]) for name in names]
            words += [
                readable_time(variant.seconds) if is_ok else "-",
                f"{variant.seconds / self.seconds:.2f}" if is_ok else "-",
            ]
            for number in (variant.registers, variant.shared, variant.warps):
                words.append("-" if number is None else str(number))
            note = " ".join(variant.note.split())
            status = "" if is_ok else variant.status
            lines.append([*words, f"{status}: {note}"[:100] if note else status])
        return head, lines

    def _repr_html_(self) -> str:
        """The table in a notebook."""
        head, lines = self._cells(20)
        cells = "".join(f"<th>{html.escape(word)}</th>" for word in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(word)}</td>" for word in line) + "</tr>"
            for line in lines
        )
        return (
            f"<p>{html.escape(self.summary())}</p><table><tr>{cells}</tr>{body}</table>"
        )

    def plot(self, path: str | os.PathLike | None = None) -> object:
        """Draw the times of the variants over each parameter that they differ in; a star marks the best one.

        path: the file for the picture; None writes none. Returns matplotlib's figure. Raises ImportError if matplotlib is not
        installed.
        """
        try:
            from matplotlib.figure import Figure
            from matplotlib.ticker import LogFormatter
        except ImportError:
            raise ImportError(
                "plot() needs matplotlib: pip install matplotlib; table() needs nothing"
            ) from None
        timed = [v for v in self.variants if v.status == "ok"]
        names = [
            name
            for name in self.best
            if len({v.configuration[name] for v in timed}) > 1
        ]
        # Powers of ten on the axis are hard to read: the unit makes the times larger than one.
        unit, scale = ("ms", 1e3) if self.seconds >= 1e-3 else ("µs", 1e6)
        figure = Figure(figsize=(4 * max(len(names), 1), 3.6), layout="constrained")
        panels = figure.subplots(1, max(len(names), 1), sharey=True, squeeze=False)[0]
        for panel, name in zip(panels, names or ["block"], strict=True):
            values = sorted(
                {v.configuration[name] for v in timed},
                key=lambda v: (isinstance(v, str), v),
            )
            at = [values.index(v.configuration[name]) for v in timed]
            panel.plot(at, [v.seconds * scale for v in timed], "o", alpha=0.6)
            panel.plot(
                values.index(self.best[name]), self.seconds * scale, "*", markersize=14
            )
            panel.set_xticks(
                range(len(values)), [_readable(value) for value in values], rotation=90
            )
            panel.set_xlabel(name)
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(LogFormatter())
            panel.yaxis.set_minor_formatter(LogFormatter())
        panels[0].set_ylabel(f"time in {unit}")
        if path is not None:
            figure.savefig(path)
        return figure


_BAD = {
    "differs": "differ from the first one",
    "hangs": "did not end in time",
    "failed": "failed",
}


def _order(variant: Variant) -> tuple[bool, float]:
    return variant.status != "ok", variant.seconds


def _readable(value: object) -> str:
    if isinstance(value, tuple):
        while len(value) > 1 and value[-1] == 1:
            value = value[:-1]
        return " x ".join(map(str, value))
    return str(value)
