#!/usr/bin/env python3
"""Compares results with the recordings of an H200. Needs NumPy, and neither pytest nor a build of the module.

    check.py [--every N [--first I]] [--only PATTERN] [--write FILE] [instructions] [matrices] [programs] [random]

PYCUDA_DRIVER is the path of a driver, which is called through ctypes (by_ctypes). With --every, it takes each N-th
recording, from the I-th on (0). --write writes a hash of each result, with the bits that need not be those of a GPU:
two files are equal if two builds have equal results. It leaves out where two operands of type f64 are NaN: which of them
an instruction returns is LLVM's choice. tests/python/kernels/test_recordings.py runs the same recordings with the
module.
"""

import argparse
import hashlib
import pathlib
import re
import sys

import numpy as np

_FOLDER = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(_FOLDER / "by_ctypes"), str(_FOLDER.parent)]

from recordings import (  # noqa: E402
    instructions,
    lists,
    matrices,
    programs,
    random_runs,
)


def selected(recordings, options):
    return recordings[options.first :: options.every]


def write(options, name, results):
    """Notes a hash of one recording's results: a list of arrays, or None."""
    if options.write is not None:
        words = hashlib.sha256()
        for result in results if results is not None else ():
            words.update(np.ascontiguousarray(result).tobytes())
        options.write.write(f"{name} : {words.hexdigest()[:16]}\n")


def check_list(module, make, options):
    """The number of recordings, and the names of those that differ."""
    rows = [
        row
        for row in lists.read(module.FILE.read_text().splitlines(), make)
        if row.hash != instructions.REFUSED
        and re.search(options.only, str(row.instruction))
    ]
    rows = selected(rows, options)
    wrong = []
    results = module.run_all([row.instruction for row in rows])
    for row, (instruction, result) in zip(rows, results, strict=True):
        known = None if result is None else module.repeatable(instruction, result)
        write(options, instruction, known)
        if (module.hash_results(instruction, result) == row.hash) == row.differs:
            wrong.append(str(instruction))
            print("differs:", instruction, flush=True)
    return len(rows), wrong


def check_programs(options):
    files = [file for file in programs.files() if re.search(options.only, file.stem)]
    files = selected(files, options)
    wrong = []
    for file in files:
        text = file.read_text()
        result = programs.run(text)
        write(options, file.stem, [result])
        if programs.recorded(text) != programs.hash_result(result):
            wrong.append(file.stem)
    return len(files), wrong


def check_random(options):
    texts = selected(random_runs.read(), options)
    wrong = []
    for text in texts:
        seed, results = random_runs.seed_of(text), random_runs.run(text)
        write(options, seed, None if seed in random_runs.TWO_NANS else results)
        if random_runs.has_results_of_a_gpu(seed) and (
            random_runs.recorded(text) != random_runs.hash_results(results)
        ):
            wrong.append(str(seed))
    return len(texts), wrong


CHECKS = {
    "instructions": lambda options: check_list(
        instructions, instructions.Instruction, options
    ),
    "matrices": lambda options: check_list(
        matrices, matrices.MatrixInstruction, options
    ),
    "programs": check_programs,
    "random": check_random,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=(*CHECKS, []), nargs="*")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--write", type=argparse.FileType("w"))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    failed = 0
    for what in options.what or CHECKS:
        count, wrong = CHECKS[what](options)
        print(
            f"{what}: {count} compared, {len(wrong)} differ {wrong or ''}", flush=True
        )
        failed += len(wrong) + (count == 0)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
