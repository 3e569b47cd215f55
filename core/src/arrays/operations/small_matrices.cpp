// small_matrices.cpp -- the kernels for small matrices, and their launches.
#include <pycuda/array_small_matrices.h>

#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_table.h"

#include "arrays/operations/device/shared_rows.cuh.h"
#include "arrays/operations/device/shuffle.cuh.h"
#include "arrays/operations/device/small_matrices.cuh.h"
#include "arrays/operations/device/small_rotations.cuh.h"

#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace pycuda {
namespace {

constexpr unsigned threads = 128;
constexpr std::int64_t most_register_bytes = 256; ///< for a row
constexpr std::int64_t most_lanes = 32;           ///< for the rows of a matrix

/// Kernels with a block for each matrix: rows, and bytes of a row.
constexpr std::int64_t most_rows = 64, most_bytes_of_row = 512;

enum class Form : unsigned { Solve, Invert, Determine, Cholesky, Svd, SingularValues, Eigen };

constexpr std::string_view names[] = {"solve", "inv", "det", "cholesky", "svd", "svdvals", "eigh"};

unsigned threads_of_block(std::int64_t side) {
    return side <= most_lanes ? threads : static_cast<unsigned>(side);
}

std::string source(Form form, ScalarType type, std::int64_t side) {
    const ScalarType real = real_type(type);
    const std::string code =
        type_alias("T", cuda_name(type)) + type_alias("R", cuda_name(real)) +
        define("SMALL_SIDE", side) + define("SMALL_COMPLEX", type != real) +
        define("FORM_" + std::string(names[static_cast<unsigned>(form)]), true) +
        define("SMALL_THREADS", threads_of_block(side)) +
        define("SMALL_VECTORS", form == Form::Svd ? "true" : "false") +
        std::string(device_code::shuffle_cuh) + std::string(device_code::small_matrices_cuh) +
        std::string(form >= Form::Svd ? device_code::small_rotations_cuh : "") +
        std::string(side > most_lanes ? device_code::shared_rows_cuh : "");
    return with_prelude(code);
}

/// The number and the extents of the matrices of a stack.
struct Stack {
    enum class Shape { Square, Any };

    explicit Stack(const Array &a, Shape shape = Shape::Square,
                   std::int64_t (*largest)(ScalarType) noexcept = largest_small_matrix)
        : count(a.dimensions() == 3 ? a.layout().extent(0) : 0),
          m(a.dimensions() == 3 ? a.layout().extent(1) : 0),
          n(a.dimensions() == 3 ? a.layout().extent(2) : 0) {
        const bool is_square = shape == Shape::Square;
        const std::int64_t most = largest(a.scalar_type());
        if (!a.is_c_contiguous() || std::min(m, n) < 1 || side() > most || (is_square && m != n))
            throw std::invalid_argument(
                "an array of shape " + shape_text(a.shape()) + " of " + a.dtype().name() +
                " is not a contiguous stack of small " + (is_square ? "square " : "") +
                "matrices, of shape (count, " + (is_square ? "n, n" : "m, n") +
                ") with extents from 1 to " + std::to_string(most));
    }
    std::int64_t side() const noexcept { return std::max(m, n); }
    std::int64_t count, m, n;
};

void check_flag(const Array &failed) {
    if (failed.scalar_type() != ScalarType::Int32 || failed.size() != 1)
        throw std::invalid_argument("the flag must be one int32, not " +
                                    std::to_string(failed.size()) + " elements of " +
                                    failed.dtype().name());
}

void launch(Form form, const Array &a, const Stack &stack, KernelArguments &arguments) {
    std::int64_t side = 4;
    while (side < stack.side())
        side *= 2;
    const ScalarType type = a.scalar_type();
    const KernelKey key =
        KernelKey(KernelFamily::SmallMatrices, {{form, 4}, {type, 4}, {side, 16}});
    const Function &kernel = a.context()->kernels().find(key, names[static_cast<unsigned>(form)],
                                                         [&] { return source(form, type, side); });
    const unsigned block = threads_of_block(side);
    const std::int64_t matrices = block / side, blocks = (stack.count + matrices - 1) / matrices;
    if (blocks > 0x7fffffff)
        throw std::invalid_argument("a stack of " + std::to_string(stack.count) +
                                    " matrices needs more than 2147483647 blocks");
    arguments.launch(kernel, {.grid = {static_cast<unsigned>(blocks)}, .block = {block}});
}

/// Matrices of the same shape, computed from `a` by a kernel with additional parameters.
template <class... More>
Array transformed(Form form, const Array &a, const Array &failed, StreamRef stream,
                  const More &...more) {
    const Stack stack(a, Stack::Shape::Square, largest_matrix_in_block);
    check_flag(failed);
    const Array out = Array::empty(a.context(), a.shape(), a.dtype(), Order::C, stream);
    if (out.size() == 0)
        return out;
    Work use(stream);
    KernelArguments arguments(use, a, out, failed, static_cast<int>(stack.n), stack.count);
    (arguments.add(more), ...);
    launch(form, a, stack, arguments);
    return out;
}

void determine(const Array &a, const Array &out, const Array *logarithms, StreamRef stream) {
    const Stack stack(a);
    if (out.size() == 0)
        return;
    Work use(stream);
    KernelArguments arguments(use, a, out, logarithms, static_cast<int>(stack.n), stack.count);
    launch(Form::Determine, a, stack, arguments);
}

} // namespace

std::int64_t largest_small_matrix(ScalarType type) noexcept {
    if (type != ScalarType::Float32 && type != ScalarType::Float64 &&
        type != ScalarType::Complex64 && type != ScalarType::Complex128)
        return 0;
    return std::min(most_lanes, most_register_bytes / static_cast<std::int64_t>(item_size(type)));
}

std::int64_t largest_matrix_in_block(ScalarType type) noexcept {
    if (largest_small_matrix(type) == 0)
        return 0;
    return std::min(most_rows, most_bytes_of_row / static_cast<std::int64_t>(item_size(type)));
}

Array solve_small(const Array &a, const Array &b, const Array &failed, StreamRef stream) {
    const Stack stack(a);
    check_flag(failed);
    const bool fits = b.dimensions() == 3 && b.layout().extent(0) == stack.count &&
                      b.layout().extent(1) == stack.n && b.is_c_contiguous() &&
                      b.dtype() == a.dtype() && b.layout().extent(2) <= 0x7fffffff;
    if (!fits)
        throw std::invalid_argument("right sides of shape " + shape_text(b.shape()) + " of " +
                                    b.dtype().name() + " do not fit matrices of shape " +
                                    shape_text(a.shape()) + " of " + a.dtype().name());
    const Array out = Array::empty(a.context(), b.shape(), b.dtype(), Order::C, stream);
    if (out.size() == 0)
        return out;
    Work use(stream);
    KernelArguments arguments(use, a, b, out, failed, static_cast<int>(stack.n),
                              static_cast<int>(b.layout().extent(2)), stack.count);
    launch(Form::Solve, a, stack, arguments);
    return out;
}

Array invert_small(const Array &a, const Array &failed, StreamRef stream) {
    return transformed(Form::Invert, a, failed, stream);
}

Array determine_small(const Array &a, StreamRef stream) {
    const std::array count = {Stack(a).count};
    const Array out = Array::empty(a.context(), count, a.dtype(), Order::C, stream);
    determine(a, out, nullptr, stream);
    return out;
}

SignAndLogarithm determine_small_logarithm(const Array &a, StreamRef stream) {
    const std::array count = {Stack(a).count};
    SignAndLogarithm result{
        Array::empty(a.context(), count, a.dtype(), Order::C, stream),
        Array::empty(a.context(), count, real_type(a.scalar_type()), Order::C, stream)};
    determine(a, result.sign, &result.logarithm, stream);
    return result;
}

SmallSvd svd_small(const Array &a, SmallVectors vectors, const Array &failed, StreamRef stream) {
    const Stack stack(a, Stack::Shape::Any);
    check_flag(failed);
    const std::int64_t least = std::min(stack.m, stack.n);
    const std::array u_shape = {stack.count, stack.m, least};
    const std::array s_shape = {stack.count, least};
    const std::array vh_shape = {stack.count, least, stack.n};
    SmallSvd result{
        {}, Array::empty(a.context(), s_shape, real_type(a.scalar_type()), Order::C, stream), {}};
    if (vectors == SmallVectors::Wanted) {
        result.u = Array::empty(a.context(), u_shape, a.dtype(), Order::C, stream);
        result.vh = Array::empty(a.context(), vh_shape, a.dtype(), Order::C, stream);
    }
    if (stack.count == 0)
        return result;
    Work use(stream);
    KernelArguments arguments(use, a, result.u, result.s, result.vh, failed,
                              static_cast<int>(stack.m), static_cast<int>(stack.n), stack.count);
    launch(result.u ? Form::Svd : Form::SingularValues, a, stack, arguments);
    return result;
}

SmallEigen eigh_small(const Array &a, bool upper, SmallVectors vectors, const Array &failed,
                      StreamRef stream) {
    const Stack stack(a);
    check_flag(failed);
    const std::array values_shape = {stack.count, stack.n};
    SmallEigen result{
        Array::empty(a.context(), values_shape, real_type(a.scalar_type()), Order::C, stream), {}};
    if (vectors == SmallVectors::Wanted)
        result.vectors = Array::empty(a.context(), a.shape(), a.dtype(), Order::C, stream);
    if (stack.count == 0)
        return result;
    Work use(stream);
    KernelArguments arguments(use, a, result.values, result.vectors, failed,
                              static_cast<int>(stack.n), stack.count, static_cast<int>(upper));
    launch(Form::Eigen, a, stack, arguments);
    return result;
}

Array cholesky_small(const Array &a, bool upper, const Array &failed, StreamRef stream) {
    return transformed(Form::Cholesky, a, failed, stream, static_cast<int>(upper));
}

} // namespace pycuda
