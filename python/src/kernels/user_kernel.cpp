// user_kernel.cpp -- arguments and compiled variants of users' kernels.
#include "kernels/user_kernel.h"

#include "arrays/array_object.h"
#include "support/numpy_types.h"
#include "support/python_object.h"

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

/// Reports the compiler's messages as warnings and prints, as pycuda.compiler does.
void report(const std::string &log, const std::string &kept_in) {
    if (!kept_in.empty())
        nb::print(nb::str(("*** compiler output in " + kept_in).c_str()));
    if (log.find_first_not_of(" \t\r\n") == std::string::npos)
        return;
    const std::string text = "The CUDA compiler succeeded, but said the following:\n" + log;
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0)
        throw nb::python_error();
}

/// numpy's letter for the kind of the number; 0 if the value is not a number of numpy.
char numpy_kind(nb::handle value) {
    const bool is_array = is_numpy_array(value);
    if (!is_array && !is_numpy_generic(value))
        return 0;
    if (is_array && nb::cast<int>(value.attr("ndim")) != 0)
        return 0;
    return nb::cast<std::string>(value.attr("dtype").attr("kind")).front();
}

/// The Python number to which a numpy number is converted for this parameter; invalid if the number
/// is refused or is passed unchanged.
nb::object converted(nb::handle value, const KernelArgument &declared, const Parameter *wanted) {
    const char kind = numpy_kind(value);
    const bool is_integer = kind == 'i' || kind == 'u';
    if (!wanted || !(is_integer || kind == 'f' || kind == 'c'))
        return {};
    if (wanted->kind == ValueKind::Signed || wanted->kind == ValueKind::Unsigned)
        return is_integer ? made(PyNumber_Index(value.ptr())) : nb::object();
    if (wanted->kind == ValueKind::Float && kind != 'c')
        return made(PyNumber_Float(value.ptr()));
    if (declared.type.find("complex<") != std::string::npos)
        return nb::handle(reinterpret_cast<PyObject *>(&PyComplex_Type))(value);
    return {};
}

} // namespace

void pack_scalar(PyObject *value, const KernelArgument &declared, Packing &packing) {
    const Parameter *wanted = packing.block.next_parameter();
    const ArgumentType *known = ArgumentTypes::find(Py_TYPE(value));
    const bool fits =
        known && (known->scalar.type == nullptr || (wanted && known->scalar.kind == wanted->kind &&
                                                    known->scalar.size == wanted->size));
    const nb::object number = fits ? nb::object() : converted(value, declared, wanted);
    pack(number.is_valid() ? number.ptr() : value, packing);
}

std::vector<KernelArgument> arguments_from(const std::vector<ArgumentTuple> &tuples) {
    std::vector<KernelArgument> arguments;
    for (const auto &[is_array, type, name, size] : tuples)
        arguments.push_back({is_array ? KernelArgument::Kind::Vector : KernelArgument::Kind::Scalar,
                             type, name, size});
    return arguments;
}

CallArrays::CallArrays(const std::string &kernel, const std::vector<KernelArgument> &declared,
                       nb::handle args, Work &use)
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
    std::vector<nb::object>
        gone; // of contexts that have ended; destroyed after the lock is released
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
