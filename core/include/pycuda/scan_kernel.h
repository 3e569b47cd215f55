// scan_kernel.h -- an inclusive or exclusive scan with an associative expression.
//
//     ScanKernel running_sum({.type = "float", .size = 4, .scan_expr = "a + b"});
//     running_sum.launch(stream, out, in);               // out, in are ArrayViews
#pragma once

#include <pycuda/kernel_argument.h>
#include <pycuda/kernel_variant.h>
#include <pycuda/stream.h>

#include <cstddef>
#include <memory>
#include <string>

namespace pycuda {

/// Whether element i of the input is part of element i of the result.
enum class ScanKind { Inclusive, Exclusive };

/// The text that a user writes for a scan. All of it is CUDA C++.
struct ScanText {
    std::string type;      ///< the type of the elements
    std::size_t size = 0;  ///< the size of an element in bytes
    std::string scan_expr; ///< combines `a` and `b`, where `a` is the earlier value; associative
    /// The first element of an exclusive scan; not needed for an inclusive one.
    std::string neutral = {};
    ScanKind kind = ScanKind::Inclusive; ///< whether element i is part of result i
    std::string name = "scan";           ///< of the kernel
    std::string preamble = {};           ///< before the kernel: functions, includes
    KernelBuild build = {};              ///< options of the compilation
};

/// A scan over one axis of elements, reading and writing memory once. The order of operations
/// depends on the number of elements only, so results are the same in every run and on every
/// device. The texts can use the macros scan_type and SCAN_EXPR(a, b). Any thread may call any
/// function. Copies are the same kernel.
class ScanKernel {
  public:
    /// Throws std::invalid_argument for an exclusive scan without a neutral element.
    explicit ScanKernel(ScanText text);

    /// The texts that the kernel was made of.
    const ScanText &text() const noexcept;

    /// Scans `in` and writes `out`, which may be the same array. Both have the same number of
    /// elements. Arrays of one axis may have any stride; other arrays must be C-contiguous. Throws
    /// std::invalid_argument otherwise. Returns the variant that ran; null if there are no
    /// elements.
    std::shared_ptr<const KernelVariant> launch(StreamRef stream, const ArrayView &out,
                                                const ArrayView &in);

    /// The source for contiguous arrays, as passed to the compiler.
    std::string source() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace pycuda
