// expression_launch.h -- choosing a walk for the arrays of a call, and the launch.
//
//     const ElementPlan plan(operands, {.rolled = true});
//     plan.launch(find_kernel(expression, plan.walk()), stream);
#pragma once

#include "arrays/expression.h"

#include <pycuda/argument_block.h>
#include <pycuda/array_operation.h>
#include <pycuda/function.h>
#include <pycuda/launch.h>
#include <pycuda/layout.h>
#include <pycuda/stream.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pycuda {

class KernelArguments;

/// Adds the values of an expression's numbers, in their order. Throws ScalarOverflow.
void add_numbers(KernelArguments &arguments, const Expression &expression,
                 std::span<const Operand> numbers);

/// An expression with the values of its numbers, in their order.
struct TypedExpression {
    const Expression &expression;
    std::span<const Operand> numbers;
};

/// The arguments of one launch. The operands broadcast to the shape of the results. The results
/// have one shape and the same order in memory.
struct ElementOperands {
    std::span<const Array> results;
    std::span<const Operand> operands;
    std::span<const ScalarType> types; ///< of each operand: the type that a number is passed as
    const Array *mask = nullptr;
};

/// The meaning of an element's index.
enum class IndexOrder : std::uint8_t {
    Any,
    Memory, ///< its place in memory if all arrays have one order and no gaps, else as C
    C,      ///< its index in C order
};

/// The data for the choice, in addition to the arrays.
struct WalkOptions {
    bool rolled = false;
    bool is_long = false; ///< some step is (is_long())
    bool vectors = true;  ///< accesses of 16 bytes are possible
    IndexOrder order = IndexOrder::Any;
};

/// Keeps pointers to the call's operands, which must outlive the plan. Does not allocate for a few
/// operands.
class ElementPlan {
  public:
    /// The results must have elements.
    ElementPlan(const ElementOperands &call, const WalkOptions &options);
    ElementPlan &operator=(ElementPlan &&) = delete; // no copies either

    const ElementWalk &walk() const noexcept { return walk_; }

    /// Throws std::invalid_argument if there are too many arrays for one kernel, ScalarOverflow.
    void launch(const Function &kernel, StreamRef stream) const;

    // For a kernel whose arguments the caller pushes (InPlaceExpression).

    /// From the address of result k to its first element of the walk, in bytes.
    std::int64_t offset(std::size_t k) const noexcept {
        return walk_.is_strided() ? offsets_[k] : 0;
    }
    /// Pushes the last argument. Throws as launch().
    void push_extent(ArgumentBlock &block) const;
    LaunchConfig config() const noexcept;

  private:
    /// A list that does not allocate for a few elements.
    template <class T> class ShortList {
      public:
        void resize(std::size_t count) {
            if (count > few_.size())
                many_.resize(count);
            data_ = {count > few_.size() ? many_.data() : few_.data(), count};
        }
        std::span<T> get() const noexcept { return data_; }
        T &operator[](std::size_t k) const noexcept { return data_[k]; }
        std::size_t size() const noexcept { return data_.size(); }

      private:
        std::array<T, 6> few_;
        std::vector<T> many_;
        std::span<T> data_;
    };

    void find_singles() noexcept;
    bool is_contiguous() const noexcept;
    void choose_contiguous(const WalkOptions &options) noexcept;
    void choose_strided(const WalkOptions &options);
    void add_walkers();
    void find_kept() noexcept;
    std::optional<std::int8_t> step_along(int axis) const noexcept;
    void find_longer_axis() noexcept;
    void find_steps() noexcept;
    void find_crossed() noexcept;
    int crossing_axis() const noexcept;
    std::size_t tile_count() const noexcept;
    bool needs_wide_index() const noexcept;
    bool has_unit_steps() const noexcept;
    bool has_elements(std::size_t operand) const noexcept;
    std::size_t rows_per_thread(std::size_t blocks) const noexcept;
    void check_geometry() const;
    void add_operands(KernelArguments &arguments) const;
    std::size_t geometry_numbers() const noexcept;
    template <class Index> void write_geometry(void *place) const noexcept;
    /// Whether `holds(array)` for all arrays that are accessed element by element.
    template <class Holds> bool all_arrays(Holds &&holds) const noexcept;

    const ElementOperands &call_;
    std::size_t size_;
    ElementWalk walk_;
    // For a strided walk: the results, the mask and the operands that are accessed element by
    // element, with merged axes and the offset of the first element in bytes.
    ShortList<const Array *> arrays_;
    ShortList<Layout> layouts_;
    ShortList<std::int64_t> offsets_;
};

} // namespace pycuda
