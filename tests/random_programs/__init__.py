"""Random but legal CUDA C++ programs, compared between softcuda (or a GPU) and plain C++ on the host.

program.py      makes a program: a kernel, its functions, its launch
expressions.py  random expressions, with types, intervals and uniformity
flow.py exchanges.py memory.py waits.py functions.py    random statements, by family
batch.py        compiles many programs at once for the host and for the device, runs and compares them
reduce.py       finds a small program with the same difference
language.h      the names that a program uses, as CUDA C++ and as C++ with threads in software
host_threads.cpp    runs a grid's threads on the host, one at a time
"""
