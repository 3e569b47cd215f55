// exports.cpp -- the functions of cufftw.h, for float (fftwf_) and double (fftw_).
//
// As NVIDIA's library, it needs no planning: the planner's flags change no result, wisdom is empty,
// and input that is not output is preserved. A plan that cannot be made is NULL; the reason is
// printed.
#include "plan.h"

#include "../common/call.h"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace softlib {
const Statuses statuses = {"cuFFTW", 0, 1, 2, 3, 4, 5, 6};
} // namespace softlib

namespace softcufftw {
namespace {

using softlib::require;

/// fftw_iodim and fftw_iodim64.
template <class Integer> struct Io {
    Integer n, is, os;
};

template <class T> constexpr bool is_double_v = sizeof(T) == sizeof(double);
template <class T> constexpr Kind complex_kind = is_double_v<T> ? Kind::Z2Z : Kind::C2C;
template <class T> constexpr Kind to_complex = is_double_v<T> ? Kind::D2Z : Kind::R2C;
template <class T> constexpr Kind to_real = is_double_v<T> ? Kind::Z2D : Kind::C2R;

/// Runs `body`; prints the reason of a failure, since FFTW's functions return no status.
template <class Body> bool reported(const char *function, Body &&body) noexcept {
    try {
        std::forward<Body>(body)();
        return true;
    } catch (const std::exception &error) {
        softlib::print(function, error.what());
        return false;
    }
}

template <class Make> void *new_plan(const char *function, Make &&make) noexcept {
    Plan *plan = nullptr;
    reported(function, [&] { plan = new Plan(std::forward<Make>(make)()); });
    return plan;
}

std::vector<std::int64_t> sizes_of(int rank, const int *n) {
    require(rank >= 1 && n != nullptr, "a transform needs at least one dimension");
    return {n, n + rank};
}

template <class Integer>
std::vector<Dimension> dimensions_of(int rank, const Io<Integer> *dimensions) {
    require(rank >= 0 && (rank == 0 || dimensions != nullptr), "there are no dimensions");
    std::vector<Dimension> all;
    for (int axis = 0; axis < rank; ++axis)
        all.push_back({dimensions[axis].n, dimensions[axis].is, dimensions[axis].os});
    return all;
}

/// One transform of packed rows.
Plan basic(Kind kind, const std::vector<std::int64_t> &sizes, void *in, void *out, int sign) {
    return make_plan(kind, sizes, 1, {nullptr, 1, 0}, {nullptr, 1, 0}, in, out, direction_of(sign));
}

template <class Integer>
Plan guru(Kind kind, int rank, const Io<Integer> *dimensions, int batch_rank,
          const Io<Integer> *batch, void *in, void *out, int sign) {
    return make_plan(kind, dimensions_of(rank, dimensions), dimensions_of(batch_rank, batch), in,
                     out, direction_of(sign));
}

void run(const char *function, const void *plan, Kind kind, const void *in, void *out) noexcept {
    reported(function, [&] { execute(static_cast<const Plan *>(plan), kind, in, out); });
}

void run_own(const char *function, const void *plan) noexcept {
    reported(function, [&] {
        const auto *own = static_cast<const Plan *>(plan);
        require(own != nullptr, "there is no plan");
        execute(own, own->kind, own->input, own->output);
    });
}

/// Operations of a plan; 0 without one.
double operations(const void *plan) noexcept {
    const auto *own = static_cast<const Plan *>(plan);
    return own == nullptr ? 0 : softcufft::operations(own->from);
}

} // namespace
} // namespace softcufftw

using namespace softcufftw;

// clang-format off
/// The plans of one type: P fftw or fftwf, F the end of the names, IN and OUT the types of elements. SIGN and VALUE: the
/// parameter for the direction and its value, which transforms of real numbers do not have.
#define PLANS(P, F, KIND, IN, OUT, SIGN, VALUE)                                                                        \
    SOFTLIB_EXPORT void *P##_plan_##F##_1d(int n, IN *in, OUT *out SIGN, unsigned) {                                   \
        return new_plan(#P "_plan_" #F "_1d", [&] { return basic(KIND, {n}, in, out, VALUE); });                       \
    }                                                                                                                  \
    SOFTLIB_EXPORT void *P##_plan_##F##_2d(int n0, int n1, IN *in, OUT *out SIGN, unsigned) {                          \
        return new_plan(#P "_plan_" #F "_2d", [&] { return basic(KIND, {n0, n1}, in, out, VALUE); });                  \
    }                                                                                                                  \
    SOFTLIB_EXPORT void *P##_plan_##F##_3d(int n0, int n1, int n2, IN *in, OUT *out SIGN, unsigned) {                  \
        return new_plan(#P "_plan_" #F "_3d", [&] { return basic(KIND, {n0, n1, n2}, in, out, VALUE); });              \
    }                                                                                                                  \
    SOFTLIB_EXPORT void *P##_plan_##F(int rank, const int *n, IN *in, OUT *out SIGN, unsigned) {                       \
        return new_plan(#P "_plan_" #F, [&] { return basic(KIND, sizes_of(rank, n), in, out, VALUE); });               \
    }                                                                                                                  \
    SOFTLIB_EXPORT void *P##_plan_many_##F(int rank, const int *n, int count, IN *in, const int *inembed, int istride, \
                                           int idist, OUT *out, const int *onembed, int ostride, int odist SIGN,       \
                                           unsigned) {                                                                 \
        return new_plan(#P "_plan_many_" #F, [&] {                                                                     \
            return make_plan(KIND, sizes_of(rank, n), count, {inembed, istride, idist}, {onembed, ostride, odist}, in, \
                             out, direction_of(VALUE));                                                                \
        });                                                                                                            \
    }                                                                                                                  \
    SOFTLIB_EXPORT void *P##_plan_guru_##F(int rank, const Io<int> *dimensions, int batch_rank, const Io<int> *batch,  \
                                           IN *in, OUT *out SIGN, unsigned) {                                          \
        return new_plan(#P "_plan_guru_" #F,                                                                           \
                        [&] { return guru(KIND, rank, dimensions, batch_rank, batch, in, out, VALUE); });              \
    }                                                                                                                  \
    SOFTLIB_EXPORT void *P##_plan_guru64_##F(int rank, const Io<std::ptrdiff_t> *dimensions, int batch_rank,           \
                                             const Io<std::ptrdiff_t> *batch, IN *in, OUT *out SIGN, unsigned) {       \
        return new_plan(#P "_plan_guru64_" #F,                                                                         \
                        [&] { return guru(KIND, rank, dimensions, batch_rank, batch, in, out, VALUE); });              \
    }                                                                                                                  \
    SOFTLIB_EXPORT void P##_execute_##F(const void *plan, IN *in, OUT *out) {                                          \
        run(#P "_execute_" #F, plan, KIND, in, out);                                                                   \
    }
// clang-format on

#define WITH_SIGN , int sign
#define WITHOUT_SIGN

#define FFTW_FUNCTIONS(P, T)                                                                       \
    PLANS(P, dft, complex_kind<T>, std::complex<T>, std::complex<T>, WITH_SIGN, sign)              \
    PLANS(P, dft_r2c, to_complex<T>, T, std::complex<T>, WITHOUT_SIGN, -1)                         \
    PLANS(P, dft_c2r, to_real<T>, std::complex<T>, T, WITHOUT_SIGN, 1)                             \
    SOFTLIB_EXPORT void P##_execute(const void *plan) { run_own(#P "_execute", plan); }            \
    SOFTLIB_EXPORT void P##_destroy_plan(void *plan) { delete static_cast<Plan *>(plan); }         \
    SOFTLIB_EXPORT void P##_cleanup() {}                                                           \
    SOFTLIB_EXPORT void *P##_malloc(std::size_t bytes) {                                           \
        void *memory = nullptr;                                                                    \
        return posix_memalign(&memory, 64, bytes) == 0 ? memory : nullptr;                         \
    }                                                                                              \
    SOFTLIB_EXPORT void P##_free(void *memory) { std::free(memory); }                              \
    SOFTLIB_EXPORT void P##_export_wisdom_to_file(std::FILE *) {}                                  \
    SOFTLIB_EXPORT int P##_import_wisdom_from_file(std::FILE *) { return 1; }                      \
    SOFTLIB_EXPORT void P##_set_timelimit(double) {}                                               \
    SOFTLIB_EXPORT double P##_cost(const void *plan) { return operations(plan); }                  \
    /* Of the operations of a transform of radix 2, three fifths are additions. */                 \
    SOFTLIB_EXPORT void P##_flops(const void *plan, double *add, double *mul, double *fma) {       \
        const double all = operations(plan);                                                       \
        for (auto [place, share] : {std::pair(add, 0.6), {mul, 0.4}, {fma, 0.0}})                  \
            if (place != nullptr)                                                                  \
                *place = all * share;                                                              \
    }                                                                                              \
    SOFTLIB_EXPORT void P##_print_plan(const void *plan) {                                         \
        std::printf("(softcuda cuFFTW plan of about %.0f operations)", operations(plan));          \
    }

FFTW_FUNCTIONS(fftw, double)
FFTW_FUNCTIONS(fftwf, float)
