// array_object.cpp -- the type ArrayBase: life, attributes, and its place among kernel arguments.
#include "array_object.h"

#include "allocate.h"
#include "argument_types.h"
#include "array_number.h"
#include "array_scope.h"
#include "array_value.h"
#include "device_pointer.h"
#include "element_check.h"
#include "errors.h"
#include "python_object.h"

#include <pycuda/memory_pool.h>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <structmember.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <new>
#include <utility>

namespace pycuda::python {

PyTypeObject *array_class = nullptr;
PyTypeObject *array_base_class = nullptr;

namespace {

// Life

void deallocate(PyObject *self) noexcept {
    PyObject_GC_UnTrack(self);
    ArrayObject &object = array_object(self);
    if (object.weak_references)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(object.attributes);
    Py_CLEAR(object.dtype);
    Py_CLEAR(object.base);
    Py_CLEAR(object.allocator);
    object.array.~Array();
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(reinterpret_cast<PyObject *>(type));
}

int traverse(PyObject *self, visitproc visit, void *arg) noexcept {
    const ArrayObject &object = array_object(self);
    Py_VISIT(object.attributes);
    Py_VISIT(object.base);
    Py_VISIT(object.allocator);
    Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
    return 0;
}

int clear(PyObject *self) noexcept {
    Py_CLEAR(array_object(self).attributes);
    return 0;
}

PyObject *allocate_object(PyTypeObject *type) {
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self == nullptr)
        throw nb::python_error();
    return self;
}

/// An array of no element, which GPUArray.__init__ replaces.
PyObject *create(PyTypeObject *type, PyObject *, PyObject *) noexcept {
    return guarded([&] {
        PyObject *self = allocate_object(type);
        ArrayObject &object = array_object(self);
        const std::int64_t no_elements[] = {0};
        new (&object.array)
            Array(nullptr, 0, ScalarType::Float64, Layout::contiguous(no_elements, 8));
        return self;
    });
}

// Attributes

PyObject *shape_of(PyObject *self, void *) noexcept {
    return guarded([&] { return tuple_of(array_of(self).shape()).release().ptr(); });
}

/// As reshape(copy=False) would, in place.
int set_shape(PyObject *self, PyObject *value, void *) noexcept {
    PyObject *done = guarded([&] {
        if (value == nullptr)
            throw_type_error("the shape of an array cannot be deleted");
        const nb::object changed =
            nb::borrow(self).attr("reshape")(nb::borrow(value), nb::arg("copy") = false);
        Array &array = array_of(self);
        array = array.view(array_of(changed).layout());
        return Py_NewRef(Py_None);
    });
    Py_XDECREF(done);
    return done ? 0 : -1;
}

PyObject *strides_of(PyObject *self, void *) noexcept {
    return guarded([&] { return tuple_of(array_of(self).layout().strides()).release().ptr(); });
}

PyObject *dtype_attribute(PyObject *self, void *) noexcept {
    return guarded([&] {
        ArrayObject &object = array_object(self);
        std::atomic_ref<PyObject *> kept(object.dtype);
        if (PyObject *known = kept.load(std::memory_order_acquire)) [[likely]]
            return Py_NewRef(known);
        nb::object dtype = numpy_dtype(object.array.scalar_type());
        PyObject *first = nullptr; // another thread may have been quicker
        return Py_NewRef(kept.compare_exchange_strong(first, dtype.ptr()) ? dtype.release().ptr()
                                                                          : first);
    });
}

template <auto Method> PyObject *number_attribute(PyObject *self, void *) noexcept {
    return guarded([&] { return PyLong_FromUnsignedLongLong((array_of(self).*Method)()); });
}

PyObject *dimensions_of(PyObject *self, void *) noexcept {
    return PyLong_FromLong(array_of(self).dimensions());
}

PyObject *base_of(PyObject *self, void *) noexcept {
    PyObject *base = array_object(self).base;
    return Py_NewRef(base ? base : Py_None);
}

PyObject *allocator_of(PyObject *self, void *) noexcept {
    PyObject *allocator = array_object(self).allocator;
    return Py_NewRef(allocator ? allocator : Py_None);
}

/// The object that an allocator returned, or a wrapper of the pool's block.
PyObject *gpudata_of(PyObject *self, void *) noexcept {
    return guarded([&]() -> PyObject * {
        const Array &array = array_of(self);
        if (!array.memory() || array.memory()->size() == 0)
            return Py_NewRef(Py_None);
        const CUdeviceptr address = array.unrecorded_address();
        if (array.memory()->owner() && address == array.memory()->get())
            return Py_NewRef(static_cast<PyObject *>(array.memory()->owner().get()));
        if (address != array.memory()->get()) // a view that starts inside
            return PyLong_FromUnsignedLongLong(address);
        return nb::cast(array.memory()).release().ptr();
    });
}

int set_gpudata(PyObject *self, PyObject *value, void *) noexcept {
    PyObject *done = guarded([&] {
        Array &array = array_of(self);
        if (value == nullptr || value == Py_None) {
            array = Array(nullptr, 0, array.dtype(), array.layout());
        } else {
            const CUdeviceptr address = device_address(value, "gpudata");
            auto memory = ArrayMemory::borrow(ArrayContext::current(), address, array.bytes(),
                                              keep_alive(nb::borrow(value)));
            array = Array(std::move(memory), address, array.dtype(), array.layout());
        }
        return Py_NewRef(Py_None);
    });
    Py_XDECREF(done);
    return done ? 0 : -1;
}

PyObject *is_c_contiguous(PyObject *self, void *) noexcept {
    return PyBool_FromLong(array_of(self).is_c_contiguous());
}

PyObject *is_f_contiguous(PyObject *self, void *) noexcept {
    return PyBool_FromLong(array_of(self).is_f_contiguous());
}

PyGetSetDef getters[] = {
    {"shape", shape_of, set_shape, "Extents of the axes, a tuple; may be set.", nullptr},
    {"strides", strides_of, nullptr, "Bytes from one index to the next, for each axis.", nullptr},
    {"dtype", dtype_attribute, nullptr, "numpy's dtype of the elements.", nullptr},
    {"size", number_attribute<&Array::size>, nullptr, "How many elements.", nullptr},
    {"mem_size", number_attribute<&Array::size>, nullptr, "The same as size.", nullptr},
    {"nbytes", number_attribute<&Array::bytes>, nullptr, "Bytes of all elements.", nullptr},
    {"itemsize", number_attribute<&Array::item_size>, nullptr, "Bytes of an element.", nullptr},
    {"ptr", number_attribute<&Array::unrecorded_address>, nullptr, "Address of the first element.",
     nullptr},
    {"ndim", dimensions_of, nullptr, "How many axes.", nullptr},
    {"base", base_of, nullptr, "The array that this is a view of, or None.", nullptr},
    {"allocator", allocator_of, nullptr, "What was passed as allocator=, or None.", nullptr},
    {"_own_allocator", allocator_of, nullptr, nullptr, nullptr},
    {"gpudata", gpudata_of, set_gpudata, "The memory; None without elements.", nullptr},
    {"_c_contiguous", is_c_contiguous, nullptr, nullptr, nullptr},
    {"_f_contiguous", is_f_contiguous, nullptr, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {},
};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(ArrayObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {},
};

template <class Slot> void *slot(Slot *function) { return reinterpret_cast<void *>(function); }

PyTypeObject *make_type() {
    std::vector<PyType_Slot> slots = {
        {Py_tp_doc, const_cast<char *>("What GPUArray derives from.")},
        {Py_tp_new, slot(create)},
        {Py_tp_dealloc, slot(deallocate)},
        {Py_tp_traverse, slot(traverse)},
        {Py_tp_clear, slot(clear)},
        {Py_tp_getset, getters},
        {Py_tp_members, members},
    };
    add_number_slots(slots);
    slots.push_back({0, nullptr});
    PyType_Spec spec = {
        "pycuda._driver.ArrayBase", sizeof(ArrayObject), 0,
        static_cast<unsigned>(Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE),
        slots.data()};
    PyObject *type = PyType_FromSpec(&spec);
    if (type == nullptr)
        throw nb::python_error();
    return reinterpret_cast<PyTypeObject *>(type);
}

// As a kernel's argument

void pack_array(const ArgumentType &, PyObject *value, Packing &packing) {
    ArrayObject &object = array_object(value);
    const std::size_t index = packing.block.count();
    const ParameterLayout &layout = packing.function.function.layout();
    if (index < layout.count() && layout[index].element_size != 0) {
        nb::object dtype = nb::steal(dtype_attribute(value, nullptr));
        check_elements(packing.function, index, dtype);
    }
    packing.block.push_pointer(packing.staged.use().address(object.array));
}

std::string describe_memory(const ArrayMemory &memory) {
    if (memory.freed())
        return "<pycuda.driver.ArrayMemory, freed>";
    char text[96];
    std::snprintf(text, sizeof text, "<pycuda.driver.ArrayMemory of %zu bytes at 0x%llx>",
                  memory.size(), static_cast<unsigned long long>(memory.get()));
    return text;
}

void pack_array_memory(const ArgumentType &, PyObject *value, Packing &packing) {
    auto memory = nb::cast<std::shared_ptr<ArrayMemory>>(nb::handle(value));
    packing.block.push_pointer(packing.staged.use().address(memory));
}

} // namespace

Array &require_array(nb::handle object, const char *what) {
    if (!is_array(object))
        throw_type_error(std::string(what) + " must be a GPUArray, not " + name_of_type(object));
    return array_of(object);
}

nb::object wrap_array(Array array, PyTypeObject *type, nb::handle dtype) {
    PyObject *self = allocate_object(type ? type : array_class);
    ArrayObject &object = array_object(self);
    new (&object.array) Array(std::move(array));
    object.dtype = Py_XNewRef(dtype.ptr());
    if (PyObject *allocator = allocator_of_scope()) [[unlikely]]
        object.allocator = Py_NewRef(allocator);
    return nb::steal(self);
}

nb::object make_array(const Layout &layout, DType dtype, nb::handle numpy_dtype, PyTypeObject *type,
                      const Allocation &allocation) {
    const PythonAllocatorScope scope(allocation.allocator);
    return wrap_array(Array::with_layout(ArrayContext::current(), layout, dtype, allocation.stream),
                      type, dtype.is_opaque() ? numpy_dtype : nb::handle());
}

void bind_array(nb::module_ &module) {
    ArrayContext::on_out_of_memory([] {
        nb::gil_scoped_acquire acquire;
        collect_garbage();
    });
    array_base_class = array_class = make_type();
    module.attr("ArrayBase") = nb::handle(reinterpret_cast<PyObject *>(array_base_class));

    nb::class_<ArrayMemory>(module, "ArrayMemory", nb::is_weak_referenceable(),
                            "Memory of arrays, from the pool that they share.")
        .def("free", &ArrayMemory::free, nb::lock_self(),
             "Give the memory back now. A second time is an error.")
        .def("__int__", &ArrayMemory::get)
        .def("__index__", &ArrayMemory::get)
        .def("__long__", &ArrayMemory::get)
        .def("__len__", &ArrayMemory::size)
        .def("__bool__", [](const ArrayMemory &) { return true; })
        .def("__repr__", describe_memory)
        .def_prop_ro("size", &ArrayMemory::size, "In bytes, as it was asked for.");
    ArgumentTypes::add({reinterpret_cast<PyTypeObject *>(nb::type<ArrayMemory>().ptr()),
                        pack_array_memory,
                        {},
                        0,
                        true});

    module.def(
        "_register_array_class",
        [](nb::handle type) {
            array_class = reinterpret_cast<PyTypeObject *>(type.inc_ref().ptr());
            ArgumentTypes::add({array_class, pack_array, {}, 0, true});
        },
        nb::arg("type"), "Make this subclass of ArrayBase the class of results.");
    bind_array_functions(module);
    bind_array_operations(module);
    bind_array_exchange(module);
}

} // namespace pycuda::python
