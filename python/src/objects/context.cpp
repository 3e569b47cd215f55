// context.cpp -- pycuda.driver.Context. The driver determines the current context.
#include "support/bindings.h"

#include "objects/pushed_contexts.h"
#include "support/interruptible.h"
#include "support/python_object.h"

#include <pycuda/context.h>
#include <pycuda/kept_objects.h>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <chrono>

namespace pycuda::python {
namespace {

/// A method of Context. Called on an instance, it uses that context. Called on the class, it uses
/// the current context: `context.synchronize()` and `Context.synchronize()`. In PyCUDA these
/// methods are static, and `other.synchronize()` waits for the current context, which may not be
/// `other`.
struct EitherMethod {
    nb::object of_class;
    std::string of_instance; ///< the name of the instance method
};

nb::object bind_either(const EitherMethod &method, nb::handle instance, nb::handle) {
    return instance.is_none() ? method.of_class : instance.attr(method.of_instance.c_str());
}

template <class Result, class... Args, class... Extra>
void def_either(nb::class_<Context> &type, const char *name,
                Result (*act)(const Context &, Args...), const Extra &...extra) {
    const std::string of_instance = std::string("_self_") + name;
    type.def(of_instance.c_str(), act, extra...);
    type.def_static(
        name, [act](Args... args) { return act(Context::require_current(), args...); }, extra...);
    type.attr(name) = nb::cast(EitherMethod{type.attr(name), of_instance});
}

void synchronize(const Context &context) {
    wait_with_signals([&](const KeepWaiting &keep_waiting) { context.synchronize(keep_waiting); });
    release_kept_objects();
}

/// Waits at most this time. False if work is not done; then the work is interrupted, if the driver
/// can do that.
bool synchronize_for(const Context &context, double seconds) {
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + std::chrono::duration<double>(seconds);
    try {
        wait_with_signals([&](const KeepWaiting &keep_waiting) {
            context.synchronize(
                [&] { return Clock::now() < end && (!keep_waiting || keep_waiting()); });
        });
    } catch (const Interrupted
                 &) { // by the time limit; an exception of a signal handler has another type
        return false;
    }
    return true;
}

/// `with context:` pushes the context. The end of the block pops the top of the stack, as pop()
/// does.
void exit_block(const Context &, nb::args) { pop_and_let_go(); }

Context enter_block(const Context &context) {
    push_and_keep(context);
    return context;
}

Device get_device(const Context &context) { return context.device(); }

std::size_t get_limit(const Context &context, int limit) { return context.limit(CUlimit(limit)); }
void set_limit(const Context &context, int limit, std::size_t value) {
    context.set_limit(CUlimit(limit), value);
}
void set_cache_config(const Context &context, int config) {
    context.set_cache_config(CUfunc_cache(config));
}
void set_shared_config(const Context &context, int config) {
    context.set_shared_config(CUsharedconfig(config));
}

nb::object get_cache_config(const Context &context) {
    return enum_member("func_cache", context.cache_config());
}
nb::object get_shared_config(const Context &context) {
    return enum_member("shared_config", context.shared_config());
}

void enable_peer_access(const Context &context, const Context &peer, unsigned flags) {
    context.enable_peer_access(peer, flags);
}
void disable_peer_access(const Context &context, const Context &peer) {
    context.disable_peer_access(peer);
}

Context from_handle(std::uintptr_t handle) {
    return Context::borrow(reinterpret_cast<CUcontext>(handle));
}

nb::tuple memory_info() {
    Context::MemoryInfo info = Context::require_current().memory_info();
    return nb::make_tuple(info.free, info.total);
}

std::string represent(const Context &context) {
    return shown_with_handle("Context", context.get());
}

/// Methods of a context, or of the class for the current context.
void bind_either_methods(nb::class_<Context> &type) {
    def_either(type, "get_device", get_device,
               "Return the Device of the context.\n\n"
               "Called on the class, the current context is meant. Raises LogicError if no context "
               "is current.");
    def_either(type, "synchronize", synchronize,
               "Wait for all work in the context, in all of its streams.\n\n"
               "Called on the class, the current context is meant. Ctrl-C ends the wait. Raises "
               "the error of a kernel that failed.");
    def_either(type, "get_limit", get_limit, nb::arg("limit"),
               "A limit of the context. Limits of memory are in bytes.\n\n"
               "limit: a member of pycuda.driver.limit.\n\n"
               "Raises LogicError for a number that is no limit.");
    def_either(type, "set_limit", set_limit, nb::arg("limit"), nb::arg("value"),
               "Set a limit of the context. The driver may round the value; get_limit() returns "
               "the result.\n\n"
               "limit: a member of pycuda.driver.limit.\n"
               "value: the new value; bytes for limits of memory.");
    def_either(type, "get_cache_config", get_cache_config,
               "Return how the context divides on-chip memory between the L1 cache and shared "
               "memory: a member of func_cache.\n\n"
               "PREFER_NONE, the default, leaves the choice to the driver. Called on the class, "
               "the current context is meant.");
    def_either(
        type, "set_cache_config", set_cache_config, nb::arg("cc"),
        "Set how the context divides on-chip memory between the L1 cache and shared memory.\n\n"
        "cc: a func_cache. The driver may ignore this preference.");
    def_either(
        type, "get_shared_config", get_shared_config,
        "Return the width of the banks of shared memory: a member of shared_config.\n\n"
        "Devices since compute capability 5.0 have banks of four bytes only: FOUR_BYTE_BANK_SIZE.");
    def_either(type, "set_shared_config", set_shared_config, nb::arg("sc"),
               "Set the width of the banks of shared memory.\n\n"
               "sc: a member of shared_config.\n\n"
               "The call has an effect on devices of compute capability 3.x only. Newer devices "
               "have banks of four bytes, and ignore\n"
               "the setting.");
    def_either(type, "enable_peer_access", enable_peer_access, nb::arg("peer"),
               nb::arg("flags") = 0,
               "Allow kernels and copies of this context to access memory of another context.\n\n"
               "peer: a context on another device.\n"
               "flags: must be 0.\n\n"
               "Raises LogicError if the devices cannot access each other, or if the access is "
               "already allowed.");
    def_either(type, "disable_peer_access", disable_peer_access, nb::arg("peer"),
               "Undo enable_peer_access(): kernels and copies of this context no longer access "
               "memory of ``peer``.\n\n"
               "peer: the context whose memory was accessible.\n\n"
               "Raises LogicError if the access was not allowed. Work that uses the memory must be "
               "done before.");
}

} // namespace

void bind_context(nb::module_ &module) {
    nb::class_<EitherMethod>(module, "_EitherMethod")
        .def("__get__", bind_either, nb::arg("instance").none(), nb::arg("owner").none());

    nb::class_<Context> type(
        module, "Context", nb::dynamic_attr(), nb::is_weak_referenceable(),
        "The owner of memory, modules, streams and events on one device. A process has one primary "
        "context for each device.\n\n"
        "Each thread has a stack of contexts, and the top of the stack is the current context: "
        "calls without a context as\n"
        "argument act on it. push() and pop() change the stack; ``with context:`` does both. A "
        "thread with an empty stack uses\n"
        "the context of set_default().\n\n"
        "The methods get_device(), synchronize(), get_limit() and set_limit(), the configurations "
        "and the functions of peer\n"
        "access are called on a context or on the class. On the class they act on the current "
        "context:\n"
        "``Context.synchronize()``. The stack, memory and objects of a context are usable until "
        "detach().\n\n"
        ">>> context = cuda.Device(0).retain_primary_context()\n"
        ">>> with context:\n"
        "...     print(cuda.Context.get_current() == context, cuda.Context.get_device().handle)\n"
        "True 0");
    bind_either_methods(type);
    type.def_static("get_current", &Context::current,
                    "The current context of this thread, or None.\n\n"
                    "The driver is asked, so the result may be a context that another library made "
                    "current.")
        .def_static(
            "set_default", &Context::set_default, nb::arg("context").none(),
            "Name the context of threads that have none; None: such threads get an error.\n\n"
            "The context becomes current in such a thread when the thread first needs one. "
            "pycuda.autoinit and pycuda.autoprimaryctx name theirs. LogicError for a context "
            "that was detached.")
        .def_static("get_default", &Context::get_default,
                    "Return the context that threads without a current context use, or None if "
                    "there is none.\n\n"
                    "set_default() sets this context. pycuda.autoinit and pycuda.autoprimaryctx "
                    "call set_default() with their context.")
        .def_static("from_handle", from_handle, nb::arg("handle"),
                    "A Context for a CUcontext that other code owns.\n\n"
                    "handle: the CUcontext as an int. The other code must keep it alive.")
        .def_static(
            "attach",
            [](unsigned) {
                Context current = Context::require_current();
                push_and_keep(current);
                return current;
            },
            nb::arg("flags") = 0,
            "Push the current context on this thread's stack a second time, and return the "
            "context.\n\n"
            "flags: ignored by the driver; exists for old programs.\n\n"
            "Deprecated: use push(). Raises LogicError if no context is current.")
        .def_static(
            "pop", pop_and_let_go,
            "Remove the top of this thread's context stack, and return the removed context.\n\n"
            "Raises LogicError if the stack is empty. The context below becomes current.")
        .def("push", push_and_keep,
             "Push the context on this thread's stack: the context becomes current in this "
             "thread.\n\n"
             "Context.pop() undoes the push. ``with context:`` calls both. The stack keeps the "
             "context alive. Raises LogicError if\n"
             "the context was detached.")
        .def("set_current", replace_and_keep,
             "Replace the top of this thread's stack by this context. The context is pushed if the "
             "stack is empty.\n\n"
             "Unlike push(), the call does not keep the old current context for a later pop().")
        .def("__enter__", enter_block)
        .def("__exit__", exit_block)
        .def("detach", detach_and_let_go,
             "Release the context. A context of make_context() is destroyed, a primary context is "
             "released.\n\n"
             "Raises LogicError if detach() was called before.")
        .def("get_api_version", &Context::api_version,
             "Return the version of the driver API that the context was made for, as an int.\n\n"
             "The number describes the context's interface, not the driver: current drivers return "
             "3020 (CUDA 3.2).\n"
             "get_driver_version() returns the version of CUDA that the driver supports.")
        .def_prop_ro("handle", handle_of<Context>,
                     "The CUcontext, as an int, for libraries that take a context's handle.")
        .def_prop_ro("is_attached", &Context::attached, "True until detach() is called.")
        .def_prop_ro("_serial", &Context::serial, "A number that no other context ever has.")
        .def_prop_ro("_is_usable", &Context::usable, "False once the driver has it back.")
        .def("__hash__", [](const Context &context) { return std::hash<Context>{}(context); })
        .def(
            "__eq__", [](const Context &context, const Context &other) { return context == other; },
            nb::is_operator())
        .def(
            "__ne__", [](const Context &context, const Context &other) { return context != other; },
            nb::is_operator())
        .def("__repr__", represent);

    module.def("_synchronize_for", synchronize_for,
               "Wait for all work in a context, for so many seconds at most: whether it is done.");
    module.def("mem_get_info", memory_info,
               "The memory of the current device in bytes: (free, total).\n\n"
               "Memory in pools, as of arrays that were dropped, counts as used. Raises LogicError "
               "without a context.\n\n"
               ">>> free, total = cuda.mem_get_info()\n"
               ">>> 0 < free <= total\n"
               "True");
}

} // namespace pycuda::python
