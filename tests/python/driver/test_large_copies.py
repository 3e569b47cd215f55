"""Copies of large pageable arrays, which go through pinned pieces with several threads."""

import pytest

COPIES = """
    import threading
    import numpy as np
    import pycuda.autoinit
    import pycuda.driver as cuda

    def there_and_back(values):
        memory = cuda.mem_alloc(values.nbytes)
        cuda.memcpy_htod(memory, values)
        back = np.empty_like(values)
        cuda.memcpy_dtoh(back, memory)
        memory.free()
        return back

    MiB = 1 << 20
    values = np.random.default_rng(1).integers(0, 256, 40 * MiB, dtype=np.uint8)
    for count in (MiB - 1, MiB, MiB + 1, 4 * MiB + 3, 8 * MiB - 5, 33 * MiB + 7):
        for start in (0, 1, 8):  # addresses of any alignment
            part = values[start : start + count]
            assert (there_and_back(part) == part).all(), (start, count)

    pinned = cuda.pagelocked_empty(3 * MiB, np.uint8)
    pinned[:] = values[: 3 * MiB]
    assert (there_and_back(pinned) == pinned).all()

    failures = []

    def work(number):
        pycuda.autoinit.context.push()
        try:
            part = values[number : number + 3 * MiB]
            for _ in range(4):
                if (there_and_back(part) != part).any():
                    failures.append(number)
        finally:
            cuda.Context.pop()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures

    other = cuda.Device(0).make_context()
    assert (there_and_back(values[: 2 * MiB]) == values[: 2 * MiB]).all()
    other.pop()
    other.detach()
    assert (there_and_back(values[: 2 * MiB]) == values[: 2 * MiB]).all()

    memory = cuda.mem_alloc(2 * MiB)
    for copy in (
        lambda: cuda.memcpy_htod(memory, values),
        lambda: cuda.memcpy_dtoh(values, memory),
    ):
        try:
            copy()
        except cuda.Error:
            pass
        else:
            raise AssertionError("a copy past the end of the memory was not refused")
    print("done")
"""


@pytest.mark.parametrize("threads", ["1", "3"])
def test_large_copies_arrive(run_program, threads):
    result = run_program(COPIES, PYCUDA_COPY_THREADS=threads)
    assert result.stdout == "done\n", result.stderr


def test_pieces_go_through_pinned_memory(run_program):
    result = run_program(COPIES, PYCUDA_COPY_THREADS="2", PYCUDA_TRACE="1")
    assert result.stdout == "done\n"
    assert "cuMemHostAlloc" in result.stderr and "cuMemcpyHtoDAsync" in result.stderr
    # The memory of the destroyed context was freed before it.
    ended = result.stderr.index("cuCtxDestroy")
    assert "cuMemFreeHost" in result.stderr[:ended]


@pytest.mark.parametrize("threads", ["many", "-1", "2.5"])
def test_the_number_of_threads_is_a_setting(run_program, threads):
    result = run_program(
        "import numpy as np\n"
        "import pycuda.autoinit, pycuda.driver as cuda\n"
        "cuda.to_device(np.zeros(1 << 21, np.uint8))\n",
        PYCUDA_COPY_THREADS=threads,
    )
    assert f"PYCUDA_COPY_THREADS is '{threads}', not a number" in result.stderr
