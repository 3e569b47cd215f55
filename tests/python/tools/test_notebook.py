"""The magics of a notebook, in a real IPython shell."""

import numpy as np
import pytest
from conftest import is_softcuda

from pycuda.ipython import Cells, without_kernels

interactive = pytest.importorskip("IPython.core.interactiveshell")


@pytest.fixture
def shell(device, capsys):
    found = interactive.InteractiveShell.instance()
    found.run_line_magic("load_ext", "pycuda.ipython")
    found.push({"np": np})
    capsys.readouterr()
    yield found
    found.reset()
    interactive.InteractiveShell.clear_instance()


def run(shell, text):
    """Run a cell as a notebook does, with a number."""
    return shell.run_cell(text, store_history=True)


def test_a_cell_of_cuda(shell, capsys):
    run(
        shell,
        "%%cuda -std=c++17\n__global__ void twice(float *a) { a[threadIdx.x] *= 2; }",
    )
    assert capsys.readouterr().out == "kernels: twice\n"
    run(shell, "import pycuda.driver as cuda\na = np.ones(4, np.float32)")
    assert run(shell, "twice(cuda.InOut(a), block=(4, 1, 1))").success
    assert shell.user_ns["a"].tolist() == [2] * 4


def test_an_error_shows_the_compilers_lines_and_no_traceback(shell, capsys):
    assert not run(
        shell, "%%cuda\n__global__ void f(float *a) {\n    a[0] = b;\n}"
    ).success
    shown = "".join(capsys.readouterr())
    assert 'cell 1(3): error: identifier "b" is undefined' in shown
    assert "a[0] = b;" in shown
    assert "Traceback" not in shown and "-----" not in shown
    assert len(shown.splitlines()) <= 5


def test_the_advice_of_an_error_is_an_option_of_the_magic(shell, capsys):
    template = "template <class T> __global__ void f(T *a) { *a = 1; }"
    assert not run(shell, f"%%cuda\n{template}").success
    assert "no_extern_c=True" in "".join(capsys.readouterr())
    assert run(
        shell, f"%%cuda no_extern_c=True name_expressions=['f<int>']\n{template}"
    ).success


def test_an_option_that_no_compiler_has(shell, capsys):
    assert not run(shell, "%%cuda --no-such-option\n__global__ void f() {}").success
    shown = "".join(capsys.readouterr())
    assert "unrecognized option --no-such-option" in shown
    assert shown.count("(") == shown.count(")")


def test_unknown_words(shell, capsys):
    assert not run(shell, "%%cuda banana=1\n__global__ void f() {}").success
    shown = "".join(capsys.readouterr())
    assert "%%cuda has no parameter 'banana'" in shown and "no_extern_c" in shown


def test_a_word_without_a_meaning(shell, capsys):
    assert not run(shell, "%%cuda banana\n__global__ void f() {}").success
    shown = "".join(capsys.readouterr())
    assert "%%cuda has no parameter 'banana'" in shown and "fatal" not in shown


def test_options_of_two_words(shell, capsys, tmp_path):
    (tmp_path / "own.h").write_text("enum { OWN = N };")
    source = '#include "own.h"\n__global__ void f(int *a) { *a = OWN; }'
    assert run(shell, f"%%cuda -I {tmp_path} -D N=1\n{source}").success, (
        capsys.readouterr()
    )


def test_a_template_without_an_instance(shell, capsys):
    template = "template <class T> __global__ void f(T *a) { *a = 1; }"
    assert not run(shell, f"%%cuda\n{template}").success
    shown = "".join(capsys.readouterr())
    assert "%%cuda no_extern_c=True" in shown and "Linkage" not in shown
    assert run(shell, f"%%cuda no_extern_c=True\n{template}").success
    assert "_cuda_module.get_function" in "".join(capsys.readouterr())
    assert run(shell, 'f = _cuda_module.get_function("f<float>")').success


def test_functions_of_earlier_cells(shell, capsys):
    run(shell, "%%cuda\n#define HALF(x) ((x) / 2)\nstruct Pair { int a, b; };")
    run(shell, "%%cuda\n__device__ int sum(Pair p) { return p.a + p.b; }")
    used = "__global__ void f(int *z) { Pair p = {HALF(8), 5}; *z = sum(p); }"
    assert run(shell, f"%%cuda\n{used}").success, capsys.readouterr()
    run(
        shell,
        "import pycuda.driver as cuda\nz = np.zeros(1, np.int32)\nf(cuda.Out(z), block=(1, 1, 1))",
    )
    assert shell.user_ns["z"][0] == 9
    # A function that a cell defines itself does not clash with that of an earlier one.
    assert run(
        shell,
        "%%cuda\n__device__ int sum(int a) { return a; }\n__global__ void g() { sum(1); }",
    ).success


def test_without_kernels():
    source = """// __global__ void no() {}
#define N 4
__device__ int twice(int x) { return 2 * x; }
__global__ void f(int *a) {
    if (a) { *a = '}'; }
}
template <class T>
__global__ void g(T *a) { *a = twice(N); }
struct S { int x; };
__global__ void declared(int *);
"""
    kept = without_kernels(source)
    assert kept.count("\n") == source.count("\n")
    assert "twice(int x)" in kept and "struct S" in kept and "#define N 4" in kept
    assert "*a" not in kept and "template" not in kept and "declared" not in kept
    assert without_kernels("int x;") == "int x;"


def test_a_cell_that_is_run_again_replaces_itself(device):
    cells = Cells()
    cells.compile("", "__device__ int one() { return 1; }", "cell 1")
    cells.compile("", "__device__ int one() { return 2; }", "cell 2")
    module = cells.compile("", "__global__ void f(int *a) { *a = one(); }", "cell 3")
    from pycuda import gpuarray

    a = gpuarray.zeros(1, np.int32)
    module.get_function("f")(a, block=(1, 1, 1))
    assert a.get()[0] == 2


@pytest.mark.skipif(
    not is_softcuda(), reason="only softcuda has check modes and profiles"
)
def test_check_and_profile(shell, capsys):
    racing = "__global__ void f(int *a) { *a = threadIdx.x; }"
    run(shell, f"%%cuda\n{racing}")
    run(shell, "from pycuda import gpuarray\na = gpuarray.zeros(1, np.int32)")
    run(shell, "%%cuda_check race found\nf(a, block=(64, 1, 1))")
    shown = capsys.readouterr().out
    assert "cell 1:2" in shown and "race" in shown
    assert shell.user_ns["found"].findings
    run(shell, "%%cuda_check mem\na.fill(1)")
    assert "0 findings" in capsys.readouterr().out
    run(
        shell,
        "%%cuda_check mem\nb = gpuarray.zeros(31, np.int32)\nf(b.ptr + 124, block=(1, 1, 1))",
    )
    shown = capsys.readouterr().out
    assert "allocated at cell 5:2" in shown, shown
    run(shell, "%%cuda_profile p\nf(a, block=(64, 1, 1))")
    assert shell.user_ns["p"].kernels
    assert not run(shell, "%%cuda_profile p\nraise KeyError(3)").success


@pytest.mark.parametrize("mode", ["races", "racecheck", "memory"])
def test_a_misspelt_mode_is_no_name(shell, mode):
    done = run(shell, f"%%cuda_check {mode}\nx = 1")
    assert "the modes are mem, race" in str(
        done.error_in_exec or done.error_before_exec
    )
    assert "x" not in shell.user_ns


@pytest.mark.parametrize(
    "cell", ["%%cuda_check nem\nx = 1", "%%cuda_profile 1p\nx = 1", "%cuda_reset now"]
)
def test_a_wrong_word_shows_one_line(shell, capsys, cell):
    assert not run(shell, cell).success
    shown = "".join(capsys.readouterr())
    assert "Traceback" not in shown and "ipython.py" not in shown, shown


@pytest.mark.cuda
def test_after_a_fault_a_new_context_is_made(run_program):
    pytest.importorskip("IPython")
    done = run_program(
        """
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell()
        run = lambda text: shell.run_cell(text, store_history=True)
        run("%load_ext pycuda.ipython")
        run("%%cuda\\n__global__ void wild(int *a) { a[1ll << 40] = 1; }")
        run("import numpy as np\\nfrom pycuda import gpuarray\\na = gpuarray.zeros(4, np.int32)")
        assert not run("wild(a, block=(1, 1, 1)); a.get()").success
        assert not run("gpuarray.zeros(4, np.int32)").success
        assert run("%cuda_reset").success
        assert run("b = gpuarray.arange(4, dtype=np.int32) + 1\\nassert b.get().tolist() == [1, 2, 3, 4]").success
        assert not run("a + 1").success  # of the context that was reset
        assert run("(b + 1).get()").success
        print("end")
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("%cuda_reset makes a new one") >= 2
    assert done.stdout.endswith("end\n")


def test_a_warning_of_the_compiler_is_its_lines_alone(shell, capsys):
    cell = "%%cuda\n__global__ void idle(int *a)\n{\n    int i = threadIdx.x;\n}"
    assert run(shell, cell).success
    printed = capsys.readouterr().out
    assert printed.startswith("cell ") and 'warning #177-D: variable "i"' in printed
    assert (
        "succeeded" not in printed and "Remark" not in printed and "\n\n" not in printed
    )
    assert printed.endswith("kernels: idle\n")
