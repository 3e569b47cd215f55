"""Each program of examples/tutorials, run as a user runs it: right results, exit code 0."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TUTORIALS = Path(__file__).parent.parent.parent.parent / "examples" / "tutorials"


def run(*command, **environment):
    """Run a command to its end; its output must have no error of the interpreter."""
    done = subprocess.run(
        [str(word) for word in command],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return done


def tutorial(name, **environment):
    return run(sys.executable, TUTORIALS / name, **environment)


def test_every_tutorial_is_tested():
    text = Path(__file__).read_text()
    assert all(f'"{program.name}"' in text for program in TUTORIALS.glob("*.py"))


def test_doublify():
    done = tutorial("doublify.py")
    assert "doubled with kernel:" in done.stdout
    assert "ok: every element is doubled" in done.stdout


def test_multiply_them():
    assert (
        "ok: 400 products are equal to numpy's" in tutorial("multiply_them.py").stdout
    )


def test_ptxas_info(tmp_path):
    # Empty caches, because ptxas prints this only when it compiles.
    caches = {
        "PYCUDA_CACHE_DIR": str(tmp_path / "pycuda"),
        "CUDA_CACHE_PATH": str(tmp_path / "nvidia"),
    }
    done = tutorial("ptxas_info.py", **caches)
    assert "ok: 400 products are equal to numpy's" in done.stdout
    assert "ptxas_info.py:" in done.stderr  # the warning has the caller's line
    assert (
        "UserWarning: The CUDA compiler succeeded, but said the following:"
        in done.stderr
    )
    assert "ptxas info" in done.stderr
    assert "Compiling entry function 'vec_elm_mul' for 'sm_" in done.stderr
    assert "registers" in done.stderr


def test_calculate_pi():
    done = tutorial("calculate_pi.py")
    lines = done.stdout.splitlines()
    assert [line.rsplit(maxsplit=1)[0] for line in lines[:3]] == [
        "sum on the host",
        "InOut in each step",
        "all on the device",
    ]
    assert all(abs(float(line.split()[-1]) - 3.1415927) < 1e-5 for line in lines[:3])
    assert lines[3] == "ok: pi in three ways"


def test_manual_context():
    assert "ok: device 0" in tutorial("manual_context.py").stdout


def count_devices(**environment):
    program = "import pycuda.driver as d; d.init(); print(d.Device.count())"
    return int(run(sys.executable, "-c", program, **environment).stdout)


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="mpirun is not installed")
def test_mpi_scale():
    if (devices := count_devices(SOFTCUDA_DEVICES="4")) < 4:
        pytest.skip(
            f"the program wants a device for each of 4 ranks, here are {devices}"
        )
    done = run(
        *("mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "4"),
        *(sys.executable, TUTORIALS / "mpi_scale.py"),
        SOFTCUDA_DEVICES="4",
    )
    assert "ok: 4 ranks scaled 4194304 numbers" in done.stdout
