// channel.h -- the type of an array's elements, in both APIs.
#pragma once

#include "call.h"

namespace softcudart {

struct Channel {
    CUarray_format format;
    unsigned count; ///< 1, 2 or 4
};

/// Throws Failure(invalid channel descriptor).
Channel channel_of(const cudaChannelFormatDesc &description);

cudaChannelFormatDesc description_of(CUarray_format format, unsigned channels);

/// Bytes of an element with such a channel.
std::size_t bytes_of(CUarray_format format) noexcept;

} // namespace softcudart
