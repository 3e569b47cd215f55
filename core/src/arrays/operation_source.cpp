// operation_source.cpp -- writing an elementwise kernel.
//
// Each kernel has the same middle: the types, and operate(), which is the operation's expression.
// Around it is one of two frames.
//
//   contiguous     a block has a tile of elements; a thread takes a pack of 16 bytes of it.
//                  (More of them under way at once was slower on an H200.)
//   strided        each element's place comes from its indices. Rows: blocks take the outer indices
//                  apart, once for all their threads, and threads go along the last axis.
//
// Where a warp is a vector of a CPU, packs would have to be taken apart into vectors of first,
// second, ... elements, and the processor finds work to do at once in a loop as well as in copies
// of its body, which take time to compile. There kernels are `rolled`: threads are neighbours, and
// go on in steps of a block's width. A whole tile has a loop of its own, without the test for the
// array's end.
#include "arrays/operation_source.h"

#include "arrays/device_code.h"

#include <pycuda/driver.h>

#include <algorithm>
#include <vector>

namespace pycuda {
namespace {

std::string number(std::size_t value) { return std::to_string(value); }
char letter(int operand) { return static_cast<char>('a' + operand); }

std::string type_names(const OperationVariant &variant) {
    std::string code;
    auto name = [&](const std::string &alias, const std::string &type) {
        code += "typedef " + type + " " + alias + ";\n";
    };
    for (int i = 0; i < variant.operands(); ++i) {
        const std::string index = std::to_string(i);
        name("A" + index, std::string(cuda_name(variant.stored[i])));
        name("L" + index, std::string(cuda_name(variant.loop.in[i])));
        name("C" + index, compute_name(variant.loop.in[i]));
    }
    name("R", compute_name(variant.loop.out));
    name("LR", std::string(cuda_name(variant.loop.out)));
    name("O", std::string(cuda_name(variant.out)));
    return code;
}

/// Whether the operation has so much code that copies of it would take long to compile.
bool is_long(const OperationVariant &variant) {
    switch (variant.operation) {
    case Operation::FloorDivide:
    case Operation::Remainder:
    case Operation::Fmod:
    case Operation::Power:
    case Operation::FloatPower:
    case Operation::Gcd:
    case Operation::Lcm:
    case Operation::Sin:
    case Operation::Cos:
    case Operation::Tan:
    case Operation::Logaddexp:
    case Operation::Logaddexp2:
        return true;
    default:
        return is_complex(variant.loop.in[0]) &&
               operation_row(variant.operation).rule == TypeRule::Float;
    }
}

/// operate(index, a, b): stored operands in, the stored result out.
std::string operate(const OperationVariant &variant) {
    std::string parameters = "unsigned long long index", conversions;
    for (int i = 0; i < variant.operands(); ++i) {
        const std::string index = std::to_string(i), name(1, letter(i));
        parameters += ", A" + index + " x" + index;
        conversions += "    const C" + index + " " + name + " = array_convert<C" + index +
                       ">(array_convert<L" + index + ">(x" + index + "));\n";
    }
    return "__device__ __forceinline__ O operate(" + parameters + ") {\n" + conversions +
           "    const R result = array_convert<R>(" + operation_row(variant.operation).expression +
           ");\n    return array_convert<O>(array_convert<LR>(result));\n}\n";
}

std::string parameters(const OperationVariant &variant) {
    std::string code = "O *out";
    if (variant.masked)
        code += ", const bool *mask";
    for (int i = 0; i < variant.operands(); ++i) {
        const std::string index = std::to_string(i);
        code += variant.access[i] == Access::Value ? ", A" + index + " p" + index
                                                   : ", const A" + index + " *p" + index;
    }
    return code;
}

/// The arguments of operate(): `element(i)` for operands read element by element.
template <class Element>
std::string operate_call(const OperationVariant &variant, const std::string &index,
                         Element &&element) {
    std::string code = "operate(" + index;
    for (int i = 0; i < variant.operands(); ++i) {
        const std::string name = std::to_string(i);
        code += ", " + (variant.access[i] == Access::Elements ? element(i)
                        : variant.access[i] == Access::Single ? "s" + name
                                                              : "p" + name);
    }
    return code + ")";
}

std::string load_singles(const OperationVariant &variant) {
    std::string code;
    for (int i = 0; i < variant.operands(); ++i)
        if (variant.access[i] == Access::Single)
            code += "    const A" + std::to_string(i) + " s" + std::to_string(i) + " = *p" +
                    std::to_string(i) + ";\n";
    if (variant.masked && variant.mask_is_single)
        code += "    if (!*mask)\n        return;\n";
    return code;
}

bool mask_by_element(const OperationVariant &variant) {
    return variant.masked && !variant.mask_is_single;
}

std::string one_element(const OperationVariant &variant, const std::string &index) {
    const std::string store =
        "out[" + index + "] = " +
        operate_call(variant, index,
                     [&](int i) { return "p" + std::to_string(i) + "[" + index + "]"; }) +
        ";\n";
    return (mask_by_element(variant) ? "if (mask[" + index + "]) " : std::string()) + store;
}

/// One after the other, the operands that are packs, as `text(their number)`.
template <class Text> std::string for_packs(const OperationVariant &variant, Text &&text) {
    std::string code;
    for (int i = 0; i < variant.operands(); ++i)
        if (variant.access[i] == Access::Elements)
            code += text(std::to_string(i));
    return code;
}

std::string pack(const std::string &type, const std::string &length) {
    return "Pack<" + type + ", " + length + ">";
}

std::string vector_body(const OperationVariant &variant) {
    const std::string length = number(vector_length(variant));
    const std::string load = for_packs(variant, [&](const std::string &name) {
        const std::string type = pack("A" + name, length);
        return "        const " + type + " v" + name + " = *reinterpret_cast<const " + type +
               " *>(p" + name + " + start);\n";
    });
    const std::string call =
        operate_call(variant, "start + k", [](int i) { return "v" + std::to_string(i) + ".v[k]"; });
    const std::string result = pack("O", length);
    return "    const unsigned long long tile = " + number(tile_size(variant)) +
           ", first = blockIdx.x * tile;\n"
           "    const unsigned long long start = first + threadIdx.x * " +
           length + ";\n    if (first + tile <= n) {\n" + load + "        " + result +
           " result;\n#pragma unroll\n        for (int k = 0; k < " + length +
           "; ++k)\n            result.v[k] = " + call + ";\n        *reinterpret_cast<" + result +
           " *>(out + start) = result;\n        return;\n    }\n"
           "    for (unsigned long long i = first + threadIdx.x; i < n; i += blockDim.x)\n       "
           " " +
           one_element(variant, "i");
}

/// As vector_body(), with the operation's code standing once: packs move on by an element after
/// each, so that it always takes the first.
std::string long_body(const OperationVariant &variant) {
    const std::string length = number(vector_length(variant));
    const std::string result = pack("O", length);
    const std::string each = "#pragma unroll\n        for (int k = 0; k < " + length + "; ++k)\n";
    const std::string load = for_packs(variant, [&](const std::string &name) {
        const std::string type = pack("A" + name, length);
        return "    " + type + " v" + name + ";\n    if (whole)\n        v" + name +
               " = *reinterpret_cast<const " + type + " *>(p" + name + " + start);\n    else\n" +
               each + "            v" + name + ".v[k] = start + k < n ? p" + name +
               "[start + k] : A" + name + "();\n";
    });
    const std::string move = for_packs(variant, [](const std::string &name) {
        return "            v" + name + ".v[j] = v" + name + ".v[j + 1];\n";
    });
    const std::string call =
        operate_call(variant, "start + k", [](int i) { return "v" + std::to_string(i) + ".v[0]"; });
    return "    const unsigned long long start = (blockIdx.x * " +
           std::to_string(elementwise_block) + "ull + threadIdx.x) * " + length +
           ";\n    if (start >= n)\n        return;\n    const bool whole = start + " + length +
           " <= n;\n" + load + "    " + result +
           " result = {};\n#pragma unroll 1\n    for (int k = 0; k < " + length +
           "; ++k) {\n        const O next = " + call +
           ";\n#pragma unroll\n        for (int j = 0; j + 1 < " + length + "; ++j) {\n" + move +
           "            result.v[j] = result.v[j + 1];\n        }\n        result.v[" + length +
           " - 1] = next;\n    }\n    if (whole)\n        *reinterpret_cast<" + result +
           " *>(out + start) = result;\n    else\n" + each +
           "            if (start + k < n)\n                out[start + k] = result.v[k];\n";
}

/// Whether the loads' tests in long_loop() take little beside the operation. It was measured: not
/// for tan, logaddexp and the sine of float32.
bool gains_by_one_loop(const OperationVariant &variant) {
    if (!is_long(variant) || mask_by_element(variant))
        return false;
    switch (variant.operation) {
    case Operation::Tan:
    case Operation::Logaddexp:
    case Operation::Logaddexp2:
        return is_complex(variant.loop.in[0]);
    case Operation::Sin:
    case Operation::Cos:
        return item_size(variant.loop.in[0]) == 8;
    default:
        return true;
    }
}

/// A loop with code that is long, once for tiles that are whole and the last one. The element is
/// computed without a test, on zeros past the end; that the tests around it are one is hidden, as
/// the compiler would make a branch of it that all of the code is in.
std::string long_loop(const OperationVariant &variant, const std::string &loop) {
    const std::string load = for_packs(variant, [](const std::string &name) {
        return "            A" + name + " v" + name + " = A" + name +
               "();\n            if (inside)\n                v" + name + " = p" + name + "[i];\n";
    });
    return loop + "int inside = i < n;\n" + load + "            const O result = " +
           operate_call(variant, "i", [](int i) { return "v" + std::to_string(i); }) +
           ";\n            asm(\"\" : \"+r\"(inside));\n"
           "            if (inside)\n                out[i] = result;\n        }\n";
}

std::string rolled_body(const OperationVariant &variant) {
    const std::string tile = number(tile_size(variant));
    const std::string first =
        "    const unsigned long long first = blockIdx.x * " + tile + "ull;\n";
    const std::string loop =
        "#pragma unroll 1\n        for (unsigned u = 0; u < " + tile + "; u += blockDim.x) {\n" +
        "            const unsigned long long i = first + u + threadIdx.x;\n            ";
    if (gains_by_one_loop(variant))
        return first + long_loop(variant, loop);
    return first + "    if (first + " + tile + " <= n) {\n" + loop + one_element(variant, "i") +
           "        }\n    } else {\n" + loop + "if (i < n)\n                " +
           one_element(variant, "i") + "        }\n    }\n";
}

/// In front of the loop over a thread's elements.
std::string unrolling(const OperationVariant &variant) {
    return variant.rolled || is_long(variant) ? "#pragma unroll 1\n" : "#pragma unroll\n";
}

/// A thread's elements, a block's width apart, one after the other.
std::string apart_in_turn(const OperationVariant &variant) {
    return "#pragma unroll 1\n    for (int u = 0; u < " + std::to_string(elements_per_thread) +
           "; ++u) {\n        const unsigned long long i = first + u * blockDim.x;\n"
           "        if (i < n)\n            " +
           one_element(variant, "i") + "    }\n";
}

/// All loaded before the first is stored, as elements_at_once() below.
std::string apart_at_once(const OperationVariant &variant) {
    const std::string count = std::to_string(elements_per_thread);
    const std::string each = "#pragma unroll\n    for (int u = 0; u < " + count +
                             "; ++u) {\n        const unsigned long long i = first + u * "
                             "blockDim.x;\n        if (i < n) {\n";
    std::string arrays, loads;
    auto load = [&](const std::string &type, const std::string &name) {
        arrays += "    " + type + " l_" + name + "[" + count + "];\n";
        loads += "            l_" + name + "[u] = " + name + "[i];\n";
    };
    if (mask_by_element(variant))
        load("bool", "mask");
    for_packs(variant, [&](const std::string &name) {
        load("A" + name, "p" + name);
        return "";
    });
    const std::string store =
        "out[i] = " +
        operate_call(variant, "i", [](int i) { return "l_p" + std::to_string(i) + "[u]"; }) + ";\n";
    return arrays + each + loads + "        }\n    }\n" + each + "            " +
           (mask_by_element(variant) ? "if (l_mask[u]) " : "") + store + "        }\n    }\n";
}

std::string contiguous_body(const OperationVariant &variant) {
    if (variant.rolled)
        return rolled_body(variant);
    if (variant.walk == Walk::Vectors && !mask_by_element(variant))
        return is_long(variant) ? long_body(variant) : vector_body(variant);
    return "    const unsigned long long first = blockIdx.x * " + number(tile_size(variant)) +
           "ull + threadIdx.x;\n" +
           (is_long(variant) ? apart_in_turn(variant) : apart_at_once(variant));
}

/// The pointers that have strides, by the names of their offsets.
std::vector<std::string> strided_names(const OperationVariant &variant) {
    std::vector<std::string> names = {"out"};
    if (mask_by_element(variant))
        names.push_back("mask");
    for (int i = 0; i < variant.operands(); ++i)
        if (variant.access[i] == Access::Elements)
            names.push_back("p" + std::to_string(i));
    return names;
}

std::string element_type(const std::string &name) {
    return name == "out" ? "O" : name == "mask" ? "const bool" : "const A" + name.substr(1);
}

/// Takes index `of` apart over the axes 0 .. last and adds each pointer's steps.
std::string take_apart(const std::vector<std::string> &names, const std::string &of, int last,
                       const std::string &indent) {
    std::string code;
    if (last < 0)
        return code;
    code += indent + "Index rest = " + of + ";\n#pragma unroll\n" + indent +
            "for (int axis = " + std::to_string(last) + "; axis >= 0; --axis) {\n" + indent +
            "    const Index whole = axis == 0 ? 0 : rest / g.extent[axis];\n" + indent +
            "    const Index at = rest - whole * g.extent[axis];\n";
    for (std::size_t k = 0; k < names.size(); ++k)
        code += indent + "    o_" + names[k] + " += at * g.stride[axis][" + number(k) + "];\n";
    return code + indent + "    rest = whole;\n" + indent + "}\n";
}

std::string declare_offsets(const std::vector<std::string> &names, const std::string &indent) {
    std::string code = indent + "Index ";
    for (std::size_t k = 0; k < names.size(); ++k)
        code += (k ? ", o_" : "o_") + names[k] + " = 0";
    return code + ";\n";
}

/// A reference to the element of a pointer at its offset, `extra` bytes on.
std::string at_offset(const std::string &name, const std::string &extra) {
    const std::string type = element_type(name);
    const bool constant = type.starts_with("const");
    return "*reinterpret_cast<" + type + " *>(reinterpret_cast<" +
           (constant ? "const char" : "char") + " *>(" + name + ") + (o_" + name + extra + "))";
}

/// What is added to a pointer's offset for element `step` of the last axis; an empty one is the
/// element at the offset.
std::string steps_on(const OperationVariant &variant, const std::string &name,
                     const std::vector<std::string> &names, const std::string &step) {
    if (step.empty())
        return "";
    if (variant.unit_steps)
        return " + " + step + " * Index(sizeof(" + element_type(name) + "))";
    const auto k = std::ranges::find(names, name) - names.begin();
    return " + " + step + " * g.stride[" + std::to_string(variant.axes - 1) + "][" +
           std::to_string(k) + "]";
}

/// out = operate(...), with `element(pointer's name)` for operands read element by element.
template <class Element>
std::string strided_store(const OperationVariant &variant, const std::string &index,
                          const std::vector<std::string> &names, const std::string &step,
                          Element &&element) {
    const std::string store =
        at_offset("out", steps_on(variant, "out", names, step)) + " = " +
        operate_call(variant, index, [&](int i) { return element("p" + std::to_string(i)); }) +
        ";\n";
    return mask_by_element(variant) ? "if (" + element("mask") + ")\n                " + store
                                    : store;
}

std::string strided_store(const OperationVariant &variant, const std::string &index,
                          const std::vector<std::string> &names, const std::string &step) {
    return strided_store(variant, index, names, step, [&](const std::string &name) {
        return at_offset(name, steps_on(variant, name, names, step));
    });
}

/// A thread's elements of a row one after the other.
std::string elements_in_turn(const OperationVariant &variant,
                             const std::vector<std::string> &names) {
    return unrolling(variant) + "        for (int u = 0; u < " +
           std::to_string(elements_per_thread) +
           "; ++u) {\n            const Index x = first + u * Index(blockDim.x);\n"
           "            if (x < inner)\n                " +
           strided_store(variant, "(unsigned long long)row * inner + x", names, "x") +
           "        }\n";
}

bool is_kept(const OperationVariant &variant, const std::string &name) {
    return name[0] == 'p' && variant.kept[static_cast<std::size_t>(name[1] - '0')];
}

/// In a loop over a thread's elements of a row.
std::string for_each_element(const std::string &statements) {
    return "#pragma unroll\n        for (int u = 0; u < " + std::to_string(elements_per_thread) +
           "; ++u) {\n            const Index x = first + u * Index(blockDim.x);\n"
           "            if (x < inner) {\n" +
           statements + "            }\n        }\n";
}

/// Elements of a row into `l_...`, of the pointers that are kept for all rows or of the others.
std::string load_elements(const OperationVariant &variant, const std::vector<std::string> &names,
                          bool kept) {
    std::string arrays, loads;
    for (std::size_t k = 1; k < names.size(); ++k) { // but for the result
        if (is_kept(variant, names[k]) != kept)
            continue;
        const std::string type = element_type(names[k]);
        arrays += "        " + type.substr(sizeof("const")) + " l_" + names[k] + "[" +
                  std::to_string(elements_per_thread) + "];\n";
        loads += "                l_" + names[k] +
                 "[u] = " + at_offset(names[k], steps_on(variant, names[k], names, "x")) + ";\n";
    }
    return loads.empty() ? "" : arrays + for_each_element(loads);
}

/// All of a row's elements loaded before the first is stored, for the result may be one of the
/// operands: no compiler moves a load in front of a store by itself.
std::string elements_at_once(const OperationVariant &variant,
                             const std::vector<std::string> &names) {
    return load_elements(variant, names, false) +
           for_each_element(
               "                " +
               strided_store(variant, "(unsigned long long)row * inner + x", names, "x",
                             [](const std::string &name) { return "l_" + name + "[u]"; }));
}

std::string rows_body(const OperationVariant &variant) {
    const std::vector<std::string> names = strided_names(variant);
    const bool in_turn = variant.rolled || is_long(variant);
    const std::string kept = in_turn ? "" : load_elements(variant, names, true);
    return "    const Index inner = g.extent[" + std::to_string(variant.axes - 1) +
           "], rows = g.rows;\n    const Index first = blockIdx.x * (blockDim.x * " +
           std::to_string(elements_per_thread) + ") + threadIdx.x;\n" +
           (kept.empty() ? "" : declare_offsets(names, "    ") + kept) +
           "    for (Index row = blockIdx.y * blockDim.y + threadIdx.y; row < rows;\n"
           "         row += gridDim.y * blockDim.y) {\n" +
           declare_offsets(names, "        ") +
           take_apart(names, "row", variant.axes - 2, "        ") +
           (in_turn ? elements_in_turn(variant, names) : elements_at_once(variant, names)) +
           "    }\n";
}

std::string flat_body(const OperationVariant &variant) {
    const std::vector<std::string> names = strided_names(variant);
    return "    const Index first = blockIdx.x * Index(blockDim.x * " +
           std::to_string(elements_per_thread) + ") + threadIdx.x;\n" + unrolling(variant) +
           "    for (int u = 0; u < " + std::to_string(elements_per_thread) +
           "; ++u) {\n        const Index i = first + u * Index(blockDim.x);\n"
           "        if (i >= g.n)\n            return;\n" +
           declare_offsets(names, "        ") +
           take_apart(names, "i", variant.axes - 1, "        ") + "        " +
           strided_store(variant, "i", names, "") + "    }\n";
}

std::string geometry(const OperationVariant &variant) {
    return "typedef " + std::string(variant.wide_index ? "long long" : "int") +
           " Index;\nstruct Geometry {\n    Index n, rows, extent[" + std::to_string(variant.axes) +
           "], stride[" + std::to_string(variant.axes) + "][" +
           number(strided_names(variant).size()) + "];\n};\n";
}

std::vector<ScalarType> types_of(const OperationVariant &variant) {
    std::vector<ScalarType> types = {variant.out, variant.loop.out};
    for (int i = 0; i < variant.operands(); ++i) {
        types.push_back(variant.stored[i]);
        types.push_back(variant.loop.in[i]);
    }
    return types;
}

} // namespace

bool is_rolled(KernelForm form) {
    return form == KernelForm::Chosen ? driver().image_kind() == ImageKind::Ptx
                                      : form == KernelForm::Rolled;
}

KernelKey OperationVariant::key() const noexcept {
    KernelKey key = 1; // elementwise
    auto add = [&](std::uint64_t value, int bits) { key = key << bits | value; };
    add(static_cast<std::uint64_t>(operation), 7);
    for (int i = 0; i < max_operands; ++i) {
        const bool used = i < operands();
        add(used ? static_cast<std::uint64_t>(stored[i]) : 0, 4);
        add(used ? static_cast<std::uint64_t>(access[i]) : 0, 2);
        add(kept[i], 1);
    }
    // The operand that the loop's type is about; the others follow from the operation.
    add(static_cast<std::uint64_t>(loop.in[operands() == 3 ? 1 : 0]), 4);
    add(static_cast<std::uint64_t>(out), 4);
    add(masked, 1);
    add(mask_is_single, 1);
    add(static_cast<std::uint64_t>(walk), 2);
    add(rolled, 1);
    add(static_cast<std::uint64_t>(axes), 6);
    add(unit_steps, 1);
    add(wide_index, 1);
    return key;
}

int vector_length(const OperationVariant &variant) noexcept {
    std::size_t widest = item_size(variant.out);
    for (int i = 0; i < variant.operands(); ++i)
        if (variant.access[i] == Access::Elements)
            widest = std::max(widest, item_size(variant.stored[i]));
    const std::size_t length = 16 / widest;
    return static_cast<int>(is_long(variant) ? std::min(length, std::size_t{8}) : length);
}

std::size_t tile_size(const OperationVariant &variant) noexcept {
    const bool vectors =
        variant.walk == Walk::Vectors && !(variant.masked && !variant.mask_is_single);
    return vectors ? static_cast<std::size_t>(elementwise_block) *
                         static_cast<std::size_t>(vector_length(variant))
                   : static_cast<std::size_t>(elementwise_block) * elements_per_thread;
}

std::string operation_struct(const OperationVariant &variant, const std::string &name) {
    return "struct " + name + " {\n" + type_names(variant) + "static " + operate(variant) + "};\n";
}

std::string operation_source(const OperationVariant &variant) {
    std::string code = type_names(variant) + operate(variant);
    if (variant.strided())
        code += geometry(variant);
    code += "extern \"C\" __global__ void __launch_bounds__(" + std::to_string(elementwise_block) +
            ") run(" + parameters(variant) +
            (variant.strided() ? ", Geometry g) {\n" : ", unsigned long long n) {\n") +
            load_singles(variant);
    code += variant.walk == Walk::Rows   ? rows_body(variant)
            : variant.walk == Walk::Flat ? flat_body(variant)
                                         : contiguous_body(variant);
    code += "}\n";
    return device_prelude(types_of(variant), code) + code;
}

} // namespace pycuda
