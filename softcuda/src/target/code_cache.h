// code_cache.h -- what comes between writing machine code and running it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace softcuda::target {

/// After code was written, before its address is given to any thread: the instruction caches of all
/// cores see it. Nothing on x86-64, where they follow stores.
inline void publish_code(std::uint64_t begin, std::size_t bytes) noexcept {
    auto *first = reinterpret_cast<char *>(begin);
    __builtin___clear_cache(first, first + bytes);
}

/// In the thread that runs code, once it has the code's address: drops instructions that the core
/// has fetched from the same address before other code was written there.
inline void fetch_code_again() noexcept {
#if defined(__aarch64__)
    asm volatile("isb" : : : "memory");
#endif
}

} // namespace softcuda::target
