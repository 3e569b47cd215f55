"""Functions of arrays that run as one or a few kernels: :func:`pycuda.fuse`, and functions of this package.

A function is run once with placeholders (:mod:`pycuda.arrays.ufuncs.tracing`). The recorded steps are divided into stages.
A stage is one kernel: elementwise operations, or a reduction whose elements are computed by elementwise operations.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np

from pycuda import _driver
from pycuda._driver import ArrayBase
from pycuda.arrays.ufuncs.number_arguments import NumberArgument, can_vary
from pycuda.arrays.ufuncs.tracing import (
    FusionError,
    Reduction,
    Trace,
    Traced,
    is_traced,
)

_MOST_PLANS = 256


class _Stages:
    """Divides the steps of a trace into stages for ``_driver._FusedProgram``."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._reduced: dict[int, int] = {}  # from a reduction's value to the program's
        self._count = trace.arrays  # values of the program so far
        self.stages: list[tuple] = []

    def add_reductions(self, needed: set[int]) -> None:
        for number in sorted(needed):
            step = self._trace.steps[number - self._trace.arrays]
            fusion, inputs = self._fusion([step.operand])
            self.stages.append((fusion, inputs, step.key))
            self._reduced[number] = self._count
            self._count += 1

    def add_values(self, numbers: list[int]) -> list[int]:
        """Add one elementwise stage. Returns the values of the program."""
        fusion, inputs = self._fusion(numbers)
        self.stages.append((fusion, inputs, None))
        first = self._count
        self._count += len(numbers)
        return list(range(first, self._count))

    def reduced(self, number: int) -> int:
        return self._reduced[number]

    def leaves(self, number: int) -> frozenset[int]:
        """The arrays and reductions from which elementwise steps compute a value."""
        return frozenset(self._walk([number])[0])

    def _walk(self, numbers) -> tuple[list[int], list[int]]:
        """The leaves and the elementwise steps of values, both in order."""
        trace = self._trace
        leaves, steps, waiting = set(), set(), list(numbers)
        while waiting:
            number = waiting.pop()
            if number in leaves or number in steps:
                continue
            step = number - trace.arrays
            if step < 0 or isinstance(trace.steps[step], Reduction):
                leaves.add(number)
            else:
                steps.add(number)
                waiting += [one for one in trace.steps[step][1] if one >= 0]
        return sorted(leaves), sorted(steps)

    def _fusion(self, numbers):
        trace = self._trace
        leaves, steps = self._walk(numbers)
        place = {number: k for k, number in enumerate([*leaves, *steps])}
        program = []
        for number in steps:
            name, operands, dtype = trace.steps[number - trace.arrays]
            program.append((name, [place.get(one, one) for one in operands], dtype))
        fusion = _driver._Fusion(
            len(leaves), program, [place[one] for one in numbers], trace.constants
        )
        return fusion, [self._reduced.get(one, one) for one in leaves]

    def reductions_of(self, numbers) -> set[int]:
        """All reductions from which values are computed."""
        trace, found, waiting = self._trace, set(), list(numbers)
        while waiting:
            for leaf in self._walk([waiting.pop()])[0]:
                if leaf >= trace.arrays and leaf not in found:
                    found.add(leaf)
                    waiting.append(trace.steps[leaf - trace.arrays].operand)
        return found


def _program(trace: Trace, values: list[Traced]):
    """The program in C++ that computes the values."""
    numbers = [value._number for value in values]
    if not any(isinstance(step, Reduction) for step in trace.steps):
        return _driver._Fusion(trace.arrays, trace.steps, numbers, trace.constants)
    stages = _Stages(trace)
    stages.add_reductions(stages.reductions_of(numbers))
    # Values with the same leaves have the same shape, so one kernel computes them.
    groups: dict[frozenset, list[int]] = {}
    for number in numbers:
        if not _is_reduction(trace, number):
            groups.setdefault(stages.leaves(number), []).append(number)
    results = {}
    for group in groups.values():
        results |= dict(zip(group, stages.add_values(group), strict=True))
    places = [
        stages.reduced(one) if _is_reduction(trace, one) else results[one]
        for one in numbers
    ]
    return _driver._FusedProgram(trace.arrays, stages.stages, places)


def _is_reduction(trace: Trace, number: int) -> bool:
    return number >= trace.arrays and isinstance(
        trace.steps[number - trace.arrays], Reduction
    )


class _Traced:
    """A function that is traced for a call, and what it returned.

    varying: the numbers of the arguments that are traced as a :class:`NumberArgument`.
    """

    def __init__(self, function, args, kwargs, varying=()) -> None:
        given = [*args, *kwargs.values()]
        arrays = [one for one in given if isinstance(one, ArrayBase)]
        if not arrays:
            raise FusionError(
                "a fused function must be called with at least one GPUArray"
            )
        self.trace = trace = Trace(array.dtype for array in arrays)
        self.varying = [NumberArgument(place, given[place]) for place in varying]
        numbers = iter(range(len(arrays)))
        for place, one in enumerate(given):
            if isinstance(one, ArrayBase):
                given[place] = Traced(trace, next(numbers))
        for one in self.varying:
            given[one.place] = one
        returned = function(
            *given[: len(args)], **dict(zip(kwargs, given[len(args) :], strict=True))
        )
        self.single = not isinstance(returned, (tuple, list))
        self.values = [returned] if self.single else list(returned)
        for value in self.values:
            if not isinstance(value, Traced):
                raise FusionError(
                    f"a fused function must return values computed from its arrays, not {type(value).__name__}"
                )
        # An argument that is returned unchanged, and a value that is returned twice, are copied, because results
        # are new arrays.
        seen: set[int] = set()
        for k, value in enumerate(self.values):
            if value._number < len(arrays) or value._number in seen:
                self.values[k] = trace.add("copy", value)
            seen.add(value._number)

    def has_reductions(self) -> bool:
        return any(isinstance(step, Reduction) for step in self.trace.steps)

    def records(self) -> tuple:
        """All that the program depends on."""
        constants = [(type(one), repr(one)) for one in self.trace.constants]
        results = [value._number for value in self.values]
        return self.trace.types, self.trace.steps, constants, results, self.single


def _traced(function, args, kwargs) -> _Traced:
    """Trace a function, with as many varying numbers as possible."""
    plain = _Traced(function, args, kwargs)
    varying = [k for k, one in enumerate((*args, *kwargs.values())) if can_vary(one)]
    while varying and not plain.has_reductions():
        try:
            traced = _Traced(function, args, kwargs, varying)
        except Exception:  # noqa: BLE001 -- the function needs a number: it did not fail with one above
            break
        unused = [one.place for one in traced.varying if not one.is_used]
        if len(unused) < len(varying):
            varying = unused
            continue
        if traced.records() != plain.records():  # for example because of type(number)
            break
        return traced
    return plain


class _Plan:
    """A function that is traced for certain argument types: the kernels' program and the results."""

    def __init__(self, function, args, kwargs) -> None:
        traced = _traced(function, args, kwargs)
        self.single = traced.single
        self.program = _program(traced.trace, traced.values)
        # The positions of the arrays, if all arguments were passed by position.
        self.places = [i for i, one in enumerate(args) if isinstance(one, ArrayBase)]
        self.varying = tuple([one.place for one in traced.varying])
        self.constants = traced.trace.constants
        self.numbers = traced.trace.numbers

    def arrays(self, args, kwargs):
        """The arrays among the arguments of a call."""
        if len(self.places) != len(args):
            args = [args[i] for i in self.places]
        if kwargs:
            named = [one for one in kwargs.values() if isinstance(one, ArrayBase)]
            args = [*args, *named]
        return args

    def constants_of(self, args, kwargs):
        """The constants of a program without reductions in a call; None for those of the trace."""
        if not self.numbers:
            return None
        given, constants = [*args, *kwargs.values()], list(self.constants)
        for constant, argument in self.numbers:
            constants[constant] = given[argument]
        return constants

    def run(self, args, kwargs, stream):
        arrays, constants = self.arrays(args, kwargs), self.constants_of(args, kwargs)
        if constants is None:
            results = self.program.run(arrays, stream)
        else:
            results = self.program.run(arrays, stream, constants)
        return results if self.single or type(results) is tuple else (results,)


def _kind(value):
    """The key of a plan: an array's type; for other arguments, the value and its type."""
    if isinstance(value, ArrayBase):
        return value.dtype
    if isinstance(value, (np.ndarray, list)):
        raise FusionError(
            f"a fused function takes GPUArrays, not {type(value).__name__}, which is in host memory; "
            "copy it with pycuda.gpuarray.to_gpu() first"
        )
    # 1, 1.0 and True are equal, and so are 0.0 and -0.0. NaN does not equal itself.
    return (
        type(value),
        repr(value) if isinstance(value, (float, complex, np.number)) else value,
    )


def _key(kinds, names, varying=()) -> tuple:
    """The key of a plan: the kinds of the arguments, of varying numbers the type alone."""
    kinds = list(kinds)
    for place in varying:
        kinds[place] = (kinds[place][0], _VARIES)
    return (*kinds, *names)


_VARIES = object()


def _is_plain(value) -> bool:
    """Whether C++ may keep and compare an argument: an array, or an immutable object without references."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return (
        value is None
        or type(value) in (bool, int, float, str)
        or isinstance(value, (ArrayBase, np.dtype, type, np.number, np.bool_))
    )


class FusedFunction(_driver._FusedCalls):
    """The result of :func:`fuse`.

    Call it like the function, with an additional parameter ``stream=``: a few kernels compute the result.
    """

    def __init__(self, function: Callable) -> None:
        super().__init__()
        functools.update_wrapper(self, function)
        self._function = function
        self._plans: dict = {}
        self._varying: tuple[tuple[int, ...], ...] = ()  # of the plans

    def __repr__(self) -> str:
        name = getattr(self._function, "__name__", repr(self._function))
        return f"<fused function {name}>"

    def explain(self, *args, **kwargs) -> str:
        """Say how many kernels a call with these arguments launches, and why they are not one.

        Nothing is computed. A kernel for a reduction of a long row is followed by a short one, which is not counted.

        >>> centred = fuse(lambda x: x - x.mean(axis=1, keepdims=True))
        >>> centred.explain(gpuarray.zeros((3, 100)))
        'one kernel'
        >>> centred.explain(gpuarray.zeros((3, 100_000)))
        '2 kernels: the rows are too long, or too few for all processors'
        """
        plan = self._plan(args, kwargs)
        if isinstance(plan.program, _driver._Fusion):
            return "one kernel"
        obstacle = plan.program.obstacle(plan.arrays(args, kwargs))
        return (
            f"{plan.program.stage_count()} kernels: {obstacle}"
            if obstacle
            else "one kernel"
        )

    # A call with arrays of known types does not come here: see into() of _FusedCalls.
    def _into(self, results, *args) -> None:
        plan = self._plan(args, {})
        arrays = [args[i] for i in plan.places]
        plan.program.run_into(results, arrays, plan.constants_of(args, {}))

    def into_parts(self, result, *arrays) -> None:
        """Call the function with the elements of the arrays' last axes, as many arrays without this axis each.

        Its results become the elements of the last axis of ``result``. The function has no reductions and one
        parameter for each part.
        """
        key = (
            "parts",
            *[one for array in arrays for one in (array.dtype, array.shape[-1])],
        )
        plan = self._plans.get(key)
        if plan is None:
            parts = tuple(
                array[..., k] for array in arrays for k in range(array.shape[-1])
            )
            plan = self._plans[key] = self._plan(parts, {})
        plan.program.run_into_parts(result, arrays)

    # A call with arrays of known types does not come here: _FusedCalls has the kernels.
    def _call(self, *args, stream=None, **kwargs):
        """The function's result, computed in ``stream``. In another fused function: the function's operations."""
        if is_traced((*args, *kwargs.values())):
            if stream is not None:
                raise FusionError(
                    "a fused function that another one calls takes no stream; pass stream to the other one"
                )
            return self._function(*args, **kwargs)
        return self._plan(args, kwargs).run(args, kwargs, stream)

    def _plan(self, args, kwargs) -> _Plan:
        given = (*args, *kwargs.values())
        kinds, names = [_kind(one) for one in given], (*kwargs,)
        # First the plans of which some numbers vary: the types of these are in their keys, and not the values.
        for varying in self._varying:
            if all(place < len(given) and can_vary(given[place]) for place in varying):
                plan = self._plans.get(_key(kinds, names, varying))
                if plan is not None:
                    return plan
        plan = self._plans.get(_key(kinds, names))
        if plan is None:
            plan = _Plan(self._function, args, kwargs)
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            self._plans[_key(kinds, names, plan.varying)] = plan
            if plan.varying and plan.varying not in self._varying:
                self._varying = (*self._varying, plan.varying)
            if not kwargs and all(map(_is_plain, args)):
                self._remember(
                    args, plan.program, plan.single, plan.varying, plan.numbers
                )
        return plan

    def __get__(self, instance, owner=None):
        return self if instance is None else functools.partial(self, instance)


def fuse(function: Callable) -> FusedFunction:
    """Compile a function of elementwise operations and reductions to a few kernels.

    The function is run a few times with placeholders for each combination of its arguments' types, and of the values of
    arguments that are neither arrays nor varying numbers. A float, a complex number or a number of NumPy varies if the
    function has no reductions and uses the number in operations on elements only: then a call with another value runs no
    Python code. Other values that the function reads, such as a global variable or an attribute
    of an object, are constants: their values during this run. Pass a number that changes as an argument. The run
    records operators, the elementwise functions of ``gpuarray`` and numpy, ``where``, ``clip``, ``astype``, other fused
    functions, and the reductions ``sum``, ``prod``, ``min``, ``max``, ``any``, ``all``, ``mean``, ``var``, ``std``,
    ``argmin`` and ``argmax`` with ``axis``, ``keepdims``, ``dtype``, ``initial`` and ``where``. The function may return
    one value or several.

    A function without reductions is one kernel. If all reductions have the same axes, and each result of a reduction
    has at most 8192 elements along the contiguous axis, or 2048 along another axis, the function is one kernel as
    well: a softmax of rows reads its argument from memory once. For longer rows, all elementwise operations between
    two reductions are one kernel with the second reduction, so a softmax is three kernels. Several results without
    reductions must have one shape, to which the arguments broadcast.

    Results of elementwise operations have the same bits as those of the function without ``fuse``. Sums of floats
    may differ in the last bits; they are the same in each run and on each device. The fused function has an additional
    parameter ``stream=``. :meth:`FusedFunction.explain` says whether a call is one kernel.

    Raises :class:`FusionError`, a TypeError that names the unsupported operation: parts of arrays, conditions on elements,
    arrays that are not arguments, ``out`` of a reduction, a change of an argument (``x += 1``), and other operations.

    >>> axpy = fuse(lambda a, x, y: a * x + y)
    >>> axpy(2.0, gpuarray.array([1.0, 2.0]), gpuarray.array([3.0, 4.0]))
    array([5., 8.])
    >>> @fuse
    ... def softmax(x):
    ...     e = np.exp(x - x.max(axis=-1, keepdims=True))
    ...     return e / e.sum(axis=-1, keepdims=True)
    >>> softmax(gpuarray.array([[1.0, 1.0], [0.0, 0.0]]))
    array([[0.5, 0.5],
           [0.5, 0.5]])
    """
    return FusedFunction(function)
