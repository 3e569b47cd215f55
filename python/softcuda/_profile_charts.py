"""Charts of a profile's page, as SVG drawn by matplotlib; empty if matplotlib is not installed."""

from __future__ import annotations

import io
import re

from softcuda._profile_data import Event, Kernel, Record
from softcuda._profile_trace import track_name, track_of

MISSING = "The charts need matplotlib: pip install matplotlib"

#: Colours by activity.
COLOURS = {
    "kernel": "#2a9d5c",
    "copy": "#4a7fd4",
    "fill": "#8fa3bf",
    "host function": "#d9a05b",
    "stream wait": "#b48ead",
    "host wait": "#c9c9c9",
}
#: Replaced by the page's text colour, so that charts fit dark pages, too.
_INK = "#010203"
#: The maximum number of events; the longest ones are drawn.
MOST_EVENTS = 4000


def _figure(width: float, height: float):
    """An empty figure in inches, or None without matplotlib."""
    try:
        from matplotlib.figure import Figure  # imported only for charts
    except ImportError:
        return None
    return Figure(figsize=(width, height), layout="constrained")


def _svg(figure) -> str:
    from matplotlib import rc_context

    text = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "pycuda"}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    return svg.replace(_INK, "currentColor")


def _style(axes) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_INK)
    axes.tick_params(colors=_INK, left=False, labelsize=9)
    axes.xaxis.label.set_color(_INK)
    axes.xaxis.label.set_fontsize(9)
    axes.set_axisbelow(True)
    axes.grid(axis="x", color="#888888", alpha=0.3, linewidth=0.6)


def _bars(names: list[str], values: list[float], colour: str, label: str) -> str:
    figure = _figure(5.2, 0.6 + 0.28 * len(names))
    if figure is None:
        return ""
    axes = figure.subplots()
    axes.barh(names, values, color=colour, height=0.65)
    axes.invert_yaxis()
    axes.set_xlabel(label)
    _style(axes)
    return _svg(figure)


def classes(kernel: Kernel) -> str:
    """Instructions by class; "" for a kernel without counters."""
    found = kernel.classes
    if not found:
        return ""
    total = sum(found.values())
    shares = [100 * count / total for count in found.values()]
    return _bars(list(found), shares, "#2a9d5c", "% of the instructions")


def occupancy(kernel: Kernel) -> str:
    """The number of blocks per multiprocessor that each resource allows."""
    limits = kernel.occupancy.limits
    return _bars(
        list(limits), list(limits.values()), "#4a7fd4", "blocks of a multiprocessor"
    )


def _scale(span: float) -> tuple[float, str]:
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if span >= size:
            return size, unit
    return 1.0, "ns"


def _by_track_and_activity(events: tuple[Event, ...]) -> dict[tuple, list[Event]]:
    groups: dict[tuple, list[Event]] = {}
    for event in sorted(events, key=lambda e: e.begin - e.end)[:MOST_EVENTS]:
        groups.setdefault((track_of(event), event.activity), []).append(event)
    return groups


def timeline(record: Record) -> str:
    """A row for each stream and each thread of the host; "" without events."""
    if not record.events:
        return ""
    start = min(event.begin for event in record.events)
    scale, unit = _scale(max(event.end for event in record.events) - start)
    tracks = sorted({track_of(e): track_name(e) for e in record.events}.items())
    rows = {track: number for number, (track, name) in enumerate(tracks)}
    figure = _figure(11, 0.9 + 0.42 * len(rows))
    if figure is None:
        return ""
    axes = figure.subplots()
    for (track, activity), events in _by_track_and_activity(record.events).items():
        spans = [((e.begin - start) / scale, (e.end - e.begin) / scale) for e in events]
        # An outline keeps short events visible.
        axes.broken_barh(
            spans,
            (rows[track] - 0.32, 0.64),
            color=COLOURS[activity],
            edgecolor=COLOURS[activity],
            lw=0.6,
        )
    axes.set_yticks(list(rows.values()), [name for track, name in tracks])
    axes.invert_yaxis()
    axes.set_xlabel(f"time / {unit}")
    _style(axes)
    return _svg(figure)


def has_library() -> bool:
    """Whether charts can be drawn."""
    return _figure(1, 1) is not None
