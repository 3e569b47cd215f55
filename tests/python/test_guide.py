"""The programs of docs/user_guide.md run as the page shows them."""

import re
from pathlib import Path

import pytest

from pycuda import _check_command, _profile_command

GUIDE = Path(__file__).parents[2] / "docs" / "user_guide.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)

# Definitions that a program's context on the page implies, by a word that only that program has.
GIVEN = {
    "import pycuda.autoinit": "",
    "struct Spring": "",
    "memcpy_htod": "",
    "with cuda.mem_alloc": "",
    "with stream:": """
        from pycuda import gpuarray
        a_gpu, n = cuda.to_device(a), a.size
        x_gpu = gpuarray.to_gpu(a)
        """,
    "def work": """
        context, memory = pycuda.autoinit.context, cuda.mem_alloc(1024)
        kernel = SourceModule("__global__ void f(int *p) { p[threadIdx.x] = 1; }").get_function("f")
        """,
    "scale.bind": "work()",
    "scale<float, 4>": """
        source = "template <class T, int N> __global__ void scale(T *a) { a[threadIdx.x] *= N; }"
        """,
    "DynamicSourceModule": """
        from pycuda.compiler import DynamicSourceModule
        array = cuda.to_device(np.zeros(32, np.int32))
        """,
    "TextureObject": """
        image, out = np.ones((16, 16), np.float32), cuda.mem_alloc(1024)
        kernel = SourceModule('''__global__ void f(cudaTextureObject_t image, float *out) {
            int i = threadIdx.x;
            out[i] = tex2D<float>(image, i + 0.5f, 0.5f);
        }''').get_function("f")
        """,
    "argsort": """
        from pycuda import gpuarray
        numbers = np.random.default_rng(1).random((4, 4)).astype(np.float32)
        keys = scores = x = a = b = gpuarray.to_gpu(numbers.copy())
        a, b = gpuarray.to_gpu(np.ones((2, 3, 3))), gpuarray.to_gpu(np.ones((2, 3, 3)))
        keys = scores = gpuarray.to_gpu(numbers.ravel())
        """,
    "np.histogram": """
        places = gpuarray.to_gpu(np.array([0, 1, 1]))
        values, sums = gpuarray.to_gpu(np.ones(3)), gpuarray.zeros(2, np.float64)
        signal, a, b = keys, gpuarray.to_gpu(np.eye(3)), gpuarray.to_gpu(np.ones(3))
        """,
    "pycuda.fuse": "",
    "from pycuda import sparse": "",
    "np.i0": "",
    "torch.from_dlpack": "import torch",
    "mpi.Comm": """
        from mpi4py import MPI
        from pycuda import mpi
        x = gpuarray.to_gpu(np.ones(4))
        y = gpuarray.empty_like(x)
        """,
}


def program_with(word):
    return next(program for program in PROGRAMS if word in program)


def test_every_program_is_run():
    assert [program_with(word) for word in GIVEN] == PROGRAMS


@pytest.mark.slow
def test_programs(device):
    names: dict = {}
    for word, given in GIVEN.items():
        lines = [line.removeprefix("        ") for line in given.splitlines()]
        try:
            exec("\n".join(lines), names)
        except ImportError:
            continue  # torch or MPI is missing
        exec(compile(program_with(word), f"user_guide.md: {word}", "exec"), names)
    assert names["activation"](names["x"]).shape == names["x"].shape
    assert names["out"] is not None and names["solution"].shape == (3,)


@pytest.mark.parametrize("document", ["user_guide.md", "migration.md"])
def test_names_in_the_text_exist(document):
    import pycuda.driver as cuda

    text = (GUIDE.parent / document).read_text()
    missing = {
        name
        for name in re.findall(r"\bcuda\.(\w+)", text)
        if not hasattr(cuda, name)
        and name != "core"
        and f"cupy.cuda.{name}" not in text
    }
    assert not missing


PAGES = [GUIDE.parents[1] / "README.md", *sorted(GUIDE.parent.glob("*.md"))]
COMMANDS = sorted(
    {
        command
        for page in PAGES
        for command in re.findall(
            r"-m pycuda ((?:check|profile) [^`\n]+)", page.read_text()
        )
    }
)


@pytest.mark.parametrize("command", COMMANDS)
def test_options_come_before_the_program(command):
    """The words after the program are the program's own arguments."""
    name, *words = command.split()
    options = {"check": _check_command, "profile": _profile_command}[name]._parser()
    program = options.parse_args(words).program
    assert program and not any(word.startswith("-") for word in program), command
