// fake_cufft.cpp -- a libcufft for tests on softcuda, whose device memory is host memory: the
// functions of cufft.def, with one-dimensional transforms.
#include "fake_libraries/fake_device.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

namespace {

using Complex = std::complex<double>;

/// One side of a transform: the layout of its elements.
struct Side {
    std::array<long long, 3> extents{1, 1, 1};
    long long step = 1, next = 1;
    int type = 0;
    bool real() const { return type < 4; }
};

struct Plan {
    CUstream stream = nullptr;
    int rank = 0;
    std::array<long long, 3> lengths{1, 1, 1};
    Side in, out;
    long long count = 0;
    void *work = nullptr;
};

std::mutex mutex;
std::map<int, Plan> plans;
int last_plan = 0;

Complex load(const void *data, int type, long long at) {
    switch (type) {
    case 0:
        return static_cast<const float *>(data)[at];
    case 1:
        return static_cast<const double *>(data)[at];
    case 4:
        return Complex(static_cast<const std::complex<float> *>(data)[at]);
    default:
        return static_cast<const Complex *>(data)[at];
    }
}

void store(void *data, int type, long long at, Complex value) {
    switch (type) {
    case 0:
        static_cast<float *>(data)[at] = static_cast<float>(value.real());
        break;
    case 1:
        static_cast<double *>(data)[at] = value.real();
        break;
    case 4:
        static_cast<std::complex<float> *>(data)[at] = std::complex<float>(value);
        break;
    default:
        static_cast<Complex *>(data)[at] = value;
    }
}

/// The transform of n elements with stride `step`: by the definition if n is prime, else from the
/// transforms of its parts with stride p * step, where p is the smallest prime factor (Cooley and
/// Tukey 1965). roots contains the powers of a primitive root of unity; their number is a multiple
/// of n.
std::vector<Complex> sums(const Complex *x, std::size_t n, std::size_t step,
                          const std::vector<Complex> &roots) {
    std::size_t parts = 2;
    while (parts * parts <= n && n % parts != 0)
        ++parts;
    if (n % parts != 0 || parts * parts > n)
        parts = n;
    const std::size_t length = n / parts, turn = roots.size() / n;
    std::vector<std::vector<Complex>> each;
    for (std::size_t part = 0; part < parts; ++part)
        each.push_back(length == 1 ? std::vector<Complex>{x[part * step]}
                                   : sums(x + part * step, length, parts * step, roots));
    std::vector<Complex> result(n);
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t part = 0; part < parts; ++part)
            result[k] += each[part][k % length] * roots[part * k % n * turn];
    return result;
}

/// The elements of one transform, over all its lengths.
class Grid {
  public:
    explicit Grid(const std::array<long long, 3> &lengths)
        : lengths_(lengths),
          values_(static_cast<std::size_t>(lengths[0] * lengths[1] * lengths[2])) {}

    Complex &at(long long i, long long j, long long k) {
        return values_[static_cast<std::size_t>((i * lengths_[1] + j) * lengths_[2] + k)];
    }

    void transform(int axis, double sign) {
        const auto n = static_cast<std::size_t>(lengths_[static_cast<std::size_t>(axis)]);
        std::size_t step = 1;
        for (int after = axis + 1; after < 3; ++after)
            step *= static_cast<std::size_t>(lengths_[static_cast<std::size_t>(after)]);
        std::vector<Complex> roots(n);
        for (std::size_t k = 0; k < n; ++k)
            roots[k] =
                std::polar(1.0, sign * 2 * M_PI * static_cast<double>(k) / static_cast<double>(n));
        for (std::size_t first = 0; first < values_.size(); ++first) {
            if (first / step % n != 0)
                continue;
            const std::vector<Complex> line = sums(&values_[first], n, step, roots);
            for (std::size_t k = 0; k < n; ++k)
                values_[first + k * step] = line[k];
        }
    }

  private:
    std::array<long long, 3> lengths_;
    std::vector<Complex> values_;
};

/// Calls visit(index in memory, i, j, k) for the elements that one side has in memory.
template <class Visit>
void walk(const Side &side, const std::array<long long, 3> &lengths, Visit &&visit) {
    for (long long i = 0; i < lengths[0]; ++i)
        for (long long j = 0; j < lengths[1]; ++j)
            for (long long k = 0; k < lengths[2]; ++k)
                visit(((i * side.extents[1] + j) * side.extents[2] + k) * side.step, i, j, k);
}

void run(const Plan &plan, void *in, void *out, double sign) {
    std::array<long long, 3> half = plan.lengths;
    half[2] = half[2] / 2 + 1;
    for (long long one = 0; one < plan.count; ++one) {
        Grid grid(plan.lengths);
        const auto &given = plan.out.real() ? half : plan.lengths;
        walk(plan.in, given, [&](long long place, long long i, long long j, long long k) {
            grid.at(i, j, k) = load(in, plan.in.type, one * plan.in.next + place);
        });
        // The other half of the transform of a real signal, along one axis.
        for (long long k = half[2]; plan.out.real() && k < plan.lengths[2]; ++k)
            grid.at(0, 0, k) = std::conj(grid.at(0, 0, plan.lengths[2] - k));
        for (int axis = 0; axis < 3; ++axis)
            grid.transform(axis, sign);
        const auto &wanted = plan.in.real() ? half : plan.lengths;
        walk(plan.out, wanted, [&](long long place, long long i, long long j, long long k) {
            store(out, plan.out.type, one * plan.out.next + place, grid.at(i, j, k));
        });
    }
}

Plan *find(int handle) {
    const auto found = plans.find(handle);
    return found == plans.end() ? nullptr : &found->second;
}

Side side_of(int rank, const long long *extents, long long step, long long next, int type) {
    Side side{{1, 1, 1}, step, next, type};
    for (int axis = 0; axis < rank; ++axis)
        side.extents[static_cast<std::size_t>(3 - rank + axis)] = extents[axis];
    return side;
}

} // namespace

#define FAKE extern "C" __attribute__((visibility("default"))) int

FAKE cufftCreate(int *handle) {
    std::lock_guard lock(mutex);
    plans[++last_plan] = {};
    *handle = last_plan;
    return 0;
}
FAKE cufftDestroy(int handle) {
    std::lock_guard lock(mutex);
    return plans.erase(handle) == 1 ? 0 : 1;
}
/// For tests.
FAKE fake_live_handles() {
    std::lock_guard lock(mutex);
    return static_cast<int>(plans.size());
}
FAKE cufftSetStream(int handle, CUstream stream) {
    std::lock_guard lock(mutex);
    Plan *plan = find(handle);
    if (plan == nullptr)
        return 1;
    plan->stream = stream;
    return 0;
}
FAKE cufftSetAutoAllocation(int handle, int allocate) {
    std::lock_guard lock(mutex);
    return find(handle) == nullptr ? 1 : allocate == 0 ? 0 : 16;
}
FAKE cufftSetWorkArea(int handle, void *work) {
    std::lock_guard lock(mutex);
    Plan *plan = find(handle);
    if (plan == nullptr)
        return 1;
    plan->work = work;
    return 0;
}
FAKE cufftXtMakePlanMany(int handle, int rank, long long *lengths, long long *in_extents,
                         long long in_step, long long in_next, int in_type, long long *out_extents,
                         long long out_step, long long out_next, int out_type, long long count,
                         std::size_t *work, int compute) {
    std::lock_guard lock(mutex);
    Plan *plan = find(handle);
    if (plan == nullptr)
        return 1;
    if (rank < 1 || rank > 3 || count < 1 || compute < 4)
        return 4;
    plan->rank = rank;
    for (int axis = 0; axis < rank; ++axis)
        plan->lengths[static_cast<std::size_t>(3 - rank + axis)] = lengths[axis];
    plan->in = side_of(rank, in_extents, in_step, in_next, in_type);
    plan->out = side_of(rank, out_extents, out_step, out_next, out_type);
    plan->count = count;
    *work = 64;
    return 0;
}
FAKE cufftXtExec(int handle, void *in, void *out, int direction) {
    std::lock_guard lock(mutex);
    Plan *plan = find(handle);
    if (plan == nullptr)
        return 1;
    if (plan->work == nullptr)
        return 13;
    // As in NVIDIA's library: real data must have the alignment of complex data.
    const std::size_t alignment = 2 * (plan->in.type % 4 == 0 ? sizeof(float) : sizeof(double));
    for (const void *data : {in, out})
        if (reinterpret_cast<std::uintptr_t>(data) % alignment != 0)
            return 4;
    if (cuStreamSynchronize(plan->stream) != CUDA_SUCCESS)
        return 6;
    std::memset(plan->work, 1, 64);
    // A transform from real numbers is forward, one to real numbers is inverse, independent of the
    // requested direction.
    const double sign = plan->in.real() ? -1 : plan->out.real() ? 1 : direction;
    if (plan->in.type == plan->out.type && in == out && plan->in.next != plan->out.next)
        return 4;
    run(*plan, in, out, sign);
    if (plan->out.real()) // allowed for the real one
        std::memset(in, 0xff, 8);
    return 0;
}
