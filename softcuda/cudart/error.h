// error.h -- functions for the thread's last error that are not in call.h.
#pragma once

namespace softcudart {

/// Resets the thread's last error, even if it made the context unusable.
void forget_error() noexcept;

/// Stores cudaErrorNotSupported and returns its number; for not_supported.cpp.
int refuse() noexcept;

} // namespace softcudart
