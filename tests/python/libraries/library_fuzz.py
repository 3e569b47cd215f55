"""Calls softcuda's cuBLAS and so on with random bad arguments.

    python library_fuzz.py PATTERN SEED SECONDS LOG

Calls the functions whose names begin with the pattern, until the time is over. Writes each call to the file LOG before
it begins, so that the last line is the call that ended the process. Prints the statuses as JSON: function, status,
number of calls.

Arguments are null, destroyed and valid handles and descriptors, sizes from -2^63 to 2^63 - 1, memory of the device that
is too small, arrays with wrong contents, and memory of the host that no driver knows. A library reads scalars and small
arrays of the host, so an address is never one that the process cannot read.
"""

import ctypes
import json
import os
import random
import re
import struct
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

from library_signatures import signatures

NAMES = {
    "cublas": "libcublas.so.13",
    "cublaslt": "libcublasLt.so.13",
    "cufft": "libcufft.so.12",
    "curand": "libcurand.so.10",
    "cusolver": "libcusolver.so.12",
    "cusparse": "libcusparse.so.12",
}
HANDLES = {"Handle", "XtHandle", "Generator", "SparseHandle", "RfHandle"}
OBJECTS = HANDLES | {
    *("Info", "Descriptor", "Jacobi", "Params", "Refinement", "RefinementInfo"),
    *("ColorInfo", "PruneInfo", "SortInfo", "SparseMatrix", "DenseMatrix"),
    *("DenseVector", "SparseVector", "LegacyDescription *", "Layout *"),
    *("MatmulDescription *", "Preference *", "TransformDescription *"),
}
SIZE = 4096  # bytes of a buffer
USUAL = [0, 1, 2, 4, 4, 4, 4]
WRONG = [0, 1, 2, 3, 5, 8, 16, 17, 33, 1000, -1, -5, 2**31 - 1, -(2**31), 2**20]
WIDE = [*WRONG, 2**31, 2**33, 2**40, 2**62, 2**63 - 1, -(2**63), -(2**40)]
REALS = [0.0, 1.0, -1.0, 0.5, float("nan"), float("inf"), 1e300, 1e-300]


class Complex(ctypes.Structure):
    _fields_ = [("re", ctypes.c_float), ("im", ctypes.c_float)]


class DoubleComplex(ctypes.Structure):
    _fields_ = [("re", ctypes.c_double), ("im", ctypes.c_double)]


class Fuzzer:
    def __init__(self, seed):
        import softcuda_libraries

        self.random = random.Random(seed)
        folder = Path(softcuda_libraries.FOLDER)
        self.libraries = {k: ctypes.CDLL(str(folder / v)) for k, v in NAMES.items()}
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.cuda.cuCtxSetCurrent(context) == 0
        self.device = [self.allocate(SIZE) for _ in range(12)]
        self.host = [ctypes.create_string_buffer(16 * SIZE) for _ in range(4)]
        self.freed = self.allocate(8 << 20)
        self.cuda.cuMemFree_v2(ctypes.c_void_p(self.freed))
        self.alive, self.dead = defaultdict(list), defaultdict(list)
        self.plans = [0, 12345, -1]
        self.streams = [0, 1, 2]
        for _ in range(2):
            stream = ctypes.c_void_p()
            assert self.cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
            self.streams.append(stream.value)

    def allocate(self, size):
        address = ctypes.c_void_p()
        made = self.cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(size))
        assert made == 0
        return address.value

    def fill(self, address):
        """Writes zeros, ones, indices, NaN, random bytes, addresses, or ascending numbers."""
        kind = self.random.randrange(7)
        if kind == 0:
            data = bytes(SIZE)
        elif kind == 1:
            data = struct.pack("<i", 1) * (SIZE // 4)
        elif kind == 2:
            data = b"".join(
                struct.pack("<i", self.random.randrange(6)) for _ in range(SIZE // 4)
            )
        elif kind == 3:
            data = struct.pack("<f", float("nan")) * (SIZE // 4)
        elif kind == 4:
            data = self.random.randbytes(SIZE)
        elif kind == 5:
            places = [*self.device, 0, self.freed, 16]
            data = b"".join(
                struct.pack("<Q", self.random.choice(places)) for _ in range(SIZE // 8)
            )
        else:
            data = b"".join(struct.pack("<i", i) for i in range(SIZE // 4))
        ctypes.memmove(address, data, SIZE)

    def memory(self):
        chance = self.random.random()
        if chance < 0.06:
            return None
        if chance < 0.1:
            return ctypes.addressof(self.random.choice(self.host))
        # Less than the whole buffer, but enough for the scalars that a library reads of the host.
        return self.random.choice(self.device) + (SIZE - 64 if chance > 0.96 else 0)

    def key(self, function, kind):
        """The objects that are of one type. cuSPARSE has two types of the name Descriptor."""
        if kind == "Descriptor" and function.library == "cusolver":
            return "cusparse", "LegacyDescription *", ""
        return function.library, kind, function.file if kind == "Descriptor" else ""

    def object(self, function, kind):
        key, chance = self.key(function, kind), self.random.random()
        if chance < 0.04 or not self.alive[key]:
            return ctypes.c_void_p()
        if chance < 0.07 and kind in HANDLES and self.dead[key]:
            return ctypes.c_void_p(self.random.choice(self.dead[key]))
        return ctypes.c_void_p(self.random.choice(self.alive[key]))

    def number(self, values):
        usual = self.random.random() >= self.wildness
        return ctypes.c_longlong(self.random.choice(USUAL if usual else values))

    def argument(self, function, kind, is_first):
        if kind in OBJECTS:
            return self.object(function, kind)
        if kind == "CUstream":
            return ctypes.c_void_p(self.random.choice(self.streams))
        if "(" in kind or kind.startswith(("FILE", "LogCallback")):
            return ctypes.c_void_p()
        real = self.random.choice(REALS)
        if kind in ("float", "Real<float>", "Real<Complex>"):
            return ctypes.c_float(real)
        if kind in ("double", "Real<double>", "Real<DoubleComplex>"):
            return ctypes.c_double(real)
        if kind == "Complex":
            return Complex(real, 1)
        if kind == "DoubleComplex":
            return DoubleComplex(real, 1)
        if kind in ("char", "signed char"):
            return ctypes.c_int(ord(self.random.choice("NTCULRSAOVntc?x\0")))
        if kind == "char *":
            texts = [None, b"x", b"0,1", b"/nonexistent/file"]
            return ctypes.c_char_p(self.random.choice(texts))
        if kind.endswith("*"):
            return ctypes.c_void_p(self.memory())
        if kind in ("int", "unsigned", "uint32_t"):
            if function.library == "cufft" and is_first and self.random.random() < 0.7:
                return ctypes.c_longlong(self.random.choice(self.plans))
            return self.number(WRONG)
        return self.number(WIDE)

    def arguments(self, function):
        """The arguments, and the objects that the function may make: pairs of a key and a place."""
        self.wildness = self.random.choice([0, 0.1, 0.1, 0.3, 0.6])
        made, places = [], []
        for number, kind in enumerate(function.parameters):
            made_kind = kind.removesuffix(" *")
            if (
                kind != made_kind
                and made_kind in OBJECTS
                and self.random.random() < 0.95
            ):
                place = (ctypes.c_void_p * 16)()
                places.append((self.key(function, made_kind), place))
                made.append(place)
            else:
                made.append(self.argument(function, kind, number == 0))
        return made, places

    def call(self, name, function, log):
        for address in [*self.device, *map(ctypes.addressof, self.host)]:
            if self.random.random() < 0.3:
                self.fill(address)
        arguments, places = self.arguments(function)
        if re.search("destroy|shutdown", name, re.IGNORECASE) and arguments:
            kind = function.parameters[0]
            if kind in OBJECTS and len(self.alive[self.key(function, kind)]) < 2:
                return None  # other functions need an object
        values = [getattr(argument, "value", "?") for argument in arguments]
        os.write(log, f"{name}({', '.join(map(str, values))})\n".encode())
        address = getattr(self.libraries[function.library], name)
        address.restype = ctypes.c_int if function.returns_status else ctypes.c_void_p
        status = address(*arguments)
        self.cuda.cuCtxSynchronize()
        if status == 0:
            self.remember(name, function, arguments, places)
        return status if function.returns_status else None

    def remember(self, name, function, arguments, places):
        for key, place in places:
            if place[0]:
                known = self.alive[key]
                if place[0] in self.dead[key]:
                    self.dead[key].remove(place[0])
                known.append(place[0])
                del known[:-6]
        first = function.parameters[0] if function.parameters else ""
        if "estroy" in name and first in OBJECTS:
            key = self.key(function, first)
            if arguments[0].value in self.alive[key]:
                self.alive[key].remove(arguments[0].value)
                self.dead[key].append(arguments[0].value)
        if function.library == "cufft" and first == "int *" and arguments[0].value:
            plan = ctypes.c_int.from_address(arguments[0].value).value
            self.plans = [*self.plans[-16:], plan]


def main(pattern, seed, seconds, log_path):
    with tempfile.TemporaryDirectory() as folder:
        functions = signatures(folder)
    functions.pop("cublasFree")  # it would free the buffers of other calls
    fuzzer = Fuzzer(int(seed))
    log = os.open(log_path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    statuses = defaultdict(Counter)
    chosen = [name for name in functions if re.match(pattern, name)]
    makers = {
        name: function
        for name, function in functions.items()
        if any(
            kind.removesuffix(" *") in OBJECTS - {kind} for kind in function.parameters
        )
    }
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        for name, function in makers.items():
            for kind in function.parameters:
                key = fuzzer.key(function, kind.removesuffix(" *"))
                if key[1] in OBJECTS - {kind} and len(fuzzer.alive[key]) < 3:
                    fuzzer.call(name, function, log)
        fuzzer.random.shuffle(chosen)
        for name in chosen:
            if time.monotonic() > end:
                break
            status = fuzzer.call(name, functions[name], log)
            if status is not None:
                statuses[name][status] += 1
    print(json.dumps(statuses))


if __name__ == "__main__":
    main(*sys.argv[1:])
