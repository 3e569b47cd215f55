// error_test.cpp -- messages and classes of errors.
#include <pycuda/error.h>

#include <gtest/gtest.h>

namespace pycuda {
namespace {

TEST(Error, MessageIsLikePyCudas) {
    Error plain("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_STREQ(plain.what(), "cuMemAlloc failed: out of memory");
    Error extra("cuMemAlloc", CUDA_ERROR_OUT_OF_MEMORY, "4096 bytes wanted");
    EXPECT_STREQ(extra.what(), "cuMemAlloc failed: out of memory - 4096 bytes wanted");
    EXPECT_EQ(extra.function(), "cuMemAlloc");
    EXPECT_EQ(extra.result(), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(Error, HasItsKind) {
    EXPECT_EQ(error_kind(CUDA_ERROR_OUT_OF_MEMORY), ErrorKind::Memory);
    EXPECT_EQ(error_kind(CUDA_ERROR_LAUNCH_TIMEOUT), ErrorKind::Launch);
    EXPECT_EQ(error_kind(CUDA_ERROR_NO_DEVICE), ErrorKind::Runtime);
    EXPECT_EQ(error_kind(CUDA_ERROR_ILLEGAL_ADDRESS), ErrorKind::Logic);
    EXPECT_EQ(error_kind(CUDA_ERROR_UNKNOWN), ErrorKind::Generic);
    EXPECT_EQ(error_kind(CUDA_SUCCESS), ErrorKind::None);
}

TEST(Error, NamesCodesOfNewerDrivers) {
    auto unheard_of = static_cast<CUresult>(12345);
    EXPECT_EQ(result_name(unheard_of), "CUresult 12345");
    EXPECT_EQ(result_text(unheard_of), "error 12345");
    EXPECT_EQ(error_kind(unheard_of), ErrorKind::Logic);
    EXPECT_EQ(result_name(CUDA_ERROR_INVALID_PTX), "CUDA_ERROR_INVALID_PTX");
}

TEST(Check, DescribesOnFailureOnly) {
    EXPECT_NO_THROW(check(CUDA_SUCCESS, "cuInit", []() -> std::string { throw 1; }));
    try {
        check(CUDA_ERROR_INVALID_VALUE, "cuInit", [] { return std::string("flags 7"); });
        FAIL() << "no error was thrown";
    } catch (const Error &error) {
        EXPECT_STREQ(error.what(), "cuInit failed: invalid argument - flags 7");
    }
}

} // namespace
} // namespace pycuda
