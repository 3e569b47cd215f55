"""The functions that are called, and their arguments.

A line of CALLS has the names of functions, a bar, and the arguments. ``x`` is the first array. ``x:KINDS`` limits
its type to some of NumPy's letters, the digit in ``x2`` is the minimum number of axes. ``name=what`` is a keyword,
``name?=what`` is one that is sometimes omitted. ``what`` is a method of Arguments or Operands, or a number or text
in quotes. ``out?`` is an array for the result; ``!`` marks a function that changes ``x``.
"""

from __future__ import annotations

import math

import numpy as np

from random_arrays.operands import Operands, reach

CALLS = """
absolute negative positive sign square conjugate fabs rint floor ceil trunc signbit isnan isinf isfinite
logical_not invert bitwise_count reciprocal sqrt | x out? where?=mask dtype?=type_ casting?=casting
exp exp2 expm1 log log2 log10 log1p sin cos tan sinh cosh tanh arctan arcsinh cbrt degrees radians spacing |
    x:biuf out? where?=mask
arcsin arccos arccosh arctanh | x:biuf out?
add subtract multiply divide maximum minimum fmax fmin equal not_equal less less_equal greater greater_equal
logical_and logical_or logical_xor | x operand out? where?=mask dtype?=type_ casting?=casting
floor_divide remainder fmod power float_power copysign heaviside | x:iuf operand out? where?=mask
bitwise_and bitwise_or bitwise_xor | x:biu operand:biu out? where?=mask
gcd lcm | x:iu operand:iu out?
left_shift right_shift | x:iu shift out?
hypot arctan2 logaddexp logaddexp2 nextafter | x:f operand:biuf out?
ldexp | x:f like:i
frexp modf | x:f
divmod | x:iuf operand:iuf
sum prod | x axis?=axes dtype?=type_ keepdims?=flag initial?=number where?=mask out?
max min | x axis?=axes keepdims?=flag initial?=number where?=mask out?
any all | x axis?=axes keepdims?=flag where?=mask out?
mean | x axis?=axes dtype?=type_ keepdims?=flag where?=mask out?
var std | x axis?=axes ddof?=count keepdims?=flag where?=mask out?
ptp | x axis?=axes keepdims?=flag out?
argmax argmin | x axis?=axis keepdims?=flag out?
cumsum cumprod | x axis?=axis dtype?=type_ out?
cumulative_sum cumulative_prod | x axis?=axis dtype?=type_ include_initial?=flag out?
nansum nanprod | x axis?=axes dtype?=type_ keepdims?=flag initial?=number where?=mask out?
nanmax nanmin | x axis?=axes keepdims?=flag initial?=number where?=mask out?
nanmean nanvar nanstd | x axis?=axes keepdims?=flag where?=mask out?
nanargmax nanargmin | x axis?=axis keepdims?=flag
nancumsum nancumprod | x axis?=axis dtype?=type_ out?
count_nonzero | x axis?=axes keepdims?=flag
median nanmedian | x:biuf axis?=axes keepdims?=flag out?
quantile nanquantile | x:biuf fraction axis?=axes keepdims?=flag method?=quantile_method
percentile nanpercentile | x:biuf percent axis?=axes keepdims?=flag method?=quantile_method
average | x axis?=axes keepdims?=flag weights?=weights returned?=flag
add.reduce multiply.reduce maximum.reduce minimum.reduce logical_and.reduce logical_or.reduce |
    x axis?=axes dtype?=type_ keepdims?=flag initial?=number where?=mask out?
bitwise_and.reduce bitwise_or.reduce bitwise_xor.reduce subtract.reduce divide.reduce hypot.reduce fmax.reduce
logical_xor.reduce gcd.reduce power.reduce equal.reduce | x axis?=axes keepdims?=flag initial?=number where?=mask out?
add.accumulate multiply.accumulate maximum.accumulate minimum.accumulate subtract.accumulate
bitwise_or.accumulate logical_and.accumulate fmin.accumulate divide.accumulate power.accumulate |
    x axis?=one_axis dtype?=type_ out?
add.reduceat multiply.reduceat maximum.reduceat logical_or.reduceat subtract.reduceat |
    x1 row_indices axis?=one_axis dtype?=type_ out?
add.outer multiply.outer subtract.outer less.outer maximum.outer power.outer | x array_or_number out?
add.at subtract.at multiply.at maximum.at logical_or.at | !x1 row_indices number
negative.at | !x1 row_indices
clip | x bound bound out? where?=mask
round around | x decimals?=small out?
fix nan_to_num real_if_close sinc angle iscomplex isreal isneginf isposinf | x
real imag iscomplexobj isrealobj ndim size shape | x
isclose allclose | x operand equal_nan?=flag rtol?=tolerance
array_equal array_equiv | x operand
reshape | x new_shape order?=order_cf copy?=flag
ravel | x order?=order
transpose permute_dims | x axes?=permutation
moveaxis | x one_axis one_axis
swapaxes | x one_axis one_axis
rollaxis | x one_axis start?=one_axis
squeeze | x axis?=axes
expand_dims | x one_axis
broadcast_to | x wider_shape
broadcast_arrays | x operand
atleast_1d atleast_2d atleast_3d matrix_transpose fliplr flipud argwhere flatnonzero nonzero | x
flip | x axis?=axes
rot90 | x k?=small axes?=two_axes
diagonal | x2 offset?=small axis1?=one_axis axis2?=one_axis
trace | x2 offset?=small axis1?=one_axis axis2?=one_axis dtype?=type_ out?
roll | x shifts axis?=axes
repeat | x repeats axis?=axis
tile | x repetitions
concatenate | arrays axis?=axis dtype?=type_ casting?=casting out?
stack | arrays axis?=one_axis out?
hstack vstack dstack column_stack | arrays
block | arrays
append | x operand axis?=axis
array_split | x parts axis?=one_axis
split | x parts axis?=one_axis
hsplit vsplit dsplit | x parts
unstack | x axis=one_axis
insert | x place number axis?=axis
delete | x places axis?=axis
pad | x widths mode?=pad_mode
resize | x some_shape
take | x indices_for mode?=index_mode out?
take_along_axis | x like:i axis?=axis
put_along_axis | !x like:i number axis=axis
put | !x indices operand mode?=index_mode
putmask | !x mask operand
place | !x same_mask operand
copyto | !x operand casting?=casting where?=mask
fill_diagonal | !x number wrap?=flag
extract | mask x
compress | conditions x axis?=axis out?
choose | picks choices mode?=index_mode
select | condition_list choice_list default?=number
where | mask x operand
searchsorted | sorted x:iuf side?=side
digitize | x:iuf sorted right?=flag
sort | x axis?=axis kind?=sort_kind
argsort | x axis?=axis kind='stable'
partition | x kth axis?=axis
lexsort | keys axis?=one_axis
unique | x:biuf return_index?=flag return_inverse?=flag return_counts?=flag axis?=axis equal_nan?=flag
unique_values unique_counts unique_inverse unique_all | x:biu
intersect1d union1d setdiff1d setxor1d | x:biuf like:biuf
isin | x:biuf operand:biuf invert?=flag
bincount | x:iu minlength?=count
histogram | x:iuf bins?=bins range?=range density?=flag
diff | x n?=count axis?=one_axis prepend?=number append?=number
ediff1d | x to_begin?=number to_end?=number
gradient | x:iuf axis?=axes
trapezoid | x:iuf dx?=number axis?=one_axis
interp | x:iuf sorted sorted
convolve correlate | x:biufc like mode?=convolve_mode
cross | x operand axis?=one_axis
dot inner vdot outer kron matmul vecdot | x partner
tensordot | x partner axes?=count
einsum | subscripts
linalg.norm | x:iuf ord?=norm axis?=axes keepdims?=flag
linalg.vector_norm | x:iufc axis?=axes keepdims?=flag ord?=norm
linalg.matrix_power | square:f count
linalg.det linalg.inv linalg.slogdet | square:f
corrcoef cov | x:iuf rowvar?=flag
tril triu | x k?=small
diag diagflat | x k?=small
vander | x N?=count increasing?=flag
meshgrid | x:biufc operand indexing?=indexing sparse?=flag copy?=flag
ix_ | x1:iu like:iu
unravel_index | indices shape_of
ravel_multi_index | index_tuple shape_of mode?=index_mode order?=order_cf
diag_indices_from | x2
tril_indices_from triu_indices_from | x2 k?=small
zeros_like ones_like | x dtype?=type_ order?=order shape?=some_shape
full_like | x number dtype?=type_ order?=order shape?=some_shape
copy | x order?=order
array | x dtype?=type_ copy?=flag order?=order ndmin?=count like=like
asarray asanyarray ascontiguousarray asfortranarray | x dtype?=type_ like=like
polyval | x:f like:f
may_share_memory | x like
fft.fft fft.ifft fft.hfft | x:iufc n?=count axis?=one_axis norm?=fft_norm
fft.rfft fft.ihfft | x:iuf n?=count axis?=one_axis norm?=fft_norm
fft.irfft | x n?=count axis?=one_axis norm?=fft_norm
fft.fft2 fft.fftn fft.ifftn | x:fc axes?=two_axes norm?=fft_norm
fft.fftshift fft.ifftshift | x axes?=axes
apply_along_axis | np.sum one_axis x
apply_over_axes | np.sum x axes
.sum .prod | x axis?=axes dtype?=type_ keepdims?=flag out?
.max .min .any .all | x axis?=axes keepdims?=flag out?
.mean .std .var | x axis?=axes keepdims?=flag out?
.argmax .argmin | x axis?=axis keepdims?=flag out?
.argsort | x axis?=axis kind='stable'
.sort | !x axis?=one_axis kind?=sort_kind
.cumsum .cumprod | x axis?=axis dtype?=type_ out?
.clip | x bound bound out?
.round | x small out?
.astype | x type_ copy?=flag
.copy | x order?=order
.flatten | x order?=order_cf
.fill | !x number
.squeeze | x axis?=axes
.transpose | x permutation
.swapaxes | x one_axis one_axis
.diagonal | x2 offset?=small
.trace | x2 offset?=small
.repeat | x repeats axis?=axis
.take | x indices_for mode?=index_mode
.put | !x indices operand mode?=index_mode
.nonzero .tolist .conj .conjugate | x
.view | x view_type
.item | x
.dot | x partner
.searchsorted | sorted operand
.compress | x conditions
.choose | picks choices mode?=index_mode
.partition | !x kth
"""

#: As CALLS, for `--table more`: a table of its own, so that the cases of the first one stay as they are.
#: No singular values: OpenBLAS 0.3.31 may compute forever if an element is infinite.
MORE_CALLS = """
digitize | x:iuf edges right?=flag
median nanmedian | x:f axis?=axes keepdims?=flag
sort_complex | x1
histogram_bin_edges | x:biuf bins?=bins range?=range
histogram2d | x:biuf like:biuf bins?=count
ldexp | x:f like:i out?
gcd lcm | x:iu operand:iu
equal less less_equal greater greater_equal not_equal | x:biu operand:biu
power float_power | x:fc power_of
matvec vecmat | x2 partner
bitwise_invert bitwise_not abs conj deg2rad rad2deg acosh atanh asinh acos | x
mod true_divide pow atan2 | x:f operand:f
amax amin | x axis?=axes keepdims?=flag
array2string array_str array_repr | x
concat | arrays axis?=axis
linalg.cholesky linalg.eigvalsh | symmetric:f
linalg.solve | square:f partner
linalg.matrix_norm | x2:fc ord?=matrix_norm keepdims?=flag
linalg.norm | x2:fc ord=matrix_norm axis=two_axes keepdims?=flag
linalg.diagonal linalg.trace | x2 offset?=small
linalg.cross linalg.outer linalg.vecdot linalg.matmul | x partner
linalg.tensordot | x partner axes?=count
linalg.matrix_transpose | x2
fft.rfft2 fft.rfftn | x2:f axes?=two_axes norm?=fft_norm
fft.ifft2 fft.irfft2 fft.irfftn | x2:fc axes?=two_axes norm?=fft_norm
astype | x type_ copy?=flag
pad | x widths mode='linear_ramp' end_values?=number
insert | x places number axis?=axis
einsum | random_subscripts
"""

#: Python's operators and statements; X, Y and so on are replaced. The ones with `=` change X.
EXPRESSIONS = """
X + Y | X - Y | X * Y | X / Y | X // Y | X % Y | X ** S | X == Y | X != Y | X < Y | X <= Y | X > Y | X >= Y
X & B | X | B | X ^ B | ~X | -X | +X | abs(X) | divmod(X, Y) | Y + X | N - X | N / X | N // X | N % X | S ** X
X << H | X >> H | X @ P | N in X
X[I] | X[I] | X[I] | X[I] | X.T | X.mT | X.real | X.imag | X.flat[F] | len(X) | bool(X) | int(X) | float(X)
X[I] = Y | X[I] = N | X[I] = V | X[I] += N | X += Y | X -= Y | X *= Y | X /= Y | X //= N | X **= S | X %= N
X &= B | X ^= B | X <<= H | X @= P | X.flat[F] = N | X.real = N | X.imag = N | X[...] = A | X[I] *= Y
"""


def parse_calls(table: str = CALLS) -> dict[str, list[str]]:
    calls, names, arguments = {}, "", None
    for line in table.strip().splitlines():
        before, bar, behind = line.partition("|")
        if arguments is not None and line.startswith(" "):
            arguments += line.split()
            continue
        names = before if arguments is not None else names + before
        arguments = behind.split() if bar else None
        if bar:
            for name in names.split():
                calls[name] = arguments
        else:
            names += " "
    return calls


def parse_expressions() -> list[str]:
    words = EXPRESSIONS.replace("X | B", "X ! B").replace("\n", " | ").split("|")
    found = [word.strip().replace("!", "|") for word in words]
    found = [one if one != "X != Y" else one for one in found if one]
    return [*found, "X |= B"]


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
            "V": lambda: "value",
        }
        index = None
        text = ""
        for letter in pattern:
            if letter == "V":
                letter = self._value_for(index)
            elif letter in replacements:
                letter = replacements[letter]()
                index = letter if pattern.startswith("X[I]") and index is None and letter != self.x else index  # fmt: skip
            text += letter
        return text

    def _value_for(self, index) -> str:
        try:
            shape = np.shape(eval(f"{self.x}[{index}]", self.host))
        except Exception:
            shape = ()
        return self.array(self.broadcasting(shape))


def is_change(pattern: str) -> bool:
    words = pattern.split()
    return any(w.endswith("=") and w not in ("==", "!=", "<=", ">=") for w in words)


__all__ = [
    "MORE_CALLS",
    "Arguments",
    "is_change",
    "parse_calls",
    "parse_expressions",
    "reach",
]
