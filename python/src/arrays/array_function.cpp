// array_function.cpp -- functions of arrays in Python: the entry of their work.
//
// A composite function creates arrays, loads kernels and calls other functions, all in the current
// context. So the context of its arrays is made current once, where the program enters it.
#include "arrays/array_function.h"

#include "arrays/array_object.h"
#include "support/bindings.h"
#include "support/errors.h"
#include "support/heap_type.h"

#include <pycuda/called_function.h>
#include <pycuda/noted_operation.h>

#include <nanobind/stl/string.h>

#include <structmember.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace pycuda::python {
namespace {

PyTypeObject *array_function_type = nullptr;

struct ArrayFunctionObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *attributes; ///< __dict__
    PyObject *weak_references;
    bool is_public; ///< whether programs know its name
};

ArrayFunctionObject &object_of(PyObject *self) {
    return *reinterpret_cast<ArrayFunctionObject *>(self);
}

void add_array(WorkContext &context, PyObject *argument) {
    if (is_array(argument))
        context.add(array_of(argument));
}

void add_items(WorkContext &context, PyObject *items) {
    const bool is_list = PyList_CheckExact(items);
    const Py_ssize_t count = is_list ? PyList_Size(items) : PyTuple_Size(items);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *item = is_list ? PyList_GetItem(items, i) : PyTuple_GetItem(items, i);
        if (item == nullptr) // another thread has shortened the list
            return PyErr_Clear();
        add_array(context, item);
    }
}

} // namespace

void add_contexts(WorkContext &context, PyObject *const *args, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
        if (PyList_CheckExact(args[i]) || PyTuple_CheckExact(args[i])) [[unlikely]]
            add_items(context, args[i]);
        else
            add_array(context, args[i]);
}

namespace {

/// "take()", "GPUArray.item()".
std::string describe(void *function) {
    const nb::gil_scoped_acquire lock;
    const nb::object name =
        nb::getattr(nb::handle(static_cast<PyObject *>(function)), "__qualname__", nb::str(""));
    const std::string text = nb::cast<std::string>(name);
    return text.empty() ? text : text + "()";
}

std::string text_of(nb::handle value);

std::string text_of_items(nb::handle items) {
    std::string text;
    for (nb::handle item : items)
        text += (text.empty() ? "" : ", ") + text_of(item);
    return text;
}

/// An argument in the name of an operation: "float32[1000, 300]", "[float32[2], float32[3]]", "1".
/// Calls no code of the program.
std::string text_of(nb::handle value) {
    constexpr std::size_t longest = 40;
    if (is_array(value.ptr()))
        return shape_and_type(array_of(value.ptr()));
    if (PyTuple_CheckExact(value.ptr()))
        return "(" + text_of_items(value) + (nb::len(value) == 1 ? ",)" : ")");
    if (PyList_CheckExact(value.ptr()))
        return "[" + text_of_items(value) + "]";
    if (value.is_none() || PyLong_CheckExact(value.ptr()) || PyFloat_CheckExact(value.ptr()) ||
        PyBool_Check(value.ptr()) || PyUnicode_CheckExact(value.ptr()))
        if (std::string text = nb::cast<std::string>(nb::repr(value)); text.size() <= longest)
            return text;
    if (PyType_Check(value.ptr()))
        return nb::cast<std::string>(value.attr("__name__"));
    return nb::cast<std::string>(nb::handle(value.type()).attr("__name__"));
}

/// "mean(float32[1000, 300], axis=1)" for the profile; null in the scope of another operation.
std::unique_ptr<NotedOperation> note_call(PyObject *function, PyObject *const *args,
                                          std::size_t count, PyObject *names) {
    std::unique_ptr<NotedOperation> noted = NotedOperation::begin();
    if (NotedOperation *current = NotedOperation::current(); !current->has_call()) {
        std::string text = describe(function);
        text.resize(text.size() - std::min<std::size_t>(text.size(), 1)); // without the bracket
        text.erase(0, text.rfind('.') + 1);
        const std::size_t named = names ? static_cast<std::size_t>(PyTuple_Size(names)) : 0;
        for (std::size_t i = 0; i < count + named; ++i) {
            text += i == 0 ? "" : ", ";
            if (i >= count)
                text += nb::cast<std::string>(
                            nb::handle(PyTuple_GetItem(names, Py_ssize_t(i - count)))) +
                        "=";
            text += text_of(args[i]);
        }
        current->set_call(text + ")");
    }
    return noted;
}

PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) noexcept {
    return guarded([&] {
        const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(nargsf));
        const std::size_t named = names ? static_cast<std::size_t>(PyTuple_Size(names)) : 0;
        WorkContext context;
        add_contexts(context, args, count + named);
        context.enter();
        std::optional<CalledFunction> called;
        std::unique_ptr<NotedOperation> noted;
        if (object_of(self).is_public) {
            called.emplace(describe, object_of(self).function);
            if (operations_are_noted()) [[unlikely]]
                noted = note_call(object_of(self).function, args, count, names);
        }
        return PyObject_Vectorcall(object_of(self).function, args, nargsf, names);
    });
}

PyObject *create(PyTypeObject *type, PyObject *args, PyObject *) noexcept {
    return guarded([&]() -> PyObject * {
        PyObject *function = nullptr;
        int is_public = -1;
        if (!PyArg_ParseTuple(args, "O|p:_ArrayFunction", &function, &is_public))
            return nullptr;
        if (is_public < 0) {
            const nb::object name = nb::getattr(nb::handle(function), "__name__", nb::str("_"));
            is_public = !nb::cast<std::string>(name).starts_with('_');
        }
        nb::object made = nb::steal(PyType_GenericAlloc(type, 0));
        if (!made.is_valid())
            return nullptr;
        ArrayFunctionObject &object = object_of(made.ptr());
        object.vectorcall = call;
        object.is_public = is_public != 0;
        object.function = Py_NewRef(function);
        nb::module_::import_("functools").attr("update_wrapper")(made, nb::handle(function));
        return made.release().ptr();
    });
}

int traverse(PyObject *self, visitproc visit, void *arg) noexcept {
    Py_VISIT(object_of(self).function);
    Py_VISIT(object_of(self).attributes);
    Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
    return 0;
}

int clear(PyObject *self) noexcept {
    Py_CLEAR(object_of(self).function);
    Py_CLEAR(object_of(self).attributes);
    return 0;
}

void deallocate(PyObject *self) noexcept {
    PyObject_GC_UnTrack(self);
    if (object_of(self).weak_references)
        PyObject_ClearWeakRefs(self);
    clear(self);
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(reinterpret_cast<PyObject *>(type));
}

/// As functions are: bound to the object of which it is an attribute.
PyObject *bind_to(PyObject *self, PyObject *object, PyObject *) noexcept {
    if (object == nullptr || object == Py_None)
        return Py_NewRef(self);
    return guarded([&] {
        return nb::module_::import_("types")
            .attr("MethodType")(nb::handle(self), nb::handle(object))
            .release()
            .ptr();
    });
}

PyObject *represent(PyObject *self) noexcept { return PyObject_Repr(object_of(self).function); }

/// As of a function: pickle stores the name under which the module or the class has the object.
PyObject *reduce(PyObject *self, PyObject *) noexcept {
    return PyObject_GetAttrString(self, "__qualname__");
}

PyMethodDef methods[] = {{"__reduce__", reduce, METH_NOARGS, nullptr}, {}};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(ArrayFunctionObject, vectorcall), READONLY,
     nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(ArrayFunctionObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayFunctionObject, weak_references), READONLY,
     nullptr},
    {},
};

PyGetSetDef getters[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {},
};

} // namespace

void bind_array_function(nb::module_ &module) {
    PyType_Slot slots[] = {
        {Py_tp_doc,
         const_cast<char *>("_ArrayFunction(function): a function, also a method, that runs in the "
                            "context of the arrays among its arguments.")},
        {Py_tp_new, slot(create)},
        {Py_tp_dealloc, slot(deallocate)},
        {Py_tp_traverse, slot(traverse)},
        {Py_tp_clear, slot(clear)},
        {Py_tp_call, slot(PyVectorcall_Call)},
        {Py_tp_descr_get, slot(bind_to)},
        {Py_tp_repr, slot(represent)},
        {Py_tp_methods, methods},
        {Py_tp_members, members},
        {Py_tp_getset, getters},
        {0, nullptr},
    };
    array_function_type =
        make_heap_type("pycuda._driver._ArrayFunction", sizeof(ArrayFunctionObject),
                       Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR, slots);
    module.attr("_ArrayFunction") = nb::handle(reinterpret_cast<PyObject *>(array_function_type));
}

} // namespace pycuda::python
