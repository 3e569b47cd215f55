// code_ranges_test.cpp -- reads the ranges of generated code while another thread changes them.
#include "check.h"

#include "rt/code_ranges.h"

#include <atomic>
#include <thread>

using namespace softcuda;

namespace {

const void *at(std::uint64_t address) { return reinterpret_cast<const void *>(address); }

void test_ranges_begin_and_end() {
    rt::register_code(at(0x1000), 0x10);
    CHECK(rt::is_generated_code(0x1000));
    CHECK(rt::is_generated_code(0x100f));
    CHECK(!rt::is_generated_code(0x1010));
    CHECK(!rt::is_generated_code(0xfff));
    rt::unregister_code(at(0x1000));
    CHECK(!rt::is_generated_code(0x1000));
    CHECK(!rt::is_generated_code(0));
}

// Two ranges have one slot in turn. The begin of one and the end of the other contain an address
// that is in neither.
void test_a_range_is_read_as_a_whole() {
    constexpr std::uint64_t kAlways = 0x900000, kNever = 0x50000;
    rt::register_code(at(kAlways), 0x10);
    std::atomic<bool> done = false;
    std::thread writer([&] {
        while (!done) {
            rt::register_code(at(0x1000), 0x10);
            rt::unregister_code(at(0x1000));
            rt::register_code(at(0x100000), 0x10);
            rt::unregister_code(at(0x100000));
        }
    });
    for (int i = 0; i < 3'000'000; ++i) {
        CHECK(rt::is_generated_code(kAlways));
        CHECK(!rt::is_generated_code(kNever));
    }
    done = true;
    writer.join();
    rt::unregister_code(at(kAlways));
}

} // namespace

int main() {
    test_ranges_begin_and_end();
    test_a_range_is_read_as_a_whole();
    return test::status();
}
