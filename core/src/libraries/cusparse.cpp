// cusparse.cpp -- products and transposes of sparse matrices by cuSPARSE.
//
// A call makes descriptors of its arrays, which are some words of host memory, and takes a
// workspace from the arrays' pool.
#include <pycuda/array_sparse.h>

#include "arrays/library_handles.h"
#include "libraries/nvidia_library.h"

#include <pycuda/copy.h>
#include <pycuda/error.h>
#include <pycuda/work.h>

#include <algorithm>

namespace pycuda {
namespace {

// The values in cusparse.h.
constexpr int op_n = 0, op_t = 1;
constexpr int index_32 = 2, base_zero = 0;
constexpr int default_vector = 0, default_product = 0, default_transpose = 1, with_values = 1;

constexpr const char *files[] = {"libcusparse.so.13", "libcusparse.so.12"};
constexpr LibraryStatus statuses[] = {{1, "CUSPARSE_STATUS_NOT_INITIALIZED"},
                                      {2, "CUSPARSE_STATUS_ALLOC_FAILED"},
                                      {3, "CUSPARSE_STATUS_INVALID_VALUE"},
                                      {4, "CUSPARSE_STATUS_ARCH_MISMATCH"},
                                      {5, "CUSPARSE_STATUS_MAPPING_ERROR"},
                                      {6, "CUSPARSE_STATUS_EXECUTION_FAILED"},
                                      {7, "CUSPARSE_STATUS_INTERNAL_ERROR"},
                                      {8, "CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED"},
                                      {9, "CUSPARSE_STATUS_ZERO_PIVOT"},
                                      {10, "CUSPARSE_STATUS_NOT_SUPPORTED"},
                                      {11, "CUSPARSE_STATUS_INSUFFICIENT_RESOURCES"}};

struct Cusparse : LibraryTable {
    using LibraryTable::LibraryTable;
    static constexpr LibraryDescription description{"cuSPARSE", files, statuses};
#include "libraries/cusparse.def"
};
const Cusparse *cusparse() { return library_table<Cusparse>(); }

class SparseCall : public LibraryCall<Cusparse> {
  public:
    SparseCall(const Array &array, Work &use)
        : LibraryCall(array.context()->libraries().sparse_mutex,
                      array.context()->libraries().sparse, use.stream()),
          use_(use), context_(array.context()) {}

    template <class T = void> T *address(const Array &array) {
        return reinterpret_cast<T *>(use_.read(array));
    }
    /// Memory of `bytes`, at least some, because cuSPARSE takes a null address as a question.
    Workspace workspace(std::size_t bytes) const {
        return Workspace(context_, std::max<std::size_t>(bytes, 16), use_.stream());
    }

  private:
    Work &use_;
    const std::shared_ptr<ArrayContext> &context_;
};

/// An owned descriptor of the library: a matrix, a vector, a product.
class Descriptor {
  public:
    using Destroy = LibraryFunction<int(void *)> Cusparse::*;

    explicit Descriptor(Destroy destroy) : destroy_(destroy) {}
    ~Descriptor() {
        if (value_ != nullptr)
            (void)(cusparse()->*destroy_).status(value_);
    }
    Descriptor &operator=(Descriptor &&) = delete; // no copies either

    void **target() noexcept { return &value_; }
    void *get() const noexcept { return value_; }

  private:
    Destroy destroy_;
    void *value_ = nullptr;
};

struct MatrixDescriptor : Descriptor {
    MatrixDescriptor() : Descriptor(&Cusparse::destroy_matrix) {}
    MatrixDescriptor(const SparseRows &a, SparseCall &call) : MatrixDescriptor() {
        cusparse()->create_rows(target(), a.rows, a.width,
                                static_cast<std::int64_t>(a.values.size()), call.address(a.starts),
                                call.address(a.columns), call.address(a.values), index_32, index_32,
                                base_zero, *library_type(a.values.scalar_type()));
    }
};

struct VectorDescriptor : Descriptor {
    VectorDescriptor(const Array &x, SparseCall &call) : Descriptor(&Cusparse::destroy_vector) {
        cusparse()->create_vector(target(), static_cast<std::int64_t>(x.size()), call.address(x),
                                  *library_type(x.scalar_type()));
    }
};

struct ProductDescriptor : Descriptor {
    ProductDescriptor() : Descriptor(&Cusparse::destroy_product) {
        cusparse()->create_product(target());
    }
};

/// The steps of one product of two sparse matrices, which share their operands.
class Multiplication {
  public:
    /// `starts`: of the product, whose other arrays are allocated after compute().
    Multiplication(const SparseRows &a, const SparseRows &b, const Array &starts, SparseCall &call)
        : call_(call), type_(a.values.scalar_type()), a_(a, call), b_(b, call) {
        cusparse()->create_rows(c_.target(), a.rows, b.width, 0, call.address(starts), nullptr,
                                nullptr, index_32, index_32, base_zero, *library_type(type_));
    }

    void estimate(std::size_t *bytes, void *workspace) {
        run(cusparse()->estimate_product, bytes, workspace);
    }
    void compute(std::size_t *bytes, void *workspace) {
        run(cusparse()->compute_product, bytes, workspace);
    }
    /// After compute(): the number of elements of the product.
    std::int64_t count() const {
        std::int64_t rows = 0, columns = 0, elements = 0;
        cusparse()->size_of(c_.get(), &rows, &columns, &elements);
        return elements;
    }
    void copy_to(const SparseProduct &to) {
        cusparse()->set_rows(c_.get(), call_.address(to.starts), call_.address(to.columns),
                             call_.address(to.values));
        run(cusparse()->copy_product);
    }

  private:
    template <class Function, class... Rest> void run(const Function &function, Rest... rest) {
        function(call_.handle(), op_n, op_n, library_constant(1, type_), a_.get(), b_.get(),
                 library_constant(0, type_), c_.get(), *library_type(type_), default_product,
                 product_.get(), rest...);
    }

    SparseCall &call_;
    ScalarType type_;
    MatrixDescriptor a_, b_, c_;
    ProductDescriptor product_;
};

SparseProduct multiply(const SparseRows &a, const SparseRows &b, Work &use) {
    const auto vector = [&](std::int64_t extent, ScalarType type) {
        const std::int64_t shape[] = {extent};
        return Array::empty(a.values.context(), shape, type, Order::C, use.stream());
    };
    const Array starts = vector(a.rows + 1, ScalarType::Int32);
    SparseCall call(a.values, use);
    Multiplication product(a, b, starts, call);
    std::size_t bytes = 0;
    product.estimate(&bytes, nullptr);
    const Workspace first = call.workspace(bytes);
    product.estimate(&bytes, first.get());
    product.compute(&bytes, nullptr);
    const Workspace second = call.workspace(bytes);
    product.compute(&bytes, second.get());
    const std::int64_t count = product.count();
    narrow_extent(count, "the number of elements of the product");
    SparseProduct made{starts, vector(count, ScalarType::Int32),
                       vector(count, a.values.scalar_type())};
    if (count == 0)
        fill_async<std::uint32_t>(use.write(starts), 0, starts.size(), use.stream());
    else
        product.copy_to(made);
    return made;
}

} // namespace

struct SparseState : LibraryState<Cusparse> {};

bool sparse_library_takes(ScalarType type) {
    return is_library_float(type) && cusparse() != nullptr;
}

void sparse_times_vector(const SparseRows &a, SparseSide side, const Array &x, const Array &out,
                         SparseResult result, StreamRef stream) {
    const ScalarType type = a.values.scalar_type();
    Work use(stream);
    (void)use.write(out);
    SparseCall call(a.values, use);
    const MatrixDescriptor matrix(a, call);
    const VectorDescriptor from(x, call), to(out, call);
    const int operation = side == SparseSide::Rows ? op_n : op_t;
    const void *const one = library_constant(1, type);
    const void *const keep = library_constant(result == SparseResult::Add ? 1 : 0, type);
    const auto run = [&](const auto &function, auto last) {
        function(call.handle(), operation, one, matrix.get(), from.get(), keep, to.get(),
                 *library_type(type), default_vector, last);
    };
    std::size_t bytes = 0;
    run(cusparse()->times_vector_bytes, &bytes);
    const Workspace workspace = call.workspace(bytes);
    run(cusparse()->times_vector, workspace.get());
}

void sparse_transpose(const SparseRows &a, const SparseRows &out, StreamRef stream) {
    const int rows = narrow_extent(a.rows, "the number of rows");
    const int width = narrow_extent(a.width, "the number of columns");
    const int count =
        narrow_extent(static_cast<std::int64_t>(a.values.size()), "the number of elements");
    Work use(stream);
    for (const Array *array : {&out.starts, &out.columns, &out.values})
        (void)use.write(*array);
    SparseCall call(a.values, use);
    const auto run = [&](const auto &function, auto last) {
        function(call.handle(), rows, width, count, call.address(a.values),
                 call.address<const int>(a.starts), call.address<const int>(a.columns),
                 call.address(out.values), call.address<int>(out.starts),
                 call.address<int>(out.columns), *library_type(a.values.scalar_type()), with_values,
                 base_zero, default_transpose, last);
    };
    std::size_t bytes = 0;
    run(cusparse()->transpose_bytes, &bytes);
    const Workspace workspace = call.workspace(bytes);
    run(cusparse()->transpose, workspace.get());
}

std::optional<SparseProduct> sparse_times_sparse(const SparseRows &a, const SparseRows &b,
                                                 StreamRef stream) {
    Work use(stream);
    use.require_running("a product of sparse matrices");
    try {
        return multiply(a, b, use);
    } catch (const Error &error) {
        if (error.result() != CUDA_ERROR_OUT_OF_MEMORY)
            throw;
        return {};
    }
}

} // namespace pycuda
