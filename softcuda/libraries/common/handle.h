// handle.h -- what the calls of a library with handles have in common.
//
// A library's handle is the address of its context: a structure that begins with the member
// `state`, which is Context::alive until the handle is destroyed. The memory of a destroyed context
// is kept for the next one, so that a late call with the handle reads no freed memory.
#pragma once

#include "call.h"
#include "count.h"
#include "openblas.h"
#include "session.h"

#include <cstdint>
#include <mutex>
#include <new>
#include <string>
#include <utility>
#include <vector>

namespace softlib {

/// Throws Failure(not initialised) for a null or destroyed handle.
template <class Context> Context &checked(Context *handle) {
    if (handle == nullptr || handle->state != Context::alive)
        throw Failure(statuses.not_initialized, "");
    return *handle;
}

/// A running function: its handle, its name for messages, and its checks.
template <class Context> struct HandleCall {
    Context &handle;
    const char *function;

    HandleCall(Context *handle, const char *function)
        : handle(checked(handle)), function(function) {}

    /// Throws Failure unless the device can use `count` bytes from `address`.
    void bytes(const void *address, Count count, const char *what) const {
        require(count.get() >= 0, what);
        handle.session.check_memory(address, static_cast<std::size_t>(count.get()), what);
    }
    /// The same for elements.
    template <class T> void check(const T *address, Count count, const char *what) const {
        bytes(address, count * sizeof(T), what);
    }
    /// Puts `work` into the handle's stream. `operations` is the number of multiplications, about.
    /// The library's computations use all threads if its context has needs_openblas.
    template <class Work> void enqueue(double operations, Work &&work) const {
        constexpr Threads threads =
            requires { Context::needs_openblas; } ? Threads::All : Threads::One;
        handle.session.enqueue(function, std::forward<Work>(work), operations, threads);
    }
    /// Puts `work` into the stream and waits for it, for results in the host's memory.
    template <class Work> void run(Work &&work) const {
        handle.session.run(function, std::forward<Work>(work));
    }
};

/// The memory of destroyed contexts.
template <class Context> struct Vacant {
    std::mutex mutex;
    std::vector<void *> places;

    static Vacant &get() {
        static auto *const made = new Vacant; // threads may use handles while the process ends
        return *made;
    }
};

/// Makes a context, and gives its handle. A library that cannot work without OpenBLAS says so by
/// the member `needs_openblas` of its context.
template <class Context> void make_handle(Context **handle) {
    require(handle != nullptr, "handle");
    *handle = nullptr;
    if constexpr (requires { Context::needs_openblas; })
        require_openblas();
    Vacant<Context> &vacant = Vacant<Context>::get();
    void *place = nullptr;
    {
        std::lock_guard lock(vacant.mutex);
        if (vacant.places.capacity() == vacant.places.size())
            vacant.places.reserve(2 * vacant.places.size() + 16); // destroy() cannot fail
        if (!vacant.places.empty()) {
            place = vacant.places.back();
            vacant.places.pop_back();
        }
    }
    if (place == nullptr)
        place = ::operator new(sizeof(Context), std::align_val_t{alignof(Context)});
    try {
        *handle = new (place) Context;
    } catch (...) {
        std::lock_guard lock(vacant.mutex);
        vacant.places.push_back(place);
        throw;
    }
}

/// Destroys a context of make_handle().
template <class Context> void destroy(Context *handle) {
    static_cast<void>(checked(handle));
    handle->~Context();
    new (handle) decltype(handle->state){};
    Vacant<Context> &vacant = Vacant<Context>::get();
    std::lock_guard lock(vacant.mutex);
    vacant.places.push_back(handle);
}

/// The product of sizes, for HandleCall::enqueue().
template <class... Sizes> double operations(Sizes... sizes) {
    return (static_cast<double>(sizes) * ...);
}

/// The number for OpenBLAS, whose integers have 32 bits. Throws Failure(not supported).
inline int narrow(std::int64_t value) {
    if (value != static_cast<int>(value))
        throw Failure(statuses.not_supported, "more than 2^31 - 1 elements in one dimension");
    return static_cast<int>(value);
}

/// Throws Failure unless an address of a batch, read while the stream runs, has this many elements.
template <class T> void check_batched(const T *data, Count count, const char *what) {
    const Count bytes = count * sizeof(T);
    if (bytes.get() > 0 && !is_readable(data, static_cast<std::size_t>(bytes.get())))
        throw Failure(statuses.execution_failed,
                      std::string(what) + " of a batch is no memory of a device");
}

} // namespace softlib

/// Defines an exported function. `handle` is one of its parameters; its body sees `call`, of the
/// type `Call`, which derives from HandleCall.
#define SOFTLIB_HANDLE_FUNCTION(Call, name, parameters, ...)                                       \
    SOFTLIB_FUNCTION(name, parameters, [[maybe_unused]] const Call call(handle, #name); __VA_ARGS__)

/// Defines prefixCreate and prefixDestroy, with a suffix.
#define SOFTLIB_HANDLE_LIFE(Call, Handle, prefix, suffix)                                          \
    SOFTLIB_FUNCTION(prefix##Create##suffix, (Handle * handle), softlib::make_handle(handle))      \
    SOFTLIB_HANDLE_FUNCTION(Call, prefix##Destroy##suffix, (Handle handle), {                      \
        call.handle.session.finish();                                                              \
        softlib::destroy(handle);                                                                  \
    })

/// Defines prefixSetStream and prefixGetStream, with a suffix.
#define SOFTLIB_HANDLE_STREAM(Call, Handle, prefix, suffix)                                        \
    SOFTLIB_HANDLE_FUNCTION(Call, prefix##SetStream##suffix, (Handle handle, CUstream stream),     \
                            call.handle.session.set_stream(stream))                                \
    SOFTLIB_HANDLE_FUNCTION(Call, prefix##GetStream##suffix, (Handle handle, CUstream * stream), { \
        softlib::require(stream != nullptr, "stream");                                             \
        *stream = call.handle.session.stream();                                                    \
    })
