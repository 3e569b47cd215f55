"""The source distribution has all files that git has, so that the package can be built and tested from it."""

import subprocess
import tarfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


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
