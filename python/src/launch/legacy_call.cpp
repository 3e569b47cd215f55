// legacy_call.cpp -- launches as in CUDA 3: block, parameters and launch are separate calls.
//
// The driver no longer has these functions. Here they write to a block of bytes in the function
// object, which a launch passes on. Only the size of the block is checked.
#include "launch/legacy_call.h"

#include "launch/argument_types.h"
#include "launch/function.h"
#include "launch/launch_config.h"
#include "memory/device_pointer.h"
#include "memory/host_buffer.h"
#include "support/errors.h"
#include "support/python_object.h"

#include <nanobind/stl/string.h>

#include <cstring>

namespace pycuda::python {
namespace {

FunctionObject &object_of(PyObject *self) { return *reinterpret_cast<FunctionObject *>(self); }

LegacyLaunch &launch_of(PyObject *self) {
    auto &legacy = object_of(self).legacy;
    if (!legacy)
        legacy = std::make_unique<LegacyLaunch>();
    return *legacy;
}

/// guarded(), with a lock for each function, because the calls write to the function object.
template <class Body> PyObject *alone(PyObject *self, Body &&body) noexcept {
    return guarded([&] {
        nb::ft_object_guard guard(self);
        return body();
    });
}

void write(PyObject *self, std::size_t offset, const void *value, std::size_t size) {
    std::vector<std::byte> &bytes = launch_of(self).parameters;
    if (offset + size > bytes.size())
        bytes.resize(offset + size);
    std::memcpy(bytes.data() + offset, value, size);
}

PyObject *set_block_shape(PyObject *self, PyObject *args) noexcept {
    return alone(self, [&] {
        launch_of(self).block = read_extent(args, "block");
        return Py_NewRef(Py_None);
    });
}

PyObject *set_shared_size(PyObject *self, PyObject *bytes) noexcept {
    return alone(self, [&] {
        launch_of(self).shared_bytes = read_shared(bytes);
        return Py_NewRef(Py_None);
    });
}

PyObject *param_set_size(PyObject *self, PyObject *bytes) noexcept {
    return alone(self, [&] {
        launch_of(self).parameters.resize(unsigned_integer(bytes));
        return Py_NewRef(Py_None);
    });
}

PyObject *param_seti(PyObject *self, PyObject *args) noexcept {
    unsigned long long offset = 0, value = 0;
    if (!PyArg_ParseTuple(args, "KK:param_seti", &offset, &value))
        return nullptr;
    return alone(self, [&] {
        const auto number = static_cast<unsigned>(value); // negative numbers wrap, as in CUDA 3
        write(self, offset, &number, sizeof number);
        return Py_NewRef(Py_None);
    });
}

PyObject *param_setf(PyObject *self, PyObject *args) noexcept {
    unsigned long long offset = 0;
    float value = 0;
    if (!PyArg_ParseTuple(args, "Kf:param_setf", &offset, &value))
        return nullptr;
    return alone(self, [&] {
        write(self, offset, &value, sizeof value);
        return Py_NewRef(Py_None);
    });
}

PyObject *param_setv(PyObject *self, PyObject *args) noexcept {
    unsigned long long offset = 0;
    PyObject *buffer = nullptr;
    if (!PyArg_ParseTuple(args, "KO:param_setv", &offset, &buffer))
        return nullptr;
    return alone(self, [&] {
        HostBuffer bytes = HostBuffer::to_read(buffer, "a parameter");
        write(self, offset, bytes.data(), bytes.size());
        return Py_NewRef(Py_None);
    });
}

/// Sets all arguments at once; checks and packs them like a call.
PyObject *param_set(PyObject *self, PyObject *args) noexcept {
    return alone(self, [&] {
        FunctionObject &object = object_of(self);
        ArgumentBlock block(object.function);
        StagedArguments staged(StreamRef(), object.function.context());
        Packing packing{object, block, staged};
        for (nb::handle argument : nb::borrow<nb::tuple>(args))
            pack(argument.ptr(), packing);
        if (!staged.empty())
            throw_type_error("param_set() does not accept In, Out or InOut");
        const std::byte *bytes = block.data();
        launch_of(self).parameters.assign(bytes, bytes + block.size());
        return Py_NewRef(Py_None);
    });
}

void launch_legacy(PyObject *self, const LaunchConfig &config) {
    LegacyLaunch &legacy = launch_of(self);
    const ParameterLayout &layout = object_of(self).function.layout();
    if (layout.known() && legacy.parameters.size() < layout.block_size())
        throw Error("function::launch_kernel", CUDA_ERROR_INVALID_VALUE,
                    "kernel '" + object_of(self).function.name() + "' has " +
                        std::to_string(layout.block_size()) + " bytes of parameters, but " +
                        std::to_string(legacy.parameters.size()) + " were set");
    launch_packed(object_of(self).function, config, legacy.parameters.data(),
                  legacy.parameters.size());
}

LaunchConfig config_of(PyObject *self, const Dim3 &grid, StreamRef stream = {}) {
    const LegacyLaunch &legacy = launch_of(self);
    return {grid, legacy.block, legacy.shared_bytes, stream};
}

PyObject *launch(PyObject *self, PyObject *) noexcept {
    return alone(self, [&] {
        launch_legacy(self, config_of(self, {}));
        return Py_NewRef(Py_None);
    });
}

PyObject *launch_grid(PyObject *self, PyObject *args) noexcept {
    return alone(self, [&] {
        launch_legacy(self, config_of(self, read_extent(args, "grid")));
        return Py_NewRef(Py_None);
    });
}

PyObject *launch_grid_async(PyObject *self, PyObject *args) noexcept {
    unsigned width = 1, height = 1;
    PyObject *stream = nullptr;
    if (!PyArg_ParseTuple(args, "IIO:launch_grid_async", &width, &height, &stream))
        return nullptr;
    return alone(self, [&] {
        launch_legacy(self, config_of(self, {width, height, 1}, stream_ref(stream)));
        return Py_NewRef(Py_None);
    });
}

/// _launch_kernel(grid, block, buffer, shared, stream).
PyObject *launch_kernel(PyObject *self, PyObject *args) noexcept {
    PyObject *grid = nullptr, *block = nullptr, *buffer = nullptr, *shared = nullptr;
    PyObject *stream = Py_None;
    if (!PyArg_ParseTuple(args, "OOOO|O:_launch_kernel", &grid, &block, &buffer, &shared, &stream))
        return nullptr;
    return alone(self, [&] {
        HostBuffer bytes = HostBuffer::to_read(buffer, "the parameters");
        const auto *first = static_cast<const std::byte *>(bytes.data());
        launch_of(self).parameters.assign(first, first + bytes.size());
        launch_legacy(self, {read_extent(grid, "grid"), read_extent(block, "block"),
                             read_shared(shared), stream_ref(stream)});
        return Py_NewRef(Py_None);
    });
}

} // namespace

const PyMethodDef *legacy_methods() {
#define PYCUDA_LEGACY(name, flags, doc)                                                            \
    {#name, name, flags, doc}, { "_" #name, name, flags, doc }
    static const PyMethodDef methods[] = {
        PYCUDA_LEGACY(set_block_shape, METH_VARARGS, "set_block_shape(x, y, z). Deprecated."),
        PYCUDA_LEGACY(set_shared_size, METH_O, "set_shared_size(bytes). Deprecated."),
        PYCUDA_LEGACY(param_set_size, METH_O, "param_set_size(bytes). Deprecated."),
        PYCUDA_LEGACY(param_seti, METH_VARARGS, "param_seti(offset, value). Deprecated."),
        PYCUDA_LEGACY(param_setf, METH_VARARGS, "param_setf(offset, value). Deprecated."),
        PYCUDA_LEGACY(param_setv, METH_VARARGS, "param_setv(offset, buffer). Deprecated."),
        PYCUDA_LEGACY(param_set, METH_VARARGS, "param_set(*args). Deprecated."),
        PYCUDA_LEGACY(launch, METH_NOARGS, "launch(). Deprecated."),
        PYCUDA_LEGACY(launch_grid, METH_VARARGS, "launch_grid(width, height). Deprecated."),
        PYCUDA_LEGACY(launch_grid_async, METH_VARARGS,
                      "launch_grid_async(width, height, stream). Deprecated."),
        {"_launch_kernel", launch_kernel, METH_VARARGS,
         "_launch_kernel(grid, block, buffer, shared, stream)"},
        {},
    };
#undef PYCUDA_LEGACY
    return methods;
}

} // namespace pycuda::python
