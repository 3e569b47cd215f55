// fake_fixture.h -- a current context of the fake driver, for one test.
#pragma once

#include "fake_driver.h"

#include <pycuda/pycuda.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string_view>

namespace pycuda {

/// The fake driver's records.
inline FakeDriver &fake() {
    return *reinterpret_cast<FakeDriver *(*)()>(driver().symbol("fake_driver"))();
}

/// The message of an Error of type `E` that `call` throws; "" if it throws none.
template <class E = Error, class Call> std::string message_of(Call &&call) {
    try {
        call();
    } catch (const E &error) {
        return error.what();
    }
    return "";
}

class FakeDevice : public testing::Test {
  protected:
    FakeDevice() : context_(Context::primary(Device(0))), scope_(context_) {
        fake().memory_size = 1 << 20;
        fake().stream_is_busy = false;
    }
    static Module load(std::string_view text) {
        return Module::load(std::as_bytes(std::span(text)));
    }

    Context context_;
    ScopedContext scope_;
};

} // namespace pycuda
