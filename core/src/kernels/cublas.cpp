// cublas.cpp -- finding cuBLAS, its handles (one for each context), and the call.
#include "kernels/cublas.h"

#include "compile/compiler_search.h"

#include <pycuda/context.h>
#include <pycuda/driver.h>

#include <dlfcn.h>

#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace pycuda {
namespace {

// As cublas_api.h and library_types.h have them.
using BlasHandle = void *;
using Status = int;
constexpr int op_n = 0, op_t = 1;
constexpr int compute_32f = 68, compute_64f = 70, default_algorithm = -1;

constexpr const char *library_names[] = {"libcublas.so.13", "libcublas.so.12"};

struct BlasOfContext {
    CUcontext context;
    BlasHandle handle;
};

struct Cublas {
    Status (*create)(BlasHandle *) = nullptr;
    Status (*destroy)(BlasHandle) = nullptr;
    Status (*set_stream)(BlasHandle, CUstream) = nullptr;
    Status (*gemm)(BlasHandle, int, int, std::int64_t, std::int64_t, std::int64_t, const void *,
                   const void *, int, std::int64_t, std::int64_t, const void *, int, std::int64_t,
                   std::int64_t, const void *, void *, int, std::int64_t, std::int64_t,
                   std::int64_t, int, int) = nullptr;
    const char *(*status_name)(Status) = nullptr;
    std::mutex mutex; ///< of the handles and of the stream that is set in one
    std::vector<BlasOfContext> handles;
};

template <class Function> bool find(void *library, const char *symbol, Function *&function) {
    function = reinterpret_cast<Function *>(::dlsym(library, symbol));
    return function != nullptr;
}

/// Null where there is none. Never closed: handles live as long as the process.
Cublas *open_cublas() {
    const std::optional<std::string> path = compile_detail::find_toolkit_library(library_names);
    void *library = path ? ::dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    if (library == nullptr)
        return nullptr;
    auto *cublas = new Cublas;
    const bool complete = find(library, "cublasCreate_v2", cublas->create) &&
                          find(library, "cublasDestroy_v2", cublas->destroy) &&
                          find(library, "cublasSetStream_v2", cublas->set_stream) &&
                          find(library, "cublasGemmStridedBatchedEx_64", cublas->gemm) &&
                          find(library, "cublasGetStatusName", cublas->status_name);
    return complete ? cublas : nullptr; // older than 12: own kernels do it
}

Cublas *cublas() {
    static Cublas *const opened = open_cublas();
    return opened;
}

void check(const Cublas &library, Status status, const char *function) {
    if (status != 0)
        throw std::runtime_error(std::string(function) + " failed: " + library.status_name(status));
}

std::optional<int> data_type(ScalarType type) {
    switch (type) {
    case ScalarType::Float16:
        return 2;
    case ScalarType::BFloat16:
        return 14;
    case ScalarType::Float32:
        return 0;
    case ScalarType::Float64:
        return 1;
    case ScalarType::Complex64:
        return 4;
    case ScalarType::Complex128:
        return 5;
    default:
        return {};
    }
}

/// Called with the context current, before the driver has it back.
void drop_handle(Cublas &library, CUcontext context) {
    std::lock_guard lock(library.mutex);
    std::erase_if(library.handles, [&](const BlasOfContext &known) {
        if (known.context != context)
            return false;
        static_cast<void>(library.destroy(known.handle));
        return true;
    });
}

/// The caller holds the mutex.
BlasHandle handle_of_context(Cublas &library) {
    const Context context = Context::require_current();
    for (const BlasOfContext &known : library.handles)
        if (known.context == context.get())
            return known.handle;
    BlasHandle handle = nullptr;
    check(library, library.create(&handle), "cublasCreate");
    library.handles.push_back({context.get(), handle});
    context.before_release([&library, handle = context.get()] { drop_handle(library, handle); });
    return handle;
}

} // namespace

bool cublas_takes(ScalarType type) {
    return driver().image_kind() != ImageKind::Ptx && data_type(type) && cublas() != nullptr;
}

void cublas_multiply(const BlasProduct &product, StreamRef stream) {
    Cublas &library = *cublas();
    const bool wide = product.type == ScalarType::Float64 || product.type == ScalarType::Complex128;
    // One and zero, real or complex, in float and in double.
    const float one[] = {1, 0}, zero[] = {0, 0};
    const double wide_one[] = {1, 0}, wide_zero[] = {0, 0};
    const int type = *data_type(product.type);
    auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
    std::lock_guard lock(library.mutex);
    const BlasHandle handle = handle_of_context(library);
    check(library, library.set_stream(handle, stream.get()), "cublasSetStream");
    // cuBLAS has columns where we have rows: it computes the transposed product, b first.
    const Status status = library.gemm(
        handle, product.b.in_columns ? op_t : op_n, product.a.in_columns ? op_t : op_n,
        product.columns, product.rows, product.inner,
        wide ? static_cast<const void *>(wide_one) : one, pointer(product.b.address), type,
        product.b.step, product.b.next, pointer(product.a.address), type, product.a.step,
        product.a.next, wide ? static_cast<const void *>(wide_zero) : zero,
        pointer(product.out.address), type, product.out.step, product.out.next, product.count,
        wide ? compute_64f : compute_32f, default_algorithm);
    check(library, status, "cublasGemmStridedBatchedEx");
}

} // namespace pycuda
