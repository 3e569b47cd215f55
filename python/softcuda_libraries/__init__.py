"""Libraries with the names of cuBLAS, cuFFT, cuRAND, cuSOLVER and cuSPARSE, which run on the CPU.

They compute on the memory of softcuda's devices. ``softcuda-exec PROGRAM`` finds them; nothing else does, so a
program on a machine with a GPU uses NVIDIA's. There is nothing to import: the package holds the libraries.
"""

import os

#: The folder of the libraries.
FOLDER = os.path.dirname(os.path.abspath(__file__))
