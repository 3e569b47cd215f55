"""The groups of names on the pages of the reference; tools/reference.py calls this module."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from pycuda import gpuarray
from pycuda.arrays import registry

PACKAGE = Path(registry.__file__).resolve().parents[1]

# The folders of pycuda.arrays whose functions pycuda.gpuarray has, in the order of the page.
FOLDERS = {
    "creation": "Making arrays",
    "ufuncs": "Elementwise functions",
    "elementwise": "Elementwise functions",
    "reductions": "Reductions and cumulative sums",
    "statistics": "Statistics, histograms and convolutions",
    "indexing": "Indexing and selecting",
    "shapes": "Shapes: joining, splitting, moving axes",
    "sorting": "Sorting, searching and sets",
    "linalg": "Products of vectors and matrices",
    "numerics": "Differences, integrals and polynomials",
    "interop": "Other libraries, files and text",
}
# Functions with PyCUDA's signatures, which are defined beside the protocols.
MOVED = {
    "arange": "creation",
    "dot": "linalg",
    "put": "indexing",
    "reshape": "shapes",
    "sum": "reductions",
    "vdot": "linalg",
}
CLASSES, FUNCTIONS, CONSTANTS = "Classes", "Functions", "Constants"

# Patterns for names; the first one that matches a whole name decides.
PATTERNS = {
    "gpuarray": {
        "The array": r"GPUArray|ArrayFlags|vec|deterministic",
        "PyCUDA's functions": r"if_positive|multi_\w+|subset_\w+|splay",
    },
    "driver": {
        "Errors": r"\w*Error",
        "Devices and contexts": r"init|get_\w*version|get_driver_path|Device|Context|mem_get_info|\w+_profiler",
        "Compiling and linking": r"compile_source|CompileResult|add_compiler_directory|set_kernel_header_directory"
        r"|clear_memory_cache|\w*Linker|nvjitlink_version|CUDA_DEBUGGING|set_debugging",
        "Modules, kernels and arguments": r"Module|TensorMap|module_from_\w+|Function|BoundLaunch|ArgumentHandler|In|Out|InOut",
        "Copies and fills": r"memcpy_\w+|memset_\w+|py_memcpy_\w+|Memcpy\w+|to_device|from_device\w*",
        "Streams, events and graphs": r"Stream|Event|Graph\w*|ExecutableGraph|ConditionalNode|begin_capture|end_capture"
        r"|is_capturing|capture|launch_host_func",
        "Memory of the host": r"pagelocked_\w+|aligned_\w+|register_host_memory|HostPointer|\w*HostAllocation"
        r"|RegisteredHostMemory|PageLocked\w+",
        "Textures, surfaces and arrays of CUDA": r"Array|ArrayDescriptor\w*|MipmappedArray|Texture\w+|Surface\w+"
        r"|TR\w_?\w+|\w*matrix_to_\w+|\w+_to_array|bind_\w+",
        "Addresses and multiprocessors": r"PhysicalMemory|VirtualMemory|mem_get_allocation_granularity|SmResource"
        r"|get_sm_resource|GreenContext",
        "OpenGL": r"Registered\w+|have_gl_ext",
        "Used by other modules": r"ElementwiseKernel|ReductionKernel|ScanKernel|ArrayBase|ArrayMemory"
        r"|get_curand_version|bitlog2",
        "Memory of the device": r"mem_\w+|managed_\w+|\w*Allocation|PointerHolderBase|IPCMemoryHandle|\w+MemoryPool",
    },
}


def of_gpuarray() -> dict[str, str | None]:
    """The group of each function of pycuda.gpuarray: by the folder of its definition."""
    found = {}
    for entry in registry.ENTRIES:
        if entry.namespace or not entry.module:
            continue
        function = inspect.unwrap(entry.function)
        module = getattr(function, "__module__", None) or type(function).__module__
        title = FOLDERS.get(MOVED.get(entry.name, folder_of(module)))
        found.update(dict.fromkeys(entry.names, title))
    for name, value in vars(gpuarray).items():  # objects such as mgrid
        if folder := folder_of(type(value).__module__):
            found.setdefault(name, FOLDERS.get(folder))
    return found


def folder_of(module: str) -> str:
    """The folder of a module of pycuda.arrays; empty for other modules."""
    return module.split(".")[2] if module.startswith("pycuda.arrays.") else ""


def group_of(module: str, name: str, kind: str) -> str:
    """The heading for a name. kind: the heading in a module without groups of its own."""
    patterns = PATTERNS.get(module, {})
    for title, pattern in patterns.items():
        if re.fullmatch(pattern, name):
            return title
    if module == "gpuarray":
        return of_gpuarray()[name] or kind
    return kind


def order(module: str) -> list[str]:
    """The headings of a module's page, in order."""
    titles = list(PATTERNS.get(module, {}))
    if module == "gpuarray":
        titles[1:1] = dict.fromkeys(FOLDERS.values())
    return [*titles, CLASSES, FUNCTIONS, CONSTANTS]


def source_of_function(name: str) -> str:
    """``python/pycuda/x.py#L12`` of a function of pycuda.gpuarray; empty for an object of a table."""
    for entry in registry.ENTRIES:
        if not entry.namespace and entry.module and name in entry.names:
            function = inspect.unwrap(entry.function)
            function = getattr(function, "function", function)
            code = getattr(function, "__code__", None)
            return place(code.co_filename, code.co_firstlineno) if code else ""
    return ""


def place(file: str, line: int) -> str:
    """A line of the package, by its path in the repository; empty if the file is elsewhere."""
    path = Path(file).resolve()
    if not path.is_relative_to(PACKAGE):
        return ""
    return f"python/pycuda/{path.relative_to(PACKAGE)}#L{line}"
