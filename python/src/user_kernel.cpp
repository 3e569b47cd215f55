// user_kernel.cpp -- arguments and compiled variants of users' kernels.
#include "user_kernel.h"

#include "array_object.h"
#include "python_object.h"

#include <nanobind/stl/string.h>

namespace pycuda::python {
namespace {

std::string declaration(const KernelArgument &argument) {
    return argument.type + (argument.is_vector() ? " *" : " ") + argument.name;
}

[[noreturn]] void reject_count(const std::string &kernel,
                               const std::vector<KernelArgument> &declared, std::size_t given) {
    std::string text =
        "kernel '" + kernel + "' takes " + std::to_string(declared.size()) + " arguments (";
    for (const KernelArgument &argument : declared)
        text += (&argument == declared.data() ? "" : ", ") + declaration(argument);
    throw_type_error(text + "), got " + std::to_string(given));
}

/// The compiler's words, if any, as warnings and print() as pycuda.compiler gives them.
void report(const std::string &log, const std::string &kept_in) {
    if (!kept_in.empty())
        nb::print(nb::str(("*** compiler output in " + kept_in).c_str()));
    if (log.find_first_not_of(" \t\r\n") == std::string::npos)
        return;
    const std::string text = "The CUDA compiler succeeded, but said the following:\n" + log;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0)
        throw nb::python_error();
}

} // namespace

std::vector<KernelArgument> arguments_from(const std::vector<ArgumentTuple> &tuples) {
    std::vector<KernelArgument> arguments;
    for (const auto &[is_array, type, name, size] : tuples)
        arguments.push_back({is_array ? KernelArgument::Kind::Vector : KernelArgument::Kind::Scalar,
                             type, name, size});
    return arguments;
}

CallArrays::CallArrays(const std::string &kernel, const std::vector<KernelArgument> &declared,
                       nb::handle args, StreamUse &use)
    : reader_(use) {
    const auto count = static_cast<std::size_t>(PyTuple_Size(args.ptr()));
    if (count != declared.size()) [[unlikely]]
        reject_count(kernel, declared, count);
    views_.reserve(count);
    dtypes_.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        if (!declared[i].is_vector())
            continue;
        ArrayOperand operand = reader_.read(PyTuple_GetItem(args.ptr(), static_cast<Py_ssize_t>(i)),
                                            kernel, declared[i].name);
        views_.push_back(operand.view);
        dtypes_.push_back(std::move(operand.dtype));
    }
}

FunctionObject *VariantFunctions::find(const Function &function) {
    nb::ft_lock_guard guard(mutex_);
    for (const nb::object &known : functions_) {
        auto *object = reinterpret_cast<FunctionObject *>(known.ptr());
        if (object->function == function)
            return object;
    }
    return nullptr;
}

FunctionObject &VariantFunctions::get(const Function &function, const std::string &log,
                                      const std::string &kept_in) {
    if (FunctionObject *known = find(function))
        return *known;
    report(log, kept_in);
    nb::object made = wrap_function(function);
    std::vector<nb::object> gone; // with their context; they go without the lock
    nb::ft_lock_guard guard(mutex_);
    std::erase_if(functions_, [&](const nb::object &known) {
        const auto *object = reinterpret_cast<const FunctionObject *>(known.ptr());
        if (object->function.context().usable())
            return false;
        gone.push_back(known);
        return true;
    });
    functions_.push_back(made);
    return *reinterpret_cast<FunctionObject *>(made.ptr());
}

} // namespace pycuda::python
