// cufft.cpp -- plans of cuFFT, kept in each context, and their execution.
//
// For cuFFT, an array with the axes (outer..., transformed..., inner...) is `outer` stacks of
// `inner` transforms. The stride between elements of one transform is `inner`; the stride between
// transforms is 1. If inner is 1, the array is one stack of contiguous transforms.
//
// A plan has no memory for intermediate results. Each call takes a workspace from the arrays' pool,
// so that one plan can run in several streams at the same time.
//
// Results of transforms along the first axis may be written to rows: to an array whose first axis
// is the last one in memory. Writing columns takes a tenth longer on an H200.
#include <pycuda/array_libraries.h>
#include <pycuda/copy.h>

#include "arrays/library_handles.h"
#include "context/outside_captures.h"
#include "libraries/nvidia_library.h"

#include <algorithm>
#include <array>
#include <list>
#include <numeric>
#include <optional>
#include <vector>

namespace pycuda {
namespace {

constexpr const char *files[] = {"libcufft.so.12", "libcufft.so.11"};
constexpr LibraryStatus statuses[] = {
    {1, "CUFFT_INVALID_PLAN"},      {2, "CUFFT_ALLOC_FAILED"},        {3, "CUFFT_INVALID_TYPE"},
    {4, "CUFFT_INVALID_VALUE"},     {5, "CUFFT_INTERNAL_ERROR"},      {6, "CUFFT_EXEC_FAILED"},
    {7, "CUFFT_SETUP_FAILED"},      {8, "CUFFT_INVALID_SIZE"},        {9, "CUFFT_UNALIGNED_DATA"},
    {11, "CUFFT_INVALID_DEVICE"},   {13, "CUFFT_NO_WORKSPACE"},       {14, "CUFFT_NOT_IMPLEMENTED"},
    {16, "CUFFT_NOT_SUPPORTED"},    {17, "CUFFT_MISSING_DEPENDENCY"}, {18, "CUFFT_NVRTC_FAILURE"},
    {19, "CUFFT_NVJITLINK_FAILURE"}};

struct Cufft : LibraryTable {
    using LibraryTable::LibraryTable;
    static constexpr LibraryDescription description{"cuFFT", files, statuses};
#include "libraries/cufft.def"
};
const Cufft *cufft() { return library_table<Cufft>(); }

constexpr std::size_t most_plans = 64; // per context; then the least recently used is removed

/// All values that determine a plan. Unused lengths are 0.
struct PlanKey {
    std::array<long long, 3> lengths{};   ///< of the transforms
    std::array<long long, 3> in{}, out{}; ///< extents in memory
    int rank = 1;
    /// In elements: from one element of a transform to the next, and from one transform to the
    /// next.
    long long in_step = 1, in_next = 1, out_step = 1, out_next = 1;
    long long batch = 1;
    int in_type = 0, out_type = 0;

    bool operator==(const PlanKey &) const = default;
};

class Plan {
  public:
    explicit Plan(const PlanKey &key) : key_(key) {
        cufft()->create(&handle_);
        try {
            make();
        } catch (...) {
            (void)cufft()->destroy.status(handle_);
            throw;
        }
    }
    ~Plan() { (void)cufft()->destroy.status(handle_); }
    Plan &operator=(Plan &&) = delete; // no copies either

    const PlanKey &key() const noexcept { return key_; }
    int handle() const noexcept { return handle_; }
    std::size_t work_bytes() const noexcept { return work_bytes_; }

  private:
    void make() {
        PlanKey plan = key_;
        const int rank = plan.rank;
        // cuFFT uses the complex one of the two types as the type of the computation.
        const int compute = std::max(plan.in_type, plan.out_type);
        cufft()->set_auto_allocation(handle_, 0);
        cufft()->make_plan(handle_, rank, plan.lengths.data(), plan.in.data(), plan.in_step,
                           plan.in_next, plan.in_type, plan.out.data(), plan.out_step,
                           plan.out_next, plan.out_type, plan.batch, &work_bytes_, compute);
    }

    PlanKey key_;
    int handle_ = 0;
    std::size_t work_bytes_ = 0;
};

/// One of the two arrays of a transform, of which each call transforms a piece. cuFFT refuses an
/// address that is not a multiple of the size of a complex element. The address of an array of real
/// numbers may be such an address; then each piece is copied through a buffer.
class Side {
  public:
    Side(const Array &array, CUdeviceptr address, std::int64_t calls, std::size_t alignment,
         StreamRef stream)
        : address_(address), step_(array.bytes() / static_cast<std::size_t>(calls)),
          stream_(stream) {
        if (address % alignment != 0 || (calls > 1 && step_ % alignment != 0))
            copy_.emplace(array.context(), step_, stream);
    }

    /// The address from which cuFFT reads a piece.
    CUdeviceptr input(std::int64_t call) const {
        if (copy_)
            copy_on_device_async(copied(), piece(call), step_, stream_);
        return output(call);
    }
    /// The address to which cuFFT writes a piece, before put_back().
    CUdeviceptr output(std::int64_t call) const { return copy_ ? copied() : piece(call); }
    void put_back(std::int64_t call) const {
        if (copy_)
            copy_on_device_async(piece(call), copied(), step_, stream_);
    }

  private:
    CUdeviceptr piece(std::int64_t call) const {
        return address_ + static_cast<CUdeviceptr>(call) * step_;
    }
    CUdeviceptr copied() const { return reinterpret_cast<CUdeviceptr>(copy_->get()); }

    CUdeviceptr address_;
    std::size_t step_; ///< bytes of a piece
    StreamRef stream_;
    std::optional<Workspace> copy_;
};

template <class Number> std::int64_t product(std::span<Number> extents) {
    return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

} // namespace

struct FourierState {
    std::list<Plan> plans; ///< most recently used first

    const Plan &find(const PlanKey &key) {
        const auto found =
            std::ranges::find_if(plans, [&](const Plan &plan) { return plan.key() == key; });
        if (found != plans.end()) {
            plans.splice(plans.begin(), plans, found);
            return plans.front();
        }
        set_up_library([&] {
            plans.emplace_front(key);
            if (plans.size() > most_plans)
                plans.pop_back();
        });
        return plans.front();
    }
};

bool is_in_rows(const Array &array) {
    std::vector<int> order(static_cast<std::size_t>(array.dimensions()));
    std::iota(order.begin(), order.end(), 1);
    if (!order.empty())
        order.back() = 0;
    return array.view(Layout(array.layout()).transposed(order)).is_c_contiguous();
}

bool fourier_takes(ScalarType type) { return is_library_float(type) && cufft() != nullptr; }

void fourier_transform(const Array &in, const Array &out, int first, int rank,
                       FourierDirection direction, StreamRef stream) {
    PlanKey key;
    key.rank = rank;
    key.in_type = *library_type(in.scalar_type());
    key.out_type = *library_type(out.scalar_type());
    for (int axis = 0; axis < rank; ++axis) {
        const auto at = static_cast<std::size_t>(axis);
        key.in[at] = in.layout().extent(first + axis);
        key.out[at] = out.layout().extent(first + axis);
        key.lengths[at] = std::max(key.in[at], key.out[at]);
    }
    const auto before = static_cast<std::size_t>(first),
               after = static_cast<std::size_t>(first + rank);
    const std::int64_t outer = product(in.shape().first(before));
    const std::int64_t inner = product(in.shape().subspan(after));
    const auto distance = [&](const std::array<long long, 3> &extents) {
        return inner > 1 ? 1 : product(std::span(extents.data(), static_cast<std::size_t>(rank)));
    };
    key.in_step = key.out_step = inner;
    key.in_next = distance(key.in);
    key.out_next = distance(key.out);
    if (!out.is_c_contiguous()) { // rows
        key.out_step = 1;
        key.out_next = key.out[0];
    }
    key.batch = inner > 1 ? inner : outer;
    const std::int64_t calls = inner > 1 ? outer : 1;

    LibraryHandles &handles = in.context()->libraries();
    std::lock_guard lock(handles.fourier_mutex);
    if (handles.fourier == nullptr)
        handles.fourier = std::make_shared<FourierState>();
    const Plan &plan = handles.fourier->find(key);
    // At least some bytes, because a plan without automatic allocation needs an address.
    const Workspace work(in.context(), std::max<std::size_t>(plan.work_bytes(), 16), stream);
    Work use(stream);
    const std::size_t complex_bytes = std::max(in.item_size(), out.item_size());
    const Side from(in, use.read(in), calls, complex_bytes, use.stream());
    const Side to(out, use.write(out), calls, complex_bytes, use.stream());
    cufft()->set_stream(plan.handle(), use.stream().get());
    cufft()->set_work_area(plan.handle(), work.get());
    for (std::int64_t call = 0; call < calls; ++call) {
        cufft()->execute(plan.handle(), reinterpret_cast<void *>(from.input(call)),
                         reinterpret_cast<void *>(to.output(call)), static_cast<int>(direction));
        to.put_back(call);
    }
}

} // namespace pycuda
