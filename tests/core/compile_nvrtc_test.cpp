// compile_nvrtc_test.cpp -- compiles users' sources with NVRTC.
#include <gmock/gmock.h>

#include <sys/wait.h>
#include <unistd.h>

#include "compile/compilers/compiler_search.h"
#include "compile_fixture.h"
#include "pycuda/kernel_signature.h"

using namespace pycuda;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

class NvrtcTest : public CompileTest {
  protected:
    /// The names of the kernels in the compiled source.
    static std::vector<std::string> kernels_of(CompileRequest request) {
        request.target = ImageKind::Ptx;
        request.compiler = CompilerChoice::Nvrtc;
        std::vector<std::string> names;
        for (const PtxEntry &entry : read_ptx_entries(compile(request).image))
            names.push_back(entry.name);
        return names;
    }
    static std::vector<std::string> kernels_of(const std::string &source) {
        return kernels_of(request_for(source));
    }
};

} // namespace

TEST_F(NvrtcTest, MakesACubin) {
    CompileResult result = compile(request_for(doublify));
    EXPECT_EQ(result.kind, ImageKind::Cubin);
    EXPECT_EQ(result.arch, "sm_86");
    EXPECT_THAT(result.image, StartsWith("\x7f"
                                         "ELF"));
    EXPECT_EQ(result.log, "");
    EXPECT_EQ(result.command_line.front(), "nvrtc");
}

TEST_F(NvrtcTest, MakesPtx) {
    CompileRequest request = request_for(doublify);
    request.target = ImageKind::Ptx;
    CompileResult result = compile(request);
    EXPECT_EQ(result.kind, ImageKind::Ptx);
    EXPECT_EQ(result.arch, "compute_86");
    EXPECT_THAT(result.image, AllOf(HasSubstr(".target sm_86"), HasSubstr(".entry doublify(")));
}

TEST_F(NvrtcTest, MinimalBuiltinsLackTextures) {
    const std::string fetch = "__global__ void fetch(float *x, cudaTextureObject_t t) {}";
    CompileRequest request = request_for(fetch);
    EXPECT_EQ(kernels_of(request), std::vector<std::string>{"fetch"});
    request.builtins = Builtins::Minimal;
    EXPECT_THROW(static_cast<void>(compile(request)), CompileError);
    request.source = "__global__ void root(float *x) { *x = sqrtf(*x) + __int_as_float(3); }";
    EXPECT_EQ(kernels_of(request), std::vector<std::string>{"root"});
}

TEST_F(NvrtcTest, NewerDeviceGetsPtx) {
    CompileRequest request = request_for(doublify);
    request.device = ComputeCapability{99, 0};
    CompileResult result = compile(request);
    EXPECT_EQ(result.kind, ImageKind::Ptx);
    EXPECT_THAT(result.arch, StartsWith("compute_1"));
}

TEST_F(NvrtcTest, OlderDeviceIsAnError) {
    CompileRequest request = request_for(doublify);
    request.device = ComputeCapability{3, 5};
    EXPECT_THAT(failure_of(request).message(), HasSubstr("3.5 was requested"));
}

TEST_F(NvrtcTest, PtxasReportsForBothTargets) {
    for (ImageKind target : {ImageKind::Cubin, ImageKind::Ptx}) {
        CompileRequest request = request_for(doublify);
        request.options = {"--ptxas-options=-v"};
        request.target = target;
        CompileResult result = compile(request);
        EXPECT_EQ(result.kind, target);
        EXPECT_THAT(result.log, AllOf(HasSubstr("ptxas info    : Used "), HasSubstr("registers"),
                                      HasSubstr("Compiling entry function 'doublify'")));
        EXPECT_EQ(compile(request).log, result.log) << "the cache keeps what was said";
    }
}

TEST_F(NvrtcTest, ErrorHasTheUsersLine) {
    CompileError error = failure_of(request_for("\n\n__global__ void f(int *a) {\n"
                                                "  a[0] = undefined_thing;\n}\n"));
    EXPECT_EQ(error.message(), "nvrtc compilation of kernel.cu failed");
    EXPECT_THAT(error.standard_error(),
                HasSubstr("kernel.cu(4): error: identifier \"undefined_thing\" is undefined"));
    EXPECT_EQ(error.standard_output(), "");
    EXPECT_EQ(error.command_line().front(), "nvrtc");
    EXPECT_THAT(error.what(), AllOf(HasSubstr("\n[command: nvrtc "), HasSubstr("\n[stderr:\n")));
}

TEST_F(NvrtcTest, LineNumbersAreRightAfterIncludes) {
    CompileError error = failure_of(request_for("#include <stdio.h>\n#include <cuda_runtime.h>\n"
                                                "__global__ void f() { nothing(); }\n"));
    EXPECT_THAT(error.standard_error(), HasSubstr("kernel.cu(3): error"));
}

TEST_F(NvrtcTest, WarningsOfASuccessAreStored) {
    CompileResult result = compile(request_for("__global__ void f() {\n int unused;\n}\n"));
    EXPECT_THAT(result.log, HasSubstr("kernel.cu(2): warning"));
}

TEST_F(NvrtcTest, UnknownOptionIsNamed) {
    CompileRequest request = request_for(doublify);
    request.compiler = CompilerChoice::Nvrtc;
    request.options = {"--frobnicate"};
    EXPECT_THAT(failure_of(request).message(), HasSubstr("unrecognized option --frobnicate"));
}

TEST_F(NvrtcTest, OptionOfNvccAloneIsNamed) {
    CompileRequest request = request_for(doublify);
    request.compiler = CompilerChoice::Nvrtc;
    request.options = {"--source-in-ptx"};
    EXPECT_EQ(failure_of(request).message(),
              "NVRTC has no option '--source-in-ptx', only nvcc has");
}

TEST_F(NvrtcTest, PlainNamesUnlessLinkageIsCxx) {
    EXPECT_THAT(kernels_of(doublify), testing::ElementsAre("doublify"));
    CompileRequest request = request_for(doublify);
    request.linkage = Linkage::Cxx;
    EXPECT_THAT(kernels_of(request), testing::ElementsAre("_Z8doublifyPf"));
}

TEST_F(NvrtcTest, HostHeadersHaveReplacements) {
    EXPECT_THAT(kernels_of("#include <stdio.h>\n#include <stdlib.h>\n#include <math.h>\n"
                           "#include <stdint.h>\n#include <float.h>\n#include <assert.h>\n"
                           "#include <limits.h>\n#include <string.h>\n#include <cuda.h>\n"
                           "#include <cmath>\n#include <cstdint>\n#include <device_functions.h>\n"
                           "__global__ void f(float *a, uint32_t n, std::int64_t m) {\n"
                           "  assert(n < INT_MAX);\n  printf(\"%d\", n);\n"
                           "  a[0] = std::sqrt(a[1]) * M_PI + FLT_MAX + INFINITY + UINT64_C(3);\n"
                           "}\n"),
                testing::ElementsAre("f"));
}

TEST_F(NvrtcTest, CudaHeadersWorkInsideTheWrap) {
    EXPECT_THAT(kernels_of("#include <cuda_fp16.h>\n#include <cuComplex.h>\n"
                           "__global__ void f(__half *a, cuFloatComplex c) {\n"
                           "  a[0] = __hadd(a[1], __float2half(cuCrealf(c)));\n}\n"),
                testing::ElementsAre("f"));
}

TEST_F(NvrtcTest, HeadersThatNvrtcCarriesAreUnpackedOnce) {
    const std::string source = "#include <cooperative_groups.h>\n#include <limits>\n"
                               "__global__ void f(float *a) {\n"
                               "  cooperative_groups::this_thread_block().sync();\n"
                               "  a[0] = std::numeric_limits<float>::max();\n}\n";
    EXPECT_THAT(kernels_of(source), testing::ElementsAre("f"));
    EXPECT_TRUE(std::filesystem::exists(cache_folder() / "cuda-headers"));
}

TEST_F(NvrtcTest, KernelsInTheUsersHeadersHavePlainNames) {
    write("include/kernels.cuh", "__global__ void inner(float *a) { a[0] = 1; }\n");
    CompileRequest request = request_for("#include <kernels.cuh>\n");
    request.include_dirs = {folder() / "include"};
    EXPECT_THAT(kernels_of(request), testing::ElementsAre("inner"));
}

TEST_F(NvrtcTest, TemplatesInTheUsersHeadersCompile) {
    write("include/add.h", "template <class T> __device__ T add(T a, T b) { return a + b; }\n");
    CompileRequest request =
        request_for("#include \"add.h\"\n__global__ void f(float *a) { a[0] = add(a[1], a[2]); }");
    request.options = {"-I", folder() / "include"};
    EXPECT_THAT(kernels_of(request), testing::ElementsAre("f"));
}

TEST_F(NvrtcTest, ErrorOfTemplatesInTheSourceHasAHint) {
    EXPECT_THAT(failure_of(request_for("template <class T> __global__ void f(T *a) {}")).message(),
                HasSubstr("pass no_extern_c"));
}

TEST_F(NvrtcTest, FunctionsWithoutAnnotationCompile) {
    EXPECT_THAT(kernels_of("constexpr int square(int x) { return x * x; }\n"
                           "__global__ void f(int *a) { a[0] = square(a[1]); }"),
                testing::Contains("f"));
}

TEST_F(NvrtcTest, DefinesReachTheSource) {
    CompileRequest request = request_for("__global__ void NAME(float *a) { a[0] = VALUE; }");
    request.options = {"-DNAME=renamed", "-D", "VALUE=3"};
    EXPECT_THAT(kernels_of(request), testing::ElementsAre("renamed"));
}

TEST_F(NvrtcTest, HeadersInTheFolderOfTheSourceAreFound) {
    write("src/beside.h", "#define NAME found\n");
    CompileRequest request = request_for("#include \"beside.h\"\n__global__ void NAME() {}");
    request.name = folder() / "src" / "kernel.cu";
    EXPECT_THAT(kernels_of(request), testing::ElementsAre("found"));
}

TEST_F(NvrtcTest, ZeroByteInTheSourceIsAnError) {
    EXPECT_EQ(failure_of(request_for(std::string("int x;\0int y;", 13))).message(),
              "the source has a zero byte at position 6 of 13");
}

TEST_F(NvrtcTest, MissingHeaderIsNamed) {
    CompileRequest request = request_for("#include \"no_such_header.h\"\n");
    request.compiler = CompilerChoice::Nvrtc;
    CompileError error = failure_of(request);
    EXPECT_THAT(error.message(), HasSubstr(": header 'no_such_header.h' was not found"));
    EXPECT_THAT(error.standard_error(), HasSubstr("kernel.cu(1)"));
    request.source = "#include <curand_missing.h>\n";
    EXPECT_THAT(failure_of(request).message(), HasSubstr("in the wheel nvidia-curand"));
}

TEST_F(NvrtcTest, NameExpressionsAreInstantiated) {
    CompileRequest request =
        request_for("template <class T> __global__ void scale(T *a) { a[0] *= 2; }");
    request.linkage = Linkage::Cxx;
    request.target = ImageKind::Ptx;
    request.name_expressions = {"scale<float>", "scale<double>"};
    CompileResult result = compile(request);
    ASSERT_EQ(result.lowered_names.size(), 2u);
    EXPECT_EQ(result.lowered_names[0].first, "scale<float>");
    EXPECT_THAT(result.image, HasSubstr(".entry " + result.lowered_names[0].second + "("));
    EXPECT_THAT(result.image, HasSubstr(".entry " + result.lowered_names[1].second + "("));
}

TEST_F(NvrtcTest, KeepDoesNotRemoveFiles) {
    CompileRequest request = request_for(doublify);
    request.keep = true;
    CompileResult result = compile(request);
    ASSERT_NE(result.kept_in, "");
    EXPECT_TRUE(std::filesystem::exists(result.kept_in + "/kernel.cu"));
    EXPECT_TRUE(std::filesystem::exists(result.kept_in + "/kernel.cubin"));
    std::filesystem::remove_all(result.kept_in);
}

TEST_F(NvrtcTest, SharedMemoryBeyondTheLimitIsPtxassError) {
    CompileError error = failure_of(request_for(
        "__global__ void f(int *a) { __shared__ int s[100000]; s[a[0]] = 1; a[1] = s[a[2]]; }"));
    EXPECT_THAT(error.standard_error(), HasSubstr("too much shared data"));
}

TEST_F(NvrtcTest, ErrorOfMissingNvrtcNamesThePackage) {
    try {
        compile_detail::throw_nvrtc_not_found({"/first", "/second"});
    } catch (const CompileError &error) {
        EXPECT_THAT(error.message(),
                    AllOf(HasSubstr("no NVRTC"), HasSubstr("pip install nvidia-cuda-nvrtc"),
                          HasSubstr("\n  /first\n  /second")));
    }
}

TEST_F(NvrtcTest, ExplicitFolderWithoutNvrtcIsNamed) {
    ScopedVariable nowhere("PYCUDA_NVRTC", folder().c_str());
    EXPECT_THAT(failure_of(request_for("__global__ void other() {}")).message(),
                StartsWith("PYCUDA_NVRTC is '" + folder().string() + "'; expected the path"));
}

TEST_F(NvrtcTest, BrokenNvrtcIsNamed) {
    const std::string library = write("libnvrtc.so.13", "not a library");
    ScopedVariable broken("PYCUDA_NVRTC", library.c_str());
    EXPECT_THAT(failure_of(request_for("__global__ void other() {}")).message(),
                AllOf(HasSubstr("cannot open NVRTC"), HasSubstr(library)));
}
