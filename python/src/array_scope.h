// array_scope.h -- the stream and the allocator that a thread's array operations use for a while.
#pragma once

#include "bindings.h"

#include <pycuda/array_memory.h>

#include <memory>
#include <optional>
#include <span>

namespace pycuda::python {

/// A Python object kept alive by C++; let go of with the GIL, and not at all after the end.
std::shared_ptr<void> keep_alive(nb::object object);

/// The function of the thread's innermost PythonAllocatorScope; null where arrays come from the
/// pool.
PyObject *allocator_of_scope() noexcept;

/// New arrays of this thread get their memory from a function of the user while this lives. Null
/// and None leave all as it is; pycuda.driver.mem_alloc stands for the pool.
class [[nodiscard]] PythonAllocatorScope : ArrayAllocator {
  public:
    explicit PythonAllocatorScope(nb::handle allocator);
    ~PythonAllocatorScope() override;
    PythonAllocatorScope(const PythonAllocatorScope &) = delete;
    PythonAllocatorScope &operator=(const PythonAllocatorScope &) = delete;

    /// The allocator of the first of these arrays that has one, unless a scope of the caller's has
    /// named another.
    static nb::handle inherited(std::span<const nb::handle> objects) noexcept;

  private:
    std::shared_ptr<ArrayMemory> allocate(const std::shared_ptr<ArrayContext> &context,
                                          std::size_t bytes, StreamRef stream) override;

    nb::object allocator_;
    PyObject *outer_ = nullptr;
    std::optional<AllocatorScope> scope_; ///< none where it left all as it was
};

} // namespace pycuda::python
