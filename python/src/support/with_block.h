// with_block.h -- context managers for objects that own resources of the driver.
#pragma once

#include "support/bindings.h"

namespace pycuda::python {

/// `with x:` calls the method `give_back` of x at the end of the block, unless x was released in
/// it.
template <class Class> void bind_with_block(Class &cls, const char *give_back) {
    using T = typename Class::Type;
    cls.def("__enter__", [](nb::object self) { return self; });
    cls.def("__exit__", [give_back](nb::handle self, nb::args) {
        const T &object = nb::cast<const T &>(self);
        bool done = false;
        if constexpr (requires { object.freed(); })
            done = object.freed();
        else
            done = object.closed();
        if (!done)
            self.attr(give_back)();
    });
}

} // namespace pycuda::python
