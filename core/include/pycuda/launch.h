// launch.h -- running a kernel over a grid of blocks.
//
//     launch(saxpy, {.grid = {n / 256}, .block = {256}}, n, 2.0f, x, y);
#pragma once

#include <pycuda/argument_block.h>
#include <pycuda/function.h>
#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>
#include <pycuda/staging.h>
#include <pycuda/stream.h>

#include <cstddef>
#include <span>
#include <type_traits>

namespace pycuda {

/// An extent of one to three dimensions.
struct Dim3 {
    unsigned x = 1; ///< along the axis whose index changes fastest
    unsigned y = 1; ///< 1 for one dimension
    unsigned z = 1; ///< 1 for one or two dimensions
};

/// The launch configuration: grid, block, dynamic shared memory and stream.
struct LaunchConfig {
    /// The number of blocks along each axis.
    Dim3 grid = {};
    /// The number of threads of a block along each axis.
    Dim3 block = {};
    unsigned shared_bytes = 0; ///< dynamic shared memory of each block
    /// The stream of the launch; by default the default stream.
    StreamRef stream = {};
};

/// Launches with a packed argument block of `size` bytes. Returns before the kernel is done. Adds
/// only a few instructions to the driver's call.
void launch_packed(const Function &function, const LaunchConfig &config, void *arguments,
                   std::size_t size);

/// As above with a checked block. Throws ArgumentError if arguments are missing.
inline void launch(const Function &function, const LaunchConfig &config, ArgumentBlock &block) {
    launch_packed(function, config, block.data(), block.size());
}

namespace detail {

template <class T> constexpr ValueKind kind_of() {
    if constexpr (std::is_pointer_v<T>)
        return ValueKind::Pointer;
    else if constexpr (std::is_floating_point_v<T>)
        return ValueKind::Float;
    else if constexpr (std::is_enum_v<T> || std::is_signed_v<T>)
        return ValueKind::Signed;
    else if constexpr (std::is_unsigned_v<T>)
        return ValueKind::Unsigned;
    else
        return ValueKind::Bytes;
}

/// "float (4 bytes)"
std::string describe_value(ValueKind kind, std::size_t size);

template <class T> void push(ArgumentBlock &block, T &argument) {
    using Value = std::remove_cv_t<T>;
    if constexpr (std::is_same_v<Value, DeviceMemory> || std::is_same_v<Value, ManagedMemory> ||
                  std::is_same_v<Value, PooledMemory>)
        block.push_pointer(argument.get());
    else if constexpr (std::is_same_v<Value, StagedArgument>)
        block.push_pointer(argument.device().get());
    else {
        static_assert(std::is_trivially_copyable_v<Value>,
                      "a kernel argument is device memory, In/Out/InOut, or plain bytes");
        if (!block.try_push(&argument, sizeof argument, kind_of<Value>()))
            block.reject(describe_value(kind_of<Value>(), sizeof argument));
    }
}

template <class T> void before_launch(T &argument, StreamRef stream) {
    if constexpr (std::is_same_v<std::remove_cv_t<T>, StagedArgument>)
        argument.before_launch(stream);
}

template <class T> void after_launch(T &argument) {
    if constexpr (std::is_same_v<std::remove_cv_t<T>, StagedArgument>)
        argument.after_launch();
}

template <class... Args>
constexpr bool any_staged = (std::is_same_v<std::remove_cvref_t<Args>, StagedArgument> || ...);

} // namespace detail

/// Launches with C++ arguments: device memory, In/Out/InOut of host data, numbers and structs of
/// exactly the kernel's type. Waits for the kernel only if host data is staged.
template <class... Args>
    requires(sizeof...(Args) != 1 ||
             !(std::is_same_v<std::remove_cvref_t<Args>, ArgumentBlock> && ...))
void launch(const Function &function, const LaunchConfig &config, Args &&...args) {
    ArgumentBlock block(function);
    block.check_count(sizeof...(Args));
    (detail::push(block, args), ...);
    (detail::before_launch(args, config.stream), ...);
    launch(function, config, block);
    if constexpr (detail::any_staged<Args...>) {
        synchronize(config.stream);
        (detail::after_launch(args), ...);
    }
}

} // namespace pycuda
