// plan.h -- cuFFT's plans.
#pragma once

#include "../common/call.h"
#include "../common/session.h"
#include "kinds.h"

#include <memory>
#include <string>
#include <vector>

namespace softcufft {

using softlib::Failure;
using softlib::require;
using softlib::statuses;

/// Statuses that other libraries do not have.
constexpr int invalid_plan = 1;
constexpr int invalid_type = 3;
constexpr int invalid_size = 8;

/// The arguments of a plan. Without embed, the elements are packed, and the rows of real data
/// that are transformed in place are padded.
struct Description {
    Kind kind = Kind::C2C;
    std::vector<std::int64_t> n;
    std::int64_t batch = 1;
    struct Side {
        std::vector<std::int64_t> embed; ///< empty: packed
        std::int64_t stride = 1, distance = 0;
    } input, output;

    /// Throws Failure.
    void check() const;
};

class Plan {
  public:
    softlib::Session session;
    /// Hints of cufftSetPlanPropertyInt64(), of which no result depends: whether to compile for
    /// long, and the number of threads of the host that may make the plan.
    long long patient_jit = 0, most_host_threads = 1;

    /// Gives the plan its description, once.
    void make(Description description);
    /// The description. Throws Failure(invalid plan) before make().
    [[nodiscard]] const Description &description() const;

    /// Puts the transform into the plan's stream. `kind` must be the plan's.
    void execute(const char *function, Kind kind, const void *input, void *output,
                 Direction direction);

  private:
    struct Prepared;
    std::shared_ptr<const Prepared> prepared_;
};

/// The plans by their handles, which are numbers. All functions may be called by several threads.
int add_plan(std::shared_ptr<Plan> plan);
/// Throws Failure(invalid plan).
std::shared_ptr<Plan> find_plan(int handle);
std::shared_ptr<Plan> remove_plan(int handle);

} // namespace softcufft
