"""Which step is ordered after which: CUDA's rules, as a clock for each stream."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stream:
    """A stream of a program: the expression that names it, its device, and its kind.

    kind: "default", "blocking" (also the thread's default stream) or "free" (non-blocking).
    """

    name: str
    device: int
    kind: str


@dataclass
class Uses:
    """The accesses of one memory that later ones must follow: (stream, number of its work)."""

    write: tuple[Stream, int] | None = None
    reads: dict[Stream, int] = field(default_factory=dict)


Clock = dict[Stream, int]


def join(into: Clock, clock: Clock) -> None:
    for stream, number in clock.items():
        into[stream] = max(into.get(stream, 0), number)


class Order:
    """The work so far. A clock says up to which work of each stream something is ordered.

    For page-locked memory of the host, the default stream and blocking streams do not wait for each other: NVIDIA's
    driver 580 reads it for a small copy in the default stream before earlier work in blocking streams is done
    (measured on an H200).
    """

    def __init__(self, page_locked=()):
        self.clocks: dict[Stream, Clock] = {}
        self.host: Clock = {}
        self.memory: dict[object, Uses] = {}
        self.is_implicit = True
        self.page_locked = frozenset(page_locked)
        self.of_page_locked: Order | None = None
        if page_locked:
            self.of_page_locked = Order()
            self.of_page_locked.is_implicit = False

    def _split(self, memory) -> tuple[set, set]:
        """Memory of devices, and page-locked memory."""
        return set(memory) - self.page_locked, self.page_locked.intersection(memory)

    def known(self, stream: Stream) -> Clock:
        """What the next work in the stream follows."""
        clock = dict(self.clocks.get(stream, {}))
        join(clock, self.host)
        if not self.is_implicit:
            return clock
        for other, its in self.clocks.items():
            if other.device == stream.device and {"default", "blocking"} == {
                other.kind,
                stream.kind,
            }:
                join(clock, its)
        return clock

    def missing(self, stream: Stream | None, reads, writes) -> list[Stream]:
        """The streams for which the next work in the stream, or the host, has to wait before it accesses memory."""
        (reads, locked_reads), (writes, locked_writes) = (
            self._split(memory) for memory in (reads, writes)
        )
        found = self._missing(stream, reads, writes)
        if self.of_page_locked:
            more = self.of_page_locked.missing(stream, locked_reads, locked_writes)
            found = sorted({*found, *more}, key=lambda s: s.name)
        return found

    def _missing(self, stream: Stream | None, reads, writes) -> list[Stream]:
        clock = self.known(stream) if stream else self.host
        needed: Clock = {}
        for memory in {*reads, *writes}:
            uses = self.memory.get(memory, Uses())
            if uses.write:
                join(needed, dict([uses.write]))
            if memory in writes:
                join(needed, uses.reads)
        return sorted(
            (s for s, number in needed.items() if number > clock.get(s, 0)),
            key=lambda s: s.name,
        )

    def work(self, stream: Stream, reads=(), writes=()) -> None:
        """Work in the stream that accesses this memory."""
        self.work_of_threads((stream, reads, writes))

    def work_of_threads(self, *works) -> None:
        """Work that several threads queue at the same time, each (stream, reads, writes): none follows another's."""
        clocks = [self.known(stream) for stream, _, _ in works]
        for stream, reads, writes in works:
            assert not self.missing(stream, reads, writes)
        if self.of_page_locked:
            parts = [(s, self._split(r), self._split(w)) for s, r, w in works]
            self.of_page_locked.work_of_threads(*((s, r[1], w[1]) for s, r, w in parts))
            works = [(s, r[0], w[0]) for s, r, w in parts]
        for (stream, reads, writes), clock in zip(works, clocks, strict=True):
            number = self.clocks.get(stream, {}).get(stream, 0) + 1
            join(clock, self.clocks.get(stream, {}))
            clock[stream] = number
            self.clocks[stream] = clock
            for memory in reads:
                self.memory.setdefault(memory, Uses()).reads[stream] = number
            for memory in writes:
                self.memory[memory] = Uses((stream, number))

    def event(self, before: Stream, after: Stream) -> None:
        """`after` waits for the work in `before`."""
        clock = self.known(after)
        join(clock, self.known(before))
        self.clocks[after] = clock
        if self.of_page_locked:
            self.of_page_locked.event(before, after)

    def host_waits(self, stream: Stream, by_event: bool = False) -> None:
        """The host waits for the stream, or for an event that is recorded in it now.

        The event is work of the stream, which follows the default stream. Without it, a stream that has no new work
        since is done before the default stream is.
        """
        if by_event or stream.kind == "default":
            join(self.host, self.known(stream))
        else:
            join(self.host, self.clocks.get(stream, {}))
        if self.of_page_locked:
            self.of_page_locked.host_waits(stream, by_event)

    def host_accesses(self, reads=(), writes=()) -> None:
        """The host reads or writes page-locked memory itself; its next work comes after this."""
        assert not self.missing(None, reads, writes)
        for memory in writes:
            order = self.of_page_locked if memory in self.page_locked else self
            order.memory[memory] = Uses()
