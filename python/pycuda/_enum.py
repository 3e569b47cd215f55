"""Classes for the constants of the driver: ints that print their names."""

from __future__ import annotations


class DriverEnum(int):
    """An int with a name. The attributes ``names`` and ``values`` of the class list the members."""

    name: str
    names: dict[str, DriverEnum] = {}
    values: dict[int, DriverEnum] = {}

    def __new__(cls, value: int) -> DriverEnum:
        """The member with this value. A value without a name gives a member that prints the number."""
        known = cls.values.get(int(value))
        if known is not None:
            return known
        member = int.__new__(cls, value)
        member.name = str(int(value))
        return member

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        cls = type(self)
        called = f"{cls.__module__}.{cls.__qualname__}"
        return (
            f"{called}.{self.name}"
            if int(self) in cls.values
            else f"{called}({self:d})"
        )

    def __format__(self, spec: str) -> str:
        return (
            format(str(self), spec)
            if not spec or spec[-1] == "s"
            else int.__format__(self, spec)
        )

    def __reduce__(self):
        return type(self), (int(self),)


def make_enum(name: str, members: dict[str, int]) -> type[DriverEnum]:
    """Create a class of pycuda._driver. If a value has several names, the first one is printed."""
    cls = type(name, (DriverEnum,), {"__module__": "pycuda._driver"})
    cls.names, cls.values = {}, {}
    for member_name, value in members.items():
        member = cls.values.get(value)
        if member is None:
            member = int.__new__(cls, value)
            member.name = member_name
            cls.values[value] = member
        cls.names[member_name] = member
        setattr(cls, member_name, member)
    return cls
