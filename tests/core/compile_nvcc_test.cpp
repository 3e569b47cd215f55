// compile_nvcc_test.cpp -- compiles with nvcc, if it is installed.
#include <gmock/gmock.h>

#include "compile/compilers/compiler_search.h"
#include "compile_fixture.h"

using namespace pycuda;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class NvccTest : public CompileTest {
  protected:
    void SetUp() override {
        CompileTest::SetUp();
        if (!compile_detail::find_nvcc("nvcc"))
            GTEST_SKIP() << "no nvcc on this machine";
    }
    static CompileRequest nvcc_request(std::string source) {
        CompileRequest request = request_for(std::move(source));
        request.compiler = CompilerChoice::Nvcc;
        return request;
    }
};

} // namespace

TEST_F(NvccTest, MakesACubinAndCachesIt) {
    CompileRequest request = nvcc_request(doublify);
    request.options = {"-Xptxas", "-v"};
    CompileResult result = compile(request);
    EXPECT_THAT(result.image, StartsWith("\x7f"
                                         "ELF"));
    EXPECT_THAT(result.log, HasSubstr("registers"));
    EXPECT_EQ(result.origin, ImageOrigin::Compiler);
    clear_memory_cache();
    EXPECT_EQ(compile(request).origin, ImageOrigin::DiskCache);
}

TEST_F(NvccTest, ErrorHasTheUsersLine) {
    CompileError error = failure_of(nvcc_request("\n__global__ void f() { nothing(); }\n"));
    EXPECT_THAT(error.message(), StartsWith("nvcc compilation of "));
    EXPECT_THAT(error.standard_error(), HasSubstr("kernel.cu(2): error"));
    EXPECT_THAT(error.command_line().front(), testing::EndsWith("nvcc"));
}

TEST_F(NvccTest, HostCodeAndFatbinsAreCompiledByNvcc) {
    CompileRequest request = request_for("#include <vector>\n"
                                         "__global__ void f() {}\n"
                                         "struct table { std::vector<int> rows; };\n");
    EXPECT_THAT(compile(request).command_line.front(), testing::EndsWith("nvcc"));
    request = request_for(doublify);
    request.target = ImageKind::Fatbin;
    EXPECT_EQ(compile(request).kind, ImageKind::Fatbin);
}

TEST_F(NvccTest, ErrorAfterNvrtcHasBothReasons) {
    const CompileError error =
        failure_of(request_for("#include <nowhere.h>\n__global__ void f() {}\n"));
    EXPECT_THAT(error.message(), StartsWith("nvcc compilation of "));
    EXPECT_THAT(error.message(), HasSubstr("header 'nowhere.h' was not found"));
    EXPECT_THAT(error.command_line().front(), testing::EndsWith("nvcc"));
}

TEST_F(NvccTest, NewerDeviceGetsPtx) {
    CompileRequest request = nvcc_request(doublify);
    request.device = ComputeCapability{99, 0};
    CompileResult result = compile(request);
    EXPECT_EQ(result.kind, ImageKind::Ptx);
    EXPECT_THAT(result.image, HasSubstr(".entry doublify("));
}

TEST_F(NvccTest, GencodeOfTheOptionsIsKept) {
    CompileRequest request = nvcc_request(doublify);
    request.options = {"-gencode", "arch=compute_80,code=sm_80"};
    EXPECT_EQ(compile(request).arch, "sm_80");
}

TEST_F(NvccTest, SourcesWithTheSameHostCodeGoToNvccAtOnce) {
    write("half.h", "#ifndef PLAIN\n#include <vector>\nstruct table { std::vector<int> rows; };\n"
                    "__device__ inline int size() { return sizeof(table); }\n#endif\n");
    const std::string include = "#include <half.h>\n";
    const std::string kernel = "__global__ void f(int *a) { a[0] = 1; }";
    CompileRequest plain = request_for("#define PLAIN\n" + kernel);
    CompileRequest first = request_for(include + kernel);
    CompileRequest next = request_for("#define PLAIN\n" + include + kernel);
    for (CompileRequest *request : {&plain, &first, &next}) {
        request->include_dirs = {folder()};
        request->linkage = Linkage::Cxx;
    }
    EXPECT_EQ(compile(next).command_line.front(), "nvrtc"); // as long as nothing is known
    clear_memory_cache();
    EXPECT_THAT(compile(first).command_line.front(), testing::EndsWith("nvcc"));
    next.source += " // not in the cache";
    EXPECT_THAT(compile(next).command_line.front(), testing::EndsWith("nvcc"));
    EXPECT_EQ(compile(plain).command_line.front(), "nvrtc"); // other includes
}

TEST_F(NvccTest, ChangedHeaderOfNvccsIsNoticed) {
    write("value.h", "#define VALUE 1\n");
    CompileRequest request =
        nvcc_request("#include <value.h>\n__global__ void f(int *a) { a[0] = VALUE; }");
    request.include_dirs = {folder()};
    CompileResult before = compile(request);
    write("value.h", "#define VALUE 22\n");
    clear_memory_cache();
    CompileResult after = compile(request);
    EXPECT_EQ(after.origin, ImageOrigin::Compiler);
    EXPECT_NE(before.image, after.image);
}

TEST_F(CompileTest, MissingNvccIsNamed) {
    CompileRequest request = request_for(doublify);
    request.compiler = CompilerChoice::Nvcc;
    request.nvcc = "/nowhere/nvcc";
    EXPECT_THAT(failure_of(request).message(), HasSubstr("'/nowhere/nvcc' was not found"));
    request.compiler = CompilerChoice::Auto;
    request.target = ImageKind::Fatbin;
    EXPECT_THAT(failure_of(request).message(), HasSubstr("the target fatbin needs nvcc"));
}
