"""A sentence and an example for each universal function.

This text is read when a program asks for a docstring, not when arrays are imported.
"""

from __future__ import annotations

import re

# For each function: its name and the sentence; the operands of the example, and what the example prints.
_TABLE = """\
negative: Negate each element. Bool raises TypeError.
    [1, -2] -> array([-1,  2])
positive: Copy each element.
    [1, -2] -> array([ 1, -2])
absolute: Compute the absolute value of each element; of complex numbers, the magnitude, a real number.
    [-3, 4] -> array([3, 4])
fabs: Compute the absolute value of each element as a floating-point number. Complex numbers raise TypeError.
    [-3, 4] -> array([3., 4.])
sign: Compute the sign of each element: -1, 0 or 1; of complex numbers, the number divided by its magnitude.
    [-3, 0, 4] -> array([-1,  0,  1])
square: Multiply each element by itself.
    [-3, 4] -> array([ 9, 16])
reciprocal: Divide 1 by each element. Integers are divided as integers.
    [2.0, 4.0] -> array([0.5 , 0.25])
conjugate: Conjugate each element: the sign of the imaginary part changes.
    [1 + 2j] -> array([1.-2.j])
logical_not: Test whether each element is zero.
    [0, 5] -> array([ True, False])
isnan: Test whether each element is NaN.
    [1.0, np.nan] -> array([False,  True])
isinf: Test whether each element is infinite.
    [1.0, -np.inf] -> array([False,  True])
isfinite: Test whether each element is neither NaN nor infinite.
    [1.0, np.inf] -> array([ True, False])
signbit: Test whether the sign bit of each element is set, also of -0.0.
    [1.0, -0.0] -> array([False,  True])
invert: Invert each bit of each element; bool is negated.
    [0, 5] -> array([-1, -6])
exp: Raise e to the power of each element.
    [0.0, np.inf] -> array([ 1., inf])
exp2: Raise 2 to the power of each element.
    [0.0, 3.0] -> array([1., 8.])
expm1: Raise e to the power of each element and subtract 1, exactly for small elements, too.
    [0.0, 1e-12] -> array([0.e+00, 1.e-12])
log: Compute the natural logarithm of each element; NaN for negative ones, -inf for 0.
    [1.0, np.e] -> array([0., 1.])
log2: Compute the logarithm to base 2 of each element.
    [1.0, 8.0] -> array([0., 3.])
log10: Compute the logarithm to base 10 of each element.
    [1.0, 1000.0] -> array([0., 3.])
log1p: Compute the natural logarithm of 1 plus each element, exactly for small elements, too.
    [0.0, 1e-12] -> array([0.e+00, 1.e-12])
sqrt: Compute the square root of each element; NaN for negative ones.
    [4.0, 9.0] -> array([2., 3.])
sin: Compute the sine of each element, an angle in radians.
    [0.0, np.pi / 2] -> array([0., 1.])
cos: Compute the cosine of each element, an angle in radians.
    [0.0, np.pi] -> array([ 1., -1.])
tan: Compute the tangent of each element, an angle in radians.
    [0.0] -> array([0.])
arcsin: Compute the arc sine of each element, from -pi/2 to pi/2 radians; NaN outside of [-1, 1].
    [0.0, 2.0] -> array([ 0., nan])
arccos: Compute the arc cosine of each element, from 0 to pi radians; NaN outside of [-1, 1].
    [1.0, 2.0] -> array([ 0., nan])
arctan: Compute the arc tangent of each element, from -pi/2 to pi/2 radians.
    [0.0] -> array([0.])
sinh: Compute the hyperbolic sine of each element.
    [0.0] -> array([0.])
cosh: Compute the hyperbolic cosine of each element.
    [0.0] -> array([1.])
tanh: Compute the hyperbolic tangent of each element.
    [0.0, np.inf] -> array([0., 1.])
arcsinh: Compute the inverse hyperbolic sine of each element.
    [0.0] -> array([0.])
arccosh: Compute the inverse hyperbolic cosine of each element; NaN below 1.
    [1.0, 0.0] -> array([ 0., nan])
arctanh: Compute the inverse hyperbolic tangent of each element; NaN outside of [-1, 1].
    [0.0, 1.0] -> array([ 0., inf])
rint: Round each element to the nearest integer; halves are rounded to the even one.
    [0.5, 1.5, -1.2] -> array([ 0.,  2., -1.])
cbrt: Compute the cube root of each element.
    [8.0, -27.0] -> array([ 2., -3.])
degrees: Convert each element from radians to degrees.
    [np.pi] -> array([180.])
radians: Convert each element from degrees to radians.
    [0.0, 180.0] -> array([0.        , 3.14159265])
floor: Round each element down to an integer.
    [1.7, -1.7] -> array([ 1., -2.])
ceil: Round each element up to an integer.
    [1.2, -1.2] -> array([ 2., -1.])
trunc: Round each element towards zero to an integer.
    [1.7, -1.7] -> array([ 1., -1.])
spacing: Compute the distance from each element to the next larger magnitude of its type.
    [1.0] -> array([2.22044605e-16])
bitwise_count: Count the bits that are set in the magnitude of each element, as uint8.
    [7, 8] -> array([3, 1], dtype=uint8)
add: Add the elements.
    [1, 2] | [10, 20] -> array([11, 22])
subtract: Subtract the elements of the second operand.
    [1, 2] | [10, 20] -> array([ -9, -18])
multiply: Multiply the elements.
    [1, 2] | [10, 20] -> array([10, 40])
divide: Divide by the elements of the second operand; integers give float64.
    [1, 2] | [2, 4] -> array([0.5, 0.5])
floor_divide: Divide by the elements of the second operand and round down.
    [7, -7] | [2, 2] -> array([ 3, -4])
remainder: Compute the remainder of the division that rounds down; it has the sign of the divisor.
    [7, -7] | [2, 2] -> array([1, 1])
fmod: Compute the remainder of the division that rounds towards zero; it has the sign of the dividend.
    [7, -7] | [2, 2] -> array([ 1, -1])
power: Raise the elements to the powers of the second operand. A negative integer power of an integer, for which NumPy raises ValueError, has an unspecified result.
    [2, 3] | [3, 2] -> array([8, 9])
float_power: Raise the elements to powers in float64 or complex128.
    [2, 3] | [-1, 2] -> array([0.5, 9. ])
gcd: Compute the greatest common divisor of integers.
    [12, 0] | [18, 5] -> array([6, 5])
lcm: Compute the least common multiple of integers.
    [4, 0] | [6, 5] -> array([12,  0])
equal: Test whether the elements are equal.
    [1, 2] | [1, 3] -> array([ True, False])
not_equal: Test whether the elements differ.
    [1, 2] | [1, 3] -> array([False,  True])
less: Test whether the first element is smaller.
    [1, 2] | [2, 2] -> array([ True, False])
less_equal: Test whether the first element is smaller or equal.
    [1, 3] | [1, 2] -> array([ True, False])
greater: Test whether the first element is larger.
    [1, 3] | [1, 2] -> array([False,  True])
greater_equal: Test whether the first element is larger or equal.
    [1, 1] | [1, 2] -> array([ True, False])
logical_and: Test whether both elements are true, that is not zero.
    [0, 1] | [1, 2] -> array([False,  True])
logical_or: Test whether at least one element is true, that is not zero.
    [0, 0] | [0, 2] -> array([False,  True])
logical_xor: Test whether exactly one element is true, that is not zero.
    [0, 1] | [1, 2] -> array([ True, False])
maximum: Take the larger element; NaN if one of them is NaN.
    [1.0, np.nan] | [2.0, 2.0] -> array([ 2., nan])
minimum: Take the smaller element; NaN if one of them is NaN.
    [1.0, np.nan] | [2.0, 2.0] -> array([ 1., nan])
fmax: Take the larger element; the other one if one of them is NaN.
    [1.0, np.nan] | [2.0, 2.0] -> array([2., 2.])
fmin: Take the smaller element; the other one if one of them is NaN.
    [1.0, np.nan] | [2.0, 2.0] -> array([1., 2.])
bitwise_and: Combine the bits of integers by and.
    [6] | [3] -> array([2])
bitwise_or: Combine the bits of integers by or.
    [6] | [3] -> array([7])
bitwise_xor: Combine the bits of integers by exclusive or.
    [6] | [3] -> array([5])
left_shift: Shift the bits of integers to the left.
    [1, 3] | [2, 1] -> array([4, 6])
right_shift: Shift the bits of integers to the right; signed integers keep their sign.
    [8, -8] | [1, 1] -> array([ 4, -4])
arctan2: Compute the angle of the point (x2, x1), from -pi to pi radians.
    [0.0, 0.0] | [1.0, -1.0] -> array([0.        , 3.14159265])
hypot: Compute the length of the hypotenuse of a right triangle, without overflow.
    [3.0] | [4.0] -> array([5.])
logaddexp: Compute log(exp(x1) + exp(x2)) without overflow.
    [0.0] | [-np.inf] -> array([0.])
logaddexp2: Compute log2(2**x1 + 2**x2) without overflow.
    [1.0] | [1.0] -> array([2.])
copysign: Give the elements the signs of the second operand.
    [1.0, 2.0] | [-1.0, 1.0] -> array([-1.,  2.])
nextafter: Compute the next number of the type after the first element, towards the second one.
    [0.0] | [1.0] -> array([5.e-324])
heaviside: Compute the Heaviside step function: 0 below zero, 1 above, the second operand at zero.
    [-1.0, 0.0, 2.0] | [0.5, 0.5, 0.5] -> array([0. , 0.5, 1. ])
ldexp: Multiply the elements by 2 to the powers of the second operand, integers.
    [0.5] | [4] -> array([8.])
"""

DESCRIPTIONS: dict[str, tuple[str, str, str]] = {
    name: (sentence, operands, result)
    for name, sentence, operands, result in re.findall(
        r"^(\w+): (.*)\n    (.*) -> (.*)$", _TABLE, re.MULTILINE
    )
}

_KEYWORDS = """\
{operands} arrays or numbers, which are broadcast.
out: an array for the result, which is cast to its dtype.
where: an array of bool: the elements to write; others stay as they are in ``out``.
dtype: the type to compute in, by default NumPy's (NEP 50).
casting: which casts of types are allowed, as in NumPy; others raise TypeError.
stream: the stream of the work, by default the current one.
allocator: a function that returns the result's memory, by default the allocator of the first array.

Returns an array of the common shape. Raises ValueError for shapes that do not broadcast, TypeError for types that the
function has no loop for or that cannot be cast."""


def docstring(name: str, nin: int) -> str:
    """The docstring of a universal function."""
    text, operands, result = DESCRIPTIONS[name]
    arrays = ", ".join(f"gpuarray.array({one})" for one in operands.split(" | "))
    example = f">>> gpuarray.{name}({arrays})\n{result}"
    names = "x:" if nin == 1 else "x1, x2:"
    return f"{text}\n\n{_KEYWORDS.format(operands=names)}\n\n{example}\n"
