// library_handles.h -- the handles and plans of NVIDIA's libraries in one context.
//
// They belong to the context's ArrayContext, and are destroyed before the context. So a new context
// at the address of an old context never uses handles of the old one.
#pragma once

#include <pycuda/array_memory.h>
#include <pycuda/caller_lock.h>
#include <pycuda/context.h>
#include <pycuda/work.h>

#include <memory>

namespace pycuda {

/// cublasHandle_t, cusolverDnHandle_t, cusparseHandle_t.
using LibraryHandle = void *;

struct BlasState;    // cublas.cpp
struct SolverState;  // cusolver.cpp
struct FourierState; // cufft.cpp
struct SparseState;  // cusparse.cpp

/// Each state is created at the first use of its library. A caller holds the mutex of the state
/// from setting the stream to the end of the call. Under the mutexes other than that of
/// cuBLAS, an allocation that runs out of memory may acquire Python's lock, so callers release
/// Python's lock first. Under the mutex of cuBLAS nothing is allocated.
class LibraryHandles {
  public:
    static std::shared_ptr<LibraryHandles> make(const Context &context);
    ~LibraryHandles();
    LibraryHandles &operator=(LibraryHandles &&) = delete; // no copies either

    CallerMutex blas_mutex, solver_mutex, fourier_mutex, sparse_mutex;
    std::shared_ptr<BlasState> blas;
    std::shared_ptr<SolverState> solver;
    std::shared_ptr<FourierState> fourier;
    std::shared_ptr<SparseState> sparse;

  private:
    explicit LibraryHandles(const Context &context) : context_(context) {}
    /// The context is usable, or its release has begun and it is current.
    void destroy() noexcept;

    Context context_;
    bool is_ours_ = false; ///< no other code destroys the context
};

} // namespace pycuda
