// pool_bins_test.cpp -- the sizes of a pool's bins equal PyCUDA's.
#include <pycuda/memory_pool.h>

#include <gtest/gtest.h>

namespace pycuda {
namespace {

std::size_t block_for(std::size_t size) { return pool_block_size(pool_bin_number(size)); }

TEST(PoolBins, AreThoseOfPyCuda) {
    EXPECT_EQ(block_for(0), 1u);
    EXPECT_EQ(block_for(1), 1u);
    EXPECT_EQ(block_for(17), 17u);
    EXPECT_EQ(block_for(100), 103u);
    EXPECT_EQ(pool_bin_number(100), 6u * 16 + 9);
    EXPECT_EQ(pool_bin_number(1), 0u);
    EXPECT_EQ(pool_bin_number(2), 16u);
}

TEST(PoolBins, BlocksFitAndWasteLittle) {
    for (std::size_t size = 1; size < 100'000; ++size) {
        std::size_t block = block_for(size);
        ASSERT_GE(block, size);
        ASSERT_LT(static_cast<double>(block - size), static_cast<double>(size) / 16) << size;
        ASSERT_EQ(pool_bin_number(block), pool_bin_number(size));
        ASSERT_NE(pool_bin_number(block + 1), pool_bin_number(size)) << size;
    }
}

TEST(PoolBins, ReachTheLargestSizes) {
    for (unsigned shift = 17; shift < 64; ++shift) {
        std::size_t size = std::size_t{1} << shift;
        ASSERT_GE(block_for(size), size);
        ASSERT_EQ(block_for(size - 1), size - 1);
    }
    EXPECT_EQ(block_for(~std::size_t{0}), ~std::size_t{0});
    EXPECT_LT(pool_bin_number(~std::size_t{0}), 1024u);
}

} // namespace
} // namespace pycuda
