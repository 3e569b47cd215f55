// array_number.cpp -- the operators of arrays: converts Python's operands for an operation of core.
#include "arrays/array_number.h"

#include "arrays/array_object.h"
#include "arrays/array_value.h"
#include "memory/work_scope.h"
#include "support/errors.h"
#include "support/heap_type.h"

#include <array>

namespace pycuda::python {
namespace {

template <Operation operation> PyObject *binary(PyObject *left, PyObject *right) noexcept {
    return guarded([&]() -> PyObject * {
        const std::optional<Operand> a = find_operand(left), b = find_operand(right);
        if (!a || !b)
            return Py_NewRef(Py_NotImplemented);
        const std::array<nb::handle, 2> objects = {left, right};
        return apply_to_objects(operation, objects, std::array{*a, *b}).release().ptr();
    });
}

template <Operation operation> PyObject *in_place(PyObject *self, PyObject *other) noexcept {
    return guarded([&]() -> PyObject * {
        const std::optional<Operand> b = find_operand(other);
        if (!b)
            return Py_NewRef(Py_NotImplemented);
        const Array &array = array_of(self);
        const WorkScope scope(std::array<nb::handle, 2>{self, other});
        apply(operation, std::array{Operand(array), *b},
              {.out = &array, .stream = current_stream()});
        return Py_NewRef(self);
    });
}

/// A class that is derived in Python has this slot for a sequence's += as well, and CPython takes
/// NotImplemented from there as the result. So the other operand gets its turn here.
PyObject *add_in_place(PyObject *self, PyObject *other) noexcept {
    PyObject *result = in_place<Operation::Add>(self, other);
    if (result != Py_NotImplemented)
        return result;
    Py_DECREF(result);
    return PyNumber_Add(self, other);
}

template <Operation operation> PyObject *unary(PyObject *self) noexcept {
    return guarded([&] {
        const std::array<nb::handle, 1> objects = {self};
        return apply_to_objects(operation, objects, std::array{Operand(array_of(self))})
            .release()
            .ptr();
    });
}

/// As in numpy, x ** 2 is a square and x ** 0.5 is a square root.
std::optional<Operation> power_by_number(const Operand &base, PyObject *exponent) {
    if (!base.is_array())
        return {};
    const ScalarType type = base.array().scalar_type();
    if (PyLong_CheckExact(exponent) && PyLong_AsLong(exponent) == 2 && !is_bool(type))
        return Operation::Square;
    PyErr_Clear(); // the number does not fit a long
    if (PyFloat_CheckExact(exponent) && PyFloat_AsDouble(exponent) == 0.5 &&
        (is_float(type) || is_complex(type)))
        return Operation::Sqrt;
    return {};
}

PyObject *power(PyObject *left, PyObject *right, PyObject *modulus) noexcept {
    if (modulus != Py_None)
        return Py_NewRef(Py_NotImplemented);
    PyObject *special = guarded([&]() -> PyObject * {
        const std::optional<Operand> base = find_operand(left);
        if (!base)
            return Py_NewRef(Py_NotImplemented);
        const std::optional<Operation> operation = power_by_number(*base, right);
        if (!operation)
            return Py_NewRef(Py_None);
        const std::array<nb::handle, 1> objects = {left};
        return apply_to_objects(*operation, objects, std::array{*base}).release().ptr();
    });
    if (special != Py_None)
        return special;
    Py_DECREF(special);
    return binary<Operation::Power>(left, right);
}

PyObject *power_in_place(PyObject *self, PyObject *other, PyObject *) noexcept {
    const std::optional<Operation> special = power_by_number(Operand(array_of(self)), other);
    if (!special)
        return in_place<Operation::Power>(self, other);
    return guarded([&] {
        const Array &array = array_of(self);
        const WorkScope scope(std::array<nb::handle, 1>{self});
        apply(*special, std::array{Operand(array)}, {.out = &array, .stream = current_stream()});
        return Py_NewRef(self);
    });
}

PyObject *compare(PyObject *left, PyObject *right, int how) noexcept {
    switch (how) {
    case Py_LT:
        return binary<Operation::Less>(left, right);
    case Py_LE:
        return binary<Operation::LessEqual>(left, right);
    case Py_EQ:
        return binary<Operation::Equal>(left, right);
    case Py_NE:
        return binary<Operation::NotEqual>(left, right);
    case Py_GT:
        return binary<Operation::Greater>(left, right);
    default:
        return binary<Operation::GreaterEqual>(left, right);
    }
}

/// PyCUDA returns the array itself for +x; NumPy returns a copy.
PyObject *positive(PyObject *self) noexcept { return Py_NewRef(self); }

} // namespace

void add_number_slots(std::vector<PyType_Slot> &slots) {
    using enum Operation;
    const std::vector<PyType_Slot> numbers = {
        {Py_nb_add, slot(binary<Add>)},
        {Py_nb_subtract, slot(binary<Subtract>)},
        {Py_nb_multiply, slot(binary<Multiply>)},
        {Py_nb_true_divide, slot(binary<Divide>)},
        {Py_nb_floor_divide, slot(binary<FloorDivide>)},
        {Py_nb_remainder, slot(binary<Remainder>)},
        {Py_nb_power, slot(power)},
        {Py_nb_and, slot(binary<BitwiseAnd>)},
        {Py_nb_or, slot(binary<BitwiseOr>)},
        {Py_nb_xor, slot(binary<BitwiseXor>)},
        {Py_nb_lshift, slot(binary<LeftShift>)},
        {Py_nb_rshift, slot(binary<RightShift>)},
        {Py_nb_inplace_add, slot(add_in_place)},
        {Py_nb_inplace_subtract, slot(in_place<Subtract>)},
        {Py_nb_inplace_multiply, slot(in_place<Multiply>)},
        {Py_nb_inplace_true_divide, slot(in_place<Divide>)},
        {Py_nb_inplace_floor_divide, slot(in_place<FloorDivide>)},
        {Py_nb_inplace_remainder, slot(in_place<Remainder>)},
        {Py_nb_inplace_power, slot(power_in_place)},
        {Py_nb_inplace_and, slot(in_place<BitwiseAnd>)},
        {Py_nb_inplace_or, slot(in_place<BitwiseOr>)},
        {Py_nb_inplace_xor, slot(in_place<BitwiseXor>)},
        {Py_nb_inplace_lshift, slot(in_place<LeftShift>)},
        {Py_nb_inplace_rshift, slot(in_place<RightShift>)},
        {Py_nb_negative, slot(unary<Negative>)},
        {Py_nb_positive, slot(positive)},
        {Py_nb_absolute, slot(unary<Absolute>)},
        {Py_nb_invert, slot(unary<Invert>)},
        {Py_tp_richcompare, slot(compare)},
        {Py_tp_hash, slot(PyObject_HashNotImplemented)},
    };
    slots.insert(slots.end(), numbers.begin(), numbers.end());
}

} // namespace pycuda::python
