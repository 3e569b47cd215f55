"""All tables of softcuda's kernels, with one command.

./run ninja -C build/release hand_written
./run pip install -r benchmarks/requirements.txt        # optional: for PoCL's column
./run python benchmarks/softcuda
"""

import subprocess
import sys
from pathlib import Path

for program in ("compare.py", "compile_time.py", "scaling.py"):
    print(f"\n{program}\n", flush=True)
    status = subprocess.call([sys.executable, Path(__file__).with_name(program)])
    if status:
        sys.exit(status)
