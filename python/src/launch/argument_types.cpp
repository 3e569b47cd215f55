// argument_types.cpp -- the table of types, and the functions that pack values of these types.
#include "launch/argument_types.h"

#include "memory/device_memory.h"
#include "support/python_object.h"

#include <pycuda/memory.h>
#include <pycuda/memory_pool.h>

#include <nanobind/stl/string.h>

#include <cstring>
#include <stdexcept>

namespace pycuda::python {
namespace {

void pack_device_memory(const ArgumentType &, PyObject *value, Packing &packing) {
    packing.staged.keep_in_graph(value);
    packing.block.push_pointer(nb::inst_ptr<DeviceMemory>(value)->get());
}

void pack_pooled_memory(const ArgumentType &, PyObject *value, Packing &packing) {
    packing.staged.keep_in_graph(value);
    packing.block.push_pointer(nb::inst_ptr<PooledMemory>(value)->get());
}

void pack_bool(const ArgumentType &, PyObject *value, Packing &packing) {
    const std::int64_t number = value == Py_True;
    const std::uint8_t byte = value == Py_True;
    const Parameter *wanted = packing.block.next_parameter();
    const bool one_byte = wanted && wanted->size == 1;
    if (!(one_byte ? packing.block.try_push(&byte, 1, ValueKind::Unsigned)
                   : packing.block.try_push_integer(number)))
        packing.block.reject("a Python bool");
}

/// None is the null pointer, if the parameter is known to be a pointer.
void pack_none(const ArgumentType &, PyObject *, Packing &packing) {
    const Parameter *wanted = packing.block.next_parameter();
    if (!wanted || wanted->kind != ValueKind::Pointer)
        packing.block.reject("None");
    packing.block.push_pointer(0);
}

bool is_integer(ValueKind kind) { return kind == ValueKind::Signed || kind == ValueKind::Unsigned; }

/// A narrow integer of numpy keeps its value in a wider parameter, as in C++. Programs pass
/// numpy.uint32 for a size_t, for example.
bool try_widen(const NumpyScalar &scalar, PyObject *value, Packing &packing) {
    const Parameter *wanted = packing.block.next_parameter();
    if (!wanted || wanted->size <= scalar.size || !is_integer(wanted->kind) ||
        !is_integer(scalar.kind))
        return false;
    std::uint64_t bits = 0; // little-endian: the low bytes come first
    std::memcpy(&bits, scalar.value(value), scalar.size);
    if (scalar.kind == ValueKind::Unsigned)
        return packing.block.try_push_integer(bits);
    const unsigned unused = 64 - 8 * scalar.size;
    return packing.block.try_push_integer(static_cast<std::int64_t>(bits << unused) >> unused);
}

void pack_numpy_scalar(const ArgumentType &type, PyObject *value, Packing &packing) {
    const NumpyScalar &scalar = type.scalar;
    if (packing.block.try_push(scalar.value(value), scalar.size, scalar.kind)) [[likely]]
        return;
    if (try_widen(scalar, value, packing))
        return;
    packing.block.reject("a " + name_of_type(value) + " (" + std::to_string(scalar.size) +
                         " bytes)");
}

template <class Bound> PyTypeObject *bound_type() {
    return reinterpret_cast<PyTypeObject *>(nb::type<Bound>().ptr());
}

std::string represent(PyObject *value) {
    std::string text = nb::cast<std::string>(nb::repr(value));
    return text.size() <= 40 ? text : text.substr(0, 37) + "...";
}

} // namespace

std::array<ArgumentType, ArgumentTypes::slots> ArgumentTypes::table;
nb::ft_mutex ArgumentTypes::adding;
int ArgumentTypes::foreign_count = 0;

void ArgumentTypes::add(const ArgumentType &type) {
    nb::ft_lock_guard guard(adding);
    insert(type);
}

void ArgumentTypes::add_foreign(const ArgumentType &type) {
    nb::ft_lock_guard guard(adding);
    if (foreign_count < most_foreign && insert(type))
        ++foreign_count;
}

/// Readers take no lock, so the type, which they compare, is stored last: an entry that is found is
/// complete.
bool ArgumentTypes::insert(const ArgumentType &type) {
    std::size_t slot = slot_of(type.type);
    for (std::size_t tried = 0; tried < slots / 2; ++tried, slot = (slot + 1) % slots) {
        if (table[slot].type == type.type)
            return false;
        if (table[slot].type != nullptr)
            continue;
        Py_INCREF(reinterpret_cast<PyObject *>(type.type));
        ArgumentType unseen = type;
        unseen.type = nullptr;
        table[slot] = unseen;
        std::atomic_ref(table[slot].type).store(type.type, std::memory_order_release);
        return true;
    }
    throw std::length_error("too many argument types: the table of argument types is full");
}

void pack_int(const ArgumentType &, PyObject *value, Packing &packing) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    bool packed = false;
    if (overflow == 0) {
        packed = packing.block.try_push_integer(std::int64_t{number});
    } else if (overflow > 0) {
        const unsigned long long large = PyLong_AsUnsignedLongLong(value);
        if (PyErr_Occurred())
            PyErr_Clear();
        else
            packed = packing.block.try_push_integer(std::uint64_t{large});
    }
    if (!packed)
        packing.block.reject("the Python int " + represent(value));
}

void pack_float(const ArgumentType &, PyObject *value, Packing &packing) {
    if (!packing.block.try_push_real(PyFloat_AsDouble(value)))
        packing.block.reject("the Python float " + represent(value));
}

/// The size determines which of the two complex types is wanted.
void pack_complex(const ArgumentType &, PyObject *value, Packing &packing) {
    const double parts[2] = {PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)};
    const float single[2] = {static_cast<float>(parts[0]), static_cast<float>(parts[1])};
    const Parameter *wanted = packing.block.next_parameter();
    const bool is_struct =
        wanted && (wanted->kind == ValueKind::Bytes || wanted->kind == ValueKind::Unknown);
    if (is_struct && wanted->size == sizeof single &&
        packing.block.try_push(single, sizeof single, ValueKind::Bytes))
        return;
    if (is_struct && packing.block.try_push(parts, sizeof parts, ValueKind::Bytes))
        return;
    packing.block.reject("the Python complex " + represent(value));
}

void register_argument_types() {
    ArgumentTypes::add({bound_type<DeviceMemory>(), pack_device_memory, {}, 0, true});
    ArgumentTypes::add({bound_type<ManagedAllocation>(), pack_device_memory, {}, 0, true});
    ArgumentTypes::add({bound_type<PooledMemory>(), pack_pooled_memory, {}, 0, true});
    ArgumentTypes::add({&PyLong_Type, pack_int, {}});
    ArgumentTypes::add({&PyFloat_Type, pack_float, {}});
    ArgumentTypes::add({&PyBool_Type, pack_bool, {}});
    ArgumentTypes::add({&PyComplex_Type, pack_complex, {}});
    ArgumentTypes::add({Py_TYPE(Py_None), pack_none, {}});
}

void register_numpy_types() {
    static constinit std::atomic<bool> registered = false;
    if (registered.load(std::memory_order_acquire))
        return;
    const std::span<const NumpyScalar> scalars = numpy_scalars();
    for (const NumpyScalar &scalar : scalars)
        ArgumentTypes::add({scalar.type, pack_numpy_scalar, scalar});
    registered.store(!scalars.empty(), std::memory_order_release);
}

} // namespace pycuda::python
