// device_fixture.h -- the first device of the driver that PYCUDA_DRIVER chooses, real or software.
#pragma once

#include <pycuda/pycuda.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>

namespace pycuda {

/// The message of an Error of type `E` that `call` throws; "" if it throws none.
template <class E = Error, class Call> std::string message_of(Call &&call) {
    try {
        call();
    } catch (const E &error) {
        return error.what();
    }
    return "";
}

/// A test with a current context.
class OnDevice : public testing::Test {
  protected:
    OnDevice() : device_(first_device()), context_(Context::primary(device_)), scope_(context_) {}

    /// Compiles for the device, loads, and passes the parameters' declarations to the module.
    Module compile_module(const std::string &source) const {
        CompileResult compiled = compile({.source = source,
                                          .device = device_.compute_capability(),
                                          .target = driver().image_kind()});
        Module module = Module::load(std::as_bytes(std::span(compiled.image)));
        module.describe_from_source(source);
        return module;
    }

    Device device_;
    Context context_;
    ScopedContext scope_;

  private:
    static Device first_device() {
        add_search_directory(PYTHON_SITE_PACKAGES); // NVRTC in the build's environment
        init();
        return Device(0);
    }
};

} // namespace pycuda
