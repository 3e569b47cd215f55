// fused_program.cpp -- runs elementwise operations and reductions stage by stage.
#include <pycuda/fused_program.h>

#include "arrays/array_axes.h"
#include "kernels/fused/fused_rows.h"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace pycuda {
namespace {

Array reduce_stage(const FusedStage &stage, std::span<const Array *const> inputs,
                   StreamRef stream) {
    const FusedReduction &reduction = *stage.reduction;
    const Layout shape = common_shape(inputs);
    const std::uint32_t axes = fused_axes(reduction, shape.dimensions());
    ReduceOptions options = {
        .axes = axes, .keep_axes = reduction.keep_axes, .dtype = reduction.dtype, .stream = stream};
    if (reduction.mean_of_less) {
        double count = 1;
        for (int axis = 0; axis < shape.dimensions(); ++axis)
            if (axes >> axis & 1)
                count *= static_cast<double>(shape.extent(axis));
        options.finish = ReductionFinish::Divide;
        options.divisor = std::max(count - *reduction.mean_of_less, 0.0);
    }
    return stage.fusion.reduce(reduction.reduction, inputs, options);
}

} // namespace

std::uint32_t fused_axes(const FusedReduction &reduction, int dimensions) {
    if (!reduction.axes)
        return static_cast<std::uint32_t>((std::uint64_t{1} << dimensions) - 1);
    std::uint32_t bits = 0;
    for (int axis : *reduction.axes) {
        if (axis < -dimensions || axis >= dimensions)
            throw std::out_of_range("axis " + std::to_string(axis) +
                                    " is out of bounds for array of dimension " +
                                    std::to_string(dimensions));
        const std::uint32_t bit = std::uint32_t{1} << (axis < 0 ? axis + dimensions : axis);
        if (bits & bit)
            throw std::invalid_argument("duplicate value in 'axis'");
        bits |= bit;
    }
    return bits;
}

FusedProgram::FusedProgram(int arrays, std::vector<FusedStage> stages, std::vector<int> results)
    : arrays_(arrays), stages_(std::move(stages)), results_(std::move(results)) {
    int values = arrays_;
    for (const FusedStage &stage : stages_) {
        if (stage.inputs.empty() ||
            std::ranges::any_of(stage.inputs, [&](int v) { return v < 0 || v >= values; }))
            throw std::invalid_argument("a stage of a fusion uses a value that does not exist");
        values += stage.reduction ? 1 : stage.fusion.result_count();
    }
    if (results_.empty() || std::ranges::any_of(results_, [&](int result) {
            return result < arrays_ || result >= values;
        }))
        throw std::invalid_argument("a fusion needs results that its stages compute");
    rows_ = FusedRows::of(arrays_, stages_, results_);
}

std::vector<Array> FusedProgram::run(std::span<const Array *const> arrays, StreamRef stream) const {
    if (static_cast<int>(arrays.size()) != arrays_)
        throw std::invalid_argument("this fusion takes " + std::to_string(arrays_) +
                                    " arrays, not " + std::to_string(arrays.size()));
    if (rows_ != nullptr)
        if (std::optional<std::vector<Array>> results = rows_->run(arrays, stream))
            return std::move(*results);
    std::vector<Array> computed;
    std::vector<const Array *> inputs;
    for (const FusedStage &stage : stages_) {
        inputs.clear();
        for (int value : stage.inputs)
            inputs.push_back(value < arrays_
                                 ? arrays[static_cast<std::size_t>(value)]
                                 : &computed[static_cast<std::size_t>(value - arrays_)]);
        if (stage.reduction) {
            computed.push_back(reduce_stage(stage, inputs, stream));
        } else {
            for (Array &result : stage.fusion.run(inputs, stream))
                computed.push_back(std::move(result));
        }
    }
    std::vector<Array> results;
    for (int result : results_)
        results.push_back(computed[static_cast<std::size_t>(result - arrays_)]);
    return results;
}

std::string FusedProgram::obstacle(std::span<const Array *const> arrays) const {
    if (stages_.size() == 1)
        return "";
    return rows_ == nullptr ? "there are too many arrays and results" : rows_->obstacle(arrays);
}

} // namespace pycuda
