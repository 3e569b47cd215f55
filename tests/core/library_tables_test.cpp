// library_tables_test.cpp -- compares the rows of the libraries' .def files with NVIDIA's headers.
//
// The tables declare enumerations as int and pointers to numbers as void *. The parameters of each
// row must have the sizes and kinds of the parameters in the header.
#include <gtest/gtest.h>

#include <cublas_v2.h>
#include <cuda.h>
#include <cufft.h>
#include <cufftXt.h>
#include <cusolverDn.h>
#include <cusparse.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace {

using LibraryHandle = void *;
using SolverParams = void *;

/// Whether a call passes both types in the same way: pointers, floating-point numbers or integers
/// of one size.
template <class Ours, class Theirs> constexpr bool is_passed_alike() {
    if (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>)
        return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
    return sizeof(Ours) == sizeof(Theirs) &&
           std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
}

template <class Ours, class Theirs> struct Compare;
template <class... Ours, class Status, class... Theirs>
struct Compare<int(Ours...), Status(Theirs...)> {
    static constexpr bool alike() {
        if constexpr (sizeof...(Ours) != sizeof...(Theirs))
            return false;
        else
            return sizeof(Status) == sizeof(int) && (is_passed_alike<Ours, Theirs>() && ...);
    }
};
template <class Ours, class... Theirs, class Status>
struct Compare<Ours, Status (*)(Theirs...)> : Compare<Ours, Status(Theirs...)> {};

#define PYCUDA_LIBRARY_FUNCTION(member, symbol, parameters)                                        \
    EXPECT_TRUE((Compare<int parameters, decltype(symbol)>::alike())) << #symbol;
#define PYCUDA_LIBRARY_OPTIONAL PYCUDA_LIBRARY_FUNCTION
#define PYCUDA_LIBRARY_TYPED(member, s, d, c, z, parameters)                                       \
    EXPECT_TRUE((Compare<int parameters, decltype(s)>::alike())) << #s;                            \
    EXPECT_TRUE((Compare<int parameters, decltype(d)>::alike())) << #d;                            \
    EXPECT_TRUE((Compare<int parameters, decltype(c)>::alike())) << #c;                            \
    EXPECT_TRUE((Compare<int parameters, decltype(z)>::alike())) << #z;

TEST(LibraryTables, CublasIsAsItsHeaderHasIt) {
#include "libraries/cublas.def"
}
TEST(LibraryTables, CusparseIsAsItsHeaderHasIt) {
#include "libraries/cusparse.def"
}
TEST(LibraryTables, CusolverIsAsItsHeaderHasIt) {
#include "libraries/cusolver.def"
}
TEST(LibraryTables, CufftIsAsItsHeaderHasIt) {
#include "libraries/cufft.def"
}

TEST(LibraryTables, AWrongRowIsFound) {
    EXPECT_FALSE((Compare<int(void *, int), decltype(cublasDestroy_v2)>::alike()));
    EXPECT_FALSE((Compare<int(int), decltype(cublasDestroy_v2)>::alike()));
    EXPECT_FALSE((Compare<int(int, std::int64_t), decltype(cufftSetAutoAllocation)>::alike()));
}

TEST(LibraryTables, ConstantsAreAsTheHeadersHaveThem) {
    EXPECT_EQ(CUDA_R_32F, 0);
    EXPECT_EQ(CUDA_R_64F, 1);
    EXPECT_EQ(CUDA_R_16F, 2);
    EXPECT_EQ(CUDA_C_32F, 4);
    EXPECT_EQ(CUDA_C_64F, 5);
    EXPECT_EQ(CUDA_R_16BF, 14);
    EXPECT_EQ(CUBLAS_OP_N, 0);
    EXPECT_EQ(CUBLAS_OP_T, 1);
    EXPECT_EQ(CUBLAS_FILL_MODE_LOWER, 0);
    EXPECT_EQ(CUBLAS_FILL_MODE_UPPER, 1);
    EXPECT_EQ(CUBLAS_COMPUTE_32F, 68);
    EXPECT_EQ(CUBLAS_COMPUTE_64F, 70);
    EXPECT_EQ(CUBLAS_GEMM_DEFAULT, -1);
    EXPECT_EQ(CUSOLVER_EIG_MODE_NOVECTOR, 0);
    EXPECT_EQ(CUSOLVER_EIG_MODE_VECTOR, 1);
    EXPECT_EQ(CUSPARSE_OPERATION_NON_TRANSPOSE, 0);
    EXPECT_EQ(CUSPARSE_OPERATION_TRANSPOSE, 1);
    EXPECT_EQ(CUSPARSE_INDEX_32I, 2);
    EXPECT_EQ(CUSPARSE_INDEX_BASE_ZERO, 0);
    EXPECT_EQ(CUSPARSE_SPMV_ALG_DEFAULT, 0);
    EXPECT_EQ(CUSPARSE_SPGEMM_DEFAULT, 0);
    EXPECT_EQ(CUSPARSE_CSR2CSC_ALG_DEFAULT, 1);
    EXPECT_EQ(CUSPARSE_ACTION_NUMERIC, 1);
    EXPECT_EQ(CUFFT_FORWARD, -1);
    EXPECT_EQ(CUFFT_INVERSE, 1);
}

} // namespace
