"""Random programs: lists of steps, and the Python text of such a list."""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace

from . import steps as table
from .order import Order, Stream
from .steps import Kind

STREAMS = [
    Stream(f"{name}{device}", device, kind)
    for device in (0, 1)
    for name, kind in (
        ("default", "default"),
        ("thread", "blocking"),
        ("blocking", "blocking"),
        ("urgent", "blocking"),
        ("free", "free"),
        ("other", "free"),
    )
]
PAGE_LOCKED = ("p0", "p1")
LARGEST = 480
SIZES = (LARGEST, LARGEST, 64, 17)


@dataclass(frozen=True)
class Step:
    """One step. `names`: what the words of the kind's lines stand for. `waits`: for each stream for which this one
    may have to wait, how. `inner`: the steps of a graph, or of two threads."""

    kind: Kind
    stream: Stream
    names: dict[str, object]
    waits: dict[Stream, str]
    form: str = "step"
    inner: tuple[Step, ...] = ()


#: Ways to wait for another stream; the last two make the host wait.
WAITS = ("event", "event", "event", "stream", "query")


class InvalidError(Exception):
    """A step uses a name that no step has made."""


@dataclass
class Values:
    """The arrays of a program at some point: device, the memory, the shape, whether they are plain."""

    device: dict[str, int] = field(default_factory=dict)
    memory: dict[str, str] = field(default_factory=dict)
    size: dict[str, int] = field(default_factory=dict)
    plain: dict[str, bool] = field(default_factory=dict)
    graphs: dict[str, Step] = field(default_factory=dict)
    kept: set[str] = field(default_factory=set)  # used by a graph, or as an address

    def forget(self, name: str) -> None:
        for table_of in (self.device, self.memory, self.size, self.plain):
            del table_of[name]


def result_size(step: Step, values: Values) -> int:
    x = step.names.get("x")
    size = values.size[x] if x else step.names["size"]
    text = step.kind.device
    if step.kind in table.VIEWS:
        k = step.names["k"]
        return {
            "{x}[::2]": (size + 1) // 2,
            "{x}[1:]": max(size - 1, 0),
            "{x}[{k} % {x}.size // 2 :]": size - (k % size) // 2,
        }.get(text.removeprefix("{z} = "), size)
    if "[:16]" in text:
        return 16
    return size


class Writer:
    """Makes the text of steps."""

    def __init__(self):
        self.lines: list[str] = []
        self.order = Order(PAGE_LOCKED)
        self.values = Values()

    # ---- orders ----------------------------------------------------------------------------

    def prepare(self, step: Step, reads, writes) -> None:
        """Makes the step's stream wait for all that it depends on."""
        for other in self.order.missing(step.stream, reads, writes):
            if other in self.order.missing(step.stream, reads, writes):
                self.wait(step, other, step.waits.get(other, "event"))

    def wait(self, step: Step, other: Stream, how: str) -> None:
        if how == "event":
            self.lines.append(f"order({other.name}, {step.stream.name})")
            return self.order.event(other, step.stream)
        self.host_waits(other, how)

    def host_waits(self, stream: Stream, how="stream") -> None:
        call = {"stream": "finish", "query": "poll", "event": "finish_event"}[how]
        self.lines.append(f"{call}({stream.name})")
        self.order.host_waits(stream, by_event=how != "stream")

    def host_needs(self, reads=(), writes=()) -> None:
        for other in self.order.missing(None, reads, writes):
            if other in self.order.missing(None, reads, writes):
                self.host_waits(other)
        self.order.host_accesses(reads, writes)

    # ---- steps -----------------------------------------------------------------------------

    def accesses(self, step: Step) -> tuple[set[str], set[str]]:
        """The memory that a step reads, and that it writes."""
        memory, names = self.values.memory, step.names
        if step.form == "launch":
            graph = self.values.graphs.get(names["g"])
            if graph is None:
                raise InvalidError
            return self.accesses(graph)
        if step.inner:
            both = [self.accesses(one) for one in step.inner]
            return tuple(set.union(*(accessed[i] for accessed in both)) for i in (0, 1))
        try:
            reads = {memory[names[n]] for n in ("x", "y") if n in names}
            writes = set()
            if "p" in names:
                (writes if "dtoh" in step.kind.device else reads).add(names["p"])
            if "seen" in step.kind.device:  # functions of the host append to one list
                writes.add("seen")
            if "z" in names and not step.kind.result:
                writes.add(memory[names["z"]])
                reads.add(memory[names["z"]])
        except KeyError:
            raise InvalidError from None
        return reads, writes

    def add(self, step: Step) -> None:
        getattr(self, f"add_{step.form}")(step)

    def add_step(self, step: Step) -> None:
        reads, writes = self.accesses(step)
        if (
            step.kind in table.VIEWS
        ):  # nothing runs in the stream, and nothing is ordered by it
            self.lines += self.text_of(step)
            return self.define(step)
        if "f" in step.names:  # the consumer waits for the stream that the array names
            x = step.names["x"]
            foreign = self.named_writer(x) or step.stream
            if foreign != step.stream:
                self.order.event(foreign, step.stream)
                self.prepare(step, reads | {self.values.memory[x]}, writes)
            step = replace(step, names={**step.names, "f": foreign.name})
        self.prepare(step, reads, writes)
        self.lines += self.text_of(step)
        self.keep_addressed(step)
        self.define(step)
        self.order.work(step.stream, reads, writes)
        if step.kind.result:
            self.order.work(step.stream, writes={self.values.memory[step.names["z"]]})
        if step.kind.waits:
            self.order.host_waits(step.stream)

    def named_writer(self, x: str) -> Stream | None:
        """The stream that wrote an array's memory, if the array's interface can name it.

        1 and 2 are the default streams of the array's own device.
        """
        uses = self.order.memory.get(self.values.memory[x])
        if not uses or not uses.write:
            return None
        stream = uses.write[0]
        of_each_device = stream.name.startswith(("default", "thread"))
        if of_each_device and stream.device != self.values.device[x]:
            return None
        return stream

    def keep_addressed(self, step: Step) -> None:
        """An int does not keep the memory at its address, so the program must, until the work is done."""
        self.values.kept |= {
            step.names[n] for n in "xyz" if f"{{{n}}}.ptr" in step.kind.device
        }

    def define(self, step: Step) -> None:
        names, values = step.names, self.values
        if not step.kind.result:
            return
        z, x, view = names["z"], names.get("x"), step.kind in table.VIEWS
        values.size[z] = result_size(step, values)
        values.device[z] = step.stream.device
        values.memory[z] = values.memory[x] if view else z
        values.plain[z] = not view or (values.plain[x] and "::" not in step.kind.device)

    def text_of(self, step: Step) -> list[str]:
        """The lines of a step without those that order it."""
        names = {
            **step.names,
            "s": step.stream.name + ".stream",
            "o": step.stream.name,
            "m": f"modules[{step.stream.device}]",
        }
        host = {
            name: "h" + value[1:]
            if name in "xyz"
            else "q" + value[1:]
            if name == "p"
            else value
            for name, value in names.items()
        }
        names["host_x"] = host.get("x")
        lines = [line.format(**names) for line in step.kind.device.split("; ")]
        if step.kind.inside:
            lines = [f"with {step.stream.name}:", *("    " + line for line in lines)]
        else:
            lines = [
                f"with device{step.stream.device}:",
                *("    " + line for line in lines),
            ]
        return lines + (step.kind.host or step.kind.device).format(**host).split("; ")

    def add_drop(self, step: Step) -> None:
        name = step.names["x"]
        if name not in self.values.memory or name in self.values.kept:
            raise InvalidError
        self.lines.append(f"del {name}, h{name[1:]}")
        self.values.forget(name)

    def add_host(self, step: Step) -> None:
        """The host changes page-locked memory."""
        p = step.names["p"]
        self.host_needs(writes={p})
        self.lines += [
            f"{p}[:] = {step.names['k']}",
            f"q{p[1:]}[:] = {step.names['k']}",
        ]

    def add_capture(self, step: Step) -> None:
        """Records a graph, whose second stream is forked from the first."""
        for one in step.inner:
            self.accesses(one)
            self.values.kept |= {one.names[n] for n in "xyz" if n in one.names}
        inner = Writer()
        inner.values = self.values
        first = step.stream
        inner.lines += [f"with cuda.capture({first.name}.stream) as recording:"]
        streams = {one.stream for one in step.inner} - {first}
        start = len(inner.lines)
        for other in sorted(streams, key=lambda s: s.name):
            inner.wait(replace(step, stream=other), first, "event")
        for one in step.inner:
            one = replace(one, waits={})
            reads, writes = inner.accesses(one)
            inner.prepare(one, reads, writes)
            inner.order.work(one.stream, reads, writes)
            text = inner.text_of(one)
            device = 1 + len([line for line in text if line.startswith("    ")])
            inner.lines += text[:device]
        for other in sorted(streams, key=lambda s: s.name):
            inner.wait(replace(step, stream=first), other, "event")
        inner.lines[start:] = ["    " + line for line in inner.lines[start:]]
        self.lines += [
            f"with device{first.device}:",
            *("    " + line for line in inner.lines),
            f"    {step.names['g']} = recording.graph.instantiate()",
        ]
        self.values.graphs[step.names["g"]] = step

    def add_launch(self, step: Step) -> None:
        reads, writes = self.accesses(step)
        graph = self.values.graphs[step.names["g"]]
        self.prepare(step, reads, writes)
        self.lines += [
            f"with device{step.stream.device}:",
            f"    {step.names['g']}.launch({step.stream.name}.stream)",
        ]
        for one in graph.inner:
            text = self.text_of(one)
            self.lines += text[
                1 + len([line for line in text if line.startswith("    ")]) :
            ]
        self.order.work(step.stream, reads, writes)

    def add_threads(self, step: Step) -> None:
        """Two steps in two threads at the same time, which access nothing that the other one changes."""
        accessed = [self.accesses(one) for one in step.inner]
        for i, (_, writes) in enumerate(accessed):
            if writes & set.union(*accessed[1 - i]):
                raise InvalidError
        for one, (reads, writes) in zip(step.inner, accessed, strict=True):
            self.prepare(one, reads, writes)
        for i, one in enumerate(step.inner):
            names = (
                [one.names["z"], "h" + one.names["z"][1:]] if "z" in one.names else []
            )
            self.lines += [f"def job{i}():"]
            self.lines += [f"    global {', '.join(names)}"] if names else []
            self.lines += ["    " + line for line in self.text_of(one)]
        self.lines += ["run_together(job0, job1)"]
        works = []
        for one, (reads, writes) in zip(step.inner, accessed, strict=True):
            self.define(one)
            made = {one.names["z"]} if one.kind.result else set()
            works.append((one.stream, reads, writes | made))
        self.order.work_of_threads(*works)

    def add_reduce_all(self, step: Step) -> None:
        """NCCL's sum over two devices, each in its stream."""
        reads_of = [self.accesses(one) for one in step.inner]
        sizes = {self.values.size.get(one.names["z"]) for one in step.inner}
        if len(sizes) != 1 or not all(
            self.values.plain.get(one.names["z"]) for one in step.inner
        ):
            raise InvalidError
        names = [one.names["z"] for one in step.inner]
        for one, (reads, writes) in zip(step.inner, reads_of, strict=True):
            self.prepare(one, reads, writes)
        self.lines += ["with nccl.group():"]
        for rank, one in enumerate(step.inner):
            self.lines += [
                f"    comms[{rank}].all_reduce({names[rank]}, op='max', stream={one.stream.name}.stream)"
            ]
        host = ["h" + name[1:] for name in names]
        self.lines += [
            f"{host[0]}[...] = {host[1]}[...] = np.maximum({host[0]}, {host[1]})"
        ]
        for one, (reads, writes) in zip(step.inner, reads_of, strict=True):
            self.order.work(one.stream, reads, writes)

    def add_to_device(self, step: Step) -> None:
        """A copy of an array on the other device. The call waits for all work on the array's device."""
        x, z = step.names["x"], step.names["z"]
        if self.values.device.get(x) != step.stream.device:
            raise InvalidError
        self.prepare(step, {self.values.memory[x]}, set())
        self.lines += [
            f"with {step.stream.name}:",
            f"    {z} = {x}.to_device({1 - step.stream.device})",
            f"h{z[1:]} = h{x[1:]}.copy()",
        ]
        for stream in STREAMS:
            if stream.device == step.stream.device:
                self.order.host_waits(stream)
        self.values.size[z] = self.values.size[x]
        self.values.device[z] = 1 - self.values.device[x]
        self.values.memory[z], self.values.plain[z] = z, True

    def add_peer_copy(self, step: Step) -> None:
        """A copy between devices, in a stream of either."""
        values, x, z = self.values, step.names["x"], step.names["z"]
        if not (values.plain.get(x) and values.plain.get(z)) or (
            values.size[x] != values.size[z] or values.device[x] == values.device[z]
        ):
            raise InvalidError
        reads, writes = {values.memory[x]}, {values.memory[z]}
        self.prepare(step, reads, writes)
        contexts = ", ".join(f"contexts[{values.device[name]}]" for name in (z, x))
        self.lines += [
            f"with device{step.stream.device}:",
            f"    cuda.memcpy_peer_async({z}, {x}, {x}.nbytes, {contexts}, {step.stream.name}.stream)",
            f"h{z[1:]}[...] = h{x[1:]}",
        ]
        self.order.work(step.stream, reads, writes)

    def end(self) -> None:
        """Compares everything."""
        self.lines += ["finish_all()"]
        for name in self.values.memory:
            self.lines += [f"check({name!r}, {name}.get(), h{name[1:]})"]
        self.lines += [f"check({p!r}, {p}, q{p[1:]})" for p in PAGE_LOCKED]
        self.lines += ["check('seen', seen, seen_by_host)"]


def text_of(steps: list[Step], preamble: str) -> str:
    """The program. Raises InvalidError."""
    writer = Writer()
    for step in steps:
        writer.add(step)
    writer.end()
    return preamble + "\n".join(writer.lines) + "\n"


class Generator:
    """Makes steps that are valid one after the other."""

    def __init__(self, seed: int, devices: int = 2, nccl: bool = True):
        self.random = random.Random(seed)
        self.streams = [s for s in STREAMS if s.device < devices]
        self.nccl = nccl and devices > 1
        self.devices = devices
        self.writer = Writer()
        self.made = 0

    def steps(self, count: int) -> list[Step]:
        result = []
        for stream in self.random.sample(self.streams, min(4, len(self.streams))):
            result.append(self.keep(self.value(stream, new=True)))
        while len(result) < count:
            try:
                if (step := self.step()) is not None:
                    result.append(self.keep(step))
            except InvalidError:
                continue
        return result

    def keep(self, step: Step) -> Step:
        self.writer.add(step)
        return step

    def step(self) -> Step | None:
        pick = self.random.choices(
            ("value", "change", "view", "locked", "foreign", "check", "drop", "host", "capture",
             "launch", "threads", "reduce_all", "to_device", "peer_copy"),
            (22, 30, 8, 8, 6, 4, 10, 2, 3, 8, 4, 2, 2, 4),
        )[0]  # fmt: skip
        stream = self.random.choice(self.streams)
        if pick in ("launch", "capture", "reduce_all", "threads", "host"):
            return getattr(self, pick)()
        return getattr(self, pick)(stream)

    # ---- parts -----------------------------------------------------------------------------

    def name(self, letter="d") -> str:
        self.made += 1
        return f"{letter}{self.made}"

    def waits(self) -> dict[Stream, str]:
        return {s: self.random.choice(WAITS) for s in self.streams}

    def arrays(self, device: int, kind: Kind) -> list[str]:
        values = self.writer.values
        return [
            name
            for name in values.memory
            if values.device[name] == device
            and values.size[name] >= kind.least
            and (values.plain[name] or not kind.plain)
        ]

    def fill(self, kind: Kind, stream: Stream) -> Step | None:
        """A step of this kind with random operands; None if there are no arrays for it."""
        values, names = self.writer.values, {"k": self.random.randrange(1, 30)}
        if kind.needs("x") or (kind.needs("z") and not kind.result):
            candidates = self.arrays(stream.device, kind)
            if not candidates:
                return None
            first = self.random.choice(candidates)
            same = [n for n in candidates if values.size[n] == values.size[first]]
            for word in ("x", "y"):
                if kind.needs(word):
                    names[word] = self.random.choice(same)
            if kind.needs("z") and not kind.result:
                names["z"] = first
                if (
                    values.memory[names.get("x", "")] == values.memory[first]
                    if "x" in names
                    else False
                ):
                    return None  # overlapping operands are another subject
        if kind.result:
            names["z"] = self.name()
        if kind.needs("size"):
            names["size"] = self.random.choice(SIZES)
        if kind.needs("p"):
            names["p"] = self.random.choice(PAGE_LOCKED)
        if kind.needs("f"):
            names["f"] = True
        return Step(kind, stream, names, self.waits())

    def value(self, stream: Stream, new=False) -> Step | None:
        kinds = table.VALUES[-2:] if new else table.VALUES
        return self.fill(self.random.choice(kinds), stream)

    def change(self, stream: Stream) -> Step | None:
        return self.fill(self.random.choice(table.CHANGES), stream)

    def view(self, stream: Stream) -> Step | None:
        step = self.fill(self.random.choice(table.VIEWS), stream)
        return step if step and result_size(step, self.writer.values) > 0 else None

    def locked(self, stream: Stream) -> Step | None:
        return self.fill(self.random.choice(table.PAGE_LOCKED), stream)

    def foreign(self, stream: Stream) -> Step | None:
        return self.fill(self.random.choice(table.FOREIGN), stream)

    def check(self, stream: Stream) -> Step | None:
        return self.fill(self.random.choice(table.CHECKS), stream)

    def drop(self, stream: Stream) -> Step | None:
        names = [
            n for n in self.writer.values.memory if n not in self.writer.values.kept
        ]
        if len(names) < 5:
            return None
        return Step(
            table.CHECKS[0], stream, {"x": self.random.choice(names)}, {}, "drop"
        )

    def host(self) -> Step:
        names = {"p": self.random.choice(PAGE_LOCKED), "k": self.random.randrange(250)}
        return Step(table.CHECKS[0], self.streams[0], names, {}, "host")

    def capture(self) -> Step | None:
        device = self.random.randrange(self.devices)
        streams = [
            s
            for s in self.streams
            if s.device == device and s.name[:-1] in ("free", "other")
        ]
        kinds = [kind for kind in table.CHANGES if kind.captured]
        inner = [
            self.fill(self.random.choice(kinds), self.random.choice(streams))
            for _ in range(self.random.randrange(1, 6))
        ]
        if None in inner:
            return None
        return Step(
            kinds[0],
            streams[0],
            {"g": self.name("g")},
            self.waits(),
            "capture",
            tuple(inner),
        )

    def launch(self) -> Step | None:
        graphs = self.writer.values.graphs
        if not graphs:
            return None
        name = self.random.choice(sorted(graphs))
        device = graphs[name].stream.device
        stream = self.random.choice([s for s in self.streams if s.device == device])
        return Step(table.CHECKS[0], stream, {"g": name}, self.waits(), "launch")

    def threads(self) -> Step | None:
        pairs = [s for s in self.streams if not s.name.startswith("thread")]
        kinds = [k for k in table.VALUES + table.CHANGES if not k.waits]
        inner = [
            self.fill(self.random.choice(kinds), self.random.choice(pairs))
            for _ in range(2)
        ]
        if None in inner:
            return None
        return Step(kinds[0], pairs[0], {}, {}, "threads", tuple(inner))

    def reduce_all(self) -> Step | None:
        if not self.nccl:
            return None
        kind = Kind("{z}", plain=True)
        inner = [
            self.fill(
                kind,
                self.random.choice([s for s in self.streams if s.device == device]),
            )
            for device in (0, 1)
        ]
        if None in inner:
            return None
        return Step(kind, self.streams[0], {}, {}, "reduce_all", tuple(inner))

    def to_device(self, stream: Stream) -> Step | None:
        devices = self.writer.values.device
        names = sorted(name for name in devices if devices[name] == stream.device)
        if self.devices < 2 or not names:
            return None
        names = {"x": self.random.choice(names), "z": self.name()}
        return Step(table.CHECKS[0], stream, names, self.waits(), "to_device")

    def peer_copy(self, stream: Stream) -> Step | None:
        values = self.writer.values
        pairs = [
            (x, z)
            for x in values.memory
            for z in values.memory
            if values.device[x] != values.device[z]
            and values.size[x] == values.size[z]
            and values.plain[x]
            and values.plain[z]
        ]
        if not pairs:
            return None
        names = dict(zip("xz", self.random.choice(pairs), strict=True))
        return Step(table.CHECKS[0], stream, names, self.waits(), "peer_copy")
