// trace.cpp -- prints traced driver calls.
#include "driver/trace.h"

#include <pycuda/error.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pycuda {

bool trace_wanted() {
    const char *value = std::getenv("PYCUDA_TRACE");
    return value && *value && std::strcmp(value, "0") != 0;
}

namespace trace {
namespace {
constexpr std::size_t longest_string = 60;
thread_local const ExpectedResult *expected_result = nullptr;
} // namespace

ExpectedResult::ExpectedResult(CUresult code, const char *meaning) noexcept
    : code_(code), meaning_(meaning), outer_(expected_result) {
    expected_result = this;
}
ExpectedResult::~ExpectedResult() { expected_result = outer_; }

void append_pointer(std::string &text, const void *pointer) {
    if (pointer)
        append_address(text, reinterpret_cast<std::uintptr_t>(pointer));
    else
        text += "null";
}

void append_address(std::string &text, std::uint64_t address) {
    char buffer[24];
    std::snprintf(buffer, sizeof buffer, "0x%llx", static_cast<unsigned long long>(address));
    text += buffer;
}

void append_string(std::string &text, const char *string) {
    if (!string) {
        text += "null";
        return;
    }
    std::size_t length = strnlen(string, longest_string + 1);
    text += '"';
    text.append(string, std::min(length, longest_string));
    text += length > longest_string ? "...\"" : "\"";
}

void write_line(const char *function, const std::string &arguments, CUresult result,
                std::chrono::nanoseconds took) {
    char time[32];
    std::snprintf(time, sizeof time, "  %.1f us\n", static_cast<double>(took.count()) / 1000.0);
    std::string line = "pycuda: ";
    line.append(function).append("(").append(arguments).append(") = ");
    line.append(result_name(result));
    if (expected_result && expected_result->code_ == result)
        line.append(", expected: ").append(expected_result->meaning_);
    line.append(time);
    std::fwrite(line.data(), 1, line.size(),
                stderr); // one call for each line: threads do not mix their lines
}

} // namespace trace
} // namespace pycuda
