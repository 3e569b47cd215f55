"""The macros that nvcc has without an include, in sources and in headers."""

import warnings

import numpy as np
import pytest

import pycuda.driver as cuda
from pycuda.compiler import SourceModule


def value(body, before="", **how):
    """The number that a kernel with this body writes to ``o[0]``, without nvcc and the cache."""
    source = f'{before}\nextern "C" __global__ void answer(double *o) {{ {body} }}'
    out = np.zeros(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unused variables
        module = SourceModule(source, nvcc="nvrtc", cache_dir=False, **how)
    module.get_function("answer")(cuda.InOut(out), block=1)
    return out[0]


HEADERS_THAT_ASK = {
    "#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__": False,
    "#if __BYTE_ORDER == __BIG_ENDIAN": False,
    "#if BYTE_ORDER == BIG_ENDIAN": False,
    "#if __SIZEOF_POINTER__ == 8 && __SIZEOF_LONG__ == 8 && __WORDSIZE == 64": True,
    "#if __INT_MAX__ == 0x7fffffff && INT_MAX == __INT_MAX__ && CHAR_BIT == 8": True,
    "#if defined(M_PI) && defined(FP_NAN) && EOF == -1 && RAND_MAX == INT_MAX": True,
    "#if defined(__GNUC__) && defined(__linux__) && defined(__unix__)": True,
    "#include <wchar.h>\n#if WCHAR_MAX == 0x7fffffff && WCHAR_MIN < 0": True,
}


@pytest.mark.parametrize("question", HEADERS_THAT_ASK)
def test_macros_that_headers_ask_for(device, tmp_path, question):
    """nvcc has them without an include. Undefined macros are 0, and so equal."""
    (tmp_path / "asks.h").write_text(
        f"{question}\nconst int found = 1;\n#else\nconst int found = 0;\n#endif\n"
    )
    where = [str(tmp_path)]
    found = value("o[0] = found;", '#include "asks.h"', include_dirs=where)
    assert found == HEADERS_THAT_ASK[question]
    text = (tmp_path / "asks.h").read_text()
    assert value("o[0] = found;", text) == HEADERS_THAT_ASK[question]


def test_a_header_keeps_the_pi_of_nvcc(device, tmp_path):
    (tmp_path / "pi.h").write_text("#ifndef M_PI\n#define M_PI 3.14f\n#endif\n")
    where = [str(tmp_path)]
    assert value("o[0] = M_PI;", '#include "pi.h"', include_dirs=where) == np.pi


def test_a_header_that_fails_with_the_macros_of_gcc(device, tmp_path):
    """As libraries' headers do: it is read again without them."""
    (tmp_path / "fast.h").write_text(
        "#ifdef __GNUC__\n__device__ int found() { return __builtin_ia32_rdtsc(); }\n"
        "#else\n__device__ int found() { return 3; }\n#endif\n"
    )
    where = [str(tmp_path)]
    assert value("o[0] = found();", '#include "fast.h"', include_dirs=where) == 3


@pytest.mark.parametrize("name", ['"host.h"', "<host.h>"])
@pytest.mark.parametrize("macro", ["__GNUC__", "__linux__", "__x86_64__"])
def test_a_header_that_asks_for_gcc(device, tmp_path, macro, name):
    (tmp_path / "host.h").write_text(f"#ifndef {macro}\n#error which one?\n#endif\n")
    include = f"#include {name}"
    assert value("o[0] = 1;", include, include_dirs=[str(tmp_path)]) == 1
