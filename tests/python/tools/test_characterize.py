"""pycuda.characterize and pycuda.debug."""

import subprocess
import sys

from pycuda import characterize


def test_characterize(device):
    assert characterize.platform_bits() == 64
    assert characterize.has_stack() and characterize.has_double_support()
    assert characterize.sizeof("float4") == 16
    assert characterize.sizeof("Pair", "struct Pair { char a; double b; };") == 16


def test_debug_compiles_for_debugging(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, pycuda.driver\n"
        "assert __name__ == '__main__' and sys.argv[1:] == ['word']\n"
        "print(pycuda.driver.CUDA_DEBUGGING)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pycuda.debug", program, "word"],
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr
