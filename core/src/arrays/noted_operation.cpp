// noted_operation.cpp -- which operation on arrays launched a kernel, for the profile.
#include <pycuda/noted_operation.h>

#include "arrays/kernel_table.h"

#include <pycuda/array.h>
#include <pycuda/called_function.h>
#include <pycuda/caller_lock.h>
#include <pycuda/dtype.h>
#include <pycuda/function.h>
#include <pycuda/launch.h>

#include <map>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>

namespace pycuda {
namespace {

thread_local constinit NotedOperation *outermost = nullptr;

using Extent = std::array<unsigned, 3>;
using Identity = std::tuple<std::string, Extent, Extent, unsigned, std::string>;

struct Launches {
    CallerMutex mutex;
    std::map<Identity, std::uint64_t> counts;
};

// Threads may launch while the program ends, so it is never destroyed.
Launches &launches() {
    static auto *all = new Launches;
    return *all;
}

Extent extent_of(const Dim3 &extent) { return {extent.x, extent.y, extent.z}; }

} // namespace

void note_operations(bool noted) noexcept {
    detail::operations_are_noted.store(noted, std::memory_order_relaxed);
}

std::unique_ptr<NotedOperation> NotedOperation::begin() {
    if (outermost != nullptr)
        return nullptr;
    std::unique_ptr<NotedOperation> operation(new NotedOperation);
    outermost = operation.get();
    return operation;
}

NotedOperation::~NotedOperation() { outermost = nullptr; }

NotedOperation *NotedOperation::current() noexcept { return outermost; }

void NotedOperation::add_operand(const Array &array) { operands_.push_back(shape_and_type(array)); }

std::string NotedOperation::describe(std::string_view kernel) {
    std::string text(kernel);
    if (outermost == nullptr)
        return text;
    if (outermost->has_call())
        return outermost->call_;
    text += "(";
    for (std::size_t i = 0; i < outermost->operands_.size(); ++i)
        text += (i == 0 ? "" : ", ") + outermost->operands_[i];
    return text + ")";
}

std::string shape_and_type(const Array &array) {
    std::string text(array.dtype().is_opaque() ? "bytes" + std::to_string(array.item_size())
                                               : numpy_name(array.scalar_type()));
    text += "[";
    for (std::size_t axis = 0; axis < array.shape().size(); ++axis)
        text += (axis == 0 ? "" : ", ") + std::to_string(array.shape()[axis]);
    return text + "]";
}

void note_operation_launch(const Function &kernel, const LaunchConfig &config) noexcept try {
    const std::string prefix = own_kernel_name("");
    std::string_view name = kernel.name();
    if (name.starts_with(prefix))
        name.remove_prefix(prefix.size());
    Identity identity(kernel.name(), extent_of(config.grid), extent_of(config.block),
                      config.shared_bytes, NotedOperation::describe(name));
    Launches &all = launches();
    const std::lock_guard lock(all.mutex);
    ++all.counts[std::move(identity)];
} catch (const std::bad_alloc &) { // then the profile shows the kernel's name
}

std::vector<OperationLaunches> operation_launches() {
    Launches &all = launches();
    const std::lock_guard lock(all.mutex);
    std::vector<OperationLaunches> result;
    for (const auto &[identity, count] : all.counts) {
        const auto &[kernel, grid, block, shared_bytes, operation] = identity;
        result.push_back({kernel, grid, block, shared_bytes, operation, count});
    }
    return result;
}

void forget_operation_launches() noexcept {
    Launches &all = launches();
    const std::lock_guard lock(all.mutex);
    all.counts.clear();
}

} // namespace pycuda
