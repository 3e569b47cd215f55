// per_thread.h -- makes the form of a function whose default stream is the thread's own.
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

/// Defines `form` with the parameters of `plain` and without a list of them: an indirect function,
/// whose address the dynamic linker asks for once. A sanitizer is not ready at that time.
#define CUDART_DEFINE_PER_THREAD(plain, form)                                                      \
    extern "C" __attribute__((                                                                     \
        no_sanitize("address", "thread", "undefined"))) decltype(&plain) resolve_##form() {        \
        return &softcudart::PerThread<&plain>::call;                                               \
    }                                                                                              \
    extern "C" __attribute__((visibility("default"))) decltype(plain) form                         \
        __attribute__((ifunc("resolve_" #form)));
