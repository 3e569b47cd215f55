// fuzz_calls.h -- calls functions of an API in an order that the fuzzer's bytes select, from two
// threads at once.
#pragma once

#include "fuzz_driver_arguments.h"

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

namespace fuzz {

/// Calls `function` with arguments of its type.
using Caller = void (*)(void *function, Choices &choices, Handles &handles);

/// A Caller for a type of functions. `Arguments::draw<T>(draw)` makes an argument of type T.
template <class Arguments, class Function> struct CallOf;

template <class Arguments, class Result, class... Types>
struct CallOf<Arguments, Result (*)(Types...)> {
    static void call(void *function, Choices &choices, Handles &handles) {
        Draw draw(choices, handles);
        // Braces keep the order of the draws.
        std::tuple<Types...> drawn{Arguments::template draw<Types>(draw)...};
        std::apply(reinterpret_cast<Result (*)(Types...)>(function), drawn);
        draw.collect();
    }
};

struct Target {
    const char *name;
    void *function;
    Caller call;
};

/// Calls functions of `targets` until the bytes are used. The first thread has the first half of
/// the bytes, the second thread the rest. With FUZZ_TRACE in the environment, prints each call.
void call_from_two_threads(const std::vector<Target> &targets, Handles &handles,
                           std::span<const std::uint8_t> bytes);

} // namespace fuzz
