// library_call.h -- calls of libraries that must not run while the process ends.
#pragma once

namespace pycuda {

/// A call of a library whose destructors run at the end of the process, and would take away what
/// the call uses. The end waits for the calls that have begun (set_finalizing()). After that a
/// thread other than the ending one waits here for ever: the process ends meanwhile.
class [[nodiscard]] LibraryCall {
  public:
    LibraryCall() noexcept;
    ~LibraryCall();
    LibraryCall &operator=(LibraryCall &&) = delete; // no copies either
};

/// Waits until no other thread is in a call, and begins no further ones there.
void end_library_calls() noexcept;

} // namespace pycuda
