// array_scope.h -- the stream and the allocator of a thread's array operations, within a scope.
#pragma once

#include "support/bindings.h"

#include "memory/host_buffer.h"

#include <pycuda/array_memory.h>

#include <memory>
#include <optional>
#include <span>

namespace pycuda::python {

/// A Python object that C++ keeps alive. It is released with the GIL held, or never if Python has
/// ended.
std::shared_ptr<void> keep_alive(nb::object object);
std::shared_ptr<void> keep_alive(HostBuffer buffer);
/// As keep_alive(), for the owner of memory of `context` that arrays use: it is released when the
/// work in the default stream is done, which waits for the uses in other streams.
std::shared_ptr<void> keep_lender(nb::object owner, const Context &context);
/// The object of keep_alive() or keep_lender(); null if C++ keeps something else alive.
PyObject *kept_object(const std::shared_ptr<void> &owner) noexcept;

/// The function of the thread's innermost PythonAllocatorScope; null if arrays are allocated from
/// the pool.
PyObject *allocator_of_scope() noexcept;

/// In the scope of this object, new arrays of this thread get their memory from a function of the
/// user. Null and None change nothing; pycuda.driver.mem_alloc means the pool.
class [[nodiscard]] PythonAllocatorScope : ArrayAllocator {
  public:
    explicit PythonAllocatorScope(nb::handle allocator);
    ~PythonAllocatorScope() override;
    PythonAllocatorScope(const PythonAllocatorScope &) = delete;
    PythonAllocatorScope &operator=(const PythonAllocatorScope &) = delete;

    /// The allocator of the first of these arrays that has one, unless a scope of the caller has
    /// set another.
    static nb::handle inherited(std::span<const nb::handle> objects) noexcept;

  private:
    std::shared_ptr<ArrayMemory> allocate(const std::shared_ptr<ArrayContext> &context,
                                          std::size_t bytes, StreamRef stream) override;

    nb::object allocator_;
    PyObject *outer_ = nullptr;
    std::optional<AllocatorScope> scope_; ///< empty if nothing was changed
};

} // namespace pycuda::python
