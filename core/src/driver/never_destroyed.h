// never_destroyed.h -- objects that exist until the process ends.
//
// Destructors of static objects, other threads and compilations may use them after main() returns.
#pragma once

namespace pycuda {

/// The object of this type, made at the first use. The type belongs to one source file.
template <class T> T &never_destroyed() {
    static T *const object = new T;
    return *object;
}

/// What `make()` returns, made at the first use: a table.
template <auto make> const auto &made_once() {
    static const auto *const made = new auto(make());
    return *made;
}

} // namespace pycuda
