// plan.cpp -- the layouts of a plan, and its execution.
#include "plan.h"

#include "../common/count.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

namespace softcufft {
namespace {

/// The dimensions on the side; the last one of a real transform's complex side is halved.
std::vector<std::int64_t> dimensions(const Description &plan, bool input) {
    std::vector<std::int64_t> sizes = plan.n;
    if ((is_real_input(plan.kind) && !input) || (is_real_output(plan.kind) && input))
        sizes.back() = sizes.back() / 2 + 1;
    return sizes;
}

/// The layout of one side. `padded`: rows of real data have the size of the complex rows in the
/// same memory.
Layout layout_of(const Description &plan, bool input, bool padded) {
    const std::vector<std::int64_t> sizes = dimensions(plan, input);
    const Description::Side &side = input ? plan.input : plan.output;
    std::vector<std::int64_t> rows = side.embed.empty() ? sizes : side.embed;
    if (side.embed.empty() && padded)
        rows.back() = 2 * (plan.n.back() / 2 + 1);
    Layout layout;
    layout.strides.assign(sizes.size(), 1);
    std::int64_t step = side.embed.empty() ? 1 : side.stride;
    for (std::size_t axis = sizes.size(); axis-- > 0;) {
        layout.strides[axis] = step;
        step *= rows[axis];
    }
    layout.shape = sizes;
    layout.shape.insert(layout.shape.begin(), plan.batch);
    layout.strides.insert(layout.strides.begin(), side.embed.empty() ? step : side.distance);
    return layout;
}

/// The layouts of a plan's two sides, out of place and in place.
struct Sides {
    Layout from, to;

    Sides(const Description &plan, bool in_place)
        : from(layout_of(plan, true, in_place && is_real_input(plan.kind))),
          to(layout_of(plan, false, in_place && is_real_output(plan.kind))) {}
};

struct Plans {
    std::mutex mutex;
    std::map<int, std::shared_ptr<Plan>> by_handle;
    int last = 0;
};

Plans &plans() {
    static auto *const made = new Plans; // threads may use plans while the process ends
    return *made;
}

} // namespace

void Description::check() const {
    const auto fails = [](const char *what) { throw Failure(invalid_size, what); };
    if (batch < 1)
        fails("the number of transforms must be positive");
    double elements = static_cast<double>(batch);
    for (const std::int64_t size : n) {
        if (size < 1)
            fails("each dimension must be positive");
        elements *= static_cast<double>(size);
    }
    if (elements > 0x1p40)
        fails("more than 2^40 elements");
    for (const bool is_input : {true, false}) {
        const Side &side = is_input ? input : output;
        if (side.embed.empty())
            continue;
        require(side.stride >= 1 && side.distance >= 0, "stride, distance");
        const std::vector<std::int64_t> sizes = dimensions(*this, is_input);
        softlib::Count step = side.stride, extent = 1;
        for (std::size_t axis = sizes.size(); axis-- > 0;) {
            require(axis == 0 || side.embed[axis] >= sizes[axis], "embed");
            extent = extent + step * (sizes[axis] - 1);
            step = step * std::max<std::int64_t>(side.embed[axis], 0);
        }
        if ((extent + softlib::Count(side.distance) * (batch - 1)).get() > 1LL << 56)
            fails("more than 2^56 elements from the first to the last");
    }
}

/// What a plan's executions have in common.
struct Plan::Prepared {
    Description description;
    Sides out_of_place, in_place;
    double operations; ///< of one execution, about
    softlib::Threads threads;

    explicit Prepared(Description own)
        : description(std::move(own)), out_of_place(description, false),
          in_place(description, true), operations(softcufft::operations(out_of_place.from)),
          threads(threads_of(out_of_place.from)) {}
};

void Plan::make(Description description) {
    if (prepared_)
        throw Failure(invalid_plan, "the plan is made already");
    description.check();
    prepared_ = std::make_shared<const Prepared>(std::move(description));
}

const Description &Plan::description() const {
    if (!prepared_)
        throw Failure(invalid_plan, "the plan is not made yet");
    return prepared_->description;
}

void Plan::execute(const char *function, Kind kind, const void *input, void *output,
                   Direction direction) {
    const Description &plan = description();
    if (plan.kind != kind)
        throw Failure(invalid_type, "the plan is of another type");
    const Sides &sides = input == output ? prepared_->in_place : prepared_->out_of_place;
    const std::size_t real = size_of(part_type(kind));
    session.check_memory(
        input, static_cast<std::size_t>(sides.from.extent()) * real * (is_real_input(kind) ? 1 : 2),
        "the input");
    session.check_memory(
        output, static_cast<std::size_t>(sides.to.extent()) * real * (is_real_output(kind) ? 1 : 2),
        "the output");
    session.enqueue(
        function,
        [prepared = prepared_, &sides, input, output, direction] { // `prepared` owns the sides
            transform(prepared->description.kind, sides.from, input, sides.to, output, direction);
        },
        prepared_->operations, prepared_->threads);
}

int add_plan(std::shared_ptr<Plan> plan) {
    std::lock_guard lock(plans().mutex);
    do
        plans().last = plans().last == std::numeric_limits<int>::max() ? 1 : plans().last + 1;
    while (plans().by_handle.contains(plans().last));
    plans().by_handle.emplace(plans().last, std::move(plan));
    return plans().last;
}

std::shared_ptr<Plan> find_plan(int handle) {
    std::lock_guard lock(plans().mutex);
    const auto found = plans().by_handle.find(handle);
    if (found == plans().by_handle.end())
        throw Failure(invalid_plan, "");
    return found->second;
}

std::shared_ptr<Plan> remove_plan(int handle) {
    std::shared_ptr<Plan> plan = find_plan(handle);
    std::lock_guard lock(plans().mutex);
    plans().by_handle.erase(handle);
    return plan;
}

} // namespace softcufft
