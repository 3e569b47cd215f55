// shape.cpp -- patterns and the transfer functions of shapes.

#include "analysis/shape.h"

#include "analysis/shape_rules.h"

#include <bit>

namespace softcuda::analysis {

const LanePattern *PatternTable::intern(const LanePattern &pattern) {
    if (pattern == LanePattern{})
        return nullptr;
    return &patterns_.try_emplace(pattern, pattern).first->second;
}

Shape refine(const Shape &shape, unsigned groups, PatternTable &patterns) {
    Shape result = shape;
    result.groups = static_cast<std::uint8_t>(groups);
    result.checked = shape.checked && groups < kLanes;
    result.divided = shape.divided && groups < kLanes;
    if (!shape.offsets || groups == shape.groups)
        return result;
    LanePattern relative{};
    unsigned size = kLanes / groups;
    unsigned align = shape.align;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
        std::int64_t first = shape.offset(lane - lane % size);
        relative[lane] = shape.offset(lane) - first;
        if (first != 0)
            align = std::min<unsigned>(align, std::countr_zero(static_cast<std::uint64_t>(first)));
    }
    result.align = static_cast<std::uint8_t>(align);
    result.offsets = patterns.intern(relative);
    return result;
}

Shape flatten(const Shape &shape, PatternTable &patterns) {
    Shape result = shape;
    for (unsigned groups = shape.groups; result.offsets; groups *= 2)
        result = refine(shape, groups, patterns);
    result.checked = result.divided = false;
    return result;
}

Shape meet(const Shape &a, const Shape &b, PatternTable &patterns) {
    if (!a.known())
        return b;
    if (!b.known())
        return a;
    for (unsigned groups = std::max(a.groups, b.groups);; groups *= 2) {
        Shape x = refine(a, groups, patterns), y = refine(b, groups, patterns);
        if (x.offsets != y.offsets)
            continue; // in groups of one lane, no lane has an offset
        x.align = std::min(x.align, y.align);
        x.checked = (x.checked || y.checked) && groups < kLanes;
        x.divided = (x.divided || y.divided) && groups < kLanes;
        return x;
    }
}

namespace {

Shape varying_thread_index(const LaunchShape &launch, unsigned dimension, PatternTable &patterns) {
    if (launch.extents == Extents::Any)
        return {.groups = kLanes};
    Shape shape{.groups = 1};
    if (dimension != 0)
        return shape;
    LanePattern pattern;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        pattern[lane] = lane;
    shape.align = std::countr_zero(kLanes);
    shape.offsets = patterns.intern(pattern);
    return shape;
}

} // namespace

Shape thread_index_shape(const LaunchShape &launch, unsigned dimension, PatternTable &patterns) {
    if (!launch.is_fixed())
        return varying_thread_index(launch, dimension, patterns);
    unsigned threads = launch.warps() * kLanes;
    auto index = [&](unsigned thread) -> std::int64_t {
        unsigned x = launch.block[0], y = launch.block[1];
        return dimension == 0 ? thread % x : dimension == 1 ? thread / x % y : thread / (x * y);
    };
    for (unsigned size = kLanes;; size /= 2) {
        LanePattern pattern{};
        bool same = true;
        std::uint64_t base_bits = 0;
        for (unsigned thread = 0; thread < threads && same; ++thread) {
            unsigned lane = thread % kLanes;
            std::int64_t base = index(thread - thread % size);
            std::int64_t offset = index(thread) - base;
            if (thread < kLanes)
                pattern[lane] = offset;
            same = pattern[lane] == offset && pattern[lane % size] == offset;
            base_bits |= static_cast<std::uint64_t>(base);
        }
        if (!same)
            continue;
        Shape shape;
        shape.groups = static_cast<std::uint8_t>(kLanes / size);
        shape.align = static_cast<std::uint8_t>(base_bits ? std::countr_zero(base_bits) : 64);
        shape.offsets = patterns.intern(pattern);
        return shape;
    }
}

} // namespace softcuda::analysis
