"""The functions that are called, and their arguments; expressions and statements.

A line of CALLS has the names of functions, a bar, and the arguments. ``x`` is the first array. ``x:KINDS`` limits
its type to some of NumPy's letters, the digit in ``x2`` is the minimum number of axes. ``name=what`` is a keyword,
``name?=what`` is one that is sometimes omitted. ``what`` is a method of Arguments or Operands, or a number or text
in quotes. ``out?`` is an array for the result; ``!`` marks a function that changes ``x``.
"""

from __future__ import annotations

import re

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
X |= B
"""


#: As CALLS, for `--table rest`.
REST_CALLS = """
arange | number:iuf number?:iuf number?:iuf dtype?=type_ like=like
linspace | number number count? endpoint?=flag retstep?=flag dtype?=type_ like=like
full | some_shape number dtype?=type_ order?=order_cf like=like
zeros ones | some_shape dtype?=type_ order?=order_cf like=like
eye | count count? small? dtype?=type_ like=like
tri | count count? small? dtype?=type_ like=like
identity | count dtype?=type_ like=like
asin atan | x:biufc out? where?=mask
bitwise_left_shift bitwise_right_shift | x:biu shift out?
row_stack | arrays
histogramdd | points bins?=bins_of_axes range?=ranges_of_axes density?=flag
bincount | x1:u minlength?=count weights?=weights
add subtract multiply maximum logical_and | x operand out? where?=mask dtype?=type_ casting?=casting order?=order
divide power floor_divide remainder arctan2 copysign | x operand out? where?=mask dtype?=type_ casting?=casting
sin exp sqrt floor isnan signbit negative absolute | x out? where?=mask dtype?=type_ casting?=casting order?=order
add.at subtract.at maximum.at multiply.at logical_xor.at | !x1:iu row_indices operand
add.at maximum.at minimum.at | !x2 tuple_indices number
negative.at absolute.at | !x1 row_indices
add.reduceat minimum.reduceat bitwise_xor.reduceat | x1:iu row_indices axis?=one_axis out?
add.outer equal.outer left_shift.outer arctan2.outer | x array_or_number dtype?=type_ out?
matmul vecdot | x partner dtype?=type_ out?
sum prod any all max min | x axis=axes keepdims?=flag where=mask initial=number
cumsum cumprod | x axis?=one_axis dtype?=type_ out?
searchsorted | sorted x:biuf side?=side sorter?=sorter_of
unique | x:c return_index?=flag return_inverse?=flag return_counts?=flag
unique_values unique_counts unique_inverse unique_all | x:biufc
intersect1d | x:biuf like:biuf return_indices?=flag assume_unique?=flag
insert | x places operand axis?=axis
delete | x row_indices axis?=axis
append | x operand
pad | x widths mode='constant' constant_values?=number
pad | x widths mode=pad_mode stat_length?=count
nan_to_num | x nan?=number posinf?=number neginf?=number copy?=flag
clip | x bound bound out? dtype?=type_ casting?=casting
gradient | x:iuf number:iuf axis?=one_axis edge_order?=edge_order
cov | x:iuf like:iuf rowvar?=flag bias?=flag ddof?=count
average | x axis?=axes weights=operand returned?=flag keepdims?=flag
isin | x:biu operand:biu invert?=flag kind?=isin_kind
roll | x shifts axis?=axes
rot90 flip | x
take_along_axis | x like:i axis=one_axis mode?=index_mode
convolve correlate | x1 like mode?=convolve_mode
interp | x:iuf sorted sorted left?=number right?=number period?=number
cross | x operand axisa?=one_axis axisb?=one_axis axisc?=one_axis
tensordot | x partner axes?=pairs_of_axes
block | nested_arrays
logspace geomspace | number number count? endpoint?=flag like=like
indices | some_shape dtype?=type_ sparse?=flag
.sum .prod .any .all .max .min .mean | x axis?=axes keepdims?=flag where?=mask
.std .var | x axis?=axes ddof?=count keepdims?=flag where?=mask
.reshape | x new_shape order?=order_cf
.ravel | x order?=order
.view .astype | x type_
.clip | x bound bound
.sort | !x axis?=one_axis
.put | !x indices number mode?=index_mode
.take | x indices_for out?
.cumsum | x axis?=axis out?
.compress | x conditions axis?=one_axis
.diagonal .trace | x2 offset?=small axis1?=one_axis axis2?=one_axis
"""


def parse_calls(table: str) -> dict[str, list[str]]:
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


#: As EXPRESSIONS, for `--table rest`: operands that share memory, masks with fewer axes, repeated indices, chains.
REST_EXPRESSIONS = """
X += O | X -= O | X *= O | X[...] = O | X[1:] += X[:-1] | X[:-1] -= X[1:] | X[::-1] += X | X += X.T | X.T[...] += X
X[1:] = X[:-1] | X[:-1] = X[1:] | X[::-1] = X | X[1:] *= O[:-1] | X %= O | X //= O | X **= O
np.add(X, O, out=X) | np.add(O, X, out=O) | np.subtract(X, O, out=O) | np.add(X, Y, out=O, where=D) | np.negative(O, out=X)
np.sqrt(X, out=O, casting='unsafe') | np.cumsum(X, axis=0, out=O, dtype=C) | np.matmul(X, O, out=X) | np.clip(X, O, N, out=X)
np.divmod(X, O, out=(X, 1 * X)) | np.modf(X, out=(X, 1 * X)) | np.where(D, X, O) | np.copyto(X, O) | np.copyto(X, O, where=D)
X[K] | X[K] = N | X[K] += N | X[K, ...] | X[..., K] | X[K].sum() | X[None, K] | X[K] = L | X[K] *= O[K] | X[K] = O[K]
X[J] | X[J] = N | X[J] += N | X[J] *= O[J] | X[J, ...] = N | X[J, None] | X[None, J] | X[J, ..., 0] | X[..., J] | X[J][K]
X[I].T[...] = N | X[I][...] += N | X.T[I] | X.T[I] = N | (X + Y)[I] | X[I] + N | X[I].sum(0) | X[I] @ P | X[I].ravel() | X[I].copy()
X[I].astype(C) | (X > N) & (Y < N) | X[X > N] | X[X > N] = N | X[X != X] = 0 | ~(X == Y) | X[~D] | X[D] | X[D] = Y[D]
X[()] | X[()] = N | X[...] | -(X.T) + X.T | X[True] | X[False] | X[True] = N | X[False] += N
np.add.reduce(X[I], axis=None) | np.maximum.accumulate(X[I]) | np.sum(X[I], axis=-1, dtype=C) | np.sort(X[I], axis=0) | np.argmax(X[I])
np.concatenate([X, O], axis=-1) | np.stack([X, O]) | np.concatenate([X[:1], O, X]) | np.dot(X, O.T) | np.inner(X, O) | np.vdot(X, O)
np.einsum('...i,...i', X, O) | np.einsum('ij,kj->ik', X, O) | np.tensordot(X, O.T, 1) | X @ O.T | X.T @ O | X @ X.T
np.linalg.svdvals(M) | np.linalg.eigvalsh(M @ M.mT) | np.linalg.cond(M) | np.linalg.matrix_rank(M) | np.linalg.pinv(M)
np.linalg.svd(M, compute_uv=False) | np.abs(np.linalg.qr(M)[1]) | np.matmul(*np.linalg.qr(M)) | np.linalg.multi_dot([M, M.mT, M])
np.linalg.det(M @ M.mT) | np.linalg.lstsq(M, M)[0] | np.linalg.norm(M, 2) | np.linalg.norm(M, 'nuc')
np.take_along_axis(X, np.argsort(X, axis=-1, kind='stable'), axis=-1) | np.partition(X, 0)[..., 0] | np.argpartition(X.ravel(), 0).shape
X.flat[::2] = N | X.flat[J] | X.flat[D] | X.flat[J] = N | X.tolist() | X.T.reshape(-1) | X.mT[..., 0]
"""


def parse_expressions(text: str) -> list[str]:
    return [one for one in re.split(r" \| (?!B)|\n", text.strip()) if one]


def is_change(pattern: str) -> bool:
    words = [] if pattern.startswith("np.") else pattern.split()
    return any(w.endswith("=") and w not in ("==", "!=", "<=", ">=") for w in words)
