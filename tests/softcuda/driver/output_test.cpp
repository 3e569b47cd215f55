// output_test.cpp -- printf and malloc in kernels.
#include "driver_test.h"

#include "rt/printf_format.h"

#include <climits>
#include <cstring>

namespace {

/// A read function for kernel memory that reads host memory; addresses below 4096 cannot be read.
bool read_host(void *to, std::uint64_t from, std::size_t bytes) {
    if (from < 4096)
        return false;
    std::memcpy(to, reinterpret_cast<const void *>(from), bytes);
    return true;
}

/// A packed argument buffer. Strings exist as long as the buffer; reads may exceed a string by 256
/// bytes.
class Packed {
  public:
    template <class T> Packed &add(T value) {
        at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        std::memcpy(bytes_ + at_, &value, sizeof value);
        at_ += sizeof(T);
        return *this;
    }
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(bytes_); }

  private:
    alignas(256) char bytes_[512] = {};
    std::size_t at_ = 0;
};

struct Text {
    alignas(256) char text[512] = {};
    explicit Text(const char *from) { std::strcpy(text, from); }
    [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(text); }
};

std::string format(const char *format, const Packed &arguments, int expected_count) {
    std::string out;
    EXPECT_EQ(softcuda::rt::format_printf(read_host, format, arguments.address(), out),
              expected_count);
    return out;
}

TEST(PrintfFormat, Integers) {
    EXPECT_EQ(
        format("%d %u %x %X %o %i", Packed().add(-1).add(2U).add(255).add(255).add(8).add(3), 6),
        "-1 2 ff FF 10 3");
    EXPECT_EQ(format("%ld %lld %llu %lx", Packed().add(-5L).add(1LL << 40).add(~0ULL).add(16L), 4),
              "-5 1099511627776 18446744073709551615 10");
    EXPECT_EQ(format("%5d|%-5d|%05d|%+d|% d", Packed().add(42).add(42).add(42).add(42).add(42), 5),
              "   42|42   |00042|+42| 42");
    EXPECT_EQ(format("%hd %hu %hx", Packed().add(70000).add(70000).add(-1), 3), "4464 4464 ffff");
    EXPECT_EQ(format("%hhd %hhu %hhx", Packed().add(300).add(-1).add(-1), 3), "44 255 ff");
    EXPECT_EQ(format("%5% %-5% %d", Packed().add(3), 1), "% % 3");
    EXPECT_EQ(format("%zu", Packed().add(std::size_t{9}), 1), "9");
}

TEST(PrintfFormat, FloatsAndAlignment) {
    EXPECT_EQ(format("%f %.2f %e %g", Packed().add(1.5).add(3.14159).add(12345.678).add(0.0001), 4),
              "1.500000 3.14 1.234568e+04 0.0001");
    // There are four unused bytes between an int and a double.
    EXPECT_EQ(format("%d %f %d", Packed().add(1).add(2.5).add(3), 3), "1 2.500000 3");
    EXPECT_EQ(format("%*.*f", Packed().add(8).add(2).add(1.0), 3), "    1.00");
    EXPECT_EQ(format("%*d|%.*f", Packed().add(-6).add(42).add(-1).add(2.5), 4), "42    |2.500000");
}

TEST(PrintfFormat, StringsCharactersAndPointers) {
    const Text text("hello");
    EXPECT_EQ(format("<%s>", Packed().add(text.address()), 1), "<hello>");
    EXPECT_EQ(format("<%8s|%-8s|%.2s>",
                     Packed().add(text.address()).add(text.address()).add(text.address()), 3),
              "<   hello|hello   |he>");
    EXPECT_EQ(format("%s", Packed().add(std::uint64_t{0}), 1), "(null)");
    EXPECT_EQ(format("%c%c", Packed().add(int{'a'}).add(int{'b'}), 2), "ab");
    EXPECT_EQ(format("%p", Packed().add(std::uint64_t{0xabc}), 1), "0xabc");
    EXPECT_EQ(format("100%% %d", Packed().add(1), 1), "100% 1");
    EXPECT_EQ(format("plain", Packed(), 0), "plain");
    EXPECT_EQ(format("%200d", Packed().add(7), 1), std::string(199, ' ') + "7");
}

TEST(PrintfFormat, AHugeWidthIsLimited) {
    constexpr std::size_t kWidest = 64 * 1024;
    EXPECT_EQ(format("%*d", Packed().add(2'000'000'000).add(7), 2).size(), kWidest);
    EXPECT_EQ(format("%*d|", Packed().add(INT_MIN).add(7), 2).size(), kWidest + 1);
    EXPECT_EQ(format("%99999999999d", Packed().add(7), 1).size(), kWidest);
    EXPECT_EQ(format("%.*d", Packed().add(2'000'000'000).add(7), 2).size(), kWidest);
}

TEST(PrintfFormat, BadFormatsAndPointers) {
    EXPECT_EQ(format("x%", Packed(), 0), "x%");
    EXPECT_EQ(format("x%5", Packed(), 0), "x%5");
    format("%s", Packed().add(std::uint64_t{16}), -1);
    std::string out;
    EXPECT_EQ(softcuda::rt::format_printf(read_host, "%d", 8, out), -1);
}

class OutputTest : public DriverTest {
  protected:
    CUdeviceptr text(const char *text) {
        const CUdeviceptr memory = allocate(std::strlen(text) + 1);
        EXPECT_EQ(cuMemcpyHtoD(memory, text, std::strlen(text) + 1), CUDA_SUCCESS);
        return memory;
    }
};

TEST_F(OutputTest, TextIsPrintedInOrderAtSynchronisation) {
    const CUdeviceptr arguments = allocate(16), result = allocate(4);
    const int values[] = {41, 42};
    ASSERT_EQ(cuMemcpyHtoD(arguments, values, 8), CUDA_SUCCESS);
    CUstream stream = nullptr;
    ASSERT_EQ(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    const CUdeviceptr numbers = text("%d, %d\n"), done = text("done\n");
    ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS); // non-blocking streams do not wait for the copies
    testing::internal::CaptureStdout();
    ASSERT_EQ(launch("print", 3, 32, stream, numbers, arguments, result), CUDA_SUCCESS);
    ASSERT_EQ(launch("print", 1, 32, stream, done, arguments, result), CUDA_SUCCESS);
    ASSERT_EQ(cuStreamSynchronize(stream), CUDA_SUCCESS);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "41, 42\n41, 42\n41, 42\ndone\n");
}

TEST_F(OutputTest, UnreadableFormatsReturnMinusOne) {
    const CUdeviceptr result = allocate(4);
    ASSERT_EQ(launch("print", 1, 32, nullptr, CUdeviceptr{8}, CUdeviceptr{8}, result),
              CUDA_SUCCESS);
    EXPECT_EQ(read_words(result, 1).front(), -1);
}

TEST_F(OutputTest, HeapAllocatesBlocksThatFit) {
    const CUdeviceptr failures = allocate(4);
    std::size_t before = 0, after = 0, total = 0;
    ASSERT_EQ(cuMemGetInfo(&before, &total), CUDA_SUCCESS);
    ASSERT_EQ(launch("use_heap", 1, 32, nullptr, failures), CUDA_SUCCESS);
    EXPECT_EQ(read_words(failures, 1).front(), 1); // the allocation of a terabyte
    ASSERT_EQ(cuMemGetInfo(&after, &total), CUDA_SUCCESS);
    EXPECT_EQ(before, after);
    ASSERT_EQ(cuCtxSetLimit(CU_LIMIT_MALLOC_HEAP_SIZE, 100), CUDA_SUCCESS);
    ASSERT_EQ(launch("use_heap", 1, 32, nullptr, failures), CUDA_SUCCESS);
    EXPECT_EQ(read_words(failures, 1).front(), 29); // only 16 + 24 + 32 fit
}

} // namespace
