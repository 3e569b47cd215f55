// compile_fixture.cpp -- a separate folder and environment for each test of the compiler.
#include "compile_fixture.h"

#include <cstdlib>

#include <unistd.h>

namespace fs = std::filesystem;

void CompileTest::SetUp() {
    std::string name = (fs::temp_directory_path() / "compile-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    for (const char *variable :
         {"CUDA_HOME", "CUDA_PATH", "PYCUDA_NVRTC", "PYCUDA_DISABLE_CACHE", "PYCUDA_CACHE_SIZE"})
        ::unsetenv(variable);
    ::setenv("PYCUDA_CACHE_DIR", cache_folder().c_str(), 1);
    pycuda::add_search_directory(PYTHON_SITE_PACKAGES);
    pycuda::clear_memory_cache();
}

void CompileTest::TearDown() { fs::remove_all(folder_); }

pycuda::CompileRequest CompileTest::request_for(std::string source) {
    pycuda::CompileRequest request;
    request.source = std::move(source);
    request.device = pycuda::ComputeCapability{8, 6};
    return request;
}

std::string CompileTest::write(const std::string &name, const std::string &content) const {
    const fs::path path = folder_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << content;
    return path;
}

pycuda::CompileError CompileTest::failure_of(const pycuda::CompileRequest &request) {
    try {
        (void)pycuda::compile(request);
    } catch (const pycuda::CompileError &error) {
        return error;
    }
    ADD_FAILURE() << "the compilation succeeded";
    return pycuda::CompileError("no failure");
}

ScopedVariable::ScopedVariable(const char *name, const char *value) : name_(name) {
    const char *old = std::getenv(name);
    was_set_ = old != nullptr;
    old_ = old ? old : "";
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
}

ScopedVariable::~ScopedVariable() {
    was_set_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_);
}
