"""Build those extension modules of an installed CuPy that contain NVIDIA's static runtime, with softcuda's instead.

    cd SOURCES_OF_CUPY; python modules_with_runtime.py SITE_PACKAGES

The static runtime does not work with softcuda (docs/clients.md). It is in 5 of the 65 modules of CuPy's wheel. CUDA_PATH
must be softcuda's toolkit. The other modules stay those of the wheel, which must have the version of the sources.
"""

import runpy
import sys
from pathlib import Path

sys.path.insert(0, "install")
from cupy_builder import cupy_setup_build

site = Path(sys.argv[1])
all_modules = cupy_setup_build.get_ext_modules


def contains_runtime(module) -> bool:
    """The runtime is the only part of CuPy that asks the driver for this function."""
    return any(
        b"cuGetExportTable" in file.read_bytes()
        for file in site.glob(f"{module.name.replace('.', '/')}.*.so")
    )


def modules_with_runtime(*arguments):
    found = [module for module in all_modules(*arguments) if contains_runtime(module)]
    print("modules with NVIDIA's runtime:", *(module.name for module in found))
    return found


cupy_setup_build.get_ext_modules = modules_with_runtime
sys.argv = ["setup.py", "build_ext", "--build-lib", str(site)]
runpy.run_path("setup.py", run_name="__main__")
