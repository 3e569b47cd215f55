"""Tuning: find the fastest block shape, macros and template arguments of a kernel.

>>> import pycuda
>>> source = '''
... __global__ void add(float *z, const float *x, const float *y, int n) {
...     int first = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
...     for (int i = first; i < first + EACH && i < n; ++i) z[i] = x[i] + y[i];
... }'''
>>> n = 4096
>>> x, y, z = gpuarray.ones(n, np.float32), gpuarray.ones(n, np.float32), gpuarray.zeros(n, np.float32)
>>> add = pycuda.tune(
...     source, [z, x, y, n],
...     block=[64, 128, 256], defines={"EACH": [1, 4]},
...     grid=lambda c: -(-n // (c.threads * c.EACH)),
... )
>>> add(z, x, y, n)
>>> float(z.sum().get())
8192.0

``pycuda.tune`` is this module, and a call of it calls the function :func:`tune`. docs/tune.md says how variants are
chosen and measured.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import types
from collections.abc import Callable, Mapping, Sequence

from pycuda import _profile_sources, compiler, driver
from pycuda._source_text import text_of
from pycuda.tune._arguments import SharedArguments
from pycuda.tune._processes import Measurer
from pycuda.tune._result import Tuned, Variant
from pycuda.tune._space import Configuration, Launch, Space, kernels_in
from pycuda.tune._store import Store, key_of
from pycuda.tune._tuner import Compiler, Settings, Tuner, compile_options, describe

__all__ = ["Configuration", "Tuned", "TunedKernel", "Variant", "tune"]


class _Request:
    """The arguments of :func:`tune` except the kernel's arguments and the grid."""

    def __init__(
        self,
        kernel: object,
        name: str | None,
        block: object,
        defines: Mapping[str, object],
        template: Mapping[str, Sequence],
        restrict: object,
        shared: object,
        constants: Mapping[str, object],
        expected: Sequence[object] | None,
        tolerance: float | None,
        settings: Settings,
        how: compiler._How,
    ) -> None:
        self._how = how
        self._source = self._read(kernel, name)
        self._defines, self._template = dict(defines), dict(template)
        self._block, self._shared = block, shared
        rules = [restrict] if callable(restrict) else list(restrict or ())
        for rule in rules:
            if not callable(rule):
                raise TypeError(
                    f"restrict must be a function of a configuration, or several, not {rule!r}"
                )
        self._rules = rules
        self._constants = dict(constants)
        self._expected, self._tolerance = expected, tolerance
        self._settings = settings
        if self._template or "<" in (self._name or ""):
            self._how = self._how._replace(no_extern_c=True)

    def _read(self, kernel: object, name: str | None) -> object:
        self._name = name
        if isinstance(kernel, driver.Function):
            source, how = _profile_sources.origin_of(kernel)
            if source is None:
                raise TypeError(
                    f"the source of the kernel {kernel.name} is not known; pass the source and name={kernel.name!r}"
                )
            self._how = how
            self._name = name or kernel.name
            return source
        if isinstance(kernel, compiler.SourceModule):
            self._how = kernel._how
            return kernel._source
        if callable(kernel):
            return kernel
        if isinstance(kernel, (bytes, bytearray)):
            raise TypeError("the source must be text, not bytes: decode it")
        return text_of(kernel)

    def _find_name(self, source: str) -> str:
        found = kernels_in(source)
        if self._name is not None:
            return self._name
        if len(found) != 1:
            kinds = ", ".join(found) or "none"
            raise ValueError(
                f"the source has {len(found)} kernels ({kinds}); name= selects one"
            )
        return found[0]

    def space(self, grid: object) -> Space:
        """The variants with their launches."""
        device = driver.Context.get_device()
        most = device.get_attribute(driver.device_attribute.MAX_THREADS_PER_BLOCK)
        how = (grid, self._defines, self._template, self._rules, self._shared, most)
        if not callable(self._source):
            name = self._find_name(self._source)
            return Space(self._source, name, self._block, *how)
        if self._name is None:
            raise ValueError(
                "a function that returns the source needs name=, the kernel"
            )
        return Space(self._source, self._name, self._block, *how)

    def tune(self, arguments: Sequence[object], grid: object, store: Store) -> Tuned:
        """Find the best variant for arguments, or read it from the store."""
        space = self.space(grid)
        launches = [space.launch(c) for c in space.configurations]
        driver.Context.synchronize()
        shared = SharedArguments(
            arguments, self._constants, self._expected, self._tolerance
        )
        try:
            key = key_of(self._identity(launches, space, shared))
            variants = store.find(key)
            is_known = variants is not None
            if variants is None:
                tuner = Tuner(
                    space.configurations,
                    launches,
                    Compiler(self._how),
                    Measurer(shared, self._settings.limit),
                    self._settings,
                )
                variants = tuner.run()
        finally:
            shared.close()
        if not any(v.status == "ok" for v in variants):
            raise RuntimeError(_no_variant(variants))
        if not is_known:
            store.keep(key, variants)
        return self._result(space, variants, is_known)

    def _identity(
        self, launches: Sequence[Launch], space: Space, shared: SharedArguments
    ) -> object:
        """Everything that the best variant depends on."""
        device = driver.Context.get_device()
        sources: dict[str, int] = {}
        rows = [
            [sources.setdefault(launch.source, len(sources)), *launch[1:]]
            for launch in launches
        ]
        return {
            "device": [device.name(), device.compute_capability()],
            "multiprocessors": device.multiprocessor_count,
            "driver": driver.get_driver_version(),
            "sources": list(sources),
            "launches": rows,
            "how": self._how._replace(cache_dir=None),
            "arguments": [describe(spec) for spec in shared.setup.arguments],
            "constants": [(c.name, c.nbytes) for c in shared.setup.constants],
            "settings": self._settings._replace(verbose=False),
            "tolerance": self._tolerance,
        }

    def _result(
        self, space: Space, variants: Sequence[Variant], is_known: bool
    ) -> Tuned:
        best = min(
            (v for v in variants if v.status == "ok"), key=lambda v: v.seconds
        ).configuration
        launch = space.launch(best)
        how = compile_options(self._how, launch)
        module = compiler.SourceModule(
            launch.source,
            **how._asdict(),
            name_expressions=[launch.kernel] if how.no_extern_c else (),
        )
        function = module.get_function(launch.kernel)
        for name, value in self._constants.items():
            import numpy as np

            address, _ = module.get_global(name)
            driver.memcpy_htod(address, np.ascontiguousarray(value))
        choices = len(space.configurations)
        return Tuned(function, launch, variants, choices, is_known, module)


def _no_variant(variants: Sequence[Variant]) -> str:
    lines = [
        f"none of {len(variants)} variants can be used"
        if len(variants) > 1
        else "the only variant cannot be used"
    ]
    for variant in variants[:5]:
        lines.append(f"  {variant.configuration}: {variant.status}, {variant.note}")
    if len(variants) > 5:
        lines.append(f"  and {len(variants) - 5} more")
    if all(variant.status == "hangs" for variant in variants):
        lines.append("limit= is the time in seconds that a run may take")
    return "\n".join(lines)


class TunedKernel:
    """A kernel that is tuned at its first call for each problem size. ``@pycuda.tune(...)`` returns this type.

    A call ``kernel(*arguments, stream=None)`` launches the best variant for these arguments. Arguments are of the same
    problem size if arrays have the same dtypes and shapes, and ints the same values.
    """

    def __init__(
        self, request: _Request, grid: Callable[..., object], store: Store
    ) -> None:
        self._request, self._store = request, store
        self._grid = grid
        self._known: dict[tuple, Tuned] = {}
        self._lock = threading.RLock()
        functools.update_wrapper(self, grid)

    def __call__(self, *arguments: object, stream: driver.Stream | None = None) -> None:
        """Launch the best variant.

        arguments: those of the kernel. stream: a Stream; by default the thread's current stream.
        """
        self.tuned(*arguments)(*arguments, stream=stream)

    def tuned(self, *arguments: object) -> Tuned:
        """The result of tuning for arguments, a :class:`Tuned`. The first call for a problem size tunes.

        arguments: those of the kernel. Their contents do not change.
        """
        context = driver.Context.get_current()
        problem = (context and context._serial, *map(_size_of, arguments))
        found = self._known.get(problem)
        if found is None:
            with self._lock:
                found = self._known.get(problem)
                if found is None:
                    found = self._request.tune(
                        arguments, lambda c: self._grid(c, *arguments), self._store
                    )
                    self._known[problem] = found
        return found


def _size_of(argument: object) -> object:
    if isinstance(argument, driver.ArgumentHandler):
        argument = argument.array
    shape = getattr(argument, "shape", None)
    if shape:
        return tuple(shape), str(argument.dtype)
    if hasattr(argument, "__index__") and not hasattr(argument, "free"):
        return argument.__index__()
    return type(argument), getattr(argument, "size", None)


def tune(
    kernel: object,
    arguments: Sequence[object] | None = None,
    *,
    block: object,
    grid: object = None,
    name: str | None = None,
    defines: Mapping[str, object] = types.MappingProxyType({}),
    template: Mapping[str, Sequence] = types.MappingProxyType({}),
    restrict: object = None,
    shared: object = 0,
    constants: Mapping[str, object] = types.MappingProxyType({}),
    expected: Sequence[object] | None = None,
    tolerance: float | None = None,
    limit: float = 1.0,
    repeats: int = 7,
    evaluations: int | None = None,
    options: Sequence[str] | None = None,
    include_dirs: Sequence[str] | None = None,
    no_extern_c: bool = False,
    cache_dir: str | os.PathLike | bool | None = None,
    verbose: bool = False,
) -> Tuned | Callable[[Callable], TunedKernel]:
    """Find the fastest variant of a kernel. Returns a :class:`Tuned`, whose call launches that variant.

    kernel: the source in CUDA C++, a SourceModule, one of its kernels, or a function that returns the source for a
        configuration.
    arguments: of the kernel: arrays of the device, numpy arrays, ``In``, ``Out``, ``InOut``, numbers. Variants run on copies,
        which are restored between runs, so the arrays do not change. Without arguments, the call returns a decorator.
    block: a list of block shapes, ints or tuples; or a dict with lists for ``"x"``, ``"y"`` and ``"z"``.
    grid: the number of blocks: an int, up to three ints, or a function of a :class:`Configuration`.
    name: of the kernel, if the source has several; without template arguments if there is ``template``.
    defines: macros: for each name a list of values, or a function of a configuration that returns the value or None.
    template: for each template parameter, in order, a list of values: ``{"T": ["float"], "N": [1, 2]}``.
    restrict: a function of a configuration, or several; variants for which one returns False are left out.
    shared: bytes of dynamic shared memory of a block: an int, or a function of a configuration.
    constants: values of ``__constant__`` or ``__device__`` variables: numpy arrays by name.
    expected: the right results: an array for each argument that is compared, None for the others. By default each variant's
        arrays are compared with those of the first variant that runs: the first of the lists if all are run, else one in
        the middle.
    tolerance: the largest allowed difference of floats, relative to the element plus a hundredth of the largest one; None
        selects the square root of the type's precision. Integers and memory without a type must be equal.
    limit: seconds that a run may take. A variant that does not end is stopped then, and only the variant is lost: it runs
        in a process of its own.
    repeats: the number of measured runs, at least 1; the time of a variant is the shortest. Short kernels run more often.
    evaluations: the largest number of variants that are run. By default all of up to 8, and a fifth of more.
    options, include_dirs, no_extern_c: as of :class:`pycuda.compiler.SourceModule`. cache_dir: as there, of the compiled
        code and of the best variants, which later calls find for the same device, source, variants and problem size.
    verbose: True prints each variant as soon as it is measured.

    Raises TypeError and ValueError for wrong parameters, RuntimeError if no variant can be used; the message has the reasons.
    For an example see :mod:`pycuda.tune`.
    """
    if limit <= 0:
        raise ValueError(f"limit must be a number of seconds above 0, not {limit}")
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, not {repeats}")
    if evaluations is not None and evaluations < 1:
        raise ValueError(f"evaluations must be at least 1, not {evaluations}")
    if isinstance(options, str):
        raise TypeError(f"options must be a list of strings, such as [{options!r}]")
    how = compiler._How(
        options=options,
        include_dirs=include_dirs,
        no_extern_c=no_extern_c,
        cache_dir=cache_dir,
    )
    request = _Request(
        kernel,
        name,
        block,
        defines,
        template,
        restrict,
        shared,
        constants,
        expected,
        tolerance,
        Settings(limit, repeats, evaluations, verbose),
        how,
    )
    store = Store(cache_dir)
    if arguments is not None:
        if grid is None:
            raise TypeError("grid is missing: a number of blocks, or a function")
        return request.tune(tuple(arguments), grid, store)
    if grid is not None:
        raise TypeError(
            "a decorator takes no grid: the decorated function returns the grid for a configuration and arguments"
        )

    def decorate(function: Callable[..., object]) -> TunedKernel:
        if not callable(function):
            raise TypeError(f"@pycuda.tune decorates a function, not {function!r}")
        return TunedKernel(request, function, store)

    return decorate


class _CallableModule(types.ModuleType):
    """``pycuda.tune`` is this module; calling it calls the function of the same name."""

    @functools.wraps(tune)
    def __call__(self, *args, **kwargs):
        return tune(*args, **kwargs)


sys.modules[__name__].__class__ = _CallableModule
