"""Arrays of one element as Python's numbers: ``int(x)``, ``float(x)``, ``if x:``."""

from __future__ import annotations


class NumberMethods:
    """What GPUArray inherits. Each conversion waits for the device."""

    __slots__ = ()

    def __bool__(self) -> bool:
        if self.size == 0:
            raise ValueError(
                "The truth value of an empty array is ambiguous. Use a.size > 0"
            )
        if self.size != 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. "
                "Use a.any() or a.all()"
            )
        return bool(self.item())

    def _number(self):
        """The only element, for Python's conversions. Raises TypeError for an array of several elements."""
        if self.size != 1:
            raise TypeError(
                f"an array of {self.size} elements cannot be converted to a Python number; expected a single element"
            )
        return self.item()

    def __int__(self) -> int:
        return int(self._number())

    def __float__(self) -> float:
        return float(self._number())

    def __complex__(self) -> complex:
        return complex(self._number())

    def __index__(self) -> int:
        if self.ndim != 0 or self.dtype.kind not in "iu":
            raise TypeError(
                f"an index must be an integer array without axes, not an array of {self.dtype} with shape {self.shape}"
            )
        return self.item()
