// client_question.h -- asking the client, while one of its calls waits, whether to go on.
#pragma once

#include <memory>
#include <pthread.h>

namespace softcuda::device {

class Command;

namespace client_question {

/// Waits of `thread` ask `keep_waiting` from now on, and no others; null: nobody is asked.
void set(int (*keep_waiting)(), pthread_t thread) noexcept;

/// Whether waits of the calling thread ask. Such a thread must not run kernels: in an endless one
/// it would never ask.
[[nodiscard]] bool asked_here() noexcept;

/// `command` waits for `other`, of another context: where a wait for the one context is given up,
/// the other's kernels are in the way, too.
void remember(const std::shared_ptr<Command> &command, const std::shared_ptr<Command> &other);

/// Returns when the command is done, with true. Where the client says no, the kernels of its
/// context, and of those that it waits for, are interrupted, so that it soon is; false where it is
/// not, since a function of the client's holds it up. No lock may be held: the client runs code of
/// its own.
[[nodiscard]] bool wait(Command &command);

} // namespace client_question
} // namespace softcuda::device
