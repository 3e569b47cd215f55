"""Header-only libraries in kernels: CUDA's own, and those of a distribution and of PyPI, if they are installed."""

import importlib.util
import os
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest

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
# Libraries with functions for the device, or with constexpr functions, which nvcc's --expt-relaxed-constexpr
# compiles for the device.
IN_PROCESS |= {
    "Imath": (
        "#include <Imath/ImathVec.h>\n#include <Imath/ImathBox.h>\n#include <Imath/ImathMatrix.h>",
        "Imath::V3d v(o[0], o[1], o[2]); Imath::Box3d b; b.extendBy(v); b.extendBy(2.0 * v);"
        "Imath::M44d m; m.setScale(v); o[0] = b.size().z + (v * m).z + Imath::M33d().inverse()[1][1];",
        13,
    ),
    "tl::expected": (
        "#include <tl/expected.hpp>",
        "tl::expected<double, int> e = o[2], wrong = tl::unexpected<int>(5);"
        "o[0] = *e.map([](double x) { return x + 1; }) + wrong.value_or(0.5) + wrong.error();",
        9.5,
    ),
    "GSL": (
        "#include <gsl/gsl>",
        "gsl::span<double> s(o, 4); double sum = 0; for (double x : s.subspan(1)) sum += x;"
        "o[0] = sum + gsl::narrow_cast<int>(1.5);",
        10,
    ),
    "date": (
        "#include <date/date.h>",
        "using namespace date;"
        "o[0] = (sys_days(year(2024) / 3 / 1) - sys_days(year(2024) / 2 / 1)).count();",
        29,
    ),
    "units": (
        "#define UNIT_LIB_DISABLE_IOSTREAM\n#include <units.h>",
        "units::length::meter_t m = units::length::kilometer_t(o[2]);"
        "o[0] = m() + units::length::centimeter_t(m)();",
        303000,
    ),
    "Boost.Fusion": (
        "#include <boost/fusion/include/vector.hpp>\n#include <boost/fusion/include/fold.hpp>\n"
        "struct add { template <class A, class B> __host__ __device__ double operator()(A a, B b) const"
        " { return a + b; } };",
        "o[0] = boost::fusion::fold(boost::fusion::vector<int, double>(2, o[2]), 0.0, add());",
        5,
    ),
    "Boost.Rational": (
        "#include <boost/rational.hpp>",
        "boost::rational<int> r(6, 4); r += 1; o[0] = r.numerator() * 10 + r.denominator();",
        52,
    ),
    "Boost.Integer": (
        "#include <boost/integer/common_factor.hpp>",
        "o[0] = boost::integer::gcd(int(o[3]) * 3, 18);",
        6,
    ),
    "Boost.Integer, types": (
        "#include <boost/integer.hpp>\n#include <boost/integer_traits.hpp>",
        "boost::int_t<20>::least i = boost::integer_traits<wchar_t>::const_max;"
        "o[0] = i / 0x7fffffff + sizeof(boost::uint_t<40>::least);",
        9,
    ),
    "Boost.Ratio": (
        "#include <boost/ratio.hpp>",
        "typedef boost::ratio_add<boost::ratio<1, 2>, boost::ratio<1, 3>> sum; o[0] = sum::num * 10 + sum::den;",
        56,
    ),
    "Boost.Endian": (
        "#include <boost/endian/arithmetic.hpp>",
        "boost::endian::big_int32_t b(1); b += 5; o[0] = b.data()[3] * 10 + b"
        " + boost::endian::endian_reverse(0x01000000u);",
        67,
    ),
    "Boost.TypeTraits": (
        "#include <boost/type_traits.hpp>",
        "o[0] = sizeof(boost::promote<char>::type)"
        " + boost::is_same<boost::remove_cv<const int>::type, int>::value;",
        5,
    ),
    "Boost.CallableTraits": (
        "#include <boost/callable_traits.hpp>\nstruct F { double operator()(int, float) const; };",
        "o[0] = std::tuple_size<boost::callable_traits::args_t<F>>::value;",
        2,
    ),
    "Boost.Variant2": (
        "#include <boost/variant2/variant.hpp>",
        "boost::variant2::variant<int, double> v = o[2];"
        "o[0] = boost::variant2::get<1>(v) + v.index();",
        4,
    ),
    "CUTLASS": (
        "#include <cutlass/gemm/thread/mma.h>",
        "using namespace cutlass; gemm::thread::Mma<gemm::GemmShape<2, 2, 1>, double, layout::ColumnMajor,"
        " double, layout::RowMajor, double, layout::RowMajor> mma; decltype(mma)::FragmentA a;"
        "decltype(mma)::FragmentB b; decltype(mma)::FragmentC c; a[0] = o[0]; a[1] = o[1]; b[0] = o[2];"
        "b[1] = o[3]; c.clear(); mma(c, a, b, c); o[0] = c[3];",
        8,
    ),
    "CuTe": (
        "#include <cute/tensor.hpp>",
        "using namespace cute; auto t = make_tensor(make_gmem_ptr(o), make_shape(Int<2>{}, Int<2>{}),"
        " make_stride(Int<2>{}, Int<1>{})); o[0] = t(1, 0) + size(t);",
        7,
    ),
}
# Libraries of the host, whose functions nvcc refuses in kernels, and this package compiles for the device.
IN_PROCESS |= {
    "xxHash": (
        "#define XXH_INLINE_ALL\n#include <xxhash.h>",
        'o[0] = XXH32("abc", 3, 0) == 0x32d153ff;',
        1,
    ),
    "wyhash": (
        "#include <wyhash/wyhash.h>",
        "uint64_t s = 1, t = 1; o[0] = (wyrand(&s) == wyrand(&t)) + (wyrand(&s) != wyrand(&s));",
        2,
    ),
    "cglm": (
        "#include <cglm/cglm.h>",
        "vec3 a = {1, 2, 3}, b = {3, 2, 1}; mat4 m; glm_mat4_identity(m); glm_scale_uni(m, 2);"
        "o[0] = glm_vec3_dot(a, b) + m[0][0];",
        12,
    ),
}
SLOW = {
    "Eigen, solvers",
    "units",
    "CuTe",
    "Boost.Rational",
    "Boost.Integer",
    "Boost.TypeTraits",
}
SLOW |= {"Boost.CallableTraits", "Boost.Variant2", "Boost.Integer, types"}
SLOW |= {"Boost.Ratio", "Boost.Endian"}
# Their host functions need nvcc.
BY_NVCC = {
    "Thrust beside host code": (
        "#include <vector>\n#include <thrust/sort.h>\n#include <thrust/execution_policy.h>\n"
        "inline size_t sort(std::vector<int> v) { thrust::sort(v.begin(), v.end()); return v.size(); }",
        "thrust::sort(thrust::seq, o, o + 4, thrust::greater<double>());",
        4,
    ),
}
# What of /usr/include has the library. Debian's packages are in test_packages() of tools/setup.sh.
PLACES = {
    "GLM": "glm",
    "stb": "stb",
    "Eigen": "eigen3/Eigen",
    "Random123": "Random123",
    "Imath": "Imath",
    "tl::expected": "tl",
    "GSL": "gsl",
    "date": "date",
    "units": "units.h",
    "xxHash": "xxhash.h",
    "wyhash": "wyhash",
    "cglm": "cglm",
}


def has_nvcc():
    path = os.environ.get("PATH", "") + ":/usr/local/cuda/bin"
    return shutil.which("nvcc", path=path) is not None


def include_folder(library, tmp_path):
    """A folder with the library alone: /usr/include would add the host's own headers."""
    name = library.split(",")[0]
    # Of the wheel nvidia-cutlass. It brings an old cuda-python, with which cuda.core does not start, so ./test does not
    # install it: pip install --no-deps nvidia-cutlass
    if name in ("CUTLASS", "CuTe"):
        found = importlib.util.find_spec("cutlass_library")
        if not found:
            pytest.skip("nvidia-cutlass is not installed")
        return [str(Path(found.origin).parent / "source" / "include")]
    place = "boost" if name.startswith("Boost.") else PLACES.get(name)
    if not place:
        return []
    installed = Path("/usr/include", place)
    if not installed.exists():
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


@pytest.mark.parametrize(
    "library",
    [pytest.param(x, marks=[pytest.mark.slow] * (x in SLOW)) for x in IN_PROCESS],
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
