"""pycuda.tune(): the fastest variant, and what happens to wrong, slow and failing ones."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import pycuda
import pycuda.driver as cuda
from pycuda import compiler, gpuarray
from pycuda.compiler import SourceModule
from pycuda.tune._arguments import differences
from pycuda.tune._search import Search, coordinates, first_rows
from pycuda.tune._space import Configuration, kernels_in

pytestmark = pytest.mark.usefixtures("device")

SCALE = """
__global__ void scale(float *y, const float *x, int n) {
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
    FAULT
    for (int i = first; i < first + EACH && i < n; ++i) y[i] = 2 * x[i] + y[i];
}
"""
N = 3000


@pytest.fixture
def arrays():
    return gpuarray.ones(N, np.float32), gpuarray.arange(N, dtype=np.float32)


def grid(c):
    return -(-N // (c.threads * c.EACH))


def tune_scale(arrays, faults=("",), **rest):
    """Tune with macros FAULT: a statement at the begin of the kernel, which is wrong in some variants."""
    y, x = arrays
    how = {
        "block": [64],
        "defines": {"EACH": [2], "FAULT": list(faults)},
        "grid": grid,
        "cache_dir": False,
        "repeats": 1,
    }
    return pycuda.tune(SCALE, [y, x, N], **{**how, **rest})


def status_of(tuned):
    return {v.configuration.FAULT: v.status for v in tuned.variants}


def test_best_variant_is_launched(arrays):
    y, x = arrays
    defines = {"EACH": [1, 4], "FAULT": [""]}
    tuned = tune_scale(arrays, block=[32, (64, 1), (128,)], defines=defines)
    assert np.array_equal(y.get(), np.ones(N))  # variants run on copies
    tuned(y, x, N)
    assert np.array_equal(y.get(), 2 * np.arange(N) + 1)
    assert len(tuned.variants) == tuned.choices == 6
    assert {v.status for v in tuned.variants} == {"ok"}
    times = [v.seconds for v in tuned.variants]
    assert times == sorted(times)
    assert tuned.seconds == times[0] > 0
    assert tuned.block == tuned.best.block
    assert tuned.grid == (grid(tuned.best), 1, 1)


def test_inputs_are_restored_between_runs(arrays):
    # y += 2 x gives another result in each run unless y is restored.
    tuned = tune_scale(arrays, block=[32, 64, 128], repeats=5)
    assert [v.status for v in tuned.variants] == ["ok"] * 3


def test_wrong_variant_is_found(arrays):
    faults = ["", "if (first == 0) return;", "n -= 1;"]
    found = status_of(tuned := tune_scale(arrays, faults))
    assert found == {"": "ok", faults[1]: "differs", faults[2]: "differs"}
    assert tuned.best.FAULT == ""
    note = next(v.note for v in tuned.variants if v.configuration.FAULT == faults[2])
    assert "argument 1: element 2999 is 1, not 5999" in note
    assert "the first one may be wrong" in tuned.summary()


def test_expected_result_replaces_the_first_variant(arrays):
    right = 2 * np.arange(N) + 1
    faults = ["n -= 1;", ""]
    tuned = tune_scale(arrays, faults, expected=[right, None, None])
    assert status_of(tuned) == {"n -= 1;": "differs", "": "ok"}


def test_hanging_variant_costs_its_limit_only(arrays):
    hang = "while (((volatile float *)y)[0] < 9) { }"
    tuned = tune_scale(arrays, ["", hang, "n += 0;"], limit=0.5)
    assert status_of(tuned) == {"": "ok", hang: "hangs", "n += 0;": "ok"}
    assert "no end within 0.5 s" in tuned.table()
    y, x = arrays
    tuned(y, x, N)  # this process's context works
    assert y.get()[1] == 3


def test_compiling_is_no_part_of_the_limit(arrays):
    # Hundreds of operations take longer to compile on softcuda than to run; the limit is for the run.
    work = "".join(f"n += __float2int_rn(sinf(x[0] * {i})) * 0;" for i in range(60))
    tuned = tune_scale(arrays, ["", work], limit=0.1)
    assert status_of(tuned) == {"": "ok", work: "ok"}


def test_failing_variants_say_why(arrays):
    faults = ["", "*(int *)16 = 1;", "undeclared = 1;", "__trap();"]
    # A GPU that other processes use, too, may need seconds to stop a kernel with a fault.
    tuned = tune_scale(arrays, faults, limit=20)
    assert list(status_of(tuned).values()) == ["ok", "failed", "failed", "failed"]
    notes = {v.configuration.FAULT: v.note for v in tuned.variants}
    assert "illegal" in notes[faults[1]] or "illegal" in notes[faults[3]]
    assert "undeclared" in notes[faults[2]]


def test_first_variant_may_fail(arrays):
    tuned = tune_scale(arrays, ["undeclared = 1;", "__trap();", ""])
    assert tuned.best.FAULT == ""


def test_no_variant_is_an_error_with_reasons(arrays):
    with pytest.raises(
        RuntimeError,
        match=r"(?s)the only variant cannot be used.*undeclared.*is undefined",
    ):
        tune_scale(arrays, ["undeclared = 1;"])
    with pytest.raises(RuntimeError, match=r"(?s)hangs.*limit="):
        tune_scale(arrays, ["while (((volatile float *)y)[0] < 9);"], limit=0.2)


def test_template_arguments_and_numpy_arguments():
    source = """
    template <class T, int EACH> __global__ void fill(T *x, int n) {
        for (int i = 0; i < EACH; ++i)
            if (int at = (blockIdx.x * EACH + i) * blockDim.x + threadIdx.x; at < n) x[at] = at;
    }"""
    x = np.zeros(1000, np.float32)
    tuned = pycuda.tune(
        source, [x, 1000], block=[32, 64], template={"T": ["float"], "EACH": [1, 3]},
        grid=lambda c: -(-1000 // (c.threads * c["EACH"])), cache_dir=False, repeats=1,
        options=["-std=c++17"],
    )  # fmt: skip
    assert len(tuned.variants) == 4
    tuned(cuda.InOut(x), 1000)
    assert np.array_equal(x, np.arange(1000))


def test_block_macros_shared_memory_and_constants():
    source = """
    __constant__ float factor;
    extern __shared__ float tile[];
    __global__ void turn(float *y, const float *x) {
        tile[threadIdx.x] = x[blockIdx.x * WIDTH + threadIdx.x];
        __syncthreads();
        y[blockIdx.x * WIDTH + WIDTH - 1 - threadIdx.x] = factor * tile[threadIdx.x];
    }"""
    x, y = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    tuned = pycuda.tune(
        source, [cuda.Out(y), cuda.In(x)], block={"x": [256]},
        defines={"WIDTH": lambda c: c.block[0], "UNUSED": lambda c: None},
        shared=lambda c: 4 * c.threads, constants={"factor": np.float32(3)},
        grid=1, cache_dir=False, expected=[3 * x[::-1], None],
    )  # fmt: skip
    tuned(cuda.Out(y), cuda.In(x))
    assert np.array_equal(y, 3 * x[::-1])


def test_module_kernel_and_function_as_source(arrays):
    y, x = arrays
    module = SourceModule(SCALE, options=["-DEACH=2", "-DFAULT="])
    how = {"block": [64, 128], "cache_dir": False, "repeats": 1}
    wide = {**how, "grid": lambda c: -(-N // (c.threads * 2))}
    for kernel in (module, module.get_function("scale")):
        assert len(pycuda.tune(kernel, [y, x, N], **wide).variants) == 2

    def source(c):
        return SCALE.replace("EACH", str(c.threads // 32)).replace("FAULT", "")

    tuned = pycuda.tune(
        source,
        [y, x, N],
        name="scale",
        grid=lambda c: -(-N * 32 // c.threads**2),
        **how,
    )
    assert len(tuned.variants) == 2
    ptx = cuda.module_from_buffer(compiler.compile("__global__ void nop() {}"))
    with pytest.raises(TypeError, match="source of the kernel nop is not known"):
        pycuda.tune(ptx.get_function("nop"), [], grid=1, **how)


def test_best_is_kept_on_disk(arrays, tmp_path):
    first = tune_scale(arrays, block=[64, 128], cache_dir=tmp_path)
    again = tune_scale(arrays, block=[64, 128], cache_dir=tmp_path)
    assert not first.is_from_cache
    assert again.is_from_cache
    assert again.best == first.best
    assert again.variants == first.variants
    y, x = arrays
    again(y, x, N)
    assert y.get()[1] == 3
    # Another size, other variants and another source are other problems.
    half = [array[: N // 2] for array in arrays]
    other = pycuda.tune(
        SCALE, [*half, N // 2], block=[64, 128], defines={"EACH": [2], "FAULT": [""]},
        grid=grid, cache_dir=tmp_path, repeats=1,
    )  # fmt: skip
    assert not other.is_from_cache
    assert not tune_scale(arrays, cache_dir=tmp_path).is_from_cache


def test_damaged_entry_is_no_entry(arrays, tmp_path):
    tune_scale(arrays, cache_dir=tmp_path)
    entries = [
        path
        for path in tmp_path.rglob("*.image")
        if path.read_bytes().startswith(b"PyCUDA tuned")
    ]
    assert len(entries) == 1
    entries[0].write_bytes(entries[0].read_bytes()[:-5])
    assert not tune_scale(arrays, cache_dir=tmp_path).is_from_cache


def test_decorator_tunes_for_each_size():
    calls = []

    @pycuda.tune(
        SCALE, block=[64, 128], defines={"EACH": [2], "FAULT": [""]}, repeats=1,
        cache_dir=False,
    )  # fmt: skip
    def scale(c, y, x, n):
        """The grid of a variant."""
        calls.append(n)
        return -(-n // (c.threads * c.EACH))

    for n in (100, 100, 200):
        y, x = gpuarray.zeros(n, np.float32), gpuarray.ones(n, np.float32)
        scale(y, x, n)
        assert np.array_equal(y.get(), np.full(n, 2))
    assert scale.__doc__ == "The grid of a variant."
    assert set(calls) == {100, 200}
    assert scale.tuned(y, x, n) is scale.tuned(y, x, n)


def test_search_runs_a_fifth_of_many_variants(arrays):
    blocks = [32 * i for i in range(1, 17)]
    tuned = tune_scale(
        arrays, block=blocks, defines={"EACH": [1, 2], "FAULT": [""]}, repeats=1
    )
    assert tuned.choices == 32
    assert 3 <= len(tuned.variants) <= 6
    assert tuned.best.block == tuned.variants[0].configuration.block


def synthetic_time(block, tile, pad):
    """Milliseconds of an imagined kernel: reuse grows with the tile, registers limit the warps."""
    occupancy = min(2048 // block, 65536 // ((20 + 5 * tile) * block)) * block / 2048
    return (1 + 3 / tile) * (1.2 if pad else 1) / max(occupancy, 1e-3) + 16 / block


def test_search_finds_a_good_variant_of_an_imagined_kernel():
    choices = [
        (32 * b, tile, pad)
        for b in range(1, 33)
        for tile in (1, 2, 4, 8)
        for pad in (0, 1)
    ]
    times = [synthetic_time(*choice) for choice in choices]
    search = Search(coordinates(choices))
    model = np.zeros(len(choices))
    row = 0
    for _ in range(len(choices) // 5):
        search.add(row, times[row])
        rows, may_end = search.ranked(model, 1)
        if may_end:
            break
        row = rows[0]
    assert min(times[r] for r in search._logs) < 1.05 * min(times)


def test_search_begins_in_the_middle():
    points = coordinates([((x, y, 1),) for x in (1, 2, 4, 8, 16) for y in (1, 2, 4)])
    middle, *others = first_rows(points, most=3)
    assert middle == 7 and others[0] in (0, 2, 12, 14)  # (4, 2), and a corner
    assert len(first_rows(points, most=6)) == 3
    assert first_rows(np.zeros((1, 1)), most=1) == [0]


def test_recorded_times_are_replayed(tmp_path):
    widths, heights = {32: 3.0, 64: 1.5, 128: 1.0, 256: 1.2}, [1, 2, 4, 8, 16]
    rows = {
        f"{x},{y}": {"block_size_x": x, "block_size_y": y, "time": time + y / 1000}
        for x, time in widths.items()
        for y in heights
    }
    rows["256,16"]["time"] = "RuntimeFailedConfig"
    parameters = {"block_size_x": list(widths), "block_size_y": heights}
    table = {"problem_size": [4096, 4096], "tune_params": parameters, "cache": rows}
    file = tmp_path / "table.json"
    file.write_text(
        json.dumps(table, indent="")[:-3] + ","
    )  # a search that was stopped
    program = Path(__file__).resolve().parents[3] / "benchmarks/tune_replay.py"
    command = [sys.executable, program, "--rounds", "2", file]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].split()[:3] == ["table.json", "1", "100%"]


def test_differences():
    one = np.array([1, 2, np.nan, np.inf], np.float32)
    other = one.copy()
    other[0] += 1e-4
    view = [a.view(np.uint8) for a in (one, other)]
    assert differences(*view, "<f4", None) == ""
    assert "element 0 is 1, not 1.0001" in differences(*view, "<f4", 1e-6)
    other[2] = 0
    assert "element 2 is nan, not 0" in differences(*view, "<f4", None)
    assert "element 1 is 2, not 3" in differences(
        np.array([1, 2]).view(np.uint8), np.array([1, 3]).view(np.uint8), "<i8", 0.5
    )


def test_kernel_names():
    source = """
    // __global__ void old(int);
    const char *text = "__global__ void no()";
    extern "C" __global__ __launch_bounds__(256, 2) void one(int *x) {}
    template <class T> static __global__ void __launch_bounds__(N * (2)) two(T x);
    """
    assert kernels_in(source) == ["one", "two"]


def test_configuration():
    c = Configuration({"block": (32, 4, 1), "TILE": 2})
    assert (c.threads, c.TILE, c["TILE"], c.block) == (128, 2, 2, (32, 4, 1))
    assert dict(c) == {"block": (32, 4, 1), "TILE": 2}
    with pytest.raises(AttributeError, match="no 'TILF'; it has block, TILE"):
        _ = c.TILF
    with pytest.raises(AttributeError):
        c.TILE = 3


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"block": []}, ValueError, "block has no value"),
        ({"block": [(1, 2, 3, 4)]}, TypeError, "up to three ints"),
        ({"block": ["32"]}, TypeError, "up to three ints"),
        ({"block": [0]}, ValueError, "at least 1"),
        ({"block": {"w": [1]}}, ValueError, '"x", "y" and "z"'),
        ({"block": [2048]}, ValueError, "all 1 have more than 1024 threads"),
        ({"restrict": lambda c: False}, ValueError, "restrict refuses all of 1"),
        ({"restrict": lambda c: c.TILE}, ValueError, "restrict raised AttributeError .*has no 'TILE'"),
        ({"restrict": "EACH > 1"}, TypeError, "restrict must be a function"),
        ({"grid": lambda c: 1.5}, TypeError, "grid must be an int"),
        ({"grid": lambda c: 0}, ValueError, "grid must be at least 1"),
        ({"grid": None}, TypeError, "grid is missing"),
        ({"shared": -1}, TypeError, "number of bytes"),
        ({"defines": {"EACH": 3}}, TypeError, "EACH must be a list"),
        ({"defines": {"EACH": []}}, ValueError, "EACH has no value"),
        ({"defines": {"2": [1]}}, ValueError, "not a valid name of a macro"),
        ({"defines": {"block": [1]}}, ValueError, "rename it"),
        ({"limit": 0}, ValueError, "limit must be"),
        ({"repeats": 0}, ValueError, "repeats must be"),
        ({"evaluations": 0}, ValueError, "evaluations must be"),
        ({"options": "-O3"}, TypeError, "list of strings"),
        ({"expected": [None]}, ValueError, "1 entries for 3 arguments"),
        ({"expected": [None, None, 1]}, ValueError, "argument 3, which is no array"),
        ({"expected": [np.zeros(3), None, None]}, ValueError, "12 bytes for argument 1"),
    ],
)  # fmt: skip
def test_errors_name_what_is_wrong(arrays, change, kind, text):
    with pytest.raises(kind, match=text):
        tune_scale(arrays, **change)


def test_arguments_that_cannot_be_copied(arrays):
    y, x = arrays
    how = {"block": [64], "grid": 1, "defines": {"EACH": [1], "FAULT": [""]}}
    with pytest.raises(TypeError, match="argument 1 is an address"):
        pycuda.tune(SCALE, [int(y.gpudata), x, N], **how)
    with pytest.raises(TypeError, match="argument 2 is a view with gaps"):
        pycuda.tune(SCALE, [y, x[::2], N], **how)
    with pytest.raises(TypeError, match="argument 2 is a list"):
        pycuda.tune(SCALE, [y, [1.0], N], **how)
    with pytest.raises(TypeError, match="argument 3|argument 2"):
        pycuda.tune(SCALE, [y, x, 1.5], cache_dir=False, **how)
    with pytest.raises(ValueError, match="2 kernels \\(scale, scale2\\)"):
        twice = SCALE + SCALE.replace("scale", "scale2")
        pycuda.tune(twice, [y, x, N], **how)


def test_table_and_plot(arrays, tmp_path):
    tuned = tune_scale(arrays, ["", "n -= 1;"], block=[64, (32, 2)])
    table = tuned.table()
    assert table.startswith("best of 4 variants: block=")
    assert "registers" in table
    assert "differs" in table
    assert str(tuned) == table
    assert "<table>" in tuned._repr_html_()
    pytest.importorskip("matplotlib")
    axes = tuned.plot(tmp_path / "plot.png").axes[0]
    assert (tmp_path / "plot.png").stat().st_size > 1000
    assert axes.get_ylabel() in ("time in ms", "time in µs")
    labels = [label.get_text() for label in axes.get_yticklabels(which="both")]
    assert any(labels)
    assert not any("10^" in label for label in labels)


def test_plot_without_matplotlib_says_what_to_install(arrays, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        tune_scale(arrays).plot()


def test_import_does_not_load_the_tuner():
    program = (
        "import sys, pycuda; sys.exit(any('tune' in name for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_no_process_remains(arrays):
    hang = "while (((volatile float *)y)[0] < 9) { }"
    tune_scale(arrays, ["", hang], limit=0.2)
    end = time.monotonic() + 5
    while time.monotonic() < end:
        listing = subprocess.run(
            ["ps", "-eo", "ppid,args"], capture_output=True, text=True
        )
        mine = [
            line
            for line in listing.stdout.splitlines()
            if line.split()[0] == str(os.getpid()) and "pycuda.tune" in line
        ]
        if not mine:
            return
        time.sleep(0.1)
    raise AssertionError(mine)
