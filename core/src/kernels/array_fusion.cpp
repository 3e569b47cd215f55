// array_fusion.cpp -- writing and launching the kernel of a fusion.
//
// Each step becomes a struct with the same operate() that the operation's own kernel has; values
// between steps have the type that they would have in memory. The kernel computes them for an
// element in order:
//
//     const auto v2 = Step0::operate(i, c0, v0);
//     const auto v3 = Step1::operate(i, v2);
//     out0 = v3;
#include <pycuda/array_fusion.h>

#include "arrays/device_code.h"
#include "arrays/kernel_arguments.h"
#include "arrays/operation_source.h"
#include "kernels/user_variants.h"

#include <pycuda/launch.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <stdexcept>

namespace pycuda {
namespace {

constexpr unsigned block = 256;
constexpr int steps_per_thread = 4; ///< of rolled kernels
constexpr int max_inputs = 48;

VariantCache &kernels() {
    static auto *cache = new VariantCache; // never destroyed: arrays may be alive until the end
    return *cache;
}

std::string number(std::size_t value) { return std::to_string(value); }

/// A constant as one step takes it.
struct UsedConstant {
    int number;
    ScalarType type;
};

} // namespace

/// How the elements are reached.
struct detail::FusionReach {
    bool contiguous = true;
    int length = 1;            ///< elements of a thread
    bool rolled = false;       ///< as OperationVariant::rolled; of contiguous kernels
    std::uint64_t single = 0;  ///< of each input: one element for all
    std::vector<Layout> walks; ///< results, then inputs, merged; of strided kernels
    int axes = 0;
};

/// The program with all types known.
struct Fusion::Typed {
    std::vector<ScalarType> values;
    std::vector<OperationVariant> variants; ///< of the steps
    std::vector<UsedConstant> constants;

    /// Kernels that have run.
    struct Found {
        CUcontext context;
        std::uint64_t reach;
        Function kernel;
    };
    mutable std::vector<Found> found = {};
};

/// For the types that it was called with.
struct Fusion::Known {
    std::mutex mutex;
    std::deque<Typed> programs;
};

namespace {

using Reach = detail::FusionReach;

/// The step's struct, and the call that computes its value.
struct Writer {
    const std::vector<FusedStep> &steps;
    const std::vector<OperationVariant> &variants;
    int inputs;

    std::string structs() const {
        std::string code;
        for (std::size_t k = 0; k < steps.size(); ++k)
            code += operation_struct(variants[k], "Step" + number(k));
        return code;
    }
    std::string calls() const {
        std::string code;
        std::size_t constant = 0;
        for (std::size_t k = 0; k < steps.size(); ++k) {
            code += "    const auto v" + number(static_cast<std::size_t>(inputs) + k) + " = Step" +
                    number(k) + "::operate(0";
            for (int operand : steps[k].operands)
                code += operand < 0 ? ", c" + number(constant++) : ", v" + std::to_string(operand);
            code += ");\n";
        }
        return code;
    }
};

std::string type_name(ScalarType type) { return std::string(cuda_name(type)); }

/// compute(): the elements of the inputs and the constants in, the results out.
std::string compute_function(const Writer &writer, const std::vector<ScalarType> &values,
                             const std::vector<UsedConstant> &constants,
                             const std::vector<int> &results) {
    std::string code = "struct Results {\n";
    for (std::size_t k = 0; k < results.size(); ++k)
        code += "    " + type_name(values[static_cast<std::size_t>(results[k])]) + " r" +
                number(k) + ";\n";
    code += "};\n__device__ __forceinline__ Results compute(";
    std::string separator;
    for (int k = 0; k < writer.inputs; ++k, separator = ", ")
        code +=
            separator + type_name(values[static_cast<std::size_t>(k)]) + " v" + std::to_string(k);
    for (std::size_t k = 0; k < constants.size(); ++k, separator = ", ")
        code += separator + type_name(constants[k].type) + " c" + number(k);
    code += ") {\n" + writer.calls() + "    Results results;\n";
    for (std::size_t k = 0; k < results.size(); ++k)
        code += "    results.r" + number(k) + " = v" + std::to_string(results[k]) + ";\n";
    return code + "    return results;\n}\n";
}

/// compute(...) with `element(k)` for input k.
template <class Element>
std::string compute_call(int inputs, std::size_t constants, Element &&element) {
    std::string code = "compute(", separator;
    for (int k = 0; k < inputs; ++k, separator = ", ")
        code += separator + element(k);
    for (std::size_t k = 0; k < constants; ++k, separator = ", ")
        code += separator + "c" + number(k);
    return code + ")";
}

/// Whether input k is the same element for all.
bool is_single(const Reach &reach, int k) { return reach.single >> k & 1; }

std::string load_singles(int inputs, const Reach &reach) {
    std::string code;
    for (int k = 0; k < inputs; ++k)
        if (is_single(reach, k))
            code += "    const I" + std::to_string(k) + " s" + std::to_string(k) + " = *in" +
                    std::to_string(k) + ";\n";
    return code;
}

/// Element i alone.
std::string one_element(int inputs, std::size_t constants, std::size_t results,
                        const Reach &reach) {
    std::string code =
        "        const Results results = " +
        compute_call(inputs, constants,
                     [&](int k) {
                         const std::string name = std::to_string(k);
                         return is_single(reach, k) ? "s" + name : "in" + name + "[i]";
                     }) +
        ";\n";
    for (std::size_t k = 0; k < results; ++k)
        code += "        out" + number(k) + "[i] = results.r" + number(k) + ";\n";
    return code;
}

std::string rolled_body(int inputs, std::size_t constants, std::size_t results,
                        const Reach &reach) {
    const std::string tile = std::to_string(block * steps_per_thread);
    const std::string loop = "#pragma unroll 1\n    for (unsigned u = 0; u < " + tile +
                             "; u += 256) {\n"
                             "        const unsigned long long i = first + u + threadIdx.x;\n";
    const std::string element = one_element(inputs, constants, results, reach);
    return load_singles(inputs, reach) + "    const unsigned long long first = blockIdx.x * " +
           tile + "ull;\n    if (first + " + tile + " <= n) {\n" + loop + element +
           "    }\n    return;\n    }\n" + loop + "        if (i >= n)\n            return;\n" +
           element + "    }\n";
}

std::string packed_body(int inputs, std::size_t constants, std::size_t results,
                        const Reach &reach) {
    const std::string length = std::to_string(reach.length);
    std::string load, stores, unpack;
    for (int k = 0; k < inputs; ++k) {
        const std::string name = std::to_string(k);
        if (!is_single(reach, k))
            load += "        const auto p" + name + " = *reinterpret_cast<const Pack<I" + name +
                    ", " + length + "> *>(in" + name + " + first);\n";
    }
    for (std::size_t k = 0; k < results; ++k) {
        const std::string name = number(k);
        load += "        Pack<O" + name + ", " + length + "> q" + name + ";\n";
        stores += "        *reinterpret_cast<Pack<O" + name + ", " + length + "> *>(out" + name +
                  " + first) = q" + name + ";\n";
        unpack += "            q" + name + ".v[k] = results.r" + name + ";\n";
    }
    auto from_pack = [&](int k) {
        return is_single(reach, k) ? "s" + std::to_string(k) : "p" + std::to_string(k) + ".v[k]";
    };
    return load_singles(inputs, reach) +
           "    const unsigned long long first = (blockIdx.x * 256ull + threadIdx.x) * " + length +
           ";\n    if (first + " + length + " <= n) {\n" + load +
           "#pragma unroll\n        for (int k = 0; k < " + length +
           "; ++k) {\n            const Results results = " +
           compute_call(inputs, constants, from_pack) + ";\n" + unpack + "        }\n" + stores +
           "        return;\n    }\n    for (unsigned long long i = first; i < n; ++i) {\n" +
           one_element(inputs, constants, results, reach) + "    }\n";
}

std::string strided_body(int inputs, std::size_t constants, std::size_t results,
                         const Reach &reach) {
    std::string declare, steps, store;
    const std::size_t walkers = results + static_cast<std::size_t>(inputs);
    auto pointer = [&](std::size_t k) {
        return k < results ? "out" + number(k) : "in" + number(k - results);
    };
    for (std::size_t k = 0; k < walkers; ++k) {
        declare += "    long long o" + number(k) + " = 0;\n";
        steps += "        o" + number(k) + " += at * g.stride[axis][" + number(k) + "];\n";
    }
    auto place = [&](std::size_t k) {
        const std::string type = k < results ? "O" + number(k) : "const I" + number(k - results);
        const std::string bytes = k < results ? "char" : "const char";
        return "*reinterpret_cast<" + type + " *>(reinterpret_cast<" + bytes + " *>(" + pointer(k) +
               ") + o" + number(k) + ")";
    };
    for (std::size_t k = 0; k < results; ++k)
        store += "    " + place(k) + " = results.r" + number(k) + ";\n";
    return "    long long rest = blockIdx.x * 256ll + threadIdx.x;\n    if (rest >= g.n)\n"
           "        return;\n" +
           declare + "#pragma unroll\n    for (int axis = " + std::to_string(reach.axes - 1) +
           "; axis >= 0; --axis) {\n"
           "        const long long whole = axis == 0 ? 0 : rest / g.extent[axis];\n"
           "        const long long at = rest - whole * g.extent[axis];\n" +
           steps + "        rest = whole;\n    }\n    const Results results = " +
           compute_call(inputs, constants,
                        [&](int k) { return place(results + static_cast<std::size_t>(k)); }) +
           ";\n" + store;
}

Layout common_shape(std::span<const Array *const> inputs) {
    Layout shape = inputs[0]->layout();
    for (const Array *input : inputs.subspan(1))
        shape = broadcast_shapes(shape, input->layout());
    return shape;
}

bool lies_like(const Array &array, const Array &result) {
    return array.layout().same_shape(result.layout()) &&
           ((array.is_c_contiguous() && result.is_c_contiguous()) ||
            (array.is_f_contiguous() && result.is_f_contiguous()));
}

/// Elements in one access of 16 bytes, as far as all arrays are aligned for it.
int access_length(std::span<const Array> results, std::span<const Array *const> inputs,
                  std::uint64_t single) {
    std::size_t widest = 1;
    std::uint64_t misaligned = 0;
    auto each = [&](auto &&visit) {
        for (const Array &result : results)
            visit(result);
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (!(single >> k & 1))
                visit(*inputs[k]);
    };
    each([&](const Array &array) { widest = std::max(widest, array.item_size()); });
    const std::size_t length = 16 / widest;
    each([&](const Array &array) {
        misaligned |= array.misalignment() % (length * array.item_size());
    });
    return misaligned ? 1 : static_cast<int>(length);
}

Reach find_reach(std::span<const Array> results, std::span<const Array *const> inputs,
                 bool rolled) {
    Reach reach;
    reach.contiguous = results[0].is_contiguous();
    for (std::size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k]->size() == 1)
            reach.single |= std::uint64_t{1} << k;
        else
            reach.contiguous = reach.contiguous && lies_like(*inputs[k], results[0]);
    }
    if (reach.contiguous) {
        reach.rolled = rolled;
        reach.length =
            reach.rolled ? steps_per_thread : access_length(results, inputs, reach.single);
        return reach;
    }
    for (const Array &result : results)
        reach.walks.push_back(result.layout());
    for (const Array *input : inputs)
        reach.walks.push_back(input->layout().broadcast_to(results[0].shape()));
    coalesce(reach.walks);
    if (reach.walks[0].dimensions() == 0)
        for (Layout &walk : reach.walks)
            walk.append(1, 0);
    reach.axes = reach.walks[0].dimensions();
    return reach;
}

/// What a kernel depends on of it.
std::uint64_t reach_key(const Reach &reach) {
    if (!reach.contiguous)
        return static_cast<std::uint64_t>(reach.axes);
    return std::uint64_t{1} << 63 | static_cast<std::uint64_t>(reach.length) << 56 |
           std::uint64_t{reach.rolled} << 55 | reach.single;
}

} // namespace

Fusion::Fusion(int inputs, std::vector<FusedStep> steps, std::vector<int> results,
               std::vector<Scalar> constants)
    : inputs_(inputs), steps_(std::move(steps)), results_(std::move(results)),
      constants_(std::move(constants)), known_(std::make_shared<Known>()) {
    if (inputs_ < 1 || results_.empty())
        throw std::invalid_argument("a fusion needs at least one array and one result");
    int values = inputs_;
    if (inputs_ > max_inputs)
        throw std::invalid_argument("a fusion takes at most 48 arrays, not " +
                                    std::to_string(inputs_));
    text_ = std::to_string(inputs_);
    for (int k = 0; k < inputs_; ++k)
        depends_on_.push_back(std::uint64_t{1} << k);
    for (const FusedStep &step : steps_) {
        if (static_cast<int>(step.operands.size()) != operand_count(step.operation))
            throw std::invalid_argument(std::string(operation_name(step.operation)) + "() takes " +
                                        std::to_string(operand_count(step.operation)) +
                                        " operands, not " + std::to_string(step.operands.size()));
        text_ += ";" + std::to_string(static_cast<int>(step.operation));
        std::uint64_t depends = 0;
        for (int operand : step.operands) {
            if (operand >= values || ~operand >= static_cast<int>(constants_.size()))
                throw std::invalid_argument("a step of a fusion uses value " +
                                            std::to_string(operand) +
                                            " or a constant that is not there");
            if (operand >= 0)
                depends |= depends_on_[static_cast<std::size_t>(operand)];
            text_ += "," + (operand < 0 ? std::string("c") : std::to_string(operand));
        }
        if (step.cast)
            text_ += ":" + std::to_string(static_cast<int>(*step.cast));
        depends_on_.push_back(depends);
        ++values;
    }
    for (int result : results_) {
        if (result < 0 || result >= values)
            throw std::invalid_argument("a fusion has no value " + std::to_string(result));
        text_ += ">" + std::to_string(result);
    }
}

Fusion::Typed Fusion::typed(std::span<const ScalarType> inputs) const {
    if (static_cast<int>(inputs.size()) != inputs_)
        throw std::invalid_argument("this fusion takes " + std::to_string(inputs_) +
                                    " arrays, not " + std::to_string(inputs.size()));
    Typed program;
    program.values.assign(inputs.begin(), inputs.end());
    for (const FusedStep &step : steps_) {
        std::vector<Array> stand_ins; // have a type only
        stand_ins.reserve(step.operands.size());
        std::vector<Operand> operands;
        for (int operand : step.operands) {
            if (operand < 0) {
                operands.emplace_back(constants_[static_cast<std::size_t>(~operand)]);
                continue;
            }
            const ScalarType type = program.values[static_cast<std::size_t>(operand)];
            stand_ins.emplace_back(nullptr, CUdeviceptr{0}, DType(type), Layout());
            operands.emplace_back(stand_ins.back());
        }
        OperationVariant variant{};
        variant.operation = step.operation;
        variant.loop = loop_types(step.operation, operands, {});
        for (std::size_t i = 0; i < operands.size(); ++i) {
            const bool is_value = step.operands[i] >= 0;
            variant.stored[i] = is_value
                                    ? program.values[static_cast<std::size_t>(step.operands[i])]
                                    : variant.loop.in[i];
            if (!is_value)
                program.constants.push_back({~step.operands[i], variant.loop.in[i]});
        }
        variant.out = step.cast ? *step.cast : variant.loop.out;
        program.variants.push_back(variant);
        program.values.push_back(variant.out);
    }
    return program;
}

std::vector<ScalarType> Fusion::result_types(std::span<const ScalarType> inputs) const {
    const Typed program = typed(inputs);
    std::vector<ScalarType> types;
    for (int result : results_)
        types.push_back(program.values[static_cast<std::size_t>(result)]);
    return types;
}

std::string Fusion::source(const Typed &program, const detail::FusionReach &reach) const {
    const Writer writer{steps_, program.variants, inputs_};
    std::vector<ScalarType> all = program.values;
    for (const OperationVariant &variant : program.variants) {
        all.insert(all.end(), variant.loop.in.begin(),
                   variant.loop.in.begin() + variant.operands());
        all.push_back(variant.loop.out);
    }
    std::string code =
        writer.structs() + compute_function(writer, program.values, program.constants, results_);
    std::string parameters;
    for (std::size_t k = 0; k < results_.size(); ++k) {
        code += "typedef " + type_name(program.values[static_cast<std::size_t>(results_[k])]) +
                " O" + number(k) + ";\n";
        parameters += "O" + number(k) + " *out" + number(k) + ", ";
    }
    for (std::size_t k = 0; k < static_cast<std::size_t>(inputs_); ++k) {
        code += "typedef " + type_name(program.values[k]) + " I" + number(k) + ";\n";
        parameters += "const I" + number(k) + " *in" + number(k) + ", ";
    }
    for (std::size_t k = 0; k < program.constants.size(); ++k)
        parameters += type_name(program.constants[k].type) + " c" + number(k) + ", ";
    if (!reach.contiguous)
        code += "struct Geometry {\n    long long n, extent[" + std::to_string(reach.axes) +
                "], stride[" + std::to_string(reach.axes) + "][" + number(reach.walks.size()) +
                "];\n};\n";
    code += "extern \"C\" __global__ void __launch_bounds__(256) run(" + parameters +
            (reach.contiguous ? "unsigned long long n) {\n" : "Geometry g) {\n");
    const std::size_t constants = program.constants.size(), results = results_.size();
    code += !reach.contiguous ? strided_body(inputs_, constants, results, reach)
            : reach.rolled    ? rolled_body(inputs_, constants, results, reach)
                              : packed_body(inputs_, constants, results, reach);
    code += "}\n";
    return device_prelude(all, code) + code;
}

std::vector<Array> Fusion::allocate(const Typed &program, std::span<const Array *const> inputs,
                                    StreamRef stream) const {
    const bool alike = std::ranges::all_of(
        inputs, [&](const Array *a) { return a->layout().same_shape(inputs[0]->layout()); });
    const Layout shape = alike ? inputs[0]->layout() : common_shape(inputs);
    if (!alike)
        check_shapes(inputs, shape);
    const auto like =
        std::ranges::find_if(inputs, [&](const Array *a) { return a->layout().same_shape(shape); });
    const bool all_c =
        std::ranges::all_of(inputs, [](const Array *a) { return a->is_c_contiguous(); });
    const std::shared_ptr<ArrayContext> &context =
        inputs[0]->memory() ? inputs[0]->context() : ArrayContext::current();
    std::vector<Array> results;
    for (int result : results_) {
        const ScalarType type = program.values[static_cast<std::size_t>(result)];
        const Layout layout = all_c || like == inputs.end()
                                  ? Layout::contiguous(shape.shape(), item_size(type))
                                  : (*like)->layout().dense(item_size(type));
        results.push_back(Array::with_layout(context, layout, type, stream));
    }
    return results;
}

/// A result of some of the inputs alone would have their shape, not that of all.
void Fusion::check_shapes(std::span<const Array *const> inputs, const Layout &shape) const {
    for (int result : results_) {
        std::vector<const Array *> used;
        for (std::size_t k = 0; k < inputs.size(); ++k)
            if (depends_on_[static_cast<std::size_t>(result)] >> k & 1)
                used.push_back(inputs[k]);
        const Layout own = used.empty() ? Layout() : common_shape(used);
        if (!own.same_shape(shape))
            throw std::invalid_argument("a result of shape " + shape_text(own.shape()) +
                                        " cannot be fused with others of shape " +
                                        shape_text(shape.shape()));
    }
}

const Fusion::Typed &Fusion::known_types(std::span<const ScalarType> types) const {
    std::lock_guard lock(known_->mutex);
    for (const Typed &program : known_->programs)
        if (std::ranges::equal(types, std::span(program.values).first(types.size())))
            return program;
    return known_->programs.emplace_back(typed(types));
}

Function Fusion::kernel(const Typed &program, const Reach &reach) const {
    const CUcontext context = require_context_handle();
    const std::uint64_t reach_number = reach_key(reach);
    {
        std::lock_guard lock(known_->mutex);
        for (const Typed::Found &found : program.found)
            if (found.context == context && found.reach == reach_number &&
                found.kernel.context().usable())
                return found.kernel;
    }
    std::string key = text_ + "|" + std::to_string(reach_number);
    for (ScalarType type : std::span(program.values).first(static_cast<std::size_t>(inputs_)))
        key += "," + std::to_string(static_cast<int>(type));
    for (const UsedConstant &used : program.constants)
        key += ":" + std::to_string(static_cast<int>(used.type));
    const VariantCache::Variant made = kernels().get(key, {.options = {"--fmad=false"}}, [&]() {
        return KernelSource{source(program, reach), {"run"}};
    });
    std::lock_guard lock(known_->mutex);
    std::erase_if(program.found,
                  [](const Typed::Found &found) { return !found.kernel.context().usable(); });
    program.found.push_back({context, reach_number, made->functions.front()});
    return made->functions.front();
}

std::vector<Array> Fusion::run(std::span<const Array *const> arrays, StreamRef stream,
                               KernelForm form) const {
    if (static_cast<int>(arrays.size()) != inputs_)
        throw std::invalid_argument("this fusion takes " + std::to_string(inputs_) +
                                    " arrays, not " + std::to_string(arrays.size()));
    std::vector<Array> copies;
    std::array<const Array *, max_inputs> placed;
    std::array<ScalarType, max_inputs> types;
    for (std::size_t k = 0; k < arrays.size(); ++k) {
        if (arrays[k]->dtype().is_opaque())
            throw UnsupportedTypes("elements of " + arrays[k]->dtype().name() + " cannot be fused");
        types[k] = arrays[k]->scalar_type();
        placed[k] = arrays[k];
        if (!arrays[k]->is_aligned()) {
            copies.reserve(arrays.size());
            placed[k] = &copies.emplace_back(aligned(*arrays[k], stream));
        }
    }
    const std::span<const Array *const> inputs(placed.data(), arrays.size());
    const Typed &program = known_types({types.data(), arrays.size()});
    std::vector<Array> results = allocate(program, inputs, stream);
    if (results[0].size() == 0)
        return results;
    const Reach reach = find_reach(results, inputs, is_rolled(form));
    launch(kernel(program, reach), program, reach, results, inputs, stream);
    return results;
}

void Fusion::launch(const Function &kernel, const Typed &program, const detail::FusionReach &reach,
                    std::span<const Array> results, std::span<const Array *const> inputs,
                    StreamRef stream) const {
    if (!reach.contiguous && reach.walks.size() * static_cast<std::size_t>(reach.axes + 2) > 400)
        throw std::invalid_argument(std::to_string(reach.walks.size()) + " arrays of " +
                                    std::to_string(reach.axes) +
                                    " axes that cannot be merged are too many for one kernel");
    StreamUse use(stream);
    KernelArguments arguments(use);
    for (const Array &result : results)
        arguments.add(result);
    for (const Array *input : inputs)
        arguments.add(input);
    for (const UsedConstant &used : program.constants) {
        alignas(16) std::byte value[16];
        constants_[static_cast<std::size_t>(used.number)].write(used.type, value);
        const std::size_t size = item_size(used.type);
        arguments.add(value, size, is_complex(used.type) ? size / 2 : size);
    }
    const auto size = static_cast<std::int64_t>(results[0].size());
    arguments.add(size);
    if (!reach.contiguous) {
        for (std::int64_t extent : reach.walks[0].shape())
            arguments.add(extent);
        for (int axis = 0; axis < reach.axes; ++axis)
            for (const Layout &walk : reach.walks)
                arguments.add(walk.stride(axis));
    }
    const std::int64_t per_block = std::int64_t{block} * reach.length;
    LaunchConfig config;
    config.block = {block};
    config.grid = {static_cast<unsigned>((size + per_block - 1) / per_block)};
    arguments.launch(kernel, config);
}

} // namespace pycuda
