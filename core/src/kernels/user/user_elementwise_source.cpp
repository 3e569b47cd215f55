// user_elementwise_source.cpp -- generates the CUDA C++ of an elementwise kernel.
//
// If no walk fits the text, each thread runs a loop:
//
//     extern "C" __global__ void kernel(float *x, size_t n)
//     {
//         unsigned tid = threadIdx.x, total_threads = ..., cta_start = ..., i;
//         loop_prep;
//         for (i = cta_start + tid; i < n; i += total_threads) { operation; }
//         after_loop;
//     }
#include "kernels/user/user_elementwise_source.h"

#include "kernels/user/user_text.h"

#include "kernels/user/device/strided.cuh.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pycuda {
namespace {

std::size_t find_group(const OperandForms &operands, std::size_t array) {
    return static_cast<std::size_t>(operands.group_of(array) - operands.groups().data());
}

std::string axes_of(const OperandForms &operands, std::size_t group) {
    return std::to_string(operands.groups()[group].layouts[0].dimensions());
}

/// The loop over elements, and the code before and after it.
std::string write_loop(const ElementwiseText &text, const ElementwiseForm &form,
                       const UserMacros &macros) {
    // An `i` of the user's may have the name of ours.
    const std::string body =
        "{\n#pragma nv_diag_suppress 780\n" +
        macros.within(named_statements(text.operation, text.name + ".operation")) + "}\n";
    if (form.ranged)
        return "if (step < 0) {\n"
               "for (i = start + step * (long)(cta_start + tid); i > stop; "
               "i += step * (long)total_threads)\n" +
               body +
               "} else {\n"
               "for (i = start + step * (long)(cta_start + tid); i < stop; "
               "i += step * (long)total_threads)\n" +
               body + "}\n";
    return "for (i = cta_start + tid; i < n; i += total_threads)\n" + body;
}

} // namespace

std::string form_key(bool wide, bool aligned, const OperandForms *operands) {
    std::string key(1, static_cast<char>(1 + wide + 2 * aligned));
    return operands ? key + operands->key() : key;
}

std::string includes_for(const std::vector<KernelArgument> &arguments,
                         const std::vector<std::string_view> &texts, const OperandForms *operands) {
    Tokens tokens;
    const auto add = [&](std::string_view text) {
        std::ranges::move(tokens_of(text), std::back_inserter(tokens));
    };
    for (const KernelArgument &argument : arguments)
        add(argument.type);
    std::ranges::for_each(texts, add);
    const auto any_mentions = [&](std::string_view word) { return has_name(tokens, word); };
    std::string includes;
    if (any_mentions("pycuda"))
        includes += "#include <pycuda-complex.hpp>\n";
    if (any_mentions("half") || any_mentions("__half"))
        includes += "#include <cuda_fp16.h>\n";
    if (any_mentions("__nv_bfloat16"))
        includes += "#include <cuda_bf16.h>\n";
    if (operands)
        includes += device_code::strided_cuh;
    return includes;
}

std::vector<KernelArgument> with_own_types(std::vector<KernelArgument> arguments,
                                           const UserMacros &macros, std::string &source) {
    if (!macros.any_of_options())
        return arguments;
    for (KernelArgument &argument : arguments) {
        const std::string name = "pycuda_type_" + argument.name;
        const std::string type = std::exchange(argument.type, name);
        source += macros.within("typedef " + type + " " + name + ";\n", type);
    }
    return arguments;
}

std::string declare_parameters(const std::vector<KernelArgument> &arguments,
                               const OperandForms *operands) {
    std::string text;
    std::size_t array = 0;
    for (const KernelArgument &argument : arguments) {
        text += text.empty() ? "" : ", ";
        if (!argument.is_vector())
            text += argument.type + " " + argument.name;
        else if (operands && operands->group_of(array))
            text += "pycuda::StridedArgument<" + argument.type + ", " +
                    axes_of(*operands, find_group(*operands, array)) + "> pycuda_" + argument.name;
        else
            text += argument.type + " *" + argument.name;
        array += argument.is_vector();
    }
    if (operands)
        for (std::size_t group = 0; group < operands->groups().size(); ++group)
            text += ", pycuda::Extents<" + axes_of(*operands, group) + "> pycuda_extents_" +
                    std::to_string(group);
    return text;
}

std::string bind_strided(const std::vector<KernelArgument> &arguments, const OperandForms *operands,
                         bool wide) {
    if (operands == nullptr)
        return "";
    std::string text;
    std::size_t array = 0;
    for (const KernelArgument &argument : arguments) {
        if (!argument.is_vector())
            continue;
        if (operands->group_of(array)) {
            const std::size_t group = find_group(*operands, array);
            text += "const pycuda::Strided<" + argument.type + ", " + axes_of(*operands, group) +
                    (wide ? ", unsigned long long> " : ", unsigned> ") + argument.name +
                    "(pycuda_" + argument.name + ", pycuda_extents_" + std::to_string(group) +
                    ");\n";
        }
        ++array;
    }
    return text;
}

std::string promise_alignment(const std::vector<KernelArgument> &arguments) {
    std::string text;
    for (const KernelArgument &argument : arguments)
        if (argument.is_vector())
            text += argument.name + " = static_cast<" + argument.type +
                    " *>(__builtin_assume_aligned(" + argument.name + ", 16));\n";
    return text;
}

KernelSource write_elementwise(const std::vector<KernelArgument> &declared,
                               const ElementwiseText &text, const UserMacros &macros,
                               const ElementwiseForm &form) {
    const char *index = form.ranged ? "long" : form.wide ? "unsigned long" : "unsigned";
    std::string source = includes_for(
        declared, {text.preamble, text.operation, text.loop_prep, text.after_loop}, form.operands);
    source += macros.within(named_text(text.preamble, text.name + ".preamble"));
    const std::vector<KernelArgument> arguments = with_own_types(declared, macros, source);
    source += "\nextern \"C\" __global__ void " + text.name + "(" +
              declare_parameters(arguments, form.operands) +
              (form.ranged ? ", long start, long stop, long step)\n{\n" : ", size_t n)\n{\n");
    source += bind_strided(arguments, form.operands, form.wide || form.ranged);
    source += "typedef " + std::string(index) +
              " pycuda_index;\n"
              "[[maybe_unused]] const unsigned tid = threadIdx.x;\n"
              "[[maybe_unused]] const pycuda_index total_threads = "
              "(pycuda_index)gridDim.x * blockDim.x;\n"
              "[[maybe_unused]] const pycuda_index cta_start = "
              "(pycuda_index)blockIdx.x * blockDim.x;\n"
              "pycuda_index i;\n";
    source += macros.within(named_statements(text.loop_prep, text.name + ".loop_prep"));
    source += write_loop(text, form, macros);
    source += macros.within(named_statements(text.after_loop, text.name + ".after_loop"));
    source += "}\n";
    return {std::move(source), {text.name}};
}

KernelSource write_elementwise(const std::vector<KernelArgument> &arguments,
                               const ElementwiseText &text, const UserMacros &macros,
                               const std::vector<bool> &walked, bool wide,
                               const ElementWalk &walk) {
    UserMacros all = macros;
    all.add(text.preamble);
    all.add(text.operation);
    const InPlaceExpression expression{
        .kernel = text.name,
        .includes = includes_for(arguments, {text.preamble, text.operation}, nullptr),
        .preamble = named_text(text.preamble, text.name + ".preamble"),
        .statements = named_statements(text.operation, text.name + ".operation"),
        .parameters = arguments,
        .walked = walked,
        .wide_index = wide,
        .macros = all};
    return {expression_source(expression, walk), {text.name}};
}

} // namespace pycuda
