// array_object.cpp -- the type ArrayBase: construction, attributes, and use as a kernel argument.
#include "arrays/array_object.h"

#include "arrays/array_allocation.h"
#include "arrays/array_axes.h"
#include "arrays/array_index.h"
#include "arrays/array_number.h"
#include "arrays/array_protocols.h"
#include "arrays/array_scope.h"
#include "arrays/array_value.h"
#include "launch/argument_types.h"
#include "launch/element_check.h"
#include "memory/device_memory.h"
#include "memory/device_pointer.h"
#include "support/allocate.h"
#include "support/errors.h"
#include "support/heap_type.h"
#include "support/python_object.h"

#include <pycuda/driver_calls.h>
#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <structmember.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <new>
#include <optional>
#include <utility>

namespace pycuda::python {

PyTypeObject *array_class = nullptr;
PyTypeObject *array_base_class = nullptr;

namespace {

// Construction and destruction.

void deallocate(PyObject *self) noexcept {
    PyObject_GC_UnTrack(self);
    ArrayObject &object = array_object(self);
    if (object.weak_references)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(object.attributes);
    Py_CLEAR(object.dtype);
    Py_CLEAR(object.base);
    Py_CLEAR(object.allocator);
    Py_CLEAR(object.gpudata);
    Py_CLEAR(object.strides);
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
    Py_VISIT(object.gpudata);
    Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
    return 0;
}

int clear(PyObject *self) noexcept {
    ArrayObject &object = array_object(self);
    Py_CLEAR(object.attributes);
    Py_CLEAR(object.base);
    Py_CLEAR(object.allocator);
    return 0;
}

PyObject *allocate_object(PyTypeObject *type) {
    PyObject *self = PyType_GenericAlloc(type, 0);
    if (self == nullptr)
        throw nb::python_error();
    return self;
}

/// An array without elements, which GPUArray.__init__ replaces.
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

// Attributes.
//
// Programs for PyCUDA set any attribute of arrays, because PyCUDA's arrays are plain Python
// objects. Setting an attribute that determines the elements (shape, strides, dtype, gpudata)
// changes the array. A value for a derived attribute (size, nbytes ...) is only stored in __dict__
// and read from there; no operation uses it.

/// The name of an attribute that the program may set, interned once.
struct OwnName {
    const char *text;
    PyObject *object = nullptr;
};
OwnName own_names[] = {{"size"}, {"mem_size"}, {"nbytes"}, {"itemsize"}};

/// The value that the program has set under this name; null without an error if there is none.
PyObject *own_value(PyObject *self, const void *name) {
    PyObject *attributes = array_object(self).attributes;
    if (attributes == nullptr) [[likely]]
        return nullptr;
    PyObject *key = static_cast<const OwnName *>(name)->object;
    PyObject *value = nullptr;
#ifdef Py_GIL_DISABLED
    static_cast<void>(PyDict_GetItemRef(attributes, key, &value));
#else
    value = Py_XNewRef(PyDict_GetItemWithError(attributes, key));
#endif
    if (value == nullptr && PyErr_Occurred())
        throw nb::python_error();
    return value;
}

int set_own_value(PyObject *self, PyObject *value, void *name) noexcept {
    PyObject *key = static_cast<OwnName *>(name)->object;
    PyObject *attributes = PyObject_GenericGetDict(self, nullptr);
    if (attributes == nullptr)
        return -1;
    const int status =
        value ? PyDict_SetItem(attributes, key, value) : PyDict_DelItem(attributes, key);
    Py_DECREF(attributes);
    if (status != 0 && value == nullptr && PyErr_ExceptionMatches(PyExc_KeyError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_AttributeError, "'%s' follows from the array and cannot be deleted",
                     static_cast<OwnName *>(name)->text);
    }
    return status;
}

/// For setters: runs `change`, and converts an exception to Python's error and -1.
template <class Change> int changed(Change &&change) noexcept {
    PyObject *done = guarded([&] {
        change();
        return Py_NewRef(Py_None);
    });
    Py_XDECREF(done);
    return done ? 0 : -1;
}

void refuse_deletion(PyObject *value, const char *name) {
    if (value == nullptr)
        throw_type_error(std::string("the ") + name + " of an array cannot be deleted");
}

nb::object method_of_arrays(const char *name) {
    return nb::handle(reinterpret_cast<PyObject *>(array_class)).attr(name);
}

PyObject *shape_of(PyObject *self, void *) noexcept {
    return guarded([&] { return tuple_of(array_of(self).shape()).release().ptr(); });
}

using SetAttribute = Array::SetAttribute;

/// The layout that a program's shape stands for: that of numpy.reshape(self, shape, copy=False);
/// else with the strides that were set or that there are; else without gaps.
Layout layout_of_shape(const ArrayObject &object, const Layout &shape) {
    const Array &array = object.array;
    const int axes = shape.dimensions();
    if (object.strides != nullptr && PyTuple_Size(object.strides) == axes)
        return strided_layout(shape, object.strides);
    Layout result;
    if (object.strides == nullptr && shape.size() == array.size() &&
        array.layout().try_reshape(shape.shape(), Order::C, array.item_size(), result))
        return result;
    if (axes == array.dimensions())
        return Layout(shape.shape(), array.layout().strides());
    const bool fortran = array.is_f_contiguous() && !array.is_c_contiguous();
    return Layout::contiguous(shape.shape(), array.item_size(),
                              fortran ? Order::Fortran : Order::C);
}

bool is_negative(nb::handle number) {
    const int less = PyObject_RichCompareBool(number.ptr(), nb::int_(0).ptr(), Py_LT);
    if (less < 0)
        throw nb::python_error();
    return less != 0;
}

bool has_negative_extent(nb::handle shape) {
    if (PyLong_Check(shape.ptr()))
        return is_negative(shape);
    for (nb::handle extent : nb::borrow<nb::list>(made(PySequence_List(shape.ptr()))))
        if (is_negative(extent))
            return true;
    return false;
}

int set_shape(PyObject *self, PyObject *value, void *) noexcept {
    return changed([&] {
        refuse_deletion(value, "shape");
        ArrayObject &object = array_object(self);
        nb::object shape = nb::borrow(value);
        if (PyLong_Check(value) || PySequence_Check(value))
            if (has_negative_extent(shape))
                shape = tuple_of(complete_shape(shape, object.array.size()).shape());
        const Layout wanted = layout_of_shape(object, shape_argument(shape));
        wanted.require_countable(object.array.item_size());
        if (object.strides && PyTuple_Size(object.strides) == wanted.dimensions())
            Py_CLEAR(object.strides);
        object.array = object.array.with_attribute(wanted, object.array.dtype(),
                                                   object.strides ? SetAttribute::AxesOfStrides
                                                                  : SetAttribute::Shape);
    });
}

PyObject *strides_of(PyObject *self, void *) noexcept {
    return guarded([&] {
        if (PyObject *strides = array_object(self).strides) [[unlikely]]
            return Py_NewRef(strides);
        return tuple_of(array_of(self).layout().strides()).release().ptr();
    });
}

/// Strides of another number of axes wait for a shape.
int set_strides(PyObject *self, PyObject *value, void *) noexcept {
    return changed([&] {
        refuse_deletion(value, "strides");
        ArrayObject &object = array_object(self);
        Array &array = object.array;
        nb::object strides = made(PySequence_Tuple(value));
        Layout axes;
        for (nb::handle stride : nb::borrow<nb::tuple>(strides))
            axes.append(1, nb::cast<std::int64_t>(made(PyNumber_Index(stride.ptr()))));
        const bool fits = axes.dimensions() == array.dimensions();
        const Layout layout = fits ? Layout(array.shape(), axes.strides()) : array.layout();
        layout.require_countable(array.item_size());
        array = array.with_attribute(layout, array.dtype(),
                                     fits ? SetAttribute::Strides : SetAttribute::AxesOfStrides);
        PyObject *waiting = fits ? nullptr : tuple_of(axes.strides()).release().ptr();
        Py_XDECREF(std::exchange(object.strides, waiting));
    });
}

PyObject *dtype_attribute(PyObject *self, void *) noexcept {
    return guarded([&] {
        ArrayObject &object = array_object(self);
        std::atomic_ref<PyObject *> kept(object.dtype);
        if (PyObject *known = kept.load(std::memory_order_acquire)) [[likely]]
            return Py_NewRef(known);
        nb::object dtype = numpy_dtype(object.array.scalar_type());
        PyObject *first = nullptr; // another thread may have stored one first
        return Py_NewRef(kept.compare_exchange_strong(first, dtype.ptr()) ? dtype.release().ptr()
                                                                          : first);
    });
}

/// The layout of the elements as another type: that of view(dtype) if there is such a view, else
/// the same shape and strides.
Layout layout_of_dtype(PyObject *self, DType type, nb::handle dtype) {
    const Array &array = array_of(self);
    if (type.item_size() == array.item_size() || array.set_attribute() != SetAttribute::None)
        return array.layout();
    try {
        nb::object seen = method_of_arrays("view")(nb::handle(self), dtype);
        return array_of(seen).layout();
    } catch (nb::python_error &error) {
        if (!error.matches(PyExc_ValueError))
            throw;
        return array.layout();
    }
}

int set_dtype(PyObject *self, PyObject *value, void *) noexcept {
    return changed([&] {
        refuse_deletion(value, "dtype");
        ArrayObject &object = array_object(self);
        nb::object dtype = exact_dtype(value);
        const DType type = dtype_of(dtype);
        const Layout layout = layout_of_dtype(self, type, dtype);
        const SetAttribute before = object.array.set_attribute();
        object.array = object.array.with_attribute(
            layout, type, before == SetAttribute::AxesOfStrides ? before : SetAttribute::Dtype);
        Py_XDECREF(std::exchange(object.dtype, type.is_opaque() ? dtype.release().ptr() : nullptr));
    });
}

template <auto Method> PyObject *number_attribute(PyObject *self, void *name) noexcept {
    return guarded([&] {
        if (PyObject *own = own_value(self, name))
            return own;
        return PyLong_FromUnsignedLongLong((array_of(self).*Method)());
    });
}

PyObject *address_of(PyObject *self, void *) noexcept {
    return guarded([&] { return PyLong_FromUnsignedLongLong(array_of(self).ptr()); });
}

PyObject *dimensions_of(PyObject *self, void *) noexcept {
    return PyLong_FromLong(array_of(self).dimensions());
}

PyObject *base_of(PyObject *self, void *) noexcept {
    PyObject *base = array_object(self).base;
    return Py_NewRef(base ? base : Py_None);
}

int set_base(PyObject *self, PyObject *value, void *) noexcept {
    PyObject *kept = value == Py_None ? nullptr : value;
    Py_XDECREF(std::exchange(array_object(self).base, Py_XNewRef(kept)));
    return 0;
}

PyObject *allocator_of(PyObject *self, void *) noexcept {
    PyObject *allocator = array_object(self).allocator;
    return allocator ? Py_NewRef(allocator) : default_allocator().release().ptr();
}

/// None means the pool.
PyObject *own_allocator_of(PyObject *self, void *) noexcept {
    PyObject *allocator = array_object(self).allocator;
    return Py_NewRef(allocator ? allocator : Py_None);
}

int set_allocator(PyObject *self, PyObject *value, void *) noexcept {
    PyObject *kept = value && is_default_allocator(value) ? nullptr : value;
    Py_XDECREF(std::exchange(array_object(self).allocator, Py_XNewRef(kept)));
    return 0;
}

/// The object that an allocator returned, or a DeviceAllocation for the block of the pool.
PyObject *gpudata_of(PyObject *self, void *) noexcept {
    return guarded([&]() -> PyObject * {
        ArrayObject &object = array_object(self);
        const Array &array = object.array;
        if (!array.memory() || array.memory()->get() == 0)
            return Py_NewRef(Py_None);
        const CUdeviceptr address = array.memory()->get() + array.offset_in_memory();
        if (address != array.memory()->get()) // a view that does not begin at the block's start
            return PyLong_FromUnsignedLongLong(address);
        if (PyObject *own = kept_object(array.memory()->owner()))
            return Py_NewRef(own);
        if (array.memory()->owner()) // memory that another library lent
            return PyLong_FromUnsignedLongLong(address);
        return kept_allocation(object.gpudata, array.memory()).release().ptr();
    });
}

/// The driver frees memory after all work, and a pool of the program gives it to work in the
/// default stream. Other objects may give it to any stream at once.
std::shared_ptr<void> keep_gpudata(nb::handle owner, const ArrayContext &context) {
    const bool is_ordered =
        find_array_allocation(owner) == nullptr &&
        (nb::isinstance<DeviceMemory>(owner) || nb::isinstance<PooledMemory>(owner));
    return is_ordered ? keep_alive(nb::borrow(owner))
                      : keep_lender(nb::borrow(owner), context.context());
}

/// The context of memory that is known by its address alone, if another device than the current
/// one has it; empty for other memory.
std::optional<Context> context_elsewhere(nb::handle memory) {
    const CUdeviceptr address = device_address(memory, "gpudata");
    const std::optional<int> device = only_device_of(address);
    if (!device || *device == ArrayContext::current()->context().device().get())
        return std::nullopt;
    const CUcontext owner = context_of(address);
    return owner == nullptr ? std::nullopt : std::optional(Context::borrow(owner));
}

int set_gpudata(PyObject *self, PyObject *value, void *) noexcept {
    return changed([&] {
        ArrayObject &object = array_object(self);
        Array &array = object.array;
        if (value == nullptr || value == Py_None) {
            array =
                array.with_memory(ArrayMemory::borrow(ArrayContext::current(), 0, 0, nullptr), 0);
        } else {
            std::optional<Context> elsewhere; // outlives the scope of `home`
            WorkContext home;
            add_context(home, value);
            if (home.empty() && (elsewhere = context_elsewhere(value)))
                home.add(*elsewhere);
            home.enter();
            const std::shared_ptr<ArrayContext> context = ArrayContext::current();
            Work work(current_stream());
            const CUdeviceptr address = device_address(value, "gpudata", work, Access::Read);
            array = array.with_memory(
                ArrayMemory::borrow(context, address, 0, keep_gpudata(value, *context)), address);
        }
        Py_CLEAR(object.gpudata);
    });
}

PyObject *is_c_contiguous(PyObject *self, void *) noexcept {
    return PyBool_FromLong(array_of(self).is_c_contiguous());
}

PyObject *is_f_contiguous(PyObject *self, void *) noexcept {
    return PyBool_FromLong(array_of(self).is_f_contiguous());
}

PyObject *is_writable(PyObject *self, void *) noexcept {
    return PyBool_FromLong(array_of(self).is_writable());
}

/// A view can be made writable only if its base is writable.
int set_writable(PyObject *self, PyObject *value, void *) noexcept {
    return changed([&] {
        refuse_deletion(value, "flag writeable");
        const bool writable = truth_of(value);
        const nb::handle base(array_object(self).base);
        if (writable && base.is_valid() && is_array(base) && !array_of(base).is_writable())
            throw_value_error("flags.writeable cannot be set to True: the array is a view of an "
                              "array that is read-only");
        array_of(self).set_writable(writable);
    });
}

PyGetSetDef getters[] = {
    {"shape", shape_of, set_shape, "Extents of the axes, a tuple; may be set.", nullptr},
    {"strides", strides_of, set_strides,
     "Bytes from one index to the next, for each axis; may be set.", nullptr},
    {"dtype", dtype_attribute, set_dtype,
     "numpy's dtype of the elements; may be set, as by view().", nullptr},
    {"size", number_attribute<&Array::size>, set_own_value, "How many elements.", &own_names[0]},
    {"mem_size", number_attribute<&Array::size>, set_own_value, "The same as size.", &own_names[1]},
    {"nbytes", number_attribute<&Array::bytes>, set_own_value, "Bytes of all elements.",
     &own_names[2]},
    {"itemsize", number_attribute<&Array::item_size>, set_own_value, "Bytes of an element.",
     &own_names[3]},
    {"ptr", address_of, nullptr, "Address of the first element.", nullptr},
    {"ndim", dimensions_of, nullptr, "How many axes.", nullptr},
    {"base", base_of, set_base, "The array that this is a view of, or None.", nullptr},
    {"allocator", allocator_of, set_allocator,
     "The function that new arrays like this one get memory from; pycuda.driver.mem_alloc stands "
     "for the pool of the context.",
     nullptr},
    {"_own_allocator", own_allocator_of, nullptr, nullptr, nullptr},
    {"gpudata", gpudata_of, set_gpudata,
     "The memory: a DeviceAllocation, the result of the allocator, or an address; None without "
     "elements. May be set.",
     nullptr},
    {"_c_contiguous", is_c_contiguous, nullptr, nullptr, nullptr},
    {"_f_contiguous", is_f_contiguous, nullptr, nullptr, nullptr},
    {"_writable", is_writable, set_writable, nullptr, nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {},
};

PyMemberDef members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(ArrayObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(ArrayObject, weak_references), READONLY, nullptr},
    {},
};

PyTypeObject *make_type() {
    for (OwnName &name : own_names)
        if ((name.object = PyUnicode_InternFromString(name.text)) == nullptr)
            throw nb::python_error();
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
    add_index_slots(slots);
    slots.push_back(numpy_protocols_slot());
    slots.push_back({0, nullptr});
    return make_heap_type("pycuda._driver.ArrayBase", sizeof(ArrayObject), Py_TPFLAGS_BASETYPE,
                          slots.data());
}

// Use as a kernel argument.

void pack_array(const ArgumentType &, PyObject *value, Packing &packing) {
    ArrayObject &object = array_object(value);
    const std::size_t index = packing.block.count();
    const ParameterLayout &layout = packing.function.function.layout();
    if (index < layout.count() && layout[index].element_size != 0 &&
        !is_last_checked(packing.function, index,
                         std::atomic_ref(object.dtype).load(std::memory_order_relaxed))) {
        nb::object dtype = made(dtype_attribute(value, nullptr));
        check_elements(packing.function, index, dtype);
    }
    packing.block.push_pointer(packing.staged.use().read(object.array));
}

} // namespace

nb::object as_array(nb::handle value) {
    if (is_array(value)) [[likely]]
        return nb::borrow(value);
    return nb::module_::import_("pycuda.arrays.creation.conversion").attr("as_array")(value);
}

Array &require_array(nb::handle object, const char *what) {
    if (!is_array(object))
        throw_type_error(std::string(what) + " must be a GPUArray, not " + name_of_type(object));
    return array_of(object);
}

bool constructs_itself(PyTypeObject *type) {
    if (type == array_class || type == array_base_class) [[likely]]
        return false;
    nb::handle own(reinterpret_cast<PyObject *>(type));
    nb::handle common(reinterpret_cast<PyObject *>(array_class));
    for (const char *name : {"__init__", "__new__"})
        if (!own.attr(name).is(common.attr(name)))
            return true;
    return false;
}

nb::object wrap_array(Array array, PyTypeObject *type, nb::handle dtype) {
    PyObject *self =
        allocate_object(type == nullptr || constructs_itself(type) ? array_class : type);
    ArrayObject &object = array_object(self);
    new (&object.array) Array(std::move(array));
    object.dtype = exact_dtype(dtype).release().ptr();
    if (PyObject *allocator = allocator_of_scope()) [[unlikely]]
        object.allocator = Py_NewRef(allocator);
    return nb::steal(self);
}

nb::object view_of(nb::handle self, const Layout &layout, std::int64_t offset) {
    const ArrayObject &object = array_object(self);
    return view_of(self, layout, offset, object.array.dtype(), nb::handle(object.dtype));
}

nb::object view_of(nb::handle self, const Layout &layout, std::int64_t offset, DType type,
                   nb::handle dtype) {
    const ArrayObject &object = array_object(self);
    nb::object view = wrap_array(object.array.view(layout, type, offset), Py_TYPE(self.ptr()),
                                 type.is_opaque() ? dtype : nb::handle());
    array_object(view).base = Py_NewRef(object.base ? object.base : self.ptr());
    PyObject *replaced = std::exchange(array_object(view).allocator, Py_XNewRef(object.allocator));
    Py_XDECREF(replaced);
    return view;
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

    bind_array_allocation(module);
    module.def(
        "_register_array_class",
        [](nb::handle type) {
            array_class = reinterpret_cast<PyTypeObject *>(type.inc_ref().ptr());
            ArgumentTypes::add({array_class, pack_array, {}, 0, true});
        },
        "Make this subclass of ArrayBase the class of results.");
    bind_array_functions(module);
    bind_array_operations(module);
    bind_array_index(module);
    bind_array_join(module);
    bind_array_views(module);
    bind_array_exchange(module);
    bind_array_from_interface(module);
}

} // namespace pycuda::python
