// error.h -- the calling thread's last error beyond what call.h has.
#pragma once

namespace softcudart {

/// The thread's last error becomes success, even where the error made the context unusable.
void forget_error() noexcept;

/// Remembers cudaErrorNotSupported and returns its number; for not_supported.cpp.
int refuse() noexcept;

} // namespace softcudart
