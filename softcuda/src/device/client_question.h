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

/// Whether waits of the calling thread call `keep_waiting`. Such a thread must not run kernels,
/// because it would never call `keep_waiting` in an endless kernel.
[[nodiscard]] bool asked_here() noexcept;

/// `command` waits for `other`, of another context: if a wait for one context is interrupted, the
/// kernels of the other context must be interrupted, too.
void remember(const std::shared_ptr<Command> &command, const std::shared_ptr<Command> &other);

/// Waits for the command and returns true. If the client's function returns no, interrupts the
/// kernels of the context and of the contexts that it waits for, which usually ends the command
/// soon; returns false if it does not end because of a host function of the client. No lock may be
/// held, because the client's function runs arbitrary code.
[[nodiscard]] bool wait(Command &command);

} // namespace client_question
} // namespace softcuda::device
