"""Each chapter of docs/course runs from its first cell to its last, and its exercises are graded."""

import re
import sys
from pathlib import Path

import pytest
from conftest import is_softcuda

FOLDER = Path(__file__).resolve().parents[3] / "docs/course"
CHAPTERS = sorted(FOLDER.glob("[0-9]*.md"))
CELL = re.compile(
    r"^```(\{code-cell\} ipython3|cuda|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
TAGS = re.compile(r"^:tags: \[(.*)\]\n\n")

interactive = pytest.importorskip("IPython.core.interactiveshell")


def cells(chapter: Path) -> list[tuple[str, str]]:
    """The cells as (tag, text); solutions have the tag "solution"."""
    found = []
    for language, text in CELL.findall(chapter.read_text()):
        tags = TAGS.match(text)
        tag = tags[1] if tags else ""
        text = text[tags.end() :] if tags else text
        found.append((tag if language.startswith("{") else "solution", text))
    return found


@pytest.fixture
def run(device, capsys, monkeypatch):
    """Runs a cell; returns what it printed."""
    monkeypatch.chdir(FOLDER)
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setitem(sys.modules, "grading", None)
    del sys.modules["grading"]
    shell = interactive.InteractiveShell()

    def run_cell(text: str) -> str:
        capsys.readouterr()
        done = shell.run_cell(text, store_history=True)
        printed = "".join(capsys.readouterr())
        assert done.success, f"{text}\n{printed}"
        return printed

    yield run_cell
    shell.reset()


def test_there_are_twelve_chapters_with_two_exercises_each():
    assert len(CHAPTERS) == 12
    listed = re.findall(
        r"^(\d\d_\w+)$", (FOLDER / "index.md").read_text(), re.MULTILINE
    )
    assert listed == [chapter.stem for chapter in CHAPTERS]
    for chapter in CHAPTERS:
        tags = [tag for tag, _ in cells(chapter)]
        assert (
            tags.count("exercise") == tags.count("grade") == tags.count("solution") == 2
        )


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_chapter(run, chapter):
    grading = ""
    for tag, text in cells(chapter):
        if tag == "softcuda" and not is_softcuda():
            continue
        printed = run(text)
        if tag == "grade":  # the exercise is not solved yet
            grading = text
            assert "not yet" in printed, printed
        elif tag == "solution":
            printed = run(grading)
            assert ": right" in printed and "not yet" not in printed, printed


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda path: path.stem)
def test_printed_results_are_those_of_the_text(run, chapter):
    """A comment behind print(a) that shows one array or number is what the cell prints."""
    for tag, text in cells(chapter):
        if tag in ("exercise", "grade", "solution") or (
            tag == "softcuda" and not is_softcuda()
        ):
            continue
        printed = run(text)
        for shown in re.findall(
            r"^print\(\w+(?:\.get\(\))?\) +# (.*)$", text, re.MULTILINE
        ):
            assert shown in printed, (shown, printed)


#: Answers that are wrong in a way that the right result does not show: chapter, exercise of the chapter, the text of the
#: exercise that the answer replaces, the answer, and the grade.
WRONG_ANSWERS = [
    ("02", 2, "    return a\n", "    for _ in range(times):\n        scale(cuda.InOut(a), 2.0, a.size, grid=(2, 1), block=(256, 1, 1))\n    return a\n", "14 copies; at most 2"),
    ("04", 1, "= tile[t];", "= tile[(t + blockDim.x - 1) % blockDim.x];", "write-after-read"),
    ("05", 2, "tile[t] += left", "__syncthreads(); tile[t] += left", "the result is right; the check modes found"),
    ("06", 1, "tile[t] += tile[t + half]", "tile[t] = max(tile[t], tile[t + half])", "is 0, expected -"),
    ("08", 1, "find_range", "find_ranges", "name 'find_range' is not defined; correct its cell"),
    ("10", 2, "    with second:", "    first.synchronize()\n    with second:", "the host has waited"),
]  # fmt: skip


@pytest.mark.skipif(not is_softcuda(), reason="softcuda has the check modes")
@pytest.mark.parametrize(
    "answer", WRONG_ANSWERS, ids=[f"{one[0]}_{one[1]}" for one in WRONG_ANSWERS]
)
def test_a_wrong_answer_is_not_right(run, answer):
    number, exercise, replaced, wrong, grade = answer
    chapter = next(path for path in CHAPTERS if path.stem.startswith(number))
    left = 2 * exercise  # an exercise and its grade
    for tag, text in cells(chapter):
        if tag in ("exercise", "grade"):
            left -= 1
        if left == 1 and tag == "exercise":
            assert replaced in text
            text = text.replace(replaced, wrong, 1)
        if tag != "solution":
            printed = run(text)
        if left == 0:
            break
    assert "not yet" in printed and grade in printed, printed


def test_a_result_of_none_is_named(run):
    """A function without a return is a beginner's mistake; `shape ()` would explain nothing."""
    assert "the result is None" in run(
        'from grading import grade\ngrade("0.1", lambda: None, [1, 2])'
    )


@pytest.mark.skipif(not is_softcuda(), reason="softcuda has the check modes")
def test_a_wrong_result_shows_what_the_check_modes_found(run):
    """A race may change the result, and explains it better than the first wrong element does."""
    run(
        "%load_ext pycuda.ipython\nimport numpy as np, pycuda.driver as cuda\nfrom grading import grade"
    )
    run(
        "%%cuda\n__global__ void turn(int *a) { __shared__ int t[64]; int i = threadIdx.x; t[i] = a[i];"
        " a[i] = t[63 - i]; }"
    )
    run(
        "def go():\n    a = np.arange(64, dtype=np.int32)\n    turn(cuda.InOut(a), block=(64, 1, 1))\n    return a"
    )
    printed = run('grade("0.1", go, np.zeros(64))')
    assert re.search(
        r"not yet: element \d+ is -?\d+, expected 0.*; the check modes found a defect:\nRaces",
        printed,
    ), printed


def test_after_a_fault_the_next_answer_is_graded(run_program):
    """A wrong index may end the context. The student corrects the kernel, and continues."""
    wrong, right = ("a[n + (1 << 30)] = i;", "a[i] = i;")
    cell = "%%cuda\n__global__ void fill(int *a, int n) {{ int i = threadIdx.x; {} }}"
    done = run_program(
        f"""
        import sys
        from IPython.core.interactiveshell import InteractiveShell
        sys.path.insert(0, {str(FOLDER)!r})
        shell = InteractiveShell.instance()
        run = lambda text: shell.run_cell(text, store_history=True).success
        assert run("%load_ext pycuda.ipython")
        assert run("import numpy as np, pycuda.driver as cuda\\nfrom grading import grade")
        assert run({cell.format(wrong)!r})
        assert run('''def go():
            a = np.zeros(8, np.int32)
            fill(cuda.Out(a), a.size, block=(8, 1, 1))
            return a
        ''')
        grading = 'grade("0.1", go, np.arange(8))'
        assert run(grading)
        assert run(grading)  # the kernel is of the context that has ended
        assert run({cell.format(right)!r})
        assert run(grading)
        """
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        "exercise 0.1: not yet: " in done.stdout
        and "illegal memory access" in done.stdout
    )
    assert "Run the cells again that make the arrays and kernels" in done.stdout
    assert done.stdout.endswith("exercise 0.1: right\n")


def test_a_lost_context_has_no_traceback_of_the_magic(run_program):
    cell = "%%cuda\n__global__ void wild(int *a) { a[1ll << 40] = 1; }"
    done = run_program(
        f"""
        from IPython.core.interactiveshell import InteractiveShell
        shell = InteractiveShell()
        run = lambda text: shell.run_cell(text, store_history=True).success
        assert run("%load_ext pycuda.ipython") and run({cell!r})
        run("from pycuda import gpuarray\\nwild(gpuarray.zeros(4, 'i4'), block=(1, 1, 1)); gpuarray.zeros(4, 'i4').get()")
        print("-----")
        assert not run({cell!r})
        """
    )
    assert done.returncode == 0, done.stderr
    after = done.stdout.split("-----\n")[1]
    assert "Traceback" not in after and "%cuda_reset makes a new one" in after
    assert len(after.splitlines()) <= 4, after
