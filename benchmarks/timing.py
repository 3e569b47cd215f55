"""How the benchmarks of arrays take times."""

import time


def best(run, wait, rounds, calls, queued=False):
    """Seconds for one call, of the best round: until ``wait`` returns, or of the calls alone where they are
    ``queued``."""
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
