// reduction_kernel.h -- a reduction of an expression over the elements of arrays.
//
//     ReductionKernel dot("const float *x, const float *y",
//                         {.out_type = "float", .out_size = 4, .neutral = "0",
//                          .reduce_expr = "a + b", .map_expr = "x[i] * y[i]"});
//     dot(stream, result, x, y);                         // x, y are ArrayViews
#pragma once

#include <pycuda/argument_block.h>
#include <pycuda/kernel_argument.h>
#include <pycuda/kernel_variant.h>
#include <pycuda/launch.h>
#include <pycuda/stream.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pycuda {

class OperandForms;

/// The text that a user writes for a reduction. All of it is CUDA C++.
struct ReductionText {
    std::string out_type;               ///< of the result and of the values that are combined
    std::size_t out_size = 0;           ///< the size of out_type in bytes
    std::string neutral;                ///< the neutral element of the reduction
    std::string reduce_expr;            ///< combines `a` and `b`; associative and commutative
    std::string map_expr = "in[i]";     ///< the value of element `i`
    std::string name = "reduce_kernel"; ///< of the kernel
    std::string preamble = {};          ///< before the kernel: includes, functions
    KernelBuild build = {};             ///< options of the compilation
};

/// A reduction over arrays of any layout. The order in which values are combined depends only on
/// their number and size, so results are the same in every run and on every device. The error of a
/// sum grows like that of pairwise summation. The result of no elements is `neutral`.
///
/// The texts can use `i`, `n`, the arguments, and the macros out_type, BLOCK_SIZE, READ_AND_MAP(i)
/// and REDUCE(a, b). Any thread may call any function. Copies are the
/// same kernel.
class ReductionKernel {
  public:
    /// Throws std::invalid_argument if no argument is an array.
    ReductionKernel(std::vector<KernelArgument> arguments, ReductionText text);
    /// As above for arguments as text, such as "const float *x, float a". Throws
    /// std::invalid_argument for another text.
    ReductionKernel(std::string_view arguments, ReductionText text);

    /// The number of threads of a block.
    static constexpr unsigned block_size = 256;

    /// The arguments of the kernel, in order.
    const std::vector<KernelArgument> &arguments() const noexcept;
    /// The texts that the kernel was made of.
    const ReductionText &text() const noexcept;

    /// One reduction that is being prepared. The caller pushes the result's address and then the
    /// arguments in order, arrays through push_array(), into a block for function(), and calls
    /// launch(). Arrays and kernel must outlive it.
    class Call {
      public:
        /// The kernel of the first launch, for which the block of arguments is made.
        const Function &function() const noexcept { return variant_->functions[0]; }
        /// The compiled form for the layouts of the arrays.
        const KernelVariant &variant() const noexcept { return *variant_; }
        /// Pushes array number `array` of the call. Throws ArgumentError.
        void push_array(ArgumentBlock &block, std::size_t array) const;
        /// Runs the kernels of the reduction. Throws ArgumentError if arguments are missing, and
        /// Error.
        void launch(ArgumentBlock &block) const;

      private:
        friend class ReductionKernel;
        explicit Call(std::span<const ArrayView> arrays);

        std::span<const ArrayView> arrays_;
        std::shared_ptr<OperandForms> forms_; ///< null if all arrays are contiguous
        std::shared_ptr<const KernelVariant> variant_;
        std::uint64_t elements_ = 0;
        std::size_t out_size_ = 0;
        LaunchConfig config_;
    };

    /// `arrays` are the vector arguments in order; the first array determines the number of
    /// elements. Throws std::invalid_argument if an array that is used only as `x[i]` has another
    /// number of elements.
    Call prepare(std::span<const ArrayView> arrays, StreamRef stream);

    /// Runs the reduction and writes the result to device memory at `out`.
    template <class... Args>
    void operator()(StreamRef stream, CUdeviceptr out, const Args &...args) {
        std::vector<ArrayView> arrays;
        (detail::add_array(arrays, args), ...);
        const Call call = prepare(arrays, stream);
        ArgumentBlock block(call.function());
        block.push_pointer(out);
        std::size_t array = 0;
        (detail::push_declared(call, block, array, args), ...);
        call.launch(block);
    }

    /// Compiles the variant for contiguous arrays now, in the current context. Throws CompileError.
    std::shared_ptr<const KernelVariant> compile_flat();
    /// The source of the variant for contiguous arrays, as passed to the compiler.
    std::string source() const;

  private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace pycuda
