"""NCCL's calls on arrays: several devices in one process, several processes, and errors."""

import subprocess
import sys
import textwrap

import pytest
from conftest import is_softcuda, require_devices

ONE_PROCESS = """
    import threading
    import ml_dtypes
    import numpy as np
    import pycuda.driver as cuda
    from pycuda import gpuarray, nccl
    cuda.init()
    count = cuda.Device.count()
    comms = nccl.all_devices()
    assert [c.rank for c in comms] == list(range(count)) and comms[0].ranks == count
    def on(rank, host):
        with cuda.Device(rank):
            return gpuarray.to_gpu(np.ascontiguousarray(host))
    def raises(kind, text, function):
        try:
            function()
        except kind as error:
            assert text in str(error), str(error)
            return
        raise AssertionError(f"nothing was raised, wanted {text!r}")
"""


@pytest.fixture
def run_devices(run_program):
    """Run a program on this number of devices; skipped on a machine with fewer GPUs."""

    def run(body, count=4, timeout=200, **environment):
        require_devices(count)
        done = run_program(
            textwrap.dedent(ONE_PROCESS) + textwrap.dedent(body),
            timeout=timeout, SOFTCUDA_DEVICES=str(count), SOFTCUDA_THREADS="1",
            CUDA_VISIBLE_DEVICES=",".join(map(str, range(count))), **environment,
        )  # fmt: skip
        if "there is no libnccl" in done.stderr:
            pytest.skip("there is no NCCL")
        assert done.returncode == 0, done.stdout + done.stderr[-4000:]
        return done

    return run


@pytest.mark.parametrize("count", [1, 2, 4])
def test_collectives_of_one_process(run_devices, count):
    run_devices(
        """
        assert nccl.version() >= (2, 13, 0)
        rng = np.random.default_rng(1)
        types = "int8 uint8 int32 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
        for name in [*types, ml_dtypes.bfloat16]:
            dtype = np.dtype(name)
            # 1.5 million elements go in several pieces.
            for size in (0, 1, 7, 1000) + ((1_500_000,) if dtype == np.float32 else ()):
                hosts = [rng.integers(0, 5, size).astype(dtype) for _ in range(count)]
                for op, join in [("sum", np.add), ("prod", np.multiply), ("max", np.maximum), ("min", np.minimum)]:
                    if dtype.kind == "c" and op != "sum":
                        raises(TypeError, "NCCL does not support", lambda: comms[0].all_reduce(on(0, hosts[0]), op=op))
                        continue
                    parts = [on(rank, host) for rank, host in enumerate(hosts)]
                    wanted = hosts[0]
                    for host in hosts[1:]:
                        wanted = join(wanted, host).astype(dtype)
                    with nccl.group():
                        results = [c.all_reduce(x, gpuarray.GPUArray.copy(x), op=op) for c, x in zip(comms, parts)]
                    for result in results:
                        np.testing.assert_array_equal(result.get(), wanted)
                    with nccl.group():  # in place, on the last rank alone
                        for c, x in zip(comms, parts):
                            c.reduce(x, op=op, root=count - 1)
                    np.testing.assert_array_equal(parts[-1].get(), wanted)
                    for x, host in list(zip(parts, hosts))[:-1]:
                        np.testing.assert_array_equal(x.get(), host)

        hosts = [rng.standard_normal((count, 3, 5)) for _ in range(count)]
        parts = [on(rank, host) for rank, host in enumerate(hosts)]
        with nccl.group():
            means = [c.all_reduce(x, gpuarray.GPUArray.copy(x), op="avg") for c, x in zip(comms, parts)]
            rows = [c.reduce_scatter(x) for c, x in zip(comms, parts)]
            whole = [c.all_gather(x) for c, x in zip(comms, parts)]
        for rank in range(count):
            np.testing.assert_allclose(means[rank].get(), np.mean(hosts, axis=0), rtol=1e-12)
            np.testing.assert_allclose(rows[rank].get(), np.sum(hosts, axis=0)[rank], rtol=1e-12)
            np.testing.assert_array_equal(whole[rank].get(), np.stack(hosts))
            np.testing.assert_array_equal(means[rank].get(), means[0].get())  # the same bits
        with nccl.group():
            for c, x in zip(comms, parts):
                c.broadcast(x, root=count - 1)
        for x in parts:
            np.testing.assert_array_equal(x.get(), hosts[-1])

        read_only = [on(rank, hosts[rank]) for rank in range(count)]
        for x in read_only:
            x.flags.writeable = False
        if count > 1:
            raises(ValueError, "read-only", lambda: comms[0].broadcast(read_only[0], root=count - 1))
        with nccl.group():  # the root is only read
            for c, x in zip(comms, [*parts[:-1], read_only[-1]]):
                c.broadcast(x, root=count - 1)

        structs = np.array([(1, 2.5), (3, 4.5)], [("a", "i4"), ("b", "f8")])
        parts = [on(rank, structs if rank == 0 else np.zeros_like(structs)) for rank in range(count)]
        with nccl.group():
            for c, x in zip(comms, parts):
                c.broadcast(x)
        assert all(x.get().tolist() == structs.tolist() for x in parts)
        raises(TypeError, "all_reduce() takes arrays of", lambda: comms[0].all_reduce(parts[0]))
        for c in comms:
            c.destroy()
        raises(nccl.NcclError, "was destroyed", comms[0].check)
        """,
        count,
    )


def test_messages_streams_and_groups(run_devices):
    run_devices(
        """
        # A ring of messages, longer than any buffer between the ranks, and both ways at once.
        hosts = [np.full(300_000, rank, "f4") for rank in range(count)]
        parts = [on(rank, host) for rank, host in enumerate(hosts)]
        left = [on(rank, host * 0) for rank, host in enumerate(hosts)]
        right = [on(rank, host * 0) for rank, host in enumerate(hosts)]
        streams = []
        for device in range(count):
            with cuda.Device(device):
                streams.append(cuda.Stream())
        for _ in range(3):
            with nccl.group():
                for rank, c in enumerate(comms):
                    after, before = (rank + 1) % count, (rank - 1) % count
                    c.send(parts[rank], after, streams[rank])
                    c.recv(left[rank], before, streams[rank])
                    c.sendrecv(parts[rank], before, right[rank], after, streams[rank])
        for rank, c in enumerate(comms):
            c.synchronize(streams[rank])
            assert (left[rank].get() == (rank - 1) % count).all()
            assert (right[rank].get() == (rank + 1) % count).all()

        # Work is ordered by streams: what is computed before is sent, what comes after sees the result.
        for step in range(20):
            with nccl.group():
                for rank, c in enumerate(comms):
                    parts[rank].fill(step + rank)
                    c.all_reduce(parts[rank])
            for x in parts:
                x += 1
        for x in parts:
            assert (x.get() == count * 19 + sum(range(count)) + 1).all()

        # From a thread for each rank, no group is needed.
        def work(rank):
            with cuda.Device(rank):
                x = gpuarray.to_gpu(np.full(1000, rank + 1.0))
                for _ in range(10):
                    comms[rank].all_reduce(x, op="max")
                    x += rank
                results[rank] = x.get()
        results = {}
        threads = [threading.Thread(target=work, args=(rank,)) for rank in range(count)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert all((results[rank] == count + 9 * (count - 1) + rank).all() for rank in range(count))

        # An exception in a group leaves its calls unmade.
        try:
            with nccl.group():
                comms[0].all_reduce(parts[0])
                raise KeyError("mine")
        except KeyError:
            pass
        before = parts[0].get()
        with nccl.group():
            for c, x in zip(comms, parts):
                c.all_reduce(x, op="max")
        np.testing.assert_array_equal(parts[0].get(), before)
        """
    )


def test_graphs_replay_calls(run_devices):
    """Each launch makes the calls again, on the values of that launch."""
    run_devices(
        """
        hosts = [np.arange(3000, dtype="f4") + rank for rank in range(count)]
        xs = [on(rank, host) for rank, host in enumerate(hosts)]
        sums, all_of, left, lows = ([on(rank, np.zeros(n, "f4")) for rank in range(count)]
                                    for n in (3000, 3000 * count, 3000, 3000))
        streams, graphs = [], []
        for rank, c in enumerate(comms):
            with cuda.Device(rank):
                stream, side = cuda.Stream(), cuda.Stream()
                fork, join = cuda.Event(), cuda.Event()
                cuda.Context.synchronize()
                with cuda.capture(stream) as recording, stream:
                    xs[rank] += 1
                    c.all_reduce(xs[rank], sums[rank])
                    c.all_gather(xs[rank], all_of[rank])
                    # Calls in another stream of the capture keep their order.
                    fork.record(stream)
                    side.wait_for_event(fork)
                    c.sendrecv(xs[rank], (rank + 1) % count, left[rank], (rank - 1) % count, side)
                    c.all_reduce(xs[rank], lows[rank], "min", stream)
                    join.record(side)
                    stream.wait_for_event(join)
                    sums[rank] *= 2
                streams.append(stream)
                graphs.append(recording.graph.instantiate())
                cuda.Context.synchronize()
                assert not sums[rank].get().any()  # nothing ran yet
        for step in range(1, 6):
            for rank in range(count):
                with cuda.Device(rank):
                    graphs[rank].launch(streams[rank])
            if step == 3:  # calls that are not recorded, between launches
                with nccl.group():
                    for rank, c in enumerate(comms):
                        c.all_reduce(xs[rank], left[rank], "max", streams[rank])
            for rank, c in enumerate(comms):
                c.synchronize(streams[rank])
            now = [host + step for host in hosts]
            for rank in range(count):
                np.testing.assert_array_equal(sums[rank].get(), 2 * sum(now))
                np.testing.assert_array_equal(all_of[rank].get(), np.concatenate(now))
                np.testing.assert_array_equal(lows[rank].get(), now[0])
                want = now[-1] if step == 3 else now[(rank - 1) % count]
                np.testing.assert_array_equal(left[rank].get(), want)

        # Many launches before the first wait.
        for _ in range(50):
            for rank in range(count):
                with cuda.Device(rank):
                    graphs[rank].launch(streams[rank])
        for rank, c in enumerate(comms):
            c.synchronize(streams[rank])
            np.testing.assert_array_equal(lows[rank].get(), hosts[0] + 55)

        # Graphs that end before and after the communicators.
        graphs[0] = None
        for c in comms:
            c.destroy()
        graphs.clear()
        """,
        count=3,
    )


def test_wrong_arguments(run_devices):
    run_devices(
        """
        x, y = on(0, np.zeros(4)), on(1, np.zeros(4))
        c = comms[0]
        raises(ValueError, "on cuda:1 was passed to a communicator on cuda:0", lambda: c.all_reduce(y))
        raises(TypeError, "must be a GPUArray, not ndarray", lambda: c.send(np.zeros(3), 1))
        raises(ValueError, "must be contiguous", lambda: c.send(x[::2], 1))
        raises(ValueError, "op must be one of", lambda: c.all_reduce(x, op="mean"))
        raises(ValueError, "peer must be from 0 to 1, not 2", lambda: c.send(x, 2))
        raises(ValueError, "root must be from 0 to 1, not -1", lambda: c.broadcast(x, -1))
        raises(TypeError, "must have one dtype", lambda: c.all_reduce(x, x.astype("f4")))
        raises(ValueError, "cannot take 4 elements to 3", lambda: c.all_reduce(x, on(0, np.zeros(3))))
        raises(ValueError, "first axis of 2", lambda: c.reduce_scatter(on(0, np.zeros((3, 2)))))
        raises(ValueError, "rank must be from 0 to 1, not 2", lambda: nccl.Communicator(2, 2, bytes(128)))
        raises(ValueError, "a unique id must have 128 bytes, not 3", lambda: nccl.Communicator(1, 0, b"abc", 0))
        raises(ValueError, "there is no device 9", lambda: nccl.all_devices([0, 9]))
        # Nothing of this has harmed the communicators.
        with nccl.group():
            comms[0].all_reduce(x), comms[1].all_reduce(y)
        assert x.get().tolist() == [0] * 4
        """,
        2,
    )


def test_calls_that_do_not_match_are_errors(run_devices):
    if not is_softcuda():
        pytest.skip("NVIDIA's NCCL does not compare calls")
    done = run_devices(
        """
        x, y = on(0, np.zeros(4)), on(1, np.zeros(4))
        with nccl.group():
            comms[0].all_reduce(x)
            comms[1].all_reduce(y, op="max")
        for c in comms:
            raises(nccl.NcclError, "all-reduce number 1 of 4 float64 with", c.synchronize)
        raises(nccl.NcclError, "rank", lambda: comms[0].broadcast(x))

        fresh = nccl.all_devices()
        with nccl.group():
            fresh[0].send(x, 1)
            fresh[1].recv(on(1, np.zeros(5)), 0)
        raises(nccl.NcclError, "rank 1 calls send and receive of 5 float64, rank 0 calls send and receive of 4",
               fresh[1].synchronize)

        late = nccl.all_devices()
        late[0].all_reduce(x)  # and the other rank never
        raises(nccl.NcclError, "rank 1 did nothing for 2 s (SOFTCUDA_NCCL_TIMEOUT)", late[0].synchronize)

        gone = nccl.all_devices()
        gone[1].destroy()
        gone[0].all_reduce(x)
        raises(nccl.NcclError, "rank 1 has destroyed its communicator", gone[0].synchronize)

        own = nccl.all_devices()
        own[0].send(x, 0)
        raises(nccl.NcclError, "sends to itself", own[0].synchronize)
        raises(nccl.NcclError, "only 1 of 2 ranks joined within 2 s", lambda: nccl.Communicator(2, 0, nccl.unique_id(), 0))

        common = nccl.unique_id()
        nccl.Communicator(1, 0, common, 0)
        """,
        2,
        SOFTCUDA_NCCL_TIMEOUT="2",
    )
    assert "softcuda: NCCL, rank" in done.stderr


def test_group_keeps_stream_and_arguments_of_each_call(run_devices):
    run_devices(
        """
        x, y = on(0, np.ones(1000)), on(1, np.ones(1000))
        streams = []
        for device in range(2):
            with cuda.Device(device):
                streams.append(cuda.Stream())
        # The stream is that of the call, and not the one at the end of the group.
        with cuda.Device(0):
            host = cuda.pagelocked_zeros(1000, np.float64)
        with nccl.group():
            for c, array, stream in zip(comms, (x, y), streams):
                with c.device, stream:
                    array *= 3
                    c.all_reduce(array)
        with cuda.Device(0), streams[0]:
            x *= 2
            x.get_async(stream=streams[0], ary=host)
            streams[0].synchronize()
        assert (host == 12).all(), host

        # Arguments are checked where the call is written, and spoil nothing.
        with nccl.group():
            comms[0].all_reduce(x)
            raises(ValueError, "op must be one of", lambda: comms[1].all_reduce(y, op="mean"))
            with nccl.group():
                comms[1].all_reduce(y)
        assert (y.get() == 18).all()
        raises(ValueError, "a stream of cuda:1 was passed to a communicator on cuda:0",
               lambda: comms[0].all_reduce(x, stream=streams[1]))
        # An inner block that fails takes its own calls with it.
        with nccl.group():
            try:
                with nccl.group():
                    comms[0].all_reduce(x)
                    raise KeyError("mine")
            except KeyError:
                pass
            comms[0].all_reduce(x), comms[1].all_reduce(y)
        assert (x.get() == 36).all() and (y.get() == 36).all()

        # An array that is freed before the group's end: none of its calls is made.
        gone = on(0, np.ones(1000))
        def late():
            with nccl.group():
                comms[1].all_reduce(y)
                comms[0].all_reduce(gone)
                gone.gpudata.free()
        raises(cuda.LogicError, "freed", late)
        with nccl.group():
            comms[0].all_reduce(x), comms[1].all_reduce(y)
        assert (x.get() == 72).all() and (y.get() == 72).all()

        # A group that no block ends, one that ends in another thread, one that is entered twice.
        one = nccl.group()
        one.__enter__()
        raises(RuntimeError, "already entered", one.__enter__)
        def end():
            raises(RuntimeError, "must end in the thread that began it", lambda: one.__exit__(None, None, None))
            other = nccl.group()
            other.__enter__()
            comms[1].all_reduce(y)
        thread = threading.Thread(target=end)
        thread.start(), thread.join()
        one.__exit__(None, None, None)
        with nccl.group():
            comms[0].all_reduce(x), comms[1].all_reduce(y)
        assert (x.get() == 144).all() and (y.get() == 144).all()
        """,
        2,
    )


def test_arrays_that_overlap_are_in_place_or_an_error(run_devices):
    run_devices(
        """
        hosts = [np.arange(8.0) + 10 * rank for rank in range(2)]
        parts = [on(rank, host) for rank, host in enumerate(hosts)]
        c, x = comms[0], parts[0]
        raises(ValueError, "overlap; in a call in place", lambda: c.all_reduce(x[:4], x[2:6]))
        raises(ValueError, "overlap", lambda: c.all_gather(x[4:], x))
        raises(ValueError, "overlap", lambda: c.reduce_scatter(x, x[2:6]))
        with nccl.group():
            for rank, (c, x) in enumerate(zip(comms, parts)):
                c.all_gather(x[4 * rank : 4 * rank + 4], x)
        for x in parts:
            assert x.get().tolist() == [0, 1, 2, 3, 14, 15, 16, 17]
        with nccl.group():
            for rank, (c, x) in enumerate(zip(comms, parts)):
                c.reduce_scatter(x, x[4 * rank : 4 * rank + 4])
        assert parts[0].get()[:4].tolist() == [0, 2, 4, 6]
        assert parts[1].get()[4:].tolist() == [28, 30, 32, 34]
        raises(TypeError, "must be a GPUArray, not NoneType", lambda: comms[0].broadcast(None))
        raises(ValueError, "op must be one of 'sum', 'prod', 'max', 'min', 'avg', not 3", lambda: comms[0].all_reduce(parts[0], op=3))
        """,
        2,
    )


def test_a_call_is_one_call_of_python(run_devices):
    # The layers between the program and NCCL decide the time of short messages.
    run_devices(
        """
        import sys
        x, y = on(0, np.ones(4)), on(0, np.zeros(4))
        (c,) = comms
        def calls_of(function):
            found = []
            def note(frame, event, argument):
                if event in ("call", "c_call"):
                    found.append(argument or frame.f_code.co_name)
            sys.setprofile(note)
            function()
            sys.setprofile(None)
            return found[1:-1]  # without the function itself and setprofile()
        def group():
            with nccl.group():
                c.send(x, 0)
                c.recv(y, 0)
        for function in (lambda: c.all_reduce(x, y), lambda: c.broadcast(x), lambda: c.reduce(x, y),
                         lambda: c.all_gather(x, y), lambda: c.reduce_scatter(x, y)):
            assert len(calls_of(function)) <= 2, calls_of(function)
        assert len(calls_of(group)) <= 8, calls_of(group)
        assert y.get().tolist() == [1] * 4
        """,
        1,
    )


def test_a_communicator_is_split_by_color(run_devices):
    run_devices(
        """
        from concurrent.futures import ThreadPoolExecutor
        def work(rank):
            c = comms[rank]
            half = c.split(rank % 2, key=-rank)  # in the opposite order
            assert (half.ranks, half.rank, half.device) == (2, 1 - rank // 2, c.device)
            x = half.all_reduce(on(rank, np.full(5, 10.0**rank)))
            some = c.split(None if rank == 3 else 7)
            if rank == 3:
                assert some is None
            else:
                assert (some.ranks, some.rank) == (3, rank)
                gathered = some.all_gather(on(rank, np.array([rank]))).get()
                assert gathered.ravel().tolist() == [0, 1, 2]
            return x.get().tolist()
        with ThreadPoolExecutor(4) as pool:
            found = list(pool.map(work, range(4)))
        assert found == [[101.0] * 5, [1010.0] * 5] * 2, found
        with nccl.group():
            raises(RuntimeError, "cannot be called inside a group", lambda: comms[0].split(1))
        """,
        4,
    )


def test_a_forked_child_does_not_use_the_communicators(run_devices):
    run_devices(
        """
        import os
        x, y = on(0, np.ones(4)), on(1, np.ones(4))
        child = os.fork()
        if child == 0:
            try:
                for c in comms:
                    for call in (c.check, c.abort, c.destroy, lambda: comms[0].all_reduce(x)):
                        raises(cuda.Error, "before fork", call)
                del comms, c
                os._exit(0)
            except BaseException as error:
                print(repr(error), flush=True)
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        with nccl.group():
            comms[0].all_reduce(x), comms[1].all_reduce(y)
        assert x.get().tolist() == y.get().tolist() == [2] * 4
        """,
        2,
    )


PROCESSES = """
    import os, signal, subprocess, sys, time
    import numpy as np
    import pycuda.driver as cuda
    from pycuda import gpuarray, nccl
    cuda.init()
    ranks, mode = 3, sys.argv[1]
    if len(sys.argv) == 2:
        common = nccl.unique_id()
        processes = [
            subprocess.Popen([sys.executable, __file__, mode, str(rank), common.hex()])
            for rank in range(ranks)
        ]
        codes = [process.wait(timeout=100) for process in processes]
        print("codes", codes)
        left = [name for name in os.listdir("/dev/shm") if common[16:60].split(b"\\0")[0].decode() in name]
        assert not left, left
        sys.exit()
    rank = int(sys.argv[2])
    with cuda.Device(rank % cuda.Device.count()):
        comm = nccl.Communicator(ranks, rank, bytes.fromhex(sys.argv[3]))
        x = gpuarray.to_gpu(np.arange(100_000, dtype="f4") + rank)
        for _ in range(5):
            y = comm.all_reduce(x, gpuarray.empty_like(x))
        assert (y.get() == 3 * np.arange(100_000, dtype="f4") + 3).all()
        if mode == "well":
            comm.destroy()
            sys.exit()
        if rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        start = time.monotonic()
        try:
            comm.all_reduce(x)
            comm.synchronize()
        except nccl.NcclError as error:
            assert "rank 1" in str(error) and "has ended" in str(error), error
            assert time.monotonic() - start < 20
            comm.abort()
            sys.exit(7)
"""


@pytest.mark.parametrize("mode, codes", [("well", "[0, 0, 0]"), ("kill", "[7, -9, 7]")])
def test_processes(run_program, mode, codes):
    require_devices(3)
    done = run_program(
        PROCESSES, mode, SOFTCUDA_DEVICES="3", SOFTCUDA_THREADS="1", timeout=200
    )
    if "there is no libnccl" in done.stderr:
        pytest.skip("there is no NCCL")
    assert done.returncode == 0 and f"codes {codes}" in done.stdout, (
        done.stdout + done.stderr[-3000:]
    )


def test_full_shared_memory_is_an_error(tmp_path):
    if not is_softcuda():
        pytest.skip("softcuda's NCCL alone keeps its messages in /dev/shm")
    program = tmp_path / "program.py"
    program.write_text(
        "from pycuda import nccl\n"
        "try:\n    nccl.all_devices([0, 0])\n"
        "except nccl.NcclError as error:\n    print(error)\n"
    )
    small = "mount -t tmpfs -o size=64k tmpfs /dev/shm && echo mounted && exec"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", f"{small} {sys.executable} {program}"],
        capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    if "mounted" not in done.stdout:
        pytest.skip(f"this user cannot mount: {done.stderr.strip()}")
    assert "bytes in /dev/shm failed: No space left" in done.stdout, done
    assert done.returncode == 0, done
