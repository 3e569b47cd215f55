"""pycuda.profile and python -m pycuda profile: counters of kernels whose numbers are known by hand."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
from pycuda.compiler import DynamicSourceModule, SourceModule

ROOT = pathlib.Path(__file__).resolve().parents[2]

needs_softcuda = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has a profile"
)

#: A kernel reads with one access, at ``in + INDEX``, and writes to one address of each thread.
GLOBAL = """
__global__ void read(const TYPE *in, TYPE *out) {
    int t = threadIdx.x;
    out[t] = in[INDEX];
}
"""

#: A kernel writes and reads shared memory at ``INDEX``.
SHARED = """
__global__ void share(TYPE *out) {
    __shared__ TYPE s[2048];
    int t = threadIdx.x;
    s[INDEX] = out[t];
    __syncthreads();
    out[t] = s[INDEX];
}
"""


@pytest.fixture
def memory(device):
    allocation = cuda.mem_alloc(1 << 16)
    cuda.memset_d8(allocation, 0, 1 << 16)
    return allocation


def profile_of(source, name, *arguments, block=(32, 1, 1), grid=(1, 1), **how):
    """The profile of one launch of a kernel of ``source``."""
    kernel = SourceModule(source, nvcc="nvrtc", **how).get_function(name)
    with pycuda.profile() as profile:
        kernel(*arguments, block=block, grid=grid)
    (counted,) = profile.kernels
    return counted


def access_of(kernel, kind, space):
    (access,) = [a for a in kernel.accesses if (a.kind, a.space) == (kind, space)]
    return access


@needs_softcuda
@pytest.mark.parametrize(
    ("type_name", "index", "sectors", "ideal"),
    [
        ("float", "t", 4, 4),
        ("float", "t + 1", 5, 4),
        ("float", "t * 2", 8, 4),
        ("float", "t * 8", 32, 4),
        ("float", "t * 32", 32, 4),
        ("float", "31 - t", 4, 4),
        ("float", "7", 1, 1),
        ("float", "t / 2", 2, 2),
        ("char", "t", 1, 1),
        ("char", "t * 4", 4, 1),
        ("double", "t", 8, 8),
        ("double", "t + 1", 9, 8),
        ("float4", "t", 16, 16),
        ("float4", "t * 2", 32, 16),
    ],
)
def test_sectors_of_a_request(memory, type_name, index, sectors, ideal):
    source = GLOBAL.replace("TYPE", type_name).replace("INDEX", index)
    load = access_of(
        profile_of(source, "read", memory, np.uintp(int(memory) + 32768)),
        "load",
        "global",
    )
    assert (load.requests, load.lanes, load.line) == (1, 32, 4)
    assert (load.sectors, load.ideal_sectors) == (sectors, ideal)


@needs_softcuda
@pytest.mark.parametrize(
    ("type_name", "index", "wavefronts", "ideal"),
    [
        ("float", "t", 1, 1),
        ("float", "t ^ 5", 1, 1),
        ("float", "2 * t", 2, 1),
        ("float", "3 * t", 1, 1),
        ("float", "32 * t", 32, 1),
        ("float", "33 * t", 1, 1),
        ("float", "3", 1, 1),
        ("float", "t / 4", 1, 1),
        ("float", "t % 2 * 32", 2, 1),
        ("double", "t", 2, 2),
        ("double", "2 * t", 4, 2),
        ("float4", "t", 4, 4),
        ("char", "t", 1, 1),
    ],
)
def test_wavefronts_of_shared_memory(memory, type_name, index, wavefronts, ideal):
    source = SHARED.replace("TYPE", type_name).replace("INDEX", index)
    kernel = profile_of(source, "share", memory)
    load = access_of(kernel, "load", "shared")
    assert (load.requests, load.line) == (1, 7)
    assert (load.wavefronts, load.ideal_wavefronts) == (wavefronts, ideal)
    assert load.bank_conflicts == wavefronts - ideal


BRANCHES = """
__global__ void part(float *out, int lanes, int rounds) {
    int t = threadIdx.x;
    float x = 0;
    if (t % 32 < lanes)
        #pragma unroll 1
        for (int k = 0; k < rounds; ++k)
            x = __sinf(x) + out[k];
    out[t] = x;
}
"""


def line_with(kernel, text):
    """The line of a kernel whose source has ``text``."""
    (found,) = [n for n, t in enumerate(kernel.source.splitlines(), 1) if text in t]
    (line,) = [line for line in kernel.lines if line.line == found]
    return line


@needs_softcuda
@pytest.mark.parametrize("lanes", [32, 16, 1])
def test_active_lanes_of_a_branch(memory, lanes):
    arguments = (memory, np.int32(lanes), np.int32(10))
    kernel = profile_of(BRANCHES, "part", *arguments, block=(64, 1, 1))
    body, end = line_with(kernel, "__sinf"), line_with(kernel, "out[t] = x")
    assert body.active_lanes == lanes
    assert body.classes["special"] == 2 * 10  # two warps, ten rounds
    assert body.classes["load"] == 2 * 10
    assert (end.executions, end.lanes) == (2, 64)
    load = access_of(kernel, "load", "global")
    assert (load.requests, load.lanes) == (20, 20 * lanes)
    assert load.sectors == 20  # one address in each request


@needs_softcuda
def test_threads_that_do_not_fill_a_warp(memory):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = profile_of(
        source,
        "read",
        memory,
        np.uintp(int(memory) + 32768),
        block=(50, 1, 1),
        grid=(3, 1),
    )
    load = access_of(kernel, "load", "global")
    assert (load.requests, load.lanes) == (6, 150)
    assert load.sectors == 3 * (4 + 3)
    line = line_with(kernel, "out[t] = in[t]")
    assert (line.executions, line.lanes) == (6, 150)
    assert kernel.active_lanes == 25
    assert any("multiple of 32" in str(a) for a in pycuda.profile.advice_for(kernel))


@needs_softcuda
@pytest.mark.parametrize(
    ("index", "waiting"), [("0", 31), ("t / 4", 24), ("t", 0), ("t % 16", 16)]
)
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics_on_one_address(memory, space, index, waiting):
    declaration = "__shared__ int s[32];" if space == "shared" else "int *s = out;"
    source = f"""
    __global__ void add(int *out) {{
        {declaration}
        int t = threadIdx.x;
        out[64 + t] = atomicAdd(&s[{index}], t);
    }}"""
    atomic = access_of(profile_of(source, "add", memory), "atomic", space)
    assert (atomic.requests, atomic.lanes) == (1, 32)
    assert atomic.same_address == waiting


@needs_softcuda
def test_local_memory_is_laid_out_by_lanes(memory):
    source = """
    __global__ void keep(int *out, int n) {
        int kept[64];
        for (int k = 0; k < 64; ++k)
            kept[k] = k * n;
        out[threadIdx.x] = kept[out[threadIdx.x] + n];
    }"""
    kernel = profile_of(source, "keep", memory, np.int32(3))
    load = access_of(kernel, "load", "local")
    assert load.sectors == 4  # all lanes read element 3: their words are adjacent
    assert any("local memory" in str(a) for a in pycuda.profile.advice_for(kernel))


@needs_softcuda
def test_instructions_by_class(memory):
    source = """
    __global__ void mix(double *out, float f) {
        int t = threadIdx.x;
        double d = out[t];
        d = d * d + 1.0;
        __syncthreads();
        d += __shfl_xor_sync(~0u, t, 1);
        out[t] = d;
    }"""
    kernel = profile_of(source, "mix", memory, np.float32(1))
    assert kernel.classes["double"] == 2
    assert kernel.classes["barrier"] == 1
    assert kernel.classes["exchange"] == 1
    assert kernel.classes["load"] == kernel.classes["store"] == 1
    assert kernel.instructions == sum(kernel.classes.values())
    assert any("double precision" in str(a) for a in pycuda.profile.advice_for(kernel))


@needs_softcuda
def test_resources_and_occupancy(memory):
    source = """
    __global__ void share(float *out) {
        __shared__ float s[8192];
        extern __shared__ float more[];
        s[threadIdx.x] = out[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = s[threadIdx.x ^ 1];
    }"""
    kernel = profile_of(source, "share", memory, block=(64, 1, 1))
    assert kernel.static_shared_bytes == 32768 and kernel.registers > 0
    function = SourceModule(source, nvcc="nvrtc").get_function("share")
    assert kernel.occupancy.blocks == function.max_active_blocks(64)
    assert kernel.occupancy.limited_by == ("shared memory",)
    assert any(
        "limited by shared memory" in str(a) for a in pycuda.profile.advice_for(kernel)
    )


@needs_softcuda
def test_the_most_important_advice_comes_first(memory):
    source = """
    __global__ void slow(float *in, float *out) {
        __shared__ float s[64];
        int t = threadIdx.x;
        s[2 * t] = in[32 * t];
        __syncthreads();
        out[t] = s[2 * t];
    }"""
    kernel = profile_of(source, "slow", memory, np.uintp(int(memory) + 8192))
    first, *rest = pycuda.profile.advice_for(kernel)
    assert str(first).startswith(
        "line 5: 32 sectors for a request of a load where 4 would do: neighbouring threads read "
        "addresses 128 bytes apart"
    )
    assert "2 wavefronts" in rest[0].text and rest[0].line in (5, 7)


@needs_softcuda
def test_nested_functions_and_loops_have_their_lines(memory):
    source = """
    __device__ float twice(float x) {
        return __sinf(x) * 2;
    }
    __global__ void outer(float *out) {
        float x = 0;
    #pragma unroll 1
        for (int k = 0; k < 7; ++k)
            x += twice(out[k]);
        out[threadIdx.x] = x;
    }"""
    kernel = profile_of(source, "outer", memory)
    assert line_with(kernel, "__sinf").executions == 7
    assert line_with(kernel, "__sinf").classes["special"] == 7


@needs_softcuda
def test_recursion(memory):
    source = """
    __device__ int count(int n) { return n < 2 ? 1 : count(n - 1) + count(n - 2); }
    __global__ void start(int *out) {
        out[threadIdx.x] = count(6);
    }"""
    kernel = profile_of(source, "start", memory)
    # The compiler makes a loop of the second call: C(n) = 1 + C(n-1) + C(n-3) + ...
    assert line_with(kernel, "__device__").executions == 13


@needs_softcuda
def test_kernels_that_kernels_launch(memory):
    source = """
    __global__ void child(int *out) { out[threadIdx.x] = threadIdx.x; }
    __global__ void parent(int *out) { child<<<2, 64>>>(out); }"""
    try:
        module = DynamicSourceModule(source)
    except (cuda.CompileError, OSError) as error:
        pytest.skip(f"no dynamic parallelism here: {error}")
    with pycuda.profile() as profile:
        module.get_function("parent")(memory, block=(1, 1, 1))
    found = {kernel.name: kernel for kernel in profile.kernels}
    child = next(kernel for name, kernel in found.items() if "child" in name)
    assert child.grid == (2, 1, 1) and child.block == (64, 1, 1)
    assert access_of(child, "store", "global").sectors == 2 * 2 * 4


@needs_softcuda
def test_nothing_happens_in_an_empty_profile(device):
    with pycuda.profile() as profile:
        pass
    assert profile.kernels == ()
    assert "no kernel was launched" in profile.report()
    assert "No kernel was launched" in profile._repr_html_()


@needs_softcuda
def test_profiles_hold_what_is_theirs(memory):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = SourceModule(source, nvcc="nvrtc").get_function("read")
    arguments = (memory, np.uintp(int(memory) + 32768))
    with pycuda.profile() as outer:
        kernel(*arguments, block=(32, 1, 1))
        with pycuda.profile() as inner:
            kernel(*arguments, block=(32, 1, 1))
        kernel(*arguments, block=(32, 1, 1))
    (one,), (all_three,) = inner.kernels, outer.kernels
    assert (one.launches, all_three.launches) == (1, 3)
    assert 3 * one.instructions == all_three.instructions
    assert all_three.total("sectors") == 3 * one.total("sectors")
    kernel(*arguments, block=(32, 1, 1))
    assert outer.kernels[0].launches == 3
    with pycuda.profile() as later:
        kernel(*arguments, block=(32, 1, 1))
    assert later.kernels[0].launches == 1


@needs_softcuda
def test_the_timeline_alone_counts_nothing(memory):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = SourceModule(source, nvcc="nvrtc").get_function("read")
    with pycuda.profile(counters=False) as profile:
        kernel(memory, np.uintp(int(memory) + 32768), block=(32, 1, 1))
    (found,) = profile.kernels
    assert found.launches == 1 and found.nanoseconds > 0 and found.lines == ()
    with pycuda.profile(timeline=False) as profile:
        kernel(memory, np.uintp(int(memory) + 32768), block=(32, 1, 1))
    assert profile.events == () and profile.kernels[0].lines


def test_something_has_to_be_recorded():
    with pytest.raises(ValueError, match="counters and timeline are both False"):
        pycuda.profile(counters=False, timeline=False)


@pytest.mark.skipif(is_softcuda(), reason="softcuda has a profile")
def test_another_driver_says_how_to_get_there(device):
    with pytest.raises(cuda.Error, match="set PYCUDA_DRIVER=softcuda"):
        with pycuda.profile():
            pass


@needs_softcuda
def test_two_streams_and_threads(memory, tmp_path):
    source = """
    __global__ void work(float *out, int rounds) {
        float x = 0;
        for (int k = 0; k < rounds; ++k)
            x = x * 0.5f + 1;
        out[threadIdx.x] = x;
    }"""
    kernel = SourceModule(source, nvcc="nvrtc").get_function("work")
    context = cuda.Context.get_current()
    streams = [cuda.Stream(), cuda.Stream()]

    def launch(stream):
        context.push()
        kernel(memory, np.int32(1000), block=(64, 1, 1), stream=stream)
        stream.synchronize()
        cuda.Context.pop()

    with pycuda.profile() as profile:
        threads = [threading.Thread(target=launch, args=(s,)) for s in streams]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        host = np.zeros(1000, np.float32)
        cuda.memcpy_htod(memory, host)
        cuda.memset_d8(memory, 0, 4096)
    kernels = [event for event in profile.events if event.activity == "kernel"]
    assert len({event.stream for event in kernels}) == 2
    assert all(event.begin < event.end and event.name == "work" for event in kernels)
    waits = [event for event in profile.events if event.activity == "host wait"]
    assert all(wait.thread and not wait.stream for wait in waits)
    (copy,) = [event for event in profile.events if event.activity == "copy"]
    assert (copy.bytes, copy.name) == (4000, "host to device")
    (fill,) = [event for event in profile.events if event.activity == "fill"]
    assert fill.bytes == 4096
    profile.save_trace(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    spans = [event for event in trace if event["ph"] == "X"]
    assert len(spans) == len(profile.events)
    names = {e["args"]["name"] for e in trace if e["ph"] == "M"}
    assert len([name for name in names if "stream" in name]) == 3
    assert "device 0, default stream" in names
    tracks = {event["tid"] for event in trace if event["ph"] == "M"}
    assert {event["tid"] for event in spans} == tracks


@needs_softcuda
def test_a_wait_of_the_host(memory):
    source = """
    __global__ void work(float *out, int rounds) {
        float x = 0;
        for (int k = 0; k < rounds; ++k)
            x = __sinf(x) + 1;
        out[threadIdx.x] = x;
    }"""
    kernel = SourceModule(source, nvcc="nvrtc").get_function("work")
    with pycuda.profile(counters=False) as profile:
        kernel(memory, np.int32(2_000_000), block=(32, 1, 1))
        cuda.Context.synchronize()
    (wait,) = [event for event in profile.events if event.activity == "host wait"]
    (ran,) = [event for event in profile.events if event.activity == "kernel"]
    assert wait.thread == threading.get_native_id() and "Synchronize" in wait.name
    assert wait.begin < ran.end and wait.end >= ran.end


FAULT = """
__global__ void fault(int *out) {
    out[threadIdx.x] = 1;
    if (threadIdx.x == 5)
        *(volatile int *)8 = 1;
}
"""

PROGRAM = f'''
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

def run(name, source):
    module = SourceModule(source, nvcc="nvrtc")
    memory = cuda.mem_alloc(1 << 16)
    module.get_function(name)(memory, block=(32, 1, 1))
    cuda.Context.synchronize()

if "copy" in sys.argv:
    run("copy", """
__global__ void copy(float *out) {{
    out[threadIdx.x] = out[32 * threadIdx.x + 100];
}}
""")
if "fault" in sys.argv:
    run("fault", """{FAULT}""")
sys.exit(3 if "fail" in sys.argv else 0)
'''


@pytest.fixture
def command(tmp_path):
    """Run ``python -m pycuda profile`` on PROGRAM; returns the finished process."""
    (tmp_path / "program.py").write_text(PROGRAM)

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", "pycuda", "profile", *map(str, arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "PYCUDA_DRIVER": "softcuda", **environment},
        )

    return run


@needs_softcuda
def test_command_prints_text(command):
    done = command("program.py", "copy", "fail")
    assert done.returncode == 3, done.stderr
    assert "kernel copy: grid 1, block 32, 1 launch" in done.stderr
    assert "line 3: 32 sectors for a request of a load where 4 would do" in done.stderr
    assert "out[threadIdx.x] = out[32 * threadIdx.x + 100];" in done.stderr
    assert "\x1b" not in done.stderr


@needs_softcuda
def test_command_writes_a_page_and_a_trace(command, tmp_path):
    done = command("-o", "out.html", "--trace", "out.json", "program.py", "copy")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out.html").read_text()
    assert "out[32 * threadIdx.x + 100];" in page and "ld 32 / 4" in page
    # It needs no other file and no network.
    assert not re.search(r"""(src|href)=["'](?!#)""", page)
    assert not re.search(r"@import|url\((?!#)", page)
    trace = json.loads((tmp_path / "out.json").read_text())
    assert "copy" in {event["name"] for event in trace["traceEvents"]}


@needs_softcuda
def test_a_program_without_kernels_has_a_report(command):
    done = command("program.py")
    assert done.returncode == 0, done.stderr
    assert "no kernel was launched" in done.stderr


@needs_softcuda
def test_a_kernel_that_faults_is_in_the_report(command):
    done = command("program.py", "fault")
    assert done.returncode != 0
    assert "kernel fault" in done.stderr and "1 failed" in done.stderr
    assert "1 launch of 1 ended with an error" in done.stderr
    assert "st.global 4 sectors (4)" in done.stderr


@needs_softcuda
def test_the_command_says_what_is_wrong(command):
    assert "which program?" in command().stderr
    other = command("program.py", PYCUDA_DRIVER="nvidia")
    assert other.returncode == 2 and "a profile needs softcuda" in other.stderr
    assert "No such file" in command("nothing.exe").stderr
    wrong = command("-c", "pass")
    assert wrong.returncode == 2 and "did not load softcuda" in wrong.stderr


def test_environment_is_validated(run_program):
    done = run_program(
        "import pycuda.driver as cuda\ncuda.init()\n",
        PYCUDA_DRIVER="softcuda",
        SOFTCUDA_PROFILE="timeline,speed",
    )
    assert done.returncode == 1
    assert "there is no profile mode 'speed'" in done.stderr


@needs_softcuda
def test_a_page_without_matplotlib_says_what_is_missing(memory, monkeypatch):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = SourceModule(source, nvcc="nvrtc").get_function("read")
    with pycuda.profile() as profile:
        kernel(memory, np.uintp(int(memory) + 32768), block=(32, 1, 1))
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    page = profile._repr_html_()
    assert "pip install matplotlib" in page and "out[t] = in[t]" in page


@needs_softcuda
def test_the_page_in_a_browser(memory, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium here")
    api = pytest.importorskip("playwright.sync_api")
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t * 32")
    kernel = SourceModule(source, nvcc="nvrtc").get_function("read")
    with pycuda.profile() as profile:
        kernel(memory, np.uintp(int(memory) + 32768), block=(32, 1, 1))
    profile.save(tmp_path / "report.html")
    wrong = []
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        page = browser.new_page()
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("requestfailed", lambda request: wrong.append(request.url))
        page.goto((tmp_path / "report.html").as_uri())
        assert page.locator("h2").all_inner_texts() == ["read"]
        assert page.locator(".bad").all_inner_texts() == ["ld 32 / 4"]
        assert (
            "out[t] = in[t * 32];"
            in page.locator("#kernel-0-0-4 td.source").inner_text()
        )
        page.locator("ol.advice a").first.click()
        assert page.evaluate("location.hash") == "#kernel-0-0-4"
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= page.viewport_size["width"]
        browser.close()
    assert wrong == []


@needs_softcuda
def test_the_page_of_the_docs(device, command, tmp_path, monkeypatch):
    """The programs of docs/finding_slow.md, and what the page says that they print."""
    page = (ROOT / "docs" / "finding_slow.md").read_text()
    program, of_a_block = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    (tmp_path / "transpose.py").write_text(program)
    shown = re.search(r"transpose\.py\n(.*?)\n\n`-o", page, re.S).group(1)
    done = command("transpose.py")
    assert done.returncode == 0, done.stderr

    def without_times(text):
        text = re.sub(r"[\d.]+ (ns|us|ms|s)\b", "TIME", text)
        return [line.strip() for line in text.splitlines()]

    assert without_times(shown) == without_times(done.stderr)
    source = program.split('"""')[1]
    module = SourceModule(source, nvcc="nvrtc")

    def kernel(array, block):
        module.get_function("transpose")(array, array, np.int32(256), block=block)

    monkeypatch.chdir(tmp_path)
    names = {"pycuda": pycuda, "array": cuda.mem_alloc(1 << 20), "kernel": kernel}
    exec(of_a_block, names)
    assert [found.name for found in names["profile"].kernels] == ["transpose"]
    assert "Kernel report" in (tmp_path / "report.html").read_text()


def test_importing_pycuda_does_not_import_the_profile(run_program):
    done = run_program(
        """
        import sys
        import pycuda
        import pycuda.driver
        assert "pycuda.profile" not in sys.modules
        assert pycuda.profile is sys.modules["pycuda.profile"]
        assert "matplotlib" not in sys.modules
        """
    )
    assert done.returncode == 0, done.stderr
