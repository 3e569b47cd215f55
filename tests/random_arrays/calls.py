"""Random arguments of functions, as Python text; tables.py names them."""

from __future__ import annotations

import math
import re

import numpy as np

from random_arrays.operands import Operands
from random_arrays.tables import is_change


class Arguments(Operands):
    """Makes random arguments that only some functions have."""

    def shift(self) -> str:
        if self.chance(0.4):
            return self.rng.choice(("0", "1", "3"))
        name = self.like("u", 0.2)
        return f"({name} % 5)"

    def fraction(self) -> str:
        if self.chance(0.5):
            return self.rng.choice(("0", "0.25", "0.5", "1", "1.0"))
        return self.rng.choice(
            ("[0.1, 0.9]", "[]", "[[0.5, 0.25]]", "1.5", "np.float32(0.5)")
        )

    def percent(self) -> str:
        return self.rng.choice(("0", "25", "50", "100.0", "[10, 90]", "-3"))

    def quantile_method(self) -> str:
        return repr(
            self.rng.choice(
                "linear lower higher nearest midpoint weibull hazen median_unbiased".split()
            )
        )

    def weights(self) -> str:
        return self.like("uf", exact=self.chance(0.8))

    def bound(self) -> str:
        return "None" if self.chance(0.2) else self.operand()

    def tolerance(self) -> str:
        return self.rng.choice(("0", "0.1", "1e-5"))

    def shifts(self) -> str:
        return self.small() if self.chance(0.8) else "(1, -2)"

    def repeats(self) -> str:
        if self.chance(0.7):
            return self.count()
        return self.rng.choice(("[2]", "[0, 1, 2]", "[1, 2]", "-1"))

    def repetitions(self) -> str:
        return self.rng.choice(("2", "0", "(2, 1)", "(1, 2, 2)", "()", "(3,)"))

    def arrays(self) -> str:
        first = self.any_array(least=0 if self.chance(0.1) else 1)
        self.x = first
        shape = list(np.shape(self.host[first]))
        names = [first]
        for _ in range(self.rng.randint(0, 2)):
            other = list(shape)
            if other and self.chance(0.3):
                other[self.rng.randrange(len(other))] += 1
            same = self.chance(0.5)
            dtype = self.host[first].dtype.str[1:].replace("b1", "?") if same else None
            names.append(self.array(tuple(other), dtype))
        brackets = "[%s]" if self.chance(0.7) else "(%s,)"
        return brackets % ", ".join(names)

    def keys(self) -> str:
        """Arrays of one shape, because NumPy does not call __array_function__ of arrays in a list."""
        self.arrays()
        return self.x

    def array_or_number(self) -> str:
        return self.number() if self.chance(0.2) else self.array(self.shape(0, 2))

    def parts(self) -> str:
        return self.rng.choice(("1", "2", "3", "0", "[1]", "[1, 3]", "[-1, 2]", "[]"))

    def place(self) -> str:
        return self.rng.choice(("0", "1", "-1", "[0, 1]", "slice(None, None, 2)", "[]"))

    places = place

    def widths(self) -> str:
        return self.rng.choice(("0", "1", "(1, 2)", "((2, 0),)", "((1, 2), (0, 1))", "-1"))  # fmt: skip

    def pad_mode(self) -> str:
        modes = "constant edge reflect symmetric wrap maximum minimum mean linear_ramp empty"
        return repr(self.rng.choice(modes.split()[:-1]))

    def row_indices(self) -> str:
        n = (np.shape(self.host[self.x]) or (0,))[0]
        return self.indices(n, self.shape(1, 1))

    def indices_for(self) -> str:
        """Indices, and perhaps their axis."""
        n = self.ndim()
        if self.chance(0.3) or not n:
            self.axis_value = None
            return self.indices_of_axis() + (", axis=None" if self.chance(0.5) else "")
        self.axis_value = self.rng.randrange(-n, n)
        text = self.indices_of_axis()
        return f"{text}, axis={self.axis_value}"

    def same_mask(self) -> str:
        return self.array(np.shape(self.host[self.x]), "?")

    def conditions(self) -> str:
        return self.array((self.rng.choice((1, 2, 3, 5)),), "?")

    def picks(self) -> str:
        """Indices of choices. NumPy's mode "wrap" subtracts repeatedly from large ones, which takes minutes."""
        self.x = f"i{len(self.lines)}"
        shape = self.shape(0, 3)
        values = [self.rng.randint(-1, 2) for _ in range(math.prod(shape))]
        self.run(f"{self.x} = const({values}, 'i8', {shape})")
        return self.x

    def choices(self) -> str:
        names = [self.like() for _ in range(self.rng.randint(1, 3))]
        return f"[{', '.join(names)}]"

    def condition_list(self) -> str:
        self.x = self.any_array()
        self.count_of_choices = self.rng.randint(1, 3)
        return f"[{', '.join(self.mask() for _ in range(self.count_of_choices))}]"

    def choice_list(self) -> str:
        return f"[{', '.join(self.operand() for _ in range(self.count_of_choices))}]"

    def sorted(self) -> str:
        n = self.rng.choice((1, 2, 5, 9))
        rng = np.random.default_rng(self.rng.randrange(1000))
        values = sorted({float(one) for one in rng.integers(-4, 9, n)})
        kind = self.rng.choice(("f8", "f4", "i4", "i8"))
        name = f"s{len(self.lines)}"
        size = getattr(self, "sorted_size", None) or len(values)
        values = (values * size)[:size] if size <= len(values) else list(range(size))
        self.run(f"{name} = const({values}, {kind!r}, {(size,)})")
        self.sorted_size = size
        return name

    def edges(self) -> str:
        """Edges that rise or fall, perhaps with equal ones; elements are often equal to one."""
        values = sorted(
            self.rng.randrange(-3, 6) for _ in range(self.rng.randint(1, 5))
        )
        return str(values[::-1] if self.chance(0.5) else values)

    def power_of(self) -> str:
        return self.rng.choice(
            ("0", "1", "2", "3", "-1", "0.5", "2.0", "np.float32(3)")
        )

    def symmetric(self, kinds="f") -> str:
        name = self.square(kinds)
        n = np.shape(self.host[name])[-1]
        self.x = f"({name} @ {name}.mT + {4 * n} * np.eye({n}, like={name}))"
        return self.x

    def matrix_norm(self) -> str:
        return self.rng.choice(("1", "-1", "np.inf", "-np.inf", "'fro'"))

    def random_subscripts(self) -> str:
        """Subscripts of one to three operands, repeated letters and summed ones included."""
        sizes = {letter: self.rng.choice((1, 2, 3)) for letter in "ijkl"}
        term = lambda: "".join(self.rng.choices("ijkl", k=self.rng.randint(0, 3)))  # noqa: E731
        terms = [term() for _ in range(self.rng.randint(1, 3))]
        used = sorted(set("".join(terms)))
        self.rng.shuffle(used)
        text = ",".join(terms)
        if self.chance(0.7):
            text += "->" + "".join(used[: self.rng.randint(0, len(used))])
        names = [self.array(tuple(sizes[one] for one in term)) for term in terms]
        self.x = names[0]
        return f"{text!r}, {', '.join(names)}"

    def side(self) -> str:
        return repr(self.rng.choice(("left", "right")))

    def sort_kind(self) -> str:
        return repr(self.rng.choice(("stable", "quicksort", "heapsort")))

    def kth(self) -> str:
        n = (np.shape(self.host[self.x]) or (1,))[-1]
        return str(self.rng.randint(-n, max(n - 1, -n))) if n else "0"

    def bins(self) -> str:
        return self.rng.choice(
            ("1", "4", "[0, 1, 2, 5]", "[0.5, 1.5]", "0", "'auto'", "'doane'")
        )

    def range(self) -> str:
        return self.rng.choice(("(0, 3)", "(-1.5, 2)", "(1, 1)", "(2, 0)"))

    def convolve_mode(self) -> str:
        return repr(self.rng.choice(("full", "same", "valid")))

    def indexing(self) -> str:
        return repr(self.rng.choice(("xy", "ij")))

    def fft_norm(self) -> str:
        return repr(self.rng.choice(("backward", "ortho", "forward")))

    def norm(self) -> str:
        return self.rng.choice(("1", "2", "np.inf", "-np.inf", "0", "3"))

    def shape_of(self) -> str:
        return self.rng.choice(("(3, 4)", "(2, 2, 3)", "(12,)", "7", "()"))

    def index_tuple(self) -> str:
        self.x = self.array(self.shape(0, 2), "i8")
        return f"({self.x}, {self.array(np.shape(self.host[self.x]), 'i8')})"

    def partner(self) -> str:
        """A second factor of a product."""
        shape = list(np.shape(self.host[self.x]))
        n = shape[-1] if shape else 3
        if self.chance(0.5):
            other = (n,)
        elif len(shape) < 2 or self.chance(0.3):
            other = (n, self.rng.choice((1, 2, 3)))
        else:
            other = (*shape[:-2], n, self.rng.choice((0, 1, 2, 5)))
        if self.chance(0.15):
            return self.like()
        dtype = self.host[self.x].dtype.str[1:].replace("b1", "?")
        return self.array(other, dtype if self.chance(0.6) else None)

    def square(self, kinds="f") -> str:
        n = self.rng.choice((0, 1, 2, 3))
        self.x = self.array((*self.shape(0, 1), n, n), "f8")
        return self.x

    def subscripts(self) -> str:
        text = self.rng.choice(
            ("i,i", "ij,j->i", "ij,jk", "ij->ji", "ii", "ii->i", "i,j->ij", "...i,...i->...", "ij->", "ijk,ik->j")
        )  # fmt: skip
        sizes = {letter: self.rng.choice((1, 2, 3)) for letter in "ijk"}
        names = []
        for term in text.partition("->")[0].split(","):
            shape = [2] if "..." in term else []
            shape += [sizes[letter] for letter in term.strip(".")]
            names.append(self.array(tuple(shape)))
        self.x = names[0]
        return f"{text!r}, {', '.join(names)}"

    def view_type(self) -> str:
        return repr(self.rng.choice(("u1", "i4", "f4", "f8", "c8", "?", "u2")))

    # Statements

    def index(self) -> str:
        """The text of an index of x."""
        shape = np.shape(self.host[self.x])
        items, advanced = [], self.chance(0.4)
        axes = list(shape)
        if advanced and self.chance(0.25):
            return self.array(shape[: self.rng.randint(0, len(shape))] or (1,), "?")
        common = self.shape(0, 2)
        used_ellipsis = False
        while axes and self.chance(0.85):
            n = axes.pop(0)
            style = self.rng.randrange(10)
            if advanced and style < 4:
                part = common if self.chance(0.7) else (1,) * len(common)
                items.append(self.indices(n, part, bad=0.02))
            elif style < 5:
                out = self.chance(0.02)
                items.append(str(n + 1 if out else self.rng.randrange(-n, n) if n else 0))  # fmt: skip
            elif style < 8:
                parts = [
                    "" if self.chance(0.4) else str(self.rng.randint(-n - 1, n + 1))
                    for _ in range(2)
                ]
                step = self.rng.choice(("", "", ":2", ":-1", ":-2"))
                items.append(":".join(parts) + step)
            elif style == 8:
                items.append("None")
                axes.insert(0, n)
            elif not used_ellipsis:
                items.append("...")
                used_ellipsis = True
                axes = axes[len(axes) // 2 :]
        return ", ".join(items) or "..."

    def statement(self, pattern: str) -> str:
        """An expression or statement of EXPRESSIONS, with its operands."""
        changes = is_change(pattern)
        kinds = "biu" if any(c in pattern for c in "&^~<|B") and "=" not in pattern else "biufc"  # fmt: skip
        kinds = "biu" if " B" in pattern or "H" in pattern else kinds
        self.x = (
            self.array(self.shape(), None, kinds, may_repeat=False)
            if changes
            else self.any_array(kinds)
        )
        replacements = {
            "X": lambda: self.x,
            "Y": lambda: self.operand(),
            "N": lambda: self.number(),
            "S": lambda: self.rng.choice(("0", "1", "2", "3", "0.5", "-1", "2.0")),
            "B": lambda: self.operand("biu"),
            "H": lambda: self.shift(),
            "P": lambda: self.partner(),
            "A": lambda: self.like(),
            "I": lambda: self.index(),
            "F": lambda: self.rng.choice(("0", "-1", "::2", "[0]", "1:3")),
            "V": lambda: self._value_for(index),
            "O": lambda: self.overlapping(),
            "D": lambda: self.array(np.shape(self.host[self.x]), "?"),
            "K": lambda: self.mask_of_axes(),
            "J": lambda: self.row_indices(),
            "L": lambda: self.nested_list(),
            "C": lambda: self.type_(),
            "M": lambda: self.finite_matrix(),
        }
        chosen, index = {}, None
        text = ""
        for word in re.split(r"\b([A-Z])\b", pattern):
            if word == "T":  # of X.T
                text += word
                continue
            new = word
            if word in replacements:
                new = chosen.get(word) or replacements[word]()
            if word in ("O", "D", "K", "M"):
                chosen[word] = new
            if word == "I" and pattern.startswith("X[I]") and index is None:
                index = new
            text += new
        return text

    def overlapping(self) -> str:
        """An array of the shape of x, in most cases in the memory of x."""
        x = self.host[self.x]
        kinds = x.dtype.str[1:].replace("b1", "?")
        return self.array(x.shape, kinds, may_repeat=False, share=0.9)

    def mask_of_axes(self) -> str:
        """A mask for some of the first axes of x, or for all."""
        shape = np.shape(self.host[self.x])
        return self.array(shape[: self.rng.randint(0, len(shape))], "?")

    def nested_list(self) -> str:
        """A list of numbers for the last axis of x."""
        n = (np.shape(self.host[self.x]) or (1,))[-1]
        return str([self.rng.choice((0, 1, 2, -1, 0.5)) for _ in range(n)])

    def finite_matrix(self) -> str:
        """A matrix or a stack of matrices of small numbers, not square in most cases."""
        shape = (*self.shape(0, 1), self.rng.choice((1, 2, 3, 6)), self.rng.choice((1, 2, 3, 5)))  # fmt: skip
        name = self.array(shape, self.rng.choice(("f4", "f8", "c8", "c16", "i4")))
        return f"np.nan_to_num({name} % 7 if {name}.dtype.kind != 'c' else {name}, nan=1, posinf=2, neginf=3)"

    # Arguments of REST_CALLS

    def points(self) -> str:
        n = self.rng.choice((0, 1, 5, 33))
        self.x = self.array((n, self.rng.choice((1, 2, 3))), kinds="biuf")
        if self.chance(0.3):
            return f"list({self.x}.T)"
        return self.x

    def bins_of_axes(self) -> str:
        one = lambda: self.rng.choice(("1", "3", "[0, 1, 2, 5]", "[0.5, 1.5]", "0"))  # noqa: E731
        n = np.shape(self.host[self.x])[1]
        return one() if self.chance(0.2) else str([one() for _ in range(n)]).replace("'", "")  # fmt: skip

    def ranges_of_axes(self) -> str:
        n = np.shape(self.host[self.x])[1]
        one = lambda: self.rng.choice(("None", "(0, 3)", "(-1.5, 2)", "(1, 1)"))  # noqa: E731
        return str([one() for _ in range(n)]).replace("'", "")

    def tuple_indices(self) -> str:
        n, m = np.shape(self.host[self.x])[:2]
        shape = self.shape(1, 1)
        if not n or not m:
            shape = (0,)
        return f"({self.indices(n, shape)}, {self.indices(m, shape)})"

    def sorter_of(self) -> str:
        size = self.sorted_size
        return f"const({list(range(size))}, 'i8', {(size,)})"

    def edge_order(self) -> str:
        return self.rng.choice("12")

    def isin_kind(self) -> str:
        return self.rng.choice(("None", "'sort'", "'table'"))

    def pairs_of_axes(self) -> str:
        return self.rng.choice(("0", "1", "([-1], [0])", "(-1, 0)", "([0], [0])"))

    def nested_arrays(self) -> str:
        first = self.arrays()
        return f"[{first}, {first}]" if self.chance(0.5) else f"[[{self.x}, 1], {first}]"  # fmt: skip

    def _value_for(self, index) -> str:
        try:
            shape = np.shape(eval(f"{self.x}[{index}]", self.host))
        except Exception:
            shape = ()
        return self.array(self.broadcasting(shape))
