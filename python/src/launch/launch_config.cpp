// launch_config.cpp -- reads block=, grid= and the other keywords of a launch.
#include "launch/launch_config.h"

#include "memory/device_pointer.h"
#include "memory/texture.h"
#include "support/python_object.h"

#include <nanobind/stl/string.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

namespace pycuda::python {
namespace {

enum class Keyword {
    Block,
    Grid,
    Stream,
    Shared,
    TexRefs,
    TimeKernel,
    SharedSize,
    Cooperative,
    Cluster,
    Priority,
    Programmatic,
    Count
};
constexpr const char *keyword_names[] = {"block",   "grid",        "stream",      "shared",
                                         "texrefs", "time_kernel", "shared_size", "cooperative",
                                         "cluster", "priority",    "programmatic"};

/// The names that Python's compiler interns, so that a comparison of addresses usually suffices.
constinit PyObject *interned_keywords[static_cast<int>(Keyword::Count)] = {};

Keyword find_keyword(PyObject *name) {
    for (int i = 0; i < static_cast<int>(Keyword::Count); ++i)
        if (name == interned_keywords[i]) [[likely]]
            return Keyword(i);
    for (int i = 0; i < static_cast<int>(Keyword::Count); ++i)
        if (PyUnicode_CompareWithASCIIString(name, keyword_names[i]) == 0)
            return Keyword(i);
    return Keyword::Count;
}

std::string represent(nb::handle value) { return nb::cast<std::string>(nb::repr(value)); }

[[noreturn]] void reject_extent(nb::handle value, const char *what) {
    std::string text = std::string(what) + " must be one to three ints, got " + represent(value);
    if (PyFloat_Check(value.ptr()))
        text += "; // divides ints and returns an int";
    throw_type_error(text);
}

[[noreturn]] void reject_number(nb::handle value, std::string_view what) {
    const char *wanted = what == "block"    ? "1 to 1024 threads along each axis"
                         : what == "grid"   ? "1 to 2147483647 thread blocks along x, 1 to 65535 "
                                              "along y and z"
                         : what == "shared" ? "the bytes of dynamic shared memory, at least 0"
                                            : "1 to 16 thread blocks along each axis";
    throw_value_error(std::string(what) + " has " + represent(value) + ", expected " + wanted);
}

unsigned read_number(PyObject *value, const char *what) {
    int overflow = 0;
    long long number;
    if (PyLong_CheckExact(value)) [[likely]] {
        number = PyLong_AsLongLongAndOverflow(value, &overflow);
    } else {
        if (PyFloat_Check(value) || !PyIndex_Check(value))
            reject_extent(value, what);
        nb::object index = nb::steal(PyNumber_Index(value)); // numpy integers
        if (!index.is_valid()) {
            PyErr_Clear();
            reject_extent(value, what);
        }
        number = PyLong_AsLongLongAndOverflow(index.ptr(), &overflow);
    }
    if (overflow != 0 || number < 0 || number > std::numeric_limits<unsigned>::max())
        reject_number(value, what);
    return static_cast<unsigned>(number);
}

Dim3 read_tuple(PyObject *tuple, const char *what) {
    const Py_ssize_t count = PyTuple_Size(tuple);
    if (count > 3)
        throw Error("function::launch_kernel", CUDA_ERROR_INVALID_VALUE,
                    "too many " + std::string(what) +
                        " dimensions in kernel launch: " + represent(tuple));
    if (count == 0)
        reject_extent(tuple, what);
    Dim3 extent;
    extent.x = read_number(PyTuple_GetItem(tuple, 0), what);
    if (count > 1)
        extent.y = read_number(PyTuple_GetItem(tuple, 1), what);
    if (count > 2)
        extent.z = read_number(PyTuple_GetItem(tuple, 2), what);
    return extent;
}

#ifdef NB_FREE_THREADED

/// Without the GIL, nothing is cached: threads would have to lock a table, which takes longer than
/// reading a tuple.
struct KnownExtents {
    const Dim3 *find(PyObject *) const noexcept { return nullptr; }
    void remember(PyObject *, const Dim3 &) {}
};

#else

bool holds_plain_ints(PyObject *tuple) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(tuple); ++i)
        if (!PyLong_CheckExact(PyTuple_GetItem(tuple, i)))
            return false;
    return true;
}

/// A cache of recently read tuples of ints. A program launches with the same objects again and
/// again, as a literal (256, 1, 1) is one object. Such a tuple cannot change. Used with the GIL
/// held.
class KnownExtents {
  public:
    const Dim3 *find(PyObject *tuple) const noexcept {
        const Entry &entry = entries_[slot_of(tuple)];
        return entry.tuple == tuple ? &entry.extent : nullptr;
    }

    void remember(PyObject *tuple, const Dim3 &extent) {
        if (!holds_plain_ints(tuple))
            return;
        Entry &entry = entries_[slot_of(tuple)];
        Py_INCREF(tuple); // keeps a reference, so that the address is not reused
        PyObject *forgotten = std::exchange(entry.tuple, tuple);
        entry.extent = extent;
        Py_XDECREF(forgotten);
    }

  private:
    struct Entry {
        PyObject *tuple = nullptr;
        Dim3 extent;
    };
    static constexpr std::size_t count = 16;
    static std::size_t slot_of(PyObject *tuple) noexcept {
        return (reinterpret_cast<std::uintptr_t>(tuple) >> 4) * 0x9e3779b97f4a7c15u >> 60;
    }
    std::array<Entry, count> entries_;
};

#endif

constinit KnownExtents known_extents;

[[noreturn]] void reject_keywords(PyObject *names) {
    std::string unknown;
    for (nb::handle name : nb::borrow<nb::tuple>(names))
        if (find_keyword(name.ptr()) == Keyword::Count)
            unknown += (unknown.empty() ? "" : ",") + nb::cast<std::string>(name);
    throw_value_error(
        "extra keyword arguments: " + unknown +
        "; a launch takes block, grid, stream, shared, cooperative, cluster, priority "
        "and programmatic, and the kernel's arguments by position");
}

} // namespace

void intern_launch_keywords() {
    for (int i = 0; i < static_cast<int>(Keyword::Count); ++i)
        if (!(interned_keywords[i] = PyUnicode_InternFromString(keyword_names[i])))
            throw nb::python_error();
}

Dim3 read_extent(PyObject *value, const char *what) {
    if (const Dim3 *known = known_extents.find(value)) [[likely]]
        return *known;
    if (PyTuple_CheckExact(value)) {
        const Dim3 extent = read_tuple(value, what);
        known_extents.remember(value, extent);
        return extent;
    }
    if (PyLong_CheckExact(value))
        return {read_number(value, what), 1, 1};
    if (!PySequence_Check(value) || PyUnicode_Check(value))
        return {read_number(value, what), 1, 1};
    nb::object tuple = nb::steal(PySequence_Tuple(value));
    if (!tuple.is_valid()) { // such as a numpy array without dimensions
        PyErr_Clear();
        return {read_number(value, what), 1, 1};
    }
    return read_tuple(tuple.ptr(), what);
}

unsigned read_shared(PyObject *value) { return read_number(value, "shared"); }

void reject_missing_block(const std::string &kernel, PyObject *const *args, std::size_t count) {
    std::string message = "must specify block size: call kernel '" + kernel +
                          "' with block=(x, y, z), the numbers of threads in a block";
    if (count > 1 && PyTuple_Check(args[0]) && PyTuple_Check(args[1])) // as in CuPy
        message += "; grid and block are keywords: " + kernel + "(a, b, grid=..., block=...)";
    throw_value_error(message);
}

CallOptions read_call_options(PyObject *const *values, PyObject *names) {
    CallOptions options;
    options.config.stream = current_stream();
    const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *name = PyTuple_GetItem(names, i);
        PyObject *value = values[i];
        switch (find_keyword(name)) {
        case Keyword::Block:
            if (value == Py_None)
                break; // as if it were not given
            options.config.block = read_extent(value, "block");
            options.has_block = true;
            break;
        case Keyword::Grid:
            options.config.grid = read_extent(value, "grid");
            break;
        case Keyword::Stream:
            options.stream = value;
            options.config.stream = stream_ref(value);
            break;
        case Keyword::Shared:
            options.config.shared_bytes = read_shared(value);
            break;
        case Keyword::TexRefs:
            check_texture_references(value);
            break;
        case Keyword::TimeKernel:
            options.time_kernel = nb::cast<bool>(nb::bool_(nb::borrow(value)));
            break;
        case Keyword::Cooperative:
            options.attributes.cooperative = nb::cast<bool>(nb::bool_(nb::borrow(value)));
            break;
        case Keyword::Cluster:
            options.attributes.cluster = read_extent(value, "cluster");
            break;
        case Keyword::Priority:
            options.attributes.priority = nb::cast<int>(nb::handle(value));
            break;
        case Keyword::Programmatic:
            options.attributes.programmatic = nb::cast<bool>(nb::bool_(nb::borrow(value)));
            break;
        default:
            reject_keywords(names);
        }
    }
    return options;
}

unsigned read_shared_size(PyObject *const *values, PyObject *names) {
    unsigned shared = 0;
    const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (find_keyword(name) != Keyword::SharedSize)
            throw_type_error("unknown keyword arguments: " +
                             nb::cast<std::string>(nb::handle(name)));
        shared = read_shared(values[i]);
    }
    return shared;
}

} // namespace pycuda::python
