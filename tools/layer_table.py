"""The layers that tools/check_layers.py checks, as in docs/architecture.md."""

from __future__ import annotations

from pathlib import Path

# The rooms of core/src, the lowest first: each may include from itself and from earlier ones.
CORE_ROOMS = """
    target driver compile/source compile/compilers compile/cache compile context memory launch arrays libraries
    arrays/operations kernels/user kernels/fused
""".split()
# A public header, core/include/pycuda/NAME.h, is in the room of NAME.cpp. These have no such file, or another room.
CORE_HEADERS = {
    "driver": "compute_capability driver_calls image_kind init softcuda_library",
    "compile/source": "compile_error compiler kernel_signature parameter",
    "context": "failed_check handle host_range pending_work primary_context wait",
    "memory": "memory",
    "arrays": "operations reductions",
    "libraries": "array_libraries array_sparse",
    "arrays/operations": "array_small_matrices",
    "kernels/user": "elementwise_kernel kernel_variant reduction_kernel scan_kernel",
}

# folder -> the folders that it may include. The longest folder that contains a file applies; every folder may include
# itself.
LAYERS: dict[str, set[str]] = {
    "abi": set(),
    "core": {"abi"},
    "softcuda/src/support": {"abi"},
    "softcuda/src/target": {"softcuda/src/support"},
    "softcuda/src/target/code": {"softcuda/src/target"},
    "softcuda/src/ptx": {"abi", "softcuda/src/support"},
    "softcuda/src/ir": {"abi", "softcuda/src/support", "softcuda/src/ptx"},
    "softcuda/src/analysis": {"abi", "softcuda/src/support", "softcuda/src/ir"},
    "softcuda/src/transform": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/ir",
        "softcuda/src/analysis",
    },
    "softcuda/src/rt": {"abi", "softcuda/src/support", "softcuda/src/target"},
    "softcuda/src/warp": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/ir",
        "softcuda/src/analysis",
        "softcuda/src/transform",
        "softcuda/src/rt",
    },
    "tests/softcuda/interpret": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/ir",
        "softcuda/src/analysis",
        "softcuda/src/transform",
        "softcuda/src/warp",
        "softcuda/src/rt",
    },
    "softcuda/src/vector_math": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/ir",
        "softcuda/src/jit",
        "softcuda/src/target",
    },
    "softcuda/src/debug_data": {
        "softcuda/src/support",
        "softcuda/src/ir",
        "softcuda/src/jit",
    },
    "softcuda/src/codegen": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/ir",
        "softcuda/src/analysis",
        "softcuda/src/transform",
        "softcuda/src/warp",
        "softcuda/src/rt",
        "softcuda/src/vector_math",
        "softcuda/src/debug_data",
        "softcuda/src/jit",
        "softcuda/src/target",
    },
    "softcuda/src/jit": {"abi", "softcuda/src/support", "softcuda/src/target"},
    "softcuda/src/compiler": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/ptx",
        "softcuda/src/ir",
        "softcuda/src/analysis",
        "softcuda/src/transform",
        "softcuda/src/warp",
        "softcuda/src/codegen",
        "softcuda/src/jit",
        "softcuda/src/rt",
        "softcuda/src/target",
    },
    "softcuda/src/check": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/rt",
        "softcuda/src/target",
    },
    "softcuda/src/profile": {
        "softcuda/src/support",
        "softcuda/src/rt",
        "softcuda/src/target",
    },
    "softcuda/src/image": {"abi", "softcuda/src/support"},
    "softcuda/src/device": {
        "abi",
        "softcuda/src/support",
        "softcuda/src/image",
        "softcuda/src/check",
        "softcuda/src/profile",
        "softcuda/src/rt",
        "softcuda/src/target",
        "softcuda/src/compiler",
    },
    "softcuda/src/api": {
        "abi",
        "softcuda/src/check",
        "softcuda/src/profile",
        "softcuda/src/support",
        "softcuda/src/rt",
        "softcuda/src/compiler",
        "softcuda/src/device",
    },
    "softcuda/nccl": {"abi", "softcuda/src/target/half_type.h"},
    "softcuda/nvml": {"abi"},
    "softcuda/nvjitlink": {"abi"},
    "softcuda/cudart": {"abi"},
    "softcuda/libraries/common": {"abi"},
    "softcuda/libraries/cublas": {"abi", "softcuda/libraries/common"},
    "softcuda/libraries/cublaslt": {
        "softcuda/libraries/common",
        "softcuda/libraries/cublas",
    },
    "softcuda/libraries/cufft": {"abi", "softcuda/libraries/common"},
    "softcuda/libraries/cufftw": {
        "abi",
        "softcuda/libraries/common",
        "softcuda/libraries/cufft",
    },
    "softcuda/libraries/curand": {"abi", "softcuda/libraries/common"},
    "softcuda/libraries/cusolver": {"abi", "softcuda/libraries/common"},
    "softcuda/libraries/cusparse": {"abi", "softcuda/libraries/common"},
    "softcuda/link": {"abi", "softcuda/cudart"},
    "python/src": {"abi", "core"},
    "python/pycuda/_device": set(),
    "tests": {"abi", "core", "softcuda", "tests/softcuda/interpret"},
    "benchmarks": {"abi", "core"},
    "examples": {"core"},
}

_rooms = [f"core/src/{room}" for room in CORE_ROOMS]
LAYERS |= {room: {"abi", *_rooms[:number]} for number, room in enumerate(_rooms)}
LAYERS["core/include/pycuda/pycuda.h"] = set(_rooms)  # all public headers

ARRAYS = "python/pycuda/arrays"
# The folders of ARRAYS, the lowest layer first: each may import from itself and from earlier ones.
# The files outside these folders (the registry, the arrays' devices) are below all folders.
ARRAY_LAYERS = """
    ufuncs creation shapes indexing elementwise reductions sorting interop linalg fourier numerics statistics
    protocols array_class
""".split()


def layer_of(root: Path, path: Path) -> str | None:
    """The longest folder of the table that contains `path`; for a public header of core, its room."""
    if path.is_relative_to("core/include/pycuda"):
        for room, names in CORE_HEADERS.items():
            if path.stem in names.split():
                return f"core/src/{room}"
        for source in (root / "core/src").rglob(f"{path.stem}.cpp"):
            path = source.relative_to(root)
    for folder in [path.as_posix(), *(parent.as_posix() for parent in path.parents)]:
        if folder in LAYERS:
            return folder
    return None


def may_include(layer: str, target: Path, other: str) -> bool:
    """Whether the table allows files of `layer` to include `target`, which is in the layer `other`."""
    if layer.startswith("core/"):  # a room may contain a higher one: arrays/operations
        return other in LAYERS[layer]
    return any(target.is_relative_to(folder) for folder in LAYERS[layer])
