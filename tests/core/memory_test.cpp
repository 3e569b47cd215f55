// memory_test.cpp -- device memory after free(), and pools that run out of memory.
#include "fake_fixture.h"

#include <cstdlib>
#include <thread>
#include <vector>

namespace pycuda {
namespace {

using testing::HasSubstr;
using Memory = FakeDevice;

TEST_F(Memory, IsFreedOnce) {
    std::size_t used = fake().memory_used;
    DeviceMemory memory(4096);
    EXPECT_EQ(fake().memory_used, used + 4096);
    memory.free();
    EXPECT_EQ(fake().memory_used, used);
    EXPECT_THAT(message_of([&] { memory.free(); }),
                testing::MatchesRegex("device_allocation::free failed: invalid resource handle - "
                                      "the device memory at 0x[0-9a-f]+ \\(4096 bytes\\) was "
                                      "freed before"));
    EXPECT_THAT(message_of([&] { (void)memory.get(); }), HasSubstr("was freed before"));
}

TEST_F(Memory, ShortageNamesTheNumbers) {
    EXPECT_THAT(message_of([] { DeviceMemory memory(std::size_t{1} << 30); }),
                testing::MatchesRegex("cuMemAlloc failed: out of memory - requested "
                                      "1073741824 bytes, [0-9]+ of 1048576 are free"));
}

TEST_F(Memory, MoveTransfersOwnership) {
    std::size_t used = fake().memory_used;
    DeviceMemory first(64);
    CUdeviceptr address = first.get();
    DeviceMemory second(std::move(first));
    EXPECT_EQ(second.get(), address);
    DeviceMemory third(128);
    third = std::move(second);
    EXPECT_EQ(third.get(), address);
    EXPECT_EQ(fake().memory_used, used + 64);
}

TEST_F(Memory, AlignedHostMemoryIsAligned) {
    AlignedHostMemory memory(100, 4096);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory.data()) % 4096, 0u);
    EXPECT_THAT(message_of([] { AlignedHostMemory odd(100, 24); }), HasSubstr("power of two"));
    memory.free();
    EXPECT_THAT(message_of([&] { memory.free(); }), HasSubstr("released before"));
}

TEST_F(Memory, LargeCopiesNeedNoPinnedMemory) {
    setenv("PYCUDA_COPY_THREADS", "3", 1); // looked at once, at the first large copy
    fake().memory_size = 4 << 20;
    const std::vector<char> host(2 << 20);
    DeviceMemory memory(host.size());
    for (bool FakeDriver::*missing : {&FakeDriver::has_events, &FakeDriver::has_pinned_memory}) {
        fake().*missing = false;
        fake().copied = 0;
        copy_to_device(memory.get(), host.data(), host.size());
        EXPECT_EQ(fake().copied, host.size());
        fake().*missing = true;
    }
}

using Pool = FakeDevice;

TEST_F(Pool, ReusesTheBlockThatCameBackLast) {
    MemoryPool pool = MemoryPool::device();
    PooledMemory first = pool.allocate(100);
    PooledMemory second = pool.allocate(101);
    CUdeviceptr address = second.get();
    first.free();
    second.free();
    int allocations = fake().allocations;
    EXPECT_EQ(pool.statistics().held_blocks, 2u);
    PooledMemory third = pool.allocate(103);
    EXPECT_EQ(third.get(), address);
    EXPECT_EQ(fake().allocations, allocations);
    PoolStatistics now = pool.statistics();
    EXPECT_EQ(now.held_blocks, 1u);
    EXPECT_EQ(now.active_blocks, 1u);
    EXPECT_EQ(now.managed_bytes, 206u);
    EXPECT_EQ(now.active_bytes, 103u);
}

TEST_F(Pool, FreesHeldBlocksIfTheDriverIsOutOfMemory) {
    fake().memory_size = fake().memory_used + 100'000;
    MemoryPool pool = MemoryPool::device();
    for (std::size_t size : {30'000, 20'000, 10'000})
        pool.allocate(size).free();
    PooledMemory big = pool.allocate(80'000);
    EXPECT_EQ(pool.statistics().active_blocks, 1u);
    EXPECT_LT(pool.statistics().held_blocks, 3u);
    EXPECT_THAT(message_of([&] { PooledMemory more = pool.allocate(80'000); }),
                HasSubstr("memory_pool::allocate failed: out of memory - failed to free memory"));
}

TEST_F(Pool, CallsTheFunctionThatFreesMemory) {
    fake().memory_size = fake().memory_used + 100'000;
    MemoryPool pool = MemoryPool::device();
    std::vector<PooledMemory> garbage;
    garbage.push_back(pool.allocate(80'000));
    CUdeviceptr address = garbage.front().get();
    pool.on_out_of_memory([&] { garbage.clear(); });
    PooledMemory again = pool.allocate(80'000);
    EXPECT_EQ(again.get(), address);
}

TEST_F(Pool, StopsHolding) {
    std::size_t used = fake().memory_used;
    MemoryPool pool = MemoryPool::device();
    PooledMemory kept = pool.allocate(1000);
    pool.allocate(1000).free();
    pool.stop_holding();
    EXPECT_EQ(pool.statistics().held_blocks, 0u);
    kept.free();
    EXPECT_EQ(fake().memory_used, used);
    EXPECT_EQ(pool.statistics().managed_bytes, 0u);
    EXPECT_THAT(message_of([&] { kept.free(); }), HasSubstr("was freed before"));
}

TEST_F(Pool, MayBeDestroyedBeforeItsBlocksAndItsContext) {
    std::size_t used = fake().memory_used;
    {
        Context own = Context::create(Device(0));
        own.push();
        auto pool = std::make_unique<MemoryPool>(MemoryPool::device());
        PooledMemory block = pool->allocate(1000);
        pool->allocate(500).free();
        pool.reset();
        own.detach();
    }
    {
        auto pool = std::make_unique<MemoryPool>(MemoryPool::device());
        PooledMemory block = pool->allocate(1000);
        pool.reset();
        EXPECT_GT(fake().memory_used, used);
    }
    SUCCEED(); // neither threw nor crashed
}

TEST(PoolThreads, ShareABin) {
    Context context = Context::primary(Device(0));
    ScopedContext scope(context);
    MemoryPool pool = MemoryPool::device();
    { // one block for each thread, so that none allocates from the driver
        std::vector<PooledMemory> blocks;
        for (int i = 0; i < 4; ++i)
            blocks.push_back(pool.allocate(256));
    }
    std::vector<std::thread> threads;
    std::atomic<int> shared_blocks{0};
    std::array<std::atomic<int>, 64> users{};
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&] {
            for (int round = 0; round < 10'000; ++round) {
                PooledMemory block = pool.allocate(256);
                std::atomic<int> &user = users[block.get() / 0x10000 % 64];
                if (user++ != 0)
                    ++shared_blocks;
                --user;
            }
        });
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(shared_blocks, 0);
    EXPECT_EQ(pool.statistics().held_blocks, 4u);
    EXPECT_EQ(pool.statistics().active_bytes, 0u);
}

} // namespace
} // namespace pycuda
