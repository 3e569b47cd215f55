"""course_results.py -- the results of the cells of docs/course, for the site.

tools/docs_site.py calls results(). Each chapter runs on softcuda in a process of its own, from its first cell to its last.
The results are kept in build/docs/results by the text of the chapter, so that a chapter runs again only if it has changed.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

CELL = re.compile(
    r"^```\{code-cell\} ipython3\n(?::tags: [^\n]*\n\n)?(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
# Without a GPU, without a line about that, and without a window for pictures.
ENVIRONMENT = {"PYCUDA_DRIVER": "softcuda", "PYCUDA_QUIET": "1", "MPLBACKEND": "Agg"}


def results(chapters: list[Path], kept: Path) -> dict[str, list[dict[str, str]]]:
    """For each chapter's name its cells' results: {"text": ..., "picture": a PNG in base64}, "" if there is none."""
    kept.mkdir(parents=True, exist_ok=True)

    def result(chapter: Path) -> list[dict[str, str]]:
        texts = [chapter, chapter.with_name("grading.py"), Path(__file__)]
        key = hashlib.sha256(b"\0".join(path.read_bytes() for path in texts))
        path = kept / f"{chapter.stem}-{key.hexdigest()[:16]}.json"
        if not path.exists():
            command = [sys.executable, __file__, str(chapter), str(path)]
            done = subprocess.run(command, env=os.environ | ENVIRONMENT)
            if done.returncode != 0:
                sys.exit(f"docs_site.py: {chapter.name} failed")
        return json.loads(path.read_text())

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        names = [chapter.stem for chapter in chapters]
        return dict(zip(names, pool.map(result, chapters), strict=True))


def picture() -> str:
    """The figure that a cell has drawn, as a notebook shows it."""
    plt = sys.modules.get("matplotlib.pyplot")
    if plt is None or not plt.get_fignums():
        return ""
    png = BytesIO()
    plt.savefig(png, format="png", bbox_inches="tight", dpi=80)
    plt.close("all")
    return base64.b64encode(png.getvalue()).decode()


def run(chapter: Path) -> list[dict[str, str]]:
    """Runs all cells in this process, and returns their results. Kernels print to the file descriptor, not to
    sys.stdout, so both descriptors of a cell's output are a file."""
    from IPython.core.interactiveshell import InteractiveShell

    os.chdir(chapter.parent)
    sys.path.insert(0, str(chapter.parent))
    shell = InteractiveShell.instance(colors="NoColor")
    streams = (sys.stdout, sys.stderr)
    terminal = os.dup(2)
    found = []
    for text in CELL.findall(chapter.read_text()):
        with tempfile.TemporaryFile() as output:
            for stream in streams:
                stream.flush()
                os.dup2(output.fileno(), stream.fileno())
            done = shell.run_cell(text, store_history=True)
            for stream in streams:
                stream.flush()
                os.dup2(terminal, stream.fileno())
            output.seek(0)
            printed = output.read().decode()
        if not done.success:
            sys.exit(f"{chapter.name}: a cell failed:\n{text}\n{printed}")
        printed = re.sub(r"^Out\[\d+\]: ", "", printed, flags=re.MULTILINE)
        found.append({"text": printed.strip("\n"), "picture": picture()})
    return found


if __name__ == "__main__":
    chapter, kept = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
    made = json.dumps(run(chapter))
    unfinished = kept.with_suffix(f".{os.getpid()}")
    unfinished.write_text(made)
    unfinished.rename(kept)
