// exports.cpp -- cuFFT's C functions.
#include "../common/version.h"
#include "plan.h"

using softcufft::Description;
using softcufft::Direction;
using softcufft::find_plan;
using softcufft::Kind;
using softcufft::Plan;
using softlib::Failure;
using softlib::guarded;
using softlib::require;

namespace softlib {
const Statuses statuses = {"cuFFT", 0, 7, 4, 2, 6, 5, 16};
} // namespace softlib

namespace {

using Wide = long long;

/// No transform needs a workspace of the device. Programs may divide by the size.
void give_size(std::size_t *size) {
    if (size != nullptr)
        *size = 1;
}

/// A type of cufftType. Throws Failure(invalid type).
Kind kind_of(int type) {
    for (const Kind kind : {Kind::C2C, Kind::R2C, Kind::C2R, Kind::Z2Z, Kind::D2Z, Kind::Z2D})
        if (static_cast<int>(kind) == type)
            return kind;
    throw Failure(softcufft::invalid_type, "");
}

Description plain(std::vector<std::int64_t> n, Kind kind, std::int64_t batch = 1) {
    Description description;
    description.kind = kind;
    description.n = std::move(n);
    description.batch = batch;
    return description;
}

template <class I> Description::Side side_of(int rank, const I *embed, I stride, I distance) {
    return {{embed, embed + rank}, stride, distance};
}

template <class I>
Description many(int rank, const I *n, const I *inembed, I istride, I idist, const I *onembed,
                 I ostride, I odist, Kind kind, I batch) {
    require(rank >= 1 && rank <= 3 && n != nullptr, "rank, n");
    Description description = plain({n, n + rank}, kind, batch);
    // If one of the two is null, both sides are packed.
    if (inembed != nullptr && onembed != nullptr) {
        description.input = side_of(rank, inembed, istride, idist);
        description.output = side_of(rank, onembed, ostride, odist);
    }
    return description;
}

/// The plan's type for the element types of cufftXtMakePlanMany().
Kind type_of(int input, int output, int execution) {
    struct Type {
        int real, complex;
        Kind complex_kind, to_complex, to_real;
    };
    constexpr Type types[] = {
        {0, 4, Kind::C2C, Kind::R2C, Kind::C2R},
        {1, 5, Kind::Z2Z, Kind::D2Z, Kind::Z2D},
        {2, 6, Kind::HalfC2C, Kind::HalfR2C, Kind::HalfC2R},
        {14, 15, Kind::BFloatC2C, Kind::BFloatR2C, Kind::BFloatC2R},
    };
    for (const Type &type : types) {
        if (execution != type.complex)
            continue;
        if (input == type.complex && output == type.complex)
            return type.complex_kind;
        if (input == type.real && output == type.complex)
            return type.to_complex;
        if (input == type.complex && output == type.real)
            return type.to_real;
    }
    throw Failure(softlib::statuses.not_supported, "transforms between different precisions");
}

/// Makes a plan of its own, or gives the existing one its description.
int make_new(const char *function, int *handle, const std::function<Description()> &describe) {
    return guarded(function, [&] {
        require(handle != nullptr, "plan");
        auto plan = std::make_shared<Plan>();
        plan->make(describe());
        *handle = softcufft::add_plan(std::move(plan));
    });
}

int make(const char *function, int handle, std::size_t *size,
         const std::function<Description()> &describe) {
    return guarded(function, [&] {
        const auto plan = find_plan(handle);
        require(size != nullptr, "workSize");
        plan->make(describe());
        give_size(size);
    });
}

int estimate(const char *function, std::size_t *size,
             const std::function<Description()> &describe) {
    return guarded(function, [&] {
        require(size != nullptr, "workSize");
        describe().check();
        give_size(size);
    });
}

int execute(const char *function, int handle, Kind kind, const void *input, void *output,
            int direction) {
    return guarded(function, [&] {
        require(direction == -1 || direction == 1, "direction");
        find_plan(handle)->execute(function, kind, input, output,
                                   direction == -1 ? Direction::Forward : Direction::Inverse);
    });
}

} // namespace

SOFTLIB_FUNCTION(cufftCreate, (int *handle), {
    require(handle != nullptr, "plan");
    *handle = softcufft::add_plan(std::make_shared<Plan>());
})

SOFTLIB_FUNCTION(cufftDestroy, (int handle), { softcufft::remove_plan(handle); })

SOFTLIB_FUNCTION(cufftSetStream, (int handle, CUstream stream),
                 { find_plan(handle)->session.set_stream(stream); })

// The forms of one function: a new plan, an existing plan, an estimate, and a plan's size.
#define CUFFT_PLAN(form, parameters, ...)                                                          \
    SOFTLIB_EXPORT int cufftPlan##form(int *plan, CUFFT_UNPACK parameters) {                       \
        return make_new("cufftPlan" #form, plan, [&] { return __VA_ARGS__; });                     \
    }                                                                                              \
    SOFTLIB_EXPORT int cufftMakePlan##form(int plan, CUFFT_UNPACK parameters, std::size_t *size) { \
        return make("cufftMakePlan" #form, plan, size, [&] { return __VA_ARGS__; });               \
    }                                                                                              \
    SOFTLIB_EXPORT int cufftEstimate##form(CUFFT_UNPACK parameters, std::size_t *size) {           \
        return estimate("cufftEstimate" #form, size, [&] { return __VA_ARGS__; });                 \
    }                                                                                              \
    SOFTLIB_EXPORT int cufftGetSize##form(int plan, CUFFT_UNPACK parameters, std::size_t *size) {  \
        return guarded("cufftGetSize" #form, [&] {                                                 \
            find_plan(plan);                                                                       \
            require(size != nullptr, "workSize");                                                  \
            (__VA_ARGS__).check();                                                                 \
            give_size(size);                                                                       \
        });                                                                                        \
    }
#define CUFFT_UNPACK(...) __VA_ARGS__
CUFFT_PLAN(1d, (int nx, int type, int batch), plain({nx}, kind_of(type), batch))
CUFFT_PLAN(2d, (int nx, int ny, int type), plain({nx, ny}, kind_of(type)))
CUFFT_PLAN(3d, (int nx, int ny, int nz, int type), plain({nx, ny, nz}, kind_of(type)))
CUFFT_PLAN(Many,
           (int rank, int *n, int *inembed, int istride, int idist, int *onembed, int ostride,
            int odist, int type, int batch),
           many(rank, n, inembed, istride, idist, onembed, ostride, odist, kind_of(type), batch))

SOFTLIB_EXPORT int cufftMakePlanMany64(int plan, int rank, Wide *n, Wide *inembed, Wide istride,
                                       Wide idist, Wide *onembed, Wide ostride, Wide odist,
                                       int type, Wide batch, std::size_t *size) {
    return make("cufftMakePlanMany64", plan, size, [&] {
        return many(rank, n, inembed, istride, idist, onembed, ostride, odist, kind_of(type),
                    batch);
    });
}

SOFTLIB_FUNCTION(cufftGetSizeMany64,
                 (int plan, int rank, Wide *n, Wide *inembed, Wide istride, Wide idist,
                  Wide *onembed, Wide ostride, Wide odist, int type, Wide batch, std::size_t *size),
                 {
                     find_plan(plan);
                     require(size != nullptr, "workSize");
                     many(rank, n, inembed, istride, idist, onembed, ostride, odist, kind_of(type),
                          batch)
                         .check();
                     give_size(size);
                 })

SOFTLIB_EXPORT int cufftXtMakePlanMany(int plan, int rank, Wide *n, Wide *inembed, Wide istride,
                                       Wide idist, int input, Wide *onembed, Wide ostride,
                                       Wide odist, int output, Wide batch, std::size_t *size,
                                       int execution) {
    return make("cufftXtMakePlanMany", plan, size, [&] {
        return many(rank, n, inembed, istride, idist, onembed, ostride, odist,
                    type_of(input, output, execution), batch);
    });
}

SOFTLIB_FUNCTION(cufftXtGetSizeMany,
                 (int plan, int rank, Wide *n, Wide *inembed, Wide istride, Wide idist, int input,
                  Wide *onembed, Wide ostride, Wide odist, int output, Wide batch,
                  std::size_t *size, int execution),
                 {
                     find_plan(plan);
                     require(size != nullptr, "workSize");
                     many(rank, n, inembed, istride, idist, onembed, ostride, odist,
                          type_of(input, output, execution), batch)
                         .check();
                     give_size(size);
                 })

SOFTLIB_FUNCTION(cufftGetSize, (int plan, std::size_t *size), {
    static_cast<void>(find_plan(plan)->description());
    require(size != nullptr, "workSize");
    give_size(size);
})

SOFTLIB_FUNCTION(cufftSetWorkArea, (int plan, void *), { find_plan(plan); })
SOFTLIB_FUNCTION(cufftXtSetWorkArea, (int plan, void **), { find_plan(plan); })
SOFTLIB_FUNCTION(cufftSetAutoAllocation, (int plan, int), { find_plan(plan); })
SOFTLIB_FUNCTION(cufftXtSetWorkAreaPolicy, (int plan, int, std::size_t *size), {
    find_plan(plan);
    give_size(size);
})

SOFTLIB_EXPORT int cufftExecC2C(int plan, void *input, void *output, int direction) {
    return execute("cufftExecC2C", plan, Kind::C2C, input, output, direction);
}
SOFTLIB_EXPORT int cufftExecZ2Z(int plan, void *input, void *output, int direction) {
    return execute("cufftExecZ2Z", plan, Kind::Z2Z, input, output, direction);
}
SOFTLIB_EXPORT int cufftExecR2C(int plan, void *input, void *output) {
    return execute("cufftExecR2C", plan, Kind::R2C, input, output, -1);
}
SOFTLIB_EXPORT int cufftExecD2Z(int plan, void *input, void *output) {
    return execute("cufftExecD2Z", plan, Kind::D2Z, input, output, -1);
}
SOFTLIB_EXPORT int cufftExecC2R(int plan, void *input, void *output) {
    return execute("cufftExecC2R", plan, Kind::C2R, input, output, 1);
}
SOFTLIB_EXPORT int cufftExecZ2D(int plan, void *input, void *output) {
    return execute("cufftExecZ2D", plan, Kind::Z2D, input, output, 1);
}
// The type of a real transform names its direction.
SOFTLIB_FUNCTION(cufftXtExec, (int plan, void *input, void *output, int direction), {
    const auto own = find_plan(plan);
    const Kind kind = own->description().kind;
    require(!is_complex(kind) || direction == -1 || direction == 1, "direction");
    own->execute("cufftXtExec", kind, input, output,
                 direction == 1 ? Direction::Inverse : Direction::Forward);
})

namespace {
/// The place of a plan's property, by its number in cufftProperty, and its default.
std::pair<long long &, long long> property_of(Plan &plan, int property) {
    switch (property) {
    case 1:
        return {plan.patient_jit, 0};
    case 2:
        return {plan.most_host_threads, 1};
    default:
        throw Failure(softlib::statuses.not_supported, "this property is not supported");
    }
}
} // namespace
SOFTLIB_FUNCTION(cufftSetPlanPropertyInt64, (int plan, int property, long long value), {
    long long &place = property_of(*find_plan(plan), property).first;
    require(property == 1 ? value == 0 || value == 1 : value >= 1, "the property's value");
    place = value;
})
SOFTLIB_FUNCTION(cufftGetPlanPropertyInt64, (int plan, int property, long long *value), {
    require(value != nullptr, "the value's address");
    *value = property_of(*find_plan(plan), property).first;
})
SOFTLIB_FUNCTION(cufftResetPlanProperty, (int plan, int property), {
    const auto [place, initial] = property_of(*find_plan(plan), property);
    place = initial;
})

SOFTLIB_FUNCTION(cufftGetVersion, (int *version), {
    require(version != nullptr, "version");
    *version = softlib::version;
})

SOFTLIB_PROPERTY(cufftGetProperty)
