// bound_launch.cpp -- a launch whose arguments are packed once and that is repeated many times.
//
// A call does not read or check arguments. It passes the packed bytes to the driver. It only checks
// whether memory of this library was freed meanwhile, and records the stream's use of arrays; each
// usually costs one comparison.
#include "launch/bound_launch.h"

#include "arrays/array_scope.h"
#include "launch/argument_types.h"
#include "launch/function.h"
#include "launch/launch_config.h"
#include "memory/device_pointer.h"
#include "support/errors.h"
#include "support/heap_type.h"
#include "support/python_object.h"

#include <pycuda/work.h>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <structmember.h>

#include <cstddef>
#include <memory>
#include <new>
#include <vector>

namespace pycuda::python {
namespace {

PyTypeObject *bound_launch_type = nullptr;

/// The launch itself, without the Python object.
struct BoundLaunch {
    Function function;
    LaunchConfig config;
    std::vector<std::byte> block;
    RepeatedUse use;      ///< of the memory among `arguments`
    nb::object wrapper;   ///< the Function
    nb::object arguments; ///< a tuple, which keeps memory alive
    nb::object stream;
};

struct BoundLaunchObject {
    PyObject_HEAD vectorcallfunc vectorcall;
    PyObject *weak_references;
    BoundLaunch launch;
};

BoundLaunch &launch_of(PyObject *self) {
    return reinterpret_cast<BoundLaunchObject *>(self)->launch;
}

// Construction and destruction.

void deallocate(PyObject *self) noexcept {
    PyObject_GC_UnTrack(self);
    auto *object = reinterpret_cast<BoundLaunchObject *>(self);
    if (object->weak_references)
        PyObject_ClearWeakRefs(self);
    object->launch.~BoundLaunch();
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(reinterpret_cast<PyObject *>(type));
}

int traverse(PyObject *self, visitproc visit, void *arg) noexcept {
    const BoundLaunch &launch = launch_of(self);
    Py_VISIT(launch.wrapper.ptr());
    Py_VISIT(launch.arguments.ptr());
    Py_VISIT(launch.stream.ptr());
    Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
    return 0;
}

PyObject *wrap(BoundLaunch launch, vectorcallfunc call) {
    BoundLaunchObject *object = PyObject_GC_New(BoundLaunchObject, bound_launch_type);
    if (object == nullptr)
        throw nb::python_error();
    object->vectorcall = call;
    object->weak_references = nullptr;
    new (&object->launch) BoundLaunch(std::move(launch));
    PyObject_GC_Track(object);
    return reinterpret_cast<PyObject *>(object);
}

// Calls.

/// The stream of a call: its only keyword; by default the stream of bind(), or the current stream
/// if bind() had none.
StreamRef stream_of_call(const BoundLaunch &launch, PyObject *const *values, PyObject *names) {
    StreamRef stream = stream_ref(launch.stream);
    const Py_ssize_t count = names ? PyTuple_Size(names) : 0;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *name = PyTuple_GetItem(names, i);
        if (PyUnicode_CompareWithASCIIString(name, "stream") != 0)
            throw_type_error("a bound launch takes the keyword stream only, not " +
                             nb::cast<std::string>(nb::handle(name)));
        stream = stream_ref(values[i]);
    }
    return stream;
}

PyObject *call(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *names) noexcept {
    return guarded([&] {
        BoundLaunch &launch = launch_of(self);
        if (PyVectorcall_NARGS(nargsf) != 0)
            throw_type_error("a bound launch takes no arguments: pass them to bind()");
        LaunchConfig config = launch.config;
        config.stream = stream_of_call(launch, args, names);
        Work use(config.stream, launch.function.context());
        launch.use.begin(use);
        if (use.is_captured()) [[unlikely]]
            use.keep_in_graph(keep_alive(nb::borrow(self)));
        launch_packed(launch.function, config, launch.block.data(), launch.block.size());
        return Py_NewRef(Py_None);
    });
}

// Binding.

nb::object tuple_of(PyObject *const *args, std::size_t count) {
    nb::list list;
    for (std::size_t i = 0; i < count; ++i)
        list.append(nb::handle(args[i]));
    return nb::tuple(list);
}

PyObject *bind(PyObject *self, PyObject *const *args, std::size_t count, PyObject *names) {
    auto &function = *reinterpret_cast<FunctionObject *>(self);
    const CallOptions options = read_call_options(args + count, names);
    if (!options.has_block)
        reject_missing_block(function.function.name(), args, count);
    if (options.time_kernel)
        throw_value_error(
            "bind() does not support time_kernel; call the function with time_kernel=True instead");
    if (options.attributes.any())
        throw_value_error("bind() does not support cooperative, cluster, priority and "
                          "programmatic; call the function with them instead");

    ArgumentBlock block(function.function);
    block.check_count(count);
    StagedArguments staged(options.config.stream, function.function.context());
    Packing packing{function, block, staged};
    for (std::size_t i = 0; i < count; ++i)
        pack(args[i], packing);
    if (!staged.empty())
        throw_type_error("bind() does not accept In, Out or InOut, because their copies belong to "
                         "a single call; bind device memory, and copy to and from it");

    staged.use().forget(); // each call notes the arguments again
    const std::byte *bytes = block.data();
    BoundLaunch launch{function.function, options.config,        {bytes, bytes + block.size()}, {},
                       nb::borrow(self),  tuple_of(args, count), nb::borrow(options.stream)};
    for (std::size_t i = 0; i < count; ++i)
        launch.use.add(args[i]);
    return wrap(std::move(launch), call);
}

// Attributes.

std::string text_of(const Dim3 &extent) {
    return "(" + std::to_string(extent.x) + ", " + std::to_string(extent.y) + ", " +
           std::to_string(extent.z) + ")";
}

nb::tuple tuple_of(const Dim3 &extent) { return nb::make_tuple(extent.x, extent.y, extent.z); }

PyObject *represent(PyObject *self) noexcept {
    return guarded([&] {
        const BoundLaunch &launch = launch_of(self);
        std::string text = "<pycuda.driver.BoundLaunch " + launch.function.name() +
                           ", grid=" + text_of(launch.config.grid) +
                           ", block=" + text_of(launch.config.block);
        if (launch.config.shared_bytes != 0)
            text += ", shared=" + std::to_string(launch.config.shared_bytes);
        text += ">";
        return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    });
}

PyObject *get_function(PyObject *self, void *) noexcept {
    return Py_NewRef(launch_of(self).wrapper.ptr());
}
PyObject *get_arguments(PyObject *self, void *) noexcept {
    return Py_NewRef(launch_of(self).arguments.ptr());
}
PyObject *get_stream(PyObject *self, void *) noexcept {
    return Py_NewRef(launch_of(self).stream.ptr());
}
PyObject *get_grid(PyObject *self, void *) noexcept {
    return guarded([&] { return tuple_of(launch_of(self).config.grid).release().ptr(); });
}
PyObject *get_block(PyObject *self, void *) noexcept {
    return guarded([&] { return tuple_of(launch_of(self).config.block).release().ptr(); });
}
PyObject *get_shared(PyObject *self, void *) noexcept {
    return PyLong_FromUnsignedLong(launch_of(self).config.shared_bytes);
}

PyGetSetDef getters[] = {
    {"function", get_function, nullptr, "The Function that is launched.", nullptr},
    {"arguments", get_arguments, nullptr, "The arguments that bind() was given.", nullptr},
    {"grid", get_grid, nullptr, "Blocks in x, y and z.", nullptr},
    {"block", get_block, nullptr, "Threads of a block in x, y and z.", nullptr},
    {"shared", get_shared, nullptr, "Bytes of dynamic shared memory.", nullptr},
    {"stream", get_stream, nullptr, "The stream, or None.", nullptr},
    {},
};

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(BoundLaunchObject, vectorcall), READONLY,
     nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(BoundLaunchObject, weak_references), READONLY,
     nullptr},
    {},
};

} // namespace

BoundCall bound_call_of(nb::handle object) {
    if (!PyObject_TypeCheck(object.ptr(), bound_launch_type))
        throw_type_error("launch must be the result of Function.bind(), not " +
                         name_of_type(object));
    BoundLaunch &launch = launch_of(object.ptr());
    return {&launch.function, &launch.config, launch.block.data(), launch.block.size(),
            &launch.use};
}

PyObject *function_bind(PyObject *self, PyObject *const *args, Py_ssize_t count,
                        PyObject *names) noexcept {
    return guarded([&] { return bind(self, args, static_cast<std::size_t>(count), names); });
}

void bind_bound_launch(nb::module_ &module) {
    PyType_Slot slots[] = {
        {Py_tp_doc,
         const_cast<char *>(
             "A launch with its arguments, made by Function.bind(). A call launches the kernel.\n\n"
             "``launch(stream=None)`` uses the stream of bind(), or another one. The arguments are "
             "checked and packed once, so a call\n"
             "takes less than a microsecond of Python's time. ``arguments``, ``block``, ``grid``, "
             "``shared``, ``stream`` and\n"
             "``function`` are what bind() was given.\n\n"
             ">>> module = compiler.SourceModule(\"__global__ void add(float *x) { x[threadIdx.x] "
             "+= 1; }\")\n"
             ">>> x = gpuarray.zeros(2, np.float32)\n"
             ">>> launch = module.get_function(\"add\").bind(x, block=(2, 1, 1))\n"
             ">>> for _ in range(3):\n"
             "...     launch()\n"
             ">>> x\n"
             "array([3., 3.], dtype=float32)")},
        {Py_tp_dealloc, slot(deallocate)},
        {Py_tp_traverse, slot(traverse)},
        {Py_tp_call, slot(PyVectorcall_Call)},
        {Py_tp_repr, slot(represent)},
        {Py_tp_getset, getters},
        {Py_tp_members, members},
        {0, nullptr},
    };
    bound_launch_type =
        make_heap_type("pycuda._driver.BoundLaunch", sizeof(BoundLaunchObject),
                       Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots);
    module.attr("BoundLaunch") = nb::handle(reinterpret_cast<PyObject *>(bound_launch_type));
}

} // namespace pycuda::python
