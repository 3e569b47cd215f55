"""A profile as one page of HTML, which needs no network and no other file."""

from __future__ import annotations

import os
from html import escape

from softcuda import _profile_charts
from softcuda._profile_advice import (
    EXCESS_OF_SECTORS,
    EXCESS_OF_WAVEFRONTS,
    NO_LINE,
    WAITING_LANES,
    advice_for,
)
from softcuda._profile_data import (
    WARP,
    Access,
    Kernel,
    Line,
    Record,
    ratio,
    source_lines,
)
from softcuda._profile_text import (
    OWN_HEAD,
    by_cost,
    duration,
    has_own,
    heading,
    number,
    own_rows,
    own_title,
    remark,
    resources,
    size,
    timeline_lines,
    times,
)

_STYLE = """
.pycuda-profile { --ink: #1d2430; --soft: #64708a; --page: #fff; --card: #f6f7f9; --line: #dfe3ea;
  --hot: 214,93,60; --good: #2a9d5c; --warn: #b35a12; color: var(--ink); background: var(--page);
  font: 15px/1.5 system-ui, sans-serif; max-width: 1180px; margin: 0 auto; padding: 8px 24px 48px; }
@media (prefers-color-scheme: dark) { .pycuda-profile { --ink: #e4e8ef; --soft: #98a3b8; --page: #14171c;
  --card: #1c2027; --line: #323844; --warn: #f0a35e; --good: #5cc98c; } body { background: #14171c; } }
.pycuda-profile h1 { font-size: 26px; margin: 24px 0 4px; }
.pycuda-profile h2 { font-size: 19px; margin: 40px 0 2px; }
.pycuda-profile h2 code { font-size: 18px; }
.pycuda-profile h3 { font-size: 14px; margin: 20px 0 6px; color: var(--soft); text-transform: uppercase;
  letter-spacing: .05em; }
.pycuda-profile h3.file { text-transform: none; letter-spacing: 0; font-family: ui-monospace, monospace; }
.pycuda-profile .soft { color: var(--soft); }
.pycuda-profile .tiles { display: flex; flex-wrap: wrap; gap: 12px; margin: 14px 0; }
.pycuda-profile .tile { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 10px 16px; min-width: 118px; }
.pycuda-profile .tile b { display: block; font-size: 21px; font-weight: 600; }
.pycuda-profile .tile span { color: var(--soft); font-size: 13px; }
.pycuda-profile ol.advice { margin: 12px 0; padding: 10px 16px 10px 36px; background: var(--card);
  border: 1px solid var(--line); border-left: 4px solid var(--warn); border-radius: 8px; }
.pycuda-profile ol.advice li { margin: 4px 0; }
.pycuda-profile ol.advice a { color: var(--warn); font-weight: 600; text-decoration: none; }
.pycuda-profile .good { color: var(--good); margin: 12px 0; }
.pycuda-profile .charts { display: grid; grid-template-columns: 1fr 1fr; gap: 12px;
  align-items: start; }
.pycuda-profile figure { margin: 0; padding: 10px 12px; background: var(--card); overflow-x: auto;
  border: 1px solid var(--line); border-radius: 10px; }
.pycuda-profile figcaption { color: var(--soft); font-size: 13px; }
.pycuda-profile figure svg { width: 100%; height: auto; color: var(--ink); }
.pycuda-profile .key i { display: inline-block; width: 11px; height: 11px; border-radius: 3px;
  margin: 0 5px 0 14px; }
.pycuda-profile .scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 10px; }
.pycuda-profile table { border-collapse: collapse; width: 100%; font-size: 13px; }
.pycuda-profile th { text-align: right; color: var(--soft); font-weight: 500; padding: 6px 10px;
  border-bottom: 1px solid var(--line); background: var(--card); white-space: nowrap; }
.pycuda-profile td { text-align: right; padding: 1px 10px; white-space: nowrap;
  font-variant-numeric: tabular-nums; }
.pycuda-profile th.left, .pycuda-profile td.left { text-align: left; }
.pycuda-profile td.wide { white-space: normal; min-width: 10em; }
.pycuda-profile td.source { text-align: left; white-space: pre; font-family: ui-monospace, monospace;
  width: 99%; border-left: 1px solid var(--line); }
.pycuda-profile td.line { color: var(--soft); }
.pycuda-profile .bad { color: var(--warn); font-weight: 600; }
.pycuda-profile tr:target td { outline: 2px solid var(--warn); outline-offset: -2px; }
.pycuda-profile .bar { display: inline-block; width: 56px; height: 8px; border-radius: 4px; margin-right: 6px;
  background: var(--line); overflow: hidden; }
.pycuda-profile .bar i { display: block; height: 8px; background: var(--good); }
@media (max-width: 760px) { .pycuda-profile .charts { grid-template-columns: 1fr; } }
"""


def _tile(value: str, name: str) -> str:
    return f'<div class="tile"><b>{escape(value)}</b><span>{escape(name)}</span></div>'


def _figure(svg: str, caption: str) -> str:
    return f"<figure><figcaption>{caption}</figcaption>{svg}</figure>" if svg else ""


# -- the timeline ------------------------------------------------------------------------------


def _timeline(record: Record) -> str:
    lines = timeline_lines(record)
    if not lines:
        return ""
    present = {event.activity for event in record.events}
    key = "".join(
        f'<i style="background:{colour}"></i>{activity}'
        for activity, colour in _profile_charts.COLOURS.items()
        if activity in present
    )
    most = _profile_charts.MOST_EVENTS
    count = len(record.events) + record.events_left_out
    drawn = f"The longest {most} of {count} events" if count > most else "Time"
    chart = _figure(
        _profile_charts.timeline(record), f'<span class="key">{drawn}:{key}</span>'
    )
    totals = "<br>".join(escape(line) for line in lines)
    return f'<h3>Timeline</h3>{chart}<p class="soft">{totals}</p>'


# -- a kernel's lines --------------------------------------------------------------------------


_WORDS = {"load": "ld", "store": "st", "atomic": "atom"}


def _pair(access: Access, found: int, ideal: int, limit: float) -> str:
    """ "ld 32 / 4": the number for a request, and the ideal number; marked if that is much less."""
    mark = ' class="bad"' if found >= limit * ideal else ""
    return (
        f"<span{mark}>{_WORDS[access.kind]} {found / access.requests:.3g} / "
        f"{ideal / access.requests:.3g}</span>"
    )


def _cell(parts: list[str]) -> str:
    return f"<td>{', '.join(parts)}</td>"


def _sectors(accesses: list[Access]) -> str:
    return _cell(
        [
            _pair(access, access.sectors, access.ideal_sectors, EXCESS_OF_SECTORS)
            for access in accesses
            if access.space != "shared"
        ]
    )


def _wavefronts(accesses: list[Access]) -> str:
    return _cell(
        [
            _pair(a, a.wavefronts, a.ideal_wavefronts, EXCESS_OF_WAVEFRONTS)
            for a in accesses
            if a.space == "shared"
        ]
    )


def _waiting(accesses: list[Access]) -> str:
    lanes = [a.same_address / a.requests for a in accesses if a.kind == "atomic"]
    return _cell(
        [
            f'<span class="bad">{n:.3g}</span>' if n >= WAITING_LANES else f"{n:.3g}"
            for n in lanes
        ]
    )


def _classes(line: Line) -> str:
    return ", ".join(f"{name} {number(n)}" for name, n in line.classes.items())


def _counters(kernel: Kernel, line: Line) -> str:
    accesses = kernel.accesses_of(line.file, line.line)
    lanes = line.active_lanes
    bar = (
        f'<span class="bar"><i style="width:{100 * lanes / WARP:.0f}%"></i></span>'
        f"{lanes:.1f}"
    )
    moved = sum(access.total_bytes for access in accesses)
    return (
        f"<td>{number(line.executions)}</td>"
        f'<td title="{escape(_classes(line))}">{number(line.instructions)}</td>'
        f"<td>{bar}</td>"
        f"<td>{size(moved) if moved else ''}</td>"
        + _sectors(accesses)
        + _wavefronts(accesses)
        + _waiting(accesses)
    )


_HEAD = (
    '<tr><th>line</th><th title="by a warp">executed</th><th>instructions</th>'
    "<th>active lanes</th><th>bytes</th>"
    '<th title="of a request / of an ideal access pattern">sectors</th>'
    '<th title="of a request to shared memory / of an ideal access pattern">wavefronts</th>'
    '<th title="lanes of an atomic that wait for another lane">waiting</th>'
    '<th class="left">source</th></tr>'
)


def _anchor(kernel_id: str, file_number: int, line: int) -> str:
    return f"{kernel_id}-{file_number}-{line}"


def _shown_lines(counted: list[int], length: int) -> list[int]:
    """The lines from the first to the last counted line, with some lines before and after, if there is text."""
    numbers = sorted(number for number in counted if number)
    if numbers and length:
        numbers = list(range(max(1, numbers[0] - 2), min(length, numbers[-1] + 1) + 1))
    return numbers + ([0] if 0 in counted else [])


def _file_table(kernel: Kernel, kernel_id: str, file_number: int, file: str) -> str:
    counted = {line.line: line for line in kernel.lines if line.file == file}
    text = source_lines(kernel, file)
    most = max((line.instructions for line in kernel.lines), default=0)
    shown = _shown_lines(list(counted), len(text))
    rows = []
    for line_number in shown:
        line = counted.get(line_number)
        heat = ratio(line.instructions, most) * 0.35 if line else 0
        style = f' style="background:rgba(var(--hot),{heat:.2f})"' if heat else ""
        source = "" if line_number else f'<i class="soft">{NO_LINE}</i>'
        if 0 < line_number <= len(text):
            source = escape(text[line_number - 1])
        rows.append(
            f'<tr id="{_anchor(kernel_id, file_number, line_number)}"{style}>'
            f'<td class="line">{line_number or "–"}</td>'
            + (_counters(kernel, line) if line else "<td></td>" * 7)
            + f'<td class="source">{source}</td></tr>'
        )
    name = escape(os.path.basename(file) or "unknown file")
    return (
        f'<h3 class="file" title="{escape(file)}">{name}</h3><div class="scroll"><table>'
        f"{_HEAD}{''.join(rows)}</table></div>"
    )


# -- a kernel ----------------------------------------------------------------------------------


def _files(kernel: Kernel) -> list[str]:
    return list(dict.fromkeys(line.file for line in kernel.lines))


def _advice(kernel: Kernel, kernel_id: str) -> str:
    files = _files(kernel)
    items = []
    for advice in advice_for(kernel):
        where = ""
        if advice.file:
            where = f"{NO_LINE}: "
        if advice.line:
            target = _anchor(kernel_id, files.index(advice.file), advice.line)
            where = f'<a href="#{target}">line {advice.line}</a>: '
        items.append(f"<li>{where}{escape(advice.text)}</li>")
    if not items:
        return '<p class="good">The counters show nothing to change.</p>'
    return f'<ol class="advice">{"".join(items)}</ol>'


def _tiles(kernel: Kernel) -> str:
    sectors = kernel.total("sectors", "global") + kernel.total("sectors", "local")
    conflicts = kernel.total("bank_conflicts", "shared")
    counters = [
        _tile(number(kernel.instructions), "warp instructions"),
        _tile(f"{kernel.active_lanes:.1f} / {WARP}", "active lanes"),
        _tile(number(sectors), "sectors of 32 bytes"),
        _tile(number(conflicts), "bank conflicts"),
    ]
    tiles = [
        *(counters if kernel.lines else []),
        _tile(f"{kernel.occupancy.fraction:.0%}", "occupancy"),
        _tile(duration(kernel.nanoseconds), f"on the {kernel.processor}"),
    ]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def _kernel(kernel: Kernel, kernel_id: str) -> str:
    charts = _figure(
        _profile_charts.classes(kernel), "Instructions by class"
    ) + _figure(_profile_charts.occupancy(kernel), "Occupancy by limit")
    tables = "".join(
        _file_table(kernel, kernel_id, number, file)
        for number, file in enumerate(_files(kernel))
    )
    return (
        f'<section id="{kernel_id}"><h2><code>{escape(kernel.name)}</code></h2>'
        f'<div class="soft">{escape(heading(kernel))}; {escape(resources(kernel))}</div>'
        + _tiles(kernel)
        + (_advice(kernel, kernel_id) if kernel.lines else "")
        + (f'<div class="charts">{charts}</div>' if charts else "")
        + tables
        + "</section>"
    )


def _own(record: Record) -> str:
    """The operations on arrays as one table."""
    if not has_own(record):
        return ""
    first, *others = OWN_HEAD
    head = f'<th class="left">{first}</th>' + "".join(
        f"<th>{word}</th>" for word in others
    )
    rows = "".join(
        f'<tr><td class="left wide">{escape(name)}</td>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        + "</tr>"
        for name, *cells in own_rows(record)
    )
    return (
        f'<section><h2>Array operations</h2><div class="soft">{escape(own_title(record))}</div>'
        f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div></section>'
    )


_BRACKETS, _SLASH = "In brackets:", "After a slash:"


# -- the page ----------------------------------------------------------------------------------


def _summary(record: Record) -> str:
    launches = sum(kernel.launches for kernel in record.kernels)
    copies = [event for event in record.events if event.activity == "copy"]
    tiles = [
        _tile(str(len(record.kernels)), "kernels and shapes"),
        _tile(number(launches), "launches"),
        _tile(duration(sum(k.nanoseconds for k in record.kernels)), "in kernels"),
        _tile(
            size(sum(event.bytes for event in copies)),
            f"in {times(len(copies), 'copy')}",
        ),
    ]
    return f'<div class="tiles">{"".join(tiles)}</div>'


def fragment(record: Record) -> str:
    """The profile as an HTML element."""
    kernels = by_cost(record.kernels)
    parts = [
        f"<style>{_STYLE}</style>",
        "<h1>Kernel report</h1>",
        f'<p class="soft">{escape(remark(record).replace(_BRACKETS, _SLASH))}</p>',
        _summary(record),
    ]
    if not _profile_charts.has_library():
        parts.append(f'<p class="soft">{_profile_charts.MISSING}</p>')
    parts.append(_timeline(record))
    parts += [
        _kernel(kernel, f"kernel-{i}")
        for i, kernel in enumerate(kernels)
        if not kernel.is_own
    ]
    parts.append(_own(record))
    if not kernels:
        parts.append("<p>No kernel was launched.</p>")
    return f'<div class="pycuda-profile">{"".join(parts)}</div>'


def page(record: Record) -> str:
    """The profile as a complete page."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        "<title>Kernel report</title><style>body { margin: 0; }</style></head><body>"
        f"{fragment(record)}</body></html>\n"
    )


def write(record: Record, path: str | os.PathLike) -> None:
    """Write the page. Raises OSError."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(page(record))
