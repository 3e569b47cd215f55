// nccl_call.h -- calls of NCCL on arrays: what is checked, and how several are made together.
//
//     with nccl.group():          checked   ─┐
//         a.all_reduce(x)         checked    ├─ kept in the thread's group
//         b.all_reduce(y)         checked   ─┘
//                                 addresses, ncclGroupStart, both calls, ncclGroupEnd
//
// Small messages are decided by what is done beside the call, so that none of it is Python.
#pragma once

#include "bindings.h"

#include <pycuda/context.h>
#include <pycuda/nccl.h>
#include <pycuda/stream.h>

#include <memory>
#include <vector>

namespace pycuda::python {

/// A rank's part of a communicator with the context that it was made in.
struct NcclRank {
    NcclRank(const NcclId &id, int ranks, int rank)
        : context(Context::require_current()), communicator(id, ranks, rank), ranks(ranks),
          rank(rank) {}

    Context context;
    NcclCommunicator communicator;
    int ranks, rank;
};

/// A checked call, and the objects that it needs until it is made. Addresses come last: an array
/// may be freed before the end of the group.
struct PendingCall {
    NcclCall call;
    NcclRank *rank;
    nb::object owner; ///< of `rank`
    nb::object from, to, stream;
};

/// `with nccl.group():` keeps the calls of a thread until the end of the outermost block.
class PendingGroup {
  public:
    PendingGroup() = default;
    ~PendingGroup();
    PendingGroup(const PendingGroup &) = delete;
    PendingGroup &operator=(const PendingGroup &) = delete;

    /// Throws RuntimeError for a block that is entered twice.
    void enter();
    /// Makes the calls, or drops those of this block where `failed`. Throws RuntimeError where the
    /// thread's innermost block is another one.
    void exit(bool failed);

    struct Calls;

  private:
    std::shared_ptr<Calls> calls_; ///< of the outermost block
    std::size_t level_ = 0, before_ = 0;
};

/// Whether this thread is in a block of a PendingGroup.
[[nodiscard]] bool is_in_group() noexcept;

/// What a bound method was called with.
struct CallArguments {
    NcclCall::Kind kind;
    nb::handle from, to;       ///< null: none
    nb::handle operation = {}; ///< null: none
    int rank = 0;
};

/// Checks a call of a rank and makes it now or keeps it in the thread's group. Throws
/// TypeError and ValueError for arguments, NcclFailure for what went wrong before.
void call_nccl(nb::pointer_and_handle<NcclRank> self, const CallArguments &arguments,
               nb::handle stream);

} // namespace pycuda::python
