// plan.cpp -- the layouts of FFTW's plans, and their execution.
#include "plan.h"

#include "../common/failure.h"

#include <cuda.h>

namespace softcufftw {
namespace {

using softlib::Failure;
using softlib::require;
using softlib::statuses;

/// The steps of the dimensions on one side, whose last dimension is `last` in memory.
std::vector<std::int64_t> steps_of(const Side &side, const std::vector<std::int64_t> &sizes,
                                   std::int64_t last) {
    std::vector<std::int64_t> steps(sizes.size());
    std::int64_t step = side.stride;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        steps[axis] = step;
        const std::int64_t packed = axis + 1 == sizes.size() ? last : sizes[axis];
        step *= side.embed != nullptr ? side.embed[axis] : packed;
    }
    return steps;
}

void check(const std::vector<Dimension> &dimensions) {
    for (const Dimension &one : dimensions) {
        require(one.size >= 1, "each size must be positive");
        require(one.input_step >= 0 && one.output_step >= 0, "each step must be positive");
    }
}

} // namespace

Direction direction_of(int sign) {
    require(sign == -1 || sign == 1, "the sign must be FFTW_FORWARD or FFTW_BACKWARD");
    return sign == -1 ? Direction::Forward : Direction::Inverse;
}

Plan make_plan(Kind kind, const std::vector<Dimension> &dimensions,
               const std::vector<Dimension> &batch, void *input, void *output,
               Direction direction) {
    require(!dimensions.empty(), "a transform needs at least one dimension");
    check(dimensions);
    check(batch);
    Plan plan{kind, {}, {}, direction, input, output};
    plan.from.batches = plan.to.batches = batch.size();
    for (const std::vector<Dimension> *part : {&batch, &dimensions})
        for (const Dimension &one : *part)
            for (const bool is_input : {true, false}) {
                Layout &side = is_input ? plan.from : plan.to;
                side.shape.push_back(one.size);
                side.strides.push_back(is_input ? one.input_step : one.output_step);
            }
    if (is_real_input(kind))
        plan.to.shape.back() = plan.to.shape.back() / 2 + 1;
    if (is_real_output(kind))
        plan.from.shape.back() = plan.from.shape.back() / 2 + 1;
    return plan;
}

Plan make_plan(Kind kind, const std::vector<std::int64_t> &sizes, std::int64_t count,
               const Side &input_side, const Side &output_side, void *input, void *output,
               Direction direction) {
    require(!sizes.empty(), "a transform needs at least one dimension");
    const std::int64_t n = sizes.back(), half = n / 2 + 1;
    const bool padded = input == output;
    std::int64_t last_input = n, last_output = n;
    if (is_real_input(kind))
        last_input = padded ? 2 * half : n, last_output = half;
    if (is_real_output(kind))
        last_input = half, last_output = padded ? 2 * half : n;
    const auto from = steps_of(input_side, sizes, last_input);
    const auto to = steps_of(output_side, sizes, last_output);
    std::vector<Dimension> dimensions;
    for (std::size_t axis = 0; axis < sizes.size(); ++axis)
        dimensions.push_back({sizes[axis], from[axis], to[axis]});
    return make_plan(kind, dimensions, {{count, input_side.distance, output_side.distance}}, input,
                     output, direction);
}

void execute(const Plan *plan, Kind kind, const void *input, void *output) {
    require(plan != nullptr, "there is no plan");
    require(plan->kind == kind, "the plan is of another type");
    require(input != nullptr && output != nullptr, "there is no input or no output");
    CUcontext current = nullptr; // a program may use nothing else of CUDA
    if (cuCtxGetCurrent(&current) == CUDA_SUCCESS && current != nullptr &&
        cuStreamSynchronize(nullptr) != CUDA_SUCCESS)
        throw Failure(statuses.execution_failed, "work of the default stream failed");
    transform(kind, plan->from, input, plan->to, output, plan->direction);
}

} // namespace softcufftw
