// subprocess_test.cpp -- runs a program in a folder, with its arguments and output.
#include <system_error>

#include <gmock/gmock.h>

#include "compile/compilers/subprocess.h"

using namespace pycuda::compile_detail;
using testing::HasSubstr;

TEST(Subprocess, RunsInTheFolder) {
    TemporaryDirectory folder;
    const ProcessResult result = run_process({"/bin/sh", "-c", "pwd -P"}, folder.path());
    EXPECT_EQ(result.status, 0);
    EXPECT_THAT(result.standard_output, HasSubstr(folder.path()));
}

TEST(Subprocess, ArgumentsArriveAsTheyAre) {
    TemporaryDirectory folder;
    const std::string odd = "a 'b' \"c\" $HOME `d` \\ *";
    const ProcessResult result =
        run_process({"/bin/sh", "-c", R"(printf '%s|' "$@")", "sh", odd, "", "-n"}, folder.path());
    EXPECT_EQ(result.standard_output, odd + "||-n|");
}

TEST(Subprocess, FolderMayHaveAnyName) {
    TemporaryDirectory folder;
    const std::string inner = folder.path() + "/it's $HOME";
    ASSERT_EQ(run_process({"/bin/mkdir", inner}, folder.path()).status, 0);
    EXPECT_EQ(run_process({"/bin/sh", "-c", "pwd -P"}, inner).standard_output, inner + "\n");
}

TEST(Subprocess, ReturnsStatusAndSignal) {
    TemporaryDirectory folder;
    const ProcessResult ended =
        run_process({"/bin/sh", "-c", "echo no >&2; exit 3"}, folder.path());
    EXPECT_EQ(ended.status, 3);
    EXPECT_EQ(ended.standard_error, "no\n");
    EXPECT_EQ(run_process({"/bin/sh", "-c", "kill -9 $$"}, folder.path()).status, 128 + 9);
}

TEST(Subprocess, NamesAProgramThatCannotBeStarted) {
    TemporaryDirectory folder;
    try {
        (void)run_process({"/no/such/nvcc", "-c"}, folder.path());
        FAIL() << "no exception";
    } catch (const std::system_error &error) {
        EXPECT_THAT(error.what(), HasSubstr("cannot start '/no/such/nvcc'"));
        EXPECT_EQ(error.code().value(), ENOENT);
    }
}

TEST(Subprocess, FolderThatIsMissingIsAFailure) {
    const ProcessResult result = run_process({"/bin/true"}, "/no/such/folder");
    EXPECT_NE(result.status, 0);
    EXPECT_THAT(result.standard_error, HasSubstr("/no/such/folder"));
}
