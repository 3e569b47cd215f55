"""Dat3M's litmus tests for PTX: no outcome that the memory model forbids, no hang, and no false race.

CLIENT_CHECKOUT is a checkout of hernanponcedeleon/Dat3M. Its verdicts are in dartagnan/src/test/resources. Each test
runs in each tier of softcuda, with its threads in separate warps and in one warp.
"""

import csv
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from litmus_ptx import LAYOUTS, LINE, NotExpressible, Outcome, read

import pycuda.driver as cuda
from pycuda.check import check

CHECKOUT = Path(os.environ["CLIENT_CHECKOUT"])
VERDICTS = CHECKOUT / "dartagnan/src/test/resources"
TIERS = ("regions", "fibers", "lanes")
GROUPS, LAUNCHES, SECONDS = 4, 6, 20


def verdicts(*names: str) -> dict[str, bool]:
    """The verdicts in the tables; a test passes if it does in one version of the memory model."""
    found: dict[str, bool] = {}
    for name in names:
        with (VERDICTS / f"{name}-expected.csv").open() as rows:
            for row in csv.reader(rows):
                if len(row) > 1 and row[1].strip().isdigit():
                    passes = row[1].strip() == "1"
                    found[row[0]] = found.get(row[0], False) or passes
    return found


OUTCOMES = verdicts("PTXv6_0", "PTXv7_5")
ENDS = verdicts("PTXv6_0-Liveness", "PTXv7_5-Liveness")


@pytest.fixture(autouse=True)
def context():
    """A context for each test, since a failed kernel costs it."""
    cuda.init()
    made = cuda.Device(0).make_context()
    yield made
    made.pop()
    made.detach()


def test_of(path: str):
    try:
        return read((CHECKOUT / path).read_text())
    except NotExpressible as error:
        pytest.skip(f"not expressible in PTX: {error}")


test_of.__test__ = False


class TooLong(Exception):
    """The kernel did not end."""


def run(test, layout: str, launches: int = LAUNCHES, meet: bool = True):
    """As :func:`outcomes`. A test whose threads wait at different barriers for each other is skipped."""
    try:
        yield from outcomes(test, layout, launches, meet)
    except cuda.LaunchError as error:
        if "deadlock: all" not in str(error):
            raise
        pytest.skip("its threads wait at different barriers, which is reported")


def outcomes(test, layout: str, launches: int, meet: bool = True):
    """The outcomes of several launches, with other delays at the begin of each thread.

    meet: most launches begin the threads of an instance together.
    """
    try:
        kernel = LAYOUTS[layout](test)
        text = kernel.text()
    except NotExpressible as error:
        pytest.skip(f"not expressible in this layout: {error}")
    function = cuda.module_from_buffer(text.encode()).get_function("litmus")
    count, threads = GROUPS * kernel.per_block, len(test.threads)
    random = np.random.default_rng(1)

    def stop(*_):
        raise TooLong(f"no end within {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    try:
        for launch in range(launches):
            memory = np.zeros((count, len(test.memory) + 1, LINE), np.int32)
            for i, value in enumerate(test.memory.values()):
                memory[:, i, 0] = value
            if not meet or launch % 4 == 3:
                memory[:, -1, 0] = threads  # as if all were there
            registers = np.zeros((count, threads, kernel.width), np.int32)
            longest = (0, 3, 30, 300)[launch % 4]
            delays = random.integers(0, longest + 1, (count, threads)).astype(np.int32)
            signal.alarm(SECONDS)
            function(
                cuda.InOut(memory), cuda.InOut(registers), cuda.In(delays),
                block=(kernel.block, 1, 1), grid=(GROUPS * len(test.ctas), 1),
            )  # fmt: skip
            signal.alarm(0)
            yield Outcome(
                count,
                {
                    (n, r): registers[:, n, i]
                    for n, t in enumerate(test.threads)
                    for i, r in enumerate(t.registers)
                },
                {name: memory[:, i, 0] for i, name in enumerate(test.memory)},
            )
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("path", OUTCOMES)
def test_no_forbidden_outcome(path, layout, tier, monkeypatch):
    test = test_of(path)
    forbidden = test.forbidden(OUTCOMES[path])
    monkeypatch.setenv("SOFTCUDA_TIER", tier)
    for outcome in run(test, layout):
        if forbidden is None:
            continue
        wrong = forbidden(outcome)
        if wrong.any():
            first = int(np.argmax(wrong))
            seen = {
                f"P{n}:{r}": int(v[first]) for (n, r), v in outcome.registers.items()
            }
            seen |= {name: int(v[first]) for name, v in outcome.memory.items()}
            pytest.fail(
                f"{int(wrong.sum())} of {outcome.count} instances have a forbidden outcome, such as {seen}"
            )


@pytest.mark.parametrize("tier", TIERS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("path", ENDS)
def test_it_ends(path, layout, tier, monkeypatch):
    if not ENDS[path]:
        pytest.skip("the model lets this test hang")
    test = test_of(path)
    monkeypatch.setenv("SOFTCUDA_TIER", tier)
    for _ in run(test, layout):
        pass


def race_verdict(test) -> bool | None:
    """True if the test has a data race, False if it has none, None if this simple rule cannot tell.

    Strong accesses whose scopes include each other do not race. A weak write races with another thread's access if
    neither thread has an access or fence that synchronises.
    """
    uses: dict[str, list[tuple[int, bool, str]]] = {}
    synchronises = [
        any(
            word in line
            for line in t.lines
            for word in ("acq", "rel.", "release", "fence", "bar.")
        )
        or any("atom." in line or "red." in line for line in t.lines)
        for t in test.threads
    ]
    for number, thread in enumerate(test.threads):
        for line in thread.lines:
            name, _, rest = line.partition(" ")
            for location in test.memory:
                if location in [word.strip() for word in rest.split(",")]:
                    strong = "weak" not in name
                    scope = next(
                        (p for p in name.split(".") if p in ("cta", "gpu", "sys")), ""
                    )
                    writes = name.startswith(("st", "atom", "red"))
                    uses.setdefault(location, []).append(
                        (number, writes, scope if strong else "weak")
                    )
    verdict: bool | None = False
    for accesses in uses.values():
        for i, (a, a_writes, a_scope) in enumerate(accesses):
            for b, b_writes, b_scope in accesses[i + 1 :]:
                if a == b or not (a_writes or b_writes):
                    continue
                same_cta = test.threads[a].cta == test.threads[b].cta
                weak = "weak" in (a_scope, b_scope)
                if not weak and ("cta" not in (a_scope, b_scope) or same_cta):
                    continue
                if weak and not synchronises[a] and not synchronises[b]:
                    return True
                verdict = None
    return verdict


@pytest.mark.parametrize("path", {**OUTCOMES, **ENDS})
def test_races(path):
    test = test_of(path)
    wanted = race_verdict(test)
    if wanted is None or not ENDS.get(path, True):
        pytest.skip("races or does not, depending on the order")
    with check("race") as found:
        for _ in run(test, "warps", launches=2, meet=False):
            pass
    assert bool(found.findings) == wanted, found.report()
