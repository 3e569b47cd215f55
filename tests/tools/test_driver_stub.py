"""tools/driver_stub.py: the stub of the compiled module is equal to the one that the tool generates."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/driver_stub.py"


def test_the_stub_is_current():
    command = [sys.executable, TOOL, "--check"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
