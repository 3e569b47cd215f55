// fuzz_runtime_arguments.h -- makes arguments for functions of the runtime API.
#pragma once

#include "fuzz_calls.h"

#include <cuda_runtime_api.h>

namespace fuzz {

struct Undeclared {};

/// A program that is registered like that of a compiler.
class Program {
  public:
    Program();
    /// Adds the stubs of its kernels and variables.
    void add_to(Handles &handles) const;
};

/// A pointer without a type that a function does not read as memory of the caller.
void *draw_memory(Draw &draw);
/// The same, for a function that does.
void *draw_caller_memory(Draw &draw);

// Structs that point to memory of the caller.
void fill(Draw &draw, cudaMemcpy3DParms &);
void fill(Draw &draw, cudaMemcpy3DPeerParms &);
void fill(Draw &draw, cudaKernelNodeParams &);
void fill(Draw &draw, cudaHostNodeParams &);
void fill(Draw &draw, cudaLaunchConfig_t &);
void fill(Draw &draw, cudaGraphNodeParams &);

// Structs that are passed by value.
void fill(Draw &draw, dim3 &);
void fill(Draw &draw, cudaExtent &);
void fill(Draw &draw, cudaPitchedPtr &);

template <> inline constexpr bool stays_zero<cudaMemcpy3DBatchOp> = true;
template <> inline constexpr bool stays_zero<cudaExternalMemoryHandleDesc> = true;
template <> inline constexpr bool stays_zero<cudaExternalSemaphoreHandleDesc> = true;
template <> inline constexpr bool stays_zero<cudaExternalSemaphoreSignalNodeParams> = true;
template <> inline constexpr bool stays_zero<cudaExternalSemaphoreWaitNodeParams> = true;
template <> inline constexpr bool stays_zero<cudaMemAllocNodeParams> = true;

/// `caller_memory`: each pointer without a type is memory of the caller. `memory_result`: the
/// function writes the address of memory to a void **.
template <bool caller_memory, bool memory_result> struct RuntimeArguments {
    template <class T> static T draw(Draw &draw) {
        using Pointee = std::remove_cv_t<std::remove_pointer_t<T>>;
        if constexpr (std::is_pointer_v<T> && std::is_void_v<Pointee>) {
            return caller_memory ? draw_caller_memory(draw) : draw_memory(draw);
        } else if constexpr (std::is_same_v<T, void **> && memory_result) {
            void *result = draw.pointers();
            draw.note_addresses(static_cast<const std::uint64_t *>(result));
            return static_cast<T>(result);
        } else if constexpr (std::is_same_v<T, cudaStreamCallback_t>) {
            return draw.byte() < 16 ? nullptr : reinterpret_cast<T>(&no_stream_callback);
        } else if constexpr (std::is_class_v<T> && Filled<T>) {
            T value{};
            fill(draw, value);
            return value;
        } else if constexpr (std::is_same_v<T, unsigned long long>) {
            // A handle of a texture or surface, or flags.
            return draw.byte() < 128 ? draw.number() : draw.handle() & 0xffff;
        } else {
            return draw_argument<T>(draw);
        }
    }
};

} // namespace fuzz
