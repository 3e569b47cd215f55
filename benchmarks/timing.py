"""How the benchmarks of arrays measure times."""

import time


def best(run, wait, rounds, calls, queued=False):
    """Seconds for one call in the best round: until ``wait`` returns, or, if ``queued``, for the calls alone."""
    run()
    wait()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            run()
        called = time.perf_counter()
        wait()
        times.append((called if queued else time.perf_counter()) - start)
    return min(times) / calls
