// prepared_call.cpp -- prepare() and the prepared calls, for which the program declares the types.
#include "launch/function.h"

#include "launch/argument_types.h"
#include "launch/launch_config.h"
#include "memory/device_pointer.h"
#include "memory/texture.h"
#include "support/errors.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/event.h>

#include <nanobind/stl/string.h>

#include <algorithm>
#include <complex>
#include <cstdlib>
#include <optional>

namespace pycuda::python {
namespace {

using enum ValueKind;
constexpr PreparedArgument codes[] = {
    {'b', 1, Signed},   {'B', 1, Unsigned}, {'?', 1, Unsigned}, {'c', 1, Bytes},
    {'h', 2, Signed},   {'H', 2, Unsigned}, {'e', 2, Float},    {'i', 4, Signed},
    {'I', 4, Unsigned}, {'l', 8, Signed},   {'L', 8, Unsigned}, {'q', 8, Signed},
    {'Q', 8, Unsigned}, {'n', 8, Signed},   {'N', 8, Unsigned}, {'f', 4, Float},
    {'d', 8, Float},    {'F', 8, Bytes},    {'D', 16, Bytes},   {'P', 8, Pointer},
};

const PreparedArgument &argument_of_code(char letter) {
    for (const PreparedArgument &code : codes)
        if (code.code == letter)
            return code;
    throw_value_error(std::string("prepare() does not know the type code '") + letter + "'");
}

/// "iP16s2f" as single arguments.
std::vector<PreparedArgument> parse_format(const std::string &format) {
    std::vector<PreparedArgument> arguments;
    for (std::size_t i = 0; i < format.size(); ++i) {
        std::size_t repeat = 1;
        if (std::isdigit(static_cast<unsigned char>(format[i]))) {
            char *end = nullptr;
            repeat = std::strtoul(format.c_str() + i, &end, 10);
            i = static_cast<std::size_t>(end - format.c_str());
        }
        if (i >= format.size())
            throw_value_error("the format \"" + format +
                              "\" ends after a number, expected a type code");
        if (format[i] == 's')
            arguments.push_back({'s', repeat, Bytes});
        else if (!std::isspace(static_cast<unsigned char>(format[i])))
            arguments.insert(arguments.end(), repeat, argument_of_code(format[i]));
    }
    return arguments;
}

FunctionObject &object_of(PyObject *self) { return *reinterpret_cast<FunctionObject *>(self); }

/// The format of one item in the list for prepare(), as in pycuda.driver.
std::string format_of(nb::handle arg_types) {
    if (nb::isinstance<nb::str>(arg_types))
        return nb::cast<std::string>(arg_types);
    return nb::cast<std::string>(
        nb::module_::import_("pycuda._argument_format").attr("format_of")(arg_types));
}

[[noreturn]] void reject(const Packing &packing, const PreparedArgument &wanted, nb::handle value) {
    packing.block.reject(nb::cast<std::string>(nb::repr(value)) + ", prepared as '" + wanted.code +
                         "'");
}

/// Throws an error that names the argument after a failed conversion. Errors of the value's own
/// code pass through.
[[noreturn]] void refuse_type(const Packing &packing, const PreparedArgument &wanted,
                              nb::handle value) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError) && !PyErr_ExceptionMatches(PyExc_OverflowError))
        throw nb::python_error();
    PyErr_Clear();
    reject(packing, wanted, value);
}

void push(Packing &packing, const PreparedArgument &wanted, nb::handle given, const void *value,
          std::size_t size, ValueKind kind) {
    if (!packing.block.try_push(value, size, kind)) [[unlikely]]
        reject(packing, wanted, given);
}

void pack_integer(Packing &packing, const PreparedArgument &wanted, nb::handle value,
                  bool is_signed) {
    nb::object index =
        PyLong_CheckExact(value.ptr()) ? nb::borrow(value) : nb::steal(PyNumber_Index(value.ptr()));
    if (!index.is_valid())
        refuse_type(packing, wanted, value);
    const std::size_t bits = 8 * wanted.size;
    if (is_signed) {
        const long long number = PyLong_AsLongLong(index.ptr());
        if (number == -1 && PyErr_Occurred())
            refuse_type(packing, wanted, value);
        if (bits < 64 && (number < -(1LL << (bits - 1)) || number >= 1LL << (bits - 1)))
            reject(packing, wanted, value);
        return push(packing, wanted, value, &number, wanted.size, ValueKind::Signed);
    }
    const unsigned long long number = PyLong_AsUnsignedLongLong(index.ptr());
    if (PyErr_Occurred())
        refuse_type(packing, wanted, value);
    if (bits < 64 && number >> bits != 0)
        reject(packing, wanted, value);
    push(packing, wanted, value, &number, wanted.size, ValueKind::Unsigned);
}

double real_number(const Packing &packing, const PreparedArgument &wanted, nb::handle value) {
    const double number = PyFloat_AsDouble(value.ptr());
    if (number == -1.0 && PyErr_Occurred())
        refuse_type(packing, wanted, value);
    return number;
}

void pack_float(Packing &packing, const PreparedArgument &wanted, nb::handle value) {
    const double number = real_number(packing, wanted, value);
    const float single = static_cast<float>(number);
    if (wanted.size == sizeof single)
        push(packing, wanted, value, &single, sizeof single, ValueKind::Float);
    else
        push(packing, wanted, value, &number, sizeof number, ValueKind::Float);
}

/// Converts to half precision with numpy.
void pack_half(Packing &packing, const PreparedArgument &wanted, nb::handle value) {
    nb::object half = nb::module_::import_("numpy").attr("float16")(value);
    HostBuffer bytes = HostBuffer::to_read(half, "a half");
    push(packing, wanted, value, bytes.data(), bytes.size(), ValueKind::Float);
}

void pack_complex_code(Packing &packing, const PreparedArgument &wanted, nb::handle value) {
    // Py_complex is not part of Python's stable ABI.
    nb::object converted = nb::handle(reinterpret_cast<PyObject *>(&PyComplex_Type))(value);
    const std::complex<double> full(PyComplex_RealAsDouble(converted.ptr()),
                                    PyComplex_ImagAsDouble(converted.ptr()));
    const std::complex<float> single(full);
    if (wanted.size == sizeof single)
        push(packing, wanted, value, &single, sizeof single, ValueKind::Bytes);
    else
        push(packing, wanted, value, &full, sizeof full, ValueKind::Bytes);
}

/// Bytes, truncated or padded with zeros to the prepared size.
void pack_bytes(Packing &packing, const PreparedArgument &wanted, nb::handle value) {
    HostBuffer bytes = HostBuffer::to_read(value, "a prepared argument of bytes");
    std::string padded(static_cast<const char *>(bytes.data()),
                       std::min(bytes.size(), wanted.size));
    padded.resize(wanted.size, '\0');
    push(packing, wanted, value, padded.data(), padded.size(), ValueKind::Bytes);
}

/// Whether values of this type are packed for the prepared type without a check of the value:
/// device memory for a pointer, a numpy scalar for its own type.
bool packs_directly(const ArgumentType &known, const PreparedArgument &wanted) {
    if (known.scalar.type != nullptr)
        return known.scalar.size == wanted.size && known.scalar.kind == wanted.kind;
    return wanted.kind == Pointer && known.is_pointer;
}

void pack_pointer(Packing &packing, PyObject *value) {
    packing.block.push_pointer(
        value == Py_None
            ? 0
            : device_address(value, "a prepared pointer", packing.staged.use(), Access::Read));
}

void pack_prepared(Packing &packing, const PreparedArgument &wanted, PyObject *value) {
    if (const ArgumentType *known = ArgumentTypes::find(Py_TYPE(value))) {
        if (packs_directly(*known, wanted)) [[likely]]
            return known->pack(*known, value, packing);
        if (known->lives_until_done)
            packing.staged.use().keep_until_done(keep_alive(nb::borrow(value)));
    }
    switch (wanted.code) {
    case 'P':
        return pack_pointer(packing, value);
    case 'f':
    case 'd':
        return pack_float(packing, wanted, value);
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
        return pack_integer(packing, wanted, value, true);
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
        return pack_integer(packing, wanted, value, false);
    case 'F':
    case 'D':
        return pack_complex_code(packing, wanted, value);
    case 'e':
        return pack_half(packing, wanted, value);
    case '?': {
        const unsigned char byte = truth_of(value);
        return push(packing, wanted, value, &byte, 1, ValueKind::Unsigned);
    }
    default:
        return pack_bytes(packing, wanted, value);
    }
}

/// How a prepared call launches, and the index of the kernel's first argument.
struct PreparedLaunch {
    LaunchConfig config;
    Py_ssize_t leading = 0;
    nb::handle stream = Py_None;
};

/// The arguments after grid, block and perhaps stream.
void launch_prepared(FunctionObject &self, const PreparedLaunch &how, PyObject *const *args,
                     Py_ssize_t all) {
    args += how.leading;
    const auto count = static_cast<std::size_t>(all - how.leading);
    ArgumentBlock block(self.function);
    const std::vector<PreparedArgument> &wanted =
        self.prepared.load(std::memory_order_acquire)->arguments;
    if (count != wanted.size())
        throw ArgumentError(self.function.name(), count,
                            " was prepared for " + std::to_string(wanted.size()) +
                                " arguments, got " + std::to_string(count));
    block.check_count(count);
    StagedArguments staged(how.config.stream, self.function.context());
    Packing packing{self, block, staged};
    for (std::size_t i = 0; i < count; ++i)
        pack_prepared(packing, wanted[i], args[i]);
    staged.before_launch(how.stream);
    launch(self.function, how.config, block);
    staged.after_launch(self.function, how.stream);
}

/// Whether a call has no block, because set_block_shape() has set it: PyCUDA's interface until
/// 2011.
bool has_no_block(const FunctionObject &self, PyObject *const *args, Py_ssize_t count) {
    return self.legacy && (count < 2 || !(PyTuple_Check(args[1]) || PyList_Check(args[1])));
}

/// Checks the common arguments of prepared calls, and reads grid and block.
PreparedLaunch read_launch(const FunctionObject &self, PyObject *const *args, Py_ssize_t count,
                           Py_ssize_t leading, PyObject *names) {
    if (!self.prepared)
        throw Error("function::prepared_call", CUDA_ERROR_INVALID_VALUE,
                    "kernel '" + self.function.name() + "' has not been prepared: call prepare()");
    const bool block_is_preset = has_no_block(self, args, count);
    PreparedLaunch launch;
    launch.leading = leading - (block_is_preset ? 1 : 0);
    if (count < launch.leading)
        throw_type_error(leading == 2 ? "prepared calls start with grid and block"
                                      : "prepared_async_call starts with grid, block and stream");
    launch.config.stream = current_stream();
    launch.config.grid = read_extent(args[0], "grid");
    launch.config.shared_bytes = read_shared_size(args + count, names);
    if (block_is_preset) [[unlikely]] {
        if (PyErr_WarnEx(PyExc_DeprecationWarning,
                         "prepared calls take the block after the grid; set_block_shape() is "
                         "deprecated",
                         1) != 0)
            throw nb::python_error();
        launch.config.block = self.legacy->block;
    } else {
        launch.config.block = read_extent(args[1], "block");
    }
    if (leading == 3) {
        launch.stream = args[launch.leading - 1];
        launch.config.stream = stream_ref(launch.stream);
    }
    return launch;
}

void prepare(FunctionObject &self, const std::string &format) {
    std::vector<PreparedArgument> arguments = parse_format(format);
    nb::ft_lock_guard guard(self.preparing);
    auto &known = self.prepared_formats;
    auto found = std::ranges::find(known, format, &PreparedFormat::format);
    if (found == known.end())
        found = known.insert(found, {format, std::move(arguments)});
    self.prepared.store(&*found, std::memory_order_release);
}

/// The result of prepared_timed_call(): waits, then returns the time between two events in seconds.
struct Stopwatch {
    Event start;
    Event end;
    double seconds() const {
        wait_with_signals([&](const KeepWaiting &keep_waiting) { end.synchronize(keep_waiting); });
        return 1e-3 * static_cast<double>(end.milliseconds_since(start));
    }
};

} // namespace

PyObject *function_prepare(PyObject *self, PyObject *args, PyObject *keywords) noexcept {
    return guarded([&]() -> PyObject * {
        static const char *names[] = {"arg_types", "texrefs", nullptr};
        PyObject *arg_types = nullptr, *texrefs = Py_None;
        if (!PyArg_ParseTupleAndKeywords(args, keywords, "O|O:prepare", const_cast<char **>(names),
                                         &arg_types, &texrefs))
            return nullptr;
        const std::string format = format_of(arg_types);
        register_numpy_types(); // needed by packs_directly()
        check_texture_references(texrefs);
        prepare(object_of(self), format);
        nb::handle(self).attr("arg_format") = format;
        nb::handle(self).attr("texrefs") =
            texrefs == Py_None ? nb::object(nb::list()) : nb::borrow(texrefs);
        return Py_NewRef(self);
    });
}

PyObject *function_prepared_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                 PyObject *names) noexcept {
    return guarded([&] {
        FunctionObject &function = object_of(self);
        launch_prepared(function, read_launch(function, args, count, 2, names), args, count);
        return Py_NewRef(Py_None);
    });
}

PyObject *function_prepared_async_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *names) noexcept {
    return guarded([&] {
        FunctionObject &function = object_of(self);
        launch_prepared(function, read_launch(function, args, count, 3, names), args, count);
        return Py_NewRef(Py_None);
    });
}

PyObject *function_prepared_timed_call(PyObject *self, PyObject *const *args, Py_ssize_t count,
                                       PyObject *names) noexcept {
    return guarded([&] {
        FunctionObject &function = object_of(self);
        const PreparedLaunch how = read_launch(function, args, count, 2, names);
        auto watch = std::make_shared<Stopwatch>(Stopwatch{Event(), Event()});
        watch->start.record();
        launch_prepared(function, how, args, count);
        watch->end.record();
        return nb::cpp_function([watch] { return watch->seconds(); }).release().ptr();
    });
}

} // namespace pycuda::python
