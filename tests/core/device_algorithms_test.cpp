// device_algorithms_test.cpp -- sorts, selections, scans, products and indexing, only with C++.
#include "array_fixture.h"

#include <pycuda/array_gather.h>
#include <pycuda/array_index.h>
#include <pycuda/array_nonzero.h>
#include <pycuda/array_product.h>
#include <pycuda/array_scan.h>
#include <pycuda/array_sort.h>
#include <pycuda/fused_program.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>
#include <vector>

namespace pycuda {
namespace {

using testing::ElementsAre;
using testing::ElementsAreArray;

class DeviceAlgorithms : public DeviceArrays {
  protected:
    /// Integers with many duplicates.
    static std::vector<float> shuffled(std::size_t count) {
        std::mt19937 random(7);
        std::vector<float> values(count);
        for (float &value : values)
            value = static_cast<float>(random() % (count / 2 + 1)) - static_cast<float>(count / 4);
        return values;
    }
};

TEST_F(DeviceAlgorithms, BothSortsEqualTheHostsOrder) {
    for (std::size_t count : {1u, 33u, 5000u, 70000u}) {
        const std::vector<float> host = shuffled(count);
        const Array x = array(host, {static_cast<std::int64_t>(count)});
        std::vector<float> sorted = host;
        std::ranges::sort(sorted);
        std::vector<std::int64_t> places(count);
        std::iota(places.begin(), places.end(), 0);
        std::ranges::stable_sort(places, {}, [&](std::int64_t k) { return host[k]; });
        for (SortMethod method : {SortMethod::Blocks, SortMethod::Serial}) {
            const KernelChoiceScope scope({.sort = method});
            EXPECT_EQ(values<float>(sort(x, 0, {.stream = stream})), sorted) << count;
            EXPECT_EQ(values<std::int64_t>(argsort(x, 0, {.stream = stream})), places) << count;
        }
        std::ranges::reverse(sorted);
        EXPECT_EQ(values<float>(sort(x, 0, {.descending = true, .stream = stream})), sorted)
            << count;
    }
}

TEST_F(DeviceAlgorithms, SortAlongEachAxisOfAnyLayout) {
    const Array x = array<float>({3, 1, 2, 9, 7, 8}, {2, 3});
    EXPECT_THAT(values<float>(sort(x, 1, {.stream = stream})), ElementsAre(1, 2, 3, 7, 8, 9));
    EXPECT_THAT(values<float>(sort(x, 0, {.stream = stream})), ElementsAre(3, 1, 2, 9, 7, 8));
    EXPECT_THAT(values<float>(sort(transposed(x), 0, {.stream = stream})),
                ElementsAre(1, 7, 2, 8, 3, 9));
    EXPECT_THROW(sort(x, 2, {.stream = stream}), std::invalid_argument);
}

TEST_F(DeviceAlgorithms, NansSortLastAndZerosBySign) {
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::vector<float> sorted =
        values<float>(sort(array<float>({nan, 0.0f, 1, -0.0f, -2}, {5}), 0, {.stream = stream}));
    EXPECT_THAT(std::vector(sorted.begin(), sorted.end() - 1), ElementsAre(-2, 0, 0, 1));
    EXPECT_TRUE(std::signbit(sorted[1]));
    EXPECT_FALSE(std::signbit(sorted[2]));
    EXPECT_TRUE(std::isnan(sorted[4]));
}

TEST_F(DeviceAlgorithms, SelectByRank) {
    const std::vector<float> host = shuffled(100000);
    const Array x = array(host, {100000});
    std::vector<float> sorted = host;
    std::ranges::sort(sorted);
    const std::int64_t ranks[] = {0, 49999, 99999};
    EXPECT_THAT(values<float>(select(x, 0, ranks, {.stream = stream})),
                ElementsAre(sorted[0], sorted[49999], sorted[99999]));
    const std::vector<float> parted = values<float>(partition(x, 0, 1234, {.stream = stream}));
    EXPECT_EQ(parted[1234], sorted[1234]);
    EXPECT_LE(*std::max_element(parted.begin(), parted.begin() + 1234), sorted[1234]);
    EXPECT_GE(*std::min_element(parted.begin() + 1234, parted.end()), sorted[1234]);
    std::vector<float> again = parted;
    std::ranges::sort(again);
    EXPECT_EQ(again, sorted);
    const std::vector<std::int64_t> places =
        values<std::int64_t>(argpartition(x, 0, 1234, {.stream = stream}));
    EXPECT_EQ(host[places[1234]], sorted[1234]);
    const std::int64_t outside[] = {100000};
    EXPECT_THROW(select(x, 0, outside, {.stream = stream}), std::out_of_range);
}

TEST_F(DeviceAlgorithms, SearchSorted) {
    const Array sorted = array<float>({1, 3, 3, 5}, {4});
    const Array wanted = array<float>({0, 3, 4, 9}, {4});
    EXPECT_THAT(values<std::int64_t>(search_sorted(sorted, wanted, SearchSide::Left, stream)),
                ElementsAre(0, 1, 3, 4));
    EXPECT_THAT(values<std::int64_t>(search_sorted(sorted, wanted, SearchSide::Right, stream)),
                ElementsAre(0, 3, 3, 4));
}

TEST_F(DeviceAlgorithms, ScansOfAnyLength) {
    for (std::size_t count : {1u, 31u, 4097u, 300000u}) {
        std::vector<std::int64_t> host(count), sums(count);
        for (std::size_t k = 0; k < count; ++k)
            host[k] = static_cast<std::int64_t>(k * 2654435761u % 1000) - 500;
        std::partial_sum(host.begin(), host.end(), sums.begin());
        const Array x = array(host, {static_cast<std::int64_t>(count)});
        for (KernelForm form : {KernelForm::Packed, KernelForm::Rolled}) {
            const KernelChoiceScope scope({.form = form});
            EXPECT_EQ(values<std::int64_t>(scan(Scan::Sum, x, 0, {.stream = stream})), sums)
                << count;
        }
        scan(Scan::Sum, x, 0, {.out = &x, .stream = stream});
        EXPECT_EQ(values<std::int64_t>(x), sums) << count;
    }
}

TEST_F(DeviceAlgorithms, ScansAlongEachAxis) {
    const Array x = array<float>({3, 1, 2, 1, 7, 1}, {2, 3});
    EXPECT_THAT(values<float>(scan(Scan::Sum, x, 0, {.stream = stream})),
                ElementsAre(3, 1, 2, 4, 8, 3));
    EXPECT_THAT(values<float>(scan(Scan::Prod, x, 1, {.stream = stream})),
                ElementsAre(3, 3, 6, 1, 7, 7));
    EXPECT_THAT(values<float>(scan(Scan::Max, transposed(x), 1, {.stream = stream})),
                ElementsAre(3, 3, 1, 7, 2, 2));
    EXPECT_THAT(values<float>(scan(Scan::Min, x, 1, {.stream = stream})),
                ElementsAre(3, 1, 1, 1, 1, 1));
    EXPECT_THROW(scan(Scan::Sum, x, 2, {.stream = stream}), std::invalid_argument);
}

TEST_F(DeviceAlgorithms, ProductsOfAnyShapeAndLayout) {
    for (const auto &[rows, inner, columns] :
         {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 2}, {65, 33, 70}, {128, 17, 1}}) {
        const std::vector<float> a = shuffled(rows * inner), b = shuffled(inner * columns);
        std::vector<float> expected(rows * columns);
        for (std::int64_t i = 0; i < rows; ++i)
            for (std::int64_t k = 0; k < inner; ++k)
                for (std::int64_t j = 0; j < columns; ++j)
                    expected[i * columns + j] += a[i * inner + k] * b[k * columns + j];
        const Array left = array(a, {rows, inner}), right = array(b, {inner, columns});
        for (bool own : {false, true}) {
            const KernelChoiceScope scope({.own_product = own});
            EXPECT_EQ(values<float>(matrix_product(left, right, {.stream = stream})), expected);
            // Transposes: (a b)^T = b^T a^T.
            const Array turned =
                matrix_product(transposed(right), transposed(left), {.stream = stream});
            EXPECT_EQ(values<float>(transposed(turned)), expected);
        }
    }
}

TEST_F(DeviceAlgorithms, ProductsBroadcastStacks) {
    const Array a = ramp({2, 1, 2, 2}), b = ramp({3, 2, 1});
    const Array product = matrix_product(a, b, {.stream = stream});
    EXPECT_THAT(product.shape(), ElementsAre(2, 3, 2, 1));
    EXPECT_THAT(values<float>(product), ElementsAre(1, 3, 3, 13, 5, 23, 5, 7, 23, 33, 41, 59));
    EXPECT_THROW(matrix_product(a, ramp({3, 1}), {.stream = stream}), std::invalid_argument);
}

TEST_F(DeviceAlgorithms, PartsOfArrays) {
    const Array x = ramp({3, 4});
    EXPECT_THAT(values<float>(part(x, {Index::slice({}, {}, -1), Index(1)})), ElementsAre(9, 5, 1));
    EXPECT_THAT(values<float>(part(x, {Index::rest(), Index::slice(1, {}, 2)})),
                ElementsAre(1, 3, 5, 7, 9, 11));
    EXPECT_THROW(part(x, {Index(3)}), std::out_of_range);
}

TEST_F(DeviceAlgorithms, IndexedElementsAreReadAndSet) {
    const Array x = ramp({3, 4});
    const Array rows = array<std::int64_t>({0, -1, 2}, {3});
    const Array columns = array<std::int64_t>({1, -4, 3}, {3});
    const IndexedAxis axes[] = {{&rows, 3, 16}, {&columns, 4, 4}};
    const Array taken = array<float>({0, 0, 0}, {3});
    EXPECT_EQ(gather_indexed(taken, x, axes, stream), -1);
    EXPECT_THAT(values<float>(taken), ElementsAre(1, 8, 11));
    EXPECT_EQ(scatter_indexed(x, array<float>({-1, -2, -3}, {3}), axes, stream), -1);
    EXPECT_THAT(values<float>(x), ElementsAre(0, -1, 2, 3, 4, 5, 6, 7, -2, 9, 10, -3));
    const std::int64_t none[] = {0};
    const Array one = array<float>({50}, {1}).view(Layout(rows.shape(), none));
    EXPECT_EQ(scatter_indexed(x, one, axes, stream), -1);
    EXPECT_THAT(values<float>(x), ElementsAre(0, 50, 2, 3, 4, 5, 6, 7, 50, 9, 10, 50));
}

TEST_F(DeviceAlgorithms, NothingIsSetIfAnIndexIsOutside) {
    const Array x = ramp({4});
    const Array places = array<std::int64_t>({0, 4}, {2});
    const IndexedAxis axes[] = {{&places, 4, 4}};
    EXPECT_EQ(scatter_indexed(x, array<float>({-1, -2}, {2}), axes, stream), 0);
    EXPECT_THAT(values<float>(x), ElementsAre(0, 1, 2, 3));
    const Array taken = array<float>({0, 0}, {2});
    EXPECT_EQ(gather_indexed(taken, x, axes, stream), 0);
}

TEST_F(DeviceAlgorithms, ScatterReadsBeforeItWrites) {
    const Array x = ramp({6});
    const Array places = array<std::int64_t>({5, 4, 3, 2, 1, 0}, {6});
    const IndexedAxis axes[] = {{&places, 6, 4}};
    EXPECT_EQ(scatter_indexed(x, x, axes, stream), -1);
    EXPECT_THAT(values<float>(x), ElementsAre(5, 4, 3, 2, 1, 0));
}

TEST_F(DeviceAlgorithms, IndicesOfNonzeroElements) {
    for (std::int64_t count : {1, 500, 4096, 10001}) {
        std::vector<std::uint8_t> host(count);
        std::vector<std::int64_t> places;
        for (std::int64_t k = 0; k < count; ++k)
            if (k * 40503 % 3 == 0) {
                host[k] = static_cast<std::uint8_t>(1 << k % 8);
                places.push_back(k);
            }
        EXPECT_EQ(values<std::int64_t>(nonzero(array(host, {count}), stream)), places) << count;
    }
    EXPECT_THAT(values<std::int64_t>(nonzero(array<float>({0, 1, 0, 2, 3, 0}, {2, 3}), stream)),
                ElementsAre(0, 1, 1, 1, 0, 1));
}

TEST_F(DeviceAlgorithms, TransposedOperandsOfManyElements) {
    const std::int64_t rows = 300, columns = 517;
    const std::vector<float> a = shuffled(rows * columns), b = shuffled(rows * columns);
    const Array x = array(a, {rows, columns}), y = array(b, {columns, rows});
    std::vector<float> sums(rows * columns);
    for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < columns; ++j)
            sums[i * columns + j] = a[i * columns + j] + b[j * rows + i];
    for (KernelForm form : {KernelForm::Packed, KernelForm::Rolled}) {
        const Array out = array(std::vector<float>(rows * columns), {rows, columns});
        const KernelChoiceScope scope({.form = form});
        apply_to(Operation::Add, {x, transposed(y)}, {.out = &out, .stream = stream});
        EXPECT_EQ(values<float>(out), sums);
    }
}

TEST_F(DeviceAlgorithms, KnownStepsAlongTheLastAxis) {
    const Array x = ramp({4, 600});
    for (std::int64_t step : {-2, -1, 0, 2, 3, 4, 5}) {
        const std::int64_t shape[] = {4, 100}, strides[] = {2400, 4 * step};
        const Array strided = x.view(Layout(shape, strides), step < 0 ? 4 * 200 : 0);
        std::vector<float> sums;
        for (int row = 0; row < 4; ++row)
            for (int k = 0; k < 100; ++k)
                sums.push_back(static_cast<float>(2 * (600 * row) + (step < 0 ? 200 : 0) +
                                                  static_cast<int>(step) * k + k));
        const std::int64_t unit[] = {2400, 4};
        const Array plain = x.view(Layout(shape, unit));
        for (KernelForm form : {KernelForm::Packed, KernelForm::Rolled}) {
            const KernelChoiceScope scope({.form = form});
            EXPECT_EQ(values<float>(apply_to(Operation::Add, {strided, plain}, {.stream = stream})),
                      sums)
                << step;
        }
    }
}

/// exp(x - max) / sum(exp(x - max)) along an axis, and the sums.
FusedProgram softmax(int axis) {
    const FusedReduction max{.reduction = Reduction::Max, .axes = {{axis}}, .keep_axes = true};
    const FusedReduction sum{.reduction = Reduction::Sum, .axes = {{axis}}, .keep_axes = true};
    const std::vector<FusedStep> steps = {{Operation::Subtract, {0, 1}}, {Operation::Exp, {2}}};
    return FusedProgram(
        1,
        {{Fusion(1, {}, {0}), {0}, max},
         {Fusion(2, steps, {3}), {0, 1}, sum},
         {Fusion(
              3,
              {{Operation::Subtract, {0, 1}}, {Operation::Exp, {3}}, {Operation::Divide, {4, 2}}},
              {5}),
          {0, 1, 2}}},
        {3, 2});
}

TEST_F(DeviceAlgorithms, RowsOfAFusedProgramAreTheSameInBothForms) {
    using Shape = std::vector<std::int64_t>;
    // A team of one thread, a warp, a block, and columns.
    for (const Shape &shape : {Shape{400, 5}, Shape{9, 200}, Shape{70, 700}, Shape{3, 3001}}) {
        const std::vector<float> host = shuffled(static_cast<std::size_t>(shape[0] * shape[1]));
        std::vector<float> scaled;
        for (float value : host)
            scaled.push_back(value / static_cast<float>(host.size()));
        const Array x = array(scaled, shape);
        for (int axis : {0, 1}) {
            const FusedProgram program = softmax(axis);
            const std::array inputs = {&x};
            const auto run = [&] { return program.run(inputs, {}); };
            const auto packed = in_form(KernelForm::Packed, run);
            const auto rolled = in_form(KernelForm::Rolled, run);
            EXPECT_EQ(values<float>(packed[0]), values<float>(rolled[0]));
            EXPECT_EQ(values<float>(packed[1]), values<float>(rolled[1]));
            const Array total = reduce(Reduction::Sum, std::array<const Array *, 1>{&packed[0]},
                                       {.axes = axis == 0 ? 1u : 2u, .stream = stream});
            for (float one : values<float>(total))
                EXPECT_NEAR(one, 1, 1e-5) << shape[0] << ' ' << shape[1] << ' ' << axis;
        }
    }
}

} // namespace
} // namespace pycuda
