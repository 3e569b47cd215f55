// device_kernels_test.cpp -- kernels from expressions, only with C++.
#include "device_fixture.h"

#include <array>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace pycuda {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DeviceKernels : public OnDevice {};

std::vector<float> ramp(std::size_t count) {
    std::vector<float> values(count);
    std::iota(values.begin(), values.end(), 1.0f);
    return values;
}

TEST(KernelArguments, AreReadAsDeclared) {
    const auto arguments = parse_kernel_arguments(
        "const float *__restrict__ x, map<int, 2> m, unsigned int n[] , T t");
    ASSERT_EQ(arguments.size(), 4u);
    EXPECT_EQ(arguments[0].type, "const float");
    EXPECT_EQ(arguments[0].name, "x");
    EXPECT_TRUE(arguments[0].is_vector());
    EXPECT_EQ(arguments[1].type, "map<int, 2>");
    EXPECT_FALSE(arguments[1].is_vector());
    EXPECT_EQ(arguments[2].type, "unsigned int");
    EXPECT_TRUE(arguments[2].is_vector());
    EXPECT_EQ(arguments[3].name, "t");
    EXPECT_TRUE(parse_kernel_arguments(" ").empty());
    EXPECT_THROW(parse_kernel_arguments("float"), std::invalid_argument);
    EXPECT_THROW(parse_kernel_arguments("float **x"), std::invalid_argument);
    EXPECT_THROW(parse_kernel_arguments("float *x,"), std::invalid_argument);
}

TEST(IndexRanges, HaveASize) {
    EXPECT_EQ((IndexRange{0, 10, 3}).size(), 4u);
    EXPECT_EQ((IndexRange{9, -1, -1}).size(), 10u);
    EXPECT_EQ((IndexRange{5, 5, 1}).size(), 0u);
    EXPECT_EQ((IndexRange{5, 0, 1}).size(), 0u);
    EXPECT_EQ((IndexRange{INT64_MIN, INT64_MAX, 1}).size(), UINT64_MAX);
}

TEST_F(DeviceKernels, ElementwiseOverFlatAndStridedArrays) {
    ElementwiseKernel axpy("float *z, float a, const float *x", "z[i] = a * x[i] + 1");
    const DeviceMemory x_memory = to_device(ramp(6));
    const DeviceMemory z_memory = to_device(std::vector<float>(6));
    const std::array<std::int64_t, 2> shape = {2, 3};
    const std::array<std::int64_t, 2> transposed = {4, 8};
    const ArrayView x{x_memory.get(), 4, shape, {}};
    const ArrayView z{z_memory.get(), 4, shape, transposed};
    axpy({}, x, 2.0f, x); // in place: 3 5 7 9 11 13
    axpy({}, z, 1.0f, x);
    std::vector<float> result(6);
    copy(result, z_memory);
    EXPECT_THAT(result, ElementsAre(4, 10, 6, 12, 8, 14));
}

TEST_F(DeviceKernels, ElementwiseMismatchIsAnError) {
    ElementwiseKernel copy_kernel("float *z, const float *x", "z[i] = x[i]");
    const std::array<std::int64_t, 1> four = {4};
    const std::array<std::int64_t, 1> five = {5};
    const DeviceMemory memory = to_device(ramp(5));
    const ArrayView z{memory.get(), 4, five, {}};
    const ArrayView x{memory.get(), 4, four, {}};
    EXPECT_THAT(message_of<std::invalid_argument>([&] { copy_kernel({}, z, x); }),
                HasSubstr("array 'x' has 4 elements, but the first array has 5"));
    EXPECT_THROW(copy_kernel({}, z), std::invalid_argument);
    EXPECT_THROW(ElementwiseKernel("int n", "n"), std::invalid_argument);
}

} // namespace
} // namespace pycuda
