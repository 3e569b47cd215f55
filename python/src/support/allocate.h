// allocate.h -- allocates, and runs Python's garbage collector if memory is exhausted.
#pragma once

#include "support/bindings.h"

#include "launch/argument_pool.h"

#include <pycuda/error.h>
#include <pycuda/kept_objects.h>

namespace pycuda::python {

/// Runs the garbage collector, which frees device memory that unreachable objects hold.
inline void collect_garbage() {
    release_kept_objects();
    ArgumentPool::instance().free_held();
    nb::module_::import_("gc").attr("collect")();
}

/// Calls `allocate`. If memory is exhausted, collects garbage and calls it again.
template <class Allocate> auto allocate_or_collect(Allocate &&allocate) {
    try {
        return allocate();
    } catch (const Error &error) {
        if (error.kind() != ErrorKind::Memory)
            throw;
    }
    collect_garbage();
    return allocate();
}

} // namespace pycuda::python
