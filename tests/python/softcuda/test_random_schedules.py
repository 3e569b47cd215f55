"""Random programs of streams under schedules of softcuda: `tools/random_schedules` runs any number of them."""

import sys
from pathlib import Path

import pytest
from conftest import is_softcuda

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent))

from random_schedules import steps as table  # noqa: E402
from random_schedules.batch import Batch  # noqa: E402
from random_schedules.order import Order, Stream  # noqa: E402
from random_schedules.program import Step, Writer  # noqa: E402

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has a schedule"
)


def test_random_programs_give_numpys_results(tmp_path):
    assert Batch(tmp_path, nccl=False).many(range(6), 40, schedule=1) == {}


def test_a_missing_event_is_found(tmp_path, monkeypatch):
    """The programs are able to fail: without their events and waits some do."""
    batch = Batch(tmp_path, nccl=False)
    text = batch.text
    monkeypatch.setattr(
        batch,
        "text",
        lambda steps: text(steps) + "\norder = finish = poll = lambda *streams: None\n",
    )
    assert batch.many(range(6), 40, schedule=1) != {}


def test_the_order_of_streams():
    """The rules that decide where a program needs an event."""
    default, blocking, free = (
        Stream(kind, 0, kind) for kind in ("default", "blocking", "free")
    )
    order = Order()
    order.work(blocking, writes={"x"})
    assert order.missing(default, {"x"}, {}) == []
    assert order.missing(free, {"x"}, {}) == [blocking]
    order.event(blocking, free)
    order.work(free, reads={"x"})
    assert order.missing(blocking, {"x"}, {}) == []
    assert order.missing(blocking, {}, {"x"}) == [free]
    order.host_waits(free)
    assert order.missing(blocking, {}, {"x"}) == []
    order.work(default, writes={"y"})
    order.host_waits(blocking)  # has no work after that of the default stream
    assert order.missing(free, {"y"}, {}) == [default]
    order.host_waits(blocking, by_event=True)
    assert order.missing(free, {"y"}, {}) == []


def test_page_locked_memory_has_no_implicit_order():
    default, blocking = (Stream(kind, 0, kind) for kind in ("default", "blocking"))
    order = Order(["p"])
    order.work(blocking, writes={"p", "x"})
    assert order.missing(default, {"x"}, {}) == []
    assert order.missing(default, {"p"}, {}) == [blocking]
    order.event(blocking, default)
    order.work(default, reads={"p"})
    assert order.missing(None, {}, {"p"}) == [blocking, default]
    order.host_waits(default)
    order.host_accesses(writes={"p"})
    assert order.missing(blocking, {"p"}, {}) == []


def test_a_view_orders_nothing():
    """No work is queued for a view, so the default stream does not wait for others, nor others for it."""
    step = Writer()
    default, blocking = (
        Stream(kind + "0", 0, kind) for kind in ("default", "blocking")
    )
    make, view = table.VALUES[-1], table.VIEWS[0]
    step.add(Step(make, blocking, {"z": "d1", "k": 1, "size": 64}, {}))
    before = dict(step.order.clocks)
    step.add(Step(view, default, {"z": "d2", "x": "d1", "k": 1}, {}))
    assert step.order.clocks == before
    assert step.values.memory["d2"] == "d1"
