// array_index.cpp -- x[index] for ints, slices, None and an ellipsis. Other indices are handled in
// Python (python/pycuda/arrays/indexing/items.py).
#include "arrays/array_index.h"

#include "arrays/array_object.h"
#include "support/errors.h"
#include "support/heap_type.h"
#include "support/python_object.h"

#include <pycuda/array_index.h>

#include <array>
#include <stdexcept>
#include <string>

namespace pycuda::python {
namespace {

/// The maximum number of useful indices: one for each axis, and a new axis next to each.
constexpr std::size_t kMostIndices = 2 * Layout::max_dimensions;

class BasicIndices {
  public:
    /// False if an index has another type. Integers of numpy are accepted. Other objects with
    /// __index__, above all arrays, are handled in Python.
    bool read(PyObject *key) {
        if (!PyTuple_Check(key))
            return append(key);
        const Py_ssize_t count = PyTuple_Size(key);
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!append(PyTuple_GetItem(key, i)))
                return false;
        return true;
    }

    std::span<const Index> all() const { return {indices_.data(), count_}; }

  private:
    bool append(PyObject *item) {
        if (count_ == kMostIndices)
            return false;
        if (PyLong_CheckExact(item)) {
            const Py_ssize_t place = PyLong_AsSsize_t(item);
            if (place == -1 && PyErr_Occurred()) {
                PyErr_Clear();
                throw std::out_of_range("index " + nb::cast<std::string>(nb::repr(item)) +
                                        " has more than 64 bits");
            }
            indices_[count_++] = Index(place);
        } else if (PySlice_Check(item)) {
            Py_ssize_t start, stop, step;
            if (PySlice_Unpack(item, &start, &stop, &step) != 0)
                throw nb::python_error();
            indices_[count_++] = Index::slice(start, stop, step);
        } else if (item == Py_None) {
            indices_[count_++] = Index::new_axis();
        } else if (item == Py_Ellipsis) {
            indices_[count_++] = Index::rest();
        } else {
            return false;
        }
        return true;
    }

    std::array<Index, kMostIndices> indices_;
    std::size_t count_ = 0;
};

nb::object view_of_part(PyObject *self, std::span<const Index> indices) {
    const LayoutPart chosen = part(array_of(self).layout(), indices);
    return view_of(self, chosen.layout, chosen.offset);
}

PyObject *subscript(PyObject *self, PyObject *key) noexcept {
    return guarded([&] {
        BasicIndices indices;
        if (indices.read(key))
            return view_of_part(self, indices.all()).release().ptr();
        if (is_array(key))
            if (nb::object rows = selected_rows(self, key); !rows.is_none())
                return rows.release().ptr();
        return nb::handle(self).attr("_get_item")(nb::handle(key)).release().ptr();
    });
}

int assign_subscript(PyObject *self, PyObject *key, PyObject *value) noexcept {
    PyObject *done = guarded([&] {
        if (value == nullptr)
            throw_type_error("elements of an array cannot be deleted");
        BasicIndices indices;
        if (indices.read(key))
            view_of_part(self, indices.all()).attr("_assign")(nb::handle(value));
        else
            nb::handle(self).attr("_set_item")(nb::handle(key), nb::handle(value));
        return Py_NewRef(Py_None);
    });
    Py_XDECREF(done);
    return done ? 0 : -1;
}

/// x[place] of the sequence protocol. Python uses it to iterate over an object without __iter__,
/// which an array does not have, because programs (reikna) take an Iterable for a container of
/// arrays.
PyObject *item(PyObject *self, Py_ssize_t place) noexcept {
    return guarded([&] {
        const Index index(place);
        return view_of_part(self, std::span(&index, 1)).release().ptr();
    });
}

nb::object array_part(nb::handle self, const nb::tuple &indices) {
    BasicIndices read;
    if (!read.read(indices.ptr()))
        throw_type_error("indices must be ints, slices, None or an ellipsis, at most " +
                         std::to_string(kMostIndices));
    return view_of_part(self.ptr(), read.all());
}

} // namespace

void add_index_slots(std::vector<PyType_Slot> &slots) {
    slots.push_back({Py_mp_subscript, slot(subscript)});
    slots.push_back({Py_mp_ass_subscript, slot(assign_subscript)});
    slots.push_back({Py_sq_item, slot(item)});
}

void bind_array_index(nb::module_ &module) {
    module.def("_array_part", array_part,
               "A view of the part that ints, slices, None and an ellipsis select.");
}

} // namespace pycuda::python
