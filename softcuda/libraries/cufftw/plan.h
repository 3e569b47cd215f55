// plan.h -- plans of FFTW's interface, for transforms of the host's memory.
#pragma once

#include "../cufft/kinds.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace softcufftw {

using softcufft::Direction;
using softcufft::Kind;
using softcufft::Layout;

/// One dimension: its size, and the steps of the input and of the output in elements.
struct Dimension {
    std::int64_t size, input_step, output_step;
};

/// One side of FFTW's "many" plans. Without `embed`, the rows are packed; rows of real data that
/// are transformed in place have the size of the complex rows.
struct Side {
    const int *embed;
    std::int64_t stride, distance;
};

struct Plan {
    Kind kind;
    Layout from, to;
    Direction direction;
    void *input, *output; ///< of fftw_execute()
};

/// The sign of FFTW's arguments. Throws Failure.
Direction direction_of(int sign);

/// A plan of dimensions with any steps, repeated over the dimensions `batch`. Throws Failure.
Plan make_plan(Kind kind, const std::vector<Dimension> &dimensions,
               const std::vector<Dimension> &batch, void *input, void *output, Direction direction);

/// A plan of `count` transforms of rows. Throws Failure.
Plan make_plan(Kind kind, const std::vector<std::int64_t> &sizes, std::int64_t count,
               const Side &input_side, const Side &output_side, void *input, void *output,
               Direction direction);

/// Waits for what the default stream may still write, then transforms. Throws Failure.
void execute(const Plan *plan, Kind kind, const void *input, void *output);

} // namespace softcufftw
