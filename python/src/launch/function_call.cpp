// function_call.cpp -- func(*args, block=..., grid=...): converts Python's arguments and launches.
//
// Keeps the GIL, because a launch only queues work. Releases it while a handler or time_kernel
// waits.
#include "launch/function.h"

#include "launch/argument_types.h"
#include "launch/launch_config.h"
#include "launch/staged_arguments.h"
#include "support/errors.h"
#include "support/python_object.h"

#include <chrono>

namespace pycuda::python {
namespace {

using Clock = std::chrono::steady_clock;

/// The duration of one launch in seconds. Waits for earlier work first, then for the launch.
double timed_launch(const Function &function, const LaunchConfig &config, ArgumentBlock &block) {
    wait_for_kernel(function, config.stream);
    const Clock::time_point start = Clock::now();
    launch(function, config, block);
    wait_for_kernel(function, config.stream);
    return std::chrono::duration<double>(Clock::now() - start).count();
}

PyObject *call(FunctionObject &self, PyObject *const *args, std::size_t count, PyObject *names) {
    const CallOptions options = read_call_options(args + count, names);
    if (!options.has_block)
        reject_missing_block(self.function.name(), args, count);
    if (options.time_kernel && options.attributes.any())
        throw_value_error("time_kernel cannot be combined with cooperative, cluster, priority or "
                          "programmatic");

    ArgumentBlock block(self.function);
    block.check_count(count);
    StagedArguments staged(options.config.stream, self.function.context());
    Packing packing{self, block, staged};
    for (std::size_t i = 0; i < count; ++i)
        pack(args[i], packing);

    staged.before_launch(options.stream);
    double seconds = 0;
    if (options.time_kernel)
        seconds = timed_launch(self.function, options.config, block);
    else if (options.attributes.any()) [[unlikely]]
        launch_packed(self.function, options.config, options.attributes, block.data(),
                      block.size());
    else
        launch(self.function, options.config, block);
    staged.after_launch(self.function, options.stream);
    return options.time_kernel ? PyFloat_FromDouble(seconds) : Py_NewRef(Py_None);
}

} // namespace

PyObject *function_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf,
                              PyObject *names) noexcept {
    return guarded([&] {
        return call(*reinterpret_cast<FunctionObject *>(self), args,
                    static_cast<std::size_t>(PyVectorcall_NARGS(nargsf)), names);
    });
}

} // namespace pycuda::python
