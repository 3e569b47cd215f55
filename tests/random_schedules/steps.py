"""The kinds of steps: what a program can do, as lines for the device and for NumPy.

In the lines, `{z}` is the step's result or the array that it changes, `{x}` and `{y}` are operands of the same shape, `{p}`
is page-locked memory, `{k}` a small number, `{s}` the stream, `{o}` the stream with its device, `{m}` the
kernels and matrices of the device. The lines for NumPy are the same with the host's names. All
numbers are integers from 0 to 250 in float64, so that every sum and product is exact.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """A kind of step.

    device, host: the lines; host is None if they are those of the device.
    result: the step makes the array `{z}`; else it changes an array `{z}` that exists, if the lines name it.
    plain: its arrays are contiguous and have memory of their own or a view of it.
    waits: the call returns when the work of its stream is done.
    inside: whether the lines run in a `with` block of the stream; else they name `{s}`.
    captured: a graph can record it.
    least: the smallest size of its arrays.
    """

    device: str
    host: str | None = None
    result: bool = False
    plain: bool = False
    waits: bool = False
    inside: bool = True
    captured: bool = False
    least: int = 1

    def needs(self, name: str) -> bool:
        return f"{{{name}}}" in self.device


LAUNCH = "block=(64, 1, 1), grid=(8, 1)"

#: New arrays from operands: temporaries are dropped while the stream still uses them.
VALUES = [
    Kind("{z} = (" + text + ") % 251", result=True)
    for text in (
        "{x} * 3 + {y}",
        "{x} + {k}",
        "{x} * {x} + {y} * {k}",
        "abs({x} - {y}) + {x}[::-1]",
        "np.maximum({x}, {y}) * 2 + np.minimum({x}, {k})",
        "np.where({x} > {y}, {x}, {k})",
        "{x} + {y}.sum()",
        "{x} * {y}.max() + {x}.min()",
        "np.cumsum({x})",
        "np.sort({x}) + {y}",
        "np.flip({x}) + {y}",
        "np.roll({x}, {k}) + {y}",
        "{x} + np.dot({x}, {y})",
        "{x}.astype(np.int32).astype(np.float64) + {y}.astype(np.float32)",
        "np.concatenate(({x}, {y}))[{k} % 7 :][: {x}.size] + 1",
        "np.stack([{x}, {y}], axis=1).sum(axis=1) + np.take({y}, np.argsort({x}, kind='stable'))",
        "np.concatenate(({x}[{x} > {k}], {y}[{x} <= {k}]))",
        "np.searchsorted(np.sort({x}), {y}) + {y}",
        "np.cumsum({x}[::-1])[::-1] + np.count_nonzero({y} > {k})",
        "np.outer({x}, {y}[:9]).sum(axis=1) + np.einsum('i,i->', {x}, {y})",
        "np.bincount({x}.astype(np.int64), minlength=3000)[: {x}.size] + {y}",
    )
] + [
    Kind(
        "{z} = in_a_stream_that_closes({o}, lambda: ({x} * 2 + {y}) % 251)",
        "{z} = ({x} * 2 + {y}) % 251",
        result=True,
        inside=False,
    ),
    Kind(
        "{z} = (exchanged({x}) + {k}) % 251",
        "{z} = ({x} + {k}) % 251",
        result=True,
        plain=True,
    ),
    Kind(
        "{z} = np.rint(pycuda.linalg.inv({m}.matrix) @ ({m}.matrix @ {x}[:16])) % 251",
        "{z} = {x}[:16] % 251",
        result=True,
        least=16,
    ),
    Kind(
        "{z} = (pycuda.sparse.csr_array({m}.sparse + {m}.sparse.T) @ {x}[:16]) % 251",
        "{z} = ((band + band.T) @ {x}[:16]) % 251",
        result=True,
        least=16,
    ),
    Kind("{z} = fused({x}, {y})", "{z} = ({x} * 5 + {y}) % 251", result=True),
    Kind("{z} = {x}.copy()", result=True),
    Kind("{z} = {x}[{y}.astype(np.int64) % {x}.size]", result=True),
    Kind(
        "{z} = np.rint(pycuda.fft.ifft(pycuda.fft.fft({x} + {y})).real) % 251",
        "{z} = ({x} + {y}) % 251",
        result=True,
    ),
    Kind(
        "{z} = np.rint(np.linalg.solve({m}.matrix, {m}.matrix @ {x}[:16]))",
        "{z} = {x}[:16].copy()",
        result=True,
        least=16,
    ),
    Kind(
        "{z} = ({m}.sparse @ {x}[:16]) % 251",
        "{z} = (band @ {x}[:16]) % 251",
        result=True,
        least=16,
    ),
    Kind(
        "{z} = np.rint(({m}.matrix @ {x}[:16]) + {y}[:16]) % 251",
        "{z} = np.rint((matrix_of_host @ {x}[:16]) + {y}[:16]) % 251",
        result=True,
        least=16,
    ),
    Kind(
        "{z} = gpuarray.to_gpu(np.arange({size}) * {k} % 251.0)",
        "{z} = np.arange({size}) * {k} % 251.0",
        result=True,
    ),
    Kind(
        "{z} = gpuarray.zeros({size}, np.float64) + {k}",
        "{z} = np.zeros({size}) + {k}",
        result=True,
    ),
]

#: Views: other names for a part of the same memory, and a subclass.
VIEWS = [
    Kind(f"{{z}} = {text}", result=True)
    for text in ("{x}[::2]", "{x}[1:]", "{x}[::-1]", "{x}[{k} % {x}.size // 2 :]")
] + [Kind("{z} = subclassed({x})", "{z} = {x}", result=True)]

#: Changes of an array.
CHANGES = [
    Kind(text, captured=True)
    for text in (
        "{z} += {k}",
        "{z} %= 97",
        "{z} *= 2; {z} %= 251",
        "{z}[...] = ({x} * 2 + 1) % 251",
        "{z}[...] = {x}",
        "{z}[::2] = {k}",
        "{z}.fill({k})",
        "{z} += {x} % 7; {z} %= 251",
        "{z}[{z} > {k}] = {k}",
        "np.add.at({z}, {x}.astype(np.int64) % {z}.size, 1.0); {z} %= 251",
        "np.copyto({z}, {x}, where={x} > {k})",
        "{z}[...] = {x}[{z}.astype(np.int64) % {z}.size]",
        "{z}[...] = np.take({x}, np.argsort({z}, kind='stable'))",
        "{z}[...] = np.cumsum(np.sort({x})) % 251",
        "{z} += {x}.sum() + {x}.max(); {z} %= 251",
        "{z}[...] = np.median({x}) * 2 % 251 + {z}[::-1] % 7",
    )
] + [
    Kind(
        "{z}[np.argsort({x}, kind='stable')] = {x} % 89",
        plain=True,
        captured=True,
    ),
    Kind(
        "{z}[:16] = np.rint(np.linalg.solve({m}.matrix, {m}.matrix @ {x}[:16]))",
        "{z}[:16] = {x}[:16]",
        captured=True,
        least=16,
    ),
    Kind(
        "{z}[:16] = np.rint(pycuda.linalg.inv({m}.matrix) @ ({m}.matrix @ {x}[:16])) % 251",
        "{z}[:16] = {x}[:16] % 251",
        captured=True,
        least=16,
    ),
    Kind(
        "{z}[...] = np.rint(pycuda.fft.ifft(pycuda.fft.fft({z} + {x})).real) % 251",
        "{z}[...] = ({z} + {x}) % 251",
        captured=True,
    ),
    Kind(
        f"{{m}}.read_image(image_of({{x}}, {{s}}), {{z}}, np.int32({{z}}.size), {LAUNCH})",
        "{z}[...] = {x}",
        plain=True,
        least=8,
    ),
    Kind(
        "copy_over({z}, {x}, {s})",
        "{z}[...] = {x}",
        plain=True,
        inside=False,
    ),
    Kind(
        "twist({z}, {x}, {k}.0)",
        "{z}[...] = ({x} * 2 + {k}) % 251",
        plain=True,
        captured=True,
    ),
    Kind(
        "scan({x}, {z}); {z} %= 251",
        "{z}[...] = np.cumsum({x}) % 251",
        plain=True,
        captured=True,
    ),
    Kind(
        "{z} += total({x}); {z} %= 251",
        "{z} += {x}.sum(); {z} %= 251",
        plain=True,
        captured=True,
    ),
    Kind(
        f"{{m}}.mix({{z}}, {{x}}, np.int32({{z}}.size), np.float64({{k}}), {LAUNCH}, stream={{s}})",
        "{z}[...] = ({z} + {x} * 3 + {k}) % 251",
        plain=True,
        inside=False,
        captured=True,
    ),
    Kind(
        "{m}.prepared.prepared_async_call((8, 1), (64, 1, 1), {s}, {z}.gpudata, {x}.gpudata, {z}.size, {k})",
        "{z}[...] = ({z} + {x} * 3 + {k}) % 251",
        plain=True,
        inside=False,
        captured=True,
    ),
    Kind(
        f"{{m}}.mix.bind({{z}}, {{x}}, np.int32({{z}}.size), np.float64({{k}}), {LAUNCH})()",
        "{z}[...] = ({z} + {x} * 3 + {k}) % 251",
        plain=True,
        captured=True,
    ),
    Kind(
        "cuda.memcpy_dtod_async({z}.ptr, {x}.ptr, {x}.nbytes, {s})",
        "{z}[...] = {x}",
        plain=True,
        inside=False,
        captured=True,
    ),
    Kind(
        "cuda.memcpy_dtod({z}.gpudata, {x}, {x}.nbytes)",
        "{z}[...] = {x}",
        plain=True,
        captured=True,
    ),
    Kind(
        "cuda.memcpy_htod({z}, np.full({z}.shape, {k}.0))",
        "{z}[...] = {k}",
        plain=True,
    ),
    Kind(
        "cuda.memset_d32({z}.ptr, 0, {z}.nbytes // 4)",
        "{z}[...] = 0",
        plain=True,
        captured=True,
    ),
    Kind(
        "{z}.set_async(np.full({z}.shape, {k}.0), stream={s})",
        "{z}[...] = {k}",
        plain=True,
        inside=False,
    ),
    Kind(
        "cuda.memset_d8_async({z}.ptr, 0, {z}.nbytes, {s})",
        "{z}[...] = 0",
        plain=True,
        inside=False,
        captured=True,
    ),
    Kind(
        f"{{m}}.read_texture(texture_of({{x}}), {{z}}, np.int32({{z}}.size), {LAUNCH})",
        "{z}[...] = {x}",
        plain=True,
        least=8,
    ),
    Kind(
        "{z}.set(np.full({z}.shape, {k}.0))",
        "{z}[...] = {k}",
        plain=True,
        captured=True,
    ),
]

#: Copies from and to page-locked memory, and functions of the host.
PAGE_LOCKED = [
    Kind(
        "cuda.memcpy_dtoh_async({p}[: {x}.size], {x}.ptr, {s})",
        "{p}[: {x}.size] = {x}",
        plain=True,
        inside=False,
    ),
    Kind(
        "cuda.memcpy_htod_async({z}.ptr, {p}[: {z}.size], {s})",
        "{z}[...] = {p}[: {z}.size]",
        plain=True,
        inside=False,
    ),
    Kind(
        "cuda.launch_host_func(lambda: seen.append({p}.copy()), {s})",
        "seen_by_host.append({p}.copy())",
        inside=False,
    ),
]

#: Arrays of another library, with the stream that has written them.
FOREIGN = [
    Kind(
        f"{{m}}.mix({{z}}, Foreign({{x}}, {{f}}), np.int32({{z}}.size), np.float64({{k}}), {LAUNCH}, stream={{s}})",
        "{z}[...] = ({z} + {x} * 3 + {k}) % 251",
        plain=True,
        inside=False,
    ),
    Kind("{z}[...] = Foreign({x}, {f})", "{z}[...] = {x}", plain=True),
    Kind(
        "{z} += gpuarray.asarray(Foreign({x}, {f})); {z} %= 251",
        "{z} += {x}; {z} %= 251",
        plain=True,
    ),
]

#: Results that the program needs.
CHECKS = [
    Kind('check("{x}", copied({x}), {host_x})', "pass", plain=True, waits=True),
    Kind('check("{x}", {x}.get(), {host_x})', "pass", waits=True),
    Kind(
        'check("{x}", {x}.get(stream={s}), {host_x})',
        "pass",
        waits=True,
        inside=False,
    ),
]
