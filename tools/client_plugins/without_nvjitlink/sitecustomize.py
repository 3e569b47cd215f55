"""Every Python of a suite that has this folder on its path finds no nvJitLink, in child processes too.

nvJitLink makes machine code, which softcuda does not run. Without nvJitLink, clients have the driver link PTX.
"""

import cuda.pathfinder

_load = cuda.pathfinder.load_nvidia_dynamic_lib


def load_all_but_nvjitlink(name, *arguments):
    if name == "nvJitLink":
        raise cuda.pathfinder.DynamicLibNotFoundError(
            "nvJitLink is hidden from this suite"
        )
    return _load(name, *arguments)


cuda.pathfinder.load_nvidia_dynamic_lib = load_all_but_nvjitlink
