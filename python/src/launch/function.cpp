// function.cpp -- the type pycuda.driver.Function: construction, attributes and methods.
#include "launch/function.h"

#include "launch/argument_types.h"
#include "launch/bound_launch.h"
#include "launch/launch_config.h"
#include "memory/texture.h"
#include "support/errors.h"
#include "support/heap_type.h"
#include "support/python_object.h"

#include <pycuda/kernel_signature.h>
#include <pycuda/launch_attributes.h>

#include <nanobind/stl/string.h>

#include <structmember.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace pycuda::python {
namespace {

PyTypeObject *function_type = nullptr;

FunctionObject &object_of(PyObject *self) { return *reinterpret_cast<FunctionObject *>(self); }

// Construction and destruction.

void deallocate(PyObject *self) noexcept {
    PyObject_GC_UnTrack(self);
    FunctionObject &object = object_of(self);
    if (object.weak_references)
        PyObject_ClearWeakRefs(self);
    Py_CLEAR(object.attributes);
    Py_CLEAR(object.module);
    for (std::size_t i = 0; i < object.function.layout().count(); ++i)
        Py_XDECREF(object.checked_dtypes[i].load());
    std::destroy_at(&object.checked_dtypes);
    std::destroy_at(&object.legacy);
    std::destroy_at(&object.prepared_formats);
    std::destroy_at(&object.function);
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_Del(self);
    Py_DECREF(reinterpret_cast<PyObject *>(type));
}

int traverse(PyObject *self, visitproc visit, void *arg) noexcept {
    Py_VISIT(object_of(self).attributes);
    Py_VISIT(object_of(self).module);
    Py_VISIT(reinterpret_cast<PyObject *>(Py_TYPE(self)));
    return 0;
}

int clear(PyObject *self) noexcept {
    Py_CLEAR(object_of(self).attributes);
    Py_CLEAR(object_of(self).module);
    return 0;
}

// Attributes.

/// func.num_regs and similar attributes. There is a descriptor for each name, because a type with
/// __getattr__ would make every look-up of a method slow.
PyObject *attribute_named(PyObject *self, void *number) noexcept {
    return guarded([&] {
        const auto attribute =
            static_cast<CUfunction_attribute>(reinterpret_cast<std::intptr_t>(number));
        return PyLong_FromLong(object_of(self).function.attribute(attribute));
    });
}

/// Numba launches with brackets.
PyObject *refuse_subscript(PyObject *self, PyObject *) {
    PyErr_Format(PyExc_TypeError,
                 "%R is not launched as kernel[grid, block](a, b); write kernel(a, b, grid=..., "
                 "block=...)",
                 self);
    return nullptr;
}

PyObject *represent(PyObject *self) noexcept {
    return guarded([&] {
        const Function &function = object_of(self).function;
        std::string text = "<pycuda.driver.Function " + readable_name(function.name()) + "(";
        for (std::size_t i = 0; i < function.layout().count(); ++i) {
            const std::string &type = function.layout().type(i);
            const std::size_t size = function.layout().data()[i].size;
            text += (i ? ", " : "") + (!type.empty() ? type
                                       : size == 1   ? "1 byte"
                                                     : std::to_string(size) + " bytes");
        }
        text += ")>";
        return PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
    });
}

PyObject *name_of(PyObject *self, void *) noexcept {
    return guarded([&] { return PyUnicode_FromString(object_of(self).function.name().c_str()); });
}

PyObject *handle_of(PyObject *self, void *) noexcept {
    return PyLong_FromVoidPtr(object_of(self).function.get());
}

// Methods.

PyObject *get_attribute(PyObject *self, PyObject *attribute) noexcept {
    return guarded([&]() -> PyObject * {
        const int number = nb::cast<int>(nb::handle(attribute));
        return PyLong_FromLong(object_of(self).function.attribute(CUfunction_attribute(number)));
    });
}

PyObject *set_attribute(PyObject *self, PyObject *args) noexcept {
    int attribute = 0, value = 0;
    if (!PyArg_ParseTuple(args, "ii:set_attribute", &attribute, &value))
        return nullptr;
    return guarded([&] {
        object_of(self).function.set_attribute(CUfunction_attribute(attribute), value);
        return Py_NewRef(Py_None);
    });
}

PyObject *set_cache_config(PyObject *self, PyObject *config) noexcept {
    return guarded([&] {
        object_of(self).function.set_cache_config(CUfunc_cache(nb::cast<int>(nb::handle(config))));
        return Py_NewRef(Py_None);
    });
}

PyObject *set_shared_config(PyObject *self, PyObject *config) noexcept {
    return guarded([&] {
        object_of(self).function.set_shared_config(
            CUsharedconfig(nb::cast<int>(nb::handle(config))));
        return Py_NewRef(Py_None);
    });
}

PyObject *active_blocks(PyObject *self, PyObject *args, PyObject *keywords) noexcept {
    static const char *names[] = {"threads", "shared", nullptr};
    int threads = 0;
    unsigned long long shared = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "i|K:max_active_blocks",
                                     const_cast<char **>(names), &threads, &shared))
        return nullptr;
    return guarded([&] {
        return PyLong_FromLong(max_active_blocks(object_of(self).function, threads, shared));
    });
}

PyObject *suggest_block_size(PyObject *self, PyObject *args, PyObject *keywords) noexcept {
    static const char *names[] = {"shared", "most_threads", nullptr};
    unsigned long long shared = 0;
    int most = 0;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|Ki:suggest_block_size",
                                     const_cast<char **>(names), &shared, &most))
        return nullptr;
    return guarded([&] {
        const BlockSuggestion found = suggest_block(object_of(self).function, shared, most);
        return nb::make_tuple(found.block_threads, found.min_grid).release().ptr();
    });
}

PyObject *param_set_texref(PyObject *, PyObject *reference) noexcept {
    return guarded([&] {
        check_texture_references(nb::make_tuple(nb::handle(reference)));
        return Py_NewRef(Py_None);
    });
}

template <class Method> PyCFunction method(Method *function) {
    return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

constexpr int with_keywords = METH_FASTCALL | METH_KEYWORDS;

const PyMethodDef own_methods[] = {
    {"prepare", method(function_prepare), METH_VARARGS | METH_KEYWORDS,
     "prepare(arg_types, texrefs=[]) -> self\n\n"
     "Set the argument types of prepared_call() and its variants. Returns the Function.\n\n"
     "arg_types: a format of the struct module such as \"PPi\", or a list of NumPy types and \"P\" "
     "for pointers.\n"
     "texrefs: texture references that the kernel uses."},
    {"prepared_call", method(function_prepared_call), with_keywords,
     "prepared_call(grid, block, *args, shared_size=0)\n\n"
     "Launch with the argument types of prepare().\n\n"
     "grid, block: tuples of one to three integers.\n"
     "args: the arguments.\n"
     "shared_size: bytes of dynamic shared memory."},
    {"prepared_async_call", method(function_prepared_async_call), with_keywords,
     "prepared_async_call(grid, block, stream, *args, shared_size=0)\n\n"
     "prepared_call() in a stream.\n\n"
     "stream: a Stream; None is the default stream."},
    {"prepared_timed_call", method(function_prepared_timed_call), with_keywords,
     "prepared_timed_call(grid, block, *args, shared_size=0)\n\n"
     "prepared_call() with a timer.\n\n"
     "Returns a function, which waits for the kernel and returns its time in seconds."},
    {"bind", method(function_bind), with_keywords,
     "bind(*args, block, grid=(1, 1), stream=None, shared=0) -> BoundLaunch\n\n"
     "Check and pack the arguments of a launch once. Returns a BoundLaunch, whose call launches "
     "the kernel.\n\n"
     "Arguments, block and grid are as in a call of the Function. Host arrays (In, Out, InOut) are "
     "not possible. The\n"
     "result keeps its arguments alive."},
    {"get_attribute", get_attribute, METH_O,
     "get_attribute(function_attribute) -> int\n\n"
     "Return the value of an attribute of the kernel.\n\n"
     "attribute: a member of function_attribute, such as NUM_REGS (registers of a thread) or "
     "SHARED_SIZE_BYTES.\n\n"
     "Each attribute is also an attribute of the Function, in lower case: ``kernel.num_regs``. "
     "Raises LogicError for a number\n"
     "that is not an attribute."},
    {"set_attribute", set_attribute, METH_VARARGS,
     "set_attribute(function_attribute, value)\n\n"
     "Set an attribute of the kernel.\n\n"
     "attribute: a function_attribute that can be set, such as MAX_DYNAMIC_SHARED_SIZE_BYTES.\n"
     "value: the new value.\n\n"
     "Raises LogicError for an attribute that cannot be set."},
    {"set_cache_config", set_cache_config, METH_O,
     "set_cache_config(func_cache)\n\n"
     "Set how the device divides on-chip memory between the L1 cache and shared memory for this "
     "kernel: a func_cache.\n\n"
     "The driver may ignore this preference."},
    {"set_shared_config", set_shared_config, METH_O,
     "set_shared_config(shared_config)\n\n"
     "Set the width of the banks of shared memory for this kernel: a shared_config.\n\n"
     "The call has an effect on devices of compute capability 3.x only."},
    {"max_active_blocks", method(active_blocks), METH_VARARGS | METH_KEYWORDS,
     "max_active_blocks(threads, shared=0) -> int\n\n"
     "The number of blocks that one multiprocessor can run at the same time.\n\n"
     "threads: threads of a block, at least 1.\n"
     "shared: bytes of dynamic shared memory of a block.\n\n"
     "Raises LogicError for 0 threads."},
    {"suggest_block_size", method(suggest_block_size), METH_VARARGS | METH_KEYWORDS,
     "suggest_block_size(shared=0, most_threads=0) -> (threads, blocks)\n\n"
     "Suggest a block size. Returns (threads of a block with the highest occupancy, blocks that "
     "fill the device).\n\n"
     "shared: bytes of dynamic shared memory of a block.\n"
     "most_threads: an upper limit of the threads; 0 is no limit."},
    {"param_set_texref", param_set_texref, METH_O,
     "param_set_texref(texref)\n\n"
     "Does nothing. Deprecated: a TextureReference is in use as soon as memory is bound to it."},
};

/// The methods above, then the ones of CUDA 3.
PyMethodDef *methods() {
    static auto *all = new std::vector<PyMethodDef>(std::begin(own_methods), std::end(own_methods));
    for (const PyMethodDef *legacy = legacy_methods(); legacy->ml_name; ++legacy)
        all->push_back(*legacy);
    all->push_back({});
    return all->data();
}

/// The attributes of the class itself, then each attribute of the driver as NUM_REGS and as
/// num_regs.
PyGetSetDef *getters() {
    struct Named {
        const char *name;
        std::intptr_t number;
    };
    static constexpr Named attributes[] = {
#define PYCUDA_FUNCTION_ATTRIBUTE(name, value) {#name, value},
#include <abi/attributes.def>
    };
    static constexpr PyGetSetDef own[] = {
        {"name", name_of, nullptr, "The kernel's name in its module.", nullptr},
        {"handle", handle_of, nullptr, "The CUfunction, as an int.", nullptr},
        {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    };
    static auto *lower_names = new std::deque<std::string>; // the type keeps their addresses
    static auto *all = new std::vector<PyGetSetDef>(std::begin(own), std::end(own));
    for (const Named &attribute : attributes) {
        std::string &lower = lower_names->emplace_back(attribute.name);
        std::ranges::transform(lower, lower.begin(),
                               [](unsigned char letter) { return std::tolower(letter); });
        for (const char *name : {attribute.name, lower.c_str()})
            all->push_back({name, attribute_named, nullptr, nullptr,
                            reinterpret_cast<void *>(attribute.number)});
    }
    all->push_back({});
    return all->data();
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(FunctionObject, vectorcall), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(FunctionObject, attributes), READONLY, nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(FunctionObject, weak_references), READONLY,
     nullptr},
    {},
};

PyTypeObject *make_type() {
    PyType_Slot slots[] = {
        {Py_tp_doc,
         const_cast<char *>(
             "A kernel. Module.get_function() finds it, and a call launches it.\n\n"
             "``func(*args, block, grid=(1, 1), stream=None, shared=0, texrefs=[], "
             "time_kernel=False, cooperative=False,\n"
             "cluster=None, priority=0, programmatic=False)``\n\n"
             "args: one for each parameter: an array or allocation of the device, an address, a "
             "NumPy scalar, a Python number, bytes\n"
             "  of a struct, or a host array in In, Out or InOut. Number and sizes are checked "
             "against the kernel's parameters.\n"
             "block, grid: threads of a block and blocks of the grid, an int or up to three ints.\n"
             "stream: a Stream; by default the thread's current stream.\n"
             "shared: bytes of dynamic shared memory of a block.\n"
             "texrefs: texture references that the kernel reads.\n"
             "time_kernel: True waits for the kernel and returns its time in seconds.\n"
             "cooperative: True lets blocks wait for each other; all of them must fit on the "
             "device at the same time.\n"
             "cluster: blocks of a cluster, on devices of compute capability 9.0 and later.\n"
             "priority: of this launch; lower numbers are more urgent.\n"
             "programmatic: True lets the kernel start before the kernel before it in the stream "
             "has ended.\n\n"
             "The call returns before the kernel is done, unless host arrays are copied back. "
             "Raises TypeError for an argument that\n"
             "does not fit its parameter, LogicError or LaunchError for a launch that the device "
             "cannot do.\n\n"
             ">>> module = compiler.SourceModule(\"__global__ void add(float *x, float y) { "
             "x[threadIdx.x] += y; }\")\n"
             ">>> add = module.get_function(\"add\")\n"
             ">>> x = gpuarray.zeros(3, np.float32)\n"
             ">>> add(x, 1.5, block=(3, 1, 1))\n"
             ">>> x\n"
             "array([1.5, 1.5, 1.5], dtype=float32)")},
        {Py_tp_dealloc, slot(deallocate)},
        {Py_tp_traverse, slot(traverse)},
        {Py_tp_clear, slot(clear)},
        {Py_tp_call, slot(PyVectorcall_Call)},
        {Py_tp_repr, slot(represent)},
        {Py_mp_subscript, slot(refuse_subscript)},
        {Py_tp_methods, methods()},
        {Py_tp_getset, getters()},
        {Py_tp_members, members},
        {0, nullptr},
    };
    return make_heap_type("pycuda._driver.Function", sizeof(FunctionObject),
                          Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots);
}

} // namespace

nb::object wrap_function(Function function, nb::handle module) {
    FunctionObject *object = PyObject_GC_New(FunctionObject, function_type);
    if (object == nullptr)
        throw nb::python_error();
    object->vectorcall = function_vectorcall;
    object->attributes = nullptr;
    object->weak_references = nullptr;
    object->module = Py_NewRef(module.ptr());
    const std::size_t parameters = function.layout().count();
    new (&object->function) Function(std::move(function));
    new (&object->prepared) std::atomic<const PreparedFormat *>(nullptr);
    new (&object->preparing) nb::ft_mutex();
    new (&object->prepared_formats) std::deque<PreparedFormat>();
    new (&object->checked_dtypes)
        std::unique_ptr<std::atomic<PyObject *>[]>(new std::atomic<PyObject *>[parameters]());
    new (&object->legacy) std::unique_ptr<LegacyLaunch>();
    PyObject_GC_Track(object);
    return nb::steal(reinterpret_cast<PyObject *>(object));
}

void bind_function(nb::module_ &module) {
    function_type = make_type();
    module.attr("Function") = nb::handle(reinterpret_cast<PyObject *>(function_type));
    bind_bound_launch(module);
    intern_launch_keywords();
    register_argument_types();

    module.def(
        "_register_handler",
        [](nb::handle type, int direction) {
            ArgumentTypes::add(
                {reinterpret_cast<PyTypeObject *>(type.ptr()), pack_handler, {}, direction, true});
        },
        "Serve this class of argument handlers without calling its methods: 1 in, 2 out, 3 both.");
}

} // namespace pycuda::python
