// with_block.h -- objects that own something of the driver as context managers.
#pragma once

#include "bindings.h"

namespace pycuda::python {

/// `with x:` calls x's method `give_back` at the end of the block, unless x was given back in it.
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
