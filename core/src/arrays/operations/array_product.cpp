// array_product.cpp -- multiplies matrices by cuBLAS, by a kernel with tiles, or by sums of
// products.
#include <pycuda/array_product.h>

#include "arrays/array_axes.h"
#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/kernel_choice.h"
#include "arrays/kernel_table.h"

#include "arrays/device/axes.cuh.h"
#include "arrays/operations/device/product.cuh.h"
#include "libraries/cublas.h"

#include <pycuda/array_operation.h>
#include <pycuda/array_reduction.h>
#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace pycuda {
namespace {

constexpr std::int64_t tile = 64;
/// With at most this many rows or columns, most of the time is spent reading the other factor, so
/// each element of the result is computed by a reduction.
constexpr std::int64_t narrow = 2;

struct Product {
    Array a, b, out;
    ScalarType type;
    std::int64_t rows, columns, inner;
    std::array<Layout, 2> batch; ///< of a and b, broadcast
    StreamRef stream;
};

std::int64_t last_extent(const Array &array, int from_end) {
    return array.layout().extent(array.dimensions() - from_end);
}
std::int64_t last_stride(const Array &array, int from_end) {
    return array.layout().stride(array.dimensions() - from_end);
}

[[noreturn]] void refuse(const Array &a, const Array &b, const std::string &why) {
    throw std::invalid_argument("matrices of shapes " + shape_text(a.shape()) + " and " +
                                shape_text(b.shape()) + " cannot be multiplied: " + why);
}

Layout stack_of(const Array &array) {
    Layout layout;
    for (int axis = 0; axis < array.dimensions() - 2; ++axis)
        layout.append(array.layout().extent(axis), array.layout().stride(axis));
    return layout;
}

Product plan(const Array &a, const Array &b, const ProductOptions &options) {
    if (a.dimensions() < 2 || b.dimensions() < 2)
        refuse(a, b, "both must have at least two axes");
    if (last_extent(a, 1) != last_extent(b, 2))
        refuse(a, b,
               std::to_string(last_extent(a, 1)) + " columns in the first, " +
                   std::to_string(last_extent(b, 2)) + " rows in the second");
    for (const Array *factor : {&a, &b})
        if (factor->dtype().is_opaque())
            throw UnsupportedTypes("matrices of elements of " + factor->dtype().name() +
                                   " cannot be multiplied");
    const ScalarType type =
        options.dtype ? *options.dtype : promote(a.scalar_type(), b.scalar_type());
    const Layout stack = broadcast_shapes(stack_of(a), stack_of(b));
    Layout shape = stack;
    shape.append(last_extent(a, 2), 0);
    shape.append(last_extent(b, 1), 0);
    const std::shared_ptr<ArrayContext> &context = a.memory()   ? a.context()
                                                   : b.memory() ? b.context()
                                                                : ArrayContext::current();
    return {aligned(a, options.stream),
            aligned(b, options.stream),
            Array::empty(context, shape.shape(), type, Order::C, options.stream),
            type,
            last_extent(a, 2),
            last_extent(b, 1),
            last_extent(a, 1),
            {stack_of(a).broadcast_to(stack.shape()), stack_of(b).broadcast_to(stack.shape())},
            options.stream};
}

// The implementation with reductions.

/// a as (..., rows, 1, inner), b as (..., 1, columns, inner): sums over the last axis.
void multiply_by_reductions(Product &product) {
    Layout a = product.batch[0], b = product.batch[1];
    a.append(product.rows, last_stride(product.a, 2));
    a.append(product.columns, 0);
    b.append(product.rows, 0);
    b.append(product.columns, last_stride(product.b, 1));
    a.append(product.inner, last_stride(product.a, 1));
    b.append(product.inner, last_stride(product.b, 2));
    const Array left = product.a.view(a);
    const Array right = product.b.view(b);
    const Array *const factors[] = {&left, &right};
    const ReduceOptions options{.axes = std::uint32_t{1} << (a.dimensions() - 1),
                                .dtype = product.type,
                                .stream = product.stream};
    Array sums = reduce(Reduction::Dot, factors, options);
    if (sums.dtype() == product.out.dtype() && sums.is_c_contiguous() &&
        std::ranges::equal(sums.shape(), product.out.shape()))
        product.out = std::move(sums);
    else
        assign(product.out, sums, Casting::Unsafe, product.stream);
}

// The implementation with tiles.

std::string tile_source(ScalarType a, ScalarType b, ScalarType type, int axes) {
    const std::string code = type_alias("A", cuda_name(a)) + type_alias("B", cuda_name(b)) +
                             type_alias("L", cuda_name(type)) + type_alias("O", cuda_name(type)) +
                             type_alias("T", compute_name(type)) + define("PRODUCT_AXES", axes) +
                             define("PRODUCT_ROLLED", runs_on_host()) +
                             std::string(device_code::axes_cuh) +
                             std::string(device_code::product_cuh);
    return with_prelude(code);
}

void multiply_by_tiles(const Product &product) {
    std::array<Layout, 2> batch = product.batch;
    coalesce_to_axes(batch);
    const int axes = batch[0].dimensions();
    const std::int64_t blocks = divide_up(product.rows, tile) * divide_up(product.columns, tile) *
                                static_cast<std::int64_t>(batch[0].size());
    Work use(product.stream);
    KernelArguments arguments(use, product.a, product.b, product.out);
    for (std::int64_t value :
         {product.rows, product.columns, product.inner, last_stride(product.a, 2),
          last_stride(product.a, 1), last_stride(product.b, 2), last_stride(product.b, 1)})
        arguments.add(value);
    for (std::int64_t extent : batch[0].shape())
        arguments.add(extent);
    for (int axis = 0; axis < axes; ++axis)
        for (const Layout &layout : batch)
            arguments.add(layout.stride(axis));
    const ScalarType a = product.a.scalar_type(), b = product.b.scalar_type();
    const KernelKey key =
        KernelKey(KernelFamily::Product, {{a, 4}, {b, 4}, {product.type, 4}, {axes, 7}});
    const Function &kernel = product.out.context()->kernels().find(
        key, "matmul", [&] { return tile_source(a, b, product.type, axes); });
    arguments.launch(kernel,
                     {.grid = {grid_extent(blocks, "a product of matrices")}, .block = {256}});
}

// The implementation with cuBLAS.

/// A factor with contiguous rows or columns, of the result's type: the array itself or a copy.
Array for_blas(const Array &factor, ScalarType type, StreamRef stream) {
    const auto size = static_cast<std::int64_t>(factor.item_size());
    const std::int64_t rows = last_extent(factor, 2), columns = last_extent(factor, 1);
    const std::int64_t down = last_stride(factor, 2), across = last_stride(factor, 1);
    const bool in_rows = across == size && down >= columns * size && down % size == 0;
    const bool in_columns = down == size && across >= rows * size && across % size == 0;
    const Layout stack = stack_of(factor);
    const bool forward = std::ranges::all_of(
        stack.strides(), [&](std::int64_t step) { return step >= 0 && step % size == 0; });
    if (factor.scalar_type() == type && forward && (in_rows || in_columns))
        return factor;
    Array copy = Array::scratch(factor.context(), factor.shape(), type, stream);
    assign(copy, factor, Casting::Unsafe, stream);
    return copy;
}

BlasMatrix describe(const Array &factor, const Layout &batch, Work &use) {
    const auto size = static_cast<std::int64_t>(factor.item_size());
    const std::int64_t down = last_stride(factor, 2), across = last_stride(factor, 1);
    const bool in_rows =
        across == size && down >= std::max<std::int64_t>(last_extent(factor, 1), 1) * size;
    return {use.read(factor), !in_rows, (in_rows ? down : across) / size,
            batch.dimensions() == 0 ? 0 : batch.stride(batch.dimensions() - 1) / size};
}

/// One call for the last axis of the stack, for each index of the axes before it.
void multiply_by_blas(Product &product) {
    product.a = for_blas(product.a, product.type, product.stream);
    product.b = for_blas(product.b, product.type, product.stream);
    const Layout stack = stack_of(product.out);
    std::array<Layout, 2> batch = {stack_of(product.a).broadcast_to(stack.shape()),
                                   stack_of(product.b).broadcast_to(stack.shape())};
    coalesce(batch);
    const int axes = batch[0].dimensions();
    const auto size = static_cast<std::int64_t>(item_size(product.type));
    const std::int64_t one = product.rows * product.columns;
    Work use(product.stream);
    BlasProduct call{product.type,
                     product.rows,
                     product.columns,
                     product.inner,
                     axes == 0 ? 1 : batch[0].extent(axes - 1),
                     describe(product.a, batch[0], use),
                     describe(product.b, batch[1], use),
                     {use.write(product.out), false, product.columns, one}};
    const auto calls = static_cast<std::int64_t>(batch[0].size()) / call.count;
    for (std::int64_t number = 0; number < calls; ++number) {
        BlasProduct shifted = call;
        std::int64_t rest = number;
        for (int axis = axes - 2; axis >= 0; --axis) {
            const std::int64_t at = rest % batch[0].extent(axis);
            rest /= batch[0].extent(axis);
            shifted.a.address += static_cast<CUdeviceptr>(at * batch[0].stride(axis));
            shifted.b.address += static_cast<CUdeviceptr>(at * batch[1].stride(axis));
        }
        shifted.out.address += static_cast<CUdeviceptr>(number * call.count * one * size);
        cublas_multiply(shifted, use.stream());
    }
}

} // namespace

Array matrix_product(const Array &a, const Array &b, const ProductOptions &options) {
    Product product = plan(a, b, options);
    if (product.out.size() == 0)
        return product.out;
    if (product.inner == 0) {
        assign(product.out, Operand(Scalar::weak(std::int64_t{0})), Casting::Unsafe,
               options.stream);
        return product.out;
    }
    const bool by_blas = !kernel_choice.own_product && cublas_takes(product.type);
    // A product with a vector always uses reductions, which read the matrix at the speed of memory.
    if (std::min(product.rows, product.columns) <= (by_blas ? 1 : narrow) &&
        product.batch[0].dimensions() + 3 <= Layout::max_dimensions)
        multiply_by_reductions(product);
    else if (by_blas)
        multiply_by_blas(product);
    else
        multiply_by_tiles(product);
    return product.out;
}

} // namespace pycuda
