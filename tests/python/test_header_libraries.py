"""Header-only libraries in kernels: CUDA's own, and those of a distribution, if they are installed."""

import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from marks import slow

import pycuda.driver as cuda
from pycuda.compiler import SourceModule

# Headers, body, result for o = {1, 2, 3, 4}. NVRTC compiles these alone.
IN_PROCESS = {
    "GLM": (
        "#include <glm/glm.hpp>\n#include <glm/gtc/matrix_transform.hpp>",
        "glm::vec3 v(o[0], o[1], o[2]); glm::mat4 m = glm::scale(glm::mat4(1), v);"
        "o[0] = (m * glm::vec4(v, 1)).z;",
        9,
    ),
    "stb": (
        "#define STB_PERLIN_IMPLEMENTATION\n#include <stb/stb_perlin.h>",
        "o[0] = stb_perlin_noise3(0, 0, 0, 0, 0, 0);",
        0,
    ),
    "Boost.Preprocessor": (
        "#include <boost/preprocessor.hpp>",
        "o[0] = BOOST_PP_ADD(3, 4);",
        7,
    ),
    "Boost.Mp11": (
        "#include <boost/mp11.hpp>",
        "using namespace boost::mp11; o[0] = mp_size<mp_push_back<mp_list<int, float>, char>>::value;",
        3,
    ),
    "Boost.Hana": (
        "#include <boost/hana.hpp>",
        "o[0] = decltype(boost::hana::int_c<2> + boost::hana::int_c<3>)::value;",
        5,
    ),
    "Boost.MPL": (
        "#include <boost/mpl/vector.hpp>\n#include <boost/mpl/size.hpp>",
        "o[0] = boost::mpl::size<boost::mpl::vector<int, float, char>>::value;",
        3,
    ),
    "CUB": (
        "#include <cub/block/block_reduce.cuh>",
        "typedef cub::BlockReduce<double, 4> Reduce; __shared__ Reduce::TempStorage s;"
        "double all = Reduce(s).Sum(o[threadIdx.x]); if (threadIdx.x == 0) o[0] = all;",
        10,
    ),
    "cuRAND": (
        "#include <curand_kernel.h>",
        "curandState s; curand_init(1, 0, 0, &s); o[0] = curand_uniform(&s) <= 1;",
        1,
    ),
    "cuRAND after the header of its host functions": (
        "#include <curand.h>\n#include <curand_kernel.h>",
        "curandStateSobol32_t s; curandDirectionVectors32_t v = {1u << 31};"
        "curand_init(v, 1, &s); o[0] = curand(&s) >> 31;",
        1,
    ),
    "cooperative groups": (
        "#include <cooperative_groups.h>",
        "auto block = cooperative_groups::this_thread_block(); block.sync(); o[0] = block.size();",
        4,
    ),
    "libcu++": (
        "#include <cuda/std/complex>\n#include <cuda/std/tuple>\n#include <cuda/atomic>",
        "cuda::std::complex<double> z(o[0], o[1]); o[0] = (z * z).imag();",
        4,
    ),
    "cuComplex": (
        "#include <cuComplex.h>",
        "o[0] = cuCabs(make_cuDoubleComplex(o[2], o[3]));",
        5,
    ),
    "Thrust, sort": (
        "#include <thrust/sort.h>\n#include <thrust/execution_policy.h>\n#include <thrust/functional.h>",
        "thrust::sort(thrust::seq, o, o + 4, thrust::greater<double>());",
        4,
    ),
    "Thrust, reduce and scan": (
        "#include <thrust/reduce.h>\n#include <thrust/scan.h>\n#include <thrust/execution_policy.h>",
        "thrust::inclusive_scan(thrust::device, o, o + 4, o); o[0] = thrust::reduce(thrust::seq, o, o + 4);",
        20,
    ),
    "Thrust, iterators": (
        "#include <thrust/transform_reduce.h>\n#include <thrust/iterator/counting_iterator.h>\n"
        "#include <thrust/iterator/zip_iterator.h>\n#include <thrust/execution_policy.h>\n"
        "struct square { __host__ __device__ double operator()(int i) const { return i * i; } };",
        "thrust::counting_iterator<int> one(1);"
        "auto pair = *thrust::make_zip_iterator(thrust::make_tuple(o, o + 1));"
        "o[0] = thrust::transform_reduce(thrust::seq, one, one + 3, square(), 0.0, thrust::plus<double>())"
        " + thrust::get<1>(pair);",
        16,
    ),
    "Thrust, complex numbers and random numbers": (
        "#include <thrust/complex.h>\n#include <thrust/random.h>",
        "thrust::complex<double> z(o[2], o[3]); thrust::minstd_rand next(1); next.discard(9999);"
        "o[0] = thrust::abs(z) + (next() == 399268537u);",
        6,
    ),
    "Thrust, vectors beside a kernel": (
        "#include <thrust/device_vector.h>\n#include <thrust/host_vector.h>\n"
        "#include <thrust/binary_search.h>\n#include <thrust/execution_policy.h>",
        "o[0] = thrust::lower_bound(thrust::seq, o, o + 4, 3.0) - o;",
        2,
    ),
    "half": (
        "#include <cuda_fp16.h>\n#include <cuda_bf16.h>",
        "o[0] = __half2float(__float2half(float(o[0])) + __half(2.f));",
        3,
    ),
    "Eigen": (
        "#include <Eigen/Dense>",
        "Eigen::Map<Eigen::Matrix2d> m(o); o[0] = (m * m.transpose()).determinant();",
        4,
    ),
    "Eigen, solvers": (
        "#include <Eigen/Dense>",
        "Eigen::Vector2d x = Eigen::Map<Eigen::Matrix2d>(o).inverse() * Eigen::Vector2d(2, 2);"
        "Eigen::Quaterniond q(0, 0, 0, 1); o[0] = x.norm() + (q * Eigen::Vector3d(1, 0, 0)).x();",
        2**0.5 - 1,
    ),
    "Random123": (
        "#include <Random123/philox.h>",
        "r123::Philox4x32 next; r123::Philox4x32::ctr_type c = {{}}; r123::Philox4x32::key_type k = {{}};"
        "o[0] = next(c, k)[0] == 0x6627e8d5;",
        1,
    ),
    "Random123, threefry and uniform": (
        "#include <Random123/threefry.h>\n#include <Random123/uniform.hpp>",
        "r123::Threefry2x64 next; r123::Threefry2x64::ctr_type c = {{}}; r123::Threefry2x64::key_type k = {{}};"
        "o[0] = next(c, k)[0] == 0xc2b6e3a8c2c69865ull && r123::u01<double>(next(c, k)[1]) < 1;",
        1,
    ),
}
# Their host functions need nvcc.
BY_NVCC = {
    "Thrust beside host code": (
        "#include <vector>\n#include <thrust/sort.h>\n#include <thrust/execution_policy.h>\n"
        "inline size_t sort(std::vector<int> v) { thrust::sort(v.begin(), v.end()); return v.size(); }",
        "thrust::sort(thrust::seq, o, o + 4, thrust::greater<double>());",
        4,
    ),
}
FOLDERS = {"GLM": "glm", "stb": "stb", "Boost.Preprocessor": "boost"}
FOLDERS |= {"Boost.Mp11": "boost", "Boost.Hana": "boost", "Boost.MPL": "boost"}
FOLDERS |= {"Eigen": "eigen3/Eigen", "Random123": "Random123"}


def has_nvcc():
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    return shutil.which("nvcc", path=path) is not None


def include_folder(library, tmp_path):
    """A folder with the library alone: /usr/include would add the host's own headers."""
    folder = FOLDERS.get(library.split(",")[0])
    if not folder:
        return []
    installed = Path("/usr/include", folder)
    if not installed.is_dir():
        pytest.skip(f"{library} is not installed")
    (tmp_path / installed.name).symlink_to(installed)
    return [str(tmp_path)]


def result_of(library, row, tmp_path, **how):
    headers, body, _ = row
    source = f'{headers}\nextern "C" __global__ void k(double *o) {{ {body} }}'
    how["include_dirs"] = include_folder(library, tmp_path)
    out = np.arange(1.0, 5.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the libraries
            module = SourceModule(source, no_extern_c=True, cache_dir=False, **how)
    except cuda.CompileError as reason:
        if "was not found" in str(reason):
            pytest.skip(str(reason).splitlines()[0])
        raise
    threads = 4 if "threadIdx" in body or "block" in body else 1
    module.get_function("k")(cuda.InOut(out), block=threads)
    return out[0]


# Another program of Eigen takes ten seconds more.
@pytest.mark.parametrize(
    "library",
    [one for one in IN_PROCESS if one != "Eigen, solvers"] + slow(["Eigen, solvers"]),
)
def test_libraries_for_kernels_compile_in_process(device, library, tmp_path):
    row = IN_PROCESS[library]
    assert result_of(library, row, tmp_path, nvcc="nvrtc") == pytest.approx(row[2])


@pytest.mark.slow
@pytest.mark.parametrize("library", BY_NVCC)
def test_libraries_with_host_code_compile_by_nvcc(device, library, tmp_path):
    if not has_nvcc():
        pytest.skip("no nvcc on this machine")
    row = BY_NVCC[library]
    assert result_of(library, row, tmp_path) == pytest.approx(row[2])
