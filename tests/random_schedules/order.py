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
    """The work so far. A clock says up to which work of each stream something is ordered."""

    def __init__(self):
        self.clocks: dict[Stream, Clock] = {}
        self.host: Clock = {}
        self.memory: dict[object, Uses] = {}

    def known(self, stream: Stream) -> Clock:
        """What the next work in the stream follows."""
        clock = dict(self.clocks.get(stream, {}))
        join(clock, self.host)
        for other, its in self.clocks.items():
            if other.device == stream.device and {"default", "blocking"} == {
                other.kind,
                stream.kind,
            }:
                join(clock, its)
        return clock

    def missing(self, clock: Clock, reads, writes) -> list[Stream]:
        """The streams for which something with this clock has to wait, before it accesses memory."""
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
        for (stream, reads, writes), clock in zip(works, clocks, strict=True):
            assert not self.missing(clock, reads, writes)
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

    def host_waits(self, stream: Stream, by_event: bool = False) -> None:
        """The host waits for the stream, or for an event that is recorded in it now.

        The event is work of the stream, which follows the default stream. Without it, a stream that has no new work
        since is done before the default stream is.
        """
        if by_event or stream.kind == "default":
            join(self.host, self.known(stream))
        else:
            join(self.host, self.clocks.get(stream, {}))

    def host_accesses(self, reads=(), writes=()) -> None:
        """The host reads or writes page-locked memory itself; its next work comes after this."""
        assert not self.missing(self.host, reads, writes)
        for memory in writes:
            self.memory[memory] = Uses()
