"""Compiling: options, cache, messages, modules from files."""

import os
import pty
import re
import shutil
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda import compiler
from pycuda.compiler import SourceModule

NOP = "__global__ void nop() {}"


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PYCUDA_CACHE_DIR", str(tmp_path / "cache"))


def answer(source, device, **how):
    """The result of the kernel `answer(int *)`."""
    out = np.zeros(1, np.int32)
    SourceModule(source, **how).get_function("answer")(cuda.Out(out), block=1)
    return out[0]


def test_options_reach_the_compiler(device, tmp_path):
    (tmp_path / "answer.h").write_text("#define ANSWER 42\n")
    source = (
        "#include <answer.h>\n__global__ void answer(int *p) { *p = ANSWER + MORE; }"
    )
    for how in (
        {"options": ["-DMORE=1", "-I", str(tmp_path)]},
        {"options": ["-DMORE=1"], "include_dirs": [str(tmp_path)]},
        {"options": ["-D", "MORE=1", f"-I{tmp_path}", "--use_fast_math", "-std=c++17"]},
    ):
        assert answer(source, device, **how) == 43


@pytest.mark.parametrize("no_extern_c", [False, True])
def test_precompiled_headers(device, no_extern_c):
    """The first of two sources with the same includes makes the precompiled header; the second uses it."""
    if nvrtc_version() < (12, 8):
        pytest.skip("this NVRTC has no precompiled headers")
    says = []
    for value in (1, 2):
        source = f"""#include <cuda_fp16.h>
        #include <cuda_bf16.h>
        extern "C" __global__ void answer(int *p) {{ *p = {value} * int(__half(21.f)); }}
        """
        with pytest.warns(UserWarning) as messages:
            result = answer(
                source,
                device,
                options=["--pch", "--pch-verbose=true"],
                no_extern_c=no_extern_c,
                cache_dir=False,
            )
        assert result == 21 * value
        says.append(str(messages[0].message))
    assert "using precompiled header" in says[1], says


def nvrtc_version():
    result = compiler._compile(NOP, "ptx", compiler._How(arch="sm_86", keep=True))
    folder = Path(result.kept_in)
    text = next(folder.glob("*.ptx")).read_text()
    shutil.rmtree(folder)
    return tuple(map(int, re.search(r"release (\d+)\.(\d+)", text).groups()))


def test_slow_compilation_is_announced_on_a_terminal(tmp_path):
    nvcc = tmp_path / "slow"
    nvcc.write_text("#!/bin/sh\nsleep 1.4\necho too tired >&2\nexit 1\n")
    nvcc.chmod(0o755)
    program = f"""
        import pycuda.driver as cuda
        from pycuda import compiler
        try:
            compiler.compile("__global__ void k() {{}}", arch="sm_86", nvcc={str(nvcc)!r})
        except cuda.CompileError as error:
            assert "tired" in str(error)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    environment = {**os.environ, "TERM": "xterm"}
    screen, end = pty.openpty()
    on_terminal = subprocess.Popen(command, stderr=end, env=environment)
    elsewhere = subprocess.run(command, stderr=subprocess.PIPE, env=environment)
    assert (on_terminal.wait(), elsewhere.returncode) == (0, 0)
    os.close(end)
    shown = os.read(screen, 1 << 16)
    os.close(screen)
    assert shown == b"\r\x1b[Kpycuda: compiling kernel.cu ... 1 s\r\x1b[K"
    assert elsewhere.stderr == b""


def test_a_changed_header_is_compiled_again(device, tmp_path):
    header = tmp_path / "answer.h"
    source = '#include "answer.h"\n__global__ void answer(int *p) { *p = ANSWER; }'
    for value in (1, 2):
        header.write_text(f"#define ANSWER {value}\n")
        assert answer(source, device, include_dirs=[str(tmp_path)]) == value


def test_default_flags(device, monkeypatch):
    monkeypatch.setattr(compiler, "DEFAULT_NVCC_FLAGS", ["-DANSWER=5"])
    source = "__global__ void answer(int *p) { *p = ANSWER; }"
    assert answer(source, device) == 5
    with pytest.raises(cuda.CompileError):
        answer(source, device, options=[])


def test_templates_need_no_extern_c(device):
    source = """
    template <int N> __device__ int times(int x) { return N * x; }
    extern "C" __global__ void answer(int *p) { *p = times<6>(7); }
    """
    assert answer(source, device, no_extern_c=True) == 42


def test_cpp_names_know_their_parameters(device):
    source = "__global__ void answer(int *p, float f) { *p = int(f); }"
    module = SourceModule(source, no_extern_c=True)
    out = np.zeros(1, np.int32)
    module.get_function("_Z6answerPif")(cuda.Out(out), 2.5, block=1)
    assert out[0] == 2


def test_templates_and_namespaces_know_their_parameters(device):
    """Python's numbers are converted, and the printed name is C++, not the linker's."""
    source = """
    namespace mine { typedef float real; __global__ void fill(real *p, real x) { *p = x; } }
    template <class T> __global__ void answer(T *p, T x, int n) { *p = x * n; }
    """
    module = SourceModule(source, no_extern_c=True)
    answer = module.get_function("answer<float>")
    assert repr(answer) == "<pycuda.driver.Function answer<float>(float *, float, int)>"
    out = np.zeros(1, np.float32)
    answer(cuda.Out(out), 1.5, 4, block=1)
    assert out[0] == 6
    module.get_function("mine::fill")(cuda.Out(out), 2.5, block=1)
    assert out[0] == 2.5
    with pytest.raises(
        TypeError, match="kernel 'answer<float>', argument 2: expected int"
    ):
        answer(cuda.Out(out), 1.5, 2.5, block=1)


def test_a_kernel_as_attribute_is_an_error_with_a_hint(device):
    module = SourceModule("__global__ void nop() {}")
    with pytest.raises(AttributeError, match=r"get_function\('nop'\) gets a kernel"):
        module.nop(block=(1, 1, 1))
    with pytest.raises(AttributeError, match="has no attribute '_nop'$"):
        getattr(module, "_" + "nop")
    module.close()
    assert not hasattr(module, "nop")


def test_the_source_may_be_any_object_with_a_text(device):
    class Program:
        def __str__(self):
            return "__global__ void answer(int *p) { *p = 3; }"

    assert answer(Program(), device) == 3
    with pytest.raises(TypeError, match="source must be text, not bytes"):
        SourceModule(b"__global__ void f() {}")


def test_compile_to_ptx_and_load_it(device, tmp_path):
    ptx = compiler.compile(
        "__global__ void answer(int *p) { *p = 7; }", arch="compute_75", target="ptx"
    )
    assert b".target sm_75" in ptx and b".entry answer" in ptx
    said = []
    module = cuda.module_from_buffer(
        ptx,
        [(cuda.jit_option.OPTIMIZATION_LEVEL, 1)],
        lambda *words: said.append(words),
    )
    assert said and said[0][0] is True
    path = tmp_path / "answer.ptx"
    path.write_bytes(ptx)
    for loaded in (
        module,
        cuda.module_from_file(path),
        cuda.module_from_file(str(path)),
    ):
        out = np.zeros(1, np.int32)
        loaded.get_function("answer")(cuda.Out(out), block=1)
        assert out[0] == 7
    assert module.function_names() == ["answer"]


def test_compile_with_a_wrong_target_is_an_error():
    with pytest.raises(ValueError, match='"fatbin" or "ltoir", not \'exe\''):
        compiler.compile(NOP, target="exe")


def test_invalid_code_is_an_error(device):
    said = []
    with pytest.raises(cuda.Error, match="cuModuleLoadDataEx failed"):
        cuda.module_from_buffer(
            b"this is no code", message_handler=lambda *w: said.append(w)
        )
    assert said[0][0] is False
    with pytest.raises(cuda.RuntimeError, match="file not found.*nowhere.cubin"):
        cuda.module_from_file("/nowhere.cubin")


def test_the_compilers_words_are_a_warning_at_the_callers_line(device):
    # A new kernel: NVIDIA's driver and NVRTC say nothing about one that is in their own caches.
    source = f"__global__ void f{time.time_ns()}() {{}}"
    with pytest.warns(
        UserWarning, match="succeeded, but said the following:\n"
    ) as caught:
        SourceModule(source, options=["--ptxas-options=-v"])
    assert "ptxas info" in str(caught[0].message)
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning) as caught:
        compiler.compile(
            source, options=["--ptxas-options=-v"], arch="sm_80", cache_dir=False
        )
    assert caught[0].filename == __file__


def test_a_compiler_without_output_gives_no_warning(device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SourceModule(NOP)


def test_keep(device, capsys):
    SourceModule(NOP, keep=True)
    said = capsys.readouterr().out
    assert said.startswith("*** compiler output in ")
    folder = said.removeprefix("*** compiler output in ").strip()
    from pathlib import Path

    assert any(
        NOP in file.read_text(errors="replace") for file in Path(folder).glob("*.cu")
    )


@pytest.mark.parametrize("cache_dir", [None, "own", False])
def test_cache(device, tmp_path, monkeypatch, cache_dir):
    source = f"__global__ void cached_{cache_dir}() {{}}"
    chosen = str(tmp_path / "own") if cache_dir == "own" else cache_dir
    SourceModule(source, cache_dir=chosen)
    folder = tmp_path / ("own" if cache_dir == "own" else "cache")
    assert any(folder.rglob("*")) if cache_dir is not False else not folder.exists()


def test_unwritable_cache_is_no_error(device):
    SourceModule(NOP, cache_dir="/proc/nowhere/cache")


def test_code_that_the_driver_cannot_compile_is_a_compile_error(device):
    """For a cubin, ptxas reports it; for PTX, the driver that loads it."""
    source = """__global__ void f(double *p)
    {
        __shared__ double x[100000];
        x[threadIdx.x] = *p;
        __syncthreads();
        *p = x[99999 - threadIdx.x];
    }"""
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule(source)
    assert "shared" in caught.value.stderr and caught.value.command_line


# Names that nvcc provides without an include, through <cuda_runtime.h>.
WITHOUT_INCLUDES = {
    "uint(7) + ushort(1) + ulong(1) + u_char(1)": 10,
    "int8_t(1) + int64_t(2) + ssize_t(3)": 6,
    "M_PI": 3.141592653589793,
    "INFINITY > HUGE_VAL ? 1 : isnan(NAN)": 1,
    "INT_MAX / 2 + CHAR_BIT": 1073741831,
    "std::abs(-2.5f) + std::sqrt(4.0f) + std::isnan(1.0f)": 4.5,
    "pow(2, 10) + std::pow(3, 2) + pow(2.0f, 2)": 1037,
    "sqrt(4) + fabs(-2) + exp(0u) + floor(3ll) + trunc(char(3)) + sqrt(9.0)": 14,
    "hypot(3, 4) + fmod(7, 4u) + fmin(1, 2) + fmax(short(1), 6ll) + fmin(2.5, 3.0)": 17.5,
    "strlen(text) + RAND_MAX / RAND_MAX": 6,
    "offsetof(Pair, b) + sizeof(std::size_t)": 16,
}


@pytest.mark.parametrize("expression, value", WITHOUT_INCLUDES.items())
def test_names_that_nvcc_has_without_an_include(device, expression, value):
    source = f"""
    struct Pair {{ char a; double b; }};
    __device__ const char text[] = "hello";
    __global__ void f(double *out) {{ *out = text[0]; *out = {expression}; }}
    """
    out = np.zeros(1)
    SourceModule(source, nvcc="nvrtc").get_function("f")(cuda.Out(out), block=1)
    assert out[0] == value


def test_integers_of_128_bits_as_with_nvcc(device):
    source = """
    __global__ void f(unsigned long long *p) {
        unsigned __int128 square = (unsigned __int128)p[0] * p[0];
        p[0] = square / 1000003 >> 64;
        p[1] = square % 1000003;
    }
    """
    value = 0xFEDC_BA98_7654_3210
    out = np.array([value, 0], np.uint64)
    SourceModule(source, nvcc="nvrtc").get_function("f")(cuda.InOut(out), block=1)
    assert out.tolist() == [value**2 // 1000003 >> 64, value**2 % 1000003]


def test_own_names_come_before_those_of_nvcc(device):
    """And messages report only the program's mistakes."""
    source = """
    typedef unsigned char uint;
    #define M_PI 3
    __global__ void f(int *out) { out[0] = sizeof(uint) + M_PI; out[1] = INT_MIN + 1; }
    """
    out = np.zeros(2, np.int32)
    SourceModule(source).get_function("f")(cuda.Out(out), block=1)
    assert out.tolist() == [4, -(2**31) + 1]
    with pytest.raises(cuda.CompileError) as caught:
        SourceModule("__global__ void f(int *p) { *p = INT_MAX + nonsense; }")
    assert '"nonsense" is undefined' in caught.value.stderr
    assert "INT_MAX" not in caught.value.stderr.replace("*p = INT_MAX", "")


def test_host_code_in_a_source_does_not_disturb_kernels(device):
    """NVRTC has no <iostream>; a kernel in such a source does not need it either."""
    source = """
    #include <iostream>
    #include <vector>
    #include <unistd.h>
    #include <cmath>
    using namespace std;
    __global__ void f(int *out) { register int two = 2; *out = two + std::abs(-1); }
    """
    out = np.zeros(1, np.int32)
    SourceModule(source, nvcc="nvrtc").get_function("f")(cuda.Out(out), block=1)
    assert out[0] == 3
    with pytest.raises(
        cuda.CompileError, match="host code, which only nvcc can compile"
    ):
        SourceModule(
            "#include <vector>\n__global__ void f(std::vector<int> v) {}", nvcc="nvrtc"
        )
