"""Random calls of array functions, on the device and by NumPy.

    operands.py    random buffers, views of them, numbers, axes, indices and so on, as Python text
    calls.py       which functions there are, and which arguments they take
    case.py        a case: a few statements, run by NumPy and on the device, and compared

A case is a list of Python statements that mean the same to NumPy and to the device: only what ``base()``
makes differs. So each difference that is found is a program of a few lines. tools/random_arrays runs as many
cases as wanted, tests/python/test_random_arrays.py a few.
"""
