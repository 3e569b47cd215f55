// cublas.cpp -- products and factorisations of stacks of matrices by cuBLAS.
#include "libraries/cublas.h"

#include "arrays/library_handles.h"
#include "libraries/nvidia_library.h"
#include "libraries/pointer_table.h"

#include <pycuda/array_libraries.h>

namespace pycuda {
namespace {

// The values in cublas_api.h and library_types.h.
constexpr int op_n = 0, op_t = 1, side_left = 0;
constexpr int compute_32f = 68, compute_64f = 70, default_algorithm = -1;

constexpr const char *files[] = {"libcublas.so.13", "libcublas.so.12"};
constexpr LibraryStatus statuses[] = {
    {1, "CUBLAS_STATUS_NOT_INITIALIZED"}, {3, "CUBLAS_STATUS_ALLOC_FAILED"},
    {7, "CUBLAS_STATUS_INVALID_VALUE"},   {8, "CUBLAS_STATUS_ARCH_MISMATCH"},
    {11, "CUBLAS_STATUS_MAPPING_ERROR"},  {13, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {14, "CUBLAS_STATUS_INTERNAL_ERROR"}, {15, "CUBLAS_STATUS_NOT_SUPPORTED"},
    {16, "CUBLAS_STATUS_LICENSE_ERROR"}};

struct Cublas : LibraryTable {
    using LibraryTable::LibraryTable;
    static constexpr LibraryDescription description{"cuBLAS", files, statuses};
#include "libraries/cublas.def"
};
const Cublas *cublas() { return library_table<Cublas>(); }

struct BlasCall : LibraryCall<Cublas> {
    BlasCall(LibraryHandles &handles, StreamRef stream)
        : LibraryCall(handles.blas_mutex, handles.blas, stream) {}
};

template <class T> T *address_of(const Array &array, Work &use) {
    return reinterpret_cast<T *>(use.read(array));
}

} // namespace

struct BlasState : LibraryState<Cublas> {};

bool cublas_takes(ScalarType type) { return library_type(type) && cublas() != nullptr; }

void cublas_multiply(const BlasProduct &product, StreamRef stream) {
    const int type = *library_type(product.type);
    auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
    const BlasCall call(ArrayContext::current()->libraries(), stream);
    // cuBLAS stores matrices by columns, this library by rows: cuBLAS computes the transposed
    // product, with b first.
    cublas()->gemm(call.handle(), product.b.in_columns ? op_t : op_n,
                   product.a.in_columns ? op_t : op_n, product.columns, product.rows, product.inner,
                   library_constant(1, product.type), pointer(product.b.address), type,
                   product.b.step, product.b.next, pointer(product.a.address), type, product.a.step,
                   product.a.next, library_constant(0, product.type), pointer(product.out.address),
                   type, product.out.step, product.out.next, product.count,
                   is_wide_float(product.type) ? compute_64f : compute_32f, default_algorithm);
}

void solver_lu_stack(const Array &a, const Array &pivots, const Array &info, StreamRef stream) {
    const int count = narrow_extent(a.layout().extent(0), "the number of matrices");
    const int n = narrow_extent(a.layout().extent(2), "the extent of a matrix");
    Work use(stream);
    const PointerTable matrices(a, use);
    const BlasCall call(a.context()->libraries(), use.stream());
    cublas()->getrf_batched[a.scalar_type()](call.handle(), n, matrices.get(), n,
                                             address_of<int>(pivots, use),
                                             address_of<int>(info, use), count);
}

void solver_lu_solve_stack(const Array &factors, const Array &pivots, const Array &b,
                           bool transposed, StreamRef stream) {
    const int count = narrow_extent(factors.layout().extent(0), "the number of matrices");
    const int n = narrow_extent(factors.layout().extent(2), "the extent of a matrix");
    const int columns = narrow_extent(b.layout().extent(1), "the number of right sides");
    Work use(stream);
    const PointerTable matrices(factors, use), sides(b, use);
    int wrong_argument = 0; // of a host argument; a wrong argument also sets the status
    const BlasCall call(factors.context()->libraries(), use.stream());
    cublas()->getrs_batched[factors.scalar_type()](
        call.handle(), transposed ? op_t : op_n, n, columns, matrices.get(), n,
        address_of<const int>(pivots, use), sides.get(), n, &wrong_argument, count);
}

void solver_triangle(const Array &a, const Array &b, Triangle triangle, bool ones, bool transposed,
                     StreamRef stream) {
    const int n = narrow_extent(a.layout().extent(2), "the extent of a matrix");
    const int columns = narrow_extent(b.layout().extent(1), "the number of right sides");
    const auto &solve = cublas()->trsm[a.scalar_type()];
    Work use(stream);
    const CUdeviceptr matrices = use.read(a), sides = use.read(b);
    const BlasCall call(a.context()->libraries(), use.stream());
    for (std::int64_t i = 0; i < a.layout().extent(0); ++i) {
        const auto at = [&](CUdeviceptr address, const Array &stack) {
            return reinterpret_cast<void *>(address +
                                            static_cast<CUdeviceptr>(i * stack.layout().stride(0)));
        };
        solve(call.handle(), side_left, static_cast<int>(triangle), transposed ? op_t : op_n,
              ones ? 1 : 0, n, columns, library_constant(1, a.scalar_type()), at(matrices, a), n,
              at(sides, b), n);
    }
}

} // namespace pycuda
