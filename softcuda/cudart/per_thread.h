// per_thread.h -- defines the version of a function in which the null stream is the per-thread
// stream.
#pragma once

#include "default_stream.h"

namespace softcudart {

template <auto Function> struct PerThread;

template <class Result, class... Arguments, Result (*Function)(Arguments...)>
struct PerThread<Function> {
    static Result call(Arguments... arguments) {
        const PerThreadDefaultStream scope;
        return Function(arguments...);
    }
};

} // namespace softcudart

/// Defines `form` with the parameters of `plain` without listing them, as an indirect function
/// (ifunc): the dynamic linker calls its resolver once, before a sanitizer is initialised.
#define CUDART_DEFINE_PER_THREAD(plain, form)                                                      \
    extern "C" __attribute__((                                                                     \
        no_sanitize("address", "thread", "undefined"))) decltype(&plain) resolve_##form() {        \
        return &softcudart::PerThread<&plain>::call;                                               \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"))) decltype(plain) form                         \
        __attribute__((ifunc("resolve_" #form)));
