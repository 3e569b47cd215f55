// kernel_key_test.cpp -- keys of different kernels are different.
#include "arrays/kernel_table.h"

#include <gtest/gtest.h>

namespace pycuda {
namespace {

TEST(KernelKey, FamiliesAndFieldsTellKernelsApart) {
    const KernelKey one = KernelKey(KernelFamily::Search, {{3, 4}, {true, 1}});
    EXPECT_EQ(one, KernelKey(KernelFamily::Search, {{3, 4}, {true, 1}}));
    EXPECT_NE(one, KernelKey(KernelFamily::Search, {{3, 4}, {false, 1}}));
    EXPECT_NE(one, KernelKey(KernelFamily::Scan, {{3, 4}, {true, 1}}));
    EXPECT_FALSE(one.is_none());
}

/// The value would change the field before it: the key of another kernel.
TEST(KernelKey, AValueThatIsTooWideBelongsToNoKernel) {
    EXPECT_FALSE(KernelKey(KernelFamily::Search, {{15, 4}}).is_none());
    EXPECT_TRUE(KernelKey(KernelFamily::Search, {{16, 4}}).is_none());
    EXPECT_TRUE(KernelKey(KernelFamily::Search, {{-1, 4}}).is_none());
    EXPECT_FALSE(KernelKey(KernelFamily::Search, {{1, 32}, {1, 32}}).is_none());
    EXPECT_TRUE(KernelKey(KernelFamily::Search, {{1, 32}, {1, 33}}).is_none());
}

} // namespace
} // namespace pycuda
