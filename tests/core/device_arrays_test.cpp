// device_arrays_test.cpp -- arrays and their operations, only with C++.
#include "array_fixture.h"

#include <pycuda/array_fusion.h>
#include <pycuda/array_gather.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace pycuda {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;

TEST_F(DeviceArrays, AddWithBroadcastingAndNumbers) {
    const Array x = ramp({2, 3}), row = ramp({3});
    EXPECT_THAT(values<float>(apply_to(Operation::Add, {x, row})), ElementsAre(0, 2, 4, 3, 5, 7));
    const Array twice = apply_to(Operation::Multiply, {x, Scalar::weak(2.0)});
    EXPECT_EQ(twice.scalar_type(), ScalarType::Float32); // a Python number is a weak scalar
    EXPECT_THAT(values<float>(twice), ElementsAre(0, 2, 4, 6, 8, 10));
    const Array wide = apply_to(Operation::Multiply, {x, Scalar::of(2.0, ScalarType::Float64)});
    EXPECT_EQ(wide.scalar_type(), ScalarType::Float64);
}

TEST_F(DeviceArrays, KeepTheOrderOfAxes) {
    const Array t = transposed(ramp({2, 3}));
    EXPECT_THAT(values<float>(t), ElementsAre(0, 3, 1, 4, 2, 5));
    const Array negative = apply_to(Operation::Negative, {t});
    EXPECT_TRUE(negative.is_f_contiguous());
    EXPECT_THAT(values<float>(negative), ElementsAre(0, -3, -1, -4, -2, -5));
}

TEST_F(DeviceArrays, MixTypes) {
    const Array a = array<std::int8_t>({-1, 100}, {2});
    const Array b = array<std::uint8_t>({255, 100}, {2});
    const Array sum = apply_to(Operation::Add, {a, b});
    EXPECT_EQ(sum.scalar_type(), ScalarType::Int16);
    const Array quotient = apply_to(Operation::Divide, {a, b});
    EXPECT_EQ(quotient.scalar_type(), ScalarType::Float64);
    EXPECT_THAT(values<double>(quotient), ElementsAre(-1.0 / 255, 1.0));
}

TEST_F(DeviceArrays, WriteWhereTheMaskIsTrue) {
    const Array x = ramp({4}), out = array<float>({9, 9, 9, 9}, {4});
    const Array mask = array<std::uint8_t>({1, 0, 0, 1}, {4}, ScalarType::Bool);
    ApplyOptions options{.stream = stream};
    options.out = &out;
    options.where = &mask;
    apply_to(Operation::Square, {x}, options);
    EXPECT_THAT(values<float>(out), ElementsAre(0, 9, 9, 9));
}

TEST_F(DeviceArrays, OverlapIsAsIfTheInputWereCopied) {
    const Array x = ramp({6});
    const Layout five(std::array<std::int64_t, 1>{5}, std::array<std::int64_t, 1>{4});
    const Array later = x.view(five, 4);
    const Array earlier = x.view(five);
    assign(later, earlier, Casting::Unsafe, stream);
    EXPECT_THAT(values<float>(x), ElementsAre(0, 0, 1, 2, 3, 4));
}

TEST_F(DeviceArrays, ReduceOverAxes) {
    const Array x = ramp({2, 3, 4});
    ReduceOptions options{.stream = stream};
    options.axes = 0b101;
    EXPECT_THAT(values<float>(reduce_one(Reduction::Sum, x, options)), ElementsAre(60, 92, 124));
    options.keep_axes = true;
    const Array kept = reduce_one(Reduction::Max, x, options);
    EXPECT_THAT(kept.shape(), ElementsAre(1, 3, 1));
    EXPECT_THAT(values<float>(kept), ElementsAre(15, 19, 23));
    EXPECT_THAT(values<std::int64_t>(reduce_one(Reduction::ArgMax, x)), ElementsAre(23));
}

TEST_F(DeviceArrays, LongSumsAreAccurateAndTheSameAgain) {
    const std::size_t count = 1 << 20;
    const Array x = array(std::vector<float>(count, 0.1f), {static_cast<std::int64_t>(count)});
    const float first = values<float>(reduce_one(Reduction::Sum, x))[0];
    EXPECT_NEAR(first, 0.1f * static_cast<double>(count),
                0.05); // a sequential sum would be off by 600
    for (int again = 0; again < 5; ++again)
        EXPECT_EQ(values<float>(reduce_one(Reduction::Sum, x))[0], first);
}

TEST_F(DeviceArrays, GatherAndScatter) {
    const Array x = ramp({5});
    const Array offsets = array<std::int64_t>({16, 0, 8}, {3});
    const std::int64_t three[] = {3}, none[] = {0};
    const Array base = x.view(Layout(three, none));
    const Array taken =
        Array::empty(ArrayContext::current(), three, ScalarType::Float32, Order::C, stream);
    gather(taken, base, offsets, stream);
    EXPECT_THAT(values<float>(taken), ElementsAre(4, 0, 2));
    scatter(base, offsets, array<float>({7, 8, 9}, {3}), stream);
    EXPECT_THAT(values<float>(x), ElementsAre(8, 1, 9, 3, 7));
}

TEST_F(DeviceArrays, NextOfSixteenBits) {
    const std::uint16_t one = 0x3c00, largest = 0x7bff, smallest = 1, zero = 0, below = 0xbc00;
    const Array from =
        array<std::uint16_t>({one, largest, zero, smallest, below}, {5}, ScalarType::Float16);
    const Array up = apply_to(Operation::Nextafter, {from, Scalar::weak(INFINITY)});
    EXPECT_EQ(up.scalar_type(), ScalarType::Float16);
    EXPECT_THAT(values<std::uint16_t>(up),
                ElementsAreArray({0x3c01, 0x7c00, 0x0001, 0x0002, 0xbbff}));
}

TEST_F(DeviceArrays, WithoutElements) {
    const Array none =
        Array::empty(ArrayContext::current(), Numbers{0, 3}, ScalarType::Float32, Order::C, stream);
    EXPECT_EQ(apply_to(Operation::Exp, {none}).size(), 0u);
    ReduceOptions rows{.stream = stream};
    rows.axes = 1;
    EXPECT_THAT(values<float>(reduce_one(Reduction::Sum, none, rows)), ElementsAre(0, 0, 0));
    EXPECT_THROW(reduce_one(Reduction::Min, none), std::invalid_argument);
}

/// Only this test runs the form that the device does not use.
TEST_F(DeviceArrays, PackedAndRolledKernelsComputeTheSame) {
    auto bytes_of = [&](const Array &result) {
        return values<std::uint8_t>(result.view(
            Layout::contiguous(Numbers{std::int64_t(result.bytes())}, 1), ScalarType::UInt8));
    };
    auto same = [&](Operation operation, std::initializer_list<Operand> operands) {
        const auto bytes = [&] {
            return bytes_of(apply_to(operation, operands, {.stream = stream}));
        };
        return in_form(KernelForm::Packed, bytes) == in_form(KernelForm::Rolled, bytes);
    };
    for (std::int64_t size : {1, 7, 2051}) {
        std::vector<float> numbers(static_cast<std::size_t>(size));
        std::vector<std::int8_t> small(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = (static_cast<float>(i) - 5) * 1.37f;
            small[i] = static_cast<std::int8_t>(i * 37 + 11);
        }
        const Array x = array(numbers, {size}), n = array(small, {size});
        EXPECT_TRUE(same(Operation::Multiply, {x, x})) << size;
        EXPECT_TRUE(same(Operation::Sin, {x})) << size;
        EXPECT_TRUE(same(Operation::FloorDivide, {n, Scalar::weak(std::int64_t{7})})) << size;
        EXPECT_TRUE(same(Operation::Add, {n, n})) << size;
        EXPECT_TRUE(same(Operation::Remainder, {n, x})) << size;
        const Array later = x.view(Layout::contiguous(Numbers{size - 1}, 4), 4);
        EXPECT_TRUE(same(Operation::Cos, {later})) << size; // not aligned to 16 bytes
    }
    const Array matrix = ramp({40, 50});
    EXPECT_TRUE(same(Operation::Sin, {transposed(matrix)}));
    EXPECT_TRUE(same(Operation::Add, {matrix, ramp({50})}));
    EXPECT_TRUE(same(Operation::Add, {ramp({50}), matrix}));
    EXPECT_TRUE(same(Operation::Maximum, {transposed(matrix), ramp({50, 1})}));
    EXPECT_TRUE(same(Operation::Add, {ramp({3, 1, 40}), ramp({3, 5, 1})}));
    // Large, so that a thread of a packed kernel processes several rows.
    EXPECT_TRUE(same(Operation::Multiply, {ramp({70001, 33}), ramp({33})}));
    EXPECT_TRUE(same(Operation::Multiply, {ramp({70001, 33}), ramp({70001, 1})}));
}

TEST_F(DeviceArrays, PackedRowsStoreWhereTheMaskIsTrue) {
    for (KernelForm form : {KernelForm::Packed, KernelForm::Rolled}) {
        const Array x = ramp({3, 40}), out = ramp({3, 40});
        std::vector<std::uint8_t> odd(40);
        for (std::size_t i = 0; i < odd.size(); ++i)
            odd[i] = i % 2;
        const Array mask = array(odd, {40}, ScalarType::Bool);
        ApplyOptions options{.stream = stream};
        const KernelChoiceScope scope({.form = form});
        options.out = &out;
        options.where = &mask;
        apply_to(Operation::Add, {x, ramp({40})}, options);
        const std::vector<float> result = values<float>(out);
        for (std::size_t i = 0; i < result.size(); ++i)
            EXPECT_EQ(result[i], static_cast<float>(i + (i % 2 ? i % 40 : 0))) << i;
    }
}

TEST_F(DeviceArrays, PackedAndRolledReductionsComputeTheSame) {
    auto same = [&]<class Result>(Result, Reduction reduction, const Array &x,
                                  ReduceOptions options = {.stream = stream}) {
        const auto result = [&] { return values<Result>(reduce_one(reduction, x, options)); };
        return in_form(KernelForm::Packed, result) == in_form(KernelForm::Rolled, result);
    };
    // Fewer elements than states; no whole step of vectors; some of both; several blocks.
    for (std::int64_t size : {1, 700, 2051, 8191, 20011}) {
        std::vector<float> numbers(static_cast<std::size_t>(size));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = static_cast<float>(i % 97) * 1.37f - static_cast<float>(i % 13);
        const Array x = array(numbers, {size});
        EXPECT_TRUE(same(0.f, Reduction::Sum, x)) << size;
        EXPECT_TRUE(same(0.f, Reduction::Variation, x)) << size;
        EXPECT_TRUE(same(std::int64_t{}, Reduction::ArgMax, x)) << size;
        EXPECT_TRUE(same(std::uint8_t{}, Reduction::All, x)) << size;
        numbers[numbers.size() / 2] = NAN;
        EXPECT_TRUE(same(std::int64_t{}, Reduction::ArgMax, array(numbers, {size}))) << size;
        const Array later = x.view(Layout::contiguous(Numbers{size - 1}, 4), 4);
        if (size > 1) {
            EXPECT_TRUE(same(0.f, Reduction::Sum, later)) << size; // not aligned to 16 bytes
        }
    }
    std::vector<std::int16_t> small(20011);
    for (std::size_t i = 0; i < small.size(); ++i)
        small[i] = static_cast<std::int16_t>(i * 37);
    EXPECT_TRUE(same(0., Reduction::Variation, array(small, {20011})));
    ReduceOptions rows{.stream = stream};
    rows.axes = 2;
    EXPECT_TRUE(same(0.f, Reduction::Variation, ramp({70, 300}), rows));
    EXPECT_TRUE(same(0.f, Reduction::Variation, transposed(ramp({2051, 37})), rows));
    EXPECT_TRUE(same(0.f, Reduction::Sum, ramp({70, 300}), rows));
    EXPECT_TRUE(same(0.f, Reduction::Sum, transposed(ramp({70, 300})), rows));
    // Rows and columns of one block, without a step of vectors; and with a mask.
    EXPECT_TRUE(same(0.f, Reduction::Sum, ramp({3, 2051}), rows));
    EXPECT_TRUE(same(0.f, Reduction::Sum, transposed(ramp({2051, 37})), rows));
    const Array mask = array(std::vector<std::uint8_t>{1, 0, 1}, {3, 1}, ScalarType::Bool);
    rows.where = &mask;
    EXPECT_TRUE(same(0.f, Reduction::Sum, ramp({3, 2051}), rows));
}

TEST_F(DeviceArrays, PackedAndRolledReductionsOfSteps) {
    std::vector<float> numbers(100000);
    for (std::size_t i = 0; i < numbers.size(); ++i)
        numbers[i] = static_cast<float>(i % 97) * 1.37f - static_cast<float>(i % 13);
    const Array all = array(numbers, {100000});
    auto same = [&]<class Result>(Result, Reduction reduction,
                                  std::initializer_list<std::array<std::int64_t, 2>> axes,
                                  unsigned reduced) {
        Layout layout;
        for (const auto &[extent, step] : axes)
            layout.append(extent, 4 * step);
        const Array x = all.view(layout, 4 * 50000);
        ReduceOptions options{.stream = stream};
        options.axes = reduced;
        const auto result = [&] { return values<Result>(reduce_one(reduction, x, options)); };
        return in_form(KernelForm::Packed, result) == in_form(KernelForm::Rolled, result);
    };
    for (std::int64_t step : {1, 2, 3, 4, 5, -1, -2}) {
        // A thread of a team has up to four elements, or more with a rest; several chunks.
        for (std::int64_t size : {3, 255, 1000, 1023, 1024, 1030, 2051, 9001}) {
            EXPECT_TRUE(same(0.f, Reduction::Sum, {{size, step}}, 1)) << size << " by " << step;
            EXPECT_TRUE(same(0.f, Reduction::Variation, {{size, step}}, 1)) << size;
            EXPECT_TRUE(same(std::int64_t{}, Reduction::ArgMax, {{size, step}}, 1)) << size;
        }
        EXPECT_TRUE(same(0.f, Reduction::Sum, {{3, 5000}, {1051, step}}, 2))
            << step; // one team a row
        EXPECT_TRUE(same(0.f, Reduction::Sum, {{70, 300}, {70, step}}, 2)) << step; // a warp
        EXPECT_TRUE(same(0.f, Reduction::Sum, {{70, 300}, {70, step}}, 1)) << step; // columns
        EXPECT_TRUE(same(0.f, Reduction::Sum, {{70, 300}, {64, step}}, 1)) << step;
        EXPECT_TRUE(same(0.f, Reduction::Sum, {{5, 8000}, {3, 2000}, {512, step}}, 5)) << step;
        EXPECT_TRUE(same(0.f, Reduction::Sum, {{5, 8000}, {3, 2000}, {100, step}}, 5)) << step;
    }
}

/// They process bytes in words, which begin at aligned addresses.
TEST_F(DeviceArrays, RolledReductionsOfBytes) {
    auto reduced = [&]<class Result>(Result, Reduction reduction, const Array &x) {
        ReduceOptions options{.stream = stream};
        const KernelChoiceScope scope({.form = KernelForm::Rolled});
        return values<Result>(reduce_one(reduction, x, options)).at(0);
    };
    // Only bytes before the first word; one word; more than a block's chunk.
    for (std::size_t size : {3, 8, 140001}) {
        std::vector<std::uint8_t> truths(size);
        std::vector<std::int8_t> numbers(size);
        for (std::size_t i = 0; i < size; ++i) {
            truths[i] = i % 3 == 0;
            numbers[i] = static_cast<std::int8_t>(i * 37 - 128);
        }
        const Numbers shape{static_cast<std::int64_t>(size)};
        const Array truth = array(truths, shape, ScalarType::Bool), number = array(numbers, shape);
        for (std::size_t first : {0, 1}) {
            auto later = [&](const Array &x) {
                return x.view(Layout::contiguous(Numbers{shape[0] - std::int64_t(first)}, 1),
                              std::int64_t(first));
            };
            const auto from = static_cast<std::ptrdiff_t>(first);
            EXPECT_EQ(reduced(std::int64_t{}, Reduction::CountNonzero, later(truth)),
                      std::count(truths.begin() + from, truths.end(), 1));
            EXPECT_EQ(reduced(std::int64_t{}, Reduction::Sum, later(number)),
                      std::accumulate(numbers.begin() + from, numbers.end(), std::int64_t{}));
            EXPECT_EQ(reduced(std::uint8_t{}, Reduction::Any, later(truth)),
                      first == 0 || size > 3);
            EXPECT_EQ(reduced(std::uint8_t{}, Reduction::All, later(truth)), 0);
        }
        for (std::uint8_t value : {0, 1}) {
            const Array same =
                array(std::vector<std::uint8_t>(size, value), shape, ScalarType::Bool);
            EXPECT_EQ(reduced(std::uint8_t{}, Reduction::Any, same), value);
            EXPECT_EQ(reduced(std::uint8_t{}, Reduction::All, same), value);
        }
        const Array least = array(std::vector<std::int8_t>(size, -128), shape);
        EXPECT_EQ(reduced(std::int64_t{}, Reduction::Sum, least), -128 * std::int64_t(size));
    }
}

TEST_F(DeviceArrays, PackedAndRolledFusionsComputeTheSame) {
    const Fusion fusion(2,
                        {{Operation::Multiply, {Fusion::constant(0), 0}},
                         {Operation::Exp, {2}},
                         {Operation::Add, {3, 1}}},
                        {4, 2}, {Scalar::weak(-0.01)});
    for (std::int64_t size : {1, 7, 2051}) {
        const Array x = ramp({size}), y = ramp({1});
        const Array *inputs[] = {&x, &y};
        const auto run = [&] { return fusion.run(inputs, {}); };
        const auto packed = in_form(KernelForm::Packed, run);
        const auto rolled = in_form(KernelForm::Rolled, run);
        for (std::size_t k = 0; k < 2; ++k)
            EXPECT_EQ(values<float>(packed[k]), values<float>(rolled[k])) << size;
        EXPECT_FLOAT_EQ(values<float>(rolled[0]).back(), std::exp(-0.01f * float(size - 1)));
    }
}

TEST_F(DeviceArrays, FusionsEqualTheirOperationsInEveryLayout) {
    const Scalar two = Scalar::weak(2.0);
    const Fusion fusion(2,
                        {{Operation::Multiply, {0, Fusion::constant(0)}},
                         {Operation::Add, {2, 1}},
                         {Operation::Sin, {3}}},
                        {3, 4}, {two});
    const Array matrix = ramp({40, 50}), line = ramp({50 * 40 + 1});
    const Array later = line.view(of({40, 50}), 4); // not aligned to 16 bytes
    const Array backwards =
        line.view(Layout(Numbers{40, 50}, Numbers{200, -4}), 49 * std::int64_t(sizeof(float)));
    const std::pair<Array, Array> pairs[] = {
        {matrix, later},
        {matrix, ramp({50})}, // equal in all rows
        {ramp({50}), matrix},
        {matrix, ramp({40, 1})},
        {transposed(matrix), ramp({50, 1})},
        {matrix, transposed(ramp({50, 40}))},
        {backwards, backwards},
        {backwards, matrix},
        {ramp({3, 1, 7}), ramp({3, 5, 1})}, // a short last axis
        {ramp({70001, 33}), ramp({33})},    // several rows per thread
    };
    for (const auto &[x, y] : pairs)
        for (KernelForm form : {KernelForm::Packed, KernelForm::Rolled}) {
            const Array *inputs[] = {&x, &y};
            const auto fused = in_form(form, [&] { return fusion.run(inputs, {}); });
            const Array sum =
                apply_to(Operation::Add, {apply_to(Operation::Multiply, {x, two}), y});
            const auto what = shape_text(x.shape()) + shape_text(y.shape());
            EXPECT_EQ(values<float>(fused[0]), values<float>(sum)) << what;
            EXPECT_EQ(values<float>(fused[1]), values<float>(apply_to(Operation::Sin, {sum})))
                << what;
        }
}

TEST_F(DeviceArrays, ErrorsNameTheMismatch) {
    const Array x = ramp({2, 3}), y = ramp({4}), bytes = array<std::int8_t>({1}, {1});
    EXPECT_THAT(message_of<std::invalid_argument>([&] { apply_to(Operation::Add, {x, y}); }),
                HasSubstr("(2, 3)"));
    EXPECT_THROW(apply_to(Operation::BitwiseAnd, {x, x}), UnsupportedTypes);
    EXPECT_THROW(apply_to(Operation::Add, {bytes, Scalar::weak(std::int64_t{1000})}),
                 ScalarOverflow);
    ApplyOptions options{.stream = stream};
    options.out = &bytes;
    EXPECT_THAT(message_of<UnsupportedTypes>([&] { apply_to(Operation::Sqrt, {y}, options); }),
                HasSubstr("float32"));
}

} // namespace
} // namespace pycuda
