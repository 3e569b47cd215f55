#!/usr/bin/env python3
"""Compare the counters of softcuda's profile with those of Nsight Compute, for the kernels of kernels.cu.

    tools/compare_with_ncu/run_ncu.sh > ncu.csv       on a machine with a GPU and ncu
    ./run tools/compare_with_ncu/compare.py read ncu.csv gpu.json
    ./run tools/compare_with_ncu/compare.py table [gpu.json]       count with softcuda, and compare

h200.json, in this folder, contains the counters of an H200; it is the default. The table is Markdown. The exit status
is 1 if numbers differ that should be equal.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

#: Our name of a counter, and Nsight Compute's.
EQUAL = {
    "load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
}
#: Equal, except for kernels with divergence: the counter is a mean over instructions, and a
#: GPU's machine code has other instructions than softcuda's IR. There may be predicates instead of
#: branches.
ALIKE = {
    "active lanes": "smsp__thread_inst_executed_per_inst_executed.ratio",
}
PARTED = ("half_of_warp", "one_lane", "lanes_by_turns", "reduction")


def launches() -> list[tuple[str, int, int]]:
    """Kernel, number of blocks, threads per block, from launches.def."""
    text = (HERE / "launches.def").read_text()
    found = re.findall(r"^LAUNCH\((\w+), (\d+), (\d+)\)$", text, re.M)
    return [(name, int(blocks), int(threads)) for name, blocks, threads in found]


def count() -> dict[str, dict[str, float]]:
    """softcuda's counters, by kernel."""
    os.environ.setdefault("PYCUDA_DRIVER", "softcuda")
    import numpy as np

    import pycuda
    import pycuda.autoinit  # noqa: F401
    import pycuda.driver as cuda
    from pycuda.compiler import SourceModule

    # Compiled like nvcc for the GPU.
    source = (HERE / "kernels.cu").read_text()
    module = SourceModule(source, nvcc="nvrtc", no_extern_c=True)
    size = 4 << 20
    inputs, outputs = cuda.mem_alloc(size), cuda.mem_alloc(size)
    cuda.memset_d8(inputs, 0, size)
    found = {}
    for name, blocks, threads in launches():
        with pycuda.profile() as profile:
            kernel = module.get_function(name)
            kernel(
                inputs,
                outputs,
                np.int32(100),
                block=(threads, 1, 1),
                grid=(blocks, 1),
            )
        (counted,) = profile.kernels
        total = counted.total
        found[name] = {
            "load requests": total("requests", "global", "load"),
            "load sectors": total("sectors", "global", "load"),
            "store requests": total("requests", "global", "store"),
            "store sectors": total("sectors", "global", "store"),
            "load conflicts": total("bank_conflicts", "shared", "load"),
            "store conflicts": total("bank_conflicts", "shared", "store"),
            "active lanes": round(counted.active_lanes, 2),
        }
    return found


def read_ncu(path: Path) -> dict[str, dict[str, float]]:
    """The metrics by kernel, from the CSV of ``ncu --csv --page raw`` after other lines."""
    lines = path.read_text().splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    found = {}
    for row in csv.DictReader(lines[start:]):
        if row["Kernel Name"]:  # the first row contains units
            found[row["Kernel Name"].split("(")[0]] = {
                name: float(row[name].replace(",", ""))
                for name in (*EQUAL.values(), *ALIKE.values())
            }
    return found


def _cell(ours: float, theirs: float) -> str:
    if ours == theirs:
        return f"{ours:g}"
    return f"{ours:g} ≠ {theirs:g}"


def table(ours: dict, theirs: dict) -> tuple[str, int]:
    """The Markdown table, and the number of counters that differ but should be equal."""
    head = ["kernel", *EQUAL, *(f"{name}: softcuda, ncu" for name in ALIKE)]
    rows = [head, ["---"] * len(head)]
    differences = 0
    for name, counters in ours.items():
        metrics = theirs[name]
        differences += sum(counters[c] != metrics[m] for c, m in EQUAL.items())
        if name not in PARTED:
            differences += sum(counters[c] != metrics[m] for c, m in ALIKE.items())
        cells = [_cell(counters[c], metrics[m]) for c, m in EQUAL.items()]
        cells += [f"{counters[c]:.1f}, {metrics[m]:.1f}" for c, m in ALIKE.items()]
        rows.append([f"`{name}`", *cells])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows), differences


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    read = commands.add_parser("read", help="make JSON of ncu's CSV")
    read.add_argument("csv", type=Path)
    read.add_argument("json", type=Path)
    compare = commands.add_parser("table", help="compare with softcuda")
    compare.add_argument("json", type=Path, nargs="?", default=HERE / "h200.json")
    options = parser.parse_args()
    if options.command == "read":
        options.json.write_text(json.dumps(read_ncu(options.csv), indent=1) + "\n")
        return 0
    text, differences = table(count(), json.loads(options.json.read_text()))
    print(text)
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
