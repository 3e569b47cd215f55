// elementwise_kernel.h -- a kernel from an expression that is evaluated for each element.
//
//     ElementwiseKernel axpy("float *z, float a, const float *x, const float *y",
//                            "z[i] = a * x[i] + y[i]");
//     axpy(stream, z, 2.0f, x, y);                       // z, x, y are ArrayViews
#pragma once

#include <pycuda/argument_block.h>
#include <pycuda/kernel_argument.h>
#include <pycuda/kernel_variant.h>
#include <pycuda/launch.h>
#include <pycuda/stream.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pycuda {

class OperandForms;

/// The text that a user writes for an elementwise kernel. All of it is CUDA C++.
struct ElementwiseText {
    std::string operation;       ///< statements over `i`, such as "z[i] = x[i]"
    std::string name = "kernel"; ///< the kernel's name
    std::string preamble = {};   ///< before the kernel: includes, functions
    std::string loop_prep = {};  ///< once in each thread, before the first element
    std::string after_loop = {}; ///< once in each thread, after the last
    KernelBuild build = {};      ///< options of the compilation
};

/// The indices start, start + step, ... before stop. A negative step counts down.
struct IndexRange {
    std::int64_t start = 0; ///< the first index
    std::int64_t stop = 0;  ///< the bound, which is not an index
    std::int64_t step = 1;  ///< not 0

    /// The number of indices.
    std::uint64_t size() const noexcept;
    /// The least index, and one more than the largest; 0 and 0 if there is none.
    std::pair<std::int64_t, std::int64_t> bounds() const noexcept;
};

/// A kernel over the elements of arrays. A variant is compiled at its first use: one for contiguous
/// arrays of the same order, others for strided arrays and for more than 2^31 elements.
///
/// A text that uses arrays as `x[i]` alone, and does not ask which thread runs it, is walked as
/// operations on arrays are. Others run in a loop over the elements in each thread.
///
/// The text sees `i` (the element), `n` (how many; not with a range), `tid`, `total_threads` and
/// `cta_start`. `x[i]` is right whatever the strides; a strided `x` is an object with operators
/// [], * and +, no pointer. Any thread may call any function. Copies are the
/// same kernel.
class ElementwiseKernel {
    struct State;

  public:
    /// Throws std::invalid_argument if no argument is an array.
    ElementwiseKernel(std::vector<KernelArgument> arguments, ElementwiseText text);
    /// As above for arguments as text, such as "float *x, float a". Throws std::invalid_argument
    /// for another text.
    ElementwiseKernel(std::string_view arguments, std::string operation);

    /// The arguments of the kernel, in order.
    const std::vector<KernelArgument> &arguments() const noexcept;
    /// The texts that the kernel was made of.
    const ElementwiseText &text() const noexcept;

    /// One launch that is being prepared. The caller pushes the arguments in order, arrays through
    /// push_array(), into a block for function(), and calls launch(). Arrays and kernel must
    /// outlive it.
    class Call {
      public:
        /// False if there are no elements: then there is nothing to launch.
        bool has_work() const noexcept { return count_ != 0; }
        /// The kernel that launch() runs.
        const Function &function() const noexcept;
        /// The compiled form for the layouts of the arrays.
        const KernelVariant &variant() const noexcept { return *variant_; }
        /// Pushes array number `array` of the call. Throws ArgumentError.
        void push_array(ArgumentBlock &block, std::size_t array) const;
        /// Runs the kernel with a full block. Throws ArgumentError if arguments are missing, and
        /// Error.
        void launch(ArgumentBlock &block) const;

      private:
        friend class ElementwiseKernel;
        struct Walked;
        Call(std::span<const ArrayView> arrays, StreamRef stream);
        void run_threads(State &state);
        bool try_walk(State &state);
        bool try_strides(const State &state);

        std::span<const ArrayView> arrays_;
        std::shared_ptr<Walked> walked_;      ///< null if no walk needs strides
        std::shared_ptr<OperandForms> forms_; ///< null if all are flat or walked
        std::shared_ptr<const KernelVariant> variant_;
        std::optional<IndexRange> range_;
        std::uint64_t count_ = 0;
        std::uint64_t elements_ = 0;
        LaunchConfig config_;
    };

    /// `arrays` are the vector arguments in order; the first array determines the number of
    /// elements. Throws std::invalid_argument if an array that is used only as `x[i]` has another
    /// number of elements.
    Call prepare(std::span<const ArrayView> arrays, StreamRef stream,
                 std::optional<IndexRange> range = {});

    /// Launches the kernel. The arguments match the declaration: ArrayViews, and numbers of exactly
    /// the declared type.
    template <class... Args> void operator()(StreamRef stream, const Args &...args) {
        std::vector<ArrayView> arrays;
        (detail::add_array(arrays, args), ...);
        const Call call = prepare(arrays, stream);
        if (!call.has_work())
            return;
        ArgumentBlock block(call.function());
        std::size_t array = 0;
        (detail::push_declared(call, block, array, args), ...);
        call.launch(block);
    }

    /// The source of the variant for contiguous arrays, as passed to the compiler.
    std::string source() const;

  private:
    std::shared_ptr<State> state_;
};

} // namespace pycuda
