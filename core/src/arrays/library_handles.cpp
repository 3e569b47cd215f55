// library_handles.cpp -- destroys the libraries' handles and allocates their workspaces.
#include "arrays/library_handles.h"

#include <pycuda/driver_calls.h>

#include <exception>
#include <new>

namespace pycuda {

std::shared_ptr<LibraryHandles> LibraryHandles::make(const Context &context) {
    std::shared_ptr<LibraryHandles> handles(new LibraryHandles(context));
    handles->is_ours_ = context.before_end("library handles", [weak = std::weak_ptr(handles)] {
        if (std::shared_ptr<LibraryHandles> alive = weak.lock())
            alive->destroy();
    });
    return handles;
}

LibraryHandles::~LibraryHandles() {
    if (blas == nullptr && solver == nullptr && fourier == nullptr && sparse == nullptr)
        return;
    if (driver_is_usable() && is_ours_ && context_.usable()) {
        destroy();
        return;
    }
    // The process ends, or the context may be destroyed: calls to the libraries are not allowed.
    new (std::nothrow) std::shared_ptr<BlasState>(std::move(blas));
    new (std::nothrow) std::shared_ptr<SolverState>(std::move(solver));
    new (std::nothrow) std::shared_ptr<FourierState>(std::move(fourier));
    new (std::nothrow) std::shared_ptr<SparseState>(std::move(sparse));
}

void LibraryHandles::destroy() noexcept {
    try {
        std::scoped_lock lock(blas_mutex, solver_mutex, fourier_mutex, sparse_mutex);
        ScopedContext current(context_);
        sparse.reset();
        fourier.reset();
        solver.reset();
        blas.reset();
    } catch (const std::exception &) { // the context is broken, and its handles too
    }
}

} // namespace pycuda
