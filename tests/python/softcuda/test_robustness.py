"""softcuda on a system without free resources: threads, memory, disk."""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import is_softcuda

pytestmark = pytest.mark.skipif(
    not is_softcuda(), reason="limits of this process are no limits of a GPU"
)

# The beginning of each program: a kernel of many blocks, and a check of its result.
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
        return run_program(program, *args, **few_threads(tmp_path))

    return run


def few_threads(tmp_path):
    """The memory limit is for a process with few threads, because each thread uses some."""
    return {
        "SOFTCUDA_CACHE_DIR": str(tmp_path / "objects"),
        "SOFTCUDA_THREADS": "2",
        "OPENBLAS_NUM_THREADS": "1",
    }


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
    """Batch systems limit resources. The device uses less if there is less."""
    done = run_limited(
        """
        size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (size + (1 << 30), hard))
        check()
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        check()
        """
    )
    clean(done)


def test_no_memory_to_compile_with(run_limited):
    """LLVM must not start if it would run out of memory, which it does not survive."""
    done = run_limited(
        """
        cuda.mem_alloc(4)
        used = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        for megabytes in (52, 40, 28):
            resource.setrlimit(resource.RLIMIT_DATA, (used + (megabytes << 20), hard))
            try:
                check()
            except cuda.MemoryError as error:
                print(error)
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))
        check()
        """
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("out of memory") == 3, done.stdout
    assert "cannot be compiled: there is not enough memory" in done.stderr, done.stderr


WINDOWS = """
    SHARED = b'''.version 7.0
    .target sm_75
    .address_size 64
    .visible .entry turn(.param .u64 data, .param .u32 far)
    {
        .reg .pred %p, %s, %l;
        .reg .b32 %t, %a, %b, %v, %far;
        .reg .b64 %d, %at, %w;
        .shared .align 4 .b32 cells[64];
        .local .align 4 .b32 own[2];
        ld.param.u64 %d, [data];
        ld.param.u32 %far, [far];
        mov.u32 %t, %tid.x;
        mov.u32 %a, %ctaid.x;
        mad.lo.u32 %v, %a, 64, %t;
        mul.wide.u32 %at, %v, 4;
        add.u64 %d, %d, %at;
        mov.u32 %b, cells;
        mad.lo.u32 %a, %t, 4, %b;
        add.u32 %a, %a, %far;
        st.shared.u32 [%a], %v;
        bar.sync 0;
        mov.u64 %w, own;
        cvta.local.u64 %w, %w;
        isspacep.shared %s, %w;
        isspacep.local %l, %w;
        and.b32 %v, %t, 1;
        setp.eq.u32 %p, %v, 0;
        mul.wide.u32 %at, %v, 4;
        add.u64 %at, %at, %w;
        mov.u32 %v, 63;
        sub.u32 %v, %v, %t;
        mad.lo.u32 %a, %v, 4, %b;
        ld.shared.u32 %v, [%a];
        st.u32 [%at], %v;
        ld.u32 %v, [%at];
        @%s add.u32 %v, %v, 1000000;
        @!%l add.u32 %v, %v, 2000000;
        cvt.u64.u32 %at, %b;
        cvta.shared.u64 %at, %at;
        isspacep.shared %s, %at;
        isspacep.local %l, %at;
        @!%s add.u32 %v, %v, 3000000;
        @%l add.u32 %v, %v, 4000000;
        st.global.u32 [%d], %v;
        ret;
    }'''
    data = np.zeros((200, 64), np.uint32)
    turn = cuda.module_from_buffer(SHARED).get_function("turn")
    turn(cuda.InOut(data), np.uint32(0), block=(64, 1, 1), grid=(200, 1))
    assert (data == np.arange(200 * 64).reshape(200, 64)[:, ::-1]).all(), data
    turn(cuda.InOut(data), np.uint32(1 << 30), block=(64, 1, 1), grid=(200, 1))
"""


@pytest.mark.parametrize("gigabytes", [None, 16, 2])
def test_windows_of_memory(run_program, tmp_path, gigabytes):
    """Under `ulimit -v` blocks share a range of addresses, or the code masks offsets that leave
    a narrow range; a wrong offset is still found."""
    limit = "import resource\n"
    if gigabytes:
        limit += f"resource.setrlimit(resource.RLIMIT_AS, ({gigabytes} << 30,) * 2)\n"
    program = (
        limit + textwrap.dedent(BEGINNING) + "check()\n" + textwrap.dedent(WINDOWS)
    )
    done = run_program(program, **few_threads(tmp_path))
    assert "illegal address writing" in done.stderr, done.stderr
    assert "LaunchError" in done.stderr or "LogicError" in done.stderr, done.stderr
    assert done.returncode == 1


# The first lane's offset may be negative if only later lanes are active; far strides, and
# local arrays at unknown indices.
NARROW = """
    from pycuda.compiler import SourceModule

    kernels = SourceModule('''
        __global__ void previous(int *out) {
            __shared__ int cells[256];
            cells[threadIdx.x] = threadIdx.x;
            __syncthreads();
            int sum = 0;
            for (int by = 1; by <= 128; by *= 2)
                if (threadIdx.x >= by)
                    sum += cells[threadIdx.x - by];
            out[threadIdx.x] = sum;
        }
        __global__ void spread(int *out, int step) {
            __shared__ int cells[8192];
            cells[threadIdx.x * 32 + 5] = threadIdx.x;
            cells[(threadIdx.x * step) % 8192 / 32 * 32] = threadIdx.x;
            __syncthreads();
            out[threadIdx.x] = cells[(threadIdx.x ^ 77) * 32 + 5];
        }
        __global__ void own(int *out, int step) {
            int mine[64];
            for (int i = 0; i < 64; i++)
                mine[(i * step) % 64] = i + threadIdx.x;
            int *which = step > 100 ? out : mine;
            out[threadIdx.x] = which[(threadIdx.x * 3) % 64] + mine[threadIdx.x % 64];
        }
    ''')
    t = np.arange(256)
    out = np.zeros(256, np.int32)
    one = {"block": (256, 1, 1), "grid": (1, 1)}
    kernels.get_function("previous")(cuda.Out(out), **one)
    wanted = sum(np.where(t >= by, t - by, 0) for by in 2 ** np.arange(8))
    assert (out == wanted).all(), out
    kernels.get_function("spread")(cuda.Out(out), np.int32(96), **one)
    assert (out == (t ^ 77)).all(), out
    kernels.get_function("own")(cuda.Out(out), np.int32(5), **one)
    found = np.argsort(np.arange(64) * 5 % 64)
    assert (out == found[t * 3 % 64] + t + found[t % 64] + t).all(), out
"""


@pytest.mark.parametrize("tier", ["regions", "fibers", "lanes"])
def test_narrow_windows(run_program, tmp_path, tier):
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_AS, (3 << 30,) * 2)\n"
    program = limit + textwrap.dedent(BEGINNING) + "check()\n" + textwrap.dedent(NARROW)
    clean(run_program(program, SOFTCUDA_TIER=tier, **few_threads(tmp_path)))


WAITING = """
    from pycuda.compiler import SourceModule

    wait = SourceModule('''
        __global__ void wait(volatile int *flag, int *count, long long clocks) {
            __shared__ int one[256];
            one[threadIdx.x] = 1;
            __syncthreads();
            if (blockIdx.x == 0) {
                if (threadIdx.x == 0) {
                    for (long long begin = clock64(); clock64() - begin < clocks;)
                        __nanosleep(1000);
                    *flag = 1;
                }
            } else
                while (*flag == 0)
                    ;
            __syncthreads();
            atomicAdd(count, one[255 - threadIdx.x]);
        }
    ''').get_function("wait")
    flag, count = cuda.mem_alloc(4), cuda.mem_alloc(4)
    cuda.memset_d32(flag, 0, 1)
    cuda.memset_d32(count, 0, 1)
    result = np.zeros(1, np.int32)
    wait(flag, count, np.int64(2_000_000_000), block=(256, 1, 1), grid=(3000, 1))
    del wait  # whose module waits for the kernel, and must not swallow what it meets
    cuda.memcpy_dtoh(result, count)
    assert result[0] == 3000 * 256, result
"""


@pytest.mark.parametrize("gigabytes", [None, 1100])
def test_thousands_of_waiting_blocks(run_program, tmp_path, gigabytes):
    """Further blocks start beside them while there is memory, and otherwise later."""
    limit = "import resource\n"
    if gigabytes:
        limit += f"resource.setrlimit(resource.RLIMIT_AS, ({gigabytes} << 30,) * 2)\n"
    program = limit + textwrap.dedent(BEGINNING) + textwrap.dedent(WAITING)
    clean(run_program(program, **few_threads(tmp_path)))


WILD = """
    HEAD = b".version 7.0 .target sm_75 .address_size 64 .visible .entry k(.param .u64 a) {"
    HEAD += b".reg .b64 %p; .reg .b32 %a, %b, %c, %d; ld.param.u64 %p, [a]; mov.u32 %a, 0;"
    WILD = {
        "texture": b"tex.1d.v4.s32.s32 {%a, %b, %c, %d}, [%p, {%a}]; st.global.u32 [%p], %b;",
        "surface": b"sust.b.1d.b32.trap [%p, {%a}], %a;",
        "memory": b"st.global.u32 [%p], %a;",
    }
    host = np.zeros(4, np.int32)
    kernel = cuda.module_from_buffer(HEAD + WILD[sys.argv[1]] + b"ret; }").get_function("k")
    kernel(np.uintp(host.ctypes.data), block=(1, 1, 1), grid=(1, 1))
    pycuda.autoinit.context.synchronize()
"""


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("texture", "no texture or surface object has the handle 0x"),
        ("surface", "no texture or surface object has the handle 0x"),
        ("memory", "memory of the program that was not registered with the driver"),
    ],
)
def test_an_invalid_pointer_is_described(run_limited, what, message):
    done = run_limited(WILD, what)
    assert done.returncode == 1
    assert message in done.stderr, done.stderr


@pytest.mark.parametrize(
    ("environment", "limit"),
    [
        ({"HOME": "/nonexistent", "TMPDIR": "/nonexistent"}, ""),
        (
            {"SOFTCUDA_THREADS": "64"},
            "os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])",
        ),
        ({}, "resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))"),
        ({}, "resource.setrlimit(resource.RLIMIT_STACK, (256 << 10,) * 2)"),
    ],
    ids=["no folders", "one core", "few files", "small stacks"],
)
def test_bare_surroundings(run_program, environment, limit):
    """The device works without a cache, several cores, and many files."""
    program = (
        f"import os, resource\n{limit}\n" + textwrap.dedent(BEGINNING) + "check()\n"
    )
    clean(run_program(program, **environment))


def test_full_disk_under_the_cache(run_limited, tmp_path):
    """A limit on the size of files acts like a disk that is full after that many bytes."""
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
        import os, warnings
        warnings.simplefilter("ignore")  # Python 3.12's, of fork() beside threads
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
