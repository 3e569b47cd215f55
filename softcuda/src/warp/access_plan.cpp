// access_plan.cpp -- chooses the fastest access for the shape of an address.
#include "warp/access_plan.h"

#include "ir/find_origin.h"
#include "ir/integer_semantics.h"
#include "ir/print.h"
#include "rt/windows.h"
#include "warp/find_indices.h"
#include "warp/in_variable.h"
#include "warp/kernel_plan.h"
#include "warp/low_bits.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <set>

namespace softcuda::warp {

namespace {

using analysis::kLanes;
using analysis::kLocalAlign;
using analysis::Shape;
using ir::Instruction;
using ir::Opcode;
using ir::Space;
using ir::Value;

/// Accessing a window of this many times its number of lanes takes as long as single accesses.
constexpr unsigned kMostTimes = 4;
constexpr Shape kDivergent{.groups = kLanes};

bool is_window(Space space) { return space == Space::Shared || space == Space::Local; }

bool is_atomic(const Instruction &i) { return i.is(Opcode::Atomic) || i.is(Opcode::Reduce); }

bool is_access(const Instruction &i) {
    return i.is(Opcode::Load) || i.is(Opcode::Store) || is_atomic(i);
}

bool is_store(const Instruction &i) { return i.is(Opcode::Store); }

bool is_grouped(const Shape &shape) { return shape.groups <= 4 && !shape.offsets; }

std::optional<StridedWindow> find_window(const Shape &shape, unsigned group, unsigned bytes,
                                         bool store) {
    const unsigned size = shape.group_size();
    std::int64_t low = 0, high = 0;
    for (unsigned lane = group * size; lane < (group + 1) * size; ++lane) {
        low = std::min(low, shape.offset(lane));
        high = std::max(high, shape.offset(lane));
    }
    if ((high - low) / bytes >= kMostTimes * size)
        return std::nullopt;
    StridedWindow window{
        .first = low, .length = static_cast<unsigned>((high - low) / bytes) + 1, .index = {}};
    std::set<unsigned> seen;
    for (unsigned lane = group * size; lane < (group + 1) * size; ++lane) {
        const auto distance = static_cast<unsigned>(shape.offset(lane) - low);
        if (distance % bytes != 0)
            return std::nullopt;
        window.index.push_back(distance / bytes);
        if (!seen.insert(distance).second && store) // the addresses of a store must be different
            return std::nullopt;
    }
    return window;
}

/// Whether a condition holds for the places of all threads that may come to the access.
template <typename Test>
bool holds_in_all(const KernelPlan &kernel, const Instruction &access,
                  const analysis::PerThread &places, Test test) {
    for (std::size_t thread = 0; thread < places.size(); ++thread)
        if (kernel.may_come_to(access.block, thread) && !test(places[thread]))
            return false;
    return true;
}

class AccessPlanner {
  public:
    explicit AccessPlanner(KernelPlan &plan) : kernel_(plan) {}

    AccessPlan plan(const Instruction &i) {
        const Space space = i.attributes.space;
        AccessPlan made;
        made.bytes = std::max(ir::bits(i.attributes.type), 8u) / 8;
        made.count = is_atomic(i) ? 1 : std::max<unsigned>(i.attributes.vector, 1);
        made.shape = address_shape(i);
        made.may_wrap = made.shape.checked;
        if (is_window(space))
            plan_alignment(i, made);
        else if (space != Space::Param && !is_in_variable(kernel_, i, made.lane_bytes()))
            made.check = Check::Range;
        made.grouped = made.shape;
        const bool on_device = !is_window(space) && space != Space::Param;
        if (!is_atomic(i) && on_device && (made.shape.divergent() || made.shape.divided))
            made.indexed = find_indices(kernel_, i, made.lane_bytes());
        choose(i, made);
        if (made.masked == AccessMethod::Tested)
            made.contiguous_warps = contiguous_warps(i, made);
        made.prefetch = plan_prefetch(kernel_, i, made);
        return made;
    }

  private:
    [[nodiscard]] Shape shape(const Value *value) const {
        return value->constant ? Shape{.groups = 1} : kernel_.divergence.of(value);
    }

    // The start of a lane's local memory is a pattern over the lanes.
    Shape in_thread_frames(const Shape &offset, std::int64_t extra) {
        if (!keeps_shape(offset, extra, kernel_.function.local_granule))
            return kDivergent;
        analysis::LanePattern pattern;
        for (unsigned lane = 0; lane < kLanes; ++lane)
            pattern[lane] = place_in_warp(kernel_, offset.offset(lane), lane % offset.group_size());
        Shape result = offset;
        result.align = 0;
        result.offsets = kernel_.divergence.patterns.intern(pattern);
        return result;
    }

    // The shape of the lanes' addresses in the host's address space. Only the low half of an offset
    // into a window is used: a wrapped part is a multiple of 2^32.
    Shape address_shape(const Instruction &i) {
        const Value *address = i.operand(0);
        Shape found = shape(address);
        if (found.divided && (is_window(i.attributes.space) || kernel_.wants_short_code))
            found = kDivergent;
        if (is_window(i.attributes.space)) {
            if (kernel_.machine.narrow_windows && !is_near_first_lane(found))
                found = kDivergent;
            found.checked = false;
            return i.attributes.space == Space::Local ? in_thread_frames(found, i.attributes.offset)
                                                      : found;
        }
        return ir::bits(address->type) == 64 ? found : kDivergent;
    }

    // Shared and local memory: if it is unknown whether the address is a multiple of the access's
    // size, this is tested at run time.
    void plan_alignment(const Instruction &i, AccessPlan &made) {
        low_bits_ = low_bits(kernel_, i.operand(0));
        low_bits_.count = std::min(low_bits_.count, 32u);
        for (std::uint64_t &lane : low_bits_.lanes)
            lane += static_cast<std::uint64_t>(i.attributes.offset);
        extra_ = i.attributes.offset;
        const bool shared = i.attributes.space == Space::Shared;
        if (shared && !kernel_.machine.narrow_windows) {
            places_ = kernel_.thread_values.of(i.operand(0));
            low_bits_for_windows_ = low_bits_;
            made.line = line(made);
        }
        unsigned alignment = std::bit_ceil(made.lane_bytes());
        if (!shared)
            alignment = std::min(alignment, 1u << kLocalAlign);
        if (!is_aligned(i, alignment)) {
            made.alignment = alignment;
            made.check = alignment > 1 ? Check::Alignment : Check::None;
        }
    }

    [[nodiscard]] bool is_aligned(const Instruction &i, unsigned alignment) const {
        auto fits = [&](std::uint64_t place) { return place % alignment == 0; };
        if (places_)
            return holds_in_all(kernel_, i, *places_, [&](std::uint64_t place) {
                return fits(place + static_cast<std::uint64_t>(extra_));
            });
        return alignment <= std::uint64_t{1} << std::min(low_bits_.count, 63u) &&
               std::ranges::all_of(low_bits_.lanes, fits);
    }

    // In a form in which equal addresses look equal, independent of their computation.
    [[nodiscard]] std::optional<WarpLine> line(const AccessPlan &made) const {
        if (!places_ || made.shape.groups != 1 || kernel_.launch.threads() % kLanes != 0)
            return std::nullopt;
        auto place = [&](unsigned warp) {
            return std::int64_t{static_cast<std::int32_t>((*places_)[warp * kLanes])};
        };
        const unsigned warps = kernel_.launch.warps();
        const std::int64_t step = warps > 1 ? place(1) - place(0) : 0;
        for (unsigned warp = 0; warp < warps; ++warp)
            if (place(warp) != place(0) + step * warp)
                return std::nullopt;
        return WarpLine{.start = place(0) + extra_, .step = step};
    }

    /// For a tested access. In the tier of lanes, lane 0 may not have computed its address yet.
    [[nodiscard]] std::optional<std::uint32_t> contiguous_warps(const Instruction &i,
                                                                const AccessPlan &made) const {
        const analysis::PerThread *places = places_;
        if (made.indexed.pointer)
            places = kernel_.thread_values.of(made.indexed.index);
        const unsigned threads = kernel_.launch.threads();
        if (!places || kernel_.tier.tier == rt::Tier::Lanes || kernel_.launch.warps() > 32)
            return std::nullopt;
        const std::uint64_t step =
            made.lane_bytes() / std::max(made.indexed.scale, 1u); // from lane to lane
        std::uint32_t found = 0;
        for (unsigned first = 0; first < threads; first += kLanes) {
            bool contiguous = true;
            for (unsigned thread = first; thread < std::min(first + kLanes, threads); ++thread)
                if (kernel_.may_come_to(i.block, thread))
                    contiguous &=
                        static_cast<std::uint32_t>((*places)[thread] - (*places)[first]) ==
                        step * (thread - first);
            found |= std::uint32_t{contiguous} << first / kLanes;
        }
        return found;
    }

    // Groups: tid.x of a 16-wide block is 0..15 twice, which is not contiguous as a whole, but in
    // two groups.
    Shape regrouped(const Shape &shape, unsigned bytes) {
        for (unsigned groups = shape.groups; groups <= kLanes / 4; groups *= 2) {
            const Shape candidate = analysis::refine(shape, groups, kernel_.divergence.patterns);
            if (is_contiguous(candidate, bytes) || is_grouped(candidate))
                return candidate;
        }
        return shape;
    }

    void choose(const Instruction &i, AccessPlan &made) {
        Shape plain = made.shape;
        plain.checked = plain.divided = false;
        if (made.shape.uniform()) {
            made.full = made.masked = AccessMethod::Uniform;
            return;
        }
        made.grouped = regrouped(plain, made.lane_bytes());
        made.windows = find_windows(i, made, plain);
        made.windows_exist = exist_in_static_memory(i, made);
        made.full = choose(i, made, plain, false);
        made.masked = choose(i, made, plain, i.attributes.space == Space::Shared);
    }

    // Lanes that are contiguous in groups are accessed through a window if the groups are small
    // parts of it and, with `whole_is_better`, in shared memory under a mask: a masked store cannot
    // be forwarded to a load before it has reached the cache, but a full store can.
    [[nodiscard]] AccessMethod choose(const Instruction &i, const AccessPlan &made,
                                      const Shape &plain, bool whole_is_better) const {
        const bool has_windows = !made.windows.empty() && made.count == 1;
        const bool small_pieces =
            made.grouped.groups > plain.groups &&
            made.grouped.group_size() * made.lane_bytes() < kernel_.machine.vector_bits / 8;
        if (has_windows && (whole_is_better || small_pieces))
            return AccessMethod::Windowed;
        if (is_contiguous(made.grouped, made.lane_bytes()))
            return AccessMethod::Contiguous;
        if (!is_store(i) && is_grouped(made.grouped))
            return AccessMethod::Grouped;
        if (has_windows)
            return AccessMethod::Windowed;
        return plain.divergent() ? AccessMethod::Tested : AccessMethod::Scattered;
    }

    // Bytes and halves: no processor loads or stores some of them at once, so only loads that would
    // otherwise be lane by lane.
    [[nodiscard]] bool has_narrow_windows(const Instruction &i, const AccessPlan &made) const {
        return made.count == 1 && made.bytes < 4 && i.is(Opcode::Load) &&
               i.attributes.space == Space::Global && !is_grouped(made.grouped) &&
               !is_contiguous(made.grouped, made.bytes);
    }

    std::vector<StridedWindow> find_windows(const Instruction &i, const AccessPlan &made,
                                            const Shape &plain) const {
        const unsigned bytes = made.lane_bytes();
        if (!kernel_.machine.permutes_words || plain.groups > 4 || !plain.offsets ||
            !(bytes == 4 || bytes == 8 || has_narrow_windows(i, made)))
            return {};
        std::vector<StridedWindow> windows;
        for (unsigned group = 0; group < plain.groups; ++group) {
            std::optional<StridedWindow> window = find_window(plain, group, bytes, is_store(i));
            if (!window)
                return {};
            if (i.attributes.space == Space::Shared && plain.groups == 1)
                align_to_vectors(i, bytes, *window);
            windows.push_back(std::move(*window));
        }
        return windows;
    }

    [[nodiscard]] bool comes(const Instruction &i, unsigned first, unsigned count) const {
        for (unsigned thread = first; thread < first + count; ++thread)
            if (thread < kernel_.launch.threads() && kernel_.may_come_to(i.block, thread))
                return true;
        return false;
    }

    /// The address of lane 0 modulo a power of two, if it is the same in all warps.
    [[nodiscard]] std::optional<std::uint64_t> first_lane_modulo(const Instruction &i,
                                                                 std::uint64_t size) const {
        if (!places_)
            return size <= std::uint64_t{1} << low_bits_for_windows_.count
                       ? std::optional(low_bits_for_windows_.lanes[0] & (size - 1))
                       : std::nullopt;
        std::optional<std::uint64_t> found;
        for (unsigned thread = 0; thread < kernel_.launch.threads(); thread += kLanes) {
            const std::uint64_t here =
                ((*places_)[thread] + static_cast<std::uint64_t>(extra_)) & (size - 1);
            if (!comes(i, thread, kLanes))
                continue;
            if (found && *found != here)
                return std::nullopt;
            found = here;
        }
        return found;
    }

    // Widens a window of shared memory to whole vectors at multiples of their size, if its start is
    // known. Then windows of neighbours are the same vectors, and a load can be forwarded from an
    // earlier store.
    void align_to_vectors(const Instruction &i, unsigned bytes, StridedWindow &window) const {
        const unsigned size = kernel_.machine.vector_bits / 8;
        const auto first = first_lane_modulo(i, size);
        if (!first)
            return;
        const std::uint64_t lead = (*first + static_cast<std::uint64_t>(window.first)) & (size - 1);
        if (lead % bytes != 0)
            return;
        const unsigned more = static_cast<unsigned>(lead) / bytes;
        window.first -= static_cast<std::int64_t>(lead);
        for (unsigned &index : window.index)
            index += more;
        const unsigned count = size / bytes;
        window.length = (window.length + more + count - 1) / count * count;
    }

    // For all warps with a thread that may come to the access.
    [[nodiscard]] bool exist_in_static_memory(const Instruction &i, const AccessPlan &made) const {
        const unsigned threads = kernel_.launch.threads();
        if (made.windows.empty() || made.check == Check::Range || !places_ || threads % kLanes != 0)
            return false;
        const auto size =
            static_cast<std::int64_t>(rt::window_end(kernel_.function.static_shared_bytes));
        const unsigned lanes = kLanes / static_cast<unsigned>(made.windows.size());
        for (unsigned thread = 0; thread < threads; thread += lanes) {
            if (!comes(i, thread, lanes))
                continue;
            const StridedWindow &window = made.windows[thread % kLanes / lanes];
            const auto place = static_cast<std::int32_t>((*places_)[thread]);
            const std::int64_t first = place + extra_ + window.first;
            if (first < 0 || first + std::int64_t{window.length} * made.lane_bytes() > size)
                return false;
        }
        return true;
    }

    KernelPlan &kernel_;
    // For the current access, in shared or local memory:
    LowBits low_bits_, low_bits_for_windows_;
    const analysis::PerThread *places_ = nullptr; ///< the offset of every thread, without extra_
    std::int64_t extra_ = 0;
};

} // namespace

bool is_contiguous(const Shape &shape, unsigned bytes) {
    if (shape.groups > kLanes / 4)
        return false;
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (shape.offset(lane) != std::int64_t{bytes} * (lane % shape.group_size()))
            return false;
    return true;
}

bool is_near_first_lane(const Shape &shape) {
    for (unsigned lane = 0; lane < kLanes; ++lane)
        if (std::abs(shape.offset(lane)) > static_cast<std::int64_t>(rt::kNarrowReach / 2))
            return false;
    return !shape.checked;
}

std::int64_t place_in_warp(const KernelPlan &kernel, std::int64_t offset, unsigned lane) {
    const std::int64_t granule = kernel.function.local_granule;
    if (granule == 0)
        return offset + static_cast<std::int64_t>(kernel.local_stride) * lane;
    const std::int64_t inside = offset & (granule - 1);
    return (offset - inside) * kLanes + granule * lane + inside;
}

bool keeps_shape(const Shape &shape, std::int64_t extra, std::int64_t granule) {
    if (granule == 0 || !shape.offsets)
        return true;
    if (extra % granule != 0 || shape.align < std::countr_zero(static_cast<unsigned>(granule)))
        return false;
    return std::ranges::all_of(*shape.offsets,
                               [&](std::int64_t offset) { return offset % granule == 0; });
}

bool is_in_static_memory(const KernelPlan &kernel, const Instruction &i) {
    if ((!i.is(Opcode::Load) && !i.is(Opcode::Store)) || i.attributes.space != Space::Shared ||
        i.attributes.order != ir::Order::Weak)
        return false;
    const analysis::PerThread *places = kernel.thread_values.of(i.operand(0));
    if (!places)
        return false;
    const std::int64_t bytes = std::int64_t{std::max(ir::bits(i.attributes.type), 8u) / 8} *
                               std::max<unsigned>(i.attributes.vector, 1);
    const auto size = static_cast<std::int64_t>(kernel.function.static_shared_bytes);
    return holds_in_all(kernel, i, *places, [&](std::uint64_t place) {
        const std::int64_t at =
            std::int64_t{static_cast<std::int32_t>(place)} + i.attributes.offset;
        return at >= 0 && at + bytes <= size;
    });
}

namespace {

// Dynamic shared memory is as long as the launch says; local variables of a function that is called
// are at another place in each call.
const ir::LocalVariable *reported_variable(const KernelPlan &plan, const Instruction &access) {
    const Space space = access.attributes.space;
    if (!is_window(space) || (space == Space::Local && !plan.function.kernel))
        return nullptr;
    const auto origin = ir::find_origin(plan.function, *access.operand(0));
    if (!origin || origin->kind != ir::Origin::Kind::Local)
        return nullptr;
    const ir::LocalVariable &variable = plan.function.variables[origin->number];
    return variable.size != 0 ? &variable : nullptr;
}

} // namespace

void plan_accesses(KernelPlan &plan) {
    plan.accesses.clear();
    for (const ir::Block *block : plan.function.blocks)
        for (const Instruction *i : block->instructions) {
            if (!is_access(*i))
                continue;
            AccessPlan made = AccessPlanner(plan).plan(*i);
            if (plan.request.watch != 0)
                made.variable = reported_variable(plan, *i);
            plan.accesses.emplace(i, std::move(made));
        }
}

std::string_view text(AccessMethod method) {
    constexpr std::array<std::string_view, 6> kNames = {"uniform",  "contiguous", "grouped",
                                                        "windowed", "scattered",  "tested"};
    return kNames.at(static_cast<std::size_t>(method));
}

std::string to_text(const AccessPlan &plan) {
    std::string out(text(plan.full));
    if (plan.masked != plan.full)
        out += ", under a mask " + std::string(text(plan.masked));
    const bool in_groups =
        plan.full == AccessMethod::Contiguous || plan.full == AccessMethod::Grouped;
    const unsigned groups = in_groups ? plan.grouped.groups : plan.shape.groups;
    if (groups > 1 && groups < kLanes)
        out += ", " + std::to_string(groups) + " groups";
    if (plan.full == AccessMethod::Windowed || plan.masked == AccessMethod::Windowed)
        for (const StridedWindow &window : plan.windows)
            out +=
                ", window " + std::to_string(window.first) + " + " + std::to_string(window.length);
    if (plan.windows_exist)
        out += " proved";
    if (plan.indexed.pointer)
        out += ", pointer " + ir::to_text(*plan.indexed.pointer) + " index " +
               ir::to_text(*plan.indexed.index);
    if (plan.indexed.bounds)
        out += " at " + std::to_string(plan.indexed.bounds->low) + " to " +
               std::to_string(plan.indexed.bounds->high);
    if (plan.contiguous_warps)
        out += ", contiguous warps " + std::to_string(*plan.contiguous_warps);
    if (plan.check == Check::Alignment)
        out += ", check alignment " + std::to_string(plan.alignment);
    if (plan.check == Check::Range)
        out += ", check range";
    out += plan.may_wrap ? ", check wrap" : "";
    if (!plan.joined.empty())
        out += ", joined " + std::to_string(plan.joined.size());
    if (plan.joined_by)
        out += plan.joined_by->results.empty()
                   ? ", stored with a later one"
                   : ", loaded with " + ir::to_text(*plan.joined_by->result());
    if (plan.row_step != 0)
        out += ", by columns, rows " + std::to_string(plan.row_step) + " apart";
    if (plan.variable)
        out += ", in " + plan.variable->name;
    const std::string prefetch = to_text(plan.prefetch);
    return prefetch.empty() ? out : out + ", prefetch " + prefetch;
}

} // namespace softcuda::warp
