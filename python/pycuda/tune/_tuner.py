"""The loop of tuning: compile, measure, learn, choose the next variant, stop."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from pycuda import compiler, driver
from pycuda.tune._arguments import ArraySpec
from pycuda.tune._model import CountingModel, OccupancyModel
from pycuda.tune._processes import Measurer, Outcome
from pycuda.tune._result import Variant, readable_time
from pycuda.tune._search import Search, coordinates, first_rows
from pycuda.tune._space import Configuration, Launch
from pycuda.tune._worker import Job

#: So few variants are all measured; of more, at most a fifth.
_FEW = 8


class Settings(NamedTuple):
    """How variants are measured: see :func:`pycuda.tune` for the meaning of each."""

    limit: float
    repeats: int
    evaluations: int | None
    verbose: bool

    def most(self, choices: int) -> int:
        """The number of variants that may be run."""
        if self.evaluations is not None:
            return min(self.evaluations, choices)
        return choices if choices <= _FEW else max(3, choices // 5)


class Code(NamedTuple):
    """Compiled code: an image, the kernel's name in the image, and "cubin" or "ptx"."""

    image: bytes
    kernel: str
    kind: str


class Compiler:
    """Compiles variants in threads. Variants with the same code share it.

    how: options and cache, as of a SourceModule.
    """

    def __init__(self, how: compiler._How) -> None:
        self._how = how
        self._context = driver.Context.get_current()
        self._found: dict[tuple, Future] = {}
        # NVRTC serialises a part of its work, so more threads gain nothing.
        self._threads = ThreadPoolExecutor(min(4, os.cpu_count() or 1), "pycuda.tune")

    def begin(self, launch: Launch) -> Future:
        """Compile a variant in another thread, unless that has begun."""
        known = self._found.get(launch.code)
        if known is None:
            known = self._threads.submit(self._compile, launch)
            self._found[launch.code] = known
        return known

    def _compile(self, launch: Launch) -> Code:
        with self._context:
            how = compile_options(self._how, launch)
            names = [launch.kernel] if how.no_extern_c else []
            result = compiler._compile(launch.source, "image", how, names, frames=None)
        kernel = result.lowered_names.get(launch.kernel, launch.kernel)
        return Code(result.image, kernel, result.kind)

    def close(self) -> None:
        """Cancel the compilations that have not begun."""
        self._threads.shutdown(wait=True, cancel_futures=True)


def compile_options(how: compiler._How, launch: Launch) -> compiler._How:
    """The options of a variant: the caller's, and the variant's macros."""
    given = compiler.DEFAULT_NVCC_FLAGS if how.options is None else how.options
    return how._replace(options=[*given, *launch.defines])


class Tuner:
    """Measures variants until none promises to be better.

    configurations, launches: the variants in the caller's order. compiler, measurer: closed after the search.
    """

    def __init__(
        self,
        configurations: Sequence[Configuration],
        launches: Sequence[Launch],
        compiler: Compiler,
        measurer: Measurer,
        settings: Settings,
    ) -> None:
        self._configurations, self._launches = configurations, launches
        self._settings = settings
        self._compiler, self._measurer = compiler, measurer
        self._points = coordinates([tuple(c.values()) for c in configurations])
        self._search = Search(self._points)
        self._best = math.inf
        self.variants: list[Variant] = []

    def run(self) -> list[Variant]:
        """Measure variants. Returns them in the order of the measurements."""
        most = self._settings.most(len(self._launches))
        is_full = most == len(self._launches)
        first = range(most) if is_full else first_rows(self._points, most)
        try:
            code = self._compiler.begin(self._launches[first[0]])
            kind = "" if code.exception() else code.result().kind
            if is_full:
                for row in first:
                    self._begin_ahead(range(row, row + 4), kind)
                    self._measure(row)
            else:
                self._search_best(first, most, kind)
        finally:
            self._measurer.close()
            self._compiler.close()
        return self.variants

    def _begin_ahead(self, rows: Sequence[int], kind: str) -> None:
        """Compile variants during the measurements, unless kernels run on the processors that compile."""
        if kind != "ptx":
            for row in rows:
                if row < len(self._launches):
                    self._compiler.begin(self._launches[row])

    def _search_best(self, first: Sequence[int], most: int, kind: str) -> None:
        """Measure at most ``most`` variants, beginning with ``first``."""
        if kind == "ptx":
            self._measure(first[0])
            model = CountingModel(self._points)
            counted = max(1, min(most // 3, 8))
            for row in model.candidates(first[0], counted)[1:]:
                self._measure(row, counts_in=model)
        else:
            model = OccupancyModel(self._launches, self._points)
            self._begin_ahead(first, kind)
            for row in first[:most]:
                self._learn(row, model)
        least = min(most, self._points.shape[1] + 3)
        while len(self.variants) < most:
            rows, may_end = self._search.ranked(model.costs(), 4)
            if not rows or (may_end and len(self.variants) >= least):
                break
            self._begin_ahead(rows, kind)
            self._learn(self._first_ready(rows, kind), model)

    def _learn(self, row: int, model: CountingModel | OccupancyModel) -> None:
        """Measure a variant, and give the model the driver's facts about its code."""
        outcome = self._measure(row)
        if outcome.facts is not None:
            model.add(row, outcome.facts)

    def _first_ready(self, rows: Sequence[int], kind: str) -> int:
        """The best variant whose code is ready, else the best one."""
        if kind != "ptx":
            for row in rows:
                if self._compiler.begin(self._launches[row]).done():
                    return row
        return rows[0]

    def _measure(self, row: int, counts_in: CountingModel | None = None) -> Outcome:
        launch, configuration = self._launches[row], self._configurations[row]
        try:
            code = self._compiler.begin(launch).result()
        except driver.CompileError as error:
            outcome = Outcome("failed", 0.0, first_error(error), None)
        else:
            job = Job(
                code.image,
                code.kernel,
                launch.source,
                launch.grid,
                launch.block,
                launch.shared,
                waits_for_code=code.kind == "ptx",
                counts=counts_in is not None,
                repeats=self._settings.repeats,
                best=self._best,
                limit=self._settings.limit,
            )
            outcome = self._measurer.measure(job)
        is_ok = outcome.status == "ok"
        if counts_in is not None and is_ok:
            counts_in.count(row, outcome.counted)
            status = "counted"
        else:
            self._search.add(row, outcome.seconds if is_ok else None)
            status = None
            if is_ok:
                self._best = min(self._best, outcome.seconds)
        self.variants.append(Variant.of(configuration, outcome, status))
        if self._settings.verbose:
            self._print(self.variants[-1])
        return outcome

    def _print(self, variant: Variant) -> None:
        is_ok = variant.status == "ok"
        what = readable_time(variant.seconds) if is_ok else variant.status
        note = f": {variant.note}" if variant.note else ""
        print(f"{len(self.variants):4}  {variant.configuration}  {what}{note}")


def first_error(error: driver.CompileError) -> str:
    """The compiler's first message of an error."""
    lines = (error.stderr or error.msg).splitlines()
    return next((line for line in lines if "error" in line), lines[0]).strip()


def describe(spec: object) -> object:
    """An argument for the key of the cache: the size of an array, the value of an int, the type of another number."""
    if isinstance(spec, ArraySpec):
        return ["array", spec.dtype, spec.nbytes]
    if isinstance(spec, (int, np.integer, bool, bytes)):
        return repr(spec)
    return type(spec).__name__
