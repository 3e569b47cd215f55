// axes.cuh -- computes an element's index along each axis from its number.
#pragma once

/// Runs APPLY for the axes `last` ... 0 with `at`, the index along `axis`. The last axis varies
/// fastest.
#define FOR_EACH_AXIS(number, last, extents, APPLY)                                                \
    {                                                                                              \
        auto axes_left = number;                                                                   \
        _Pragma("unroll") for (int axis = last; axis >= 0; --axis) {                               \
            const decltype(axes_left) whole = axis == 0 ? 0 : axes_left / extents[axis];           \
            const auto at = axes_left - whole * extents[axis];                                     \
            APPLY;                                                                                 \
            axes_left = whole;                                                                     \
        }                                                                                          \
    }
