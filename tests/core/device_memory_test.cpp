// device_memory_test.cpp -- memory, copies, streams and events on a device.
#include "device_fixture.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <thread>
#include <vector>

namespace pycuda {
namespace {

using testing::Each;
using testing::HasSubstr;

class DeviceMemoryTest : public OnDevice {};

TEST_F(DeviceMemoryTest, DeviceIntroducesItself) {
    EXPECT_GE(Device::count(), 1);
    EXPECT_NE(device_.name(), "");
    EXPECT_GE(device_.compute_capability(), (ComputeCapability{5, 0}));
    EXPECT_GT(device_.total_memory(), std::size_t{1} << 28);
    EXPECT_EQ(device_.attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
    EXPECT_EQ(Device(device_.pci_bus_id()), device_);
    EXPECT_FALSE(device_.attribute_if_known(static_cast<CUdevice_attribute>(100'000)));
    EXPECT_GE(driver_version(), 11000);
}

TEST_F(DeviceMemoryTest, CopiesThereAndBack) {
    std::vector<int> there(10'000);
    std::iota(there.begin(), there.end(), 7);
    DeviceMemory memory = to_device(there);
    std::vector<int> back(there.size());
    copy(back, memory);
    EXPECT_EQ(back, there);

    DeviceMemory second(memory.size());
    copy_on_device(second.get(), memory.get(), memory.size());
    std::fill(back.begin(), back.end(), 0);
    copy_to_host(back.data() + 100, second.get() + 400, 400);
    EXPECT_EQ(back[99], 0);
    EXPECT_EQ(back[100], there[100]);
    EXPECT_EQ(back[199], there[199]);
    EXPECT_EQ(back[200], 0);

    std::vector<int> longer(20'000);
    EXPECT_THAT(message_of([&] { copy(longer, memory); }), HasSubstr("is smaller"));
}

TEST_F(DeviceMemoryTest, FillsElementsOfEachWidth) {
    DeviceMemory memory(4096);
    std::vector<std::uint8_t> bytes(4096);
    fill<std::uint8_t>(memory.get(), 0xab, 4096);
    copy(bytes, memory);
    EXPECT_THAT(bytes, Each(0xab));

    std::vector<std::uint16_t> shorts(2048);
    fill<std::uint16_t>(memory.get(), 0x1234, 2048);
    copy(shorts, memory);
    EXPECT_THAT(shorts, Each(0x1234));

    std::vector<std::uint32_t> words(1024);
    fill<std::uint32_t>(memory.get(), 0x12345678, 1024);
    copy(words, memory);
    EXPECT_THAT(words, Each(0x12345678u));
}

TEST_F(DeviceMemoryTest, CopiesAndFillsRows) {
    constexpr std::size_t width = 5;
    constexpr std::size_t height = 3;
    PitchedMemory rows = allocate_pitched(width * 4, height, 4);
    ASSERT_GE(rows.pitch, width * 4);
    fill_rows<std::uint32_t>({rows.memory.get(), rows.pitch, width, height}, 9);
    std::vector<std::uint32_t> back(width * height);
    CUDA_MEMCPY2D what{};
    what.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    what.srcDevice = rows.memory.get();
    what.srcPitch = rows.pitch;
    what.dstMemoryType = CU_MEMORYTYPE_HOST;
    what.dstHost = back.data();
    what.dstPitch = width * 4;
    what.WidthInBytes = width * 4;
    what.Height = height;
    copy_2d(what);
    EXPECT_THAT(back, Each(9u));
}

TEST_F(DeviceMemoryTest, StreamsKeepTheirOrder) {
    Stream stream(CU_STREAM_NON_BLOCKING);
    PinnedMemory host(1 << 20);
    auto *bytes = static_cast<std::uint8_t *>(host.data());
    std::fill_n(bytes, host.size(), std::uint8_t{1});
    DeviceMemory memory(host.size());
    Event start;
    Event end;
    start.record(stream);
    copy_to_device_async(memory.get(), bytes, host.size(), stream);
    fill_async<std::uint8_t>(memory.get(), 2, host.size() / 2, stream);
    copy_to_host_async(bytes, memory.get(), host.size(), stream);
    end.record(stream);
    end.synchronize();
    EXPECT_TRUE(end.query());
    EXPECT_EQ(bytes[0], 2);
    EXPECT_EQ(bytes[host.size() - 1], 1);
    EXPECT_GE(end.milliseconds_since(start), 0.0f);
    stream.synchronize([] { return true; });
    EXPECT_TRUE(stream.query());
}

TEST_F(DeviceMemoryTest, EventsOrderStreams) {
    Stream first(CU_STREAM_NON_BLOCKING);
    Stream second(CU_STREAM_NON_BLOCKING);
    Event filled(CU_EVENT_DISABLE_TIMING);
    DeviceMemory memory(1 << 22);
    for (int round = 0; round < 20; ++round) {
        fill_async<std::uint8_t>(memory.get(), static_cast<std::uint8_t>(round), memory.size(),
                                 first);
        filled.record(first);
        second.wait(filled);
        std::uint8_t last = 99;
        copy_to_host_async(&last, memory.get() + memory.size() - 1, 1, second);
        second.synchronize();
        ASSERT_EQ(last, round);
    }
}

TEST_F(DeviceMemoryTest, WaitsForTheContext) {
    Stream stream;
    DeviceMemory memory(1 << 20);
    fill_async<std::uint8_t>(memory.get(), 1, memory.size(), stream);
    context_.synchronize([] { return true; });
    EXPECT_TRUE(stream.query());
}

TEST_F(DeviceMemoryTest, ContinuesAfterOutOfMemory) {
    const std::size_t more_than_all = context_.memory_info().total + (std::size_t{1} << 30);
    EXPECT_THAT(message_of([&] { DeviceMemory memory(more_than_all); }),
                testing::AllOf(HasSubstr("cuMemAlloc failed: out of memory"),
                               HasSubstr("requested "), HasSubstr("are free")));
    EXPECT_THAT(message_of([] { DeviceMemory nothing(0); }), HasSubstr("invalid argument"));
    DeviceMemory memory(1024);
    EXPECT_EQ(address_range(memory.get() + 100).base, memory.get());
    EXPECT_EQ(address_range(memory.get() + 100).size, 1024u);
}

TEST_F(DeviceMemoryTest, RegistersHostMemory) {
    AlignedHostMemory host(1 << 16);
    RegisteredHostMemory registered(host.data(), host.size(), CU_MEMHOSTREGISTER_DEVICEMAP);
    EXPECT_NE(registered.device_pointer(), 0u);
    registered.unregister();
    EXPECT_THAT(message_of([&] { registered.unregister(); }), HasSubstr("released before"));
}

TEST_F(DeviceMemoryTest, PoolWorksInEveryThread) {
    MemoryPool pool = MemoryPool::device();
    PooledMemory block = pool.allocate(1000);
    std::thread([&] {
        ScopedContext scope(pool.context());
        PooledMemory other = pool.allocate(2000);
        fill<std::uint8_t>(other.get(), 3, 2000);
    }).join();
    EXPECT_EQ(pool.statistics().held_blocks, 1u);
    MemoryPool pinned = MemoryPool::pinned();
    PooledMemory host = pinned.allocate(64);
    std::fill_n(static_cast<char *>(host.data()), 64, 'x');
    copy_to_device(block.get(), host.data(), 64);
}

TEST_F(DeviceMemoryTest, TwoContextsOfOneDeviceAreSeparate) {
    Context own = Context::create(device_);
    EXPECT_FALSE(own == context_);
    {
        ScopedContext scope(own);
        EXPECT_EQ(*Context::current(), own);
        DeviceMemory memory(64);
        EXPECT_EQ(memory.context(), own);
    }
    EXPECT_EQ(*Context::current(), context_);
    own.detach();
}

} // namespace
} // namespace pycuda
