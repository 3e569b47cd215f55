// launch.cpp -- explains why a launch failed. No code here runs for a successful launch.
#include "launch/launch_errors.h"

#include "context/recording.h"

#include <pycuda/device.h>
#include <pycuda/driver.h>
#include <pycuda/kernel_signature.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace pycuda {
namespace {

std::string to_text(const Dim3 &extent) {
    return "(" + std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " +
           std::to_string(extent.z) + ")";
}

std::array<unsigned, 3> to_array(const Dim3 &extent) { return {extent.x, extent.y, extent.z}; }

/// "block (2048, 1, 1): x is 2048, the device's limit is 1024"; empty if the extent is allowed.
std::string check_extent(const char *what, const Dim3 &extent, const Device &device,
                         CUdevice_attribute first_limit) {
    const std::array<unsigned, 3> values = to_array(extent);
    for (int axis = 0; axis < 3; ++axis) {
        std::string start = std::string(what) + " " + to_text(extent) + ": " + "xyz"[axis] + " is ";
        if (values[axis] == 0)
            return start + "0, it must be at least 1";
        int limit = device.attribute(static_cast<CUdevice_attribute>(first_limit + axis));
        if (values[axis] > static_cast<unsigned>(limit))
            return start + std::to_string(values[axis]) + ", the device's limit is " +
                   std::to_string(limit);
    }
    return "";
}

std::string check_threads(const Function &function, const Dim3 &block, const Device &device) {
    const std::uint64_t threads = std::uint64_t{block.x} * block.y * block.z;
    const auto device_limit =
        static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    std::string start =
        "block " + to_text(block) + " has " + std::to_string(threads) + " threads, the limit of ";
    if (threads > device_limit)
        return start + "the device is " + std::to_string(device_limit);
    const int limit = function.attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    if (threads > static_cast<std::uint64_t>(limit))
        return start + "this kernel is " + std::to_string(limit) + " (it uses " +
               std::to_string(function.attribute(CU_FUNC_ATTRIBUTE_NUM_REGS)) +
               " registers per thread)";
    return "";
}

std::string check_shared(const Function &function, unsigned dynamic_bytes, const Device &device) {
    const int fixed = function.attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    const int limit = function.attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    if (dynamic_bytes <= static_cast<unsigned>(std::max(limit, 0)))
        return "";
    return std::to_string(dynamic_bytes) + " bytes of dynamic shared memory and " +
           std::to_string(fixed) + " bytes of static shared memory; the kernel's limit is " +
           std::to_string(limit) +
           ", which set_attribute(MAX_DYNAMIC_SHARED_SIZE_BYTES, ...) can raise to " +
           std::to_string(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
                          fixed);
}

/// The limit that the launch exceeded; empty if no such limit is found.
std::string find_passed_limit(const Function &function, const LaunchConfig &config) {
    const Device device = function.context().device();
    std::string text =
        check_extent("block", config.block, device, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
    if (text.empty())
        text = check_extent("grid", config.grid, device, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
    if (text.empty())
        text = check_threads(function, config.block, device);
    if (text.empty())
        text = check_shared(function, config.shared_bytes, device);
    return text;
}

/// Explains a stream of another context than the kernel's; empty for a stream of the same one.
std::string check_stream(StreamRef stream, const Context &context) {
    CUcontext owner = nullptr;
    if (stream.is_default() ||
        driver().cuStreamGetCtx.status(stream.get(), &owner) != CUDA_SUCCESS ||
        owner == context.get())
        return "";
    const Device theirs = Context::borrow(owner).device();
    const Device ours = context.device();
    const auto name = [](const Device &device) { return "cuda:" + std::to_string(device.get()); };
    return theirs == ours ? "the stream is of another context on " + name(ours) + " than the kernel"
                          : "the stream is of a context on " + name(theirs) +
                                ", but the kernel is on " + name(ours);
}

bool may_be_a_limit(CUresult result) {
    return result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
}

std::string explain(const Function &function, const LaunchConfig &config, CUresult result) {
    if (!function.context().usable())
        return "the context of the kernel was detached; load the module again in the current "
               "context";
    if (function.get() == nullptr)
        return "the module of the kernel was closed before";
    if (std::optional<Context> current = Context::current(); !current)
        return "no context is current in this thread";
    else if (function.context().get() && !(*current == function.context()))
        return "the kernel belongs to another context than the current one";
    if (std::string text = check_stream(config.stream, function.context()); !text.empty())
        return text;
    if (!may_be_a_limit(result))
        return "grid " + to_text(config.grid) + ", block " + to_text(config.block);
    return find_passed_limit(function, config);
}

} // namespace

const bool detail::launch_blocking = [] {
    const char *value = std::getenv("PYCUDA_LAUNCH_BLOCKING");
    return value && *value && std::strcmp(value, "0") != 0;
}();

void detail::wait_after_launch(const Function &function, StreamRef stream) {
    if (recording_of(stream.get()) == Recording::Yes)
        return; // the launch was captured, not executed
    check(driver().cuStreamSynchronize.status(stream.get()), "cuLaunchKernel",
          [&] { return "kernel '" + readable_name(function.name()) + "'"; });
}

void detail::throw_launch_error(const Function &function, const LaunchConfig &config,
                                CUresult result) {
    std::string text = "kernel '" + readable_name(function.name()) + "'";
    try {
        if (std::string why = explain(function, config, result); !why.empty())
            text += ": " + why;
    } catch (const Error &) {
        // The context is broken and cannot be queried; the error of the launch is reported.
    }
    throw Error("cuLaunchKernel", result, std::move(text));
}

} // namespace pycuda
