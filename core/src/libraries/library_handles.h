// library_handles.h -- the handles and plans of NVIDIA's libraries in one context.
//
// They belong to the context's ArrayContext, and are destroyed before the driver gets the context
// back. So a new context at the address of an old one never meets the old one's handles.
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

/// Each state is made when its library is first used. Whoever uses one holds its mutex from setting
/// the stream to the end of the call. Python's lock may be taken under those of cuSOLVER and cuFFT,
/// where memory runs out: callers give it up first. Under cuBLAS's nothing is allocated.
class LibraryHandles {
  public:
    static std::shared_ptr<LibraryHandles> make(const Context &context);
    ~LibraryHandles() { close(); }
    LibraryHandles(const LibraryHandles &) = delete;
    LibraryHandles &operator=(const LibraryHandles &) = delete;

    std::mutex blas_mutex, solver_mutex, fourier_mutex;
    std::shared_ptr<BlasState> blas;
    std::shared_ptr<SolverState> solver;
    std::shared_ptr<FourierState> fourier;

  private:
    explicit LibraryHandles(const Context &context) : context_(context) {}
    void close() noexcept;

    Context context_;
    bool is_ours_ = false; ///< nobody else gives the context back
};

/// Memory of the arrays' pool for the work that is put into one stream while this lives.
class Workspace {
  public:
    Workspace(const std::shared_ptr<ArrayContext> &context, std::size_t bytes, StreamRef stream);

    /// Null where it has 0 bytes.
    void *get() const noexcept { return address_; }

  private:
    StreamUse use_;
    std::shared_ptr<ArrayMemory> memory_;
    void *address_ = nullptr;
};

} // namespace pycuda
