// errors.cpp -- the exception classes, and the conversion of C++ exceptions.
#include "support/errors.h"

#include "support/interruptible.h"

#include <pycuda/argument_block.h>
#include <pycuda/array_operation.h>
#include <pycuda/compile_error.h>
#include <pycuda/context.h>
#include <pycuda/driver_calls.h>
#include <pycuda/failed_check.h>
#include <pycuda/kernel_fault.h>
#include <pycuda/kernel_signature.h>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <atomic>

namespace pycuda::python {
namespace {

/// The classes, which exist as long as the process.
struct ExceptionClasses {
    PyObject *error = nullptr;
    PyObject *memory = nullptr;
    PyObject *launch = nullptr;
    PyObject *runtime = nullptr;
    PyObject *logic = nullptr;
    PyObject *argument = nullptr;
};
ExceptionClasses classes;

PyObject *class_of(ErrorKind kind) noexcept {
    switch (kind) {
    case ErrorKind::Memory:
        return classes.memory;
    case ErrorKind::Launch:
        return classes.launch;
    case ErrorKind::Runtime:
        return classes.runtime;
    case ErrorKind::Logic:
        return classes.logic;
    case ErrorKind::None:
    case ErrorKind::Generic:
        break;
    }
    return classes.error;
}

/// Failures of kernels, which later calls report.
bool is_sticky_error(CUresult result) noexcept {
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_FAILED ||
           result == CUDA_ERROR_ASSERT || result == CUDA_ERROR_ILLEGAL_INSTRUCTION ||
           result == CUDA_ERROR_MISALIGNED_ADDRESS || result == CUDA_ERROR_HARDWARE_STACK_ERROR ||
           result == CUDA_ERROR_INVALID_ADDRESS_SPACE || result == CUDA_ERROR_INVALID_PC;
}

/// Advice for the user of a Python program; "" if there is none.
const char *advice(const Error &error) {
    const CUresult result = error.result();
    if (is_sticky_error(result) && error.extra().find("kernel '") == std::string::npos)
        return " (left by a kernel before this call; PYCUDA_LAUNCH_BLOCKING=1 finds the kernel)";
    if (result == CUDA_ERROR_INVALID_CONTEXT && !has_current_context())
        return Context::get_default()
                   ? " (a thread starts without a context; 'with pycuda.autoinit.context:' makes "
                     "it current)"
                   : " (import pycuda.autoinit, or make a context and push it in this thread)";
    if (result == CUDA_ERROR_NOT_INITIALIZED && error.function() != "driver") // except after a fork
        return " (import pycuda.autoinit, or call pycuda.driver.init() first)";
    return "";
}

/// Whether the program has been informed of a kernel's failure.
std::atomic<bool> reported_kernel_failure = false;

/// Attributes of an error with details of a kernel's failure; None in other errors.
constexpr const char *fault_attributes[] = {"file",     "line",     "kernel", "block",
                                            "thread",   "address",  "access", "allocation",
                                            "variable", "parameter"};

nb::object tuple_of(const std::array<unsigned, 3> &index) {
    return nb::make_tuple(index[0], index[1], index[2]);
}

nb::object text_or_none(const std::string &text) {
    return text.empty() ? nb::none() : nb::object(nb::str(text.c_str()));
}

void set_fault(nb::object &instance, const KernelFault &fault) {
    instance.attr("kernel") = plain_name(fault.kernel);
    instance.attr("file") = text_or_none(fault.file);
    if (fault.line != 0)
        instance.attr("line") = fault.line;
    instance.attr("block") = tuple_of(fault.block);
    if (fault.thread)
        instance.attr("thread") = tuple_of(*fault.thread);
    if (fault.address)
        instance.attr("address") = *fault.address;
    if (fault.access != KernelFault::Access::Unknown)
        instance.attr("access") = fault.access == KernelFault::Access::Read ? "read" : "write";
    if (fault.allocation)
        instance.attr("allocation") =
            nb::module_::import_("pycuda._fault")
                .attr("Allocation")(fault.allocation->base, fault.allocation->bytes);
    instance.attr("variable") = text_or_none(fault.variable);
    if (fault.parameter)
        instance.attr("parameter") = *fault.parameter;
}

/// The failed call and the fault. Text of the call that only names the kernel of the fault is left
/// out: the fault's message begins with this name.
std::string message_with_fault(const Error &error, const KernelFault &fault) {
    const bool names_kernel = error.extra() == "kernel '" + readable_name(fault.kernel) + "'";
    const std::string call =
        names_kernel ? Error(error.function(), error.result()).what() : error.what();
    return call + " - " + fault.message;
}

void set_driver_error(PyObject *type, const Error &error) {
    std::optional<KernelFault> fault;
    if (is_sticky_error(error.result())) {
        reported_kernel_failure = true;
        fault = last_kernel_fault(error.result());
    }
    const std::string text =
        fault ? message_with_fault(error, *fault) : error.what() + std::string(advice(error));
    nb::object instance = nb::handle(type)(text);
    if (fault)
        set_fault(instance, *fault);
    instance.attr("code") = static_cast<int>(error.result());
    instance.attr("name") = result_name(error.result());
    PyErr_SetObject(type, instance.ptr());
}

/// pycuda.driver.CompileError is defined in Python code.
void set_compile_error(const CompileError &error) {
    nb::object type = nb::module_::import_("pycuda.driver").attr("CompileError");
    nb::object instance = type(error.message(), error.command_line(), error.standard_output(),
                               error.standard_error());
    instance.attr("kept_in") = error.kept_in;
    PyErr_SetObject(type.ptr(), instance.ptr());
}

void set_failed_check(const FailedCheck &error) {
    switch (error.kind()) {
    case FailedCheck::Kind::Index:
        return PyErr_SetString(PyExc_IndexError, error.what());
    case FailedCheck::Kind::Value:
        return PyErr_SetString(PyExc_ValueError, error.what());
    case FailedCheck::Kind::ZeroDivision:
        return PyErr_SetString(PyExc_ZeroDivisionError, error.what());
    case FailedCheck::Kind::LinearAlgebra:
        break;
    }
    nb::object type = nb::module_::import_("numpy.linalg").attr("LinAlgError");
    PyErr_SetString(type.ptr(), error.what());
}

/// Sets Python's error if the exception is one of ours; otherwise rethrows it.
void translate(const std::exception_ptr &exception, void *) {
    try {
        std::rethrow_exception(exception);
    } catch (const ArgumentError &error) {
        set_driver_error(classes.argument, error);
    } catch (const Error &error) {
        if (!raise_from_driver_wait()) // the result of the interrupted work
            set_driver_error(class_of(error.kind()), error);
    } catch (const CompileError &error) {
        set_compile_error(error);
    } catch (const FailedCheck &error) {
        set_failed_check(error);
    } catch (const UnsupportedTypes &error) {
        PyErr_SetString(PyExc_TypeError, error.what());
    } catch (const nb::cast_error &) { // if the function has no better message
        PyErr_SetString(PyExc_TypeError,
                        "an argument has a type that this function does not accept");
    } catch (const ScalarOverflow &error) {
        PyErr_SetString(PyExc_OverflowError, error.what());
    }
}

PyObject *define(nb::module_ &module, const char *name, nb::object bases, const char *doc) {
    std::string qualified = std::string("pycuda._driver.") + name;
    PyObject *type = PyErr_NewExceptionWithDoc(qualified.c_str(), doc, bases.ptr(), nullptr);
    if (type == nullptr)
        throw nb::python_error();
    module.attr(name) = nb::handle(type);
    return type;
}

} // namespace

void set_python_error() noexcept {
    try {
        try {
            translate(std::current_exception(), nullptr);
        } catch (nb::python_error &error) {
            error.restore();
        } catch (const nb::builtin_exception &error) {
            PyErr_SetString(error.type() == nb::exception_type::value_error ? PyExc_ValueError
                                                                            : PyExc_TypeError,
                            error.what());
        } catch (const std::bad_alloc &) {
            PyErr_NoMemory();
        } catch (const std::invalid_argument &error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        } catch (const std::out_of_range &error) {
            PyErr_SetString(PyExc_IndexError, error.what());
        } catch (const std::exception &error) {
            PyErr_SetString(PyExc_RuntimeError, error.what());
        }
    } catch (nb::python_error &error) { // the construction of the exception failed
        error.restore();
    } catch (...) {
        PyErr_SetString(PyExc_SystemError, "unknown C++ exception");
    }
}

void bind_errors(nb::module_ &module) {
    module.def(
        "_reported_kernel_failure", [] { return reported_kernel_failure.load(); },
        "Whether an exception has said that a kernel failed.");
    nb::handle exception = PyExc_Exception;
    classes.error = define(
        module, "Error", nb::borrow(exception),
        "Raised when a call of the driver fails. `code` is the driver's number of the failure, "
        "`name` the name of this number. Both are None if PyCUDA rejects the call without asking "
        "the driver.\n\n"
        "If a kernel has failed on softcuda, these attributes describe the access: `kernel` is "
        "the kernel's name, `file` and `line` are the place in the source, `block` and `thread` "
        "are indices (x, y, z), `address` is the accessed address, `access` is 'read' or "
        "'write', `allocation` is the nearest allocation (base, size), `variable` is the name of "
        "the array, and `parameter` is the number of the kernel's parameter that the address "
        "comes from. An unknown value is None. With NVIDIA's driver all of them are None.");
    nb::handle error = classes.error;
    error.attr("code") = nb::none();
    error.attr("name") = nb::none();
    for (const char *attribute : fault_attributes)
        error.attr(attribute) = nb::none();

    nb::object base = nb::borrow(error);
    classes.memory =
        define(module, "MemoryError", base,
               "Raised when the device has too little free memory.\n\n"
               "The message has the number of bytes that were wanted and that are free.");
    classes.launch = define(module, "LaunchError", base,
                            "Raised when a kernel failed while it ran, or could not start.\n\n"
                            "A call that waits reports a failure of an earlier kernel. After such "
                            "a failure the context is unusable.");
    classes.runtime = define(module, "RuntimeError", base,
                             "Raised when the machine or an image is unsuitable: no device, no "
                             "code for this device, no such file, or a defect of the device.\n\n"
                             "pycuda.driver.RuntimeError is not Python's RuntimeError.");
    classes.logic = define(module, "LogicError", base,
                           "Raised when a call is invalid in the current state: a wrong argument, "
                           "no context, a freed object.\n\n"
                           "An invalid memory access of a kernel is a LogicError, too.");
    classes.argument =
        define(module, "ArgumentError",
               nb::make_tuple(nb::handle(classes.logic), nb::handle(PyExc_TypeError)),
               "Raised when the arguments of a launch do not match the kernel's parameters.\n\n"
               "The message names the kernel, the argument, the value and the expected type.");
    nb::register_exception_translator(translate, nullptr);
}

} // namespace pycuda::python
