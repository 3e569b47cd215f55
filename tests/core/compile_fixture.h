// compile_fixture.h -- a separate folder and environment for each test of the compiler.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "pycuda/compiler.h"

/// Finds NVRTC in the test's Python environment, independent of the user's environment, and keeps
/// every cache in a temporary folder.
class CompileTest : public testing::Test {
  protected:
    void SetUp() override;
    void TearDown() override;

    /// A request for sm_86 with this source.
    static pycuda::CompileRequest request_for(std::string source);

    /// Writes a file below folder() and returns its path.
    std::string write(const std::string &name, const std::string &content) const;

    const std::filesystem::path &folder() const { return folder_; }
    std::filesystem::path cache_folder() const { return folder_ / "cache"; }

    /// The CompileError of a request that must fail.
    static pycuda::CompileError failure_of(const pycuda::CompileRequest &request);

  private:
    std::filesystem::path folder_;
};

/// Sets an environment variable in a scope; null unsets it.
class ScopedVariable {
  public:
    ScopedVariable(const char *name, const char *value);
    ~ScopedVariable();

  private:
    const char *name_;
    bool was_set_;
    std::string old_;
};

inline const char *const doublify = R"(
  __global__ void doublify(float *a)
  {
    int idx = threadIdx.x + threadIdx.y*4;
    a[idx] *= 2;
  }
)";
