"""The kernels that are compiled with the package: array operations that need no compiler."""

import os
from pathlib import Path

import pytest
from conftest import is_softcuda

import pycuda

PACK = Path(pycuda.__file__).parent / "kernels.pack"

PROGRAM = """
    import numpy as np
    import pycuda.autoinit
    from pycuda import gpuarray, random

    a = np.arange(300_000, dtype=np.float32) % 1000
    x = gpuarray.to_gpu(a)
    np.testing.assert_array_equal((x + x).get(), a + a)
    np.testing.assert_array_equal((2 * x).get(), 2 * a)
    assert x.sum().get() == a.sum(dtype=np.float64)
    np.testing.assert_array_equal(x[x > 500].get(), a[a > 500])
    assert 0.4 < random.Generator(1).random(1000).get().mean() < 0.6
    print("compared")
"""


@pytest.fixture(autouse=True)
def pack(request):
    if not is_softcuda():
        pytest.skip("a GPU has gpu_kernels.pack; see test_gpu_kernel_pack.py")
    if not PACK.exists():
        pytest.skip("this build has none (PYCUDA_KERNEL_PACK=OFF, sanitizers)")


def test_usual_operations_need_no_compiler(run_program, tmp_path):
    assert PACK.stat().st_size > 1_000_000, "NVRTC was there when it was made"
    done = run_program(PROGRAM, PYCUDA_NVRTC=str(tmp_path / "nothing"))
    assert done.stdout == "compared\n", done.stderr
    assert not list((tmp_path / "cache").rglob("*.image"))


def test_other_operations_name_the_missing_package(run_program, tmp_path):
    # with types that the pack does not contain
    program = PROGRAM.replace("(2 * x)", "(np.uint16(2) * x.astype('uint16'))")
    done = run_program(program, PYCUDA_NVRTC=str(tmp_path / "nothing"))
    assert "CompileError" in done.stderr
    assert "PYCUDA_NVRTC is" in done.stderr


@pytest.mark.parametrize("setting", ["PYCUDA_KERNEL_PACK", "PYCUDA_DISABLE_CACHE"])
def test_pack_can_be_disabled(run_program, tmp_path, setting):
    away = str(tmp_path / "nothing")
    program = (
        "import pycuda.autoinit\nfrom pycuda import gpuarray\n-gpuarray.zeros(8, 'f4')"
    )
    done = run_program(program, **{"PYCUDA_NVRTC": away, setting: away})
    assert "PYCUDA_NVRTC is" in done.stderr


def test_damaged_pack_is_ignored(run_program, tmp_path):
    content = bytearray(PACK.read_bytes())
    content[-len(content) // 2 :] = os.urandom(len(content) // 2 + 1)[
        : len(content) // 2
    ]
    damaged = tmp_path / "kernels.pack"
    damaged.write_bytes(content)
    done = run_program(PROGRAM, PYCUDA_KERNEL_PACK=str(damaged))
    assert done.stdout == "compared\n", done.stderr


def test_long_sums_have_one_kernel(run_program, tmp_path):
    program = """
        import numpy as np
        import pycuda.autoinit
        from pycuda import gpuarray
        assert gpuarray.to_gpu(np.ones(300_000, np.float32)).sum().get() == 300_000
    """
    folder = tmp_path / "recorded"
    folder.mkdir()
    done = run_program(program, PYCUDA_RECORD_KERNELS=str(folder))
    assert done.returncode == 0, done.stderr
    assert len(list(folder.iterdir())) == 1
