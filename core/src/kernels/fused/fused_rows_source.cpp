// fused_rows_source.cpp -- generates the kernel of a fused program whose threads compute rows.
#include "kernels/fused/fused_rows.h"

#include "arrays/device_code.h"
#include "arrays/expression.h"

#include "kernels/fused/device/fused_rows.cuh.h"
#include "kernels/fused/device/fused_rows_join.cuh.h"

#include <pycuda/array_fusion.h>

#include <algorithm>

namespace pycuda {
namespace {

std::string text(std::size_t number) { return std::to_string(number); }

class Writer {
  public:
    Writer(const RowStages &program, const TypedRows &types, const RowVariant &variant)
        : program_(program), types_(types), variant_(variant) {}

    std::string source() {
        std::string code = geometry() + std::string(device_code::fused_rows_cuh);
        for (std::size_t k = 0; k < program_.stages.size(); ++k)
            code += stage_functions(k);
        code += kernel();
        return with_prelude(code);
    }

  private:
    std::string geometry() const {
        std::string code = type_alias("Index", variant_.wide_index ? "long long" : "int") +
                           define("TEAM", variant_.team) +
                           define("TEAM_COLUMNS", variant_.columns) +
                           define("UNROLL", variant_.rolled ? 1 : 4);
        const std::string kept = std::to_string(std::max(variant_.kept, 1)),
                          reduced = std::to_string(variant_.reduced),
                          walkers = text(variant_.walkers);
        code += "struct Geometry {\n    Index outputs, length, kept[" + kept + "], reduced[" +
                reduced + "], kept_stride[" + kept + "][" + walkers + "], stride[" + reduced +
                "][" + walkers + "];\n};\n";
        for (std::size_t k = 0; k < variant_.walkers; ++k)
            code +=
                "typedef " + std::string(cuda_name(walker_type(k))) + " type_w" + text(k) + ";\n";
        return code;
    }

    std::size_t result_count() const { return program_.results.size(); }
    bool is_result(std::size_t walker) const { return walker < result_count(); }
    ScalarType walker_type(std::size_t walker) const {
        const int value =
            is_result(walker) ? program_.results[walker] : program_.walked[walker - result_count()];
        return types_.values[static_cast<std::size_t>(value)];
    }

    std::string stage_functions(std::size_t k) const {
        std::string code;
        for (const char *name : {"INDEX", "MOMENTS", "COMPLEX", "WORDS", "ROLLED_ORDER", "APART",
                                 "LIMITS", "COMPLEX_LIMIT"})
            code += "#undef " + std::string(name) + "\n";
        code += "namespace stage" + text(k) + " {\n";
        ReductionVariant reduction = types_.reductions[k];
        reduction.wide_index = variant_.wide_index;
        reduction.rolled = variant_.rolled;
        code += program_.stages[k].reduction
                    ? reduction_functions(reduction) + std::string(device_code::fused_rows_join_cuh)
                    : expression_functions(types_.expressions[k].expression);
        return code + "}\n";
    }

    std::string computed(std::size_t k) const {
        const FusedStage &stage = program_.stages[k];
        std::string call = "stage" + text(k) + "::compute(r";
        for (std::size_t j = 0; j < types_.expressions[k].expression.operands.size(); ++j) {
            if (j >= stage.inputs.size())
                call += ", n" + text(k) + "_" + text(j);
            else if (stage.inputs[j] < program_.arrays)
                call += ", " + element(program_.walker_of(stage.inputs[j]));
            else
                call += ", v" + std::to_string(stage.inputs[j]);
        }
        return call + ")";
    }

    std::string element(std::size_t walker) const {
        const std::string name = "w" + text(walker);
        return "*reinterpret_cast<" + std::string(is_result(walker) ? "" : "const ") + "type_" +
               name + " *>(base_" + name +
               along(walker, variant_.element_step[walker], variant_.reduced, "r", "at", "stride") +
               ")";
    }

    /// " + ...": the offset of row `index`, or of element `index` of a row.
    std::string along(std::size_t walker, RowStep step, int axes, const std::string &index,
                      const std::string &place, const std::string &strides) const {
        if (axes == 0 || step == RowStep::Same)
            return "";
        if (step == RowStep::Dense)
            return " + " + index + " * Index(sizeof(type_w" + text(walker) + "))";
        std::string sum;
        for (int axis = 0; axis < axes; ++axis)
            sum += " + " + (axes == 1 ? index : place + ".i[" + std::to_string(axis) + "]") +
                   " * g." + strides + "[" + std::to_string(axis) + "][" + text(walker) + "]";
        return sum;
    }

    std::string row_loop(const std::string &body) const {
        return "#pragma unroll UNROLL\n    for (Index r = LANE; r < g.length; r += TEAM) {\n" +
               std::string(variant_.reduced > 1
                               ? "        const auto at = place_of(r, g.reduced);\n"
                               : "") +
               body + "    }\n";
    }

    std::string reduction_text(std::size_t k) const {
        const std::string stage = "stage" + text(k) + "::",
                          value = "v" + std::to_string(program_.first_value[k]);
        const bool reads = program_.reads_arrays(program_.stages[k]);
        const std::string append = "        state = " + stage + "append(state, " + stage + "map(" +
                                   computed(k) + ".out0, r));\n";
        return "    " + stage + "S " + value + "_state = " + stage + "identity();\n    {\n    " +
               "auto &state = " + value + "_state;\n" +
               (reads ? row_loop(append) + "    state = " + stage + "join(state);\n"
                      : "    const Index r = 0;\n" + append) +
               "    }\n    const " + stage + "O " + value + " = " + stage + "finish(" + value +
               "_state" +
               (types_.reductions[k].finish == ReductionFinish::Plain ? "" : ", d" + text(k)) +
               ");\n" + store_values(program_.first_value[k], value);
    }

    /// Stores a row's value in the results that have this value.
    std::string store_values(int value, const std::string &name) const {
        std::string code;
        for (std::size_t k = 0; k < result_count(); ++k)
            if (program_.results[k] == value)
                code += "    if (stores)\n        *reinterpret_cast<type_w" + text(k) +
                        " *>(base_w" + text(k) + ") = " + name + ";\n";
        return code;
    }

    std::string elementwise_text(std::size_t k) const {
        const bool reads = program_.reads_arrays(program_.stages[k]);
        std::string stores;
        for (std::size_t j = 0; j < result_count(); ++j) {
            const int place = program_.results[j] - program_.first_value[k];
            if (place < 0 || place >= program_.stages[k].fusion.result_count())
                continue;
            const std::string out = "out.out" + std::to_string(place);
            stores += reads ? "            " + element(j) + " = " + out + ";\n"
                            : "        *reinterpret_cast<type_w" + text(j) + " *>(base_w" +
                                  text(j) + ") = " + out + ";\n";
        }
        const std::string out = "        const auto out = " + computed(k) + ";\n";
        if (!reads)
            return "    if (stores) {\n        const Index r = 0;\n" + out + stores + "    }\n";
        return row_loop(
            out + (variant_.columns ? "        if (is_row) {\n" + stores + "        }\n" : stores));
    }

    std::string parameters() const {
        std::string list;
        for (std::size_t k = 0; k < variant_.walkers; ++k)
            list += std::string(is_result(k) ? "type_w" : "const type_w") + text(k) +
                    " *__restrict__ w" + text(k) + ", ";
        for (std::size_t k = 0; k < program_.stages.size(); ++k) {
            const Expression &expression = types_.expressions[k].expression;
            for (std::size_t j = program_.stages[k].inputs.size(); j < expression.operands.size();
                 ++j)
                list += "stage" + text(k) + "::type_p" + text(j) + " n" + text(k) + "_" + text(j) +
                        ", ";
            if (program_.stages[k].reduction &&
                types_.reductions[k].finish != ReductionFinish::Plain)
                list += "double d" + text(k) + ", ";
        }
        return list + "Geometry g";
    }

    std::string kernel() const {
        std::string code = "extern \"C\" __global__ void __launch_bounds__(256) run(" +
                           parameters() +
                           ") {\n    Index m = Index(blockIdx.x) * ROWS_OF_BLOCK + ROW_OF_BLOCK;\n";
        // All threads of a block with columns take part in its barriers.
        code += variant_.columns ? "    const bool is_row = m < g.outputs;\n    if (!is_row)\n"
                                   "        m = g.outputs - 1;\n"
                                 : "    if (m >= g.outputs)\n        return;\n"
                                   "    constexpr bool is_row = true;\n";
        code += "    [[maybe_unused]] const bool stores = is_row && LANE == 0;\n";
        if (variant_.kept > 1)
            code += "    const auto row = place_of(m, g.kept);\n";
        for (std::size_t k = 0; k < variant_.walkers; ++k)
            code += std::string("    ") + (is_result(k) ? "" : "const ") + "char *const base_w" +
                    text(k) + " = reinterpret_cast<" + (is_result(k) ? "" : "const ") +
                    "char *>(w" + text(k) + ")" +
                    along(k, variant_.row_step[k], variant_.kept, "m", "row", "kept_stride") +
                    ";\n";
        for (std::size_t k = 0; k < program_.stages.size(); ++k)
            code += program_.stages[k].reduction ? reduction_text(k) : elementwise_text(k);
        return code + "}\n";
    }

    const RowStages &program_;
    const TypedRows &types_;
    const RowVariant &variant_;
};

} // namespace

std::string fused_rows_source(const RowStages &program, const TypedRows &types,
                              const RowVariant &variant) {
    return Writer(program, types, variant).source();
}

} // namespace pycuda
