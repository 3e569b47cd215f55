"""The software device where the system has nothing left to give: threads, memory, disk."""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="limits of this process are no limits of a GPU"
)

# What each program begins with: a kernel of many blocks, and a check of what it gives.
BEGINNING = """
    import resource
    import sys

    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as cuda

    PTX = b'''.version 7.0
    .target sm_75
    .address_size 64
    .visible .entry twice(.param .u64 data)
    {
        .reg .b32 %i, %b, %n, %v;
        .reg .b64 %d, %at;
        ld.param.u64 %d, [data];
        mov.u32 %i, %tid.x;
        mov.u32 %b, %ctaid.x;
        mov.u32 %n, %ntid.x;
        mad.lo.u32 %i, %b, %n, %i;
        mul.wide.u32 %at, %i, 4;
        add.u64 %d, %d, %at;
        ld.global.u32 %v, [%d];
        add.u32 %v, %v, %v;
        st.global.u32 [%d], %v;
        ret;
    }'''

    def check():
        data = np.arange(1 << 20, dtype=np.int32)
        twice = cuda.module_from_buffer(PTX).get_function("twice")
        twice(cuda.InOut(data), block=(256, 1, 1), grid=(4096, 1))
        assert (data == 2 * np.arange(1 << 20)).all()

"""


@pytest.fixture
def run_limited(run_program, tmp_path):
    def run(source, *args):
        program = textwrap.dedent(BEGINNING) + textwrap.dedent(source)
        return run_program(program, *args, SOFTCUDA_CACHE_DIR=str(tmp_path / "objects"))

    return run


def clean(done):
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_no_thread_can_be_made(run_limited):
    done = run_limited(
        """
        import os, threading
        if os.getuid() == 0:
            os.setuid(65534)  # root has as many threads as it likes
        soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
        resource.setrlimit(resource.RLIMIT_NPROC, (0, hard))
        try:
            check()
        except cuda.Error as error:
            print(error)
        resource.setrlimit(resource.RLIMIT_NPROC, (soft, hard))
        check()
        """
    )
    clean(done)
    assert "OS call failed" in done.stdout, done.stdout


def test_out_of_memory_of_the_system(run_limited):
    done = run_limited(
        """
        check()
        used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (used + (64 << 20), hard))
        try:
            cuda.mem_alloc(1 << 30)
        except cuda.MemoryError as error:
            print(error)
        check()
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        cuda.mem_alloc(1 << 30)
        """
    )
    clean(done)
    assert "out of memory" in done.stdout, done.stdout


def test_few_addresses(run_limited):
    """Batch systems limit them. The device takes more than this for each of its threads."""
    done = run_limited(
        """
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), hard))
        for _ in range(2):
            try:
                check()
            except cuda.Error as error:
                print(error)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        check()
        """
    )
    clean(done)
    assert done.stdout.count("out of") == 2, done.stdout


def test_full_disk_under_the_cache(run_limited, tmp_path):
    """A limit on the size of files is a disk that is full after as many bytes."""
    done = run_limited(
        """
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        check()
        """
    )
    clean(done)
    left = [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]
    assert left == [], "a part of an entry stayed in the cache"
    clean(run_limited("check()\n"))


@pytest.mark.parametrize("damage", ["cut", "flip", "empty"])
def test_damaged_cache(run_limited, tmp_path, damage):
    clean(run_limited("check()\n"))
    entries = [path for path in (tmp_path / "objects").rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        whole = bytearray(path.read_bytes())
        whole[len(whole) // 2] ^= 0x40
        damaged = {"cut": whole[: len(whole) // 2], "flip": whole, "empty": b""}[damage]
        path.write_bytes(bytes(damaged))
    clean(run_limited("check()\n"))


def test_two_processes_write_one_cache(tmp_path):
    program = textwrap.dedent(BEGINNING) + "check()\n"
    env = {
        **os.environ,
        "PYCUDA_DRIVER": "softcuda",
        "SOFTCUDA_CACHE_DIR": str(tmp_path / "objects"),
    }
    running = [
        subprocess.Popen(
            [sys.executable, "-c", program],
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )
        for _ in range(4)
    ]
    for process in running:
        _, errors = process.communicate(timeout=100)
        assert process.returncode == 0, errors
    assert all(path.suffix != ".tmp" for path in (tmp_path / "objects").rglob("*"))


def test_malformed_ptx_and_then_a_good_one(run_limited):
    done = run_limited(
        """
        for wrong in (b"", b"\\0", PTX[:200], PTX.replace(b"add.u32", b"add.u7"), b"\\x50\\xed\\x55\\xba" * 9):
            try:
                cuda.module_from_buffer(wrong)
            except (cuda.Error, ValueError) as error:
                print(type(error).__name__)
        check()
        """
    )
    clean(done)
    assert len(done.stdout.split()) == 5, done.stdout


def test_a_child_of_fork_does_not_hang(run_limited):
    done = run_limited(
        """
        import os
        check()
        child = os.fork()
        if child == 0:
            try:
                check()
            except cuda.Error as error:
                print(error, flush=True)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        check()
        """
    )
    clean(done)
    assert "fork" in done.stdout, done.stdout
