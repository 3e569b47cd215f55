"""Einstein's summation: subscripts are planned once for the shapes of the operands, and then followed.

A plan is a list of contractions of two operands, each by a product of matrices or by a product of elements, with the
views that arrange the operands for it: "ij,jk->ik" multiplies matrices, "ij,j->ij" elements.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from typing import NamedTuple

import numpy as np

from pycuda import _driver
from pycuda.arrays.creation.conversion import as_array
from pycuda.arrays.linalg.products import _finish, _product
from pycuda.arrays.registry import public


class Arrangement(NamedTuple):
    """The steps for an operand before its multiplication. None leaves a step out."""

    summed: tuple[int, ...] | None = None
    order: tuple[int, ...] | None = None
    wide: tuple[int, ...] | None = None
    shape: tuple[int, ...] | None = None

    def of(self, array):
        """The operand, summed over axes, and a view of it, or a copy."""
        if self.summed is not None:
            array = array.sum(axis=self.summed, dtype=array.dtype)
        if self.order is not None:
            array = _driver._transpose(array, self.order)
        if self.wide is not None:
            array = _driver._broadcast_to(array, self.wide)
        return array if self.shape is None else array._reshape(self.shape)


class Contraction(NamedTuple):
    """The product of two operands, which are removed from the list; the result is put at its end."""

    first: int
    second: int
    left: Arrangement
    right: Arrangement
    of_matrices: bool
    shape: tuple[int, ...] | None

    def follow(self, operands: list) -> None:
        """Replace both operands by their product."""
        right = self.right.of(operands.pop(self.second))
        left = self.left.of(operands.pop(self.first))
        result = _product(left, right) if self.of_matrices else left * right
        operands.append(result if self.shape is None else result._reshape(self.shape))


class Plan(NamedTuple):
    """All contractions, and the steps from the last operand to the result."""

    diagonals: tuple[tuple[tuple[int, ...], ...] | None, ...]
    contractions: tuple[Contraction, ...]
    last: Arrangement


def _parse(subscripts: str, shapes) -> tuple[list[str], str]:
    """Return the letters of each operand and of the result. An ellipsis is replaced by unused letters, whose axes
    are broadcast."""
    text = subscripts.replace(" ", "")
    if text.count("->") > 1 or any(c not in ",.->" and not c.isalpha() for c in text):
        raise ValueError(f"einsum() does not understand the subscripts {subscripts!r}")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(shapes):
        raise ValueError(
            f"einsum(): {len(terms)} subscripts for {len(shapes)} operands"
        )
    most = max(
        (len(s) - len(t.replace("...", "")) for t, s in zip(terms, shapes, strict=True) if "..." in t),
        default=0,
    )  # fmt: skip
    hidden = _hidden_letters(set(left), most)
    expanded = []
    for term, shape in zip(terms, shapes, strict=True):
        count = len(shape) - len(term.replace("...", ""))
        term = term.replace("...", hidden[most - count : most] if count else "")
        if len(term) != len(shape) or "." in term:
            raise ValueError(
                f"einsum(): subscripts {term!r} do not fit an operand of {len(shape)} axes"
            )
        expanded.append(term)
    if not arrow:
        counts = Counter("".join(expanded))
        shown = hidden
        return expanded, shown + "".join(
            sorted(c for c, n in counts.items() if n == 1 and c not in shown)
        )
    right = right.replace("...", hidden)
    if len(set(right)) != len(right) or not set(right) <= set("".join(expanded)):
        raise ValueError(f"einsum() cannot make {right!r} of {','.join(terms)!r}")
    return expanded, right


def _hidden_letters(used: set, count: int) -> str:
    """Choose letters for the axes of an ellipsis."""
    letters = (
        c for c in map(chr, range(0x100, 0x180)) if c.isalpha() and c not in used
    )
    return "".join(itertools.islice(letters, count))


class Operand(NamedTuple):
    """An operand that is planned: a letter and an extent for each axis."""

    term: str
    shape: tuple[int, ...]

    def without(self, wanted: set) -> tuple[tuple[int, ...] | None, Operand]:
        """The axes whose letters are not wanted, and the operand without these."""
        axes = tuple(i for i, c in enumerate(self.term) if c not in wanted)
        if not axes:
            return None, self
        kept = [i for i in range(len(self.term)) if i not in axes]
        rest = Operand(
            "".join(self.term[i] for i in kept), tuple(self.shape[i] for i in kept)
        )
        return axes, rest


def _diagonal_of(
    term: str, shape
) -> tuple[tuple[tuple[int, ...], ...] | None, Operand]:
    """For a term with repeated letters the axes of each letter, whose diagonal is taken."""
    letters = "".join(dict.fromkeys(term))
    if letters == term:
        return None, Operand(term, shape)
    places = tuple(tuple(i for i, c in enumerate(term) if c == one) for one in letters)
    for letter, axes in zip(letters, places, strict=True):
        if len({shape[i] for i in axes}) != 1:
            raise ValueError(f"einsum(): the axes {letter!r} have different extents")
    return places, Operand(letters, tuple(shape[axes[0]] for axes in places))


def _take_diagonal(a, places):
    shape = [a.shape[axes[0]] for axes in places]
    return a._view(0, shape, [sum(a.strides[i] for i in axes) for axes in places])


def _extents_of(a: Operand, b: Operand) -> dict[str, int]:
    """The extent of each letter. Axes of extent 1 are broadcast."""
    extents: dict[str, int] = {}
    for operand in (a, b):
        for c, n in zip(operand.term, operand.shape, strict=True):
            if extents.get(c, 1) not in (1, n) and n != 1:
                raise ValueError(
                    f"einsum(): axis {c!r} has extents {extents[c]} and {n}"
                )
            extents[c] = max(extents.get(c, 1), n) if n else 0
    return extents


def _arrangement(summed, operand: Operand, letters, extents, shape) -> Arrangement:
    """Put the axes in the order of ``letters``, with their extents, and then give the view a shape."""
    order = tuple(operand.term.index(c) for c in letters)
    now = tuple(operand.shape[i] for i in order)
    wide = tuple(extents[c] for c in letters)
    return Arrangement(
        summed,
        None if order == tuple(range(len(order))) else order,
        None if wide == now else wide,
        None if shape == wide else shape,
    )


def _contraction(places, a: Operand, b: Operand, wanted: set):
    """Contract two operands. Letters of both operands are axes of the stack if the result has them; else they are
    summed over. Letters of one operand are its rows or columns."""
    summed_a, a = a.without(wanted | set(b.term))
    summed_b, b = b.without(wanted | set(a.term))
    extents = _extents_of(a, b)
    common = [c for c in a.term if c in b.term]
    stack = [c for c in common if c in wanted]
    gone = [c for c in common if c not in wanted]
    rows = [c for c in a.term if c not in b.term]
    columns = [c for c in b.term if c not in a.term]
    result = Operand("".join(stack + rows + columns), tuple(extents[c] for c in stack + rows + columns))  # fmt: skip

    def of_groups(summed, operand, *groups):
        """Each group becomes one axis, except the first one, the stack."""
        sizes = [math.prod(extents[c] for c in group) for group in groups[1:]]
        shape = (*(extents[c] for c in groups[0]), *sizes)
        letters = [c for group in groups for c in group]
        return _arrangement(summed, operand, letters, extents, shape), sizes

    def of_elements(summed, operand):
        """An axis for each letter of the result."""
        own = [c for c in result.term if c in operand.term]
        sizes = {c: operand.shape[operand.term.index(c)] for c in own}
        shape = tuple(sizes.get(c, 1) for c in result.term)
        return _arrangement(summed, operand, own, sizes, shape)

    if not gone:  # of_elements() broadcasts
        sides = (of_elements(summed_a, a), of_elements(summed_b, b))
        return Contraction(*places, *sides, False, None), result
    left, (row_count, _) = of_groups(summed_a, a, stack, rows, gone)
    right, (_, column_count) = of_groups(summed_b, b, stack, gone, columns)
    made = (*(extents[c] for c in stack), row_count, column_count)
    shape = None if made == result.shape else result.shape
    return Contraction(*places, left, right, True, shape), result


def plan_of(subscripts: str, shapes: tuple, optimize) -> Plan:
    """Plan the summation for operands of these shapes."""
    terms, wanted = _parse(subscripts, shapes)
    pairs = [_diagonal_of(t, shape) for t, shape in zip(terms, shapes, strict=True)]
    operands = [operand for _, operand in pairs]
    contractions = []
    for places in _order(operands, wanted, optimize):
        chosen = list(places)
        while len(chosen) > 1:
            first, second = sorted(chosen[:2])
            b, a = operands.pop(second), operands.pop(first)
            still = set(wanted).union(*(other.term for other in operands))
            step, result = _contraction((first, second), a, b, still)
            contractions.append(step)
            operands.append(result)
            rest = [place - (place > first) - (place > second) for place in chosen[2:]]
            chosen = [len(operands) - 1, *rest]
    (left,) = operands
    summed, kept = left.without(set(wanted))
    order = tuple(kept.term.index(c) for c in wanted)
    last = Arrangement(summed, None if order == tuple(range(len(order))) else order)
    return Plan(tuple(places for places, _ in pairs), tuple(contractions), last)


_known_plan = functools.lru_cache(maxsize=512)(plan_of)


def _order(operands, wanted: str, optimize):
    """The order of the contractions, which NumPy determines from the shapes."""
    if len(operands) < 3 or optimize is False:
        return [tuple(range(len(operands)))]
    # NumPy accepts ASCII letters only.
    letters = dict.fromkeys("".join(operand.term for operand in operands))
    alphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    if len(letters) > len(alphabet):
        return [tuple(range(len(operands)))]
    plain = str.maketrans(dict(zip(letters, alphabet, strict=False)))
    text = ",".join(operand.term.translate(plain) for operand in operands)
    stand_ins = [np.broadcast_to(np.empty(()), operand.shape) for operand in operands]
    path, _ = np.einsum_path(
        f"{text}->{wanted.translate(plain)}", *stand_ins,
        optimize="greedy" if optimize is True else optimize,
    )  # fmt: skip
    return path[1:]


def _common_type(arrays):
    first = arrays[0].dtype
    if all(array.dtype == first for array in arrays):
        return first
    return np.result_type(*(array.dtype for array in arrays))


@public()
def einsum(subscripts, /, *operands, out=None, dtype=None, optimize="greedy"):
    """Compute a sum of products in Einstein's notation.

    subscripts: a letter for each axis of each operand and of the result, as "ij,jk->ik"; "..." are further axes.
        A letter that is not in the result is summed over.
    out: an array for the result. dtype: the type of the products and sums.
    optimize: as of numpy.einsum_path, which finds the order in which operands are contracted in pairs.

    Raises ValueError for subscripts that do not fit the operands.

    >>> x = gpuarray.array([[1, 2], [3, 4]])
    >>> gpuarray.einsum("ij,ij->i", x, x)
    array([ 5, 25])
    """
    if not isinstance(subscripts, str):
        raise TypeError("einsum() on the device expects its subscripts as a str")
    arrays = [as_array(operand) for operand in operands]
    shapes = tuple(array.shape for array in arrays)
    if isinstance(optimize, (str, bool)):
        plan = _known_plan(subscripts, shapes, optimize)
    else:  # a path, which may be a list
        plan = plan_of(subscripts, shapes, optimize)
    kind = _common_type(arrays) if dtype is None else np.dtype(dtype)
    arrays = [array if array.dtype == kind else array.astype(kind) for array in arrays]
    for place, diagonal in enumerate(plan.diagonals):
        if diagonal is not None:
            arrays[place] = _take_diagonal(arrays[place], diagonal)
    for contraction in plan.contractions:
        contraction.follow(arrays)
    result = plan.last.of(arrays[0])
    return _finish(result, out) if out is not None else result
