"""pycuda.profile and python -m pycuda profile: text, pages, traces, timelines."""

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
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from softcuda import _profile_text

ROOT = pathlib.Path(__file__).resolve().parents[3]

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


@pytest.fixture
def memory(device):
    allocation = cuda.mem_alloc(1 << 16)
    cuda.memset_d8(allocation, 0, 1 << 16)
    return allocation


@needs_softcuda
def test_nothing_happens_in_an_empty_profile(device):
    with pycuda.profile() as profile:
        pass
    assert profile.kernels == ()
    assert "no kernel was launched" in profile.report()
    assert "No kernel was launched" in profile._repr_html_()


@needs_softcuda
def test_profiles_have_only_their_own_launches(memory):
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
    assert "instructions" not in profile.report()
    assert "bank conflicts" not in profile._repr_html_()
    assert "Times were measured on the CPU.</p>" in profile._repr_html_()
    with pycuda.profile(timeline=False) as profile:
        kernel(memory, np.uintp(int(memory) + 32768), block=(32, 1, 1))
    assert profile.events == () and profile.kernels[0].lines


def test_something_has_to_be_recorded():
    with pytest.raises(ValueError, match="counters and timeline are both False"):
        pycuda.profile(counters=False, timeline=False)


@pytest.mark.skipif(is_softcuda(), reason="softcuda has a profile")
def test_with_another_driver_the_error_has_instructions(device):
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


@pytest.mark.skipif(is_softcuda(), reason="wants an NVIDIA driver and CUPTI")
def test_the_timeline_of_a_gpu(memory, tmp_path):
    source = GLOBAL.replace("TYPE", "float").replace("INDEX", "t")
    kernel = SourceModule(source).get_function("read")
    stream = cuda.Stream()
    host = cuda.pagelocked_empty(1024, np.float32)
    try:
        with pycuda.profile(counters=False) as profile:
            kernel(
                memory, np.uintp(int(memory) + 32768), block=(32, 1, 1), stream=stream
            )
            cuda.memcpy_dtoh_async(host, memory, stream)
            cuda.memset_d8(memory, 0, 4096)
            stream.synchronize()
    except cuda.Error as error:
        if "CUPTI, which is not found" not in str(error):
            raise
        pytest.skip("no CUPTI here")
    (found,) = profile.kernels
    assert (found.name, found.launches, found.block) == ("read", 1, (32, 1, 1))
    assert found.registers > 0 and 0 < found.occupancy.fraction <= 1
    assert (
        found.processor == "GPU"
        and "Times were measured on the GPU" in profile.report()
    )
    ran, copied, filled = (
        next(event for event in profile.events if event.activity == activity)
        for activity in ("kernel", "copy", "fill")
    )
    assert (copied.name, copied.bytes, filled.bytes) == ("device to host", 4096, 4096)
    assert ran.begin < ran.end <= copied.begin < copied.end
    assert ran.stream == copied.stream != filled.stream
    profile.save(tmp_path / "report.html")
    profile.save_trace(tmp_path / "trace.json")
    assert "read" in (tmp_path / "trace.json").read_text()
    assert "read" in profile.report()


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
    assert (
        "line 3: a load transfers 32 sectors for each request, and 4 would be enough"
        in done.stderr
    )
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
def test_softcuda_exec(command, tmp_path):
    # "nvidia" is the library that the loader finds as libcuda.so.1
    environment = {
        **os.environ,
        "PYCUDA_DRIVER": "nvidia",
        "PYCUDA_SOFTCUDA_LIBRARY": cuda.get_driver_path(),
    }

    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "softcuda.exec", *arguments],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=environment,
        )

    program = [sys.executable, "program.py", "copy", "fail"]
    done = run("--profile=-", *program)
    assert done.returncode == 3 and "line 3: a load transfers 32 sectors" in done.stderr
    done = run("--profile=out.html", *program)
    assert done.returncode == 3, done.stderr
    assert "ld 32 / 4" in (tmp_path / "out.html").read_text()
    both = run("--profile=-", "--check=all", *program)
    assert both.returncode == 2 and "a run of their own" in both.stderr


@needs_softcuda
def test_the_commands_errors(command):
    assert "which program?" in command().stderr
    other = command("program.py", PYCUDA_DRIVER="nvidia")
    assert other.returncode == 2 and "a profile needs softcuda" in other.stderr
    assert "No such file" in command("nothing.exe").stderr
    wrong = command("-c", "pass")
    assert wrong.returncode == 2 and "did not load softcuda" in wrong.stderr


@needs_softcuda
def test_a_report_that_cannot_be_written_is_refused_before_the_program_runs(command):
    program = ("-c", "print('the program ran')")
    for path, reason in (
        ("missing/out.html", "there is no folder"),
        (".", "is a folder"),
    ):
        done = command("-o", path, *program)
        assert done.returncode == 2 and reason in done.stderr
        assert "the program ran" not in done.stdout


@needs_softcuda
def test_a_full_disk_gets_the_text_of_the_report(command):
    done = command("-o", "/dev/full", "program.py", "copy")
    assert done.returncode == 2 and "Traceback" not in done.stderr
    assert "cannot write /dev/full: No space left on device" in done.stderr
    assert "kernel copy: grid 1, block 32, 1 launch" in done.stderr


@needs_softcuda
def test_environment_is_validated(run_program):
    done = run_program(
        "import pycuda.driver as cuda\ncuda.init()\n",
        PYCUDA_DRIVER="softcuda",
        SOFTCUDA_PROFILE="timeline,speed",
    )
    assert done.returncode == 1
    assert "unknown profile mode 'speed'" in done.stderr


@needs_softcuda
def test_a_page_without_matplotlib_names_the_missing_package(memory, monkeypatch):
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
    """The programs of docs/finding_slow.md, and the output that the page shows."""
    page = (ROOT / "docs" / "finding_slow.md").read_text()
    program, of_a_block = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    (tmp_path / "transpose.py").write_text(program)
    shown = re.search(r"transpose\.py\n(.*?)\n\n`-o", page, re.S).group(1)
    done = command("transpose.py")
    assert done.returncode == 0, done.stderr

    def without_times(text):
        text = re.sub(r"[\d.]+ (ns|us|ms|s)\b", "TIME", text)
        lines = [line.strip() for line in text.splitlines()]
        return [line for line in lines if "host wait" not in line]  # random times

    assert without_times(shown) == without_times(done.stderr)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    exec(program, names)
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


ARRAY_PROGRAM = """
    import numpy as np
    import pycuda
    import pycuda.autoinit
    from pycuda import gpuarray
    from pycuda.compiler import SourceModule

    source = "__global__ void run(float *x) { x[threadIdx.x] *= 2; }"
    m = gpuarray.to_gpu(np.ones((64, 64), np.float32))
    twice = SourceModule(source).get_function("run")
    with pycuda.profile() as profile:
        s = np.sin(m @ m)
        s.mean()
        np.sort(s, axis=1)
        twice(s, block=(32, 1, 1))
    profile.save("page.html")
    print(profile.report())
"""


def test_kernels_of_arrays_are_one_table(run_program, tmp_path, monkeypatch):
    """They have no source that the program could change: one row each, without lines and advice."""
    monkeypatch.chdir(tmp_path)
    done = run_program(ARRAY_PROGRAM, PYCUDA_DRIVER="softcuda")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) < 40
    head = next(
        i for i, line in enumerate(lines) if line.startswith("array operations: ")
    )
    assert "a GPU runs others" in lines[head]
    columns = "operation time share launches instructions bytes".split()
    assert lines[head + 1].split() == columns
    rows = lines[head + 2 : lines.index("", head)]
    operations = {row.strip().split("  ")[0] for row in rows}
    assert operations == {
        "sin(float32[64, 64])",
        "mean(float32[64, 64])",
        "sort(float32[64, 64], axis=1)",
        "matmul(float32[64, 64], float32[64, 64]), by NumPy",
    }
    assert "1 call of numpy.matmul on arrays, " in done.stdout
    assert done.stdout.count("kernel run: ") == 1  # the program's own kernel
    assert "x[threadIdx.x] *= 2" in done.stdout
    assert "kernel.ptx" not in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert page.count("<section") == 2
    assert "kernel.ptx" not in page
    assert "1 call of numpy.matmul on arrays, " in page
    assert len(page) < 60_000


@needs_softcuda
def test_the_command_folds_kernels_of_arrays_without_a_source_module(tmp_path):
    """A program of arrays alone does not import the compiler's module."""
    program = tmp_path / "arrays.py"
    program.write_text(
        "import numpy as np, pycuda.autoinit\nfrom pycuda import gpuarray\n"
        "np.sin(gpuarray.to_gpu(np.ones(64, np.float32)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pycuda", "profile", program],
        env={**os.environ, "PYCUDA_DRIVER": "softcuda"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "array operations: 1 launch of PyCUDA's own kernels" in done.stderr
    assert "kernel.ptx" not in done.stderr


OPERATIONS = """
    import numpy as np
    import pycuda.autoinit
    from pycuda import gpuarray

    x = gpuarray.arange(100_000, dtype=np.float32)
    x + x  # before the profile: not in the table
    with pycuda.profile() as profile:
        gpuarray.arange(100_000, dtype=np.float32).sort()
        -x[::2] + 1.5
        np.cumsum(x)
    for kernel in profile.kernels:
        assert sum(kernel.operations.values()) == kernel.launches, kernel
        print(*kernel.operations, sep=chr(10))
    with pycuda.profile() as second:
        x * 2
    print([kernel.operations for kernel in second.kernels])
"""


@needs_softcuda
def test_kernels_name_the_operation_that_launched_them(run_program):
    """A sort is several kernels with internal names. A profile names the call, with shapes and types."""
    done = run_program(OPERATIONS, PYCUDA_DRIVER="softcuda")
    assert done.returncode == 0, done.stderr
    *first, second = done.stdout.splitlines()
    assert set(first) == {
        "sort(float32[100000])",
        "arange(100000, dtype=float32)",
        "negative(float32[50000])",
        "add(float32[50000])",
        "cumsum(float32[100000])",
    }
    assert second == "[{'multiply(float32[100000])': 1}]"


@needs_softcuda
def test_a_kernel_of_several_operations_is_a_row_of_its_own(device):
    """The counts of a kernel with one grid are those of all operations that launched the kernel."""
    x = gpuarray.zeros(64, np.float32)
    with pycuda.profile() as profile:
        x.fill(1)
        x.fill(2)
    (kernel,) = profile.kernels
    assert kernel.operations == {"fill(float32[64], 1)": 1, "fill(float32[64], 2)": 1}
    (row,) = _profile_text.own_rows(profile.record)
    assert row[0] == "fill(float32[64], 1) and fill(float32[64], 2): kernel copy"


@pytest.mark.parametrize(
    ("count", "text"),
    [(9999, "9999"), (12_345, "12.3k"), (999_900, "1M"), (7_940_000, "7.94M")],
)
def test_counts_are_written_in_short_form(count, text):
    assert _profile_text.number(count) == text
