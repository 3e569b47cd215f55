// copy_end.h -- the event by which a thread knows that an asynchronous copy has ended.
#pragma once

#include <cstdint>

namespace softcuda::rt {

struct CopyEnd {
    enum class By : std::uint32_t {
        Unknown, ///< the order of the access is not checked
        Barrier, ///< the mbarrier at `barrier`, a generic address
        Group,   ///< the thread's group of bulk copies
    };
    By by = By::Unknown;
    std::uint64_t barrier = 0;
};

} // namespace softcuda::rt
