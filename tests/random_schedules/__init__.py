"""Random programs of arrays, kernels and copies in many streams, compared with NumPy.

A program is a list of steps (`steps.py`). Each step works in one stream, and says what it reads and
writes. `program.py` makes a Python text from the steps. It follows CUDA's rules with a clock for each
stream (`order.py`), and adds an event or a wait where a step depends on another one that no rule orders
before it. So a program is correct, but has no order that it does not need. Beside each line for
the device the text has the same line for NumPy, in the order of the calls; the results are equal.

`batch.py` runs programs in processes with SOFTCUDA_SCHEDULE, and makes a program that fails smaller.
Hypothesis has a state machine for such tests. It is not used, because softcuda reads its schedule when a process
starts, so that each attempt to make a failure smaller needs a process, and because a failure should be a
program that runs without this folder.
"""
