"""A pytest plugin: cuda.bindings' NVRTC returns PTX if a test asks for machine code, which softcuda does not load.

Tests that pack the machine code in fat binaries and do not load it are not changed.
"""

import pytest
from cuda.bindings import nvrtc
from cuda.bindings._v2 import nvrtc as nvrtc_2


@pytest.fixture(autouse=True)
def ptx_for_cubins(request, monkeypatch):
    if "nvfatbin" in request.path.name:
        return
    monkeypatch.setattr(nvrtc, "nvrtcGetCUBINSize", nvrtc.nvrtcGetPTXSize)
    monkeypatch.setattr(nvrtc, "nvrtcGetCUBIN", nvrtc.nvrtcGetPTX)
    monkeypatch.setattr(nvrtc_2, "get_cubin", nvrtc_2.get_ptx)
