"""tools/course_results.py runs the cells of a chapter, and keeps their results by the chapter's text."""

import base64
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import course_results  # noqa: E402

pytest.importorskip("IPython")

CHAPTER = """# A chapter

```{code-cell} ipython3
%load_ext pycuda.ipython
from grading import right
```

```{code-cell} ipython3
%%cuda
#include <cstdio>
__global__ void hello() { printf("hello from a kernel\\n"); }
```

```{code-cell} ipython3
:tags: [exercise]

import pycuda.driver
print("before")
hello(block=(1, 1, 1))
pycuda.driver.Context.synchronize()
print("after")
```

```{code-cell} ipython3
right + 1
```
"""


@pytest.fixture
def chapter(tmp_path):
    (tmp_path / "grading.py").write_text("right = 41\n")
    path = tmp_path / "01_first.md"
    path.write_text(CHAPTER)
    return path


def test_results_of_cells(chapter):
    found = course_results.results([chapter], chapter.parent / "kept")["01_first"]
    assert len(found) == 4
    assert found[0]["text"].startswith("PyCUDA runs on softcuda")
    assert found[2] == {"text": "before\nhello from a kernel\nafter", "picture": ""}
    assert found[3]["text"] == "42"


def test_a_chapter_runs_again_only_if_its_text_has_changed(chapter):
    chapter.write_text("```{code-cell} ipython3\nimport os\nos.getpid()\n```\n")
    kept = chapter.parent / "kept"
    first = course_results.results([chapter], kept)
    assert course_results.results([chapter], kept) == first
    chapter.write_text(chapter.read_text() + "\nMore.\n")
    assert course_results.results([chapter], kept) != first


def test_a_picture_is_kept(chapter):
    pytest.importorskip("matplotlib")
    cell = "import matplotlib.pyplot as plt\nplt.plot([1, 2]);"
    chapter.write_text(f"```{{code-cell}} ipython3\n{cell}\n```\n")
    [[found]] = course_results.results([chapter], chapter.parent / "kept").values()
    assert base64.b64decode(found["picture"]).startswith(b"\x89PNG")


def test_a_cell_that_fails_ends_the_build(chapter, capfd):
    chapter.write_text("```{code-cell} ipython3\n1 / 0\n```\n")
    with pytest.raises(SystemExit, match="01_first.md failed"):
        course_results.results([chapter], chapter.parent / "kept")
    assert "ZeroDivisionError" in capfd.readouterr().err
