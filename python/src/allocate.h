// allocate.h -- allocation that gives Python a chance to drop garbage first.
#pragma once

#include "bindings.h"

#include "pending_buffers.h"
#include "stand_in_pool.h"

#include <pycuda/error.h>

namespace pycuda::python {

/// Lets Python drop what holds memory of the device without need.
inline void collect_garbage() {
    PendingBuffers::instance().release_finished();
    StandInPool::instance().free_held();
    nb::module_::import_("gc").attr("collect")();
}

/// Calls `allocate`; where memory is out, collects garbage and tries once more.
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
