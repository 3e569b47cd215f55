// bind_field.h -- attributes of a bound class for the members of a struct of the driver.
#pragma once

#include "support/python_object.h"

namespace pycuda::python {

/// An attribute that reads and writes `member` of the struct `Bound::*whole`.
template <class Bound, class Struct, class Value>
void bind_field(nb::class_<Bound> &type, const char *name, Struct Bound::*whole,
                Value Struct::*member, const char *doc) {
    type.def_prop_rw(
        name, [=](const Bound &object) { return object.*whole.*member; },
        [=](Bound &object, Value value) { object.*whole.*member = value; }, doc);
}

/// The same for an enum of the driver. Python sees a member of the class of constants
/// `enumeration`.
template <class Bound, class Struct, class Value>
void bind_enum_field(nb::class_<Bound> &type, const char *name, Struct Bound::*whole,
                     Value Struct::*member, const char *enumeration, const char *doc) {
    type.def_prop_rw(
        name,
        [=](const Bound &object) {
            return enum_member(enumeration, static_cast<int>(object.*whole.*member));
        },
        [=](Bound &object, int value) { object.*whole.*member = Value(value); }, doc);
}

} // namespace pycuda::python
