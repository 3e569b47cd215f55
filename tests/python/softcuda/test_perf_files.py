"""SOFTCUDA_PERF: files about kernels for Linux' perf."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="kernels of softcuda run on the CPU"
)

SOURCE = """\
extern "C" __global__ void spinning(float *a, int n)
{
    float x = a[threadIdx.x];
    for (int i = 0; i < n; ++i)
        x = x * 0.5f + sinf(x); // LINE hot
    a[threadIdx.x] = x;
}
"""
HOT = 5

PROGRAM = f"""
import os, sys
import numpy as np
import pycuda.autoinit
from pycuda import driver, gpuarray
from pycuda.compiler import SourceModule

def run(name):
    source = {SOURCE!r}.replace("spinning", name)
    a = gpuarray.zeros(64, np.float32)
    kernel = SourceModule(source, no_extern_c=True).get_function(name)
    kernel(a, np.int32(20000), block=(64, 1, 1), grid=(int(sys.argv[1]), 1))
    driver.Context.synchronize()

print(os.getpid(), flush=True)
if len(sys.argv) > 2:
    exec(sys.argv[2])
run("spinning")
"""


def run(folder: Path, perf: str, *arguments: str, before: tuple[str, ...] = ()):
    done = subprocess.run(
        [*before, sys.executable, "-c", PROGRAM, *(arguments or ("1",))],
        env={**os.environ, "SOFTCUDA_PERF": perf, "SOFTCUDA_PERF_DIR": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[0]), done.stderr


def records_of(path: Path) -> list[tuple[int, bytes]]:
    """(kind, bytes after the head) of each record in a dump."""
    data = path.read_bytes()
    magic, version, size, _machine, _pad, process = struct.unpack_from("6I", data)
    assert (magic, version, size) == (0x4A695444, 1, 40)
    assert path.name == f"jit-{process}.dump"
    at, found, times = size, [], []
    while at < len(data):
        kind, length, time = struct.unpack_from("IIQ", data, at)
        assert 16 < length <= len(data) - at
        found.append((kind, data[at + 16 : at + length]))
        times.append(time)
        at += length
    assert times == sorted(times)
    return found


def loaded(records: list[tuple[int, bytes]]) -> dict[str, tuple[int, bytes]]:
    """Address and code of each function in a dump, by its name."""
    functions = {}
    for kind, body in records:
        if kind == 0:
            _process, _thread, vma, address, size, _number = struct.unpack_from(
                "2I4Q", body
            )
            name, code = body[40:].split(b"\0", 1)
            assert vma == address and len(code) == size > 0
            functions[name.decode()] = (address, code)
    return functions


def lines_in(records: list[tuple[int, bytes]]) -> list[tuple[int, int, str]]:
    """(address, line, file) of a dump's records of lines."""
    found = []
    for kind, body in records:
        if kind == 2:
            _address, count = struct.unpack_from("2Q", body)
            at = 16
            for _ in range(count):
                address, line, _discriminator = struct.unpack_from("Q2I", body, at)
                end = body.index(b"\0", at + 16)
                found.append((address, line, body[at + 16 : end].decode()))
                at = end + 1
            assert at == len(body)
    return found


def test_a_map_names_the_kernel(tmp_path):
    process, _ = run(tmp_path, "map")
    path = Path(f"/tmp/perf-{process}.map")
    try:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        rows = [line.split(" ", 2) for line in path.read_text().splitlines()]
        (row,) = [row for row in rows if row[2] == "spinning"]
        assert int(row[0], 16) > 0 and int(row[1], 16) > 0
    finally:
        path.unlink()


def test_a_link_instead_of_a_map_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    place = f"os.symlink({str(victim)!r}, f'/tmp/perf-{{os.getpid()}}.map')"
    process, messages = run(tmp_path, "map", "1", place)
    os.unlink(f"/tmp/perf-{process}.map")
    assert victim.read_text() == "mine"
    assert "no names of kernels for perf" in messages


def test_a_dump_has_names_code_and_lines(tmp_path):
    process, _ = run(tmp_path, "jitdump")
    path = tmp_path / f"jit-{process}.dump"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    records = records_of(path)
    address, code = loaded(records)["spinning"]
    own = [
        (line, file)
        for at, line, file in lines_in(records)
        if address <= at < address + len(code)
    ]
    assert (HOT, "kernel.cu") in own
    assert {line for line, _ in own} <= set(range(1, 8))


def test_a_link_instead_of_a_dump_is_not_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    place = f"os.symlink({str(victim)!r}, f'jit-{{os.getpid()}}.dump')"
    process, _ = run(tmp_path, "jitdump", "1", place)
    assert victim.read_text() == "mine"
    assert "spinning" in loaded(records_of(tmp_path / f"jit-{process}.dump"))


def test_kernels_that_threads_compile_at_once_are_all_there(tmp_path):
    threads = """
import threading
context = pycuda.autoinit.context
def one(name):
    context.push(); run(name); context.pop()
threads = [threading.Thread(target=one, args=(f"kernel{k}",)) for k in range(6)]
[t.start() for t in threads]
[t.join() for t in threads]
"""
    process, _ = run(tmp_path, "jitdump", "1", threads)
    functions = loaded(records_of(tmp_path / f"jit-{process}.dump"))
    assert {f"kernel{k}" for k in range(6)} <= set(functions)


def test_a_folder_that_cannot_be_written_is_said_once(tmp_path):
    elsewhere = "os.environ['SOFTCUDA_PERF_DIR'] = '/no/folder'"
    _, messages = run(tmp_path, "jitdump", "1", elsewhere)
    assert messages.count("no names of kernels for perf: /no/folder/jit-") == 1


def test_another_word_is_refused(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, "1"],
        env={**os.environ, "SOFTCUDA_PERF": "yes"},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    assert "SOFTCUDA_PERF is 'yes'; it may be map or jitdump" in done.stderr


def perf_refuses(folder: Path) -> str | None:
    """The reason why perf cannot record here."""
    if not shutil.which("perf"):
        return "perf is not installed"
    done = subprocess.run(
        [
            "perf",
            "record",
            "-e",
            "cpu-clock",
            "-k",
            "mono",
            "-o",
            str(folder / "try"),
            "true",
        ],
        capture_output=True,
        text=True,
    )
    return None if done.returncode == 0 else "perf may not record here"


@pytest.mark.slow
def test_perf_counts_samples_for_the_kernels_line(tmp_path):
    if reason := perf_refuses(tmp_path):
        pytest.skip(reason)
    record = ["perf", "record", "-e", "cpu-clock", "-k", "mono", "-o", "perf.data"]
    run(tmp_path, "jitdump", "300", before=tuple(record))
    subprocess.run(
        ["perf", "inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data"],
        cwd=tmp_path,
        check=True,
    )
    script = subprocess.run(
        ["perf", "script", "-i", "perf.jit.data", "-F", "ip,sym,srcline"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert script.count("spinning") > 20
    hot = script.count(f"kernel.cu:{HOT}\n")
    assert hot > script.count("spinning") / 2, script[:2000]
