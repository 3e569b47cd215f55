// array_functions.cpp -- creates arrays and views, and copies between arrays and the host.
#include "arrays/array_object.h"

#include "arrays/array_axes.h"
#include "arrays/array_scope.h"
#include "memory/device_pointer.h"
#include "memory/host_buffer.h"
#include "memory/work_scope.h"
#include "support/allocate.h"
#include "support/interruptible.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

#include <pycuda/copy.h>
#include <pycuda/work.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

namespace pycuda::python {
namespace {

PyTypeObject *class_of(nb::handle type) {
    return type.is_none() ? array_class : reinterpret_cast<PyTypeObject *>(type.ptr());
}

std::string represent(nb::handle value) { return nb::cast<std::string>(nb::repr(value)); }

// Creation.

void array_init(nb::handle self, nb::handle shape, nb::handle dtype, nb::handle allocator,
                nb::handle base, nb::handle gpudata, nb::handle strides, const std::string &order) {
    ArrayObject &object = array_object(self);
    const DType type = dtype_of(dtype);
    Layout layout = shape_argument(shape);
    layout = strides.is_none()
                 ? Layout::contiguous(layout.shape(), type.item_size(), order_named(order))
                 : strided_layout(layout, strides);
    nb::object made;
    if (gpudata.is_none()) {
        if (std::ranges::any_of(layout.strides(), [](std::int64_t stride) { return stride < 0; }))
            throw_value_error("the strides of a new array must not be negative: " +
                              represent(strides) + "; index an array by [::-1] instead");
        made = make_array(layout, type, dtype, array_base_class, {allocator, current_stream()});
    } else {
        made = wrap_array(Array(nullptr, 0, type, layout), array_base_class,
                          type.is_opaque() ? dtype : nb::handle());
        made.attr("gpudata") = gpudata;
    }
    ArrayObject &source = array_object(made);
    object.array = std::move(source.array);
    std::swap(object.dtype, source.dtype);
    std::swap(object.allocator, source.allocator);
    Py_CLEAR(object.strides); // left by an earlier call
    Py_CLEAR(object.gpudata); // left by an earlier call
    Py_XDECREF(std::exchange(object.base, base.is_none() ? nullptr : Py_NewRef(base.ptr())));
}

nb::object array_empty(nb::handle shape, nb::handle dtype, nb::handle allocator,
                       const std::string &order, nb::handle type) {
    const DType element = dtype_of(dtype);
    const Layout layout =
        Layout::contiguous(shape_argument(shape).shape(), element.item_size(), order_named(order));
    return make_array(layout, element, dtype, class_of(type), {allocator, current_stream()});
}

/// An array of the shape of `other`, without gaps. Order "K" keeps the order of the axes in memory.
nb::object array_empty_as(nb::handle other, const std::string &order, nb::handle dtype,
                          nb::handle type) {
    const Array &array = require_array(other, "other");
    const nb::object wanted =
        dtype.is_none() ? nb::object(other.attr("dtype")) : exact_dtype(dtype);
    const DType element = dtype_of(wanted);
    const bool fortran = array.is_f_contiguous() && !array.is_c_contiguous();
    Layout layout;
    if (order == "K" && !array.is_c_contiguous())
        layout = array.layout().dense(element.item_size());
    else
        layout = Layout::contiguous(array.shape(), element.item_size(),
                                    order == "A" && fortran ? Order::Fortran : order_named(order));
    return make_array(layout, element, wanted, class_of(type),
                      {nb::handle(array_object(other).allocator), current_stream()});
}

/// A view with another address, shape, strides or type, of the class of `self`.
nb::object array_view(nb::handle self, std::int64_t offset, nb::handle shape, nb::handle strides,
                      nb::handle dtype) {
    const Layout layout = strided_layout(shape_argument(shape), strides);
    if (dtype.is_none())
        return view_of(self, layout, offset);
    return view_of(self, layout, offset, dtype_of(dtype), dtype);
}

// Copies between host and device.

/// The memory of a host array and its layout: contiguous in C order, in Fortran order, or with any
/// other order of the axes without gaps.
class HostArray {
  public:
    HostArray(nb::handle object, const char *what, int flags) {
        if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_STRIDES | flags) != 0) {
            view_ = {};
            nb::python_error reason;
            if (PyObject_CheckBuffer(object.ptr()))
                throw reason;
            throw_type_error(std::string(what) + " must be a numpy array, not " +
                             name_of_type(object));
        }
        for (int axis = 0; axis < view_.ndim; ++axis)
            layout.append(view_.shape[axis], view_.strides[axis]);
    }
    HostArray(const HostArray &) = delete;
    ~HostArray() { PyBuffer_Release(&view_); }

    void *data() const { return view_.buf; }
    std::size_t bytes() const { return static_cast<std::size_t>(view_.len); }
    /// Whether the elements are in the order of those of `device`, so that one copy is enough.
    bool has_strides_of(const Layout &device) const {
        for (int axis = 0; axis < device.dimensions(); ++axis)
            if (device.extent(axis) != 1 && device.stride(axis) != layout.stride(axis))
                return false;
        return layout.same_shape(device);
    }

    Layout layout;

  private:
    Py_buffer view_{};
};

void copy_in(const Array &to, nb::handle host, const void *from, nb::handle stream) {
    if (to.size() == 0)
        return;
    Work use(stream_ref(stream));
    const CUdeviceptr address = use.write(to);
    const std::size_t bytes = to.bytes();
    if (stream.is_none())
        return wait_with_signals([&](const KeepWaiting &keep_waiting) {
            copy_to_device(address, from, bytes, use, keep_waiting);
        });
    HostBuffer source = HostBuffer::strided_to_read(host, "the host array");
    copy_to_device_async(address, from, bytes, use.stream());
    use.keep_until_done(keep_alive(std::move(source)));
}

/// Copies the elements of `ary`, a numpy array, to the device. Keeps the memory order of its axes.
nb::object array_to_gpu(nb::handle ary, nb::handle allocator, nb::handle stream, nb::handle type) {
    nb::object source = nb::borrow(ary);
    if (!is_numpy_array(ary))
        source = nb::module_::import_("numpy").attr("asarray")(ary);
    nb::object dtype = source.attr("dtype");
    const DType element = dtype_of(dtype);
    HostArray host(source, "ary", 0);
    const Layout dense = host.layout.dense(element.item_size());
    nb::object made =
        make_array(dense, element, dtype, class_of(type), {allocator, stream_ref(stream)});
    if (host.has_strides_of(dense)) {
        copy_in(array_of(made), source, host.data(), stream);
    } else { // gaps or reversed axes: numpy makes a contiguous copy
        nb::object compact = nb::module_::import_("numpy").attr("ndarray")(
            tuple_of(dense.shape()), dtype, nb::none(), 0, tuple_of(dense.strides()));
        compact[nb::ellipsis()] = source;
        HostArray closed(compact, "ary", 0);
        copy_in(array_of(made), compact, closed.data(), stream);
    }
    return made;
}

void array_set_bytes(nb::handle self, nb::handle host, nb::handle stream) {
    const Array &array = require_array(self, "self");
    array.require_writable("the array to set");
    HostArray source(host, "ary", 0);
    if (source.bytes() != array.bytes())
        throw_value_error("ary has " + std::to_string(source.bytes()) +
                          " bytes, but the array has " + std::to_string(array.bytes()));
    copy_in(array, host, source.data(), stream);
}

void array_get_bytes(nb::handle self, nb::handle host, nb::handle stream) {
    const Array &array = require_array(self, "self");
    HostArray target(host, "ary", PyBUF_WRITABLE);
    if (target.bytes() != array.bytes())
        throw_value_error("ary has " + std::to_string(target.bytes()) +
                          " bytes, but the array has " + std::to_string(array.bytes()));
    if (array.size() == 0)
        return;
    Work use(stream_ref(stream));
    const CUdeviceptr address = use.read(array);
    const std::size_t bytes = array.bytes();
    if (stream.is_none())
        return wait_with_signals([&](const KeepWaiting &keep_waiting) {
            copy_to_host(target.data(), address, bytes, use, keep_waiting);
        });
    HostBuffer destination = HostBuffer::strided_to_write(host, "ary");
    copy_to_host_async(target.data(), address, bytes, use.stream());
    use.keep_until_done(keep_alive(std::move(destination)));
}

} // namespace

Layout strided_layout(const Layout &shape, nb::handle strides) {
    Layout layout;
    nb::object list = made(PySequence_List(strides.ptr()));
    if (static_cast<int>(nb::len(list)) != shape.dimensions())
        throw_value_error("strides " + represent(strides) + " do not match the shape " +
                          shape_text(shape.shape()));
    for (int axis = 0; axis < shape.dimensions(); ++axis)
        layout.append(shape.extent(axis), integer(nb::object(list[axis])));
    layout.require_countable(1);
    return layout;
}

Layout shape_argument(nb::handle shape) {
    Layout layout;
    if (PyIndex_Check(shape.ptr()) && !is_numpy_array(shape)) {
        layout.append(integer(shape), 0);
        return layout;
    }
    if (is_numpy_array(shape) && nb::cast<int>(shape.attr("ndim")) == 0) {
        layout.append(integer(shape), 0);
        return layout;
    }
    nb::object list = nb::steal(PySequence_List(shape.ptr()));
    if (!list.is_valid()) {
        PyErr_Clear();
        throw_type_error("a shape must be an int or a tuple of ints, not " + represent(shape));
    }
    for (nb::handle extent : nb::borrow<nb::list>(list))
        layout.append(integer(extent), 0);
    return layout;
}

nb::object tuple_of(std::span<const std::int64_t> numbers) {
    nb::object tuple = made(PyTuple_New(static_cast<Py_ssize_t>(numbers.size())));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        if (PyTuple_SetItem(tuple.ptr(), static_cast<Py_ssize_t>(i),
                            made(PyLong_FromLongLong(numbers[i])).release().ptr()) != 0)
            throw nb::python_error();
    return tuple;
}

void bind_array_functions(nb::module_ &module) {
    module.def("_array_init", array_init, nb::arg("self"), nb::arg("shape"),
               nb::arg("dtype").none(), nb::arg("allocator").none(), nb::arg("base").none(),
               nb::arg("gpudata").none(), nb::arg("strides").none(), nb::arg("order"));
    module.def("_array_empty", array_empty, nb::arg("shape"), nb::arg("dtype"),
               nb::arg("allocator").none(), nb::arg("order"), nb::arg("type").none());
    module.def("_array_empty_as", array_empty_as, nb::arg("other"), nb::arg("order"),
               nb::arg("dtype").none(), nb::arg("type").none());
    module.def("_array_view", array_view, nb::arg("self"), nb::arg("offset"), nb::arg("shape"),
               nb::arg("strides"), nb::arg("dtype").none());
    module.def("_array_is_dense", [](nb::handle self) {
        const Array &array = require_array(self, "self");
        static_cast<void>(array.address()); // attributes that were set are checked first
        return array.layout().is_dense(array.item_size());
    });
    module.def("_array_require_writable", [](nb::handle self, const std::string &role) {
        require_array(self, role.c_str()).require_writable(role);
    });
    module.def("_array_share_memory", [](nb::handle a, nb::handle b) {
        return require_array(a, "a").may_share_bytes(require_array(b, "b"));
    });
    module.def("_array_to_gpu", array_to_gpu, nb::arg("ary").none(), nb::arg("allocator").none(),
               nb::arg("stream").none(), nb::arg("type").none());
    module.def("_array_set_bytes", in_work_scope(array_set_bytes), nb::arg("self"), nb::arg("host"),
               nb::arg("stream").none());
    module.def("_array_get_bytes", in_work_scope(array_get_bytes), nb::arg("self"), nb::arg("host"),
               nb::arg("stream").none());
}

} // namespace pycuda::python
