"""./run starts a program as if the user had started it: arguments, folder, input and exit status."""

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
RUN = ROOT / "run"


@pytest.fixture(scope="module", autouse=True)
def built():
    """The first start may build; the tests are for later starts."""
    subprocess.run([RUN, "-c", "pass"], check=True, timeout=3000)


def run(*words, **options):
    command = [str(word) for word in (RUN, *words)]
    options = {"capture_output": True, "text": True, "timeout": 60, **options}
    return subprocess.run(command, **options)


def test_program_with_arguments_in_the_callers_folder(tmp_path):
    (tmp_path / "program.py").write_text("import os, sys; print(os.getcwd(), sys.argv)")
    done = run("program.py", "a b", "--c", cwd=tmp_path)
    assert done.stdout == f"{tmp_path} ['program.py', 'a b', '--c']\n"
    assert done.stderr == ""


def test_module_and_command(tmp_path):
    assert run("-m", "platform").returncode == 0
    assert run("sh", "-c", "echo $0 $1", "x", "y").stdout == "x y\n"


def test_exit_status_and_input_are_the_programs():
    assert run("-c", "raise SystemExit(7)").returncode == 7
    assert run("-c", "print(input())", input="hello\n").stdout == "hello\n"


def test_package_is_this_repositorys():
    done = run("-c", "import pycuda; print(pycuda.__path__[0])")
    assert done.stdout.strip() == str(ROOT / "build/release/python/pycuda"), done.stderr


def test_without_a_program_the_usage_is_shown():
    done = run()
    assert done.returncode == 2
    assert "usage: ./run PROGRAM" in done.stderr


@pytest.mark.parametrize("name", ["progarm.py", "tools/weel"])
def test_a_missing_program_is_an_error_before_the_build(tmp_path, name):
    copy = shutil.copy(RUN, tmp_path)  # without tools/, so the set-up would fail
    command = [copy, name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 2
    assert f"there is no file {name} in {tmp_path}" in done.stderr


def test_a_folder_is_no_program(tmp_path):
    copy = shutil.copy(RUN, tmp_path)
    (tmp_path / "examples/gallery").mkdir(parents=True)
    for name in ("examples/gallery", "examples/"):
        done = subprocess.run(
            [copy, name], capture_output=True, text=True, cwd=tmp_path
        )
        assert done.returncode == 2
        assert f"{name} is a folder" in done.stderr


def test_nothing_is_written_in_the_source_tree():
    command = ["git", "status", "--porcelain", "--untracked-files=all"]
    before = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert run("-c", "import pycuda").returncode == 0
    after = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert after == before


def test_start_costs_little():
    """The best time of several starts, because the machine may be busy; a start takes 50 ms on an idle machine."""
    times = []
    for _ in range(10):
        start = time.perf_counter()
        assert run("true").returncode == 0
        times.append(time.perf_counter() - start)
    assert min(times) < 0.15, times


def test_many_at_once(tmp_path):
    command = [RUN, "-c", "print('ran')"]
    processes = [
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path
        )
        for _ in range(8)
    ]
    results = [process.communicate(timeout=60) for process in processes]
    assert results == [(b"ran\n", b"")] * 8


def test_python_that_is_not_there_is_named(tmp_path):
    environment = {**os.environ, "PYCUDA_VENV": str(tmp_path)}
    done = run("-c", "pass", env=environment)
    assert done.returncode == 1
    assert f"'{tmp_path}/bin/python' is not there" in done.stderr


def bash(commands):
    """Bash with the functions of tools/setup.sh."""
    words = [
        "/bin/bash",
        "-c",
        f"root={ROOT}; source {ROOT}/tools/setup.sh; {commands}",
    ]
    return subprocess.run(words, capture_output=True, text=True)


def setup(commands):
    """The output of such commands, which must succeed."""
    done = bash(commands)
    done.check_returncode()
    return done.stdout.strip()


def test_a_failed_step_shows_the_end_of_the_log(tmp_path):
    """The command, the last lines of its output, and the path of the whole log."""
    log = tmp_path / "log"
    log.write_text("older\n" * 50)
    failing = (
        f"log={log}; logged sh -c 'for i in $(seq 1 40); do echo line $i; done; exit 3'"
    )
    done = bash(failing)
    assert done.returncode == 1
    assert "pycuda: error: this failed: sh -c" in done.stderr
    assert "line 40\n" in done.stderr and "line 9\n" not in done.stderr
    assert f"the full log is {log}" in done.stderr
    assert "line 1\n" in log.read_text()


@pytest.mark.parametrize("has_apt", [True, False])
def test_a_system_package_that_cannot_be_installed_is_named(tmp_path, has_apt):
    """A user without the rights gets the command to type."""
    if has_apt:
        (tmp_path / "apt-get").write_text("#!/bin/sh\nexit 100\n")
        (tmp_path / "apt-get").chmod(0o755)
    done = bash(
        f"log={tmp_path}/log; PATH={tmp_path}; packages_message 'ninja-build llvm-19-dev'"
    )
    assert done.returncode == 1
    command = "sudo apt-get update && sudo apt-get install -y --no-install-recommends ninja-build llvm-19-dev"
    assert (command in done.stderr) is has_apt
    assert ("the names are Debian's" in done.stderr) is not has_apt
    assert "PYCUDA_SOFTCUDA=OFF builds without LLVM" in done.stderr


def test_help_lists_each_setting():
    """The settings that docs/installing.md and the user guide name are in the text."""
    text = run("--help").stdout
    pages = [
        ROOT / "README.md",
        ROOT / "docs/installing.md",
        ROOT / "docs/user_guide.md",
    ]
    named = set(
        re.findall(
            r"`((?:PYCUDA|SOFTCUDA)_[A-Z_]+)=",
            "".join(page.read_text() for page in pages),
        )
    )
    assert len(named) > 5
    for name in named:
        assert re.search(rf"^  {name}\b", text, re.M), name


def test_missing_lists_of_packages_are_installed_in_one_call(tmp_path):
    """Lists that are there already are left out; each installed one is remembered."""
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path}/calls\n')
    python.chmod(0o755)
    (tmp_path / "tools").symlink_to(ROOT / "tools")
    lists = ROOT / "tools/requirements"
    shutil.copy(lists / "run.txt", tmp_path / ".venv")
    ensure = f"root={tmp_path}; python={python}; log={tmp_path}/log; unset PYCUDA_VENV; ensure_python run test docs"
    setup(f"{ensure}; {ensure}")
    installations = [
        line
        for line in (tmp_path / "calls").read_text().splitlines()
        if "pip install" in line
    ]
    assert len(installations) == 1
    assert re.findall(r"(\w+)\.txt", installations[0]) == ["test", "docs"]
    assert (tmp_path / ".venv/docs.txt").read_text() == (lists / "docs.txt").read_text()


# The functions of tools/setup.sh that ./test calls. An installation ends when the build has begun, and the other way round.
SET_UP = """
python=/bin/echo build=$root/build
prepare_log() { :; }
say() { :; }
ensure_packages() { :; }
configure() { :; }
until_there() { for _ in $(seq 500); do [[ ! -e $root/$1 ]] || return 0; sleep 0.01; done; return 1; }
ensure_python() { [[ $1 != run ]] || return 0; touch $root/installs; [[ $* == *wheel && ! -e $root/broken ]] && until_there $1; }
compile() { touch $root/gallery; until_there installs; }
"""


@pytest.mark.parametrize("broken", [False, True])
def test_the_build_begins_while_the_tests_packages_are_installed(tmp_path, broken):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/setup.sh").write_text(SET_UP)
    program = shutil.copy(ROOT / "test", tmp_path)
    if broken:
        (tmp_path / "broken").touch()
    done = subprocess.run([program, "fast"], capture_output=True, text=True)
    assert done.returncode == int(broken), done.stderr
    assert done.stdout == ("" if broken else f"{tmp_path}/tools/run_tests.py fast\n")
    assert (tmp_path / "gallery").exists()


def test_named_parts_build_what_they_need_themselves(tmp_path):
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/setup.sh").write_text(SET_UP)
    (tmp_path / "gallery").touch()
    program = shutil.copy(ROOT / "test", tmp_path)
    subprocess.run([program, "layers"], check=True, capture_output=True)
    assert (tmp_path / "installs").exists()
    (tmp_path / "tools/setup.sh").write_text(SET_UP + "compile() { exit 3; }")
    subprocess.run([program, "layers"], check=True, capture_output=True)


def test_the_compiler_cache_comes_with_the_first_packages(tmp_path):
    """It is never the reason for an installation: a user may have no rights for one."""
    tell = (
        "install_packages() { echo $*; false; }; packages_message() { echo lacks $1; }"
    )
    missing = "missing_packages() { echo g++; }"
    assert setup(f"{tell}; {missing}; PATH={tmp_path}; ensure_packages") == (
        "g++ ccache\nlacks g++"
    )
    assert (
        setup(f"{tell}; missing_packages() {{ :; }}; PATH={tmp_path}; ensure_packages")
        == ""
    )


def test_an_example_brings_the_list_of_its_folder(tmp_path):
    assert setup(f"program_list {ROOT}/examples/gallery/life.py") == "gallery"
    assert setup(f"cd {ROOT}/examples; program_list gallery/life.py") == "gallery"
    assert setup(f"program_list {ROOT}/examples/tutorials/doublify.py") == ""
    (tmp_path / "examples/gallery").mkdir(parents=True)
    assert setup(f"program_list {tmp_path}/examples/gallery/life.py") == ""


def test_mpirun_is_installed_if_it_is_missing(tmp_path):
    assert setup("PATH=/nowhere; program=mpirun; program_packages") == "openmpi-bin"
    assert setup("PATH=/nowhere; program=python; program_packages") == ""
    (tmp_path / "mpirun").write_text("#!/bin/sh\n")
    (tmp_path / "mpirun").chmod(0o755)
    assert setup(f"PATH={tmp_path}; program=mpirun; program_packages") == ""


@pytest.mark.parametrize(
    ("words", "group"),
    [
        ("program.py", "runtime"),
        ("-m pycuda check program.py", "runtime"),
        ("jupyter lab docs/course", "runtime"),
        ("jupytext --to ipynb docs/course/*.md", "runtime"),
        ("python", "runtime"),
        ("python benchmarks/softcuda", "clients"),
        ("./program", "clients"),
        ("mpirun -n 4 python program.py", "runtime"),
        ("mpirun -n 4 ./program", "clients"),
    ],
)
def test_a_python_program_needs_no_libraries_for_others(words, group):
    script = f"root={ROOT}; source {ROOT}/tools/setup.sh; group_of {words}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.stdout == f"{group}\n", done.stderr
