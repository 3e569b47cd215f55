// fuzz_calls.cpp -- the loops of two threads.
#include "fuzz_calls.h"

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace fuzz {
namespace {

void run(const std::vector<Target> &targets, Choices choices, Handles &handles) {
    static const bool trace = std::getenv("FUZZ_TRACE") != nullptr;
    handles.make_context_current();
    while (!choices.empty()) {
        const Target &target = targets[choices.word() % targets.size()];
        if (trace)
            std::fprintf(stderr, "%s\n", target.name);
        target.call(target.function, choices, handles);
    }
}

} // namespace

void call_from_two_threads(const std::vector<Target> &targets, Handles &handles,
                           std::span<const std::uint8_t> bytes) {
    std::thread other([&] { run(targets, Choices(bytes.subspan(bytes.size() / 2)), handles); });
    run(targets, Choices(bytes.first(bytes.size() / 2)), handles);
    other.join();
}

} // namespace fuzz
