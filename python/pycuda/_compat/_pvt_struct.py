"""The struct module with more codes: F and D are complex numbers, P is a device or host address.

Values have C's alignment. ``<n>s`` accepts any buffer, and pads it with zeros or truncates it.
"""

from __future__ import annotations

import operator
import re
import struct
from collections.abc import Iterator

_CODE = re.compile(r"\s*(\d*)([a-zA-Z?])")
_COMPLEX = {"F": "f", "D": "d"}


class error(Exception):
    """Raised for a format that cannot be parsed, or a value that does not fit its format."""


error.__module__ = "struct"
error.__qualname__ = "error"


def _codes(format: str) -> Iterator[tuple[int, str]]:
    """(repeat count, code) of each item; for ``s`` the count is the length."""
    at = 1 if format[:1] in ("@", "=", "<", ">", "!") else 0
    while format[at:].strip():
        match = _CODE.match(format, at)
        if match is None:
            raise error(f"bad char in struct format: {format[at:].strip()[0]!r}")
        yield int(match[1] or 1), match[2]
        at = match.end()


class Struct:
    """A parsed format: ``pack``, ``pack_into``, ``unpack``, ``unpack_from``, ``size``."""

    def __init__(self, format: str | bytes) -> None:
        self.format = format.decode() if isinstance(format, bytes) else format
        self._items = list(_codes(self.format))
        order = self.format[:1] if self.format[:1] in "@=<>!" else "@"
        # A complex number is two real numbers, with the alignment of one.
        plain = "".join(
            f"{2 * count}{_COMPLEX[code]}" if code in _COMPLEX else f"{count}{code}"
            for count, code in self._items
        )
        try:
            self._struct = struct.Struct(order.strip() + plain)
        except struct.error as reason:
            raise error(str(reason)) from None
        self.size = self._struct.size

    def _expand(self, values: tuple) -> Iterator[object]:
        wanted = sum(
            {"s": 1, "p": 1, "x": 0}.get(code, count) for count, code in self._items
        )
        if len(values) != wanted:
            raise error(f"pack expected {wanted} items for packing (got {len(values)})")
        rest = iter(values)
        for count, code in self._items:
            if code in ("s", "p"):
                yield bytes(memoryview(next(rest)).cast("B"))
                continue
            for _ in range(0 if code == "x" else count):
                yield from _parts(code, next(rest))

    def pack(self, *values: object) -> bytes:
        """Convert values to bytes."""
        try:
            return self._struct.pack(*self._expand(values))
        except (struct.error, TypeError) as reason:
            raise error(str(reason)) from None

    def pack_into(self, buffer: object, offset: int, *values: object) -> None:
        """Write the values to ``buffer``, starting at ``offset``."""
        try:
            self._struct.pack_into(buffer, offset, *self._expand(values))
        except (struct.error, TypeError) as reason:
            raise error(str(reason)) from None

    def _collect(self, raw: tuple) -> tuple:
        rest = iter(raw)
        result = []
        for count, code in self._items:
            repeats = {"s": 1, "p": 1, "x": 0}.get(code, count)
            for _ in range(repeats):
                if code in _COMPLEX:
                    result.append(complex(next(rest), next(rest)))
                else:
                    result.append(next(rest))
        return tuple(result)

    def unpack(self, buffer: object) -> tuple:
        """Convert bytes to values."""
        return (
            self.unpack_from(buffer)
            if len(buffer) == self.size
            else self._refuse(buffer)
        )

    def _refuse(self, buffer: object) -> tuple:
        raise error(f"unpack requires a buffer of {self.size} bytes, not {len(buffer)}")

    def unpack_from(self, buffer: object, offset: int = 0) -> tuple:
        """Convert bytes to values, starting at ``offset``."""
        try:
            return self._collect(self._struct.unpack_from(buffer, offset))
        except struct.error as reason:
            raise error(str(reason)) from None


def _parts(code: str, value: object) -> tuple:
    if code in _COMPLEX:
        number = complex(value)
        return number.real, number.imag
    if code == "P":
        return (operator.index(value),)
    return (value,)


def pack(format: str, *values: object) -> bytes:
    """Convert values to bytes.

    >>> len(pack("bP", 1, 0))
    16
    """
    return Struct(format).pack(*values)


def pack_into(format: str, buffer: object, offset: int, *values: object) -> None:
    """Write the values to ``buffer``, starting at ``offset``."""
    Struct(format).pack_into(buffer, offset, *values)


def unpack(format: str, buffer: object) -> tuple:
    """Convert bytes to values."""
    return Struct(format).unpack(buffer)


def unpack_from(format: str, buffer: object, offset: int = 0) -> tuple:
    """Convert bytes to values, starting at ``offset``."""
    return Struct(format).unpack_from(buffer, offset)


def calcsize(format: str) -> int:
    """The number of bytes of the format's values.

    >>> calcsize("iD")
    24
    """
    return Struct(format).size


def _clearcache() -> None:
    """Does nothing, because there is no cache; for programs that clear it."""
