// layout_test.cpp -- shapes, strides, types and numbers of arrays, without a device.
#include <pycuda/dtype.h>
#include <pycuda/layout.h>
#include <pycuda/scalar.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace pycuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

Numbers shape_of(const Layout &layout) { return {layout.shape().begin(), layout.shape().end()}; }
Numbers strides_of(const Layout &layout) {
    return {layout.strides().begin(), layout.strides().end()};
}
Layout of_shape(const Numbers &shape, Order order = Order::C) {
    return Layout::contiguous(shape, 4, order);
}
Layout strided(const Numbers &shape, const Numbers &strides) { return {shape, strides}; }

TEST(Layout, ContiguousInBothOrders) {
    EXPECT_EQ(strides_of(of_shape({2, 3, 5})), (Numbers{60, 20, 4}));
    EXPECT_EQ(strides_of(of_shape({2, 3, 5}, Order::Fortran)), (Numbers{4, 8, 24}));
    EXPECT_EQ(of_shape({}).size(), 1u);
    EXPECT_EQ(of_shape({2, 0, 5}).size(), 0u);
    EXPECT_TRUE(of_shape({3}).is_f_contiguous(4));
    EXPECT_FALSE(of_shape({2, 3}).is_f_contiguous(4));
    EXPECT_TRUE(of_shape({2, 3}).transposed(std::array{1, 0}).is_f_contiguous(4));
    // An axis of length 1 may have any stride.
    EXPECT_TRUE(strided({1, 3}, {999, 4}).is_c_contiguous(4));
}

TEST(Layout, InvalidLayoutsAreErrors) {
    EXPECT_THROW(of_shape({2, -1}), std::invalid_argument);
    EXPECT_THROW(of_shape(Numbers(33, 1)), std::invalid_argument);
    EXPECT_THROW(of_shape({std::int64_t{1} << 40, std::int64_t{1} << 40}), std::invalid_argument);
}

TEST(Layout, ReshapesWithoutACopyIfPossible) {
    Layout result;
    const std::int64_t six[] = {6}, three_two[] = {3, 2}, four_one_five[] = {4, 1, 5};
    ASSERT_TRUE(of_shape({2, 3}).try_reshape(three_two, Order::C, 4, result));
    EXPECT_EQ(strides_of(result), (Numbers{8, 4}));
    // Rows with a gap between them cannot be merged to one axis, but an axis of length 1 can be
    // inserted.
    const Layout rows = strided({4, 5}, {40, 4});
    EXPECT_FALSE(rows.try_reshape(std::array<std::int64_t, 1>{20}, Order::C, 4, result));
    ASSERT_TRUE(rows.try_reshape(four_one_five, Order::C, 4, result));
    EXPECT_EQ(shape_of(result), (Numbers{4, 1, 5}));
    EXPECT_EQ(result.stride(0), 40);
    EXPECT_EQ(result.stride(2), 4);
    // A reversed array can be reshaped without a copy, too.
    ASSERT_TRUE(strided({2, 3}, {-12, -4}).try_reshape(six, Order::C, 4, result));
    EXPECT_EQ(strides_of(result), (Numbers{-4}));
    EXPECT_FALSE(of_shape({2, 3}, Order::Fortran).try_reshape(six, Order::C, 4, result));
    EXPECT_TRUE(of_shape({2, 3}, Order::Fortran).try_reshape(six, Order::Fortran, 4, result));
}

TEST(Layout, Broadcasts) {
    const Layout shape = broadcast_shapes(of_shape({4, 1}), of_shape({3}));
    EXPECT_EQ(shape_of(shape), (Numbers{4, 3}));
    const Layout column = of_shape({4, 1}).broadcast_to(shape.shape());
    EXPECT_EQ(column.stride(1), 0);
    EXPECT_EQ(shape_of(broadcast_shapes(of_shape({0, 1}), of_shape({1, 5}))), (Numbers{0, 5}));
    try {
        broadcast_shapes(of_shape({4, 2}), of_shape({3}));
        FAIL() << "(4, 2) and (3,) do not fit";
    } catch (const std::invalid_argument &error) {
        EXPECT_THAT(error.what(), HasSubstr("(4, 2)"));
        EXPECT_THAT(error.what(), HasSubstr("(3,)"));
    }
    EXPECT_THROW(of_shape({2}).broadcast_to(std::array<std::int64_t, 1>{3}), std::invalid_argument);
}

TEST(Layout, CoalescesAxesThatStepAlike) {
    std::array<Layout, 2> layouts = {of_shape({4, 5, 6}), strided({4, 5, 6}, {0, 24, 4})};
    coalesce(layouts);
    EXPECT_EQ(shape_of(layouts[0]), (Numbers{4, 30}));
    EXPECT_EQ(strides_of(layouts[0]), (Numbers{120, 4}));
    EXPECT_EQ(strides_of(layouts[1]), (Numbers{0, 4}));
}

TEST(Layout, SortsAxesAsTheFirstLiesInMemory) {
    std::array<Layout, 2> layouts = {strided({2, 3}, {-4, 8}), strided({2, 3}, {12, 4})};
    std::array<std::int64_t, 2> offsets{};
    sort_axes(layouts, offsets);
    EXPECT_EQ(shape_of(layouts[0]), (Numbers{3, 2}));
    EXPECT_EQ(strides_of(layouts[0]), (Numbers{8, 4})); // no longer reversed
    EXPECT_EQ(strides_of(layouts[1]), (Numbers{4, -12}));
    EXPECT_EQ(offsets, (std::array<std::int64_t, 2>{-4, 12}));
}

TEST(Layout, ReturnsTheBytesThatItAccesses) {
    const Layout::ByteRange range = strided({3, 2}, {-8, 4}).byte_range(4);
    EXPECT_EQ(range.begin, -16);
    EXPECT_EQ(range.end, 8);
    const Layout::ByteRange nothing = of_shape({0, 3}).byte_range(4);
    EXPECT_EQ(nothing.begin, nothing.end);
    EXPECT_TRUE(strided({2, 3}, {4, 8}).is_dense(4));
    EXPECT_FALSE(strided({2, 3}, {24, 8}).is_dense(4));
    EXPECT_EQ(strides_of(strided({2, 3}, {16, 400}).dense(4)), (Numbers{4, 8}));
}

TEST(Layout, ShapesAreWrittenAsTuples) {
    EXPECT_EQ(shape_text(Numbers{}), "()");
    EXPECT_EQ(shape_text(Numbers{5}), "(5,)");
    EXPECT_EQ(shape_text(Numbers{2, 3}), "(2, 3)");
}

TEST(DTypes, PromoteAsNumpysDo) {
    using enum ScalarType;
    struct Row {
        ScalarType a, b, result;
    };
    for (const Row &row : {Row{Bool, Int8, Int8},
                           {Int8, UInt8, Int16},
                           {UInt32, Int32, Int64},
                           {UInt64, Int64, Float64},
                           {UInt16, Float16, Float32},
                           {Int8, Float16, Float16},
                           {Int32, Float32, Float64},
                           {Float16, BFloat16, Float32},
                           {Float64, Complex64, Complex128},
                           {Int16, Complex64, Complex64}}) {
        EXPECT_EQ(promote(row.a, row.b), row.result)
            << numpy_name(row.a) << " and " << numpy_name(row.b);
        EXPECT_EQ(promote(row.b, row.a), row.result);
    }
    EXPECT_EQ(promote_weak(Int8, TypeClass::Signed), Int8);
    EXPECT_EQ(promote_weak(Int8, TypeClass::Float), Float64);
    EXPECT_EQ(promote_weak(Float16, TypeClass::Float), Float16);
    EXPECT_EQ(promote_weak(Float32, TypeClass::Complex), Complex64);
    EXPECT_EQ(promote_weak(Bool, TypeClass::Signed), Int64);
}

TEST(DTypes, CastByTheRules) {
    using enum ScalarType;
    EXPECT_TRUE(can_cast(Int32, Float64, Casting::Safe));
    EXPECT_FALSE(can_cast(Int64, Float32, Casting::Safe));
    EXPECT_TRUE(can_cast(Float64, Float16, Casting::SameKind));
    EXPECT_FALSE(can_cast(Float32, Int64, Casting::SameKind));
    EXPECT_TRUE(can_cast(Complex128, Bool, Casting::Unsafe));
    EXPECT_FALSE(can_cast(Int32, Int64, Casting::No));
    for (int i = 0; i < scalar_type_count; ++i) {
        const auto type = static_cast<ScalarType>(i);
        EXPECT_TRUE(can_cast(type, type, Casting::No)) << numpy_name(type);
        EXPECT_EQ(promote(type, type), type) << numpy_name(type);
        EXPECT_GT(item_size(type), 0u);
    }
    EXPECT_EQ(DType::opaque(12).item_size(), 12u);
    EXPECT_NE(DType::opaque(12), DType::opaque(8));
}

TEST(Scalars, FitOrAreErrors) {
    EXPECT_TRUE(Scalar::weak(std::int64_t{127}).fits(ScalarType::Int8));
    EXPECT_FALSE(Scalar::weak(std::int64_t{128}).fits(ScalarType::Int8));
    EXPECT_FALSE(Scalar::weak(std::int64_t{-1}).fits(ScalarType::UInt64));
    EXPECT_TRUE(Scalar::weak(std::uint64_t{1} << 63).fits(ScalarType::UInt64));
    EXPECT_FALSE(Scalar::weak(std::uint64_t{1} << 63).fits(ScalarType::Int64));
    std::array<std::int8_t, 16> bytes{};
    Scalar::weak(std::int64_t{-5}).write(ScalarType::Int8, bytes.data());
    EXPECT_EQ(bytes[0], -5);
    EXPECT_THROW(Scalar::weak(std::int64_t{300}).write(ScalarType::UInt8, bytes.data()),
                 ScalarOverflow);
    std::array<float, 4> pair{};
    Scalar::weak(1.5, -2.0).write(ScalarType::Complex64, pair.data());
    EXPECT_THAT(pair, ElementsAre(1.5f, -2.0f, 0.0f, 0.0f));
}

} // namespace
} // namespace pycuda
