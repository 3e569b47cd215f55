"""A profile's timeline in the format of chrome://tracing, which Perfetto opens (ui.perfetto.dev).

The format is described in "Trace Event Format" by the Chromium project. Times are microseconds.
"""

from __future__ import annotations

import json
import os

from softcuda._profile_data import Event, Record

_DEVICE_TRACKS = 1 << 22  # greater than Linux' thread numbers


def track_of(event: Event) -> tuple[int, int]:
    """Process and row of an event: there is a row for each stream and for each thread of the host."""
    if event.stream:
        row = _DEVICE_TRACKS * (event.device + 1) + event.stream
        return event.process, row
    return event.process, event.thread


def track_name(event: Event) -> str:
    """The name of the row: "device 0, stream 3" or "host thread 4711"."""
    if not event.stream:
        return f"host thread {event.thread}"
    stream = {1: "default stream"}.get(event.stream, f"stream {event.stream}")
    return f"device {event.device}, {stream}"


def as_json(record: Record) -> str:
    """The text of a trace file."""
    start = min((event.begin for event in record.events), default=0)
    names = {}
    rows = []
    for event in record.events:
        process, row = track_of(event)
        names[process, row] = track_name(event)
        arguments = {"bytes": event.bytes} if event.bytes else {}
        rows.append(
            {
                "name": event.name or event.activity,
                "cat": event.activity,
                "ph": "X",
                "pid": process,
                "tid": row,
                "ts": (event.begin - start) / 1000,
                "dur": (event.end - event.begin) / 1000,
                "args": arguments,
            }
        )
    metadata = [
        {
            "name": "thread_name",
            "ph": "M",
            "pid": process,
            "tid": row,
            "args": {"name": name},
        }
        for (process, row), name in sorted(names.items())
    ]
    return json.dumps({"traceEvents": metadata + rows, "displayTimeUnit": "ns"})


def write(record: Record, path: str | os.PathLike) -> None:
    """Write the trace file. Raises OSError."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(as_json(record))
