"""The source distribution has all files that git has, and pip builds all that it installs.

``./test sdist`` builds the packages from the source distribution, which takes minutes.
"""

import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_it_has_every_file_of_the_repository(tmp_path):
    build = pytest.importorskip("scikit_build_core.build")
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode != 0:
        pytest.skip("this is no checkout")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        name = build.build_sdist(str(tmp_path))
    with tarfile.open(tmp_path / name) as archive:
        packed = {member.split("/", 1)[1] for member in archive.getnames()}
    wanted = {
        name for name in listed.stdout.split("\n") if name and (ROOT / name).exists()
    }
    assert {name for name in wanted - packed if not name.startswith(".ci/")} == set()
    assert not [name for name in packed if name.startswith(("build/", ".venv/"))]


def test_pip_builds_the_libraries_that_it_installs():
    """scikit-build-core builds only the targets that pyproject.toml names, and then installs."""
    tomllib = pytest.importorskip("tomllib")
    build, ninja = ROOT / "build/release", shutil.which("ninja")
    script = build / "cmake_install.cmake"
    if not ninja or not script.exists():
        pytest.skip("this is no folder of a build with ninja")
    installed = re.findall(
        rf'/softcuda" TYPE \w+ FILES "{re.escape(str(build))}/([^"]+)"',
        script.read_text(),
    )
    if not installed:
        pytest.skip("build/release is without softcuda")
    settings = tomllib.loads((ROOT / "softcuda/pyproject.toml").read_text())
    targets = settings["tool"]["scikit-build"]["build"]["targets"]
    built = set()
    for tool in (
        "inputs",
        "query",
    ):  # a linked library is in the one, others in the other
        command = [ninja, "-C", build, "-t", tool, *targets]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        built.update(line.strip() for line in done.stdout.splitlines())
    assert set(installed) - built == set()
    assert len(installed) >= 11
