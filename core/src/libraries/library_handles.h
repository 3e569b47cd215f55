// library_handles.h -- the handles and plans of NVIDIA's libraries in one context.
//
// They belong to the context's ArrayContext, and are destroyed before the context. So a new context
// at the address of an old context never uses handles of the old one.
#pragma once

#include <pycuda/array_memory.h>
#include <pycuda/context.h>
#include <pycuda/stream.h>
#include <pycuda/stream_use.h>

#include <memory>
#include <mutex>

namespace pycuda {

/// cublasHandle_t, cusolverDnHandle_t.
using LibraryHandle = void *;

struct BlasState;    // cublas.cpp
struct SolverState;  // cusolver.cpp
struct FourierState; // cufft.cpp

/// Each state is created at the first use of its library. A caller holds the mutex of the state
/// from setting the stream to the end of the call. Under the mutexes of cuSOLVER and cuFFT, an
/// allocation that runs out of memory may acquire Python's lock, so callers release Python's lock
/// first. Under the mutex of cuBLAS nothing is allocated.
class LibraryHandles {
  public:
    static std::shared_ptr<LibraryHandles> make(const Context &context);
    ~LibraryHandles();
    LibraryHandles(const LibraryHandles &) = delete;
    LibraryHandles &operator=(const LibraryHandles &) = delete;

    std::mutex blas_mutex, solver_mutex, fourier_mutex;
    std::shared_ptr<BlasState> blas;
    std::shared_ptr<SolverState> solver;
    std::shared_ptr<FourierState> fourier;

  private:
    explicit LibraryHandles(const Context &context) : context_(context) {}
    /// The context is usable, or its release has begun and it is current.
    void destroy() noexcept;

    Context context_;
    bool is_ours_ = false; ///< no other code destroys the context
};

/// Memory of the arrays' pool for work that is queued in one stream in the scope of this object.
class Workspace {
  public:
    Workspace(const std::shared_ptr<ArrayContext> &context, std::size_t bytes, StreamRef stream);

    /// Null for 0 bytes.
    void *get() const noexcept { return address_; }

  private:
    StreamUse use_;
    std::shared_ptr<ArrayMemory> memory_;
    void *address_ = nullptr;
};

} // namespace pycuda
