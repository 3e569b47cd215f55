"""A CUDA driver in software: programs that need an NVIDIA GPU run on the CPU.

Start a program with ``softcuda-exec PROGRAM``. ``python -m softcuda`` prints the devices that the program
will find. The functions here are for tools that start programs themselves:

>>> import os, subprocess, softcuda
>>> environment = {**os.environ, **softcuda.loader_environment()}
>>> subprocess.run(["./program"], env=environment)

This package imports only the standard library.
"""

import os

TYPE_CHECKING = False  # type checkers take it as True; `typing` is slow to import
if TYPE_CHECKING:
    from softcuda._devices import Device as Device
    from softcuda._devices import devices as devices
    from softcuda._link import link_folder as link_folder
    from softcuda._link import toolkit_folder as toolkit_folder
    from softcuda._loader import loader_environment as loader_environment
    from softcuda._loader import loader_folder as loader_folder
    from softcuda._loader import loader_path as loader_path

    __version__: str

__all__ = [
    "LIBRARY",
    "Device",
    "devices",
    "library",
    "link_folder",
    "loader_environment",
    "loader_folder",
    "loader_path",
    "toolkit_folder",
]

#: The path at which this package has libsoftcuda.so. There is no file in a build without softcuda.
LIBRARY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "libsoftcuda.so")


def library() -> str:
    """The path of libsoftcuda.so: the environment's ``PYCUDA_SOFTCUDA_LIBRARY``, or this package's file.

    Raises FileNotFoundError if there is no such file.
    """
    path = os.environ.get("PYCUDA_SOFTCUDA_LIBRARY") or LIBRARY
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"there is no {path}; set PYCUDA_SOFTCUDA_LIBRARY to the path of libsoftcuda.so"
        )
    return path


def __getattr__(name: str) -> object:
    # Loaded at their first use: pycuda imports this package, and needs only the path.
    if name in ("loader_environment", "loader_folder", "loader_path"):
        from softcuda import _loader

        return getattr(_loader, name)
    if name in ("link_folder", "toolkit_folder"):
        from softcuda import _link

        return getattr(_link, name)
    if name in ("Device", "devices"):
        from softcuda import _devices

        return getattr(_devices, name)
    if name == "__version__":
        from importlib.metadata import version

        return version("softcuda")
    raise AttributeError(f"module 'softcuda' has no attribute {name!r}")
