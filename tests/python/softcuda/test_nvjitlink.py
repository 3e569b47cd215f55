"""softcuda's nvJitLink: its functions, options, inputs and errors, and its use with cuda.core and NVIDIA's own."""

import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda

DRIVER = Path(cuda.get_driver_path())
ROOT = Path(__file__).parents[3]
CORPUS = ROOT / "tests/softcuda/image/corpus"

pytestmark = pytest.mark.skipif(
    "softcuda" not in DRIVER.name, reason="softcuda is not the driver under test"
)

# Names of nvJitLinkResult and nvJitLinkInputType.
SUCCESS, UNRECOGNIZED_OPTION, MISSING_ARCH, INVALID_INPUT = 0, 1, 2, 3
PTX_COMPILE, NVVM_COMPILE, INTERNAL, NULL_INPUT, INCOMPATIBLE = 4, 5, 6, 10, 11
INCORRECT_TYPE, ARCH_MISMATCH, UNRECOGNIZED_ARCH, LTO_NOT_ENABLED = 12, 13, 16, 18
CUBIN, PTX, LTOIR, FATBIN, OBJECT, LIBRARY, ANY = 1, 2, 3, 4, 5, 6, 10

HEADER = ".version 7.0\n.target sm_75\n.address_size 64\n"
TRIPLE = (
    ".func (.param .b32 r) triple(.param .b32 a) {\n"
    " .reg .b32 %x; ld.param.u32 %x, [a]; mul.lo.u32 %x, %x, 3;\n"
    " st.param.b32 [r], %x; ret; }\n"
)
FUNCTION = HEADER + ".visible " + TRIPLE
KERNEL = HEADER + (
    ".extern .func (.param .b32 r) triple(.param .b32 a);\n"
    ".visible .entry apply(.param .u64 p) {\n"
    " .reg .u64 %p; .reg .b32 %x; .param .b32 in; .param .b32 out;\n"
    " ld.param.u64 %p, [p]; ld.global.u32 %x, [%p]; st.param.b32 [in], %x;\n"
    " call (out), triple, (in); ld.param.b32 %x, [out]; st.global.u32 [%p], %x; ret; }\n"
)


class Linker:
    """A link by the library of one major version; the results are not checked."""

    def __init__(self, *options, major=13):
        self.library = library(major)
        self.handle = ctypes.c_void_p()
        words = (ctypes.c_char_p * len(options))(*(word.encode() for word in options))
        self.created = self.library.nvJitLinkCreate(
            ctypes.byref(self.handle), len(options), words
        )

    def add(self, kind, data, name=b"input"):
        data = data.encode() if isinstance(data, str) else data
        size = ctypes.c_size_t(len(data))
        return self.library.nvJitLinkAddData(self.handle, kind, data, size, name)

    def add_file(self, kind, path):
        return self.library.nvJitLinkAddFile(self.handle, kind, os.fsencode(path))

    def complete(self):
        return self.library.nvJitLinkComplete(self.handle)

    def text(self, what):
        """ErrorLog, InfoLog, LinkedCubin or LinkedPtx; or the result of the query of its size."""
        size = ctypes.c_size_t(0)
        asked = getattr(self.library, f"nvJitLinkGet{what}Size")
        result = asked(self.handle, ctypes.byref(size))
        if result != SUCCESS:
            return result
        buffer = ctypes.create_string_buffer(size.value + 1)
        assert getattr(self.library, f"nvJitLinkGet{what}")(self.handle, buffer) == 0
        assert size.value == (len(buffer.value) + 1 if buffer.value else 0)
        return buffer.value.decode()

    def destroy(self):
        return self.library.nvJitLinkDestroy(ctypes.byref(self.handle))


def library(major):
    found = ctypes.CDLL(str(DRIVER.resolve().parent / f"libnvJitLink.so.{major}"))
    for name in "AddData", "AddFile", "Complete":
        getattr(found, f"nvJitLink{name}").argtypes = {
            "AddData": [
                ctypes.c_void_p,
                ctypes.c_int,
                ctypes.c_char_p,
                ctypes.c_size_t,
                ctypes.c_char_p,
            ],
            "AddFile": [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p],
            "Complete": [ctypes.c_void_p],
        }[name]
    return found


def linked(*inputs, options=("-arch=sm_86",)):
    linker = Linker(*options)
    for kind, data in inputs:
        assert linker.add(kind, data) == SUCCESS, linker.text("ErrorLog")
    assert linker.complete() == SUCCESS, linker.text("ErrorLog")
    return linker


def tripled(image, start=14):
    """The number that the kernel of an image makes of `start`."""
    module = cuda.module_from_buffer(image.encode())
    number = np.array([start], np.uint32)
    module.get_function("apply")(cuda.InOut(number), block=(1, 1, 1), grid=(1, 1))
    return int(number[0])


def headers():
    """nvJitLink.h of the package nvidia-nvjitlink, if it is installed."""
    spec = importlib.util.find_spec("nvidia")
    folders = (
        [Path(folder) for folder in spec.submodule_search_locations or ()]
        if spec
        else []
    )
    return [
        path for folder in folders for path in folder.glob("cu13/include/nvJitLink.h")
    ]


def test_every_function_of_the_header_is_exported():
    if not headers():
        pytest.skip("nvidia-nvjitlink is not installed")
    text = headers()[0].read_text()
    names = set(re.findall(r"\b(_*nvJitLink[A-Z]\w+)\s*\(", text))
    assert len(names) == 31
    found = library(13)
    assert [name for name in sorted(names) if not hasattr(found, name)] == []
    assert hasattr(library(12), "__nvJitLinkGetLinkedPtxSize_12_4")
    assert not hasattr(library(12), "nvJitLinkGetLinkedLTOIR")


def test_version():
    numbers = ctypes.c_uint(), ctypes.c_uint()
    for major, minor in (12, 9), (13, 5):
        assert library(major).nvJitLinkVersion(*map(ctypes.byref, numbers)) == SUCCESS
        assert [number.value for number in numbers] == [major, minor]
    assert library(13).nvJitLinkVersion(None, None) == NULL_INPUT
    assert library(12).nvJitLinkVersion(None, None) == INVALID_INPUT


@pytest.mark.parametrize(
    "options, wanted, said",
    [  # all but the last four as NVIDIA's nvJitLink 13.5 says
        ((), MISSING_ARCH, ""),
        (("-arch=sm_90a", "-O3", "-ftz=true", "-Ofc=min", "-lineinfo"), SUCCESS, ""),
        (("-arch=sm_86", "-lto", "-ptx", "-no-cache", "-fma=0"), SUCCESS, ""),
        (("-arch=sm_86", "-bogus"), UNRECOGNIZED_OPTION, "unrecognized option: -bogus"),
        (("-arch=sm_86", "-g=1"), UNRECOGNIZED_OPTION, "unrecognized option: -g=1"),
        (("-arch=sm_86", ""), UNRECOGNIZED_OPTION, "unrecognized option: "),
        (("-arch", "sm_86"), UNRECOGNIZED_OPTION, "unrecognized option: -arch"),
        (("-arch=foo",), UNRECOGNIZED_OPTION, "missing option value (-arch=foo)"),
        (("-arch=sm_XX",), UNRECOGNIZED_OPTION, "missing option value (-arch=sm_XX)"),
        (("-arch=sm_86", "-maxrregcount="), UNRECOGNIZED_OPTION, "(-maxrregcount=)"),
        (("-arch=sm_86", "-O1"), UNRECOGNIZED_OPTION, "value of -O: 1. Only 0 and 3"),
        (("-arch=sm_86", "-Ofc=x"), UNRECOGNIZED_OPTION, "(-Ofc): x. Only 0, min"),
        (("-arch=sm_86", "-ptx"), INCOMPATIBLE, "-ptx requires -lto"),
        (("-arch=compute_86",), INCOMPATIBLE, "virtual arch requires -ptx"),
        (("-arch=sm_9",), UNRECOGNIZED_ARCH, "unrecognized architecture: -arch=sm_9"),
        (("-arch=sm_86", "-maxrregcount=x"), UNRECOGNIZED_OPTION, "-maxrregcount: x"),
        (("-arch=sm_86", "-time=1"), UNRECOGNIZED_OPTION, "-time=1"),
        (("-arch=sm_86", "-ltoir"), UNRECOGNIZED_OPTION, "-ltoir"),
    ],
)
def test_options(options, wanted, said):
    linker = Linker(*options)
    assert linker.created == wanted
    assert said in linker.text("ErrorLog")
    assert (linker.text("ErrorLog") == "") == (said == "")
    assert linker.destroy() == SUCCESS
    assert linker.handle.value is None


def test_results_of_cuda_12_have_its_numbers():
    assert Linker("-arch=compute_86", major=12).created == INVALID_INPUT
    assert Linker("-arch=sm_9", major=12).created == UNRECOGNIZED_OPTION
    assert Linker("-arch=sm_86", "-r", major=12).created == UNRECOGNIZED_OPTION
    assert Linker("-arch=sm_86", "-r", major=13).created == SUCCESS
    assert Linker("-arch=sm_86", major=12).add(PTX, "no PTX") == INVALID_INPUT


def test_linked_ptx_runs(device):
    image = linked((PTX, KERNEL), (PTX, FUNCTION + "\0")).text("LinkedCubin")
    assert tripled(image) == 42
    again = linked((CUBIN, image), (ANY, FUNCTION.replace("triple", "other")))
    assert tripled(again.text("LinkedCubin")) == 42


def test_inputs_from_files(device, tmp_path):
    for name, text in ("kernel.ptx", KERNEL), ("function.ptx", FUNCTION):
        (tmp_path / name).write_text(text)
    linker = Linker("-arch=sm_86")
    assert linker.add_file(PTX, tmp_path / "kernel.ptx") == SUCCESS
    assert linker.add_file(ANY, tmp_path / "function.ptx") == SUCCESS
    assert linker.add_file(PTX, tmp_path / "nothing.ptx") == INVALID_INPUT
    assert "no such file" in linker.text("ErrorLog")
    assert linker.complete() == SUCCESS
    assert tripled(linker.text("LinkedCubin")) == 42


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc on the path")
def test_objects_and_archives(device, tmp_path):
    (tmp_path / "f.cu").write_text(
        'extern "C" __device__ unsigned triple(unsigned x) { return 3 * x; }'
    )
    compiled = ("nvcc", "-rdc=true", "-arch=compute_80", "-c", "f.cu", "-o", "f.o")
    subprocess.run(compiled, cwd=tmp_path, check=True)
    subprocess.run(("ar", "rc", "f.a", "f.o"), cwd=tmp_path, check=True)
    for kind, name in (OBJECT, "f.o"), (LIBRARY, "f.a"), (ANY, "f.o"), (ANY, "f.a"):
        data = (tmp_path / name).read_bytes()
        assert tripled(linked((kind, data), (PTX, KERNEL)).text("LinkedCubin")) == 42
    linker = Linker("-arch=sm_86")
    assert linker.add(LIBRARY, (tmp_path / "f.o").read_bytes()) == INCORRECT_TYPE


def test_options_with_an_effect(device):
    inputs = (PTX, KERNEL), (PTX, FUNCTION)
    plain = linked(*inputs)
    assert plain.text("InfoLog") == ""
    for option in "-maxrregcount=24", "-Xptxas=-maxrregcount=24,-O3":
        limited = linked(*inputs, options=("-arch=sm_86", option)).text("LinkedCubin")
        assert ".maxnreg 24" in limited and ".maxnreg" not in plain.text("LinkedCubin")
    for option in "-verbose", "-Xptxas=-v":
        said = linked(*inputs, options=("-arch=sm_86", option)).text("InfoLog")
        assert "Function properties for 'apply': used " in said
    said = linked(*inputs, options=("-arch=sm_86", "-time")).text("InfoLog")
    assert re.fullmatch(r"nvJitLinkComplete time to finish: \d+\.\d+\n", said)
    partial = linked((PTX, KERNEL), options=("-arch=sm_86", "-r")).text("LinkedCubin")
    assert ".extern .func" in partial
    assert tripled(linked((CUBIN, partial), (PTX, FUNCTION)).text("LinkedCubin")) == 42


@pytest.mark.parametrize(
    "kind, data, wanted, said",
    [
        (PTX, HEADER + "bogus", PTX_COMPILE, "input:4:1: error: expected a directive"),
        (PTX, HEADER.replace("75", "90"), PTX_COMPILE, "newer than -arch=sm_86"),
        (PTX, "hello", INCORRECT_TYPE, "does not match type NVJITLINK_INPUT_PTX"),
        (FATBIN, FUNCTION, INCORRECT_TYPE, "NVJITLINK_INPUT_FATBIN"),
        (0, FUNCTION, INCORRECT_TYPE, "unsupported input type: input"),
        (77, FUNCTION, INCORRECT_TYPE, "unsupported input type: input"),
        (PTX, "", INVALID_INPUT, ""),
        (LTOIR, b"\xedCN\x7f" + b"\0" * 20, LTO_NOT_ENABLED, "without LTO enabled"),
        (FATBIN, "cubin_only", ARCH_MISMATCH, "code=compute_XX"),
        (FATBIN, "lto_only", ARCH_MISMATCH, "compile without -dlto"),
    ],
)
def test_inputs_that_are_refused(kind, data, wanted, said):
    if data in ("cubin_only", "lto_only"):
        data = sample(data)
    linker = Linker("-arch=sm_86")
    assert linker.add(kind, data) == wanted
    assert said in linker.text("ErrorLog")
    assert linker.text("LinkedCubin") == INTERNAL
    # The link goes on without the input, as NVIDIA's does.
    assert linker.complete() == SUCCESS


def test_machine_code_is_refused_with_the_option_that_keeps_ptx():
    elf = b"\177ELF" + b"\0" * 14 + bytes([190, 0]) + b"\0" * 100
    linker = Linker("-arch=sm_86")
    assert linker.add(CUBIN, elf) == ARCH_MISMATCH
    assert "-arch=compute_XX" in linker.text("ErrorLog")


def test_links_that_fail():
    undefined, twice = Linker("-arch=sm_86"), Linker("-arch=sm_86")
    assert undefined.add(PTX, KERNEL) == SUCCESS
    assert undefined.complete() == INTERNAL
    assert "'triple' is declared but not defined" in undefined.text("ErrorLog")
    for name in b"one", b"two":
        assert twice.add(PTX, FUNCTION, name) == SUCCESS
    assert twice.complete() == INTERNAL
    assert "'triple' is defined in 'one' and again in 'two'" in twice.text("ErrorLog")
    optimised = Linker("-arch=sm_86", "-lto", "-ptx")
    assert optimised.add(PTX, FUNCTION) == SUCCESS
    assert optimised.complete() == INCORRECT_TYPE
    assert "-ptx requires that all inputs have LTOIR" in optimised.text("ErrorLog")
    unknown = Linker("-arch=sm_86", "-Xptxas=--bogus")
    assert unknown.add(PTX, FUNCTION) == PTX_COMPILE
    assert "Unknown option 'bogus'" in unknown.text("ErrorLog")


def test_calls_in_the_wrong_order_and_wrong_handles():
    linker = linked((PTX, FUNCTION))
    assert linker.complete() == INTERNAL
    assert linker.add(PTX, FUNCTION) == INTERNAL
    assert linker.text("LinkedPtx") == INVALID_INPUT
    size = ctypes.c_size_t()
    found = library(13)
    assert found.nvJitLinkGetErrorLogSize(linker.handle, None) == NULL_INPUT
    assert found.nvJitLinkAddFile(linker.handle, PTX, None) == NULL_INPUT
    assert found.nvJitLinkAddData(linker.handle, PTX, None, 5, b"x") == INVALID_INPUT
    assert found.nvJitLinkCreate(None, 0, None) == NULL_INPUT
    assert found.nvJitLinkComplete(None) == NULL_INPUT
    foreign = ctypes.c_void_p(0x1234)
    assert found.nvJitLinkComplete(foreign) == INVALID_INPUT
    assert found.nvJitLinkDestroy(ctypes.byref(foreign)) == INVALID_INPUT
    destroyed = ctypes.c_void_p(linker.handle.value)
    assert linker.destroy() == SUCCESS
    assert found.nvJitLinkDestroy(ctypes.byref(destroyed)) == INVALID_INPUT
    asked = found.nvJitLinkGetLinkedCubinSize(destroyed, ctypes.byref(size))
    assert asked == INVALID_INPUT


def run(program, **environment):
    """Run a Python program through softcuda-exec; returns what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "softcuda.exec", sys.executable, "-c"]
        + [textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=250,
        env={**os.environ, "PYCUDA_SOFTCUDA_LIBRARY": str(DRIVER), **environment},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Links an input that contains LTO-IR, and perhaps PTX, with a kernel that calls triple().
LINK_LTO = """
    import sys
    sys.path.insert(0, {tests!r})
    import test_nvjitlink as test
    linker = test.Linker("-arch=sm_86", "-lto")
    print(linker.add({kind}, {data}), linker.text("ErrorLog"))
    linker.add(test.PTX, test.KERNEL)
    print(linker.complete(), linker.text("ErrorLog"))
    print(0, linker.text("LinkedCubin"))
"""


def link_lto(kind, data, **environment):
    """What adding the input, and linking it with the kernel gave: a result and a log for each; and the image."""
    program = LINK_LTO.format(tests=str(Path(__file__).parent), kind=kind, data=data)
    return re.split(r"\n(?=\d+ )", run(program, **environment))


def sample(name):
    return (CORPUS / f"{name}.fatbin").read_bytes()


def test_without_nvidias_library_lto_ir_is_refused_and_ptx_beside_it_is_used():
    nowhere = {"SOFTCUDA_NVJITLINK": "/nowhere/libnvJitLink.so.13"}
    added, completed, _ = link_lto(FATBIN, sample("lto_only"), **nowhere)
    assert added.startswith(f"{ARCH_MISMATCH} ") and "compile without -dlto" in added
    assert completed.startswith(f"{INTERNAL} ") and "'triple' is declared" in completed
    added, *_ = link_lto(LTOIR, b"\xedCN\x7f" + bytes(20), **nowhere)
    assert added.startswith(f"{NVVM_COMPILE} ")
    assert "install the package nvidia-nvjitlink" in added
    added, completed, _ = link_lto(FATBIN, sample("lto_and_ptx"), **nowhere)
    assert added.startswith("0 ") and completed.startswith("0 ")


needs_nvidias_library = pytest.mark.skipif(
    not headers(), reason="nvidia-nvjitlink is not installed"
)


def nvidias_library():
    file = next(headers()[0].parents[1].glob("lib/libnvJitLink.so.13"))
    return {"SOFTCUDA_NVJITLINK": str(file)}


@needs_nvidias_library
@pytest.mark.parametrize("name", ["lto_only", "lto_and_ptx"])
def test_ptx_calls_functions_in_lto_ir(device, name):
    # No LTO-IR calls triple(): NVIDIA's library must be told that PTX does.
    added, completed, image = link_lto(FATBIN, sample(name), **nvidias_library())
    assert added.startswith("0 ") and completed.startswith("0 "), added + completed
    assert tripled(image.removeprefix("0 ")) == 42


@needs_nvidias_library
def test_a_relocatable_link_keeps_functions_in_lto_ir(device):
    printed = run(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import test_nvjitlink as test
        linker = test.Linker("-arch=sm_86", "-lto", "-r")
        print(linker.add(test.FATBIN, test.sample("lto_only")), linker.complete())
        print(linker.text("LinkedCubin"))
        """,
        **nvidias_library(),
    )
    results, image = printed.split("\n", 1)
    assert results == "0 0"
    assert tripled(linked((CUBIN, image), (PTX, KERNEL)).text("LinkedCubin")) == 42


@pytest.mark.skipif(
    importlib.util.find_spec("cuda") is None
    or importlib.util.find_spec("cuda.core") is None,
    reason="cuda.core is not installed",
)
@pytest.mark.parametrize("lto", [False, True])
def test_the_linker_of_cuda_core(lto):
    printed = run(
        f"""
        import warnings
        warnings.simplefilter("ignore")
        import numpy
        from cuda.core import (Device, LaunchConfig, LegacyPinnedMemoryResource, Linker,
                               LinkerOptions, Program, ProgramOptions, launch)

        SOURCES = (
            'extern "C" __device__ int f(int x); extern "C" __global__ void k(int *p) {{ *p = f(*p); }}',
            'extern "C" __device__ int f(int x) {{ return 3 * x; }}',
        )
        device = Device()
        device.set_current()
        options = ProgramOptions(relocatable_device_code=True, link_time_optimization={lto})
        codes = [Program(source, "c++", options).compile("ltoir" if {lto} else "ptx")
                 for source in SOURCES]
        linker = Linker(*codes, options=LinkerOptions(link_time_optimization={lto}))
        print(Linker.which_backend())
        kernel = linker.link("cubin").get_kernel("k")
        stream = device.create_stream()
        buffer = LegacyPinnedMemoryResource().allocate(4, stream=stream)
        number = numpy.from_dlpack(buffer).view(numpy.int32)
        number[0] = 14
        launch(stream, LaunchConfig(grid=1, block=1), kernel, buffer)
        stream.sync()
        from cuda.pathfinder import load_nvidia_dynamic_lib
        print(number[0], load_nvidia_dynamic_lib("nvJitLink").abs_path)
        """
    )
    assert printed.splitlines()[0] == "nvJitLink"
    number, path = printed.splitlines()[1].split(" ", 1)
    assert number == "42"
    folder = DRIVER.resolve().parent
    assert Path(path).resolve() == folder / "libnvJitLink.so.13"
