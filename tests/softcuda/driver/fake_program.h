// fake_program.h -- kernels in C++ instead of compiled ones; they follow rt/kernel_abi.h.
//
// The driver's tests link these instead of compiler/. A "PTX" text that starts with "// fake" loads
// the only program; any other text is refused with a diagnostic.
#pragma once

#include <cstdint>

namespace fake {

inline constexpr const char *kImage = "// fake\n";

/// The log of a refused text.
inline constexpr const char *kDiagnostic = "kernel.ptx:1:1: error: this is no PTX";

// The kernels, by name, and their parameters:
//   add            float *a, float *b, float *sum, int n      no loop: may run on the caller
//   store          int *to, int value                         by one thread
//   load           int *from, int *to
//   check_store    int *to, int value                         address checked as outside the arena
//   misaligned, trap, divide, overflow, unreachable_barrier   fault in these ways
//   fail_assert                                               calls __assertfail
//   spin                                                      never ends
//   wait_for       int *flag                                  ends when it is not 0
//   append         int *list, int value                       each block: list[++list[0]] = value
//   append_slowly  int *list, int value                       the same after some milliseconds
//   count          int *counter                               adds 1 for each block
//   use_shared     int *out                                   writes and reads all shared memory
//   use_scratch    int *out                                   writes and reads scratch and local
//   memory shared_overrun                                            writes far beyond shared
//   memory print          format, arguments                          vprintf by lane 0 of each
//   block use_heap       int *failures                              malloc and free of kernels
//   spread         int *slots                                 stores each block's worker slot
//   read_variable  int *out                                   through LaunchFrame::symbols
//   call_runtime   unsigned call, words[12], results          one call of the CUDA runtime
//   launch_appends int *list, unsigned kind                   launches append: see the kernel
//   launch_itself  int *list, int depth                       recursive launches, to this depth
//   launch_graphs  int *list, int value, int count, calls     append, then launches graphs
//   use_stack      int *out                                   a frame of 16 MB: out[0] = 2
//   fail_on_stack  int *out, int *wild                        the same, then *wild = 1
//   needs_32       (a required block of 32)
//   small_blocks   (at most 64 threads)
//   uncompilable   (refused at once)
//   together_a, together_b   as store; one is compiled when the compilation of the other has begun
//   short_of_memory          as store; the first compilation fails

/// The value of a kernel's name in device code, from the number in the variable "first_function"
/// on.
[[nodiscard]] std::uint64_t function_offset(const char *kernel);

} // namespace fake
