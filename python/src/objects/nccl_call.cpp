// nccl_call.cpp -- calls of NCCL on arrays: checks their arguments, and groups calls.
#include "objects/nccl_call.h"

#include "arrays/array_object.h"
#include "memory/device_pointer.h"
#include "support/python_object.h"

#include <pycuda/driver_calls.h>
#include <pycuda/work.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace pycuda::python {
namespace {

using Kind = NcclCall::Kind;

/// The names of a call's arguments, and the relation of its arrays' sizes.
struct KindRules {
    const char *method;
    const char *from, *to; ///< the parameters that are arrays
    const char *rank;      ///< the parameter that is a rank; null if there is none
    bool reduces;
};
constexpr KindRules rules_of_kind[] = {
    {"all_reduce", "send", "receive", nullptr, true},
    {"reduce", "send", "receive", "root", true},
    {"broadcast", "array", "array", "root", false},
    {"all_gather", "send", "receive", nullptr, false},
    {"reduce_scatter", "send", "receive", nullptr, true},
    {"send", "array", "array", "peer", false},
    {"recv", "array", "array", "peer", false},
};
const KindRules &rules_of(Kind kind) { return rules_of_kind[static_cast<std::size_t>(kind)]; }

std::string dtype_name(nb::handle array) {
    return nb::cast<std::string>(nb::str(nb::object(array.attr("dtype"))));
}

/// An array's elements as numbers of an NCCL type.
struct Elements {
    int type;
    std::size_t each; ///< NCCL elements per element of the array
};

/// NCCL's numbers for types.
constexpr std::pair<ScalarType, Elements> nccl_types[] = {
    {ScalarType::Int8, {0, 1}},      {ScalarType::UInt8, {1, 1}},
    {ScalarType::Int32, {2, 1}},     {ScalarType::UInt32, {3, 1}},
    {ScalarType::Int64, {4, 1}},     {ScalarType::UInt64, {5, 1}},
    {ScalarType::Float16, {6, 1}},   {ScalarType::Float32, {7, 1}},
    {ScalarType::Float64, {8, 1}},   {ScalarType::BFloat16, {9, 1}},
    {ScalarType::Complex64, {7, 2}}, {ScalarType::Complex128, {8, 2}},
};

Elements elements_of(nb::handle object, const Array &array, const KindRules &rules) {
    for (const auto &[type, elements] : nccl_types)
        if (type == array.scalar_type())
            return elements;
    if (rules.reduces)
        throw_type_error(std::string(rules.method) +
                         "() takes arrays of int8, uint8, int32, uint32, int64, uint64, float16, "
                         "float32, float64, bfloat16 or complex numbers, not of " +
                         dtype_name(object));
    return {1, array.item_size()}; // copied as bytes
}

int operation_of(nb::handle name, const Array &array) {
    constexpr const char *names[] = {"sum", "prod", "max", "min", "avg"};
    for (int number = 0; number < static_cast<int>(std::size(names)); ++number) {
        if (!nb::isinstance<nb::str>(name) ||
            PyUnicode_CompareWithASCIIString(name.ptr(), names[number]) != 0)
            continue;
        if (is_complex(array.scalar_type()) && number != 0 && number != 4)
            throw_type_error("NCCL does not support '" + std::string(names[number]) +
                             "' of complex numbers, only \"sum\" and \"avg\"");
        return number;
    }
    throw_value_error("op must be one of 'sum', 'prod', 'max', 'min', 'avg', not " +
                      nb::cast<std::string>(nb::repr(name)));
}

void check_rank(int rank, int ranks, const char *name) {
    if (rank < 0 || rank >= ranks)
        throw_value_error(std::string(name) + " must be from 0 to " + std::to_string(ranks - 1) +
                          ", not " + std::to_string(rank));
}

/// Throws if the object is not a contiguous array on the communicator's device.
const Array &check_array(nb::handle object, const char *name, const KindRules &rules,
                         const NcclRank &rank) {
    const std::string_view method = rules.method;
    if (!is_array(object))
        throw_type_error(std::string(name) + " of " + std::string(method) +
                         "() must be a GPUArray, not " + unqualified_name_of_type(object));
    const Array &array = array_of(object);
    if (!array.is_contiguous() && !array.layout().is_dense(array.item_size()))
        throw_value_error(std::string(name) + " of " + std::string(method) +
                          "() must be contiguous, but has the strides " +
                          nb::cast<std::string>(nb::str(nb::object(object.attr("strides")))) +
                          "; pass a copy()");
    if (array.size() == 0)
        return array;
    const CUdevice own = rank.context.device().get();
    const CUdevice device = array.context()->context().device().get();
    if (device != own)
        throw_value_error("an array on cuda:" + std::to_string(device) +
                          " was passed to a communicator on cuda:" + std::to_string(own) +
                          "; copy it with to_device()");
    return array;
}

/// Checks the arrays of a call in place: `behind` is the distance from one array's start to the
/// other's.
void check_overlap(const Array &from, const Array &to, std::int64_t behind,
                   const KindRules &rules) {
    if (from.size() == 0 || !from.may_share_bytes(to))
        return;
    const auto distance = static_cast<std::int64_t>(from.ptr() - to.ptr());
    if (distance != behind)
        throw_value_error("send and receive of " + std::string(rules.method) +
                          "() overlap; in a call in place, send must start " +
                          std::to_string(behind) + " bytes after receive, not " +
                          std::to_string(distance));
}

void check_pair(const CallArguments &given, const Array &from, const Array &to,
                const NcclRank &rank, const KindRules &rules) {
    if (!(from.dtype() == to.dtype()) ||
        (from.dtype().is_opaque() &&
         !nb::object(given.from.attr("dtype")).equal(given.to.attr("dtype"))))
        throw_type_error("send and receive of " + std::string(rules.method) +
                         "() must have one dtype, not " + dtype_name(given.from) + " and " +
                         dtype_name(given.to));
    const auto ranks = static_cast<std::size_t>(rank.ranks);
    const bool gathers = given.kind == Kind::AllGather,
               scatters = given.kind == Kind::ReduceScatter;
    if (from.size() * (gathers ? ranks : 1) != to.size() * (scatters ? ranks : 1))
        throw_value_error(std::string(rules.method) + "() of " + std::to_string(rank.ranks) +
                          " ranks cannot take " + std::to_string(from.size()) + " elements to " +
                          std::to_string(to.size()));
    const auto part = static_cast<std::int64_t>(gathers ? from.bytes() : to.bytes());
    check_overlap(from, to, (gathers ? rank.rank : scatters ? -rank.rank : 0) * part, rules);
}

std::string device_of(CUcontext context) {
    return "cuda:" + std::to_string(Context::borrow(context).device().get());
}

/// The context of a stream other than the default stream; null if the driver does not report it.
CUcontext context_of(nb::handle stream, StreamRef queue) {
    if (const Stream * known; nb::try_cast(stream, known) && known != nullptr)
        return known->context().get();
    return pycuda::context_of(queue.get());
}

/// The stream of a call in the context of its communicator. None is the thread's current stream.
StreamRef stream_of(nb::handle stream, const NcclRank &rank) {
    const ScopedContext scope(rank.context);
    const StreamRef queue = stream_ref(stream);
    if (queue.is_default() || queue.get() == CU_STREAM_PER_THREAD)
        return queue;
    CUcontext own = context_of(stream, queue);
    if (own == nullptr || own == rank.context.get())
        return queue;
    if (Context::borrow(own).device() == rank.context.device())
        return queue;
    throw_value_error("a stream of " + device_of(own) + " was passed to a communicator on " +
                      device_of(rank.context.get()));
}

CUdeviceptr address(Work &use, nb::handle object) {
    if (!object.is_valid() || array_of(object).size() == 0)
        return 0;
    return use.read(array_of(object));
}

/// Sets the arrays' addresses in the calls. The memory is in use until the result is destroyed, and
/// then until the work that is in the streams at that time is done.
std::vector<Work> use_arrays(std::span<PendingCall> calls) {
    std::vector<Work> uses;
    uses.reserve(calls.size());
    for (PendingCall &one : calls) {
        Work &use = uses.emplace_back(one.call.stream);
        one.call.from = address(use, one.from);
        one.call.to = address(use, one.to);
    }
    return uses;
}

void enqueue(std::span<const PendingCall> calls) {
    std::optional<ScopedContext> scope;
    const NcclRank *inside = nullptr;
    for (const PendingCall &one : calls) {
        if (one.rank != inside) {
            scope.reset();
            scope.emplace(one.rank->context);
            inside = one.rank;
        }
        one.rank->communicator.enqueue(one.call);
    }
}

void make(std::span<PendingCall> calls) {
    if (calls.empty())
        return;
    const std::vector<Work> uses = use_arrays(calls);
    nb::gil_scoped_release release; // the call may wait in NCCL for other threads of this process
    if (calls.size() == 1)
        return enqueue(calls);
    NcclGroup group;
    enqueue(calls);
    group.end();
}

} // namespace

struct PendingGroup::Calls {
    std::vector<PendingCall> calls;
    std::size_t depth = 0; ///< the nesting depth of blocks
};

namespace {

/// The calls of this thread's group; null outside of a group. A block that never ends frees its
/// calls when the block object is freed, because a thread that ends must not free Python objects.
thread_local std::shared_ptr<PendingGroup::Calls> open_calls;

} // namespace

PendingGroup::~PendingGroup() {
    if (calls_ == nullptr)
        return;
    calls_->calls.clear();
    if (open_calls == calls_)
        open_calls = nullptr;
}

bool is_in_group() noexcept { return open_calls != nullptr; }

void PendingGroup::enter() {
    if (calls_ != nullptr)
        throw std::runtime_error("this group of NCCL calls was already entered");
    if (open_calls == nullptr)
        open_calls = std::make_shared<Calls>();
    calls_ = open_calls;
    level_ = ++calls_->depth;
    before_ = calls_->calls.size();
}

void PendingGroup::exit(bool failed) {
    if (calls_ == nullptr || calls_ != open_calls || calls_->depth != level_)
        throw std::runtime_error("a group of NCCL calls must end in the thread that began the "
                                 "group, after the groups inside the group");
    const std::shared_ptr<Calls> own = std::move(calls_);
    if (failed)
        own->calls.erase(own->calls.begin() + static_cast<std::ptrdiff_t>(before_),
                         own->calls.end());
    if (--own->depth > 0)
        return;
    open_calls = nullptr;
    std::vector<PendingCall> calls = std::move(own->calls);
    make(calls);
}

void call_nccl(nb::pointer_and_handle<NcclRank> self, const CallArguments &given,
               nb::handle stream) {
    NcclRank &rank = *self.p;
    const KindRules &rules = rules_of(given.kind);
    if (rules.rank != nullptr)
        check_rank(given.rank, rank.ranks, rules.rank);
    const Array *from = nullptr, *to = nullptr;
    if (given.from.is_valid())
        from = &check_array(given.from, rules.from, rules, rank);
    if (given.to.is_valid()) {
        to = &check_array(given.to, rules.to, rules, rank);
        const bool only_reads = given.kind == Kind::Broadcast && given.rank == rank.rank;
        if (!only_reads)
            to->require_writable(rules.to);
    }
    if (from != nullptr && to != nullptr && from != to)
        check_pair(given, *from, *to, rank, rules);

    const bool counts_received = given.kind == Kind::ReduceScatter || from == nullptr;
    const Array &counted = counts_received ? *to : *from;
    const Elements elements = elements_of(counts_received ? given.to : given.from, counted, rules);
    PendingCall one{
        {.kind = given.kind,
         .count = counted.size() * elements.each,
         .type = elements.type,
         .operation = given.operation.is_valid() ? operation_of(given.operation, counted) : 0,
         .rank = given.rank,
         .stream = stream_of(stream, rank).get()},
        &rank,
        nb::borrow(self.h),
        nb::borrow(given.from),
        nb::borrow(given.to),
        nb::borrow(stream)};
    rank.communicator.check();
    if (open_calls != nullptr)
        open_calls->calls.push_back(std::move(one));
    else
        make({&one, 1});
}

} // namespace pycuda::python
