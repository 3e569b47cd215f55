"""Random calls of array functions, on the device and in NumPy.

    operands.py    random buffers, views of them, numbers, axes, indices and so on, as Python text
    tables.py      the functions and their arguments, and expressions
    calls.py       random arguments of functions
    case.py        a case: a few statements, run by NumPy and on the device, and compared

A case is a list of Python statements that have the same meaning for NumPy and for the device: only the result of ``base()``
differs. So each difference that is found is a program of a few lines. tools/random_arrays runs as many
cases as you ask for; tests/python/arrays/test_random_arrays.py runs a few.
"""
