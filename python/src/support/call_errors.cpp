// call_errors.cpp -- error messages for calls with arguments that a bound function does not accept.
//
// nanobind has no hook for its message "incompatible function arguments". So each bound function
// gets another entry point, which calls nanobind's entry point and checks the result. nanobind has
// only a few entry points, selected by the number of arguments. Each has a row in a table here, so
// that finding the original costs one load. The position of the entry point in a function object is
// in a private header of the nanobind that is compiled into this module.
#include "support/call_errors.h"

#include "support/python_object.h"

#include <nb_internals.h>

#include <array>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace pycuda::python {
namespace {

constexpr std::size_t most_entries = 8;
/// Bits of vectorcall's argument count above this mask are flags of Python and nanobind.
constexpr std::size_t most_arguments = 0xffffffff;
std::array<vectorcallfunc, most_entries> originals{};

vectorcallfunc &entry_of(PyObject *function) noexcept {
    return reinterpret_cast<nb::detail::nb_func *>(function)->vectorcall;
}

/// Fetches Python's error if it is nanobind's error for the arguments of this call; else keeps it.
bool take_error_of_arguments() {
    nb::python_error error; // fetches the error
    if (error.matches(PyExc_TypeError) &&
        std::strstr(nb::str(error.value()).c_str(), "(): incompatible function arguments.") !=
            nullptr)
        return true;
    error.restore();
    return false;
}

/// Sets an error that names the argument.
void explain(PyObject *function, PyObject *const *args, std::size_t count, PyObject *names) {
    nb::list positional;
    for (std::size_t i = 0; i < count; ++i)
        positional.append(nb::handle(args[i]));
    nb::dict keywords;
    const Py_ssize_t named = names == nullptr ? 0 : PyTuple_Size(names);
    for (Py_ssize_t i = 0; i < named; ++i)
        keywords[nb::handle(PyTuple_GetItem(names, i))] =
            nb::handle(args[count + static_cast<std::size_t>(i)]);
    const nb::object words = nb::module_::import_("pycuda._call_errors")
                                 .attr("explain")(nb::handle(function), positional, keywords);
    PyErr_SetObject(PyExc_TypeError, words.ptr());
}

template <std::size_t entry>
PyObject *call(PyObject *function, PyObject *const *args, std::size_t count,
               PyObject *names) noexcept {
    PyObject *result = originals[entry](function, args, count, names);
    if (result != nullptr) [[likely]]
        return result;
    try {
        if (take_error_of_arguments())
            explain(function, args, count & most_arguments, names);
    } catch (nb::python_error &error) { // the search for the message failed: reports that failure
        error.restore();
    }
    return nullptr;
}

template <std::size_t... entry>
constexpr std::array<vectorcallfunc, sizeof...(entry)> make_calls(std::index_sequence<entry...>) {
    return {call<entry>...};
}
constexpr std::array calls = make_calls(std::make_index_sequence<most_entries>());

bool is_function(nb::handle object) {
    const nb::str name(nb::type_name(object.type()));
    return std::strcmp(name.c_str(), "nanobind.nb_func") == 0 ||
           std::strcmp(name.c_str(), "nanobind.nb_method") == 0;
}

void replace_entry(nb::handle function) {
    vectorcallfunc &entry = entry_of(function.ptr());
    for (vectorcallfunc known : calls)
        if (entry == known)
            return; // another name of the same function
    for (std::size_t i = 0; i < most_entries; ++i)
        if (originals[i] == entry || originals[i] == nullptr) {
            originals[i] = entry;
            entry = calls[i];
            return;
        }
    throw std::logic_error("nanobind has more entry points than call_errors.cpp has rows");
}

/// A copy, because a class's __dict__ may be a proxy.
nb::dict members_of(nb::handle owner) {
    return nb::borrow<nb::dict>(
        nb::module_::import_("builtins").attr("dict")(nb::object(owner.attr("__dict__"))));
}

/// A function, or a property's two functions.
void visit_member(nb::handle member) {
    if (is_function(member))
        return replace_entry(member);
    for (const char *part : {"fget", "fset"})
        if (nb::object accessor = optional_attribute(member, part);
            accessor.is_valid() && is_function(accessor))
            replace_entry(accessor);
}

} // namespace

void describe_call_errors(nb::module_ &module) {
    for (nb::handle value : members_of(module).values()) {
        if (is_function(value))
            replace_entry(value);
        if (!PyType_Check(value.ptr()))
            continue;
        for (auto [name, member] : members_of(value)) {
            if (PyType_Check(member.ptr()))
                continue;
            visit_member(member);
            if (nb::object bound = nb::getattr(value, name, nb::none()); is_function(bound))
                replace_entry(
                    bound); // the function that a descriptor of ours returns for the class
        }
    }
}

} // namespace pycuda::python
