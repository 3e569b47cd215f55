// nccl_call.h -- calls of NCCL on arrays: checks their arguments, and groups calls.
//
//     with nccl.group():          checked   ─┐
//         a.all_reduce(x)         checked    ├─ kept in the thread's group
//         b.all_reduce(y)         checked   ─┘
//                                 addresses, ncclGroupStart, both calls, ncclGroupEnd
//
// For small messages, the work around the call determines the speed, so none of it is in Python.
#pragma once

#include "support/bindings.h"

#include <pycuda/context.h>
#include <pycuda/nccl.h>
#include <pycuda/stream.h>

#include <memory>
#include <vector>

namespace pycuda::python {

/// A rank's part of a communicator, and the context in which it was created.
struct NcclRank {
    NcclRank(const NcclId &id, int ranks, int rank)
        : context(Context::require_current()), communicator(id, ranks, rank), ranks(ranks),
          rank(rank) {}

    Context context;
    NcclCommunicator communicator;
    int ranks, rank;
};

/// A checked call, and the objects that it needs until it is made. Addresses are read last, because
/// an array may be freed before the end of the group.
struct PendingCall {
    NcclCall call;
    NcclRank *rank;
    nb::object owner; ///< the owner of `rank`
    nb::object from, to, stream;
};

/// `with nccl.group():` keeps the calls of a thread until the end of the outermost block.
class PendingGroup {
  public:
    PendingGroup() = default;
    ~PendingGroup();
    PendingGroup(const PendingGroup &) = delete;
    PendingGroup &operator=(const PendingGroup &) = delete;

    /// Throws RuntimeError if the block is entered twice.
    void enter();
    /// Makes the calls, or drops the calls of this block if `failed`. Throws RuntimeError if the
    /// thread's innermost block is another one.
    void exit(bool failed);

    struct Calls;

  private:
    std::shared_ptr<Calls> calls_; ///< the calls of the outermost block
    std::size_t level_ = 0, before_ = 0;
};

/// Whether this thread is in a block of a PendingGroup.
[[nodiscard]] bool is_in_group() noexcept;

struct CallArguments {
    NcclCall::Kind kind;
    nb::handle from, to;       ///< null if the method has no such argument
    nb::handle operation = {}; ///< null if the method has no such argument
    int rank = 0;
};

/// Checks a call of a rank. Makes the call now or adds it to the thread's group. Throws TypeError
/// and ValueError for wrong arguments, and NcclFailure for earlier failures.
void call_nccl(nb::pointer_and_handle<NcclRank> self, const CallArguments &arguments,
               nb::handle stream);

} // namespace pycuda::python
