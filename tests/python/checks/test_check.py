"""pycuda.check, PYCUDA_CHECK, python -m pycuda check, softcuda-exec --check and pytest --cuda-check."""

import json
import os
import pathlib
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from conftest import is_softcuda

import pycuda
import pycuda.driver as cuda
import pycuda.fft
from pycuda import gpuarray
from pycuda.compiler import SourceModule
from pycuda.scan import InclusiveScanKernel

ROOT = pathlib.Path(__file__).resolve().parents[3]

needs_softcuda = pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes"
)

#: For tests whose kernel has a race on purpose. Its threads may also read memory before it is written.
plants_a_race = pytest.mark.cuda_check_allow("race", "init")

#: Line 5 writes, line 6 reads what another thread writes; line 10 writes past the end of the array.
KERNELS = """
__global__ void reverse(int *data) {
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = data[t];
    data[t] = tile[63 - t];
}
__global__ void fill(int *data, int n) {
    if (threadIdx.x < n)
        data[threadIdx.x] = threadIdx.x;
}
"""

#: The same as a separate program, whose arguments select the kernels that it runs.
PROGRAM = f'''
import sys
import numpy as np
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.fft
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""{KERNELS}""", nvcc="nvrtc")
data = cuda.to_device(np.zeros(64, np.int32))
if "race" in sys.argv:
    module.get_function("reverse")(data, block=(64, 1, 1))
if "mem" in sys.argv:
    module.get_function("fill")(data, np.int32(65), block=(128, 1, 1))
if "clean" in sys.argv:
    module.get_function("fill")(data, np.int32(64), block=(128, 1, 1))
cuda.Context.synchronize()
sys.exit(3 if "fail" in sys.argv else 0)
'''


@pytest.fixture
def kernels(device):
    return SourceModule(KERNELS, nvcc="nvrtc")


def launch_race(kernels):
    data = cuda.to_device(np.zeros(64, np.int32))
    kernels.get_function("reverse")(data, block=(64, 1, 1))


def launch_clean(kernels):
    data = cuda.to_device(np.zeros(64, np.int32))
    kernels.get_function("fill")(data, np.int32(64), block=(128, 1, 1))


#: The order depends on the schedule; both can be found.
ORDERS = {"read-after-write", "write-after-read"}


@needs_softcuda
@plants_a_race
def test_findings_of_a_block(kernels):
    with pycuda.check("race") as checks:
        launch_race(kernels)
    assert checks.findings
    for finding in checks.findings:
        assert finding.mode == "race" and finding.kernel == "reverse"
        assert finding.kind in ORDERS and finding.count > 0
        assert finding.space == "shared" and "tile" in finding.array
        assert {(a.what, a.line) for a in finding.accesses} == {
            ("read", 6),
            ("write", 5),
        }
        assert finding.accesses[0].block == (0, 0, 0)
        assert finding.accesses[0].bytes == 4
    assert "kernel.cu:5" in checks.report() and "Race reported" in checks.report()
    assert {value["kind"] for value in checks.as_dicts()} <= ORDERS


@needs_softcuda
@pytest.mark.cuda_check_allow("mem")
@pytest.mark.parametrize("elements", [1, 33, 100])
def test_the_end_of_an_array_that_is_older_than_the_check(kernels, elements):
    """A notebook makes arrays in one cell and checks a launch in another. The pool's block is larger than the array."""
    data = gpuarray.zeros(elements, np.int32)
    with pycuda.check("mem") as checks:
        kernels.get_function("fill")(
            data, np.int32(elements + 1), block=(elements + 1, 1, 1)
        )
    (finding,) = checks.findings
    assert (finding.kind, finding.count) == ("out-of-bounds", 1)
    assert "0 bytes after the" in checks.report()
    with pycuda.check("mem") as checks:
        kernels.get_function("fill")(data, np.int32(elements), block=(128, 1, 1))
    assert checks.findings == []


@needs_softcuda
@pytest.mark.cuda_check_allow("mem")
@pytest.mark.parametrize("handler", [cuda.Out, cuda.InOut])
def test_the_end_of_a_temporary_array_is_checked(kernels, handler):
    """Small arrays of one call share a block of memory, but not while a check mode is on."""
    with pycuda.check("mem") as checks:
        kernels.get_function("fill")(
            handler(np.zeros(64, np.int32)), np.int32(65), block=(128, 1, 1)
        )
    (finding,) = checks.findings
    assert (finding.kind, finding.accesses[0].line) == ("out-of-bounds", 10)


@needs_softcuda
def test_a_correct_kernel_has_no_findings(kernels):
    with pycuda.check(raise_findings=True) as checks:
        launch_clean(kernels)
    assert checks.findings == [] and checks.report() == "0 findings"


@needs_softcuda
@pytest.mark.parametrize("n", [33, 1000, 5001])
def test_a_scan_in_place_has_no_findings(device, n):
    x = gpuarray.arange(n, dtype=np.int32)
    with pycuda.check("race", raise_findings=True):
        InclusiveScanKernel(np.int32, "a + b")(x)
        cuda.Context.synchronize()
    np.testing.assert_array_equal(
        x.get(), np.arange(n, dtype=np.int32).cumsum(dtype=np.int32)
    )


@needs_softcuda
@plants_a_race
def test_raise_findings(kernels):
    with pytest.raises(pycuda.check.CheckError, match="kernel.cu:6") as raised:
        with pycuda.check("race", raise_findings=True):
            launch_race(kernels)
    assert {finding.kernel for finding in raised.value.findings} == {"reverse"}


@needs_softcuda
@plants_a_race
def test_an_error_of_the_block_is_the_one_that_is_raised(kernels):
    with pytest.raises(ZeroDivisionError):
        with pycuda.check("race", raise_findings=True):
            launch_race(kernels)
            raise ZeroDivisionError


@needs_softcuda
@plants_a_race
def test_findings_belong_to_their_block(kernels):
    with pycuda.check("race") as outer:
        launch_race(kernels)
        with pycuda.check("race") as inner:
            launch_clean(kernels)
        assert inner.findings == []
        with pycuda.check("race") as inner:
            launch_race(kernels)
        once = sum(finding.count for finding in inner.findings)
    assert once > 0
    assert sum(finding.count for finding in outer.findings) == 2 * once


@needs_softcuda
@plants_a_race
def test_modes_are_as_before_after_the_block(kernels):
    before = pycuda.check.modes_on()
    with pycuda.check("init"):
        assert "init" in pycuda.check.modes_on()
        with pycuda.check("sync"):
            assert {"init", "sync"} <= set(pycuda.check.modes_on())
    assert pycuda.check.modes_on() == before
    launch_race(kernels)
    with pycuda.check("race") as checks:
        pass
    assert checks.findings == []


def test_modes_are_validated():
    with pytest.raises(ValueError, match="unknown check mode 'memory'; expected 'mem'"):
        pycuda.check("memory")


@pytest.mark.skipif(is_softcuda(), reason="softcuda has check modes")
def test_with_another_driver_the_error_has_instructions(device):
    with pytest.raises(cuda.Error, match="set PYCUDA_DRIVER=softcuda"):
        with pycuda.check("mem"):
            pass


def test_importing_pycuda_does_not_import_the_check(run_program):
    done = run_program(
        """
        import sys
        import pycuda
        assert "pycuda.check" not in sys.modules
        assert "pycuda._driver" not in sys.modules
        assert pycuda.check is sys.modules["pycuda.check"]
        """
    )
    assert done.returncode == 0, done.stderr


@needs_softcuda
def test_environment(run_program):
    done = run_program(PROGRAM, "race", PYCUDA_CHECK="race,mem")
    assert done.returncode == 0, done.stderr
    assert "kernel.cu:5" in done.stderr and "kernel.cu:6" in done.stderr


def test_environment_is_validated(run_program):
    done = run_program(PROGRAM, PYCUDA_CHECK="race,memory", PYCUDA_DRIVER="auto")
    assert done.returncode == 1
    assert "PYCUDA_CHECK" in done.stderr and "check mode 'memory'" in done.stderr
    done = run_program(PROGRAM, PYCUDA_CHECK="race", PYCUDA_DRIVER="nvidia")
    assert done.returncode == 1
    assert "PYCUDA_DRIVER is nvidia; unset one of the two" in done.stderr


BLOCKS = PROGRAM.replace(
    "cuda.Context.synchronize()",
    """
import pycuda
def launch():
    module.get_function("reverse")(data, block=(64, 1, 1))
    cuda.Context.synchronize()
with pycuda.check("race") as checks:
    launch()
if "read" in sys.argv:
    print(checks.report())
if "raise" in sys.argv:
    try:
        with pycuda.check("race", raise_findings=True):
            launch()
    except pycuda.check.CheckError as error:
        print(error)
if "outside" in sys.argv:
    pycuda.check("mem").__enter__()
    module.get_function("fill")(data, np.int32(65), block=(128, 1, 1))
    cuda.Context.synchronize()
""",
)


@needs_softcuda
@pytest.mark.parametrize(
    "arguments, printed",
    [
        ([], ["race"]),
        (["read"], []),
        (["raise"], []),
        (["read", "outside"], ["mem"]),
    ],
)
def test_findings_that_the_program_has_read_are_not_printed_at_its_end(
    run_program, arguments, printed
):
    done = run_program(
        BLOCKS.replace("import sys", f"import sys; sys.argv += {arguments}", 1)
    )
    assert done.returncode == int(
        "outside" in arguments
    )  # an access outside is an error
    assert re.findall(r"^(race|mem): ", done.stderr, re.MULTILINE) == printed, (
        done.stderr
    )
    assert ("reverse" in done.stdout) == (bool(arguments))


@pytest.fixture
def command(tmp_path):
    """Run a command of the package on PROGRAM; returns the finished process."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)

    def run(*arguments, **environment):
        return subprocess.run(
            [sys.executable, "-m", *(str(a) for a in arguments)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={**os.environ, "PYCUDA_DRIVER": "softcuda", **environment},
        )

    return run


@needs_softcuda
def test_command(command):
    done = command("pycuda", "check", "--modes=race,mem", "program.py", "race", "mem")
    assert done.returncode == 1, done.stderr
    assert "Races (race)" in done.stderr and "Invalid use of memory" in done.stderr
    assert "[Invalid __global__ write of size 4 bytes]" in done.stderr
    assert re.search(r"\n[23] findings\n$", done.stderr) and "\x1b" not in done.stderr
    assert "softcuda: the checks found" not in done.stderr  # the library is silent


@needs_softcuda
def test_exit_status_of_the_command(command):
    check = ["pycuda", "check"]
    assert command(*check, "program.py", "clean").returncode == 0
    assert command(*check, "program.py", "clean", "fail").returncode == 3
    assert command(*check, "--modes=mem", "program.py", "race").returncode == 0
    other = command(*check, "--error-exitcode=7", "program.py", "race", "fail")
    assert other.returncode == 7
    own = command(*check, "--error-exitcode=0", "program.py", "race", "fail")
    assert own.returncode == 3
    assert "nothing.exe: No such file" in command(*check, "nothing.exe").stderr
    module = command(*check, "--modes=mem", "-m", "program", "clean", "fail")
    assert module.returncode == 3, module.stderr
    assert "unknown check mode" in command(*check, "--modes=x", "program.py").stderr


@needs_softcuda
def test_json_and_suppressions_of_the_command(command, tmp_path):
    (tmp_path / "known").write_text("# ours\nrace:*:reverse:*:*\n")
    done = command(
        *("pycuda", "check", "--modes=mem,race", "--json=out.json"),
        *("--suppress=known", "program.py", "race", "mem"),
    )
    assert done.returncode == 1, done.stderr
    report = json.loads((tmp_path / "out.json").read_text())
    assert [finding["kind"] for finding in report["findings"]] == ["out-of-bounds"]
    missing = command("pycuda", "check", "--suppress=none", "program.py")
    assert missing.returncode == 2 and "no file of suppressions" in missing.stderr
    nowhere = command("pycuda", "check", "--json=missing/out.json", "program.py")
    assert nowhere.returncode == 2 and "there is no folder" in nowhere.stderr
    full = command("pycuda", "check", "--json=/dev/full", "program.py", "clean")
    assert full.returncode == 2 and "No space left on device" in full.stderr
    assert "0 findings" in full.stderr and "Traceback" not in full.stderr


@needs_softcuda
def test_softcuda_exec(command):
    # "nvidia" is the library that the loader finds as libcuda.so.1
    settings = {
        "PYCUDA_DRIVER": "nvidia",
        "PYCUDA_SOFTCUDA_LIBRARY": cuda.get_driver_path(),
    }
    arguments = ["softcuda.exec", "--check=race", sys.executable, "program.py"]
    done = command(*arguments, "race", **settings)
    assert done.returncode == 1, done.stderr
    assert "Races (race)" in done.stderr and "kernel.cu:6" in done.stderr
    assert command(*arguments, "clean", "fail", **settings).returncode == 3
    wrong = command("softcuda.exec", "--json=x", sys.executable)
    assert wrong.returncode == 2 and "--json and --suppress go with" in wrong.stderr


TESTS = f'''
import numpy as np
import pytest
import pycuda.autoinit
import pycuda.driver as cuda
import pycuda.fft
from pycuda import gpuarray
from pycuda.compiler import SourceModule

module = SourceModule("""{KERNELS}""", nvcc="nvrtc")

def race():
    module.get_function("reverse")(cuda.to_device(np.zeros(64, "i")), block=(64, 1, 1))

def test_clean():
    pass

def test_race():
    race()

@pytest.mark.cuda_check_allow("race")
def test_allowed_mode():
    race()

@pytest.mark.cuda_check_allow("read-after-write", "write-after-read")
def test_allowed_kinds():
    race()

@pytest.fixture
def racing():
    yield
    race()

def test_teardown(racing):
    pass

def test_failure():
    race()
    assert 1 == 2
'''


def run_pytest(tmp_path, *arguments, **environment):
    folder = tmp_path / "suite"
    folder.mkdir(exist_ok=True)
    (folder / "test_kernels.py").write_text(TESTS)
    plugin = ["-p", "no:cacheprovider"]
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-rA", *plugin, *arguments, str(folder)],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=folder,
        env={**os.environ, "PYCUDA_DRIVER": "softcuda", **environment},
    )


def outcomes(done):
    """The results that -rA prints for each test: {"test_race": {"FAILED"}, ...}."""
    found = {}
    for line in done.stdout.splitlines():
        word, _, rest = line.partition(" ")
        if word in ("PASSED", "FAILED", "ERROR") and "::" in rest:
            name = rest.split("::")[1].split()[0]
            found.setdefault(name, set()).add(word)
    return found


@needs_softcuda
def test_pytest_plugin(tmp_path):
    done = run_pytest(tmp_path, "--cuda-check=race")
    assert outcomes(done) == {
        "test_clean": {"PASSED"},
        "test_race": {"FAILED"},
        "test_allowed_mode": {"PASSED"},
        "test_allowed_kinds": {"PASSED"},
        "test_teardown": {"PASSED", "ERROR"},
        "test_failure": {"FAILED"},
    }, done.stdout + done.stderr
    assert "kernels have defects" in done.stdout and "kernel.cu:5" in done.stdout
    assert "assert 1 == 2" in done.stdout and "cuda-check call" in done.stdout


@needs_softcuda
def test_pytest_plugin_without_its_option(tmp_path):
    done = run_pytest(tmp_path, "--strict-markers")
    assert {name for name, words in outcomes(done).items() if "FAILED" in words} == {
        "test_failure"
    }, done.stdout + done.stderr


def test_pytest_plugin_raises_for_unknown_modes(tmp_path):
    done = run_pytest(tmp_path, "--cuda-check=memory")
    assert done.returncode == 4 and "unknown check mode 'memory'" in done.stderr
    done = run_pytest(tmp_path, "--cuda-check=mem", PYCUDA_DRIVER="nvidia")
    assert done.returncode == 4 and "PYCUDA_DRIVER is nvidia" in done.stderr


@needs_softcuda
def test_an_interrupted_allocation_is_freed(device, monkeypatch):
    from pycuda import _call_site

    def interrupted():
        raise KeyboardInterrupt

    pool = cuda.DeviceMemoryPool()
    with pycuda.check("mem"):
        monkeypatch.setattr(_call_site, "call_site", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.allocate(100)
        assert (pool.active_blocks, pool.held_blocks) == (0, 1)
        free = cuda.mem_get_info()[0]
        with pytest.raises(KeyboardInterrupt):
            cuda.mem_alloc(1 << 20)
        assert cuda.mem_get_info()[0] == free
        monkeypatch.undo()


def test_call_site():
    from pycuda._call_site import call_site

    here = textwrap.dedent(call_site())
    assert here.startswith(__file__ + ":") and here.rsplit(":")[1].isdigit()


@needs_softcuda
@plants_a_race
def test_the_page(device, command, tmp_path):
    """The first program of docs/finding_defects.md, and the findings that the page shows."""
    page = (ROOT / "docs" / "finding_defects.md").read_text()
    program, of_a_block, of_a_fault, *_ = re.findall(
        r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )
    (tmp_path / "reverse.py").write_text(program)
    shown = re.search(
        r"reverse\.py\n(.*?)\n\nLine numbers refer to", page, re.DOTALL
    ).group(1)
    done = command("pycuda", "check", "--modes", "race", "reverse.py")
    assert done.returncode == 1, done.stderr

    def shape(text):  # the order of the threads is random
        return [
            re.sub(r"[0-9]+ times|\(\d+,0,0\)", "", line).strip()
            for line in text.splitlines()
        ]

    assert [line for line in shape(shown) if line] == [
        line for line in shape(done.stderr) if line
    ]
    names = {"__name__": "__main__"}
    exec(program, names)
    exec(of_a_block, names)
    assert [finding.kernel for finding in names["checks"].findings] == ["reverse"]
    (tmp_path / "fault.py").write_text(
        program + "array = cuda.to_device(data)\n" + of_a_fault
    )
    done = subprocess.run(
        [sys.executable, "fault.py"], capture_output=True, text=True, cwd=tmp_path
    )
    message, place = done.stdout.splitlines()
    assert "kernel `fill` failed at kernel.cu:5 in block (0,0,0)" in message
    assert place == "kernel.cu 5 fill"


@needs_softcuda
def test_memory_that_numpy_writes_is_initialised(device):
    """On a CPU NumPy computes Fourier transforms in the arrays' own memory."""
    with pycuda.check("init") as checks:
        x = gpuarray.to_gpu(np.arange(60, dtype=np.float32))
        spectrum = pycuda.fft.rfft(x)
        (spectrum * 2).get()
        (spectrum[::-1] * 2).get()
    assert checks.findings == []


FORK = """
import os
import sys
import pycuda.driver as cuda
cuda.init()
child = os.fork()
if child == 0:
    sys.exit(0)  # runs what is to run at exit, as a parent does
sys.exit(os.waitpid(child, 0)[1])
"""


@needs_softcuda
def test_a_forked_child_ends_normally(command, tmp_path):
    (tmp_path / "fork.py").write_text(FORK)
    done = command("pycuda", "check", "--modes=mem", "fork.py")
    assert done.returncode == 0, done.stderr
