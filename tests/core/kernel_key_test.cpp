// kernel_key_test.cpp -- keys of different kernels are different.
#include "arrays/kernel_table.h"

#include <gtest/gtest.h>

namespace pycuda {
namespace {

TEST(KernelKey, FamiliesAndFieldsTellKernelsApart) {
    const KernelKey one = KernelKey(KernelFamily::Search).add(3, 4).add(true, 1);
    EXPECT_EQ(one, KernelKey(KernelFamily::Search).add(3, 4).add(true, 1));
    EXPECT_NE(one, KernelKey(KernelFamily::Search).add(3, 4).add(false, 1));
    EXPECT_NE(one, KernelKey(KernelFamily::Scan).add(3, 4).add(true, 1));
    EXPECT_FALSE(one.is_none());
}

/// The value would change the field before it: the key of another kernel.
TEST(KernelKey, AValueThatIsTooWideBelongsToNoKernel) {
    EXPECT_FALSE(KernelKey(KernelFamily::Search).add(15, 4).is_none());
    EXPECT_TRUE(KernelKey(KernelFamily::Search).add(16, 4).is_none());
    EXPECT_TRUE(KernelKey(KernelFamily::Search).add(-1, 4).is_none());
    EXPECT_FALSE(KernelKey(KernelFamily::Search).add(1, 32).add(1, 32).is_none());
    EXPECT_TRUE(KernelKey(KernelFamily::Search).add(1, 32).add(1, 33).is_none());
}

} // namespace
} // namespace pycuda
