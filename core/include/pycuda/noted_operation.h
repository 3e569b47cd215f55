// noted_operation.h -- which operation on arrays launched a kernel, for the profile.
//
// An operation such as sort() launches several kernels, whose names and grids tell a reader little.
// While a profile runs, each operation notes its name and its operands where it begins
// (WorkContext), and each launch of an array kernel counts for the operation of its thread. Without
// a profile, both places test one flag.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda {

class Array;
class Function;
struct LaunchConfig;

namespace detail {
inline constinit std::atomic<bool> operations_are_noted{false};
} // namespace detail

/// Whether operations and launches are noted. Any thread may call.
inline bool operations_are_noted() noexcept {
    return detail::operations_are_noted.load(std::memory_order_relaxed);
}
/// Starts or stops noting. set_profile_modes() does both. Any thread may call.
void note_operations(bool noted) noexcept;

/// The outermost operation of a thread in a scope. For one thread.
class NotedOperation {
  public:
    /// Null in the scope of another operation of the thread.
    static std::unique_ptr<NotedOperation> begin();
    /// The operation of the thread; null outside of all operations.
    static NotedOperation *current() noexcept;
    ~NotedOperation();
    NotedOperation(const NotedOperation &) = delete;
    NotedOperation &operator=(const NotedOperation &) = delete;

    /// Adds "float32[1000, 300]" to the operands.
    void add_operand(const Array &array);
    /// Whether set_call() has named the operation.
    bool has_call() const noexcept { return !call_.empty(); }
    /// "mean(float32[1000, 300], axis=1)", which replaces the kernel's name and the operands.
    void set_call(std::string call) { call_ = std::move(call); }

    /// The operation of the thread. Its name is `kernel` if there was no set_call(). Outside of all
    /// operations, the result is `kernel`.
    static std::string describe(std::string_view kernel);

  private:
    NotedOperation() noexcept = default;

    std::string call_;
    std::vector<std::string> operands_;
};

/// "float32[1000, 300]".
std::string shape_and_type(const Array &array);

/// The launches of one kernel, with one launch configuration, by one operation.
struct OperationLaunches {
    std::string kernel;              ///< its name in the module
    std::array<unsigned, 3> grid{};  ///< as launched
    std::array<unsigned, 3> block{}; ///< as launched
    unsigned shared_bytes = 0;       ///< dynamic shared memory of a block
    std::string operation;           ///< NotedOperation::describe()
    std::uint64_t count = 0;         ///< of a graph: once, when it was captured
};

/// Counts a launch for the operation of the thread. Does nothing if memory runs out.
void note_operation_launch(const Function &kernel, const LaunchConfig &config) noexcept;
/// All launches since the last forget_profile(). Any thread may call.
[[nodiscard]] std::vector<OperationLaunches> operation_launches();
/// Any thread may call.
void forget_operation_launches() noexcept;

} // namespace pycuda
