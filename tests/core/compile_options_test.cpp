// compile_options_test.cpp -- the translation of nvcc's options to NVRTC's, and architectures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "compile/compilers/architecture.h"
#include "compile/compilers/compiler_options.h"
#include "pycuda/compile_error.h"

using namespace pycuda;
using namespace pycuda::compile_detail;
using testing::ElementsAre;
using testing::HasSubstr;
using Words = std::vector<std::string>;

namespace {

struct Row {
    Words nvcc;
    Words nvrtc;
};

void PrintTo(const Row &row, std::ostream *out) {
    for (const std::string &word : row.nvcc)
        *out << word << ' ';
}

class OptionTable : public testing::TestWithParam<Row> {};

std::string message_of(const Words &options) {
    try {
        (void)translate_options(options);
    } catch (const CompileError &error) {
        return error.message();
    }
    return "no error";
}

} // namespace

TEST_P(OptionTable, BecomesNvrtcs) {
    CompilerOptions options = translate_options(GetParam().nvcc);
    EXPECT_EQ(options.nvrtc, GetParam().nvrtc);
    EXPECT_THAT(options.only_nvcc, ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(
    Options, OptionTable,
    testing::Values(
        Row{{"-DX"}, {"-DX"}}, Row{{"-D", "X=1"}, {"-DX=1"}}, Row{{"-DX=1"}, {"-DX=1"}},
        Row{{"-D=X"}, {"-DX"}}, Row{{"--define-macro=X"}, {"-DX"}},
        Row{{"--define-macro", "X=\"a b\""}, {"-DX=\"a b\""}}, Row{{"-UX"}, {"-UX"}},
        Row{{"-U", "X"}, {"-UX"}}, Row{{"-D X"}, {"-DX"}},
        Row{{"--use_fast_math"}, {"--use_fast_math"}}, Row{{"-use_fast_math"}, {"--use_fast_math"}},
        Row{{"-std=c++17"}, {"--std=c++17"}}, Row{{"--std", "c++14"}, {"--std=c++14"}},
        Row{{"-O3"}, {}}, Row{{"-O", "2"}, {}}, Row{{"--optimize=3"}, {}},
        Row{{"--ptxas-options=-v"}, {"--ptxas-options=-v"}},
        Row{{"-Xptxas", "-v"}, {"--ptxas-options=-v"}}, Row{{"-Xptxas=-v"}, {"--ptxas-options=-v"}},
        Row{{"-Xptxas", "-v,-O1"}, {"--ptxas-options=-v", "--ptxas-options=-O1"}},
        Row{{"-Xptxas", "-v -O1"}, {"--ptxas-options=-v", "--ptxas-options=-O1"}},
        Row{{"-res-usage"}, {"--ptxas-options=-v"}},
        Row{{"-maxrregcount=32"}, {"--maxrregcount=32"}},
        Row{{"--maxrregcount", "32"}, {"--maxrregcount=32"}},
        Row{{"-lineinfo"}, {"--generate-line-info"}}, Row{{"-G"}, {"--device-debug"}},
        Row{{"-g"}, {}}, Row{{"-m64"}, {}}, Row{{"-w"}, {"--disable-warnings"}},
        Row{{"-e", "f"}, {}}, Row{{"--Wreorder", "--entries=f,g"}, {}},
        Row{{"-Xcompiler", "-fPIC"}, {}}, Row{{"--compiler-options", "-Wall,-O2"}, {}},
        Row{{"--compiler-options=-P"}, {}}, Row{{"-ccbin", "g++-12"}, {}}, Row{{"-lcudadevrt"}, {}},
        Row{{"-L/usr/lib"}, {}}, Row{{"-l", "cudadevrt"}, {}},
        Row{{"--expt-relaxed-constexpr"}, {"--device-as-default-execution-space"}},
        Row{{"--extended-lambda"}, {}}, Row{{"-rdc=true"}, {"--relocatable-device-code=true"}},
        Row{{"-dc"}, {"--device-c"}}, Row{{"-dlto"}, {"--dlink-time-opt"}},
        Row{{"--fmad=false"}, {"--fmad=false"}}, Row{{"-ftz", "true"}, {"--ftz=true"}},
        Row{{"-Xcudafe", "--diag_suppress=177"}, {"--diag-suppress=177"}},
        Row{{"-diag-suppress", "177,550"}, {"--diag-suppress=177,550"}},
        Row{{"-Wno-deprecated-gpu-targets"}, {}}, Row{{"-include", "a.h"}, {"--pre-include=a.h"}},
        Row{{"-Werror", "all-warnings"}, {"--warning-as-error=all-warnings"}}, Row{{"-v"}, {}},
        Row{{""}, {}}, Row{{"--foo"}, {"--foo"}}, Row{{"-m32"}, {"-m32"}}));

TEST(CompilerOptions, IncludeFoldersBecomeAbsolute) {
    const std::string here = std::filesystem::current_path();
    EXPECT_THAT(translate_options({"-I/a", "-I", "b", "--include-path=/c/../d", "-isystem", "/e"})
                    .include_dirs,
                ElementsAre("/a", here + "/b", "/d", "/e"));
}

TEST(CompilerOptions, ArchitectureIsRemoved) {
    CompilerOptions options = translate_options({"-arch", "compute_80", "-code=sm_86"});
    EXPECT_EQ(options.arch, "compute_80");
    EXPECT_EQ(options.code, "sm_86");
    EXPECT_THAT(options.nvrtc, ElementsAre());
    EXPECT_EQ(translate_options({"--gpu-architecture=sm_75"}).arch, "sm_75");
    EXPECT_EQ(translate_options({"-arch=native"}).arch, "");
}

TEST(CompilerOptions, OneGencodeChoosesAndSeveralDoNot) {
    CompilerOptions one =
        translate_options({"-gencode", "arch=compute_86,code=[compute_86,sm_86]"});
    EXPECT_EQ(one.arch, "compute_86");
    EXPECT_EQ(one.code, "sm_86");
    CompilerOptions two = translate_options(
        {"-gencode=arch=compute_70,code=sm_70", "--generate-code", "arch=compute_86,code=sm_86"});
    EXPECT_EQ(two.arch + two.code, "");
}

TEST(CompilerOptions, PtxasReportIsNoticed) {
    EXPECT_TRUE(translate_options({"-Xptxas", "-O1,-v"}).wants_ptxas_report);
    EXPECT_TRUE(translate_options({"--resource-usage"}).wants_ptxas_report);
    EXPECT_FALSE(translate_options({"-Xptxas", "-O1"}).wants_ptxas_report);
}

TEST(CompilerOptions, OptionsOfNvccOnlyAreNamed) {
    EXPECT_THAT(translate_options({"--source-in-ptx"}).only_nvcc, ElementsAre("--source-in-ptx"));
    EXPECT_THAT(translate_options({"-Xcudafe", "--trace"}).only_nvcc,
                ElementsAre("-Xcudafe --trace"));
}

TEST(CompilerOptions, OptionsThatTheTargetDecidesAreErrors) {
    EXPECT_THAT(message_of({"--ptx"}), HasSubstr("'--ptx'"));
    EXPECT_THAT(message_of({"-o", "x"}), HasSubstr("'-o'"));
}

TEST(CompilerOptions, MissingValueIsAnError) {
    EXPECT_EQ(message_of({"-w", "-std"}), "compiler option '-std' needs a value");
}

namespace {

const std::vector<int> nvrtc13 = {75, 80, 86, 90, 100, 120};

std::string chosen(RequestedArchitecture requested) {
    return choose_architecture(requested, nvrtc13, "NVRTC 13.0").name();
}

std::string refusal(RequestedArchitecture requested) {
    try {
        return "no error but " + chosen(requested);
    } catch (const CompileError &error) {
        return error.message();
    }
}

constexpr ComputeCapability device(int number) { return {number / 10, number % 10}; }

} // namespace

TEST(Architecture, IsTheDevices) {
    EXPECT_EQ(chosen({"", "", device(86), ImageKind::Cubin}), "sm_86");
    EXPECT_EQ(chosen({"", "", device(86), ImageKind::Ptx}), "compute_86");
    EXPECT_EQ(chosen({"", "", std::nullopt, ImageKind::Cubin}), "sm_75");
}

TEST(Architecture, IsTheNamedOne) {
    EXPECT_EQ(chosen({"sm_90a", "", device(90), ImageKind::Cubin}), "sm_90a");
    EXPECT_EQ(chosen({"sm_90a", "", device(90), ImageKind::Ptx}), "compute_90a");
    EXPECT_EQ(chosen({"compute_80", "sm_86", device(86), ImageKind::Cubin}), "sm_86");
    EXPECT_EQ(chosen({"compute_80", "", device(86), ImageKind::Cubin}), "compute_80");
}

TEST(Architecture, NewerDeviceGetsPtx) {
    EXPECT_EQ(chosen({"", "", device(130), ImageKind::Cubin}), "compute_120");
    EXPECT_EQ(chosen({"sm_130", "", device(130), ImageKind::Cubin}), "compute_120");
    EXPECT_EQ(chosen({"", "", device(89), ImageKind::Cubin}), "compute_86");
}

TEST(Architecture, OlderDeviceIsAnError) {
    EXPECT_THAT(refusal({"", "", device(61), ImageKind::Cubin}),
                HasSubstr("NVRTC 13.0 compiles for compute capability 7.5 and newer, but 6.1"));
}

TEST(Architecture, UnknownNameIsAnError) {
    EXPECT_THAT(refusal({"sm_200", "", device(86), ImageKind::Cubin}),
                HasSubstr("does not support the architecture sm_200; it supports sm_75, sm_80"));
    for (const char *name : {"86", "sm_", "sm_8x", "volta", "all-major", "sm_90z"})
        EXPECT_THAT(refusal({name, "", device(86), ImageKind::Cubin}),
                    HasSubstr("'" + std::string(name) + "' is not a GPU architecture"));
}
