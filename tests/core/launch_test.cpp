// launch_test.cpp -- loading code, packing arguments, launching, and the errors of each.
#include "fake_fixture.h"

#include <cstring>

namespace pycuda {
namespace {

using testing::HasSubstr;

const ParameterDescription float_pointer = {"float *",        8, 8, ValueKind::Pointer,
                                            ValueKind::Float, 4};
const ParameterDescription an_int = {"int", 4, 4, ValueKind::Signed};
const ParameterDescription a_float = {"float", 4, 4, ValueKind::Float};
const ParameterDescription a_double = {"double", 8, 8, ValueKind::Float};
const ParameterDescription a_byte = {"unsigned char", 1, 1, ValueKind::Unsigned};
const ParameterDescription a_float4 = {"float4", 16, 16, ValueKind::Bytes};

class Launch : public FakeDevice {
  protected:
    Function kernel(std::vector<ParameterDescription> parameters) {
        module_.describe("kernel", std::move(parameters));
        return module_.function("kernel");
    }
    template <class T> static T read(std::size_t offset) {
        T value;
        std::memcpy(&value, fake().last_arguments.data() + offset, sizeof value);
        return value;
    }
    Module module_ = load("code");
};

TEST_F(Launch, ModuleLoadFailureHasTheDriversMessage) {
    EXPECT_EQ(message_of([] { load("bad code"); }),
              "cuModuleLoadDataEx failed: a PTX JIT compilation failed - line 1: syntax error");
}

TEST_F(Launch, ModuleExistsAsLongAsItsFunctions) {
    int unloaded = fake().modules_unloaded;
    {
        Function function = load("code").function("kernel");
        EXPECT_EQ(fake().modules_unloaded, unloaded);
    }
    EXPECT_EQ(fake().modules_unloaded, unloaded + 1);
}

TEST_F(Launch, UnknownKernelIsNamed) {
    EXPECT_THAT(message_of([&] { module_.function("colonel"); }),
                HasSubstr("no kernel \"colonel\" in the module"));
}

TEST_F(Launch, PutsEachArgumentAtTheParametersOffset) {
    Function function = kernel({a_byte, a_float4, an_int, a_double, float_pointer});
    DeviceMemory memory(64);
    struct alignas(16) Float4 {
        float x, y, z, w;
    };
    launch(function, {}, std::uint8_t{7}, Float4{1, 2, 3, 4}, -5, 2.5, memory);
    EXPECT_EQ(fake().last_arguments.size(), 56u);
    EXPECT_EQ(read<std::uint8_t>(0), 7);
    EXPECT_EQ(read<Float4>(16).w, 4);
    EXPECT_EQ(read<int>(32), -5);
    EXPECT_EQ(read<double>(40), 2.5);
    EXPECT_EQ(read<CUdeviceptr>(48), memory.get());
}

TEST_F(Launch, CountIsChecked) {
    Function function = kernel({float_pointer, an_int});
    DeviceMemory memory(64);
    EXPECT_EQ(message_of<ArgumentError>([&] { launch(function, {}, memory); }),
              "kernel 'kernel' takes 2 "
              "arguments, got 1; argument 1, int (4 bytes), is missing");
    EXPECT_EQ(message_of<ArgumentError>([&] { launch(function, {}, memory, 1, 2); }),
              "kernel 'kernel' takes 2 "
              "arguments, got 3");
}

TEST_F(Launch, SizeAndKindAreChecked) {
    Function function = kernel({float_pointer, a_float});
    DeviceMemory memory(64);
    EXPECT_THAT(message_of<ArgumentError>([&] { launch(function, {}, memory, 1.0); }),
                HasSubstr("kernel 'kernel', argument 1: expected float (4 bytes), got double of 8 "
                          "bytes"));
    EXPECT_THAT(message_of<ArgumentError>([&] { launch(function, {}, memory, 1); }),
                HasSubstr("argument 1: expected float (4 bytes), got an integer of 4 bytes"));
    EXPECT_THAT(message_of<ArgumentError>([&] { launch(function, {}, 1.0, 1.0f); }),
                HasSubstr("argument 0: expected float * (8 bytes), got double of 8 bytes"));
    try {
        launch(function, {}, memory, 1);
    } catch (const ArgumentError &error) {
        EXPECT_EQ(error.kernel(), "kernel");
        EXPECT_EQ(error.index(), 1u);
    }
}

TEST_F(Launch, FreedMemoryIsNotPassed) {
    Function function = kernel({float_pointer});
    DeviceMemory memory(64);
    memory.free();
    int launches = fake().launches;
    EXPECT_THAT(message_of([&] { launch(function, {}, memory); }), HasSubstr("was freed before"));
    EXPECT_EQ(fake().launches, launches);
}

TEST_F(Launch, NumbersGetTheParametersType) {
    Function function = kernel({a_byte, a_float, a_double, an_int, float_pointer});
    ArgumentBlock block(function);
    EXPECT_TRUE(block.try_push_integer(std::int64_t{255}));
    EXPECT_TRUE(block.try_push_real(0.1));
    EXPECT_TRUE(block.try_push_integer(std::int64_t{3}));
    EXPECT_TRUE(block.try_push_integer(std::int64_t{-3}));
    EXPECT_TRUE(block.try_push_integer(std::uint64_t{0xffff'ffff'ffff'fff0}));
    launch(function, {}, block);
    EXPECT_EQ(read<std::uint8_t>(0), 255);
    EXPECT_EQ(read<float>(4), 0.1f);
    EXPECT_EQ(read<double>(8), 3.0);
    EXPECT_EQ(read<int>(16), -3);
    EXPECT_EQ(read<CUdeviceptr>(24), 0xffff'ffff'ffff'fff0);
}

TEST_F(Launch, NumbersThatDoNotFitAreErrors) {
    Function function = kernel({an_int, a_byte, a_float4});
    ArgumentBlock block(function);
    EXPECT_FALSE(block.try_push_real(1.0));
    EXPECT_FALSE(block.try_push_integer(std::int64_t{1} << 31));
    EXPECT_TRUE(block.try_push_integer(-(std::int64_t{1} << 31)));
    EXPECT_FALSE(block.try_push_integer(std::int64_t{-1}));
    EXPECT_FALSE(block.try_push_integer(std::int64_t{256}));
    EXPECT_TRUE(block.try_push_integer(std::int64_t{0}));
    EXPECT_FALSE(block.try_push_integer(std::int64_t{0}));
    EXPECT_EQ(block.count(), 2u);
    EXPECT_THAT(message_of<ArgumentError>([&] { block.reject("an int"); }),
                HasSubstr("argument 2: expected float4 (16 bytes), got an int"));
    EXPECT_THROW(launch(function, {}, block), ArgumentError);
}

TEST_F(Launch, SixteenBitFloatsArePassedAsBits) {
    Function function =
        kernel({{"half", 2, 2, ValueKind::Float}, {"__nv_bfloat16", 2, 2, ValueKind::BFloat16}});
    launch(function, {}, std::uint16_t{0x3c00}, std::uint16_t{0x3f80});
    EXPECT_EQ(read<std::uint16_t>(2), 0x3f80);
    EXPECT_THROW(launch(function, {}, std::int16_t{1}, std::uint16_t{0}), ArgumentError);
    ArgumentBlock block(function);
    EXPECT_TRUE(block.try_push_real(1.5));
    EXPECT_TRUE(block.try_push_integer(std::int64_t{2}));
    launch(function, {}, block);
    EXPECT_EQ(read<std::uint16_t>(0), 0x3e00);
    EXPECT_EQ(read<std::uint16_t>(2), 0x4000);
}

TEST_F(Launch, UnknownParametersAreAlignedByC) {
    Function function = load("code").function("kernel"); // without a description
    DeviceMemory memory(64);
    launch(function, {}, std::uint8_t{1}, memory, 2, 3.0);
    EXPECT_EQ(fake().last_arguments.size(), 32u);
    EXPECT_EQ(read<CUdeviceptr>(8), memory.get());
    EXPECT_EQ(read<int>(16), 2);
    EXPECT_EQ(read<double>(24), 3.0);
    ArgumentBlock block(function);
    EXPECT_FALSE(block.try_push_integer(std::int64_t{1}));
    EXPECT_THAT(message_of<ArgumentError>([&] { block.reject("an int"); }),
                HasSubstr("the driver does not report the kernel's parameters"));
}

TEST_F(Launch, WithOldDriversPtxDeterminesTheLayout) {
    Function function = load(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 kernel_param_0, .param .u8 kernel_param_1,
    .param .align 16 .b8 kernel_param_2[16])
{
    ret;
}
)")
                            .function("kernel");
    ASSERT_EQ(function.layout().count(), 3u);
    EXPECT_EQ(function.layout()[1].size, 1u);
    EXPECT_EQ(function.layout()[2].offset, 16u);
    EXPECT_EQ(function.layout().block_size(), 32u);
}

TEST_F(Launch, SourceDeterminesTheMeaningOfParameters) {
    module_.describe_from_source("__global__ void kernel(const double *x, float a, unsigned n) {}");
    Function function = module_.function("kernel");
    ASSERT_EQ(function.layout().count(), 3u);
    EXPECT_EQ(function.layout()[0].element_size, 8u);
    EXPECT_EQ(function.layout()[1].kind, ValueKind::Float);
    EXPECT_EQ(function.layout()[2].offset, 12u);
    EXPECT_EQ(function.layout().type(0), "const double *");
}

TEST_F(Launch, LargeBlocksAreNotOnTheStack) {
    ParameterDescription big{"Table", 8000, 8, ValueKind::Bytes};
    Function function = kernel({big, an_int});
    struct Table {
        char bytes[8000];
    } table{};
    table.bytes[7999] = 'x';
    launch(function, {}, table, 9);
    EXPECT_EQ(fake().last_arguments.size(), 8004u);
    EXPECT_EQ(fake().last_arguments[7999], 'x');
    EXPECT_EQ(read<int>(8000), 9);
}

TEST_F(Launch, LimitsAreNamed) {
    Function function = kernel({});
    auto failure = [&](LaunchConfig config) {
        return message_of([&] { launch(function, config); });
    };
    EXPECT_THAT(failure({.block = {2048}}),
                HasSubstr("cuLaunchKernel failed: invalid argument - kernel 'kernel': block (2048, "
                          "1, 1): x is 2048, the device's limit is 1024"));
    EXPECT_THAT(failure({.block = {64, 32}}),
                HasSubstr("block (64, 32, 1) has 2048 threads, the limit of the device is 1024"));
    EXPECT_THAT(failure({.block = {32, 32}}),
                HasSubstr("the limit of this kernel is 512 (it uses 40 registers per thread)"));
    EXPECT_THAT(failure({.grid = {1, 70000}, .block = {1}}),
                HasSubstr("grid (1, 70000, 1): y is 70000, the device's limit is 65535"));
    EXPECT_THAT(failure({.block = {0}}), HasSubstr("x is 0, it must be at least 1"));
    EXPECT_THAT(failure({.shared_bytes = 5000}), HasSubstr("5000 bytes of dynamic shared memory"));
}

TEST_F(Launch, WrongContextIsNamed) {
    Function function = kernel({});
    CUcontext popped = nullptr;
    driver().cuCtxPopCurrent(&popped);
    std::string text = message_of([&] { launch(function, {}); });
    driver().cuCtxPushCurrent(popped);
    EXPECT_THAT(text, HasSubstr("no context is current in this thread"));
}

TEST_F(Launch, DescriptionThatDisagreesIsIgnored) {
    ParameterLayout layout({{.offset = 0, .size = 8}, {.offset = 8, .size = 4}});
    layout.describe({float_pointer, a_double}); // 8 bytes, but the driver reports 4
    EXPECT_EQ(layout[0].kind, ValueKind::Unknown);
    layout.describe({float_pointer, an_int});
    EXPECT_EQ(layout[0].kind, ValueKind::Pointer);
    EXPECT_EQ(layout[0].element_kind, ValueKind::Float);
    EXPECT_EQ(layout.type(1), "int");
    EXPECT_EQ(layout.block_size(), 12u);
}

} // namespace
} // namespace pycuda
