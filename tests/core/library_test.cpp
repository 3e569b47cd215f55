// library_test.cpp -- the choice of the driver library, and the error if there is none.
#include "driver/library.h"

#include <pycuda/error.h>
#include <pycuda/softcuda_library.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace pycuda {
namespace {

using testing::HasSubstr;
using testing::Not;

class ScopedVariable {
  public:
    ScopedVariable(const char *name, const char *value) : name_(name) { setenv(name, value, 1); }
    ~ScopedVariable() { unsetenv(name_); }
    ScopedVariable(const ScopedVariable &) = delete;
    ScopedVariable &operator=(const ScopedVariable &) = delete;

  private:
    const char *name_;
};

std::string explanation(const LibrarySearch &search) {
    try {
        find_library(search);
    } catch (const DriverNotFound &error) {
        return error.what();
    }
    return "found";
}

TEST(Library, AutoListsAllThatWasTried) {
    std::string text = explanation(
        {.choice = "auto", .nvidia = {"libno-gpu.so.1"}, .softcuda = {"/no/libsoftcuda.so"}});
    EXPECT_THAT(text, HasSubstr("no CUDA driver with a device, and no softcuda"));
    EXPECT_THAT(text, HasSubstr("libno-gpu.so.1"));
    EXPECT_THAT(text, HasSubstr("/no/libsoftcuda.so"));
    EXPECT_THAT(text, HasSubstr("PYCUDA_SOFTCUDA_LIBRARY"));
}

TEST(Library, ErrorNamesWhatAnExplicitChoiceLacks) {
    EXPECT_THAT(explanation({.choice = "nvidia", .nvidia = {"libno-gpu.so.1"}, .softcuda = {}}),
                HasSubstr("PYCUDA_DRIVER=nvidia"));
    EXPECT_THAT(explanation({.choice = "softcuda", .nvidia = {}, .softcuda = {"/no/soft.so"}}),
                HasSubstr("PYCUDA_SOFTCUDA_LIBRARY"));
    EXPECT_THAT(explanation({.choice = "/no/such/driver.so", .nvidia = {}, .softcuda = {}}),
                HasSubstr("/no/such/driver.so"));
}

TEST(Library, AutoPrefersADeviceWithoutAMessage) {
    testing::internal::CaptureStderr();
    auto library = find_library(
        {.choice = "auto", .nvidia = {FAKE_DRIVER}, .softcuda = {"/no/libsoftcuda.so"}});
    EXPECT_EQ(library->path(), FAKE_DRIVER);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Library, AutoSelectsSoftcudaWithoutADevice) {
    ScopedVariable none("FAKE_DEVICES", "0");
    LibrarySearch search{.choice = "auto", .nvidia = {FAKE_DRIVER}, .softcuda = {FAKE_DRIVER}};
    testing::internal::CaptureStderr();
    find_library(search);
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_THAT(said, HasSubstr("reports no device"));
    EXPECT_THAT(said, HasSubstr("running on the CPU"));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1);

    search.nvidia = {"libno-gpu.so.1", "/no/other/libcuda.so.1"};
    testing::internal::CaptureStderr();
    find_library(search);
    EXPECT_THAT(testing::internal::GetCapturedStderr(),
                HasSubstr("no NVIDIA GPU found (there is no libno-gpu.so.1)"));

    search.quiet = true;
    testing::internal::CaptureStderr();
    find_library(search);
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Library, BeforeInitOnlyTheSystemIsUsed) {
    ScopedVariable none("FAKE_DEVICES", "0"); // not read in this case
    LibrarySearch search{.choice = "auto",
                         .nvidia = {FAKE_DRIVER},
                         .softcuda = {"libc.so.6"},
                         .device_nodes = {"/"}};
    testing::internal::CaptureStderr();
    EXPECT_EQ(find_library(search, DeviceProbe::OperatingSystem)->path(), FAKE_DRIVER);
    search.device_nodes = {"/no/such/node"};
    EXPECT_EQ(find_library(search, DeviceProbe::OperatingSystem)->path(), "libc.so.6");
    search.device_nodes = {"/"};
    ScopedVariable hidden("CUDA_VISIBLE_DEVICES", "-1");
    EXPECT_EQ(find_library(search, DeviceProbe::OperatingSystem)->path(), "libc.so.6");
    EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Library, AutoIgnoresALibraryThatIsNotADriver) {
    std::string text = explanation(
        {.choice = "auto", .nvidia = {"libc.so.6"}, .softcuda = {"/no/libsoftcuda.so"}});
    EXPECT_THAT(text, HasSubstr("libc.so.6: is not a CUDA driver"));
}

TEST(Library, ReadsTheEnvironment) {
    ScopedVariable choice("PYCUDA_DRIVER", "softcuda");
    ScopedVariable path("PYCUDA_SOFTCUDA_LIBRARY", "/my/soft.so");
    ScopedVariable quiet("PYCUDA_QUIET", "1");
    LibrarySearch search = LibrarySearch::from_environment();
    EXPECT_EQ(search.choice, "softcuda");
    EXPECT_EQ(search.softcuda, std::vector<std::string>{"/my/soft.so"});
    EXPECT_TRUE(search.quiet);
}

TEST(Library, OnlyTheFirstProcessOfAJobPrintsTheLine) {
    EXPECT_FALSE(LibrarySearch::from_environment().quiet);
    for (const char *variable : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"}) {
        {
            ScopedVariable first(variable, "0");
            EXPECT_FALSE(LibrarySearch::from_environment().quiet);
        }
        ScopedVariable later(variable, "3");
        EXPECT_TRUE(LibrarySearch::from_environment().quiet);
    }
}

TEST(Library, TheApplicationsSoftcudaIsTriedFirst) {
    const std::vector<std::string> before = LibrarySearch::from_environment().softcuda;
    set_softcuda_library("/site-packages/softcuda/libsoftcuda.so");
    const std::vector<std::string> after = LibrarySearch::from_environment().softcuda;
    {
        ScopedVariable path("PYCUDA_SOFTCUDA_LIBRARY", "/my/soft.so");
        EXPECT_EQ(LibrarySearch::from_environment().softcuda,
                  std::vector<std::string>{"/my/soft.so"});
    }
    set_softcuda_library("");
    ASSERT_EQ(after.size(), before.size() + 1);
    EXPECT_EQ(after.front(), "/site-packages/softcuda/libsoftcuda.so");
    EXPECT_EQ(std::vector(after.begin() + 1, after.end()), before);
    EXPECT_EQ(LibrarySearch::from_environment().softcuda, before);
}

} // namespace
} // namespace pycuda
