// client_question.h -- asks the client during a wait whether the wait should continue.
#pragma once

#include <memory>
#include <pthread.h>

namespace softcuda::device {

class Command;

namespace client_question {

/// Later waits of `thread` call `keep_waiting`; waits of other threads do not. Null: no wait calls
/// it.
void set(int (*keep_waiting)(), pthread_t thread) noexcept;

/// Whether waits of the calling thread call `keep_waiting`. Such a thread must not run kernels: in
/// an endless kernel it would never call it.
[[nodiscard]] bool asked_here() noexcept;

/// `command` waits for `other`, of another context: if a wait for one context is interrupted, the
/// kernels of the other context must be interrupted, too.
void remember(const std::shared_ptr<Command> &command, const std::shared_ptr<Command> &other);

/// Returns when the command is done, with true. Where the client says no, the kernels of its
/// context, and of those that it waits for, are interrupted, so that it soon is; false where it is
/// not, since a function of the client's holds it up. No lock may be held: the client runs code of
/// its own.
[[nodiscard]] bool wait(Command &command);

} // namespace client_question
} // namespace softcuda::device
