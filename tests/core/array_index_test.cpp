// array_index_test.cpp -- parts of layouts by basic indices, with NumPy's rules.
#include <pycuda/array_index.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

namespace pycuda {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();

/// Shape, strides and offset of a part of 4-byte elements in C order.
struct Seen {
    Numbers shape, strides;
    std::int64_t offset;
    bool operator==(const Seen &) const = default;
};

void PrintTo(const Seen &seen, std::ostream *out) {
    *out << shape_text(seen.shape) << " " << shape_text(seen.strides) << " at " << seen.offset;
}

Seen seen(const Numbers &shape, const std::vector<Index> &indices) {
    const LayoutPart chosen = part(Layout::contiguous(shape, 4), indices);
    const Layout &layout = chosen.layout;
    return {{layout.shape().begin(), layout.shape().end()},
            {layout.strides().begin(), layout.strides().end()},
            chosen.offset};
}

TEST(ArrayIndex, Positions) {
    EXPECT_EQ(seen({3, 5}, {1}), (Seen{{5}, {4}, 20}));
    EXPECT_EQ(seen({3, 5}, {-1, -5}), (Seen{{}, {}, 40}));
    EXPECT_EQ(seen({3, 5}, {}), (Seen{{3, 5}, {20, 4}, 0}));
}

TEST(ArrayIndex, Slices) {
    EXPECT_EQ(seen({10}, {Index::slice(1, -1)}), (Seen{{8}, {4}, 4}));
    EXPECT_EQ(seen({10}, {Index::slice({}, {}, 3)}), (Seen{{4}, {12}, 0}));
    EXPECT_EQ(seen({10}, {Index::slice({}, {}, -1)}), (Seen{{10}, {-4}, 36}));
    EXPECT_EQ(seen({10}, {Index::slice(7, 2, -2)}), (Seen{{3}, {-8}, 28}));
    EXPECT_EQ(seen({10}, {Index::slice(-100, 100)}), (Seen{{10}, {4}, 0}));
    EXPECT_EQ(seen({3, 5}, {Index::slice(), Index::slice(2, 4)}), (Seen{{3, 2}, {20, 4}, 8}));
}

TEST(ArrayIndex, NothingSelectedBeginsAtTheStart) {
    EXPECT_EQ(seen({10}, {Index::slice(7, 3)}).shape, (Numbers{0}));
    EXPECT_EQ(seen({10}, {Index::slice(7, 3)}).offset, 0);
    EXPECT_EQ(seen({3, 0}, {2}).offset, 0);
    EXPECT_EQ(seen({0}, {Index::slice({}, {}, -1)}), (Seen{{0}, {-4}, 0}));
}

TEST(ArrayIndex, NumbersAtTheEndsOfTheirRange) {
    EXPECT_EQ(seen({10}, {Index::slice(kLowest, kHighest)}).shape, (Numbers{10}));
    EXPECT_EQ(seen({10}, {Index::slice({}, {}, kHighest)}).shape, (Numbers{1}));
    EXPECT_EQ(seen({10}, {Index::slice({}, {}, kLowest)}).shape, (Numbers{1}));
    EXPECT_THROW(seen({10}, {kLowest}), std::out_of_range);
}

TEST(ArrayIndex, RestAndNewAxes) {
    EXPECT_EQ(seen({2, 3, 5}, {Index::rest(), 1}), (Seen{{2, 3}, {60, 20}, 4}));
    EXPECT_EQ(seen({2, 3, 5}, {1, Index::rest()}), (Seen{{3, 5}, {20, 4}, 60}));
    EXPECT_EQ(seen({2}, {0, Index::rest()}), (Seen{{}, {}, 0}));
    EXPECT_EQ(seen({2}, {Index::new_axis(), Index::slice(), Index::new_axis()}),
              (Seen{{1, 2, 1}, {0, 4, 0}, 0}));
}

TEST(ArrayIndex, IndexOutOfRangeIsAnError) {
    EXPECT_THAT([] { seen({3, 5}, {0, 5}); },
                ThrowsMessage<std::out_of_range>(
                    HasSubstr("index 5 is out of bounds for axis 1 with size 5")));
    EXPECT_THAT([] { seen({3}, {0, 0}); }, ThrowsMessage<std::out_of_range>(HasSubstr(
                                               "array is 1-dimensional, but 2 were indexed")));
    EXPECT_THAT([] { seen({3}, {Index::rest(), Index::rest()}); },
                ThrowsMessage<std::out_of_range>(HasSubstr("single ellipsis")));
    EXPECT_THAT([] { static_cast<void>(Index::slice(0, 1, 0)); },
                ThrowsMessage<std::invalid_argument>(HasSubstr("cannot be zero")));
    const std::vector<Index> many(Layout::max_dimensions + 1, Index::new_axis());
    EXPECT_THROW(seen({3}, many), std::invalid_argument);
}

} // namespace
} // namespace pycuda
